//! Store and harness that test the suite itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tabla_core::{Capabilities, Error, Store};

use crate::harness::{CaseStore, Harness};

/// Store that fails every operation with the error for its name.
#[derive(Debug)]
pub(crate) struct FakeStore {
    pub(crate) capabilities: Capabilities,
    pub(crate) error: fn(&'static str) -> Error,
}

impl FakeStore {
    /// Store with all capabilities and no table.
    pub(crate) fn empty() -> Self {
        let capabilities = Capabilities::full("fake");
        Self { capabilities, error: |_| Error::table_not_found() }
    }

    fn own_capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }
}

macro_rules! failed {
    ($self:ident, $method:ident, $request:ident) => {{
        drop($request);
        Err(($self.error)(stringify!($method)))
    }};
}

tabla_core::wrap_store! {
    impl[] Store for FakeStore, call: failed, capabilities: own_capabilities
}

/// Harness that returns one store for all cases, and counts the cleanups.
pub(crate) struct FakeHarness {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) cleaned: Arc<AtomicUsize>,
    pub(crate) complete: bool,
}

impl FakeHarness {
    pub(crate) fn new(store: impl Store + 'static) -> Self {
        Self { store: Arc::new(store), cleaned: Arc::default(), complete: false }
    }
}

#[async_trait]
impl Harness for FakeHarness {
    fn engine(&self) -> &'static str {
        "fake"
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    async fn case_store(&self) -> CaseStore {
        let cleaned = Arc::clone(&self.cleaned);
        CaseStore::new(Arc::clone(&self.store)).cleanup(|| async move {
            cleaned.fetch_add(1, Ordering::Relaxed);
        })
    }
}
