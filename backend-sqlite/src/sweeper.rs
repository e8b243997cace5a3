//! Schedule and progress of the store's own sweeps.
//!
//! The writer's thread owns the [`Sweeper`]. Once per period it checks for expired items. If
//! there are any and no other store holds the sweep lease, it queues a [`SweepStep`]. Write groups
//! execute the step again and again, each time a few items, until it reports a [`SweepEnd`], which
//! the thread hands back to the sweeper. The writer decides when a step runs and in which group.
//! This module knows no connection, lock or thread.

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use tabla_core::Result;
use tabla_core::env::{Env, Timestamp};
use tokio::sync::watch;

use crate::session::Session;
use crate::sweep::{StepOutcome, Sweep, SweepCheck};

/// Maximum number of items that a step deletes: it then takes about as long as a write with fsync.
const STEP_ITEMS: usize = 8;

/// Minimum period: with zero, the thread would check for expired items without pause.
const MIN_PERIOD: Duration = Duration::from_millis(1);

/// Statistics of a store's own sweeps since it was opened, as [`SqliteStore::sweeps`] returns them.
///
/// [`SqliteStore::sweeps`]: crate::SqliteStore::sweeps
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sweeps {
    /// Number of sweeps that have ended, including those that found nothing.
    pub count: u64,
    /// Number of deleted items, including those of a sweep that is under way.
    pub deleted: u64,
    /// Time at which the last sweep ended, by the store's clock; `None` before the first.
    pub last: Option<Timestamp>,
    /// First problem that kept the last sweep from deleting every expired item, as a message. The
    /// next sweep tries these items again.
    pub problem: Option<String>,
}

/// Scheduler of a store's own sweeps: decides when one begins, and records how it ended.
pub(crate) struct Sweeper {
    env: Env,
    /// Time between the end of a sweep and the next check for expired items; `None` if the store
    /// never sweeps.
    period: Option<Duration>,
    /// Time of the next check for expired items.
    next: Timestamp,
    is_under_way: bool,
    /// The store's name in the sweep lease; `None` in memory, where there is no lease.
    holder: Option<Arc<str>>,
    sweeps: Arc<watch::Sender<Sweeps>>,
}

/// The next step of the sweep that is under way.
pub(crate) struct SweepStep {
    sweep: Sweep,
    /// State of the sweep before the step; `None` until the step has been executed.
    before: Option<Sweep>,
    holder: Option<Arc<str>>,
    sweeps: Arc<watch::Sender<Sweeps>>,
}

/// Outcome of a sweep.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SweepEnd {
    /// The sweep has ended; `problem` is why some expired items were not deleted.
    Done { problem: Option<String> },
    /// Another store holds the sweep lease until this time or longer.
    Leased(Timestamp),
}

impl Sweeper {
    pub(crate) fn new(
        period: Option<Duration>,
        is_file: bool,
        env: &Env,
        sweeps: Arc<watch::Sender<Sweeps>>,
    ) -> Self {
        let period = period.map(|period| period.max(MIN_PERIOD));
        Self {
            env: env.clone(),
            period,
            next: env.clock.now() + period.unwrap_or_default(),
            is_under_way: false,
            holder: is_file.then(|| env.token().into()),
            sweeps,
        }
    }

    /// Returns the store's name in the sweep lease; `None` in memory.
    pub(crate) fn holder(&self) -> Option<&str> {
        self.holder.as_deref()
    }

    /// Returns the time until the next check for expired items. `None` if the store does not sweep,
    /// a sweep is under way, or a manual clock has to move first: its move wakes `waker`.
    pub(crate) fn until_due(&mut self, waker: &Waker) -> Option<Duration> {
        let period = self.period.filter(|_| !self.is_under_way)?;
        // Registered before the clock is read, so that no move of the clock is missed.
        self.env.clock.wake_on_change(waker.clone());
        let remaining = self.env.clock.remaining(self.next)?;
        if remaining > period {
            // The clock was set back.
            self.next = self.env.clock.now() + period;
        }
        Some(remaining.min(period))
    }

    /// Returns the current time, if a check for expired items is due.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        let now = self.env.clock.now();
        (self.period.is_some() && !self.is_under_way && now >= self.next).then_some(now)
    }

    /// Begins a sweep if `check` has found expired items at `now`, and returns its first step.
    /// Otherwise schedules the next check.
    pub(crate) fn begin(&mut self, now: Timestamp, check: Result<SweepCheck>) -> Option<SweepStep> {
        match check {
            Ok(SweepCheck::Expired) => {
                self.is_under_way = true;
                return Some(SweepStep {
                    sweep: Sweep::new(now, STEP_ITEMS),
                    before: None,
                    holder: self.holder.clone(),
                    sweeps: Arc::clone(&self.sweeps),
                });
            }
            Ok(SweepCheck::NothingExpired) => self.finish(SweepEnd::Done { problem: None }),
            Ok(SweepCheck::Leased(until)) => self.finish(SweepEnd::Leased(until)),
            Err(error) => {
                self.finish(SweepEnd::Done { problem: Some(error.message().to_owned()) });
            }
        }
        None
    }

    /// Records the end of a sweep in the statistics, and schedules the next check.
    pub(crate) fn finish(&mut self, end: SweepEnd) {
        self.is_under_way = false;
        match end {
            SweepEnd::Leased(until) => self.next = until,
            SweepEnd::Done { problem } => {
                let now = self.env.clock.now();
                self.next = now + self.period.unwrap_or_default();
                self.sweeps.send_modify(|sweeps| {
                    sweeps.count += 1;
                    sweeps.last = Some(now);
                    sweeps.problem = problem;
                });
            }
        }
    }
}

impl SweepStep {
    /// Executes the step in a write group, unless another store holds the sweep lease. It deletes
    /// at most `limit` items.
    pub(crate) fn execute(
        &mut self,
        session: &mut Session<'_>,
        limit: usize,
    ) -> Result<StepOutcome> {
        self.before = Some(self.sweep.clone());
        if let Some(holder) = &self.holder
            && let Some(until) = session.acquire_sweep_lease(holder)?
        {
            return Ok(StepOutcome::Leased(until));
        }
        session.sweep(&mut self.sweep, limit)
    }

    /// Continues after a step that was committed, or failed and was rolled back: this becomes the
    /// next step, unless the sweep has ended.
    pub(crate) fn advance(&mut self, result: Result<StepOutcome>) -> Option<SweepEnd> {
        let before = self.before.take().unwrap_or_else(|| self.sweep.clone());
        match result {
            Ok(outcome) => {
                let deleted = self.sweep.deleted - before.deleted;
                self.sweeps.send_if_modified(|sweeps| {
                    sweeps.deleted += deleted as u64;
                    deleted > 0
                });
                match outcome {
                    StepOutcome::More => None,
                    StepOutcome::Done => {
                        Some(SweepEnd::Done { problem: self.sweep.problem.take() })
                    }
                    StepOutcome::Leased(until) => Some(SweepEnd::Leased(until)),
                }
            }
            Err(error) => match self.sweep.clone().after_failure(before, &error) {
                Some(next) => {
                    self.sweep = next;
                    None
                }
                None => Some(SweepEnd::Done { problem: Some(error.message().to_owned()) }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::env::{Clock, ManualClock};
    use tabla_core::{Error, ErrorKind, Retry};

    use super::*;

    const PERIOD: Duration = Duration::from_secs(60);

    fn sweeper(period: Option<Duration>) -> (ManualClock, Sweeper, watch::Receiver<Sweeps>) {
        let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
        let sweeps = Arc::new(watch::Sender::new(Sweeps::default()));
        let receiver = sweeps.subscribe();
        let sweeper = Sweeper::new(period, true, &Env::test(clock.clone(), 1), sweeps);
        (clock, sweeper, receiver)
    }

    #[test]
    fn sweep_is_due_one_period_after_the_end_of_the_last() {
        let (clock, mut sweeper, sweeps) = sweeper(Some(PERIOD));
        clock.advance(PERIOD - Duration::from_secs(1));
        assert_eq!((sweeper.due(), sweeper.until_due(Waker::noop())), (None, None));
        clock.advance(Duration::from_secs(1));
        assert_eq!(sweeper.until_due(Waker::noop()), Some(Duration::ZERO));
        let now = sweeper.due().unwrap();
        assert!(sweeper.begin(now, Ok(SweepCheck::Expired)).is_some());
        clock.advance(2 * PERIOD);
        assert_eq!(sweeper.due(), None, "no second sweep begins while one is under way");
        assert_eq!(sweeper.until_due(Waker::noop()), None);
        sweeper.finish(SweepEnd::Done { problem: None });
        assert_eq!(sweeper.due(), None);
        assert_eq!((sweeps.borrow().count, sweeps.borrow().last), (1, Some(clock.now())));
        clock.advance(PERIOD);
        assert_eq!(sweeper.due(), Some(clock.now()));
    }

    #[test]
    fn sweeper_without_period_is_never_due() {
        let (clock, mut sweeper, _) = sweeper(None);
        clock.advance(1000 * PERIOD);
        assert_eq!((sweeper.due(), sweeper.until_due(Waker::noop())), (None, None));
    }

    #[test]
    fn lease_of_another_store_postpones_the_sweep_without_counting_it() {
        let (clock, mut sweeper, sweeps) = sweeper(Some(PERIOD));
        clock.advance(PERIOD);
        let now = sweeper.due().unwrap();
        let until = now + Duration::from_secs(10);
        assert!(sweeper.begin(now, Ok(SweepCheck::Leased(until))).is_none());
        clock.advance(Duration::from_secs(9));
        assert_eq!(sweeper.due(), None);
        clock.advance(Duration::from_secs(1));
        assert_eq!(sweeper.due(), Some(until));
        assert_eq!(sweeps.borrow().count, 0);
    }

    #[test]
    fn step_that_never_ran_leaves_the_sweep_unchanged() {
        let (clock, mut sweeper, sweeps) = sweeper(Some(PERIOD));
        clock.advance(PERIOD);
        let now = sweeper.due().unwrap();
        let mut step = sweeper.begin(now, Ok(SweepCheck::Expired)).unwrap();
        step.sweep.deleted = 3;
        let failure = || Error::new(ErrorKind::Unexpected, "another job failed");
        assert_eq!(step.advance(Err(failure().with_retry(Retry::Never))), None);
        assert_eq!((step.sweep.deleted, step.sweep.step_items), (3, 1));
        let full = Error::new(ErrorKind::Unavailable, "full").with_retry(Retry::Exhausted);
        let end = SweepEnd::Done { problem: Some("full".to_owned()) };
        assert_eq!(step.advance(Err(full)), Some(end));
        assert_eq!(sweeps.borrow().deleted, 0);
    }
}
