//! Reading and writing one item.

use super::{
    ConsumedCapacity, ItemCollectionMetrics, ReturnConsumedCapacity, ReturnItemCollectionMetrics,
    placeholder_setters, setters,
};
use crate::Item;
use crate::expr::{Condition, Expr, Names, Projection, Update, Values};

/// Which attributes a write returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnValues {
    /// None.
    #[default]
    None,
    /// The whole item as it was.
    AllOld,
    /// The updated attributes as they were. Updates only.
    UpdatedOld,
    /// The whole item as it is now. Updates only.
    AllNew,
    /// The updated attributes as they are now. Updates only.
    UpdatedNew,
}

/// Whether a write whose condition did not hold returns the item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnValuesOnConditionCheckFailure {
    /// No.
    #[default]
    None,
    /// Yes, the whole item.
    AllOld,
}

/// Reads the item with this key.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetItem {
    /// The table.
    pub table: String,
    /// The key attributes, and nothing else.
    pub key: Item,
    /// Which attributes to return; all if absent.
    pub projection: Option<Expr<Projection>>,
    /// What the `#…` placeholders of the expression stand for.
    pub names: Names,
    /// Whether to see every write answered before this read.
    pub consistent_read: bool,
    /// Which capacity figures to return.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

impl GetItem {
    /// Reads the item with this key from this table.
    pub fn new(table: impl Into<String>, key: impl Into<Item>) -> Self {
        Self { table: table.into(), key: key.into(), ..Self::default() }
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
        /// Which capacity figures to return.
        return_consumed_capacity: ReturnConsumedCapacity,
    }
}

/// The answer to [`GetItem`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetItemOutput {
    /// The item, if there is one; empty if the projection matched nothing in it.
    pub item: Option<Item>,
    /// What it cost.
    pub consumed_capacity: Option<ConsumedCapacity>,
}

impl GetItemOutput {
    /// This item, or none.
    pub fn new(item: Option<Item>) -> Self {
        Self { item, ..Self::default() }
    }

    setters! {
        /// What it cost.
        consumed_capacity: Option<ConsumedCapacity>,
    }
}

/// Writes a whole item, in place of the one with the same key.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PutItem {
    /// The table.
    pub table: String,
    /// The item, key attributes included.
    pub item: Item,
    /// What must hold of the present item.
    pub condition: Option<Expr<Condition>>,
    /// What the `#…` placeholders of the expression stand for.
    pub names: Names,
    /// What the `:…` placeholders of the expression stand for.
    pub values: Values,
    /// What to return: nothing or the old item.
    pub return_values: ReturnValues,
    /// What to return if the condition does not hold.
    pub return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure,
    /// Which capacity figures to return.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to return item-collection metrics.
    pub return_item_collection_metrics: ReturnItemCollectionMetrics,
}

/// Changes attributes of the item with this key, creating the item if there is none.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UpdateItem {
    /// The table.
    pub table: String,
    /// The key attributes, and nothing else.
    pub key: Item,
    /// What to change; nothing if absent.
    pub update: Option<Expr<Update>>,
    /// What must hold of the present item.
    pub condition: Option<Expr<Condition>>,
    /// What the `#…` placeholders of the expressions stand for.
    pub names: Names,
    /// What the `:…` placeholders of the expressions stand for.
    pub values: Values,
    /// What to return.
    pub return_values: ReturnValues,
    /// What to return if the condition does not hold.
    pub return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure,
    /// Which capacity figures to return.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to return item-collection metrics.
    pub return_item_collection_metrics: ReturnItemCollectionMetrics,
}

/// Deletes the item with this key. Deleting nothing succeeds.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DeleteItem {
    /// The table.
    pub table: String,
    /// The key attributes, and nothing else.
    pub key: Item,
    /// What must hold of the present item.
    pub condition: Option<Expr<Condition>>,
    /// What the `#…` placeholders of the expression stand for.
    pub names: Names,
    /// What the `:…` placeholders of the expression stand for.
    pub values: Values,
    /// What to return: nothing or the old item.
    pub return_values: ReturnValues,
    /// What to return if the condition does not hold.
    pub return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure,
    /// Which capacity figures to return.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to return item-collection metrics.
    pub return_item_collection_metrics: ReturnItemCollectionMetrics,
}

/// The answer to [`PutItem`], [`UpdateItem`] and [`DeleteItem`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WriteOutput {
    /// The attributes that the request asked for, if there are any.
    pub attributes: Option<Item>,
    /// What it cost.
    pub consumed_capacity: Option<ConsumedCapacity>,
    /// The size of the item collection, if asked for and the table has local indexes.
    pub item_collection_metrics: Option<ItemCollectionMetrics>,
}

impl WriteOutput {
    /// No attributes.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The attributes that the request asked for, if there are any.
        attributes: Option<Item>,
        /// What it cost.
        consumed_capacity: Option<ConsumedCapacity>,
        /// The size of the item collection, if asked for and the table has local indexes.
        item_collection_metrics: Option<ItemCollectionMetrics>,
    }
}

/// Methods that the three single writes share.
macro_rules! write_setters {
    () => {
        /// Writes only if this holds of the present item.
        #[must_use]
        pub fn condition(mut self, condition: impl Into<Expr<Condition>>) -> Self {
            self.condition = Some(condition.into());
            self
        }

        /// Returns the item in the error if the condition does not hold.
        #[must_use]
        pub fn return_item_on_failure(mut self) -> Self {
            self.return_values_on_condition_check_failure =
                ReturnValuesOnConditionCheckFailure::AllOld;
            self
        }

        placeholder_setters!();

        setters! {
            /// What to return.
            return_values: ReturnValues,
            /// Which capacity figures to return.
            return_consumed_capacity: ReturnConsumedCapacity,
            /// Whether to return item-collection metrics.
            return_item_collection_metrics: ReturnItemCollectionMetrics,
        }
    };
}

impl PutItem {
    /// Writes this item to this table.
    pub fn new(table: impl Into<String>, item: impl Into<Item>) -> Self {
        Self { table: table.into(), item: item.into(), ..Self::default() }
    }

    write_setters!();
}

impl UpdateItem {
    /// Changes the item with this key in this table.
    pub fn new(table: impl Into<String>, key: impl Into<Item>) -> Self {
        Self { table: table.into(), key: key.into(), ..Self::default() }
    }

    /// Makes these changes.
    #[must_use]
    pub fn update(mut self, update: impl Into<Expr<Update>>) -> Self {
        self.update = Some(update.into());
        self
    }

    write_setters!();
}

impl DeleteItem {
    /// Deletes the item with this key from this table.
    pub fn new(table: impl Into<String>, key: impl Into<Item>) -> Self {
        Self { table: table.into(), key: key.into(), ..Self::default() }
    }

    write_setters!();
}
