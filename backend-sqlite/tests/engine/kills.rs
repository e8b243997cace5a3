//! Processes that are killed while they write: acknowledged writes survive, and no transaction is
//! applied in part.
//!
//! `TABLA_KILLS` is the number of kills; the long form is 200. A kill does not show whether a
//! commit was synced, because the operating system keeps unsynced writes. The module `traces`
//! shows that.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use tabla_core::env::{Random, SystemRandom};
use tabla_core::ops::*;
use tabla_core::{Item, Store, StoreExt, attr, item};

use tabla_sqlite::{SqliteConfig, SqliteStore};

use crate::support::*;

const KILLS: usize = 20;
const WRITERS: usize = 16;
/// Environment variable that marks the child process of a test; its value is the address of
/// the file.
const CHILD: &str = "TABLA_TEST_WRITER";

/// Writes until the process is killed, and prints each acknowledged write. Each writer counts up:
/// an even number is a put, an odd one a transaction of two items and a counter.
async fn write_forever(config: &SqliteConfig) {
    let store = Arc::new(SqliteStore::open(config).await.expect("a store"));
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let key = |number: i64, half: &str| {
                item! { "pk" => format!("w{writer}{half}"), "sk" => number }
            };
            let mut number = last_of(&*store, writer).await + 1;
            loop {
                let item =
                    |half: &str| key(number, half).with("status", format!("s{}", number % 5));
                if number % 2 == 0 {
                    store.put(PutItem::new("orders", item(""))).await.expect("a put");
                } else {
                    let counter = UpdateItem::new("orders", key(-1, "")).update("ADD n :one");
                    let both = TransactWriteItems::new()
                        .item(PutItem::new("orders", item("")))
                        .item(PutItem::new("orders", item("-twin")))
                        .item(counter.value(":one", 1));
                    store.transact_write(both).await.expect("a transaction");
                }
                // One call per line, so that a kill does not leave part of a line.
                std::io::stdout()
                    .lock()
                    .write_all(format!("ack {writer} {number}\n").as_bytes())
                    .expect("a parent that reads");
                number += 1;
            }
        });
    }
    tasks.join_all().await;
}

async fn last_of(store: &dyn Store, writer: usize) -> i64 {
    let mut query = Query::new("orders", attr("pk").eq(format!("w{writer}"))).limit(1);
    query.scan_index_forward = false;
    let page = store.query(query).await.expect("a page");
    page.items.first().map_or(0, number_of).max(0)
}

fn number_of(item: &Item) -> i64 {
    let number = item.get("sk").and_then(|value| value.as_number()).expect("a sort key");
    number.to_string().parse().expect("a small number")
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_that_writes() {
    let Ok(address) = std::env::var(CHILD) else { return };
    let address = address.parse().expect("an address");
    let config = SqliteConfig::from_address(address).expect("a store's address");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(write_forever(&config));
}

/// Starts a child. Both durabilities survive a kill, because the operating system keeps the writes.
/// The WAL is short, so that some kills happen during a checkpoint.
fn spawn(path: &Path, durability: &str) -> Child {
    let address = format!("sqlite:{}?durability={durability}&log=200", path.display());

    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "kills::child_that_writes", "--nocapture", "--test-threads=1"])
        .env(CHILD, address)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child")
}

/// Starts a child, kills it after a number of acknowledged writes, and records the last
/// acknowledged number of each writer.
fn write_and_kill(
    path: &Path,
    durability: &str,
    count: usize,
    acknowledged: &mut BTreeMap<usize, i64>,
) {
    let mut child = spawn(path, durability);
    let mut killed = false;
    let mut seen = 0;
    let lines = BufReader::new(child.stdout.take().expect("piped output")).lines();
    // Reads to the end all that the child has printed before the kill.
    for line in lines.map_while(Result::ok) {
        // The child's test runner prints a prefix without a line end before the first
        // acknowledgment.
        if let Some((_, acknowledgment)) = line.split_once("ack ")
            && let Some((writer, number)) = acknowledgment.split_once(' ')
            && let (Ok(writer), Ok(number)) = (writer.parse(), number.parse())
        {
            acknowledged.insert(writer, number);
            seen += 1;
        }
        if seen >= count && !killed {
            child.kill().expect("a running child");
            killed = true;
        }
    }
    assert!(killed, "the child ended by itself after {seen} acknowledged writes");
    child.wait().expect("a killed child");
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let kills = std::env::var("TABLA_KILLS").map_or(KILLS, |text| text.parse().expect("a number"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // A new file every 20 kills, because the whole file is verified after each kill.
    for first in (0..kills).step_by(KILLS) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        runtime.block_on(async {
            open(&path).await.create_table(orders()).await.unwrap();
        });
        let mut acknowledged = BTreeMap::new();
        for kill in first..kills.min(first + KILLS) {
            let durability = ["durable", "relaxed"][kill % 2];
            let count = 1 + SystemRandom.next_u64() as usize % 400;
            write_and_kill(&path, durability, count, &mut acknowledged);
            runtime.block_on(verify(&path, &mut acknowledged));
        }
    }
}

/// Verifies the file. A write that is found counts as acknowledged afterwards, because it must not
/// disappear again.
async fn verify(path: &Path, acknowledged: &mut BTreeMap<usize, i64>) {
    let report = checked(path).await;
    assert_eq!(report.problems, Vec::<String>::new());
    let store = open(path).await;
    let numbers = async |name: String| -> Vec<i64> {
        use futures::TryStreamExt;
        let query = Query::new("orders", attr("pk").eq(name));
        let items: Vec<Item> = store.query_items(query).try_collect().await.expect("pages");
        items.iter().map(number_of).collect()
    };
    for (writer, last) in acknowledged.iter_mut() {
        let mut present = numbers(format!("w{writer}")).await;
        let twins = numbers(format!("w{writer}-twin")).await;
        let counter = present.first().copied().filter(|number| *number == -1);
        present.retain(|number| *number > 0);
        // All acknowledged writes, and at most the one that was in flight.
        let newest = present.last().copied().unwrap_or(0);
        assert_eq!(present, (1..=newest).collect::<Vec<_>>(), "writer {writer} has gaps");
        assert!(
            newest == *last || newest == *last + 1,
            "writer {writer}: {newest}, acknowledged {last}"
        );
        *last = newest;
        // A transaction is applied as a whole or not at all.
        let odd: Vec<i64> = present.iter().copied().filter(|number| number % 2 == 1).collect();
        assert_eq!(twins, odd, "writer {writer}");
        if counter.is_some() {
            let key = item! { "pk" => format!("w{writer}"), "sk" => -1 };
            let found = store.get(GetItem::new("orders", key)).await.expect("a response").item;
            let count = found.and_then(|item| item.get("n").and_then(|n| n.as_number()));
            assert_eq!(count, Some((odd.len() as i64).into()), "writer {writer}");
        }
    }
}
