//! A shard that a worker has, for as long as it renews it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::checkpoint_table::{CheckpointTable, Panicked, ShardEntry, WriteOutcome};
use super::metrics::Metrics;
use tabla_core::attr;
use tabla_core::env::{Clock, Monotonic, Timestamp};
use tabla_core::ops::{Record, SequenceNumber, ShardId, ShardPosition, StreamArn};
use tabla_core::{Result, Retry};

/// A lease, and how far its shard is.
///
/// Every write of the entry is on the condition that nobody has written it since, and raises its
/// counter, so that whoever has lost the lease can move nothing. Others take the shard when they
/// have seen the counter unchanged for the whole lease by their own clock; the owner counts from
/// before it sent its last write, and stops earlier. Both measure monotonic time, which no step of a
/// clock changes.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) arn: StreamArn,
    pub(super) shard: ShardId,
    entry: Mutex<ShardEntry>,
    /// When the last write that succeeded was sent.
    renewed_at: Mutex<ClockReading>,
    /// Held while an entry is written: the checkpoint and the renewal go one after the other.
    writing: tokio::sync::Mutex<()>,
    leave: watch::Sender<bool>,
    /// When the record at hand was written, or the last one; none at the end of the shard.
    behind: Mutex<Option<Timestamp>>,
    duration: Duration,
    /// What had been handled and set aside when the lease was taken.
    done_before: (u64, u64),
}

/// The same moment by both times of a clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockReading {
    pub(super) wall: Timestamp,
    monotonic: Monotonic,
}

impl ClockReading {
    pub(super) fn now(clock: &dyn Clock) -> Self {
        Self { wall: clock.now(), monotonic: clock.monotonic() }
    }
}

/// Whether a lease is still held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaseState {
    Held,
    Lost,
}

impl Lease {
    /// The lease that this entry says, sent at this moment.
    pub(super) fn new(entry: ShardEntry, sent_at: ClockReading) -> Self {
        Self {
            arn: StreamArn(entry.stream.clone()),
            shard: ShardId(entry.shard.clone()),
            duration: Duration::from_millis(entry.lease_ms),
            done_before: (entry.handled, entry.set_aside),
            entry: Mutex::new(entry),
            renewed_at: Mutex::new(sent_at),
            writing: tokio::sync::Mutex::default(),
            leave: watch::Sender::new(false),
            behind: Mutex::default(),
        }
    }

    pub(super) fn entry(&self) -> MutexGuard<'_, ShardEntry> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the next record is.
    pub(super) fn begins(&self) -> ShardPosition {
        let entry = self.entry();
        match (&entry.position, &entry.start_at) {
            (Some(position), _) => ShardPosition::After(SequenceNumber(position.clone())),
            (None, Some(start)) => ShardPosition::At(SequenceNumber(start.clone())),
            (None, None) => ShardPosition::TrimHorizon,
        }
    }

    /// How many records were handled and set aside under this lease.
    pub(super) fn done_since_taken(&self) -> (u64, u64) {
        let entry = self.entry();
        let (handled, set_aside) = self.done_before;
        (entry.handled - handled, entry.set_aside - set_aside)
    }

    /// Asks whoever works on the shard to leave it after the record at hand.
    pub(super) fn request_release(&self) {
        self.leave.send_replace(true);
    }

    pub(super) fn release_requested(&self) -> bool {
        *self.leave.borrow()
    }

    /// Waits until the shard is to be left.
    pub(super) async fn wait_for_release_request(&self) {
        // The sender lives as long as the lease.
        let _ = self.leave.subscribe().wait_for(|leave| *leave).await;
    }

    /// The shard has come to this record.
    pub(super) fn start_record(&self, record: &Record, metrics: &Metrics) {
        self.set_record_time(Some(record.created_at), metrics);
    }

    /// Everything that is there has been handled.
    pub(super) fn reach_end(&self, now: Timestamp, metrics: &Metrics) {
        self.entry().caught_up_at = Some(now.to_millis());
        self.set_record_time(None, metrics);
    }

    fn set_record_time(&self, behind: Option<Timestamp>, metrics: &Metrics) {
        *self.behind.lock().unwrap_or_else(PoisonError::into_inner) = behind;
        metrics.set_lag(&self.shard, behind);
    }

    fn behind(&self) -> Option<Timestamp> {
        *self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shard has come past this record.
    pub(super) fn finish_record(&self, record: &Record) {
        let mut entry = self.entry();
        entry.position = Some(record.sequence_number.0.clone());
        entry.record_at = Some(record.created_at);
        entry.caught_up_at = None;
        entry.start_at = None;
        entry.panicked = None;
    }

    /// How often the handler has panicked at this record, under this lease and those before it.
    pub(super) fn panics(&self, record: &Record) -> u32 {
        let entry = self.entry();
        let of_record = |panicked: &&Panicked| panicked.number == record.sequence_number.0;
        entry.panicked.as_ref().filter(of_record).map_or(0, |panicked| panicked.times)
    }

    /// Counts a panic at this record. It is in the store after the next write.
    pub(super) fn note_panic(&self, record: &Record) {
        let times = self.panics(record).saturating_add(1);
        let number = record.sequence_number.0.clone();
        self.entry().panicked = Some(Panicked { number, times });
    }

    /// Makes sure that the lease is held before a record is begun: one that may have lapsed, because
    /// something has kept the thread, is renewed, unless another worker has taken the shard.
    pub(super) async fn confirm(
        &self,
        ledger: &CheckpointTable,
        clock: &dyn Clock,
    ) -> Result<LeaseState> {
        if self.may_have_expired(clock) {
            return self.save(ledger, clock).await;
        }
        Ok(LeaseState::Held)
    }

    /// Monotonic time may stand still while the machine is suspended, which the wall time shows.
    fn may_have_expired(&self, clock: &dyn Clock) -> bool {
        let (now, renewed) = (ClockReading::now(clock), self.renewed_at());
        let limit = self.limit();
        now.monotonic.since(renewed.monotonic) >= limit || now.wall.since(renewed.wall) >= limit
    }

    /// How long the owner counts on the lease: a tenth is left for clocks that do not run alike.
    fn limit(&self) -> Duration {
        self.duration - self.duration / 10
    }

    /// Writes how far the shard is, and renews the lease with it.
    pub(super) async fn save(
        &self,
        ledger: &CheckpointTable,
        clock: &dyn Clock,
    ) -> Result<LeaseState> {
        self.write(ledger, clock, |_| {}).await
    }

    /// Writes how far the shard is, and that nobody has it.
    pub(super) async fn release(
        &self,
        ledger: &CheckpointTable,
        clock: &dyn Clock,
    ) -> Result<LeaseState> {
        self.write(ledger, clock, |entry| entry.owner = None).await
    }

    /// Writes that the shard is finished.
    pub(super) async fn finish(
        &self,
        ledger: &CheckpointTable,
        clock: &dyn Clock,
    ) -> Result<LeaseState> {
        let finish = |entry: &mut ShardEntry| {
            entry.owner = None;
            entry.finished = true;
        };
        self.write(ledger, clock, finish).await
    }

    async fn write(
        &self,
        ledger: &CheckpointTable,
        clock: &dyn Clock,
        change: impl FnOnce(&mut ShardEntry),
    ) -> Result<LeaseState> {
        let _alone = self.writing.lock().await;
        let sent_at = ClockReading::now(clock);
        let present = self.entry().clone();
        let mut next = ShardEntry {
            counter: present.counter + 1,
            written_at: sent_at.wall.to_millis(),
            ..present.clone()
        };
        let lag = self.behind().map_or(Duration::ZERO, |at| sent_at.wall.since(at));
        next.lag_ms = u64::try_from(lag.as_millis()).unwrap_or(u64::MAX);
        change(&mut next);
        // An entry that is gone was finished, and nobody's.
        match ledger.write(&next, present.is_unchanged().and(attr("finished").eq(false))).await? {
            WriteOutcome::Done => {
                self.entry().counter = next.counter;
                *self.renewed_at.lock().unwrap_or_else(PoisonError::into_inner) = sent_at;
                Ok(LeaseState::Held)
            }
            WriteOutcome::Lost => Ok(LeaseState::Lost),
        }
    }

    /// Renews the lease while it is held: ends when it is lost.
    ///
    /// # Errors
    /// Those of the store that do not pass by themselves.
    pub(super) async fn renew_until_lost(
        &self,
        ledger: &CheckpointTable,
        clock: &dyn Clock,
    ) -> Result<()> {
        let renewing = std::pin::pin!(self.renew(ledger, clock));
        let lapsing = std::pin::pin!(self.wait_until_expired(clock));
        match futures::future::select(renewing, lapsing).await {
            futures::future::Either::Left((result, _)) => result,
            futures::future::Either::Right(((), _)) => Ok(()),
        }
    }

    async fn renew(&self, ledger: &CheckpointTable, clock: &dyn Clock) -> Result<()> {
        loop {
            clock.sleep_until(self.renewed_at().monotonic + self.duration / 3).await;
            match self.save(ledger, clock).await {
                Ok(LeaseState::Held) => {}
                Ok(LeaseState::Lost) => return Ok(()),
                // The lease may outlast what is wrong with the store.
                Err(error) if error.retry() != Retry::Never => {
                    clock.sleep_until(clock.monotonic() + self.duration / 10).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until the lease could not be renewed in time.
    async fn wait_until_expired(&self, clock: &dyn Clock) {
        loop {
            let end = self.renewed_at().monotonic + self.limit();
            clock.sleep_until(end).await;
            if self.renewed_at().monotonic + self.limit() <= end {
                return;
            }
        }
    }

    fn renewed_at(&self) -> ClockReading {
        *self.renewed_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
