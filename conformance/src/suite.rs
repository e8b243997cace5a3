//! What the suite of stores and the suite of blobs share: [`SuiteCase`].

use std::fmt::Debug;

use crate::case::Case;
use crate::clauses::{self, Clause};
use crate::deviations::{self, Deviation};

/// Case of one suite: [`Case`] for stores, [`BlobCase`](crate::blobs::BlobCase) for blobs.
///
/// Reports and runs are generic over it.
pub trait SuiteCase: Debug + Send + Sync + Sized + 'static {
    /// Heading of reports.
    const SUITE: &'static str;

    /// Service whose behavior the cases expect, as the heading of a column.
    const REFERENCE: &'static str;

    /// All cases of the suite, in the order of reports.
    fn all() -> impl Iterator<Item = &'static Self>;

    /// Known deviation of an engine in a case.
    fn deviation(engine: &str, id: &str) -> Option<&'static Deviation>;

    /// Clauses that no case proves. Default: none.
    fn clauses_without_case() -> Vec<&'static Clause> {
        Vec::new()
    }

    /// Unique id of the case.
    fn id(&self) -> &'static str;

    /// Id of the clause that the case belongs to; empty if there is none.
    fn clause(&self) -> &'static str {
        ""
    }

    /// Name and subject of the family.
    fn family(&self) -> (&'static str, &'static str);

    /// Name of the function.
    fn name(&self) -> &'static str;

    /// Rule in one sentence.
    fn title(&self) -> &'static str;

    /// Text that stands for the case in tables on a terminal.
    fn label(&self) -> String;

    /// Name of the test.
    fn test_name(&self) -> String;
}

impl SuiteCase for Case {
    const SUITE: &'static str = "Conformance";
    const REFERENCE: &'static str = "AWS";

    fn all() -> impl Iterator<Item = &'static Self> {
        crate::cases()
    }

    fn deviation(engine: &str, id: &str) -> Option<&'static Deviation> {
        deviations::find(engine, id)
    }

    fn clauses_without_case() -> Vec<&'static Clause> {
        clauses::without_case().collect()
    }

    fn id(&self) -> &'static str {
        self.id
    }

    fn clause(&self) -> &'static str {
        self.clause
    }

    fn family(&self) -> (&'static str, &'static str) {
        (self.family.name(), self.family.subject())
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn label(&self) -> String {
        format!("{} {}", self.id, self.name)
    }

    fn test_name(&self) -> String {
        Case::test_name(self)
    }
}
