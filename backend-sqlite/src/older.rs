//! Stream records as formats 1 and 2 kept them: read, to be checked or brought to the present form.
//!
//! Each lane of a stream had a table, numbered one after the other from the stream's own number. A
//! row had a column for everything, and some were left empty where the rest says it.

use bytes::Bytes;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Row};
use tabla_core::engine::change;
use tabla_core::engine::log::Log;
use tabla_core::ops::EventName;
use tabla_core::{Item, Result};

use crate::catalogue::parse;
use crate::error::{damaged, from_sqlx};
use crate::records::{self, Before, EventId, Images, StoredRecord};
use crate::{format, open};

/// The last version in which records had that form.
pub(crate) const LAST: i32 = 2;

/// Brings the records of all streams to the present form, inside of a transaction.
pub(crate) async fn convert_records(connection: &mut SqliteConnection) -> Result<()> {
    let select = "SELECT number, log FROM tabla_streams";
    let streams = sqlx::query(select).fetch_all(&mut *connection).await.map_err(from_sqlx)?;
    for stream in streams {
        let number: i64 = stream.get(0);
        let log: Log = parse(stream.get(1))?;
        convert(connection, number, &log).await?;
    }
    Ok(())
}

async fn convert(connection: &mut SqliteConnection, number: i64, log: &Log) -> Result<()> {
    let records = format::records(number);
    // The first lane has the name that all of them will have.
    let made = format::create_records(number).replacen(&records, "converted", 1);
    open::run(connection, &made).await?;
    for lane in 0..log.lanes() as i64 {
        let mut after = i64::MIN;
        // Some at a time: a log may be larger than memory.
        loop {
            let select = format!("{} WHERE number > {after} LIMIT 1000", select(number + lane));
            let rows = sqlx::query(AssertSqlSafe(select)).fetch_all(&mut *connection);
            let rows = rows.await.map_err(from_sqlx)?;
            let Some(last) = rows.last() else { break };
            after = last.get(0);
            for row in &rows {
                insert(connection, read(row, lane, log)?).await?;
            }
        }
        open::run(connection, &format!("DROP TABLE {}", format::records(number + lane))).await?;
    }
    open::run(connection, &format!("ALTER TABLE converted RENAME TO {records}")).await
}

async fn insert(connection: &mut SqliteConnection, record: StoredRecord) -> Result<()> {
    let insert = format!(
        "INSERT INTO converted ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        records::COLUMNS
    );
    let query = sqlx::query(AssertSqlSafe(insert)).bind(record.number).bind(record.lane);
    let query = match record.event_id {
        EventId::Epoch(epoch) => query.bind(record.at).bind(epoch),
        EventId::Whole(id) => query.bind(record.at).bind(id),
    };
    let (image, before) = record.images.into_columns();
    let query = query.bind(record.event).bind(image.to_vec());
    let query = match before {
        Before::Nothing => query.bind(None::<Vec<u8>>),
        Before::Old(difference) => query.bind(difference),
        Before::Base(number) => query.bind(number),
    };
    let query = query.bind(record.by);
    query.execute(connection).await.map_err(from_sqlx)?;
    Ok(())
}

/// What reads the records of a lane.
pub(crate) fn select(lane_number: i64) -> String {
    format!(
        "SELECT number, created_at, event_id, event, keys, old, new, by FROM {}",
        format::records(lane_number)
    )
}

/// Reads a row of [`select`], of this lane.
pub(crate) fn read(row: &SqliteRow, lane: i64, log: &Log) -> Result<StoredRecord> {
    let column = |error| from_sqlx(error);
    let event_id = match row.try_get_unchecked::<&[u8], _>(2).map_err(column)?.try_into() {
        Ok(epoch) => EventId::Epoch(i64::from_be_bytes(epoch)),
        Err(_) => EventId::Whole(row.try_get_unchecked(2).map_err(column)?),
    };
    let item = |index: usize| -> Result<Option<Item>> {
        let bytes = row.try_get::<Option<Vec<u8>>, _>(index).map_err(column)?;
        bytes.filter(|bytes| !bytes.is_empty()).map(Bytes::from).map(Item::decode).transpose()
    };
    let (keys, old, new) = (item(4)?, item(5)?, item(6)?);
    let (event, old, new) = match (row.try_get::<&str, _>(3).map_err(column)?, old, new) {
        // One of two images had only what it has differently.
        ("MODIFY-OLD", Some(old), Some(new)) => {
            (EventName::Modify, Some(completed(&old, &new)), Some(new))
        }
        ("MODIFY-NEW", Some(old), Some(new)) => {
            let new = completed(&new, &old);
            (EventName::Modify, Some(old), Some(new))
        }
        ("INSERT", old, new) => (EventName::Insert, old, new),
        ("MODIFY", old, new) => (EventName::Modify, old, new),
        ("REMOVE", old, new) => (EventName::Remove, old, new),
        (event, ..) => {
            return Err(damaged(format_args!("a stream record has an unknown event: {event}")));
        }
    };
    if change::images(event, log.view_type()) != (old.is_some(), new.is_some()) {
        return Err(damaged("a stream record has other images than its stream"));
    }
    let images = match keys {
        None if old.is_none() && new.is_none() => {
            return Err(damaged("a stream record has no keys"));
        }
        keys => Images::of(old.as_ref(), new.as_ref(), || keys.unwrap_or_default()),
    };
    Ok(StoredRecord {
        number: row.try_get(0).map_err(column)?,
        lane,
        at: row.try_get::<i64, _>(1).map_err(column)? / 1000,
        event_id,
        event: records::event_number(event),
        images,
        by: row.try_get(7).map_err(column)?,
    })
}

/// The image of which these attributes are different from those of another.
fn completed(different: &Item, other: &Item) -> Item {
    different.iter().fold(other.clone(), |item, (name, value)| item.with(name, value.to_value()))
}
