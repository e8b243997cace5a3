//! What an engine is known to do differently on histories.

use tabla::{CancellationCode, Error, ErrorKind};

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
    /// Whether the compared store may fail with `actual` where the specification fails with
    /// `expected`.
    pub(super) fn excuses(self, expected: &Error, actual: &Error) -> bool {
        self == Self::DynamodbLocal
            && (fails_as_a_whole(expected, actual)
                || judges_first(expected, actual)
                || gives_one_reason(expected, actual))
    }
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
