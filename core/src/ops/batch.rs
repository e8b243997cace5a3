//! Requests and outputs of batches: independent reads or writes in one call.

use std::collections::BTreeMap;

use super::{
    ConsumedCapacity, ItemCollectionMetrics, ReturnConsumedCapacity, ReturnItemCollectionMetrics,
    setters,
};
use crate::Item;
use crate::expr::{Expr, Names, Projection};

/// Request of [`Store::batch_get`](crate::Store::batch_get): reads up to 100 items by their keys.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchGetItem {
    /// Keys to read, by the name or ARN of their table. At least one key per table.
    pub requests: BTreeMap<String, KeysAndAttributes>,
    /// Capacity figures to return. Default: none.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// Keys that a batch reads from one table, with projection and consistency.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct KeysAndAttributes {
    /// Keys of the items, each with the key attributes and no others. No key twice.
    pub keys: Vec<Item>,
    /// Attributes to return. Default: all.
    pub projection: Option<Expr<Projection>>,
    /// Attribute names by their placeholders `#…`. Each must be used in the expression.
    pub names: Names,
    /// Whether the reads are consistent. Default: no.
    pub consistent_read: bool,
}

impl KeysAndAttributes {
    /// Reads whole items with these keys, eventually consistent.
    pub fn new(keys: impl IntoIterator<Item = impl Into<Item>>) -> Self {
        Self { keys: keys.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Sets the attributes to return.
    #[must_use]
    pub fn projection(mut self, projection: impl Into<Expr<Projection>>) -> Self {
        self.projection = Some(projection.into());
        self
    }

    /// Sets the attribute name of the placeholder `#…`.
    #[must_use]
    pub fn name(mut self, placeholder: impl Into<String>, name: impl Into<String>) -> Self {
        self.names.insert(placeholder.into(), name.into());
        self
    }

    setters! {
        /// Sets whether the reads are consistent.
        consistent_read: bool,
    }
}

/// Output of [`Store::batch_get`](crate::Store::batch_get).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchGetItemOutput {
    /// Items that were found, by the name of their table, in undefined order.
    pub responses: BTreeMap<String, Vec<Item>>,
    /// Keys that were not read, by table: send them again, or use
    /// [`StoreExt::batch_get_all`](crate::StoreExt::batch_get_all).
    pub unprocessed_keys: BTreeMap<String, KeysAndAttributes>,
    /// Consumed capacity per table, if the request asked for it.
    pub consumed_capacity: Vec<ConsumedCapacity>,
}

impl BatchGetItemOutput {
    /// Creates an output without items.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the items that were found, by table.
        responses: BTreeMap<String, Vec<Item>>,
        /// Sets the keys that were not read, by table.
        unprocessed_keys: BTreeMap<String, KeysAndAttributes>,
        /// Sets the consumed capacity per table.
        consumed_capacity: Vec<ConsumedCapacity>,
    }
}

impl BatchGetItem {
    /// Creates a request without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds keys of a table.
    #[must_use]
    pub fn keys(
        mut self,
        table: impl Into<String>,
        keys: impl IntoIterator<Item = impl Into<Item>>,
    ) -> Self {
        let entry = self.requests.entry(table.into()).or_default();
        entry.keys.extend(keys.into_iter().map(Into::into));
        self
    }

    /// Sets keys, projection and consistency for a table; replaces those that it has.
    #[must_use]
    pub fn request(mut self, table: impl Into<String>, request: KeysAndAttributes) -> Self {
        self.requests.insert(table.into(), request);
        self
    }

    setters! {
        /// Sets which capacity figures to return. Default: none.
        return_consumed_capacity: ReturnConsumedCapacity,
    }
}

/// Request of [`Store::batch_write`](crate::Store::batch_write): up to 25 puts and deletes
/// without conditions.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchWriteItem {
    /// Writes, by the name or ARN of their table. No item twice.
    pub requests: BTreeMap<String, Vec<WriteRequest>>,
    /// Capacity figures to return. Default: none.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to return item-collection metrics. Default: no.
    pub return_item_collection_metrics: ReturnItemCollectionMetrics,
}

/// Write of a batch: a put or a delete, without condition.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteRequest {
    /// Writes a whole item.
    Put(Item),
    /// Deletes the item with this key; a missing one is no error.
    Delete(Item),
}

/// Output of [`Store::batch_write`](crate::Store::batch_write).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchWriteItemOutput {
    /// Writes that were not made, by table: send them again, or use
    /// [`StoreExt::batch_write_all`](crate::StoreExt::batch_write_all).
    pub unprocessed_items: BTreeMap<String, Vec<WriteRequest>>,
    /// Consumed capacity per table, if the request asked for it.
    pub consumed_capacity: Vec<ConsumedCapacity>,
    /// Sizes of the item collections that were written to, by table, if the request asked for them.
    pub item_collection_metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
}

impl BatchWriteItemOutput {
    /// Creates an output without unprocessed items.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the writes that were not made, by table.
        unprocessed_items: BTreeMap<String, Vec<WriteRequest>>,
        /// Sets the consumed capacity per table.
        consumed_capacity: Vec<ConsumedCapacity>,
        /// Sets the sizes of item collections, by table.
        item_collection_metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
    }
}

impl BatchWriteItem {
    /// Creates a request without writes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a put of an item.
    #[must_use]
    pub fn put(self, table: impl Into<String>, item: impl Into<Item>) -> Self {
        self.request(table, WriteRequest::Put(item.into()))
    }

    /// Adds a delete of the item with this key.
    #[must_use]
    pub fn delete(self, table: impl Into<String>, key: impl Into<Item>) -> Self {
        self.request(table, WriteRequest::Delete(key.into()))
    }

    /// Adds a write.
    #[must_use]
    pub fn request(mut self, table: impl Into<String>, request: WriteRequest) -> Self {
        self.requests.entry(table.into()).or_default().push(request);
        self
    }

    setters! {
        /// Sets which capacity figures to return. Default: none.
        return_consumed_capacity: ReturnConsumedCapacity,
        /// Sets whether to return item-collection metrics. Default: no.
        return_item_collection_metrics: ReturnItemCollectionMetrics,
    }
}

impl BatchGetItemOutput {
    /// Adds the output of another call for the same batch. What that call left unprocessed in a
    /// table replaces the earlier entry of the table.
    pub fn merge(&mut self, more: Self) {
        let Self { responses, unprocessed_keys, consumed_capacity } = more;
        for (table, items) in responses {
            self.responses.entry(table).or_default().extend(items);
        }
        self.unprocessed_keys.extend(unprocessed_keys);
        merge_capacity(&mut self.consumed_capacity, consumed_capacity);
    }
}

impl BatchWriteItemOutput {
    /// Adds the output of another call for the same batch. What that call left unprocessed in a
    /// table replaces the earlier entry of the table.
    pub fn merge(&mut self, more: Self) {
        let Self { unprocessed_items, consumed_capacity, item_collection_metrics } = more;
        self.unprocessed_items.extend(unprocessed_items);
        merge_capacity(&mut self.consumed_capacity, consumed_capacity);
        for (table, metrics) in item_collection_metrics {
            self.item_collection_metrics.entry(table).or_default().extend(metrics);
        }
    }
}

/// Adds the capacity that another call consumed, table by table.
fn merge_capacity(all: &mut Vec<ConsumedCapacity>, more: Vec<ConsumedCapacity>) {
    for row in more {
        match all.iter_mut().find(|known| known.table_name == row.table_name) {
            Some(known) => known.add(&row),
            None => all.push(row),
        }
    }
}
