//! The log behind a stream: what is known of it besides its records.
//!
//! A log has a few *lanes*. All changes of an item are in one of them, which the hash of its
//! partition key decides. Every four hours the first record after that time begins a new
//! *generation*: each lane then ends its shard and opens the next one. So a shard is what one lane
//! has of one generation, and its parent is what the same lane has of the generation before. Only
//! who writes changes a log: a reader takes it as it is, and leaves out what is past its time.

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

/// The lanes of a new log, and so the most workers that can read one stream side by side. More
/// would be read in vain most of the time: whoever follows a stream asks every open shard.
const LANES: u8 = 4;

/// How long a shard takes records. DynamoDB's is about as long: it does not say so, but its shards
/// are seen to be closed after four hours.
const SHARD_LIFETIME: Duration = Duration::from_secs(4 * 60 * 60);

/// What is known of a stream's log besides its records.
///
/// An engine stores it as JSON beside the records. One counter numbers the records of all streams,
/// so that a shard has a first and a last number that need not be those of a record.
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
    /// The last number that was given out before this stream was opened.
    first_after: u64,
    /// The number of the last record that was trimmed away. Numbers rise with the time in all lanes
    /// alike, so that nothing before it is left in any of them.
    trimmed_through: u64,
    /// The last number that was given out before this stream was closed.
    last: u64,
    /// How many lanes there are: [`LANES`] when the stream was opened.
    lanes: u8,
    /// The generations after the first, which began with the stream. Of those that are gone only
    /// the last is kept, because the next one names it as its parent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rotations: Vec<Generation>,
}

/// One of the times that a log is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Generation {
    opened_at: Timestamp,
    /// The last number that was given out before.
    first_after: u64,
}

impl Generation {
    /// When its shards take no more records.
    fn rotates_at(self) -> Timestamp {
        self.opened_at + SHARD_LIFETIME
    }
}

/// Where the records of a shard are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardRange {
    /// The lane that they are in.
    pub lane: usize,
    /// The last number before the first of the shard.
    pub first_after: u64,
    /// The last number of the shard, once it is closed.
    pub last: Option<u64>,
}

impl StreamState {
    /// The log of a stream that has just been enabled, after this many records of all streams.
    pub fn open(table: &Table, stream: &TableStream, last_number: u64) -> Self {
        let StreamSummary { arn, label, table: name } = table.summarise_stream(stream);
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

    /// The moment from which a record needs a new generation, which [`rotate`](Self::rotate)
    /// begins.
    pub fn rotates_at(&self) -> Timestamp {
        self.newest().rotates_at()
    }

    /// Begins a new generation, after this many records of all streams; the last number that is
    /// given out now, in place of the caller's.
    #[must_use]
    pub fn rotate(&mut self, now: Timestamp, last_number: u64) -> u64 {
        let last = self.end(last_number);
        let opened_at = now.to_millis();
        self.rotations.push(Generation { opened_at, first_after: last });
        let are_gone = |pair: &[Generation]| has_only_trimmed_records(pair[1], now);
        let gone = self.rotations[..self.rotations.len() - 1].windows(2).filter(|p| are_gone(p));
        self.rotations.drain(..gone.count());
        last
    }

    /// The log closed: nothing is added any more. The last number that is given out now, in place
    /// of the caller's.
    #[must_use]
    pub fn close(&mut self, now: Timestamp, last_number: u64) -> u64 {
        self.closed_at = Some(now.to_millis());
        self.last = self.end(last_number);
        self.last
    }

    /// The last number of the newest shards if they end now: they have at least one, which is that
    /// of no record if there was none, so that no shard ends before it begins.
    fn end(&self, last_number: u64) -> u64 {
        last_number.max(self.newest().first_after + 1)
    }

    /// Notes that the records up to this number are gone.
    pub fn trim(&mut self, through: u64) {
        self.trimmed_through = self.trimmed_through.max(through);
    }

    /// The number up to which records are gone.
    pub fn trimmed_through(&self) -> u64 {
        self.trimmed_through
    }

    /// Whether the whole log is to be forgotten: it was closed a day ago.
    pub fn is_past_retention(&self, now: Timestamp) -> bool {
        self.closed_at.is_some_and(|closed| now.since(closed) >= STREAM_RETENTION)
    }

    /// The stream.
    pub fn arn(&self) -> &StreamArn {
        &self.arn
    }

    /// What its records carry.
    pub fn view_type(&self) -> StreamViewType {
        self.view_type
    }

    /// How many lanes there are.
    pub fn lanes(&self) -> usize {
        usize::from(self.lanes)
    }

    /// The numbers that records of this log can have, if this is the last that was given out.
    pub fn sequence_range(&self, last_number: u64) -> std::ops::RangeInclusive<u64> {
        let last = if self.closed_at.is_some() { self.last } else { last_number };
        self.first_after + 1..=last
    }

    /// The keys of an item of the stream's table.
    pub fn keys_of(&self, item: &Item) -> Item {
        let parts = self.key_schema.iter();
        parts
            .filter_map(|part| Some((part.name.as_str(), item.get(&part.name)?.to_value())))
            .collect()
    }

    /// The lane of the item with these keys; `None` if they are no keys of the stream's table.
    pub fn lane_of_keys(&self, keys: &Item) -> Option<usize> {
        let partition = self.key_schema.iter().find(|part| part.role == KeyRole::Partition)?;
        let mut encoded = Vec::new();
        encoding::encode(keys.get(&partition.name)?, &mut encoded).ok()?;
        Some(lane_of_hash(encoding::hash(&encoded), self.lanes()))
    }

    /// The stream as lists show it.
    pub fn summary(&self) -> StreamSummary {
        StreamSummary {
            arn: self.arn.clone(),
            label: self.label.clone(),
            table: self.table.clone(),
        }
    }

    /// Describes the stream.
    pub fn describe(&self, request: &DescribeStream, now: Timestamp) -> Result<StreamDescription> {
        let limit = check_describe(request)?;
        let DescribeStream { arn: _, exclusive_start_shard, shard_filter, limit: _ } = request;
        let mut shards: Vec<(Generation, Shard)> = self.shards().collect();
        if let Some(start) = exclusive_start_shard {
            // Nothing follows a shard that is not known.
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

    /// Where the records of a shard are.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such shard, or no longer.
    pub fn shard_range(&self, shard: &ShardId, now: Timestamp) -> Result<ShardRange> {
        self.shard_ranges()
            .find(|(generation, extent)| self.shard_id(*generation, extent.lane) == *shard)
            .filter(|(generation, _)| !self.is_hidden(*generation, now))
            .map(|(_, extent)| extent)
            .ok_or_else(record::shard_missing_error)
    }

    /// The iterator that a request asks for, in the shard that is there; `newest` is the number of
    /// the last record of the log, in whichever lane: all numbers up to it have been given out.
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

    /// The shard that a place is in. Refuses to read what is no longer kept.
    pub fn shard_range_at(&self, place: &IteratorState, now: Timestamp) -> Result<ShardRange> {
        let shard = ShardId(place.shard.clone());
        // There was such a shard when the iterator was given out.
        let extent = self.shard_range(&shard, now).map_err(|_| record::trimmed_error())?;
        if place.next <= self.trimmed_through {
            return Err(record::trimmed_error());
        }
        Ok(extent)
    }

    /// The iterator after a read that has come to `next`; `None` if nothing will ever follow.
    /// `is_more` tells whether the shard has a record from there on.
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

    /// Whether the shards of a generation are no longer shown: they are closed, and all their
    /// records past retention.
    fn is_hidden(&self, generation: Generation, now: Timestamp) -> bool {
        generation != self.newest() && has_only_trimmed_records(generation, now)
    }

    /// All shards that are known, parents before children.
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

    /// In the shape of DynamoDB's: the time at which the shard was opened, and what tells it from
    /// those that were opened at the same time in this stream and, most likely, in others.
    fn shard_id(&self, generation: Generation, lane: usize) -> ShardId {
        let stream = encoding::hash(self.arn.0.as_bytes()) as u32 & 0x00FF_FFFF;
        ShardId(format!("shardId-{:020}-{stream:06x}{lane:02x}", generation.opened_at.as_millis()))
    }

    /// Refuses a sequence number outside of the shard.
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

/// Whether all records of a generation that is closed are past retention: it took none after its
/// time.
fn has_only_trimmed_records(generation: Generation, now: Timestamp) -> bool {
    record::is_past_retention(generation.rotates_at(), now)
}

/// The lane of an item in a log with this many.
pub fn lane_of(position: &RowKey, lanes: usize) -> usize {
    lane_of_hash(position.hash(), lanes)
}

fn lane_of_hash(hash: u64, lanes: usize) -> usize {
    (hash % lanes as u64) as usize
}

/// Checks a request for a list of streams. Returns its limit.
pub fn check_list(request: &ListStreams) -> Result<usize> {
    let too_many = "cannot be greater than the maximum allowed size:";
    let limit = record::check_limit(request.limit, record::LIST_LIMIT, too_many)?;
    if let Some(start) = &request.exclusive_start_stream {
        record::check_stream_arn(start)?;
    }
    Ok(limit)
}

/// Checks a request for a description of a stream. Returns its limit.
pub fn check_describe(request: &DescribeStream) -> Result<usize> {
    let too_many = "cannot be greater than the maximum:";
    let limit = record::check_limit(request.limit, record::LIST_LIMIT, too_many)?;
    // A page of children that is not the first would need a place among them. A shard has few
    // children, and DynamoDB Local 3.3.1 refuses both together in these words.
    if request.shard_filter.is_some() && request.exclusive_start_shard.is_some() {
        return Err(Error::validation(
            "ShardFilter and ExclusiveStartShardId both should not be specified in the request.",
        ));
    }
    Ok(limit)
}

/// A page of the list of streams, out of all logs in the order of their names.
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
    fn a_log_of_one_shard_is_one_of_one_lane() {
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
        // It is kept as it is, and read again.
        let again: StreamState =
            serde_json::from_str(&serde_json::to_string(&log).unwrap()).unwrap();
        assert_eq!(again, log);
    }

    #[test]
    fn shards_have_the_ids_of_their_stream_alone() {
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
    fn what_is_known_of_old_generations_does_not_grow() {
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
            // All have parents; of the oldest ones, they may be gone.
            assert!(first.iter().all(|shard| number < 8 || shard.parent.is_some()));
            for shard in rest {
                let parent = shard.parent.as_ref().unwrap();
                assert!(shards.iter().any(|other| other.id == *parent), "{shard:?}");
            }
        }
    }

    proptest! {
        /// However time passes and numbers are given out, the shards of each lane follow one
        /// another without a gap, each has a number, and whatever is not past retention is in one.
        #[test]
        fn shards_follow_one_another(
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
