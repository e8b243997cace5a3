//! Tables of a run, and the mapping between their items and those of the model.

use serde::{Deserialize, Serialize};
use tabla_core::ops::{CreateTable, DeleteTable};
use tabla_core::{ErrorKind, Item, KeyType, Store, ValueRef, item};

use super::explain::Violation;
use super::model::Row;

/// Two tables that share the items: those with even numbers are in partitions of their own, those
/// with odd numbers in one partition of the other table.
///
/// So there are transactions across tables, across partitions, and within one partition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tables {
    apart: String,
    together: String,
}

impl Tables {
    pub(super) async fn create(store: &dyn Store, name: &str) -> Result<Self, Violation> {
        let apart = |name| CreateTable::new(name).partition_key("pk", KeyType::S);
        let together = |name| apart(name).sort_key("sk", KeyType::S);
        Ok(Self {
            apart: create_table(store, &format!("{name}-apart"), apart).await?,
            together: create_table(store, &format!("{name}-together"), together).await?,
        })
    }

    pub(super) async fn delete(self, store: &dyn Store) -> Result<(), Violation> {
        for name in [self.apart, self.together] {
            store.delete_table(DeleteTable::new(name)).await?;
        }
        Ok(())
    }

    /// Name of the table that an item is in.
    pub(super) fn table(&self, key: usize) -> &str {
        if key.is_multiple_of(2) { &self.apart } else { &self.together }
    }

    /// Key of an item.
    pub(super) fn key(&self, key: usize) -> Item {
        if key.is_multiple_of(2) {
            item! { "pk" => format!("k{key}") }
        } else {
            item! { "pk" => "all", "sk" => format!("k{key}") }
        }
    }

    /// Item with its key.
    pub(super) fn item(&self, key: usize, row: Row) -> Item {
        let mut item = self.key(key);
        if let Some(tag) = row.tag {
            item.insert("v", tag);
        }
        if let Some(count) = row.count {
            item.insert("n", count);
        }
        item
    }

    /// Row of an item; `None` if no operation can have written it.
    pub(super) fn row(&self, key: usize, item: &Item) -> Option<Row> {
        let number = |name| item.get(name).and_then(ValueRef::as_number);
        let row = Row {
            tag: number("v").and_then(|number| number.to_u64()),
            count: number("n").and_then(|number| number.to_i64()),
        };
        (self.item(key, row) == *item).then_some(row)
    }
}

/// Creates a table under this name, or under the name with a number if it is in use.
///
/// So a run can be repeated on one store, even after a run that kept its tables for inspection.
pub(super) async fn create_table(
    store: &dyn Store,
    name: &str,
    request: impl Fn(String) -> CreateTable,
) -> Result<String, Violation> {
    const NAMES: usize = 1_000;
    let mut numbers = 2..NAMES;
    let mut candidate = name.to_owned();
    loop {
        match (store.create_table(request(candidate.clone())).await, numbers.next()) {
            (Ok(_), _) => return Ok(candidate),
            (Err(error), Some(number)) if error.kind() == &ErrorKind::InUse => {
                candidate = format!("{name}-{number}");
            }
            (Err(error), _) => return Err(Violation::Store(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn used_table_name_gets_a_number() {
        let store = MemoryStore::new();
        let first = Tables::create(&store, "t").await.unwrap();
        let second = Tables::create(&store, "t").await.unwrap();
        assert_eq!((first.table(0), first.table(1)), ("t-apart", "t-together"));
        assert_eq!((second.table(2), second.table(3)), ("t-apart-2", "t-together-2"));
        second.delete(&store).await.unwrap();
        first.delete(&store).await.unwrap();
    }

    #[test]
    fn row_is_none_for_item_that_no_operation_wrote() {
        let tables = Tables { apart: String::new(), together: String::new() };
        let row = Row { tag: Some(3), count: Some(-4) };
        for key in 0..2 {
            let item = tables.item(key, row);
            assert_eq!(tables.row(key, &item), Some(row));
            assert_eq!(tables.row(key + 2, &item), None, "it has another key");
            assert_eq!(tables.row(key, &item.clone().with("w", 1)), None);
            assert_eq!(tables.row(key, &item.with("v", "3")), None);
        }
    }
}
