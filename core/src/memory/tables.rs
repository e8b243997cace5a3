//! Operations on tables: creation, description, change, deletion, expiry settings and tags.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{RowsOfTable, State};
use crate::Item;
use crate::engine::{IndexEntry, RowKey};
use crate::env::Env;
use crate::error::Result;
use crate::ops::*;
use crate::schema::{
    IndexSchema, ItemCount, StreamChange, Table, TableCounts, TablesPage, check_update,
    table_exists_error, table_missing_error, table_name,
};

impl State {
    pub(super) fn create_table(
        &mut self,
        request: &CreateTable,
        env: &Env,
    ) -> Result<TableDescription> {
        let mut table = Table::create(request, env.clock.now(), env.token())?;
        if self.tables.contains_key(&table.name) {
            return Err(table_exists_error(&table.name));
        }
        if let Some(earlier) = self.deleted.get(&table.name) {
            table = table.with_labels_after(earlier);
        }
        let indexes = table
            .schema
            .indexes
            .iter()
            .map(|index| (index.name.clone(), BTreeMap::new()))
            .collect();
        if let Some(stream) = table.stream() {
            self.open_stream(&table, stream);
        }
        let rows = RowsOfTable { table: Arc::new(table), items: BTreeMap::new(), indexes };
        let description = rows.describe();
        self.tables.insert(rows.table.name.clone(), rows);
        Ok(description)
    }

    pub(super) fn describe_table(&self, request: &DescribeTable) -> Result<TableDescription> {
        Ok(self.described(&request.table)?.describe())
    }

    pub(super) fn update_table(
        &mut self,
        request: &UpdateTable,
        env: &Env,
    ) -> Result<TableDescription> {
        check_update(request)?;
        let change =
            self.described(&request.table)?.table.apply_update(request, env.clock.now())?;
        let name = change.table.name.clone();
        let rows = self.tables.get_mut(&name).expect("the table was just looked up");
        rows.table = Arc::new(change.table);
        if let Some(index) = change.removed {
            rows.indexes.remove(&index.name);
        }
        if let Some(index) = change.added {
            rows.indexes.insert(index.name.clone(), rows.backfill(&index));
            rows.table = Arc::new(rows.table.with_index_filled(&index.name));
        }
        let description = rows.describe();
        match change.stream {
            Some(StreamChange::Enabled(stream)) => {
                let table = Arc::clone(&rows.table);
                self.open_stream(&table, &stream);
            }
            Some(StreamChange::Disabled(stream)) => {
                self.close_stream(&stream.arn(&name), env.clock.now());
            }
            None => {}
        }
        Ok(description)
    }

    pub(super) fn delete_table(
        &mut self,
        request: &DeleteTable,
        env: &Env,
    ) -> Result<TableDescription> {
        let rows = self.described(&request.table)?;
        rows.table.check_delete()?;
        let name = rows.table.name.clone();
        let rows = self.tables.remove(&name).expect("the table was just looked up");
        let now = env.clock.now();
        if let Some(stream) = rows.table.stream() {
            self.close_stream(&stream.arn(&name), now);
        }
        self.deleted.insert(name, rows.table.with_stream_disabled(now));
        Ok(TableDescription { status: TableStatus::Deleting, ..rows.describe() })
    }

    pub(super) fn list_tables(&self, request: &ListTables) -> Result<ListTablesOutput> {
        Ok(TablesPage::new(request)?.fill(self.tables.keys().map(String::as_str)))
    }

    pub(super) fn update_time_to_live(
        &mut self,
        request: UpdateTimeToLive,
        env: &Env,
    ) -> Result<UpdateTimeToLive> {
        let rows = self.described_mut(&request.table)?;
        rows.table = Arc::new(rows.table.with_time_to_live(&request, env.clock.now())?);
        Ok(request)
    }

    pub(super) fn describe_time_to_live(
        &self,
        request: &DescribeTimeToLive,
    ) -> Result<TimeToLiveDescription> {
        Ok(self.described(&request.table)?.table.ttl_description())
    }

    pub(super) fn tag_table(&mut self, request: &TagTable) -> Result<()> {
        let rows = self.described_mut(&request.table)?;
        rows.table = Arc::new(rows.table.with_tags(request)?);
        Ok(())
    }

    pub(super) fn untag_table(&mut self, request: &UntagTable) -> Result<()> {
        let rows = self.described_mut(&request.table)?;
        rows.table = Arc::new(rows.table.without_tags(request)?);
        Ok(())
    }

    pub(super) fn list_table_tags(&self, request: &ListTableTags) -> Result<Tags> {
        Ok(self.described(&request.table)?.table.tags.clone())
    }

    /// Looks up the table that a request on tables names. The error for a missing table differs
    /// from that of requests on items.
    fn described(&self, given: &str) -> Result<&RowsOfTable> {
        let name = table_name(given)?;
        self.tables.get(name).ok_or_else(|| table_missing_error(name))
    }

    fn described_mut(&mut self, given: &str) -> Result<&mut RowsOfTable> {
        let name = table_name(given)?;
        self.tables.get_mut(name).ok_or_else(|| table_missing_error(name))
    }
}

impl RowsOfTable {
    fn describe(&self) -> TableDescription {
        let count = |rows: &BTreeMap<RowKey, Item>| ItemCount {
            items: rows.len() as u64,
            bytes: rows.values().map(|item| item.size() as u64).sum(),
        };
        self.table.describe(&TableCounts {
            table: count(&self.items),
            indexes: self.indexes.iter().map(|(name, rows)| (name.clone(), count(rows))).collect(),
        })
    }

    /// Computes the entries of an index that is added to a table with items.
    fn backfill(&self, index: &IndexSchema) -> BTreeMap<RowKey, Item> {
        self.items
            .values()
            .filter_map(|item| IndexEntry::of(&self.table.schema, index, item))
            .map(|entry| (entry.row_key, entry.item))
            .collect()
    }
}
