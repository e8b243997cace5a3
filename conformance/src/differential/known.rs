//! What an engine is known to do differently on histories.

use tabla::{CancellationCode, Error, ErrorKind};

/// Which differences are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// None: the compared store judges with core.
    None,
    /// Those of DynamoDB Local 2.6.1.
    DynamodbLocal,
}

impl Known {
    /// Whether the compared store may answer a transaction with `actual` where the specification
    /// answers with `expected`.
    ///
    /// DynamoDB Local fails a transaction as a whole where AWS cancels it, if an update cannot be
    /// computed: the documented cancellation reasons of TransactWriteItems name these messages.
    pub(super) fn excuses(self, expected: &Error, actual: &Error) -> bool {
        let ErrorKind::TransactionCanceled { reasons } = expected.kind() else { return false };
        self == Self::DynamodbLocal
            && *actual.kind() == ErrorKind::Validation
            && reasons.iter().any(|reason| {
                reason.code == CancellationCode::ValidationError
                    && reason
                        .message
                        .as_deref()
                        .is_some_and(|message| crate::wording::same(message, actual.message()))
            })
    }
}
