//! Leases: which worker works on a shard, and until when.

use std::sync::atomic::Ordering;

use super::*;

/// Returns the entries of the shards in the checkpoint table.
async fn entries(ctx: &Ctx) -> Vec<Item> {
    let condition = attr("consumer").eq("mailer");
    let page = ctx.store().query(Query::new("consumers", condition).consistent_read(true)).await;
    let is_shard = |item: &Item| item.contains("shard") && !item.contains("event_id");
    ctx.ok(page).items.into_iter().filter(is_shard).collect()
}

pub(super) async fn stopping_saves_checkpoints_and_releases_leases(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=2).await;
    let notes = Arc::default();
    // This lease does not expire while the case runs.
    let patient = || consumer(&ctx, &table).lease_duration(Duration::from_secs(3600));
    let mut first = Worker::start(patient(), &notes);
    comes(&ctx, "two records are handled", || notes.handled().len() == 2).await;
    first.request_stop();
    ctx.ok(first.end().await);
    write(&ctx, &table, "a", 3..=4).await;
    let second = Arc::default();
    drain_until(&ctx, &patient(), &second, 2).await;
    assert_eq!((notes.of("a"), second.of("a")), (vec![1, 2], vec![3, 4]));
    let status =
        ctx.ok(patient().status().await).expect("the consumer has run, so it has a status");
    assert_eq!(status.workers, Vec::<String>::new());
}

pub(super) async fn shards_of_dead_worker_are_taken_over(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=2).await;
    write(&ctx, &table, "slow", 1..=1).await;
    let notes = Arc::default();
    let first = Worker::start(consumer(&ctx, &table), &notes);
    comes(&ctx, "the first worker is in the middle of a record", || {
        notes.of("a") == [1, 2] && notes.at_work.load(Ordering::SeqCst) == 1
    })
    .await;
    first.kill().await;
    assert_eq!(notes.at_work.load(Ordering::SeqCst), 0);
    let mut second = Worker::start(consumer(&ctx, &table), &notes);
    write(&ctx, &table, "b", 1..=1).await;
    comes(&ctx, "the second worker handles the record of the first", || {
        notes.at_work.load(Ordering::SeqCst) == 1
    })
    .await;
    notes.gate.notify_one();
    comes(&ctx, "the remaining records are handled", || notes.handled().len() == 4).await;
    second.request_stop();
    ctx.ok(second.end().await);
    assert_eq!((notes.of("slow"), notes.of("b")), (vec![1], vec![1]));
}

pub(super) async fn worker_without_lease_moves_no_checkpoint(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "slow", 1..=1).await;
    let notes = Arc::default();
    let first = Worker::start(consumer(&ctx, &table), &notes);
    comes(&ctx, "the worker is in the middle of a record", || {
        notes.at_work.load(Ordering::SeqCst) == 1
    })
    .await;
    // Another worker holds the leases for as long as the case runs.
    let mut stolen = Vec::new();
    for mut entry in entries(&ctx).await {
        entry.insert("owner", "other-worker");
        entry.insert("counter", 1_000_000);
        entry.insert("lease_ms", 3_600_000);
        ctx.ok(ctx.store().put(PutItem::new("consumers", entry.clone())).await);
        stolen.push(entry);
    }
    comes(&ctx, "the handler is dropped", || notes.at_work.load(Ordering::SeqCst) == 0).await;
    first.request_stop();
    comes(&ctx, "the worker has stopped", || first.has_ended()).await;
    // The stopped worker released only shards whose leases it still held.
    let is_stolen = |entry: &Item| stolen.iter().any(|it| it.get("entry") == entry.get("entry"));
    let now: Vec<Item> = entries(&ctx).await.into_iter().filter(is_stolen).collect();
    assert_eq!(now, stolen);
    assert_eq!(notes.handled(), []);
}

pub(super) async fn workers_never_handle_one_item_concurrently(ctx: Ctx) {
    let table = table(&ctx).await;
    let keys = ["a", "b", "c", "d"];
    let notes = Arc::default();
    let mut workers = Vec::new();
    for round in 1..=6 {
        for pk in keys {
            write(&ctx, &table, pk, round..=round).await;
        }
        workers.push(Worker::start(consumer(&ctx, &table).batch_size(2), &notes));
        if round % 2 == 0 {
            // This worker is killed while it handles a record, and the other workers continue.
            workers.remove(0).kill().await;
        }
        ctx.advance_clock(LEASE / 3);
    }
    comes(&ctx, "all records are handled", || notes.handled().len() == 24).await;
    for worker in &mut workers {
        worker.request_stop();
    }
    for worker in &mut workers {
        // A worker stops with an error if another one handles the same item.
        ctx.ok(worker.end().await);
    }
    for pk in keys {
        assert_eq!(notes.of(pk), [1, 2, 3, 4, 5, 6], "{pk}");
    }
}
