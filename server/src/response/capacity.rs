//! Writers of consumed capacity and of item collection metrics.

use std::collections::BTreeMap;

use tabla_core::ops::{Capacity, ConsumedCapacity, ItemCollectionMetrics};

use super::{Array, Object};

/// Writes the consumed capacity of an operation on one table.
pub(super) fn one(object: &mut Object<'_>, capacity: Option<&ConsumedCapacity>) {
    if let Some(capacity) = capacity {
        object.object("ConsumedCapacity", |object| consumed(object, capacity));
    }
}

/// Writes the consumed capacity of an operation on several tables.
pub(super) fn several(object: &mut Object<'_>, capacities: &[ConsumedCapacity]) {
    if capacities.is_empty() {
        return;
    }
    object.array("ConsumedCapacity", |array| {
        for capacity in capacities {
            array.object(|object| consumed(object, capacity));
        }
    });
}

fn consumed(object: &mut Object<'_>, consumed: &ConsumedCapacity) {
    object.text("TableName", &consumed.table_name);
    let all = Capacity::new(consumed.capacity_units)
        .read_capacity_units(consumed.read_capacity_units)
        .write_capacity_units(consumed.write_capacity_units);
    units(object, &all);
    if let Some(table) = &consumed.table {
        object.object("Table", |object| units(object, table));
    }
    for (name, indexes) in [
        ("LocalSecondaryIndexes", &consumed.local_secondary_indexes),
        ("GlobalSecondaryIndexes", &consumed.global_secondary_indexes),
    ] {
        if !indexes.is_empty() {
            object.object(name, |object| by_name(object, indexes));
        }
    }
}

fn by_name(object: &mut Object<'_>, indexes: &BTreeMap<String, Capacity>) {
    for (name, capacity) in indexes {
        object.object(name, |object| units(object, capacity));
    }
}

fn units(object: &mut Object<'_>, capacity: &Capacity) {
    object.decimal("CapacityUnits", capacity.capacity_units);
    for (name, part) in [
        ("ReadCapacityUnits", capacity.read_capacity_units),
        ("WriteCapacityUnits", capacity.write_capacity_units),
    ] {
        if let Some(part) = part {
            object.decimal(name, part);
        }
    }
}

/// Writes the item collection metrics of a single write.
pub(super) fn collection(object: &mut Object<'_>, metrics: Option<&ItemCollectionMetrics>) {
    if let Some(metrics) = metrics {
        object.object("ItemCollectionMetrics", |object| collected(object, metrics));
    }
}

/// Writes the item collection metrics of several writes, by table.
pub(super) fn collections(
    object: &mut Object<'_>,
    metrics: &BTreeMap<String, Vec<ItemCollectionMetrics>>,
) {
    if metrics.is_empty() {
        return;
    }
    object.object("ItemCollectionMetrics", |object| {
        for (table, metrics) in metrics {
            object.array(table, |array| each(array, metrics));
        }
    });
}

fn each(array: &mut Array<'_>, metrics: &[ItemCollectionMetrics]) {
    for metrics in metrics {
        array.object(|object| collected(object, metrics));
    }
}

fn collected(object: &mut Object<'_>, metrics: &ItemCollectionMetrics) {
    object.item("ItemCollectionKey", &metrics.item_collection_key);
    object.array("SizeEstimateRangeGB", |array| {
        for bound in metrics.size_estimate_range_gb {
            array.decimal(bound);
        }
    });
}
