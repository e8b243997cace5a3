//! What an operation cost, and how large its item collections are.

use std::collections::BTreeMap;

use super::setters;
use crate::Item;

/// Which capacity figures an answer carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnConsumedCapacity {
    /// None.
    #[default]
    None,
    /// The sum over the table and its indexes.
    Total,
    /// The sum, and the parts of the table and of each index.
    Indexes,
}

/// Capacity units that an operation consumed on one table and its indexes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ConsumedCapacity {
    /// The table.
    pub table_name: String,
    /// The sum over the table and its indexes.
    pub capacity_units: f64,
    /// The read part of the sum; given by transactions.
    pub read_capacity_units: Option<f64>,
    /// The write part of the sum; given by transactions.
    pub write_capacity_units: Option<f64>,
    /// The table's own part, if the parts were asked for.
    pub table: Option<Capacity>,
    /// The parts of the local secondary indexes, by name.
    pub local_secondary_indexes: BTreeMap<String, Capacity>,
    /// The parts of the global secondary indexes, by name.
    pub global_secondary_indexes: BTreeMap<String, Capacity>,
}

/// Capacity units of a table alone or of one index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Capacity {
    /// The units.
    pub capacity_units: f64,
    /// The read part; given by transactions.
    pub read_capacity_units: Option<f64>,
    /// The write part; given by transactions.
    pub write_capacity_units: Option<f64>,
}

/// Whether an answer carries item-collection metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnItemCollectionMetrics {
    /// No.
    #[default]
    None,
    /// Yes, for tables with local secondary indexes.
    Size,
}

/// The estimated size of the item collection that a write touched.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ItemCollectionMetrics {
    /// The partition key of the collection.
    pub item_collection_key: Item,
    /// A lower and an upper estimate, in gigabytes.
    pub size_estimate_range_gb: [f64; 2],
}

impl ItemCollectionMetrics {
    /// Metrics of the collection with this partition key. The range is in gigabytes.
    pub fn new(item_collection_key: impl Into<Item>, size_estimate_range_gb: [f64; 2]) -> Self {
        Self { item_collection_key: item_collection_key.into(), size_estimate_range_gb }
    }
}

impl ConsumedCapacity {
    /// This many units on this table and its indexes together.
    pub fn new(table_name: impl Into<String>, capacity_units: f64) -> Self {
        Self { table_name: table_name.into(), capacity_units, ..Self::default() }
    }

    setters! {
        /// The read part; given by transactions.
        read_capacity_units: Option<f64>,
        /// The write part; given by transactions.
        write_capacity_units: Option<f64>,
        /// The table's own part.
        table: Option<Capacity>,
        /// The parts of the local secondary indexes, by name.
        local_secondary_indexes: BTreeMap<String, Capacity>,
        /// The parts of the global secondary indexes, by name.
        global_secondary_indexes: BTreeMap<String, Capacity>,
    }

    /// Adds what another operation on the same table consumed.
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
    /// This many units.
    pub fn new(capacity_units: f64) -> Self {
        Self { capacity_units, ..Self::default() }
    }

    setters! {
        /// The read part; given by transactions.
        read_capacity_units: Option<f64>,
        /// The write part; given by transactions.
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
