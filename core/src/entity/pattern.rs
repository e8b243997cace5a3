//! Access patterns, declared as data beside the entities.

use std::fmt;

use super::design::{EntityDesign, KeySource, TableDesign};
use super::{Entity, EntityKey, Find};
use crate::engine::{read_units, write_units};
use crate::error::Result;
use crate::expr::{Condition, Renderer};
use crate::ops::{ProjectionType, Query};
use crate::{Value, ValueRef};

/// A documented access pattern: what it is called, and what it asks of the store.
///
/// What it asks is made by the same function that the app runs, with example values: a declaration
/// cannot say anything else than what is done. Writes are declared in words and compared with what
/// the store was asked when they ran.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its name: that of the app's function.
    pub name: &'static str,
    /// The document's number for it; empty if it has none.
    pub number: &'static str,
    /// The line of the document.
    pub line: u32,
    /// What it is for, in a few words.
    pub summary: &'static str,
    calls: Vec<Declared>,
    /// The fields that the caller uses; all if nothing is said.
    pub reads: Option<&'static [&'static str]>,
    /// Whether it is meant to read a whole table.
    pub may_scan: bool,
}

#[derive(Clone, Copy, Debug)]
enum Declared {
    Find(fn() -> Result<Call>),
    Given(Call0),
}

/// A call whose declaration needs no example.
#[derive(Clone, Copy, Debug)]
struct Call0 {
    operation: Operation,
    entity: fn() -> &'static EntityDesign,
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
pub struct Call {
    /// What the store is asked to do.
    pub operation: Operation,
    /// The entity that it is about.
    pub entity: &'static EntityDesign,
    /// The index that is read.
    pub index: Option<String>,
    /// The key condition, or the key, with examples for values.
    pub keys: String,
    /// What is filtered out.
    pub filter: Option<Condition>,
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
    /// The request itself, to be judged by the rules of the store; `None` for a write.
    pub query: Option<Query>,
}

impl Pattern {
    /// A pattern of this name.
    pub fn new(name: &'static str, summary: &'static str) -> Self {
        Self { name, number: "", line: 0, summary, calls: Vec::new(), reads: None, may_scan: false }
    }

    /// With the document's number.
    #[must_use]
    pub fn number(mut self, number: &'static str) -> Self {
        self.number = number;
        self
    }

    /// On this line of the document.
    #[must_use]
    pub fn line(mut self, line: u32) -> Self {
        self.line = line;
        self
    }

    /// Finds what this describes: `|| drafts(&Id::example("business")).describe()`.
    #[must_use]
    pub fn find(mut self, call: fn() -> Result<Call>) -> Self {
        self.calls.push(Declared::Find(call));
        self
    }

    /// Gets an entity by its key.
    #[must_use]
    pub fn get<E: Entity>(self) -> Self {
        self.call::<E>(Operation::GetItem)
    }

    /// Does this to an entity.
    #[must_use]
    pub fn call<E: Entity>(mut self, operation: Operation) -> Self {
        self.calls.push(Declared::Given(Call0 { operation, entity: E::design }));
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
                Declared::Given(call) => Ok(call.describe()),
            })
            .collect()
    }
}

impl Call0 {
    fn describe(self) -> Call {
        let entity = (self.entity)();
        let table = (entity.table)();
        let part = |attribute: &str, source: &KeySource| format!("{attribute} = {source}");
        let mut keys = part(&table.partition.attribute, &entity.partition);
        if let (Some(key), Some(source)) = (&table.sort, &entity.sort) {
            keys = format!("{keys}, {}", part(&key.attribute, source));
        }
        Call {
            operation: self.operation,
            entity,
            index: None,
            keys,
            filter: None,
            is_descending: false,
            limit: None,
            is_consistent: self.operation == Operation::GetItem,
            queries: 1,
            is_range: false,
            query: None,
        }
    }
}

impl<E: Entity> Find<E> {
    /// What this asks of a store.
    ///
    /// # Errors
    /// A field of the key is missing.
    pub fn describe(&self) -> Result<Call> {
        let design = E::design();
        let legs = self.legs(&(design.table)().name, 0)?;
        let queries = legs.len() as u32;
        let leg = legs.into_iter().next().expect("there is at least one shard");
        let query = leg.query;
        let condition = match &query.key_condition {
            Some(crate::Expr::Tree(condition)) => inline(condition),
            _ => String::new(),
        };
        let filter = match (query.filter.clone(), leg.unexpired) {
            (Some(crate::Expr::Tree(filter)), Some(unexpired)) => Some(filter.and(unexpired)),
            (Some(crate::Expr::Tree(filter)), None) => Some(filter),
            (_, unexpired) => unexpired,
        };
        Ok(Call {
            operation: Operation::Query,
            entity: design,
            index: query.index.clone(),
            keys: condition,
            filter,
            is_descending: !query.scan_index_forward,
            limit: self.limit,
            is_consistent: query.consistent_read,
            queries,
            is_range: !self.is_exact(),
            query: Some(query),
        })
    }
}

/// A condition with its names and values in place.
pub(super) fn inline(condition: &Condition) -> String {
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
            Some(crate::Expr::Tree(condition)) => inline(condition),
            Some(crate::Expr::Text(text)) => text.to_string(),
            None => String::new(),
        };
        let filter = match &query.filter {
            Some(crate::Expr::Tree(filter)) => Some(filter.clone()),
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
            queries: 1,
            is_range: true,
            query: Some(query),
        }
    }

    /// The capacity units of one call where every item has this many bytes, and a page this many
    /// items (or as many as the call's limit).
    pub fn units(&self, item_size: usize, page: u32) -> f64 {
        let table = (self.entity.table)();
        let items = self.limit.unwrap_or(page) as usize;
        match self.operation {
            Operation::GetItem => read_units(item_size, self.is_consistent),
            Operation::BatchGetItem => items as f64 * read_units(item_size, self.is_consistent),
            Operation::TransactGetItems => 2.0 * read_units(item_size, true),
            Operation::Query | Operation::Scan => {
                let items = if self.is_range { items } else { 1 };
                let size = items * self.carried(table, item_size);
                f64::from(self.queries)
                    * read_units(size.div_ceil(self.queries as usize), self.is_consistent)
            }
            Operation::PutItem | Operation::UpdateItem | Operation::DeleteItem => {
                write_units(item_size) + self.index_units(table, item_size)
            }
            Operation::BatchWriteItem => {
                items as f64 * (write_units(item_size) + self.index_units(table, item_size))
            }
            Operation::TransactWriteItems => {
                2.0 * write_units(item_size) + self.index_units(table, item_size)
            }
        }
    }

    /// How much of an item is read through the index.
    fn carried(&self, table: &TableDesign, item_size: usize) -> usize {
        let index = self.index.as_ref().and_then(|name| table.find_index(name));
        match index.map(|index| index.projection.kind) {
            None | Some(ProjectionType::All) => item_size,
            Some(ProjectionType::KeysOnly | ProjectionType::Include) => item_size.min(200),
        }
    }

    fn index_units(&self, table: &TableDesign, item_size: usize) -> f64 {
        let own = self.entity.indexes.iter().filter_map(|keys| table.find_index(keys.index));
        own.map(|index| match index.projection.kind {
            ProjectionType::All => write_units(item_size),
            ProjectionType::KeysOnly | ProjectionType::Include => write_units(item_size.min(200)),
        })
        .sum()
    }
}

/// Shows a key with its values.
pub fn key_text<K: EntityKey>(key: &K) -> Result<String> {
    let item = key.to_item()?;
    let parts = item.iter().map(|(name, value)| format!("{name} = {}", shown(&value.to_value())));
    Ok(parts.collect::<Vec<_>>().join(", "))
}
