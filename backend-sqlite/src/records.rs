//! Stream records as rows.
//!
//! A row has nothing twice, and nothing that follows from the rest: which images a record has
//! follows from its event and the stream's view, its keys are in its image, and its size is theirs.

use bytes::Bytes;
use rusqlite::Row;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use tabla_core::backend::record;
use tabla_core::backend::stream_state::StreamState;
use tabla_core::env::Timestamp;
use tabla_core::ops::{EventName, Record, UserIdentity};
use tabla_core::{Error, Item, Result};

use crate::catalogue::parse;
use crate::error::{corrupt_error, from_sqlite};

/// The columns of a record.
pub(crate) const COLUMNS: &str = "number, lane, at, event_id, event, image, before, by";

/// A record, as a row has it.
#[derive(Clone, Debug)]
pub(crate) struct StoredRecord {
    pub(crate) number: i64,
    pub(crate) lane: i64,
    /// Seconds since 1970.
    pub(crate) at: i64,
    /// First half of the event id: the epoch of the store that wrote the record. The number is the
    /// other half.
    pub(crate) epoch: i64,
    pub(crate) event: i64,
    pub(crate) images: Images,
    /// Who made the change, if no caller did: JSON.
    pub(crate) by: Option<String>,
}

/// The images of a record, each part of them once.
///
/// Every record has one image that others can refer to: the new one; the old one if there is no new
/// one; the keys if there is neither.
#[derive(Clone, Debug)]
pub(crate) enum Images {
    /// That image alone.
    Image(Bytes),
    /// The new image, and what the old one has differently.
    ImageAndOldDelta { new: Bytes, old: Vec<u8> },
    /// What that image has differently from the one of the earlier record with this number. If the
    /// record has the old image, the earlier record's is the same.
    Delta { base: i64, difference: Bytes },
}

/// The second column of the images, which says what the first one is.
#[derive(Debug)]
pub(crate) enum Before {
    Nothing,
    Old(Vec<u8>),
    Base(i64),
}

impl ToSql for Before {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Nothing => Ok(ToSqlOutput::from(rusqlite::types::Null)),
            Self::Old(difference) => difference.to_sql(),
            Self::Base(number) => number.to_sql(),
        }
    }
}

impl Images {
    pub(crate) fn of(old: Option<&Item>, new: Option<&Item>, keys: impl FnOnce() -> Item) -> Self {
        match (old, new) {
            (Some(old), Some(new)) => {
                Self::ImageAndOldDelta { new: new.encode(), old: record::encode_delta(old, new) }
            }
            (Some(image), None) | (None, Some(image)) => Self::Image(image.encode()),
            (None, None) => Self::Image(keys().encode()),
        }
    }

    /// The same, with what an earlier record has: its image is `old`. `None` if that saves little.
    pub(crate) fn delta(base: i64, old: &Item, new: Option<&Item>) -> Option<Self> {
        let image = new.unwrap_or(old);
        let difference = record::encode_delta(image, old);
        let is_short = difference.len() <= image.encode().len() / 2;
        is_short.then(|| Self::Delta { base, difference: difference.into() })
    }

    /// Reads two columns, from this one on.
    pub(crate) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let before = match row.get_ref(first + 1)? {
            ValueRef::Integer(base) => Before::Base(base),
            ValueRef::Null => Before::Nothing,
            _ => Before::Old(row.get(first + 1)?),
        };
        Ok(Self::from_columns(row.get::<_, Vec<u8>>(first)?.into(), before))
    }

    /// As two columns have them.
    pub(crate) fn into_columns(self) -> (Bytes, Before) {
        match self {
            Self::Image(image) => (image, Before::Nothing),
            Self::ImageAndOldDelta { new, old } => (new, Before::Old(old)),
            Self::Delta { base, difference } => (difference, Before::Base(base)),
        }
    }

    pub(crate) fn from_columns(image: Bytes, before: Before) -> Self {
        match before {
            Before::Nothing => Self::Image(image),
            Before::Old(old) => Self::ImageAndOldDelta { new: image, old },
            Before::Base(base) => Self::Delta { base, difference: image },
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Image(image) => image.len(),
            Self::ImageAndOldDelta { new, old } => new.len() + old.len(),
            Self::Delta { difference, .. } => difference.len(),
        }
    }
}

/// What is wrong with a record of a damaged file that whoever follows it would follow for ever.
pub(crate) fn base_is_later_error() -> Error {
    corrupt_error("a stream record is based on one that came later")
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
                epoch: row.get(3)?,
                event: row.get(4)?,
                images: Images::read(row, 5)?,
                by: row.get(7)?,
            })
        };
        read().map_err(from_sqlite)
    }

    /// Whether it is too old to be read.
    pub(crate) fn is_trimmed(&self, now: Timestamp) -> bool {
        record::is_past_retention(Timestamp::from_secs(self.at as u64), now)
    }

    /// The record, of a stream with this log; `image_of` finds the image of the one that it is based
    /// on.
    ///
    /// # Errors
    /// It is damaged, or `image_of` fails.
    pub(crate) fn record(
        self,
        log: &StreamState,
        image_of: impl FnOnce(i64) -> Result<Item>,
    ) -> Result<Record> {
        let events = [EventName::Insert, EventName::Modify, EventName::Remove];
        let event = events.into_iter().find(|event| event_number(*event) == self.event);
        let event_name = event.ok_or_else(|| {
            corrupt_error(format_args!("a stream record has an unknown event: {}", self.event))
        })?;
        let view_type = log.view_type();
        let (image, old) = match self.images {
            Images::Image(image) => (Item::decode(image)?, None),
            Images::ImageAndOldDelta { new, old } => {
                let new = Item::decode(new)?;
                let old = record::apply_delta(&new, &old)?;
                (new, Some(old))
            }
            Images::Delta { base, .. } if base >= self.number => return Err(base_is_later_error()),
            Images::Delta { base, difference } => {
                let old = image_of(base)?;
                (record::apply_delta(&old, &difference)?, Some(old))
            }
        };
        let (old_image, new_image) = match record::images(event_name, view_type) {
            (true, true) => {
                let old =
                    old.ok_or_else(|| corrupt_error("a stream record has one image of two"))?;
                (Some(old), Some(image.clone()))
            }
            (true, false) => (Some(image.clone()), None),
            (false, true) => (None, Some(image.clone())),
            (false, false) => (None, None),
        };
        let keys = log.keys_of(&image);
        let number = self.number as u64;
        let size = record::size(&keys, old_image.as_ref(), new_image.as_ref());
        let user_identity = self.by.map(|json| parse::<UserIdentity>(&json)).transpose()?;
        let record = Record::new(
            record::event_id(self.epoch as u64, number),
            event_name,
            record::sequence_number(number),
            Timestamp::from_secs(self.at as u64),
            keys,
            view_type,
        );
        Ok(record
            .old_image(old_image)
            .new_image(new_image)
            .size_bytes(size)
            .user_identity(user_identity))
    }
}
