//! Streams of changes (56, 57).

mod iterators;
mod lifetime;
mod records;
mod shards;

use super::prelude::*;

use iterators::*;
use lifetime::*;
use records::*;
use shards::*;

cases! {
    Streams;

    clause "56a", records_last_a_day: "Records are kept for 24 hours.", needs [Clock];
    extra "stream-iterator-trimmed" of "56a", iterator_at_trimmed_records:
        "An iterator at records that are no longer kept is refused.", needs [Clock];
    clause "56b", one_record_per_change: "Each change has exactly one record.";
    extra "stream-of-batches" of "56b", batches_are_recorded:
        "Each item that a batch changes has a record.";
    extra "stream-of-indexed-table" of "56b", indexes_add_no_records:
        "Index entries that change with an item add no records.";
    extra "stream-without-failed-writes" of "56b", failed_writes_leave_no_record:
        "A write that fails leaves no record.";
    clause "56c", records_are_in_order: "The records of an item are in the order of its changes.";
    clause "56d", keys_only: "KEYS_ONLY carries the keys.";
    clause "56e", new_image: "NEW_IMAGE carries the item after the change.";
    clause "56f", old_image: "OLD_IMAGE carries the item before the change.";
    clause "56g", new_and_old_images: "NEW_AND_OLD_IMAGES carries both.";
    extra "stream-record-size" of "56g", record_sizes:
        "A record's size is that of its keys and images.";
    extra "stream-record-time" of "56b", record_times:
        "A record's time is that of its change, rounded down to the second.", needs [Clock];
    clause "56h", no_change_no_record: "A put or update that changes nothing writes no record.";
    clause "56i", event_names: "INSERT, MODIFY and REMOVE tell whether the item was there.";
    clause "56j", sequence_numbers: "Sequence numbers have 21 to 40 digits and rise.";
    clause "56k", event_ids: "Event ids are unique.";

    clause "56l", ends_of_a_shard:
        "TRIM_HORIZON begins at the oldest record, LATEST after the newest.";
    clause "56m", at_and_after: "AT begins at a record, AFTER behind it.";
    extra "stream-at-the-start" of "56m", at_the_start_of_a_shard:
        "A position may be the first number of its shard.";
    extra "stream-after-the-end" of "56m", after_the_end_of_a_shard:
        "A position may be the last number of its shard.";
    clause "56n", no_such_position: "A position that is none is refused.";
    extra "stream-no-such-shard" of "56n", no_such_shard: "A shard that is none is refused.";
    extra "stream-no-such-stream" of "56n", no_such_stream: "A stream that is none is refused.";
    extra "stream-no-stream-arn" of "56n", malformed_stream_arns:
        "A text that is no stream's ARN is refused where a stream is named.";
    extra "stream-list-after-no-arn" of "56n", lists_after_malformed_arns:
        "A list of streams that begins after a text that is no ARN is refused.";
    extra "stream-page-after-no-shard" of "56n", page_after_an_unknown_shard:
        "A page of shards that begins after an unknown shard is empty.";
    extra "stream-no-such-iterator" of "56n", no_such_iterator:
        "An iterator that is none is refused.";
    extra "stream-iterator-again" of "56l", iterators_can_be_used_again:
        "An iterator used again gives the same records.";
    extra "stream-iterator-expires" of "56n", iterators_expire:
        "An iterator can be used for 15 minutes.", needs [Clock];
    extra "stream-empty-shard" of "56l", iterator_of_an_empty_shard:
        "An iterator taken before there are records finds the first one.";
    extra "stream-limits", limits: "A read has up to 1000 records, and as many as it asks for.";
    extra "stream-page-size", page_size: "A read has up to 1 MB of records.";

    clause "56o", disabled_streams_can_be_read:
        "A disabled stream can be read, and records no more.";
    extra "stream-disabled-for-a-day" of "56o", disabled_streams_last_a_day:
        "A disabled stream is forgotten after 24 hours.", needs [Clock];
    clause "56p", views_cannot_be_changed: "The view of a stream cannot be changed.";
    extra "stream-again" of "56p", streams_can_be_enabled_again:
        "A stream that is enabled again is another one, and may have another view.";
    extra "stream-of-a-deleted-table" of "56o", deleted_tables_leave_their_stream:
        "The stream of a deleted table can still be read.";
    extra "stream-labels" of "56p", labels_increase:
        "The labels of a table name's streams increase, also over tables without a stream.";
    extra "stream-labels-clock-back" of "56p", labels_increase_when_the_clock_steps_back:
        "The labels of a table name's streams increase, also if the clock steps back.",
        needs [Clock];
    extra "stream-described", streams_are_described:
        "A stream is described with its table's key, its view and its shards.";
    extra "stream-list", streams_are_listed: "Streams are listed by table, in pages.";

    extra "stream-shards" of "56c", each_item_has_one_lineage:
        "Each record is in one shard, and those of an item in one lineage.";
    extra "stream-shard-pages", shards_are_described_in_pages:
        "The shards of a stream are described in pages, each once.";
    extra "stream-shard-children" of "56c", shards_are_succeeded:
        "A shard is closed after four hours, and a child goes on where it ended.", needs [Clock];
    extra "stream-shard-end" of "56l", an_iterator_ends_with_its_shard:
        "Reading a closed shard comes to an end, at its last record.", needs [Clock];
    extra "stream-order-over-shards" of "56c", order_over_many_shards:
        "The records of an item are in order over all its shards, each once.", needs [Clock];
    extra "stream-shards-without-records" of "56l", shards_without_records:
        "A shard without records has numbers, too, and ends.", needs [Clock];
    extra "stream-shards-trimmed" of "56a", trimmed_shards_vanish:
        "A shard whose records are all trimmed is gone; its child still names it.", needs [Clock];
    extra "stream-shards-disabled" of "56o", disabling_closes_all_shards:
        "Disabling a stream closes all its shards; enabling it again opens others.";

    clause "56q", a_filter_lists_the_children: "A shard filter lists the children of a shard.",
        needs [Clock];
    extra "stream-filter-without-children" of "56q", a_filter_lists_no_other_shards:
        "A shard filter lists nothing for a shard that has no children, or is unknown.";
    extra "stream-filter-and-page" of "56q", a_filter_goes_with_no_start:
        "A shard filter and the start of a page of shards exclude each other.";

    clause "57a", transactions_are_single_records:
        "A transaction is a record per item, like single writes.", needs [Transactions];
    extra "stream-of-canceled-transaction" of "57a", canceled_transactions_leave_no_record:
        "A cancelled transaction leaves no record.", needs [Transactions];
}

fn key(pk: &str) -> Item {
    item! { "pk" => pk }
}

/// What a record shows of a change.
#[derive(Debug, PartialEq)]
struct Shown {
    event: EventName,
    keys: Item,
    old: Option<Item>,
    new: Option<Item>,
}

fn shown(records: &[Record]) -> Vec<Shown> {
    let shown = |record: &Record| Shown {
        event: record.event_name,
        keys: record.keys.clone(),
        old: record.old_image.clone(),
        new: record.new_image.clone(),
    };
    records.iter().map(shown).collect()
}

/// A change of the item with this key, from and to these images.
fn change(event: EventName, pk: &str, old: Option<&Item>, new: Option<&Item>) -> Shown {
    Shown { event, keys: key(pk), old: old.cloned(), new: new.cloned() }
}

/// The key and a number `n`.
fn numbered(pk: &str, n: i32) -> Item {
    key(pk).with("n", n)
}

/// Makes `n` the next number of the items with one key, so that there is a record of each.
async fn write_numbers(ctx: &Ctx, table: &Table, numbers: std::ops::RangeInclusive<i32>) {
    for n in numbers {
        ctx.put(table, numbered("a", n)).await;
    }
}

/// The numbers in the new images.
fn numbers(records: &[Record]) -> Vec<i32> {
    let number = |record: &Record| {
        let image = record.new_image.as_ref()?.get("n")?.to_value();
        image.as_number()?.to_string().parse().ok()
    };
    records.iter().filter_map(number).collect()
}

/// The stream of a table, and its shard that has records: all that a case writes under one
/// partition key stand in one shard.
async fn written_shard(ctx: &Ctx, table: &Table) -> (StreamArn, Shard) {
    ctx.records(table, 1).await;
    let arn = ctx.stream_of(table).await;
    let request = DescribeStream::new(arn.clone());
    let description = ctx.ok(ctx.store().describe_stream(request).await);
    for shard in description.shards {
        let iterator = iterator(ctx, &arn, &shard.id, ShardPosition::TrimHorizon).await;
        if !read(ctx, iterator).await.records.is_empty() {
            return (arn, shard);
        }
    }
    panic!("no shard of {arn} has records");
}

/// An iterator, which must be given out.
async fn iterator(
    ctx: &Ctx,
    arn: &StreamArn,
    shard: &ShardId,
    position: ShardPosition,
) -> ShardIterator {
    ctx.ok(ctx.store().get_shard_iterator(at(arn, shard, position)).await)
}

fn at(arn: &StreamArn, shard: &ShardId, position: ShardPosition) -> GetShardIterator {
    GetShardIterator::new(arn.clone(), shard.clone(), position)
}

/// What an iterator gives, which must be readable.
async fn read(ctx: &Ctx, iterator: ShardIterator) -> GetRecordsOutput {
    ctx.ok(ctx.store().get_records(GetRecords::new(iterator)).await)
}

/// Turns the stream of a table on or off.
async fn set_stream(ctx: &Ctx, table: &Table, view_type: Option<StreamViewType>) {
    let stream = StreamSpecification::new(view_type.is_some(), view_type);
    let request = UpdateTable::new(table).stream(Some(stream));
    ctx.ok(ctx.store().update_table(request).await);
}
