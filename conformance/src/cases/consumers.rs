//! Consumers of streams: what `tabla_consumer` makes of a store.
//!
//! A consumer asks the store for nothing but what the other families prove. That it comes to the
//! same everywhere is proved here, as far as a store can be led to it: shards that split are the
//! service's own affair, and scripted in the tests of core.

mod leases;
mod notes;
mod poison;
mod reading;

use std::sync::Arc;
use std::time::Duration;

use tabla_consumer::{Consumer, DrainReport};

use self::leases::*;
use self::notes::*;
use self::poison::*;
use self::reading::*;
use super::prelude::*;

cases! {
    Consumers;

    extra "consumer-order", order_per_item:
        "Every change is handled, and those of an item in their order.";
    extra "consumer-restart", restart: "A consumer goes on where it was.";
    extra "consumer-names", names: "Consumers of different names each see every change.";
    extra "consumer-run", running: "A consumer that runs handles what is written meanwhile.";
    extra "consumer-latest", latest:
        "A consumer that begins with what comes now sees what is written after its first run.";
    extra "consumer-latest-later", latest_of_the_dead:
        "Nothing that comes after the first run is lost if that one ends before it has a record.",
        needs [Clock];
    extra "consumer-latest-clock-back", latest_when_the_clock_steps_back:
        "A consumer that begins with what comes now sees what is written after the clock stepped back.",
        needs [Clock];
    extra "consumer-latest-clock-ahead", latest_with_a_clock_ahead:
        "A consumer that begins with what comes now loses nothing if its clock is ahead.",
        needs [Clock];
    extra "consumer-drain-end", drain_ends:
        "A drain ends at what was there when it began, also if its handler writes to the table.";
    extra "consumer-trimmed", trimmed:
        "Changes that are gone before they were handled are an error, or a gap that is counted.",
        needs [Clock];
    extra "consumer-stream-again", stream_again:
        "Changes of a stream that is enabled again come after those of the one before.";
    extra "consumer-status", status: "The status tells how far a consumer is, whoever asks.";

    extra "consumer-stop", stopping:
        "Who stops saves what was handled and releases the shards at once.";
    extra "consumer-take-over", taking_over: "The shards of a dead worker are taken over.";
    extra "consumer-lost-lease", lost_lease:
        "Who has lost a lease can move no checkpoint, and stops in the middle of a record.";
    extra "consumer-workers", workers_share:
        "Workers that come and go never handle an item at the same time, and lose nothing.";

    extra "consumer-poison", poison:
        "A record that cannot be handled is set aside with its error, and the rest goes on.";
    extra "consumer-panic", panicking:
        "A record whose handler panics is set aside after the last try, and the rest goes on.";
    extra "consumer-poison-large", large_poison:
        "Of a record that does not fit into an item, what is left out is said and read again.";
    extra "consumer-poison-stop", handler_stops:
        "A handler that stops the consumer leaves its record for the next run.";
}

/// The table of a case, with a stream that shows items after their changes.
async fn table(ctx: &Ctx) -> Table {
    ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await
}

/// Short on a service, whose clock nobody moves.
const LEASE: Duration = Duration::from_millis(900);

/// A consumer of the table, with checkpoints that no other case has.
fn consumer(ctx: &Ctx, table: &Table) -> Consumer {
    Consumer::new(ctx.store(), "mailer", &*table.name)
        .checkpoint_table("consumers")
        .lease_duration(LEASE)
        .poll_interval(Duration::from_millis(50))
        .env(ctx.env())
}

/// Writes the changes of an item that make `n` these numbers.
async fn write(ctx: &Ctx, table: &Table, pk: &str, numbers: std::ops::RangeInclusive<i64>) {
    for n in numbers {
        ctx.put(table, item! { "pk" => pk, "n" => n }).await;
    }
}

/// Drains until so many records were handled in all, since a stream may lag behind on a service.
async fn drain_until(ctx: &Ctx, consumer: &Consumer, notes: &Arc<Notes>, handled: usize) {
    let enough = ctx.poll(|| async {
        let drained = ctx.ok(consumer.drain(notes).await);
        assert_eq!(drained.leased_elsewhere, 0, "nobody else is at work");
        (notes.handled().len() >= handled).then_some(())
    });
    assert_eq!(enough.await, Some(()), "{handled} records, got {:?}", notes.handled());
}

/// Waits until this holds, and lets time pass meanwhile.
async fn comes(ctx: &Ctx, what: &str, holds: impl Fn() -> bool) {
    let came = ctx.poll(|| async {
        ctx.hurry(LEASE / 10);
        holds().then_some(())
    });
    assert_eq!(came.await, Some(()), "it never came to that: {what}");
}
