//! Which record has an item's image, so that the item's next record need not have it again.
//!
//! A change to a large item is often a small one. Its record could say what the new image has
//! differently from the old one, and the old one is in the item's record before: that is its *base*.
//! A base may have one itself, but only so often, so that whoever reads a record reads few others;
//! and the first of such a chain is not much older than the last, so that nobody has to look for
//! who still needs a record before it is deleted.
//!
//! What is known here is a hint that can be forgotten at any time. A base is used only if its image
//! is, byte for byte, the item as it was found: whatever happened in between, by whomever.

use std::collections::HashMap;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};
use tabla_core::backend::Effect;
use tabla_core::backend::record::{self, NewRecord};
use tabla_core::backend::stream_state::StreamState;
use tabla_core::ops::{EventName, Record, StreamViewType};
use tabla_core::{Item, Result};

use crate::catalogue::{StoredStream, StoredTable};
use crate::error::{corrupt_error, from_sqlite};
use crate::format;
use crate::record_log::{RecordLog, RecordLogChange};
use crate::records::{Images, StoredRecord, base_is_later_error};
use crate::rows::row_checksum;
use crate::session::Session;

/// Records that a chain has at most: with eight, all but an eighth of the images are saved, and a
/// reader looks at up to seven other rows.
const MAX_CHAIN_LENGTH: u8 = 8;

/// How much younger the last record of a chain may be than the first. Records are deleted so much
/// later than they can no longer be read.
pub(crate) const MAX_CHAIN_AGE: Duration = Duration::from_secs(60 * 60);

/// Items that are remembered, at least: about a megabyte in all.
const CACHED_BASES: usize = 8192;

/// A record that has the image of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BaseRecord {
    number: i64,
    /// Its place in its chain, from 1.
    depth: u8,
    /// The time of the first of the chain, in seconds since 1970.
    chain_started_at: i64,
    /// The hash of the image.
    image_hash: i64,
}

/// The item that a base is of: the number of the stream, and the row.
pub(crate) type ItemId = (i64, i64);

/// The last records of the items that were written last.
#[derive(Debug, Default)]
pub(crate) struct BaseCache {
    newer: HashMap<ItemId, BaseRecord>,
    /// Those before, which are forgotten together.
    older: HashMap<ItemId, BaseRecord>,
}

impl BaseCache {
    pub(crate) fn get(&self, whose: ItemId) -> Option<BaseRecord> {
        self.newer.get(&whose).or_else(|| self.older.get(&whose)).copied()
    }

    pub(crate) fn insert(&mut self, whose: ItemId, base: BaseRecord) {
        if self.newer.len() == CACHED_BASES {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(whose, base);
    }
}

/// What a record is about, apart from its images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordContext<'t> {
    pub(crate) table: &'t StoredTable,
    pub(crate) stream: &'t StoredStream,
    /// The item's row.
    pub(crate) row: i64,
    /// The number of the record.
    pub(crate) number: i64,
    /// Its time, in seconds since 1970.
    pub(crate) at: i64,
}

impl Session<'_> {
    /// The images of the record of a change.
    pub(crate) fn record_images(
        &mut self,
        occasion: RecordContext<'_>,
        change: &NewRecord<'_>,
        effect: &Effect,
    ) -> Images {
        let keys = || change.keys(&occasion.table.table.schema);
        // In memory, a record has the bytes that the item has: there is nothing to save.
        let RecordLog::File(_) = self.record_log else {
            return Images::of(change.old_image, change.new_image, keys);
        };
        let based = self.delta_images(occasion, change, effect);
        let place = based
            .as_ref()
            .map_or((1, occasion.at), |(base, _)| (base.depth + 1, base.chain_started_at));
        if let Some(new) = change.new_image {
            let (place, since) = place;
            let sum = self.image_hash(new);
            let base = BaseRecord {
                number: occasion.number,
                depth: place,
                chain_started_at: since,
                image_hash: sum,
            };
            let whose = (occasion.stream.number, occasion.row);
            self.record_log_changes.push(RecordLogChange::Base(whose, base));
        }
        match based {
            Some((_, images)) => images,
            None => Images::of(change.old_image, change.new_image, keys),
        }
    }

    /// The images of a record that can be based on another one.
    fn delta_images(
        &self,
        occasion: RecordContext<'_>,
        change: &NewRecord<'_>,
        effect: &Effect,
    ) -> Option<(BaseRecord, Images)> {
        // Only where records have new images is the item as it was in one of them.
        let has_image = matches!(
            (change.view_type, change.event_name),
            (StreamViewType::NewAndOldImages, EventName::Modify | EventName::Remove)
                | (StreamViewType::NewImage, EventName::Modify)
        );
        let old = effect.old.as_ref().filter(|_| has_image)?;
        let base = self.find_base((occasion.stream.number, occasion.row))?;
        let reaches = occasion.at - base.chain_started_at <= MAX_CHAIN_AGE.as_secs() as i64;
        if base.depth >= MAX_CHAIN_LENGTH || !reaches || base.image_hash != self.image_hash(old) {
            return None;
        }
        Some((base, Images::delta(base.number, old, change.new_image)?))
    }

    fn find_base(&self, whose: ItemId) -> Option<BaseRecord> {
        let of_group = self.record_log_changes.iter().rev().find_map(|archived| match archived {
            RecordLogChange::Base(other, base) if *other == whose => Some(*base),
            _ => None,
        });
        of_group.or_else(|| self.record_log.base(whose))
    }

    /// The hash of an image. Nobody can make two images of one hash who does not know the seed.
    fn image_hash(&self, image: &Item) -> i64 {
        row_checksum(self.numbers.epoch(), &image.encode())
    }
}

/// Puts the records of a stream together.
pub(crate) struct RecordAssembler<'c> {
    connection: &'c Connection,
    stream: i64,
    log: &'c StreamState,
    /// The images of those that were put together.
    images: HashMap<i64, Item>,
}

impl<'c> RecordAssembler<'c> {
    pub(crate) fn new(connection: &'c Connection, stream: i64, log: &'c StreamState) -> Self {
        Self { connection, stream, log, images: HashMap::new() }
    }

    pub(crate) fn record(&mut self, stored: StoredRecord) -> Result<Record> {
        let number = stored.number;
        let record = stored.record(self.log, |base| self.image(base))?;
        if let Some(image) = &record.new_image {
            self.images.insert(number, image.clone());
        }
        Ok(record)
    }

    /// The image of an earlier record.
    fn image(&self, number: i64) -> Result<Item> {
        let mut chain = DeltaChain::new(number);
        loop {
            if let Some(image) = self.images.get(&chain.next) {
                return chain.image(image.clone());
            }
            let images = self.images_of(chain.next)?;
            let images = images.ok_or_else(|| chain.broken_error(self.log))?;
            if let Some(image) = chain.follow(images)? {
                return chain.image(image);
            }
        }
    }

    fn images_of(&self, number: i64) -> Result<Option<Images>> {
        let select = select_images(self.stream);
        let mut statement = self.connection.prepare_cached(&select).map_err(from_sqlite)?;
        let images = statement.query_row([number], |row| Images::read(row, 0)).optional();
        images.map_err(from_sqlite)
    }
}

/// What reads the images of one record.
pub(crate) fn select_images(stream: i64) -> String {
    format!("SELECT image, before FROM {} WHERE number = ?1", format::records(stream))
}

/// The way from a record to the first of its chain, and back to its image.
pub(crate) struct DeltaChain {
    /// The record that has to be read next.
    pub(crate) next: i64,
    differences: Vec<bytes::Bytes>,
}

impl DeltaChain {
    pub(crate) fn new(number: i64) -> Self {
        Self { next: number, differences: Vec::new() }
    }

    /// Takes the images of the record that was read; the one at the beginning, if this has it.
    pub(crate) fn follow(&mut self, images: Images) -> Result<Option<Item>> {
        match images {
            Images::Image(image) | Images::ImageAndOldDelta { new: image, .. } => {
                Item::decode(image).map(Some)
            }
            Images::Delta { base, difference } => {
                if base >= self.next {
                    return Err(base_is_later_error());
                }
                self.next = base;
                self.differences.push(difference);
                Ok(None)
            }
        }
    }

    /// The image of the record that was asked for, from the one that was found.
    pub(crate) fn image(self, found: Item) -> Result<Item> {
        let differences = self.differences.iter().rev();
        differences
            .into_iter()
            .try_fold(found, |image, difference| record::apply_delta(&image, difference))
    }

    /// Why the record that has to be read next is not there.
    pub(crate) fn broken_error(&self, log: &StreamState) -> tabla_core::Error {
        match self.next as u64 <= log.trimmed_through() {
            // Whoever is based on it is too old to be read, too.
            true => record::trimmed_error(),
            false => corrupt_error(format_args!(
                "a stream record is based on {}, which is missing",
                self.next
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::item;

    use super::*;

    #[test]
    fn what_was_written_last_is_remembered() {
        let mut bases = BaseCache::default();
        let items = 3 * CACHED_BASES as i64;
        for number in 1..=items {
            bases.insert(
                (7, number),
                BaseRecord { number, depth: 1, chain_started_at: 0, image_hash: 0 },
            );
            // This one is written again and again.
            bases.insert(
                (7, 1),
                BaseRecord { number, depth: 1, chain_started_at: 0, image_hash: 0 },
            );
        }
        let known = |row| bases.get((7, row)).map(|base| base.number);
        assert_eq!(known(1), Some(items));
        let latest = items - CACHED_BASES as i64 + 2;
        assert!((latest..=items).all(|row| known(row) == Some(row)));
        assert_eq!([known(2), bases.get((8, items)).map(|base| base.number)], [None, None]);
        assert!(bases.newer.len() + bases.older.len() <= 2 * CACHED_BASES);
    }

    #[test]
    fn an_image_is_found_along_its_chain() {
        let step = |n: i32| item! { "pk" => "a", "note" => "x".repeat(100), "n" => n };
        let based = |base: i64, old: i32, new: i32| {
            Images::delta(base, &step(old), Some(&step(new))).expect("a short difference")
        };
        let mut chain = DeltaChain::new(9);
        assert_eq!(chain.follow(based(5, 2, 3)).unwrap(), None);
        assert_eq!(chain.follow(based(1, 1, 2)).unwrap(), None);
        assert_eq!(chain.next, 1);
        let first = chain.follow(Images::Image(step(1).encode())).unwrap().expect("a whole image");
        assert_eq!(chain.image(first).unwrap(), step(3));
        // What is no earlier record, or saves little, is no base.
        assert!(DeltaChain::new(5).follow(based(5, 1, 2)).is_err());
        let other = item! { "pk" => "a", "note" => "y".repeat(100) };
        assert!(Images::delta(1, &step(1), Some(&other)).is_none());
    }
}
