//! Change streams (56, 57).

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

    clause "56a", records_are_kept_for_24_hours:
        "Stream records are kept for 24 hours.", needs [Clock];
    extra "stream-iterator-trimmed" of "56a", iterator_at_trimmed_records_is_rejected:
        "An iterator at a trimmed record is rejected with TrimmedDataAccessException.",
        needs [Clock];
    clause "56b", each_change_has_one_record:
        "Each change of an item has exactly one stream record.";
    extra "stream-of-batches" of "56b", batches_have_one_record_per_item:
        "Each item that a batch changes has one stream record.";
    extra "stream-of-indexed-table" of "56b", indexes_add_no_records:
        "Changes of index entries add no stream records.";
    extra "stream-without-failed-writes" of "56b", failed_writes_have_no_record:
        "A failed write has no stream record.";
    clause "56c", records_of_an_item_are_in_order:
        "The stream records of an item are in the order of its changes.";
    clause "56d", keys_only_records_have_the_keys:
        "A KEYS_ONLY record has the keys of the item and no image.";
    clause "56e", new_image_records_have_the_new_item:
        "A NEW_IMAGE record has the item after the change.";
    clause "56f", old_image_records_have_the_old_item:
        "An OLD_IMAGE record has the item before the change.";
    clause "56g", new_and_old_images_records_have_both:
        "A NEW_AND_OLD_IMAGES record has the item before and after the change.";
    extra "stream-record-size" of "56g", record_size_is_that_of_keys_and_images:
        "The size of a stream record is the size of its keys and images.";
    extra "stream-record-time" of "56b", record_time_is_rounded_down_to_seconds:
        "The time of a stream record is that of its change, rounded down to the second.",
        needs [Clock];
    clause "56h", unchanged_item_has_no_record:
        "A put or update that does not change the item writes no stream record.";
    clause "56i", event_name_depends_on_old_and_new_item:
        "The event is INSERT for a new item, MODIFY for an existing one, and REMOVE for a \
         deleted one.";
    clause "56j", sequence_numbers_increase: "Sequence numbers have 21 to 40 digits and increase.";
    clause "56k", event_ids_are_unique: "Event ids are unique.";

    clause "56l", trim_horizon_and_latest_are_the_ends:
        "TRIM_HORIZON begins at the oldest record, LATEST after the newest one.";
    clause "56m", at_and_after_begin_at_a_record:
        "AT_SEQUENCE_NUMBER begins at a record, AFTER_SEQUENCE_NUMBER after it.";
    extra "stream-at-first-sequence-number" of "56m", iterator_at_first_number_of_shard_is_accepted:
        "An iterator can begin at the first sequence number of its shard.";
    extra "stream-after-last-sequence-number" of "56m",
        iterator_after_last_number_of_shard_is_accepted:
        "An iterator can begin after the last sequence number of its shard.";
    clause "56n", invalid_sequence_numbers_are_rejected:
        "An invalid sequence number is rejected with ValidationException.";
    extra "stream-unknown-shard" of "56n", unknown_shard_is_rejected:
        "An iterator for an unknown shard fails with ResourceNotFoundException.";
    extra "stream-unknown-stream" of "56n", unknown_stream_is_rejected:
        "A request for an unknown stream fails with ResourceNotFoundException.";
    extra "stream-malformed-arn" of "56n", malformed_stream_arn_is_rejected:
        "A malformed stream ARN is rejected with ValidationException.";
    extra "stream-list-after-malformed-arn" of "56n", list_after_malformed_arn_is_rejected:
        "A list of streams that starts after a malformed ARN is rejected with ValidationException.";
    extra "stream-page-after-unknown-shard" of "56n", page_after_unknown_shard_is_empty:
        "A page of shards that starts after an unknown shard is empty.";
    extra "stream-malformed-iterator" of "56n", malformed_iterator_is_rejected:
        "A malformed shard iterator is rejected with ValidationException.";
    extra "stream-iterator-reused" of "56l", reused_iterator_returns_the_same_records:
        "A shard iterator that is used twice returns the same records.";
    extra "stream-iterator-expires" of "56n", iterator_expires_after_15_minutes:
        "A shard iterator expires after 15 minutes.", needs [Clock];
    extra "stream-empty-shard" of "56l", iterator_of_empty_shard_finds_the_first_record:
        "An iterator of an empty shard finds the first record that is written later.";
    extra "stream-read-limit", read_returns_up_to_its_limit:
        "A read returns up to its limit of records, at most 1000.";
    extra "stream-page-size", read_returns_up_to_1_mb: "A read returns at most 1 MB of records.";

    clause "56o", disabled_stream_can_be_read:
        "A disabled stream can still be read, and records no further changes.";
    extra "stream-disabled-for-a-day" of "56o", disabled_stream_is_deleted_after_24_hours:
        "A disabled stream is deleted after 24 hours.", needs [Clock];
    clause "56p", view_type_cannot_be_changed:
        "The view type of an enabled stream cannot be changed.";
    extra "stream-reenabled" of "56p", reenabled_stream_is_a_new_one:
        "A stream that is enabled again is a new stream and can have another view type.";
    extra "stream-of-a-deleted-table" of "56o", stream_of_deleted_table_can_be_read:
        "The stream of a deleted table can still be read.";
    extra "stream-labels" of "56p", labels_increase_across_tables:
        "The stream labels of a table name increase, also if a table without a stream had the \
         name in between.";
    extra "stream-labels-clock-back" of "56p", labels_increase_when_the_clock_steps_back:
        "The stream labels of a table name increase, also if the clock steps back.", needs [Clock];
    extra "stream-described", streams_are_described:
        "A stream is described with the key schema of its table, its view type and its shards.";
    extra "stream-list", streams_are_listed_by_table_in_pages:
        "Streams are listed by table, in pages.";

    extra "stream-shards" of "56c", records_of_an_item_are_in_one_lineage:
        "Each record is in one shard, and the records of one item are in one lineage of shards.";
    extra "stream-shard-pages", shards_are_described_in_pages:
        "The shards of a stream are described in pages, each shard once.";
    extra "stream-shard-children" of "56c", shard_is_succeeded_by_a_child:
        "A shard is closed after four hours, and a child shard continues where it ended.",
        needs [Clock];
    extra "stream-shard-end" of "56l", closed_shard_ends_at_its_last_record:
        "The iterator of a closed shard ends at its last record.", needs [Clock];
    extra "stream-order-over-shards" of "56c", order_holds_across_shards:
        "The records of an item are in order across its shards, each once.", needs [Clock];
    extra "stream-shards-without-records" of "56l", empty_shards_have_numbers_and_end:
        "A shard without records has sequence numbers and ends too.", needs [Clock];
    extra "stream-shards-trimmed" of "56a", trimmed_shards_disappear:
        "A shard whose records are all trimmed disappears; its child still names it as its parent.",
        needs [Clock];
    extra "stream-shards-disabled" of "56o", disabling_closes_all_shards:
        "Disabling a stream closes all its shards; enabling it again opens new ones.";

    clause "56q", filter_lists_children_of_a_shard:
        "A shard filter lists the children of a shard.", needs [Clock];
    extra "stream-filter-without-children" of "56q", filter_without_children_is_empty:
        "A shard filter lists nothing for a shard without children and for an unknown shard.";
    extra "stream-filter-with-start-shard" of "56q", filter_with_start_shard_is_rejected:
        "A shard filter together with ExclusiveStartShardId is rejected with ValidationException.";

    clause "57a", transaction_has_one_record_per_item:
        "A transaction writes one stream record per changed item, as single writes do.",
        needs [Transactions];
    extra "stream-of-canceled-transaction" of "57a", canceled_transaction_has_no_record:
        "A canceled transaction writes no stream record.", needs [Transactions];
}

fn key(pk: &str) -> Item {
    item! { "pk" => pk }
}

/// Comparable content of a stream record.
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

/// Returns the expected change of the item with this key and these images.
fn change(event: EventName, pk: &str, old: Option<&Item>, new: Option<&Item>) -> Shown {
    Shown { event, keys: key(pk), old: old.cloned(), new: new.cloned() }
}

/// Returns an item with this key and the number `n`.
fn numbered(pk: &str, n: i32) -> Item {
    key(pk).with("n", n)
}

/// Writes each number to `n` of the items with one partition key: one record per write.
async fn write_numbers(ctx: &Ctx, table: &Table, numbers: std::ops::RangeInclusive<i32>) {
    for n in numbers {
        ctx.put(table, numbered("a", n)).await;
    }
}

/// Returns the numbers in the new images.
fn numbers(records: &[Record]) -> Vec<i32> {
    let number = |record: &Record| {
        let image = record.new_image.as_ref()?.get("n")?.to_value();
        image.as_number()?.to_string().parse().ok()
    };
    records.iter().filter_map(number).collect()
}

/// Returns the stream of a table and its shard with records. All changes under one partition key
/// are in one shard.
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

/// Returns a shard iterator; the request must succeed.
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

/// Reads from an iterator; the read must succeed.
async fn read(ctx: &Ctx, iterator: ShardIterator) -> GetRecordsOutput {
    ctx.ok(ctx.store().get_records(GetRecords::new(iterator)).await)
}

/// Enables or disables the stream of a table.
async fn set_stream(ctx: &Ctx, table: &Table, view_type: Option<StreamViewType>) {
    let stream = StreamSpecification::new(view_type.is_some(), view_type);
    let request = UpdateTable::new(table).stream(Some(stream));
    ctx.ok(ctx.store().update_table(request).await);
}
