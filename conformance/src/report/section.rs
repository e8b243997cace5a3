//! Report as a section of a Markdown document.

use std::ops::Range;

use super::Report;
use crate::suite::SuiteCase;

impl<C: SuiteCase> Report<C> {
    /// Whether the section of this suite in a document is this report.
    pub fn is_in(&self, document: &str) -> bool {
        let section = section(document, C::SUITE).map(|range| document[range].trim_end());
        section == Some(self.to_markdown().trim_end())
    }

    /// Document whose section of this suite is this report. A document without one gets it at
    /// the end.
    pub fn write_into(&self, document: &str) -> String {
        let range = section(document, C::SUITE).unwrap_or(document.len()..document.len());
        let parts = [&document[..range.start], &self.to_markdown(), &document[range.end..]];
        let parts = parts.map(str::trim_end);
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n\n") + "\n"
    }
}

/// Bytes of the section with this heading of the first level.
fn section(document: &str, heading: &str) -> Option<Range<usize>> {
    let mut start = None;
    let mut position = 0;
    for line in document.split_inclusive('\n') {
        if let Some(title) = line.strip_prefix("# ") {
            match start {
                Some(start) => return Some(start..position),
                None if title.trim_end() == heading => start = Some(position),
                None => {}
            }
        }
        position += line.len();
    }
    start.map(|start| start..position)
}

#[cfg(test)]
mod tests {
    use crate::blobs::BlobReport;
    use crate::{Case, CaseResult, Report, Status};

    fn stores(status: Status) -> Report {
        let case: &'static Case = crate::cases().next().expect("a case");
        Report::new("one", vec![CaseResult { case, status, message: String::new() }])
    }

    fn blobs() -> BlobReport {
        let case = crate::blobs::cases().next().expect("a case");
        Report::new("two", vec![CaseResult { case, status: Status::Pass, message: String::new() }])
    }

    #[test]
    fn document_has_one_section_per_suite() {
        let (old, new) = (stores(Status::Fail), stores(Status::Pass));
        let both = blobs().write_into(&old.write_into(""));
        assert_eq!(both, format!("{}\n{}", old.to_markdown(), blobs().to_markdown()));
        assert!(old.is_in(&both) && blobs().is_in(&both) && !new.is_in(&both));
        let replaced = new.write_into(&both);
        assert!(new.is_in(&replaced) && blobs().is_in(&replaced) && !old.is_in(&replaced));
        assert_eq!(blobs().write_into(&replaced), replaced);
        assert_eq!(new.write_into("text\n"), format!("text\n\n{}", new.to_markdown()));
    }

    #[test]
    fn report_is_not_in_a_document_without_its_section() {
        assert!(!blobs().is_in(""));
        assert!(!blobs().is_in(&stores(Status::Pass).to_markdown()));
        let changed = blobs().to_markdown().replace("| pass |", "| fail |");
        assert!(!blobs().is_in(&changed));
    }
}
