//! Where the tests of the apps run.
//!
//! An app names no store, and neither do its tests: they ask for a [`Stage`], which is in memory
//! unless [`STORE_VARIABLE`] says otherwise. `cargo xtask test` runs them on every store.

mod tables;

use std::env;
use std::sync::Arc;

use tabla::env::Env;
use tabla::sqlite::{SqliteConfig, SqliteStore};
use tabla::{MemoryStore, RetryPolicy, Store, StoreExt};
use tabla_testkit::dynamodb;

use tables::Tables;

/// The variable that names the store: `memory`, `sqlite` or `dynamodb`.
pub const STORE_VARIABLE: &str = "TABLA_APPS_STORE";

/// A store of one test, where nobody else is.
#[derive(Clone, Debug)]
pub enum Stage {
    /// The executable specification.
    Memory(Arc<MemoryStore>),
    /// SQLite, in memory.
    Sqlite(Arc<SqliteStore>),
    /// Tables of its own on DynamoDB Local, which go with the store.
    Server(Arc<dyn Store>),
}

impl Stage {
    /// The store that [`STORE_VARIABLE`] names, with this clock and randomness. What has expired
    /// stays until a test has it swept, so that it sees what callers see until then.
    ///
    /// # Panics
    /// There is no such store, or it cannot be opened.
    pub async fn new(env: &Env) -> Self {
        match named(env::var(STORE_VARIABLE).ok().as_deref()) {
            Ok(Named::Memory) => {
                let store = MemoryStore::with_env(env.clone()).with_sweep_every(None);
                Self::Memory(Arc::new(store))
            }
            Ok(Named::Sqlite) => {
                let config = SqliteConfig::in_memory().with_sweep_every(None);
                let store = SqliteStore::open_with(&config, env.clone()).await;
                Self::Sqlite(Arc::new(store.expect("a store in memory can be opened")))
            }
            Ok(Named::Server) => {
                let server = dynamodb::endpoint().expect("a server for the tests");
                let tables = Tables::open(server).await.expect("the server answers");
                // The service reports conflicts of transactions that an embedded store has wait.
                Self::Server(Arc::new(tables.with_retries(RetryPolicy::default())))
            }
            Err(unknown) => panic!("{unknown}"),
        }
    }

    /// The store itself.
    pub fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => store.clone(),
            Self::Sqlite(store) => store.clone(),
            Self::Server(store) => store.clone(),
        }
    }

    /// Deletes what has expired by the clock of the test, and says how many that were. `None` on a
    /// server, which has another clock.
    ///
    /// # Panics
    /// The store fails.
    pub async fn sweep_expired(&self) -> Option<usize> {
        match self {
            Self::Memory(store) => Some(store.sweep_expired()),
            Self::Sqlite(store) => Some(store.sweep_expired().await.expect("it sweeps")),
            Self::Server(_) => None,
        }
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
            Err(format!("{STORE_VARIABLE} is {other:?}: it has to be memory, sqlite or dynamodb"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_named_or_in_memory() {
        assert_eq!(named(None), Ok(Named::Memory));
        assert_eq!(named(Some("sqlite")), Ok(Named::Sqlite));
        assert_eq!(named(Some("dynamodb")), Ok(Named::Server));
        let unknown = named(Some("mysql")).expect_err("there is no such store");
        assert!(unknown.contains("\"mysql\": it has to be memory, sqlite or dynamodb"));
    }
}
