//! Responses: capacity, item-collection metrics, and lists of items.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types as sdk;
use tabla_core::ops::{Capacity, ConsumedCapacity, ItemCollectionMetrics, ReturnConsumedCapacity};
use tabla_core::{Item, Result};

use super::{Attributes, item_from_sdk};
use crate::prefix::TablePrefix;

/// Converts the consumed capacity of a single operation, if the request asked for it.
///
/// DynamoDB Local returns it without being asked if a delete found no item.
pub(crate) fn capacity_from_sdk(
    prefix: &TablePrefix,
    asked: ReturnConsumedCapacity,
    consumed: Option<sdk::ConsumedCapacity>,
) -> Option<ConsumedCapacity> {
    consumed
        .filter(|_| asked != ReturnConsumedCapacity::None)
        .map(|consumed| capacity_row(prefix, consumed))
}

/// Converts the consumed capacity of an operation on several tables, one row per table.
pub(crate) fn capacities_from_sdk(
    prefix: &TablePrefix,
    asked: ReturnConsumedCapacity,
    consumed: Option<Vec<sdk::ConsumedCapacity>>,
) -> Vec<ConsumedCapacity> {
    consumed
        .into_iter()
        .flatten()
        .filter_map(|row| capacity_from_sdk(prefix, asked, Some(row)))
        .collect()
}

fn capacity_row(prefix: &TablePrefix, consumed: sdk::ConsumedCapacity) -> ConsumedCapacity {
    let table = prefix.strip_own(consumed.table_name.unwrap_or_default());
    ConsumedCapacity::new(table, consumed.capacity_units.unwrap_or_default())
        .read_capacity_units(consumed.read_capacity_units)
        .write_capacity_units(consumed.write_capacity_units)
        .table(consumed.table.map(part))
        .local_secondary_indexes(parts(consumed.local_secondary_indexes))
        .global_secondary_indexes(parts(consumed.global_secondary_indexes))
}

fn parts(indexes: Option<HashMap<String, sdk::Capacity>>) -> BTreeMap<String, Capacity> {
    indexes.into_iter().flatten().map(|(name, capacity)| (name, part(capacity))).collect()
}

fn part(capacity: sdk::Capacity) -> Capacity {
    Capacity::new(capacity.capacity_units.unwrap_or_default())
        .read_capacity_units(capacity.read_capacity_units)
        .write_capacity_units(capacity.write_capacity_units)
}

/// Converts the item-collection metrics of a single write.
pub(crate) fn metrics_from_sdk(
    metrics: Option<sdk::ItemCollectionMetrics>,
) -> Result<Option<ItemCollectionMetrics>> {
    metrics.map(metrics_row).transpose()
}

/// Converts the item-collection metrics of a batch or transaction, by table.
pub(crate) fn table_metrics_from_sdk(
    prefix: &TablePrefix,
    metrics: Option<HashMap<String, Vec<sdk::ItemCollectionMetrics>>>,
) -> Result<BTreeMap<String, Vec<ItemCollectionMetrics>>> {
    metrics
        .into_iter()
        .flatten()
        .map(|(table, rows)| {
            let rows: Result<Vec<_>> = rows.into_iter().map(metrics_row).collect();
            Ok((prefix.strip_own(table), rows?))
        })
        .collect()
}

fn metrics_row(metrics: sdk::ItemCollectionMetrics) -> Result<ItemCollectionMetrics> {
    let range = metrics.size_estimate_range_gb.unwrap_or_default();
    let bound = |index: usize| range.get(index).copied().unwrap_or_default();
    Ok(ItemCollectionMetrics::new(
        item_from_sdk(metrics.item_collection_key.unwrap_or_default())?,
        [bound(0), bound(1)],
    ))
}

/// Converts the items of a page or a batch.
pub(crate) fn items_from_sdk(attributes: Vec<Attributes>) -> Result<Vec<Item>> {
    let mut items = Vec::with_capacity(attributes.len());
    for attributes in attributes {
        items.push(item_from_sdk(attributes)?);
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consumed() -> sdk::ConsumedCapacity {
        let capacity = |units| sdk::Capacity::builder().capacity_units(units).build();
        sdk::ConsumedCapacity::builder()
            .table_name("dev-orders")
            .capacity_units(3.0)
            .read_capacity_units(1.0)
            .write_capacity_units(2.0)
            .table(capacity(1.0))
            .local_secondary_indexes("l", capacity(0.5))
            .global_secondary_indexes("g", capacity(1.5))
            .build()
    }

    #[test]
    fn capacity_keeps_all_its_parts() {
        let prefix = TablePrefix::new("dev-").unwrap();
        let row =
            capacity_from_sdk(&prefix, ReturnConsumedCapacity::Indexes, Some(consumed())).unwrap();
        assert_eq!(row.table_name, "orders");
        assert_eq!(row.capacity_units, 3.0);
        assert_eq!((row.read_capacity_units, row.write_capacity_units), (Some(1.0), Some(2.0)));
        assert_eq!(row.table.unwrap().capacity_units, 1.0);
        assert_eq!(row.local_secondary_indexes["l"].capacity_units, 0.5);
        assert_eq!(row.global_secondary_indexes["g"].capacity_units, 1.5);
    }

    #[test]
    fn capacity_without_a_request_for_it_is_dropped() {
        let prefix = TablePrefix::default();
        assert_eq!(
            capacity_from_sdk(&prefix, ReturnConsumedCapacity::None, Some(consumed())),
            None
        );
    }

    #[test]
    fn metrics_keep_key_and_range_under_the_callers_table_name() {
        let prefix = TablePrefix::new("dev-").unwrap();
        let row = sdk::ItemCollectionMetrics::builder()
            .item_collection_key("pk", sdk::AttributeValue::S("a".into()))
            .size_estimate_range_gb(1.0)
            .size_estimate_range_gb(2.0)
            .build();
        let tables = HashMap::from([("dev-orders".to_owned(), vec![row])]);
        let metrics = table_metrics_from_sdk(&prefix, Some(tables)).unwrap();
        assert_eq!(
            metrics["orders"],
            [ItemCollectionMetrics::new(Item::new().with("pk", "a"), [1.0, 2.0])]
        );
    }
}
