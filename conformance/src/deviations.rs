//! Known deviations of engines from AWS.
//!
//! A deviation is data: the engine, the case, AWS's behavior with its source, and the engine's
//! behavior. The case still runs. It must fail, and its failure must contain `observed`. If it
//! passes, the engine has been corrected (or the case no longer covers the behavior), and the run
//! fails until the row is removed. Engines that evaluate requests with core have no deviations.

mod dynamodb_local;

use crate::report::Status;

/// Known deviation of an engine in one case.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Deviation {
    /// Name of the engine: [`Harness::engine`](crate::Harness::engine).
    pub engine: &'static str,
    /// Id of the case.
    pub case: &'static str,
    /// AWS's behavior, as a verb phrase.
    pub aws: &'static str,
    /// Source for AWS's behavior: a page of the developer guide, or a public report.
    pub source: &'static str,
    /// The engine's behavior, as a verb phrase.
    pub does: &'static str,
    /// Part of the failure message of the case.
    pub observed: &'static str,
}

/// All known deviations, of all engines.
pub fn all() -> impl Iterator<Item = &'static Deviation> {
    dynamodb_local::ROWS.iter().copied().flatten()
}

/// Returns the deviation of this engine in this case, if there is one.
pub fn find(engine: &str, case: &str) -> Option<&'static Deviation> {
    all().find(|deviation| deviation.engine == engine && deviation.case == case)
}

/// Returns the status and the message of a finished case, given its failure message (if it failed)
/// and its known deviation.
pub(crate) fn classify(failure: Option<String>, known: Option<&Deviation>) -> (Status, String) {
    match (failure, known) {
        (None, None) => (Status::Pass, String::new()),
        (Some(failure), None) => (Status::Fail, failure),
        (None, Some(known)) => (
            Status::Fail,
            format!(
                "the case passes although a deviation is known: remove its row from `deviations`\n  deviation: {}",
                known.does
            ),
        ),
        (Some(failure), Some(known)) if failure.contains(known.observed) => {
            (Status::Deviates, known.does.to_owned())
        }
        (Some(failure), Some(known)) => (
            Status::Fail,
            format!(
                "the case fails, but not with the known deviation\n  known: {}\n  got: {failure}",
                known.observed
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Deviation = Deviation {
        engine: "fake",
        case: "1a",
        aws: "rejects",
        source: "a page",
        does: "accepts",
        observed: "got success",
    };

    #[test]
    fn case_without_known_deviation_passes_or_fails() {
        assert_eq!(classify(None, None).0, Status::Pass);
        assert_eq!(classify(Some("no".to_owned()), None), (Status::Fail, "no".to_owned()));
    }

    #[test]
    fn known_deviation_must_show_its_observed_text() {
        let failure = Some("expected an error, got success".to_owned());
        assert_eq!(classify(failure, Some(&KNOWN)), (Status::Deviates, "accepts".to_owned()));
        let (status, text) = classify(Some("connection refused".to_owned()), Some(&KNOWN));
        assert_eq!(status, Status::Fail);
        assert!(text.contains("not with the known deviation"), "{text}");
        assert!(text.contains("connection refused"), "{text}");
    }

    #[test]
    fn passing_case_with_known_deviation_fails() {
        let (status, text) = classify(None, Some(&KNOWN));
        assert_eq!(status, Status::Fail);
        assert!(text.contains("although a deviation is known"), "{text}");
    }

    #[test]
    fn rows_are_unique_and_complete() {
        let mut seen = std::collections::BTreeSet::new();
        for row in all() {
            let at = format!("{} {}", row.engine, row.case);
            assert!(
                crate::cases().any(|case| case.id == row.case),
                "{at}: the case does not exist"
            );
            assert!(seen.insert((row.engine, row.case)), "{at}: duplicate row");
            for text in [row.aws, row.source, row.does, row.observed] {
                assert!(!text.trim().is_empty(), "{at}: empty text");
            }
        }
    }

    #[test]
    fn engines_on_core_have_no_deviations() {
        assert!(all().all(|row| !["memory", "sqlite"].contains(&row.engine)));
    }
}
