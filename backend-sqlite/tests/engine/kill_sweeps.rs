//! Processes that are killed during a sweep: every deletion has its stream record, no item is
//! deleted before it expires, and the next process continues the sweep.
//!
//! `TABLA_KILLS` is the number of kills, 50 by default.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt;
use tabla_core::env::{Clock, Env, Monotonic, Random, Sleep, SystemClock, SystemRandom, Timestamp};
use tabla_core::ops::*;
use tabla_core::{Item, Store, StoreExt, Update, attr, item};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

use crate::support::*;

const KILLS: usize = 50;
/// Kills per file. The whole file is verified after each.
const KILLS_OF_A_FILE: usize = 10;
const WRITERS: u64 = 8;
/// Environment variable that marks the child process of a test; its value is the durability, the
/// seconds by which its clock is ahead, and the path of the file.
const CHILD: &str = "TABLA_TEST_SWEEPER";
/// Time by which each child's clock is ahead of the one before: that one's lease has expired.
const AHEAD: Duration = Duration::from_secs(40);
const YEAR: u64 = 365 * 24 * 60 * 60;

type Key = (String, i64);

/// System clock that is ahead by this duration.
#[derive(Debug)]
struct Ahead(Duration);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now() + self.0
    }

    fn monotonic(&self) -> Monotonic {
        SystemClock.monotonic()
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(async move { SystemClock.sleep(duration).await })
    }
}

async fn open_ahead(path: &Path, durability: &str, ahead: Duration) -> SqliteStore {
    let durability = match durability {
        "durable" => Durability::Durable,
        _ => Durability::Relaxed,
    };
    let config = SqliteConfig::file(path)
        .with_durability(durability)
        .with_wal_pages(200)
        .with_sweep_every(Some(Duration::from_millis(5)));
    let env = Env::system().with_clock(Arc::new(Ahead(ahead)));
    SqliteStore::open_with(&config, env).await.expect("a store")
}

/// Writes items that expire at once and items that last, extends expired ones, and prints each
/// acknowledged write, until the process is killed.
async fn write_forever(path: &Path, durability: &str, ahead: Duration) {
    let store = open_ahead(path, durability, ahead).await;
    let first = SystemRandom.next_u64() >> 24;
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let store = store.clone();
        tasks.spawn(async move {
            for number in first.. {
                let kind = write(&store, &format!("w{writer}"), number as i64, ahead).await;
                // One call per line, so that a kill does not leave part of a line.
                let line = format!("ack {kind} w{writer} {number}\n");
                std::io::stdout().lock().write_all(line.as_bytes()).expect("a parent that reads");
            }
        });
    }
    tasks.join_all().await;
}

/// Writes an item; returns whether it expires or lasts.
async fn write(store: &SqliteStore, pk: &str, number: i64, ahead: Duration) -> &'static str {
    let now = Ahead(ahead).now().as_secs();
    let put = async |item: Item| {
        store.put(PutItem::new("orders", item)).await.expect("a put");
    };
    let lasting = order(pk, number, "open");
    let expired = lasting.clone().with("expires", now - 1);
    match number % 4 {
        0 => put(lasting).await,
        1 => {
            put(expired).await;
            return "expires";
        }
        2 => {
            put(expired).await;
            put(lasting).await;
        }
        _ => {
            put(expired).await;
            let put_off = UpdateItem::new("orders", item! { "pk" => pk, "sk" => number })
                .update(Update::new().set("expires", now + YEAR))
                .condition(attr("pk").exists());
            match store.update(put_off).await {
                Err(error) if error.is_condition_failed() => return "expires",
                outcome => outcome.map(|_| ()).expect("an update"),
            }
        }
    }
    "lasts"
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_that_sweeps() {
    let Ok(text) = std::env::var(CHILD) else { return };
    let [durability, ahead, path] = text.splitn(3, ' ').collect::<Vec<_>>()[..] else {
        panic!("{CHILD} must be a durability, seconds and a path: {text}");
    };
    let ahead = Duration::from_secs(ahead.parse().expect("a number of seconds"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(write_forever(path.as_ref(), durability, ahead));
}

/// Items whose writes were acknowledged.
#[derive(Default)]
struct Acknowledged {
    lasting: BTreeSet<Key>,
    expiring: BTreeSet<Key>,
}

/// Starts a child that writes and sweeps, and kills it after a number of acknowledged writes.
fn sweep_and_kill(
    path: &Path,
    durability: &str,
    ahead: Duration,
    count: usize,
    acknowledged: &mut Acknowledged,
) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "kill_sweeps::child_that_sweeps", "--nocapture", "--test-threads=1"])
        .env(CHILD, format!("{durability} {} {}", ahead.as_secs(), path.display()))
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut killed = false;
    let mut seen = 0;
    let lines = BufReader::new(child.stdout.take().expect("piped output")).lines();
    for line in lines.map_while(Result::ok) {
        // The child's test runner prints a prefix without a line end before the first
        // acknowledgment.
        if let Some((_, acknowledgment)) = line.split_once("ack ")
            && let [what, pk, number] = acknowledgment.split(' ').collect::<Vec<_>>()[..]
            && let Ok(number) = number.parse()
        {
            let keys = if what == "lasts" {
                &mut acknowledged.lasting
            } else {
                &mut acknowledged.expiring
            };
            keys.insert((pk.to_owned(), number));
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

fn key_of(item: &Item) -> Key {
    let number = item.get("sk").and_then(|sk| sk.as_number()).expect("a sort key");
    let pk = item.get("pk").and_then(|pk| pk.as_str()).expect("a partition key");
    (pk.to_owned(), number.to_i64().expect("a small number"))
}

fn expiry_of(item: &Item) -> Option<u64> {
    item.get("expires").and_then(|time| time.as_number()).and_then(|time| time.to_u64())
}

/// Verifies the file; returns the number of deletions in its stream.
async fn verify(path: &Path, acknowledged: &Acknowledged) -> usize {
    let report = checked(path).await;
    assert_eq!(report.problems, Vec::<String>::new());
    let store = SqliteStore::open(&SqliteConfig::file(path).with_sweep_every(None)).await;
    let store = store.expect("a store");
    let items: Vec<Item> =
        store.scan_items(Scan::new("orders")).try_collect().await.expect("items");
    let present: BTreeSet<Key> = items.iter().map(key_of).collect();
    let mut deletions = 0;
    let mut recorded: BTreeMap<Key, bool> = BTreeMap::new();
    for record in records(&store).await {
        let key = key_of(&record.keys);
        let is_there = recorded.entry(key.clone()).or_default();
        match record.event_name {
            EventName::Insert => assert!(!*is_there, "{key:?} was inserted twice"),
            EventName::Modify => assert!(*is_there, "{key:?} was changed but did not exist"),
            EventName::Remove => {
                assert!(*is_there, "{key:?} was deleted twice");
                assert_eq!(record.user_identity, Some(UserIdentity::time_to_live()));
                let expired = record.old_image.as_ref().and_then(expiry_of);
                let expired = expired.expect("a deleted item that expires");
                assert!(expired < record.created_at.as_secs(), "{key:?} was deleted too early");
                deletions += 1;
            }
        }
        *is_there = record.event_name != EventName::Remove;
    }
    // The stream records add up to the stored items: no deletion lacks its record.
    recorded.retain(|_, is_there| *is_there);
    assert_eq!(recorded.into_keys().collect::<BTreeSet<_>>(), present);
    let lost: Vec<_> = acknowledged.lasting.difference(&present).collect();
    assert_eq!(lost, Vec::<&Key>::new(), "items were deleted before they expired");
    deletions
}

/// Lets a store that is not killed take over the lease and delete the expired items that are left.
async fn finish(path: &Path, ahead: Duration, acknowledged: &Acknowledged) {
    let store = open_ahead(path, "relaxed", ahead).await;
    let swept = tokio::time::timeout(Duration::from_secs(60), store.wait_for_sweeps(1)).await;
    assert_eq!(swept.expect("a sweep after the takeover of the lease").problem, None);
    drop(store);
    verify(path, acknowledged).await;
    let store = open(path).await;
    for (pk, number) in &acknowledged.expiring {
        let key = item! { "pk" => pk.as_str(), "sk" => *number };
        assert_eq!(store.get_item("orders", key).await.expect("a response"), None);
    }
}

#[test]
fn killed_sweep_is_continued_without_losing_records_or_items() {
    let kills = std::env::var("TABLA_KILLS").map_or(KILLS, |text| text.parse().expect("a number"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut deletions = 0;
    for first in (0..kills).step_by(KILLS_OF_A_FILE) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        runtime.block_on(async {
            let store = open(&path).await;
            let create = orders().stream(StreamViewType::NewAndOldImages);
            store.create_table(create).await.unwrap();
            let expire = UpdateTimeToLive::new("orders", "expires", true);
            store.update_time_to_live(expire).await.unwrap();
        });
        let mut acknowledged = Acknowledged::default();
        let mut found = 0;
        let mut ahead = Duration::ZERO;
        for kill in first..kills.min(first + KILLS_OF_A_FILE) {
            let durability = ["durable", "relaxed"][kill % 2];
            let count = 1 + SystemRandom.next_u64() as usize % 300;
            sweep_and_kill(&path, durability, ahead, count, &mut acknowledged);
            found = runtime.block_on(verify(&path, &acknowledged));
            ahead += AHEAD;
        }
        deletions += found;
        runtime.block_on(finish(&path, ahead, &acknowledged));
    }
    assert!(deletions > kills, "{deletions} deletions: no kill happened during a sweep");
}
