//! Requests and outputs of transactions: up to 100 reads or writes, all or none.

use std::collections::BTreeMap;

use super::{
    ConsumedCapacity, DeleteItem, GetItem, ItemCollectionMetrics, PutItem, ReturnConsumedCapacity,
    ReturnItemCollectionMetrics, ReturnValuesOnConditionCheckFailure, UpdateItem,
    placeholder_setters, setters,
};
use crate::Item;
use crate::expr::{Condition, Expr, Names, Values};

/// Request of [`Store::transact_get`](crate::Store::transact_get): reads up to 100 items as of
/// one moment.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TransactGetItems {
    /// Reads, 1 to 100, each of another item. Their `consistent_read` and
    /// `return_consumed_capacity` are ignored.
    pub items: Vec<GetItem>,
    /// Capacity figures to return. Default: none.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// Output of [`Store::transact_get`](crate::Store::transact_get).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TransactGetItemsOutput {
    /// Items in the order of the reads; `None` for a missing item.
    pub responses: Vec<Option<Item>>,
    /// Consumed capacity per table, if the request asked for it.
    pub consumed_capacity: Vec<ConsumedCapacity>,
}

impl TransactGetItemsOutput {
    /// Creates an output with these items, in the order of the reads.
    pub fn new(responses: Vec<Option<Item>>) -> Self {
        Self { responses, ..Self::default() }
    }

    setters! {
        /// Sets the consumed capacity per table.
        consumed_capacity: Vec<ConsumedCapacity>,
    }
}

impl TransactGetItems {
    /// Creates a request with these reads.
    pub fn new(items: impl IntoIterator<Item = GetItem>) -> Self {
        Self { items: items.into_iter().collect(), ..Self::default() }
    }

    setters! {
        /// Sets which capacity figures to return. Default: none.
        return_consumed_capacity: ReturnConsumedCapacity,
    }
}

/// Request of [`Store::transact_write`](crate::Store::transact_write): up to 100 writes and
/// condition checks on distinct items, all or none.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TransactWriteItems {
    /// Operations, 1 to 100, each on another item.
    pub items: Vec<TransactWriteItem>,
    /// Client request token, 1 to 36 characters. Requests with the same token and operations are
    /// executed once within 10 minutes. Default: none.
    pub client_request_token: Option<String>,
    /// Capacity figures to return. Default: none.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to return item-collection metrics. Default: no.
    pub return_item_collection_metrics: ReturnItemCollectionMetrics,
}

/// Operation of a transaction.
///
/// A transaction returns no attributes, and capacity and metrics as a whole. So an operation with
/// `return_values`, or with capacity or metrics of its own, is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum TransactWriteItem {
    /// Creates or replaces an item.
    Put(PutItem),
    /// Changes an item; the update expression is required.
    Update(UpdateItem),
    /// Deletes an item; a missing one is no error.
    Delete(DeleteItem),
    /// Checks a condition and changes nothing.
    ConditionCheck(ConditionCheck),
}

/// Condition on an item that the transaction does not write.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ConditionCheck {
    /// Name or ARN of the table.
    pub table: String,
    /// Key attributes of the item, and no others.
    pub key: Item,
    /// Condition on the item. Required.
    pub condition: Option<Expr<Condition>>,
    /// Attribute names by their placeholders `#…`. Each must be used in the expression.
    pub names: Names,
    /// Values by their placeholders `:…`. Each must be used in the expression.
    pub values: Values,
    /// Whether a failed condition returns the present item in the cancellation reason.
    pub return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure,
}

/// Output of [`Store::transact_write`](crate::Store::transact_write).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TransactWriteItemsOutput {
    /// Consumed capacity per table, if the request asked for it.
    pub consumed_capacity: Vec<ConsumedCapacity>,
    /// Sizes of the item collections that were written to, by table, if the request asked for them.
    pub item_collection_metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
}

impl TransactWriteItemsOutput {
    /// Creates an output without capacity or metrics.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the consumed capacity per table.
        consumed_capacity: Vec<ConsumedCapacity>,
        /// Sets the sizes of item collections, by table.
        item_collection_metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
    }
}

impl ConditionCheck {
    /// Creates a check of a condition on the item with this key.
    pub fn new(
        table: impl Into<String>,
        key: impl Into<Item>,
        condition: impl Into<Expr<Condition>>,
    ) -> Self {
        Self {
            table: table.into(),
            key: key.into(),
            condition: Some(condition.into()),
            ..Self::default()
        }
    }

    /// Makes a failed condition return the present item in the cancellation reason.
    #[must_use]
    pub fn return_item_on_failure(mut self) -> Self {
        self.return_values_on_condition_check_failure = ReturnValuesOnConditionCheckFailure::AllOld;
        self
    }

    placeholder_setters!();
}

impl TransactWriteItems {
    /// Creates a request without operations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an operation.
    #[must_use]
    pub fn item(mut self, item: impl Into<TransactWriteItem>) -> Self {
        self.items.push(item.into());
        self
    }

    /// Sets the client request token, which makes the request idempotent for 10 minutes.
    #[must_use]
    pub fn client_request_token(mut self, token: impl Into<String>) -> Self {
        self.client_request_token = Some(token.into());
        self
    }

    setters! {
        /// Sets which capacity figures to return. Default: none.
        return_consumed_capacity: ReturnConsumedCapacity,
        /// Sets whether to return item-collection metrics. Default: no.
        return_item_collection_metrics: ReturnItemCollectionMetrics,
    }
}

impl From<PutItem> for TransactWriteItem {
    fn from(put: PutItem) -> Self {
        Self::Put(put)
    }
}

impl From<UpdateItem> for TransactWriteItem {
    fn from(update: UpdateItem) -> Self {
        Self::Update(update)
    }
}

impl From<DeleteItem> for TransactWriteItem {
    fn from(delete: DeleteItem) -> Self {
        Self::Delete(delete)
    }
}

impl From<ConditionCheck> for TransactWriteItem {
    fn from(check: ConditionCheck) -> Self {
        Self::ConditionCheck(check)
    }
}
