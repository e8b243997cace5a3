//! Drain bounds: the ends of the shards when a drain begins.
//!
//! The drain that ends there is in `drain`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use tokio::sync::Mutex;

use super::checkpoint_table::shard_entry;
use super::lineage::{self, ShardRef};
use super::worker::Worker;
use tabla_core::Store;
use tabla_core::env::{Clock, Monotonic};
use tabla_core::ops::{GetRecords, GetShardIterator, SequenceNumber, ShardIterator, ShardPosition};
use tabla_core::{Error, ErrorKind, Result};

/// Period after which the iterator of a bound is renewed. Iterators expire after 15 minutes.
const RENEW_AFTER: Duration = Duration::from_secs(5 * 60);

/// End of an open shard at the time at which the bound was created.
///
/// A stream does not report the sequence number of its end. So a bound has an iterator at the end
/// and reads it repeatedly. The first record that it returns is the first one behind the bound.
#[derive(Debug)]
pub(super) struct DrainBound {
    place: ShardRef,
    /// Iterator at the end; `None` if no record can follow, because the shard is closed or deleted.
    iterator: Option<ShardIterator>,
    /// Sequence number of the first record behind the bound; `None` as long as there is none.
    first: Option<SequenceNumber>,
    read_at: Monotonic,
}

impl DrainBound {
    /// Creates a bound at the present end of the shard.
    pub(super) async fn new(
        store: &impl Store,
        clock: &dyn Clock,
        place: ShardRef,
    ) -> Result<Self> {
        let iterator = end(store, &place).await?;
        Ok(Self { place, iterator, first: None, read_at: clock.monotonic() })
    }

    /// Returns the sequence number of the first record behind the bound, if there is one yet.
    pub(super) async fn first(
        &mut self,
        store: &impl Store,
        clock: &dyn Clock,
    ) -> Result<Option<SequenceNumber>> {
        if self.first.is_some() {
            return Ok(self.first.clone());
        }
        let Some(iterator) = self.iterator.clone() else { return Ok(None) };
        self.read_at = clock.monotonic();
        match store.get_records(GetRecords::new(iterator).limit(1)).await {
            Ok(page) => {
                self.first = page.records.into_iter().next().map(|first| first.sequence_number);
                self.iterator = page.next_iterator;
            }
            Err(error) => match error.kind() {
                // A handler was busy for longer than iterators live, or DynamoDB Local rejects one
                // at an end. A later end is a valid bound, too.
                ErrorKind::ExpiredIterator | ErrorKind::TrimmedData => {
                    self.iterator = end(store, &self.place).await?;
                }
                ErrorKind::NotFound => self.iterator = None,
                _ => return Err(error),
            },
        }
        Ok(self.first.clone())
    }

    fn is_due(&self, now: Monotonic) -> bool {
        let is_open = self.first.is_none() && self.iterator.is_some();
        is_open && now.since(self.read_at) >= RENEW_AFTER
    }
}

/// Whether a record is at or behind the end of a drain. Sequence numbers are whole numbers, which a
/// service may write with different numbers of digits.
pub(super) fn reaches(number: &SequenceNumber, end: &SequenceNumber) -> bool {
    let [number, end] = [number, end].map(|number| number.0.trim_start_matches('0'));
    (number.len(), number) >= (end.len(), end)
}

/// Returns an iterator at the end of a shard; `None` if the shard was deleted.
async fn end(store: &impl Store, place: &ShardRef) -> Result<Option<ShardIterator>> {
    let (arn, shard) = (place.arn.clone(), place.shard.clone());
    let request = GetShardIterator::new(arn, shard, ShardPosition::Latest);
    match store.get_shard_iterator(request).await {
        Ok(iterator) => Ok(Some(iterator)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Shards that existed when a drain began, with a bound for each open one. A running consumer has
/// no bounds.
#[derive(Debug, Default)]
pub(super) struct DrainBounds {
    shards: OnceLock<BTreeSet<String>>,
    open: Mutex<BTreeMap<String, DrainBound>>,
}

impl DrainBounds {
    /// Records all shards and creates their bounds.
    pub(super) async fn open(&self, worker: &Worker<'_>) -> Result<()> {
        let table = &worker.consumer.table;
        let key = |place: &ShardRef| shard_entry(table, &place.label, &place.shard);
        let streams = lineage::streams_of(&worker.store, table).await?;
        let shards = || streams.iter().flat_map(lineage::Stream::shard_refs);
        let bounds = shards().filter(|(_, shard)| shard.ending_sequence_number.is_none()).map(
            |(place, _)| async move {
                let entry = shard_entry(table, &place.label, &place.shard);
                Ok::<_, Error>((
                    entry,
                    DrainBound::new(&worker.store, worker.clock(), place).await?,
                ))
            },
        );
        let at_once = worker.consumer.settings.at_once;
        *self.open.lock().await = stream::iter(bounds).buffered(at_once).try_collect().await?;
        self.shards.get_or_init(|| shards().map(|(place, _)| key(&place)).collect());
        Ok(())
    }

    /// Whether the shard with this entry existed when the drain began.
    pub(super) fn contains(&self, entry: &str) -> bool {
        self.shards.get().is_none_or(|shards| shards.contains(entry))
    }

    /// Returns the sequence number of the first record of a shard that the drain leaves, if any.
    pub(super) async fn end_of(
        &self,
        worker: &Worker<'_>,
        entry: &str,
    ) -> Result<Option<SequenceNumber>> {
        match self.open.lock().await.get_mut(entry) {
            Some(bound) => bound.first(&worker.store, worker.clock()).await,
            None => Ok(None),
        }
    }

    /// Renews the iterators of bounds that have not been read for 5 minutes, also of shards that
    /// have not been started.
    pub(super) async fn keep(&self, worker: &Worker<'_>) -> Result<()> {
        let now = worker.clock().monotonic();
        for bound in self.open.lock().await.values_mut().filter(|bound| bound.is_due(now)) {
            bound.first(&worker.store, worker.clock()).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_compare_as_numbers() {
        for (number, end, expected) in [
            ("000000000000000000007", "000000000000000000007", true),
            ("000000000000000000006", "000000000000000000007", false),
            ("000000000000000000010", "000000000000000000007", true),
            ("99", "100", false),
            ("100", "99", true),
            ("0", "1", false),
        ] {
            let [number, end] = [number, end].map(SequenceNumber::from);
            assert_eq!(reaches(&number, &end), expected, "{number} and {end}");
        }
    }
}
