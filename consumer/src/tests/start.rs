//! Where a consumer begins, and what it does when it comes too late.

use super::*;
use tabla_core::ops::{CreateTable, DeleteTable};
use tabla_core::{ErrorKind, KeyType, MemoryStore, Store};

const HOUR: Duration = Duration::from_secs(3600);

fn latest(fake: &Arc<Fake>, seed: u64) -> Consumer {
    consumer(fake, seed).start_from(Start::Latest)
}

#[tokio::test]
async fn latest_begins_after_the_registration() {
    let fake = Fake::new().await;
    fake.add_shard("old", None);
    fake.write("old", "a", 1);
    fake.close("old");
    fake.add_shard("s", Some("old"));
    fake.write("s", "a", 2);
    let notes = Notes::new();
    let worker = Worker::start(latest(&fake, 1), &notes);
    settle(|| worker.metrics.lags().len() == 1).await;
    rest().await;
    fake.write("s", "a", 3);
    fake.add_shard("next", Some("s"));
    fake.write("next", "a", 4);
    fake.close("s");
    pass(&fake, LEASE).await;
    assert_eq!(notes.of("a"), [3, 4]);
    worker.stop().await.unwrap();
    // Only the first run decides.
    let drained = consumer(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!(drained.handled, 0);
}

#[tokio::test]
async fn nothing_after_the_registration_is_lost_with_its_worker() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    pass(&fake, Duration::from_secs(70)).await;
    let notes = Notes::new();
    let worker = Worker::start(latest(&fake, 1), &notes);
    settle(|| worker.metrics.lags().len() == 1).await;
    rest().await;
    worker.kill().await;
    fake.write("s", "a", 2);
    fake.add_shard("t", None);
    fake.write("t", "b", 1);
    pass(&fake, HOUR).await;
    fake.write("s", "a", 3);
    latest(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!((notes.of("a"), notes.of("b")), (vec![2, 3], vec![1]));
}

#[tokio::test]
async fn who_comes_too_late_says_so_or_counts_the_gap() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    let notes = Notes::new();
    // It is busy with a record while those behind it are trimmed.
    fake.write("s", "slow", 2);
    let worker = Worker::start(consumer(&fake, 1).batch_size(2), &notes);
    settle(|| notes.begun() == 2).await;
    fake.write("s", "a", 3);
    fake.trim("s");
    fake.write("s", "a", 4);
    notes.gate.notify_one();
    let error = worker.end().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::TrimmedData);
    assert!(error.message().contains("consumer `mailer` of table `orders` may have lost changes"));
    assert!(error.message().contains("shard s after 000000000000000000002"), "{error}");
    // It is said again, whoever tries.
    let error = consumer(&fake, 2).drain(&notes).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::TrimmedData);
    assert_eq!(notes.of("a"), [1]);
    let going_on = consumer(&fake, 3).on_trimmed(OnTrimmed::Continue);
    going_on.drain(&notes).await.unwrap();
    assert_eq!(notes.of("a"), [1, 4]);
    let status = going_on.status().await.unwrap().unwrap();
    assert_eq!(status.shards[0].gaps, 1);
}

#[tokio::test]
async fn a_quiet_table_loses_nothing() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    let notes = Notes::new();
    let worker = Worker::start(consumer(&fake, 1).poll_interval(HOUR / 10), &notes);
    for _ in 0..30 {
        for _ in 0..400 {
            fake.clock.advance(Duration::from_secs(9));
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        }
    }
    fake.trim("s");
    worker.stop().await.unwrap();
    fake.write("s", "a", 2);
    consumer(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!(notes.of("a"), [1, 2]);
    let status = consumer(&fake, 2).status().await.unwrap().unwrap();
    assert_eq!((status.gaps, status.shards[0].gaps), (0, 0));
}

#[tokio::test]
async fn a_consumer_that_nobody_ran_for_a_day_says_so() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    let notes = Notes::new();
    consumer(&fake, 1).drain(&notes).await.unwrap();
    fake.clock.advance(HOUR * 25);
    fake.forget("s");
    fake.add_shard("t", Some("unseen"));
    fake.write("t", "a", 5);
    let error = consumer(&fake, 2).drain(&notes).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::TrimmedData);
    assert!(error.message().contains("nobody has run it for 25 hours"), "{error}");
    let going_on = consumer(&fake, 3).on_trimmed(OnTrimmed::Continue);
    going_on.drain(&notes).await.unwrap();
    assert_eq!(notes.of("a"), [1, 5]);
    let status = going_on.status().await.unwrap().unwrap();
    // One for the day, one for the shard that was not finished.
    assert_eq!((status.gaps, status.shards.len()), (2, 1));
    // It is told once.
    consumer(&fake, 4).drain(&notes).await.unwrap();
}

#[tokio::test]
async fn wrong_settings_are_refused() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    let ok = || consumer(&fake, 1);
    let named = Consumer::new(fake.clone(), "", TABLE);
    for (wrong, why) in [
        (named, "its name must have 1 to 255 bytes"),
        (ok().checkpoint_table(TABLE), "its checkpoints cannot be in `orders`"),
        (ok().lease_duration(Duration::from_millis(2)), "a lease of 2ms cannot be renewed in time"),
        (ok().batch_size(0), "a batch has 1 to 1000 records, not 0"),
        (ok().batch_size(1001), "a batch has 1 to 1000 records, not 1001"),
        (ok().concurrency(0), "at least one shard must be handled at once"),
        (ok().max_attempts(0), "a record must be tried at least once"),
    ] {
        let error = wrong.drain(&*Notes::new()).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Config);
        assert!(error.message().contains(why), "{error}");
    }
}

#[tokio::test]
async fn tables_that_do_not_fit_are_refused() {
    let store = Arc::new(MemoryStore::new());
    let notes = Notes::new();
    let consumer = Consumer::new(store.clone(), "mailer", "plain");
    let error = consumer.drain(&notes).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::NotFound);
    let plain = || CreateTable::new("plain").partition_key("pk", KeyType::S);
    store.create_table(plain()).await.unwrap();
    let error = consumer.drain(&notes).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Config);
    assert!(error.message().contains("table `plain` has no stream"), "{error}");
    assert_eq!(consumer.status().await.unwrap(), None);
    store.delete_table(DeleteTable::new("tabla-consumers")).await.unwrap();
    let other = CreateTable::new("tabla-consumers").partition_key("id", KeyType::S);
    store.create_table(other).await.unwrap();
    let error = consumer.drain(&notes).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Config);
    assert!(error.message().contains("its key is [\"id\"], not"), "{error}");
}
