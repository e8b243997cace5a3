//! The access patterns of an app, as a table.

use super::app::AppDesign;
use super::pattern::{Call, Pattern, inline};
use crate::error::Result;

/// One row: a request of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The document's number for the pattern.
    pub number: &'static str,
    /// The pattern.
    pub pattern: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// What the store is asked, and through which index.
    pub operation: String,
    /// The key condition, and what is filtered.
    pub keys: String,
    /// Capacity units per call.
    pub units: f64,
}

/// The rows of an app's patterns, with the capacity units for items of this many bytes, 25 on a
/// page.
///
/// # Errors
/// A declaration does not fit the design.
pub fn rows(design: &AppDesign, item_size: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for pattern in &design.patterns {
        for (index, call) in pattern.calls()?.iter().enumerate() {
            rows.push(row(pattern, index, call, item_size));
        }
    }
    Ok(rows)
}

/// So many items are on a page that has no limit of its own.
const PAGE: u32 = 25;

fn row(pattern: &Pattern, index: usize, call: &Call, item_size: usize) -> Row {
    let operation = match &call.index {
        Some(index) => format!("{} {index}", call.operation),
        None => call.operation.to_string(),
    };
    let mut keys = call.keys.clone();
    if let Some(filter) = &call.filter {
        keys = format!("{keys}; filter {}", inline(filter));
    }
    if call.is_descending {
        keys = format!("{keys}; descending");
    }
    if call.queries > 1 {
        keys = format!("{keys}; {} shards", call.queries);
    }
    Row {
        // What belongs to one pattern is named once.
        number: if index == 0 { pattern.number } else { "" },
        pattern: if index == 0 { pattern.name } else { "" },
        summary: if index == 0 { pattern.summary } else { "" },
        operation,
        keys,
        units: call.units(item_size, PAGE),
    }
}

/// The table in Markdown, as an app's README has it.
///
/// # Errors
/// A declaration does not fit the design.
pub fn markdown(design: &AppDesign, item_size: usize) -> Result<String> {
    let mut text = String::from("| | pattern | what for | operation | keys | units |\n");
    text.push_str("|---|---|---|---|---|---:|\n");
    for Row { number, pattern, summary, operation, keys, units } in rows(design, item_size)? {
        let keys = keys.replace('|', "\\|");
        text.push_str(&format!(
            "| {number} | {pattern} | {summary} | {operation} | `{keys}` | {units} |\n"
        ));
    }
    Ok(text)
}
