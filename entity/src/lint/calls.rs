//! What patterns ask, by the rules of the store.

use super::{Finding, Rule};
use crate::AppDesign;
use crate::design::KeySource;
use crate::pattern::{Call, Operation, Pattern};
use tabla_core::backend::ReadPlan;
use tabla_core::backend::schema::Table;
use tabla_core::env::Timestamp;

pub(super) fn check(design: &AppDesign) -> Vec<Finding> {
    let mut findings = Vec::new();
    for pattern in &design.patterns {
        for call in pattern.calls().unwrap_or_default() {
            let found = [
                scan(design, pattern, &call),
                refused(design, pattern, &call),
                unordered(pattern, &call),
            ];
            findings.extend(found.into_iter().flatten());
        }
    }
    findings
}

fn scan(design: &AppDesign, pattern: &Pattern, call: &Call) -> Option<Finding> {
    let is_unsaid = call.operation == Operation::Scan && !pattern.may_scan;
    is_unsaid.then(|| {
        let table = &design.table_of(call.entity).name;
        let message = format!(
            "it reads all of {table}: give it an index, or say `may_scan` if that is meant"
        );
        Finding::new(Rule::Scan, pattern.name, message)
    })
}

/// What the store would refuse: its own rules judge the request.
fn refused(design: &AppDesign, pattern: &Pattern, call: &Call) -> Option<Finding> {
    let query = call.query.as_ref()?;
    let table = design.table_of(call.entity);
    let filtered = call.filtered();
    let keys: Vec<&str> = match call.index.as_ref().and_then(|name| table.find_index(name)) {
        Some(index) => {
            let keys = std::iter::once(&index.partition).chain(&index.sort);
            keys.map(|key| key.attribute.as_str()).collect()
        }
        None => table.key_attributes(None).collect(),
    };
    if let Some(key) = keys.into_iter().find(|key| filtered.iter().any(|name| name == key)) {
        let message = format!(
            "{key} belongs to the key: a condition on it goes with the key, not in a filter"
        );
        return Some(Finding::new(Rule::FilterOnKey, pattern.name, message));
    }
    let create = table.create(&table.name);
    // A table that cannot be created is told of by itself.
    let created = Table::create(&create, Timestamp::from_secs(0), String::new()).ok()?;
    let error = ReadPlan::query(query, &created).err()?;
    let message = format!("the store refuses it: {}", error.message());
    Some(Finding::new(Rule::KeyCondition, pattern.name, message))
}

/// A range of keys that do not sort as their values do.
fn unordered(pattern: &Pattern, call: &Call) -> Option<Finding> {
    let source = match &call.index {
        _ if !call.is_range => None,
        None => call.entity.sort.as_ref(),
        Some(name) => call.entity.index(name)?.sort.as_ref(),
    }?;
    let field = KeySource::template(source)?.parts().find(|part| !part.ordered)?.field;
    let message = format!(
        "its items come in the order of {source}, where `{field}` does not sort as its values do: \
         give it a width, such as `{{{field}:08}}`"
    );
    Some(Finding::new(Rule::NumbersAsText, pattern.name, message))
}
