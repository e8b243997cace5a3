//! Which errors pass, so that the same is tried again.

use tabla::{CancellationCode, Error, ErrorKind, Result, Retry};

/// Whether trying again can help: the store is busy or cannot be reached, or another transaction
/// was met. A store that has tried again by itself until it gave up is not asked once more.
pub(crate) fn passes(error: &Error) -> bool {
    use CancellationCode as Code;
    match (error.retry(), error.kind()) {
        (Retry::Later, _) => true,
        (Retry::Exhausted, _) => false,
        // A condition that did not hold beside an item that another transaction held: the error
        // says that the same transaction will not go through, but it will be made anew.
        (Retry::Never, ErrorKind::TransactionCanceled { reasons }) => {
            reasons.iter().any(|reason| reason.code != Code::None)
                && reasons.iter().all(|reason| {
                    matches!(
                        reason.code,
                        Code::None
                            | Code::ConditionalCheckFailed
                            | Code::TransactionConflict
                            | Code::ThrottlingError
                            | Code::ProvisionedThroughputExceeded
                    )
                })
        }
        (Retry::Never, _) => false,
    }
}

/// The error that passes; any other ends what is being done.
///
/// # Errors
/// The error, if it does not pass.
pub(crate) fn passing(error: Error) -> Result<Error> {
    if passes(&error) { Ok(error) } else { Err(error) }
}

/// The error when the attempts have run out.
pub(crate) fn exhausted(last: Option<Error>, what: &str) -> Error {
    let error = last.unwrap_or_else(|| {
        Error::new(ErrorKind::TransactionConflict, format!("others were faster each time: {what}"))
    });
    error.with_retry(Retry::Exhausted)
}

#[cfg(test)]
mod tests {
    use tabla::CancellationReason;

    use super::*;

    #[test]
    fn a_lost_condition_beside_a_conflict_is_tried_again() {
        let conflict = CancellationReason {
            code: CancellationCode::TransactionConflict,
            message: None,
            item: None,
        };
        let lost = CancellationReason::condition_failed(None);
        let cancelled = |reasons: &[&CancellationReason]| {
            Error::transaction_canceled(reasons.iter().map(|reason| (*reason).clone()).collect())
        };
        assert!(passes(&cancelled(&[&conflict, &lost])));
        assert!(passes(&cancelled(&[&conflict])));
        assert!(!passes(&cancelled(&[&lost, &CancellationReason::invalid("a wrong item")])));
        assert!(!passes(&Error::validation("a wrong request")));
        let unavailable = || Error::new(ErrorKind::Unavailable, "it is gone");
        assert!(passes(&unavailable()));
        assert!(!passes(&unavailable().with_retry(Retry::Exhausted)));
    }
}
