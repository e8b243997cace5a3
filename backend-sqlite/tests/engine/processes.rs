//! Several stores on one file, as several processes have it: they share nothing but the file.

use std::sync::Arc;
use std::time::Duration;

use tabla_core::ops::*;
use tabla_core::{ErrorKind, KeyType, Store, attr, item};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

use crate::support::*;

#[tokio::test]
async fn each_sees_what_the_other_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (one, two) = (open(&path).await, open(&path).await);
    one.create_table(orders()).await.unwrap();
    fill(&two, 10).await;
    let found = one.get(GetItem::new("orders", item! { "pk" => "c1", "sk" => 1 })).await.unwrap();
    assert!(found.item.is_some());

    // An index that one adds is kept true by the writes of the other, at once.
    let index = SecondaryIndex::new("by-note").partition_key("note");
    let update = UpdateTable::new("orders").attribute("note", KeyType::S).create_index(index);
    one.update_table(update).await.unwrap();
    let order = order("c9", 99, "open").with("note", "fresh");
    two.put(PutItem::new("orders", order)).await.unwrap();
    let query = Query::new("orders", attr("note").eq("fresh")).index("by-note");
    for store in [&one, &two] {
        assert_eq!(store.query(query.clone()).await.unwrap().items.len(), 1);
    }
    // A type that the new index forbids is refused by who has not heard of it yet, too.
    let wrong = item! { "pk" => "c", "sk" => 1, "note" => 5 };
    let error = two.put(PutItem::new("orders", wrong)).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Validation);

    two.update_table(UpdateTable::new("orders").delete_index("by-note")).await.unwrap();
    let error = one.query(query).await.unwrap_err();
    assert!(error.message().contains("does not have the specified index"), "{error}");

    one.delete_table(DeleteTable::new("orders")).await.unwrap();
    let gone = two.get(GetItem::new("orders", item! { "pk" => "c1", "sk" => 1 })).await;
    assert!(gone.unwrap_err().is_not_found());
    // The same name, another key: nothing that was known of the first may be used.
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
async fn contention_makes_nobody_fail() {
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
                    store.update(add).await.expect("it waits for its turn");
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

/// In memory, reads and writes take turns on one connection: nobody may be left waiting.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_and_writers_in_memory_all_come_to_an_end() {
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
    all.expect("nobody waits for ever");
    let store: Arc<dyn Store> = store;
    assert_eq!(count(&store, None).await, 4000);
}

#[tokio::test]
async fn a_file_that_another_holds_is_given_up_after_a_while_and_works_again() {
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
        // Reads do not wait for writers, not even for those of others.
        store.get(GetItem::new("orders", item! { "pk" => "c", "sk" => 1 })).await.unwrap();
        raw.execute_batch("ROLLBACK").unwrap();
        store.put(put).await.unwrap();
    }
}
