//! Group commit: executes the jobs of a write group in one transaction, with one fsync.
//!
//! `inline` and `thread` decide when a group begins and on which thread.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tabla_core::{Applied, Error, ErrorKind, Result, Retry, env};

use super::job::{GroupOutcome, SweepJob, WriteJob};
use super::queue::Queue;
use super::{Shared, statement};
use crate::error::from_sqlite;
use crate::session::Session;
use crate::wal::{self, Wal};

/// Maximum number of items that a group writes, unless its first job alone writes more. With items
/// of usual size the group then holds the file's write lock for a few milliseconds.
const MAX_ITEMS: usize = 256;

/// Write group: jobs that one transaction executes in order.
pub(super) struct Group {
    /// Jobs of callers, oldest first.
    pub(super) jobs: Vec<Box<dyn WriteJob>>,
    /// Sweep step, which comes last.
    pub(super) step: Option<Box<SweepJob>>,
}

impl Group {
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.step.is_none()
    }

    /// Executes the jobs, then `own` (the calling thread's own job, which was not queued), then the
    /// sweep step. After a failure of SQLite the rest is not executed.
    pub(super) fn run(&mut self, session: &mut Session<'_>, own: Option<&mut (dyn WriteJob + '_)>) {
        let queued = self.jobs.iter_mut().map(|job| &mut **job as &mut dyn WriteJob);
        let step = self.step.iter_mut().map(|step| &mut **step as &mut dyn WriteJob);
        for job in queued.chain(own).chain(step) {
            job.run(session);
            if session.has_failed() {
                break;
            }
        }
    }

    /// Reports the result of each job.
    pub(super) fn complete(self, outcome: &GroupOutcome, queue: &Queue) {
        for job in self.jobs {
            job.complete(outcome, queue);
        }
        if let Some(step) = self.step {
            step.complete(outcome, queue);
        }
    }
}

/// Function that executes the jobs of a group in its transaction.
pub(super) type Work<'w> = dyn FnMut(&mut Session<'_>) + 'w;

impl Shared {
    /// Takes the next group from the queue: [`Queue::take_group`]. On a disk that is short of space
    /// each job is committed alone.
    pub(super) fn take_group(&self, own_items: Option<usize>, lone_step: bool) -> Group {
        let is_disk_short = self.wal.as_ref().is_some_and(Wal::is_disk_short);
        let max_items = if is_disk_short { 1 } else { MAX_ITEMS };
        self.queue.take_group(max_items, own_items, lone_step)
    }

    /// Executes and commits a group. While another process writes, it waits, at most for the
    /// configured busy timeout.
    pub(super) fn execute(&self, connection: &Connection, work: &mut Work<'_>) -> GroupOutcome {
        // Short and irregular waits: a process that writes without pause leaves the lock for a
        // moment only, and frequent attempts meet that moment sooner.
        let mut waited = Duration::ZERO;
        loop {
            if let Some(outcome) = self.try_execute(connection, work) {
                return outcome;
            }
            if waited >= self.busy_timeout {
                let message = format!(
                    "another process has been writing to the file for {} ms; retry, or set a longer \
                     busy timeout (option `busy` of the address)",
                    waited.as_millis()
                );
                let error = Error::new(ErrorKind::Unavailable, message).with_retry(Retry::Later);
                return GroupOutcome::Failed(error, Applied::No);
            }
            let pause = Duration::from_micros(100 + self.env.random.next_u64() % 900);
            env::block(pause);
            waited += pause;
        }
    }

    /// Executes and commits a group; `None` if nothing was executed, because another process
    /// is writing.
    pub(super) fn try_execute(
        &self,
        connection: &Connection,
        work: &mut Work<'_>,
    ) -> Option<GroupOutcome> {
        let is_short = |wal: &&Wal| wal.is_disk_short() && !wal.reclaim(connection);
        let short = self.wal.as_ref().filter(is_short);
        match statement(connection, "BEGIN IMMEDIATE") {
            Ok(()) => {}
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                return None;
            }
            Err(error) => return Some(GroupOutcome::Failed(from_sqlite(error), Applied::No)),
        }
        let outcome = self.execute_begun(connection, short, work).unwrap_or_else(|failed| failed);
        if !matches!(outcome, GroupOutcome::Committed) && !connection.is_autocommit() {
            // SQLite may have rolled back by itself; if this fails, so will the next BEGIN.
            let _ = statement(connection, "ROLLBACK");
        }
        Some(outcome)
    }

    /// Executes a group whose transaction has begun, and commits it. `short` is the file's WAL, if
    /// its disk is so full that no item may grow.
    ///
    /// # Errors
    /// [`GroupOutcome::Failed`]. The caller rolls the transaction back.
    fn execute_begun(
        &self,
        connection: &Connection,
        short: Option<&Wal>,
        work: &mut Work<'_>,
    ) -> Result<GroupOutcome, GroupOutcome> {
        let failed = |error| GroupOutcome::Failed(error, Applied::No);
        let (catalogue, taken) = self.current_state(connection).map_err(failed)?;
        let kept = (&self.item_counts, &self.record_log);
        let mut session = Session::new(connection, catalogue, kept, &self.numbers, &self.env);
        (session.taken, session.short) = (taken, short);
        work(&mut session);
        if session.has_failed() {
            let error = session.failure();
            return Err(failed(self.with_file_name(error, session.is_disk_full)));
        }
        if let Err(error) = session.finish() {
            return Err(failed(self.with_file_name(error, session.is_disk_full)));
        }
        let (catalogue, is_changed) =
            (Arc::clone(&session.catalogue), session.is_catalogue_changed());
        let (pages, counts) = (session.written().pages(), session.take_counts());
        let archived = std::mem::take(&mut session.record_log_changes);
        let (block, wants_maintenance) = (session.block, session.wants_maintenance);
        if let Err(error) = statement(connection, "COMMIT") {
            self.numbers.reset();
            let is_disk_full = wal::is_disk_full(&error);
            let error = self.with_file_name(from_sqlite(error), is_disk_full);
            return Err(GroupOutcome::Failed(error, Applied::Maybe));
        }
        if is_changed {
            self.publish(catalogue);
        }
        self.item_counts.commit(counts);
        self.record_log.commit(archived);
        self.numbers.commit(block);
        if self.wal.as_ref().is_some_and(|wal| wal.count(pages, connection)) {
            self.queue.request_checkpoint();
        }
        if wants_maintenance {
            self.queue.request_maintenance();
        }
        Ok(GroupOutcome::Committed)
    }

    /// Returns the error of a group, with the name of the file if its disk was full.
    fn with_file_name(&self, error: Error, is_disk_full: bool) -> Error {
        match &self.wal {
            Some(wal) if is_disk_full => wal.disk_full_error(&error),
            _ => error,
        }
    }
}
