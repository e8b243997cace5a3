//! How a consumer stands, as anybody can see who has the store.

use std::time::Duration;

use super::checkpoint_table::{CheckpointTable, ShardEntry};
use super::settings::{Consumer, Start};
use tabla_core::Result;
use tabla_core::RetryPolicy;
use tabla_core::env::Timestamp;
use tabla_core::ops::{SequenceNumber, ShardId, StreamArn};

/// How a consumer stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Status {
    /// When it was first run.
    pub registered_at: Timestamp,
    /// Where it began.
    pub start: Start,
    /// How often changes may have been gone before they were handled, in shards that are gone, too,
    /// and while nobody ran it.
    pub gaps: u64,
    /// The workers that have said that they are there, also those that have died a lease ago.
    pub workers: Vec<String>,
    /// The shards that were begun, in the order of the streams.
    pub shards: Vec<ShardStatus>,
}

/// How a shard stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShardStatus {
    /// Its stream.
    pub stream: StreamArn,
    /// The shard.
    pub shard: ShardId,
    /// The shard that was finished before it.
    pub parent: Option<ShardId>,
    /// The worker that has it.
    pub owner: Option<String>,
    /// The last record that was handled.
    pub position: Option<SequenceNumber>,
    /// Whether it is closed and all of it was handled.
    pub finished: bool,
    /// Records that were handled.
    pub handled: u64,
    /// Records that were set aside.
    pub set_aside: u64,
    /// How often records of it were gone before they were handled.
    pub gaps: u64,
    /// How far the record at hand, or the last one, was behind at
    /// [`written_at`](Self::written_at): zero if the end had been reached.
    pub lag: Duration,
    /// When this was written.
    pub written_at: Timestamp,
}

impl Status {
    /// How far the shard was behind that was furthest behind.
    pub fn lag(&self) -> Duration {
        let open = self.shards.iter().filter(|shard| !shard.finished);
        open.map(|shard| shard.lag).max().unwrap_or_default()
    }
}

impl From<ShardEntry> for ShardStatus {
    fn from(entry: ShardEntry) -> Self {
        Self {
            stream: StreamArn(entry.stream),
            shard: ShardId(entry.shard),
            parent: entry.parent.map(ShardId),
            owner: entry.owner,
            position: entry.position.map(SequenceNumber),
            finished: entry.finished,
            handled: entry.handled,
            set_aside: entry.set_aside,
            gaps: entry.gaps,
            lag: Duration::from_millis(entry.lag_ms),
            written_at: entry.written_at,
        }
    }
}

impl Consumer {
    pub(super) fn ledger(&self, policy: RetryPolicy) -> CheckpointTable {
        let store = std::sync::Arc::clone(&self.store);
        CheckpointTable::new(store, policy, &self.settings.checkpoints, &self.name, &self.table)
    }

    /// How the consumer stands by its checkpoints, whichever process runs it; `None` if nobody has.
    ///
    /// # Errors
    /// Those of the store; [`NotFound`](tabla_core::ErrorKind::NotFound) if there is no table of
    /// checkpoints.
    pub async fn status(&self) -> Result<Option<Status>> {
        let ledger = self.ledger(self.settings.policy.clone());
        let Some(registration) = ledger.registered().await? else { return Ok(None) };
        let shards = ledger.shards().await?;
        let workers = ledger.workers().await?;
        Ok(Some(Status {
            registered_at: registration.registered_at,
            start: registration.start,
            gaps: registration.gaps,
            workers: workers.into_iter().map(|worker| worker.worker).collect(),
            shards: shards.into_iter().map(ShardStatus::from).collect(),
        }))
    }
}
