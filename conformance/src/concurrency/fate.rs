//! What an error says about its call.

use tabla_core::{Applied, CancellationCode, CancellationReason, Error, ErrorKind};

use super::explain::Violation;

/// How many times a call is made that meets nothing but others in its way.
const ATTEMPTS: usize = 10_000;

/// What became of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It changed nothing: others stood in its way, or the store could not be reached.
    NoEffect,
    /// A condition did not hold.
    Refused,
    /// It may have been carried out, or may yet be.
    Unknown,
    /// The error has no business here.
    Strange,
}

pub(super) fn fate(error: &Error) -> Fate {
    if error.applied() == Applied::Maybe {
        return Fate::Unknown;
    }
    match error.kind() {
        ErrorKind::ConditionFailed { .. } => Fate::Refused,
        ErrorKind::TransactionConflict
        | ErrorKind::TransactionInProgress
        | ErrorKind::Throttled
        | ErrorKind::Unavailable => Fate::NoEffect,
        ErrorKind::TransactionCanceled { reasons } => fate_of_transaction(reasons),
        _ => Fate::Strange,
    }
}

fn fate_of_transaction(reasons: &[CancellationReason]) -> Fate {
    let is_known = |code| {
        is_contention(code)
            || matches!(code, CancellationCode::None | CancellationCode::ConditionalCheckFailed)
    };
    if !reasons.iter().all(|reason| is_known(reason.code)) {
        return Fate::Strange;
    }
    if reasons.iter().any(|reason| reason.code == CancellationCode::ConditionalCheckFailed) {
        return Fate::Refused;
    }
    if reasons.iter().any(|reason| is_contention(reason.code)) {
        return Fate::NoEffect;
    }
    Fate::Strange
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
pub(super) enum Settled<T> {
    Done(T),
    Refused,
    Unknown,
}

/// Makes a call, again for as long as others stand in its way, and counts how often they did.
pub(super) async fn settle<T, F>(
    conflicts: &mut usize,
    mut call: impl FnMut() -> F,
) -> Result<Settled<T>, Violation>
where
    F: Future<Output = tabla_core::Result<T>>,
{
    let mut attempts = 1..ATTEMPTS;
    loop {
        let error = match call().await {
            Ok(answer) => return Ok(Settled::Done(answer)),
            Err(error) => error,
        };
        match fate(&error) {
            Fate::Refused => return Ok(Settled::Refused),
            Fate::Unknown => return Ok(Settled::Unknown),
            Fate::NoEffect if attempts.next().is_some() => {
                *conflicts += 1;
                tokio::task::yield_now().await;
            }
            Fate::NoEffect | Fate::Strange => return Err(Violation::Store(error)),
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
            (unavailable(), Fate::NoEffect),
            (unavailable().with_applied(Applied::Maybe), Fate::Unknown),
            (Error::new(ErrorKind::Throttled, ""), Fate::NoEffect),
            (Error::new(ErrorKind::TransactionConflict, ""), Fate::NoEffect),
            (Error::new(ErrorKind::TransactionInProgress, ""), Fate::NoEffect),
            (Error::condition_failed(None), Fate::Refused),
            (Error::validation(""), Fate::Strange),
            (cancelled(&[Code::None, TransactionConflict]), Fate::NoEffect),
            (cancelled(&[ConditionalCheckFailed, TransactionConflict]), Fate::Refused),
            (cancelled(&[ConditionalCheckFailed, ValidationError]), Fate::Strange),
            (cancelled(&[Code::None]), Fate::Strange),
        ];
        for (error, expected) in cases {
            assert_eq!(fate(&error), expected, "{error:?}");
        }
    }
}
