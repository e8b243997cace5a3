//! Stores for the tests of the apps.
//!
//! An app names no store, and neither do its tests: they use a [`Stage`], which is in memory unless
//! [`STORE_VARIABLE`] names another store. `cargo xtask test` runs them on every store.
//!
//! A stage opens its store at an address, with the retries of [`Registry::open`].

mod tables;

use std::env;
use std::sync::Arc;

use futures::TryStreamExt;
use tabla::backend::ttl::{expired, expires_at};
use tabla::env::Env;
use tabla::ops::{DeleteItem, DescribeTable, DescribeTimeToLive, Scan};
use tabla::{Item, Registry, Store, StoreExt};
use tabla_testkit::dynamodb;

use tables::TablesOpener;

/// Environment variable that names the store: `memory`, `sqlite` or `dynamodb`.
pub const STORE_VARIABLE: &str = "TABLA_APPS_STORE";

/// Store of one test. On DynamoDB Local it has tables of its own, which are deleted with it.
#[derive(Clone, Debug)]
pub struct Stage {
    store: Arc<dyn Store>,
    env: Env,
}

impl Stage {
    /// Store that [`STORE_VARIABLE`] names. An embedded store has this clock and randomness. Expired
    /// items stay until [`Stage::sweep_expired`] deletes them.
    ///
    /// # Panics
    /// The store is unknown, or cannot be opened.
    pub async fn new(env: &Env) -> Self {
        let mut embedded = Registry::with_env(env.clone());
        tabla::register(&mut embedded);
        let opened = match named(env::var(STORE_VARIABLE).ok().as_deref()) {
            Ok(Named::Memory) => embedded.open("memory:?sweep=off").await,
            Ok(Named::Sqlite) => embedded.open("sqlite::memory:?sweep=off").await,
            Ok(Named::Server) => {
                let server = dynamodb::endpoint().expect("a server for the tests");
                let opener = TablesOpener::new(server);
                let address = opener.address();
                // The machine's clock, because conflicts on the service take real time.
                let mut registry = Registry::new();
                registry.register(opener);
                registry.open(&address).await
            }
            Err(unknown) => panic!("{unknown}"),
        };
        Self { store: opened.expect("a store"), env: env.clone() }
    }

    /// The store.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Deletes the items that have expired by the clock of the test, and returns their number. The
    /// service does this in the background.
    ///
    /// # Panics
    /// The store fails.
    pub async fn sweep_expired(&self) -> usize {
        let mut swept = 0;
        for table in self.store.all_tables().await.expect("tables") {
            let request = DescribeTimeToLive::new(&table);
            let ttl = self.store.describe_time_to_live(request).await.expect("a time to live");
            if let Some(attribute) = ttl.attribute {
                swept += self.sweep_table(&table, &attribute).await;
            }
        }
        swept
    }

    async fn sweep_table(&self, table: &str, attribute: &str) -> usize {
        let described = self.store.describe_table(DescribeTable::new(table)).await;
        let names = described.expect("a table").key_schema.into_iter().map(|element| element.name);
        let names: Vec<String> = names.collect();
        let scan = self.store.scan_items(Scan::new(table).consistent_read(true));
        let items: Vec<Item> = scan.try_collect().await.expect("items");
        let over = expired(self.env.clock.now());
        let has_expired =
            |item: &Item| expires_at(item, attribute).is_some_and(|second| over.contains(&second));
        let mut swept = 0;
        for item in items.iter().filter(|item| has_expired(item)) {
            let key = names.iter().fold(Item::new(), |key, name| {
                key.with(name.as_str(), item.get(name).expect("a key attribute").to_value())
            });
            self.store.delete(DeleteItem::new(table, key)).await.expect("a delete");
            swept += 1;
        }
        swept
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Named {
    Memory,
    Sqlite,
    Server,
}

fn named(name: Option<&str>) -> Result<Named, String> {
    match name {
        None | Some("" | "memory") => Ok(Named::Memory),
        Some("sqlite") => Ok(Named::Sqlite),
        Some("dynamodb") => Ok(Named::Server),
        Some(other) => {
            Err(format!("{STORE_VARIABLE} is {other:?}; set it to memory, sqlite or dynamodb"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_is_named_or_in_memory() {
        assert_eq!(named(None), Ok(Named::Memory));
        assert_eq!(named(Some("sqlite")), Ok(Named::Sqlite));
        assert_eq!(named(Some("dynamodb")), Ok(Named::Server));
        let unknown = named(Some("mysql")).expect_err("the store is unknown");
        assert!(unknown.contains("\"mysql\"; set it to memory, sqlite or dynamodb"));
    }
}
