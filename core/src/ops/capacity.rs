//! Consumed capacity and item-collection metrics, as outputs report them.

use std::collections::BTreeMap;

use super::setters;
use crate::Item;

/// Capacity figures that an output contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnConsumedCapacity {
    /// No capacity figures.
    #[default]
    None,
    /// Sum over the table and its indexes.
    Total,
    /// Sum, and the shares of the table and of each index.
    Indexes,
}

/// Capacity units that an operation consumed on one table and its indexes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ConsumedCapacity {
    /// Name of the table.
    pub table_name: String,
    /// Capacity units of the table and its indexes together.
    pub capacity_units: f64,
    /// Read units of the sum; only transactions report them.
    pub read_capacity_units: Option<f64>,
    /// Write units of the sum; only transactions report them.
    pub write_capacity_units: Option<f64>,
    /// Share of the table itself, with [`ReturnConsumedCapacity::Indexes`].
    pub table: Option<Capacity>,
    /// Shares of the local secondary indexes, by name, with [`ReturnConsumedCapacity::Indexes`].
    pub local_secondary_indexes: BTreeMap<String, Capacity>,
    /// Shares of the global secondary indexes, by name, with [`ReturnConsumedCapacity::Indexes`].
    pub global_secondary_indexes: BTreeMap<String, Capacity>,
}

/// Capacity units of a table alone or of one index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Capacity {
    /// Capacity units.
    pub capacity_units: f64,
    /// Read units; only transactions report them.
    pub read_capacity_units: Option<f64>,
    /// Write units; only transactions report them.
    pub write_capacity_units: Option<f64>,
}

/// Whether an output contains item-collection metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnItemCollectionMetrics {
    /// No metrics.
    #[default]
    None,
    /// Estimated sizes of the written item collections, for tables with local secondary indexes.
    Size,
}

/// Estimated size of the item collection to which a write belongs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ItemCollectionMetrics {
    /// Partition key of the item collection.
    pub item_collection_key: Item,
    /// Lower and upper bound in gigabytes, such as `[0.0, 1.0]`.
    pub size_estimate_range_gb: [f64; 2],
}

impl ItemCollectionMetrics {
    /// Creates metrics of the item collection with this partition key; the range is in gigabytes.
    pub fn new(item_collection_key: impl Into<Item>, size_estimate_range_gb: [f64; 2]) -> Self {
        Self { item_collection_key: item_collection_key.into(), size_estimate_range_gb }
    }
}

impl ConsumedCapacity {
    /// Creates a sum of units for a table and its indexes.
    pub fn new(table_name: impl Into<String>, capacity_units: f64) -> Self {
        Self { table_name: table_name.into(), capacity_units, ..Self::default() }
    }

    setters! {
        /// Sets the read units.
        read_capacity_units: Option<f64>,
        /// Sets the write units.
        write_capacity_units: Option<f64>,
        /// Sets the share of the table itself.
        table: Option<Capacity>,
        /// Sets the shares of the local secondary indexes, by name.
        local_secondary_indexes: BTreeMap<String, Capacity>,
        /// Sets the shares of the global secondary indexes, by name.
        global_secondary_indexes: BTreeMap<String, Capacity>,
    }

    /// Adds the capacity that another operation on the same table consumed.
    pub fn add(&mut self, other: &Self) {
        self.capacity_units += other.capacity_units;
        add_part(&mut self.read_capacity_units, other.read_capacity_units);
        add_part(&mut self.write_capacity_units, other.write_capacity_units);
        if let Some(table) = &other.table {
            self.table.get_or_insert_default().add(table);
        }
        for (indexes, more) in [
            (&mut self.local_secondary_indexes, &other.local_secondary_indexes),
            (&mut self.global_secondary_indexes, &other.global_secondary_indexes),
        ] {
            for (name, capacity) in more {
                indexes.entry(name.clone()).or_default().add(capacity);
            }
        }
    }
}

impl Capacity {
    /// Creates a share of this many units.
    pub fn new(capacity_units: f64) -> Self {
        Self { capacity_units, ..Self::default() }
    }

    setters! {
        /// Sets the read units.
        read_capacity_units: Option<f64>,
        /// Sets the write units.
        write_capacity_units: Option<f64>,
    }

    fn add(&mut self, other: &Self) {
        self.capacity_units += other.capacity_units;
        add_part(&mut self.read_capacity_units, other.read_capacity_units);
        add_part(&mut self.write_capacity_units, other.write_capacity_units);
    }
}

fn add_part(part: &mut Option<f64>, more: Option<f64>) {
    if let Some(more) = more {
        *part.get_or_insert(0.0) += more;
    }
}
