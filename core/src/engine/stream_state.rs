//! State of a stream besides its records: lanes, shards and ranges of sequence numbers.
//!
//! A stream has a few *lanes*. The hash of an item's partition key decides which lane its changes
//! are in. The first record after four hours begins a new *generation*: each lane closes its shard
//! and opens the next one. A shard is one lane in one generation; its parent is the same lane in
//! the generation before. Only writers change the state. Readers hide what is past retention.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RowKey;
use super::record::{self, IteratorState};
use crate::Item;
use crate::env::Timestamp;
use crate::error::{Error, Result};
use crate::key::encoding;
use crate::limits::STREAM_RETENTION;
use crate::ops::{
    DescribeStream, GetShardIterator, KeyRole, KeySchemaElement, ListStreams, ListStreamsOutput,
    Shard, ShardFilter, ShardId, ShardIterator, ShardPosition, StreamArn, StreamDescription,
    StreamStatus, StreamSummary, StreamViewType,
};
use crate::schema::{Table, TableStream};

/// Number of lanes of a new stream: the largest number of workers that read it in parallel. A
/// reader polls every open shard, so more lanes would cost more empty reads.
const LANES: u8 = 4;

/// Time after which a shard is closed. DynamoDB documents none; its shards were observed to close
/// after four hours.
const SHARD_LIFETIME: Duration = Duration::from_secs(4 * 60 * 60);

/// State of a stream besides its records.
///
/// An engine stores it as JSON beside the records. One counter numbers the records of all streams.
/// So the first and last number of a shard need not be numbers of its records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamState {
    arn: StreamArn,
    label: String,
    table: String,
    view_type: StreamViewType,
    key_schema: Vec<KeySchemaElement>,
    opened_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    closed_at: Option<Timestamp>,
    /// Last sequence number that was allocated before the stream was enabled.
    first_after: u64,
    /// Sequence number through which records were trimmed. Numbers increase with time in all lanes,
    /// so no lane has an earlier record.
    trimmed_through: u64,
    /// Last sequence number that was allocated before the stream was disabled.
    last: u64,
    /// Number of lanes: [`LANES`] when the stream was enabled.
    lanes: u8,
    /// Generations after the first one. Of the generations past retention only the last is kept,
    /// because its shards are parents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rotations: Vec<Generation>,
}

/// Generation: a period of the stream, with one shard per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Generation {
    opened_at: Timestamp,
    /// Last sequence number that was allocated before the generation.
    first_after: u64,
}

impl Generation {
    /// Time from which the shards of the generation take no more records.
    fn rotates_at(self) -> Timestamp {
        self.opened_at + SHARD_LIFETIME
    }
}

/// Place of a shard's records: a lane and a range of sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardRange {
    /// Lane of the records.
    pub lane: usize,
    /// Last sequence number before the shard.
    pub first_after: u64,
    /// Last sequence number of the shard; `None` while it is open.
    pub last: Option<u64>,
}

impl StreamState {
    /// Creates the state of a newly enabled stream; `last_number` is the last sequence number that
    /// was allocated.
    pub fn open(table: &Table, stream: &TableStream, last_number: u64) -> Self {
        let StreamSummary { arn, label, table: name } = table.summarize_stream(stream);
        Self {
            arn,
            label,
            table: name,
            view_type: stream.view_type,
            key_schema: table.schema.key_schema(),
            opened_at: stream.created_at,
            closed_at: None,
            first_after: last_number,
            trimmed_through: last_number,
            last: last_number,
            lanes: LANES,
            rotations: Vec::new(),
        }
    }

    /// Time from which a record needs a new generation: call [`rotate`](Self::rotate) first.
    pub fn rotates_at(&self) -> Timestamp {
        self.newest().rotates_at()
    }

    /// Begins a new generation. `last_number` is the last sequence number that was allocated;
    /// returns the value that replaces it.
    #[must_use]
    pub fn rotate(&mut self, now: Timestamp, last_number: u64) -> u64 {
        let last = self.end(last_number);
        let opened_at = now.to_millis();
        self.rotations.push(Generation { opened_at, first_after: last });
        let are_past = |pair: &[Generation]| has_only_trimmed_records(pair[1], now);
        let past = self.rotations[..self.rotations.len() - 1].windows(2).filter(|p| are_past(p));
        self.rotations.drain(..past.count());
        last
    }

    /// Closes all shards, because the stream was disabled. `last_number` is the last sequence
    /// number that was allocated; returns the value that replaces it.
    #[must_use]
    pub fn close(&mut self, now: Timestamp, last_number: u64) -> u64 {
        self.closed_at = Some(now.to_millis());
        self.last = self.end(last_number);
        self.last
    }

    /// Last sequence number of the newest shards if they are closed now. A shard has at least one
    /// number, even without a record, so that it does not end before it begins.
    fn end(&self, last_number: u64) -> u64 {
        last_number.max(self.newest().first_after + 1)
    }

    /// Stores the sequence number through which the engine has trimmed records.
    pub fn trim(&mut self, through: u64) {
        self.trimmed_through = self.trimmed_through.max(through);
    }

    /// Sequence number through which records were trimmed.
    pub fn trimmed_through(&self) -> u64 {
        self.trimmed_through
    }

    /// Whether the stream was disabled 24 hours ago or earlier, so that the engine deletes it.
    pub fn is_past_retention(&self, now: Timestamp) -> bool {
        self.closed_at.is_some_and(|closed| now.since(closed) >= STREAM_RETENTION)
    }

    /// ARN of the stream.
    pub fn arn(&self) -> &StreamArn {
        &self.arn
    }

    /// Images that its records contain.
    pub fn view_type(&self) -> StreamViewType {
        self.view_type
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        usize::from(self.lanes)
    }

    /// Range of the sequence numbers of this stream; `last_number` is the last one that
    /// was allocated.
    pub fn sequence_range(&self, last_number: u64) -> std::ops::RangeInclusive<u64> {
        let last = if self.closed_at.is_some() { self.last } else { last_number };
        self.first_after + 1..=last
    }

    /// Selects the key attributes of an item of the stream's table.
    pub fn keys_of(&self, item: &Item) -> Item {
        let parts = self.key_schema.iter();
        parts
            .filter_map(|part| Some((part.name.as_str(), item.get(&part.name)?.to_value())))
            .collect()
    }

    /// Computes the lane of the item with these keys; `None` if they are not keys of the
    /// stream's table.
    pub fn lane_of_keys(&self, keys: &Item) -> Option<usize> {
        let partition = self.key_schema.iter().find(|part| part.role == KeyRole::Partition)?;
        let mut encoded = Vec::new();
        encoding::encode(keys.get(&partition.name)?, &mut encoded).ok()?;
        Some(lane_of_hash(encoding::hash(&encoded), self.lanes()))
    }

    /// Entry of the stream in lists.
    pub fn summary(&self) -> StreamSummary {
        StreamSummary {
            arn: self.arn.clone(),
            label: self.label.clone(),
            table: self.table.clone(),
        }
    }

    /// Describes the stream with a page of its shards, without those past retention.
    pub fn describe(&self, request: &DescribeStream, now: Timestamp) -> Result<StreamDescription> {
        let limit = check_describe(request)?;
        let DescribeStream { arn: _, exclusive_start_shard, shard_filter, limit: _ } = request;
        let mut shards: Vec<(Generation, Shard)> = self.shards().collect();
        if let Some(start) = exclusive_start_shard {
            // No shard follows an unknown one.
            let start = shards.iter().position(|(_, shard)| shard.id == *start);
            shards.drain(..start.map_or(shards.len(), |start| start + 1));
        }
        let is_listed = |generation, shard: &Shard| {
            let matches = match shard_filter {
                None => true,
                Some(ShardFilter::ChildrenOf(parent)) => shard.parent.as_ref() == Some(parent),
            };
            matches && !self.is_hidden(generation, now)
        };
        let mut shards: Vec<Shard> = shards
            .into_iter()
            .filter_map(|(generation, shard)| is_listed(generation, &shard).then_some(shard))
            .collect();
        let more = shards.len() > limit;
        shards.truncate(limit);
        let last = shards.last().map(|shard| shard.id.clone());
        Ok(StreamDescription {
            arn: self.arn.clone(),
            label: self.label.clone(),
            status: match self.closed_at {
                Some(_) => StreamStatus::Disabled,
                None => StreamStatus::Enabled,
            },
            view_type: self.view_type,
            table: self.table.clone(),
            key_schema: self.key_schema.clone(),
            shards,
            last_evaluated_shard: last.filter(|_| more),
            created_at: self.opened_at,
        })
    }

    /// Finds the records of a shard.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the shard does not exist, or is
    /// past retention.
    pub fn shard_range(&self, shard: &ShardId, now: Timestamp) -> Result<ShardRange> {
        self.shard_ranges()
            .find(|(generation, extent)| self.shard_id(*generation, extent.lane) == *shard)
            .filter(|(generation, _)| !self.is_hidden(*generation, now))
            .map(|(_, extent)| extent)
            .ok_or_else(record::shard_missing_error)
    }

    /// Creates the iterator of a request; `extent` is the range of its shard, `newest` the sequence
    /// number of the last record of the stream in any lane.
    pub fn shard_iterator(
        &self,
        request: &GetShardIterator,
        extent: &ShardRange,
        newest: Option<u64>,
        now: Timestamp,
    ) -> Result<ShardIterator> {
        let GetShardIterator { arn: _, shard, position } = request;
        let begun = self.trimmed_through.max(extent.first_after);
        let newest = newest.map_or(begun, |newest| newest.max(begun));
        let numbered =
            |number| self.check_number(record::parse_sequence_number(number)?, extent, newest);
        let next = match position {
            ShardPosition::TrimHorizon => begun + 1,
            ShardPosition::Latest => newest + 1,
            ShardPosition::At(number) => numbered(number)?,
            ShardPosition::After(number) => numbered(number)? + 1,
        };
        let place = IteratorState {
            arn: self.arn.0.clone(),
            shard: shard.0.clone(),
            next,
            issued_at: now.as_millis(),
        };
        Ok(place.encode())
    }

    /// Finds the shard of an iterator.
    ///
    /// # Errors
    /// [`ErrorKind::TrimmedData`](crate::ErrorKind::TrimmedData) if the records at the iterator
    /// were trimmed.
    pub fn shard_range_at(&self, place: &IteratorState, now: Timestamp) -> Result<ShardRange> {
        let shard = ShardId(place.shard.clone());
        // The shard existed when the iterator was created.
        let extent = self.shard_range(&shard, now).map_err(|_| record::trimmed_error())?;
        if place.next <= self.trimmed_through {
            return Err(record::trimmed_error());
        }
        Ok(extent)
    }

    /// Creates the iterator after a read; `None` if the shard is closed and was read to its end.
    ///
    /// `next` is the first sequence number that was not read; `is_more` says whether the shard has
    /// a record from there on.
    pub fn next_iterator(
        &self,
        place: IteratorState,
        extent: &ShardRange,
        next: u64,
        is_more: bool,
        now: Timestamp,
    ) -> Option<ShardIterator> {
        let is_finished = extent.last.is_some() && !is_more;
        let place = IteratorState { next, issued_at: now.as_millis(), ..place };
        (!is_finished).then(|| place.encode())
    }

    fn newest(&self) -> Generation {
        let Self { opened_at, first_after, .. } = *self;
        self.rotations.last().copied().unwrap_or(Generation { opened_at, first_after })
    }

    /// Whether the shards of a generation are hidden: they are closed, and all their records are
    /// past retention.
    fn is_hidden(&self, generation: Generation, now: Timestamp) -> bool {
        generation != self.newest() && has_only_trimmed_records(generation, now)
    }

    /// Ranges of all shards, parents before children.
    fn shard_ranges(&self) -> impl Iterator<Item = (Generation, ShardRange)> {
        let Self { opened_at, first_after, .. } = *self;
        let first = Generation { opened_at, first_after };
        let generations = std::iter::once(first).chain(self.rotations.iter().copied());
        let closed = self.closed_at.map(|_| self.last);
        let ends = self.rotations.iter().map(|next| Some(next.first_after)).chain([closed]);
        generations.zip(ends).flat_map(|(generation, last)| {
            let first_after = generation.first_after;
            (0..self.lanes()).map(move |lane| (generation, ShardRange { lane, first_after, last }))
        })
    }

    fn shards(&self) -> impl Iterator<Item = (Generation, Shard)> {
        let mut ids: Vec<ShardId> = Vec::new();
        self.shard_ranges().enumerate().map(move |(number, (generation, extent))| {
            ids.push(self.shard_id(generation, extent.lane));
            let parent = number.checked_sub(self.lanes()).map(|parent| ids[parent].clone());
            let shard = Shard {
                id: ids[number].clone(),
                parent,
                starting_sequence_number: record::sequence_number(extent.first_after + 1),
                ending_sequence_number: extent.last.map(record::sequence_number),
            };
            (generation, shard)
        })
    }

    /// Formats a shard id like DynamoDB's: the time at which the shard was opened, and a suffix
    /// that is unique among shards of that time in this stream and, most likely, in others.
    fn shard_id(&self, generation: Generation, lane: usize) -> ShardId {
        let stream = encoding::hash(self.arn.0.as_bytes()) as u32 & 0x00FF_FFFF;
        ShardId(format!("shardId-{:020}-{stream:06x}{lane:02x}", generation.opened_at.as_millis()))
    }

    /// Refuses a sequence number outside of the shard, or one that was trimmed.
    fn check_number(&self, number: u64, extent: &ShardRange, newest: u64) -> Result<u64> {
        let last = extent.last.unwrap_or(newest + 1);
        if number <= extent.first_after || number > last {
            return Err(Error::validation("Invalid SequenceNumber for the shard"));
        }
        if number <= self.trimmed_through {
            return Err(record::trimmed_error());
        }
        Ok(number)
    }
}

/// Whether all records of a closed generation are past retention. It took none after its lifetime.
fn has_only_trimmed_records(generation: Generation, now: Timestamp) -> bool {
    record::is_past_retention(generation.rotates_at(), now)
}

/// Computes the lane of an item in a stream with this number of lanes.
pub fn lane_of(position: &RowKey, lanes: usize) -> usize {
    lane_of_hash(position.hash(), lanes)
}

fn lane_of_hash(hash: u64, lanes: usize) -> usize {
    (hash % lanes as u64) as usize
}

/// Validates a request for a list of streams, and returns its limit.
pub fn check_list(request: &ListStreams) -> Result<usize> {
    let too_many = "cannot be greater than the maximum allowed size:";
    let limit = record::check_limit(request.limit, record::LIST_LIMIT, too_many)?;
    if let Some(start) = &request.exclusive_start_stream {
        record::check_stream_arn(start)?;
    }
    Ok(limit)
}

/// Validates a request for a description of a stream, and returns its limit.
pub fn check_describe(request: &DescribeStream) -> Result<usize> {
    let too_many = "cannot be greater than the maximum:";
    let limit = record::check_limit(request.limit, record::LIST_LIMIT, too_many)?;
    // A shard has few children, so pages of them are not supported. DynamoDB Local 3.3.1 refuses
    // both together with this message.
    if request.shard_filter.is_some() && request.exclusive_start_shard.is_some() {
        return Err(Error::validation(
            "ShardFilter and ExclusiveStartShardId both should not be specified in the request.",
        ));
    }
    Ok(limit)
}

/// Computes a page of the list of streams, from all streams in the order of their ARNs.
pub fn list<'a>(
    request: &ListStreams,
    logs: impl IntoIterator<Item = &'a StreamState>,
) -> Result<ListStreamsOutput> {
    let limit = check_list(request)?;
    let ListStreams { table, exclusive_start_stream: start, limit: _ } = request;
    let is_listed = |log: &&StreamState| {
        let of_table = table.as_ref().is_none_or(|table| *table == log.table);
        of_table && start.as_ref().is_none_or(|start| log.arn > *start)
    };
    let mut streams: Vec<StreamSummary> =
        logs.into_iter().filter(is_listed).map(StreamState::summary).collect();
    let more = streams.len() > limit;
    streams.truncate(limit);
    let last = streams.last().map(|stream| stream.arn.clone());
    Ok(ListStreamsOutput { streams, last_evaluated_stream: last.filter(|_| more) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ops::CreateTable;
    use crate::{KeyType, item};

    const HOUR: Duration = Duration::from_secs(60 * 60);

    fn log(opened_at: Timestamp, last_number: u64) -> StreamState {
        let request = CreateTable::new("things")
            .partition_key("pk", KeyType::S)
            .stream(StreamViewType::KeysOnly);
        let table = Table::create(&request, opened_at, "id".to_owned()).unwrap();
        StreamState::open(&table, table.stream().unwrap(), last_number)
    }

    fn shards(log: &StreamState, now: Timestamp) -> Vec<Shard> {
        log.describe(&DescribeStream::new(log.arn().clone()), now).unwrap().shards
    }

    #[test]
    fn stored_state_with_one_lane_is_readable() {
        let stored = r#"{
            "arn": "arn:aws:dynamodb:local:0:table/things/stream/2026-01-01T00:00:00.000",
            "label": "2026-01-01T00:00:00.000", "table": "things", "view_type": "NEW_IMAGE",
            "key_schema": [{ "name": "pk", "role": "HASH" }], "opened_at": 1767225600000,
            "first_after": 7, "trimmed_through": 9, "last": 7, "lanes": 1
        }"#;
        let without_lanes =
            serde_json::from_str::<StreamState>(&stored.replace(r#", "lanes": 1"#, ""));
        assert!(without_lanes.unwrap_err().to_string().contains("missing field `lanes`"));
        let mut log: StreamState = serde_json::from_str(stored).unwrap();
        let now = Timestamp::from_millis(1_767_225_600_000) + HOUR;
        let [shard] = &shards(&log, now)[..] else { panic!("{log:?}") };
        assert_eq!(shard.starting_sequence_number, record::sequence_number(8));
        assert_eq!(log.lane_of_keys(&item! { "pk" => "a" }), Some(0));
        assert_eq!(log.rotate(now + 3 * HOUR, 20), 20);
        let both = shards(&log, now + 3 * HOUR);
        assert_eq!(both[1].parent.as_ref(), Some(&shard.id));
        // It survives a round trip through JSON.
        let again: StreamState =
            serde_json::from_str(&serde_json::to_string(&log).unwrap()).unwrap();
        assert_eq!(again, log);
    }

    #[test]
    fn shard_ids_have_time_stream_and_lane() {
        let opened_at = Timestamp::from_secs(1_800_000_000);
        let log = log(opened_at, 0);
        let ids: Vec<ShardId> = shards(&log, opened_at).into_iter().map(|one| one.id).collect();
        for (lane, id) in ids.iter().enumerate() {
            let (time, rest) = id.0.strip_prefix("shardId-").unwrap().split_once('-').unwrap();
            assert!(time.len() == 20 && time.bytes().all(|digit| digit.is_ascii_digit()), "{id}");
            assert!(rest.len() == 8 && u32::from_str_radix(rest, 16).is_ok(), "{id}");
            assert_eq!(log.shard_range(id, opened_at).unwrap().lane, lane);
        }
        assert_eq!(ids.len(), usize::from(LANES));
    }

    #[test]
    fn number_of_kept_generations_is_bounded() {
        let mut now = Timestamp::from_secs(1_800_000_000);
        let mut log = log(now, 0);
        for number in 1..1000 {
            now = now + 4 * HOUR;
            assert!(now >= log.rotates_at());
            assert_eq!(log.rotate(now, number), number);
            assert!(log.rotations.len() <= 9, "{} are kept", log.rotations.len());
            let shards = shards(&log, now);
            assert!(shards.len() <= 8 * usize::from(LANES));
            let (first, rest) = shards.split_at(usize::from(LANES));
            // All have parents; those of the oldest may have been deleted.
            assert!(first.iter().all(|shard| number < 8 || shard.parent.is_some()));
            for shard in rest {
                let parent = shard.parent.as_ref().unwrap();
                assert!(shards.iter().any(|other| other.id == *parent), "{shard:?}");
            }
        }
    }

    proptest! {
        /// The shards of each lane follow one another without a gap, each has a sequence number,
        /// and each record within retention is in exactly one.
        #[test]
        fn shards_of_a_lane_have_no_gaps(
            steps in proptest::collection::vec((0..8_u64, 0..3_u64), 0..30),
            closes in any::<bool>(),
        ) {
            let mut now = Timestamp::from_secs(1_800_000_000);
            let mut last_number = 5;
            let mut log = log(now, last_number);
            let mut recorded = Vec::new();
            for (hours, numbers) in steps {
                now = now + Duration::from_secs(hours * 3600);
                if now >= log.rotates_at() {
                    last_number = log.rotate(now, last_number);
                }
                for _ in 0..numbers {
                    last_number += 1;
                    recorded.push((last_number, now));
                }
            }
            if closes {
                last_number = log.close(now, last_number);
            }
            let extents: Vec<ShardRange> = shards(&log, now)
                .iter()
                .map(|shard| log.shard_range(&shard.id, now).unwrap())
                .collect();
            for lane in 0..log.lanes() {
                let of_lane: Vec<&ShardRange> = extents.iter().filter(|one| one.lane == lane).collect();
                for (parent, child) in of_lane.iter().zip(&of_lane[1..]) {
                    prop_assert_eq!(parent.last, Some(child.first_after));
                }
                for extent in &of_lane {
                    prop_assert!(extent.last.is_none_or(|last| last > extent.first_after));
                }
                let newest = of_lane.last().unwrap();
                prop_assert_eq!(newest.last, closes.then_some(last_number));
                for (number, written) in &recorded {
                    let holding = of_lane.iter().filter(|extent| {
                        *number > extent.first_after
                            && extent.last.is_none_or(|last| *number <= last)
                    });
                    let count = holding.count();
                    prop_assert!(count == 1 || record::is_past_retention(*written, now));
                    prop_assert!(count <= 1);
                }
            }
        }
    }
}
