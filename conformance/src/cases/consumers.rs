//! Consumers of streams: `tabla_consumer` on a store.
//!
//! A consumer uses only behavior that other families prove. These cases prove the combination on
//! every store. They cannot make a shard split, because only a service does that; the tests of core
//! script it.

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

    extra "consumer-order", changes_of_an_item_are_handled_in_order:
        "A consumer handles every change, and the changes of one item in order.";
    extra "consumer-restart", restarted_consumer_resumes_at_its_checkpoint:
        "A restarted consumer resumes at its checkpoint.";
    extra "consumer-names", named_consumers_are_independent:
        "Consumers with different names each handle every change.";
    extra "consumer-run", running_consumer_handles_new_changes:
        "A running consumer handles changes that are written meanwhile.";
    extra "consumer-latest", consumer_at_latest_skips_earlier_changes:
        "A consumer that starts at the latest record handles the changes after its first run.";
    extra "consumer-latest-without-record", consumer_at_latest_keeps_its_start_without_records:
        "A consumer that starts at the latest record loses no later change if its first run \
         ends before it has handled a record.", needs [Clock];
    extra "consumer-latest-clock-back", consumer_at_latest_survives_clock_going_back:
        "A consumer that starts at the latest record handles changes that are written after the \
         clock stepped back.", needs [Clock];
    extra "consumer-latest-clock-ahead", consumer_at_latest_survives_clock_ahead:
        "A consumer that starts at the latest record loses no change if its own clock is ahead.",
        needs [Clock];
    extra "consumer-drain-end", drain_ends_at_its_bound:
        "A drain ends at the records that existed when it began, even if its handler writes to \
         the table.";
    extra "consumer-trimmed", trimmed_changes_are_an_error_or_a_gap:
        "Changes that were trimmed before they were handled are an error, or are counted as a gap.",
        needs [Clock];
    extra "consumer-stream-reenabled", reenabled_stream_follows_the_previous_one:
        "The changes of a re-enabled stream are handled after those of the previous stream.";
    extra "consumer-status", status_reports_progress_to_any_caller:
        "The status reports the progress of a consumer to any caller.";

    extra "consumer-stop", stopping_saves_checkpoints_and_releases_leases:
        "A consumer that stops saves its checkpoints and releases its shards at once.";
    extra "consumer-takeover", shards_of_dead_worker_are_taken_over:
        "Another worker takes over the shards of a dead worker.";
    extra "consumer-lost-lease", worker_without_lease_moves_no_checkpoint:
        "A worker that has lost its lease can move no checkpoint, and stops in the middle of a \
         record.";
    extra "consumer-workers", workers_never_handle_one_item_concurrently:
        "Workers that start and stop never handle an item concurrently, and lose no change.";

    extra "consumer-poison", failing_record_is_set_aside:
        "A record whose handler fails at every attempt is set aside with its error, and the \
         consumer continues.";
    extra "consumer-panic", panicking_record_is_set_aside:
        "A record whose handler panics is set aside after the last attempt, and the consumer \
         continues.";
    extra "consumer-poison-large", large_record_is_set_aside_without_its_old_image:
        "A record that is too large for an item is set aside without its old image, which a retry \
         reads from the stream.";
    extra "consumer-poison-stop", stopping_handler_leaves_its_record:
        "A handler that stops the consumer leaves its record to the next run.";
}

/// Creates the table of a case, with a NEW_IMAGE stream.
async fn table(ctx: &Ctx) -> Table {
    ctx.table(TableSpec::s().stream(StreamViewType::NewImage)).await
}

/// Duration of a lease: short, because no case can move the clock of a service.
const LEASE: Duration = Duration::from_millis(900);

/// Returns a consumer of the table whose checkpoints no other case uses.
fn consumer(ctx: &Ctx, table: &Table) -> Consumer {
    Consumer::new(ctx.store(), "mailer", &*table.name)
        .checkpoint_table("consumers")
        .lease_duration(LEASE)
        .poll_interval(Duration::from_millis(50))
        .env(ctx.env())
}

/// Writes one change per number to an item, which sets `n` to that number.
async fn write(ctx: &Ctx, table: &Table, pk: &str, numbers: std::ops::RangeInclusive<i64>) {
    for n in numbers {
        ctx.put(table, item! { "pk" => pk, "n" => n }).await;
    }
}

/// Drains until `records` records were handled in total, since a stream of a service may lag.
async fn drain_until(ctx: &Ctx, consumer: &Consumer, notes: &Arc<Notes>, handled: usize) {
    let enough = ctx.poll(|| async {
        let drained = ctx.ok(consumer.drain(notes).await);
        assert_eq!(drained.leased_elsewhere, 0, "another worker holds leases");
        (notes.handled().len() >= handled).then_some(())
    });
    assert_eq!(enough.await, Some(()), "{handled} records, got {:?}", notes.handled());
}

/// Polls until `holds` returns true, and lets time pass meanwhile.
async fn comes(ctx: &Ctx, what: &str, holds: impl Fn() -> bool) {
    let came = ctx.poll(|| async {
        ctx.advance_clock(LEASE / 10);
        holds().then_some(())
    });
    assert_eq!(came.await, Some(()), "not reached in time: {what}");
}
