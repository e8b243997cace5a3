//! Up to 100 reads or writes that happen together or not at all.

use std::collections::BTreeMap;

use super::{
    ConsumedCapacity, DeleteItem, GetItem, ItemCollectionMetrics, PutItem, ReturnConsumedCapacity,
    ReturnItemCollectionMetrics, ReturnValuesOnConditionCheckFailure, UpdateItem,
    placeholder_setters, setters,
};
use crate::Item;
use crate::expr::{Condition, Expr, Names, Values};

/// Reads up to 100 items as they are at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TransactGetItems {
    /// The reads. They are consistent whatever they say, and return capacity as this request says.
    pub items: Vec<GetItem>,
    /// Which capacity figures to return.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// The answer to [`TransactGetItems`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TransactGetItemsOutput {
    /// The items in the order of the reads, `None` where there is none.
    pub responses: Vec<Option<Item>>,
    /// What it cost, a row per table.
    pub consumed_capacity: Vec<ConsumedCapacity>,
}

impl TransactGetItemsOutput {
    /// These items, in the order of the reads.
    pub fn new(responses: Vec<Option<Item>>) -> Self {
        Self { responses, ..Self::default() }
    }

    setters! {
        /// What it cost, a row per table.
        consumed_capacity: Vec<ConsumedCapacity>,
    }
}

impl TransactGetItems {
    /// These reads.
    pub fn new(items: impl IntoIterator<Item = GetItem>) -> Self {
        Self { items: items.into_iter().collect(), ..Self::default() }
    }

    setters! {
        /// Which capacity figures to return.
        return_consumed_capacity: ReturnConsumedCapacity,
    }
}

/// Makes up to 100 writes, each on another item, together or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TransactWriteItems {
    /// The writes.
    pub items: Vec<TransactWriteItem>,
    /// Makes the call idempotent for ten minutes: the same token and content is carried out once.
    pub client_request_token: Option<String>,
    /// Which capacity figures to return.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to return item-collection metrics.
    pub return_item_collection_metrics: ReturnItemCollectionMetrics,
}

/// One operation of a transaction.
///
/// A transaction returns no attributes and accounts for itself as a whole, so an operation that
/// asks for `return_values`, capacity or metrics of its own is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum TransactWriteItem {
    /// Writes a whole item.
    Put(PutItem),
    /// Changes an item.
    Update(UpdateItem),
    /// Deletes an item.
    Delete(DeleteItem),
    /// Changes nothing, but must hold.
    ConditionCheck(ConditionCheck),
}

/// A condition on an item that the transaction does not write.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ConditionCheck {
    /// The table.
    pub table: String,
    /// The key attributes, and nothing else.
    pub key: Item,
    /// What must hold of the item.
    pub condition: Option<Expr<Condition>>,
    /// What the `#…` placeholders of the expression stand for.
    pub names: Names,
    /// What the `:…` placeholders of the expression stand for.
    pub values: Values,
    /// What to return if the condition does not hold.
    pub return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure,
}

/// The answer to [`TransactWriteItems`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TransactWriteItemsOutput {
    /// What it cost, a row per table.
    pub consumed_capacity: Vec<ConsumedCapacity>,
    /// The item collections touched, by table.
    pub item_collection_metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
}

impl TransactWriteItemsOutput {
    /// Everything was written.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// What it cost, a row per table.
        consumed_capacity: Vec<ConsumedCapacity>,
        /// The item collections touched, by table.
        item_collection_metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
    }
}

impl ConditionCheck {
    /// Requires that this holds of the item with this key.
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

    /// Returns the item in the cancellation reason if the condition does not hold.
    #[must_use]
    pub fn return_item_on_failure(mut self) -> Self {
        self.return_values_on_condition_check_failure = ReturnValuesOnConditionCheckFailure::AllOld;
        self
    }

    placeholder_setters!();
}

impl TransactWriteItems {
    /// Writes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also does this.
    #[must_use]
    pub fn item(mut self, item: impl Into<TransactWriteItem>) -> Self {
        self.items.push(item.into());
        self
    }

    /// Makes the call idempotent for ten minutes.
    #[must_use]
    pub fn client_request_token(mut self, token: impl Into<String>) -> Self {
        self.client_request_token = Some(token.into());
        self
    }

    setters! {
        /// Which capacity figures to return.
        return_consumed_capacity: ReturnConsumedCapacity,
        /// Whether to return item-collection metrics.
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
