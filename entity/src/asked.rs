//! Whether a pattern asks of the store what it declares.

use super::AppDesign;
use super::Db;
use super::design::{EntityDesign, IndexKeys, TableDesign, UniqueDesign};
use super::pattern::{Call, Operation, Pattern};
use super::shape::{Reading, Shape};
use super::template::Template;
use super::trace::{Touch, Touched, Trace};
use super::writes::{WriteDesign, WriteKind};
use tabla_core::Item;
use tabla_core::ops::Scan;
use tabla_core::{Error, ErrorKind, Result};

/// Compares what a pattern declares with what the store was asked: operations, indexes, conditions,
/// filters, order, limits, consistency, and the items that are named by keys.
///
/// # Errors
/// It asks something else.
pub fn compare(design: &AppDesign, db: &Db, pattern: &Pattern, traces: &[Trace]) -> Result<()> {
    let declared = pattern.calls()?;
    let differs = || differs(design, db, pattern, &declared, traces);
    let mut left = traces;
    for call in &declared {
        let shape = declared_shape(design, call);
        let is_same = |trace: &&Trace| shape.allows(&asked_shape(design, db, call, trace));
        let same = left.iter().take_while(is_same).count();
        // A declared query stands for all its pages and shards, a batch for all its parts.
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
        let touched = left[..taken].iter().flat_map(|trace| &trace.touched).collect();
        compare_items(design, db, pattern, call, touched)?;
        left = &left[taken..];
    }
    if left.is_empty() { Ok(()) } else { Err(differs()) }
}

fn declared_shape(design: &AppDesign, call: &Call) -> Shape {
    let shape = Shape::new(call.operation, call.index.as_deref(), call.is_consistent);
    let table = design.table_of(call.entity);
    match call.operation {
        Operation::Query | Operation::Scan => {
            let all = || Reading::from(&Scan::new(&table.name));
            let reading = call.query.as_ref().map_or_else(all, Reading::from);
            shape.reading(&reading, call)
        }
        Operation::BatchGetItem => shape.about(vec![call.entity.name]),
        _ => shape,
    }
}

/// The shape of what was asked, if it was asked because of this call.
fn asked_shape(design: &AppDesign, db: &Db, call: &Call, trace: &Trace) -> Shape {
    let shape = Shape::new(trace.operation, trace.index.as_deref(), trace.is_consistent);
    if let Some(reading) = &trace.reading {
        // Here the table may have a name of its own.
        let table = design.table_of(call.entity);
        let is_it = is_table(db, table, &reading.table);
        let name = if is_it { &table.name } else { &reading.table };
        return shape.reading(&Reading { table: name.clone(), ..reading.clone() }, call);
    }
    match trace.operation {
        Operation::BatchGetItem => shape.about(entities_of(design, db, call.entity, trace)),
        _ => shape,
    }
}

/// The entities that are read by their keys: this one, if it could be.
fn entities_of<'d>(
    design: &'d AppDesign,
    db: &Db,
    own: &'d EntityDesign,
    trace: &Trace,
) -> Vec<&'d str> {
    let mut names: Vec<&str> = Vec::new();
    for touched in &trace.touched {
        let is_of = |entity: &&EntityDesign| {
            is_table(db, design.table_of(entity), &touched.table)
                && entity.has_key_of(&touched.item)
        };
        let mut entities = std::iter::once(own).chain(design.entities.iter().copied());
        let name = entities.find(is_of).map_or("an unknown item", |entity| entity.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn differs(
    design: &AppDesign,
    db: &Db,
    pattern: &Pattern,
    declared: &[Call],
    traces: &[Trace],
) -> Error {
    let asked = |trace: &Trace| {
        let is_like = |call: &&Call| call.operation == trace.operation && call.index == trace.index;
        let call = declared.iter().find(is_like).or(declared.first());
        match call {
            Some(call) => asked_shape(design, db, call, trace).to_string(),
            None => trace.operation.to_string(),
        }
    };
    let asked = in_turn(traces.iter().map(asked).collect());
    let of_call = |call| declared_shape(design, call).to_string();
    let declared = in_turn(declared.iter().map(of_call).collect());
    wrong(pattern, format_args!("declares [{declared}] and asks [{asked}]"))
}

/// One after the other; what is repeated, once.
fn in_turn(requests: Vec<String>) -> String {
    let same = requests.chunk_by(|one, next| one == next);
    let said = same.map(|same| match same {
        [one] => one.clone(),
        several => format!("{} ({} times)", several[0], several.len()),
    });
    said.collect::<Vec<_>>().join("; ")
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
    touched: Vec<&Touched>,
) -> Result<()> {
    let mut left = touched;
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
        Operation::GetItem | Operation::BatchGetItem | Operation::TransactGetItems => {
            let table = design.table_of(call.entity);
            let key = Key::Entity(call.entity, None);
            let is_each = call.operation != Operation::GetItem;
            vec![Expected { touch: Touch::Get, table, key, is_each }]
        }
        Operation::BatchWriteItem => {
            let expected = call.writes.iter().flat_map(|write| expected_of(design, write));
            expected.map(|expected| Expected { is_each: true, ..expected }).collect()
        }
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
