//! What a run found: case by engine.

mod render;

use serde::Serialize;

use crate::case::Case;
use crate::clauses;
use crate::{cases, deviations};

/// How a case ended on an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As AWS does.
    Pass,
    /// Otherwise than AWS, as is known of this engine.
    Deviates,
    /// The engine does not have what the case is about, and refuses it; or the harness cannot
    /// provide what the case needs.
    Unsupported,
    /// Wrong.
    Fail,
}

impl Status {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Deviates => "deviates",
            Status::Unsupported => "unsupported",
            Status::Fail => "fail",
        }
    }
}

/// How one case ended on one engine.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The case.
    pub case: &'static Case,
    /// How it ended.
    pub status: Status,
    /// Why, for anything but a pass.
    pub message: String,
}

/// The results of one engine, in the order of the cases.
#[derive(Clone, Debug)]
pub struct Column {
    /// The engine.
    pub engine: String,
    /// One result per case that was run.
    pub results: Vec<CaseResult>,
}

impl Column {
    /// How many cases ended so.
    pub fn count(&self, status: Status) -> usize {
        self.results.iter().filter(|result| result.status == status).count()
    }

    /// How this case ended, if it was run.
    pub fn result(&self, id: &str) -> Option<&CaseResult> {
        self.results.iter().find(|result| result.case.id == id)
    }
}

/// The results of one or several engines, side by side.
#[derive(Clone, Debug)]
pub struct Report {
    /// One column per engine.
    pub columns: Vec<Column>,
    /// The clauses that no case proves; they fail the report.
    pub unproved: Vec<&'static clauses::Clause>,
}

impl Report {
    /// A report of one engine. Results may come in any order.
    pub fn new(engine: impl Into<String>, mut results: Vec<CaseResult>) -> Self {
        let place = |result: &CaseResult| cases().position(|case| case.id == result.case.id);
        results.sort_by_cached_key(place);
        let column = Column { engine: engine.into(), results };
        Self { columns: vec![column], unproved: clauses::without_case().collect() }
    }

    /// Both reports side by side.
    #[must_use]
    pub fn join(mut self, other: Report) -> Self {
        self.columns.extend(other.columns);
        self
    }

    /// Whether anything failed, or a clause has no case.
    pub fn failed(&self) -> bool {
        !self.unproved.is_empty()
            || self.columns.iter().any(|column| column.count(Status::Fail) > 0)
    }

    /// The cases that were run on any engine, in order.
    fn rows(&self) -> impl Iterator<Item = &'static Case> {
        cases().filter(|case| self.columns.iter().any(|column| column.result(case.id).is_some()))
    }

    /// The known deviations that showed, with their engines' columns.
    fn deviations(&self) -> impl Iterator<Item = &'static deviations::Deviation> {
        self.columns.iter().flat_map(|column| {
            column
                .results
                .iter()
                .filter(|result| result.status == Status::Deviates)
                .filter_map(|result| deviations::find(&column.engine, result.case.id))
        })
    }
}
