//! Where the records of streams are kept, and how they are found again.

use std::collections::{BTreeMap, VecDeque, vec_deque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Rows, params};
use tabla::Result;
use tabla::engine::change;
use tabla::engine::log::Extent;
use tabla::env::Timestamp;

use crate::catalogue::StoredStream;
use crate::error::from_sqlite;
use crate::format;
use crate::records::{self, Images, StoredRecord};
use crate::session::{Role, Session};

/// Where the records are.
#[derive(Debug)]
pub(crate) enum Archive {
    /// In a table of the file for each stream, written with the items.
    File,
    /// Beside the store that is in memory, too, by the number of the stream, in the order of their
    /// numbers. In SQLite a record would be one more page that a write has to change, with one more
    /// copy of the item; here it keeps the bytes that were written.
    Memory(Mutex<Kept>),
}

type Kept = BTreeMap<i64, VecDeque<StoredRecord>>;

/// What a group does to an archive in memory, once it is committed.
#[derive(Debug)]
pub(crate) enum Archived {
    /// A record of a stream.
    Record(i64, StoredRecord),
    /// The records of a stream up to a number are gone.
    Trimmed(i64, i64),
    /// All records of a stream are gone.
    Gone(i64),
}

impl Archive {
    pub(crate) fn new(is_file: bool) -> Self {
        if is_file { Self::File } else { Self::Memory(Mutex::default()) }
    }

    /// Keeps what a group has done that is committed; a file has it already.
    pub(crate) fn keep(&self, archived: Vec<Archived>) {
        let Self::Memory(kept) = self else { return };
        if archived.is_empty() {
            return;
        }
        let mut kept = lock(kept);
        for one in archived {
            match one {
                Archived::Record(stream, record) => {
                    kept.entry(stream).or_default().push_back(record);
                }
                Archived::Trimmed(stream, through) => {
                    let records = kept.entry(stream).or_default();
                    records.drain(..records.partition_point(|one| one.number <= through));
                }
                Archived::Gone(stream) => {
                    kept.remove(&stream);
                }
            }
        }
    }

    /// The number of the last of a stream's oldest records, at most `most`, that are too old to be
    /// read.
    pub(crate) fn expired(
        &self,
        connection: &Connection,
        stream: i64,
        now: Timestamp,
        most: usize,
    ) -> Result<Option<i64>> {
        let is_expired = |at: i64| change::is_past_retention(Timestamp::from_secs(at as u64), now);
        if let Self::Memory(kept) = self {
            let kept = lock(kept);
            let records = kept.get(&stream).into_iter().flatten();
            let expired = records.take(most).take_while(|record| is_expired(record.at));
            return Ok(expired.last().map(|record| record.number));
        }
        let select = format!("SELECT number, at FROM {} ORDER BY number", format::records(stream));
        let mut statement = connection.prepare_cached(&select).map_err(from_sqlite)?;
        let mut rows = statement.query([]).map_err(from_sqlite)?;
        let mut last = None;
        let mut left = most;
        while left > 0
            && let Some(row) = rows.next().map_err(from_sqlite)?
            && is_expired(row.get(1).map_err(from_sqlite)?)
        {
            last = Some(row.get(0).map_err(from_sqlite)?);
            left -= 1;
        }
        Ok(last)
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
        shard: &Extent,
        first: u64,
        work: impl FnOnce(&mut Unread<'_>) -> R,
    ) -> Result<R> {
        let unread = |source| Unread { source, lane: shard.lane as i64, next: first };
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

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The records of a shard that are not read yet.
pub(crate) struct Unread<'a> {
    source: Source<'a>,
    lane: i64,
    next: u64,
}

enum Source<'a> {
    File(Rows<'a>),
    Memory(vec_deque::Iter<'a, StoredRecord>),
}

impl Unread<'_> {
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
    pub(crate) fn passed(&self) -> u64 {
        self.next
    }
}

impl Session<'_> {
    /// Makes room for the records of a stream with this number.
    pub(crate) fn open_archive(&mut self, stream: i64) -> Result<()> {
        match self.archive {
            Archive::File => self.execute_batch(&format::create_records(stream)),
            Archive::Memory(_) => Ok(()),
        }
    }

    /// Keeps a record of a stream.
    pub(crate) fn archive(&mut self, stream: &StoredStream, record: StoredRecord) -> Result<()> {
        if let Archive::Memory(_) = self.archive {
            self.archived.push(Archived::Record(stream.number, record));
            return Ok(());
        }
        let StoredRecord { number, lane, at, event_id, event, images, by } = record;
        self.written.bytes += images.len();
        let Images { image, before } = images;
        let values = params![number, lane, at, event_id, event, &image[..], before, by];
        self.write(stream.number, Role::Append, &stream.append, values)?;
        Ok(())
    }

    /// Takes away the records of a stream up to a number.
    pub(crate) fn trim_archive(&mut self, stream: i64, through: i64) -> Result<()> {
        match self.archive {
            Archive::File => {
                let delete = format!("DELETE FROM {} WHERE number <= ?1", format::records(stream));
                self.execute(&delete, [through])?;
            }
            Archive::Memory(_) => self.archived.push(Archived::Trimmed(stream, through)),
        }
        Ok(())
    }

    /// Takes away all records of a stream, little by little if they are many.
    pub(crate) fn discard_archive(&mut self, stream: i64) -> Result<()> {
        match self.archive {
            Archive::File => self.discard(&format::records(stream), "number"),
            Archive::Memory(_) => {
                self.archived.push(Archived::Gone(stream));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tabla::Item;

    use super::*;
    use crate::records::EventId;

    fn record(number: i64, at: i64) -> Archived {
        let images = Images { image: Item::new().encode(), before: None };
        let event_id = EventId::Epoch(1);
        let lane = number % 2;
        Archived::Record(7, StoredRecord { number, lane, at, event_id, event: 1, images, by: None })
    }

    /// The numbers of what a shard has, and where a reader goes on.
    fn read(archive: &Archive, last: Option<u64>, first: u64) -> (Vec<i64>, u64) {
        let connection = Connection::open_in_memory().unwrap();
        let shard = Extent { lane: 1, first_after: 0, last };
        let read = archive.read(&connection, 7, &shard, first, |unread| {
            let numbers = std::iter::from_fn(|| unread.next().unwrap()).map(|one| one.number);
            (numbers.collect(), unread.passed())
        });
        read.unwrap()
    }

    #[test]
    fn an_archive_in_memory_has_what_was_committed_in_its_order() {
        let archive = Archive::new(false);
        assert_eq!(read(&archive, None, 4), (vec![], 4));
        archive.keep((1..=8).map(|number| record(number, number)).collect());
        assert_eq!(read(&archive, None, 1), (vec![1, 3, 5, 7], 9));
        assert_eq!(read(&archive, None, 4), (vec![5, 7], 9));
        assert_eq!(read(&archive, Some(5), 2), (vec![3, 5], 6));
        assert_eq!(read(&archive, Some(5), 6), (vec![], 6));
        archive.keep(vec![Archived::Trimmed(7, 3), record(9, 9)]);
        assert_eq!(read(&archive, None, 1), (vec![5, 7, 9], 10));
        archive.keep(vec![Archived::Gone(7)]);
        assert_eq!(read(&archive, None, 1), (vec![], 1));
    }

    #[test]
    fn what_is_past_its_time_is_found_from_the_oldest_on() {
        let connection = Connection::open_in_memory().unwrap();
        let archive = Archive::new(false);
        let day = 24 * 60 * 60;
        archive.keep(vec![record(1, 0), record(2, 10), record(3, 2 * day), record(4, 0)]);
        let now = Timestamp::from_secs(2 * day as u64);
        let expired = |most| archive.expired(&connection, 7, now, most).unwrap();
        assert_eq!([expired(1), expired(2), expired(9)], [Some(1), Some(2), Some(2)]);
        assert_eq!(archive.expired(&connection, 8, now, 9).unwrap(), None);
        assert_eq!(archive.newest(&connection, 7).unwrap(), Some(4));
    }
}
