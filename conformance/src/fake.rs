//! A store and a harness to test the suite itself with.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tabla_core::{Capabilities, Error, Store};

use crate::harness::{CaseStore, Harness};

/// Fails every operation with the error that belongs to its name.
#[derive(Debug)]
pub(crate) struct FakeStore {
    pub(crate) capabilities: Capabilities,
    pub(crate) error: fn(&'static str) -> Error,
}

impl FakeStore {
    /// A store that has all capabilities and no table.
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

/// Hands out one store, and counts how often it was cleaned up.
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
