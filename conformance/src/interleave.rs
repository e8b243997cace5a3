//! Store that yields to concurrent callers between its calls.
//!
//! MemoryStore never waits: on one thread each caller finishes before the next one begins, and no
//! race occurs. [`InterleavingStore`] yields around every call. It can also run a hook just before
//! a call, with which a test makes a change between a caller's read and its write.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tabla_core::env::SeededRandom;
//! use tabla_core::ops::{CreateTable, GetItem, PutItem};
//! use tabla_core::{KeyType, MemoryStore, Store, item};
//! use tabla_conformance::interleave::InterleavingStore;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let random = Arc::new(SeededRandom::new(7));
//! let store = InterleavingStore::new(MemoryStore::new()).with_random_yields(random);
//! store.create_table(CreateTable::new("counts").partition_key("pk", KeyType::S)).await?;
//! // The second caller reads before the first has written.
//! let careless = async || {
//!     let key = item! { "pk" => "a" };
//!     let found = store.get(GetItem::new("counts", key.clone())).await?.item;
//!     let seen = found.is_some();
//!     store.put(PutItem::new("counts", key)).await?;
//!     Ok::<bool, tabla_core::Error>(seen)
//! };
//! assert_eq!(futures::future::try_join(careless(), careless()).await?, (false, false));
//! # Ok::<(), tabla_core::Error>(())
//! # }).unwrap();
//! ```

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use tabla_core::env::Random;
use tabla_core::{Result, Store};

use crate::fault::{Operation, operation};

/// Hook that runs before a call. If it fails, the call returns its error and the store is
/// not called.
pub type CallHook = Arc<dyn Fn(Operation) -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// Store that yields to other tasks before and after each call.
pub struct InterleavingStore<S> {
    store: S,
    random: Option<Arc<dyn Random>>,
    before: Option<CallHook>,
}

impl<S: Store> InterleavingStore<S> {
    /// Wraps a store; each call yields once before and once after.
    pub fn new(store: S) -> Self {
        Self { store, random: None, before: None }
    }

    /// Yields 0 to 3 times instead of once, drawn from `random`, which varies the interleavings.
    #[must_use]
    pub fn with_random_yields(mut self, random: Arc<dyn Random>) -> Self {
        self.random = Some(random);
        self
    }

    /// Runs this hook before each call.
    #[must_use]
    pub fn with_hook(mut self, before: CallHook) -> Self {
        self.before = Some(before);
        self
    }

    /// Runs `what` before the nth call of an operation, counted from 1.
    #[must_use]
    pub fn with_hook_at<F>(
        self,
        operation: Operation,
        number: usize,
        what: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let calls = AtomicUsize::new(0);
        self.with_hook(Arc::new(move |call| {
            let is_it = call == operation && calls.fetch_add(1, Ordering::Relaxed) + 1 == number;
            let what = is_it.then(&what);
            Box::pin(async move {
                if let Some(what) = what {
                    what.await;
                }
                Ok(())
            })
        }))
    }

    async fn yield_to_others(&self) {
        let turns = self.random.as_ref().map_or(1, |random| random.next_u64() % 4);
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for InterleavingStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterleavingStore").field("store", &self.store).finish_non_exhaustive()
    }
}

macro_rules! interleaved {
    ($self:ident, $method:ident, $request:ident) => {{
        $self.yield_to_others().await;
        if let Some(before) = &$self.before {
            before(operation!($method)).await?;
        }
        let answer = $self.store.$method($request).await;
        $self.yield_to_others().await;
        answer
    }};
}

tabla_core::wrap_store! {
    impl[S: Store] Store for InterleavingStore<S>, inner: store, call: interleaved
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use tabla_core::env::SeededRandom;
    use tabla_core::ops::{CreateTable, DescribeTable, PutItem};
    use tabla_core::{Error, KeyType, MemoryStore, StoreExt, item};

    use super::*;
    use crate::extension::{ExtendedStore, reaches_extension};

    async fn notes() -> MemoryStore {
        let store = MemoryStore::new();
        let table = CreateTable::new("notes").partition_key("pk", KeyType::S);
        store.create_table(table).await.unwrap();
        store
    }

    /// Number of callers, of ten, that find no item before they write it.
    async fn first_ones(store: &dyn Store) -> usize {
        let caller = async |_| {
            let key = item! { "pk" => "a" };
            let found = store.get_item("notes", key.clone()).await.unwrap();
            store.put(PutItem::new("notes", key)).await.unwrap();
            found.is_none()
        };
        join_all((0..10).map(caller)).await.into_iter().filter(|is_first| *is_first).count()
    }

    #[tokio::test]
    async fn calls_of_concurrent_callers_interleave() {
        assert_eq!(first_ones(&notes().await).await, 1, "without yields no callers interleave");
        assert_eq!(first_ones(&InterleavingStore::new(notes().await)).await, 10);
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..10 {
            let random = Arc::new(SeededRandom::new(seed));
            seen.insert(
                first_ones(&InterleavingStore::new(notes().await).with_random_yields(random)).await,
            );
        }
        assert!(seen.len() > 1, "all seeds gave the same interleaving: {seen:?}");
    }

    #[tokio::test]
    async fn hook_runs_before_nth_call_of_operation() {
        let store = Arc::new(notes().await);
        let inside = Arc::clone(&store);
        let interleaved =
            InterleavingStore::new(store).with_hook_at(Operation::Get, 2, move || {
                let inside = Arc::clone(&inside);
                async move { drop(inside.put(PutItem::new("notes", item! { "pk" => "a" })).await) }
            });
        let get = async || interleaved.get_item("notes", item! { "pk" => "a" }).await.unwrap();
        interleaved.describe_table(DescribeTable::new("notes")).await.unwrap();
        assert!(get().await.is_none());
        assert!(get().await.is_some());
    }

    #[tokio::test]
    async fn error_of_hook_is_result_of_call() {
        let store = Arc::new(notes().await);
        let hooked = InterleavingStore::new(Arc::clone(&store)).with_hook(Arc::new(|operation| {
            let is_put = operation == Operation::Put;
            Box::pin(async move { if is_put { Err(Error::validation("not now")) } else { Ok(()) } })
        }));
        let key = item! { "pk" => "a" };
        let error = hooked.put(PutItem::new("notes", key.clone())).await.unwrap_err();
        assert_eq!(error.message(), "not now");
        assert!(store.get_item("notes", key).await.unwrap().is_none());
    }

    #[test]
    fn extension_is_reached_through_interleaving_store() {
        assert!(reaches_extension(&InterleavingStore::new(ExtendedStore::new())));
        assert!(!reaches_extension(&InterleavingStore::new(MemoryStore::new())));
    }
}
