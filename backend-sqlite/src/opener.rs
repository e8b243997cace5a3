//! `sqlite:` addresses.

use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::env::Env;
use tabla_core::{Address, Opener, Result, Store};

use crate::{SqliteConfig, SqliteStore};

/// Opens `sqlite:` addresses.
#[derive(Clone, Copy, Debug, Default)]
pub struct SqliteOpener;

#[async_trait]
impl Opener for SqliteOpener {
    fn scheme(&self) -> &'static str {
        "sqlite"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("sqlite:shop.db", "a store in an SQLite file"),
            ("sqlite:shop.db?durability=normal", "the same, not synced at every write"),
            ("sqlite::memory:", "the same engine in memory, gone when the program ends"),
        ]
    }

    async fn open(&self, address: Address, env: &Env) -> Result<Arc<dyn Store>> {
        let config = SqliteConfig::from_address(address)?;
        Ok(Arc::new(SqliteStore::open_with(&config, env.clone()).await?))
    }
}
