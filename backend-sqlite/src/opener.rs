//! `sqlite:` addresses.

use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::{Address, OpenContext, Opener, Result, Store};

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

    /// Requests are retried from a reference, without a clone.
    fn retries_itself(&self) -> bool {
        true
    }

    async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Store>> {
        let config = SqliteConfig::from_address(address)?;
        let store = SqliteStore::open_with(&config, context.env.clone()).await?;
        Ok(Arc::new(store.with_retries(context.retries.clone())))
    }
}
