//! The records of streams.

use std::sync::Arc;

use bytes::Bytes;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use tabla::engine::change::{self, Change, Place};
use tabla::engine::log::{self, Log};
use tabla::engine::{Applicable, TableRef};
use tabla::env::Timestamp;
use tabla::ops::{
    DescribeStream, EventName, GetRecords, GetRecordsOutput, GetShardIterator, ListStreams,
    ListStreamsOutput, Record, ShardIterator, StreamArn, StreamDescription, StreamViewType,
    UserIdentity,
};
use tabla::schema::TableSchema;
use tabla::{Item, Result};

use crate::catalogue::{StoredStream, StoredTable, each, parse, to_json};
use crate::error::{damaged, from_sqlite};
use crate::format;
use crate::session::{Role, Session};

/// Records that one step of maintenance takes away.
const PRUNED: usize = 500;

impl Session<'_> {
    /// Opens the log of a stream that has just been enabled. Each of its lanes has a number, one
    /// after the other from that of the stream.
    pub(crate) fn open_stream(&mut self, log: &Log) -> Result<StoredStream> {
        let lanes = (0..log.lanes()).map(|_| self.next_number()).collect::<Result<Vec<i64>>>()?;
        for lane in &lanes {
            self.execute_batch(&format::create_records(*lane))?;
        }
        let number = lanes[0];
        self.execute(
            "INSERT INTO tabla_streams (number, arn, log) VALUES (?1, ?2, ?3)",
            params![number, log.arn().0, to_json(log)],
        )?;
        Ok(StoredStream::new(number, log))
    }

    /// Closes the log of a stream: what it has can be read for a day.
    pub(crate) fn close_stream(&mut self, arn: &StreamArn, now: Timestamp) -> Result<()> {
        let last = self.last_record()? as u64;
        if let Some((number, mut log)) = stream(self.connection, arn)? {
            self.give_out(log.close(now, last))?;
            self.keep_log(number, &log)?;
        }
        Ok(())
    }

    /// Leaves a record of a change in the table's stream, if it has one.
    pub(crate) fn record(
        &mut self,
        table: &Arc<StoredTable>,
        write: &Applicable<'_, i64>,
    ) -> Result<()> {
        let (Some(stream), Some(view)) = (&table.stream, table.table.stream()) else {
            return Ok(());
        };
        let Some(change) = Change::of(write.effect, view.view_type) else { return Ok(()) };
        let now = self.env.clock.now();
        if now >= stream.due {
            self.rotate(table, stream.number, now)?;
        }
        let lane = log::lane_of(write.position, stream.append.len());
        let number = self.next_record()?;
        let Stored { event, keys, old, new } = Stored::of(&change, table.schema());
        let images = [&old, &new].into_iter().flatten();
        self.written.bytes += images.map(|image| image.len()).sum::<usize>();
        let values = params![
            number,
            change::created_at(now).as_millis() as i64,
            self.numbers.epoch_bytes(),
            event,
            IN_LOG,
            DERIVED,
            &keys[..],
            old.as_deref(),
            new.as_deref(),
            self.by.as_ref().map(to_json),
        ];
        self.write(stream.number + lane as i64, Role::Append, &stream.append[lane], values)?;
        Ok(())
    }

    /// Begins a new generation of shards, unless an earlier write of the group has.
    fn rotate(&mut self, table: &StoredTable, number: i64, now: Timestamp) -> Result<()> {
        let select = "SELECT log FROM tabla_streams WHERE number = ?1";
        let outcome = self.connection.query_row(select, [number], |row| row.get::<_, String>(0));
        let mut log: Log = parse(&self.sql(outcome)?)?;
        if now < log.due() {
            return Ok(());
        }
        let last = self.last_record()? as u64;
        self.give_out(log.rotate(now, last))?;
        self.keep_log(number, &log)?;
        let (definition, indexes) = (table.table.clone(), table.index_numbers());
        let stream = StoredStream::new(number, &log);
        let expiry = table.expiry.clone();
        let stored = StoredTable::new(table.number, definition, &indexes, Some(stream), expiry)?;
        self.catalogue_mut().put(stored);
        // As time has passed, there may be records to take away.
        self.wants_maintenance = true;
        Ok(())
    }

    fn keep_log(&mut self, number: i64, log: &Log) -> Result<()> {
        let update = "UPDATE tabla_streams SET log = ?2 WHERE number = ?1";
        self.execute(update, params![number, to_json(log)])?;
        Ok(())
    }

    /// Takes away some of the records that are too old to be read, and the streams that were closed
    /// a day ago; whether there may be more.
    pub(crate) fn keep_streams_short(&mut self, now: Timestamp) -> Result<bool> {
        for (number, mut log) in logs(self.connection)? {
            let lanes = number..number + log.lanes() as i64;
            if log.has_lapsed(now) {
                self.execute("DELETE FROM tabla_streams WHERE number = ?1", [number])?;
                for lane in lanes {
                    self.discard(&format::records(lane), "number")?;
                }
                // What was discarded may have to be emptied.
                return Ok(true);
            }
            for lane in lanes {
                if let Some(through) = expired(self.connection, lane, now, PRUNED)? {
                    let records = format::records(lane);
                    self.execute(&format!("DELETE FROM {records} WHERE number <= ?1"), [through])?;
                    log.trim(through as u64);
                    self.keep_log(number, &log)?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Whether there is something for [`Session::keep_streams_short`] to do: a read, so that a store at
/// rest takes no lock.
pub(crate) fn are_too_long(connection: &Connection, now: Timestamp) -> Result<bool> {
    for (number, log) in logs(connection)? {
        let mut is_too_long = log.has_lapsed(now);
        for lane in number..number + log.lanes() as i64 {
            is_too_long |= expired(connection, lane, now, 1)?.is_some();
        }
        if is_too_long {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The number of the last of the oldest records in a lane, at most `most`, that are too old to be
/// read.
fn expired(connection: &Connection, lane: i64, now: Timestamp, most: usize) -> Result<Option<i64>> {
    let select =
        format!("SELECT number, created_at FROM {} ORDER BY number", format::records(lane));
    let mut statement = connection.prepare_cached(&select).map_err(from_sqlite)?;
    let mut rows = statement.query([]).map_err(from_sqlite)?;
    let mut last = None;
    let mut left = most;
    while left > 0
        && let Some(row) = rows.next().map_err(from_sqlite)?
        && change::is_past_retention(time(row, 1)?, now)
    {
        last = Some(row.get(0).map_err(from_sqlite)?);
        left -= 1;
    }
    Ok(last)
}

/// All logs, in the order of their streams' names.
fn logs(connection: &Connection) -> Result<Vec<(i64, Log)>> {
    let mut stored = Vec::new();
    each(connection, "SELECT number, log FROM tabla_streams ORDER BY arn", |row| {
        stored.push((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        Ok(())
    })?;
    stored.into_iter().map(|(number, log)| Ok((number, parse(&log)?))).collect()
}

fn stream(connection: &Connection, arn: &StreamArn) -> Result<Option<(i64, Log)>> {
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
fn readable(connection: &Connection, arn: &StreamArn, now: Timestamp) -> Result<(i64, Log)> {
    let found = stream(connection, arn)?.filter(|(_, log)| !log.has_lapsed(now));
    found.ok_or_else(|| change::stream_missing(arn))
}

pub(crate) fn list(
    connection: &Connection,
    request: &ListStreams,
    now: Timestamp,
) -> Result<ListStreamsOutput> {
    let logs = logs(connection)?;
    log::list(request, logs.iter().map(|(_, log)| log).filter(|log| !log.has_lapsed(now)))
}

pub(crate) fn describe(
    connection: &Connection,
    request: &DescribeStream,
    now: Timestamp,
) -> Result<StreamDescription> {
    log::check_describe(request)?;
    readable(connection, &request.arn, now)?.1.describe(request, now)
}

pub(crate) fn iterator(
    connection: &Connection,
    request: &GetShardIterator,
    now: Timestamp,
) -> Result<ShardIterator> {
    let (number, mut log) = readable(connection, &request.arn, now)?;
    let extent = log.extent(&request.shard, now)?;
    let lane = number + extent.lane as i64;
    // Whether or not what is too old has been taken away.
    if let Some(through) = expired(connection, lane, now, usize::MAX)? {
        log.trim(through as u64);
    }
    let select = format!("SELECT max(number) FROM {}", format::records(lane));
    let newest: Option<i64> = connection
        .prepare_cached(&select)
        .and_then(|mut select| select.query_row([], |row| row.get(0)))
        .map_err(from_sqlite)?;
    log.iterator(request, &extent, newest.map(|number| number as u64), now)
}

pub(crate) fn records(
    connection: &Connection,
    request: &GetRecords,
    now: Timestamp,
) -> Result<GetRecordsOutput> {
    let limit = change::check_records_limit(request)?;
    let place = Place::of_iterator(&request.iterator, now)?;
    let (number, log) = readable(connection, &StreamArn(place.arn.clone()), now)?;
    let extent = log.extent_at(&place, now)?;
    let select = format!(
        "SELECT number, created_at, event_id, event, view, size, keys, old, new, by \
         FROM {} WHERE number BETWEEN ?1 AND ?2 ORDER BY number",
        format::records(number + extent.lane as i64)
    );
    let mut statement = connection.prepare_cached(&select).map_err(from_sqlite)?;
    let last = extent.last.map_or(i64::MAX, |last| last as i64);
    let mut rows = statement.query([place.next as i64, last]).map_err(from_sqlite)?;
    let mut failure = None;
    let mut is_first = true;
    // A page ends at the first failure, which then fails the whole.
    let unread = std::iter::from_fn(|| {
        let row = rows.next().map_err(from_sqlite);
        let row = row.and_then(|row| row.map(|row| record(row, &log)).transpose());
        let row = match row {
            // It is too old, but still there.
            Ok(Some(first)) if is_first && change::is_trimmed(&first, now) => {
                Err(change::trimmed())
            }
            row => row,
        };
        is_first = false;
        row.unwrap_or_else(|error| {
            failure = Some(error);
            None
        })
    });
    let page = change::page(unread, limit);
    if let Some(error) = failure {
        return Err(error);
    }
    let next = page.last().map_or(place.next, |record| number_of(record) + 1);
    drop(rows);
    let mut rows = statement.query([next as i64, last]).map_err(from_sqlite)?;
    let is_more = rows.next().map_err(from_sqlite)?.is_some();
    let next_iterator = log.next_iterator(place, &extent, next, is_more, now);
    Ok(GetRecordsOutput { records: page, next_iterator })
}

/// A record as a row of it is read, whichever version wrote it.
pub(crate) struct StoredRecord {
    pub(crate) number: u64,
    pub(crate) created_at: Timestamp,
    pub(crate) event_id: EventId,
    pub(crate) event: String,
    pub(crate) view: String,
    pub(crate) size: u64,
    pub(crate) keys: Vec<u8>,
    pub(crate) old: Option<Vec<u8>>,
    pub(crate) new: Option<Vec<u8>>,
    pub(crate) by: Option<String>,
}

pub(crate) enum EventId {
    Epoch([u8; 8]),
    Whole(String),
}

impl StoredRecord {
    /// The record that is stored.
    ///
    /// # Errors
    /// It is damaged.
    pub(crate) fn record(self, log: &Log) -> Result<Record> {
        let item = |bytes: Vec<u8>| Item::decode(Bytes::from(bytes));
        let (old, new) = (self.old.map(item).transpose()?, self.new.map(item).transpose()?);
        let (event_name, old, new) = match (self.event.as_str(), old, new) {
            (OLD_DIFFERS, Some(old), Some(new)) => {
                (EventName::Modify, Some(change::with_difference(&new, &old)), Some(new))
            }
            (NEW_DIFFERS, Some(old), Some(new)) => {
                let new = change::with_difference(&old, &new);
                (EventName::Modify, Some(old), Some(new))
            }
            (name, old, new) => (event_name(name)?, old, new),
        };
        let keys = match (self.keys.is_empty(), new.as_ref().or(old.as_ref())) {
            (true, Some(image)) => log.keys_of(image),
            _ => item(self.keys)?,
        };
        let view_type = match self.view.as_str() {
            IN_LOG => log.view_type(),
            view => parse::<StreamViewType>(&format!("\"{view}\""))?,
        };
        let size_bytes = match self.size as i64 {
            DERIVED => change::size(&keys, old.as_ref(), new.as_ref()),
            size => size as u64,
        };
        let event_id = match self.event_id {
            EventId::Epoch(epoch) => change::event_id(u64::from_be_bytes(epoch), self.number),
            EventId::Whole(id) => id,
        };
        Ok(Record {
            event_id,
            event_name,
            sequence_number: change::sequence_number(self.number),
            created_at: self.created_at,
            keys,
            old_image: old,
            new_image: new,
            view_type,
            size_bytes,
            user_identity: self.by.map(|json| parse::<UserIdentity>(&json)).transpose()?,
        })
    }
}

fn event_name(stored: &str) -> Result<EventName> {
    [EventName::Insert, EventName::Modify, EventName::Remove]
        .into_iter()
        .find(|event| event.as_str() == stored)
        .ok_or_else(|| damaged(format_args!("a stream record has an unknown event: {stored}")))
}

fn record(row: &Row<'_>, log: &Log) -> Result<Record> {
    let event_id = match row.get_ref(2).map_err(from_sqlite)? {
        ValueRef::Blob(epoch) => EventId::Epoch(
            epoch.try_into().map_err(|_| damaged("a stream record has a broken event id"))?,
        ),
        _ => EventId::Whole(row.get(2).map_err(from_sqlite)?),
    };
    let read = || {
        Ok(StoredRecord {
            number: row.get::<_, i64>(0)? as u64,
            created_at: Timestamp::from_millis(row.get::<_, i64>(1)? as u64),
            event_id,
            event: row.get(3)?,
            view: row.get(4)?,
            size: row.get::<_, i64>(5)? as u64,
            keys: row.get(6)?,
            old: row.get(7)?,
            new: row.get(8)?,
            by: row.get(9)?,
        })
    };
    read().map_err(from_sqlite)?.record(log)
}

/// What a row has of a change: nothing twice, and nothing that follows from the rest.
struct Stored {
    event: &'static str,
    keys: Bytes,
    old: Option<Bytes>,
    new: Option<Bytes>,
}

/// The event of a change whose old image is stored as what it has differently from the new one.
const OLD_DIFFERS: &str = "MODIFY-OLD";
/// The same the other way round.
const NEW_DIFFERS: &str = "MODIFY-NEW";
/// The view of a record that is its log's.
const IN_LOG: &str = "";
/// The size of a record that follows from its items: no record has no bytes.
const DERIVED: i64 = 0;

impl Stored {
    fn of(change: &Change<'_>, schema: &TableSchema) -> Self {
        let (old, new) = (change.old_image, change.new_image);
        let keys = match (old, new) {
            (None, None) => change.keys(schema).encode(),
            // They are in the image.
            _ => Bytes::new(),
        };
        let encode = |image: Option<&Item>| image.map(Item::encode);
        if let (Some(old), Some(new)) = (old, new) {
            if let Some(different) = change::difference(old, new) {
                let (old, new) = (Some(different.encode()), Some(new.encode()));
                return Self { event: OLD_DIFFERS, keys, old, new };
            }
            if let Some(different) = change::difference(new, old) {
                let (old, new) = (Some(old.encode()), Some(different.encode()));
                return Self { event: NEW_DIFFERS, keys, old, new };
            }
        }
        Self { event: change.event_name.as_str(), keys, old: encode(old), new: encode(new) }
    }
}

fn time(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    let millis = row.get::<_, i64>(column).map_err(from_sqlite)?;
    Ok(Timestamp::from_millis(millis as u64))
}

fn number_of(record: &Record) -> u64 {
    change::parse_sequence_number(&record.sequence_number).expect("the store made it")
}
