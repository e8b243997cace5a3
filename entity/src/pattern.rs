//! Access patterns, declared as data beside the entities.

use std::fmt;

use super::design::EntityDesign;
use super::field::undeclared;
use super::pages;
use super::query::Leg;
use super::writes::{WriteDesign, WriteKind, Writes, key_templates};
use super::{Entity, EntityQuery, View};
use tabla_core::backend::Renderer;
use tabla_core::expr::Condition;
use tabla_core::ops::Query;
use tabla_core::{Error, Result};
use tabla_core::{Value, ValueRef};

/// A documented access pattern: what it is called, and what it asks of the store.
///
/// What a query asks is made by the same function that the app runs, with example values. Gets and
/// writes are declared by their entities. All of it is compared with what the store was asked when
/// the pattern ran ([`compare`](crate::compare)).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pattern {
    /// Its name: that of the app's function.
    pub name: &'static str,
    /// The document's number for it; empty if it has none.
    pub number: &'static str,
    /// What it is for, in a few words.
    pub summary: &'static str,
    calls: Vec<Declared>,
    /// The fields that the caller uses; all if nothing is said.
    pub reads: Option<&'static [&'static str]>,
    /// Whether it is meant to read a whole table.
    pub may_scan: bool,
}

#[derive(Clone, Debug)]
enum Declared {
    Find(fn() -> Result<Call>),
    Read { operation: Operation, entity: &'static EntityDesign, is_consistent: bool },
    Write(Vec<WriteDesign>),
    BatchWrite(Vec<WriteDesign>),
    Transaction(Vec<WriteDesign>),
}

/// What a store is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Operation {
    GetItem,
    PutItem,
    UpdateItem,
    DeleteItem,
    Query,
    Scan,
    BatchGetItem,
    BatchWriteItem,
    TransactGetItems,
    TransactWriteItems,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// One request of a pattern.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call {
    /// What the store is asked to do.
    pub operation: Operation,
    /// The entity that it is about; of several that are written, the first.
    pub entity: &'static EntityDesign,
    /// The index that is read.
    pub index: Option<String>,
    /// The key condition, or the key, with examples for values.
    pub keys: String,
    /// What the caller filters by.
    pub filter: Option<Condition>,
    /// The attribute by which what has expired is left out, too.
    pub unexpired: Option<&'static str>,
    /// Whether the sort key is read from its end.
    pub is_descending: bool,
    /// The most items on a page.
    pub limit: Option<u32>,
    /// Whether every write answered before is seen.
    pub is_consistent: bool,
    /// How many queries it takes: one for each shard.
    pub queries: u32,
    /// Whether more than one item may match, so that their order shows.
    pub is_range: bool,
    /// Whether entities of other kinds may be among what is found.
    pub is_whole_partition: bool,
    /// The request itself, to be judged by the rules of the store and compared with what it is
    /// asked; `None` unless it is a query.
    pub query: Option<Query>,
    /// What is written.
    pub writes: Vec<WriteDesign>,
}

impl Pattern {
    /// A pattern of this name.
    pub fn new(name: &'static str, summary: &'static str) -> Self {
        Self { name, number: "", summary, calls: Vec::new(), reads: None, may_scan: false }
    }

    /// With the document's number.
    #[must_use]
    pub fn number(mut self, number: &'static str) -> Self {
        self.number = number;
        self
    }

    /// Finds what this describes: `|| drafts(&Id::example("business")).describe()`.
    #[must_use]
    pub fn find(mut self, call: fn() -> Result<Call>) -> Self {
        self.calls.push(Declared::Find(call));
        self
    }

    /// Gets an entity by its key: [`Db::get`](super::Db::get).
    #[must_use]
    pub fn get<E: Entity>(self) -> Self {
        self.read::<E>(Operation::GetItem, true)
    }

    /// The same at half the price, on [`Db::eventual`](super::Db::eventual).
    #[must_use]
    pub fn get_eventually<E: Entity>(self) -> Self {
        self.read::<E>(Operation::GetItem, false)
    }

    /// Gets entities by their keys, as many as are asked for: [`Db::get_all`](super::Db::get_all).
    #[must_use]
    pub fn batch_get<E: Entity>(self) -> Self {
        self.read::<E>(Operation::BatchGetItem, true)
    }

    /// The same at half the price, on [`Db::eventual`](super::Db::eventual).
    #[must_use]
    pub fn batch_get_eventually<E: Entity>(self) -> Self {
        self.read::<E>(Operation::BatchGetItem, false)
    }

    /// Gets an entity in a transaction.
    #[must_use]
    pub fn transact_get<E: Entity>(self) -> Self {
        self.read::<E>(Operation::TransactGetItems, true)
    }

    /// Reads the whole table of an entity: the checks refuse it without [`Pattern::may_scan`].
    #[must_use]
    pub fn scan<E: Entity>(self) -> Self {
        self.read::<E>(Operation::Scan, false)
    }

    fn read<E: Entity>(mut self, operation: Operation, is_consistent: bool) -> Self {
        self.calls.push(Declared::Read { operation, entity: E::design(), is_consistent });
        self
    }

    /// Writes one item: `|write| write.create::<Order>()`.
    #[must_use]
    pub fn write<E: Entity>(mut self, write: impl FnOnce(Writes<()>) -> Writes<E>) -> Self {
        self.calls.push(Declared::Write(write(Writes::new()).into_designs()));
        self
    }

    /// Writes items that have nothing to do with each other, as many as are given.
    #[must_use]
    pub fn batch_write<E: Entity>(mut self, writes: impl FnOnce(Writes<()>) -> Writes<E>) -> Self {
        self.calls.push(Declared::BatchWrite(writes(Writes::new()).into_designs()));
        self
    }

    /// Writes all of these or none: see [`Writes`]. The items that stand for unique values need not
    /// be named.
    #[must_use]
    pub fn transaction<E: Entity>(mut self, writes: impl FnOnce(Writes<()>) -> Writes<E>) -> Self {
        self.calls.push(Declared::Transaction(writes(Writes::new()).into_designs()));
        self
    }

    /// Uses these fields only: an index need not carry the others.
    #[must_use]
    pub fn reads(mut self, fields: &'static [&'static str]) -> Self {
        self.reads = Some(fields);
        self
    }

    /// Means to read a whole table.
    #[must_use]
    pub fn may_scan(mut self) -> Self {
        self.may_scan = true;
        self
    }

    /// What it asks of the store, with examples for values.
    ///
    /// # Errors
    /// The declaration does not fit the design.
    pub fn calls(&self) -> Result<Vec<Call>> {
        self.calls
            .iter()
            .map(|call| match call {
                Declared::Find(describe) => describe(),
                Declared::Read { operation, entity, is_consistent } => {
                    let is_consistent = *is_consistent;
                    Ok(Call { is_consistent, ..Call::of_key(*operation, entity) })
                }
                Declared::Write(writes) => Call::of_write(writes),
                Declared::BatchWrite(writes) => Call::of_batch(writes),
                Declared::Transaction(writes) => {
                    Call::of_writes(Operation::TransactWriteItems, writes)
                }
            })
            .collect()
    }
}

impl<E: Entity, V: View<Of = E>> EntityQuery<E, V> {
    /// The request that the query makes of a store.
    ///
    /// # Errors
    /// An argument cannot stand in a key.
    pub fn describe(&self) -> Result<Call> {
        let design = E::design();
        let legs = self.legs(&(design.table)().name, false, 0)?;
        let queries = legs.len() as u32;
        let Leg { query, unexpired: lasting } =
            legs.into_iter().next().expect("there is at least one shard");
        let condition = match &query.key_condition {
            Some(tabla_core::Expr::Tree(condition)) => inline(condition),
            _ => String::new(),
        };
        let filter = match &query.filter {
            Some(tabla_core::Expr::Tree(filter)) => Some(filter.clone()),
            _ => None,
        };
        let unexpired = design.ttl.filter(|_| self.is_unexpired()).map(|ttl| design.attribute(ttl));
        Ok(Call {
            operation: Operation::Query,
            entity: design,
            index: query.index.clone(),
            keys: condition,
            filter,
            unexpired,
            is_descending: !query.scan_index_forward,
            limit: self.page_limit(),
            is_consistent: query.consistent_read,
            queries,
            is_range: !self.is_exact(),
            is_whole_partition: self.is_whole(),
            query: Some(pages::with(query, lasting)),
            writes: Vec::new(),
        })
    }
}

/// A condition with its names and values in place.
pub(super) fn inline(condition: &Condition) -> String {
    inline_with(condition, &shown)
}

/// A condition with its names, and what this makes of its values, in place.
pub(super) fn inline_with(condition: &Condition, shown: &dyn Fn(&Value) -> String) -> String {
    let mut renderer = Renderer::new();
    let text = condition.render(&mut renderer);
    let mut placeholders: Vec<(String, String)> = renderer
        .names()
        .iter()
        .map(|(key, name)| (key.clone(), name.clone()))
        .chain(renderer.values().iter().map(|(key, value)| (key.clone(), shown(value))))
        .collect();
    // The longest first, so that `:v1` is not taken for the beginning of `:v10`.
    placeholders.sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
    placeholders.into_iter().fold(text, |text, (key, shown)| text.replace(&key, &shown))
}

fn shown(value: &Value) -> String {
    match value.as_ref() {
        // The end of a range is the last text that there could be.
        ValueRef::S(text) => format!("\"{}\"", text.replace('\u{10FFFF}', "…")),
        ValueRef::N(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

impl Call {
    /// A query that was written by hand, about this entity.
    pub fn of_query<E: Entity>(query: Query) -> Self {
        let condition = match &query.key_condition {
            Some(tabla_core::Expr::Tree(condition)) => inline(condition),
            Some(tabla_core::Expr::Text(text)) => text.to_string(),
            None => String::new(),
        };
        let filter = match &query.filter {
            Some(tabla_core::Expr::Tree(filter)) => Some(filter.clone()),
            _ => None,
        };
        Self {
            operation: Operation::Query,
            entity: E::design(),
            index: query.index.clone(),
            keys: condition,
            filter,
            is_descending: !query.scan_index_forward,
            limit: query.limit.and_then(|limit| limit.try_into().ok()),
            is_consistent: query.consistent_read,
            is_range: true,
            query: Some(query),
            ..Self::of_key(Operation::Query, E::design())
        }
    }

    /// A call by the key of an entity.
    fn of_key(operation: Operation, entity: &'static EntityDesign) -> Self {
        let is_scan = operation == Operation::Scan;
        let keys = key_templates((entity.table)(), &entity.partition, entity.sort.as_ref());
        Self {
            operation,
            entity,
            index: None,
            keys: if is_scan { String::new() } else { keys },
            filter: None,
            unexpired: None,
            is_descending: false,
            limit: None,
            is_consistent: false,
            queries: 1,
            is_range: is_scan,
            is_whole_partition: is_scan,
            query: None,
            writes: Vec::new(),
        }
    }

    /// Several writes.
    fn of_writes(operation: Operation, writes: &[WriteDesign]) -> Result<Self> {
        let first = writes.first().expect("the last of the writes is one of an entity");
        for write in writes {
            let changes = !(write.sets.is_empty() && write.clears.is_empty());
            if changes && write.kind != WriteKind::Update {
                return Err(undeclared(write.entity.name, "only an update changes single fields"));
            }
        }
        Ok(Self { writes: writes.to_vec(), ..Self::of_key(operation, first.entity) })
    }

    /// Writes that have nothing to do with each other, and so no conditions either.
    fn of_batch(writes: &[WriteDesign]) -> Result<Self> {
        let is_fit = |write: &&WriteDesign| {
            matches!(write.kind, WriteKind::Put | WriteKind::Delete) && write.guards().is_empty()
        };
        match writes.iter().find(|write| !is_fit(write)) {
            None => Self::of_writes(Operation::BatchWriteItem, writes),
            Some(write) => Err(undeclared(
                write.entity.name,
                format_args!(
                    "a batch puts and deletes without conditions, and cannot {}: declare a write or \
                     a transaction",
                    write.kind
                ),
            )),
        }
    }

    /// One write.
    fn of_write(writes: &[WriteDesign]) -> Result<Self> {
        let [write] = writes else {
            let names: Vec<&str> = writes.iter().map(|write| write.entity.name).collect();
            return Err(Error::validation(format!(
                "a write is of one item, not of {}: declare a transaction or a batch",
                names.join(", ")
            )));
        };
        let operation = match write.kind {
            WriteKind::Create | WriteKind::Put => Operation::PutItem,
            WriteKind::Update => Operation::UpdateItem,
            WriteKind::Delete => Operation::DeleteItem,
            WriteKind::Check => {
                return Err(undeclared(write.entity.name, "only a transaction has checks"));
            }
        };
        if let Some(guard) = write.guards().first() {
            return Err(undeclared(
                write.entity.name,
                format_args!(
                    "`{}` is unique, and the item that stands for it is written along: declare a \
                     transaction",
                    guard.unique.field
                ),
            ));
        }
        Self::of_writes(operation, writes)
    }

    /// The attributes that are filtered by.
    pub(super) fn filtered(&self) -> Vec<String> {
        let own = self.filter.iter().flat_map(|filter| filter.paths());
        let own = own.map(|path| path.root().to_owned());
        own.chain(self.unexpired.map(str::to_owned)).collect()
    }
}
