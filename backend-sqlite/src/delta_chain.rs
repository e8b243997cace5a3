//! Delta chains: stream records that are stored as deltas to earlier records of the same item.
//!
//! A change of a large item is often small. The previous record of the item, its *base*, has the
//! old image, so the new record stores only a delta. A base can be a delta record itself. A chain
//! has at most [`MAX_CHAIN_LENGTH`] records, so that a reader of one record reads few others.
//! It spans at most [`MAX_CHAIN_AGE`], so that a record can be deleted that long after its
//! retention without a search for its dependents.
//!
//! The cache of base records is a hint: an entry can be missing or outdated. A base is used only if
//! the hash of its image is that of the item before the write, so other stores on the file cannot
//! cause a wrong image. `record_log` stores the records, `records` encodes them.

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

/// Maximum number of records in a chain. With 8, seven of eight images are stored as deltas, and a
/// reader of one record reads up to 7 other rows.
const MAX_CHAIN_LENGTH: u8 = 8;

/// Maximum time between the first and the last record of a chain. Records are deleted this long
/// after the end of their retention.
pub(crate) const MAX_CHAIN_AGE: Duration = Duration::from_secs(60 * 60);

/// Capacity of each of the two maps of [`BaseCache`]. The cache has the base records of at least
/// this many recently written items, and of at most twice as many: about 1 MB.
const CACHED_BASES: usize = 8192;

/// Stream record from which an item's image can be reconstructed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BaseRecord {
    /// Sequence number of the record.
    number: i64,
    /// Position in its chain, from 1.
    depth: u8,
    /// Time of the chain's first record, in seconds since 1970.
    chain_started_at: i64,
    /// Hash of the image: [`Session::image_hash`].
    image_hash: i64,
}

/// Identity of an item in the cache: number of its table's stream, and its row number.
pub(crate) type ItemId = (i64, i64);

/// Cache of the base records of recently written items.
#[derive(Debug, Default)]
pub(crate) struct BaseCache {
    /// The latest entries, at most [`CACHED_BASES`]. When this map is full, it becomes `older`.
    newer: HashMap<ItemId, BaseRecord>,
    /// The entries before those in `newer`.
    older: HashMap<ItemId, BaseRecord>,
}

impl BaseCache {
    pub(crate) fn get(&self, item: ItemId) -> Option<BaseRecord> {
        self.newer.get(&item).or_else(|| self.older.get(&item)).copied()
    }

    pub(crate) fn insert(&mut self, item: ItemId, base: BaseRecord) {
        if self.newer.len() == CACHED_BASES {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(item, base);
    }
}

/// Data of a new stream record, apart from its images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordContext<'t> {
    pub(crate) table: &'t StoredTable,
    pub(crate) stream: &'t StoredStream,
    /// Row number of the item.
    pub(crate) row: i64,
    /// Sequence number of the record.
    pub(crate) number: i64,
    /// Time of the record, in seconds since 1970.
    pub(crate) at: i64,
}

impl Session<'_> {
    /// Returns the images of a change's record, as a delta if the item has a suitable base record,
    /// and caches the new record as the item's next base.
    pub(crate) fn record_images(
        &mut self,
        context: RecordContext<'_>,
        change: &NewRecord<'_>,
        effect: &Effect,
    ) -> Images {
        let keys = || change.keys(&context.table.table.schema);
        // In memory, a record shares the bytes of the item, so a delta would save nothing.
        let RecordLog::File(_) = self.record_log else {
            return Images::of(change.old_image, change.new_image, keys);
        };
        let delta = self.delta_images(context, change, effect);
        let (depth, chain_started_at) = delta
            .as_ref()
            .map_or((1, context.at), |(base, _)| (base.depth + 1, base.chain_started_at));
        if let Some(new) = change.new_image {
            let image_hash = self.image_hash(new);
            let base = BaseRecord { number: context.number, depth, chain_started_at, image_hash };
            let item = (context.stream.number, context.row);
            self.record_log_changes.push(RecordLogChange::Base(item, base));
        }
        match delta {
            Some((_, images)) => images,
            None => Images::of(change.old_image, change.new_image, keys),
        }
    }

    /// Returns the images of a change's record as a delta, with its base; `None` if the item has no
    /// suitable base record or a delta saves too little.
    fn delta_images(
        &self,
        context: RecordContext<'_>,
        change: &NewRecord<'_>,
        effect: &Effect,
    ) -> Option<(BaseRecord, Images)> {
        // The base must have the item before the write as its new image, so the stream's view must
        // include new images.
        let has_image = matches!(
            (change.view_type, change.event_name),
            (StreamViewType::NewAndOldImages, EventName::Modify | EventName::Remove)
                | (StreamViewType::NewImage, EventName::Modify)
        );
        let old = effect.old.as_ref().filter(|_| has_image)?;
        let base = self.find_base((context.stream.number, context.row))?;
        let is_recent = context.at - base.chain_started_at <= MAX_CHAIN_AGE.as_secs() as i64;
        if base.depth >= MAX_CHAIN_LENGTH || !is_recent || base.image_hash != self.image_hash(old) {
            return None;
        }
        Some((base, Images::delta(base.number, old, change.new_image)?))
    }

    /// Returns the base record of an item, from this group or from the cache.
    fn find_base(&self, item: ItemId) -> Option<BaseRecord> {
        let of_group = self.record_log_changes.iter().rev().find_map(|archived| match archived {
            RecordLogChange::Base(other, base) if *other == item => Some(*base),
            _ => None,
        });
        of_group.or_else(|| self.record_log.base(item))
    }

    /// Returns the hash of an image. Its seed is secret, so a caller cannot provoke a collision.
    fn image_hash(&self, image: &Item) -> i64 {
        row_checksum(self.numbers.epoch(), &image.encode())
    }
}

/// Reconstructs the records of a stream, with the images of their delta chains.
pub(crate) struct RecordAssembler<'c> {
    connection: &'c Connection,
    stream: i64,
    log: &'c StreamState,
    /// New images of the records that were reconstructed, by sequence number.
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

    /// Returns the image of an earlier record.
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

/// Returns the query for the images of one record.
pub(crate) fn select_images(stream: i64) -> String {
    format!("SELECT image, before FROM {} WHERE number = ?1", format::records(stream))
}

/// Reconstruction of one image: follows the chain back to a record that is stored whole, then
/// applies the deltas forward to the image wanted.
pub(crate) struct DeltaChain {
    /// Sequence number of the record to be read next.
    pub(crate) next: i64,
    differences: Vec<bytes::Bytes>,
}

impl DeltaChain {
    pub(crate) fn new(number: i64) -> Self {
        Self { next: number, differences: Vec::new() }
    }

    /// Takes the images of record `next`. Returns its image if it is stored whole; otherwise moves
    /// `next` to its base.
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

    /// Returns the image of the record with which the reconstruction began: applies the deltas to
    /// `found`, the whole image at which it ended.
    pub(crate) fn image(self, found: Item) -> Result<Item> {
        let differences = self.differences.iter().rev();
        differences
            .into_iter()
            .try_fold(found, |image, difference| record::apply_delta(&image, difference))
    }

    /// Returns the error for a missing record `next`: trimmed, or damage of the file.
    pub(crate) fn broken_error(&self, log: &StreamState) -> tabla_core::Error {
        match self.next as u64 <= log.trimmed_through() {
            // A record based on it is past its retention too.
            true => record::trimmed_error(),
            false => corrupt_error(format_args!(
                "the base record {} of a stream record is missing",
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
    fn cache_keeps_the_bases_of_recently_written_items() {
        let mut bases = BaseCache::default();
        let items = 3 * CACHED_BASES as i64;
        for number in 1..=items {
            bases.insert(
                (7, number),
                BaseRecord { number, depth: 1, chain_started_at: 0, image_hash: 0 },
            );
            // Item 1 is written after every other item.
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
    fn image_is_reconstructed_along_its_chain() {
        let step = |n: i32| item! { "pk" => "a", "note" => "x".repeat(100), "n" => n };
        let based = |base: i64, old: i32, new: i32| {
            Images::delta(base, &step(old), Some(&step(new))).expect("a delta that is short")
        };
        let mut chain = DeltaChain::new(9);
        assert_eq!(chain.follow(based(5, 2, 3)).unwrap(), None);
        assert_eq!(chain.follow(based(1, 1, 2)).unwrap(), None);
        assert_eq!(chain.next, 1);
        let first = chain.follow(Images::Image(step(1).encode())).unwrap().expect("a whole image");
        assert_eq!(chain.image(first).unwrap(), step(3));
        // A base must be an earlier record, and a delta must save at least half of the image.
        assert!(DeltaChain::new(5).follow(based(5, 1, 2)).is_err());
        let other = item! { "pk" => "a", "note" => "y".repeat(100) };
        assert!(Images::delta(1, &step(1), Some(&other)).is_none());
    }
}
