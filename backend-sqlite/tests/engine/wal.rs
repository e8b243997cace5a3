//! The write-ahead log: bounded while reads overlap, and usable again after a full disk.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tabla_core::ops::*;
use tabla_core::{ErrorKind, Retry, Store, item};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

use crate::support::*;

/// Length from which the log of these tests is checkpointed, in pages: 800 KB.
const LOG_PAGES: u32 = 200;

fn log_of(path: &Path) -> PathBuf {
    let mut log = path.to_owned();
    log.as_mut_os_string().push("-wal");
    log
}

/// Scan with a slow filter that no item passes.
fn slow_scan() -> Scan {
    let contains: Vec<String> = (0..10).map(|_| "contains(note, :v)".to_owned()).collect();
    Scan::new("orders").filter(contains.join(" OR ")).value(":v", "y".repeat(50))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn wal_stays_bounded_under_overlapping_scans() {
    for durability in [Durability::Durable, Durability::Relaxed] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let config =
            SqliteConfig::file(&path).with_durability(durability).with_wal_pages(LOG_PAGES);
        let store = Arc::new(SqliteStore::open(&config).await.unwrap());
        store.create_table(orders()).await.unwrap();
        let large = |number| order("c", number, "open").with("note", "x".repeat(4000));
        for number in 0..400 {
            store.put(PutItem::new("orders", large(number))).await.unwrap();
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let mut readers = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let (store, is_over) = (Arc::clone(&store), Arc::clone(&is_over));
            readers.spawn(async move {
                let mut pages = 0;
                while !is_over.load(Ordering::Relaxed) {
                    store.scan(slow_scan()).await.expect("a page");
                    pages += 1;
                }
                pages
            });
        }
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..3 {
            let store = Arc::clone(&store);
            writers.spawn(async move {
                for number in 0..3000 {
                    let item = order("c", (writer * 3000 + number) % 400, "paid");
                    let item = item.with("note", format!("{number:04000}"));
                    store.put(PutItem::new("orders", item)).await.expect("a put");
                }
            });
        }
        let mut longest = 0;
        while writers.join_next().await.transpose().expect("a writer").is_some() {
            longest = longest.max(std::fs::metadata(log_of(&path)).unwrap().len());
        }
        is_over.store(true, Ordering::Relaxed);
        let pages: i32 = readers.join_all().await.into_iter().sum();
        assert!(pages > 0, "no page was read");
        // The puts write about 100 MB to the log. It may grow to the limit, and until readers
        // finish.
        assert!(longest < 16 << 20, "{durability:?}: the log has {longest} bytes");
    }
}

/// Reads in overlapping snapshots, like another process: each begins before the last one ends. A
/// snapshot lasts until a message comes, at most 20 ms, so that it ends while the writer waits
/// for it.
fn read_in_overlapping_snapshots(path: &Path, messages: &mpsc::Receiver<()>) {
    let connect = || rusqlite::Connection::open(path).expect("the same file");
    let (mut next, mut last) = (connect(), connect());
    loop {
        next.execute_batch("BEGIN").expect("a transaction");
        let read = next.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0));
        let _: i64 = read.expect("a read");
        if !last.is_autocommit() {
            last.execute_batch("COMMIT").expect("the end of a snapshot");
        }
        std::mem::swap(&mut next, &mut last);
        if messages.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

#[tokio::test]
async fn wal_restarts_under_overlapping_snapshots_of_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let config = SqliteConfig::file(&path).with_wal_pages(LOG_PAGES / 4);
    let store = SqliteStore::open(&config).await.unwrap();
    store.create_table(orders()).await.unwrap();
    let (messages, received) = mpsc::channel();
    let reader = {
        let path = path.clone();
        std::thread::spawn(move || read_in_overlapping_snapshots(&path, &received))
    };
    let mut longest = 0;
    for number in 0..3000 {
        if number % 20 == 0 {
            messages.send(()).unwrap();
        }
        let note = format!("{number:04000}");
        let item = order("c", number % 50, "open").with("note", note);
        store.put(PutItem::new("orders", item)).await.unwrap();
        longest = longest.max(std::fs::metadata(log_of(&path)).unwrap().len());
    }
    drop(messages);
    reader.join().unwrap();
    // The puts write 12 MB or more.
    assert!(longest < 6 << 20, "the log has {longest} bytes");
}

/// Environment variable that marks the child process of a test; its value is the folder of
/// the small disk.
const CHILD: &str = "TABLA_TEST_SMALL_DISK";

/// Runs a test of this program in a child, in whose folder a file system of 8 MB is mounted. The
/// mount is visible to the child alone, and ends with it.
#[cfg(target_os = "linux")]
fn on_small_disk(test: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mount = "mount -t tmpfs -o size=8m tmpfs \"$TABLA_TEST_SMALL_DISK\" && exec \"$@\"";
    let child = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", mount, "sh"])
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, folder.path())
        .output()
        .expect("unshare, of util-linux");
    let output = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{output}{}", String::from_utf8_lossy(&child.stderr));
    assert!(output.contains("small disk: done"), "{output}");
    output
}

fn large(number: i64, letter: &str) -> PutItem {
    let item = item! { "pk" => "c", "sk" => number, "note" => letter.repeat(10_000) };
    PutItem::new("orders", item)
}

/// Overwrites items. The files of a store fit the disk; a log that is never checkpointed does not.
async fn overwrite_on_small_disk(folder: &Path) {
    for durability in [Durability::Durable, Durability::Relaxed] {
        let path = folder.join(format!("{durability:?}.db"));
        let config = SqliteConfig::file(&path).with_durability(durability);
        let store = SqliteStore::open(&config).await.expect("a store");
        store.create_table(orders()).await.expect("a table");
        for round in 0..20 {
            for number in 0..100 {
                let letter = ["a", "b"][round % 2];
                store
                    .put(large(number, letter))
                    .await
                    .expect("an overwrite, which needs no more space");
            }
        }
        drop(store);
        assert_eq!(checked(&path).await.problems, Vec::<String>::new());
        std::fs::remove_file(&path).expect("a closed file");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn overwriting_items_does_not_fill_a_small_disk_with_log() {
    on_small_disk("wal::child_that_overwrites");
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_that_overwrites() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(overwrite_on_small_disk(folder.as_ref()));
    println!("small disk: done");
}

/// Fills the disk, deletes, and writes again, with one store that is never closed.
async fn fill_and_recover(folder: &Path) {
    for durability in [Durability::Durable, Durability::Relaxed] {
        let path = folder.join(format!("{durability:?}.db"));
        let config = SqliteConfig::file(&path).with_durability(durability);
        let store = SqliteStore::open(&config).await.expect("a store");
        store.create_table(orders()).await.expect("a table");
        let mut stored = 0;
        let error = loop {
            match store.put(large(stored, "a")).await {
                Ok(_) => stored += 1,
                Err(error) => break error,
            }
            assert!(stored < 10_000, "the disk does not get full");
        };
        assert_eq!(error.kind(), &ErrorKind::Unavailable, "{error}");
        // A retry seldom helps, so the error is final at once.
        assert_eq!(error.retry(), Retry::Exhausted);
        let message = error.message();
        assert!(message.contains("disk is full"), "{message}");
        assert!(message.contains(&path.display().to_string()), "{message}");
        // The refused item is refused again; stored items can be read.
        assert!(store.put(large(stored, "a")).await.is_err());
        let key = |number| item! { "pk" => "c", "sk" => number };
        let first = store.get(GetItem::new("orders", key(0))).await.expect("a read").item;
        assert!(first.is_some());
        for number in 0..stored / 2 {
            let delete = DeleteItem::new("orders", key(number));
            store.delete(delete).await.expect("a delete on a full disk");
        }
        for number in 0..stored / 4 {
            store.put(large(number, "b")).await.expect("a put into the space of deleted items");
        }
        drop(store);
        assert_eq!(checked(&path).await.problems, Vec::<String>::new());
        std::fs::remove_file(&path).expect("a closed file");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_accepts_deletes_and_then_puts() {
    on_small_disk("wal::child_that_fills_the_disk");
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_that_fills_the_disk() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(fill_and_recover(folder.as_ref()));
    println!("small disk: done");
}
