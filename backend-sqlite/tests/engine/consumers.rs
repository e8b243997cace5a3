//! Consumers: workers with separate stores on one file.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tabla_consumer::{Consumer, Failure, Handler, Start, each};
use tabla_core::env::{Clock, Env, ManualClock, Timestamp};
use tabla_core::ops::*;
use tabla_core::{KeyType, Store, item};
use tabla_sqlite::{SqliteConfig, SqliteStore};

const LEASE: Duration = Duration::from_secs(30);

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_secs(1_800_000_000))
}

async fn open_at(path: &Path, clock: &ManualClock, seed: u64) -> Arc<SqliteStore> {
    let config = SqliteConfig::file(path).with_sweep_every(None);
    let store = SqliteStore::open_with(&config, Env::test(clock.clone(), seed)).await;
    Arc::new(store.expect("a store"))
}

fn mailer(store: &Arc<SqliteStore>, clock: &ManualClock, seed: u64) -> Consumer {
    let store: Arc<dyn Store> = store.clone();
    Consumer::new(store, "mailer", "orders")
        .lease_duration(LEASE)
        .env(Env::test(clock.clone(), seed))
}

async fn write(store: &dyn Store, numbers: std::ops::RangeInclusive<u32>) {
    for number in numbers {
        let item = item! { "pk" => "a", "n" => number };
        store.put(PutItem::new("orders", item)).await.expect("a put");
    }
}

async fn create(store: &dyn Store) {
    let table = CreateTable::new("orders").partition_key("pk", KeyType::S);
    store.create_table(table.stream(StreamViewType::NewImage)).await.expect("a table");
}

fn number(record: &Record) -> u32 {
    let image = record.new_image.as_ref().expect("an image");
    image.get("n").expect("a number").to_struct().expect("a small one")
}

/// Handler that collects the numbers of records. At the first one it blocks its thread until
/// another worker has drained the table.
struct Blocking {
    seen: Arc<Mutex<Vec<u32>>>,
    clock: ManualClock,
    other: Consumer,
    others: Arc<Mutex<Vec<u32>>>,
}

#[async_trait]
impl Handler for Blocking {
    async fn handle(&self, record: &Record) -> Result<(), Failure> {
        if self.others.lock().expect("no panic").is_empty() {
            self.clock.advance(3 * LEASE);
            let others = each(|record| {
                self.others.lock().expect("no panic").push(number(&record));
                async { Ok(()) }
            });
            std::thread::scope(|scope| {
                let drain = || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build();
                    runtime.expect("a runtime").block_on(self.other.drain(&others))
                };
                scope.spawn(drain).join().expect("no panic")
            })?;
        }
        self.seen.lock().expect("no panic").push(number(record));
        Ok(())
    }
}

#[tokio::test]
async fn blocked_worker_begins_no_record_after_takeover_of_its_shard() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (own, others) = (clock(), clock());
    let one = open_at(&path, &own, 1).await;
    let two = open_at(&path, &others, 2).await;
    create(&*one).await;
    write(&*one, 1..=26).await;
    let handler = Blocking {
        seen: Arc::default(),
        clock: own.clone(),
        other: mailer(&two, &others, 4),
        others: Arc::default(),
    };
    mailer(&one, &own, 3).drain(&handler).await.unwrap();
    assert_eq!(*handler.others.lock().unwrap(), (1..=26).collect::<Vec<_>>());
    assert_eq!(*handler.seen.lock().unwrap(), [1], "only the record in progress was finished");
}

#[tokio::test]
async fn consumer_from_latest_misses_no_record_of_a_writer_whose_clock_is_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (ahead, writers) = (clock(), clock());
    writers.step_back(Duration::from_secs(600));
    let writer = open_at(&path, &writers, 1).await;
    create(&*writer).await;
    write(&*writer, 1..=3).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let handler = each(|record| {
        seen.lock().expect("no panic").push(number(&record));
        async { Ok(()) }
    });
    for (round, numbers) in (1..).zip([4..=5, 6..=12]) {
        let store = open_at(&path, &ahead, 10 + round).await;
        let latest = mailer(&store, &ahead, round).start_from(Start::Latest);
        latest.drain(&handler).await.unwrap();
        write(&*writer, numbers).await;
        writers.step_back(Duration::from_secs(120));
        ahead.advance(Duration::from_secs(60));
    }
    let store = open_at(&path, &ahead, 20).await;
    mailer(&store, &ahead, 5).drain(&handler).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), (4..=12).collect::<Vec<_>>());
    assert!(writers.now() < ahead.now());
}
