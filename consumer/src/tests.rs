//! Consumers on scripted streams, with a manual clock.

mod balance;
mod clocks;
mod drain;
mod fake;
mod laws;
mod leases;
mod lineage;
mod panics;
mod poison;
mod start;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::*;
use fake::{Fake, TABLE};
use tabla_core::Result;
use tabla_core::env::Env;
use tabla_core::ops::Record;

const LEASE: Duration = Duration::from_secs(30);

/// Creates a consumer of the fake store on its clock; workers of different seeds have
/// different ids.
fn consumer(fake: &Arc<Fake>, seed: u64) -> Consumer {
    Consumer::new(fake.clone(), "mailer", TABLE).env(Env::test(fake.clock.clone(), seed))
}

/// Record as a handler saw it: the item and the number of its change.
type Seen = (String, u64);

fn seen(record: &Record) -> Seen {
    let pk = record.keys.get("pk").and_then(|pk| pk.as_str()).expect("a key").to_owned();
    let image = record.new_image.as_ref().expect("an image");
    (pk, image.get("n").expect("a number").to_struct().expect("a number that fits"))
}

/// Handler that stores the records it has handled. By the start of an item's key, it fails (`bad`),
/// panics (`panic`), sets the record aside (`hopeless`), stops the consumer (`stop`), or waits
/// until the gate is opened (`slow`).
#[derive(Default)]
struct Notes {
    handled: Mutex<Vec<Seen>>,
    events: Mutex<Vec<String>>,
    begun: AtomicUsize,
    /// Items that are being handled. An item is in one shard at a time, so only one worker may
    /// handle it.
    busy: Mutex<BTreeSet<String>>,
    at_work: AtomicUsize,
    most_at_work: AtomicUsize,
    gate: Notify,
    /// Items that two workers handled at once. A consumer survives a panic of its handler, so the
    /// test fails only when the notes are dropped.
    crossed: Mutex<Vec<String>>,
}

impl Drop for Notes {
    fn drop(&mut self) {
        let crossed = self.crossed.lock().unwrap();
        assert!(
            crossed.is_empty() || std::thread::panicking(),
            "two workers handled {crossed:?} at once"
        );
    }
}

impl Notes {
    fn new() -> Arc<Self> {
        Arc::default()
    }

    fn handled(&self) -> Vec<Seen> {
        self.handled.lock().unwrap().clone()
    }

    /// Changes of one item, in the order in which they were handled.
    fn of(&self, pk: &str) -> Vec<u64> {
        self.handled().into_iter().filter(|(seen, _)| seen == pk).map(|(_, n)| n).collect()
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    fn at_work(&self) -> usize {
        self.at_work.load(Ordering::Relaxed)
    }
}

/// Guard of a running handler, which ends its count when the handler ends or is dropped.
struct AtWork<'n>(&'n Notes, String);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
        self.0.busy.lock().unwrap().remove(&self.1);
    }
}

#[async_trait]
impl Handler for Notes {
    async fn handle(&self, record: &Record) -> Result<(), Failure> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let at_work = self.at_work.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_at_work.fetch_max(at_work, Ordering::Relaxed);
        let (pk, n) = seen(record);
        if !self.busy.lock().unwrap().insert(pk.clone()) {
            self.crossed.lock().unwrap().push(pk.clone());
        }
        let _at_work = AtWork(self, pk.clone());
        match pk.as_str() {
            pk if pk.starts_with("slow") => self.gate.notified().await,
            pk if pk.starts_with("bad") => Err("a bad record")?,
            pk if pk.starts_with("panic") => panic!("a panicking record"),
            pk if pk.starts_with("hopeless") => return Err(Failure::set_aside("hopeless")),
            pk if pk.starts_with("stop") => return Err(Failure::stop("no disk")),
            _ => tokio::task::yield_now().await,
        }
        self.events.lock().unwrap().push(record.event_id.clone());
        self.handled.lock().unwrap().push((pk, n));
        Ok(())
    }
}

/// Running worker.
struct Worker {
    task: JoinHandle<Result<()>>,
    stop: watch::Sender<bool>,
    metrics: Metrics,
}

impl Worker {
    fn start(consumer: Consumer, handler: &Arc<Notes>) -> Self {
        let (stop, mut stopped) = watch::channel(false);
        let (handler, metrics) = (Arc::clone(handler), consumer.metrics());
        let task = tokio::spawn(async move {
            let stop = async move {
                let _ = stopped.wait_for(|stop| *stop).await;
            };
            consumer.run(&handler, stop).await
        });
        Self { task, stop, metrics }
    }

    /// Stops the worker and waits for its end.
    async fn stop(self) -> Result<()> {
        self.stop.send_replace(true);
        self.end().await
    }

    async fn end(self) -> Result<()> {
        settle(|| self.task.is_finished()).await;
        self.task.await.expect("the worker does not panic")
    }

    /// Ends the worker as a crash does.
    async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

/// Polls all tasks, without moving the clock, until the predicate holds.
async fn settle(mut holds: impl FnMut() -> bool) {
    for _ in 0..20_000 {
        if holds() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the predicate did not hold after 20000 polls");
}

/// Polls all tasks, without moving the clock.
async fn rest() {
    for _ in 0..500 {
        tokio::task::yield_now().await;
    }
}

/// Moves the clock second by second and polls all tasks in between.
async fn pass(fake: &Fake, time: Duration) {
    for _ in 0..time.as_secs() {
        fake.clock.advance(Duration::from_secs(1));
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
}

fn pairs(pk: &str, numbers: impl IntoIterator<Item = u64>) -> Vec<Seen> {
    numbers.into_iter().map(|n| (pk.to_owned(), n)).collect()
}
