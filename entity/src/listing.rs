//! The access patterns of an app, as a table.

use super::AppDesign;
use super::pattern::{Call, Operation, Pattern, inline};
use super::shape::consistency;
use tabla_core::Result;

/// One row: a request of a pattern.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The document's number for the pattern.
    pub number: &'static str,
    /// The pattern.
    pub pattern: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// What the store is asked, and through which index.
    pub operation: String,
    /// The key condition, what is filtered, in which order, how many at most, and how consistent it
    /// is where that is not the rule; of several writes, a line for each item.
    pub keys: Vec<String>,
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
            rows.push(row(design, pattern, index, call, item_size));
        }
    }
    Ok(rows)
}

/// So many items are on a page that has no limit of its own.
const PAGE: u32 = 25;

fn row(design: &AppDesign, pattern: &Pattern, index: usize, call: &Call, item_size: usize) -> Row {
    let operation = match &call.index {
        Some(index) => format!("{} {index}", call.operation),
        None => call.operation.to_string(),
    };
    Row {
        // What belongs to one pattern is named once.
        number: if index == 0 { pattern.number } else { "" },
        pattern: if index == 0 { pattern.name } else { "" },
        summary: if index == 0 { pattern.summary } else { "" },
        operation,
        keys: keys(call),
        units: call.units(design, item_size, PAGE),
    }
}

fn keys(call: &Call) -> Vec<String> {
    if matches!(call.operation, Operation::TransactWriteItems | Operation::BatchWriteItem) {
        return call.writes.iter().flat_map(|write| write.lines()).collect();
    }
    let mut parts = vec![call.keys.clone()];
    let filter = match (call.filter.as_ref().map(inline), call.unexpired) {
        (Some(filter), Some(ttl)) => Some(format!("{filter} AND NOT {ttl} <= now")),
        (None, Some(ttl)) => Some(format!("NOT {ttl} <= now")),
        (filter, None) => filter,
    };
    parts.extend(filter.map(|filter| format!("filter {filter}")));
    let changes = call.writes.iter().filter_map(|write| write.changes());
    parts.extend(changes.map(|changes| format!("changes {changes}")));
    parts.extend(call.is_descending.then(|| "descending".to_owned()));
    parts.extend(call.limit.map(|limit| format!("limit {limit}")));
    parts.extend(
        consistency(call.operation, call.index.as_deref(), call.is_consistent).map(str::to_owned),
    );
    parts.extend((call.queries > 1).then(|| format!("{} shards", call.queries)));
    parts.retain(|part| !part.is_empty());
    vec![parts.join("; ")]
}

/// The table in Markdown, as an app's README has it.
///
/// # Errors
/// A declaration does not fit the design.
pub fn markdown(design: &AppDesign, item_size: usize) -> Result<String> {
    let mut text = String::from("| | pattern | what for | operation | keys | units |\n");
    text.push_str("|---|---|---|---|---|---:|\n");
    for Row { number, pattern, summary, operation, keys, units } in rows(design, item_size)? {
        let keys: Vec<String> =
            keys.iter().map(|line| format!("`{}`", line.replace('|', "\\|"))).collect();
        let keys = keys.join("<br>");
        text.push_str(&format!(
            "| {number} | {pattern} | {summary} | {operation} | {keys} | {units} |\n"
        ));
    }
    Ok(text)
}
