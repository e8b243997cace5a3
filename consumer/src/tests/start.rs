//! Start positions, and gaps after a late start.

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
    // Only the first run decides the start position.
    let drained = consumer(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!(drained.handled, 0);
}

#[tokio::test]
async fn records_after_the_registration_survive_a_crash_of_the_worker() {
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
async fn trimmed_records_are_an_error_or_a_counted_gap() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    let notes = Notes::new();
    // The worker is busy with a record while later ones are trimmed.
    fake.write("s", "slow", 2);
    let worker = Worker::start(consumer(&fake, 1).batch_size(2), &notes);
    settle(|| notes.begun() == 2).await;
    fake.write("s", "a", 3);
    fake.trim("s");
    fake.write("s", "a", 4);
    notes.gate.notify_one();
    let error = worker.end().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::TrimmedData);
    assert!(
        error.message().contains("consumer `mailer` of table `orders` may have missed changes")
    );
    assert!(error.message().contains("shard s after 000000000000000000002"), "{error}");
    // Every further worker reports the error, too.
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
async fn trimmed_records_that_were_handled_are_no_gap() {
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
async fn absence_of_a_day_is_an_error_or_a_counted_gap() {
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
    assert!(error.message().contains("no worker has run it for 25 hours"), "{error}");
    let going_on = consumer(&fake, 3).on_trimmed(OnTrimmed::Continue);
    going_on.drain(&notes).await.unwrap();
    assert_eq!(notes.of("a"), [1, 5]);
    let status = going_on.status().await.unwrap().unwrap();
    // One gap of the absence, one of the unfinished shard.
    assert_eq!((status.gaps, status.shards.len()), (2, 1));
    // The gap is reported once.
    consumer(&fake, 4).drain(&notes).await.unwrap();
}

#[tokio::test]
async fn invalid_settings_are_rejected() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    let ok = || consumer(&fake, 1);
    let named = Consumer::new(fake.clone(), "", TABLE);
    for (wrong, why) in [
        (named, "its name has 0 bytes; use 1 to 255"),
        (ok().checkpoint_table(TABLE), "its checkpoint table is `orders`"),
        (ok().lease_duration(Duration::from_millis(2)), "a lease of 2ms cannot be renewed in time"),
        (ok().batch_size(0), "a batch size of 0 is out of range; use 1 to 1000"),
        (ok().batch_size(1001), "a batch size of 1001 is out of range; use 1 to 1000"),
        (ok().concurrency(0), "a concurrency of 0 handles no shard"),
        (ok().max_attempts(0), "0 attempts handle no record"),
    ] {
        let error = wrong.drain(&*Notes::new()).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Config);
        assert!(error.message().contains(why), "{error}");
    }
}

#[tokio::test]
async fn table_without_stream_and_checkpoint_table_with_another_key_are_rejected() {
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
