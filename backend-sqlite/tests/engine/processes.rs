//! Several stores on one file. Like several processes, they share only the file.

use std::sync::Arc;
use std::time::Duration;

use tabla_core::ops::*;
use tabla_core::{ErrorKind, KeyType, Store, attr, item};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

use crate::support::*;

#[tokio::test]
async fn stores_on_one_file_see_writes_and_table_changes_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (one, two) = (open(&path).await, open(&path).await);
    one.create_table(orders()).await.unwrap();
    fill(&two, 10).await;
    let found = one.get(GetItem::new("orders", item! { "pk" => "c1", "sk" => 1 })).await.unwrap();
    assert!(found.item.is_some());

    // Writes of one store maintain an index that the other has just added.
    let index = SecondaryIndex::new("by-note").partition_key("note");
    let update = UpdateTable::new("orders").attribute("note", KeyType::S).create_index(index);
    one.update_table(update).await.unwrap();
    let order = order("c9", 99, "open").with("note", "fresh");
    two.put(PutItem::new("orders", order)).await.unwrap();
    let query = Query::new("orders", attr("note").eq("fresh")).index("by-note");
    for store in [&one, &two] {
        assert_eq!(store.query(query.clone()).await.unwrap().items.len(), 1);
    }
    // A store with a stale catalogue refuses a type that the new index forbids.
    let wrong = item! { "pk" => "c", "sk" => 1, "note" => 5 };
    let error = two.put(PutItem::new("orders", wrong)).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Validation);

    two.update_table(UpdateTable::new("orders").delete_index("by-note")).await.unwrap();
    let error = one.query(query).await.unwrap_err();
    assert!(error.message().contains("does not have the specified index"), "{error}");

    one.delete_table(DeleteTable::new("orders")).await.unwrap();
    let outcome = two.get(GetItem::new("orders", item! { "pk" => "c1", "sk" => 1 })).await;
    assert!(outcome.unwrap_err().is_not_found());
    // A new table of the same name has another key: the cached definition must not be used.
    let other = CreateTable::new("orders").partition_key("id", KeyType::N);
    one.create_table(other).await.unwrap();
    two.put(PutItem::new("orders", item! { "id" => 1 })).await.unwrap();
    assert_eq!(
        one.get(GetItem::new("orders", item! { "id" => 1 })).await.unwrap().item,
        Some(item! { "id" => 1 })
    );
    drop((one, two));
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_updates_of_several_stores_all_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut stores = Vec::new();
    for durability in [Durability::Durable, Durability::Relaxed, Durability::Relaxed] {
        let config = SqliteConfig::file(&path).with_durability(durability);
        stores.push(Arc::new(SqliteStore::open(&config).await.unwrap()));
    }
    stores[0].create_table(orders()).await.unwrap();
    let key = item! { "pk" => "counter", "sk" => 0 };
    let mut tasks = Vec::new();
    for store in &stores {
        for _ in 0..4 {
            let (store, key) = (Arc::clone(store), key.clone());
            tasks.push(tokio::spawn(async move {
                for _ in 0..50 {
                    let add = UpdateItem::new("orders", key.clone());
                    let add = add.update("ADD n :one").value(":one", 1);
                    store.update(add).await.expect("an update that waits for the other stores");
                }
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    for store in &stores {
        let found = store.get(GetItem::new("orders", key.clone())).await.unwrap().item.unwrap();
        assert_eq!(found.get("n").unwrap().as_number(), Some(600.into()));
    }
}

/// In memory, reads and writes share one connection: each must get it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_and_writers_in_memory_all_finish() {
    let store = Arc::new(SqliteStore::open(&SqliteConfig::in_memory()).await.unwrap());
    store.create_table(orders()).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..16 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            for number in 0..500 {
                let customer = format!("c{}", task / 2);
                if task % 2 == 0 {
                    let put = PutItem::new("orders", order(&customer, number, "open"));
                    store.put(put).await.unwrap();
                } else {
                    let query = Query::new("orders", attr("pk").eq(customer));
                    store.query(query.limit(20)).await.unwrap();
                }
            }
        });
    }
    let all = tokio::time::timeout(Duration::from_secs(120), tasks.join_all()).await;
    all.expect("all tasks finish within two minutes");
    let store: Arc<dyn Store> = store;
    assert_eq!(count(&store, None).await, 4000);
}

#[tokio::test]
async fn write_fails_after_the_busy_timeout_and_succeeds_when_the_lock_is_released() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    for durability in [Durability::Durable, Durability::Relaxed] {
        let config = SqliteConfig::file(&path)
            .with_durability(durability)
            .with_busy_timeout(Duration::from_millis(30));
        let store = SqliteStore::open(&config).await.unwrap();
        let _ = store.create_table(orders()).await;
        let raw = rusqlite::Connection::open(&path).unwrap();
        raw.execute_batch("BEGIN IMMEDIATE").unwrap();
        let put = PutItem::new("orders", order("c", 1, "open"));
        let error = store.put(put.clone()).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Unavailable);
        assert_eq!(
            (error.retry(), error.applied()),
            (tabla_core::Retry::Later, tabla_core::Applied::No)
        );
        // Reads wait for no writer, not even of another process.
        store.get(GetItem::new("orders", item! { "pk" => "c", "sk" => 1 })).await.unwrap();
        raw.execute_batch("ROLLBACK").unwrap();
        store.put(put).await.unwrap();
    }
}
