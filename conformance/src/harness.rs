//! Harness: the interface between the suite and a backend's tests.
//!
//! Harnesses for MemoryStore and for addresses are in `memory` and `address`.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use tabla_core::env::{Clock, ManualClock, SystemClock};
use tabla_core::ops::{
    CreateTable, DeleteTable, GetItem, ListTables, PutItem, UpdateTable, UpdateTimeToLive,
};
use tabla_core::{Error, ErrorKind, KeyType, Result, Store, item};

/// Factory of the stores that the cases run on.
///
/// [`case_store`](Self::case_store) may be called concurrently. Start a server in its first call,
/// so that listing the cases starts none.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// Name of the engine: the key of its [deviations](crate::deviations) and its column
    /// in reports.
    fn engine(&self) -> &'static str;

    /// Makes a store that no other case sees: a store of its own, or part of a shared server under
    /// a separate table-name prefix.
    async fn case_store(&self) -> CaseStore;

    /// Strictness in comparing error messages. Default: [`Wording::Exact`].
    fn wording(&self) -> Wording {
        Wording::Exact
    }

    /// Whether an unsupported case fails, because the engine claims every capability.
    /// Default: false.
    fn is_complete(&self) -> bool {
        false
    }

    /// Number of cases that run at once. Default: 4.
    fn parallelism(&self) -> usize {
        4
    }

    /// Releases shared resources, such as a server. Called once, after the last case.
    async fn finish(&self) {}
}

/// Strictness in comparing error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// The message equals that of the case. For engines that validate and evaluate with core.
    Exact,
    /// The message may also be another known text for the same constraint
    /// ([`wording`](crate::wording)). For services, whose texts are not ours.
    Known,
}

/// Function that deletes the expired items of a store.
pub type Sweep = Arc<dyn Fn() -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// Function that runs after a case, passed or failed.
pub type Cleanup = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// Store for one case, with the abilities that the harness has for it.
#[non_exhaustive]
pub struct CaseStore {
    /// Store without any table that the case can see.
    pub store: Arc<dyn Store>,
    /// Clock of the store, if it can be moved.
    pub clock: Option<ManualClock>,
    /// Sweep of expired items on demand, if the engine offers one.
    pub sweep: Option<Sweep>,
    /// Cleanup after the case.
    pub cleanup: Option<Cleanup>,
}

impl CaseStore {
    /// Store with neither movable clock nor sweep nor cleanup.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, clock: None, sweep: None, cleanup: None }
    }

    /// Sets the clock that the store reads.
    #[must_use]
    pub fn clock(mut self, clock: ManualClock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Sets the function that deletes expired items.
    #[must_use]
    pub fn sweep<F>(mut self, sweep: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.sweep = Some(Arc::new(move || Box::pin(sweep())));
        self
    }

    /// Sets a sweep that waits until the engine has swept by itself, for at most a minute.
    #[must_use]
    pub fn sweeps_by_itself(self) -> Self {
        let store = Arc::clone(&self.store);
        self.sweep(move || await_sweep(Arc::clone(&store)))
    }

    /// Sets the function that runs after the case.
    #[must_use]
    pub fn cleanup<F>(mut self, cleanup: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.cleanup = Some(Box::new(move || Box::pin(cleanup())));
        self
    }

    /// Sets a cleanup that deletes all tables that the store lists: for part of a shared server.
    #[must_use]
    pub fn drops_tables(self) -> Self {
        let store = Arc::clone(&self.store);
        self.cleanup(move || drop_tables(store))
    }
}

impl fmt::Debug for CaseStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaseStore").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Number of checks whether a sweep has happened; with the pause between them one minute.
const SWEEP_POLLS: usize = 240;
/// Pause between two checks whether a sweep has happened.
const SWEEP_POLL_EVERY: Duration = Duration::from_millis(250);

/// Waits until the engine has deleted all items that have expired by now.
///
/// The sweep that deletes the first marker may have begun before the call and have passed the
/// tables of the case by then. The sweep that deletes the second marker began after that.
async fn await_sweep(store: Arc<dyn Store>) -> Result<()> {
    const TABLE: &str = "sweep-markers";
    let request = CreateTable::new(TABLE).partition_key("pk", KeyType::S);
    store.create_table(request).await?;
    store.update_time_to_live(UpdateTimeToLive::new(TABLE, "expires", true)).await?;
    for _ in 0..2 {
        let key = item! { "pk" => "marker" };
        let expired = SystemClock.now().as_secs() - 60;
        store.put(PutItem::new(TABLE, key.clone().with("expires", expired))).await?;
        let mut polls = 0..SWEEP_POLLS;
        while store
            .get(GetItem::new(TABLE, key.clone()).consistent_read(true))
            .await?
            .item
            .is_some()
        {
            if polls.next().is_none() {
                let text = "the engine has not deleted an expired item within a minute; \
                            shorten the interval of its sweeps";
                return Err(Error::new(ErrorKind::Unavailable, text));
            }
            SystemClock.sleep(SWEEP_POLL_EVERY).await;
        }
    }
    store.delete_table(DeleteTable::new(TABLE)).await?;
    Ok(())
}

/// Deletes all tables, including protected ones. Ignores errors: the cleanup must not change the
/// result of the case.
async fn drop_tables(store: Arc<dyn Store>) {
    let mut tables = Vec::new();
    let mut list = ListTables::default();
    while let Ok(page) = store.list_tables(list.clone()).await {
        tables.extend(page.table_names);
        list.exclusive_start_table_name = page.last_evaluated_table_name;
        if list.exclusive_start_table_name.is_none() {
            break;
        }
    }
    for table in tables {
        if store.delete_table(DeleteTable::new(&table)).await.is_err() {
            let unprotect = UpdateTable::new(&table).deletion_protection(Some(false));
            if store.update_table(unprotect).await.is_ok() {
                let _ = store.delete_table(DeleteTable::new(&table)).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::MemoryStore;

    use super::*;
    use crate::table_spec::TableSpec;

    #[tokio::test]
    async fn drops_tables_deletes_protected_tables() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        for number in 0..120 {
            let shape = TableSpec::s().with(|request| request.deletion_protection(number % 2 == 0));
            let request = shape.request(format!("t-{number}"));
            store.create_table(request).await.expect("a new table");
        }
        let cleanup = CaseStore::new(Arc::clone(&store)).drops_tables().cleanup.expect("a cleanup");
        cleanup().await;
        let left = store.list_tables(ListTables::default()).await.expect("a list");
        assert_eq!(left.table_names, Vec::<String>::new());
    }
}
