//! What is read, from where on, in which order.

use std::sync::atomic::{AtomicUsize, Ordering};

use tabla_consumer::{OnTrimmed, Start, each};
use tabla_core::env::{Env, ManualClock};

use super::*;

pub(super) async fn order_per_item(ctx: Ctx) {
    let table = table(&ctx).await;
    let keys = ["a", "b", "c", "d", "e", "f"];
    for n in 1..=10 {
        for pk in keys {
            write(&ctx, &table, pk, n..=n).await;
        }
    }
    let notes = Arc::default();
    drain_until(&ctx, &consumer(&ctx, &table).batch_size(7), &notes, 60).await;
    for pk in keys {
        assert_eq!(notes.of(pk), (1..=10).collect::<Vec<_>>(), "{pk}");
    }
    assert_eq!(notes.handled().len(), 60);
}

pub(super) async fn restart(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=5).await;
    let (first, second) = (Arc::default(), Arc::default());
    drain_until(&ctx, &consumer(&ctx, &table), &first, 5).await;
    write(&ctx, &table, "a", 6..=8).await;
    drain_until(&ctx, &consumer(&ctx, &table), &second, 3).await;
    assert_eq!((first.of("a"), second.of("a")), (vec![1, 2, 3, 4, 5], vec![6, 7, 8]));
    let drained = ctx.ok(consumer(&ctx, &table).drain(&second).await);
    assert_eq!(drained, DrainReport::default());
}

pub(super) async fn names(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=3).await;
    for name in ["one", "two"] {
        let named = Consumer::new(ctx.store(), name, &*table.name).checkpoint_table("consumers");
        let notes = Arc::default();
        drain_until(&ctx, &named.env(ctx.env()), &notes, 3).await;
        assert_eq!(notes.of("a"), [1, 2, 3], "{name}");
    }
}

pub(super) async fn running(ctx: Ctx) {
    let table = table(&ctx).await;
    let notes = Arc::default();
    let mut worker = Worker::start(consumer(&ctx, &table), &notes);
    for round in 1..=3 {
        write(&ctx, &table, "a", round..=round).await;
        write(&ctx, &table, "b", round..=round).await;
        comes(&ctx, "what was written is handled", || notes.handled().len() == 2 * round as usize)
            .await;
    }
    assert_eq!((notes.of("a"), notes.of("b")), (vec![1, 2, 3], vec![1, 2, 3]));
    worker.tell_to_stop();
    ctx.ok(worker.end().await);
}

pub(super) async fn latest(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=3).await;
    ctx.records(&table, 3).await;
    let latest = || consumer(&ctx, &table).start_from(Start::Latest);
    let notes = Arc::default();
    let mut worker = Worker::start(latest(), &notes);
    // It is at work on all shards, and knows where they ended.
    let is_begun = ctx.poll(|| async {
        ctx.hurry(LEASE / 10);
        let status = latest().status().await.ok().flatten()?;
        let begun = status.shards.iter().filter(|shard| shard.owner.is_some()).count();
        (begun > 0).then_some(())
    });
    assert_eq!(is_begun.await, Some(()));
    write(&ctx, &table, "a", 4..=5).await;
    write(&ctx, &table, "b", 1..=2).await;
    comes(&ctx, "what came later is handled", || {
        notes.of("a").ends_with(&[4, 5]) && notes.of("b") == [1, 2]
    })
    .await;
    worker.tell_to_stop();
    ctx.ok(worker.end().await);
    // DynamoDB Local may refuse to go on at an end ("stream-empty-shard"). Then the shard is read from
    // its horizon.
    if !ctx.is_service() {
        assert_eq!(notes.of("a"), [4, 5]);
    }
}

pub(super) async fn latest_of_the_dead(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=3).await;
    ctx.clock().advance(Duration::from_secs(120));
    let latest = || consumer(&ctx, &table).start_from(Start::Latest);
    let notes = Arc::default();
    // It was never at a record when it ends.
    ctx.ok(latest().drain(&notes).await);
    write(&ctx, &table, "a", 4..=5).await;
    write(&ctx, &table, "b", 1..=2).await;
    ctx.clock().advance(Duration::from_secs(120));
    drain_until(&ctx, &latest(), &notes, 4).await;
    assert_eq!((notes.of("a"), notes.of("b")), (vec![4, 5], vec![1, 2]));
}

pub(super) async fn latest_when_the_clock_steps_back(ctx: Ctx) {
    let table = table(&ctx).await;
    let latest = || consumer(&ctx, &table).start_from(Start::Latest);
    let notes = Arc::default();
    ctx.ok(latest().drain(&notes).await);
    write(&ctx, &table, "a", 1..=3).await;
    drain_until(&ctx, &latest(), &notes, 3).await;
    ctx.clock().step_back(Duration::from_secs(120));
    write(&ctx, &table, "a", 4..=10).await;
    drain_until(&ctx, &latest(), &notes, 10).await;
    assert_eq!(notes.of("a"), (1..=10).collect::<Vec<_>>());
}

pub(super) async fn latest_with_a_clock_ahead(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=3).await;
    let clock = ManualClock::new(ctx.now() + Duration::from_secs(60 * 60));
    let env = Env::system().with_clock(Arc::new(clock));
    let latest = || consumer(&ctx, &table).start_from(Start::Latest).env(env.clone());
    let notes = Arc::default();
    // It was never at a record when it ends.
    ctx.ok(latest().drain(&notes).await);
    write(&ctx, &table, "a", 4..=5).await;
    write(&ctx, &table, "b", 1..=2).await;
    // No iterator is as old.
    ctx.clock().advance(Duration::from_secs(30 * 60));
    drain_until(&ctx, &latest(), &notes, 4).await;
    assert_eq!((notes.of("a"), notes.of("b")), (vec![4, 5], vec![1, 2]));
}

pub(super) async fn drain_ends(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=3).await;
    ctx.records(&table, 3).await;
    let mailer = consumer(&ctx, &table).batch_size(2);
    let written = Arc::new(AtomicUsize::new(0));
    let handler = each(|record| {
        let (store, table, written) = (ctx.store(), table.name.clone(), Arc::clone(&written));
        async move {
            // The bound lets a drain that does not end fail the case.
            if written.fetch_add(1, Ordering::SeqCst) < 100 {
                store.put(PutItem::new(&table, record.keys.with("n", 0))).await?;
            }
            Ok(())
        }
    });
    let handled = ctx.ok(mailer.drain(&handler).await).handled;
    if ctx.is_service() {
        // DynamoDB Local may refuse an iterator at an end, and a later end is taken.
        assert!(handled < 100, "{handled} records were handled");
    } else {
        assert_eq!(handled, 3);
    }
}

pub(super) async fn trimmed(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=2).await;
    let notes = Arc::default();
    drain_until(&ctx, &consumer(&ctx, &table), &notes, 2).await;
    write(&ctx, &table, "a", 3..=4).await;
    ctx.clock().advance(Duration::from_secs(25 * 60 * 60));
    write(&ctx, &table, "a", 5..=6).await;
    let result = consumer(&ctx, &table).drain(&notes).await;
    ctx.expect_kind(result, "TrimmedData", |kind| matches!(kind, ErrorKind::TrimmedData));
    assert_eq!(notes.of("a"), [1, 2]);
    let going_on = consumer(&ctx, &table).on_trimmed(OnTrimmed::Continue);
    drain_until(&ctx, &going_on, &notes, 4).await;
    assert_eq!(notes.of("a"), [1, 2, 5, 6]);
    let status = ctx.ok(going_on.status().await).expect("it was run");
    let gaps: u64 = status.shards.iter().map(|shard| shard.gaps).sum();
    assert!(status.gaps + gaps >= 1, "{status:?}");
}

pub(super) async fn stream_again(ctx: Ctx) {
    let table = table(&ctx).await;
    let stream = |enabled: bool| {
        let view_type = enabled.then_some(StreamViewType::NewImage);
        let stream = StreamSpecification::new(enabled, view_type);
        ctx.update_table(UpdateTable::new(&table).stream(Some(stream)))
    };
    write(&ctx, &table, "a", 1..=3).await;
    let notes = Arc::default();
    drain_until(&ctx, &consumer(&ctx, &table), &notes, 3).await;
    write(&ctx, &table, "a", 4..=5).await;
    stream(false).await;
    // Streams are told apart by their times.
    ctx.hurry(Duration::from_secs(1));
    stream(true).await;
    write(&ctx, &table, "a", 6..=8).await;
    drain_until(&ctx, &consumer(&ctx, &table), &notes, 8).await;
    assert_eq!(notes.of("a"), [1, 2, 3, 4, 5, 6, 7, 8]);
}

pub(super) async fn status(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=4).await;
    let notes = Arc::default();
    drain_until(&ctx, &consumer(&ctx, &table), &notes, 4).await;
    let status = ctx.ok(consumer(&ctx, &table).status().await).expect("it was run");
    let handled: u64 = status.shards.iter().map(|shard| shard.handled).sum();
    assert_eq!((handled, status.gaps, status.lag()), (4, 0, Duration::ZERO));
    assert!(status.shards.iter().all(|shard| shard.owner.is_none()), "{status:?}");
    let last = ctx.records(&table, 4).await.pop().expect("four records").sequence_number;
    assert!(status.shards.iter().any(|shard| shard.position.as_ref() == Some(&last)), "{status:?}");
}
