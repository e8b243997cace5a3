//! Streams of the store: their records, and the operations on them.

use std::collections::VecDeque;

use super::State;
use crate::engine::RowKey;
use crate::engine::record::{self, IteratorState, NewRecord};
use crate::engine::stream_state::{self, StreamState};
use crate::env::{Env, Timestamp};
use crate::error::Result;
use crate::ops::*;
use crate::schema::{Table, TableStream};

/// Stream: its state, and its records by lane.
pub(super) struct Stream {
    log: StreamState,
    lanes: Vec<VecDeque<Record>>,
}

impl Stream {
    pub(super) fn new(log: StreamState) -> Self {
        let lanes = vec![VecDeque::new(); log.lanes()];
        Self { log, lanes }
    }
}

fn number_of(record: &Record) -> u64 {
    record::parse_sequence_number(&record.sequence_number)
        .expect("the store formats its sequence numbers")
}

impl State {
    pub(super) fn open_stream(&mut self, table: &Table, stream: &TableStream) {
        let log = StreamState::open(table, stream, self.last_sequence_number);
        self.streams.insert(log.arn().clone(), Stream::new(log));
    }

    pub(super) fn close_stream(&mut self, arn: &StreamArn, now: Timestamp) {
        if let Some(stream) = self.streams.get_mut(arn) {
            self.last_sequence_number = stream.log.close(now, self.last_sequence_number);
        }
    }

    /// Appends the record of a change to a stream.
    pub(super) fn append(
        &mut self,
        table: &Table,
        stream: &TableStream,
        position: &RowKey,
        change: NewRecord<'_>,
        now: Timestamp,
        by: Option<UserIdentity>,
    ) {
        let stream = self.streams.get_mut(&stream.arn(&table.name));
        let Stream { log, lanes } = stream.expect("an enabled stream has a state");
        if now >= log.rotates_at() {
            self.last_sequence_number = log.rotate(now, self.last_sequence_number);
        }
        self.last_sequence_number += 1;
        let number = self.last_sequence_number;
        let event_id = record::event_id(self.epoch, number);
        let record = change.into_record(&table.schema, number, event_id, now, by);
        lanes[stream_state::lane_of(position, log.lanes())].push_back(record);
    }

    /// Deletes records, and disabled streams, past their retention of 24 hours.
    fn trim_streams(&mut self, now: Timestamp) {
        self.streams.retain(|_, stream| !stream.log.is_past_retention(now));
        for Stream { log, lanes } in self.streams.values_mut() {
            for records in lanes {
                while let Some(record) = records.front()
                    && record::is_trimmed(record, now)
                {
                    log.trim(number_of(record));
                    records.pop_front();
                }
            }
        }
    }

    pub(super) fn list_streams(
        &mut self,
        request: &ListStreams,
        env: &Env,
    ) -> Result<ListStreamsOutput> {
        self.trim_streams(env.clock.now());
        stream_state::list(request, self.streams.values().map(|stream| &stream.log))
    }

    pub(super) fn describe_stream(
        &mut self,
        request: &DescribeStream,
        env: &Env,
    ) -> Result<StreamDescription> {
        stream_state::check_describe(request)?;
        let now = env.clock.now();
        self.trim_streams(now);
        self.stream(&request.arn)?.log.describe(request, now)
    }

    pub(super) fn get_shard_iterator(
        &mut self,
        request: &GetShardIterator,
        env: &Env,
    ) -> Result<ShardIterator> {
        let now = env.clock.now();
        self.trim_streams(now);
        let Stream { log, lanes } = self.stream(&request.arn)?;
        let extent = log.shard_range(&request.shard, now)?;
        let newest = lanes.iter().filter_map(|lane| lane.back()).map(number_of).max();
        log.shard_iterator(request, &extent, newest, now)
    }

    pub(super) fn get_records(
        &mut self,
        request: &GetRecords,
        env: &Env,
    ) -> Result<GetRecordsOutput> {
        let limit = record::check_records_limit(request)?;
        let now = env.clock.now();
        self.trim_streams(now);
        let place = IteratorState::decode(&request.iterator, now)?;
        let Stream { log, lanes } = self.stream(&StreamArn(place.arn.clone()))?;
        let extent = log.shard_range_at(&place, now)?;
        let records_from = |next: u64| {
            let is_unread = move |record: &&Record| {
                let number = number_of(record);
                number >= next && extent.last.is_none_or(|last| number <= last)
            };
            lanes[extent.lane].iter().filter(is_unread)
        };
        let page = record::page(records_from(place.next).cloned(), limit);
        let next = page.last().map_or(place.next, |record| number_of(record) + 1);
        let is_more = records_from(next).next().is_some();
        Ok(GetRecordsOutput {
            records: page,
            next_iterator: log.next_iterator(place, &extent, next, is_more, now),
        })
    }

    fn stream(&self, arn: &StreamArn) -> Result<&Stream> {
        self.streams.get(arn).ok_or_else(|| record::stream_missing_error(arn))
    }
}
