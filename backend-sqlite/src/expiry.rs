//! Expiry index: the expiry times of a table's items in order, so that a sweep reads expired items
//! and no others.
//!
//! Writes maintain it, maintenance fills it after TTL is turned on, and `sweep` reads it.

use std::sync::Arc;

use rusqlite::params;
use tabla_core::backend::{Effect, ttl};
use tabla_core::ops::UpdateTimeToLive;
use tabla_core::{Item, Result};

use crate::catalogue::StoredTable;
use crate::error::from_sqlite;
use crate::format;
use crate::rows;
use crate::session::Session;
use crate::tables::described;

/// Maximum number of items that one step of a backfill reads.
const BACKFILL_BATCH: usize = 200;

/// Expiry index of a table: its number, the TTL attribute, and the SQL of its statements.
#[derive(Clone, Debug)]
pub(crate) struct ExpiryIndex {
    /// Number N of `expiry_N`.
    pub(crate) number: i64,
    /// Name of the TTL attribute.
    pub(crate) attribute: String,
    /// Whether the backfill is still inserting the times of older items.
    pub(crate) filling: bool,
    /// SQL that returns a row if the index has a time in a range.
    pub(crate) any: String,
    /// SQL that reads the first entry after a pair of time and row number, with its item.
    pub(crate) next: String,
    insert: String,
    delete: String,
}

impl ExpiryIndex {
    pub(crate) fn new(table: i64, number: i64, attribute: String, filling: bool) -> Self {
        let times = format!("expiry_{number}");
        Self {
            number,
            attribute,
            filling,
            any: format!("SELECT 1 FROM {times} WHERE at >= ?1 AND at < ?2 LIMIT 1"),
            next: format!(
                "SELECT e.id, i.sum, i.item, e.at FROM {times} e \
                 LEFT JOIN items_{table} i ON i.id = e.id \
                 WHERE (e.at, e.id) > (?1, ?2) AND e.at < ?3 ORDER BY e.at, e.id LIMIT 1"
            ),
            insert: format!("INSERT OR IGNORE INTO {times} (at, id) VALUES (?1, ?2)"),
            delete: format!("DELETE FROM {times} WHERE at = ?1 AND id = ?2"),
        }
    }

    /// Returns the expiry time of an item, in seconds since 1970; `None` if it does not expire.
    pub(crate) fn expires_at(&self, item: &Item) -> Option<i64> {
        ttl::expires_at(item, &self.attribute).map(|second| second as i64)
    }
}

impl StoredTable {
    /// Whether the table's expiry index is still being filled.
    pub(crate) fn is_expiry_index_filling(&self) -> bool {
        self.expiry.as_ref().is_some_and(|expiry| expiry.filling)
    }
}

impl Session<'_> {
    /// Turns TTL of a table on or off. A new expiry index is empty; maintenance fills it.
    pub(crate) fn set_time_to_live(&mut self, request: &UpdateTimeToLive) -> Result<()> {
        let present = Arc::clone(described(&self.catalogue, &request.table)?);
        let definition = present.table.with_time_to_live(request, self.env.clock.now())?;
        self.drop_expiry_index(&present)?;
        let expiry = match &definition.time_to_live.attribute {
            Some(attribute) => Some(self.create_expiry_index(present.number, attribute.clone())?),
            None => None,
        };
        let (indexes, stream) = (present.index_numbers(), present.stream.clone());
        self.store_table(present.number, definition, indexes, stream, expiry)
    }

    fn create_expiry_index(&mut self, table: i64, attribute: String) -> Result<ExpiryIndex> {
        let number = self.next_number()?;
        self.execute_batch(&format::create_expiry(number))?;
        let insert = "INSERT INTO tabla_backfills (number, through) VALUES (?1, 0)";
        self.execute(insert, [number])?;
        Ok(ExpiryIndex::new(table, number, attribute, true))
    }

    /// Discards the expiry index of a table, if it has one.
    pub(crate) fn drop_expiry_index(&mut self, table: &StoredTable) -> Result<()> {
        let Some(expiry) = &table.expiry else { return Ok(()) };
        self.discard(&format!("expiry_{}", expiry.number), "at")?;
        self.execute("DELETE FROM tabla_backfills WHERE number = ?1", [expiry.number])?;
        Ok(())
    }

    /// Updates the expiry entry of an item that a write has changed.
    pub(crate) fn update_expiry_entry(
        &mut self,
        expiry: &ExpiryIndex,
        id: i64,
        effect: &Effect,
    ) -> Result<()> {
        let time = |item: &Option<Item>| item.as_ref().and_then(|item| expiry.expires_at(item));
        let (old, new) = (time(&effect.old), time(&effect.new));
        if old == new {
            return Ok(());
        }
        if let Some(old) = old {
            self.delete_key(expiry.number, &expiry.delete, params![old, id])?;
        }
        if let Some(new) = new {
            self.insert_key(expiry.number, &expiry.insert, params![new, id])?;
        }
        Ok(())
    }

    /// Executes one step of the backfill: inserts the times of the next items. Writes maintain the
    /// times of their own items meanwhile.
    ///
    /// A damaged item is skipped, so that those after it expire.
    pub(crate) fn backfill_expiry_index(&mut self, table: &Arc<StoredTable>) -> Result<()> {
        let Some(mut expiry) = table.expiry.clone() else { return Ok(()) };
        let select = "SELECT through FROM tabla_backfills WHERE number = ?1";
        let outcome = self.connection.query_row(select, [expiry.number], |row| row.get(0));
        let mut through: i64 = self.sql(outcome)?;
        let mut examined = 0;
        let mut times = Vec::new();
        {
            let select = format!(
                "SELECT id, sum, item FROM items_{} WHERE id > ?1 ORDER BY id LIMIT {BACKFILL_BATCH}",
                table.number
            );
            let mut statement = self.connection.prepare_cached(&select).map_err(from_sqlite)?;
            let mut rows = statement.query([through]).map_err(from_sqlite)?;
            while let Some(row) = rows.next().map_err(from_sqlite)? {
                examined += 1;
                through = row.get(0).map_err(from_sqlite)?;
                let time = rows::read(row).ok().and_then(|found| expiry.expires_at(&found.item));
                times.extend(time.map(|time| (time, through)));
            }
        }
        for (time, id) in times {
            self.insert_key(expiry.number, &expiry.insert, params![time, id])?;
        }
        expiry.filling = examined == BACKFILL_BATCH;
        if expiry.filling {
            let update = "UPDATE tabla_backfills SET through = ?2 WHERE number = ?1";
            self.execute(update, params![expiry.number, through])?;
        } else {
            self.execute("DELETE FROM tabla_backfills WHERE number = ?1", [expiry.number])?;
            let (indexes, stream) = (table.index_numbers(), table.stream.clone());
            self.store_table(table.number, table.table.clone(), indexes, stream, Some(expiry))?;
        }
        Ok(())
    }
}
