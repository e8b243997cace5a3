//! [`MemoryStore`]: the executable specification, on plain ordered maps.
//!
//! One lock protects all state, so operations are executed one after another. The data is lost when
//! the store is dropped. The semantics are in [`crate::engine`]; this module only stores rows.

mod rows;
mod streams;
mod tables;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::Item;
use crate::engine::{
    BatchGet, BatchWrite, Effect, EvaluatedWrite, PageRead, RowKey, SingleGet, SingleWrite,
    TokenRecord, TransactGet, TransactWrite, WriteRows, read_batch_to_end, ttl,
};
use crate::env::{Env, Monotonic};
use crate::error::{Error, Result};
use crate::ops::*;
use crate::schema::{Table, table_name};
use crate::store::{Capabilities, Store};

use rows::LockedRows;

/// Store in memory, on ordered maps under one lock. Its data is lost when it is dropped.
///
/// It supports everything that DynamoDB does, never throttles, and serializes transactions.
///
/// ```
/// use tabla::ops::{CreateTable, GetItem, PutItem};
/// use tabla::{KeyType, MemoryStore, Store, item};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = MemoryStore::new();
/// store.create_table(CreateTable::new("songs").partition_key("artist", KeyType::S)).await?;
/// store.put(PutItem::new("songs", item! { "artist" => "Nina", "plays" => 3 })).await?;
/// let output = store.get(GetItem::new("songs", item! { "artist" => "Nina" })).await?;
/// assert_eq!(output.item, Some(item! { "artist" => "Nina", "plays" => 3 }));
/// # Ok::<(), tabla::Error>(()) }).unwrap();
/// ```
///
/// Expired items are deleted every 60 seconds. [`MemoryStore::with_sweep_every`] or the address
/// (`memory:?sweep=5`, `memory:?sweep=off`) sets another period.
pub struct MemoryStore {
    env: Env,
    /// Time between two sweeps; `None` for no automatic sweep.
    sweep_every: Option<Duration>,
    /// Whether a batch read of more than 16 MB is completed here, without unprocessed keys.
    completes_batches: bool,
    state: Mutex<State>,
}

/// State of the store, under its lock.
#[derive(Default)]
struct State {
    tables: BTreeMap<String, RowsOfTable>,
    streams: BTreeMap<StreamArn, streams::Stream>,
    /// Deleted tables by name: a new table of the name gets later stream labels.
    deleted: BTreeMap<String, Table>,
    tokens: HashMap<String, TokenRecord>,
    last_sequence_number: u64,
    /// Time of the last sweep.
    swept_at: Monotonic,
    /// Random number in event ids, which makes them unique among stores.
    epoch: u64,
}

/// A table with its items and index entries, in the order of row keys.
struct RowsOfTable {
    table: Arc<Table>,
    items: BTreeMap<RowKey, Item>,
    /// Index entries, by the name of the index.
    indexes: BTreeMap<String, BTreeMap<RowKey, Item>>,
}

impl MemoryStore {
    /// Creates an empty store on the system clock.
    pub fn new() -> Self {
        Self::with_env(Env::system())
    }

    /// Creates an empty store on this clock and randomness.
    pub fn with_env(env: Env) -> Self {
        let state = State {
            swept_at: env.clock.monotonic(),
            epoch: env.random.next_u64(),
            ..State::default()
        };
        Self {
            env,
            sweep_every: Some(ttl::SWEEP_EVERY),
            completes_batches: false,
            state: Mutex::new(state),
        }
    }

    /// Sets the time between two sweeps; `None` for no sweep except
    /// [`sweep_expired`](Self::sweep_expired).
    ///
    /// There is no thread: the first operation after the period sweeps before it is executed, so
    /// that callers cannot observe the difference.
    #[must_use]
    pub fn with_sweep_every(mut self, period: Option<Duration>) -> Self {
        self.sweep_every = period;
        self
    }

    /// Makes batch reads of more than 16 MB complete, instead of returning unprocessed keys. A
    /// store from an address does so unless retries are off.
    #[must_use]
    pub fn with_complete_batches(mut self) -> Self {
        self.completes_batches = true;
        self
    }

    /// Deletes all expired items, as DynamoDB does in the background, and returns their number.
    pub fn sweep_expired(&self) -> usize {
        self.sweep(&mut self.lock())
    }

    fn sweep(&self, state: &mut State) -> usize {
        let now = self.env.clock.now();
        state.swept_at = self.env.clock.monotonic();
        let mut expired = Vec::new();
        for rows in state.tables.values() {
            let Some(attribute) = rows.table.time_to_live.attribute.as_deref() else { continue };
            for (position, item) in &rows.items {
                if ttl::is_expired(item, attribute, now) {
                    expired.push((Arc::clone(&rows.table), position.clone(), item.clone()));
                }
            }
        }
        let by = Some(UserIdentity::time_to_live());
        let mut rows = LockedRows { state, env: &self.env, by };
        for (table, position, item) in &expired {
            let effect = Effect { old: Some(item.clone()), new: None };
            let changes = effect.index_changes(&table.schema);
            let (effect, changes, place) = (&effect, &changes[..], Some(()));
            rows.apply(table, &EvaluatedWrite { row_key: position, row: place, effect, changes })
                .expect("a write to maps cannot fail");
        }
        expired.len()
    }

    /// Executes an operation on the rows, under the lock.
    fn with<R>(&self, operation: impl FnOnce(&mut LockedRows<'_>) -> Result<R>) -> Result<R> {
        operation(&mut LockedRows { state: &mut self.state(), env: &self.env, by: None })
    }

    /// Reads a page. Its filter runs after the lock is released.
    fn page(&self, plan: impl FnOnce(&State) -> Result<PageRead<Arc<Table>>>) -> Result<Page> {
        let (page, gathered) = self.with(|rows| {
            let page = plan(rows.state)?;
            let gathered = page.gather(rows)?;
            Ok((page, gathered))
        })?;
        Ok(page.finish(gathered))
    }

    /// Locks the state for an operation, after a sweep if one is due.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        let since = self.env.clock.monotonic().since(state.swept_at);
        if self.sweep_every.is_some_and(|period| since >= period) {
            self.sweep(&mut state);
        }
        state
    }

    /// Locks the state. A poisoned lock is usable: effects are applied only after everything that
    /// can fail was computed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables: Vec<String> = self.lock().tables.keys().cloned().collect();
        f.debug_struct("MemoryStore").field("tables", &tables).finish_non_exhaustive()
    }
}

impl State {
    /// Looks up the table that a request on items names, by name or ARN.
    fn table(&self, given: &str) -> Result<Arc<Table>> {
        let rows = self.tables.get(table_name(given)?);
        rows.map(|rows| Arc::clone(&rows.table)).ok_or_else(Error::table_not_found)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::full("memory")
    }

    /// Returns `None`: the store has no extension.
    fn extension_by_id(&self, _: std::any::TypeId) -> Option<crate::Extension> {
        None
    }

    async fn get(&self, request: GetItem) -> Result<GetItemOutput> {
        self.with(|rows| SingleGet::new(&request, rows.state.table(&request.table)?)?.execute(rows))
    }

    async fn put(&self, request: PutItem) -> Result<WriteOutput> {
        self.with(|rows| {
            let table = rows.state.table(&request.table)?;
            SingleWrite::put(&request, table)?.execute(rows)
        })
    }

    async fn update(&self, request: UpdateItem) -> Result<WriteOutput> {
        self.with(|rows| {
            let table = rows.state.table(&request.table)?;
            SingleWrite::update(&request, table)?.execute(rows)
        })
    }

    async fn delete(&self, request: DeleteItem) -> Result<WriteOutput> {
        self.with(|rows| {
            let table = rows.state.table(&request.table)?;
            SingleWrite::delete(&request, table)?.execute(rows)
        })
    }

    async fn query(&self, request: Query) -> Result<Page> {
        self.page(|state| PageRead::query(&request, state.table(&request.table)?))
    }

    async fn scan(&self, request: Scan) -> Result<Page> {
        self.page(|state| PageRead::scan(&request, state.table(&request.table)?))
    }

    async fn batch_get(&self, request: BatchGetItem) -> Result<BatchGetItemOutput> {
        let read = |request: &BatchGetItem| {
            self.with(|rows| BatchGet::new(request, |name| rows.state.table(name))?.execute(rows))
        };
        match self.completes_batches {
            true => read_batch_to_end(request, read),
            false => read(&request),
        }
    }

    async fn batch_write(&self, request: BatchWriteItem) -> Result<BatchWriteItemOutput> {
        self.with(|rows| BatchWrite::new(&request, |name| rows.state.table(name))?.execute(rows))
    }

    async fn transact_get(&self, request: TransactGetItems) -> Result<TransactGetItemsOutput> {
        self.with(|rows| TransactGet::new(&request, |name| rows.state.table(name))?.execute(rows))
    }

    async fn transact_write(
        &self,
        request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        let now = self.env.clock.now();
        self.with(|rows| {
            TransactWrite::new(&request, |name| rows.state.table(name))?.execute(rows, now)
        })
    }

    async fn create_table(&self, request: CreateTable) -> Result<TableDescription> {
        self.state().create_table(&request, &self.env)
    }

    async fn describe_table(&self, request: DescribeTable) -> Result<TableDescription> {
        self.state().describe_table(&request)
    }

    async fn update_table(&self, request: UpdateTable) -> Result<TableDescription> {
        self.state().update_table(&request, &self.env)
    }

    async fn delete_table(&self, request: DeleteTable) -> Result<TableDescription> {
        self.state().delete_table(&request, &self.env)
    }

    async fn list_tables(&self, request: ListTables) -> Result<ListTablesOutput> {
        self.state().list_tables(&request)
    }

    async fn update_time_to_live(&self, request: UpdateTimeToLive) -> Result<UpdateTimeToLive> {
        self.state().update_time_to_live(request, &self.env)
    }

    async fn describe_time_to_live(
        &self,
        request: DescribeTimeToLive,
    ) -> Result<TimeToLiveDescription> {
        self.state().describe_time_to_live(&request)
    }

    async fn tag_table(&self, request: TagTable) -> Result<()> {
        self.state().tag_table(&request)
    }

    async fn untag_table(&self, request: UntagTable) -> Result<()> {
        self.state().untag_table(&request)
    }

    async fn list_table_tags(&self, request: ListTableTags) -> Result<Tags> {
        self.state().list_table_tags(&request)
    }

    async fn list_streams(&self, request: ListStreams) -> Result<ListStreamsOutput> {
        self.state().list_streams(&request, &self.env)
    }

    async fn describe_stream(&self, request: DescribeStream) -> Result<StreamDescription> {
        self.state().describe_stream(&request, &self.env)
    }

    async fn get_shard_iterator(&self, request: GetShardIterator) -> Result<ShardIterator> {
        self.state().get_shard_iterator(&request, &self.env)
    }

    async fn get_records(&self, request: GetRecords) -> Result<GetRecordsOutput> {
        self.state().get_records(&request, &self.env)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Clock, ManualClock, Timestamp};
    use crate::store::StoreExt;
    use crate::{KeyType, item};

    #[tokio::test]
    async fn expired_items_are_deleted_after_the_sweep_period() {
        let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
        let env = Env::test(clock.clone(), 1);
        for period in [Some(Duration::from_secs(30)), None] {
            let store = MemoryStore::with_env(env.clone()).with_sweep_every(period);
            let table = CreateTable::new("things").partition_key("pk", KeyType::S);
            store.create_table(table).await.unwrap();
            store.update_time_to_live(UpdateTimeToLive::new("things", "at", true)).await.unwrap();
            let key = item! { "pk" => "a" };
            let item = key.clone().with("at", clock.now().as_secs());
            store.put(PutItem::new("things", item.clone())).await.unwrap();
            let found = async || store.get_item("things", key.clone()).await.unwrap();
            clock.advance(Duration::from_secs(29));
            assert_eq!(found().await.as_ref(), Some(&item), "no more than 29 seconds have passed");
            clock.advance(Duration::from_secs(1));
            assert_eq!(found().await.is_none(), period.is_some());
            assert_eq!(store.sweep_expired(), usize::from(period.is_none()));
        }
    }

    #[tokio::test]
    async fn sweeps_continue_after_the_clock_stepped_back() {
        let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
        let store = MemoryStore::with_env(Env::test(clock.clone(), 1));
        let table = CreateTable::new("things").partition_key("pk", KeyType::S);
        store.create_table(table).await.unwrap();
        store.update_time_to_live(UpdateTimeToLive::new("things", "at", true)).await.unwrap();
        clock.step_back(Duration::from_secs(24 * 60 * 60));
        let key = item! { "pk" => "a" };
        let item = key.clone().with("at", clock.now().as_secs());
        store.put(PutItem::new("things", item)).await.unwrap();
        clock.advance(ttl::SWEEP_EVERY);
        assert_eq!(store.get_item("things", key).await.unwrap(), None);
    }
}
