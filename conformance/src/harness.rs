//! What a backend's tests provide.

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

/// Makes the stores that the cases run on.
///
/// It may be asked for many stores at once. A server is best started by the first call to
/// [`fresh`](Self::fresh), so that listing the cases starts nothing.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// The key of this engine in the [deviations](crate::deviations), and its column in reports.
    fn engine(&self) -> &'static str;

    /// A store that no other case sees: its own, or a part of a shared server under its own
    /// table-name prefix.
    async fn case_store(&self) -> CaseStore;

    /// How literally the messages are taken.
    fn wording(&self) -> Wording {
        Wording::Exact
    }

    /// Whether the engine claims everything, so that a case it does not support has failed.
    fn is_complete(&self) -> bool {
        false
    }

    /// How many cases run at once.
    fn parallelism(&self) -> usize {
        4
    }

    /// Called once, after the last case.
    async fn finish(&self) {}
}

/// How literally messages are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// The message must be the one that the case states. For engines that judge with core.
    Exact,
    /// The message may also be another known text for the same constraint
    /// ([`wording`](crate::wording)). For services, whose texts we do not make.
    Known,
}

/// Deletes the expired items of a store now.
pub type Sweep = Arc<dyn Fn() -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// Cleans up behind a case, whether it passed or not.
pub type Cleanup = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// A store for one case.
pub struct CaseStore {
    /// The store, with no table that the case can see.
    pub store: Arc<dyn Store>,
    /// The store's clock, if it can be moved.
    pub clock: Option<ManualClock>,
    /// Deletes expired items now, if the engine can be told to.
    pub sweep: Option<Sweep>,
    /// What is done after the case.
    pub cleanup: Option<Cleanup>,
}

impl CaseStore {
    /// This store, with its own clock and nothing to clean up.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, clock: None, sweep: None, cleanup: None }
    }

    /// The store's clock is this one.
    #[must_use]
    pub fn clock(mut self, clock: ManualClock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Expired items are deleted by calling this.
    #[must_use]
    pub fn sweep<F>(mut self, sweep: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.sweep = Some(Arc::new(move || Box::pin(sweep())));
        self
    }

    /// The engine deletes expired items by itself every few seconds: a sweep waits until it has.
    #[must_use]
    pub fn sweeps_by_itself(self) -> Self {
        let store = Arc::clone(&self.store);
        self.sweep(move || await_sweep(Arc::clone(&store)))
    }

    /// This is done after the case.
    #[must_use]
    pub fn cleanup<F>(mut self, cleanup: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.cleanup = Some(Box::new(move || Box::pin(cleanup())));
        self
    }

    /// All tables that the store lists are deleted after the case: for a part of a shared server.
    #[must_use]
    pub fn drops_tables(self) -> Self {
        let store = Arc::clone(&self.store);
        self.cleanup(move || drop_tables(store))
    }
}

impl fmt::Debug for CaseStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fresh").field("store", &self.store).finish_non_exhaustive()
    }
}

/// How often, and after which pause, a case asks whether a sweep has happened: a minute together.
const SWEEP_POLLS: usize = 240;
const SWEEP_POLL_EVERY: Duration = Duration::from_millis(250);

/// Waits until the engine has deleted all items that have expired by now.
///
/// The sweep in which a first marker goes may have begun before the call, and have passed the
/// case's tables by then. The one in which a second marker goes has not.
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
                let text = "the engine has deleted no expired item for a minute";
                return Err(Error::new(ErrorKind::Unavailable, text));
            }
            SystemClock.sleep(SWEEP_POLL_EVERY).await;
        }
    }
    store.delete_table(DeleteTable::new(TABLE)).await?;
    Ok(())
}

/// Deletes all tables, protected ones too. What fails is left behind: the case is over, and its
/// answer must not depend on the cleaning.
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
    async fn all_tables_are_dropped_protected_ones_too() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        for number in 0..120 {
            let shape = TableSpec::s().with(|request| request.deletion_protection(number % 2 == 0));
            let request = shape.request(format!("t-{number}"));
            store.create_table(request).await.expect("a new table");
        }
        let cleanup = CaseStore::new(Arc::clone(&store)).drops_tables().cleanup.expect("it is set");
        cleanup().await;
        let left = store.list_tables(ListTables::default()).await.expect("a list");
        assert_eq!(left.table_names, Vec::<String>::new());
    }
}
