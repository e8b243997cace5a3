//! The consumer and its settings.
//!
//! The entry points are in `run` and `drain`.

use std::sync::Arc;
use std::time::Duration;

use super::metrics::Metrics;
use tabla_core::backend::limits::RECORDS_LIMIT;
use tabla_core::env::Env;
use tabla_core::{Error, Result};
use tabla_core::{RetryPolicy, Store};

/// Consumer of the changes of a table, which passes each record to a [`Handler`](super::Handler).
///
/// Consumers with the same name and table share the work. See the [crate](super) for the
/// guarantees. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Consumer {
    pub(super) store: Arc<dyn Store>,
    pub(super) name: String,
    pub(super) table: String,
    pub(super) settings: Settings,
    pub(super) metrics: Metrics,
}

/// Settings of a consumer, which its builder methods document.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) checkpoints: String,
    pub(super) start: Start,
    pub(super) lease: Duration,
    pub(super) poll_every: Duration,
    pub(super) batch: i32,
    pub(super) at_once: usize,
    pub(super) max_attempts: u32,
    pub(super) trimmed: OnTrimmed,
    pub(super) worker: String,
    pub(super) policy: RetryPolicy,
}

/// Position at which a new consumer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum Start {
    /// The oldest change that the stream keeps.
    #[default]
    TrimHorizon,
    /// Changes that are made after the first run.
    ///
    /// The first run reads every open shard up to its end and stores the sequence number at which
    /// it starts, also for workers that take the shard later. No times are compared, so a wrong
    /// clock cannot skip a change.
    Latest,
}

/// Behavior after changes were deleted before they were handled; streams keep them for 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnTrimmed {
    /// Stop with an error of kind [`TrimmedData`](tabla_core::ErrorKind::TrimmedData).
    #[default]
    Fail,
    /// Continue at the oldest change that the stream keeps, and count the gap in the
    /// [status](super::Status::gaps).
    Continue,
}

impl Consumer {
    /// Creates a consumer of the changes of a table; its name has 1 to 255 bytes.
    ///
    /// Invalid settings are errors of [`run`](Self::run) and [`drain`](Self::drain).
    pub fn new(store: Arc<dyn Store>, name: impl Into<String>, table: impl Into<String>) -> Self {
        let settings = Settings {
            checkpoints: "tabla-consumers".to_owned(),
            start: Start::default(),
            lease: Duration::from_secs(30),
            poll_every: Duration::from_secs(1),
            batch: 100,
            at_once: 16,
            max_attempts: 5,
            trimmed: OnTrimmed::default(),
            worker: String::new(),
            policy: RetryPolicy::default(),
        };
        let (name, table) = (name.into(), table.into());
        Self { store, name, table, settings, metrics: Metrics::new(Env::system().clock) }
    }

    /// Sets the table for leases, checkpoints and records set aside, `tabla-consumers` by default.
    ///
    /// The consumer creates the table if it does not exist. Several consumers can share it. It
    /// cannot be the table whose changes are read, because each checkpoint would be a change.
    #[must_use]
    pub fn checkpoint_table(mut self, table: impl Into<String>) -> Self {
        self.settings.checkpoints = table.into();
        self
    }

    /// Sets the position at which a new consumer starts, [`Start::TrimHorizon`] by default.
    #[must_use]
    pub fn start_from(mut self, start: Start) -> Self {
        self.settings.start = start;
        self
    }

    /// Sets the duration of a lease, 30 seconds by default, at least 3 milliseconds.
    ///
    /// Other workers take over the shards of a worker that has not renewed its leases for this
    /// long. Leases are renewed, and shards are looked for, three times per lease duration.
    #[must_use]
    pub fn lease_duration(mut self, lease: Duration) -> Self {
        self.settings.lease = lease;
        self
    }

    /// Sets the pause at the end of a shard before the next read, 1 second by default.
    #[must_use]
    pub fn poll_interval(mut self, pause: Duration) -> Self {
        self.settings.poll_every = pause;
        self
    }

    /// Sets the number of records per read of a shard, 1 to 1000, 100 by default.
    ///
    /// No further records are read ahead. Each batch ends with a checkpoint.
    #[must_use]
    pub fn batch_size(mut self, records: i32) -> Self {
        self.settings.batch = records;
        self
    }

    /// Sets the number of shards that are handled concurrently, at least 1, 16 by default.
    ///
    /// A worker with more shards alternates between them from batch to batch.
    #[must_use]
    pub fn concurrency(mut self, shards: usize) -> Self {
        self.settings.at_once = shards;
        self
    }

    /// Sets the number of attempts before a record is set aside, at least 1, 5 by default.
    ///
    /// The pauses in between are those of the [retry policy](Self::retry_policy).
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.settings.max_attempts = attempts;
        self
    }

    /// Sets the behavior after a gap, [`OnTrimmed::Fail`] by default.
    #[must_use]
    pub fn on_trimmed(mut self, trimmed: OnTrimmed) -> Self {
        self.settings.trimmed = trimmed;
        self
    }

    /// Sets the policy for retries of store calls and for the pauses between attempts at a record.
    ///
    /// The consumer also uses the clock and the random numbers of this policy.
    #[must_use]
    pub fn retry_policy(mut self, policy: RetryPolicy) -> Self {
        self.metrics = Metrics::new(Arc::clone(&policy.env.clock));
        self.settings.policy = policy;
        self
    }

    /// Sets the clock and the source of random numbers, by default those of the system.
    #[must_use]
    pub fn env(self, env: Env) -> Self {
        let policy = self.settings.policy.clone().with_env(env);
        self.retry_policy(policy)
    }

    /// Sets the name of the worker in the checkpoints, beside its random id, such as the host name.
    #[must_use]
    pub fn worker(mut self, name: impl Into<String>) -> Self {
        self.settings.worker = name.into();
        self
    }

    /// Returns the metrics of this consumer and its clones, such as the lag, for an exporter.
    pub fn metrics(&self) -> Metrics {
        self.metrics.clone()
    }

    /// Validates the settings.
    pub(super) fn check(&self) -> Result<()> {
        let Settings { checkpoints, lease, batch, at_once, max_attempts, .. } = &self.settings;
        let wrong = |why: String| Err(Error::config(format!("consumer `{}`: {why}", self.name)));
        if self.name.is_empty() || self.name.len() > 255 {
            return wrong(format!("its name has {} bytes; use 1 to 255", self.name.len()));
        }
        if *checkpoints == self.table {
            return wrong(format!(
                "its checkpoint table is `{checkpoints}`, the table whose changes it reads; choose \
                 another with Consumer::checkpoint_table"
            ));
        }
        if lease.as_millis() < 3 {
            return wrong(format!(
                "a lease of {lease:?} cannot be renewed in time; use 3 ms or more"
            ));
        }
        if !(1..=RECORDS_LIMIT).contains(batch) {
            return wrong(format!(
                "a batch size of {batch} is out of range; use 1 to {RECORDS_LIMIT}"
            ));
        }
        if *at_once == 0 {
            return wrong("a concurrency of 0 handles no shard; use 1 or more".to_owned());
        }
        if *max_attempts == 0 {
            return wrong("0 attempts handle no record; use 1 or more".to_owned());
        }
        Ok(())
    }
}
