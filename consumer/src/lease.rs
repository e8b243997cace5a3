//! Leases of shards and their renewal.
//!
//! Entries are stored in `checkpoint_table`; `worker` takes the leases.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::checkpoint_table::{CheckpointTable, Panicked, ShardEntry, WriteOutcome};
use super::metrics::Metrics;
use tabla_core::attr;
use tabla_core::env::{Clock, Monotonic, Timestamp};
use tabla_core::ops::{Record, SequenceNumber, ShardId, ShardPosition, StreamArn};
use tabla_core::{Result, Retry};

/// Lease of a shard, with the checkpoint of the shard.
///
/// Every write of the entry increments its counter, on the condition that no other worker has
/// written it. So a worker without the lease cannot move the checkpoint. Another worker takes
/// over after it has seen the counter unchanged for the whole lease duration. The owner counts from
/// before it sent its last write, and stops earlier. Both use monotonic time, which a step of the
/// clock does not change.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) arn: StreamArn,
    pub(super) shard: ShardId,
    entry: Mutex<ShardEntry>,
    /// Time at which the last successful write was sent.
    renewed_at: Mutex<ClockReading>,
    /// Lock for writes of the entry, which orders checkpoint and renewal.
    writing: tokio::sync::Mutex<()>,
    leave: watch::Sender<bool>,
    /// Creation time of the current or last record; `None` at the end of the shard.
    behind: Mutex<Option<Timestamp>>,
    duration: Duration,
    /// Numbers of records handled and set aside when the lease was taken.
    done_before: (u64, u64),
}

/// Wall time and monotonic time of one moment.
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

/// State of a lease after a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaseState {
    Held,
    Lost,
}

impl Lease {
    /// Creates the lease of a written entry; `sent_at` is the time before the write.
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

    /// Position of the next record.
    pub(super) fn begins(&self) -> ShardPosition {
        let entry = self.entry();
        match (&entry.position, &entry.start_at) {
            (Some(position), _) => ShardPosition::After(SequenceNumber(position.clone())),
            (None, Some(start)) => ShardPosition::At(SequenceNumber(start.clone())),
            (None, None) => ShardPosition::TrimHorizon,
        }
    }

    /// Numbers of records handled and set aside under this lease.
    pub(super) fn done_since_taken(&self) -> (u64, u64) {
        let entry = self.entry();
        let (handled, set_aside) = self.done_before;
        (entry.handled - handled, entry.set_aside - set_aside)
    }

    /// Requests the release of the shard after the current record.
    pub(super) fn request_release(&self) {
        self.leave.send_replace(true);
    }

    pub(super) fn release_requested(&self) -> bool {
        *self.leave.borrow()
    }

    /// Waits for a request to release the shard.
    pub(super) async fn wait_for_release_request(&self) {
        // The sender lives as long as the lease.
        let _ = self.leave.subscribe().wait_for(|leave| *leave).await;
    }

    /// Records that the handling of this record begins.
    pub(super) fn start_record(&self, record: &Record, metrics: &Metrics) {
        self.set_record_time(Some(record.created_at), metrics);
    }

    /// Records that the end of the shard has been reached.
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

    /// Moves the position past this record.
    pub(super) fn finish_record(&self, record: &Record) {
        let mut entry = self.entry();
        entry.position = Some(record.sequence_number.0.clone());
        entry.record_at = Some(record.created_at);
        entry.caught_up_at = None;
        entry.start_at = None;
        entry.panicked = None;
    }

    /// Number of panics at this record, under this lease and earlier ones.
    pub(super) fn panics(&self, record: &Record) -> u32 {
        let entry = self.entry();
        let of_record = |panicked: &&Panicked| panicked.number == record.sequence_number.0;
        entry.panicked.as_ref().filter(of_record).map_or(0, |panicked| panicked.times)
    }

    /// Counts a panic at this record. The next write stores the count.
    pub(super) fn note_panic(&self, record: &Record) {
        let times = self.panics(record).saturating_add(1);
        let number = record.sequence_number.0.clone();
        self.entry().panicked = Some(Panicked { number, times });
    }

    /// Checks that the lease is held, before a record is started.
    ///
    /// A lease that may have expired, because the thread was blocked, is renewed, unless another
    /// worker has taken the shard.
    pub(super) async fn confirm(
        &self,
        checkpoint_table: &CheckpointTable,
        clock: &dyn Clock,
    ) -> Result<LeaseState> {
        if self.may_have_expired(clock) {
            return self.save(checkpoint_table, clock).await;
        }
        Ok(LeaseState::Held)
    }

    /// Whether the lease may have expired, by monotonic time or by wall time. Monotonic time can
    /// stand still while the machine is suspended.
    fn may_have_expired(&self, clock: &dyn Clock) -> bool {
        let (now, renewed) = (ClockReading::now(clock), self.renewed_at());
        let limit = self.limit();
        now.monotonic.since(renewed.monotonic) >= limit || now.wall.since(renewed.wall) >= limit
    }

    /// Time after which the owner stops relying on the lease: 90 % of its duration, as a margin for
    /// clocks that run at different speeds.
    fn limit(&self) -> Duration {
        self.duration - self.duration / 10
    }

    /// Writes the checkpoint, which also renews the lease.
    pub(super) async fn save(
        &self,
        checkpoint_table: &CheckpointTable,
        clock: &dyn Clock,
    ) -> Result<LeaseState> {
        self.write(checkpoint_table, clock, |_| {}).await
    }

    /// Writes the checkpoint and releases the lease.
    pub(super) async fn release(
        &self,
        checkpoint_table: &CheckpointTable,
        clock: &dyn Clock,
    ) -> Result<LeaseState> {
        self.write(checkpoint_table, clock, |entry| entry.owner = None).await
    }

    /// Writes that the shard is finished.
    pub(super) async fn finish(
        &self,
        checkpoint_table: &CheckpointTable,
        clock: &dyn Clock,
    ) -> Result<LeaseState> {
        let finish = |entry: &mut ShardEntry| {
            entry.owner = None;
            entry.finished = true;
        };
        self.write(checkpoint_table, clock, finish).await
    }

    async fn write(
        &self,
        checkpoint_table: &CheckpointTable,
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
        // A deleted entry was finished and has no owner.
        match checkpoint_table
            .write(&next, present.is_unchanged().and(attr("finished").eq(false)))
            .await?
        {
            WriteOutcome::Done => {
                self.entry().counter = next.counter;
                *self.renewed_at.lock().unwrap_or_else(PoisonError::into_inner) = sent_at;
                Ok(LeaseState::Held)
            }
            WriteOutcome::Lost => Ok(LeaseState::Lost),
        }
    }

    /// Renews the lease repeatedly; returns when it is lost.
    ///
    /// # Errors
    /// Errors of the store that a retry does not resolve.
    pub(super) async fn renew_until_lost(
        &self,
        checkpoint_table: &CheckpointTable,
        clock: &dyn Clock,
    ) -> Result<()> {
        let renewing = std::pin::pin!(self.renew(checkpoint_table, clock));
        let lapsing = std::pin::pin!(self.wait_until_expired(clock));
        match futures::future::select(renewing, lapsing).await {
            futures::future::Either::Left((result, _)) => result,
            futures::future::Either::Right(((), _)) => Ok(()),
        }
    }

    async fn renew(&self, checkpoint_table: &CheckpointTable, clock: &dyn Clock) -> Result<()> {
        loop {
            clock.sleep_until(self.renewed_at().monotonic + self.duration / 3).await;
            match self.save(checkpoint_table, clock).await {
                Ok(LeaseState::Held) => {}
                Ok(LeaseState::Lost) => return Ok(()),
                // The failure of the store may end before the lease does.
                Err(error) if error.retry() != Retry::Never => {
                    clock.sleep_until(clock.monotonic() + self.duration / 10).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until the lease expires without a renewal.
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
