//! Record log: storage of stream records, in tables of the file or in memory, and reading by shard.
//!
//! `records` encodes a record as a row; `streams` writes and reads records for the operations.

use std::collections::{BTreeMap, VecDeque, vec_deque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension, Rows, params};
use tabla_core::Result;
use tabla_core::backend::record;
use tabla_core::backend::stream_state::ShardRange;
use tabla_core::env::Timestamp;

use crate::catalogue::StoredStream;
use crate::delta_chain::{self, BaseCache, BaseRecord, ItemId};
use crate::error::from_sqlite;
use crate::format;
use crate::records::{self, StoredRecord};
use crate::session::{Role, Session};

/// Storage of the stream records; for a file, also the cache of base records.
#[derive(Debug)]
pub(crate) enum RecordLog {
    /// In the file: a table per stream, written in the transaction of the items. The mutex has the
    /// cache of base records.
    File(Mutex<BaseCache>),
    /// Memory beside SQLite, for a store in memory. In SQLite, a record would cost a write one more
    /// page and one more copy of the item; here it shares the item's bytes.
    Memory(Mutex<MemoryRecords>),
}

/// Records in the order of their sequence numbers, by the number of their stream.
type MemoryRecords = BTreeMap<i64, VecDeque<StoredRecord>>;

/// Change that a write group makes to the memory of the record log, applied after its commit.
#[derive(Debug)]
pub(crate) enum RecordLogChange {
    /// A new record of a stream, by the stream's number.
    Record(i64, StoredRecord),
    /// Deletion of a stream's records up to a sequence number.
    Trimmed(i64, i64),
    /// Deletion of all records of a stream.
    Dropped(i64),
    /// A new base record of an item.
    Base(ItemId, BaseRecord),
}

impl RecordLog {
    pub(crate) fn new(is_file: bool) -> Self {
        if is_file { Self::File(Mutex::default()) } else { Self::Memory(Mutex::default()) }
    }

    /// Applies the changes of a committed group. The records of a file are in it already.
    pub(crate) fn commit(&self, archived: Vec<RecordLogChange>) {
        if archived.is_empty() {
            return;
        }
        match self {
            Self::File(bases) => {
                let mut bases = lock(bases);
                for one in archived {
                    if let RecordLogChange::Base(item, base) = one {
                        bases.insert(item, base);
                    }
                }
            }
            Self::Memory(kept) => {
                let mut kept = lock(kept);
                for one in archived {
                    apply_in_memory(&mut kept, one);
                }
            }
        }
    }

    /// Returns the cached base record of an item.
    pub(crate) fn base(&self, item: ItemId) -> Option<BaseRecord> {
        match self {
            Self::File(bases) => lock(bases).get(item),
            Self::Memory(_) => None,
        }
    }

    /// Returns the sequence number up to which a stream's records can be deleted; `None` if none
    /// can. These are at most `most` records. They and all records based on them are past
    /// their retention.
    pub(crate) fn last_prunable(
        &self,
        connection: &Connection,
        stream: i64,
        now: Timestamp,
        most: usize,
    ) -> Result<Option<i64>> {
        if let Self::Memory(kept) = self {
            let kept = lock(kept);
            let records = kept.get(&stream).into_iter().flatten();
            let trimmed = records.take(most).take_while(|record| record.is_trimmed(now));
            return Ok(trimmed.last().map(|record| record.number));
        }
        let is_disposable = |at: i64| {
            record::is_past_retention(
                Timestamp::from_secs(at as u64) + delta_chain::MAX_CHAIN_AGE,
                now,
            )
        };
        let select = format!("SELECT number, at FROM {} ORDER BY number", format::records(stream));
        let mut statement = connection.prepare_cached(&select).map_err(from_sqlite)?;
        let mut rows = statement.query([]).map_err(from_sqlite)?;
        let mut last = None;
        let mut left = most;
        while left > 0
            && let Some(row) = rows.next().map_err(from_sqlite)?
            && is_disposable(row.get(1).map_err(from_sqlite)?)
        {
            last = Some(row.get(0).map_err(from_sqlite)?);
            left -= 1;
        }
        Ok(last)
    }

    /// Returns the sequence number of a stream's last stored record that is past its retention.
    pub(crate) fn last_trimmed(
        &self,
        connection: &Connection,
        stream: i64,
        now: Timestamp,
    ) -> Result<Option<i64>> {
        if let Self::Memory(kept) = self {
            let kept = lock(kept);
            let Some(records) = kept.get(&stream) else { return Ok(None) };
            let trimmed = records.partition_point(|record| record.is_trimmed(now));
            return Ok(trimmed.checked_sub(1).map(|last| records[last].number));
        }
        let select = format!(
            "SELECT number, at FROM {} WHERE number >= ?1 ORDER BY number LIMIT 1",
            format::records(stream)
        );
        let mut statement = connection.prepare_cached(&select).map_err(from_sqlite)?;
        // Number of the first record from `number` on, if it is past its retention.
        let mut trimmed_from = |number: i64| -> Result<Option<i64>> {
            let found = statement
                .query_row([number], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
                .optional()
                .map_err(from_sqlite)?;
            let is_trimmed =
                |at: i64| record::is_past_retention(Timestamp::from_secs(at as u64), now);
            Ok(found.filter(|(_, at)| is_trimmed(*at)).map(|(number, _)| number))
        };
        let Some(mut last) = trimmed_from(i64::MIN)? else { return Ok(None) };
        // Binary search: there may be an hour of such records, and later ones have higher numbers.
        let mut end = self.newest(connection, stream)?.unwrap_or(last).saturating_add(1);
        while end - last > 1 {
            let middle = last + (end - last) / 2;
            match trimmed_from(middle)? {
                Some(found) => last = found,
                None => end = middle,
            }
        }
        Ok(Some(last))
    }

    /// Returns the sequence number of a stream's last record.
    pub(crate) fn newest(&self, connection: &Connection, stream: i64) -> Result<Option<i64>> {
        if let Self::Memory(kept) = self {
            let newest = lock(kept).get(&stream).and_then(|records| Some(records.back()?.number));
            return Ok(newest);
        }
        let select = format!("SELECT max(number) FROM {}", format::records(stream));
        connection
            .prepare_cached(&select)
            .and_then(|mut select| select.query_row([], |row| row.get(0)))
            .map_err(from_sqlite)
    }

    /// Reads the records of a shard in order, from sequence number `first` on. `work` takes as many
    /// as it needs.
    pub(crate) fn read<R>(
        &self,
        connection: &Connection,
        stream: i64,
        shard: &ShardRange,
        first: u64,
        work: impl FnOnce(&mut RecordReader<'_>) -> R,
    ) -> Result<R> {
        let unread = |source| RecordReader { source, lane: shard.lane as i64, next: first };
        let (first, last) = (first as i64, shard.last.map_or(i64::MAX, |last| last as i64));
        if let Self::Memory(kept) = self {
            let kept = lock(kept);
            let none = VecDeque::new();
            let records = kept.get(&stream).unwrap_or(&none);
            let start = records.partition_point(|record| record.number < first);
            let end = records.partition_point(|record| record.number <= last);
            return Ok(work(&mut unread(Source::Memory(records.range(start..end.max(start))))));
        }
        let select = format!(
            "SELECT {} FROM {} WHERE number BETWEEN ?1 AND ?2 ORDER BY number",
            records::COLUMNS,
            format::records(stream)
        );
        let mut statement = connection.prepare_cached(&select).map_err(from_sqlite)?;
        let rows = statement.query([first, last]).map_err(from_sqlite)?;
        Ok(work(&mut unread(Source::File(rows))))
    }
}

/// Applies one change of a committed group to the records in memory.
fn apply_in_memory(kept: &mut MemoryRecords, archived: RecordLogChange) {
    match archived {
        RecordLogChange::Record(stream, record) => {
            kept.entry(stream).or_default().push_back(record);
        }
        RecordLogChange::Trimmed(stream, through) => {
            let records = kept.entry(stream).or_default();
            records.drain(..records.partition_point(|one| one.number <= through));
        }
        RecordLogChange::Dropped(stream) => {
            kept.remove(&stream);
        }
        // In memory there are no delta records.
        RecordLogChange::Base(..) => {}
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reader of the records of a shard.
pub(crate) struct RecordReader<'a> {
    source: Source<'a>,
    lane: i64,
    next: u64,
}

enum Source<'a> {
    File(Rows<'a>),
    Memory(vec_deque::Iter<'a, StoredRecord>),
}

impl RecordReader<'_> {
    /// Reads the next record; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<StoredRecord>> {
        let (lane, next) = (self.lane, &mut self.next);
        match &mut self.source {
            Source::File(rows) => {
                while let Some(row) = rows.next().map_err(from_sqlite)? {
                    *next = row.get::<_, i64>(0).map_err(from_sqlite)? as u64 + 1;
                    if StoredRecord::lane(row)? == lane {
                        return StoredRecord::read(row).map(Some);
                    }
                }
                Ok(None)
            }
            Source::Memory(records) => Ok(records
                .inspect(|record| *next = record.number as u64 + 1)
                .find(|record| record.lane == lane)
                .cloned()),
        }
    }

    /// Returns the sequence number from which the next read continues: one after the last examined
    /// record, of any lane. No record is missed, because numbers rise in the order of the commits.
    pub(crate) fn resume_at(&self) -> u64 {
        self.next
    }
}

impl Session<'_> {
    /// Creates the table for the records of a stream.
    pub(crate) fn create_record_log(&mut self, stream: i64) -> Result<()> {
        match self.record_log {
            RecordLog::File(_) => self.execute_batch(&format::create_records(stream)),
            RecordLog::Memory(_) => Ok(()),
        }
    }

    /// Appends a record to a stream.
    pub(crate) fn append_record(
        &mut self,
        stream: &StoredStream,
        record: StoredRecord,
    ) -> Result<()> {
        if let RecordLog::Memory(_) = self.record_log {
            self.record_log_changes.push(RecordLogChange::Record(stream.number, record));
            return Ok(());
        }
        let StoredRecord { number, lane, at, epoch, event, images, by } = record;
        self.written.bytes += images.len();
        let (image, before) = images.into_columns();
        let values = params![number, lane, at, epoch, event, &image[..], before, by];
        self.write(stream.number, Role::Append, &stream.append, values)?;
        Ok(())
    }

    /// Deletes the records of a stream up to a sequence number.
    pub(crate) fn prune_records(&mut self, stream: i64, through: i64) -> Result<()> {
        match self.record_log {
            RecordLog::File(_) => {
                let delete = format!("DELETE FROM {} WHERE number <= ?1", format::records(stream));
                self.execute(&delete, [through])?;
            }
            RecordLog::Memory(_) => {
                self.record_log_changes.push(RecordLogChange::Trimmed(stream, through))
            }
        }
        Ok(())
    }

    /// Deletes all records of a stream: at once if they are few, otherwise maintenance deletes them
    /// in batches.
    pub(crate) fn drop_record_log(&mut self, stream: i64) -> Result<()> {
        match self.record_log {
            RecordLog::File(_) => self.discard(&format::records(stream), "number"),
            RecordLog::Memory(_) => {
                self.record_log_changes.push(RecordLogChange::Dropped(stream));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::Item;

    use super::*;
    use crate::records::Images;

    fn record(number: i64, at: i64) -> RecordLogChange {
        let images = Images::Image(Item::new().encode());
        let lane = number % 2;
        RecordLogChange::Record(
            7,
            StoredRecord { number, lane, at, epoch: 1, event: 1, images, by: None },
        )
    }

    /// Returns the sequence numbers of a shard's records, and the one from which the next
    /// read continues.
    fn read(record_log: &RecordLog, last: Option<u64>, first: u64) -> (Vec<i64>, u64) {
        let connection = Connection::open_in_memory().unwrap();
        let shard = ShardRange { lane: 1, first_after: 0, last };
        let read = record_log.read(&connection, 7, &shard, first, |unread| {
            let numbers = std::iter::from_fn(|| unread.next().unwrap()).map(|one| one.number);
            (numbers.collect(), unread.resume_at())
        });
        read.unwrap()
    }

    #[test]
    fn log_in_memory_returns_committed_records_in_order() {
        let record_log = RecordLog::new(false);
        assert_eq!(read(&record_log, None, 4), (vec![], 4));
        record_log.commit((1..=8).map(|number| record(number, number)).collect());
        assert_eq!(read(&record_log, None, 1), (vec![1, 3, 5, 7], 9));
        assert_eq!(read(&record_log, None, 4), (vec![5, 7], 9));
        assert_eq!(read(&record_log, Some(5), 2), (vec![3, 5], 6));
        assert_eq!(read(&record_log, Some(5), 6), (vec![], 6));
        record_log.commit(vec![RecordLogChange::Trimmed(7, 3), record(9, 9)]);
        assert_eq!(read(&record_log, None, 1), (vec![5, 7, 9], 10));
        record_log.commit(vec![RecordLogChange::Dropped(7)]);
        assert_eq!(read(&record_log, None, 1), (vec![], 1));
    }

    #[test]
    fn records_past_retention_are_found_from_the_oldest_on() {
        let connection = Connection::open_in_memory().unwrap();
        let record_log = RecordLog::new(false);
        let day = 24 * 60 * 60;
        record_log.commit(vec![record(1, 0), record(2, 10), record(3, 2 * day), record(4, 0)]);
        let now = Timestamp::from_secs(2 * day as u64);
        let prunable = |most| record_log.last_prunable(&connection, 7, now, most).unwrap();
        assert_eq!([prunable(1), prunable(2), prunable(9)], [Some(1), Some(2), Some(2)]);
        assert_eq!(record_log.last_prunable(&connection, 8, now, 9).unwrap(), None);
        assert_eq!(record_log.last_trimmed(&connection, 7, now).unwrap(), Some(2));
        assert_eq!(record_log.last_trimmed(&connection, 8, now).unwrap(), None);
        assert_eq!(record_log.newest(&connection, 7).unwrap(), Some(4));
    }
}
