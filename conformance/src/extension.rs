//! Store with a sample extension, to test that a wrapper passes extensions on.
//!
//! ```
//! use tabla_conformance::extension::{ExtendedStore, reaches_extension};
//! use tabla_conformance::interleave::InterleavingStore;
//!
//! assert!(reaches_extension(&InterleavingStore::new(ExtendedStore::new())));
//! ```

use std::any::TypeId;
use std::sync::Arc;

use tabla_core::{Extension, MemoryStore, Store, StoreExt};

/// Sample extension: the name of a store.
pub trait Named: Send + Sync {
    /// Name of the store.
    fn name(&self) -> &str;
}

/// [`MemoryStore`] with the extension [`Named`].
#[derive(Debug)]
pub struct ExtendedStore {
    store: MemoryStore,
    name: Arc<Name>,
}

#[derive(Debug)]
struct Name(&'static str);

impl Named for Name {
    fn name(&self) -> &str {
        self.0
    }
}

/// Name of every [`ExtendedStore`].
const NAME: &str = "extended";

impl ExtendedStore {
    /// Store without tables.
    pub fn new() -> Self {
        Self { store: MemoryStore::new(), name: Arc::new(Name(NAME)) }
    }

    fn own_extensions(&self, id: TypeId) -> Option<Extension> {
        if id == Extension::id::<dyn Named>() {
            let name: Arc<dyn Named> = self.name.clone();
            return Some(Extension::new(name));
        }
        self.store.extension_by_id(id)
    }
}

impl Default for ExtendedStore {
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! passed_on {
    ($self:ident, $method:ident, $request:ident) => {
        $self.store.$method($request).await
    };
}

tabla_core::wrap_store! {
    impl[] Store for ExtendedStore, inner: store, call: passed_on, extensions: own_extensions
}

/// Whether the extension of an [`ExtendedStore`] is reached through this store.
pub fn reaches_extension(store: &dyn Store) -> bool {
    store.extension::<dyn Named>().is_some_and(|named| named.name() == NAME)
}

#[cfg(test)]
mod tests {
    use tabla_core::RetryPolicy;
    use tabla_entity::Traced;

    use super::*;
    use crate::fault::FaultStore;
    use crate::interleave::InterleavingStore;

    /// Store inside every wrapper of this crate and of core.
    fn wrapped(store: impl Store + 'static) -> impl Store {
        let traced =
            Traced::new(Arc::new(FaultStore::new(Box::new(InterleavingStore::new(store)))));
        Arc::new(traced.with_retries(RetryPolicy::none()))
    }

    #[test]
    fn extension_is_reached_through_nested_wrappers() {
        assert!(reaches_extension(&ExtendedStore::new()));
        assert!(reaches_extension(&wrapped(ExtendedStore::new())));
        assert!(reaches_extension(&&wrapped(wrapped(ExtendedStore::new()))));
    }

    #[test]
    fn memory_store_lacks_sample_extension() {
        assert!(!reaches_extension(&MemoryStore::new()));
        assert!(!reaches_extension(&wrapped(MemoryStore::new())));
    }
}
