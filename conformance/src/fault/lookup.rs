//! Lookups in the wrapped store that faults need.

use tabla_core::ops::{DescribeTable, GetItem, KeyRole, KeySchemaElement, Scan};
use tabla_core::{Item, Store};

use super::FaultStore;

impl<S: Store> FaultStore<S> {
    /// Current item with this key.
    pub(super) async fn current(&self, table: &str, key: &Item) -> Option<Item> {
        let request = GetItem::new(table, key.clone()).consistent_read(true);
        self.store.get(request).await.ok()?.item
    }

    /// All items of the table.
    pub(super) async fn all(&self, table: &str) -> Vec<Item> {
        let mut items = Vec::new();
        let mut next = Scan::new(table).consistent_read(true);
        while let Ok(page) = self.store.scan(next.clone()).await {
            items.extend(page.items);
            next.exclusive_start_key = page.last_evaluated_key;
            if next.exclusive_start_key.is_none() {
                break;
            }
        }
        items
    }

    /// Key schema of the table, or of one of its indexes; empty if there is none.
    pub(super) async fn key_schema(
        &self,
        table: &str,
        index: Option<&str>,
    ) -> Vec<KeySchemaElement> {
        let Ok(description) = self.store.describe_table(DescribeTable::new(table)).await else {
            return Vec::new();
        };
        let Some(name) = index else { return description.key_schema };
        let global = description.global_secondary_indexes.into_iter();
        global
            .chain(description.local_secondary_indexes)
            .find(|index| index.name == name)
            .map(|index| index.key_schema)
            .unwrap_or_default()
    }

    /// Name of the sort key of the table or index.
    pub(super) async fn sort_key(&self, table: &str, index: Option<&str>) -> Option<String> {
        let schema = self.key_schema(table, index).await;
        schema.into_iter().find(|element| element.role == KeyRole::Sort).map(|element| element.name)
    }

    /// Attributes of an item that are in the table's key.
    pub(super) async fn key_of(&self, table: &str, item: &Item) -> Item {
        part_of(item, &self.key_schema(table, None).await)
    }
}

/// Attributes of an item that are in this key.
pub(super) fn part_of(item: &Item, key: &[KeySchemaElement]) -> Item {
    let attribute = |element: &KeySchemaElement| {
        Some((element.name.clone(), item.get(&element.name)?.to_value()))
    };
    key.iter().filter_map(attribute).collect()
}
