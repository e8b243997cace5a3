//! Capacity units, by the published rules (developer guide, CapacityUnitCalculations).

use std::collections::BTreeMap;

use super::{EntryChange, IndexChange};
use crate::Item;
use crate::ops::{Capacity, ConsumedCapacity, ReturnConsumedCapacity};
use crate::schema::{IndexKind, TableSchema};

const READ_UNIT: usize = 4096;
const WRITE_UNIT: usize = 1024;

/// Part of a table to which capacity units are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CapacityTarget {
    /// The table itself.
    Table,
    /// Index, by its position in [`TableSchema::indexes`].
    Index(usize),
}

/// Computes the read units of `bytes` bytes: 1 per 4 KB if consistent, otherwise 0.5. Reading a
/// missing item costs as much as 4 KB.
pub fn read_units(bytes: usize, consistent: bool) -> f64 {
    let units = bytes.div_ceil(READ_UNIT).max(1) as f64;
    if consistent { units } else { units / 2.0 }
}

/// Computes the write units of an item of `bytes` bytes: 1 per 1 KB, at least 1.
pub fn write_units(bytes: usize) -> f64 {
    bytes.div_ceil(WRITE_UNIT).max(1) as f64
}

/// Counter of the capacity units of one table, active only if the request asks for them.
#[derive(Clone, Debug)]
pub(crate) struct CapacityMeter {
    wanted: ReturnConsumedCapacity,
    table: Units,
    /// Units of the indexes that were changed, by their positions in [`TableSchema::indexes`].
    indexes: BTreeMap<usize, Units>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Units {
    read: f64,
    write: f64,
}

impl CapacityMeter {
    /// Creates a meter for a request with this setting.
    pub(crate) fn new(wanted: ReturnConsumedCapacity) -> Self {
        Self { wanted, table: Units::default(), indexes: BTreeMap::new() }
    }

    fn of(&mut self, arm: CapacityTarget) -> &mut Units {
        match arm {
            CapacityTarget::Table => &mut self.table,
            CapacityTarget::Index(number) => self.indexes.entry(number).or_default(),
        }
    }

    fn is_off(&self) -> bool {
        self.wanted == ReturnConsumedCapacity::None
    }

    /// Adds the units of a read.
    pub(crate) fn read(&mut self, arm: CapacityTarget, units: f64) {
        if !self.is_off() {
            self.of(arm).read += units;
        }
    }

    /// Adds the units of a write: those of the larger of the item before and after, and of each
    /// changed index entry. A transactional write costs the table twice the units.
    pub(crate) fn write(
        &mut self,
        old: Option<&Item>,
        new: Option<&Item>,
        changes: &[IndexChange],
        transactional: bool,
    ) {
        if self.is_off() {
            return;
        }
        let size = |item: Option<&Item>| item.map_or(0, Item::size);
        let units = write_units(size(old).max(size(new)));
        let factor = if transactional { 2.0 } else { 1.0 };
        self.table.write += units * factor;
        for change in changes {
            self.of(CapacityTarget::Index(change.index)).write += index_units(&change.entry);
        }
    }

    /// Adds the units of a transactional condition check: as many as of a write.
    pub(crate) fn check(&mut self, item: Option<&Item>) {
        self.write(item, item, &[], true);
    }

    /// Returns the consumed capacity in the detail that the request asks for; `None` for no detail.
    pub(crate) fn report(&self, table: &str, schema: &TableSchema) -> Option<ConsumedCapacity> {
        self.build(table, schema, false)
    }

    /// Returns the consumed capacity of a transaction, which also has read and write units apart.
    pub(crate) fn report_transaction(
        &self,
        table: &str,
        schema: &TableSchema,
    ) -> Option<ConsumedCapacity> {
        self.build(table, schema, true)
    }

    fn build(
        &self,
        table: &str,
        schema: &TableSchema,
        transactional: bool,
    ) -> Option<ConsumedCapacity> {
        if self.is_off() {
            return None;
        }
        let split = |units: f64| (transactional && units > 0.0).then_some(units);
        let sum = |part: fn(&Units) -> f64| {
            part(&self.table) + self.indexes.values().map(part).sum::<f64>()
        };
        let (read, write) = (sum(|units| units.read), sum(|units| units.write));
        let mut report = ConsumedCapacity {
            table_name: table.to_owned(),
            capacity_units: read + write,
            read_capacity_units: split(read),
            write_capacity_units: split(write),
            ..ConsumedCapacity::default()
        };
        if self.wanted == ReturnConsumedCapacity::Indexes {
            let capacity = |units: &Units| Capacity {
                capacity_units: units.read + units.write,
                read_capacity_units: split(units.read),
                write_capacity_units: split(units.write),
            };
            report.table = Some(capacity(&self.table));
            for (number, units) in &self.indexes {
                let index = &schema.indexes[*number];
                let part = match index.kind {
                    IndexKind::Local => &mut report.local_secondary_indexes,
                    IndexKind::Global => &mut report.global_secondary_indexes,
                };
                part.insert(index.name.clone(), capacity(units));
            }
        }
        Some(report)
    }
}

/// Computes the write units of an index change: one write for an entry that is inserted, deleted or
/// updated, two for one that moves to another key.
fn index_units(change: &EntryChange) -> f64 {
    match change {
        EntryChange::Inserted(entry) | EntryChange::Deleted(entry) => {
            write_units(entry.item.size())
        }
        EntryChange::Moved { from, to } => {
            write_units(from.item.size()) + write_units(to.item.size())
        }
        EntryChange::Updated { old, new } => write_units(old.size().max(new.size())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_units_round_up() {
        assert_eq!(read_units(0, true), 1.0);
        assert_eq!(read_units(4096, true), 1.0);
        assert_eq!(read_units(4097, true), 2.0);
        assert_eq!(read_units(4097, false), 1.0);
        assert_eq!(write_units(0), 1.0);
        assert_eq!(write_units(1024), 1.0);
        assert_eq!(write_units(1025), 2.0);
    }
}
