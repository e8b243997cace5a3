//! Reading the streams of changes.

use std::collections::VecDeque;

use super::State;
use crate::engine::change::{self, Place};
use crate::engine::log::{self, Log};
use crate::env::{Env, Timestamp};
use crate::error::Result;
use crate::ops::*;

/// A stream: its log, and the records in it.
pub(super) struct Stream {
    pub(super) log: Log,
    pub(super) records: VecDeque<Record>,
}

impl Stream {
    pub(super) fn new(log: Log) -> Self {
        Self { log, records: VecDeque::new() }
    }
}

fn number_of(record: &Record) -> u64 {
    change::parse_sequence_number(&record.sequence_number).expect("the store made it")
}

impl State {
    pub(super) fn close_stream(&mut self, arn: &StreamArn, now: Timestamp) {
        if let Some(stream) = self.streams.get_mut(arn) {
            stream.log.close(now, self.last_sequence_number);
        }
    }

    /// Forgets records older than a day, and streams closed for as long.
    fn trim_streams(&mut self, now: Timestamp) {
        self.streams.retain(|_, stream| !stream.log.has_lapsed(now));
        for Stream { log, records } in self.streams.values_mut() {
            while let Some(record) = records.front()
                && change::is_trimmed(record, now)
            {
                log.trim(number_of(record));
                records.pop_front();
            }
        }
    }

    pub(super) fn list_streams(
        &mut self,
        request: &ListStreams,
        env: &Env,
    ) -> Result<ListStreamsOutput> {
        self.trim_streams(env.clock.now());
        log::list(request, self.streams.values().map(|stream| &stream.log))
    }

    pub(super) fn describe_stream(
        &mut self,
        request: &DescribeStream,
        env: &Env,
    ) -> Result<StreamDescription> {
        log::check_describe(request)?;
        self.trim_streams(env.clock.now());
        self.stream(&request.arn)?.log.describe(request)
    }

    pub(super) fn get_shard_iterator(
        &mut self,
        request: &GetShardIterator,
        env: &Env,
    ) -> Result<ShardIterator> {
        let now = env.clock.now();
        self.trim_streams(now);
        self.stream(&request.arn)?.log.iterator(request, now, self.last_sequence_number)
    }

    pub(super) fn get_records(
        &mut self,
        request: &GetRecords,
        env: &Env,
    ) -> Result<GetRecordsOutput> {
        let limit = change::check_records_limit(request)?;
        let now = env.clock.now();
        self.trim_streams(now);
        let place = Place::of_iterator(&request.iterator, now)?;
        let Stream { log, records } = self.stream(&StreamArn(place.arn.clone()))?;
        log.check_place(&place)?;
        let unread = records.iter().filter(|record| number_of(record) >= place.next);
        let page = change::page(unread.cloned(), limit);
        let next = page.last().map_or(place.next, |record| number_of(record) + 1);
        let last = records.back().map(number_of);
        Ok(GetRecordsOutput {
            records: page,
            next_iterator: log.next_iterator(place, next, last, now),
        })
    }

    fn stream(&self, arn: &StreamArn) -> Result<&Stream> {
        self.streams.get(arn).ok_or_else(|| change::stream_missing(arn))
    }
}
