//! Leases: renewal, expiry, takeover and release.

use super::*;
use futures::TryStreamExt;
use tabla_core::ops::{PutItem, Query};
use tabla_core::{ErrorKind, Item, RetryPolicy, Store, StoreExt, attr};

async fn entries(fake: &Fake) -> Vec<Item> {
    let query = Query::new(
        "tabla-consumers",
        attr("consumer").eq("mailer").and(attr("entry").begins_with("orders#shard#")),
    );
    fake.query_items(query).try_collect().await.unwrap()
}

async fn owner(fake: &Fake) -> Option<String> {
    let entries = entries(fake).await;
    entries[0].get("owner").and_then(|owner| owner.as_str()).map(str::to_owned)
}

async fn one_shard() -> (Arc<Fake>, Arc<Notes>) {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    (fake, Notes::new())
}

#[tokio::test]
async fn shard_of_a_dead_worker_is_taken_after_its_lease() {
    let (fake, notes) = one_shard().await;
    fake.write("s", "a", 1);
    let first = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.of("a") == [1]).await;
    rest().await;
    let second = Worker::start(consumer(&fake, 2), &notes);
    rest().await;
    let dead = owner(&fake).await;
    first.kill().await;
    fake.write("s", "a", 2);
    pass(&fake, LEASE - Duration::from_secs(1)).await;
    assert_eq!(notes.of("a"), [1], "the lease has not expired");
    pass(&fake, LEASE / 2).await;
    assert_eq!(notes.of("a"), [1, 2]);
    assert_ne!(owner(&fake).await, dead);
    second.stop().await.unwrap();
    assert_eq!(owner(&fake).await, None);
}

#[tokio::test]
async fn stopped_worker_finishes_its_record_and_releases_the_shard() {
    let (fake, notes) = one_shard().await;
    for (n, pk) in (1..).zip(["a", "slow", "a"]) {
        fake.write("s", pk, n);
    }
    let first = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.begun() == 2).await;
    first.stop.send_replace(true);
    rest().await;
    assert!(!first.task.is_finished(), "the current record is finished first");
    notes.gate.notify_one();
    first.end().await.unwrap();
    assert_eq!(notes.handled(), [("a".to_owned(), 1), ("slow".to_owned(), 2)]);
    assert_eq!(owner(&fake).await, None);
    // No record is repeated, and the second worker does not wait for a lease.
    let second = Worker::start(consumer(&fake, 2), &notes);
    settle(|| notes.handled().len() == 3).await;
    assert_eq!(notes.of("a"), [1, 3]);
    second.stop().await.unwrap();
    let status = consumer(&fake, 3).status().await.unwrap().unwrap();
    assert_eq!((status.shards[0].handled, status.workers), (3, vec![]));
}

#[tokio::test]
async fn lease_is_renewed_while_a_handler_is_slow() {
    let (fake, notes) = one_shard().await;
    fake.write("s", "slow", 1);
    let first = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.begun() == 1).await;
    let second = Worker::start(consumer(&fake, 2), &notes);
    pass(&fake, LEASE * 10).await;
    assert_eq!((notes.begun(), notes.at_work()), (1, 1));
    notes.gate.notify_one();
    settle(|| notes.handled().len() == 1).await;
    first.stop().await.unwrap();
    second.stop().await.unwrap();
    assert_eq!(notes.begun(), 1);
}

#[tokio::test]
async fn worker_without_its_lease_drops_the_handler_and_writes_nothing() {
    let (fake, notes) = one_shard().await;
    fake.write("s", "a", 1);
    fake.write("s", "slow", 2);
    let first = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.begun() == 2).await;
    // Another worker writes the entry, as in a takeover.
    let mut entry = entries(&fake).await.remove(0);
    entry.insert("owner", "other-worker");
    entry.insert("counter", 100);
    fake.put(PutItem::new("tabla-consumers", entry.clone())).await.unwrap();
    pass(&fake, LEASE / 2).await;
    assert_eq!(notes.at_work(), 0, "the handler was dropped");
    assert_eq!(entries(&fake).await, [entry]);
    assert_eq!(first.metrics.leases_lost(), 1);
    // The other worker never renews its lease, so the first one takes the shard back and handles
    // the record.
    pass(&fake, LEASE * 2).await;
    settle(|| notes.at_work() == 1).await;
    notes.gate.notify_one();
    settle(|| notes.of("slow") == [2]).await;
    first.stop().await.unwrap();
}

#[tokio::test]
async fn worker_that_cannot_renew_stops_before_its_lease_expires() {
    let (fake, notes) = one_shard().await;
    fake.write("s", "slow", 1);
    let worker = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.begun() == 1).await;
    rest().await;
    fake.writes_fail.store(true, Ordering::Relaxed);
    pass(&fake, LEASE * 8 / 10).await;
    assert_eq!(notes.at_work(), 1, "the lease has not expired");
    pass(&fake, LEASE / 10).await;
    assert_eq!(notes.at_work(), 0);
    // After its attempts, the worker gives up with the error of the store.
    pass(&fake, LEASE * 2).await;
    let error = worker.end().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
}

/// Handler that blocks its thread while another worker takes the shard over and handles all
/// its records.
struct Blocking {
    notes: Arc<Notes>,
    other: Consumer,
    others: Arc<Notes>,
}

#[async_trait]
impl Handler for Blocking {
    async fn handle(&self, record: &Record) -> Result<(), Failure> {
        if seen(record).1 == 1 && self.others.handled().is_empty() {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
                    runtime.block_on(self.other.drain(&self.others)).map_err(std::io::Error::other)
                });
                other.join().expect("the thread does not panic").expect("the drain succeeds");
            });
        }
        // This handler never awaits, so no other task runs.
        self.notes.handled.lock().unwrap().push(seen(record));
        Ok(())
    }
}

#[tokio::test]
async fn no_record_is_started_after_a_blocked_thread_lost_its_lease() {
    let (fake, notes) = one_shard().await;
    (1..=26).for_each(|n| fake.write("s", "a", n));
    let others = Notes::new();
    let other = consumer(&fake, 2);
    let handler = Blocking { notes: Arc::clone(&notes), other, others: Arc::clone(&others) };
    let first = consumer(&fake, 1);
    first.drain(&handler).await.unwrap();
    assert_eq!(others.of("a"), (1..=26).collect::<Vec<_>>());
    assert_eq!(notes.of("a"), [1], "only the current record was finished");
    assert_eq!(first.metrics().leases_lost(), 1);
}

/// Each record takes three lease durations, and no other worker takes the shard.
#[tokio::test]
async fn expired_lease_without_a_takeover_is_renewed() {
    let (fake, notes) = one_shard().await;
    (1..=5).for_each(|n| fake.write("s", "a", n));
    let (clock, inner) = (fake.clock.clone(), Arc::clone(&notes));
    let handler = each(move |record| {
        clock.advance(LEASE * 3);
        let inner = Arc::clone(&inner);
        async move { inner.handle(&record).await }
    });
    consumer(&fake, 1).drain(&handler).await.unwrap();
    assert_eq!(notes.of("a"), [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn drain_takes_shards_of_dead_workers_and_leaves_those_of_live_ones() {
    let (fake, notes) = one_shard().await;
    fake.write("s", "a", 1);
    let first = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.of("a") == [1]).await;
    rest().await;
    first.kill().await;
    fake.write("s", "a", 2);
    let before = fake.clock.sleeps().len();
    let drained = consumer(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!((drained.handled, drained.leased_elsewhere), (1, 0));
    let slept: Duration = fake.clock.sleeps()[before..].iter().sum();
    assert_eq!(slept, LEASE);

    fake.write("s", "slow", 3);
    let second = Worker::start(consumer(&fake, 3), &notes);
    settle(|| notes.at_work() == 1).await;
    let other = Notes::new();
    // The waits of the drain must not advance the clock that the other worker's renewals depend on.
    let policy = RetryPolicy::default().with_env(Env::test(fake.clock.clone(), 4));
    let drain = tokio::spawn({
        let consumer = consumer(&fake, 4).retry_policy(background_clock::in_background(&policy));
        let other = Arc::clone(&other);
        async move { consumer.drain(&other).await }
    });
    pass(&fake, LEASE).await;
    settle(|| drain.is_finished()).await;
    assert_eq!(
        drain.await.unwrap().unwrap(),
        DrainReport { leased_elsewhere: 1, ..DrainReport::default() }
    );
    assert_eq!(other.begun(), 0);
    notes.gate.notify_one();
    second.stop().await.unwrap();
}

#[tokio::test]
async fn concurrency_limits_reads_and_handlers() {
    let fake = Fake::new().await;
    for shard in ["a", "b", "c", "d", "e"] {
        fake.add_shard(shard, None);
        (1..=10).for_each(|n| fake.write(shard, &format!("slow-{shard}"), n));
    }
    let notes = Notes::new();
    let worker = Worker::start(consumer(&fake, 1).concurrency(2).batch_size(3), &notes);
    settle(|| notes.at_work() == 2).await;
    rest().await;
    assert_eq!((notes.begun(), fake.reads.load(Ordering::Relaxed)), (2, 2));
    // Every shard gets its turn.
    for handled in 1..=50 {
        settle(|| notes.at_work() > 0).await;
        notes.gate.notify_one();
        settle(|| notes.handled().len() == handled).await;
    }
    assert_eq!(notes.most_at_work.load(Ordering::Relaxed), 2);
    for shard in ["a", "b", "c", "d", "e"] {
        assert_eq!(notes.of(&format!("slow-{shard}")), (1..=10).collect::<Vec<_>>());
    }
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn expired_iterator_is_renewed_after_the_last_handled_record() {
    let (fake, notes) = one_shard().await;
    for (n, pk) in (1..).zip(["slow", "a", "a", "a"]) {
        fake.write("s", pk, n);
    }
    let worker = Worker::start(consumer(&fake, 1).batch_size(2), &notes);
    settle(|| notes.begun() == 1).await;
    pass(&fake, Duration::from_secs(20 * 60)).await;
    notes.gate.notify_one();
    settle(|| notes.handled().len() == 4).await;
    assert_eq!(notes.of("a"), [2, 3, 4]);
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn lag_is_the_age_of_the_last_record_and_zero_at_the_end() {
    let (fake, notes) = one_shard().await;
    fake.write("s", "a", 1);
    fake.write("s", "slow", 2);
    fake.clock.advance(Duration::from_secs(100));
    let worker = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.begun() == 2).await;
    assert_eq!(worker.metrics.lag(), Duration::from_secs(100));
    pass(&fake, LEASE / 3).await;
    assert_eq!(worker.metrics.lag(), Duration::from_secs(110));
    rest().await;
    let status = || async { consumer(&fake, 2).status().await.unwrap().unwrap() };
    assert_eq!(status().await.lag(), Duration::from_secs(110));
    notes.gate.notify_one();
    settle(|| worker.metrics.lag() == Duration::ZERO).await;
    assert_eq!(worker.metrics.lags().len(), 1);
    pass(&fake, LEASE).await;
    assert_eq!(status().await.lag(), Duration::ZERO);
    assert_eq!(worker.metrics.handled(), 2);
    worker.stop().await.unwrap();
    let shard = status().await.shards.remove(0);
    assert_eq!((shard.handled, shard.lag, shard.owner), (2, Duration::ZERO, None));
}
