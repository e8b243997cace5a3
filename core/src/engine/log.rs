//! The log behind a stream: what is known of it besides its records. A stream has one shard here.

use serde::{Deserialize, Serialize};

use super::change::{self, Place};
use crate::env::Timestamp;
use crate::error::{Error, Result};
use crate::ops::{
    DescribeStream, GetShardIterator, KeySchemaElement, ListStreams, ListStreamsOutput, Shard,
    ShardId, ShardIterator, ShardPosition, StreamArn, StreamDescription, StreamStatus,
    StreamSummary, StreamViewType,
};
use crate::schema::{Table, TableStream};

/// What is known of a stream's log besides its records.
///
/// An engine stores it as JSON beside the records. One counter numbers the records of all streams,
/// so that a log has a first and a last number that need not be those of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Log {
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
    /// The number of the last record that was trimmed away.
    trimmed_through: u64,
    /// The last number that was given out before this stream was closed.
    last: u64,
}

impl Log {
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
        }
    }

    /// The log closed: nothing is added any more.
    pub fn close(&mut self, now: Timestamp, last_number: u64) {
        self.closed_at = Some(now.to_millis());
        self.last = last_number;
    }

    /// Notes that the records up to this number are gone.
    pub fn trim(&mut self, through: u64) {
        self.trimmed_through = self.trimmed_through.max(through);
    }

    /// Whether the whole log is to be forgotten: it was closed a day ago.
    pub fn has_lapsed(&self, now: Timestamp) -> bool {
        self.closed_at.is_some_and(|closed| now.since(closed) >= change::RETENTION)
    }

    /// The stream.
    pub fn arn(&self) -> &StreamArn {
        &self.arn
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
    pub fn describe(&self, request: &DescribeStream) -> Result<StreamDescription> {
        let shards = match &request.exclusive_start_shard {
            Some(start) if *start == self.shard_id() => Vec::new(),
            Some(_) => return Err(change::shard_missing()),
            None => vec![self.shard()],
        };
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
            last_evaluated_shard: None,
            created_at: self.opened_at,
        })
    }

    /// The iterator that a request asks for, after this many records of all streams.
    pub fn iterator(
        &self,
        request: &GetShardIterator,
        now: Timestamp,
        last_number: u64,
    ) -> Result<ShardIterator> {
        if request.shard != self.shard_id() {
            return Err(change::shard_missing());
        }
        let numbered =
            |number| self.check_number(change::parse_sequence_number(number)?, last_number);
        let next = match &request.position {
            ShardPosition::TrimHorizon => self.trimmed_through + 1,
            ShardPosition::Latest => last_number + 1,
            ShardPosition::At(number) => numbered(number)?,
            ShardPosition::After(number) => numbered(number)? + 1,
        };
        let place = Place {
            arn: self.arn.0.clone(),
            shard: request.shard.0.clone(),
            next,
            issued_at: now.as_millis(),
        };
        Ok(place.to_iterator())
    }

    /// Refuses to read what is no longer kept.
    pub fn check_place(&self, place: &Place) -> Result<()> {
        if place.next <= self.trimmed_through {
            return Err(change::trimmed());
        }
        Ok(())
    }

    /// The iterator after a read that has come to `next`; `None` if nothing will ever follow.
    pub fn next_iterator(
        &self,
        place: Place,
        next: u64,
        last_record: Option<u64>,
        now: Timestamp,
    ) -> Option<ShardIterator> {
        let is_finished =
            self.closed_at.is_some() && last_record.is_none_or(|number| number < next);
        let place = Place { next, issued_at: now.as_millis(), ..place };
        (!is_finished).then(|| place.to_iterator())
    }

    fn shard(&self) -> Shard {
        Shard {
            id: self.shard_id(),
            parent: None,
            starting_sequence_number: change::sequence_number(self.first_after + 1),
            ending_sequence_number: self.closed_at.map(|_| change::sequence_number(self.last)),
        }
    }

    fn shard_id(&self) -> ShardId {
        ShardId(format!("shardId-{:020}-{:08x}", self.opened_at.as_millis(), self.first_after))
    }

    /// Refuses a sequence number outside of the shard.
    fn check_number(&self, number: u64, given_out: u64) -> Result<u64> {
        let last = if self.closed_at.is_some() { self.last } else { given_out + 1 };
        if number <= self.first_after || number > last {
            return Err(Error::validation("Invalid SequenceNumber for the shard"));
        }
        if number <= self.trimmed_through {
            return Err(change::trimmed());
        }
        Ok(number)
    }
}

/// Checks the limit of a list of streams.
pub fn check_list(request: &ListStreams) -> Result<usize> {
    let too_many = "cannot be greater than the maximum allowed size:";
    change::check_limit(request.limit, change::LIST_LIMIT, too_many)
}

/// Checks the limit of a description of a stream.
pub fn check_describe(request: &DescribeStream) -> Result<()> {
    let too_many = "cannot be greater than the maximum:";
    change::check_limit(request.limit, change::LIST_LIMIT, too_many).map(|_| ())
}

/// A page of the list of streams, out of all logs in the order of their names.
pub fn list<'a>(
    request: &ListStreams,
    logs: impl IntoIterator<Item = &'a Log>,
) -> Result<ListStreamsOutput> {
    let limit = check_list(request)?;
    let is_listed = |log: &&Log| {
        let of_table = request.table.as_ref().is_none_or(|table| *table == log.table);
        let start = request.exclusive_start_stream.as_ref();
        of_table && start.is_none_or(|start| log.arn > *start)
    };
    let mut streams: Vec<StreamSummary> =
        logs.into_iter().filter(is_listed).map(Log::summary).collect();
    let more = streams.len() > limit;
    streams.truncate(limit);
    let last = streams.last().map(|stream| stream.arn.clone());
    Ok(ListStreamsOutput { streams, last_evaluated_stream: last.filter(|_| more) })
}
