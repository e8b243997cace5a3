//! Reading of item rows: [`ReadRows`] on a connection, and the checksum of a row.
//!
//! The row key is the primary key of `keys_N` and `index_N`; the encoded item is a column.

use std::sync::Arc;

use bytes::Bytes;
use rusqlite::types::ValueRef as SqlValue;
use rusqlite::{CachedStatement, Connection, Row};
use tabla_core::backend::{ReadPlan, ReadRows, ReadSource, RowKey, Visit};
use tabla_core::{Item, Result};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::catalogue::StoredTable;
use crate::error::{corrupt_error, from_sqlite};

/// Item rows, read on one connection.
pub(crate) struct ConnectionRows<'c> {
    connection: &'c Connection,
    /// Statement of the last get, and the number of its table: most batches read from one table.
    get: Option<(i64, CachedStatement<'c>)>,
}

/// Item with its row number.
pub(crate) struct StoredItem {
    pub(crate) id: i64,
    pub(crate) item: Item,
}

/// Returns the checksum of an encoded item, seeded with the row number, so that an item in the
/// wrong row is detected.
pub(crate) fn row_checksum(id: i64, item: &[u8]) -> i64 {
    xxh3_64_with_seed(item, id as u64) as i64
}

/// Finds the item of a row key; `get` is the table's prepared statement [`TableSql::get`].
///
/// [`TableSql::get`]: crate::catalogue::TableSql::get
pub(crate) fn find(
    get: &mut CachedStatement<'_>,
    table: &StoredTable,
    position: &RowKey,
) -> Result<Option<StoredItem>> {
    let mut rows = get.query([position.as_bytes()]).map_err(from_sqlite)?;
    let Some(row) = rows.next().map_err(from_sqlite)? else { return Ok(None) };
    let found = read(row)?;
    // `keys_N` refers to the row by its number alone, so a wrong number is detected here.
    if !position.is_of(&table.table.schema, &found.item) {
        return Err(corrupt_error(format_args!(
            "a key of table {} refers to the row of another item",
            table.table.name
        )));
    }
    Ok(Some(found))
}

/// Reads the item of a row number, for an index entry that refers to it.
fn find_row(connection: &Connection, table: &StoredTable, id: i64) -> Result<Item> {
    let mut statement = connection.prepare_cached(&table.sql.get_row).map_err(from_sqlite)?;
    let mut rows = statement.query([id]).map_err(from_sqlite)?;
    let Some(row) = rows.next().map_err(from_sqlite)? else { return Err(missing(id)) };
    Ok(read(row)?.item)
}

/// Reads a row of the columns `id`, `sum` and `item`, and verifies the checksum.
pub(crate) fn read(row: &Row<'_>) -> Result<StoredItem> {
    let id: i64 = row.get(0).map_err(from_sqlite)?;
    let bytes = match row.get_ref(2).map_err(from_sqlite)? {
        SqlValue::Blob(bytes) => bytes,
        // The left join found no row for the key.
        SqlValue::Null => return Err(missing(id)),
        _ => return Err(corrupt_error(format_args!("the item in row {id} is not a blob"))),
    };
    let sum: i64 = row.get(1).map_err(from_sqlite)?;
    if sum != row_checksum(id, bytes) {
        return Err(corrupt_error(format_args!("the checksum of the item in row {id} is wrong")));
    }
    let item = Item::decode_trusted(Bytes::copy_from_slice(bytes))?;
    Ok(StoredItem { id, item })
}

fn missing(id: i64) -> tabla_core::Error {
    corrupt_error(format_args!("a key refers to row {id}, which does not exist"))
}

impl<'c> ConnectionRows<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Self {
        Self { connection, get: None }
    }
}

impl ReadRows for ConnectionRows<'_> {
    type Table = Arc<StoredTable>;

    fn get(&mut self, table: &Arc<StoredTable>, position: &RowKey) -> Result<Option<Item>> {
        let prepare = || {
            let get = self.connection.prepare_cached(&table.sql.get).map_err(from_sqlite)?;
            Ok::<_, tabla_core::Error>((table.number, get))
        };
        let (_, get) = match &mut self.get {
            Some(get) if get.0 == table.number => get,
            other => other.insert(prepare()?),
        };
        Ok(find(get, table, position)?.map(|found| found.item))
    }

    fn visit(
        &mut self,
        table: &Arc<StoredTable>,
        plan: &ReadPlan,
        take: &mut dyn FnMut(Item, Option<Item>) -> Visit,
    ) -> Result<bool> {
        let sql = match plan.source {
            ReadSource::Table => &table.sql.range,
            ReadSource::Index(number) => &table.indexes[number].sql.range,
        };
        let (lower, upper) = (plan.range.lower(), plan.range.upper());
        let sql = match (upper, plan.reverse) {
            (Some(_), false) => &sql.forward,
            (Some(_), true) => &sql.backward,
            // Only a scan has no upper bound, and scans read forward.
            (None, _) => &sql.open,
        };
        let mut statement = self.connection.prepare_cached(sql).map_err(from_sqlite)?;
        let mut rows = match upper {
            Some(upper) => statement.query([lower, upper]),
            None => statement.query([lower]),
        }
        .map_err(from_sqlite)?;
        while let Some(row) = rows.next().map_err(from_sqlite)? {
            let StoredItem { id, item } = read(row)?;
            let fetched = match plan.fetch {
                true => Some(find_row(self.connection, table, id)?),
                false => None,
            };
            match take(item, fetched) {
                Visit::Continue => {}
                Visit::StopAfter => return Ok(false),
                Visit::StopBefore => return Ok(true),
            }
        }
        Ok(false)
    }
}
