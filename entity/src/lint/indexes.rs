//! What indexes are for, and what they carry.

use std::collections::BTreeSet;

use super::{Finding, Rule};
use crate::AppDesign;
use crate::design::{EntityDesign, IndexDesign, TableDesign};
use crate::pattern::{Call, Pattern};
use tabla_core::Expr;
use tabla_core::ops::ProjectionType;

pub(super) fn check(design: &AppDesign) -> Vec<Finding> {
    let mut findings = Vec::new();
    for table in &design.tables {
        for index in &table.indexes {
            let view = View::new(design, table, index);
            if view.reads.is_empty() {
                let message = format!(
                    "no pattern reads this index of {}; every write pays for it",
                    table.name
                );
                findings.push(Finding::new(Rule::UnusedIndex, &index.name, message));
            }
            findings.extend(view.missing());
            findings.extend(view.wide());
        }
    }
    findings
}

/// An index, with what is stored in it and what is read through it.
struct View<'d> {
    index: &'d IndexDesign,
    /// The attributes that every entry has.
    keys: BTreeSet<&'d str>,
    stored: Vec<&'static EntityDesign>,
    reads: Vec<(&'d Pattern, Call)>,
}

impl<'d> View<'d> {
    fn new(design: &'d AppDesign, table: &'d TableDesign, index: &'d IndexDesign) -> Self {
        let is_here = |entity: &EntityDesign| (entity.table)().name == table.name;
        let calls = design.patterns.iter().flat_map(|pattern| {
            pattern.calls().unwrap_or_default().into_iter().map(move |call| (pattern, call))
        });
        let is_read = |(_, call): &(&Pattern, Call)| {
            call.index.as_deref() == Some(&index.name) && is_here(call.entity)
        };
        let stored = design.entities.iter().copied();
        Self {
            index,
            keys: table.key_attributes(Some(index)).collect(),
            stored: stored
                .filter(|entity| is_here(entity) && entity.index(&index.name).is_some())
                .collect(),
            reads: calls.filter(is_read).collect(),
        }
    }

    fn missing(&self) -> Vec<Finding> {
        let lacks = |(pattern, call): &(&Pattern, Call)| {
            let read = read(pattern, call);
            let missing: Vec<&str> =
                read.iter().map(String::as_str).filter(|name| !self.carries(name)).collect();
            if missing.is_empty() {
                return None;
            }
            let message = format!(
                "it reads {} through {}, which does not carry {}",
                call.entity.name,
                self.index.name,
                missing.join(", ")
            );
            Some(Finding::new(Rule::MissingAttribute, pattern.name, message))
        };
        self.reads.iter().filter_map(lacks).collect()
    }

    fn carries(&self, attribute: &str) -> bool {
        let projection = &self.index.projection;
        self.keys.contains(attribute)
            || match projection.kind {
                ProjectionType::All => true,
                ProjectionType::KeysOnly => false,
                ProjectionType::Include => {
                    projection.non_key_attributes.iter().any(|own| own == attribute)
                }
            }
    }

    /// An index that carries everything, where its patterns read less than the entities in it have.
    fn wide(&self) -> Option<Finding> {
        if self.index.projection.kind != ProjectionType::All || self.reads.is_empty() {
            return None;
        }
        let mut needed: BTreeSet<String> = BTreeSet::new();
        for (pattern, call) in &self.reads {
            needed.extend(read(pattern, call));
            // Whoever reads a whole partition may want what else there is.
            let others = self.stored.iter().filter(|other| {
                call.is_whole_partition && self.shares(call.entity, other) && !is_view(call, other)
            });
            needed.extend(others.flat_map(|other| attributes(other)).map(str::to_owned));
        }
        let is_kept = |name: &&str| self.keys.contains(name) || needed.contains(*name);
        let whole = |entity: &&'static EntityDesign| {
            let mut names = self.keys.clone();
            for name in attributes(entity) {
                names.insert(name);
            }
            names
        };
        let entries: Vec<BTreeSet<&str>> = self.stored.iter().map(whole).collect();
        let all = entries.iter().map(BTreeSet::len).sum::<usize>();
        let kept = entries.iter().flatten().filter(|name| is_kept(name)).count();
        if kept == all {
            return None;
        }
        needed.retain(|name| !self.keys.contains(name.as_str()));
        let (projection, what) = match needed.is_empty() {
            true => ("KEYS_ONLY".to_owned(), "nothing but keys".to_owned()),
            false => {
                let names = needed.into_iter().collect::<Vec<_>>().join(", ");
                (format!("INCLUDE of {names}"), "less than there is".to_owned())
            }
        };
        let saving = 100 - 100 * kept / all;
        let message = format!(
            "its patterns read {what}: {projection} would do, with about {saving} % fewer \
             attributes in an entry (by their number; their sizes are not known)"
        );
        Some(Finding::new(Rule::WideProjection, &self.index.name, message))
    }

    /// Whether two entities may be in one partition of the index.
    fn shares(&self, one: &EntityDesign, other: &EntityDesign) -> bool {
        let partition = |entity: &EntityDesign| {
            entity.index(&self.index.name).map(|keys| keys.partition.to_string())
        };
        partition(one) == partition(other)
    }
}

/// The attributes of an entity, but for those of keys that are made of templates.
fn attributes(entity: &EntityDesign) -> impl Iterator<Item = &'static str> + use<> {
    let fields = entity.fields.iter().filter(|field| !field.key_only);
    fields.map(|field| field.attribute).chain(entity.tag.map(|(attribute, _)| attribute))
}

/// Whether a call reads items of this kind by some of their fields.
fn is_view(call: &Call, entity: &EntityDesign) -> bool {
    attributes(call.entity).all(|name| attributes(entity).any(|own| own == name))
}

/// The attributes that a pattern reads: those of the fields that it uses, or of its view; the tag
/// that tells what an item is; and what it filters by. A filter on what is not there holds or fails
/// for all alike.
fn read(pattern: &Pattern, call: &Call) -> BTreeSet<String> {
    let is_used = |name: &str| pattern.reads.is_none_or(|fields| fields.contains(&name));
    let projected = match call.query.as_ref().and_then(|query| query.projection.as_ref()) {
        Some(Expr::Tree(projection)) => Some(projection.paths()),
        _ => None,
    };
    let is_in_view = |attribute: &str| {
        projected.is_none_or(|paths| paths.iter().any(|path| path.root() == attribute))
    };
    let fields = call.entity.fields.iter().filter(|field| !field.key_only && is_used(field.name));
    fields
        .filter(|field| is_in_view(field.attribute))
        .map(|field| field.attribute)
        .chain(call.entity.tag.map(|(attribute, _)| attribute))
        .map(str::to_owned)
        .chain(call.filtered())
        .collect()
}
