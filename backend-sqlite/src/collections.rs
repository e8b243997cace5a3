//! Sizes of item collections, which the responses to writes report in whole gigabytes.
//!
//! The writer never reads a collection, because other writes would wait. Collections of a table of
//! less than 1 GB have less than 1 GB. In a larger table, a caller that requests sizes estimates
//! them before the write, on a reading connection: number of keys times average item size. Keys are
//! cheap to count, because a page holds a hundred keys and few items.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;
use tabla_core::Result;
use tabla_core::backend::schema::IndexKind;
use tabla_core::backend::{KeyRange, RowKey, TableRef};

use crate::catalogue::StoredTable;
use crate::error::from_sqlite;
use crate::item_counts::{CountChanges, ItemCounts};

/// Minimum size of a table whose collections are estimated, in bytes, local indexes included.
const ESTIMATED_FROM: u64 = 1 << 30;

/// Item collections of one operation, by the number of their table and the common prefix of their
/// row keys.
pub(crate) type Collections = BTreeMap<(i64, Vec<u8>), (Arc<StoredTable>, KeyRange)>;

/// Estimated sizes of the item collections of one operation, in bytes. A collection that is not in
/// the map has less than 1 GB.
#[derive(Clone, Debug, Default)]
pub(crate) struct CollectionSizes(BTreeMap<(i64, Vec<u8>), u64>);

/// Returns the distinct item collections of these row keys.
pub(crate) fn collections<'w>(
    positions: impl Iterator<Item = (&'w Arc<StoredTable>, &'w RowKey)>,
) -> Collections {
    let keyed = positions.map(|(table, position)| {
        let collection = KeyRange::of_collection(position);
        let key = (table.number, collection.lower().to_vec());
        (key, (Arc::clone(table), collection))
    });
    keyed.collect()
}

/// Returns the item collections of tables that have at least 1 GB.
pub(crate) fn of_large_tables(
    connection: &Connection,
    item_counts: &ItemCounts,
    collections: Collections,
) -> Result<Collections> {
    let no_changes = CountChanges::default();
    let mut large = Collections::new();
    for (key, collection) in collections {
        let mut size = 0;
        for rows in rows_of(&collection.0) {
            size += item_counts.count(connection, rows.number, &no_changes)?.bytes;
        }
        if size >= ESTIMATED_FROM {
            large.insert(key, collection);
        }
    }
    Ok(large)
}

impl CollectionSizes {
    /// Estimates the size of each collection, by its number of keys and the average item size.
    pub(crate) fn estimate(
        connection: &Connection,
        item_counts: &ItemCounts,
        collections: Collections,
    ) -> Result<Self> {
        let estimate = |(key, (table, collection)): (_, (Arc<StoredTable>, KeyRange))| {
            Ok((key, estimate(connection, item_counts, &table, &collection)?))
        };
        collections.into_iter().map(estimate).collect::<Result<_>>().map(Self)
    }

    /// Returns the estimated size of the collection of a row key, in bytes; 0 if it was
    /// not estimated.
    pub(crate) fn of(&self, table: &StoredTable, position: &RowKey) -> u64 {
        // Most operations request no sizes.
        if self.0.is_empty() {
            return 0;
        }
        let key = (table.number, KeyRange::of_collection(position).lower().to_vec());
        self.0.get(&key).copied().unwrap_or_default()
    }
}

/// Rows of a table or a local index, which make up its item collections.
struct CollectionRows {
    /// Number of the table or index.
    number: i64,
    /// Name of the SQL table with the keys.
    keys: String,
}

fn rows_of(table: &Arc<StoredTable>) -> impl Iterator<Item = CollectionRows> {
    let own = CollectionRows { number: table.number, keys: format!("keys_{}", table.number) };
    let indexes = table.schema().indexes.iter().zip(&table.indexes);
    let local = indexes.filter(|(index, _)| index.kind == IndexKind::Local);
    let local = local.map(|(_, stored)| CollectionRows {
        number: stored.number,
        keys: format!("index_{}", stored.number),
    });
    std::iter::once(own).chain(local)
}

fn estimate(
    connection: &Connection,
    item_counts: &ItemCounts,
    table: &Arc<StoredTable>,
    collection: &KeyRange,
) -> Result<u64> {
    let no_changes = CountChanges::default();
    let end = collection.upper().expect("the key range of a collection has an upper bound");
    let mut size = 0;
    for CollectionRows { number, keys } in rows_of(table) {
        let count = format!("SELECT count(*) FROM {keys} WHERE key >= ?1 AND key < ?2");
        let mut count = connection.prepare_cached(&count).map_err(from_sqlite)?;
        let rows = count.query_row([collection.lower(), end], |row| row.get::<_, i64>(0));
        let all = item_counts.count(connection, number, &no_changes)?;
        let average = all.bytes.checked_div(all.items).unwrap_or_default();
        size += rows.map_err(from_sqlite)? as u64 * average;
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use tabla_core::ops::*;
    use tabla_core::{KeyType, Store, item};

    use super::*;
    use crate::{SqliteConfig, SqliteStore};

    #[tokio::test]
    async fn estimate_counts_the_items_and_local_entries_of_a_partition() {
        let store = SqliteStore::open(&SqliteConfig::in_memory()).await.unwrap();
        let table = CreateTable::new("things")
            .partition_key("pk", KeyType::S)
            .sort_key("sk", KeyType::N)
            .attribute("at", KeyType::N)
            .local_index(SecondaryIndex::new("by-at").partition_key("pk").sort_key("at"));
        store.create_table(table).await.unwrap();
        let thing = |partition: &str, number: i32| {
            item! { "pk" => partition, "sk" => number, "at" => number, "note" => "text" }
        };
        for (partition, number) in [("a", 1), ("a", 2), ("b", 3), ("a", 4)] {
            store.put(PutItem::new("things", thing(partition, number))).await.unwrap();
        }
        store.with_table("things", |connection, item_counts, table| {
            let position = RowKey::of_stored(table.schema(), &thing("a", 1));
            let wanted = collections([(table, &position), (table, &position)].into_iter());
            assert_eq!(wanted.len(), 1);
            let large = of_large_tables(connection, item_counts, wanted.clone()).unwrap();
            assert!(large.is_empty(), "the table has less than 1 GB");
            let sizes = CollectionSizes::estimate(connection, item_counts, wanted).unwrap();
            let each = thing("a", 1).size() as u64;
            assert_eq!(sizes.of(table, &position), 3 * 2 * each);
            assert_eq!(CollectionSizes::default().of(table, &position), 0);
        });
    }
}
