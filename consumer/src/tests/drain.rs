//! The end of a drain.

use super::*;

/// Creates a handler that writes a record for each one that it handles, up to a limit that ends an
/// endless drain.
fn writing(fake: &Arc<Fake>, shard: &'static str) -> impl Handler {
    let fake = Arc::clone(fake);
    let written = Arc::new(AtomicUsize::new(0));
    each(move |record| {
        let (pk, n) = seen(&record);
        if written.fetch_add(1, Ordering::Relaxed) < 1000 {
            fake.write(shard, &pk, n + 1000);
        }
        async { Ok(()) }
    })
}

#[tokio::test]
async fn drain_leaves_records_written_after_it_began() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    (1..=3).for_each(|n| fake.write("s", "a", n));
    let handler = writing(&fake, "s");
    let drained = consumer(&fake, 1).drain(&handler).await.unwrap();
    assert_eq!(drained, DrainReport { handled: 3, set_aside: 0, leased_elsewhere: 0 });
    // The next drain starts with the records that the first has left, and leaves those that it
    // wrote itself.
    let drained = consumer(&fake, 2).batch_size(2).drain(&handler).await.unwrap();
    assert_eq!(drained.handled, 3);
}

#[tokio::test]
async fn drain_leaves_shards_created_after_it_began() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.write("s", "a", 1);
    let script = Arc::clone(&fake);
    let handler = each(move |record| {
        let (_, n) = seen(&record);
        if n == 1 {
            script.close("s");
            script.add_shard("t", Some("s"));
        }
        if n < 1000 {
            script.write("t", "a", n + 1);
        }
        async { Ok(()) }
    });
    let drained = consumer(&fake, 1).drain(&handler).await.unwrap();
    assert_eq!(drained.handled, 1);
    let notes = Notes::new();
    consumer(&fake, 2).drain(&notes).await.unwrap();
    assert_eq!(notes.of("a"), [2]);
}

/// The bound of a shard that waits for its parent outlives the iterators of its beginning.
#[tokio::test]
async fn drain_of_hours_leaves_records_written_after_it_began() {
    let fake = Fake::new().await;
    fake.add_shard("s", None);
    fake.add_shard("t", Some("s"));
    (1..=20).for_each(|n| fake.write("s", "a", n));
    fake.close("s");
    (21..=30).for_each(|n| fake.write("t", "a", n));
    let script = Arc::clone(&fake);
    let handler = each(move |record| {
        let (_, n) = seen(&record);
        script.clock.advance(Duration::from_secs(10 * 60));
        if n < 1000 {
            script.write("t", "a", n + 1000);
        }
        async { Ok(()) }
    });
    // The lease is longer than the handler takes.
    let patient = consumer(&fake, 1).lease_duration(Duration::from_secs(3600)).batch_size(5);
    let drained = patient.drain(&handler).await.unwrap();
    assert_eq!(drained.handled, 30);
}
