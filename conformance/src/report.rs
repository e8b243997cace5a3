//! Results of a run, by case and engine.
//!
//! The cases are executed in `run`.

mod render;
mod section;

use serde::Serialize;

use crate::case::Case;
use crate::clauses;
use crate::deviations::Deviation;
use crate::suite::SuiteCase;

/// Result of a case on an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Status {
    /// The engine behaves as AWS does.
    Pass,
    /// The engine differs from AWS as its recorded deviation says.
    Deviates,
    /// The engine lacks the capability and rejects requests for it, or the harness lacks what the
    /// case needs.
    Unsupported,
    /// The engine differs from AWS, and no deviation is recorded.
    Fail,
}

impl Status {
    /// Lower-case name, as in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Deviates => "deviates",
            Status::Unsupported => "unsupported",
            Status::Fail => "fail",
        }
    }
}

/// Result of one case on one engine, with its message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CaseResult<C: 'static = Case> {
    /// Case that ran.
    pub case: &'static C,
    /// Status of the case.
    pub status: Status,
    /// Reason for any status but [`Status::Pass`], for which it is empty.
    pub message: String,
}

/// Results of one engine, in the order of the cases.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Column<C: 'static = Case> {
    /// Name of the engine.
    pub engine: String,
    /// Result of each case that ran.
    pub results: Vec<CaseResult<C>>,
}

impl<C: SuiteCase> Column<C> {
    /// Number of cases with this status.
    pub fn count(&self, status: Status) -> usize {
        self.results.iter().filter(|result| result.status == status).count()
    }

    /// Result of the case with this id, if it ran.
    pub fn result(&self, id: &str) -> Option<&CaseResult<C>> {
        self.results.iter().find(|result| result.case.id() == id)
    }
}

/// Results of one or several engines, side by side.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report<C: 'static = Case> {
    /// Results per engine.
    pub columns: Vec<Column<C>>,
    /// Clauses without a case; any of them fails the report.
    pub unproved: Vec<&'static clauses::Clause>,
}

impl<C: SuiteCase> Report<C> {
    /// Report of one engine. Results may come in any order.
    pub fn new(engine: impl Into<String>, mut results: Vec<CaseResult<C>>) -> Self {
        let place =
            |result: &CaseResult<C>| C::all().position(|case| case.id() == result.case.id());
        results.sort_by_cached_key(place);
        let column = Column { engine: engine.into(), results };
        Self { columns: vec![column], unproved: C::clauses_without_case() }
    }

    /// Appends the columns of another report.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.columns.extend(other.columns);
        self
    }

    /// Whether a case failed, or a clause has no case.
    pub fn failed(&self) -> bool {
        !self.unproved.is_empty()
            || self.columns.iter().any(|column| column.count(Status::Fail) > 0)
    }

    /// Cases that ran on any engine, in order.
    fn rows(&self) -> impl Iterator<Item = &'static C> {
        C::all().filter(|case| self.columns.iter().any(|column| column.result(case.id()).is_some()))
    }

    /// Known deviations that showed in this run.
    fn deviations(&self) -> impl Iterator<Item = &'static Deviation> {
        self.columns.iter().flat_map(|column| {
            column
                .results
                .iter()
                .filter(|result| result.status == Status::Deviates)
                .filter_map(|result| C::deviation(&column.engine, result.case.id()))
        })
    }
}
