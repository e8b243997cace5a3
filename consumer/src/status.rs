//! Status of a consumer, read from its checkpoints.
//!
//! Metrics of this process alone are in `metrics`.

use std::time::Duration;

use super::checkpoint_table::{CheckpointTable, ShardEntry};
use super::settings::{Consumer, Start};
use tabla_core::Result;
use tabla_core::RetryPolicy;
use tabla_core::env::Timestamp;
use tabla_core::ops::{SequenceNumber, ShardId, StreamArn};

/// Status of a consumer over all its workers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Status {
    /// Time of the first run.
    pub registered_at: Timestamp,
    /// Position at which the consumer started.
    pub start: Start,
    /// Number of gaps: changes may have been deleted before they were handled. Includes gaps of
    /// deleted shards, and of times without a worker.
    pub gaps: u64,
    /// Workers with an entry. An entry remains for up to a lease duration after its worker
    /// has died.
    pub workers: Vec<String>,
    /// Shards that have been started, in the order of their streams.
    pub shards: Vec<ShardStatus>,
}

/// Status of a shard.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShardStatus {
    /// Stream of the shard.
    pub stream: StreamArn,
    /// Id of the shard.
    pub shard: ShardId,
    /// Parent shard, which was finished before it.
    pub parent: Option<ShardId>,
    /// Worker that holds the lease; `None` if the shard is free.
    pub owner: Option<String>,
    /// Sequence number of the last record that was handled or set aside; `None` before the first.
    pub position: Option<SequenceNumber>,
    /// Whether the shard is closed and all its records have been handled.
    pub finished: bool,
    /// Number of records that were handled.
    pub handled: u64,
    /// Number of records that were set aside.
    pub set_aside: u64,
    /// Number of gaps in this shard: records that were deleted before they were handled.
    pub gaps: u64,
    /// Age of the current or last record at [`written_at`](Self::written_at); zero if the end
    /// was reached.
    pub lag: Duration,
    /// Time at which this checkpoint was written.
    pub written_at: Timestamp,
}

impl Status {
    /// Largest lag of any unfinished shard; zero if there is none.
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
    pub(super) fn open_checkpoint_table(&self, policy: RetryPolicy) -> CheckpointTable {
        let store = std::sync::Arc::clone(&self.store);
        CheckpointTable::new(store, policy, &self.settings.checkpoints, &self.name, &self.table)
    }

    /// Reads the status of the consumer in all processes from its checkpoints; `None` if it has
    /// never run.
    ///
    /// # Errors
    /// Errors of the store; [`NotFound`](tabla_core::ErrorKind::NotFound) if the checkpoint table
    /// does not exist.
    pub async fn status(&self) -> Result<Option<Status>> {
        let checkpoint_table = self.open_checkpoint_table(self.settings.policy.clone());
        let Some(registration) = checkpoint_table.registered().await? else { return Ok(None) };
        let shards = checkpoint_table.shards().await?;
        let workers = checkpoint_table.workers().await?;
        Ok(Some(Status {
            registered_at: registration.registered_at,
            start: registration.start,
            gaps: registration.gaps,
            workers: workers.into_iter().map(|worker| worker.worker).collect(),
            shards: shards.into_iter().map(ShardStatus::from).collect(),
        }))
    }
}
