//! Connections to the catalogue: one that writes (`writer`), and a pool of those that read.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tabla_core::{Applied, Error, Result};

use super::error::{from_sqlite, with_path};
use super::rows::execute;
use super::writer::Writer;

/// Maximum time that a statement waits for the lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of idle connections that are kept open for reads.
const MAX_IDLE: usize = 8;

/// Maximum number of prepared statements that a connection caches: more than there are.
const STATEMENT_CACHE: usize = 64;

/// Size to which the WAL is truncated after a checkpoint, in bytes.
const WAL_SIZE_LIMIT: u32 = 16 << 20;

/// The catalogue of a folder.
#[derive(Debug)]
pub(super) struct Catalogue {
    path: PathBuf,
    writer: Writer,
    idle: Mutex<Vec<Connection>>,
}

impl Catalogue {
    /// Opens an existing catalogue in the current format.
    pub(super) fn open(path: PathBuf) -> Result<Self> {
        let writer = connect(&path)
            .and_then(|connection| {
                // Every commit is synced.
                let settings = format!(
                    "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = {WAL_SIZE_LIMIT};"
                );
                connection.execute_batch(&settings)?;
                Ok(connection)
            })
            .map_err(|error| with_path(from_sqlite(error), &path))?;
        let writer = Writer::new(path.clone(), writer);
        Ok(Self { path, writer, idle: Mutex::default() })
    }

    /// Executes a transaction that writes; see [`Writer::transact`].
    ///
    /// # Errors
    /// Those of `work`, which are rolled back; [`Applied::Maybe`] if the commit itself failed.
    pub(super) fn transact<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        self.writer.transact(work)
    }

    /// Executes a transaction that reads: all its statements see the same state. It waits
    /// for nobody.
    pub(super) fn read<R>(&self, work: impl FnOnce(&Connection) -> Result<R>) -> Result<R> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect(&self.path)
                .and_then(|connection| {
                    connection.execute_batch("PRAGMA query_only = 1;")?;
                    Ok(connection)
                })
                .map_err(|error| with_path(from_sqlite(error), &self.path))?,
        };
        let outcome = in_transaction(&connection, "BEGIN", work);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
        outcome.map_err(|error| with_path(error, &self.path))
    }
}

/// Executes a transaction, and rolls it back if it fails.
pub(super) fn in_transaction<R>(
    connection: &Connection,
    begin: &str,
    work: impl FnOnce(&Connection) -> Result<R>,
) -> Result<R> {
    if !connection.is_autocommit() {
        // A panic ended the transaction before this one.
        execute(connection, "ROLLBACK", [])?;
    }
    let outcome = execute(connection, begin, [])
        .and_then(|_| work(connection))
        .and_then(|output| execute(connection, "COMMIT", []).map(|_| output).map_err(uncertain));
    if outcome.is_err() && !connection.is_autocommit() {
        // The first error is reported; SQLite may have rolled back by itself already.
        let _ = execute(connection, "ROLLBACK", []);
    }
    outcome
}

/// Error of a failed commit. After a failed write or sync of the WAL nobody knows whether a later
/// recovery finds the commit in it.
fn uncertain(error: Error) -> Error {
    match error.is_disk_full() || error.retry() == tabla_core::Retry::Later {
        true => error,
        false => error.with_applied(Applied::Maybe),
    }
}

/// Opens a connection to an existing file.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // No mutex in SQLite is needed: a connection is used by one thread at a time.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}
