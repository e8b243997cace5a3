//! Rows of the store, as [`WriteRows`] of the engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{RowsOfTable, State};
use crate::Item;
use crate::engine::record::NewRecord;
use crate::engine::{
    Effect, EntryChange, EvaluatedWrite, IndexEntry, KeyRange, ReadPlan, ReadRows, ReadSource,
    RowKey, TableRef, TokenRecord, Visit, WriteRows,
};
use crate::env::Env;
use crate::error::Result;
use crate::ops::UserIdentity;
use crate::schema::{IndexKind, Table};

/// State while an operation holds the lock.
pub(super) struct LockedRows<'a> {
    pub(super) state: &'a mut State,
    pub(super) env: &'a Env,
    /// Identity in stream records of changes that no caller makes.
    pub(super) by: Option<UserIdentity>,
}

impl LockedRows<'_> {
    fn rows(&self, table: &Arc<Table>) -> &RowsOfTable {
        &self.state.tables[table.name()]
    }

    /// Adds a record of a change to the table's stream, if it has one.
    fn record(&mut self, table: &Table, position: &RowKey, effect: &Effect) {
        let Some(stream) = table.stream() else { return };
        if let Some(change) = NewRecord::of(effect, stream.view_type) {
            let now = self.env.clock.now();
            self.state.append(table, stream, position, change, now, self.by.clone());
        }
    }
}

impl ReadRows for LockedRows<'_> {
    type Table = Arc<Table>;

    fn get(&mut self, table: &Arc<Table>, position: &RowKey) -> Result<Option<Item>> {
        Ok(self.rows(table).items.get(position).cloned())
    }

    fn visit(
        &mut self,
        table: &Arc<Table>,
        plan: &ReadPlan,
        take: &mut dyn FnMut(Item, Option<Item>) -> Visit,
    ) -> Result<bool> {
        let rows = self.rows(table);
        let source = match plan.source {
            ReadSource::Table => &rows.items,
            ReadSource::Index(number) => &rows.indexes[&table.schema.indexes[number].name],
        };
        let range = source.range::<[u8], _>(plan.range.bounds());
        let in_order: Box<dyn Iterator<Item = _>> =
            if plan.reverse { Box::new(range.rev()) } else { Box::new(range) };
        for (_, item) in in_order {
            let fetched = plan.fetch.then(|| {
                let position = RowKey::of_stored(&table.schema, item);
                rows.items[&position].clone()
            });
            match take(item.clone(), fetched) {
                Visit::Continue => {}
                Visit::StopAfter => return Ok(false),
                Visit::StopBefore => return Ok(true),
            }
        }
        Ok(false)
    }
}

impl WriteRows for LockedRows<'_> {
    type RowHandle = ();

    fn find(&mut self, table: &Arc<Table>, position: &RowKey) -> Result<Option<(Item, ())>> {
        Ok(self.get(table, position)?.map(|item| (item, ())))
    }

    fn apply(&mut self, table: &Arc<Table>, write: &EvaluatedWrite<'_, ()>) -> Result<()> {
        let rows = self.state.tables.get_mut(table.name()).expect("a planned write has a table");
        match &write.effect.new {
            Some(item) => rows.items.insert(write.row_key.clone(), item.clone()),
            None => rows.items.remove(write.row_key),
        };
        for change in write.changes {
            let index = &table.schema.indexes[change.index];
            let entries = rows.indexes.entry(index.name.clone()).or_default();
            let mut insert = |entry: &IndexEntry| {
                entries.insert(entry.row_key.clone(), entry.item.clone());
            };
            match &change.entry {
                EntryChange::Inserted(new) => insert(new),
                EntryChange::Deleted(old) => {
                    entries.remove(&old.row_key);
                }
                EntryChange::Moved { from, to } => {
                    insert(to);
                    entries.remove(&from.row_key);
                }
                EntryChange::Updated { new, .. } => {
                    insert(&IndexEntry::at(&table.schema, index, new));
                }
            }
        }
        self.record(table, write.row_key, write.effect);
        Ok(())
    }

    fn collection_size(&mut self, table: &Arc<Table>, position: &RowKey) -> Result<u64> {
        let collection = KeyRange::of_collection(position);
        let size = |rows: &BTreeMap<RowKey, Item>| -> u64 {
            let rows = rows.range::<[u8], _>(collection.bounds());
            rows.map(|(_, item)| item.size() as u64).sum()
        };
        let rows = self.rows(table);
        let local = table.schema.indexes.iter().filter(|index| index.kind == IndexKind::Local);
        let local = local.filter_map(|index| rows.indexes.get(&index.name));
        Ok(size(&rows.items) + local.map(size).sum::<u64>())
    }

    fn find_token(&mut self, token: &str) -> Result<Option<TokenRecord>> {
        Ok(self.state.tokens.get(token).copied())
    }

    fn store_token(&mut self, token: &str, kept: TokenRecord) -> Result<()> {
        self.state.tokens.retain(|_, token| token.is_valid(kept.completed_at));
        self.state.tokens.insert(token.to_owned(), kept);
        Ok(())
    }
}
