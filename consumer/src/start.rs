//! Registration of a new consumer, and the positions at which it starts.
//!
//! A consumer with `Start::Latest` needs the end of every shard at its first run, whenever a worker
//! takes the shard. Iterators expire after 15 minutes, and times are those of other clocks. So each
//! open shard gets a sequence number before the consumer is registered: that of its last record, or
//! that of the first record that arrives meanwhile.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};

use super::checkpoint_table::{CheckpointTable, Registration, ShardEntry, WriteOutcome};
use super::drain_bound::DrainBound;
use super::lineage::{self, ShardRef, Stream};
use super::settings::{Consumer, Start};
use super::shard::EMPTY_READS;
use tabla_core::backend::limits::RECORDS_LIMIT;
use tabla_core::ops::{
    DescribeTable, GetRecords, GetShardIterator, SequenceNumber, Shard, ShardPosition,
};
use tabla_core::{Error, ErrorKind, Result};
use tabla_core::{Item, RetryingStore, Store, attr};

/// Returns the registration of the consumer; creates it on the first run.
pub(super) async fn register(
    consumer: &Consumer,
    store: &RetryingStore<Arc<dyn Store>>,
    checkpoint_table: &CheckpointTable,
    id: &str,
) -> Result<Registration> {
    if let Some(known) = checkpoint_table.registered().await? {
        return begin(checkpoint_table, known).await;
    }
    let Consumer { name, table, settings, .. } = consumer;
    let mut registration =
        checkpoint_table.registration(settings.start, settings.policy.env.clock.now(), id);
    let streams = lineage::streams_of(store, table).await?;
    if streams.is_empty() {
        store.describe_table(DescribeTable::new(table)).await?;
        return Err(Error::config(format!(
            "consumer `{name}`: table `{table}` has no stream; enable one with UpdateTable"
        )));
    }
    if settings.start == Start::Latest {
        let entry = |(place, shard)| entry_at_the_end(consumer, store, place, shard);
        let shards = streams.iter().flat_map(Stream::shard_refs);
        let mut entries = stream::iter(shards).map(entry).buffered(settings.at_once);
        while let Some(begins) = entries.try_next().await? {
            checkpoint_table.put(Item::from_struct(&checkpoint_table.start(id, begins))?).await?;
        }
        registration.starting = Some(id.to_owned());
    }
    match checkpoint_table.write(&registration, attr("registered_at").not_exists()).await? {
        WriteOutcome::Done => begin(checkpoint_table, registration).await,
        // Another worker has registered the consumer, and its start entries apply.
        WriteOutcome::Lost => {
            for start in checkpoint_table.starts(id).await? {
                checkpoint_table.delete(&start.entry, None).await?;
            }
            let removed = || {
                let why = format!(
                    "the registration of consumer `{name}` for table `{table}` was deleted during \
                     its start; start it again"
                );
                Error::new(ErrorKind::Unexpected, why)
            };
            begin(checkpoint_table, checkpoint_table.registered().await?.ok_or_else(removed)?).await
        }
    }
}

/// Creates the shard entries from the start entries, unless they exist. Workers take shards only
/// after this.
async fn begin(
    checkpoint_table: &CheckpointTable,
    registration: Registration,
) -> Result<Registration> {
    let Some(id) = &registration.starting else { return Ok(registration) };
    let starts = checkpoint_table.starts(id).await?;
    for start in &starts {
        checkpoint_table.write(&start.begins, attr("counter").not_exists()).await?;
    }
    for start in &starts {
        checkpoint_table.delete(&start.entry, None).await?;
    }
    let begun = |present: &Registration| {
        let begun = Registration { starting: None, ..present.clone() };
        present.starting.is_some().then_some(begun)
    };
    checkpoint_table.change_registration(begun).await?;
    Ok(Registration { starting: None, ..registration })
}

/// Creates the entry of a shard whose present records are all skipped.
async fn entry_at_the_end(
    consumer: &Consumer,
    store: &RetryingStore<Arc<dyn Store>>,
    place: ShardRef,
    shard: Shard,
) -> Result<ShardEntry> {
    let mut entry = ShardEntry::new(&consumer.name, &consumer.table, &place);
    if shard.ending_sequence_number.is_some() {
        entry.finished = true;
        return Ok(entry);
    }
    let now = consumer.settings.policy.env.clock.now().to_millis();
    match end_of(consumer, store, place).await {
        Ok(ShardEnd::After(number)) => {
            (entry.position, entry.caught_up_at) = (Some(number.0), Some(now));
        }
        Ok(ShardEnd::Before(number)) => entry.start_at = Some(number.0),
        Ok(ShardEnd::Empty) => entry.caught_up_at = Some(now),
        // The shard was deleted after it was listed, and closed before that.
        Err(error) if error.is_not_found() => entry.finished = true,
        Err(error) => return Err(error),
    }
    Ok(entry)
}

/// End of a shard.
enum ShardEnd {
    /// Last record of the shard.
    After(SequenceNumber),
    /// First record that arrived after the end was determined.
    Before(SequenceNumber),
    /// The shard has no record.
    Empty,
}

/// Finds the end of an open shard: reads it from its horizon to the end, or until a new record
/// arrives. One of them is reached soon: a busy shard gets new records, and a quiet one has few,
/// because a shard accepts records for a few hours only.
async fn end_of(
    consumer: &Consumer,
    store: &RetryingStore<Arc<dyn Store>>,
    place: ShardRef,
) -> Result<ShardEnd> {
    let clock = &*consumer.settings.policy.env.clock;
    let mut bound = DrainBound::new(store, clock, place.clone()).await?;
    let (mut next, mut last, mut empty_reads) = (None, None, 0);
    while empty_reads < EMPTY_READS {
        let iterator = match next.take() {
            Some(iterator) => iterator,
            None => {
                let (arn, shard) = (place.arn.clone(), place.shard.clone());
                let position = ShardPosition::TrimHorizon;
                store.get_shard_iterator(GetShardIterator::new(arn, shard, position)).await?
            }
        };
        let limit = Some(RECORDS_LIMIT);
        let page = match store.get_records(GetRecords::new(iterator).limit(limit)).await {
            Ok(page) => page,
            // Records at the horizon were trimmed meanwhile.
            Err(error) if *error.kind() == ErrorKind::TrimmedData => {
                (last, empty_reads) = (None, empty_reads + 1);
                continue;
            }
            Err(error) => return Err(error),
        };
        empty_reads = if page.records.is_empty() { empty_reads + 1 } else { 0 };
        last = page.records.into_iter().last().map(|last| last.sequence_number).or(last);
        if let Some(first) = bound.first(store, clock).await? {
            return Ok(ShardEnd::Before(first));
        }
        next = page.next_iterator;
        if next.is_none() {
            // The shard was closed.
            break;
        }
    }
    Ok(last.map_or(ShardEnd::Empty, ShardEnd::After))
}
