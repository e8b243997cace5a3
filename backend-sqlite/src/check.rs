//! Verification of a file: every item row, index entry, expiry entry, count and stream record.
//!
//! It reads with sqlx, as streams, and shares the decoding of rows with the rest of the crate.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use futures::TryStreamExt;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Connection, Row, TypeInfo, ValueRef};
use tabla_core::backend::schema::{Table, TableSchema};
use tabla_core::backend::stream_state::StreamState;
use tabla_core::backend::{IndexEntry, RowKey};
use tabla_core::{Error, ErrorKind, Item, Result};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::catalogue::{SELECT_TABLES, StoredIndex, StoredTable, parse, stored_expiry};
use crate::config::SqliteConfig;
use crate::delta_chain::DeltaChain;
use crate::error::from_sqlx;
use crate::expiry::ExpiryIndex;
use crate::records::{self, Before, Images, StoredRecord};
use crate::rows::row_checksum;
use crate::{delta_chain, format, open};

/// Maximum number of problems that a report lists.
const MAX_PROBLEMS: usize = 100;

/// Progress of [`check`], in verified items and index entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckProgress {
    /// Number of items and index entries that have been verified.
    pub done: u64,
    /// Number of items and index entries in the file, by its stored counts; at least `done`.
    pub total: u64,
}

/// Result of [`check`]: numbers of verified rows, and the problems that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// Number of verified tables.
    pub tables: u64,
    /// Number of verified items.
    pub items: u64,
    /// Number of verified index entries.
    pub entries: u64,
    /// Number of verified stream records.
    pub records: u64,
    /// Messages, each with the table, index or stream, and the row or record, if it is about one;
    /// empty if the file is sound. At most 100 are listed.
    pub problems: Vec<String>,
}

impl CheckReport {
    /// Whether the check found no problem.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, problem: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

/// Verifies a store's file without changing it.
///
/// The check covers the structure of SQLite's b-trees, the checksum and the key of every item,
/// index entries, expiry entries, item counts, and that every stream record can be read and is in
/// the right shard. If SQLite's own check finds a problem, the rest is not checked.
///
/// The check reads one snapshot. Other connections can read and write meanwhile, but the
/// write-ahead log grows until the check ends. `progress` is called about once per 1,000 items and
/// index entries.
///
/// # Errors
/// The file does not exist, is empty, cannot be read, was not written by tabla, or has a newer
/// format; or its header or the definition of a table is damaged. Other damage is in the report.
pub async fn check(
    path: impl AsRef<Path>,
    progress: impl FnMut(CheckProgress),
) -> Result<CheckReport> {
    let path = path.as_ref();
    let config = SqliteConfig::file(path);
    if !path.exists() {
        return Err(Error::config(format!(
            "cannot check `{}`: there is no such file; name the file of a store",
            path.display()
        )));
    }
    if path.is_dir() {
        return Err(Error::config(format!(
            "cannot check `{}`: it is a directory; name a file in it",
            path.display()
        )));
    }
    if open::identify(path, &config).await? == 0 {
        return Err(Error::config(format!(
            "cannot check `{}`: the file is empty, because no store has been opened with it; name \
             the file of a store",
            path.display()
        )));
    }
    let mut connection = open::connect(path, &config, false).await?;
    let mut check = Checker { report: CheckReport::default(), done: 0, total: 0, progress };
    check.run(&mut connection).await?;
    connection.close().await.map_err(from_sqlx)?;
    Ok(check.report)
}

/// State of a running [`check`].
struct Checker<F> {
    report: CheckReport,
    done: u64,
    total: u64,
    progress: F,
}

/// Summary of a table's or an index's entries: their number, the sum of their sizes, and the sum of
/// their hashes. Equal tallies mean equal entries, in whatever order they were read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    entries: u64,
    bytes: u64,
    hash: u64,
}

impl Tally {
    fn add(&mut self, key: &[u8], id: i64, size: usize, item: Option<&[u8]>) {
        self.entries += 1;
        self.bytes += size as u64;
        let hash = xxh3_64_with_seed(key, id as u64);
        let hash = item.map_or(hash, |item| xxh3_64_with_seed(item, hash));
        self.hash = self.hash.wrapping_add(hash);
    }
}

impl<F: FnMut(CheckProgress)> Checker<F> {
    async fn run(&mut self, connection: &mut SqliteConnection) -> Result<()> {
        // One transaction, so that all reads see the same state.
        open::run(connection, "BEGIN").await?;
        let mut integrity = Vec::new();
        each(connection, "PRAGMA integrity_check", |row| {
            integrity.push(row.get::<String, _>(0));
            Ok(())
        })
        .await?;
        for line in integrity.into_iter().filter(|line| line != "ok") {
            self.report.problem(format!("SQLite: {line}"));
        }
        if !self.report.is_sound() {
            return Ok(());
        }
        let counts = counts(connection).await?;
        self.total = counts.values().map(|(items, _)| items).sum();
        let mut tables = Vec::new();
        each(connection, SELECT_TABLES, |row| {
            let definition: Table = parse(row.get::<&str, _>(1))?;
            let indexes: BTreeMap<String, i64> = parse(row.get::<&str, _>(2))?;
            let expiry = stored_expiry(row.get(0), &definition, row.get(3), row.get(4));
            tables.push(StoredTable::new(row.get(0), definition, &indexes, None, expiry)?);
            Ok(())
        })
        .await?;
        for table in &tables {
            self.table(connection, table, &counts).await?;
        }
        self.streams(connection).await
    }

    async fn table(
        &mut self,
        connection: &mut SqliteConnection,
        table: &StoredTable,
        counts: &BTreeMap<i64, (u64, u64)>,
    ) -> Result<()> {
        self.report.tables += 1;
        let name = &table.table.name;
        let schema = &table.table.schema;
        let mut expected = vec![Tally::default(); schema.indexes.len()];
        let mut tally = Tally::default();
        let mut times = Tally::default();
        let select = format!(
            "SELECT k.key, k.id, i.sum, i.item FROM keys_{0} k LEFT JOIN items_{0} i ON i.id = k.id",
            table.number
        );
        each(connection, &select, |row| {
            self.step();
            let (key, id) = (row.get::<&[u8], _>(0), row.get::<i64, _>(1));
            let Some(bytes) = row.get::<Option<&[u8]>, _>(3) else {
                self.report.problem(format!(
                    "table {name}: a key refers to row {id}, which does not exist"
                ));
                return Ok(());
            };
            let item = match stored(id, row.get(2), bytes) {
                Ok(item) => item,
                Err(problem) => {
                    self.report.problem(format!("table {name}, row {id}: {problem}"));
                    return Ok(());
                }
            };
            if !has_key(schema, &item) || RowKey::of_stored(schema, &item).as_bytes() != key {
                self.report.problem(format!(
                    "table {name}, row {id}: the item does not match its row key"
                ));
                return Ok(());
            }
            tally.add(key, id, item.size(), None);
            if let Some(time) = table.expiry.as_ref().and_then(|expiry| expiry.expires_at(&item)) {
                times.add(&time.to_be_bytes(), id, 0, None);
            }
            for ((index, stored), tally) in
                schema.indexes.iter().zip(&table.indexes).zip(&mut expected)
            {
                if let Some(entry) = IndexEntry::of(schema, index, &item) {
                    let carried = (!stored.projects_all).then(|| entry.item.encode());
                    let key = entry.row_key.as_bytes();
                    tally.add(key, id, entry.item.size(), carried.as_deref());
                }
            }
            Ok(())
        })
        .await?;
        self.report.items += tally.entries;
        let rows =
            count(connection, &format!("SELECT count(*) FROM items_{}", table.number)).await?;
        if rows != tally.entries {
            self.report.problem(format!(
                "table {name}: {rows} item rows, but keys refer to {}",
                tally.entries
            ));
        }
        self.compare_count(&format!("table {name}"), tally, counts.get(&table.number));
        // While it is filled, the expiry index lacks entries.
        if let Some(expiry) = table.expiry.as_ref().filter(|expiry| !expiry.filling) {
            let found = tally_times(connection, expiry).await?;
            if found != times {
                self.report.problem(format!(
                    "table {name}: the expiry index does not match the items ({} entries found, {} \
                     expected)",
                    found.entries, times.entries
                ));
            }
        }
        for ((index, stored), expected) in schema.indexes.iter().zip(&table.indexes).zip(expected) {
            let what = format!("index {} of table {name}", index.name);
            let found = self.index(connection, &what, table, stored).await?;
            self.report.entries += found.entries;
            // While it is filled, an index lacks entries.
            if found != expected && !stored.backfilling {
                self.report.problem(format!(
                    "{what}: its entries do not match the items ({} found, {} expected)",
                    found.entries, expected.entries
                ));
            }
            self.compare_count(&what, found, counts.get(&stored.number));
        }
        Ok(())
    }

    async fn index(
        &mut self,
        connection: &mut SqliteConnection,
        what: &str,
        table: &StoredTable,
        index: &StoredIndex,
    ) -> Result<Tally> {
        let mut tally = Tally::default();
        let (sum_and_item, join) = match index.projects_all {
            true => ("i.sum, i.item", format!("LEFT JOIN items_{} i ON i.id = k.id", table.number)),
            false => ("k.sum, k.item", String::new()),
        };
        let select =
            format!("SELECT k.key, k.id, {sum_and_item} FROM index_{} k {join}", index.number);
        each(connection, &select, |row| {
            self.step();
            let (key, id) = (row.get::<&[u8], _>(0), row.get::<i64, _>(1));
            let Some(bytes) = row.get::<Option<&[u8]>, _>(3) else {
                self.report
                    .problem(format!("{what}: an entry refers to row {id}, which does not exist"));
                return Ok(());
            };
            match stored(id, row.get(2), bytes) {
                Ok(item) => {
                    let carried = (!index.projects_all).then_some(bytes);
                    tally.add(key, id, item.size(), carried);
                }
                Err(problem) => self.report.problem(format!("{what}, row {id}: {problem}")),
            }
            Ok(())
        })
        .await?;
        Ok(tally)
    }

    fn compare_count(&mut self, what: &str, found: Tally, counted: Option<&(u64, u64)>) {
        if counted != Some(&(found.entries, found.bytes)) {
            let (items, bytes) = counted.copied().unwrap_or_default();
            self.report.problem(format!(
                "{what}: the stored count is {items} items of {bytes} bytes, but it has {} of {} bytes",
                found.entries, found.bytes
            ));
        }
    }

    async fn streams(&mut self, connection: &mut SqliteConnection) -> Result<()> {
        let last = count(connection, "SELECT last_record FROM tabla_state").await?;
        let mut streams = Vec::new();
        each(connection, "SELECT number, arn, log FROM tabla_streams", |row| {
            match parse::<StreamState>(row.get::<&str, _>(2)) {
                Ok(log) => streams.push((row.get::<i64, _>(0), log)),
                Err(error) => {
                    self.report.problem(format!("stream {}: {error}", row.get::<&str, _>(1)));
                }
            }
            Ok(())
        })
        .await?;
        for (number, log) in streams {
            self.records(connection, number, &log, last).await?;
        }
        Ok(())
    }

    async fn records(
        &mut self,
        connection: &mut SqliteConnection,
        stream: i64,
        log: &StreamState,
        last: u64,
    ) -> Result<()> {
        let select = format!(
            "SELECT {} FROM {} WHERE number > ?1 ORDER BY number LIMIT 100",
            records::COLUMNS,
            format::records(stream)
        );
        let mut after = i64::MIN;
        // In batches, because images may be large, and base records are read between two batches.
        loop {
            let rows = sqlx::query(AssertSqlSafe(select.as_str())).bind(after);
            let rows = rows.fetch_all(&mut *connection).await.map_err(from_sqlx)?;
            let Some(newest) = rows.last() else { return Ok(()) };
            after = newest.get(0);
            for row in rows {
                let record = stored_record(&row);
                let base = match record.as_ref().map(|record| &record.images) {
                    Ok(Images::Delta { base, .. }) => {
                        Some(base_image(connection, stream, log, *base).await)
                    }
                    _ => None,
                };
                // A record whose base was deleted is past its retention too, and is deleted next.
                let is_past_retention = |error: &Error| *error.kind() == ErrorKind::TrimmedData;
                if matches!(&base, Some(Err(error)) if is_past_retention(error)) {
                    self.report.records += 1;
                    continue;
                }
                self.record(row.get(0), record, base, log, last);
            }
        }
    }

    fn record(
        &mut self,
        number: i64,
        record: Result<StoredRecord>,
        base: Option<Result<Item>>,
        log: &StreamState,
        last: u64,
    ) {
        self.report.records += 1;
        let checked = record
            .map_err(|error| error.message().to_owned())
            .and_then(|record| check_record(record, base, log, last));
        if let Err(problem) = checked {
            self.report.problem(format!("stream {}, record {number}: {problem}", log.arn()));
        }
    }

    fn step(&mut self) {
        self.done += 1;
        if self.done.is_multiple_of(1000) || self.done == self.total {
            (self.progress)(CheckProgress { done: self.done, total: self.total.max(self.done) });
        }
    }
}

async fn tally_times(connection: &mut SqliteConnection, expiry: &ExpiryIndex) -> Result<Tally> {
    let mut tally = Tally::default();
    let select = format!("SELECT at, id FROM expiry_{}", expiry.number);
    each(connection, &select, |row| {
        tally.add(&row.get::<i64, _>(0).to_be_bytes(), row.get(1), 0, None);
        Ok(())
    })
    .await?;
    Ok(tally)
}

/// Decodes the item of a row; the error is the problem with it, as a message.
fn stored(id: i64, sum: Option<i64>, bytes: &[u8]) -> Result<Item, String> {
    if sum != Some(row_checksum(id, bytes)) {
        return Err("the checksum of the item is wrong".to_owned());
    }
    Item::decode(Bytes::copy_from_slice(bytes)).map_err(|error| error.message().to_owned())
}

/// Verifies a stream record; the error is the problem with it, as a message. `base` is the image of
/// its base record, if it has one. `last` is the last sequence number allocated from the file.
fn check_record(
    stored: StoredRecord,
    base: Option<Result<Item>>,
    log: &StreamState,
    last: u64,
) -> Result<(), String> {
    if !log.sequence_range(last).contains(&(stored.number as u64)) {
        return Err("its sequence number is in no shard of the stream".to_owned());
    }
    let lane = stored.lane;
    let base = |_| base.expect("the base image of a delta record was read");
    let record = stored.record(log, base).map_err(|error| error.message().to_owned())?;
    if log.lane_of_keys(&record.keys).map(|lane| lane as i64) != Some(lane) {
        return Err("its item belongs to another shard".to_owned());
    }
    Ok(())
}

/// Reads a row of the columns [`records::COLUMNS`].
fn stored_record(row: &SqliteRow) -> Result<StoredRecord> {
    let read = || {
        Ok(StoredRecord {
            number: row.try_get(0)?,
            lane: row.try_get(1)?,
            at: row.try_get(2)?,
            epoch: row.try_get(3)?,
            event: row.try_get(4)?,
            images: images(row, 5)?,
            by: row.try_get(7)?,
        })
    };
    read().map_err(from_sqlx)
}

/// Reads the columns `image` and `before` of a row, at the positions `first` and `first` + 1.
fn images(row: &SqliteRow, first: usize) -> sqlx::Result<Images> {
    let before = row.try_get_raw(first + 1)?;
    let before = match before.type_info().name() {
        _ if before.is_null() => Before::Nothing,
        "INTEGER" => Before::Base(row.try_get_unchecked(first + 1)?),
        _ => Before::Old(row.try_get(first + 1)?),
    };
    Ok(Images::from_columns(row.try_get::<Vec<u8>, _>(first)?.into(), before))
}

/// Reads the image of a base record, along its delta chain.
async fn base_image(
    connection: &mut SqliteConnection,
    stream: i64,
    log: &StreamState,
    number: i64,
) -> Result<Item> {
    let select = delta_chain::select_images(stream);
    let mut chain = DeltaChain::new(number);
    loop {
        let found = sqlx::query(AssertSqlSafe(select.as_str())).bind(chain.next);
        let found = found.fetch_optional(&mut *connection).await.map_err(from_sqlx)?;
        let found = found.ok_or_else(|| chain.broken_error(log))?;
        if let Some(image) = chain.follow(images(&found, 0).map_err(from_sqlx)?)? {
            return chain.image(image);
        }
    }
}

/// Whether the item has all key attributes of the table, of the right types and not empty.
fn has_key(schema: &TableSchema, item: &Item) -> bool {
    schema.key_attributes().all(|attribute| {
        item.get(&attribute.name).is_some_and(|value| attribute.accepts(value) && value.size() > 0)
    })
}

async fn counts(connection: &mut SqliteConnection) -> Result<BTreeMap<i64, (u64, u64)>> {
    let mut counts = BTreeMap::new();
    each(connection, "SELECT number, items, bytes FROM tabla_counts", |row| {
        let (items, bytes) = (row.get::<i64, _>(1), row.get::<i64, _>(2));
        counts.insert(row.get::<i64, _>(0), (items as u64, bytes as u64));
        Ok(())
    })
    .await?;
    Ok(counts)
}

async fn count(connection: &mut SqliteConnection, select: &str) -> Result<u64> {
    let row = sqlx::query(AssertSqlSafe(select)).fetch_one(connection).await.map_err(from_sqlx)?;
    Ok(row.get::<i64, _>(0) as u64)
}

/// Calls `take` for each row of a query, one at a time: a table may be larger than memory.
async fn each(
    connection: &mut SqliteConnection,
    select: &str,
    mut take: impl FnMut(&SqliteRow) -> Result<()>,
) -> Result<()> {
    let mut rows = sqlx::query(AssertSqlSafe(select)).fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(from_sqlx)? {
        take(&row)?;
    }
    Ok(())
}
