//! What an error says about its call.

use tabla_core::{Applied, CancellationCode, CancellationReason, Error, ErrorKind};

use super::explain::Violation;

/// How many times a call is made that meets nothing but others in its way.
const ATTEMPTS: usize = 10_000;

/// What became of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallOutcome {
    /// It changed nothing: others stood in its way, or the store could not be reached.
    NoEffect,
    /// A condition did not hold.
    Refused,
    /// It may have been carried out, or may yet be.
    Unknown,
    /// The error has no business here.
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
        ErrorKind::TransactionCanceled { reasons } => fate_of_transaction(reasons),
        _ => CallOutcome::Unexpected,
    }
}

fn fate_of_transaction(reasons: &[CancellationReason]) -> CallOutcome {
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

/// Whether an operation of a transaction failed for another that was there at the same time.
pub(super) fn is_contention(code: CancellationCode) -> bool {
    matches!(
        code,
        CancellationCode::TransactionConflict
            | CancellationCode::ThrottlingError
            | CancellationCode::ProvisionedThroughputExceeded
    )
}

/// What came of a call that was made again for as long as others stood in its way.
#[derive(Debug)]
pub(super) enum RetryOutcome<T> {
    Done(T),
    Refused,
    Unknown,
}

/// Makes a call, again for as long as others stand in its way, and counts how often they did.
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
    fn errors_say_what_became_of_the_call() {
        let unavailable = || Error::new(ErrorKind::Unavailable, "gone");
        let cancelled = |codes: &[CancellationCode]| {
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
            (cancelled(&[Code::None, TransactionConflict]), CallOutcome::NoEffect),
            (cancelled(&[ConditionalCheckFailed, TransactionConflict]), CallOutcome::Refused),
            (cancelled(&[ConditionalCheckFailed, ValidationError]), CallOutcome::Unexpected),
            (cancelled(&[Code::None]), CallOutcome::Unexpected),
        ];
        for (error, expected) in cases {
            assert_eq!(classify_error(&error), expected, "{error:?}");
        }
    }
}
