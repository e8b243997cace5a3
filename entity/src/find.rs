//! Finding entities by keys.

use std::any::Any;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Serialize;

use super::design::{KeyDesign, KeySource};
use super::field::{not_expired, undeclared};
use super::part::SEPARATOR;
use super::template::{Piece, Template};
use super::{Check, Entity, Field};
use tabla_core::expr::{Condition, attr};
use tabla_core::ops::Query;
use tabla_core::{Cursor, Value};
use tabla_core::{Error, Result};

/// Sorts after every text that begins with what stands before it.
const LAST: char = '\u{10FFFF}';

/// What to find, by the table's key or by an index.
///
/// Every field of the partition key has to be bound, but for shards: those that are not are all
/// read. The fields of the sort key that are bound, from the first on, narrow it down; one more may
/// have a range.
///
/// A range is one of keys. Of a field that is written as another type, it has whole parts: of
/// `{at:as Day}` whole days. Where text of any length is followed by more, texts with a space, `!`
/// or `"` sort before what they begin with, because the separator comes after these.
///
/// A field may be in both keys, as a moment and its day: `{at:as Day}` in the partition key and
/// `{at}` in the sort key. A range of it whose two ends are of one day says which partition that
/// is. One that goes on for several, or has one end, is looked for in the partition of the value
/// that [`with`](Find::with) gives.
#[must_use]
pub struct Find<E> {
    pub(super) index: Option<&'static str>,
    bound: BTreeMap<&'static str, Bound>,
    range: Option<Range>,
    pub(super) is_whole_partition: bool,
    filter: Option<Condition>,
    pub(super) is_unexpired: bool,
    pub(super) is_descending: bool,
    pub(super) limit: Option<u32>,
    is_consistent: bool,
    pub(super) cursor: Option<Cursor>,
    failure: Option<Error>,
    entity: PhantomData<fn() -> E>,
}

/// A field that is given: as the entity holds it, and as DynamoDB does.
struct Bound {
    field: Box<dyn Any + Send + Sync>,
    value: Value,
}

struct Range {
    field: &'static str,
    low: Option<Bound>,
    high: Option<Bound>,
}

/// One query of those that a [`Find`] is made of, and what it asks besides for the time being.
pub(super) struct Leg {
    /// What makes the query the one that it is.
    pub(super) query: Query,
    /// Leaves out what has expired: not a part of what the query is, because the time goes on from
    /// page to page.
    pub(super) unexpired: Option<Condition>,
}

impl<E: Entity> Find<E> {
    pub(super) fn new(index: Option<&'static str>) -> Self {
        Self {
            index,
            bound: BTreeMap::new(),
            range: None,
            is_whole_partition: false,
            filter: None,
            is_unexpired: false,
            is_descending: false,
            limit: None,
            is_consistent: false,
            cursor: None,
            failure: None,
            entity: PhantomData,
        }
    }

    fn bind<T: Serialize + Any + Send + Sync>(&mut self, value: T) -> Option<Bound> {
        match Value::from_struct(&value) {
            Ok(stored) => Some(Bound { field: Box::new(value), value: stored }),
            Err(error) => {
                self.failure.get_or_insert(error);
                None
            }
        }
    }

    /// With this value of a field of the key.
    pub fn with<T>(mut self, field: Field<E, T>, value: impl Into<T>) -> Self
    where
        T: Serialize + Any + Send + Sync,
    {
        if let Some(bound) = self.bind(value.into()) {
            self.bound.insert(field.name, bound);
        }
        self
    }

    /// With values of the next field of the sort key from this one on.
    pub fn from<T>(self, field: Field<E, T>, low: impl Into<T>) -> Self
    where
        T: Serialize + Any + Send + Sync,
    {
        self.range(field, Some(low.into()), None)
    }

    /// With values of the next field of the sort key up to this one, which belongs to them.
    pub fn to<T>(self, field: Field<E, T>, high: impl Into<T>) -> Self
    where
        T: Serialize + Any + Send + Sync,
    {
        self.range(field, None, Some(high.into()))
    }

    /// With values of the next field of the sort key between these, which belong to them.
    pub fn between<T>(self, field: Field<E, T>, low: impl Into<T>, high: impl Into<T>) -> Self
    where
        T: Serialize + Any + Send + Sync,
    {
        self.range(field, Some(low.into()), Some(high.into()))
    }

    fn range<T>(mut self, field: Field<E, T>, low: Option<T>, high: Option<T>) -> Self
    where
        T: Serialize + Any + Send + Sync,
    {
        let low = low.and_then(|low| self.bind(low));
        let high = high.and_then(|high| self.bind(high));
        match &mut self.range {
            // Its two ends may be said one after the other.
            Some(range) if range.field == field.name => {
                range.low = low.or(range.low.take());
                range.high = high.or(range.high.take());
            }
            Some(range) => {
                let error = undeclared(
                    E::design().name,
                    format_args!(
                        "one field has a range, not both `{}` and `{}`: use filter for the other",
                        range.field, field.name
                    ),
                );
                self.failure.get_or_insert(error);
            }
            None => self.range = Some(Range { field: field.name, low, high }),
        }
        self
    }

    /// Whatever else is in the partition, too: for a [`Collection`](super::Collection).
    pub fn whole_partition(mut self) -> Self {
        self.is_whole_partition = true;
        self
    }

    /// Only what this holds for; the rest is read, and paid for, all the same.
    pub fn filter(mut self, check: Check<E>) -> Self {
        match check.on_attributes() {
            Ok(condition) => {
                self.filter = Some(match self.filter.take() {
                    Some(present) => present.and(condition),
                    None => condition,
                });
            }
            Err(error) => {
                self.failure.get_or_insert(error);
            }
        }
        self
    }

    /// Leaves out what has expired and is still there.
    pub fn unexpired(mut self) -> Self {
        self.is_unexpired = true;
        self
    }

    /// From the end of the sort key to its beginning.
    pub fn descending(mut self) -> Self {
        self.is_descending = true;
        self
    }

    /// At most this many on a page.
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Seeing every write answered before.
    pub fn consistent(mut self) -> Self {
        self.is_consistent = true;
        self
    }

    /// Going on where a page has ended.
    pub fn after(mut self, cursor: Option<Cursor>) -> Self {
        self.cursor = cursor;
        self
    }

    /// Whether at most one item matches: every field of the sort key is given.
    pub(super) fn is_exact(&self) -> bool {
        let design = E::design();
        // An index may have several items under one key.
        if self.index.is_some() || self.is_whole_partition {
            return false;
        }
        match (&design.sort, &(design.table)().sort) {
            (Some(source), _) => source.fields().iter().all(|field| self.bound.contains_key(field)),
            // An entity that does not say its sort key may have any.
            (None, sort) => sort.is_none(),
        }
    }

    /// The queries that it is made of, one for each shard.
    pub(super) fn legs(&self, table: &str, now: u64) -> Result<Vec<Leg>> {
        if let Some(error) = &self.failure {
            return Err(Error::validation(error.message()));
        }
        let design = E::design();
        let (partition, sort, keys) = match self.index {
            None => {
                let table = (design.table)();
                let keys = (&table.partition, table.sort.as_ref());
                (&design.partition, design.sort.as_ref(), keys)
            }
            Some(name) => {
                let index = (design.table)().find_index(name);
                let (Some(index), Some(own)) = (index, design.index(name)) else {
                    return Err(undeclared(design.name, format_args!("it is not in index {name}")));
                };
                (&own.partition, own.sort.as_ref(), (&index.partition, index.sort.as_ref()))
            }
        };
        self.check_bound(partition, sort.filter(|_| keys.1.is_some()))?;
        let shards = shards_of(partition, &self.bound);
        (0..shards)
            .map(|shard| {
                let mut condition = self.partition(partition, keys.0, shard)?;
                if let (Some(source), Some(key)) = (sort, keys.1)
                    && !self.is_whole_partition
                    && let Some(narrowed) = self.sort(source, key, partition)?
                {
                    condition = condition.and(narrowed);
                }
                let mut query = Query::new(table, condition);
                query.index = self.index.map(str::to_owned);
                query.filter = self.filter.clone().map(Into::into);
                query.scan_index_forward = !self.is_descending;
                query.consistent_read = self.is_consistent;
                query.limit = self.limit.map(|limit| limit.try_into().unwrap_or(i32::MAX));
                let unexpired = if self.is_unexpired { not_expired::<E>(now) } else { None };
                Ok(Leg { query, unexpired })
            })
            .collect()
    }

    /// Refuses what would not be looked at: more would be found than was asked for.
    fn check_bound(&self, partition: &KeySource, sort: Option<&KeySource>) -> Result<()> {
        let design = E::design();
        if self.is_whole_partition {
            return Ok(());
        }
        if let (Some(range), None) = (&self.range, sort) {
            return Err(undeclared(
                design.name,
                format_args!("there is no sort key that `{}` could have a range in", range.field),
            ));
        }
        let mut used = partition.fields();
        if let Some(sort) = sort {
            // Those from the first on narrow the sort key down.
            let fields = sort.fields();
            used.extend(fields.into_iter().take_while(|field| self.bound.contains_key(field)));
        }
        match self.bound.keys().find(|name| !used.contains(name)) {
            Some(name) => Err(undeclared(
                design.name,
                match sort.filter(|sort| sort.has(name)) {
                    Some(sort) => format!(
                        "`{name}` narrows {sort} down only if the fields before it are given, too: \
                         give them, or use filter"
                    ),
                    None => format!("`{name}` is not in the key that is looked for: use filter"),
                },
            )),
            None => Ok(()),
        }
    }

    fn partition(&self, source: &KeySource, key: &KeyDesign, shard: u32) -> Result<Condition> {
        let design = E::design();
        let missing = |field: &str| {
            undeclared(design.name, format_args!("to find by {source}, `{field}` has to be given"))
        };
        let value = match source {
            KeySource::Attribute(field) => {
                self.bound.get(field).ok_or_else(|| missing(field))?.value.clone()
            }
            KeySource::Template(template) => {
                let prefix = template.prefix_in(&|name| self.bound(name), Some(shard))?;
                match prefix.missing {
                    None => Value::S(prefix.text),
                    Some(field) => match self.partition_of_range(template, field, shard)? {
                        Some(text) => Value::S(text),
                        None => return Err(missing(field)),
                    },
                }
            }
        };
        Ok(attr(&key.attribute).eq(value))
    }

    /// The partition that both ends of the range are in, if this field of it is all that is missing
    /// and has all that is between the ends there, too.
    fn partition_of_range(
        &self,
        template: &Template,
        field: &str,
        shard: u32,
    ) -> Result<Option<String>> {
        let Some(Range { field: own, low: Some(low), high: Some(high) }) = &self.range else {
            return Ok(None);
        };
        let mut parts = template.parts().filter(|part| part.field == field);
        if *own != field || !parts.all(|part| part.ordered && part.shards == 0) {
            return Ok(None);
        }
        let at = |end: &Bound| {
            let end: &dyn Any = &*end.field;
            let fields = |name: &str| if name == field { Some(end) } else { self.bound(name) };
            template.prefix_in(&fields, Some(shard))
        };
        let (first, last) = (at(low)?, at(high)?);
        if first.missing.is_some() {
            return Ok(None);
        }
        if first != last {
            return Err(undeclared(
                E::design().name,
                format_args!(
                    "a range of `{field}` from {} to {} is in several partitions: look into each, \
                     with a value of `{field}` that is in it",
                    first.text, last.text
                ),
            ));
        }
        Ok(Some(first.text))
    }

    fn bound(&self, name: &str) -> Option<&dyn Any> {
        self.bound.get(name).map(|bound| &*bound.field as &dyn Any)
    }

    fn sort(
        &self,
        source: &KeySource,
        key: &KeyDesign,
        partition: &KeySource,
    ) -> Result<Option<Condition>> {
        let path = attr(&key.attribute);
        // A field of both keys, such as a moment and its day, is given for the partition and may
        // still have a range in it.
        let is_open = |name: &str| {
            partition.has(name) && self.range.as_ref().is_some_and(|range| range.field == name)
        };
        match source {
            KeySource::Attribute(field) => {
                let bound = self.bound.get(field).filter(|_| !is_open(field));
                let Some(range) = &self.range else {
                    return Ok(bound.map(|bound| path.eq(bound.value.clone())));
                };
                self.check_range(range, bound.is_none().then_some(field), source)?;
                let value = |bound: &Bound| bound.value.clone();
                Ok(match (&range.low, &range.high) {
                    (Some(low), Some(high)) => Some(path.between(value(low), value(high))),
                    (Some(low), None) => Some(path.ge(value(low))),
                    (None, Some(high)) => Some(path.le(value(high))),
                    (None, None) => None,
                })
            }
            KeySource::Template(template) => {
                let bound = |name: &str| if is_open(name) { None } else { self.bound(name) };
                let prefix = template.prefix(&bound)?;
                match (&self.range, prefix.missing) {
                    (None, None) => Ok(Some(path.eq(prefix.text))),
                    (None, Some(_)) if prefix.text.is_empty() => Ok(None),
                    (None, Some(_)) => Ok(Some(path.begins_with(prefix.text))),
                    (Some(range), missing) => {
                        self.check_range(range, missing, source)?;
                        check_order::<E>(template, range)?;
                        let (low, high) = template_range(template, range, &prefix.text)?;
                        // No key is empty, and no condition may say so.
                        Ok(Some(match low.is_empty() {
                            true => path.le(high),
                            false => path.between(low, high),
                        }))
                    }
                }
            }
        }
    }

    fn check_range(&self, range: &Range, next: Option<&str>, source: &KeySource) -> Result<()> {
        if next == Some(range.field) {
            return Ok(());
        }
        let name = E::design().name;
        Err(match next {
            Some(next) => undeclared(
                name,
                format_args!(
                    "the next field of {source} is `{next}`, so that a range of `{}` is none of keys",
                    range.field
                ),
            ),
            None => {
                undeclared(name, format_args!("all fields of {source} are given: no range is left"))
            }
        })
    }
}

/// Refuses a range of a field whose texts do not sort as its values do.
fn check_order<E: Entity>(template: &Template, range: &Range) -> Result<()> {
    let part = template.parts().find(|part| part.field == range.field);
    match part.is_some_and(|part| part.ordered) {
        true => Ok(()),
        false => Err(undeclared(
            E::design().name,
            format_args!(
                "`{}` does not sort in {template} as its values do, so that no range of it is one \
                 of keys: use filter",
                range.field
            ),
        )),
    }
}

/// The first and the last text of a range. Everything stays within what the template makes, so
/// that other entities of the partition are not met.
fn template_range(template: &Template, range: &Range, prefix: &str) -> Result<(String, String)> {
    let at = template
        .pieces
        .iter()
        .position(|piece| matches!(piece, Piece::Field(part) if part.field == range.field));
    let at = at.expect("the range is on a field of the template");
    let Piece::Field(part) = &template.pieces[at] else { unreachable!("it was matched") };
    let is_followed = at + 1 < template.pieces.len();
    let write = |bound: &Bound| -> Result<String> {
        let mut text = prefix.to_owned();
        (part.write)(&*bound.field, &mut text)?;
        let written = &text[prefix.len()..];
        if is_followed
            && part.width.is_none()
            && let Some(found) = written.chars().find(|found| *found < SEPARATOR)
        {
            return Err(Error::validation(format!(
                "a range of `{}` in {template} cannot end at {written:?}: {found:?} sorts before \
                 the separator that follows the field",
                range.field
            )));
        }
        Ok(text)
    };
    // Where larger values come first, the range ends with the smallest.
    let (first, last) = match part.is_descending() {
        true => (&range.high, &range.low),
        false => (&range.low, &range.high),
    };
    let low = match first {
        Some(low) => write(low)?,
        None => prefix.to_owned(),
    };
    let high = match last {
        Some(high) => {
            let mut text = write(high)?;
            match &template.pieces[at + 1..] {
                [] => {}
                [Piece::Text(next), ..] => {
                    text.push_str(next);
                    text.push(LAST);
                }
                _ => text.push(LAST),
            }
            text
        }
        None => format!("{prefix}{LAST}"),
    };
    Ok((low, high))
}

/// How many partitions there are to read.
fn shards_of(source: &KeySource, bound: &BTreeMap<&'static str, Bound>) -> u32 {
    let Some(template) = source.template() else { return 1 };
    let open = template.parts().filter(|part| !bound.contains_key(part.field));
    open.map(|part| part.shards).max().unwrap_or(0).max(1)
}
