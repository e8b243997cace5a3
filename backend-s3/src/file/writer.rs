//! Group commit: transactions that wait for the catalogue are executed as one, with one sync.
//!
//! No thread waits for work. A caller that finds nobody at work leads: it executes the transactions
//! of all that wait, its own among them. After the commit, the first of those that have come in the
//! meantime leads the next group, so that no caller leads a second one.

use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use tabla_core::{Applied, Error, ErrorKind, Result, Retry};

use super::catalogue::in_transaction;
use super::error::with_path;
use super::rows::execute;

/// Changes of one transaction. Its error is a copy: the caller gets the original.
type Work = Box<dyn FnOnce(&Connection) -> Result<()> + Send>;

/// Caller that waits.
struct Member {
    work: Work,
    turn: Sender<Turn>,
}

/// Message to a caller that waits.
enum Turn {
    /// The caller leads the next group, which contains its own work.
    Lead,
    /// The group of the caller has been committed, or has failed as a whole.
    Ended(Result<()>),
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Member>,
    is_led: bool,
}

/// The connection that writes, and the callers that wait for it.
pub(super) struct Writer {
    /// Path of the catalogue, for errors.
    path: PathBuf,
    connection: Mutex<Connection>,
    queue: Mutex<Queue>,
}

impl Writer {
    pub(super) fn new(path: PathBuf, connection: Connection) -> Self {
        Self { path, connection: Mutex::new(connection), queue: Mutex::default() }
    }

    /// Executes work in the transaction of a group, and returns after its commit. It blocks: it
    /// waits for other writers, and for a sync.
    ///
    /// # Errors
    /// - Those of the work, whose own changes are rolled back.
    /// - Those of the group, of which nothing is committed; [`Applied::Maybe`] if the commit
    ///   itself failed.
    pub(super) fn transact<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let place = Arc::new(Mutex::new(None));
        let output = Arc::clone(&place);
        let path = self.path.clone();
        let ended = self.join(Box::new(move |connection| {
            let work = || work(connection).map_err(|error| with_path(error, &path));
            // A panic must not end the thread of the leader, which is another caller.
            let outcome = panic::catch_unwind(AssertUnwindSafe(work));
            let copy = match &outcome {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(error.without_source()),
                Err(_) => Err(panicked()),
            };
            *lock(&output) = Some(outcome);
            copy
        }));
        let own = lock(&place).take();
        match (ended, own) {
            (_, Some(Err(panic))) => panic::resume_unwind(panic),
            (Ok(()), Some(Ok(own))) => own,
            (Err(error), Some(Ok(Err(own)))) if own.message() == error.message() => {
                Err(own.with_applied(error.applied()))
            }
            // Also for work with another error: its cause may be changes that are rolled back now.
            (Err(error), _) => Err(error),
            (Ok(()), None) => Err(panicked()),
        }
    }

    /// Waits until a group with this work has ended, and leads it if it is this caller's turn.
    fn join(&self, work: Work) -> Result<()> {
        let (turn, turns) = mpsc::channel();
        let is_first = {
            let mut queue = lock(&self.queue);
            queue.waiting.push(Member { work, turn });
            !std::mem::replace(&mut queue.is_led, true)
        };
        if is_first {
            self.lead();
        }
        loop {
            match turns.recv() {
                Ok(Turn::Lead) => self.lead(),
                Ok(Turn::Ended(outcome)) => return outcome,
                Err(_) => return Err(panicked().with_applied(Applied::Maybe)),
            }
        }
    }

    /// Executes the work of all that wait.
    fn lead(&self) {
        let leadership = Leadership(self);
        let members = std::mem::take(&mut lock(&self.queue).waiting);
        let (work, turns): (Vec<Work>, Vec<Sender<Turn>>) =
            members.into_iter().map(|member| (member.work, member.turn)).unzip();
        let outcome = self.commit(work);
        // The next group begins while the callers of this one wake up.
        drop(leadership);
        for turn in turns {
            let outcome = match &outcome {
                Ok(()) => Ok(()),
                Err(error) => Err(error.without_source()),
            };
            // Every caller waits for this message.
            let _ = turn.send(Turn::Ended(outcome));
        }
    }

    /// Executes work in one transaction.
    fn commit(&self, work: Vec<Work>) -> Result<()> {
        let connection = lock(&self.connection);
        let outcome =
            in_transaction(&connection, "BEGIN IMMEDIATE", |connection| run(connection, work));
        outcome.map_err(|error| with_path(error, &self.path))
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Executes work inside a transaction. Work that fails changes nothing, and disturbs no other.
///
/// # Errors
/// Those of the only work, or of work with which SQLite has rolled back the whole transaction.
fn run(connection: &Connection, all: Vec<Work>) -> Result<()> {
    let is_alone = all.len() == 1;
    for work in all {
        if is_alone {
            return work(connection);
        }
        execute(connection, "SAVEPOINT member", [])?;
        if let Err(error) = work(connection) {
            if connection.is_autocommit() {
                return Err(error);
            }
            execute(connection, "ROLLBACK TO member", [])?;
        }
        execute(connection, "RELEASE member", [])?;
    }
    Ok(())
}

/// Leadership of a group. Dropping it passes it on, also after a panic.
struct Leadership<'a>(&'a Writer);

impl Drop for Leadership<'_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0.queue);
        let next = queue.waiting.first();
        queue.is_led = next.is_some_and(|member| member.turn.send(Turn::Lead).is_ok());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn panicked() -> Error {
    let message = "a transaction of the catalogue panicked; report it as a defect of tabla";
    Error::new(ErrorKind::Unexpected, message).with_retry(Retry::Never)
}

#[cfg(test)]
mod tests;
