//! Queries of entities by the table's key or by an index.
//!
//! `#[derive(Entity)]` generates a function for each; this module holds what they build.

use std::any::Any;
use std::collections::VecDeque;
use std::marker::PhantomData;

use serde::Serialize;

use super::design::{KeyDesign, KeySource};
use super::field::{not_expired, undeclared};
use super::get::projection;
use super::key_argument::Bound;
use super::part::SEPARATOR;
use super::shard::shard_text;
use super::template::{Part, Piece, Template};
use super::{Check, Entity, IntoQuery, View};
use tabla_core::expr::{Condition, attr};
use tabla_core::ops::Query;
use tabla_core::{Cursor, Value};
use tabla_core::{Error, Result};

/// Sorts after every text that begins with what stands before it.
const LAST: char = '\u{10FFFF}';

/// A query of the entities of one partition, by the table's key or by an index.
///
/// The functions that `#[derive(Entity)]` generates create it: one for the table's key, one for each
/// index. Their arguments are the fields of the partition key. Their methods restrict the fields of
/// the sort key, in order. A field that spreads a partition over shards is no argument: the query
/// reads all shards and merges them.
///
/// A range is a range of keys. Of a field that the template writes as another type, it has whole
/// values of that type: of `{at:as Day}` whole days. Where text of any length is followed by more
/// text, a bound with a space, `!` or `"` is refused, because these sort before the separator.
#[must_use = "a query does nothing until it is passed to a method of `Db`"]
pub struct EntityQuery<E, V = E> {
    index: Option<&'static str>,
    /// Partition keys, one for each shard.
    partitions: Vec<Value>,
    sort: SortKey,
    is_whole_partition: bool,
    filter: Option<Condition>,
    is_unexpired: bool,
    is_descending: bool,
    limit: Option<u32>,
    pub(super) cursor: Option<Cursor>,
    failure: Option<Error>,
    types: PhantomData<fn() -> (E, V)>,
}

/// Restriction of the sort key.
enum SortKey {
    /// The key has none, or the entity does not declare it.
    None,
    /// A field whose attribute is the key.
    Attribute(Option<Bound<Value>>),
    /// A template: the text up to the first open field, the pieces from there on, and the range of
    /// that field.
    Template { text: String, rest: VecDeque<SortPiece>, range: Option<(String, String)> },
}

/// An argument of a query function, for the field of its name.
#[derive(Clone, Copy)]
pub enum Argument<'a> {
    /// Value of the field.
    Field(&'a dyn Any),
    /// Value of the type that the template converts the field to.
    Converted(&'a dyn Any),
}

/// Finds the argument for a field.
type Arguments<'a> = &'a dyn Fn(&str) -> Option<Argument<'a>>;

/// A piece of a sort-key template.
enum SortPiece {
    /// Text that is known: constant, or that of a field which the partition key also has.
    Text(String),
    /// A field that can be restricted.
    Open(&'static Part),
}

/// One request of those that a query is made of, and a filter that is not part of its identity.
pub(super) struct Leg {
    /// What identifies the query, for its cursors.
    pub(super) query: Query,
    /// Filter of expired items. It is not part of the identity because the time goes on from page
    /// to page.
    pub(super) unexpired: Option<Condition>,
}

impl<E: Entity> EntityQuery<E> {
    fn new(index: Option<&'static str>, partitions: Result<Vec<Value>>) -> Self {
        let (partitions, failure) = match partitions {
            Ok(partitions) => (partitions, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        Self {
            index,
            partitions,
            sort: SortKey::None,
            is_whole_partition: false,
            filter: None,
            is_unexpired: false,
            is_descending: false,
            limit: None,
            cursor: None,
            failure,
            types: PhantomData,
        }
    }

    /// Query of the partition whose key is made of these fields. For generated code.
    #[doc(hidden)]
    pub fn by_template<'a>(
        index: Option<&'static str>,
        arguments: &'a dyn Fn(&str) -> Option<Argument<'a>>,
    ) -> Self {
        let (partition, sort) = sources::<E>(index);
        let partitions = match partition {
            KeySource::Template(template) => partitions(template, arguments),
            KeySource::Attribute(_) => unreachable!("the macro generates `by_attribute`"),
        };
        Self::new(index, partitions).with_sort(sort, arguments)
    }

    /// Query of the partition whose key is this attribute. For generated code.
    #[doc(hidden)]
    pub fn by_attribute<T: Serialize>(index: Option<&'static str>, value: &T) -> Self {
        let (_, sort) = sources::<E>(index);
        let value = Value::from_struct(value).map(|value| vec![value]);
        Self::new(index, value).with_sort(sort, &|_| None)
    }

    fn with_sort(mut self, source: Option<&'static KeySource>, arguments: Arguments<'_>) -> Self {
        self.sort = match source {
            None => SortKey::None,
            Some(KeySource::Attribute(_)) => SortKey::Attribute(None),
            Some(KeySource::Template(template)) => match pieces(template, arguments) {
                Ok(mut rest) => {
                    let mut text = String::new();
                    advance(&mut text, &mut rest);
                    SortKey::Template { text, rest, range: None }
                }
                Err(error) => {
                    self.failure.get_or_insert(error);
                    SortKey::None
                }
            },
        };
        self
    }

    /// Restricts the next field of the sort key. For generated code.
    #[doc(hidden)]
    pub fn restrict<T: Serialize + Any>(mut self, bound: Bound<T>) -> Self {
        if let Err(error) = self.sort.restrict::<E, T>(bound) {
            self.failure.get_or_insert(error);
        }
        self
    }

    /// Reads some fields of each entity: a [`View`].
    pub fn view<V: View<Of = E>>(self) -> EntityQuery<E, V> {
        EntityQuery {
            index: self.index,
            partitions: self.partitions,
            sort: self.sort,
            is_whole_partition: self.is_whole_partition,
            filter: self.filter,
            is_unexpired: self.is_unexpired,
            is_descending: self.is_descending,
            limit: self.limit,
            cursor: self.cursor,
            failure: self.failure,
            types: PhantomData,
        }
    }
}

impl<E: Entity, V: View<Of = E>> EntityQuery<E, V> {
    /// Reads the whole partition, whatever entities it holds: for a
    /// [`Collection`](super::Collection).
    pub fn whole_partition(mut self) -> Self {
        self.is_whole_partition = true;
        self
    }

    /// Keeps only entities for which the condition holds. Items that it drops are read and paid for.
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

    /// Drops expired items that the store has not deleted yet.
    pub fn unexpired(mut self) -> Self {
        self.is_unexpired = true;
        self
    }

    /// Reads from the end of the sort key to its beginning.
    pub fn descending(mut self) -> Self {
        self.is_descending = true;
        self
    }

    /// The same as [`descending`](Self::descending), for sort keys that are moments.
    pub fn newest_first(self) -> Self {
        self.descending()
    }

    /// Limits a page to this many items.
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Continues after a page: pass its [`next`](super::Page::next).
    pub fn after(mut self, cursor: Option<Cursor>) -> Self {
        self.cursor = cursor;
        self
    }

    /// The query itself.
    pub fn into_query(self) -> Self {
        self
    }

    /// Index of the query; `None` is the table's key.
    pub(super) fn index(&self) -> Option<&'static str> {
        self.index
    }

    pub(super) fn is_descending(&self) -> bool {
        self.is_descending
    }

    pub(super) fn page_limit(&self) -> Option<u32> {
        self.limit
    }

    pub(super) fn is_unexpired(&self) -> bool {
        self.is_unexpired
    }

    pub(super) fn is_whole(&self) -> bool {
        self.is_whole_partition
    }

    /// Whether at most one item matches: the whole key is known.
    pub(super) fn is_exact(&self) -> bool {
        // An index may have several items under one key.
        if self.index.is_some() || self.is_whole_partition {
            return false;
        }
        match &self.sort {
            SortKey::None => (E::design().table)().sort.is_none(),
            SortKey::Attribute(bound) => matches!(bound, Some(Bound::Value(_))),
            SortKey::Template { rest, range, .. } => rest.is_empty() && range.is_none(),
        }
    }

    /// The requests of the query, one for each shard.
    pub(super) fn legs(&self, table: &str, is_eventual: bool, now: u64) -> Result<Vec<Leg>> {
        if let Some(error) = &self.failure {
            return Err(Error::validation(error.message()));
        }
        let (partition, sort) = keys::<E>(self.index)?;
        let narrowed = match (sort, self.is_whole_partition) {
            (Some(key), false) => self.sort.condition(&key.attribute),
            _ => None,
        };
        let leg = |value: &Value| {
            let mut condition = attr(&partition.attribute).eq(value.clone());
            if let Some(narrowed) = narrowed.clone() {
                condition = condition.and(narrowed);
            }
            let mut query = Query::new(table, condition);
            query.index = self.index.map(str::to_owned);
            query.filter = self.filter.clone().map(Into::into);
            query.projection = V::view_attributes().map(|own| projection(E::design(), own).into());
            query.scan_index_forward = !self.is_descending;
            // DynamoDB has no consistent reads of a global index.
            query.consistent_read = !is_eventual && self.index.is_none();
            query.limit = self.limit.map(|limit| limit.try_into().unwrap_or(i32::MAX));
            let unexpired = if self.is_unexpired { not_expired::<E>(now) } else { None };
            Leg { query, unexpired }
        };
        Ok(self.partitions.iter().map(leg).collect())
    }
}

impl<E: Entity, V: View<Of = E>> IntoQuery for EntityQuery<E, V> {
    type Entity = E;
    type View = V;

    fn into_query(self) -> Self {
        self
    }
}

/// Where the keys come from.
fn sources<E: Entity>(
    index: Option<&'static str>,
) -> (&'static KeySource, Option<&'static KeySource>) {
    let design = E::design();
    match index {
        None => (&design.partition, design.sort.as_ref()),
        Some(name) => {
            let own = design.index(name).expect("the macro generates queries of declared indexes");
            (&own.partition, own.sort.as_ref())
        }
    }
}

/// Key attributes of the table or of an index.
fn keys<E: Entity>(
    index: Option<&'static str>,
) -> Result<(&'static KeyDesign, Option<&'static KeyDesign>)> {
    let table = (E::design().table)();
    match index {
        None => Ok((&table.partition, table.sort.as_ref())),
        Some(name) => match table.find_index(name) {
            Some(index) => Ok((&index.partition, index.sort.as_ref())),
            None => Err(undeclared(
                E::design().name,
                format_args!(
                    "table {} has no index {name}: declare it with TableDesign::index",
                    table.name
                ),
            )),
        },
    }
}

/// The partition keys, one for each shard.
fn partitions(template: &Template, arguments: Arguments<'_>) -> Result<Vec<Value>> {
    let open = template.parts().filter(|part| own_value(part, arguments).is_none());
    let shards = open.map(|part| part.shards).max().unwrap_or(0).max(1);
    (0..shards).map(|shard| Ok(Value::S(partition(template, arguments, shard)?))).collect()
}

fn partition(template: &Template, arguments: Arguments<'_>, shard: u32) -> Result<String> {
    let mut text = String::with_capacity(64);
    for piece in template.pieces {
        match piece {
            Piece::Text(constant) => text.push_str(constant),
            Piece::Field(part) => match own_value(part, arguments) {
                Some(Argument::Field(value)) => drop((part.write)(value, &mut text)?),
                Some(Argument::Converted(value)) => drop((part.argument)(value, &mut text)?),
                None => text.push_str(&shard_text(shard, part.shards)),
            },
        }
    }
    Ok(text)
}

/// The argument that a part of the key is made of. Without one, the part is a shard: a day does not
/// tell the shard of a moment.
fn own_value<'a>(part: &Part, arguments: Arguments<'a>) -> Option<Argument<'a>> {
    arguments(part.field)
        .filter(|argument| part.shards == 0 || matches!(argument, Argument::Field(_)))
}

/// The pieces of a sort key, with the fields that the partition key also has as text.
fn pieces(template: &'static Template, arguments: Arguments<'_>) -> Result<VecDeque<SortPiece>> {
    let piece = |piece: &'static Piece| match piece {
        Piece::Text(text) => Ok(SortPiece::Text((*text).to_owned())),
        Piece::Field(part) => match arguments(part.field) {
            Some(Argument::Field(value)) => {
                let mut text = String::new();
                (part.write)(value, &mut text)?;
                Ok(SortPiece::Text(text))
            }
            // A day does not tell the moment.
            Some(Argument::Converted(_)) | None => Ok(SortPiece::Open(part)),
        },
    };
    template.pieces.iter().map(piece).collect()
}

/// Moves the text at the beginning of `rest` to the end of `text`.
fn advance(text: &mut String, rest: &mut VecDeque<SortPiece>) {
    while let Some(SortPiece::Text(known)) = rest.front() {
        text.push_str(known);
        rest.pop_front();
    }
}

impl SortKey {
    /// Restricts the next field.
    fn restrict<E: Entity, T: Serialize + Any>(&mut self, bound: Bound<T>) -> Result<()> {
        match self {
            Self::None => Err(undeclared(
                E::design().name,
                "the table or index has no sort key: declare it in the TableDesign",
            )),
            Self::Attribute(restriction) => {
                *restriction = Some(bound.try_map(|value| Value::from_struct(&value))?);
                Ok(())
            }
            Self::Template { text, rest, range } => {
                let Some(SortPiece::Open(part)) = rest.pop_front() else {
                    unreachable!("the macro generates one method for each field")
                };
                match bound {
                    Bound::Value(value) => {
                        (part.argument)(&value, text)?;
                        advance(text, rest);
                    }
                    Bound::Range(low, high) => {
                        *range = Some(template_range::<E, T>(part, text, rest, low, high)?);
                    }
                }
                Ok(())
            }
        }
    }

    /// The condition on the key attribute; `None` if every key of the partition matches.
    fn condition(&self, attribute: &str) -> Option<Condition> {
        let path = attr(attribute);
        match self {
            Self::None | Self::Attribute(None) => None,
            Self::Attribute(Some(Bound::Value(value))) => Some(path.eq(value.clone())),
            Self::Attribute(Some(Bound::Range(low, high))) => match (low.clone(), high.clone()) {
                (Some(low), Some(high)) => Some(path.between(low, high)),
                (Some(low), None) => Some(path.ge(low)),
                (None, Some(high)) => Some(path.le(high)),
                (None, None) => None,
            },
            // No key is empty, and no condition may say so.
            Self::Template { range: Some((low, high)), .. } if low.is_empty() => {
                Some(path.le(high.clone()))
            }
            Self::Template { range: Some((low, high)), .. } => {
                Some(path.between(low.clone(), high.clone()))
            }
            Self::Template { text, rest, .. } if rest.is_empty() => Some(path.eq(text.clone())),
            Self::Template { text, .. } if text.is_empty() => None,
            Self::Template { text, .. } => Some(path.begins_with(text.clone())),
        }
    }
}

/// The first and the last text of a range. Both stay within what the template makes, so that the
/// query meets no other entities of the partition.
fn template_range<E: Entity, T: Any>(
    part: &Part,
    prefix: &str,
    rest: &VecDeque<SortPiece>,
    low: Option<T>,
    high: Option<T>,
) -> Result<(String, String)> {
    if !part.ordered {
        return Err(undeclared(
            E::design().name,
            format_args!(
                "`{}` does not sort in its key as its values do, so no range of values is a range \
                 of keys: use filter",
                part.field
            ),
        ));
    }
    let write = |bound: &T| -> Result<String> {
        let mut text = prefix.to_owned();
        (part.argument)(bound, &mut text)?;
        let written = &text[prefix.len()..];
        if !rest.is_empty()
            && part.width.is_none()
            && let Some(found) = written.chars().find(|found| *found < SEPARATOR)
        {
            return Err(Error::validation(format!(
                "{}: a range of `{}` cannot end at {written:?}: {found:?} sorts before the \
                 separator that follows the field",
                E::design().name,
                part.field
            )));
        }
        Ok(text)
    };
    // Where larger values come first, the range ends with the smallest.
    let (first, last) = match part.is_descending() {
        true => (&high, &low),
        false => (&low, &high),
    };
    let low = match first {
        Some(low) => write(low)?,
        None => prefix.to_owned(),
    };
    let high = match last {
        Some(high) => {
            let mut text = write(high)?;
            match rest.front() {
                None => {}
                Some(SortPiece::Text(next)) => {
                    text.push_str(next);
                    text.push(LAST);
                }
                Some(SortPiece::Open(_)) => text.push(LAST),
            }
            text
        }
        None => format!("{prefix}{LAST}"),
    };
    Ok((low, high))
}
