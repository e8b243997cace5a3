//! Harness for any store that has an address.

use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::env::{Random, SystemRandom};
use tabla_core::{Address, Registry, Result, StoreExt};

use crate::{CaseStore, Harness, MemoryHarness, Wording};

/// Harness whose cases run on the store at an address. Each case has tables of its own by the
/// `prefix` option of the address, which the store must support.
pub struct AddressHarness {
    registry: Arc<Registry>,
    address: Address,
    engine: &'static str,
}

impl AddressHarness {
    /// Makes a harness for the store at this address. `engine` names the engine, whose
    /// deviations apply.
    ///
    /// # Errors
    /// If the address is not well formed.
    pub fn new(registry: Registry, address: &str, engine: &'static str) -> Result<Self> {
        Ok(Self { registry: Arc::new(registry), address: address.parse()?, engine })
    }

    /// Opens the store at this address and makes its harness. For `memory:`, with any options, that
    /// is [`MemoryHarness`], which needs no prefixes and has a movable clock.
    ///
    /// # Errors
    /// If the address is not well formed, or if the store cannot be opened or listed.
    pub async fn open(registry: Arc<Registry>, address: &str) -> Result<Arc<dyn Harness>> {
        let store = registry.open(address).await?;
        if store.capabilities().engine == "memory" {
            return Ok(Arc::new(MemoryHarness));
        }
        // A server that cannot be reached fails here once, not in every case.
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
            .expect("cannot open the store of a case");
        let fresh = CaseStore::new(store).drops_tables();
        match self.engine {
            // DynamoDB Local sweeps every 10 seconds.
            "dynamodb-local" => fresh.sweeps_by_itself(),
            _ => fresh,
        }
    }
}
