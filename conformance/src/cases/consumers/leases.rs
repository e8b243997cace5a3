//! Who works on a shard, and until when.

use std::sync::atomic::Ordering;

use super::*;

/// The entries of the shards in the table of checkpoints.
async fn entries(ctx: &Ctx) -> Vec<Item> {
    let condition = attr("consumer").eq("mailer");
    let page = ctx.store().query(Query::new("consumers", condition).consistent_read(true)).await;
    let is_shard = |item: &Item| item.contains("shard") && !item.contains("event_id");
    ctx.ok(page).items.into_iter().filter(is_shard).collect()
}

pub(super) async fn stopping(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=2).await;
    let notes = Arc::default();
    // A lease that does not lapse while the case runs.
    let patient = || consumer(&ctx, &table).lease_duration(Duration::from_secs(3600));
    let mut first = Worker::start(patient(), &notes);
    comes(&ctx, "two records are handled", || notes.handled().len() == 2).await;
    first.tell_to_stop();
    ctx.ok(first.end().await);
    write(&ctx, &table, "a", 3..=4).await;
    let second = Arc::default();
    drain_until(&ctx, &patient(), &second, 2).await;
    assert_eq!((notes.of("a"), second.of("a")), (vec![1, 2], vec![3, 4]));
    let status = ctx.ok(patient().status().await).expect("it was run");
    assert_eq!(status.workers, Vec::<String>::new());
}

pub(super) async fn taking_over(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=2).await;
    write(&ctx, &table, "slow", 1..=1).await;
    let notes = Arc::default();
    let first = Worker::start(consumer(&ctx, &table), &notes);
    comes(&ctx, "the first is in the middle of a record", || {
        notes.of("a") == [1, 2] && notes.at_work.load(Ordering::SeqCst) == 1
    })
    .await;
    first.kill().await;
    assert_eq!(notes.at_work.load(Ordering::SeqCst), 0);
    let mut second = Worker::start(consumer(&ctx, &table), &notes);
    write(&ctx, &table, "b", 1..=1).await;
    comes(&ctx, "the second is where the first was", || notes.at_work.load(Ordering::SeqCst) == 1)
        .await;
    notes.gate.notify_one();
    comes(&ctx, "the rest is handled", || notes.handled().len() == 4).await;
    second.tell_to_stop();
    ctx.ok(second.end().await);
    assert_eq!((notes.of("slow"), notes.of("b")), (vec![1], vec![1]));
}

pub(super) async fn lost_lease(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "slow", 1..=1).await;
    let notes = Arc::default();
    let first = Worker::start(consumer(&ctx, &table), &notes);
    comes(&ctx, "it is in the middle of a record", || notes.at_work.load(Ordering::SeqCst) == 1)
        .await;
    // Somebody else has the shards, for as long as the case runs.
    let mut stolen = Vec::new();
    for mut entry in entries(&ctx).await {
        entry.insert("owner", "somebody");
        entry.insert("counter", 1_000_000);
        entry.insert("lease_ms", 3_600_000);
        ctx.ok(ctx.store().put(PutItem::new("consumers", entry.clone())).await);
        stolen.push(entry);
    }
    comes(&ctx, "the handler is dropped", || notes.at_work.load(Ordering::SeqCst) == 0).await;
    first.tell_to_stop();
    comes(&ctx, "it has stopped", || first.has_ended()).await;
    // A shard that it came to later is its own.
    let is_stolen = |entry: &Item| stolen.iter().any(|it| it.get("entry") == entry.get("entry"));
    let now: Vec<Item> = entries(&ctx).await.into_iter().filter(is_stolen).collect();
    assert_eq!(now, stolen);
    assert_eq!(notes.handled(), []);
}

pub(super) async fn workers_share(ctx: Ctx) {
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
            // Dead in the middle, while the others go on.
            workers.remove(0).kill().await;
        }
        ctx.hurry(LEASE / 3);
    }
    comes(&ctx, "everything is handled", || notes.handled().len() == 24).await;
    for worker in &mut workers {
        worker.tell_to_stop();
    }
    for worker in &mut workers {
        // That two were at one item would stop one of them.
        ctx.ok(worker.end().await);
    }
    for pk in keys {
        assert_eq!(notes.of(pk), [1, 2, 3, 4, 5, 6], "{pk}");
    }
}
