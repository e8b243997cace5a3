//! Full disks: failed writes leave no trace, and the store recovers when there is space again.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::ops::*;
use tabla_core::{ErrorKind, Retry, Store, attr, item};
use tabla_sqlite::{SqliteConfig, SqliteStore};

use crate::support::*;

/// Environment variable that marks the child process of a test; its value is the path of the file.
const CHILD: &str = "TABLA_TEST_FULL_DISK";
/// Number of items of one transaction.
const TOGETHER: i64 = 4;

fn transaction(number: i64) -> TransactWriteItems {
    (0..TOGETHER).fold(TransactWriteItems::new(), |several, part| {
        let item = order("c", number * TOGETHER + part, "open").with("note", "x".repeat(20_000));
        several.item(PutItem::new("orders", item))
    })
}

/// Writes until a transaction has failed twice in a row. After the first failure, the store
/// checkpoints the WAL, so that its space can be reused.
async fn write_until_full(path: &Path) {
    let store = open(path).await;
    let present = |number: i64| {
        let key = item! { "pk" => "c", "sk" => number * TOGETHER };
        store.get(GetItem::new("orders", key))
    };
    let (mut number, mut failures) = (0, 0);
    while failures < 2 {
        match store.transact_write(transaction(number)).await {
            Ok(_) => {
                println!("ack {number}");
                (number, failures) = (number + 1, 0);
            }
            Err(error) => {
                failures += 1;
                assert_eq!(error.kind(), &ErrorKind::Unavailable, "{error}");
                // A retry seldom helps, so the error is final at once.
                assert_eq!(error.retry(), Retry::Exhausted);
                assert!(error.is_disk_full(), "{error}");
                // Committed items can be read, and no item of the failed transaction exists.
                assert!(present(number - 1).await.expect("a read").item.is_some());
                assert_eq!(present(number).await.expect("a read").item, None);
            }
        }
        assert!(number < 10_000, "the disk does not get full");
    }
    println!("full");
}

/// Fills the disk, and expects the next sweep to end with a problem before it has
/// deleted everything.
async fn sweep_until_full(path: &Path) {
    let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
    let env = Env::system().with_clock(Arc::new(clock.clone()));
    let store = SqliteStore::open_with(&SqliteConfig::file(path), env).await.expect("a store");
    // An open snapshot keeps the WAL from restarting.
    let reader = rusqlite::Connection::open(path).expect("the same file");
    reader.execute_batch("BEGIN; SELECT count(*) FROM items_1").expect("a read");
    let mut number = 0;
    while store.transact_write(transaction(number)).await.is_ok() {
        number += 1;
        assert!(number < 10_000, "the disk does not get full");
    }
    clock.advance(Duration::from_secs(60));
    let sweeps = tokio::time::timeout(Duration::from_secs(60), store.wait_for_sweeps(1)).await;
    let sweeps = sweeps.expect("a sweep that ends on a full disk");
    let problem = sweeps.problem.expect("a reported problem");
    assert!(problem.contains("disk is full") || problem.contains("cannot be"), "{problem}");
    assert!(sweeps.deleted < EXPIRED as u64);
    // The next sweep is due after one period.
    assert_eq!(store.sweeps().count, 1);
    println!("full");
}

/// Number of items that have expired when the disk is full.
const EXPIRED: i64 = 400;

#[tokio::test]
async fn sweep_that_failed_on_a_full_disk_is_completed_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
    let env = Env::system().with_clock(Arc::new(clock.clone()));
    let config = SqliteConfig::file(&path);
    let store = SqliteStore::open_with(&config, env.clone()).await.unwrap();
    store.create_table(orders().stream(StreamViewType::NewAndOldImages)).await.unwrap();
    let expire = UpdateTimeToLive::new("orders", "expires", true);
    store.update_time_to_live(expire).await.unwrap();
    for number in 0..EXPIRED {
        let item = order("expired", number, "open").with("expires", 1_800_000_001);
        store.put(PutItem::new("orders", item)).await.unwrap();
    }
    drop(store);
    limited(&path, "full_disk::child_that_sweeps_a_small_disk");
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
    let left = |store: SqliteStore| async move {
        let query = Query::new("orders", attr("pk").eq("expired")).select(Select::Count);
        store.query(query).await.unwrap().count
    };
    // With free space, a sweep deletes the rest after the other process's lease has expired.
    clock.advance(Duration::from_secs(100));
    let store = SqliteStore::open_with(&config, env).await.unwrap();
    assert!(left(store.clone()).await > 0);
    clock.advance(Duration::from_secs(60));
    let swept = tokio::time::timeout(Duration::from_secs(60), store.wait_for_sweeps(1)).await;
    assert_eq!(swept.expect("a sweep").problem, None);
    assert_eq!(left(store).await, 0);
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_that_sweeps_a_small_disk() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(sweep_until_full(path.as_ref()));
}

/// Runs a test of this program in a child whose files are limited to 2 MB, so that larger writes
/// fail as on a full disk. Returns the child's output.
fn limited(path: &Path, test: &str) -> String {
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 4000; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, path)
        .output()
        .expect("a child");
    let output = String::from_utf8_lossy(&limited.stdout).into_owned();
    assert!(limited.status.success(), "{output}{}", String::from_utf8_lossy(&limited.stderr));
    assert!(output.contains("full"), "{output}");
    output
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_on_a_small_disk() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(write_until_full(path.as_ref()));
}

#[tokio::test]
async fn full_disk_loses_no_acknowledged_write_and_splits_no_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    open(&path).await.create_table(orders()).await.unwrap();
    let output = limited(&path, "full_disk::child_on_a_small_disk");
    let acknowledged = output.lines().filter(|line| line.starts_with("ack ")).count() as i64;
    assert!(acknowledged > 0);

    // With free space, all acknowledged writes exist, and the store accepts writes.
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
    let store = open(&path).await;
    let described = store.describe_table(DescribeTable::new("orders")).await.unwrap();
    assert_eq!(described.item_count as i64, acknowledged * TOGETHER);
    store.transact_write(transaction(acknowledged)).await.unwrap();
}
