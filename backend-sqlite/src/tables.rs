//! Tables: creation, description, change and deletion, in a write group.
//!
//! Backfills and the emptying of deleted tables are in `maintenance`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{OptionalExtension, params};
use tabla_core::backend::schema::{
    ItemCount, StreamChange, Table, TableCounts, check_update, table_exists_error,
    table_missing_error, table_name,
};
use tabla_core::backend::stream_state::StreamState;
use tabla_core::ops::*;
use tabla_core::{Error, Result};

use crate::catalogue::{Catalogue, StoredTable, parse, to_json};
use crate::format;
use crate::session::Session;

/// Returns the table with this name or ARN, as a request on tables gives it. The error for a
/// missing table differs from that of requests on items.
pub(crate) fn described<'c>(catalogue: &'c Catalogue, given: &str) -> Result<&'c Arc<StoredTable>> {
    let name = table_name(given)?;
    catalogue.find(name).ok_or_else(|| table_missing_error(name))
}

/// Returns the description of a table. `count` returns the item count of a table or index by
/// its number.
pub(crate) fn describe(
    table: &StoredTable,
    count: impl Fn(i64) -> Result<ItemCount>,
) -> Result<TableDescription> {
    let schema = &table.table.schema;
    let indexes = schema.indexes.iter().zip(&table.indexes);
    let counts = TableCounts {
        table: count(table.number)?,
        indexes: indexes
            .map(|(index, stored)| Ok((index.name.clone(), count(stored.number)?)))
            .collect::<Result<_>>()?,
    };
    Ok(table.table.describe(&counts))
}

impl StoredTable {
    /// Returns the number of each index, by the index's name.
    pub(crate) fn index_numbers(&self) -> BTreeMap<String, i64> {
        let names = self.table.schema.indexes.iter().map(|index| index.name.clone());
        names.zip(self.indexes.iter().map(|index| index.number)).collect()
    }
}

impl Session<'_> {
    fn describe(&self, table: &StoredTable) -> Result<TableDescription> {
        describe(table, |number| self.item_counts.count(self.connection, number, &self.counts))
    }

    pub(crate) fn create_table(&mut self, request: &CreateTable) -> Result<TableDescription> {
        let now = self.env.clock.now();
        let mut table = Table::create(request, now, self.env.token())?;
        if self.catalogue.find(&table.name).is_some() {
            return Err(table_exists_error(&table.name));
        }
        if let Some(earlier) = self.deleted(&table.name)? {
            table = table.with_labels_after(&earlier);
        }
        let name = table.name.clone();
        let number = self.next_number()?;
        self.execute_batch(&format::create_rows(number))?;
        self.start_count(number)?;
        let mut indexes = BTreeMap::new();
        for index in &table.schema.indexes {
            let projects_all = index.projection.kind == ProjectionType::All;
            indexes.insert(index.name.clone(), self.create_index(projects_all)?);
        }
        let stream = match table.stream() {
            Some(stream) => {
                let log = StreamState::open(&table, stream, self.boundary()? as u64);
                Some(self.open_stream(&log)?)
            }
            None => None,
        };
        self.store_table(number, table, indexes, stream, None)?;
        self.describe(described(&self.catalogue, &name)?)
    }

    /// Changes a table. A new index is empty; maintenance fills it.
    pub(crate) fn update_table(&mut self, request: &UpdateTable) -> Result<TableDescription> {
        check_update(request)?;
        let now = self.env.clock.now();
        let present = Arc::clone(described(&self.catalogue, &request.table)?);
        let change = present.table.apply_update(request, now)?;
        let mut indexes = present.index_numbers();
        if let Some(index) = &change.removed
            && let Some(number) = indexes.remove(&index.name)
        {
            self.discard(&format!("index_{number}"), "key")?;
            self.execute("DELETE FROM tabla_counts WHERE number = ?1", [number])?;
            self.counts.forget(number);
            self.execute("DELETE FROM tabla_backfills WHERE number = ?1", [number])?;
        }
        if let Some(index) = &change.added {
            let number = self.create_index(index.projection.kind == ProjectionType::All)?;
            let insert = "INSERT INTO tabla_backfills (number, through) VALUES (?1, 0)";
            self.execute(insert, [number])?;
            indexes.insert(index.name.clone(), number);
        }
        let name = change.table.name.clone();
        let stream = match &change.stream {
            Some(StreamChange::Enabled(stream)) => {
                let log = StreamState::open(&change.table, stream, self.boundary()? as u64);
                Some(self.open_stream(&log)?)
            }
            Some(StreamChange::Disabled(stream)) => {
                self.close_stream(&stream.arn(&name), now)?;
                None
            }
            None => present.stream.clone(),
        };
        let expiry = present.expiry.clone();
        self.store_table(present.number, change.table, indexes, stream, expiry)?;
        self.describe(described(&self.catalogue, &name)?)
    }

    pub(crate) fn delete_table(&mut self, request: &DeleteTable) -> Result<TableDescription> {
        let now = self.env.clock.now();
        let table = Arc::clone(described(&self.catalogue, &request.table)?);
        table.table.check_delete()?;
        let description = self.describe(&table)?;
        let name = &table.table.name;
        if let Some(stream) = table.table.stream() {
            self.close_stream(&stream.arn(name), now)?;
        }
        self.discard(&format!("items_{}", table.number), "id")?;
        self.discard(&format!("keys_{}", table.number), "key")?;
        for index in &table.indexes {
            self.discard(&format!("index_{}", index.number), "key")?;
        }
        self.drop_expiry_index(&table)?;
        let counted = table.indexes.iter().map(|index| index.number).chain([table.number]);
        for number in counted.collect::<Vec<_>>() {
            self.execute("DELETE FROM tabla_counts WHERE number = ?1", [number])?;
            self.counts.forget(number);
        }
        self.execute("DELETE FROM tabla_tables WHERE number = ?1", [table.number])?;
        self.execute(
            "INSERT OR REPLACE INTO tabla_deleted (name, definition) VALUES (?1, ?2)",
            params![name, to_json(&table.table.with_stream_disabled(now))],
        )?;
        self.catalogue_mut().remove(name);
        Ok(description.status(TableStatus::Deleting))
    }

    /// Changes the definition of a table, and none of its rows.
    pub(crate) fn change_table(
        &mut self,
        given: &str,
        change: impl FnOnce(&Table) -> Result<Table>,
    ) -> Result<()> {
        let present = Arc::clone(described(&self.catalogue, given)?);
        self.put_table(&present, change(&present.table)?)
    }

    fn create_index(&mut self, projects_all: bool) -> Result<i64> {
        let number = self.next_number()?;
        self.execute_batch(&format::create_index(number, projects_all))?;
        self.start_count(number)?;
        Ok(number)
    }

    fn start_count(&mut self, number: i64) -> Result<()> {
        let insert = "INSERT INTO tabla_counts (number, items, bytes) VALUES (?1, 0, 0)";
        self.execute(insert, [number])?;
        Ok(())
    }

    /// Returns the last definition of a deleted table with this name.
    fn deleted(&mut self, name: &str) -> Result<Option<Table>> {
        let select = "SELECT definition FROM tabla_deleted WHERE name = ?1";
        let outcome =
            self.connection.query_row(select, [name], |row| row.get::<_, String>(0)).optional();
        self.sql(outcome)?.map(|json| parse(&json)).transpose()
    }
}

/// Whether a stale catalogue can cause this error: another process may have changed a table.
pub(crate) fn may_be_stale(error: &Error) -> bool {
    use tabla_core::ErrorKind as Kind;
    matches!(error.kind(), Kind::NotFound | Kind::Validation | Kind::Unexpected)
}
