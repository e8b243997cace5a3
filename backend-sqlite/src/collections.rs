//! Sizes of item collections, which the answers to writes tell in whole gigabytes.
//!
//! The writer never reads a collection: other writes would wait for it. A table of less than 1 GB
//! has only collections of less than 1 GB; in a larger one, a caller that wants to know measures the
//! collection before it writes, on a connection of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;
use tabla::Result;
use tabla::engine::{Position, Span, TableRef};
use tabla::schema::IndexKind;

use crate::catalogue::{StoredIndex, StoredTable};
use crate::counts::{Counts, Ledger};
use crate::error::from_sqlite;
use crate::rows;

/// Size of a table, local indexes included, below which its collections are not measured.
pub(crate) const MEASURED_FROM: u64 = 1 << 30;

/// Item collections of one operation that are yet to be measured, by the number of their table and
/// the bytes that their rows begin with.
pub(crate) type Collections = BTreeMap<(i64, Vec<u8>), (Arc<StoredTable>, Span)>;

/// Measured item collections of one operation; those that are not there have less than 1 GB.
#[derive(Clone, Debug, Default)]
pub(crate) struct CollectionSizes(BTreeMap<(i64, Vec<u8>), u64>);

/// The distinct collections that these positions belong to.
pub(crate) fn collections<'w>(
    positions: impl Iterator<Item = (&'w Arc<StoredTable>, &'w Position)>,
) -> Collections {
    let keyed = positions.map(|(table, position)| {
        let collection = Span::of_collection(position);
        let key = (table.number, collection.lower().to_vec());
        (key, (Arc::clone(table), collection))
    });
    keyed.collect()
}

/// The collections of tables that have at least [`MEASURED_FROM`] bytes.
pub(crate) fn of_large_tables(
    connection: &Connection,
    ledger: &Ledger,
    collections: Collections,
) -> Result<Collections> {
    let mut large = Collections::new();
    for (key, collection) in collections {
        if table_size(connection, ledger, &collection.0)? >= MEASURED_FROM {
            large.insert(key, collection);
        }
    }
    Ok(large)
}

impl CollectionSizes {
    /// Reads the collections, in one snapshot.
    pub(crate) fn measure(connection: &Connection, collections: Collections) -> Result<Self> {
        let measure = |(key, (table, collection))| {
            let size = collection_size(connection, &table, &collection)?;
            Ok((key, size))
        };
        collections.into_iter().map(measure).collect::<Result<_>>().map(Self)
    }

    /// Estimated size of the collection that a position belongs to.
    pub(crate) fn of(&self, table: &StoredTable, position: &Position) -> u64 {
        // Most operations want to know nothing.
        if self.0.is_empty() {
            return 0;
        }
        let key = (table.number, Span::of_collection(position).lower().to_vec());
        self.0.get(&key).copied().unwrap_or_default()
    }
}

fn local_indexes(table: &Arc<StoredTable>) -> impl Iterator<Item = &StoredIndex> {
    let indexes = table.schema().indexes.iter().zip(&table.indexes);
    indexes.filter(|(index, _)| index.kind == IndexKind::Local).map(|(_, stored)| stored)
}

fn table_size(connection: &Connection, ledger: &Ledger, table: &Arc<StoredTable>) -> Result<u64> {
    let numbers = std::iter::once(table.number).chain(local_indexes(table).map(|one| one.number));
    let no_changes = Counts::default();
    let sizes = numbers.map(|number| Ok(ledger.count(connection, number, &no_changes)?.bytes));
    sizes.sum()
}

fn collection_size(
    connection: &Connection,
    table: &Arc<StoredTable>,
    collection: &Span,
) -> Result<u64> {
    let ranges = std::iter::once(&table.sql.range.forward)
        .chain(local_indexes(table).map(|index| &index.sql.range.forward));
    let end = collection.upper().expect("a partition has an end");
    let mut size = 0;
    for range in ranges {
        let mut statement = connection.prepare_cached(range).map_err(from_sqlite)?;
        let mut rows = statement.query([collection.lower(), end]).map_err(from_sqlite)?;
        while let Some(row) = rows.next().map_err(from_sqlite)? {
            size += rows::read(row)?.item.size() as u64;
        }
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use tabla::ops::*;
    use tabla::{KeyType, Store, item};

    use super::*;
    use crate::{SqliteConfig, SqliteStore};

    #[tokio::test]
    async fn measured_collection_has_the_items_and_local_entries_of_its_partition() {
        let store = SqliteStore::open(&SqliteConfig::in_memory()).await.unwrap();
        let table = CreateTable::new("things")
            .partition_key("pk", KeyType::S)
            .sort_key("sk", KeyType::N)
            .attribute("at", KeyType::N)
            .local_index(SecondaryIndex::new("by-at").partition_key("pk").sort_key("at"));
        store.create_table(table).await.unwrap();
        let mut expected = 0;
        for (partition, number) in [("a", 1), ("a", 2), ("b", 3), ("a", 4)] {
            let item = item! { "pk" => partition, "sk" => number, "at" => number, "t" => "text" };
            expected += if partition == "a" { 2 * item.size() as u64 } else { 0 };
            store.put(PutItem::new("things", item)).await.unwrap();
        }
        store.with_table("things", |connection, ledger, table| {
            let key = item! { "pk" => "a", "sk" => 1, "at" => 1 };
            let position = Position::of_stored(table.schema(), &key);
            let wanted = collections([(table, &position), (table, &position)].into_iter());
            assert_eq!(wanted.len(), 1);
            let none = of_large_tables(connection, ledger, wanted.clone()).unwrap();
            assert!(none.is_empty(), "the table has less than 1 GB");
            let sizes = CollectionSizes::measure(connection, wanted).unwrap();
            assert_eq!(sizes.of(table, &position), expected);
            assert_eq!(CollectionSizes::default().of(table, &position), 0);
        });
    }
}
