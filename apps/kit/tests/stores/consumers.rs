//! Consumers of a stream in processes that are killed, again and again, while others write: nothing
//! is lost, the changes of an item come in order, and an effect that is made once for each event id
//! is made once.
//!
//! `TABLA_KILLS` says how often; the long form is 50. The stores fail as well, in every way that
//! passes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use async_trait::async_trait;
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use tabla::consumer::{Consumer, Failure, Handler};
use tabla::env::{Clock, Random, SeededRandom, SystemClock, SystemRandom};
use tabla::ops::*;
use tabla::{
    CancellationCode, Error, Item, KeyType, Result, RetryPolicy, Store, StoreExt, Update, attr,
    item,
};
use tabla_conformance::fault::{Failures, FaultStore};

use crate::places::{Place, server};

const ITEMS: u64 = 8;
const LEASE: Duration = Duration::from_millis(600);
/// The most of each failure, as a part of all calls.
const MOST: f64 = 0.02;
/// How many consumers there are at a time.
const CONSUMERS: usize = 2;
/// Gives a child its part, and makes one of this test.
const CHILD: &str = "TABLA_TEST_CONSUMER";
/// What stands before an effect in the output of a child.
const DID: &str = "did ";
/// How long the parent waits for an effect at most.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Serialize, Deserialize)]
struct Part {
    place: Place,
    seed: u64,
}

/// Makes an effect of every change: an item for its event, and the number of the change as the last
/// of its item, on the condition that it follows the one before.
struct Effects {
    store: Arc<dyn Store>,
}

impl Effects {
    async fn make(&self, record: &Record) -> Result<(), Failure> {
        let image = record.new_image.as_ref().ok_or("no image")?;
        let pk = image.get("pk").and_then(|pk| pk.as_str()).ok_or("no key")?;
        let n: u64 = image.get("n").ok_or("no number")?.to_struct()?;
        let event = item! { "pk" => format!("event#{}", record.event_id), "of" => pk, "n" => n };
        let put = PutItem::new("effects", event).condition(attr("pk").not_exists());
        let follows = match n {
            1 => attr("n").not_exists(),
            _ => attr("n").eq(n - 1),
        };
        let last = UpdateItem::new("effects", item! { "pk" => format!("last#{pk}") })
            .update(Update::new().set("n", n))
            .condition(follows);
        let both = TransactWriteItems::new().item(put).item(last);
        let Err(error) = self.store.transact_write(both).await else { return Ok(()) };
        let codes: Vec<CancellationCode> =
            error.cancellation_reasons().iter().map(|reason| reason.code).collect();
        match codes[..] {
            // The event has had its effect.
            [CancellationCode::ConditionalCheckFailed, _] => Ok(()),
            [_, CancellationCode::ConditionalCheckFailed] => {
                Err(Failure::stop(format!("change {n} of {pk} does not follow the one before")))
            }
            _ => Err(error.into()),
        }
    }
}

#[async_trait]
impl Handler for Effects {
    async fn handle(&self, record: &Record) -> Result<(), Failure> {
        self.make(record).await?;
        // One write per line, so that a line is there or not.
        let line = format!("{DID}{}\n", record.event_id);
        std::io::stdout().lock().write_all(line.as_bytes()).map_err(Failure::stop)
    }
}

/// Only a child does anything here: it consumes until it is killed.
#[test]
fn child_that_consumes() {
    let Ok(part) = std::env::var(CHILD) else { return };
    let Part { place, seed } = serde_json::from_str(&part).expect("a part");
    runtime().block_on(async {
        let failures = Failures::transient(Arc::new(SeededRandom::new(seed)), MOST);
        let store: Arc<dyn Store> =
            Arc::new(FaultStore::new(place.open().await).failures(failures));
        let effects =
            Effects { store: Arc::new(Arc::clone(&store).with_retries(RetryPolicy::default())) };
        let end = consumer(store).run(&effects, std::future::pending()).await;
        panic!("it ended by itself: {end:?}");
    });
}

fn consumer(store: Arc<dyn Store>) -> Consumer {
    let poll = Duration::from_millis(20);
    Consumer::new(store, "mailer", "orders")
        .lease_duration(LEASE)
        .poll_interval(poll)
        .batch_size(5)
        .max_attempts(100)
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime")
}

/// What is heard of a child.
enum Heard {
    Did { child: u64 },
    Ended { child: u64 },
}

/// A child, which ends with this.
struct Process {
    number: u64,
    child: Child,
}

impl Process {
    fn start(place: &Place, number: u64, heard: &Sender<Heard>) -> Self {
        let part = Part { place: place.clone(), seed: number };
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "consumers::child_that_consumes", "--nocapture", "--test-threads=1"])
            .env(CHILD, serde_json::to_string(&part).expect("plain data"))
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.expect("a child");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let heard = heard.clone();
        std::thread::spawn(move || {
            // Nobody listens any more when the test has ended.
            for line in lines.map_while(std::io::Result::ok).filter(|line| line.contains(DID)) {
                let _ = heard.send(Heard::Did { child: number });
                drop(line);
            }
            let _ = heard.send(Heard::Ended { child: number });
        });
        Self { number, child }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Listens until so many effects were made, and tells which child made the last one.
fn listen(heard: &Receiver<Heard>, children: &[Process], effects: u64) -> u64 {
    let mut left = effects;
    loop {
        match heard.recv_timeout(PATIENCE).expect("somebody handles what was written") {
            Heard::Did { child } => {
                left = left.saturating_sub(1);
                // Those of a child that was killed are heard late.
                if left == 0 && children.iter().any(|process| process.number == child) {
                    return child;
                }
            }
            Heard::Ended { child } => {
                let is_living = children.iter().any(|process| process.number == child);
                assert!(!is_living, "child {child} ended by itself");
            }
        }
    }
}

/// Writes the next change of every item, so often.
async fn write(store: &dyn Store, changes: std::ops::RangeInclusive<u64>) -> Result<()> {
    for n in changes {
        for item in 0..ITEMS {
            let item = item! { "pk" => format!("item-{item}"), "n" => n };
            store.put(PutItem::new("orders", item)).await?;
        }
    }
    Ok(())
}

async fn effects(store: &dyn Store) -> Result<Vec<Item>> {
    store.scan_items(Scan::new("effects").consistent_read(true)).try_collect().await
}

/// All effects, once there are as many as changes were written.
async fn all_effects(store: &dyn Store, written: u64) -> Result<Vec<Item>> {
    let end = SystemClock.now() + PATIENCE;
    loop {
        let found = effects(store).await?;
        if found.len() as u64 >= written * ITEMS + ITEMS || SystemClock.now() > end {
            return Ok(found);
        }
        SystemClock.sleep(Duration::from_millis(100)).await;
    }
}

async fn create_tables(store: &dyn Store) -> Result<()> {
    let orders = CreateTable::new("orders").partition_key("pk", KeyType::S);
    store.create_table(orders.stream(StreamViewType::NewImage)).await?;
    store.create_table(CreateTable::new("effects").partition_key("pk", KeyType::S)).await?;
    Ok(())
}

/// Kills so many consumers, each in the middle of something, while changes are written.
fn survives(place: &Place, kills: u64) {
    let asked = std::env::var("TABLA_KILLS");
    let kills = asked.map_or(kills, |text| text.parse().expect("a number"));
    let runtime = runtime();
    let store = runtime.block_on(place.open());
    runtime.block_on(create_tables(&*store)).expect("tables");
    let (tell, heard) = channel();
    let mut numbers = 1..;
    let mut start = || Process::start(place, numbers.next().expect("endless"), &tell);
    let mut children: Vec<Process> = (0..CONSUMERS).map(|_| start()).collect();
    const ROUND: u64 = 3;
    let mut written = 0;
    for _ in 0..kills {
        let changes = written + 1..=written + ROUND;
        written += ROUND;
        let writing = runtime.spawn({
            let store = Arc::clone(&store);
            async move { write(&*store, changes).await }
        });
        // Whoever makes this effect is killed: it has a shard, and most likely a batch at hand.
        let after = 1 + SystemRandom.next_u64() % (ROUND * ITEMS);
        let victim = listen(&heard, &children, after);
        children.retain(|process| process.number != victim);
        children.push(start());
        runtime.block_on(writing).expect("no panic").expect("a write");
    }
    let check = async {
        let found = all_effects(&*store, written).await?;
        let number = |item: &Item| -> Result<u64> {
            item.get("n").ok_or_else(|| Error::corrupt("an effect without a number"))?.to_struct()
        };
        let key = |item: &Item| item.get("pk").and_then(|pk| pk.as_str()).map(str::to_owned);
        let mut events = 0;
        for item in &found {
            let key = key(item).expect("a key");
            match key.starts_with("last#") {
                true => assert_eq!(number(item)?, written, "the last change of {key}"),
                false => events += 1,
            }
        }
        assert_eq!(events, written * ITEMS, "each event has its effect, once");
        let status = consumer(Arc::clone(&store)).status().await?.expect("it was run");
        let aside: u64 = status.shards.iter().map(|shard| shard.set_aside).sum();
        assert_eq!((aside, status.gaps), (0, 0));
        Ok::<_, Error>(())
    };
    runtime.block_on(check).expect("the effects can be read");
    drop(children);
    drop(store);
    let problems = runtime.block_on(place.problems());
    assert_eq!(problems, Vec::<String>::new());
    runtime.block_on(place.clear());
}

#[test]
fn consumers_on_sqlite_survive_kills() {
    let folder = tempfile::tempdir().expect("a folder");
    survives(&Place::file(folder.path(), "consumers.db"), 6);
}

#[test]
fn consumers_on_dynamodb_local_survive_kills() {
    let Some(server) = server("consumers that survive kills") else { return };
    survives(&Place::server(&server), 3);
}
