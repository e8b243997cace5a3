//! Clocks that step back, or that differ from the clock of the writer.

use super::*;
use tabla_core::ErrorKind;
use tabla_core::env::{Clock, ManualClock};

const HOUR: Duration = Duration::from_secs(3600);

fn latest(fake: &Arc<Fake>, seed: u64) -> Consumer {
    consumer(fake, seed).start_from(Start::Latest)
}

/// Creates a separate clock, ahead of the clock of the streams.
fn ahead(fake: &Fake, by: Duration) -> ManualClock {
    ManualClock::new(fake.clock.now() + by)
}

/// Moves both clocks second by second and polls all tasks in between.
async fn pass_on_both(fake: &Fake, other: &ManualClock, time: Duration) {
    for _ in 0..time.as_secs() {
        other.advance(Duration::from_secs(1));
        pass(fake, Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn latest_processes_records_written_after_the_clock_stepped_back() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    let notes = Notes::new();
    latest(&fake, 1).drain(&notes).await.unwrap();
    (1..=3).for_each(|n| fake.write("s", "a", n));
    latest(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!(notes.of("a"), [1, 2, 3]);
    fake.clock.step_back(Duration::from_secs(120));
    (4..=10).for_each(|n| fake.write("s", "a", n));
    latest(&fake, 3).drain(&notes).await.unwrap();
    assert_eq!(notes.of("a"), (1..=10).collect::<Vec<_>>());
}

#[tokio::test]
async fn running_latest_processes_records_written_after_the_clock_stepped_back() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 0);
    let notes = Notes::new();
    let worker = Worker::start(latest(&fake, 1), &notes);
    settle(|| worker.metrics.lags().len() == 1).await;
    rest().await;
    (1..=3).for_each(|n| fake.write("s", "a", n));
    pass(&fake, Duration::from_secs(5)).await;
    assert_eq!(notes.of("a"), [1, 2, 3]);
    fake.clock.step_back(Duration::from_secs(120));
    (4..=10).for_each(|n| fake.write("s", "a", n));
    pass(&fake, Duration::from_secs(5)).await;
    assert_eq!(notes.of("a"), (1..=10).collect::<Vec<_>>());
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn latest_loses_nothing_with_a_clock_ahead_of_the_writers() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.add_shard("empty", None);
    fake.write("s", "a", 1);
    let clock = ahead(&fake, HOUR);
    let mailer = |seed| latest(&fake, seed).env(Env::test(clock.clone(), seed));
    let notes = Notes::new();
    // This registers the consumer, and ends without a record.
    mailer(1).drain(&notes).await.unwrap();
    (2..=4).for_each(|n| fake.write("s", "a", n));
    fake.write("empty", "b", 1);
    fake.add_shard("child", Some("s"));
    fake.write("child", "a", 5);
    fake.close("s");
    // Iterators expire before this.
    pass_on_both(&fake, &clock, HOUR / 2).await;
    mailer(2).drain(&notes).await.unwrap();
    assert_eq!((notes.of("a"), notes.of("b")), (vec![2, 3, 4, 5], vec![1]));
}

#[tokio::test]
async fn latest_begins_at_the_same_record_for_every_later_worker() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    // More than a page of records, all older than the registration.
    (1..=250).for_each(|n| fake.write("s", "a", n));
    let notes = Notes::new();
    latest(&fake, 1).drain(&notes).await.unwrap();
    fake.write("s", "a", 251);
    latest(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!(notes.of("a"), [251]);
}

#[tokio::test]
async fn takeover_is_not_delayed_by_the_observers_clock_stepping_back() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    let notes = Notes::new();
    let first = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.of("a") == [1]).await;
    rest().await;
    let second = Worker::start(consumer(&fake, 2), &notes);
    rest().await;
    first.kill().await;
    fake.write("s", "a", 2);
    pass(&fake, LEASE / 2).await;
    fake.clock.step_back(HOUR);
    pass(&fake, LEASE).await;
    assert_eq!(notes.of("a"), [1, 2]);
    second.stop().await.unwrap();
}

#[tokio::test]
async fn owner_renews_its_lease_after_its_clock_stepped_back() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "slow", 1);
    let notes = Notes::new();
    let clock = ahead(&fake, Duration::ZERO);
    let owner = Worker::start(consumer(&fake, 1).env(Env::test(clock.clone(), 1)), &notes);
    settle(|| notes.at_work() == 1).await;
    let observer = Worker::start(consumer(&fake, 2), &notes);
    rest().await;
    clock.step_back(HOUR);
    pass_on_both(&fake, &clock, LEASE * 3).await;
    assert_eq!((notes.begun(), notes.at_work()), (1, 1), "no other worker took the shard");
    notes.gate.notify_one();
    settle(|| notes.handled().len() == 1).await;
    owner.stop().await.unwrap();
    observer.stop().await.unwrap();
}

#[tokio::test]
async fn gap_is_reported_after_a_worker_whose_clock_was_two_days_ahead() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    let notes = Notes::new();
    let clock = ahead(&fake, HOUR * 48);
    consumer(&fake, 1).env(Env::test(clock, 1)).drain(&notes).await.unwrap();
    fake.clock.advance(HOUR * 25);
    fake.write("s", "a", 2);
    fake.forget("s");
    fake.add_shard("t", Some("unseen"));
    fake.write("t", "a", 5);
    let error = consumer(&fake, 2).drain(&notes).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::TrimmedData);
    assert!(error.message().contains("23 hours ahead of this worker's clock"), "{error}");
    let going_on = consumer(&fake, 3).on_trimmed(OnTrimmed::Continue);
    going_on.drain(&notes).await.unwrap();
    assert_eq!(notes.of("a"), [1, 5]);
    let status = going_on.status().await.unwrap().unwrap();
    // One gap of the absence, one of the unfinished shard.
    assert_eq!(status.gaps, 2);
    // The gap is reported once.
    consumer(&fake, 4).drain(&notes).await.unwrap();
}

#[tokio::test]
async fn gap_of_a_shard_is_reported_after_a_worker_whose_clock_was_two_days_ahead() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    let notes = Notes::new();
    let clock = ahead(&fake, HOUR * 48);
    consumer(&fake, 1).env(Env::test(clock, 1)).drain(&notes).await.unwrap();
    fake.clock.advance(HOUR * 25);
    fake.write("s", "a", 2);
    fake.trim("s");
    fake.write("s", "a", 3);
    let going_on = consumer(&fake, 3).on_trimmed(OnTrimmed::Continue);
    going_on.drain(&notes).await.unwrap();
    assert_eq!(notes.of("a"), [1, 3]);
    let status = going_on.status().await.unwrap().unwrap();
    assert_eq!((status.gaps, status.shards[0].gaps), (1, 1));
}

/// The corrected clock overwrites the timestamp in the future.
#[tokio::test]
async fn absence_is_reported_after_a_running_worker_had_its_clock_set_back_two_days() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    let notes = Notes::new();
    let worker = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.of("a") == [1]).await;
    fake.clock.step_back(HOUR * 48);
    pass(&fake, LEASE).await;
    worker.stop().await.unwrap();
    fake.clock.advance(HOUR * 49);
    let error = consumer(&fake, 2).drain(&notes).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::TrimmedData);
    assert!(error.message().contains("no worker has run it for 49 hours"), "{error}");
}
