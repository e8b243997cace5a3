//! Whether the declarations of a design fit each other.

use std::collections::BTreeSet;

use super::{Finding, Rule};
use crate::AppDesign;
use crate::design::EntityDesign;
use crate::pattern::{Call, Pattern};
use tabla_core::backend::schema::Table;
use tabla_core::env::Timestamp;

pub(super) fn check(design: &AppDesign) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |subject: &str, message: String| {
        findings.push(Finding::new(Rule::Declaration, subject, message));
    };
    let mut names = BTreeSet::new();
    for table in &design.tables {
        if !names.insert(&table.name) {
            let message = "two tables of the design have this name, which tells them apart: give \
                           one of them another";
            find(&table.name, message.to_owned());
        }
        let create = table.create(&table.name);
        if let Err(error) = Table::create(&create, Timestamp::from_secs(0), String::new()) {
            find(&table.name, format!("the store refuses it: {}", error.message()));
        }
    }
    for entity in &design.entities {
        if let Some(message) = misplaced(design, entity) {
            find(entity.name, message);
        }
    }
    for pattern in &design.patterns {
        let calls = match pattern.calls() {
            Ok(calls) => calls,
            Err(error) => {
                find(pattern.name, error.message().to_owned());
                continue;
            }
        };
        let mut entities: Vec<&EntityDesign> = calls.iter().flat_map(entities_of).collect();
        entities.dedup_by_key(|entity| entity.name);
        for message in entities.into_iter().filter_map(|entity| misplaced(design, entity)) {
            find(pattern.name, message);
        }
        if let Some(field) = unknown_field(pattern, &calls) {
            find(pattern.name, format!("it reads `{field}`, which its entity does not have"));
        }
    }
    findings
}

fn entities_of(call: &Call) -> impl Iterator<Item = &'static EntityDesign> {
    std::iter::once(call.entity).chain(call.writes.iter().map(|write| write.entity))
}

/// What is wrong with where an entity is said to be.
fn misplaced(design: &AppDesign, entity: &EntityDesign) -> Option<String> {
    let own = (entity.table)();
    let Some(table) = design.tables.iter().find(|table| table.name == own.name) else {
        return Some(format!(
            "{} is in the table {}, which is not among those of the design",
            entity.name, own.name
        ));
    };
    let lacking = entity.indexes.iter().find(|keys| table.find_index(keys.index).is_none())?;
    Some(format!(
        "{} has keys for the index {}, which table {} does not have",
        entity.name, lacking.index, table.name
    ))
}

/// A field that a pattern says it reads, and none of its entities has.
fn unknown_field(pattern: &Pattern, calls: &[Call]) -> Option<&'static str> {
    let is_known = |field: &&&str| calls.iter().any(|call| call.entity.field(field).is_some());
    pattern.reads?.iter().find(|field| !is_known(field)).copied()
}
