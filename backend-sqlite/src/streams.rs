//! The records of streams.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, params};
use tabla::engine::change::{self, Place};
use tabla::engine::log::{self, Log};
use tabla::env::Timestamp;
use tabla::ops::{
    DescribeStream, EventName, GetRecords, GetRecordsOutput, GetShardIterator, ListStreams,
    ListStreamsOutput, Record, ShardIterator, StreamArn, StreamDescription, StreamViewType,
    UserIdentity,
};
use tabla::{Item, Result};

use crate::catalogue::{each, parse, to_json};
use crate::error::{damaged, from_sqlite};
use crate::format;
use crate::session::Session;

/// How many records that are too old each new one takes away: more than one, so that a backlog
/// shrinks.
const PRUNED_AT_ONCE: usize = 4;

impl Session<'_> {
    /// Opens the log of a stream that has just been enabled; its number.
    pub(crate) fn open_stream(&mut self, log: &Log) -> Result<i64> {
        let number = self.next_number()?;
        self.execute_batch(&format::create_records(number))?;
        self.execute(
            "INSERT INTO tabla_streams (number, arn, log) VALUES (?1, ?2, ?3)",
            params![number, log.arn().0, to_json(log)],
        )?;
        Ok(number)
    }

    /// Closes the log of a stream: what it has can be read for a day.
    pub(crate) fn close_stream(&mut self, arn: &StreamArn, now: Timestamp) -> Result<()> {
        let last = self.last_record()? as u64;
        if let Some((number, mut log)) = stream(self.connection, arn)? {
            log.close(now, last);
            self.keep_log(number, &log)?;
        }
        Ok(())
    }

    fn keep_log(&mut self, number: i64, log: &Log) -> Result<()> {
        let update = "UPDATE tabla_streams SET log = ?2 WHERE number = ?1";
        self.execute(update, params![number, to_json(log)])?;
        Ok(())
    }

    /// Adds a record to a stream, and takes away some that nobody may read any more.
    pub(crate) fn append(&mut self, stream: i64, record: &Record) -> Result<()> {
        let number = number_of(record);
        let created_at = record.created_at.as_millis() as i64;
        let encoded = |item: &Option<Item>| item.as_ref().map(Item::encode);
        let (old, new) = (encoded(&record.old_image), encoded(&record.new_image));
        self.execute(
            &format!(
                "INSERT INTO records_{stream} \
                 (number, created_at, event_id, event, view, size, keys, old, new, by) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
            ),
            params![
                number as i64,
                created_at,
                record.event_id,
                record.event_name.as_str(),
                record.view_type.as_str(),
                record.size_bytes as i64,
                &record.keys.encode()[..],
                old.as_deref(),
                new.as_deref(),
                record.user_identity.as_ref().map(to_json),
            ],
        )?;
        self.prune(stream, self.env.clock.now(), PRUNED_AT_ONCE)
    }

    /// Takes away up to `most` of the oldest records, as far as they are too old to be read.
    pub(crate) fn prune(&mut self, stream: i64, now: Timestamp, most: usize) -> Result<()> {
        let expired = expired(self.connection, stream, now, most)?;
        let Some(through) = expired else { return Ok(()) };
        self.execute(&format!("DELETE FROM records_{stream} WHERE number <= ?1"), [through])?;
        let select = "SELECT log FROM tabla_streams WHERE number = ?1";
        let outcome = self.connection.query_row(select, [stream], |row| row.get::<_, String>(0));
        let mut log: Log = parse(&self.sql(outcome)?)?;
        log.trim(through as u64);
        self.keep_log(stream, &log)
    }

    /// Forgets the streams that were closed a day ago, with all their records.
    pub(crate) fn forget_streams(&mut self, now: Timestamp) -> Result<()> {
        for (number, log) in logs(self.connection)? {
            if log.has_lapsed(now) {
                self.execute("DELETE FROM tabla_streams WHERE number = ?1", [number])?;
                self.discard(&format!("records_{number}"), "number")?;
            }
        }
        Ok(())
    }
}

/// The number of the last of the oldest records, at most `most`, that are too old to be read.
fn expired(
    connection: &Connection,
    stream: i64,
    now: Timestamp,
    most: usize,
) -> Result<Option<i64>> {
    let select = format!("SELECT number, created_at FROM records_{stream} ORDER BY number");
    let mut statement = connection.prepare_cached(&select).map_err(from_sqlite)?;
    let mut rows = statement.query([]).map_err(from_sqlite)?;
    let mut last = None;
    let mut left = most;
    while left > 0
        && let Some(row) = rows.next().map_err(from_sqlite)?
    {
        let created_at = row.get::<_, i64>(1).map_err(from_sqlite)? as u64;
        if !change::is_past_retention(Timestamp::from_millis(created_at), now) {
            break;
        }
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

/// The stream as it can be read now, whether or not what is too old has been taken away.
fn readable(connection: &Connection, arn: &StreamArn, now: Timestamp) -> Result<(i64, Log)> {
    let found = stream(connection, arn)?.filter(|(_, log)| !log.has_lapsed(now));
    let (number, mut log) = found.ok_or_else(|| change::stream_missing(arn))?;
    if let Some(through) = expired(connection, number, now, usize::MAX)? {
        log.trim(through as u64);
    }
    Ok((number, log))
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
    readable(connection, &request.arn, now)?.1.describe(request)
}

pub(crate) fn iterator(
    connection: &Connection,
    request: &GetShardIterator,
    now: Timestamp,
) -> Result<ShardIterator> {
    let (_, log) = readable(connection, &request.arn, now)?;
    let select = "SELECT last_record FROM tabla_state";
    let last: i64 = connection.query_row(select, [], |row| row.get(0)).map_err(from_sqlite)?;
    log.iterator(request, now, last as u64)
}

pub(crate) fn records(
    connection: &Connection,
    request: &GetRecords,
    now: Timestamp,
) -> Result<GetRecordsOutput> {
    let limit = change::check_records_limit(request)?;
    let place = Place::of_iterator(&request.iterator, now)?;
    let (number, log) = readable(connection, &StreamArn(place.arn.clone()), now)?;
    log.check_place(&place)?;
    let select = format!(
        "SELECT number, created_at, event_id, event, view, size, keys, old, new, by \
         FROM records_{number} WHERE number >= ?1 ORDER BY number"
    );
    let mut statement = connection.prepare_cached(&select).map_err(from_sqlite)?;
    let mut rows = statement.query([place.next as i64]).map_err(from_sqlite)?;
    let mut failure = None;
    // A page ends at the first failure, which then fails the whole.
    let unread = std::iter::from_fn(|| match rows.next().map_err(from_sqlite) {
        Ok(Some(row)) => record(row).map_err(|error| failure = Some(error)).ok(),
        Ok(None) => None,
        Err(error) => {
            failure = Some(error);
            None
        }
    });
    let page = change::page(unread, limit);
    if let Some(error) = failure {
        return Err(error);
    }
    let next = page.last().map_or(place.next, |record| number_of(record) + 1);
    let last = connection
        .query_row(&format!("SELECT max(number) FROM records_{number}"), [], |row| {
            row.get::<_, Option<i64>>(0)
        })
        .map_err(from_sqlite)?;
    let next_iterator = log.next_iterator(place, next, last.map(|number| number as u64), now);
    Ok(GetRecordsOutput { records: page, next_iterator })
}

fn record(row: &Row<'_>) -> Result<Record> {
    let text = |column: usize| row.get::<_, String>(column).map_err(from_sqlite);
    let number = |column: usize| row.get::<_, i64>(column).map_err(from_sqlite);
    let item = |column: usize| -> Result<Option<Item>> {
        let bytes = row.get::<_, Option<Vec<u8>>>(column).map_err(from_sqlite)?;
        bytes.map(|bytes| Item::decode(Bytes::from(bytes))).transpose()
    };
    let by = row.get::<_, Option<String>>(9).map_err(from_sqlite)?;
    Ok(Record {
        event_id: text(2)?,
        event_name: parse::<EventName>(&format!("\"{}\"", text(3)?))?,
        sequence_number: change::sequence_number(number(0)? as u64),
        created_at: Timestamp::from_millis(number(1)? as u64),
        keys: item(6)?.ok_or_else(|| damaged("a stream record has no key"))?,
        old_image: item(7)?,
        new_image: item(8)?,
        view_type: parse::<StreamViewType>(&format!("\"{}\"", text(4)?))?,
        size_bytes: number(5)? as u64,
        user_identity: by.map(|json| parse::<UserIdentity>(&json)).transpose()?,
    })
}

fn number_of(record: &Record) -> u64 {
    change::parse_sequence_number(&record.sequence_number).expect("the store made it")
}
