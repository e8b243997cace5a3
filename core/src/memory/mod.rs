//! The executable specification: what every operation means, on plain ordered maps.
//!
//! Read this to learn what an operation does. Everything is under one lock, so operations happen
//! one after another; nothing is kept when the store is dropped. What a request means is
//! [`crate::engine`]'s; what is left here is where the rows are.

mod batches;
mod items;
mod reads;
mod streams;
mod tables;
mod transactions;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::Item;
use crate::engine::{Effect, IndexChange, Position, WritePlan, change};
use crate::env::{Env, Timestamp};
use crate::error::{Error, Result};
use crate::ops::*;
use crate::schema::{Table, TableSchema, table_name};
use crate::store::{Capabilities, Store};

/// A store in memory.
///
/// ```
/// use tabla::ops::{CreateTable, GetItem, PutItem};
/// use tabla::{KeyType, MemoryStore, Store, item};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = MemoryStore::new();
/// store.create_table(CreateTable::new("songs").partition_key("artist", KeyType::S)).await?;
/// store.put(PutItem::new("songs", item! { "artist" => "Nina", "plays" => 3 })).await?;
/// let answer = store.get(GetItem::new("songs", item! { "artist" => "Nina" })).await?;
/// assert_eq!(answer.item, Some(item! { "artist" => "Nina", "plays" => 3 }));
/// # Ok::<(), tabla::Error>(()) }).unwrap();
/// ```
pub struct MemoryStore {
    env: Env,
    state: Mutex<State>,
}

/// All that the store holds.
#[derive(Default)]
struct State {
    tables: BTreeMap<String, Rows>,
    streams: BTreeMap<StreamArn, streams::Log>,
    /// Tables that are gone, by their names, so that a table of the same name is told apart.
    deleted: BTreeMap<String, Table>,
    tokens: HashMap<String, transactions::Token>,
    last_sequence_number: u64,
}

/// A table, its items and its index entries, all in order.
struct Rows {
    table: Table,
    items: BTreeMap<Position, Item>,
    /// By the name of the index.
    indexes: BTreeMap<String, BTreeMap<Position, Item>>,
}

impl MemoryStore {
    /// An empty store on the machine's own clock.
    pub fn new() -> Self {
        Self::with_env(Env::system())
    }

    /// An empty store on this clock and randomness.
    pub fn with_env(env: Env) -> Self {
        Self { env, state: Mutex::default() }
    }

    /// Deletes the items whose time to live has passed, as DynamoDB does in the background, and
    /// says how many there were. Until then they can be read and written like any other.
    pub fn sweep_expired(&self) -> usize {
        let now = self.env.clock.now();
        self.state().sweep_expired(now, &self.env)
    }

    /// A panic while the lock was held leaves whole operations behind: effects are applied only
    /// after everything that can fail has been computed.
    fn state(&self) -> MutexGuard<'_, State> {
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
        let tables: Vec<String> = self.state().tables.keys().cloned().collect();
        f.debug_struct("MemoryStore").field("tables", &tables).finish_non_exhaustive()
    }
}

impl State {
    /// The table that a request names, by name or by ARN.
    fn table(&self, given: &str) -> Result<&Rows> {
        self.tables.get(table_name(given)?).ok_or_else(Error::table_not_found)
    }

    /// Carries out a write that has been judged: the item, its index entries and its record in
    /// the stream, together.
    fn apply(
        &mut self,
        table: &str,
        plan: &WritePlan,
        effect: &Effect,
        env: &Env,
    ) -> Vec<IndexChange> {
        let changes = self.apply_silently(table, plan.position(), effect);
        self.record(table, effect, None, env);
        changes
    }

    fn apply_silently(
        &mut self,
        table: &str,
        position: &Position,
        effect: &Effect,
    ) -> Vec<IndexChange> {
        let rows = self.tables.get_mut(table).expect("the table was there under the same lock");
        match &effect.new {
            Some(item) => rows.items.insert(position.clone(), item.clone()),
            None => rows.items.remove(position),
        };
        let changes = effect.index_changes(&rows.table.schema);
        for change in &changes {
            let name = &rows.table.schema.indexes[change.index].name;
            let entries = rows.indexes.entry(name.clone()).or_default();
            if let Some(old) = &change.old {
                entries.remove(&old.position);
            }
            if let Some(new) = &change.new {
                entries.insert(new.position.clone(), new.item.clone());
            }
        }
        changes
    }

    /// Leaves a record of a change in the table's stream, if it has one.
    fn record(&mut self, table: &str, effect: &Effect, by: Option<UserIdentity>, env: &Env) {
        let rows = &self.tables[table];
        let Some(stream) = rows.table.stream() else { return };
        let sequence_number = change::sequence_number(self.last_sequence_number + 1);
        let record = change::record(
            &rows.table.schema,
            effect,
            stream.view_type,
            sequence_number,
            env.token(),
            env.clock.now(),
            by,
        );
        if let Some(record) = record {
            self.last_sequence_number += 1;
            let log = self.streams.get_mut(&stream.arn(table));
            log.expect("an enabled stream has a log").records.push_back(record);
        }
    }

    fn sweep_expired(&mut self, now: Timestamp, env: &Env) -> usize {
        let mut swept = 0;
        let names: Vec<String> = self.tables.keys().cloned().collect();
        for name in names {
            let rows = &self.tables[&name];
            let Some(attribute) = rows.table.time_to_live.attribute.as_deref() else { continue };
            let expired: Vec<(Position, Item)> = rows
                .items
                .iter()
                .filter(|(_, item)| crate::engine::ttl::is_expired(item, attribute, now))
                .map(|(position, item)| (position.clone(), item.clone()))
                .collect();
            for (position, item) in expired {
                let effect = Effect { old: Some(item), new: None };
                self.apply_silently(&name, &position, &effect);
                self.record(&name, &effect, Some(UserIdentity::time_to_live()), env);
                swept += 1;
            }
        }
        swept
    }
}

impl Rows {
    fn schema(&self) -> &TableSchema {
        &self.table.schema
    }

    fn name(&self) -> &str {
        &self.table.name
    }

    /// The size of the item collection that this position belongs to, in the table and its local
    /// indexes.
    fn collection_size(&self, position: &Position) -> u64 {
        let size = |rows: &BTreeMap<Position, Item>| -> u64 {
            rows.iter()
                .filter(|(row, _)| row.partition == position.partition)
                .map(|(_, item)| item.size() as u64)
                .sum()
        };
        let local = self
            .schema()
            .indexes
            .iter()
            .filter(|index| index.kind == crate::schema::IndexKind::Local)
            .filter_map(|index| self.indexes.get(&index.name));
        size(&self.items) + local.map(size).sum::<u64>()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::full("memory")
    }

    async fn get(&self, request: GetItem) -> Result<GetItemOutput> {
        self.state().get(request)
    }

    async fn put(&self, request: PutItem) -> Result<WriteOutput> {
        self.state().put(request, &self.env)
    }

    async fn update(&self, request: UpdateItem) -> Result<WriteOutput> {
        self.state().update(request, &self.env)
    }

    async fn delete(&self, request: DeleteItem) -> Result<WriteOutput> {
        self.state().delete(request, &self.env)
    }

    async fn query(&self, request: Query) -> Result<Page> {
        self.state().query(&request)
    }

    async fn scan(&self, request: Scan) -> Result<Page> {
        self.state().scan(&request)
    }

    async fn batch_get(&self, request: BatchGetItem) -> Result<BatchGetItemOutput> {
        self.state().batch_get(request)
    }

    async fn batch_write(&self, request: BatchWriteItem) -> Result<BatchWriteItemOutput> {
        self.state().batch_write(request, &self.env)
    }

    async fn transact_get(&self, request: TransactGetItems) -> Result<TransactGetItemsOutput> {
        self.state().transact_get(request)
    }

    async fn transact_write(
        &self,
        request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        self.state().transact_write(request, &self.env)
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
