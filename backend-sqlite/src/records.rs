//! Stream records as rows.
//!
//! A row has nothing twice, and nothing that follows from the rest: which images a record has
//! follows from its event and the stream's view, its keys are in its image, and its size is theirs.

use bytes::Bytes;
use rusqlite::Row;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use tabla::engine::change;
use tabla::engine::log::Log;
use tabla::env::Timestamp;
use tabla::ops::{EventName, Record, UserIdentity};
use tabla::{Item, Result};

use crate::catalogue::parse;
use crate::error::{damaged, from_sqlite};

/// The columns of a record.
pub(crate) const COLUMNS: &str = "number, lane, at, event_id, event, image, before, by";

/// A record, as a row has it.
#[derive(Clone, Debug)]
pub(crate) struct StoredRecord {
    pub(crate) number: i64,
    pub(crate) lane: i64,
    /// Seconds since 1970.
    pub(crate) at: i64,
    pub(crate) event_id: EventId,
    pub(crate) event: i64,
    pub(crate) images: Images,
    /// Who made the change, if no caller did: JSON.
    pub(crate) by: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum EventId {
    /// The epoch of the store that wrote the record; the number is the rest.
    Epoch(i64),
    /// All of it, from before there were epochs.
    Whole(String),
}

/// The images of a record, each part of them once.
#[derive(Clone, Debug)]
pub(crate) struct Images {
    /// The new image; the old one if there is no new one; the keys if there is neither.
    pub(crate) image: Bytes,
    /// What the old image has differently from the new one, if there are both.
    pub(crate) before: Option<Vec<u8>>,
}

impl ToSql for EventId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Epoch(epoch) => epoch.to_sql(),
            Self::Whole(id) => id.to_sql(),
        }
    }
}

impl Images {
    pub(crate) fn of(old: Option<&Item>, new: Option<&Item>, keys: impl FnOnce() -> Item) -> Self {
        let (image, before) = match (old, new) {
            (Some(old), Some(new)) => (new.encode(), Some(change::difference(old, new))),
            (Some(image), None) | (None, Some(image)) => (image.encode(), None),
            (None, None) => (keys().encode(), None),
        };
        Self { image, before }
    }

    pub(crate) fn len(&self) -> usize {
        self.image.len() + self.before.as_ref().map_or(0, Vec::len)
    }
}

/// The number of an event, in a row.
pub(crate) fn event_number(event: EventName) -> i64 {
    match event {
        EventName::Insert => 1,
        EventName::Modify => 2,
        EventName::Remove => 3,
    }
}

impl StoredRecord {
    /// The lane of a row, without reading the rest of it.
    pub(crate) fn lane(row: &Row<'_>) -> Result<i64> {
        row.get(1).map_err(from_sqlite)
    }

    /// Reads a row of the [`COLUMNS`].
    pub(crate) fn read(row: &Row<'_>) -> Result<Self> {
        let read = || {
            Ok(Self {
                number: row.get(0)?,
                lane: row.get(1)?,
                at: row.get(2)?,
                event_id: match row.get_ref(3)? {
                    ValueRef::Integer(epoch) => EventId::Epoch(epoch),
                    _ => EventId::Whole(row.get(3)?),
                },
                event: row.get(4)?,
                images: Images { image: row.get::<_, Vec<u8>>(5)?.into(), before: row.get(6)? },
                by: row.get(7)?,
            })
        };
        read().map_err(from_sqlite)
    }

    /// The record, of a stream with this log.
    ///
    /// # Errors
    /// It is damaged.
    pub(crate) fn record(self, log: &Log) -> Result<Record> {
        let events = [EventName::Insert, EventName::Modify, EventName::Remove];
        let event = events.into_iter().find(|event| event_number(*event) == self.event);
        let event_name = event.ok_or_else(|| {
            damaged(format_args!("a stream record has an unknown event: {}", self.event))
        })?;
        let view_type = log.view_type();
        let Images { image, before } = self.images;
        let image = Item::decode(image)?;
        let (old_image, new_image) = match change::images(event_name, view_type) {
            (true, true) => {
                let before =
                    before.ok_or_else(|| damaged("a stream record has one image of two"))?;
                (Some(change::with_difference(&image, &before)?), Some(image.clone()))
            }
            (true, false) => (Some(image.clone()), None),
            (false, true) => (None, Some(image.clone())),
            (false, false) => (None, None),
        };
        let keys = log.keys_of(&image);
        let number = self.number as u64;
        Ok(Record {
            event_id: match self.event_id {
                EventId::Epoch(epoch) => change::event_id(epoch as u64, number),
                EventId::Whole(id) => id,
            },
            event_name,
            sequence_number: change::sequence_number(number),
            created_at: Timestamp::from_secs(self.at as u64),
            size_bytes: change::size(&keys, old_image.as_ref(), new_image.as_ref()),
            keys,
            old_image,
            new_image,
            view_type,
            user_identity: self.by.map(|json| parse::<UserIdentity>(&json)).transpose()?,
        })
    }
}
