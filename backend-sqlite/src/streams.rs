//! Streams: their logs, and the records that are written to them and read. `archive` keeps these.

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

/// Records that one step of maintenance takes away.
const PRUNE_BATCH: usize = 500;

impl Session<'_> {
    /// Opens the log of a stream that has just been enabled.
    pub(crate) fn open_stream(&mut self, log: &StreamState) -> Result<StoredStream> {
        let number = self.next_number()?;
        self.create_record_log(number)?;
        self.execute(
            "INSERT INTO tabla_streams (number, arn, log) VALUES (?1, ?2, ?3)",
            params![number, log.arn().0, to_json(log)],
        )?;
        Ok(StoredStream::new(number, log))
    }

    /// Closes the log of a stream: what it has can be read for a day.
    pub(crate) fn close_stream(&mut self, arn: &StreamArn, now: Timestamp) -> Result<()> {
        let last = self.boundary()? as u64;
        if let Some((number, mut log)) = stream(self.connection, arn)? {
            self.allocate_through(log.close(now, last))?;
            self.store_stream_state(number, &log)?;
        }
        Ok(())
    }

    /// Leaves a record of a change to the item of a row in the table's stream, if it has one.
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

    /// Begins a new generation of shards, unless an earlier write of the group has.
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
        // As time has passed, there may be records to take away.
        self.wants_maintenance = true;
        Ok(())
    }

    fn store_stream_state(&mut self, number: i64, log: &StreamState) -> Result<()> {
        let update = "UPDATE tabla_streams SET log = ?2 WHERE number = ?1";
        self.execute(update, params![number, to_json(log)])?;
        Ok(())
    }

    /// Takes away some of the records that are too old to be read, and the streams that were closed
    /// a day ago; whether there may be more.
    pub(crate) fn prune_streams(&mut self, now: Timestamp) -> Result<bool> {
        for (number, mut log) in logs(self.connection)? {
            if log.is_past_retention(now) {
                self.execute("DELETE FROM tabla_streams WHERE number = ?1", [number])?;
                self.drop_record_log(number)?;
                // What was discarded may have to be emptied.
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

/// Whether there is something for [`Session::keep_streams_short`] to do: a read, so that a store at
/// rest takes no lock.
pub(crate) fn need_pruning(
    connection: &Connection,
    archive: &RecordLog,
    now: Timestamp,
) -> Result<bool> {
    for (number, log) in logs(connection)? {
        if log.is_past_retention(now)
            || archive.last_prunable(connection, number, now, 1)?.is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// All logs, in the order of their streams' names.
fn logs(connection: &Connection) -> Result<Vec<(i64, StreamState)>> {
    let mut stored = Vec::new();
    for_each_row(connection, "SELECT number, log FROM tabla_streams ORDER BY arn", |row| {
        stored.push((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        Ok(())
    })?;
    stored.into_iter().map(|(number, log)| Ok((number, parse(&log)?))).collect()
}

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

/// The stream, if it can be read now.
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
    archive: &RecordLog,
    request: &GetShardIterator,
    now: Timestamp,
) -> Result<ShardIterator> {
    let (number, mut log) = readable(connection, &request.arn, now)?;
    let extent = log.shard_range(&request.shard, now)?;
    // Whether or not what is too old has been taken away.
    if let Some(through) = archive.last_trimmed(connection, number, now)? {
        log.trim(through as u64);
    }
    let newest = archive.newest(connection, number)?;
    log.shard_iterator(request, &extent, newest.map(|number| number as u64), now)
}

pub(crate) fn records(
    connection: &Connection,
    archive: &RecordLog,
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
    let (page, passed) = archive.read(connection, number, &extent, place.next, |unread| {
        // A page ends at the first failure, which then fails the whole.
        let page = std::iter::from_fn(|| {
            let found = match unread.next() {
                // It is too old, but still there.
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
        // The last row that was looked at may have been too much for the page.
        next = page.last().map_or(place.next, |record| number_of(record) + 1);
        let has_more = |unread: &mut RecordReader<'_>| unread.next().map(|found| found.is_some());
        // An open shard goes on in any case.
        is_more = extent.last.is_none()
            || archive.read(connection, number, &extent, next, has_more)??;
    }
    let next_iterator = log.next_iterator(place, &extent, next, is_more, now);
    Ok(GetRecordsOutput::new(page).next_iterator(next_iterator))
}

fn number_of(record: &Record) -> u64 {
    record::parse_sequence_number(&record.sequence_number).expect("the store made it")
}
