//! Small requests that are costly to evaluate: they are refused early, or evaluated outside the
//! writer while others write.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tabla_core::ops::*;
use tabla_core::{ErrorKind, KeyType, Store, Value, item};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

use crate::support::*;

/// Environment variable that marks the child process of a test, whose memory is measured.
const CHILD: &str = "TABLA_TEST_COSTLY_UPDATE";

/// Returns the peak memory of this process, in MB.
#[cfg(target_os = "linux")]
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    let kilobytes = line.split_whitespace().nth(1).expect("a number");
    kilobytes.parse::<u64>().expect("a number") >> 10
}

/// Puts an item of 390 KB, which takes many times as much memory when it is decoded.
pub(crate) async fn put_long_list(store: &dyn Store) {
    let list = Value::L(vec![Value::Null; 195_000]);
    let item = item! { "pk" => "a", "sk" => 1, "n" => 0, "l" => list };
    store.put(PutItem::new("orders", item)).await.expect("a put");
}

/// Key of the item of [`put_long_list`].
pub(crate) fn key() -> tabla_core::Item {
    item! { "pk" => "a", "sk" => 1 }
}

#[cfg(target_os = "linux")]
#[test]
fn update_that_appends_a_list_185_times_is_refused_in_little_memory() {
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "costly::child_that_updates", "--nocapture"])
        .env(CHILD, "yes")
        .output()
        .expect("a child");
    let output = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{output}{}", String::from_utf8_lossy(&child.stderr));
    let peak = output.lines().find_map(|line| line.strip_prefix("peak ")).expect("a peak");
    let peak: u64 = peak.parse().expect("a number");
    assert!(peak < 160, "{peak} MB");
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn child_that_updates() {
    if std::env::var(CHILD).is_err() {
        return;
    }
    let store = SqliteStore::open(&SqliteConfig::in_memory()).await.unwrap();
    store.create_table(orders()).await.unwrap();
    put_long_list(&store).await;
    let append = |number: usize| format!("a{number}=list_append(l,l)");
    let sets: Vec<String> = (0..185).map(append).collect();
    let update = UpdateItem::new("orders", key()).update(format!("SET {}", sets.join(",")));
    let error = store.update(update).await.unwrap_err();
    let expected = "Item size to update has exceeded the maximum allowed size";
    assert_eq!(error.message(), expected);
    println!("\npeak {}", peak_memory());
}

/// Returns a condition that is true if `n` is `seen`, and reads the whole list in each of
/// its parts.
fn costly_condition(seen: i64) -> String {
    let parts: Vec<&str> = vec!["NOT contains(l, :none)"; 12];
    format!("n = {} AND {}", placeholder(seen), parts.join(" AND "))
}

fn placeholder(number: i64) -> String {
    format!(":n{number}")
}

/// Returns an update that adds 1 to `n` if it is `seen`, under a costly condition.
fn costly_increment(seen: i64) -> UpdateItem {
    UpdateItem::new("orders", key())
        .update("SET n = n + :one")
        .condition(costly_condition(seen))
        .value(":one", 1)
        .value(":none", "absent")
        .value(placeholder(seen), seen)
}

async fn stores(folder: &Path) -> Vec<SqliteStore> {
    let file = |durability: Durability| {
        SqliteConfig::file(folder.join(format!("{durability:?}.db"))).with_durability(durability)
    };
    let configs = [SqliteConfig::in_memory(), file(Durability::Durable), file(Durability::Relaxed)];
    let mut stores = Vec::new();
    for config in configs {
        let store = SqliteStore::open(&config).await.expect("a store");
        store.create_table(orders()).await.expect("a table");
        put_long_list(&store).await;
        stores.push(store);
    }
    stores
}

/// Queues a costly write, then a put, and expects the put to finish first. If the writer evaluated
/// the condition, they would finish in the order of the queue.
async fn expect_put_completes_first(
    store: &SqliteStore,
    costly: impl Future<Output = tabla_core::Result<()>>,
) {
    let completed = RefCell::new(Vec::new());
    let costly = async {
        costly.await.expect("a true condition");
        completed.borrow_mut().push("costly");
    };
    let quick = async {
        let item = order("quick", 1, "open");
        store.put(PutItem::new("orders", item)).await.expect("a put");
        completed.borrow_mut().push("quick");
    };
    tokio::join!(costly, quick);
    assert_eq!(*completed.borrow(), ["quick", "costly"]);
}

#[tokio::test]
async fn put_completes_while_a_costly_condition_of_another_write_is_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(folder.path()).await {
        let costly = async { store.update(costly_increment(0)).await.map(drop) };
        expect_put_completes_first(&store, costly).await;
    }
}

#[tokio::test]
async fn put_completes_while_costly_conditions_of_a_transaction_are_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(folder.path()).await {
        let transaction = TransactWriteItems::new()
            .item(costly_increment(0))
            .item(PutItem::new("orders", order("b", 1, "open")));
        let costly = async { store.transact_write(transaction).await.map(drop) };
        expect_put_completes_first(&store, costly).await;
        let item = store.get(GetItem::new("orders", key())).await.unwrap().item.unwrap();
        assert_eq!(item.get("n").and_then(|n| n.as_number()), Some(1.into()));
    }
}

/// An evaluation is discarded if the item has changed since.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_that_race_with_costly_conditions_lose_no_increment() {
    const CALLERS: i64 = 4;
    let folder = tempfile::tempdir().unwrap();
    for store in stores(folder.path()).await {
        let store = Arc::new(store);
        let mut callers = tokio::task::JoinSet::new();
        for caller in 0..CALLERS {
            let store = Arc::clone(&store);
            callers.spawn(async move {
                loop {
                    let read = GetItem::new("orders", key()).consistent_read(true);
                    let item = store.get(read).await.expect("a read").item.expect("the item");
                    let seen = item.get("n").and_then(|n| n.as_number()).expect("a number");
                    let seen: i64 = seen.to_string().parse().expect("a small number");
                    let increment = costly_increment(seen);
                    let outcome = match caller % 2 {
                        0 => store.update(increment).await.map(drop),
                        _ => {
                            let transaction = TransactWriteItems::new().item(increment);
                            store.transact_write(transaction).await.map(drop)
                        }
                    };
                    match outcome {
                        Ok(()) => return,
                        Err(error) if error.is_condition_failed() => {}
                        Err(error) => assert_eq!(
                            error.kind(),
                            &ErrorKind::TransactionConflict,
                            "expected a failed condition or a conflict: {error}"
                        ),
                    }
                }
            });
        }
        callers.join_all().await;
        let item = store.get(GetItem::new("orders", key())).await.unwrap().item.unwrap();
        assert_eq!(item.get("n").and_then(|n| n.as_number()), Some(CALLERS.into()));
    }
}

/// A damaged item in the collection would fail a read of the collection.
#[tokio::test]
async fn item_collection_metrics_do_not_read_the_collection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await;
    let table = CreateTable::new("orders")
        .partition_key("pk", KeyType::S)
        .sort_key("sk", KeyType::N)
        .attribute("status", KeyType::S)
        .local_index(SecondaryIndex::new("by-status").partition_key("pk").sort_key("status"));
    store.create_table(table).await.unwrap();
    for number in 0..3 {
        store.put(PutItem::new("orders", order("a", number, "open"))).await.unwrap();
    }
    drop(store);
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute("UPDATE items_1 SET sum = 1 WHERE id = 2", []).unwrap();
    drop(raw);

    let store = open(&path).await;
    const SIZE: ReturnItemCollectionMetrics = ReturnItemCollectionMetrics::Size;
    let put = |number| PutItem::new("orders", order("a", number, "paid"));
    let written = store.put(put(7).return_item_collection_metrics(SIZE)).await.unwrap();
    let metrics = written.item_collection_metrics.expect("the table has a local index");
    assert_eq!(metrics.item_collection_key, item! { "pk" => "a" });
    assert_eq!(metrics.size_estimate_range_gb, [0.0, 1.0]);
    let puts = (10..110).map(put).fold(TransactWriteItems::new(), TransactWriteItems::item);
    let transaction = puts.return_item_collection_metrics(SIZE);
    let written = store.transact_write(transaction).await.unwrap();
    assert_eq!(written.item_collection_metrics["orders"].len(), 100);
    let batch = (200..225)
        .fold(BatchWriteItem::new(), |batch, number| {
            batch.put("orders", order("a", number, "paid"))
        })
        .return_item_collection_metrics(SIZE);
    let written = store.batch_write(batch).await.unwrap();
    assert_eq!(written.item_collection_metrics["orders"].len(), 25);
}
