//! Handlers that panic.

use super::*;

async fn with_a_panicking_record() -> (Arc<Fake>, Arc<Notes>) {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    for (n, pk) in (1..).zip(["a", "panic", "a"]) {
        fake.write("s", pk, n);
    }
    (fake, Notes::new())
}

#[tokio::test]
async fn record_is_set_aside_after_a_panic_at_every_attempt() {
    let (fake, notes) = with_a_panicking_record().await;
    let mailer = consumer(&fake, 1).max_attempts(3);
    let drained = mailer.drain(&notes).await.unwrap();
    assert_eq!(drained, DrainReport { handled: 2, set_aside: 1, leased_elsewhere: 0 });
    assert_eq!(notes.of("a"), [1, 3]);
    let [aside] = &mailer.set_aside().await.unwrap()[..] else { panic!("one is set aside") };
    assert_eq!(aside.error, "the handler panicked: a panicking record");
    assert_eq!((aside.attempts, mailer.metrics().failed_attempts()), (3, 3));
}

#[tokio::test]
async fn running_worker_survives_a_handler_that_panics() {
    let (fake, notes) = with_a_panicking_record().await;
    let worker = Worker::start(consumer(&fake, 1).max_attempts(2), &notes);
    pass(&fake, LEASE).await;
    assert_eq!(notes.of("a"), [1, 3]);
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn panics_are_counted_over_restarts() {
    for crashes in [true, false] {
        let (fake, notes) = with_a_panicking_record().await;
        let worker = Worker::start(consumer(&fake, 1).max_attempts(4), &notes);
        settle(|| worker.metrics.failed_attempts() == 1).await;
        rest().await;
        // The worker ends during the pause after the panic.
        match crashes {
            true => worker.kill().await,
            false => worker.stop().await.unwrap(),
        }
        let mailer = consumer(&fake, 2).max_attempts(4);
        mailer.drain(&notes).await.unwrap();
        let [aside] = &mailer.set_aside().await.unwrap()[..] else { panic!("one is set aside") };
        assert_eq!(
            (aside.attempts, mailer.metrics().failed_attempts()),
            (4, 3),
            "crashes: {crashes}"
        );
    }
}

#[tokio::test]
async fn record_set_aside_survives_a_handler_that_panics_again() {
    let (fake, notes) = with_a_panicking_record().await;
    let mailer = consumer(&fake, 1).max_attempts(1);
    mailer.drain(&notes).await.unwrap();
    let retried = mailer.retry_set_aside(&notes).await.unwrap();
    assert_eq!(retried, RetryReport { handled: 0, failed: 1, incomplete: 0 });
    assert_eq!(mailer.set_aside().await.unwrap()[0].attempts, 2);
}

/// Handler that panics before it returns a future.
struct Sudden;

impl Handler for Sudden {
    fn handle<'h, 'r, 'f>(
        &'h self,
        _: &'r Record,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<(), Failure>> + Send + 'f>>
    where
        'h: 'f,
        'r: 'f,
        Self: 'f,
    {
        panic!("no future")
    }
}

#[tokio::test]
async fn panic_before_the_future_is_a_failed_attempt() {
    let (fake, _) = with_a_panicking_record().await;
    let mailer = consumer(&fake, 1).max_attempts(1);
    let drained = mailer.drain(&Sudden).await.unwrap();
    assert_eq!(drained.set_aside, 3);
    assert_eq!(mailer.set_aside().await.unwrap()[0].error, "the handler panicked: no future");
}
