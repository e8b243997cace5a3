//! The shape of a request: what it asks, without the values that it is about.

use std::fmt;

use super::design::{EntityDesign, KeySource};
use super::pattern::{Call, Operation, inline_with};
use super::template::Piece;
use tabla_core::expr::{Condition, Expr};
use tabla_core::ops::{Query, Scan};
use tabla_core::{Value, ValueRef};

/// What a query or a scan asks of a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// The table, as the store knows it.
    pub table: String,
    /// The condition on the key; none in a scan.
    pub key_condition: Option<Expr<Condition>>,
    /// What is filtered by, what leaves out the expired included.
    pub filter: Option<Expr<Condition>>,
    /// Whether the sort key is read from its end.
    pub is_descending: bool,
    /// The most items on a page.
    pub limit: Option<i32>,
}

impl From<&Query> for Reading {
    fn from(query: &Query) -> Self {
        Self {
            table: query.table.clone(),
            key_condition: query.key_condition.clone(),
            filter: query.filter.clone(),
            is_descending: !query.scan_index_forward,
            limit: query.limit,
        }
    }
}

impl From<&Scan> for Reading {
    fn from(scan: &Scan) -> Self {
        Self {
            table: scan.table.clone(),
            key_condition: None,
            filter: scan.filter.clone(),
            is_descending: false,
            limit: scan.limit,
        }
    }
}

/// What can be compared of two requests that are about different values: conditions with the type
/// of each value, but for what a key template begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    operation: Operation,
    /// The index, and what is said of the items or the conditions.
    words: Vec<String>,
    limit: Option<i32>,
}

impl Shape {
    /// Of an operation on this index.
    pub(super) fn new(operation: Operation, index: Option<&str>, is_consistent: bool) -> Self {
        let mut words: Vec<String> = index.map(str::to_owned).into_iter().collect();
        words.extend(consistency(operation, index, is_consistent).map(str::to_owned));
        Self { operation, words, limit: None }
    }

    /// About the items of these entities.
    pub(super) fn about(mut self, entities: Vec<&str>) -> Self {
        self.words.extend(entities.into_iter().map(str::to_owned));
        self
    }

    /// With what a query or a scan asks, for what this call is about.
    pub(super) fn reading(mut self, reading: &Reading, call: &Call) -> Self {
        let heads = heads(call.entity, call.index.as_deref());
        let key = |value: &Value| key_shape(value, &heads);
        self.words.push(format!("in {}", reading.table));
        self.words.extend(reading.key_condition.as_ref().map(|condition| shown(condition, &key)));
        let filter = reading.filter.as_ref();
        self.words.extend(filter.map(|filter| format!("filter {}", shown(filter, &kind))));
        self.words.extend(reading.is_descending.then(|| "descending".to_owned()));
        // What several shards are asked for is divided among them.
        self.limit = reading.limit.filter(|_| call.queries == 1);
        self
    }

    /// Whether what was asked is what this declares. It may ask for fewer items at a time: what is
    /// left of a page.
    pub(super) fn allows(&self, asked: &Self) -> bool {
        let is_within = match (self.limit, asked.limit) {
            (Some(most), Some(limit)) => limit <= most,
            (None, None) => true,
            _ => false,
        };
        is_within && (self.operation, &self.words) == (asked.operation, &asked.words)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operation)?;
        for (at, word) in self.words.iter().enumerate() {
            write!(f, "{}{word}", if at == 0 { " " } else { ", " })?;
        }
        match self.limit {
            Some(limit) => write!(f, ", limit {limit}"),
            None => Ok(()),
        }
    }
}

/// Consistency of a read that is not as the rule has it: reads are consistent, but for those of an
/// index.
pub(super) fn consistency(
    operation: Operation,
    index: Option<&str>,
    is_consistent: bool,
) -> Option<&'static str> {
    use Operation::{BatchGetItem, GetItem, Query, Scan};
    let is_read = matches!(operation, GetItem | BatchGetItem | Query | Scan);
    (is_read && index.is_none() && !is_consistent).then_some("eventual")
}

fn shown(condition: &Expr<Condition>, value: &dyn Fn(&Value) -> String) -> String {
    match condition {
        Expr::Tree(condition) => inline_with(condition, value),
        // Text, with its placeholders, is not of the entity layer: it is what it is.
        Expr::Text(text) => text.to_string(),
    }
}

/// What the keys of an entity begin with, whatever its fields are.
fn heads(entity: &EntityDesign, index: Option<&str>) -> Vec<&'static str> {
    let own = index.and_then(|name| entity.index(name));
    let (partition, sort) = match own {
        Some(keys) => (&keys.partition, keys.sort.as_ref()),
        None => (&entity.partition, entity.sort.as_ref()),
    };
    let head = |source: &KeySource| match source.template().and_then(|it| it.pieces.first()) {
        Some(Piece::Text(text)) => *text,
        Some(Piece::Field(_)) | None => "",
    };
    std::iter::once(partition).chain(sort).map(head).collect()
}

/// The head that a text of a key has; all of it where it has none, so that it shows.
fn key_shape(value: &Value, heads: &[&str]) -> String {
    let ValueRef::S(text) = value.as_ref() else { return kind(value) };
    let head = heads.iter().filter(|head| text.starts_with(**head)).max_by_key(|head| head.len());
    match head {
        Some(head) => format!("\"{head}…\""),
        None => format!("\"{text}\""),
    }
}

fn kind(value: &Value) -> String {
    format!("<{:?}>", value.as_ref().kind())
}
