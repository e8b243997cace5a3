//! Known deviations of an engine on random histories.

use tabla_core::{CancellationCode, Error, ErrorKind};

use super::history::{History, HistoryOperation};
use super::partial_errors::partial_errors;
use crate::wording;

/// Set of known deviations that a comparison allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownDeviations {
    /// No deviations: the compared store evaluates with core.
    None,
    /// Deviations of DynamoDB Local 2.6.1.
    DynamodbLocal,
}

impl KnownDeviations {
    /// Whether the compared store may fail this operation with `actual` where the specification
    /// fails it with `expected`.
    pub(super) fn excuses(
        self,
        history: &History,
        operation: &HistoryOperation,
        expected: &Error,
        actual: &Error,
    ) -> bool {
        self == Self::DynamodbLocal
            && (fails_as_a_whole(expected, actual)
                || computes_first(operation, expected, actual)
                || evaluates_first(expected, actual)
                || gives_one_reason(expected, actual)
                || reports_other_error(history, operation, expected, actual))
    }
}

/// Whether the compared store reports only mistakes that the request has, though not the one that
/// the specification reports.
///
/// Which of several mistakes is reported is not defined. DynamoDB Local checks the indexes in no
/// observable order, and parts of a condition before or after the item. It may also reject a
/// transaction for one mistake or cancel it for another.
fn reports_other_error(
    history: &History,
    operation: &HistoryOperation,
    expected: &Error,
    actual: &Error,
) -> bool {
    let mistakes = partial_errors(history, operation);
    let is_mistake = |text: &&str| {
        mistakes.iter().flat_map(error_texts).any(|mistake| wording::same(mistake, text))
    };
    let reported = error_texts(actual);
    *expected.kind() == ErrorKind::Validation
        && !reported.is_empty()
        && reported.iter().all(is_mistake)
}

/// Messages of a validation error, or of the reasons of a canceled transaction.
fn error_texts(error: &Error) -> Vec<&str> {
    match error.kind() {
        ErrorKind::Validation => vec![error.message()],
        ErrorKind::TransactionCanceled { reasons } => {
            reasons.iter().filter_map(|reason| reason.message.as_deref()).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the compared store rejects as a whole a transaction that the specification cancels, with
/// the message of one of its reasons.
///
/// DynamoDB Local does so if an update cannot be computed. AWS cancels: the documented cancellation
/// reasons of TransactWriteItems list these messages.
fn fails_as_a_whole(expected: &Error, actual: &Error) -> bool {
    *actual.kind() == ErrorKind::Validation
        && expected.cancellation_reasons().iter().any(|reason| {
            reason.code == CancellationCode::ValidationError
                && wording::same(reason.message.as_deref().unwrap_or_default(), actual.message())
        })
}

/// Messages of an update that cannot be computed.
const NOT_COMPUTED: [&str; 3] = [
    "The document path provided in the update expression is invalid for update",
    "An operand in the update expression has an incorrect data type",
    "The provided expression refers to an attribute that does not exist in the item",
];

/// Whether the compared store reports an update that cannot be computed instead of an invalid
/// operation of the same transaction.
///
/// DynamoDB Local computes an update before it validates the operations after it. AWS validates all
/// operations first.
fn computes_first(operation: &HistoryOperation, expected: &Error, actual: &Error) -> bool {
    let HistoryOperation::TransactWrite(request) = operation else { return false };
    request.items.len() > 1
        && *expected.kind() == ErrorKind::Validation
        && *actual.kind() == ErrorKind::Validation
        && NOT_COMPUTED.iter().any(|message| wording::same(message, actual.message()))
}

/// Whether the specification rejects a transaction for two operations on one item, and the compared
/// store reports the failure of one of them.
///
/// DynamoDB Local looks for two operations on one item only after it has evaluated each of them.
fn evaluates_first(expected: &Error, actual: &Error) -> bool {
    expected.message() == "Transaction request cannot include multiple operations on one item"
        && matches!(actual.kind(), ErrorKind::TransactionCanceled { .. } | ErrorKind::Validation)
}

/// Whether the compared store cancels a transaction that updates a key attribute with this reason
/// only, without reasons for the other operations, as DynamoDB Local does.
fn gives_one_reason(expected: &Error, actual: &Error) -> bool {
    let [reason] = actual.cancellation_reasons() else { return false };
    let is_key_update = |message: &str| message.ends_with("This attribute is part of the key");
    reason.message.as_deref().is_some_and(is_key_update)
        && expected.cancellation_reasons().contains(reason)
}

#[cfg(test)]
mod tests {
    use tabla_core::ops::{
        BatchWriteItem, PutItem, TransactWriteItem, TransactWriteItems, UpdateItem, WriteRequest,
    };
    use tabla_core::{CancellationReason, Item, Update, assign, item};

    use super::super::SHAPES;
    use super::super::history::TABLE;
    use super::*;

    const EMPTY: &str = "One or more parameter values are not valid. A value specified for a \
                         secondary index key is not supported. The AttributeValue for a key \
                         attribute cannot contain an empty string value. IndexName: local, \
                         IndexKey: ls";
    const MISMATCH: &str = "One or more parameter values were invalid: Type mismatch for Index Key";

    /// History on the table with an index by `ls` and one by `gp` and `gb`.
    fn history() -> History {
        History { shape: SHAPES[SHAPES.len() - 1], stream: None, operations: Vec::new() }
    }

    fn put(key: i32, more: Item) -> PutItem {
        let item = more.iter().fold(item! { "pk" => key, "sk" => 1 }, |item, (name, value)| {
            item.with(name, value.to_value())
        });
        PutItem::new(TABLE, item)
    }

    fn transaction(items: impl IntoIterator<Item = TransactWriteItem>) -> HistoryOperation {
        let items = items.into_iter().collect();
        HistoryOperation::TransactWrite(assign!(TransactWriteItems::new(), { items }))
    }

    fn cancelled(message: &str) -> Error {
        Error::transaction_canceled(vec![CancellationReason::invalid(message)])
    }

    #[test]
    fn any_of_several_mistakes_may_be_reported() {
        let empty = item! { "ls" => "" };
        let mistyped = item! { "ls" => true };
        let two = item! { "gp" => "", "gb" => 7 };
        let moves = UpdateItem::new(TABLE, item! { "pk" => 1, "sk" => 1 })
            .update(Update::new().set("pk", 2));
        let key = "One or more parameter values were invalid: Cannot update attribute pk. This \
                   attribute is part of the key";
        let cases = [
            (
                transaction([put(1, mistyped).into(), put(2, empty.clone()).into()]),
                Error::validation("Invalid attribute value type"),
            ),
            (transaction([put(1, two.clone()).into()]), cancelled(MISMATCH)),
            (transaction([moves.into(), put(1, empty.clone()).into()]), cancelled(key)),
            (
                HistoryOperation::BatchWrite(
                    BatchWriteItem::new().request(TABLE, WriteRequest::Put(put(1, two).item)),
                ),
                Error::validation(MISMATCH),
            ),
        ];
        let expected = Error::validation(EMPTY);
        for (operation, actual) in cases {
            let excuses = |actual: &Error| {
                KnownDeviations::DynamodbLocal.excuses(&history(), &operation, &expected, actual)
            };
            assert!(excuses(&actual), "{operation:?}: {actual}");
            // An error that is no mistake of the request is never excused, and none is without
            // known deviations.
            assert!(!excuses(&Error::validation("The table does not exist")));
            assert!(!excuses(&cancelled("Item size has exceeded the maximum allowed size")));
            assert!(!excuses(&Error::transaction_canceled(Vec::new())));
            assert!(!KnownDeviations::None.excuses(&history(), &operation, &expected, &actual));
        }
        // A single mistake must be reported as such.
        let alone = transaction([put(1, empty).into()]);
        assert!(!KnownDeviations::DynamodbLocal.excuses(
            &history(),
            &alone,
            &expected,
            &cancelled(MISMATCH)
        ));
    }
}
