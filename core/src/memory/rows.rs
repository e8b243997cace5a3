//! The rows, as the operations see them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{RowsOfTable, State};
use crate::Item;
use crate::engine::change::Change;
use crate::engine::{
    Applicable, Effect, EntryChange, Flow, IndexEntry, Position, ReadPlan, Rows, Source, Span,
    TableRef, Token, WriteRows,
};
use crate::env::Env;
use crate::error::Result;
use crate::ops::UserIdentity;
use crate::schema::{IndexKind, Table};

/// The state while an operation holds it.
pub(super) struct Held<'a> {
    pub(super) state: &'a mut State,
    pub(super) env: &'a Env,
    /// Who makes the changes, if no caller does.
    pub(super) by: Option<UserIdentity>,
}

impl Held<'_> {
    fn rows(&self, table: &Arc<Table>) -> &RowsOfTable {
        &self.state.tables[table.name()]
    }

    /// Leaves a record of a change in the table's stream, if it has one.
    fn record(&mut self, table: &Table, position: &Position, effect: &Effect) {
        let Some(stream) = table.stream() else { return };
        if let Some(change) = Change::of(effect, stream.view_type) {
            let now = self.env.clock.now();
            self.state.append(table, stream, position, change, now, self.by.clone());
        }
    }
}

impl Rows for Held<'_> {
    type Table = Arc<Table>;

    fn get(&mut self, table: &Arc<Table>, position: &Position) -> Result<Option<Item>> {
        Ok(self.rows(table).items.get(position).cloned())
    }

    fn visit(
        &mut self,
        table: &Arc<Table>,
        plan: &ReadPlan,
        take: &mut dyn FnMut(Item, Option<Item>) -> Flow,
    ) -> Result<bool> {
        let rows = self.rows(table);
        let source = match plan.source {
            Source::Table => &rows.items,
            Source::Index(number) => &rows.indexes[&table.schema.indexes[number].name],
        };
        let range = source.range::<[u8], _>(plan.span.bounds());
        let in_order: Box<dyn Iterator<Item = _>> =
            if plan.reverse { Box::new(range.rev()) } else { Box::new(range) };
        for (_, item) in in_order {
            let fetched = plan.fetch.then(|| {
                let position = Position::of_stored(&table.schema, item);
                rows.items[&position].clone()
            });
            match take(item.clone(), fetched) {
                Flow::Next => {}
                Flow::Last => return Ok(false),
                Flow::Enough => return Ok(true),
            }
        }
        Ok(false)
    }
}

impl WriteRows for Held<'_> {
    type Place = ();

    fn find(&mut self, table: &Arc<Table>, position: &Position) -> Result<Option<(Item, ())>> {
        Ok(self.get(table, position)?.map(|item| (item, ())))
    }

    fn apply(&mut self, table: &Arc<Table>, write: &Applicable<'_, ()>) -> Result<()> {
        let rows = self.state.tables.get_mut(table.name()).expect("the table is there");
        match &write.effect.new {
            Some(item) => rows.items.insert(write.position.clone(), item.clone()),
            None => rows.items.remove(write.position),
        };
        for change in write.changes {
            let index = &table.schema.indexes[change.index];
            let entries = rows.indexes.entry(index.name.clone()).or_default();
            let mut insert = |entry: &IndexEntry| {
                entries.insert(entry.position.clone(), entry.item.clone());
            };
            match &change.entry {
                EntryChange::Appears(new) => insert(new),
                EntryChange::Goes(old) => {
                    entries.remove(&old.position);
                }
                EntryChange::Moves { from, to } => {
                    insert(to);
                    entries.remove(&from.position);
                }
                EntryChange::Stays { new, .. } => {
                    insert(&IndexEntry::at(&table.schema, index, new));
                }
            }
        }
        self.record(table, write.position, write.effect);
        Ok(())
    }

    fn collection_size(&mut self, table: &Arc<Table>, position: &Position) -> Result<u64> {
        let collection = Span::of_collection(position);
        let size = |rows: &BTreeMap<Position, Item>| -> u64 {
            let rows = rows.range::<[u8], _>(collection.bounds());
            rows.map(|(_, item)| item.size() as u64).sum()
        };
        let rows = self.rows(table);
        let local = table.schema.indexes.iter().filter(|index| index.kind == IndexKind::Local);
        let local = local.filter_map(|index| rows.indexes.get(&index.name));
        Ok(size(&rows.items) + local.map(size).sum::<u64>())
    }

    fn token(&mut self, token: &str) -> Result<Option<Token>> {
        Ok(self.state.tokens.get(token).copied())
    }

    fn keep_token(&mut self, token: &str, kept: Token) -> Result<()> {
        self.state.tokens.retain(|_, token| token.protects(kept.completed_at));
        self.state.tokens.insert(token.to_owned(), kept);
        Ok(())
    }
}
