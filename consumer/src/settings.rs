//! A consumer: its name, its table, its settings.

use std::sync::Arc;
use std::time::Duration;

use super::metrics::Metrics;
use tabla_core::backend::limits::RECORDS_LIMIT;
use tabla_core::env::Env;
use tabla_core::{Error, Result};
use tabla_core::{RetryPolicy, Store};

/// Reads the changes of a table and hands each to a [`Handler`](super::Handler).
///
/// Whoever runs a consumer of the same name on the same table shares the work. See the
/// [module](super) for what it promises. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Consumer {
    pub(super) store: Arc<dyn Store>,
    pub(super) name: String,
    pub(super) table: String,
    pub(super) settings: Settings,
    pub(super) metrics: Metrics,
}

#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) checkpoints: String,
    pub(super) start: Start,
    pub(super) lease: Duration,
    pub(super) poll_every: Duration,
    pub(super) batch: i32,
    pub(super) at_once: usize,
    pub(super) tries: u32,
    pub(super) trimmed: OnTrimmed,
    pub(super) worker: String,
    pub(super) policy: RetryPolicy,
}

/// Where a consumer begins that nobody has run before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum Start {
    /// At the oldest change that is kept.
    #[default]
    TrimHorizon,
    /// At the changes that are made after it was first run, whichever worker takes a shard first,
    /// and whenever it does.
    ///
    /// The first run gives every shard the sequence number at which it begins, by reading open shards
    /// up to their ends. No times are compared, so that no clock can lose a change.
    Latest,
}

/// What to do if changes are gone before they were handled: streams keep them for a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnTrimmed {
    /// Stop with an error of kind [`TrimmedData`](tabla_core::ErrorKind::TrimmedData).
    #[default]
    Fail,
    /// Go on at the oldest change that is kept, and count the gap in the
    /// [status](super::Status::gaps).
    Continue,
}

impl Consumer {
    /// A consumer of this name, of the changes of this table.
    pub fn new(store: Arc<dyn Store>, name: impl Into<String>, table: impl Into<String>) -> Self {
        let settings = Settings {
            checkpoints: "tabla-consumers".to_owned(),
            start: Start::default(),
            lease: Duration::from_secs(30),
            poll_every: Duration::from_secs(1),
            batch: 100,
            at_once: 16,
            tries: 5,
            trimmed: OnTrimmed::default(),
            worker: String::new(),
            policy: RetryPolicy::default(),
        };
        let (name, table) = (name.into(), table.into());
        Self { store, name, table, settings, metrics: Metrics::new(Env::system().clock) }
    }

    /// The table with leases, checkpoints and records set aside, `tabla-consumers` by default. It
    /// is created if it is missing, may serve many consumers, and must not be the table whose
    /// changes are read: each checkpoint would be a change.
    #[must_use]
    pub fn checkpoint_table(mut self, table: impl Into<String>) -> Self {
        self.settings.checkpoints = table.into();
        self
    }

    /// Where to begin if nobody has run this consumer before, at the horizon by default.
    #[must_use]
    pub fn start_from(mut self, start: Start) -> Self {
        self.settings.start = start;
        self
    }

    /// How long a worker that says nothing keeps its shards, 30 seconds by default. Leases are
    /// renewed, and workers look for shards, three times in each.
    #[must_use]
    pub fn lease_duration(mut self, lease: Duration) -> Self {
        self.settings.lease = lease;
        self
    }

    /// How long to wait at the end of a shard before reading again, a second by default.
    #[must_use]
    pub fn poll_interval(mut self, pause: Duration) -> Self {
        self.settings.poll_every = pause;
        self
    }

    /// How many records are read at once from a shard, up to 1000, 100 by default. Nothing is read
    /// ahead of them, and there is a checkpoint after them.
    #[must_use]
    pub fn batch_size(mut self, records: i32) -> Self {
        self.settings.batch = records;
        self
    }

    /// How many shards are read and handled at the same time, 16 by default. A worker that has
    /// more goes from batch to batch among them.
    #[must_use]
    pub fn concurrency(mut self, shards: usize) -> Self {
        self.settings.at_once = shards;
        self
    }

    /// How often a record is tried before it is set aside, five times by default, with the pauses
    /// of the [policy](Self::retries).
    #[must_use]
    pub fn max_attempts(mut self, tries: u32) -> Self {
        self.settings.tries = tries;
        self
    }

    /// What to do if changes are gone before they were handled: an error by default.
    #[must_use]
    pub fn on_trimmed(mut self, trimmed: OnTrimmed) -> Self {
        self.settings.trimmed = trimmed;
        self
    }

    /// How calls to the store are tried again, and how the pauses between the tries of a record
    /// grow. Its clock and randomness are used for everything else, too.
    #[must_use]
    pub fn retry_policy(mut self, policy: RetryPolicy) -> Self {
        self.metrics = Metrics::new(Arc::clone(&policy.env.clock));
        self.settings.policy = policy;
        self
    }

    /// Works by this clock and randomness.
    #[must_use]
    pub fn env(self, env: Env) -> Self {
        let policy = self.settings.policy.clone().with_env(env);
        self.retry_policy(policy)
    }

    /// What the worker is called in the checkpoints besides its random id, such as the name of its
    /// machine.
    #[must_use]
    pub fn worker(mut self, name: impl Into<String>) -> Self {
        self.settings.worker = name.into();
        self
    }

    /// What this consumer and its clones have done, and how far they are behind: for whatever
    /// exports metrics.
    pub fn metrics(&self) -> Metrics {
        self.metrics.clone()
    }

    /// Refuses settings with which nothing could work.
    pub(super) fn check(&self) -> Result<()> {
        let Settings { checkpoints, lease, batch, at_once, tries, .. } = &self.settings;
        let wrong = |why: String| Err(Error::config(format!("consumer `{}`: {why}", self.name)));
        if self.name.is_empty() || self.name.len() > 255 {
            return wrong("its name must have 1 to 255 bytes".to_owned());
        }
        if *checkpoints == self.table {
            return wrong(format!(
                "its checkpoints cannot be in `{checkpoints}`, the table whose changes it reads"
            ));
        }
        if lease.as_millis() < 3 {
            return wrong(format!("a lease of {lease:?} cannot be renewed in time"));
        }
        if !(1..=RECORDS_LIMIT).contains(batch) {
            return wrong(format!("a batch has 1 to {RECORDS_LIMIT} records, not {batch}"));
        }
        if *at_once == 0 {
            return wrong("at least one shard must be handled at once".to_owned());
        }
        if *tries == 0 {
            return wrong("a record must be tried at least once".to_owned());
        }
        Ok(())
    }
}
