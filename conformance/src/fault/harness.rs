//! Harness for stores with an injected fault.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Fault, FaultStore};
use crate::harness::{CaseStore, Harness, Wording};

/// Harness that wraps each store of another harness with the same fault. Without a fault, all cases
/// must pass.
#[derive(Clone, Debug)]
pub struct FaultHarness<H> {
    harness: H,
    fault: Option<Fault>,
}

impl<H: Harness> FaultHarness<H> {
    /// Wraps the stores of `harness` with `fault`.
    pub fn new(harness: H, fault: impl Into<Option<Fault>>) -> Self {
        Self { harness, fault: fault.into() }
    }
}

#[async_trait]
impl<H: Harness> Harness for FaultHarness<H> {
    fn engine(&self) -> &'static str {
        self.harness.engine()
    }

    fn wording(&self) -> Wording {
        self.harness.wording()
    }

    fn is_complete(&self) -> bool {
        self.harness.is_complete()
    }

    fn parallelism(&self) -> usize {
        self.harness.parallelism()
    }

    async fn case_store(&self) -> CaseStore {
        let mut fresh = self.harness.case_store().await;
        let mut store = FaultStore::new(Arc::clone(&fresh.store));
        if let Some(fault) = self.fault {
            store = store.fault(fault);
        }
        if let Some(clock) = &fresh.clock {
            store = store.clock(Arc::new(clock.clone()));
        }
        fresh.store = Arc::new(store);
        fresh
    }

    async fn finish(&self) {
        self.harness.finish().await;
    }
}
