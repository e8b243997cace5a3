//! Requests and outputs of reads and writes of one item.

use super::{
    ConsumedCapacity, ItemCollectionMetrics, ReturnConsumedCapacity, ReturnItemCollectionMetrics,
    placeholder_setters, setters,
};
use crate::Item;
use crate::expr::{Condition, Expr, Names, Projection, Update, Values};

/// Attributes that a write returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnValues {
    /// No attributes.
    #[default]
    None,
    /// Whole item before the write; nothing if there was none.
    AllOld,
    /// Updated attributes and document paths, before the update. Only for updates.
    UpdatedOld,
    /// Whole item after the update. Only for updates.
    AllNew,
    /// Updated attributes and document paths, after the update. Only for updates.
    UpdatedNew,
}

/// Whether a failed condition returns the present item in the error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnValuesOnConditionCheckFailure {
    /// No item.
    #[default]
    None,
    /// Whole present item, if there is one.
    AllOld,
}

/// Request of [`Store::get`](crate::Store::get): reads one item.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetItem {
    /// Name or ARN of the table.
    pub table: String,
    /// Key attributes of the item, and no others.
    pub key: Item,
    /// Attributes to return. Default: all.
    pub projection: Option<Expr<Projection>>,
    /// Attribute names by their placeholders `#…`. Each must be used in the expression.
    pub names: Names,
    /// Whether the read is consistent. Default: no. A consistent read costs twice as much.
    pub consistent_read: bool,
    /// Capacity figures to return. Default: none.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

impl GetItem {
    /// Creates a request for the item with this key.
    pub fn new(table: impl Into<String>, key: impl Into<Item>) -> Self {
        Self { table: table.into(), key: key.into(), ..Self::default() }
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
        /// Sets whether the read is consistent.
        consistent_read: bool,
        /// Sets which capacity figures to return. Default: none.
        return_consumed_capacity: ReturnConsumedCapacity,
    }
}

/// Output of [`Store::get`](crate::Store::get).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetItemOutput {
    /// Item; `None` if there is none, empty if the projection matches nothing in it.
    pub item: Option<Item>,
    /// Consumed capacity, if the request asked for it.
    pub consumed_capacity: Option<ConsumedCapacity>,
}

impl GetItemOutput {
    /// Creates an output with this item.
    pub fn new(item: Option<Item>) -> Self {
        Self { item, ..Self::default() }
    }

    setters! {
        /// Sets the consumed capacity.
        consumed_capacity: Option<ConsumedCapacity>,
    }
}

/// Request of [`Store::put`](crate::Store::put): creates an item or replaces the one with its key.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PutItem {
    /// Name or ARN of the table.
    pub table: String,
    /// Item with its key attributes, at most 409,600 bytes.
    pub item: Item,
    /// Condition on the present item. Default: none.
    pub condition: Option<Expr<Condition>>,
    /// Attribute names by their placeholders `#…`. Each must be used in the expression.
    pub names: Names,
    /// Values by their placeholders `:…`. Each must be used in the expression.
    pub values: Values,
    /// Attributes to return: `None` (default) or `AllOld`.
    pub return_values: ReturnValues,
    /// Whether a failed condition returns the present item. Default: no.
    pub return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure,
    /// Capacity figures to return. Default: none.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to return item-collection metrics. Default: no.
    pub return_item_collection_metrics: ReturnItemCollectionMetrics,
}

/// Request of [`Store::update`](crate::Store::update): changes attributes of an item, and creates
/// the item if it is missing.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UpdateItem {
    /// Name or ARN of the table.
    pub table: String,
    /// Key attributes of the item, and no others.
    pub key: Item,
    /// Update expression. Without one, a missing item is created and a present one stays.
    pub update: Option<Expr<Update>>,
    /// Condition on the present item. Default: none.
    pub condition: Option<Expr<Condition>>,
    /// Attribute names by their placeholders `#…`. Each must be used in an expression.
    pub names: Names,
    /// Values by their placeholders `:…`. Each must be used in an expression.
    pub values: Values,
    /// Attributes to return. Default: none.
    pub return_values: ReturnValues,
    /// Whether a failed condition returns the present item. Default: no.
    pub return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure,
    /// Capacity figures to return. Default: none.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to return item-collection metrics. Default: no.
    pub return_item_collection_metrics: ReturnItemCollectionMetrics,
}

/// Request of [`Store::delete`](crate::Store::delete): deletes an item.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DeleteItem {
    /// Name or ARN of the table.
    pub table: String,
    /// Key attributes of the item, and no others.
    pub key: Item,
    /// Condition on the present item. Default: none.
    pub condition: Option<Expr<Condition>>,
    /// Attribute names by their placeholders `#…`. Each must be used in the expression.
    pub names: Names,
    /// Values by their placeholders `:…`. Each must be used in the expression.
    pub values: Values,
    /// Attributes to return: `None` (default) or `AllOld`.
    pub return_values: ReturnValues,
    /// Whether a failed condition returns the present item. Default: no.
    pub return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure,
    /// Capacity figures to return. Default: none.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to return item-collection metrics. Default: no.
    pub return_item_collection_metrics: ReturnItemCollectionMetrics,
}

/// Output of [`Store::put`](crate::Store::put), [`Store::update`](crate::Store::update) and
/// [`Store::delete`](crate::Store::delete).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WriteOutput {
    /// Attributes that `return_values` asks for; `None` if there are none.
    pub attributes: Option<Item>,
    /// Consumed capacity, if the request asked for it.
    pub consumed_capacity: Option<ConsumedCapacity>,
    /// Size of the item collection, if the request asked for it and the table has local indexes.
    pub item_collection_metrics: Option<ItemCollectionMetrics>,
}

impl WriteOutput {
    /// Creates an output without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the returned attributes.
        attributes: Option<Item>,
        /// Sets the consumed capacity.
        consumed_capacity: Option<ConsumedCapacity>,
        /// Sets the size of the item collection.
        item_collection_metrics: Option<ItemCollectionMetrics>,
    }
}

/// Defines the methods that the three single writes share.
macro_rules! write_setters {
    () => {
        /// Sets the condition on the present item.
        #[must_use]
        pub fn condition(mut self, condition: impl Into<Expr<Condition>>) -> Self {
            self.condition = Some(condition.into());
            self
        }

        /// Makes a failed condition return the present item in the error.
        #[must_use]
        pub fn return_item_on_failure(mut self) -> Self {
            self.return_values_on_condition_check_failure =
                ReturnValuesOnConditionCheckFailure::AllOld;
            self
        }

        placeholder_setters!();

        setters! {
            /// Sets which attributes to return.
            return_values: ReturnValues,
            /// Sets which capacity figures to return. Default: none.
            return_consumed_capacity: ReturnConsumedCapacity,
            /// Sets whether to return item-collection metrics. Default: no.
            return_item_collection_metrics: ReturnItemCollectionMetrics,
        }
    };
}

impl PutItem {
    /// Creates a request that writes this item.
    pub fn new(table: impl Into<String>, item: impl Into<Item>) -> Self {
        Self { table: table.into(), item: item.into(), ..Self::default() }
    }

    write_setters!();
}

impl UpdateItem {
    /// Creates a request for the item with this key, without an update expression.
    pub fn new(table: impl Into<String>, key: impl Into<Item>) -> Self {
        Self { table: table.into(), key: key.into(), ..Self::default() }
    }

    /// Sets the update expression.
    #[must_use]
    pub fn update(mut self, update: impl Into<Expr<Update>>) -> Self {
        self.update = Some(update.into());
        self
    }

    write_setters!();
}

impl DeleteItem {
    /// Creates a request that deletes the item with this key.
    pub fn new(table: impl Into<String>, key: impl Into<Item>) -> Self {
        Self { table: table.into(), key: key.into(), ..Self::default() }
    }

    write_setters!();
}
