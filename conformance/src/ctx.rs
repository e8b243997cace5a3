//! Context of a case: its store, its tables, and assertions that report what differed.

mod expect;
mod read;
mod records;
mod snapshot;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use tabla_core::env::{Clock, Env, ManualClock, SystemClock, Timestamp};
use tabla_core::ops::{
    DeleteItem, GetItem, PutItem, TableDescription, UpdateItem, UpdateTable, WriteOutput,
};
use tabla_core::{Capabilities, ErrorKind, Item, Result, Store};

pub use self::snapshot::Snapshot;
use crate::catch_panic::catch_panic;
use crate::harness::{CaseStore, Sweep, Wording};
use crate::table_spec::{Table, TableSpec};

/// Number of reads of something that may lag: an index, a stream, an expiry. With the pause between
/// them about 10 seconds.
const POLLS: usize = 400;
const POLL_EVERY: Duration = Duration::from_millis(25);

/// Context of a running case: its store, helpers and assertions. Cloning it is cheap and gives
/// another handle on the same store.
///
/// A helper whose assertion fails panics with the expected and the actual value, which fails
/// the case.
#[derive(Clone)]
pub struct Ctx(Arc<Inner>);

struct Inner {
    id: &'static str,
    wording: Wording,
    store: Arc<dyn Store>,
    clock: Option<ManualClock>,
    sweep: Option<Sweep>,
    tables: AtomicUsize,
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx").field("id", &self.0.id).field("store", &self.0.store).finish()
    }
}

/// Fails the case, naming the line that called the helper.
pub(crate) fn fail(at: &Location<'_>, text: impl fmt::Display) -> ! {
    panic!("{text}\n  called at {at}")
}

impl Ctx {
    pub(crate) fn new(id: &'static str, wording: Wording, fresh: &CaseStore) -> Self {
        Self(Arc::new(Inner {
            id,
            wording,
            store: Arc::clone(&fresh.store),
            clock: fresh.clock.clone(),
            sweep: fresh.sweep.clone(),
            tables: AtomicUsize::new(0),
        }))
    }

    /// Store under test.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.0.store)
    }

    /// Capabilities that the store declares.
    pub fn capabilities(&self) -> Capabilities {
        self.0.store.capabilities()
    }

    /// Whether the store is a service, with its own wording, clock and background work.
    pub fn is_service(&self) -> bool {
        self.0.wording == Wording::Known
    }

    /// Movable clock of the store. The case must list [`Need::Clock`](crate::Need::Clock).
    #[track_caller]
    pub fn clock(&self) -> &ManualClock {
        self.0.clock.as_ref().expect("the case has no clock; add `Clock` to its needs")
    }

    /// Current time of the store's clock, movable or not.
    pub fn now(&self) -> Timestamp {
        match &self.0.clock {
            Some(clock) => clock.now(),
            None => SystemClock.now(),
        }
    }

    /// Environment with the store's clock, movable or not, and the random source of the system.
    pub fn env(&self) -> Env {
        match &self.0.clock {
            Some(clock) => Env::system().with_clock(Arc::new(clock.clone())),
            None => Env::system(),
        }
    }

    /// Advances the clock if it can be moved, so that a case that [polls](Self::poll) does not
    /// wait. On other stores the time passes by itself.
    pub fn advance_clock(&self, by: Duration) {
        if let Some(clock) = &self.0.clock {
            clock.advance(by);
        }
    }

    /// Deletes expired items now. The case must list [`Need::Sweep`](crate::Need::Sweep).
    #[track_caller]
    pub fn sweep(&self) -> impl Future<Output = ()> + Send + use<> {
        let at = Location::caller();
        let sweep = self.0.sweep.clone().expect("the case has no sweep; add `Sweep` to its needs");
        async move {
            if let Err(error) = sweep().await {
                fail(at, format_args!("the sweep failed: {error}"));
            }
        }
    }

    /// Unused table name that contains the id of the case.
    pub fn unused_table_name(&self) -> String {
        let number = self.0.tables.fetch_add(1, Ordering::Relaxed);
        // DynamoDB's minimum is 3 characters.
        format!("t{number}-{}", self.0.id)
    }

    /// Creates a table with this definition under an [unused name](Self::unused_table_name).
    #[track_caller]
    pub fn table(&self, shape: TableSpec) -> impl Future<Output = Table> + Send + use<> {
        let at = Location::caller();
        let request = shape.request(self.unused_table_name());
        let store = self.store();
        async move {
            let table = Table::new(&request);
            match store.create_table(request).await {
                Ok(_) => table,
                Err(error) => fail(at, format_args!("cannot create a table: {error}")),
            }
        }
    }

    /// Creates a table with this definition and puts these items, which must succeed.
    #[track_caller]
    pub fn table_with(
        &self,
        shape: TableSpec,
        items: impl IntoIterator<Item = Item>,
    ) -> impl Future<Output = Table> + Send {
        let at = Location::caller();
        let create = self.table(shape);
        let items: Vec<Item> = items.into_iter().collect();
        async move {
            let table = create.await;
            self.put_each(at, &table, items).await;
            table
        }
    }

    /// Puts an item, which must succeed.
    #[track_caller]
    pub fn put(
        &self,
        table: &Table,
        item: Item,
    ) -> impl Future<Output = WriteOutput> + Send + use<> {
        let at = Location::caller();
        let request = PutItem::new(table, item);
        let store = self.store();
        async move { ok_at(at, store.put(request).await) }
    }

    /// Puts an item given as DynamoDB JSON, for texts that the types of core may not be able
    /// to hold.
    ///
    /// # Errors
    /// Errors of parsing the JSON and of the write.
    pub async fn put_json(&self, table: &Table, item: serde_json::Value) -> Result<WriteOutput> {
        let item = Item::from_json(&item)?;
        self.store().put(PutItem::new(table, item)).await
    }

    /// Puts these items one by one, which must succeed.
    #[track_caller]
    pub fn put_all(
        &self,
        table: &Table,
        items: impl IntoIterator<Item = Item>,
    ) -> impl Future<Output = ()> + Send {
        let at = Location::caller();
        let items: Vec<Item> = items.into_iter().collect();
        self.put_each(at, table, items)
    }

    fn put_each(
        &self,
        at: &'static Location<'static>,
        table: &Table,
        items: Vec<Item>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (store, table) = (self.store(), table.name.clone());
        async move {
            for item in items {
                ok_at(at, store.put(PutItem::new(&table, item)).await);
            }
        }
    }

    /// Reads the item with this key consistently, which must succeed.
    #[track_caller]
    pub fn get(
        &self,
        table: &Table,
        key: Item,
    ) -> impl Future<Output = Option<Item>> + Send + use<> {
        let at = Location::caller();
        let request = GetItem::new(table, key).consistent_read(true);
        let store = self.store();
        async move { ok_at(at, store.get(request).await).item }
    }

    /// Executes an update, which must succeed. Build the request with [`UpdateItem::new`].
    #[track_caller]
    pub fn update(&self, request: UpdateItem) -> impl Future<Output = WriteOutput> + Send + use<> {
        let at = Location::caller();
        let store = self.store();
        async move { ok_at(at, store.update(request).await) }
    }

    /// Deletes the item with this key, which must succeed.
    #[track_caller]
    pub fn delete(
        &self,
        table: &Table,
        key: Item,
    ) -> impl Future<Output = WriteOutput> + Send + use<> {
        let at = Location::caller();
        let request = DeleteItem::new(table, key);
        let store = self.store();
        async move { ok_at(at, store.delete(request).await) }
    }

    /// Updates a table, which must succeed. If a service reports that it is unavailable, the
    /// request is repeated for about 10 seconds: DynamoDB Local rejects many updates while other
    /// tables are being changed.
    #[track_caller]
    pub fn update_table(
        &self,
        request: UpdateTable,
    ) -> impl Future<Output = TableDescription> + Send + use<'_> {
        let at = Location::caller();
        async move {
            let last = self.poll(|| async {
                let result = self.0.store.update_table(request.clone()).await;
                let busy = result.as_ref().is_err_and(|error| {
                    self.is_service() && matches!(error.kind(), ErrorKind::Unavailable)
                });
                (!busy).then_some(result)
            });
            match last.await {
                Some(result) => ok_at(at, result),
                None => fail(
                    at,
                    "cannot update the table: the service was unavailable for about 10 seconds",
                ),
            }
        }
    }

    /// Returns the value of a result, which must not be an error.
    #[track_caller]
    pub fn ok<T>(&self, result: Result<T>) -> T {
        ok_at(Location::caller(), result)
    }

    /// Runs the futures concurrently, each as a task of the runtime, and returns their results in
    /// order. A panic in one fails the case.
    pub async fn at_once<T, F>(&self, futures: impl IntoIterator<Item = F>) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let tasks = futures.into_iter().map(|future| tokio::spawn(catch_panic(future)));
        join_all(tasks)
            .await
            .into_iter()
            .map(|task| match task {
                Ok(Ok(answer)) => answer,
                Ok(Err(panic)) => panic!("one of the concurrent calls failed: {panic}"),
                Err(error) => {
                    panic!("the task of a concurrent call was canceled or panicked: {error}")
                }
            })
            .collect()
    }

    /// Calls `ask` until it returns a value, for about 10 seconds of system time. Returns `None` if
    /// it never does. For results that may lag on a service.
    pub async fn poll<T, F>(&self, mut ask: impl FnMut() -> F) -> Option<T>
    where
        F: Future<Output = Option<T>>,
    {
        for _ in 0..POLLS {
            if let Some(answer) = ask().await {
                return Some(answer);
            }
            SystemClock.sleep(POLL_EVERY).await;
        }
        ask().await
    }
}

pub(crate) fn ok_at<T>(at: &Location<'_>, result: Result<T>) -> T {
    match result {
        Ok(answer) => answer,
        Err(error) => fail(at, format_args!("expected success, got {error}")),
    }
}
