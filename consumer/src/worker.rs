//! One worker of a consumer: its view of the shards, and its leases.
//!
//! The loop is in `run`, the work on one shard in `shard`.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::background_clock::in_background;
use super::checkpoint_table::{CheckpointTable, Registration, ShardEntry, WriteOutcome};
use super::drain_bound::DrainBounds;
use super::lease::{ClockReading, Lease};
use super::lineage::{self, ShardRef, Stream};
use super::settings::{Consumer, OnTrimmed};
use super::start::register;
use tabla_core::backend::limits::STREAM_RETENTION;
use tabla_core::env::{Clock, Monotonic, Timestamp};
use tabla_core::{Error, ErrorKind, Result};
use tabla_core::{Requirement, RetryPolicy, RetryingStore, Store, StoreExt, attr};

/// Largest assumed difference of two machines' clocks, where times of both are compared: the time
/// at which a shard was read to its end, and the retention of a stream.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(5);

/// Largest time that another worker's timestamp can be ahead of this worker's clock. A larger
/// difference means that one of the clocks is wrong. Then the timestamp does not show that the
/// stream has trimmed nothing since.
const MAX_FUTURE_TIME: Duration = Duration::from_secs(60 * 60);

/// Mode of a worker: run until stopped, or drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Process changes in the background until stopped.
    Run,
    /// Process the changes that exist, while the caller waits.
    Drain,
}

/// Worker of a consumer.
pub(super) struct Worker<'c> {
    pub(super) consumer: &'c Consumer,
    pub(super) mode: Mode,
    pub(super) id: String,
    pub(super) policy: RetryPolicy,
    pub(super) store: RetryingStore<Arc<dyn Store>>,
    pub(super) checkpoint_table: CheckpointTable,
    /// One permit for each shard that is handled concurrently.
    pub(super) permits: Semaphore,
    registration: Registration,
    /// Bounds of a drain, one per open shard; none in a running consumer.
    pub(super) drain_bounds: DrainBounds,
    sightings: Mutex<ChangeTracker>,
}

/// State of the shards, as a worker has loaded it.
pub(super) struct ShardView {
    /// Shards that are ready to be processed, each with its entry.
    pub(super) ready: Vec<(ShardRef, Option<ShardEntry>)>,
    /// Whether an unfinished entry belongs to a shard that is not listed, and may be listed again.
    pub(super) has_missing: bool,
}

impl<'c> Worker<'c> {
    /// Creates a worker: opens the checkpoint table and registers the consumer.
    pub(super) async fn open(consumer: &'c Consumer, mode: Mode) -> Result<Self> {
        consumer.check()?;
        consumer.store.require(&[Requirement::Streams])?;
        let settings = &consumer.settings;
        let policy = match mode {
            Mode::Run => in_background(&settings.policy),
            Mode::Drain => settings.policy.clone(),
        };
        let token = policy.env.token();
        let id = match settings.worker.as_str() {
            "" => token,
            name => format!("{name}-{token}"),
        };
        let store = Arc::clone(&consumer.store).with_retries(policy.clone());
        let checkpoint_table = consumer.open_checkpoint_table(policy.clone());
        checkpoint_table.open().await?;
        let registration = register(consumer, &store, &checkpoint_table, &id).await?;
        let worker = Self {
            consumer,
            mode,
            id,
            policy,
            store,
            checkpoint_table,
            permits: Semaphore::new(settings.at_once),
            registration,
            drain_bounds: DrainBounds::default(),
            sightings: Mutex::default(),
        };
        worker.check_absence().await?;
        Ok(worker)
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.policy.env.clock
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock().now()
    }

    /// Fails or counts a gap if no worker has run for as long as streams keep changes.
    async fn check_absence(&self) -> Result<()> {
        let now = self.now();
        let is_absent = |seen: &Registration| may_be_trimmed(seen.seen_at, now);
        if !is_absent(&self.registration) {
            return Ok(());
        }
        let seen_at = self.registration.seen_at;
        let hours = |time: Duration| time.as_secs() / 3600;
        match hours(seen_at.since(now)) {
            0 => {
                let hours = hours(now.since(seen_at));
                self.report_gap(format_args!("no worker has run it for {hours} hours"))?;
            }
            hours => self.report_gap(format_args!(
                "the time of its last run is {hours} hours ahead of this worker's clock"
            ))?,
        }
        let count = |present: &Registration| {
            let counted = Registration { gaps: present.gaps + 1, ..self.seen(present, now) };
            is_absent(present).then_some(counted)
        };
        self.checkpoint_table.change_registration(count).await
    }

    /// Returns the error of a gap, unless gaps are only counted.
    pub(super) fn report_gap(&self, why: impl std::fmt::Display) -> Result<()> {
        match self.consumer.settings.trimmed {
            OnTrimmed::Continue => Ok(()),
            OnTrimmed::Fail => Err(Error::new(
                ErrorKind::TrimmedData,
                format!(
                    "consumer `{}` of table `{}` may have missed changes, because streams delete \
                     them after 24 hours: {why}; to continue with the changes that are left, set \
                     Consumer::on_trimmed(OnTrimmed::Continue)",
                    self.consumer.name, self.consumer.table
                ),
            )),
        }
    }

    fn seen(&self, present: &Registration, now: Timestamp) -> Registration {
        Registration { seen_at: now.to_millis(), seen_by: self.id.clone(), ..present.clone() }
    }

    /// Records the time of this run in the registration, at most once per lease duration.
    pub(super) async fn note_presence(&self) -> Result<()> {
        let now = self.now();
        let lease = self.consumer.settings.lease;
        let note = |present: &Registration| {
            // A stored time in the future, written by a wrong clock, would hide an absence.
            let differs = now.since(present.seen_at).max(present.seen_at.since(now));
            (differs >= lease).then(|| self.seen(present, now))
        };
        self.checkpoint_table.change_registration(note).await
    }

    /// Loads the streams and the entries, and deletes stale entries.
    pub(super) async fn load_view(&self) -> Result<ShardView> {
        self.note_presence().await?;
        // Entries are read first. Otherwise another worker could finish a listed shard and delete
        // its entry in between.
        let entries = self.checkpoint_table.shards().await?;
        let streams = lineage::streams_of(&self.store, &self.consumer.table).await?;
        let (entries, has_missing) = self.delete_stale_entries(&streams, entries).await?;
        let table = &self.consumer.table;
        let with_entry = |place: ShardRef| {
            let key = super::checkpoint_table::shard_entry(table, &place.label, &place.shard);
            let entry = entries.iter().find(|entry| entry.entry == key).cloned();
            (place, entry)
        };
        let ready = lineage::ready(&streams, &entries).into_iter().map(with_entry).collect();
        Ok(ShardView { ready, has_missing })
    }

    /// Deletes the entries of shards that have not been listed for a whole lease duration, and
    /// returns the others. The delay is needed because the list of shards that are being split or
    /// trimmed can be stale.
    async fn delete_stale_entries(
        &self,
        streams: &[Stream],
        entries: Vec<ShardEntry>,
    ) -> Result<(Vec<ShardEntry>, bool)> {
        let listed: BTreeSet<(&str, &str)> = streams
            .iter()
            .flat_map(|stream| stream.shards.iter().map(|shard| (&*stream.label, &*shard.id.0)))
            .collect();
        let mut kept = Vec::new();
        let mut has_missing = false;
        for entry in entries {
            if listed.contains(&(entry.label(), entry.shard.as_str())) {
                self.sightings().forget(&missing(&entry));
                kept.push(entry);
                continue;
            }
            let is_deleted = self.is_unchanged(&missing(&entry), entry.mark(), &entry);
            if !is_deleted {
                has_missing |= !entry.finished;
                kept.push(entry);
                continue;
            }
            self.remove(&entry).await?;
        }
        Ok((kept, has_missing))
    }

    /// Deletes the entry of a deleted shard. An unfinished one may be a gap.
    pub(super) async fn remove(&self, entry: &ShardEntry) -> Result<()> {
        if !entry.finished && self.may_have_gap(entry) {
            self.report_gap(format_args!(
                "shard {} was deleted before it was finished",
                entry.shard
            ))?;
            self.count_gap().await?;
        }
        self.checkpoint_table.delete(&entry.entry, Some(entry.is_unchanged())).await
    }

    pub(super) async fn count_gap(&self) -> Result<()> {
        let now = self.now();
        let count = |present: &Registration| {
            Some(Registration { gaps: present.gaps + 1, ..self.seen(present, now) })
        };
        self.checkpoint_table.change_registration(count).await
    }

    /// Whether records behind the position of a shard may have been deleted. False if the shard was
    /// read to its end so recently that the stream still keeps all later records.
    pub(super) fn may_have_gap(&self, entry: &ShardEntry) -> bool {
        let now = self.now();
        entry.caught_up_at.is_none_or(|at| may_be_trimmed(at, now))
    }

    /// Whether this worker may take a shard: it has no owner, or the owner's lease has expired by
    /// this worker's clock.
    pub(super) fn is_free(&self, entry: &Option<ShardEntry>) -> bool {
        let Some(entry) = entry else { return true };
        match &entry.owner {
            None => true,
            // The lease was lost, and no other worker has taken it.
            Some(owner) if *owner == self.id => true,
            Some(_) => self.is_unchanged(&entry.entry, entry.mark(), entry),
        }
    }

    fn is_unchanged(&self, what: &str, mark: String, entry: &ShardEntry) -> bool {
        let lease = match entry.lease_ms {
            0 => self.consumer.settings.lease,
            lease => Duration::from_millis(lease),
        };
        self.sightings().is_unchanged(what, mark, lease, self.clock().monotonic())
    }

    pub(super) fn sightings(&self) -> MutexGuard<'_, ChangeTracker> {
        self.sightings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lease of a free shard; `None` if another worker has taken it first.
    pub(super) async fn take_lease(
        &self,
        place: &ShardRef,
        entry: &Option<ShardEntry>,
    ) -> Result<Option<Lease>> {
        let sent_at = ClockReading::now(self.clock());
        let Consumer { name, table, settings, .. } = self.consumer;
        let (mut taken, condition) = match entry {
            Some(entry) => (entry.clone(), entry.is_unchanged().and(attr("finished").eq(false))),
            None => (ShardEntry::new(name, table, place), attr("counter").not_exists()),
        };
        taken.owner = Some(self.id.clone());
        taken.counter += 1;
        taken.lease_ms = u64::try_from(settings.lease.as_millis()).unwrap_or(u64::MAX);
        taken.written_at = sent_at.wall.to_millis();
        match self.checkpoint_table.write(&taken, condition).await? {
            WriteOutcome::Done => Ok(Some(Lease::new(taken, sent_at))),
            WriteOutcome::Lost => Ok(None),
        }
    }
}

/// Whether a change made after this time may have been trimmed by now. Also true for a time so far
/// ahead that its age is unknown.
fn may_be_trimmed(at: Timestamp, now: Timestamp) -> bool {
    now.since(at) + MAX_CLOCK_SKEW >= STREAM_RETENTION || at.since(now) >= MAX_FUTURE_TIME
}

/// Key in the change tracker for the absence of a shard.
fn missing(entry: &ShardEntry) -> String {
    format!("missing {}", entry.entry)
}

/// Marks that a worker has seen, and since when they are unchanged by its own monotonic time.
#[derive(Debug, Default)]
pub(super) struct ChangeTracker(HashMap<String, (String, Monotonic)>);

impl ChangeTracker {
    /// Whether the same mark has been seen for at least this time.
    pub(super) fn is_unchanged(
        &mut self,
        what: &str,
        mark: String,
        least: Duration,
        now: Monotonic,
    ) -> bool {
        match self.0.get(what) {
            Some((seen, since)) if *seen == mark => now.since(*since) >= least,
            _ => {
                self.0.insert(what.to_owned(), (mark, now));
                false
            }
        }
    }

    /// Whether the mark differs from the one seen before; false if none was seen.
    pub(super) fn has_changed(&self, what: &str, mark: &str) -> bool {
        self.0.get(what).is_some_and(|(seen, _)| seen != mark)
    }

    fn forget(&mut self, what: &str) {
        self.0.remove(what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_mark_restarts_the_period() {
        let mut sightings = ChangeTracker::default();
        let lease = Duration::from_secs(30);
        let mut at = |second, mark: &str| {
            let now = Monotonic::after_origin(Duration::from_secs(second));
            sightings.is_unchanged("a", mark.to_owned(), lease, now)
        };
        assert!(!at(100, "1"));
        assert!(!at(129, "1"));
        assert!(at(130, "1"));
        assert!(!at(131, "2"));
        assert!(!at(160, "2"));
        assert!(at(161, "2"));
    }
}
