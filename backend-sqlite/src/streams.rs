//! Streams: opening, closing and shards of streams; writing of change records; the read operations.
//!
//! `record_log` stores the records. Core's `stream_state` decides about shards and iterators.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use tabla_core::Result;
use tabla_core::backend::EvaluatedWrite;
use tabla_core::backend::record::{self, IteratorState, NewRecord};
use tabla_core::backend::stream_state::{self, StreamState};
use tabla_core::env::Timestamp;
use tabla_core::ops::{
    DescribeStream, GetRecords, GetRecordsOutput, GetShardIterator, ListStreams, ListStreamsOutput,
    Record, ShardIterator, StreamArn, StreamDescription,
};

use crate::catalogue::{StoredStream, StoredTable, for_each_row, parse, to_json};
use crate::delta_chain::{RecordAssembler, RecordContext};
use crate::error::from_sqlite;
use crate::record_log::{RecordLog, RecordReader};
use crate::records::{self, StoredRecord};
use crate::session::Session;

/// Maximum number of records that one step of maintenance deletes.
const PRUNE_BATCH: usize = 500;

impl Session<'_> {
    /// Opens a stream that is being enabled: its state, and the table for its records.
    pub(crate) fn open_stream(&mut self, log: &StreamState) -> Result<StoredStream> {
        let number = self.next_number()?;
        self.create_record_log(number)?;
        self.execute(
            "INSERT INTO tabla_streams (number, arn, log) VALUES (?1, ?2, ?3)",
            params![number, log.arn().0, to_json(log)],
        )?;
        Ok(StoredStream::new(number, log))
    }

    /// Closes a stream. Its records can be read for another 24 hours.
    pub(crate) fn close_stream(&mut self, arn: &StreamArn, now: Timestamp) -> Result<()> {
        let last = self.boundary()? as u64;
        if let Some((number, mut log)) = stream(self.connection, arn)? {
            self.allocate_through(log.close(now, last))?;
            self.store_stream_state(number, &log)?;
        }
        Ok(())
    }

    /// Writes a change record to the table's stream, if it is enabled. `row` is the item's
    /// row number.
    pub(crate) fn record(
        &mut self,
        table: &Arc<StoredTable>,
        row: i64,
        write: &EvaluatedWrite<'_, i64>,
    ) -> Result<()> {
        let (Some(stream), Some(view)) = (&table.stream, table.table.stream()) else {
            return Ok(());
        };
        let Some(change) = NewRecord::of(write.effect, view.view_type) else { return Ok(()) };
        let now = self.env.clock.now();
        if now >= stream.due {
            self.rotate(table, stream.number, now)?;
        }
        let lane = stream_state::lane_of(write.row_key, stream.lanes) as i64;
        let number = self.next_sequence_number()?;
        let at = record::created_at(now).as_secs() as i64;
        let images = self.record_images(
            RecordContext { table, stream, row, number, at },
            &change,
            write.effect,
        );
        let record = StoredRecord {
            number,
            lane,
            at,
            epoch: self.numbers.epoch(),
            event: records::event_number(change.event_name),
            images,
            by: self.by.as_ref().map(to_json),
        };
        self.append_record(stream, record)
    }

    /// Begins a new generation of shards, unless an earlier write of the group has begun it.
    fn rotate(&mut self, table: &StoredTable, number: i64, now: Timestamp) -> Result<()> {
        let select = "SELECT log FROM tabla_streams WHERE number = ?1";
        let outcome = self.connection.query_row(select, [number], |row| row.get::<_, String>(0));
        let mut log: StreamState = parse(&self.sql(outcome)?)?;
        if now < log.rotates_at() {
            return Ok(());
        }
        let last = self.boundary()? as u64;
        self.allocate_through(log.rotate(now, last))?;
        self.store_stream_state(number, &log)?;
        let (definition, indexes) = (table.table.clone(), table.index_numbers());
        let stream = StoredStream::new(number, &log);
        let expiry = table.expiry.clone();
        let stored = StoredTable::new(table.number, definition, &indexes, Some(stream), expiry)?;
        self.catalogue_mut().put(stored);
        // Four hours have passed since the last rotation, so records may be past their retention.
        self.wants_maintenance = true;
        Ok(())
    }

    fn store_stream_state(&mut self, number: i64, log: &StreamState) -> Result<()> {
        let update = "UPDATE tabla_streams SET log = ?2 WHERE number = ?1";
        self.execute(update, params![number, to_json(log)])?;
        Ok(())
    }

    /// Executes one step of retention: deletes the oldest records past their retention, or a stream
    /// that was closed 24 hours ago. Returns whether there may be more to delete.
    pub(crate) fn prune_streams(&mut self, now: Timestamp) -> Result<bool> {
        for (number, mut log) in logs(self.connection)? {
            if log.is_past_retention(now) {
                self.execute("DELETE FROM tabla_streams WHERE number = ?1", [number])?;
                self.drop_record_log(number)?;
                // Maintenance may have to empty the discarded table.
                return Ok(true);
            }
            if let Some(through) =
                self.record_log.last_prunable(self.connection, number, now, PRUNE_BATCH)?
            {
                self.prune_records(number, through)?;
                log.trim(through as u64);
                self.store_stream_state(number, &log)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether [`Session::prune_streams`] has something to delete. It only reads, so that an idle store
/// takes no write lock.
pub(crate) fn need_pruning(
    connection: &Connection,
    record_log: &RecordLog,
    now: Timestamp,
) -> Result<bool> {
    for (number, log) in logs(connection)? {
        if log.is_past_retention(now)
            || record_log.last_prunable(connection, number, now, 1)?.is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads the numbers and states of all streams, in the order of their ARNs.
fn logs(connection: &Connection) -> Result<Vec<(i64, StreamState)>> {
    let mut stored = Vec::new();
    for_each_row(connection, "SELECT number, log FROM tabla_streams ORDER BY arn", |row| {
        stored.push((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        Ok(())
    })?;
    stored.into_iter().map(|(number, log)| Ok((number, parse(&log)?))).collect()
}

/// Reads the number and state of a stream, if it exists.
fn stream(connection: &Connection, arn: &StreamArn) -> Result<Option<(i64, StreamState)>> {
    let select = "SELECT number, log FROM tabla_streams WHERE arn = ?1";
    let found = connection
        .prepare_cached(select)
        .and_then(|mut select| {
            select.query_row([&arn.0], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).optional()
        })
        .map_err(from_sqlite)?;
    found.map(|(number, log)| Ok((number, parse(&log)?))).transpose()
}

/// Reads the number and state of a stream, or fails if it does not exist or was closed 24
/// hours ago.
fn readable(
    connection: &Connection,
    arn: &StreamArn,
    now: Timestamp,
) -> Result<(i64, StreamState)> {
    let found = stream(connection, arn)?.filter(|(_, log)| !log.is_past_retention(now));
    found.ok_or_else(|| record::stream_missing_error(arn))
}

pub(crate) fn list(
    connection: &Connection,
    request: &ListStreams,
    now: Timestamp,
) -> Result<ListStreamsOutput> {
    let logs = logs(connection)?;
    stream_state::list(
        request,
        logs.iter().map(|(_, log)| log).filter(|log| !log.is_past_retention(now)),
    )
}

pub(crate) fn describe(
    connection: &Connection,
    request: &DescribeStream,
    now: Timestamp,
) -> Result<StreamDescription> {
    stream_state::check_describe(request)?;
    readable(connection, &request.arn, now)?.1.describe(request, now)
}

pub(crate) fn iterator(
    connection: &Connection,
    record_log: &RecordLog,
    request: &GetShardIterator,
    now: Timestamp,
) -> Result<ShardIterator> {
    let (number, mut log) = readable(connection, &request.arn, now)?;
    let extent = log.shard_range(&request.shard, now)?;
    // Records past their retention do not exist for a reader, even if they are not deleted yet.
    if let Some(through) = record_log.last_trimmed(connection, number, now)? {
        log.trim(through as u64);
    }
    let newest = record_log.newest(connection, number)?;
    log.shard_iterator(request, &extent, newest.map(|number| number as u64), now)
}

pub(crate) fn records(
    connection: &Connection,
    record_log: &RecordLog,
    request: &GetRecords,
    now: Timestamp,
) -> Result<GetRecordsOutput> {
    let limit = record::check_records_limit(request)?;
    let place = IteratorState::decode(&request.iterator, now)?;
    let (number, log) = readable(connection, &StreamArn(place.arn.clone()), now)?;
    let extent = log.shard_range_at(&place, now)?;
    let (mut is_first, mut is_end) = (true, false);
    let mut failure = None;
    let mut assembly = RecordAssembler::new(connection, number, &log);
    let (page, passed) = record_log.read(connection, number, &extent, place.next, |unread| {
        // A failure ends the page, and then fails the request.
        let page = std::iter::from_fn(|| {
            let found = match unread.next() {
                // Past its retention, but not deleted yet.
                Ok(Some(first)) if is_first && first.is_trimmed(now) => {
                    Err(record::trimmed_error())
                }
                Ok(Some(stored)) => assembly.record(stored).map(Some),
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            };
            is_first = false;
            is_end = matches!(found, Ok(None));
            found.unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        });
        let page = record::page(page, limit);
        (page, unread.resume_at())
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    let (mut next, mut is_more) = (passed, false);
    if !is_end {
        // The last examined record may not have fit into the page.
        next = page.last().map_or(place.next, |record| number_of(record) + 1);
        let has_more = |unread: &mut RecordReader<'_>| unread.next().map(|found| found.is_some());
        // An open shard always has a next iterator.
        is_more = extent.last.is_none()
            || record_log.read(connection, number, &extent, next, has_more)??;
    }
    let next_iterator = log.next_iterator(place, &extent, next, is_more, now);
    Ok(GetRecordsOutput::new(page).next_iterator(next_iterator))
}

fn number_of(record: &Record) -> u64 {
    record::parse_sequence_number(&record.sequence_number)
        .expect("a sequence number that the store has formatted")
}
