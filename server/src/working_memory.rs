//! Working memory of operations: upper bounds of the items that an operation holds from the store's
//! read until its response is written, in bytes.
//!
//! `admission` limits their sum. Responses are counted there by their real size.

use tabla_core::backend::limits::{BATCH_GET_SIZE, ITEM_SIZE, PAGE_SIZE, TRANSACT_SIZE};
use tabla_core::ops::{
    BatchGetItem, DeleteItem, GetItem, GetRecords, PutItem, Query, ReturnValues,
    ReturnValuesOnConditionCheckFailure as OnFailure, Scan, TransactGetItems, TransactWriteItem,
    TransactWriteItems, UpdateItem,
};

/// Request of an operation whose working memory is limited.
pub(crate) trait NeedsMemory {
    /// Returns an upper bound of the items that the operation holds, in bytes.
    fn working_memory(&self) -> usize;
}

impl NeedsMemory for GetItem {
    fn working_memory(&self) -> usize {
        ITEM_SIZE
    }
}

/// Returns the size of the item that a write reads, or 0 if it holds none.
fn of_write(has_expression: bool, returned: ReturnValues, on_failure: OnFailure) -> usize {
    // A store may evaluate costly expressions on a copy of the item.
    let holds_item =
        has_expression || returned != ReturnValues::None || on_failure != OnFailure::None;
    if holds_item { ITEM_SIZE } else { 0 }
}

impl NeedsMemory for PutItem {
    fn working_memory(&self) -> usize {
        let on_failure = self.return_values_on_condition_check_failure;
        of_write(self.condition.is_some(), self.return_values, on_failure)
    }
}

impl NeedsMemory for UpdateItem {
    fn working_memory(&self) -> usize {
        ITEM_SIZE
    }
}

impl NeedsMemory for DeleteItem {
    fn working_memory(&self) -> usize {
        let on_failure = self.return_values_on_condition_check_failure;
        of_write(self.condition.is_some(), self.return_values, on_failure)
    }
}

/// Returns the size of a page of at most `limit` items. The item that reaches the page size is part
/// of the page.
fn of_page(limit: Option<i32>) -> usize {
    let items = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(0));
    items.saturating_mul(ITEM_SIZE).min(PAGE_SIZE + ITEM_SIZE)
}

impl NeedsMemory for Query {
    fn working_memory(&self) -> usize {
        of_page(self.limit)
    }
}

impl NeedsMemory for Scan {
    fn working_memory(&self) -> usize {
        of_page(self.limit)
    }
}

impl NeedsMemory for BatchGetItem {
    fn working_memory(&self) -> usize {
        let keys: usize = self.requests.values().map(|reads| reads.keys.len()).sum();
        keys.saturating_mul(ITEM_SIZE).min(BATCH_GET_SIZE)
    }
}

impl NeedsMemory for TransactGetItems {
    fn working_memory(&self) -> usize {
        self.items.len().saturating_mul(ITEM_SIZE).min(TRANSACT_SIZE)
    }
}

impl NeedsMemory for TransactWriteItems {
    fn working_memory(&self) -> usize {
        let sizes = self.items.iter().map(|item| match item {
            TransactWriteItem::Put(put) => put.working_memory(),
            TransactWriteItem::Delete(delete) => delete.working_memory(),
            _ => ITEM_SIZE,
        });
        sizes.sum()
    }
}

impl NeedsMemory for GetRecords {
    fn working_memory(&self) -> usize {
        // A page of records has the same size as a page of items, or one record with two images.
        PAGE_SIZE
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::item;
    use tabla_core::ops::{ConditionCheck, KeysAndAttributes, ShardIterator};

    use super::*;

    fn get() -> GetItem {
        GetItem::new("things", item! { "pk" => 1 })
    }

    fn put() -> PutItem {
        PutItem::new("things", item! { "pk" => 1 })
    }

    #[test]
    fn write_that_shows_no_item_and_evaluates_nothing_needs_none() {
        let delete = || DeleteItem::new("things", item! { "pk" => 1 });
        assert_eq!((put().working_memory(), delete().working_memory()), (0, 0));
        assert_eq!(put().condition("attribute_exists(pk)").working_memory(), ITEM_SIZE);
        let returning = put().return_values(ReturnValues::AllOld);
        assert_eq!(returning.working_memory(), ITEM_SIZE);
        assert_eq!(delete().return_item_on_failure().working_memory(), ITEM_SIZE);
    }

    #[test]
    fn reads_need_what_dynamodb_returns_at_most() {
        let batch = |keys: usize| {
            let keys = KeysAndAttributes::new(vec![item! { "pk" => 1 }; keys]);
            BatchGetItem::new().request("things", keys).working_memory()
        };
        assert_eq!((batch(3), batch(100)), (3 * ITEM_SIZE, BATCH_GET_SIZE));
        let transaction = |gets| TransactGetItems::new(vec![get(); gets]).working_memory();
        assert_eq!((transaction(1), transaction(100)), (ITEM_SIZE, TRANSACT_SIZE));
        let page = |limit| {
            let mut scan = Scan::new("things");
            scan.limit = limit;
            scan.working_memory()
        };
        let whole = PAGE_SIZE + ITEM_SIZE;
        assert_eq!([page(Some(1)), page(Some(1000)), page(None)], [ITEM_SIZE, whole, whole]);
        assert_eq!(page(Some(-1)), 0, "the store refuses it");
        assert_eq!(GetRecords::new(ShardIterator("x".to_owned())).working_memory(), PAGE_SIZE);
        assert_eq!(get().working_memory(), ITEM_SIZE);
    }

    #[test]
    fn transaction_needs_the_sum_of_its_writes() {
        let check = ConditionCheck::new("things", item! { "pk" => 1 }, "attribute_exists(pk)");
        let update = UpdateItem::new("things", item! { "pk" => 1 });
        let transaction = TransactWriteItems::new().item(put()).item(check).item(update);
        assert_eq!(transaction.working_memory(), 2 * ITEM_SIZE);
    }
}
