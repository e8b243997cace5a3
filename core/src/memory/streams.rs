//! The log of a table's changes. A stream has one shard here.

use std::collections::VecDeque;

use super::State;
use crate::engine::change::{self, Place};
use crate::env::{Env, Timestamp};
use crate::error::Result;
use crate::ops::*;
use crate::schema::{Table, TableStream};

/// The changes recorded by one stream.
pub(super) struct Log {
    summary: StreamSummary,
    view_type: StreamViewType,
    key_schema: Vec<KeySchemaElement>,
    opened_at: Timestamp,
    closed_at: Option<Timestamp>,
    pub(super) records: VecDeque<Record>,
    /// The last number that was given out before this stream was opened.
    first_after: u64,
    /// The number of the last record that was trimmed away.
    trimmed_through: u64,
    /// The last number that was given out before this stream was closed.
    last: u64,
}

impl Log {
    /// The log of a stream that has just been enabled.
    pub(super) fn open(table: &Table, stream: &TableStream, last_sequence_number: u64) -> Self {
        Self {
            summary: table.summarise_stream(stream),
            view_type: stream.view_type,
            key_schema: table.schema.key_schema(),
            opened_at: stream.created_at,
            closed_at: None,
            records: VecDeque::new(),
            first_after: last_sequence_number,
            trimmed_through: last_sequence_number,
            last: last_sequence_number,
        }
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

    fn trim(&mut self, now: Timestamp) {
        while let Some(record) = self.records.front()
            && change::is_trimmed(record, now)
        {
            self.trimmed_through = number_of(record);
            self.records.pop_front();
        }
    }

    fn has_lapsed(&self, now: Timestamp) -> bool {
        self.closed_at.is_some_and(|closed| now.since(closed) >= change::RETENTION)
    }
}

fn number_of(record: &Record) -> u64 {
    change::parse_sequence_number(&record.sequence_number).expect("the store made it")
}

impl State {
    pub(super) fn close_stream(&mut self, arn: &StreamArn, now: Timestamp) {
        if let Some(log) = self.streams.get_mut(arn) {
            log.closed_at = Some(now);
            log.last = self.last_sequence_number;
        }
    }

    /// Forgets records older than a day, and streams closed for as long.
    fn trim_streams(&mut self, now: Timestamp) {
        self.streams.retain(|_, log| !log.has_lapsed(now));
        for log in self.streams.values_mut() {
            log.trim(now);
        }
    }

    pub(super) fn list_streams(
        &mut self,
        request: &ListStreams,
        env: &Env,
    ) -> Result<ListStreamsOutput> {
        let too_many = "cannot be greater than the maximum allowed size:";
        let limit = change::check_limit(request.limit, change::LIST_LIMIT, too_many)?;
        self.trim_streams(env.clock.now());
        let mut streams: Vec<StreamSummary> = self
            .streams
            .iter()
            .filter(|(_, log)| {
                request.table.as_ref().is_none_or(|table| *table == log.summary.table)
            })
            .filter(|(arn, _)| {
                request.exclusive_start_stream.as_ref().is_none_or(|start| *arn > start)
            })
            .map(|(_, log)| log.summary.clone())
            .collect();
        let more = streams.len() > limit;
        streams.truncate(limit);
        let last = streams.last().map(|stream| stream.arn.clone());
        Ok(ListStreamsOutput { streams, last_evaluated_stream: last.filter(|_| more) })
    }

    pub(super) fn describe_stream(
        &mut self,
        request: &DescribeStream,
        env: &Env,
    ) -> Result<StreamDescription> {
        let too_many = "cannot be greater than the maximum:";
        change::check_limit(request.limit, change::LIST_LIMIT, too_many)?;
        self.trim_streams(env.clock.now());
        let log = self.log(&request.arn)?;
        let shards = match &request.exclusive_start_shard {
            Some(start) if *start == log.shard_id() => Vec::new(),
            Some(_) => return Err(change::shard_missing()),
            None => vec![log.shard()],
        };
        Ok(StreamDescription {
            arn: request.arn.clone(),
            label: log.summary.label.clone(),
            status: match log.closed_at {
                Some(_) => StreamStatus::Disabled,
                None => StreamStatus::Enabled,
            },
            view_type: log.view_type,
            table: log.summary.table.clone(),
            key_schema: log.key_schema.clone(),
            shards,
            last_evaluated_shard: None,
            created_at: log.opened_at,
        })
    }

    pub(super) fn get_shard_iterator(
        &mut self,
        request: &GetShardIterator,
        env: &Env,
    ) -> Result<ShardIterator> {
        let now = env.clock.now();
        self.trim_streams(now);
        let last = self.last_sequence_number;
        let log = self.log(&request.arn)?;
        if request.shard != log.shard_id() {
            return Err(change::shard_missing());
        }
        let next = match &request.position {
            ShardPosition::TrimHorizon => log.trimmed_through + 1,
            ShardPosition::Latest => last + 1,
            ShardPosition::At(number) => {
                log.check_place(change::parse_sequence_number(number)?, last)?
            }
            ShardPosition::After(number) => {
                log.check_place(change::parse_sequence_number(number)?, last)? + 1
            }
        };
        let place = Place {
            arn: request.arn.0.clone(),
            shard: request.shard.0.clone(),
            next,
            issued_at: now.as_millis(),
        };
        Ok(place.to_iterator())
    }

    pub(super) fn get_records(
        &mut self,
        request: &GetRecords,
        env: &Env,
    ) -> Result<GetRecordsOutput> {
        let too_many = "should be less than or equal to";
        let limit = change::check_limit(request.limit, change::RECORDS_LIMIT, too_many)?;
        let now = env.clock.now();
        self.trim_streams(now);
        let place = Place::of_iterator(&request.iterator, now)?;
        let log = self.log(&StreamArn(place.arn.clone()))?;
        if place.next <= log.trimmed_through {
            return Err(change::trimmed());
        }
        let unread = log.records.iter().filter(|record| number_of(record) >= place.next);
        let records = change::page(unread, limit);
        let next = records.last().map_or(place.next, |record| number_of(record) + 1);
        let is_finished = log.closed_at.is_some()
            && log.records.back().is_none_or(|record| number_of(record) < next);
        let iterator = Place { next, issued_at: now.as_millis(), ..place }.to_iterator();
        Ok(GetRecordsOutput { records, next_iterator: (!is_finished).then_some(iterator) })
    }

    fn log(&self, arn: &StreamArn) -> Result<&Log> {
        self.streams.get(arn).ok_or_else(|| change::stream_missing(arn))
    }
}

impl Log {
    /// Refuses a sequence number outside of the shard, whose first and last need not be a
    /// record's: one counter serves all streams.
    fn check_place(&self, number: u64, given_out: u64) -> Result<u64> {
        let last = if self.closed_at.is_some() { self.last } else { given_out + 1 };
        if number <= self.first_after || number > last {
            return Err(crate::Error::validation("Invalid SequenceNumber for the shard"));
        }
        if number <= self.trimmed_through {
            return Err(change::trimmed());
        }
        Ok(number)
    }
}
