//! Verifying a file: every row, every index entry, every count.

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

/// So many problems are told; a file that has more needs no longer list.
const MAX_PROBLEMS: usize = 100;

/// How far a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckProgress {
    /// Rows that have been looked at.
    pub done: u64,
    /// Rows that there are, as far as is known.
    pub total: u64,
}

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// Tables.
    pub tables: u64,
    /// Items in them.
    pub items: u64,
    /// Index entries.
    pub entries: u64,
    /// Stream records.
    pub records: u64,
    /// What is wrong, in words; empty if the file is sound. At most a hundred are told.
    pub problems: Vec<String>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, problem: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

/// Verifies a file: SQLite's own structure, and that every item is what was stored, under its own
/// key, with exactly the index entries that it should have, expires when it should, that all counts
/// are right, and that every record of a stream can be read in the shard that it belongs to.
///
/// It reads one state of the file and writes nothing; others may go on reading and writing.
///
/// # Errors
/// The file cannot be read at all, or is not one of tabla's. What is wrong inside is in the report.
pub async fn check(
    path: impl AsRef<Path>,
    progress: impl FnMut(CheckProgress),
) -> Result<CheckReport> {
    let path = path.as_ref();
    let config = SqliteConfig::file(path);
    if !path.exists() {
        return Err(Error::config(format!("there is no such file: {}", path.display())));
    }
    if open::identify(path, &config).await? == 0 {
        return Err(Error::config(format!(
            "the file is empty: no store has been opened with it: {}",
            path.display()
        )));
    }
    let mut connection = open::connect(path, &config, false).await?;
    let mut check = Checker { report: CheckReport::default(), done: 0, total: 0, progress };
    check.run(&mut connection).await?;
    connection.close().await.map_err(from_sqlx)?;
    Ok(check.report)
}

struct Checker<F> {
    report: CheckReport,
    done: u64,
    total: u64,
    progress: F,
}

/// What is expected of an index, or found in it: how many entries, how large, and a sum of their
/// hashes that does not depend on their order.
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
        // One state for all that follows.
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
                self.report
                    .problem(format!("table {name}: a key leads to row {id}, which is not there"));
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
                self.report.problem(format!("table {name}, row {id}: the item has another key"));
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
                    let carried = (!stored.carries_all).then(|| entry.item.encode());
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
                "table {name}: {rows} rows of items, {} of them under a key",
                tally.entries
            ));
        }
        self.compare_count(&format!("table {name}"), tally, counts.get(&table.number));
        // Times that are being gathered are some of them.
        if let Some(expiry) = table.expiry.as_ref().filter(|expiry| !expiry.filling) {
            let found = tally_times(connection, expiry).await?;
            if found != times {
                self.report.problem(format!(
                    "table {name}: the times at which items expire are not theirs ({} found, {} \
                     expected)",
                    found.entries, times.entries
                ));
            }
        }
        for ((index, stored), expected) in schema.indexes.iter().zip(&table.indexes).zip(expected) {
            let what = format!("index {} of table {name}", index.name);
            let found = self.index(connection, &what, table, stored).await?;
            self.report.entries += found.entries;
            // An index that is being filled has some of its entries.
            if found != expected && !stored.backfilling {
                self.report.problem(format!(
                    "{what}: its entries are not those of the items ({} found, {} expected)",
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
        let (sum_and_item, join) = match index.carries_all {
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
                    .problem(format!("{what}: an entry leads to row {id}, which is not there"));
                return Ok(());
            };
            match stored(id, row.get(2), bytes) {
                Ok(item) => {
                    let carried = (!index.carries_all).then_some(bytes);
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
                "{what}: {items} items of {bytes} bytes are on record, {} of {} bytes are there",
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
        // Some at a time: what they are based on is looked for in between, and images may be large.
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
                // What is based on records that are gone is about to go, too.
                let is_going = |error: &Error| *error.kind() == ErrorKind::TrimmedData;
                if matches!(&base, Some(Err(error)) if is_going(error)) {
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

/// The item of a row, or what is wrong with it.
fn stored(id: i64, sum: Option<i64>, bytes: &[u8]) -> Result<Item, String> {
    if sum != Some(row_checksum(id, bytes)) {
        return Err("the item is not what was stored".to_owned());
    }
    Item::decode(Bytes::copy_from_slice(bytes)).map_err(|error| error.message().to_owned())
}

/// What is wrong with a record of a stream, if anything is; `base` is the image of the one that it is
/// based on, if it is, and `last` the last number that can have been given out.
fn check_record(
    stored: StoredRecord,
    base: Option<Result<Item>>,
    log: &StreamState,
    last: u64,
) -> Result<(), String> {
    if !log.sequence_range(last).contains(&(stored.number as u64)) {
        return Err("its number is in none of the stream's shards".to_owned());
    }
    let lane = stored.lane;
    let base = |_| base.expect("it was looked for if the record has one");
    let record = stored.record(log, base).map_err(|error| error.message().to_owned())?;
    if log.lane_of_keys(&record.keys).map(|lane| lane as i64) != Some(lane) {
        return Err("its item belongs to another shard".to_owned());
    }
    Ok(())
}

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

/// The images that are in two columns of a row, from this one on.
fn images(row: &SqliteRow, first: usize) -> sqlx::Result<Images> {
    let before = row.try_get_raw(first + 1)?;
    let before = match before.type_info().name() {
        _ if before.is_null() => Before::Nothing,
        "INTEGER" => Before::Base(row.try_get_unchecked(first + 1)?),
        _ => Before::Old(row.try_get(first + 1)?),
    };
    Ok(Images::from_columns(row.try_get::<Vec<u8>, _>(first)?.into(), before))
}

/// The image of a record that another is based on.
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

/// Whether the item has all of the table's key.
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

/// Reads rows one by one: a table may be larger than memory.
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
