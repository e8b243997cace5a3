//! The rows, as the operations see them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{RowsOfTable, State};
use crate::Item;
use crate::engine::{
    Effect, Flow, IndexChange, Position, ReadPlan, Rows, Source, TableRef, Token, WriteRows, change,
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
    fn record(&mut self, table: &Table, effect: &Effect) {
        let Some(stream) = table.stream() else { return };
        let number = self.state.last_sequence_number + 1;
        let record = change::record(
            &table.schema,
            effect,
            stream.view_type,
            change::sequence_number(number),
            self.env.token(),
            self.env.clock.now(),
            self.by.clone(),
        );
        if let Some(record) = record {
            self.state.last_sequence_number = number;
            let stream = self.state.streams.get_mut(&stream.arn(&table.name));
            stream.expect("an enabled stream has a log").records.push_back(record);
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
        let range = source.range(plan.span.bounds());
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
    fn apply(
        &mut self,
        table: &Arc<Table>,
        position: &Position,
        effect: &Effect,
        changes: &[IndexChange],
    ) -> Result<()> {
        let rows = self.state.tables.get_mut(table.name()).expect("the table is there");
        match &effect.new {
            Some(item) => rows.items.insert(position.clone(), item.clone()),
            None => rows.items.remove(position),
        };
        for change in changes {
            let name = &table.schema.indexes[change.index].name;
            let entries = rows.indexes.entry(name.clone()).or_default();
            if let Some(old) = &change.old {
                entries.remove(&old.position);
            }
            if let Some(new) = &change.new {
                entries.insert(new.position.clone(), new.item.clone());
            }
        }
        self.record(table, effect);
        Ok(())
    }

    fn collection_size(&mut self, table: &Arc<Table>, position: &Position) -> Result<u64> {
        let size = |rows: &BTreeMap<Position, Item>| -> u64 {
            rows.iter()
                .filter(|(row, _)| row.partition == position.partition)
                .map(|(_, item)| item.size() as u64)
                .sum()
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
