//! A store between whose calls something happens.
//!
//! MemoryStore never waits, so that on one thread each caller would be through before the next one
//! begins, and a race on it would be none. [`Between`] has others take their turn around every
//! call; and it can let something happen just before one, which is how a test puts a change between
//! a caller's read and its write.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tabla_core::env::SeededRandom;
//! use tabla_core::ops::{CreateTable, GetItem, PutItem};
//! use tabla_core::{KeyType, MemoryStore, Store, item};
//! use tabla_conformance::between::Between;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = Between::new(MemoryStore::new()).uneven(Arc::new(SeededRandom::new(7)));
//! store.create_table(CreateTable::new("counts").partition_key("pk", KeyType::S)).await?;
//! // Reads and then writes what it has read: the second caller reads before the first has written.
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

/// Happens before a call; an error is the answer of the call, which is not made then.
pub type CallHook = Arc<dyn Fn(Operation) -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// A store that lets others have their turn before each call and after it.
pub struct InterleavingStore<S> {
    store: S,
    random: Option<Arc<dyn Random>>,
    before: Option<CallHook>,
}

impl<S: Store> InterleavingStore<S> {
    /// This store, with one turn of the others before each call and one after it.
    pub fn new(store: S) -> Self {
        Self { store, random: None, before: None }
    }

    /// With none to three turns each time, as is drawn: callers meet in ever other ways.
    #[must_use]
    pub fn with_random_yields(mut self, random: Arc<dyn Random>) -> Self {
        self.random = Some(random);
        self
    }

    /// With this before each call.
    #[must_use]
    pub fn with_hook(mut self, before: CallHook) -> Self {
        self.before = Some(before);
        self
    }

    /// With this before the nth call of an operation, counted from 1.
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
        f.debug_struct("Between").field("store", &self.store).finish_non_exhaustive()
    }
}

macro_rules! between {
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
    impl[S: Store] Store for InterleavingStore<S>, inner: store, call: between
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

    /// How many of ten callers who look before they write find nothing.
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
    async fn callers_meet_between_their_calls() {
        assert_eq!(first_ones(&notes().await).await, 1, "without turns they do not meet");
        assert_eq!(first_ones(&InterleavingStore::new(notes().await)).await, 10);
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..10 {
            let random = Arc::new(SeededRandom::new(seed));
            seen.insert(
                first_ones(&InterleavingStore::new(notes().await).with_random_yields(random)).await,
            );
        }
        assert!(seen.len() > 1, "they meet in one way only: {seen:?}");
    }

    #[tokio::test]
    async fn something_happens_before_one_call_of_an_operation() {
        let store = Arc::new(notes().await);
        let inside = Arc::clone(&store);
        let between = InterleavingStore::new(store).with_hook_at(Operation::Get, 2, move || {
            let inside = Arc::clone(&inside);
            async move { drop(inside.put(PutItem::new("notes", item! { "pk" => "a" })).await) }
        });
        let get = async || between.get_item("notes", item! { "pk" => "a" }).await.unwrap();
        between.describe_table(DescribeTable::new("notes")).await.unwrap();
        assert!(get().await.is_none());
        assert!(get().await.is_some());
    }

    #[tokio::test]
    async fn an_error_before_a_call_is_its_answer() {
        let store = Arc::new(notes().await);
        let between = InterleavingStore::new(Arc::clone(&store)).with_hook(Arc::new(|operation| {
            let is_put = operation == Operation::Put;
            Box::pin(async move { if is_put { Err(Error::validation("not now")) } else { Ok(()) } })
        }));
        let key = item! { "pk" => "a" };
        let error = between.put(PutItem::new("notes", key.clone())).await.unwrap_err();
        assert_eq!(error.message(), "not now");
        assert!(store.get_item("notes", key).await.unwrap().is_none());
    }

    #[test]
    fn power_is_reached_through_between() {
        assert!(reaches_extension(&InterleavingStore::new(ExtendedStore::new())));
        assert!(!reaches_extension(&InterleavingStore::new(MemoryStore::new())));
    }
}
