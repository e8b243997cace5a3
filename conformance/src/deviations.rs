//! Where an engine is known to differ from AWS.
//!
//! A deviation is data: the engine, the case, what AWS does and who says so, what the engine does
//! instead. The case still runs. It must fail, and its failure must show `observed`; if it passes,
//! the engine has been repaired (or the case has stopped looking) and the run fails, so that the
//! row is removed. Engines that judge with core have none.

mod dynamodb_local;

use crate::report::Status;

/// One known difference.
#[derive(Clone, Copy, Debug)]
pub struct Deviation {
    /// The engine: [`Harness::engine`](crate::Harness::engine).
    pub engine: &'static str,
    /// The id of the case.
    pub case: &'static str,
    /// What AWS does.
    pub aws: &'static str,
    /// Who says so: a page of the developer guide, or a public report.
    pub source: &'static str,
    /// What the engine does instead.
    pub does: &'static str,
    /// A part of the text with which the case fails.
    pub observed: &'static str,
}

/// All known deviations.
pub fn all() -> impl Iterator<Item = &'static Deviation> {
    dynamodb_local::ROWS.iter().copied().flatten()
}

/// The deviation of this engine in this case.
pub fn find(engine: &str, case: &str) -> Option<&'static Deviation> {
    all().find(|deviation| deviation.engine == engine && deviation.case == case)
}

/// What a finished case means: `failure` is the text it failed with, if it did.
pub(crate) fn classify(failure: Option<String>, known: Option<&Deviation>) -> (Status, String) {
    match (failure, known) {
        (None, None) => (Status::Pass, String::new()),
        (Some(failure), None) => (Status::Fail, failure),
        (None, Some(known)) => (
            Status::Fail,
            format!(
                "the known deviation has stopped: the case passes, so remove its row\n  it was: {}",
                known.does
            ),
        ),
        (Some(failure), Some(known)) if failure.contains(known.observed) => {
            (Status::Deviates, known.does.to_owned())
        }
        (Some(failure), Some(known)) => (
            Status::Fail,
            format!(
                "the case fails, but not as the known deviation says\n  known: {}\n  got: {failure}",
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
        aws: "refuses",
        source: "a page",
        does: "accepts",
        observed: "got success",
    };

    #[test]
    fn without_a_known_deviation_the_case_decides() {
        assert_eq!(classify(None, None).0, Status::Pass);
        assert_eq!(classify(Some("no".to_owned()), None), (Status::Fail, "no".to_owned()));
    }

    #[test]
    fn a_known_deviation_must_show_as_described() {
        let failure = Some("expected an error, got success".to_owned());
        assert_eq!(classify(failure, Some(&KNOWN)), (Status::Deviates, "accepts".to_owned()));
        let (status, text) = classify(Some("the server is gone".to_owned()), Some(&KNOWN));
        assert_eq!(status, Status::Fail);
        assert!(text.contains("not as the known deviation says"), "{text}");
        assert!(text.contains("the server is gone"), "{text}");
    }

    #[test]
    fn a_deviation_that_stops_deviating_fails() {
        let (status, text) = classify(None, Some(&KNOWN));
        assert_eq!(status, Status::Fail);
        assert!(text.contains("has stopped"), "{text}");
    }

    #[test]
    fn every_row_names_a_case_and_says_everything_once() {
        let mut seen = std::collections::BTreeSet::new();
        for row in all() {
            let at = format!("{} {}", row.engine, row.case);
            assert!(crate::cases().any(|case| case.id == row.case), "{at}: no such case");
            assert!(seen.insert((row.engine, row.case)), "{at}: twice");
            for text in [row.aws, row.source, row.does, row.observed] {
                assert!(!text.trim().is_empty(), "{at}: says too little");
            }
        }
    }

    #[test]
    fn engines_that_judge_with_core_have_none() {
        assert!(all().all(|row| !["memory", "sqlite"].contains(&row.engine)));
    }
}
