//! What a pattern costs: capacity units per call, for items of a given size.

use super::AppDesign;
use super::design::{IndexDesign, TableDesign};
use super::pattern::{Call, Operation};
use super::writes::WriteDesign;
use tabla_core::backend::{read_units, write_units};
use tabla_core::ops::ProjectionType;

/// So many bytes are taken for what has little but keys: an entry of an index that does not carry
/// everything, or the guard of a unique value.
const SMALL: usize = 200;

impl Call {
    /// The capacity units of one call to the tables of this design, where every item has this many
    /// bytes, and a page this many items (or as many as the call's limit).
    ///
    /// Every entity is taken to be in all its indexes, and every unique field to have a value: it
    /// may cost less.
    pub fn units(&self, design: &AppDesign, item_size: usize, page: u32) -> f64 {
        let items = self.limit.unwrap_or(page);
        let written = |factor: f64| -> f64 {
            let cost = |write: &WriteDesign| {
                let is_many = write.is_each || self.operation == Operation::BatchWriteItem;
                let count = if is_many { f64::from(page) } else { 1.0 };
                count * written(write, design.table_of(write.entity), item_size, factor)
            };
            self.writes.iter().map(cost).sum()
        };
        match self.operation {
            Operation::GetItem => read_units(item_size, self.is_consistent),
            Operation::BatchGetItem => f64::from(items) * read_units(item_size, self.is_consistent),
            Operation::TransactGetItems => 2.0 * read_units(item_size, true),
            Operation::Query | Operation::Scan => {
                let items = if self.is_range { items as usize } else { 1 };
                let table = design.table_of(self.entity);
                let index = self.index.as_ref().and_then(|name| table.find_index(name));
                let size = items * index.map_or(item_size, |index| carried(index, item_size));
                f64::from(self.queries)
                    * read_units(size.div_ceil(self.queries as usize), self.is_consistent)
            }
            Operation::PutItem
            | Operation::UpdateItem
            | Operation::DeleteItem
            | Operation::BatchWriteItem => written(1.0),
            // A transaction costs the table twice; its indexes once, like any write.
            Operation::TransactWriteItems => written(2.0),
        }
    }
}

/// What one write costs: the item, the entries of its indexes, and the guards of its unique values.
fn written(write: &WriteDesign, table: &TableDesign, item_size: usize, factor: f64) -> f64 {
    let entries = write.entity.indexes.iter().filter_map(|keys| {
        let index = table.find_index(keys.index)?;
        let times = f64::from(write.entries(keys, &index.projection));
        Some(times * write_units(carried(index, item_size)))
    });
    let guards = write.guards().len() as f64 * factor * write_units(item_size.min(SMALL));
    factor * write_units(item_size) + entries.sum::<f64>() + guards
}

/// How much of an item an index has.
fn carried(index: &IndexDesign, item_size: usize) -> usize {
    match index.projection.kind {
        ProjectionType::All => item_size,
        ProjectionType::KeysOnly | ProjectionType::Include => item_size.min(SMALL),
    }
}
