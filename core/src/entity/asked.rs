//! Whether a pattern asks of the store what it declares.

use super::Db;
use super::app::AppDesign;
use super::design::{EntityDesign, IndexKeys, TableDesign, UniqueDesign};
use super::pattern::{Call, Operation, Pattern};
use super::template::Template;
use super::trace::{Touch, Touched, Trace};
use super::writes::{WriteDesign, WriteKind};
use crate::Item;
use crate::error::{Error, ErrorKind, Result};

/// Compares what a pattern declares with what the store was asked.
///
/// # Errors
/// It asks something else.
pub(super) fn compare(
    design: &AppDesign,
    db: &Db,
    pattern: &Pattern,
    traces: &[Trace],
) -> Result<()> {
    let declared = pattern.calls()?;
    let differs = || differs(pattern, &declared, traces);
    let mut left = traces;
    for call in &declared {
        let is_same =
            |trace: &&Trace| trace.operation == call.operation && trace.index == call.index;
        let same = left.iter().take_while(is_same).count();
        // A declared query stands for all its pages and shards.
        let may_repeat = matches!(
            call.operation,
            Operation::Query
                | Operation::Scan
                | Operation::BatchGetItem
                | Operation::BatchWriteItem
        );
        let taken = if may_repeat { same } else { same.min(1) };
        if taken == 0 {
            return Err(differs());
        }
        for trace in &left[..taken] {
            compare_items(design, db, pattern, call, &trace.touched)?;
        }
        left = &left[taken..];
    }
    if left.is_empty() { Ok(()) } else { Err(differs()) }
}

fn differs(pattern: &Pattern, declared: &[Call], traces: &[Trace]) -> Error {
    let shown = |operation: Operation, index: &Option<String>| match index {
        Some(index) => format!("{operation} {index}"),
        None => operation.to_string(),
    };
    let declared: Vec<String> =
        declared.iter().map(|call| shown(call.operation, &call.index)).collect();
    let asked: Vec<String> =
        traces.iter().map(|trace| shown(trace.operation, &trace.index)).collect();
    wrong(
        pattern,
        format_args!("declares [{}] and asks [{}]", declared.join(", "), asked.join(", ")),
    )
}

fn wrong(pattern: &Pattern, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unexpected, format!("the pattern {} {why}", pattern.name))
}

/// An item that is declared to be touched.
struct Expected<'c> {
    touch: Touch,
    table: &'static TableDesign,
    key: Key<'c>,
    is_each: bool,
}

/// How the key of an item is told.
enum Key<'c> {
    Entity(&'static EntityDesign, Option<&'c WriteDesign>),
    Guard(&'static UniqueDesign),
}

impl Expected<'_> {
    fn is(&self, db: &Db, touched: &Touched) -> bool {
        touched.touch == self.touch
            && is_table(db, self.table, &touched.table)
            && match &self.key {
                Key::Entity(entity, _) => entity.has_key_of(&touched.item),
                Key::Guard(unique) => is_guard(self.table, unique, &touched.item),
            }
    }

    fn shown(&self) -> String {
        let what = match &self.key {
            Key::Entity(entity, _) => entity.name.to_owned(),
            Key::Guard(unique) => format!("the guard of {}", unique.field),
        };
        format!("{:?} {what}", self.touch)
    }
}

/// Whether a table of the design is called so here.
fn is_table(db: &Db, design: &TableDesign, name: &str) -> bool {
    match design.periods {
        true => db.period("").table_name(design).is_ok_and(|start| name.starts_with(&start)),
        false => db.table_name(design).is_ok_and(|own| own == name),
    }
}

fn is_guard(table: &TableDesign, unique: &UniqueDesign, item: &Item) -> bool {
    let fits = |template: &Template, attribute: &str| {
        item.get(attribute)
            .and_then(|text| text.as_str())
            .is_some_and(|text| template.matches(text))
    };
    let sort = match (&unique.sort, &table.sort) {
        (Some(template), Some(key)) => fits(template, &key.attribute),
        _ => true,
    };
    sort && fits(&unique.partition, &table.partition.attribute)
}

fn compare_items(
    design: &AppDesign,
    db: &Db,
    pattern: &Pattern,
    call: &Call,
    touched: &[Touched],
) -> Result<()> {
    let mut left: Vec<&Touched> = touched.iter().collect();
    // Those of which there may be any number come last: others have one item each.
    let mut expected = expected(design, call);
    expected.sort_by_key(|expected| expected.is_each);
    for expected in &expected {
        let mut found = Vec::new();
        while let Some(at) = left.iter().position(|touched| expected.is(db, touched)) {
            found.push(left.remove(at));
            if !expected.is_each {
                break;
            }
        }
        if found.is_empty() {
            return Err(wrong(
                pattern,
                format_args!("declares `{}`, which it does not ask", expected.shown()),
            ));
        }
        if let Key::Entity(_, Some(write)) = &expected.key {
            let moved = found.iter().find_map(|touched| unsaid(expected.table, write, touched));
            if let Some(attribute) = moved {
                return Err(wrong(
                    pattern,
                    format_args!(
                        "writes {attribute} of {}, which stands in the key of an index: its \
                         declaration has to say which field changes",
                        write.entity.name
                    ),
                ));
            }
        }
    }
    match left.first() {
        None => Ok(()),
        Some(touched) => Err(wrong(
            pattern,
            format_args!(
                "asks `{:?}` of {:?} in {}, which it does not declare",
                touched.touch, touched.item, touched.table
            ),
        )),
    }
}

fn expected<'c>(design: &AppDesign, call: &'c Call) -> Vec<Expected<'c>> {
    match call.operation {
        Operation::GetItem => {
            let table = design.table_of(call.entity);
            let key = Key::Entity(call.entity, None);
            vec![Expected { touch: Touch::Get, table, key, is_each: false }]
        }
        // What a batch names is not told apart.
        Operation::BatchWriteItem => Vec::new(),
        _ => call.writes.iter().flat_map(|write| expected_of(design, write)).collect(),
    }
}

fn expected_of<'c>(design: &AppDesign, write: &'c WriteDesign) -> Vec<Expected<'c>> {
    let table = design.table_of(write.entity);
    let touch = |kind| match kind {
        WriteKind::Create | WriteKind::Put => Touch::Put,
        WriteKind::Update => Touch::Update,
        WriteKind::Delete => Touch::Delete,
        WriteKind::Check => Touch::Check,
    };
    let is_each = write.is_each;
    let key = Key::Entity(write.entity, Some(write));
    let own = Expected { touch: touch(write.kind), table, key, is_each };
    let guards = write.guards().into_iter().map(|guard| {
        let key = Key::Guard(guard.unique);
        Expected { touch: touch(guard.kind), table, key, is_each }
    });
    std::iter::once(own).chain(guards).collect()
}

/// An attribute of the key of an index that an update writes, though none of the fields that it
/// declares stands in that key.
fn unsaid<'t>(
    table: &TableDesign,
    write: &WriteDesign,
    touched: &'t Touched,
) -> Option<&'t String> {
    if write.kind != WriteKind::Update {
        return None;
    }
    let stays = |keys: &&IndexKeys| !write.changed().any(|field| keys.has(field));
    let stay = write.entity.indexes.iter().filter(stays);
    let kept: Vec<&str> = stay
        .filter_map(|keys| table.find_index(keys.index))
        .flat_map(|index| std::iter::once(&index.partition).chain(&index.sort))
        .map(|key| key.attribute.as_str())
        .collect();
    touched.changed.iter().find(|attribute| kept.contains(&attribute.as_str()))
}
