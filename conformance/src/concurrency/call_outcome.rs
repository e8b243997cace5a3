//! Classification of errors: the effect that a failed call can have had.

use tabla_core::{Applied, CancellationCode, CancellationReason, Error, ErrorKind};

use super::explain::Violation;

/// Limit on the attempts of a call that fails only for contention.
const ATTEMPTS: usize = 10_000;

/// Effect of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallOutcome {
    /// The call changed nothing: it met contention, or the store could not be reached.
    NoEffect,
    /// A condition failed.
    Refused,
    /// The outcome is unknown: the call may have been executed, or may still be.
    Unknown,
    /// The error is not expected of a valid call.
    Unexpected,
}

pub(super) fn classify_error(error: &Error) -> CallOutcome {
    if error.applied() == Applied::Maybe {
        return CallOutcome::Unknown;
    }
    match error.kind() {
        ErrorKind::ConditionFailed { .. } => CallOutcome::Refused,
        ErrorKind::TransactionConflict
        | ErrorKind::TransactionInProgress
        | ErrorKind::Throttled
        | ErrorKind::Unavailable => CallOutcome::NoEffect,
        ErrorKind::TransactionCanceled { reasons } => classify_cancellation(reasons),
        _ => CallOutcome::Unexpected,
    }
}

fn classify_cancellation(reasons: &[CancellationReason]) -> CallOutcome {
    let is_known = |code| {
        is_contention(code)
            || matches!(code, CancellationCode::None | CancellationCode::ConditionalCheckFailed)
    };
    if !reasons.iter().all(|reason| is_known(reason.code)) {
        return CallOutcome::Unexpected;
    }
    if reasons.iter().any(|reason| reason.code == CancellationCode::ConditionalCheckFailed) {
        return CallOutcome::Refused;
    }
    if reasons.iter().any(|reason| is_contention(reason.code)) {
        return CallOutcome::NoEffect;
    }
    CallOutcome::Unexpected
}

/// Whether an operation of a transaction failed for a conflict or throttling.
pub(super) fn is_contention(code: CancellationCode) -> bool {
    matches!(
        code,
        CancellationCode::TransactionConflict
            | CancellationCode::ThrottlingError
            | CancellationCode::ProvisionedThroughputExceeded
    )
}

/// Outcome of a call that was repeated while it met contention.
#[derive(Debug)]
pub(super) enum RetryOutcome<T> {
    Done(T),
    Refused,
    Unknown,
}

/// Makes a call, repeats it at most 10,000 times while it meets contention, and counts
/// the repetitions.
pub(super) async fn retry_on_conflict<T, F>(
    conflicts: &mut usize,
    mut call: impl FnMut() -> F,
) -> Result<RetryOutcome<T>, Violation>
where
    F: Future<Output = tabla_core::Result<T>>,
{
    let mut attempts = 1..ATTEMPTS;
    loop {
        let error = match call().await {
            Ok(answer) => return Ok(RetryOutcome::Done(answer)),
            Err(error) => error,
        };
        match classify_error(&error) {
            CallOutcome::Refused => return Ok(RetryOutcome::Refused),
            CallOutcome::Unknown => return Ok(RetryOutcome::Unknown),
            CallOutcome::NoEffect if attempts.next().is_some() => {
                *conflicts += 1;
                tokio::task::yield_now().await;
            }
            CallOutcome::NoEffect | CallOutcome::Unexpected => return Err(Violation::Store(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_is_classified_by_kind_and_applied() {
        let unavailable = || Error::new(ErrorKind::Unavailable, "unreachable");
        let canceled = |codes: &[CancellationCode]| {
            Error::transaction_canceled(
                codes.iter().copied().map(CancellationReason::new).collect(),
            )
        };
        use CancellationCode as Code;
        use CancellationCode::{ConditionalCheckFailed, TransactionConflict, ValidationError};
        let cases = [
            (unavailable(), CallOutcome::NoEffect),
            (unavailable().with_applied(Applied::Maybe), CallOutcome::Unknown),
            (Error::new(ErrorKind::Throttled, ""), CallOutcome::NoEffect),
            (Error::new(ErrorKind::TransactionConflict, ""), CallOutcome::NoEffect),
            (Error::new(ErrorKind::TransactionInProgress, ""), CallOutcome::NoEffect),
            (Error::condition_failed(None), CallOutcome::Refused),
            (Error::validation(""), CallOutcome::Unexpected),
            (canceled(&[Code::None, TransactionConflict]), CallOutcome::NoEffect),
            (canceled(&[ConditionalCheckFailed, TransactionConflict]), CallOutcome::Refused),
            (canceled(&[ConditionalCheckFailed, ValidationError]), CallOutcome::Unexpected),
            (canceled(&[Code::None]), CallOutcome::Unexpected),
        ];
        for (error, expected) in cases {
            assert_eq!(classify_error(&error), expected, "{error:?}");
        }
    }
}
