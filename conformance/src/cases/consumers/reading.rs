//! Start, order and end of the records that a consumer reads.

use std::sync::atomic::{AtomicUsize, Ordering};

use tabla_consumer::{OnTrimmed, Start, each};
use tabla_core::env::{Env, ManualClock};

use super::*;

pub(super) async fn changes_of_an_item_are_handled_in_order(ctx: Ctx) {
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

pub(super) async fn restarted_consumer_resumes_at_its_checkpoint(ctx: Ctx) {
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

pub(super) async fn named_consumers_are_independent(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=3).await;
    for name in ["one", "two"] {
        let named = Consumer::new(ctx.store(), name, &*table.name).checkpoint_table("consumers");
        let notes = Arc::default();
        drain_until(&ctx, &named.env(ctx.env()), &notes, 3).await;
        assert_eq!(notes.of("a"), [1, 2, 3], "{name}");
    }
}

pub(super) async fn running_consumer_handles_new_changes(ctx: Ctx) {
    let table = table(&ctx).await;
    let notes = Arc::default();
    let mut worker = Worker::start(consumer(&ctx, &table), &notes);
    for round in 1..=3 {
        write(&ctx, &table, "a", round..=round).await;
        write(&ctx, &table, "b", round..=round).await;
        comes(&ctx, "the written changes are handled", || {
            notes.handled().len() == 2 * round as usize
        })
        .await;
    }
    assert_eq!((notes.of("a"), notes.of("b")), (vec![1, 2, 3], vec![1, 2, 3]));
    worker.request_stop();
    ctx.ok(worker.end().await);
}

pub(super) async fn consumer_at_latest_skips_earlier_changes(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=3).await;
    ctx.records(&table, 3).await;
    let latest = || consumer(&ctx, &table).start_from(Start::Latest);
    let notes = Arc::default();
    let mut worker = Worker::start(latest(), &notes);
    // Waits until the worker holds leases, and so has stored the ends of the shards.
    let is_begun = ctx.poll(|| async {
        ctx.advance_clock(LEASE / 10);
        let status = latest().status().await.ok().flatten()?;
        let begun = status.shards.iter().filter(|shard| shard.owner.is_some()).count();
        (begun > 0).then_some(())
    });
    assert_eq!(is_begun.await, Some(()));
    write(&ctx, &table, "a", 4..=5).await;
    write(&ctx, &table, "b", 1..=2).await;
    comes(&ctx, "the later changes are handled", || {
        notes.of("a").ends_with(&[4, 5]) && notes.of("b") == [1, 2]
    })
    .await;
    worker.request_stop();
    ctx.ok(worker.end().await);
    // DynamoDB Local may reject an iterator at the end of a shard ("stream-empty-shard"). The
    // consumer then reads the shard from its start.
    if !ctx.is_service() {
        assert_eq!(notes.of("a"), [4, 5]);
    }
}

pub(super) async fn consumer_at_latest_keeps_its_start_without_records(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=3).await;
    ctx.clock().advance(Duration::from_secs(120));
    let latest = || consumer(&ctx, &table).start_from(Start::Latest);
    let notes = Arc::default();
    // This run ends before it has handled a record.
    ctx.ok(latest().drain(&notes).await);
    write(&ctx, &table, "a", 4..=5).await;
    write(&ctx, &table, "b", 1..=2).await;
    ctx.clock().advance(Duration::from_secs(120));
    drain_until(&ctx, &latest(), &notes, 4).await;
    assert_eq!((notes.of("a"), notes.of("b")), (vec![4, 5], vec![1, 2]));
}

pub(super) async fn consumer_at_latest_survives_clock_going_back(ctx: Ctx) {
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

pub(super) async fn consumer_at_latest_survives_clock_ahead(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=3).await;
    let clock = ManualClock::new(ctx.now() + Duration::from_secs(60 * 60));
    let env = Env::system().with_clock(Arc::new(clock));
    let latest = || consumer(&ctx, &table).start_from(Start::Latest).env(env.clone());
    let notes = Arc::default();
    // This run ends before it has handled a record.
    ctx.ok(latest().drain(&notes).await);
    write(&ctx, &table, "a", 4..=5).await;
    write(&ctx, &table, "b", 1..=2).await;
    // An iterator of the first run has expired by now.
    ctx.clock().advance(Duration::from_secs(30 * 60));
    drain_until(&ctx, &latest(), &notes, 4).await;
    assert_eq!((notes.of("a"), notes.of("b")), (vec![4, 5], vec![1, 2]));
}

pub(super) async fn drain_ends_at_its_bound(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=3).await;
    ctx.records(&table, 3).await;
    let mailer = consumer(&ctx, &table).batch_size(2);
    let written = Arc::new(AtomicUsize::new(0));
    let handler = each(|record| {
        let (store, table, written) = (ctx.store(), table.name.clone(), Arc::clone(&written));
        async move {
            // The bound makes the case fail if the drain does not end.
            if written.fetch_add(1, Ordering::SeqCst) < 100 {
                store.put(PutItem::new(&table, record.keys.with("n", 0))).await?;
            }
            Ok(())
        }
    });
    let handled = ctx.ok(mailer.drain(&handler).await).handled;
    if ctx.is_service() {
        // DynamoDB Local may reject an iterator at the end of a shard; the consumer then takes a
        // later end.
        assert!(handled < 100, "{handled} records were handled");
    } else {
        assert_eq!(handled, 3);
    }
}

pub(super) async fn trimmed_changes_are_an_error_or_a_gap(ctx: Ctx) {
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
    let status = ctx.ok(going_on.status().await).expect("the consumer has run, so it has a status");
    let gaps: u64 = status.shards.iter().map(|shard| shard.gaps).sum();
    assert!(status.gaps + gaps >= 1, "{status:?}");
}

pub(super) async fn reenabled_stream_follows_the_previous_one(ctx: Ctx) {
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
    // Streams are distinguished by their creation times.
    ctx.advance_clock(Duration::from_secs(1));
    stream(true).await;
    write(&ctx, &table, "a", 6..=8).await;
    drain_until(&ctx, &consumer(&ctx, &table), &notes, 8).await;
    assert_eq!(notes.of("a"), [1, 2, 3, 4, 5, 6, 7, 8]);
}

pub(super) async fn status_reports_progress_to_any_caller(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=4).await;
    let notes = Arc::default();
    drain_until(&ctx, &consumer(&ctx, &table), &notes, 4).await;
    let status = ctx
        .ok(consumer(&ctx, &table).status().await)
        .expect("the consumer has run, so it has a status");
    let handled: u64 = status.shards.iter().map(|shard| shard.handled).sum();
    assert_eq!((handled, status.gaps, status.lag()), (4, 0, Duration::ZERO));
    assert!(status.shards.iter().all(|shard| shard.owner.is_none()), "{status:?}");
    let last = ctx.records(&table, 4).await.pop().expect("four records").sequence_number;
    assert!(status.shards.iter().any(|shard| shard.position.as_ref() == Some(&last)), "{status:?}");
}
