//! What an engine is known to do differently on histories.

use tabla::{CancellationCode, Error, ErrorKind};

use super::history::{History, Operation};
use super::mistakes::mistakes;
use crate::wording;

/// Which differences are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// None: the compared store judges with core.
    None,
    /// Those of DynamoDB Local 2.6.1.
    DynamodbLocal,
}

impl Known {
    /// Whether the compared store may fail this operation with `actual` where the specification
    /// fails it with `expected`.
    pub(super) fn excuses(
        self,
        history: &History,
        operation: &Operation,
        expected: &Error,
        actual: &Error,
    ) -> bool {
        self == Self::DynamodbLocal
            && (fails_as_a_whole(expected, actual)
                || computes_first(operation, expected, actual)
                || judges_first(expected, actual)
                || gives_one_reason(expected, actual)
                || tells_of_another_mistake(history, operation, expected, actual))
    }
}

/// Of several mistakes in one request, which is told is not defined: DynamoDB Local judges the
/// indexes in no order that could be seen, and parts of a condition before or after the item.
/// What it tells of must be a mistake all the same.
fn tells_of_another_mistake(
    history: &History,
    operation: &Operation,
    expected: &Error,
    actual: &Error,
) -> bool {
    let is_refusal = |error: &Error| *error.kind() == ErrorKind::Validation;
    is_refusal(expected)
        && is_refusal(actual)
        && mistakes(history, operation)
            .iter()
            .any(|mistake| wording::same(mistake.message(), actual.message()))
}

/// DynamoDB Local fails a transaction as a whole where AWS cancels it, if an update cannot be
/// computed: the documented cancellation reasons of TransactWriteItems name these messages.
fn fails_as_a_whole(expected: &Error, actual: &Error) -> bool {
    *actual.kind() == ErrorKind::Validation
        && expected.cancellation_reasons().iter().any(|reason| {
            reason.code == CancellationCode::ValidationError
                && wording::same(reason.message.as_deref().unwrap_or_default(), actual.message())
        })
}

/// What an update that cannot be computed is refused with.
const NOT_COMPUTED: [&str; 3] = [
    "The document path provided in the update expression is invalid for update",
    "An operand in the update expression has an incorrect data type",
    "The provided expression refers to an attribute that does not exist in the item",
];

/// DynamoDB Local computes the updates of a transaction before it has looked at the operations
/// that follow. Where one cannot be computed and a later operation is wrong in itself, AWS's rule
/// makes the request wrong, and DynamoDB Local tells of the update.
fn computes_first(operation: &Operation, expected: &Error, actual: &Error) -> bool {
    let Operation::TransactWrite(request) = operation else { return false };
    request.items.len() > 1
        && *expected.kind() == ErrorKind::Validation
        && *actual.kind() == ErrorKind::Validation
        && NOT_COMPUTED.iter().any(|message| wording::same(message, actual.message()))
}

/// DynamoDB Local looks for two operations on one item only after it has judged each of them;
/// AWS refuses the request.
fn judges_first(expected: &Error, actual: &Error) -> bool {
    expected.message() == "Transaction request cannot include multiple operations on one item"
        && matches!(actual.kind(), ErrorKind::TransactionCanceled { .. } | ErrorKind::Validation)
}

/// DynamoDB Local cancels a transaction that updates a key attribute with that one reason, and
/// says nothing of the other operations.
fn gives_one_reason(expected: &Error, actual: &Error) -> bool {
    let [reason] = actual.cancellation_reasons() else { return false };
    let is_key_update = |message: &str| message.ends_with("This attribute is part of the key");
    reason.message.as_deref().is_some_and(is_key_update)
        && expected.cancellation_reasons().contains(reason)
}
