//! Opener of `sqlite:` addresses, for core's registry.
//!
//! The options of addresses are parsed in `config`.

use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::{Address, OpenContext, Opener, Result, Store};

use crate::{SqliteConfig, SqliteStore};

/// Opener of `sqlite:` addresses, whose options are those of [`SqliteConfig::from_address`].
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
            ("sqlite:shop.db?durability=relaxed", "the same, relaxed: no fsync per write"),
            ("sqlite::memory:", "the same engine in memory, lost when the program ends"),
        ]
    }

    /// Returns true: the store retries by itself, so the registry does not wrap it.
    fn implements_retries(&self) -> bool {
        true
    }

    async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Store>> {
        let config = SqliteConfig::from_address(address)?;
        let store = SqliteStore::open_with(&config, context.env.clone()).await?;
        Ok(Arc::new(store.with_retries(context.retries.clone())))
    }
}
