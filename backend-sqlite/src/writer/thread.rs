//! Thread of the writer: executes the groups of durable stores, the jobs that inline callers leave,
//! and the maintenance, checkpoints and sweeps of all stores.
//!
//! Groups on the threads of callers are in `inline`.

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use tabla_core::env::Timestamp;
use tabla_core::{Result, Retry};

use super::job::{CallerJob, WriteJob};
use super::queue::State;
use super::{Shared, statement};
use crate::error::from_sqlite;
use crate::session::Session;
use crate::sweep::{self, SweepCheck};
use crate::sweeper::{SweepEnd, Sweeper};
use crate::{maintenance, streams};

/// Number of times that the thread polls the queue, with a yield after each, before it sleeps.
const LINGER: usize = 100;

/// Time that the thread sleeps before it retries maintenance that has failed: another process may
/// be writing, or the disk be full.
const MAINTENANCE_PAUSE: Duration = Duration::from_secs(1);

/// State of the writer's thread.
pub(super) struct WriterThread {
    shared: Arc<Shared>,
    sweeper: Sweeper,
    /// Wakes the thread when a manual clock is moved.
    waker: Waker,
    /// Time left until failed maintenance is retried.
    maintenance_retry: Option<Duration>,
}

/// Work for the thread after it was woken, besides the waiting jobs.
struct Requests {
    sweep_end: Option<SweepEnd>,
    /// Whether to execute the sweep step alone, if no jobs wait.
    lone_step: bool,
    maintenance: bool,
    checkpoint: bool,
}

impl WriterThread {
    pub(super) fn new(shared: Arc<Shared>, sweeper: Sweeper) -> Self {
        let waker = Waker::from(Arc::clone(&shared.queue));
        Self { shared, sweeper, waker, maintenance_retry: None }
    }

    /// Works until the store is dropped and no jobs are left.
    pub(super) fn run(mut self) {
        while let Some(requests) = self.wait() {
            if let Some(end) = requests.sweep_end {
                self.sweeper.finish(end);
            }
            self.begin_sweep();
            self.write_group(requests.lone_step);
            if requests.maintenance {
                self.maintain();
            }
            if requests.checkpoint {
                self.checkpoint();
            }
        }
        self.shared.queue.lock().sweep.clear();
    }

    /// Sleeps until there is something to do; `None` if the thread is to end.
    fn wait(&mut self) -> Option<Requests> {
        self.linger();
        let shared = Arc::clone(&self.shared);
        let mut state = shared.queue.lock();
        while state.is_idle() {
            let longest = self.longest_sleep(&state);
            if longest == Some(Duration::ZERO) {
                break;
            }
            let (guard, is_over) = shared.queue.sleep(state, longest);
            state = guard;
            if let Some(slept) = longest.filter(|_| is_over) {
                self.slept(&mut state, slept);
            }
        }
        if state.stop && state.jobs.is_empty() {
            return None;
        }
        Some(Requests {
            sweep_end: state.sweep.take_end(),
            lone_step: state.sweep.until_lone_step() == Some(Duration::ZERO),
            maintenance: std::mem::take(&mut state.maintenance),
            checkpoint: std::mem::take(&mut state.checkpoint),
        })
    }

    /// Polls the queue for a moment before the thread sleeps: a caller often sends its next write
    /// right after a response, and waking a thread takes longer than a cheap fsync. The yields
    /// leave the processor to other threads.
    fn linger(&self) {
        for _ in 0..LINGER {
            if !self.shared.queue.lock().is_idle() {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Returns the time until the thread has work that comes without a notification; `None` if
    /// there is no such work.
    fn longest_sleep(&mut self, state: &State) -> Option<Duration> {
        let sweep = match state.sweep.until_lone_step() {
            Some(time) => Some(time),
            None => self.sweeper.until_due(&self.waker),
        };
        sweep.into_iter().chain(self.maintenance_retry).min()
    }

    /// Subtracts time that the thread has slept from the pauses of sweep step and maintenance.
    fn slept(&mut self, state: &mut State, time: Duration) {
        state.sweep.slept(time);
        if let Some(left) = self.maintenance_retry {
            let left = left.saturating_sub(time);
            self.maintenance_retry = Some(left).filter(|left| !left.is_zero());
            state.maintenance |= left.is_zero();
        }
    }

    /// Executes a group of the waiting jobs. If none wait and `lone_step` is set, executes the
    /// sweep step alone.
    fn write_group(&self, lone_step: bool) {
        let shared = &*self.shared;
        if !lone_step && !shared.queue.has_jobs() {
            // An inline caller would find the connection taken although there is nothing to write.
            return;
        }
        let connection = shared.lock_connection();
        let mut group = shared.take_group(None, lone_step);
        if group.is_empty() {
            return;
        }
        let is_lone_step = group.jobs.is_empty();
        let mut work = |session: &mut Session<'_>| group.run(session, None);
        let outcome = match is_lone_step {
            // If another process is writing, the step can wait.
            true => shared.try_execute(&connection, &mut work),
            false => Some(shared.execute(&connection, &mut work)),
        };
        drop(connection);
        match outcome {
            Some(outcome) => group.complete(&outcome, &shared.queue),
            None => shared.queue.put_back(group),
        }
    }

    /// Begins a sweep if a check for expired items is due and finds some.
    fn begin_sweep(&mut self) {
        let Some(now) = self.sweeper.due() else { return };
        let check = self.shared.check_expired(now, self.sweeper.holder());
        if let Some(step) = self.sweeper.begin(now, check) {
            self.shared.queue.begin_sweep(step);
        }
    }

    /// Executes one step of maintenance, and requests another one if there is more to do.
    fn maintain(&mut self) {
        let shared = &*self.shared;
        let mut step = CallerJob::new(0, maintenance::run_step);
        let outcome = {
            let connection = shared.lock_connection();
            shared.execute(&connection, &mut |session| step.run(session))
        };
        match step.result(&outcome) {
            Ok(more) => {
                let mut state = shared.queue.lock();
                state.maintenance |= more && !state.stop;
            }
            Err(error) => {
                if error.retry() != Retry::Never {
                    self.maintenance_retry = Some(MAINTENANCE_PAUSE);
                }
                *shared.maintenance_failure() = Some(error);
                shared.changes.send_replace(());
            }
        }
    }

    /// Checkpoints the WAL.
    ///
    /// The first pass leaves the writing connection to inline callers. The second one copies what
    /// they have added, while they wait; without it, the WAL might never be copied to its end.
    fn checkpoint(&self) {
        if let Some(wal) = &self.shared.wal {
            wal.checkpoint_concurrently();
            wal.checkpoint(&self.shared.lock_connection());
        }
    }
}

impl Shared {
    /// Checks for expired items and for stream records to delete, without a write lock. If there
    /// are such records, requests maintenance.
    fn check_expired(&self, now: Timestamp, holder: Option<&str>) -> Result<SweepCheck> {
        let connection = self.lock_connection();
        statement(&connection, "BEGIN").map_err(from_sqlite)?;
        let check = self.current_state(&connection).and_then(|(catalogue, _)| {
            if streams::need_pruning(&connection, &self.record_log, now)? {
                self.queue.request_maintenance();
            }
            sweep::check(&connection, &catalogue, now, holder)
        });
        // The transaction has only read, so a failed COMMIT loses nothing.
        let _ = statement(&connection, "COMMIT");
        check
    }
}
