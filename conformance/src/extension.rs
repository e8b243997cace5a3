//! A store with a power, to test that a wrapper hides none.
//!
//! ```
//! use tabla_conformance::between::Between;
//! use tabla_conformance::power::{Powered, reaches_power};
//!
//! assert!(reaches_power(&Between::new(Powered::new())));
//! ```

use std::any::TypeId;
use std::sync::Arc;

use tabla_core::{Extension, MemoryStore, Store, StoreExt};

/// Sample power: a name that the store was given.
pub trait Named: Send + Sync {
    /// Name of the store.
    fn name(&self) -> &str;
}

/// A [`MemoryStore`] with the power [`Named`].
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

/// Name of every [`Powered`].
const NAME: &str = "powered";

impl ExtendedStore {
    /// A store without tables.
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

/// Whether the power of a [`Powered`] is reached through this store.
pub fn reaches_extension(store: &dyn Store) -> bool {
    store.extension::<dyn Named>().is_some_and(|power| power.name() == NAME)
}

#[cfg(test)]
mod tests {
    use tabla_core::RetryPolicy;
    use tabla_entity::Traced;

    use super::*;
    use crate::fault::FaultStore;
    use crate::interleave::InterleavingStore;

    /// Every wrapper that this crate knows, around one store.
    fn wrapped(store: impl Store + 'static) -> impl Store {
        let traced =
            Traced::new(Arc::new(FaultStore::new(Box::new(InterleavingStore::new(store)))));
        Arc::new(traced.with_retries(RetryPolicy::none()))
    }

    #[test]
    fn power_is_reached_through_nested_wrappers() {
        assert!(reaches_extension(&ExtendedStore::new()));
        assert!(reaches_extension(&wrapped(ExtendedStore::new())));
        assert!(reaches_extension(&&wrapped(wrapped(ExtendedStore::new()))));
    }

    #[test]
    fn memory_store_has_no_power() {
        assert!(!reaches_extension(&MemoryStore::new()));
        assert!(!reaches_extension(&wrapped(MemoryStore::new())));
    }
}
