//! One worker of a consumer: what it knows, and what it may do with a shard.

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

/// How far two machines' clocks may differ where moments of both are compared, such as when a shard
/// was read to its end and when a stream forgets.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(5);

/// How far ahead of its own clock a worker believes a moment that another one has written. Beyond it,
/// one of the clocks is wrong, and the moment does not show that a stream has forgotten nothing since.
const MAX_FUTURE_TIME: Duration = Duration::from_secs(60 * 60);

/// How a worker works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Until it is told to stop, in the background.
    Run,
    /// To the end of what is there, while its caller waits.
    Drain,
}

/// One worker of a consumer.
pub(super) struct Worker<'c> {
    pub(super) consumer: &'c Consumer,
    pub(super) mode: Mode,
    pub(super) id: String,
    pub(super) policy: RetryPolicy,
    pub(super) store: RetryingStore<Arc<dyn Store>>,
    pub(super) ledger: CheckpointTable,
    /// One permit for each shard that may be handled at the same time.
    pub(super) permits: Semaphore,
    registration: Registration,
    /// Where a drain ends.
    pub(super) drain_bounds: DrainBounds,
    sightings: Mutex<ChangeTracker>,
}

/// What a worker finds when it looks.
pub(super) struct ShardView {
    /// Shards that are to be worked on, each with its entry.
    pub(super) ready: Vec<(ShardRef, Option<ShardEntry>)>,
    /// Whether an entry that nobody finished is of a shard that is gone, and may come back.
    pub(super) has_missing: bool,
}

impl<'c> Worker<'c> {
    /// Makes everything ready: the table of checkpoints, the registration.
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
        let ledger = consumer.ledger(policy.clone());
        ledger.open().await?;
        let registration = register(consumer, &store, &ledger, &id).await?;
        let worker = Self {
            consumer,
            mode,
            id,
            policy,
            store,
            ledger,
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

    /// Refuses to go on, or counts a gap, if nobody has worked for as long as streams keep changes.
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
                self.report_gap(format_args!("nobody has run it for {hours} hours"))?;
            }
            hours => self.report_gap(format_args!(
                "the time at which it was last run is {hours} hours ahead of this worker's clock"
            ))?,
        }
        let count = |present: &Registration| {
            let counted = Registration { gaps: present.gaps + 1, ..self.seen(present, now) };
            is_absent(present).then_some(counted)
        };
        self.ledger.change_registration(count).await
    }

    /// Says that changes are gone before they were handled, unless that is to be counted only.
    pub(super) fn report_gap(&self, why: impl std::fmt::Display) -> Result<()> {
        match self.consumer.settings.trimmed {
            OnTrimmed::Continue => Ok(()),
            OnTrimmed::Fail => Err(Error::new(
                ErrorKind::TrimmedData,
                format!(
                    "consumer `{}` of table `{}` may have lost changes, which are kept for a day: \
                     {why}; go on with what is left by Consumer::when_trimmed(Trimmed::GoOn)",
                    self.consumer.name, self.consumer.table
                ),
            )),
        }
    }

    fn seen(&self, present: &Registration, now: Timestamp) -> Registration {
        Registration { seen_at: now.to_millis(), seen_by: self.id.clone(), ..present.clone() }
    }

    /// Notes that the consumer is being run.
    pub(super) async fn note_presence(&self) -> Result<()> {
        let now = self.now();
        let lease = self.consumer.settings.lease;
        let note = |present: &Registration| {
            // A clock that was ahead, and is set back, leaves a moment that hides an absence.
            let differs = now.since(present.seen_at).max(present.seen_at.since(now));
            (differs >= lease).then(|| self.seen(present, now))
        };
        self.ledger.change_registration(note).await
    }

    /// Looks at the streams and the entries, and clears up what is gone.
    pub(super) async fn load_view(&self) -> Result<ShardView> {
        self.note_presence().await?;
        // Entries first: a shard that is listed afterwards cannot have been finished by somebody
        // else, removed and listed no more in between.
        let entries = self.ledger.shards().await?;
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

    /// Removes the entries of shards that are listed no more, after they were seen so for a whole
    /// lease: a list of shards that are being split or trimmed may be late. Gives the others.
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
            let is_gone = self.is_unchanged(&missing(&entry), entry.mark(), &entry);
            if !is_gone {
                has_missing |= !entry.finished;
                kept.push(entry);
                continue;
            }
            self.remove(&entry).await?;
        }
        Ok((kept, has_missing))
    }

    /// Removes the entry of a shard that is gone; if the shard was not finished, that may be a gap.
    pub(super) async fn remove(&self, entry: &ShardEntry) -> Result<()> {
        if !entry.finished && self.may_have_gap(entry) {
            self.report_gap(format_args!("shard {} is gone and was not finished", entry.shard))?;
            self.count_gap().await?;
        }
        self.ledger.delete(&entry.entry, Some(entry.is_unchanged())).await
    }

    pub(super) async fn count_gap(&self) -> Result<()> {
        let now = self.now();
        let count = |present: &Registration| {
            Some(Registration { gaps: present.gaps + 1, ..self.seen(present, now) })
        };
        self.ledger.change_registration(count).await
    }

    /// Whether a shard that cannot be read on from its position may have had more: not if all of
    /// it had been handled so lately that what came later would still be kept.
    pub(super) fn may_have_gap(&self, entry: &ShardEntry) -> bool {
        let now = self.now();
        entry.caught_up_at.is_none_or(|at| may_be_trimmed(at, now))
    }

    /// Whether this worker may take a shard: nobody has it, or its owner has given no sign for the
    /// owner's lease, by this worker's clock.
    pub(super) fn is_free(&self, entry: &Option<ShardEntry>) -> bool {
        let Some(entry) = entry else { return true };
        match &entry.owner {
            None => true,
            // It was lost, and nobody has taken it.
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

    /// Takes a shard that is free. `None` if somebody else was ahead.
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
        match self.ledger.write(&taken, condition).await? {
            WriteOutcome::Done => Ok(Some(Lease::new(taken, sent_at))),
            WriteOutcome::Lost => Ok(None),
        }
    }
}

/// Whether a change that was made after this moment may be gone from its stream by now, or nobody can
/// tell because the moment is too far ahead.
fn may_be_trimmed(at: Timestamp, now: Timestamp) -> bool {
    now.since(at) + MAX_CLOCK_SKEW >= STREAM_RETENTION || at.since(now) >= MAX_FUTURE_TIME
}

/// What the absence of a shard is seen under.
fn missing(entry: &ShardEntry) -> String {
    format!("missing {}", entry.entry)
}

/// What a worker has seen unchanged, and since when by its own monotonic time.
#[derive(Debug, Default)]
pub(super) struct ChangeTracker(HashMap<String, (String, Monotonic)>);

impl ChangeTracker {
    /// Whether this has been seen with the same mark for so long.
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

    /// Whether this has been seen with another mark before.
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
    fn what_changes_is_seen_anew() {
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
