//! Capacity units, by the published rules (developer guide, CapacityUnitCalculations).

use std::collections::BTreeMap;

use super::IndexChange;
use crate::Item;
use crate::ops::{Capacity, ConsumedCapacity, ReturnConsumedCapacity};
use crate::schema::{IndexKind, TableSchema};

const READ_UNIT: usize = 4096;
const WRITE_UNIT: usize = 1024;

/// The part of a table that units are counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arm {
    /// The table itself.
    Table,
    /// An index, by its place in [`TableSchema::indexes`].
    Index(usize),
}

/// Units for reading this many bytes: one per 4 KB when consistent, half of that otherwise.
/// Reading nothing costs as much as reading a little.
pub fn read_units(bytes: usize, consistent: bool) -> f64 {
    let units = bytes.div_ceil(READ_UNIT).max(1) as f64;
    if consistent { units } else { units / 2.0 }
}

/// Units for writing an item of this many bytes: one per 1 KB.
pub fn write_units(bytes: usize) -> f64 {
    bytes.div_ceil(WRITE_UNIT).max(1) as f64
}

/// Adds up what the operations on one table consume.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    read: BTreeMap<Arm, f64>,
    write: BTreeMap<Arm, f64>,
}

impl Meter {
    /// Counts a read.
    pub fn read(&mut self, arm: Arm, units: f64) {
        *self.read.entry(arm).or_default() += units;
    }

    /// Counts the write of one item: the larger of the item before and after, and for each index
    /// the change to what it carries. A transactional write costs the table twice.
    pub fn write(
        &mut self,
        old: Option<&Item>,
        new: Option<&Item>,
        changes: &[IndexChange],
        transactional: bool,
    ) {
        let size = |item: Option<&Item>| item.map_or(0, Item::size);
        let units = write_units(size(old).max(size(new)));
        let factor = if transactional { 2.0 } else { 1.0 };
        *self.write.entry(Arm::Table).or_default() += units * factor;
        for change in changes {
            *self.write.entry(Arm::Index(change.index)).or_default() += index_units(change);
        }
    }

    /// Counts a transactional condition check, which costs as much as a write.
    pub fn check(&mut self, item: Option<&Item>) {
        self.write(item, item, &[], true);
    }

    /// What was consumed, as the request asked for it.
    pub fn report(
        &self,
        table: &str,
        schema: &TableSchema,
        wanted: ReturnConsumedCapacity,
    ) -> Option<ConsumedCapacity> {
        self.build(table, schema, wanted, false)
    }

    /// The same for a transaction, which also tells reads from writes.
    pub fn report_transaction(
        &self,
        table: &str,
        schema: &TableSchema,
        wanted: ReturnConsumedCapacity,
    ) -> Option<ConsumedCapacity> {
        self.build(table, schema, wanted, true)
    }

    fn build(
        &self,
        table: &str,
        schema: &TableSchema,
        wanted: ReturnConsumedCapacity,
        transactional: bool,
    ) -> Option<ConsumedCapacity> {
        if wanted == ReturnConsumedCapacity::None {
            return None;
        }
        let sum = |units: &BTreeMap<Arm, f64>| units.values().sum::<f64>();
        let split = |units: f64| (transactional && units > 0.0).then_some(units);
        let (read, write) = (sum(&self.read), sum(&self.write));
        let mut report = ConsumedCapacity {
            table_name: table.to_owned(),
            capacity_units: read + write,
            read_capacity_units: split(read),
            write_capacity_units: split(write),
            ..ConsumedCapacity::default()
        };
        if wanted == ReturnConsumedCapacity::Indexes {
            let capacity = |arm: Arm| {
                let read = self.read.get(&arm).copied().unwrap_or_default();
                let write = self.write.get(&arm).copied().unwrap_or_default();
                Capacity {
                    capacity_units: read + write,
                    read_capacity_units: split(read),
                    write_capacity_units: split(write),
                }
            };
            report.table = Some(capacity(Arm::Table));
            let touched = self.read.keys().chain(self.write.keys());
            for arm in touched {
                let Arm::Index(number) = *arm else { continue };
                let index = &schema.indexes[number];
                let part = match index.kind {
                    IndexKind::Local => &mut report.local_secondary_indexes,
                    IndexKind::Global => &mut report.global_secondary_indexes,
                };
                part.insert(index.name.clone(), capacity(*arm));
            }
        }
        Some(report)
    }
}

/// One write for an entry that appears, goes or changes; two for one that moves to another key.
fn index_units(change: &IndexChange) -> f64 {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) if old.position != new.position => {
            write_units(old.item.size()) + write_units(new.item.size())
        }
        (Some(old), Some(new)) => write_units(old.item.size().max(new.item.size())),
        (Some(entry), None) | (None, Some(entry)) => write_units(entry.item.size()),
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_round_up() {
        assert_eq!(read_units(0, true), 1.0);
        assert_eq!(read_units(4096, true), 1.0);
        assert_eq!(read_units(4097, true), 2.0);
        assert_eq!(read_units(4097, false), 1.0);
        assert_eq!(write_units(0), 1.0);
        assert_eq!(write_units(1024), 1.0);
        assert_eq!(write_units(1025), 2.0);
    }
}
