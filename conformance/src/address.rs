//! The suite on any store that has an address.

use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::env::{Random, SystemRandom};
use tabla_core::{Address, Registry, Result, StoreExt};

use crate::{CaseStore, Harness, MemoryHarness, Wording};

/// Runs the cases on the store at an address. Cases keep out of each other's way by the address's
/// `prefix` option, which the store must have.
pub struct AddressHarness {
    registry: Arc<Registry>,
    address: Address,
    engine: &'static str,
}

impl AddressHarness {
    /// The harness for the store at this address, which is known to be this engine.
    ///
    /// # Errors
    /// If the address is not well formed.
    pub fn new(registry: Registry, address: &str, engine: &'static str) -> Result<Self> {
        Ok(Self { registry: Arc::new(registry), address: address.parse()?, engine })
    }

    /// The harness for the store at this address: [`MemoryHarness`] for `memory:`, with whatever
    /// options, because it needs no prefixes and has a clock that can be moved.
    ///
    /// # Errors
    /// If the store cannot be opened or does not answer.
    pub async fn open(registry: Arc<Registry>, address: &str) -> Result<Arc<dyn Harness>> {
        let store = registry.open(address).await?;
        if store.capabilities().engine == "memory" {
            return Ok(Arc::new(MemoryHarness));
        }
        // A server that is not there is found out now, not in every case.
        store.all_tables().await?;
        let engine = store.capabilities().engine;
        Ok(Arc::new(Self { registry, address: address.parse()?, engine }))
    }
}

#[async_trait]
impl Harness for AddressHarness {
    fn engine(&self) -> &'static str {
        self.engine
    }

    fn wording(&self) -> Wording {
        match self.engine {
            "sqlite" => Wording::Exact,
            _ => Wording::Known,
        }
    }

    async fn case_store(&self) -> CaseStore {
        let mut address = self.address.clone();
        let prefix = address.options.entry("prefix".to_owned()).or_default();
        prefix.push_str(&format!("c{:08x}-", SystemRandom.next_u64() as u32));
        let store = self
            .registry
            .open(&address.to_string())
            .await
            .expect("the same address could be opened before");
        let fresh = CaseStore::new(store).drops_tables();
        match self.engine {
            // It sweeps every ten seconds.
            "dynamodb-local" => fresh.sweeps_by_itself(),
            _ => fresh,
        }
    }
}
