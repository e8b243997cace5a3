//! Retries of a store from an address. The store implements them; `?retries=off` turns them off.

use std::pin::pin;
use std::task::Poll;

use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::ops::*;
use tabla_core::{CancellationCode, ErrorKind, KeyType, Registry, Result, Retry};
use tabla_core::{RetryPolicy, Store, item};
use tabla_sqlite::SqliteOpener;

use crate::costly::{key, put_long_list};
use crate::support::orders;

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register(SqliteOpener);
    registry
}

/// Changes the item of [`put_long_list`].
async fn change(store: &dyn Store) {
    let update = UpdateItem::new("orders", key()).update("ADD changes :one").value(":one", 1);
    store.update(update).await.expect("a change");
}

/// Executes a transaction with a costly condition. Other writes change its item before each of its
/// steps, until the clock of the retry policy has been asked to wait.
async fn transact_while_item_changes(
    store: &dyn Store,
    clock: &ManualClock,
) -> Result<TransactWriteItemsOutput> {
    let update = UpdateItem::new("orders", key())
        .update("SET done = :done")
        .condition(["NOT contains(l, :none)"; 12].join(" AND "))
        .value(":done", true)
        .value(":none", "absent");
    let mut transaction = pin!(store.transact_write(TransactWriteItems::new().item(update)));
    while clock.sleeps().is_empty() {
        change(store).await;
        if let Poll::Ready(outcome) = futures::poll!(transaction.as_mut()) {
            return outcome;
        }
        // The runtime wakes the transaction when its evaluation ends.
        tokio::task::yield_now().await;
    }
    transaction.await
}

#[tokio::test]
async fn transaction_whose_item_keeps_changing_is_retried_unless_retries_are_off() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}?durability=relaxed", folder.path().join("a.db").display());
    for address in ["sqlite::memory:?sweep=off", &file] {
        let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
        let policy = RetryPolicy::default().with_env(Env::test(clock.clone(), 1));
        let registry = registry().with_retries(policy);
        let store = registry.open(address).await.unwrap();
        store.create_table(orders()).await.unwrap();
        put_long_list(&*store).await;
        transact_while_item_changes(&*store, &clock).await.expect(address);
        assert_eq!(clock.sleeps().len(), 1, "{address}: the second attempt succeeds");
        let read = GetItem::new("orders", key()).projection("done, changes");
        let found = store.get(read).await.unwrap().item.expect("the item");
        assert_eq!(found.get("done").and_then(|done| done.as_bool()), Some(true), "{address}");

        drop(store);
        let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
        let store = registry.open(&format!("{address}&retries=off")).await.unwrap();
        // The store in memory is a new one.
        if address != file {
            store.create_table(orders()).await.unwrap();
            put_long_list(&*store).await;
        }
        let error = transact_while_item_changes(&*store, &clock).await.expect_err(address);
        let ErrorKind::TransactionCanceled { reasons } = error.kind() else {
            panic!("{address}: {error}");
        };
        assert_eq!(reasons[0].code, CancellationCode::TransactionConflict, "{address}");
        assert_eq!(error.retry(), Retry::Later, "{address}: the caller may retry");
    }
}

#[tokio::test]
async fn batch_read_over_16_mb_is_completed_unless_retries_are_off() {
    for (address, expected) in [("sqlite::memory:", 45), ("sqlite::memory:?retries=off", 41)] {
        let store = registry().open(address).await.unwrap();
        let table = CreateTable::new("things").partition_key("pk", KeyType::N);
        store.create_table(table).await.unwrap();
        let text = "x".repeat(399 * 1024);
        for number in 0..45 {
            let item = item! { "pk" => number, "text" => text.as_str() };
            store.put(PutItem::new("things", item)).await.unwrap();
        }
        let keys = (0..45).map(|number| item! { "pk" => number });
        let output = store.batch_get(BatchGetItem::new().keys("things", keys)).await.unwrap();
        assert_eq!(output.responses["things"].len(), expected, "{address}");
        let left = output.unprocessed_keys.values().map(|keys| keys.keys.len()).sum::<usize>();
        assert_eq!(left, 45 - expected, "{address}");
    }
}

#[tokio::test]
async fn transaction_without_a_token_stores_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = registry().open(&format!("sqlite:{}", path.display())).await.unwrap();
    store.create_table(orders()).await.unwrap();
    let tokens = || -> i64 {
        let raw = rusqlite::Connection::open(&path).expect("the same file");
        raw.query_row("SELECT count(*) FROM tabla_tokens", [], |row| row.get(0)).expect("a count")
    };
    let transaction = || {
        let update = UpdateItem::new("orders", key()).update("ADD n :one").value(":one", 1);
        TransactWriteItems::new().item(update)
    };
    store.transact_write(transaction()).await.unwrap();
    assert_eq!(tokens(), 0);
    store.transact_write(transaction().client_request_token("t")).await.unwrap();
    assert_eq!(tokens(), 1, "a token of the caller is stored");
}
