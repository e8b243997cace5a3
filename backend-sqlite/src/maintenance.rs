//! Maintenance: backfill of indexes and expiry times, emptying of deleted tables, retention
//! of streams.
//!
//! The writer's thread executes it between write groups, in steps of bounded size. Each step
//! commits its progress with its changes, so that the next one continues there, also after a crash.
//! If two processes execute the same step, the second one finds it done.

use rusqlite::params;
use tabla_core::Result;
use tabla_core::backend::{IndexEntry, TableRef};

use crate::catalogue::{StoredStream, StoredTable, to_json};
use crate::error::from_sqlite;
use crate::expiry::ExpiryIndex;
use crate::rows::{self, StoredItem};
use crate::session::Session;

/// Maximum number of items that one step of a backfill reads.
const BACKFILL_BATCH: usize = 200;

/// Maximum number of rows that one step deletes from a discarded table. A table with at most this
/// many rows is dropped at once.
const DISCARD_BATCH: i64 = 1000;

/// Executes one step of maintenance, on the first work that it finds; returns whether another step
/// may be needed.
pub(crate) fn run_step(session: &mut Session<'_>) -> Result<bool> {
    let filling = session.catalogue.tables().find_map(|table| {
        let index = table.indexes.iter().position(|index| index.backfilling)?;
        Some((table.clone(), index))
    });
    if let Some((table, index)) = filling {
        session.backfill(&table, index)?;
        return Ok(true);
    }
    let lacking = session.catalogue.tables().find(|table| table.is_expiry_index_filling()).cloned();
    if let Some(table) = lacking {
        session.backfill_expiry_index(&table)?;
        return Ok(true);
    }
    if session.empty_discarded_table()? {
        return Ok(true);
    }
    let now = session.env.clock.now();
    session.prune_streams(now)
}

impl Session<'_> {
    /// Backfills an index with the entries of the next items. Writes maintain the entries of their
    /// own items from the creation of the index on.
    fn backfill(&mut self, table: &std::sync::Arc<StoredTable>, number: usize) -> Result<()> {
        let index = &table.indexes[number];
        let schema = &table.schema().indexes[number];
        let select = "SELECT through FROM tabla_backfills WHERE number = ?1";
        let outcome = self.connection.query_row(select, [index.number], |row| row.get::<_, i64>(0));
        let through = self.sql(outcome)?;
        let items = self.items_after(table, through)?;
        for StoredItem { id, item } in &items {
            if let Some(entry) = IndexEntry::of(table.schema(), schema, item) {
                self.insert_entry(index, *id, &entry)?;
            }
        }
        if let Some(last) = items.last() {
            let update = "UPDATE tabla_backfills SET through = ?2 WHERE number = ?1";
            self.execute(update, params![index.number, last.id])?;
        }
        if items.len() < BACKFILL_BATCH {
            self.execute("DELETE FROM tabla_backfills WHERE number = ?1", [index.number])?;
            self.put_table(table, table.table.with_index_filled(&schema.name))?;
        }
        Ok(())
    }

    fn items_after(&self, table: &StoredTable, through: i64) -> Result<Vec<StoredItem>> {
        let select = format!(
            "SELECT id, sum, item FROM items_{} WHERE id > ?1 ORDER BY id LIMIT {BACKFILL_BATCH}",
            table.number
        );
        let mut statement = self.connection.prepare_cached(&select).map_err(from_sqlite)?;
        let mut rows = statement.query([through]).map_err(from_sqlite)?;
        let mut items = Vec::new();
        while let Some(row) = rows.next().map_err(from_sqlite)? {
            items.push(rows::read(row)?);
        }
        Ok(items)
    }

    /// Discards an SQL table; `key` is the first column of its primary key. A small table is
    /// dropped. A large one is renamed, and maintenance empties it in batches: dropping it would
    /// hold the write lock for a time proportional to its pages.
    pub(crate) fn discard(&mut self, name: &str, key: &str) -> Result<()> {
        let select =
            format!("SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {})", DISCARD_BATCH + 1);
        let outcome = self.connection.query_row(&select, [], |row| row.get::<_, i64>(0));
        if self.sql(outcome)? <= DISCARD_BATCH {
            return self.execute_batch(&format!("DROP TABLE {name}"));
        }
        let garbage = format!("garbage_{key}_{name}");
        self.execute_batch(&format!("ALTER TABLE {name} RENAME TO {garbage}"))?;
        self.execute("INSERT INTO tabla_garbage (name) VALUES (?1)", [garbage])?;
        Ok(())
    }

    /// Deletes a batch of rows of a discarded table; returns whether there was such a table.
    fn empty_discarded_table(&mut self) -> Result<bool> {
        let select = "SELECT name FROM tabla_garbage LIMIT 1";
        let outcome = self.connection.query_row(select, [], |row| row.get::<_, String>(0));
        let name = match outcome {
            Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(false),
            outcome => self.sql(outcome)?,
        };
        let key = match name.split('_').nth(1).unwrap_or("key") {
            // The time alone is not unique: many items may expire in one second.
            "at" => "at, id",
            key => key,
        };
        let removed = self.execute(
            &format!(
                "DELETE FROM {name} WHERE ({key}) IN (SELECT {key} FROM {name} LIMIT {DISCARD_BATCH})"
            ),
            [],
        )?;
        if removed < DISCARD_BATCH as usize {
            self.execute_batch(&format!("DROP TABLE {name}"))?;
            self.execute("DELETE FROM tabla_garbage WHERE name = ?1", [&name])?;
        }
        Ok(true)
    }

    /// Replaces a table's definition.
    pub(crate) fn put_table(
        &mut self,
        present: &StoredTable,
        definition: tabla_core::backend::schema::Table,
    ) -> Result<()> {
        let (indexes, stream) = (present.index_numbers(), present.stream.clone());
        self.store_table(present.number, definition, indexes, stream, present.expiry.clone())
    }

    /// Writes a table to the file and to the group's catalogue.
    pub(crate) fn store_table(
        &mut self,
        number: i64,
        definition: tabla_core::backend::schema::Table,
        indexes: std::collections::BTreeMap<String, i64>,
        stream: Option<StoredStream>,
        expiry: Option<ExpiryIndex>,
    ) -> Result<()> {
        let times = expiry.as_ref().map(|expiry| expiry.number);
        self.execute(
            "INSERT INTO tabla_tables (number, name, definition, indexes, expiry) \
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (number) DO UPDATE \
             SET definition = excluded.definition, indexes = excluded.indexes, \
                 expiry = excluded.expiry",
            params![number, definition.name, to_json(&definition), to_json(&indexes), times],
        )?;
        let stored = StoredTable::new(number, definition, &indexes, stream, expiry)?;
        self.catalogue_mut().put(stored);
        Ok(())
    }
}
