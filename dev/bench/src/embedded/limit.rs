//! Limit: the same work, hand-written on SQLite with the layout of the engine.
//!
//! Tables, keys and settings are those of `backend-sqlite`; each write is one transaction. Nothing
//! is validated that these requests cannot get wrong, nothing is counted, and statements are
//! prepared before the clock starts. There is one caller and one connection.
//!
//! The commit in which the WAL reaches 4,000 pages checkpoints it. The engine checkpoints at the
//! same length, but on another thread while its callers continue. So in a file the engine can
//! be faster than the limit. Before timed reads the WAL is checkpointed, so that they do not read
//! it.

use std::path::Path;

use bytes::Bytes;
use rusqlite::{Connection, Row as SqlRow, Statement, params};
use tabla_core::backend::key_encoding;
use tabla_core::backend::record;
use tabla_core::{Item, ValueRef};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::tabla::{expect, item};
use super::workload::{self, BATCH_GET, BATCH_WRITE, ITEMS, PAGE, PAGES, StorageMode, Workload};
use super::{Failure, Row, is_write};
use crate::median::Stopwatch;

pub(crate) struct Limit {
    connection: Connection,
    last: Last,
}

/// Last allocated numbers.
#[derive(Default)]
struct Last {
    id: i64,
    /// Number of the last record; `None` if changes are not recorded.
    record: Option<i64>,
}

const TABLES: &str = "
    CREATE TABLE items_1 (id INTEGER PRIMARY KEY, sum INTEGER NOT NULL, item BLOB NOT NULL);
    CREATE TABLE keys_1 (key BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE index_2 (key BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE index_3 (key BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;";

/// Table of change records with both images. In a file it is beside the items; in memory in a
/// database of its own, so that SQLite's walks over all pages do not include it.
const RECORDS: &str = "
    CREATE TABLE DATABASE.records_4 (number INTEGER PRIMARY KEY, lane INTEGER NOT NULL,
        at INTEGER NOT NULL, event_id NOT NULL, event INTEGER NOT NULL, image BLOB NOT NULL,
        before BLOB, by TEXT);";

impl Limit {
    /// Creates the tables, and writes the initial items.
    pub(crate) fn load(place: StorageMode, path: &Path) -> Result<Self, Failure> {
        let connection = match place {
            StorageMode::Memory => Connection::open_in_memory()?,
            StorageMode::Durable | StorageMode::Relaxed => Connection::open(path)?,
        };
        let settings = match place {
            StorageMode::Memory => "PRAGMA cache_size = -1000000000; PRAGMA page_size = 4096;",
            StorageMode::Durable => {
                "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                 PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -65536;"
            }
            StorageMode::Relaxed => {
                "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; \
                 PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -65536;"
            }
        };
        connection.execute_batch(settings)?;
        connection.execute_batch(TABLES)?;
        let mut limit = Self { connection, last: Last::default() };
        limit.each_batch(0, ITEMS, |work, number| work.put(&item(number)))?;
        limit.checkpoint()?;
        Ok(limit)
    }

    /// Records every change from now on.
    pub(crate) fn record(&mut self, place: StorageMode) -> Result<(), Failure> {
        let database = match place {
            StorageMode::Memory => {
                let attach = "ATTACH ':memory:' AS beside; PRAGMA beside.cache_size = -1000000000;";
                self.connection.execute_batch(attach)?;
                "beside"
            }
            StorageMode::Durable | StorageMode::Relaxed => "main",
        };
        self.connection.execute_batch(&RECORDS.replace("DATABASE", database))?;
        self.last.record = Some(0);
        Ok(())
    }

    /// Checkpoints the WAL while nothing is timed. During timed writes, commits checkpoint it at
    /// the same number of pages as the engine does. The WAL keeps its length on disk, as that of
    /// the engine does: an fsync costs more while a file grows.
    fn checkpoint(&self) -> Result<(), Failure> {
        let is_left = |row: &SqlRow<'_>| row.get::<_, i64>(0);
        let left = self.connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], is_left)?;
        expect(left == 0, "the checkpoint is complete")
    }

    /// Does the work of a row, and deletes the items that it wrote; returns the seconds.
    pub(crate) fn run(&mut self, row: &Row, first: u64) -> Result<f64, Failure> {
        let new_items = row.ops * row.operation.new_items();
        if row.operation == Workload::Delete {
            self.each_batch(first, new_items, |work, number| work.put(&item(number)))?;
        }
        if !is_write(row.operation) {
            // Reads do not have to look through the WAL of earlier writes.
            self.checkpoint()?;
        }
        let seconds = self.timed(row, first)?;
        if row.operation != Workload::Delete {
            self.each_batch(first, new_items, |work, number| work.delete(&key_of(number)))?;
        }
        Ok(seconds)
    }

    /// Does the work of a row; returns the seconds.
    pub(crate) fn timed(&mut self, row: &Row, first: u64) -> Result<f64, Failure> {
        let mut work = Work::prepare(&self.connection, &mut self.last)?;
        let watch = Stopwatch::start();
        for step in 0..row.ops {
            work.call(row.operation, step, first)?;
        }
        Ok(watch.seconds())
    }

    fn each_batch(
        &mut self,
        first: u64,
        count: u64,
        write: impl Fn(&mut Work<'_>, u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut work = Work::prepare(&self.connection, &mut self.last)?;
        for start in (first..first + count).step_by(BATCH_WRITE as usize) {
            let end = (start + BATCH_WRITE).min(first + count);
            work.transaction(|work| (start..end).try_for_each(|number| write(work, number)))?;
        }
        Ok(())
    }
}

/// Prepared statements, and the last allocated numbers.
struct Work<'c> {
    last: &'c mut Last,
    begin: Statement<'c>,
    begin_read: Statement<'c>,
    commit: Statement<'c>,
    get: Statement<'c>,
    range: Statement<'c>,
    index_range: Statement<'c>,
    insert_item: Statement<'c>,
    insert_key: Statement<'c>,
    update: Statement<'c>,
    delete_item: Statement<'c>,
    delete_key: Statement<'c>,
    insert_entries: [Statement<'c>; 2],
    delete_entries: [Statement<'c>; 2],
    append: Option<Statement<'c>>,
}

impl<'c> Work<'c> {
    fn prepare(connection: &'c Connection, last: &'c mut Last) -> Result<Self, Failure> {
        let prepare = |sql: &str| connection.prepare(sql);
        let range = |keys: &str| {
            prepare(&format!(
                "SELECT k.id, i.sum, i.item FROM {keys} k LEFT JOIN items_1 i ON i.id = k.id \
                 WHERE k.key >= ?1 AND k.key < ?2 ORDER BY k.key"
            ))
        };
        let insert = |keys: &str| prepare(&format!("INSERT INTO {keys} (key, id) VALUES (?1, ?2)"));
        let delete = |keys: &str| prepare(&format!("DELETE FROM {keys} WHERE key = ?1"));
        let append = "INSERT INTO records_4 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL)";
        let append = last.record.map(|_| prepare(append)).transpose()?;
        Ok(Self {
            last,
            begin: prepare("BEGIN IMMEDIATE")?,
            begin_read: prepare("BEGIN")?,
            commit: prepare("COMMIT")?,
            get: prepare(
                "SELECT k.id, i.sum, i.item FROM keys_1 k LEFT JOIN items_1 i ON i.id = k.id \
                 WHERE k.key = ?1",
            )?,
            range: range("keys_1")?,
            index_range: range("index_2")?,
            insert_item: prepare("INSERT INTO items_1 (id, sum, item) VALUES (?1, ?2, ?3)")?,
            insert_key: insert("keys_1")?,
            update: prepare("UPDATE items_1 SET sum = ?2, item = ?3 WHERE id = ?1")?,
            delete_item: prepare("DELETE FROM items_1 WHERE id = ?1")?,
            delete_key: delete("keys_1")?,
            insert_entries: [insert("index_2")?, insert("index_3")?],
            delete_entries: [delete("index_2")?, delete("index_3")?],
            append,
        })
    }

    fn call(&mut self, operation: Workload, step: u64, first: u64) -> Result<(), Failure> {
        match operation {
            Workload::Get => {
                let found = self.find(&key_of(workload::pseudo_random_item(step)))?;
                expect(found.is_some(), "the item exists")
            }
            Workload::Put => self.transaction(|work| work.put(&item(first + step))),
            Workload::Update => self.transaction(|work| {
                work.update(workload::pseudo_random_item(step), workload::amount(first, step))
            }),
            Workload::Delete => self.transaction(|work| work.delete(&key_of(first + step))),
            Workload::Query => {
                let items = self.page(&partition(step), |_| true)?;
                expect(items.len() as u64 == PAGE, "a page is full")
            }
            Workload::IndexQuery => {
                let shelf = workload::shelf(workload::pseudo_random_item(step) % PAGES);
                let prefix = prefix(&shelf);
                let items = rows(&mut self.index_range, &prefix, |_| true)?;
                expect(items.len() as u64 == PAGE, "a page of the index is full")
            }
            Workload::FilteredQuery => {
                let is_paid = |item: &Item| item.get("paid") == Some(ValueRef::Bool(true));
                let items = self.page(&partition(step), is_paid)?;
                expect(items.len() as u64 == PAGE / 2, "half of the page passes the filter")
            }
            Workload::BatchWrite => self.transaction(|work| {
                let start = first + step * BATCH_WRITE;
                (start..start + BATCH_WRITE).try_for_each(|number| work.put(&item(number)))
            }),
            Workload::BatchGet => {
                self.begin_read.execute([])?;
                let mut items = Vec::with_capacity(BATCH_GET as usize);
                for one in 0..BATCH_GET {
                    items.extend(
                        self.find(&key_of(workload::pseudo_random_item(step * BATCH_GET + one)))?,
                    );
                }
                self.commit.execute([])?;
                expect(items.len() as u64 == BATCH_GET, "the batch returns all items")
            }
            Workload::Transact => self.transaction(|work| {
                work.put(&item(first + 2 * step))?;
                work.put(&item(first + 2 * step + 1))?;
                work.update(workload::pseudo_random_item(2 * step), workload::amount(first, step))?;
                work.update(
                    workload::pseudo_random_item(2 * step + 1),
                    workload::amount(first, step),
                )
            }),
        }
    }

    fn transaction(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.begin.execute([])?;
        work(self)?;
        self.commit.execute([])?;
        Ok(())
    }

    fn find(&mut self, key: &[u8]) -> Result<Option<(i64, Item)>, Failure> {
        let mut rows = self.get.query([key])?;
        rows.next()?.map(read).transpose()
    }

    fn page(
        &mut self,
        partition: &str,
        passes: impl Fn(&Item) -> bool,
    ) -> Result<Vec<Item>, Failure> {
        rows(&mut self.range, &prefix(partition), passes)
    }

    /// Writes an item after checking that it does not exist.
    fn put(&mut self, item: &Item) -> Result<(), Failure> {
        let bytes = item.encode();
        let key = table_key(item)?;
        expect(self.find(&key)?.is_none(), "the item is new")?;
        self.last.id += 1;
        let id = self.last.id;
        self.insert_item.execute(params![id, sum_of(id, &bytes), &bytes[..]])?;
        self.insert_key.execute(params![key, id])?;
        for (insert, entry) in self.insert_entries.iter_mut().zip(entries(item)?) {
            insert.execute(params![entry, id])?;
        }
        self.record(None, Some(&bytes))
    }

    fn update(&mut self, number: u64, amount: i64) -> Result<(), Failure> {
        let found = self.find(&key_of(number))?;
        let (id, old) = found.ok_or("the item does not exist")?;
        let mut item = old.clone();
        expect(item.get("phase") == Some(ValueRef::S(workload::PENDING)), "the item is pending")?;
        item.insert("amount", amount);
        let bytes = item.encode();
        self.update.execute(params![id, sum_of(id, &bytes), &bytes[..]])?;
        self.record(Some(&old), Some(&bytes))
    }

    /// Deletes an item after reading it for its index entries.
    fn delete(&mut self, key: &[u8]) -> Result<(), Failure> {
        let (id, item) = self.find(key)?.ok_or("the item does not exist")?;
        self.delete_item.execute([id])?;
        self.delete_key.execute([key])?;
        for (delete, entry) in self.delete_entries.iter_mut().zip(entries(&item)?) {
            delete.execute([entry])?;
        }
        self.record(Some(&item), None)
    }

    /// Writes a record of a change, if changes are recorded.
    fn record(&mut self, old: Option<&Item>, new: Option<&Bytes>) -> Result<(), Failure> {
        let (Some(append), Some(number)) = (&mut self.append, &mut self.last.record) else {
            return Ok(());
        };
        *number += 1;
        let (image, before) = match (old, new) {
            (Some(old), Some(new)) => {
                let encoded = Item::decode_trusted(new.clone())?;
                (new.clone(), Some(record::encode_delta(old, &encoded)))
            }
            (_, Some(new)) => (new.clone(), None),
            (old, None) => (old.ok_or("a record needs an image")?.encode(), None),
        };
        let (lane, at, epoch, event) = (*number % 4, 1_700_000_000_i64, i64::MAX - 7, 2);
        append.execute(params![*number, lane, at, epoch, event, &image[..], before])?;
        Ok(())
    }
}

fn rows(
    range: &mut Statement<'_>,
    lower: &[u8],
    passes: impl Fn(&Item) -> bool,
) -> Result<Vec<Item>, Failure> {
    let mut upper = lower.to_vec();
    key_encoding::prefix_successor(&mut upper);
    let mut items = Vec::new();
    let mut rows = range.query([lower, &upper])?;
    while let Some(row) = rows.next()? {
        let (_, item) = read(row)?;
        if passes(&item) {
            items.push(item);
        }
    }
    Ok(items)
}

fn read(row: &SqlRow<'_>) -> Result<(i64, Item), Failure> {
    let id: i64 = row.get(0)?;
    let sum: i64 = row.get(1)?;
    let bytes = row.get_ref(2)?.as_blob()?;
    expect(sum == sum_of(id, bytes), "the checksum of the item matches")?;
    Ok((id, Item::decode_trusted(Bytes::copy_from_slice(bytes))?))
}

fn sum_of(id: i64, bytes: &[u8]) -> i64 {
    xxh3_64_with_seed(bytes, id as u64) as i64
}

fn partition(step: u64) -> String {
    workload::partition(workload::pseudo_random_item(step) / PAGE)
}

/// Start of the keys of a partition.
pub(crate) fn prefix(partition: &str) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(partition.len() + 2);
    append(partition, &mut encoded);
    let mut key = Vec::with_capacity(128);
    key.extend_from_slice(&key_encoding::hash(&encoded).to_be_bytes());
    key.extend_from_slice(&encoded);
    key
}

fn append(text: &str, out: &mut Vec<u8>) {
    key_encoding::encode(ValueRef::S(text), out).expect("text can be a key");
}

pub(crate) fn key_of(number: u64) -> Vec<u8> {
    let (partition, sort) = workload::key(number);
    let mut key = prefix(&partition);
    append(&sort, &mut key);
    key
}

fn text<'i>(item: &'i Item, name: &str) -> Result<&'i str, Failure> {
    match item.get(name) {
        Some(ValueRef::S(text)) => Ok(text),
        _ => Err(format!("the item has no text {name}").into()),
    }
}

fn table_key(item: &Item) -> Result<Vec<u8>, Failure> {
    let mut key = prefix(text(item, "pk")?);
    append(text(item, "sk")?, &mut key);
    Ok(key)
}

/// Keys of the item in the two indexes.
fn entries(item: &Item) -> Result<[Vec<u8>; 2], Failure> {
    let rest = [text(item, "created")?, text(item, "pk")?, text(item, "sk")?];
    let entry = |partition| {
        let mut key = prefix(partition);
        rest.iter().for_each(|part| append(part, &mut key));
        key
    };
    Ok([entry(text(item, "shelf")?), entry(text(item, "customer")?)])
}
