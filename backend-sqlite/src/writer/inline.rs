//! Inline writes: if a commit needs no fsync, callers execute groups on their own threads.
//!
//! Handing a write of ten microseconds over to another thread would take longer than the write. A
//! caller that finds the connection free executes a group of the waiting jobs and its own. A caller
//! that does not queues its job. Rule 1 of [`super::queue`] ensures that each queued job is
//! executed.

use std::sync::{MutexGuard, TryLockError};

use rusqlite::Connection;

use super::Shared;
use super::job::{GroupOutcome, WriteJob};

impl Shared {
    /// Executes the job of a caller on the caller's thread, together with the waiting jobs. `None`
    /// if the job was not executed, because the connection is taken or another process is writing.
    pub(super) fn write_inline(&self, own: &mut dyn WriteJob) -> Option<GroupOutcome> {
        let connection = self.try_connection()?;
        self.try_group(connection, Some(own))
    }

    /// Executes a group of the waiting jobs, unless the connection is taken. The writer's thread
    /// executes the jobs that are left.
    ///
    /// Must be called after releasing the connection, and after queueing a job.
    pub(super) fn execute_queued(&self) {
        if !self.queue.has_jobs() {
            return;
        }
        let Some(connection) = self.try_connection() else { return };
        self.try_group(connection, None);
        // The connection is free again, so rule 1 requires another check of the queue.
        if self.queue.has_jobs() {
            self.queue.notify();
        }
    }

    fn try_connection(&self) -> Option<MutexGuard<'_, Connection>> {
        match self.connection.try_lock() {
            Ok(connection) => Some(connection),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Executes a group of the waiting jobs and `own`, and releases the connection. `None` if
    /// nothing was executed, because there is no job or another process is writing.
    fn try_group(
        &self,
        connection: MutexGuard<'_, Connection>,
        mut own: Option<&mut dyn WriteJob>,
    ) -> Option<GroupOutcome> {
        let own_items = own.as_ref().map(|own| own.items());
        let mut group = self.take_group(own_items, false);
        if group.is_empty() && own.is_none() {
            return None;
        }
        let outcome = self.try_execute(&connection, &mut |session| {
            group.run(session, own.as_deref_mut());
        });
        drop(connection);
        match &outcome {
            Some(outcome) => group.complete(outcome, &self.queue),
            // The thread can wait for the other process.
            None => self.queue.put_back(group),
        }
        outcome
    }
}

/// Guard that executes waiting jobs when it is dropped. Declared before the connection is taken, it
/// is dropped after the connection is released, also if a panic comes in between.
pub(super) struct ExecuteQueuedOnDrop<'s>(pub(super) &'s Shared);

impl Drop for ExecuteQueuedOnDrop<'_> {
    fn drop(&mut self) {
        self.0.execute_queued();
    }
}
