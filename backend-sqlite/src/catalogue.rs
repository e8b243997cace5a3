//! Catalogue: definitions of all tables, cached with the SQL of their statements.
//!
//! `tables` changes definitions; `session` and `rows` execute the statements.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;
use tabla_core::backend::schema::{IndexSchema, Table, table_name};
use tabla_core::backend::stream_state::StreamState;
use tabla_core::env::Timestamp;
use tabla_core::ops::ProjectionType;
use tabla_core::{Error, Result};

use crate::error::{corrupt_error, from_sqlite};
use crate::expiry::ExpiryIndex;
use crate::{format, records};

/// Catalogue of a store: the definitions of all its tables, at one version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalogue {
    /// Version in `tabla_state.catalogue`; each change of a table or a stream raises it.
    pub(crate) version: i64,
    tables: BTreeMap<String, Arc<StoredTable>>,
}

/// Definition of a table, with the numbers of its SQL tables and the statements on them.
#[derive(Debug)]
pub(crate) struct StoredTable {
    /// Number N of `items_N` and `keys_N`.
    pub(crate) number: i64,
    pub(crate) table: Table,
    /// Indexes, in the order of the schema's indexes.
    pub(crate) indexes: Vec<StoredIndex>,
    /// Stream of the table; `None` unless it is enabled.
    pub(crate) stream: Option<StoredStream>,
    /// Expiry index; `None` while TTL is off.
    pub(crate) expiry: Option<ExpiryIndex>,
    pub(crate) sql: TableSql,
}

/// Enabled stream of a table, with the statement that appends to it.
#[derive(Clone, Debug)]
pub(crate) struct StoredStream {
    /// Number N of `records_N`.
    pub(crate) number: i64,
    /// Time of the next rotation: the first record from then on begins a new generation of shards.
    pub(crate) due: Timestamp,
    pub(crate) lanes: usize,
    /// Statement that inserts a record.
    pub(crate) append: String,
}

/// Index with the number of its SQL table and the statements on it.
#[derive(Debug)]
pub(crate) struct StoredIndex {
    /// Number N of `index_N`.
    pub(crate) number: i64,
    /// Whether it projects all attributes, so that its entries refer to the table's items.
    pub(crate) projects_all: bool,
    /// Whether the backfill is still inserting the entries of older items.
    pub(crate) backfilling: bool,
    pub(crate) sql: IndexSql,
}

/// SQL of the statements on a table's rows. The texts are built once, because a connection looks up
/// a prepared statement by its text.
#[derive(Debug)]
pub(crate) struct TableSql {
    pub(crate) get: String,
    pub(crate) get_row: String,
    pub(crate) last_row: String,
    pub(crate) insert_item: String,
    pub(crate) insert_key: String,
    pub(crate) update: String,
    pub(crate) delete_item: String,
    pub(crate) delete_key: String,
    pub(crate) range: RangeSql,
}

/// SQL of the statements on an index's rows.
#[derive(Debug)]
pub(crate) struct IndexSql {
    pub(crate) insert: String,
    pub(crate) update: String,
    pub(crate) delete: String,
    pub(crate) range: RangeSql,
}

/// SQL of the statements that read a key range in order: row number, checksum and item of each row.
#[derive(Debug)]
pub(crate) struct RangeSql {
    pub(crate) forward: String,
    pub(crate) backward: String,
    /// Forward, without an upper bound.
    pub(crate) open: String,
}

impl AsRef<Table> for StoredTable {
    fn as_ref(&self) -> &Table {
        &self.table
    }
}

impl StoredTable {
    pub(crate) fn new(
        number: i64,
        table: Table,
        index_numbers: &BTreeMap<String, i64>,
        stream: Option<StoredStream>,
        expiry: Option<ExpiryIndex>,
    ) -> Result<Self> {
        let stored = |index: &IndexSchema| {
            let own = *index_numbers
                .get(&index.name)
                .ok_or_else(|| corrupt_error(format_args!("index {} has no number", index.name)))?;
            let projects_all = index.projection.kind == ProjectionType::All;
            Ok(StoredIndex {
                number: own,
                projects_all,
                backfilling: table.backfilling().any(|other| other.name == index.name),
                sql: IndexSql::new(number, own, projects_all),
            })
        };
        let indexes = table.schema.indexes.iter().map(stored).collect::<Result<_>>()?;
        Ok(Self { number, table, indexes, stream, expiry, sql: TableSql::new(number) })
    }
}

impl StoredStream {
    pub(crate) fn new(number: i64, log: &StreamState) -> Self {
        let append = format!(
            "INSERT INTO {} ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            format::records(number),
            records::COLUMNS
        );
        Self { number, due: log.rotates_at(), lanes: log.lanes(), append }
    }
}

impl TableSql {
    fn new(number: i64) -> Self {
        let (items, keys) = (format!("items_{number}"), format!("keys_{number}"));
        Self {
            get: format!(
                "SELECT k.id, i.sum, i.item FROM {keys} k LEFT JOIN {items} i ON i.id = k.id \
                 WHERE k.key = ?1"
            ),
            get_row: format!("SELECT id, sum, item FROM {items} WHERE id = ?1"),
            last_row: format!("SELECT max(id) FROM {items}"),
            insert_item: format!("INSERT INTO {items} (id, sum, item) VALUES (?1, ?2, ?3)"),
            insert_key: format!("INSERT INTO {keys} (key, id) VALUES (?1, ?2)"),
            update: format!("UPDATE {items} SET sum = ?2, item = ?3 WHERE id = ?1"),
            delete_item: format!("DELETE FROM {items} WHERE id = ?1"),
            delete_key: format!("DELETE FROM {keys} WHERE key = ?1"),
            range: RangeSql::referring(&keys, &items),
        }
    }
}

impl IndexSql {
    fn new(table: i64, number: i64, projects_all: bool) -> Self {
        let index = format!("index_{number}");
        let (insert, range) = if projects_all {
            (
                format!("INSERT OR IGNORE INTO {index} (key, id) VALUES (?1, ?2)"),
                RangeSql::referring(&index, &format!("items_{table}")),
            )
        } else {
            (
                format!(
                    "INSERT OR IGNORE INTO {index} (key, id, sum, item) VALUES (?1, ?2, ?3, ?4)"
                ),
                RangeSql::new(|place| {
                    format!("SELECT k.id, k.sum, k.item FROM {index} k WHERE {place}")
                }),
            )
        };
        Self {
            insert,
            update: format!("UPDATE {index} SET sum = ?2, item = ?3 WHERE key = ?1"),
            delete: format!("DELETE FROM {index} WHERE key = ?1"),
            range,
        }
    }
}

impl RangeSql {
    fn referring(keys: &str, items: &str) -> Self {
        Self::new(|place| {
            format!(
                "SELECT k.id, i.sum, i.item FROM {keys} k LEFT JOIN {items} i ON i.id = k.id \
                 WHERE {place}"
            )
        })
    }

    fn new(select: impl Fn(&str) -> String) -> Self {
        Self {
            forward: select("k.key >= ?1 AND k.key < ?2 ORDER BY k.key"),
            backward: select("k.key >= ?1 AND k.key < ?2 ORDER BY k.key DESC"),
            open: select("k.key >= ?1 ORDER BY k.key"),
        }
    }
}

impl Catalogue {
    /// Reads the catalogue. Inside a transaction, all of it is from one version.
    pub(crate) fn load(connection: &Connection) -> Result<Self> {
        let (version, _) = Self::stored_state(connection)?;
        let mut streams = BTreeMap::new();
        for_each_row(connection, "SELECT arn, number, log FROM tabla_streams", |row| {
            let stored = (row.get::<_, i64>(1)?, row.get::<_, String>(2)?);
            streams.insert(row.get::<_, String>(0)?, stored);
            Ok(())
        })?;
        let mut rows = Vec::new();
        for_each_row(connection, SELECT_TABLES, |row| {
            let (definition, indexes) = (row.get::<_, String>(1)?, row.get::<_, String>(2)?);
            rows.push((row.get::<_, i64>(0)?, definition, indexes, row.get(3)?, row.get(4)?));
            Ok(())
        })?;
        let mut catalogue = Self { version, tables: BTreeMap::new() };
        for (number, definition, indexes, expiry, filling) in rows {
            let table: Table = parse(&definition)?;
            let expiry = stored_expiry(number, &table, expiry, filling);
            let stream = table.stream().map(|stream| stream.arn(&table.name).0);
            let stream = stream
                .and_then(|arn| streams.get(&arn))
                .map(|(number, log)| parse(log).map(|log| StoredStream::new(*number, &log)))
                .transpose()?;
            catalogue.put(StoredTable::new(number, table, &parse(&indexes)?, stream, expiry)?);
        }
        Ok(catalogue)
    }

    /// Reads the version of the catalogue, and the last sequence number that was allocated from
    /// the file.
    pub(crate) fn stored_state(connection: &Connection) -> Result<(i64, i64)> {
        connection
            .prepare_cached("SELECT catalogue, last_record FROM tabla_state")
            .and_then(|mut statement| statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?))))
            .map_err(from_sqlite)
    }

    /// Returns the table with this name or ARN, as a request on items gives it.
    pub(crate) fn table(&self, given: &str) -> Result<Arc<StoredTable>> {
        self.find(table_name(given)?).cloned().ok_or_else(Error::table_not_found)
    }

    /// Returns the table with this name, if it exists.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<StoredTable>> {
        self.tables.get(name)
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<StoredTable>> {
        self.tables.values()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    pub(crate) fn put(&mut self, table: StoredTable) {
        self.tables.insert(table.table.name.clone(), Arc::new(table));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.tables.remove(name);
    }
}

/// Query for all tables: number, definition, numbers of the indexes, number of the expiry index,
/// and whether the expiry index is still being filled.
pub(crate) const SELECT_TABLES: &str = "\
    SELECT t.number, t.definition, t.indexes, t.expiry, b.number IS NOT NULL \
    FROM tabla_tables t LEFT JOIN tabla_backfills b ON b.number = t.expiry";

/// Returns the expiry index of a table, from the columns of [`SELECT_TABLES`]; `None` if TTL
/// is off.
pub(crate) fn stored_expiry(
    number: i64,
    table: &Table,
    expiry: Option<i64>,
    filling: bool,
) -> Option<ExpiryIndex> {
    let attribute = table.time_to_live.attribute.clone();
    let (expiry, attribute) = (expiry?, attribute?);
    Some(ExpiryIndex::new(number, expiry, attribute, filling))
}

/// Parses stored JSON, which this or an earlier version of the program wrote.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json)
        .map_err(|error| corrupt_error(format_args!("stored JSON cannot be parsed: {error}")))
}

/// Returns a value as JSON, for storage.
pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("the keys of all maps in definitions are strings")
}

/// Calls `take` for each row of a query.
pub(crate) fn for_each_row(
    connection: &Connection,
    select: &str,
    mut take: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(select).map_err(from_sqlite)?;
    let mut rows = statement.query([]).map_err(from_sqlite)?;
    while let Some(row) = rows.next().map_err(from_sqlite)? {
        take(row).map_err(from_sqlite)?;
    }
    Ok(())
}
