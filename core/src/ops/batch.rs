//! Many independent reads or writes in one call.

use std::collections::BTreeMap;

use super::{
    ConsumedCapacity, ItemCollectionMetrics, ReturnConsumedCapacity, ReturnItemCollectionMetrics,
    setters,
};
use crate::Item;
use crate::expr::{Expr, Names, Projection};

/// Reads up to 100 items by their keys. Each read stands alone.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchGetItem {
    /// What to read from each table.
    pub requests: BTreeMap<String, KeysAndAttributes>,
    /// Which capacity figures to return.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// The keys that a batch reads from one table, and how.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct KeysAndAttributes {
    /// The keys.
    pub keys: Vec<Item>,
    /// Which attributes to return; all if absent.
    pub projection: Option<Expr<Projection>>,
    /// What the `#…` placeholders of the expression stand for.
    pub names: Names,
    /// Whether to see every write answered before this read.
    pub consistent_read: bool,
}

impl KeysAndAttributes {
    /// Whole items with these keys.
    pub fn new(keys: impl IntoIterator<Item = impl Into<Item>>) -> Self {
        Self { keys: keys.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Returns only these attributes.
    #[must_use]
    pub fn projection(mut self, projection: impl Into<Expr<Projection>>) -> Self {
        self.projection = Some(projection.into());
        self
    }

    /// Stands `name` for the attribute name behind the placeholder `#…`.
    #[must_use]
    pub fn name(mut self, placeholder: impl Into<String>, name: impl Into<String>) -> Self {
        self.names.insert(placeholder.into(), name.into());
        self
    }

    setters! {
        /// Whether to see every write answered before this read.
        consistent_read: bool,
    }
}

/// The answer to [`BatchGetItem`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchGetItemOutput {
    /// The items found, by table, in no particular order.
    pub responses: BTreeMap<String, Vec<Item>>,
    /// What was not read: ask again. [`crate::StoreExt::batch_get_all`] does.
    pub unprocessed_keys: BTreeMap<String, KeysAndAttributes>,
    /// What it cost, a row per table.
    pub consumed_capacity: Vec<ConsumedCapacity>,
}

impl BatchGetItemOutput {
    /// No items.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The items found, by table.
        responses: BTreeMap<String, Vec<Item>>,
        /// What was not read.
        unprocessed_keys: BTreeMap<String, KeysAndAttributes>,
        /// What it cost, a row per table.
        consumed_capacity: Vec<ConsumedCapacity>,
    }
}

impl BatchGetItem {
    /// Reads nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also reads these keys from this table.
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

    /// Also reads from this table as described.
    #[must_use]
    pub fn request(mut self, table: impl Into<String>, request: KeysAndAttributes) -> Self {
        self.requests.insert(table.into(), request);
        self
    }

    setters! {
        /// Which capacity figures to return.
        return_consumed_capacity: ReturnConsumedCapacity,
    }
}

/// Up to 25 unconditional puts and deletes. Each write stands alone.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchWriteItem {
    /// What to write to each table.
    pub requests: BTreeMap<String, Vec<WriteRequest>>,
    /// Which capacity figures to return.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to return item-collection metrics.
    pub return_item_collection_metrics: ReturnItemCollectionMetrics,
}

/// One write of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteRequest {
    /// Writes this item.
    Put(Item),
    /// Deletes the item with this key.
    Delete(Item),
}

/// The answer to [`BatchWriteItem`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchWriteItemOutput {
    /// What was not written: ask again. [`crate::StoreExt::batch_write_all`] does.
    pub unprocessed_items: BTreeMap<String, Vec<WriteRequest>>,
    /// What it cost, a row per table.
    pub consumed_capacity: Vec<ConsumedCapacity>,
    /// The item collections touched, by table.
    pub item_collection_metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
}

impl BatchWriteItemOutput {
    /// Everything was written.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// What was not written.
        unprocessed_items: BTreeMap<String, Vec<WriteRequest>>,
        /// What it cost, a row per table.
        consumed_capacity: Vec<ConsumedCapacity>,
        /// The item collections touched, by table.
        item_collection_metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
    }
}

impl BatchWriteItem {
    /// Writes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also writes this item to this table.
    #[must_use]
    pub fn put(self, table: impl Into<String>, item: impl Into<Item>) -> Self {
        self.request(table, WriteRequest::Put(item.into()))
    }

    /// Also deletes the item with this key from this table.
    #[must_use]
    pub fn delete(self, table: impl Into<String>, key: impl Into<Item>) -> Self {
        self.request(table, WriteRequest::Delete(key.into()))
    }

    /// Also does this.
    #[must_use]
    pub fn request(mut self, table: impl Into<String>, request: WriteRequest) -> Self {
        self.requests.entry(table.into()).or_default().push(request);
        self
    }

    setters! {
        /// Which capacity figures to return.
        return_consumed_capacity: ReturnConsumedCapacity,
        /// Whether to return item-collection metrics.
        return_item_collection_metrics: ReturnItemCollectionMetrics,
    }
}

impl BatchGetItemOutput {
    /// Adds the output of a further call for the same batch.
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
    /// Adds the output of a further call for the same batch.
    pub fn merge(&mut self, more: Self) {
        let Self { unprocessed_items, consumed_capacity, item_collection_metrics } = more;
        self.unprocessed_items.extend(unprocessed_items);
        merge_capacity(&mut self.consumed_capacity, consumed_capacity);
        for (table, metrics) in item_collection_metrics {
            self.item_collection_metrics.entry(table).or_default().extend(metrics);
        }
    }
}

/// Adds the capacity that a further call consumed, table by table.
fn merge_capacity(all: &mut Vec<ConsumedCapacity>, more: Vec<ConsumedCapacity>) {
    for row in more {
        match all.iter_mut().find(|known| known.table_name == row.table_name) {
            Some(known) => known.add(&row),
            None => all.push(row),
        }
    }
}
