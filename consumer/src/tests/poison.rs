//! Records that no handler accepts.

use super::*;
use tabla_core::ErrorKind;

#[tokio::test]
async fn failed_record_is_set_aside_and_the_shard_continues() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    for (n, pk) in (1..).zip(["a", "bad", "a", "hopeless", "a"]) {
        fake.write("s", pk, n);
    }
    let notes = Notes::new();
    let mailer = consumer(&fake, 1).max_attempts(3);
    let drained = mailer.drain(&notes).await.unwrap();
    assert_eq!((drained.handled, drained.set_aside), (3, 2));
    assert_eq!(notes.of("a"), [1, 3, 5]);
    let aside = mailer.set_aside().await.unwrap();
    let shown: Vec<_> =
        aside.iter().map(|a| (seen(&a.record), a.error.as_str(), a.attempts)).collect();
    assert_eq!(
        shown,
        [(("bad".to_owned(), 2), "a bad record", 3), (("hopeless".to_owned(), 4), "hopeless", 1),]
    );
    let status = mailer.status().await.unwrap().unwrap();
    assert_eq!((status.shards[0].handled, status.shards[0].set_aside), (3, 2));
    assert_eq!(mailer.metrics().failed_attempts(), 4);

    // The records still fail, and the attempt is counted.
    let retried = mailer.retry_set_aside(&notes).await.unwrap();
    assert_eq!(retried, RetryReport { handled: 0, failed: 2, incomplete: 0 });
    assert_eq!(mailer.set_aside().await.unwrap()[0].attempts, 4);
    mailer.discard(&aside[1]).await.unwrap();
    let repaired = each(|_| async { Ok(()) });
    let retried = mailer.retry_set_aside(&repaired).await.unwrap();
    assert_eq!(retried, RetryReport { handled: 1, failed: 0, incomplete: 0 });
    assert_eq!(mailer.set_aside().await.unwrap(), []);
}

#[tokio::test]
async fn worker_can_be_stopped_during_a_pause_between_attempts() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    fake.write("s", "bad", 2);
    let notes = Notes::new();
    let worker = Worker::start(consumer(&fake, 1), &notes);
    settle(|| notes.begun() == 2).await;
    rest().await;
    assert_eq!(notes.begun(), 2, "no attempt is made while the clock stands still");
    worker.stop().await.unwrap();
    // The record was neither handled nor set aside, so the next worker starts with it.
    assert_eq!(consumer(&fake, 2).set_aside().await.unwrap(), []);
    consumer(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!(notes.begun(), 2 + 5);
    assert_eq!(consumer(&fake, 2).set_aside().await.unwrap().len(), 1);
}

#[tokio::test]
async fn handler_can_stop_the_consumer() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    for (n, pk) in (1..).zip(["a", "stop", "a"]) {
        fake.write("s", pk, n);
    }
    let notes = Notes::new();
    for error in [
        consumer(&fake, 1).drain(&notes).await.unwrap_err(),
        Worker::start(consumer(&fake, 2), &notes).end().await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), &ErrorKind::Unexpected);
        let expected = "the handler of consumer `mailer` stopped at record \
                        000000000000000000002: no disk";
        assert_eq!(error.message(), expected);
    }
    // Earlier records are not handled again, and no later one was handled.
    assert_eq!(notes.of("a"), [1]);
    let status = consumer(&fake, 1).status().await.unwrap().unwrap();
    assert_eq!((status.shards[0].owner.as_deref(), status.shards[0].handled), (None, 1));
}
