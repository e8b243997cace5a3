//! Encoding of stream records as rows.
//!
//! A row stores no derived data. The event and the stream's view determine which images a record
//! has; its keys are in its image, and its size is computed from both.

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

/// Names of the columns of a record's row, in the order in which they are read and written.
pub(crate) const COLUMNS: &str = "number, lane, at, event_id, event, image, before, by";

/// Stream record as a row stores it.
#[derive(Clone, Debug)]
pub(crate) struct StoredRecord {
    /// Sequence number.
    pub(crate) number: i64,
    pub(crate) lane: i64,
    /// Time of the change, in seconds since 1970.
    pub(crate) at: i64,
    /// First half of the event id: the epoch of the store that wrote the record. The sequence
    /// number is the other half.
    pub(crate) epoch: i64,
    /// Kind of the change, as the number that [`event_number`] returns.
    pub(crate) event: i64,
    pub(crate) images: Images,
    /// Author of the change as JSON, such as the sweep; `None` for a caller.
    pub(crate) by: Option<String>,
}

/// Images of a record, without redundancy.
///
/// Each record has a *main image*: the new image, or the old image if it has no new one, or the
/// keys if it has neither.
#[derive(Clone, Debug)]
pub(crate) enum Images {
    /// The main image alone.
    Image(Bytes),
    /// The new image, and the delta that turns it into the old image.
    ImageAndOldDelta { new: Bytes, old: Vec<u8> },
    /// The delta that turns the main image of the record with the sequence number `base` into the
    /// main image of this one. If this record has an old image, it is the base's main image.
    Delta { base: i64, difference: Bytes },
}

/// Value of the column `before`, which determines the meaning of the column `image`.
#[derive(Debug)]
pub(crate) enum Before {
    /// `image` is the main image.
    Nothing,
    /// `image` is the new image; this delta turns it into the old image.
    Old(Vec<u8>),
    /// `image` is a delta to the main image of the record with this sequence number.
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
    /// Returns the images stored whole, or the keys if the record has no image.
    pub(crate) fn of(old: Option<&Item>, new: Option<&Item>, keys: impl FnOnce() -> Item) -> Self {
        match (old, new) {
            (Some(old), Some(new)) => {
                Self::ImageAndOldDelta { new: new.encode(), old: record::encode_delta(old, new) }
            }
            (Some(image), None) | (None, Some(image)) => Self::Image(image.encode()),
            (None, None) => Self::Image(keys().encode()),
        }
    }

    /// Returns the images as a delta to an earlier record whose main image is `old`; `None` if that
    /// saves less than half of the image.
    pub(crate) fn delta(base: i64, old: &Item, new: Option<&Item>) -> Option<Self> {
        let image = new.unwrap_or(old);
        let difference = record::encode_delta(image, old);
        let is_short = difference.len() <= image.encode().len() / 2;
        is_short.then(|| Self::Delta { base, difference: difference.into() })
    }

    /// Reads the columns `image` and `before`, which have the positions `first` and `first` + 1.
    pub(crate) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let before = match row.get_ref(first + 1)? {
            ValueRef::Integer(base) => Before::Base(base),
            ValueRef::Null => Before::Nothing,
            _ => Before::Old(row.get(first + 1)?),
        };
        Ok(Self::from_columns(row.get::<_, Vec<u8>>(first)?.into(), before))
    }

    /// Returns the values of the columns `image` and `before`.
    pub(crate) fn into_columns(self) -> (Bytes, Before) {
        match self {
            Self::Image(image) => (image, Before::Nothing),
            Self::ImageAndOldDelta { new, old } => (new, Before::Old(old)),
            Self::Delta { base, difference } => (difference, Before::Base(base)),
        }
    }

    /// Returns the images that the values of the columns `image` and `before` represent.
    pub(crate) fn from_columns(image: Bytes, before: Before) -> Self {
        match before {
            Before::Nothing => Self::Image(image),
            Before::Old(old) => Self::ImageAndOldDelta { new: image, old },
            Before::Base(base) => Self::Delta { base, difference: image },
        }
    }

    /// Returns the stored size, in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Image(image) => image.len(),
            Self::ImageAndOldDelta { new, old } => new.len() + old.len(),
            Self::Delta { difference, .. } => difference.len(),
        }
    }
}

/// Returns the error of a record whose base is not an earlier record. Without it, a reader of a
/// damaged file could loop endlessly.
pub(crate) fn base_is_later_error() -> Error {
    corrupt_error("the base of a stream record is not an earlier record")
}

/// Returns the stored number of an event.
pub(crate) fn event_number(event: EventName) -> i64 {
    match event {
        EventName::Insert => 1,
        EventName::Modify => 2,
        EventName::Remove => 3,
    }
}

impl StoredRecord {
    /// Reads only the lane of a row.
    pub(crate) fn lane(row: &Row<'_>) -> Result<i64> {
        row.get(1).map_err(from_sqlite)
    }

    /// Reads a record from a row of the [`COLUMNS`].
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

    /// Whether the record is past its retention, so that readers do not see it.
    pub(crate) fn is_trimmed(&self, now: Timestamp) -> bool {
        record::is_past_retention(Timestamp::from_secs(self.at as u64), now)
    }

    /// Converts the row to a record of the stream with this state. `image_of` returns the main
    /// image of the base record.
    ///
    /// # Errors
    /// The row is damaged, or `image_of` fails.
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
                    old.ok_or_else(|| corrupt_error("a stream record lacks its old image"))?;
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
