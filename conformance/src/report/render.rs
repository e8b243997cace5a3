//! JSON, terminal and markdown forms of a report.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::{Column, Report, Status};
use crate::suite::SuiteCase;

/// Writes a line to a string, which cannot fail.
macro_rules! line {
    ($out:expr $(, $($argument:tt)+)?) => {
        writeln!($out $(, $($argument)+)?).expect("writing to a string cannot fail")
    };
}

const STATUSES: [Status; 4] = [Status::Pass, Status::Deviates, Status::Unsupported, Status::Fail];

impl<C: SuiteCase> Report<C> {
    /// JSON for programs: the engines with their counts, the cases, the clauses without a case.
    pub fn to_json(&self) -> Json {
        let engines: Vec<Json> = self.columns.iter().map(counts).collect();
        let cases: Vec<Json> = self
            .rows()
            .map(|case| {
                let results = self.columns.iter().filter_map(|column| {
                    let result = column.result(case.id())?;
                    let mut entry = json!({ "status": result.status });
                    if !result.message.is_empty() {
                        entry["message"] = json!(result.message);
                    }
                    Some((column.engine.clone(), entry))
                });
                json!({
                    "id": case.id(),
                    "clause": case.clause(),
                    "family": case.family().0,
                    "name": case.name(),
                    "title": case.title(),
                    "results": results.collect::<serde_json::Map<_, _>>(),
                })
            })
            .collect();
        let unproved: Vec<&str> = self.unproved.iter().map(|clause| clause.id).collect();
        json!({ "engines": engines, "cases": cases, "clauses_without_case": unproved })
    }

    /// Text for a terminal: a table per family, the failures in full, then the counts.
    pub fn to_terminal(&self) -> String {
        let mut out = String::new();
        self.terminal_table(&mut out);
        for column in &self.columns {
            for result in column.results.iter().filter(|result| result.status == Status::Fail) {
                line!(out, "\n{} FAILED on {}", result.case.test_name(), column.engine);
                line!(out, "  {}", result.case.title());
                for text in result.message.lines() {
                    line!(out, "  | {text}");
                }
            }
        }
        if !self.unproved.is_empty() {
            line!(out, "\nclauses without a case:");
            for clause in &self.unproved {
                line!(out, "  {:<5} {:<15} {}", clause.id, clause.family.name(), clause.text);
            }
        }
        line!(out);
        for column in &self.columns {
            line!(out, "{:<16} {}", column.engine, summary(column));
        }
        out
    }

    fn terminal_table(&self, out: &mut String) {
        let name = self.rows().map(|case| case.label().len()).max().unwrap_or(0);
        let width = |column: &Column<C>| column.engine.len().max("unsupported".len());
        let mut family = None;
        for case in self.rows() {
            let (family_name, _) = case.family();
            if family != Some(family_name) {
                family = Some(family_name);
                write!(out, "{family_name:<name$}").expect("writing to a string cannot fail");
                for column in &self.columns {
                    write!(out, "  {:<width$}", column.engine, width = width(column))
                        .expect("writing to a string cannot fail");
                }
                line!(out);
            }
            write!(out, "{:<name$}", case.label()).expect("writing to a string cannot fail");
            for column in &self.columns {
                let word = column.result(case.id()).map_or("-", |result| result.status.as_str());
                write!(out, "  {word:<width$}", width = width(column))
                    .expect("writing to a string cannot fail");
            }
            line!(out);
        }
    }

    /// Markdown for the documentation: counts, a table per family, the deviations with their
    /// sources. It has no times or dates, so that equal results give equal text.
    pub fn to_markdown(&self) -> String {
        let mut out = format!("# {}\n\n", C::SUITE);
        line!(out, "| engine | {} |", STATUSES.map(Status::as_str).join(" | "));
        line!(out, "|---|{}", "---:|".repeat(STATUSES.len()));
        for column in &self.columns {
            let counts = STATUSES.map(|status| column.count(status).to_string());
            line!(out, "| {} | {} |", column.engine, counts.join(" | "));
        }
        let engines: Vec<&str> = self.columns.iter().map(|column| column.engine.as_str()).collect();
        let mut family = None;
        for case in self.rows() {
            if family != Some(case.family()) {
                let (name, subject) = case.family();
                family = Some((name, subject));
                line!(out, "\n## {name}\n\n{subject}\n");
                line!(out, "| case | rule | {} |", engines.join(" | "));
                line!(out, "|---|---|{}", "---|".repeat(engines.len()));
            }
            let cells = self
                .columns
                .iter()
                .map(|column| column.result(case.id()).map_or("", |result| result.status.as_str()));
            let cells: Vec<&str> = cells.collect();
            line!(out, "| {} | {} | {} |", case.id(), escape(case.title()), cells.join(" | "));
        }
        self.markdown_notes(&mut out);
        out
    }

    fn markdown_notes(&self, out: &mut String) {
        let mut deviations = self.deviations().peekable();
        if deviations.peek().is_some() {
            line!(out, "\n## Deviations\n");
            line!(out, "| engine | case | {} | source | the engine |", C::REFERENCE);
            line!(out, "|---|---|---|---|---|");
        }
        for row in deviations {
            let cells = [row.engine, row.case, row.aws, row.source, row.does].map(escape);
            line!(out, "| {} |", cells.join(" | "));
        }
        let unsupported = |column: &Column<C>| column.count(Status::Unsupported) > 0;
        if self.columns.iter().any(unsupported) {
            line!(out, "\n## Unsupported\n");
            line!(out, "| engine | case | why |\n|---|---|---|");
        }
        for column in &self.columns {
            for result in column.results.iter().filter(|it| it.status == Status::Unsupported) {
                let why = escape(&result.message);
                line!(out, "| {} | {} | {why} |", column.engine, result.case.id());
            }
        }
    }
}

fn counts<C: SuiteCase>(column: &Column<C>) -> Json {
    let mut counts = json!({ "engine": column.engine });
    for status in STATUSES {
        counts[status.as_str()] = json!(column.count(status));
    }
    counts
}

fn summary<C: SuiteCase>(column: &Column<C>) -> String {
    let part = |status| format!("{} {}", column.count(status), Status::as_str(status));
    STATUSES.map(part).join(", ")
}

/// Escapes text for one cell of a markdown table.
fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::CaseResult;
    use crate::{Case, cases};

    fn result(id: &str, status: Status, message: &str) -> CaseResult {
        let case: &'static Case = cases().find(|case| case.id == id).expect("no case with this id");
        CaseResult { case, status, message: message.to_owned() }
    }

    fn report() -> Report {
        // In the wrong order, as concurrent cases end.
        let first = vec![
            result("1c", Status::Fail, "expected an error\n  at values.rs:1:1"),
            result("1a", Status::Pass, ""),
        ];
        let second = vec![result("1a", Status::Unsupported, "needs a movable clock")];
        Report::new("one", first).join(Report::new("two", second))
    }

    #[test]
    fn json_has_row_per_case_and_entry_per_engine() {
        let json = report().to_json();
        assert_eq!(json["engines"][0]["engine"], "one");
        assert_eq!(json["engines"][0]["fail"], 1);
        assert_eq!(json["cases"][0]["id"], "1a");
        assert_eq!(json["cases"][0]["results"]["one"]["status"], "pass");
        assert_eq!(json["cases"][0]["results"]["two"]["message"], "needs a movable clock");
        assert_eq!(json["cases"][1]["id"], "1c");
        assert_eq!(json["cases"][1]["results"].get("two"), None);
    }

    #[test]
    fn terminal_text_shows_failures_in_full() {
        let text = report().to_terminal();
        assert!(text.contains("FAILED on one"), "{text}");
        assert!(text.contains("  | expected an error\n  |   at values.rs:1:1"), "{text}");
        assert!(text.contains("1 pass, 0 deviates, 0 unsupported, 1 fail"), "{text}");
    }

    #[test]
    fn markdown_has_table_per_family_and_reasons_of_unsupported_cases() {
        let text = report().to_markdown();
        assert!(text.contains("| one | 1 | 0 | 0 | 1 |"), "{text}");
        assert!(text.contains("\n## values\n"), "{text}");
        assert!(text.contains("| pass | unsupported |"), "{text}");
        assert!(text.contains("| fail |  |"), "{text}");
        assert!(text.contains("| two | 1a | needs a movable clock |"), "{text}");
        assert!(!text.contains("\n## writes\n"), "{text}");
    }
}
