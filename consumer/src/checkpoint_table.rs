//! The checkpoint table: leases, checkpoints and records set aside.
//!
//! The partition key is `consumer`, the consumer's name; the sort key is `entry`:
//!
//! | `entry` | content |
//! |---|---|
//! | `orders#consumer` | registration for the table `orders`: start position and time |
//! | `orders#start#<id>#<label>#<shard>` | initial shard entry, while `id` registers the consumer |
//! | `orders#shard#<label>#<shard>` | a shard: lease and checkpoint |
//! | `orders#worker#<id>` | a worker, alive as long as its counter rises |
//! | `orders#set-aside#<label>#<shard>#<number>` | a record that was set aside |

use std::sync::Arc;

use futures::TryStreamExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::lineage::ShardRef;
use super::settings::Start;
use tabla_core::env::Timestamp;
use tabla_core::ops::*;
use tabla_core::{
    Condition, ConditionalOutcome, Item, RetryMode, RetryPolicy, Store, StoreExt, attr, item,
};
use tabla_core::{Error, KeyType, Result};

/// Partition key of the table: the consumer's name.
pub(super) const CONSUMER: &str = "consumer";
/// Sort key of the table.
pub(super) const ENTRY: &str = "entry";

/// Registration of a consumer: start position, times and gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Registration {
    pub(super) consumer: String,
    pub(super) entry: String,
    pub(super) start: Start,
    /// Time of the first run.
    pub(super) registered_at: Timestamp,
    /// Time at which a worker last looked for shards, accurate to about a lease duration.
    pub(super) seen_at: Timestamp,
    /// Worker that wrote this entry.
    pub(super) seen_by: String,
    /// Number of gaps: changes were deleted before they were handled.
    #[serde(default)]
    pub(super) gaps: u64,
    /// Worker that created the registration, until all its start entries have become shard entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) starting: Option<String>,
}

/// Initial entry of a shard, before the consumer is registered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StartEntry {
    pub(super) consumer: String,
    pub(super) entry: String,
    pub(super) begins: ShardEntry,
}

/// Record at which the handler panicked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Panicked {
    /// Sequence number of the record.
    pub(super) number: String,
    pub(super) times: u32,
}

/// Lease and checkpoint of a shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ShardEntry {
    pub(super) consumer: String,
    pub(super) entry: String,
    pub(super) stream: String,
    pub(super) shard: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    /// Worker that holds the lease; `None` if the shard is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) owner: Option<String>,
    /// Counter that every write of the entry increments.
    pub(super) counter: u64,
    /// Duration of the owner's lease, in milliseconds.
    pub(super) lease_ms: u64,
    /// Sequence number of the last record that was handled, skipped or set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) position: Option<String>,
    /// Sequence number of the first record to handle, until there is a position. Without either,
    /// reading starts at the horizon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) start_at: Option<String>,
    /// Current record, if the handler has panicked at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) panicked: Option<Panicked>,
    pub(super) finished: bool,
    pub(super) handled: u64,
    pub(super) set_aside: u64,
    /// Number of gaps: records were deleted before they were handled.
    pub(super) gaps: u64,
    /// Age of the current or last record at this write, in milliseconds.
    pub(super) lag_ms: u64,
    /// Creation time of the last record at `position`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) record_at: Option<Timestamp>,
    /// Time at which all existing records had been handled, by the owner's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) caught_up_at: Option<Timestamp>,
    /// Time of this write, by the owner's clock.
    pub(super) written_at: Timestamp,
}

impl ShardEntry {
    /// Creates the entry of a shard that no worker has started.
    pub(super) fn new(consumer: &str, table: &str, place: &ShardRef) -> Self {
        Self {
            consumer: consumer.to_owned(),
            entry: shard_entry(table, &place.label, &place.shard),
            stream: place.arn.0.clone(),
            shard: place.shard.0.clone(),
            parent: place.parent.as_ref().map(|parent| parent.0.clone()),
            owner: None,
            counter: 0,
            lease_ms: 0,
            position: None,
            start_at: None,
            panicked: None,
            finished: false,
            handled: 0,
            set_aside: 0,
            gaps: 0,
            lag_ms: 0,
            record_at: None,
            caught_up_at: None,
            written_at: Timestamp::default(),
        }
    }

    /// Label of the shard's stream.
    pub(super) fn label(&self) -> &str {
        // Table names and labels contain no `#`.
        self.entry.split('#').nth(2).unwrap_or_default()
    }

    /// Text that changes with every write of the entry.
    pub(super) fn mark(&self) -> String {
        format!("{} {}", self.counter, self.owner.as_deref().unwrap_or_default())
    }

    /// Condition that the entry has not been written since it was read.
    pub(super) fn is_unchanged(&self) -> Condition {
        let owner = match &self.owner {
            Some(owner) => attr("owner").eq(owner.as_str()),
            None => attr("owner").not_exists(),
        };
        attr("counter").eq(self.counter).and(owner)
    }
}

/// Sort key of a shard's entry.
pub(super) fn shard_entry(table: &str, label: &str, shard: &ShardId) -> String {
    format!("{table}#shard#{label}#{shard}")
}

/// Entry of a live worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WorkerEntry {
    pub(super) consumer: String,
    pub(super) entry: String,
    pub(super) worker: String,
    pub(super) counter: u64,
    pub(super) lease_ms: u64,
}

/// Outcome of a conditional write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    Done,
    /// The condition failed, and nothing was written.
    Lost,
}

/// Access to the entries of one consumer of one table.
#[derive(Clone, Debug)]
pub(super) struct CheckpointTable {
    store: Arc<dyn Store>,
    policy: RetryPolicy,
    checkpoints: String,
    consumer: String,
    table: String,
}

impl CheckpointTable {
    pub(super) fn new(
        store: Arc<dyn Store>,
        policy: RetryPolicy,
        checkpoints: &str,
        consumer: &str,
        table: &str,
    ) -> Self {
        let [checkpoints, consumer, table] = [checkpoints, consumer, table].map(str::to_owned);
        Self { store, policy, checkpoints, consumer, table }
    }

    /// Creates the table if it does not exist; fails if the table has another key.
    pub(super) async fn open(&self) -> Result<()> {
        let describe = DescribeTable::new(&self.checkpoints);
        let described = self
            .policy
            .run(RetryMode::Idempotent, || self.store.describe_table(describe.clone()))
            .await;
        match described {
            Ok(table) if matches!(table.status, TableStatus::Active | TableStatus::Updating) => {
                let names: Vec<&str> =
                    table.key_schema.iter().map(|key| key.name.as_str()).collect();
                if names == [CONSUMER, ENTRY] {
                    return Ok(());
                }
                return Err(Error::config(format!(
                    "table `{}` cannot hold checkpoints: its key is {names:?}, not \
                     [\"{CONSUMER}\", \"{ENTRY}\"]; choose another with Consumer::checkpoint_table",
                    self.checkpoints
                )));
            }
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        let table = CreateTable::new(&self.checkpoints)
            .partition_key(CONSUMER, KeyType::S)
            .sort_key(ENTRY, KeyType::S);
        let store = (&self.store).with_retries(self.policy.clone());
        let clock = &*self.policy.env.clock;
        // If the response was lost, the next attempt finds the table.
        let create = || store.create_table_if_missing(table.clone(), clock);
        self.policy.run(RetryMode::Idempotent, create).await.map(|_| ())
    }

    fn entry(&self, kind: &str) -> String {
        format!("{}#{kind}", self.table)
    }

    pub(super) fn worker(&self, id: &str) -> WorkerEntry {
        WorkerEntry {
            consumer: self.consumer.clone(),
            entry: self.entry(&format!("worker#{id}")),
            worker: id.to_owned(),
            counter: 0,
            lease_ms: 0,
        }
    }

    pub(super) fn registration(&self, start: Start, now: Timestamp, by: &str) -> Registration {
        Registration {
            consumer: self.consumer.clone(),
            entry: self.entry("consumer"),
            start,
            registered_at: now.to_millis(),
            seen_at: now.to_millis(),
            seen_by: by.to_owned(),
            gaps: 0,
            starting: None,
        }
    }

    /// Returns the start entry of a shard, owned by this worker, without writing it.
    pub(super) fn start(&self, id: &str, begins: ShardEntry) -> StartEntry {
        let (label, shard) = (begins.label(), &begins.shard);
        let entry = self.entry(&format!("start#{id}#{label}#{shard}"));
        StartEntry { consumer: self.consumer.clone(), entry, begins }
    }

    /// Reads the start entries of this worker.
    pub(super) async fn starts(&self, id: &str) -> Result<Vec<StartEntry>> {
        self.all(&format!("start#{id}#")).await
    }

    /// Reads the registration; `None` if the consumer has never run.
    pub(super) async fn registered(&self) -> Result<Option<Registration>> {
        let key = self.key(&self.entry("consumer"));
        let get = GetItem::new(&self.checkpoints, key).consistent_read(true);
        let found =
            self.policy.run(RetryMode::Idempotent, || self.store.get(get.clone())).await?.item;
        found.as_ref().map(parsed).transpose()
    }

    /// Changes the registration by optimistic retry; `change` returns `None` if no change
    /// is needed.
    pub(super) async fn change_registration(
        &self,
        change: impl Fn(&Registration) -> Option<Registration>,
    ) -> Result<()> {
        let mut attempts = self
            .policy
            .start_attempts(RetryMode::Idempotent, "to change the registration of a consumer");
        loop {
            let Some(present) = self.registered().await? else { return Ok(()) };
            let Some(wanted) = change(&present) else { return Ok(()) };
            let is_unchanged =
                attr("seen_at").eq(present.seen_at.as_millis()).and(attr("gaps").eq(present.gaps));
            if let WriteOutcome::Done = self.write(&wanted, is_unchanged).await? {
                return Ok(());
            }
            attempts.next_attempt().await?;
        }
    }

    pub(super) async fn shards(&self) -> Result<Vec<ShardEntry>> {
        self.all("shard#").await
    }

    pub(super) async fn workers(&self) -> Result<Vec<WorkerEntry>> {
        self.all("worker#").await
    }

    /// Reads all entries of a kind, in the order of their keys.
    pub(super) async fn all<T: DeserializeOwned>(&self, kind: &str) -> Result<Vec<T>> {
        let found = self.items(kind).await?;
        found.iter().map(parsed).collect()
    }

    pub(super) async fn items(&self, kind: &str) -> Result<Vec<Item>> {
        let condition = attr(CONSUMER)
            .eq(self.consumer.as_str())
            .and(attr(ENTRY).begins_with(self.entry(kind)));
        let query = Query::new(&self.checkpoints, condition).consistent_read(true);
        let store = (&self.store).with_retries(self.policy.clone());
        store.query_items(query).try_collect().await
    }

    /// Writes an entry if the condition holds for the present one.
    ///
    /// A write whose response was lost is retried. If it was applied, the condition fails, and the
    /// present entry equals the written one. Two workers never write the same content, because an
    /// entry names its writer.
    pub(super) async fn write<T: Serialize>(
        &self,
        entry: &T,
        condition: impl Into<Condition>,
    ) -> Result<WriteOutcome> {
        let item = Item::from_struct(entry)?;
        let condition = condition.into();
        let mut attempts =
            self.policy.start_attempts(RetryMode::Idempotent, "to write an entry of a consumer");
        loop {
            let put = self.store.put_if(&self.checkpoints, item.clone(), condition.clone()).await;
            match attempts.check(put)? {
                Some(ConditionalOutcome::Written) => return Ok(WriteOutcome::Done),
                Some(ConditionalOutcome::ConditionFailed { current: Some(current) })
                    if current == item =>
                {
                    return Ok(WriteOutcome::Done);
                }
                Some(ConditionalOutcome::ConditionFailed { .. }) => return Ok(WriteOutcome::Lost),
                None => attempts.next_attempt().await?,
            }
        }
    }

    /// Writes an item unconditionally.
    pub(super) async fn put(&self, item: Item) -> Result<()> {
        let put = PutItem::new(&self.checkpoints, item);
        self.policy.run(RetryMode::Idempotent, || self.store.put(put.clone())).await.map(|_| ())
    }

    /// Deletes an entry; with a condition, only if it holds.
    pub(super) async fn delete(&self, entry: &str, unchanged: Option<Condition>) -> Result<()> {
        let mut delete = DeleteItem::new(&self.checkpoints, self.key(entry));
        if let Some(condition) = unchanged {
            delete = delete.condition(condition);
        }
        match self.policy.run(RetryMode::Idempotent, || self.store.delete(delete.clone())).await {
            Err(error) if !error.is_condition_failed() => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn key(&self, entry: &str) -> Item {
        item! { CONSUMER => self.consumer.as_str(), ENTRY => entry }
    }

    /// Sort key of a record that is set aside.
    pub(super) fn set_aside_entry(&self, shard: &ShardEntry, record: &Record) -> String {
        let number = &record.sequence_number;
        self.entry(&format!("set-aside#{}#{}#{number}", shard.label(), shard.shard))
    }
}

/// Deserializes a stored entry.
pub(super) fn parsed<T: DeserializeOwned>(item: &Item) -> Result<T> {
    item.to_struct().map_err(|error| {
        let [consumer, entry] =
            [CONSUMER, ENTRY].map(|key| item.get(key).and_then(|key| key.as_str()).unwrap_or("?"));
        Error::corrupt(format!(
            "cannot read entry `{entry}` of consumer `{consumer}` in its checkpoint table: {error}"
        ))
    })
}
