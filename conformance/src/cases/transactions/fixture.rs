//! A transaction that would change everything if its last operation succeeded.

use std::fmt::Debug;

use tabla_core::{CancellationReason, Result};

use super::super::prelude::*;
use crate::ctx::Snapshot;

/// Table with both kinds of index and a stream, in its state before a transaction that must fail.
pub(super) struct Fixture {
    pub(super) table: Table,
    before: Snapshot,
    written: usize,
}

impl Fixture {
    /// Number of operations before the last.
    pub(super) const BEFORE_LAST: usize = 5;

    /// Creates the table with the items of the transaction.
    pub(super) async fn new(ctx: &Ctx) -> Self {
        let shape = TableSpec::s_s().gsi().lsi().stream(StreamViewType::NewAndOldImages);
        let items = ["replaced", "changed", "removed", "checked", "last"].map(|name| {
            let keys = key(name).with("gpk", "g").with("gsk", name).with("lsk", name);
            keys.with("s", "text").with("n", 1).with("m", map! { "a" => 1 }).with("l", list![1])
        });
        let written = items.len();
        let table = ctx.table_with(shape, items).await;
        let before = ctx.snapshot(&table).await;
        Self { table, before, written }
    }

    /// Returns the key of the item of the last operation.
    pub(super) fn last() -> Item {
        key("last")
    }

    /// Returns valid operations that add, move and remove items and index entries.
    pub(super) fn innocent(&self) -> TransactWriteItems {
        let table = &self.table;
        let added = key("added").with("gpk", "g").with("gsk", "added").with("lsk", "added");
        let replaced = key("replaced").with("gpk", "h").with("gsk", "moved").with("lsk", "moved");
        let change = Update::new().set("gpk", "h").set("lsk", "moved").add("n", 1).remove("s");
        TransactWriteItems::new()
            .item(PutItem::new(table, added))
            .item(PutItem::new(table, replaced))
            .item(UpdateItem::new(table, key("changed")).update(change))
            .item(DeleteItem::new(table, key("removed")))
            .item(ConditionCheck::new(table, key("checked"), attr("n").eq(1)))
    }

    /// Runs the valid operations with this operation at the end.
    pub(super) async fn run(
        &self,
        ctx: &Ctx,
        last: impl Into<TransactWriteItem>,
    ) -> Result<TransactWriteItemsOutput> {
        ctx.store().transact_write(self.innocent().item(last)).await
    }

    /// Asserts that the last operation alone canceled the transaction, with this reason.
    #[track_caller]
    pub(super) fn expect_last<T: Debug>(
        &self,
        ctx: &Ctx,
        result: Result<T>,
        code: &str,
        message: &str,
    ) -> CancellationReason {
        let mut codes = vec!["None"; Self::BEFORE_LAST];
        codes.push(code);
        let mut reasons = ctx.expect_canceled(result, &codes);
        let reason = reasons.pop().expect("one code per operation");
        ctx.expect_text(reason.message.as_deref().unwrap_or_default(), message);
        reason
    }

    /// Asserts that the table and its indexes are unchanged; for use between several failures.
    pub(super) async fn expect_unchanged(&self, ctx: &Ctx) {
        ctx.expect_unchanged(&self.before).await;
    }

    /// Asserts that table, indexes and stream are unchanged; for use after the last failure.
    pub(super) async fn expect_untouched(&self, ctx: &Ctx) {
        ctx.expect_unchanged(&self.before).await;
        let sentinel = key("sentinel");
        ctx.put(&self.table, sentinel.clone()).await;
        let records = ctx.records(&self.table, self.written + 1).await;
        let keys: Vec<&Item> = records.iter().map(|record| &record.keys).collect();
        assert!(
            keys.len() == self.written + 1 && keys.contains(&&sentinel),
            "the failed transaction is in the stream: {records:#?}"
        );
    }
}

/// Returns the key of an item of the fixture.
pub(super) fn key(name: &str) -> Item {
    item! { "pk" => "a", "sk" => name }
}
