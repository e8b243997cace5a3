//! Where the records of streams are kept, and how they are found again.

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

/// Where the records are.
#[derive(Debug)]
pub(crate) enum RecordLog {
    /// In a table of the file for each stream, written with the items; and which of them others can
    /// be based on.
    File(Mutex<BaseCache>),
    /// Beside the store that is in memory, too, by the number of the stream, in the order of their
    /// numbers. In SQLite a record would be one more page that a write has to change, with one more
    /// copy of the item; here it keeps the bytes that were written.
    Memory(Mutex<MemoryRecords>),
}

type MemoryRecords = BTreeMap<i64, VecDeque<StoredRecord>>;

/// What a group does to what an archive has in memory, once it is committed.
#[derive(Debug)]
pub(crate) enum RecordLogChange {
    /// A record of a stream.
    Record(i64, StoredRecord),
    /// The records of a stream up to a number are gone.
    Trimmed(i64, i64),
    /// All records of a stream are gone.
    Dropped(i64),
    /// The record of an item on which the next can be based.
    Base(ItemId, BaseRecord),
}

impl RecordLog {
    pub(crate) fn new(is_file: bool) -> Self {
        if is_file { Self::File(Mutex::default()) } else { Self::Memory(Mutex::default()) }
    }

    /// Keeps what a group has done that is committed; the records of a file are in it already.
    pub(crate) fn commit(&self, archived: Vec<RecordLogChange>) {
        if archived.is_empty() {
            return;
        }
        match self {
            Self::File(bases) => {
                let mut bases = lock(bases);
                for one in archived {
                    if let RecordLogChange::Base(whose, base) = one {
                        bases.insert(whose, base);
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

    /// The record on which the next one of an item can be based.
    pub(crate) fn base(&self, whose: ItemId) -> Option<BaseRecord> {
        match self {
            Self::File(bases) => lock(bases).get(whose),
            Self::Memory(_) => None,
        }
    }

    /// The number of the last of a stream's oldest records, at most `most`, that can be deleted: they
    /// are too old to be read, and so is whatever is based on them.
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

    /// The number of the last record of a stream that is too old to be read, if it is still there.
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
        // The first record from a number on, if it is too old.
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
        // Later records have higher numbers. An hour of them may be there: too many to look at each.
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

    /// The number of a stream's last record.
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

    /// Reads the records of a shard in their order, from a number on, as many as are asked for.
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

/// Keeps one thing that a group has done in memory.
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
        // Nothing is based on a record that has the bytes of the item.
        RecordLogChange::Base(..) => {}
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The records of a shard that are not read yet.
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
    /// The next record.
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

    /// The number after the last record that was looked at. Whoever reads on from there passes no
    /// record of the other lanes twice: numbers rise in the order of the commits, so that what is not
    /// there yet comes later.
    pub(crate) fn resume_at(&self) -> u64 {
        self.next
    }
}

impl Session<'_> {
    /// Makes room for the records of a stream with this number.
    pub(crate) fn create_record_log(&mut self, stream: i64) -> Result<()> {
        match self.record_log {
            RecordLog::File(_) => self.execute_batch(&format::create_records(stream)),
            RecordLog::Memory(_) => Ok(()),
        }
    }

    /// Keeps a record of a stream.
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

    /// Takes away the records of a stream up to a number.
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

    /// Takes away all records of a stream, little by little if they are many.
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

    /// The numbers of what a shard has, and where a reader goes on.
    fn read(archive: &RecordLog, last: Option<u64>, first: u64) -> (Vec<i64>, u64) {
        let connection = Connection::open_in_memory().unwrap();
        let shard = ShardRange { lane: 1, first_after: 0, last };
        let read = archive.read(&connection, 7, &shard, first, |unread| {
            let numbers = std::iter::from_fn(|| unread.next().unwrap()).map(|one| one.number);
            (numbers.collect(), unread.resume_at())
        });
        read.unwrap()
    }

    #[test]
    fn an_archive_in_memory_has_what_was_committed_in_its_order() {
        let archive = RecordLog::new(false);
        assert_eq!(read(&archive, None, 4), (vec![], 4));
        archive.commit((1..=8).map(|number| record(number, number)).collect());
        assert_eq!(read(&archive, None, 1), (vec![1, 3, 5, 7], 9));
        assert_eq!(read(&archive, None, 4), (vec![5, 7], 9));
        assert_eq!(read(&archive, Some(5), 2), (vec![3, 5], 6));
        assert_eq!(read(&archive, Some(5), 6), (vec![], 6));
        archive.commit(vec![RecordLogChange::Trimmed(7, 3), record(9, 9)]);
        assert_eq!(read(&archive, None, 1), (vec![5, 7, 9], 10));
        archive.commit(vec![RecordLogChange::Dropped(7)]);
        assert_eq!(read(&archive, None, 1), (vec![], 1));
    }

    #[test]
    fn what_is_past_its_time_is_found_from_the_oldest_on() {
        let connection = Connection::open_in_memory().unwrap();
        let archive = RecordLog::new(false);
        let day = 24 * 60 * 60;
        archive.commit(vec![record(1, 0), record(2, 10), record(3, 2 * day), record(4, 0)]);
        let now = Timestamp::from_secs(2 * day as u64);
        let disposable = |most| archive.last_prunable(&connection, 7, now, most).unwrap();
        assert_eq!([disposable(1), disposable(2), disposable(9)], [Some(1), Some(2), Some(2)]);
        assert_eq!(archive.last_prunable(&connection, 8, now, 9).unwrap(), None);
        assert_eq!(archive.last_trimmed(&connection, 7, now).unwrap(), Some(2));
        assert_eq!(archive.last_trimmed(&connection, 8, now).unwrap(), None);
        assert_eq!(archive.newest(&connection, 7).unwrap(), Some(4));
    }
}
