//! The write-ahead log of a file: when it is checkpointed, and what happens when the disk is full.
//!
//! A *checkpoint* copies the pages of the log into the database file. SQLite starts the log again
//! from its beginning once all of it is copied and no reader uses it. A passive checkpoint waits for
//! nobody, so that overlapping readers could keep the log growing for ever. Above a limit, a
//! *restarting* checkpoint holds writers back until the readers that are there have finished; new
//! readers then need the database file alone, so that it never waits for those.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, ffi};
use tabla_core::{Error, ErrorKind, Result, Retry};

use crate::config::{Durability, Location, SqliteConfig};
use crate::{connection, format};

/// A log this many times as long as the one that is usually checkpointed is restarted.
const RESTART: usize = 4;

/// How long a restarting checkpoint holds writers back for readers that do not finish: those of
/// this store gather a page of 1 MB at most, but another process may be checking the whole file.
const RESTART_PATIENCE: Duration = Duration::from_millis(500);

/// Pages of the log between two looks at the free space of the disk: 256 KB.
const LOOK_EVERY: usize = 64;

/// Free space, on the disk and in the file, below which no item may grow. The log can then still be
/// checkpointed, and deletes, which need room in the log alone, go on.
const RESERVE: u64 = 512 << 10;

/// The write-ahead log of a store's file.
#[derive(Debug)]
pub(crate) struct Wal {
    file: PathBuf,
    /// Connection for passive checkpoints beside callers that write on their own threads.
    beside: Option<Mutex<Connection>>,
    /// About how many pages were written to the log since the last checkpoint.
    pages: AtomicUsize,
    /// Pages after which the log is checkpointed.
    most_pages: usize,
    /// Length, in frames, from which the log is restarted. It doubles when readers did not finish in
    /// time, so that one long read does not hold writers back over and over.
    restart_from: AtomicUsize,
    /// Whether the disk is full, or about to be.
    is_disk_short: AtomicBool,
}

/// What a checkpoint has found and left.
#[derive(Clone, Copy, Debug)]
struct Checkpointed {
    /// Length of the log.
    frames: usize,
    /// Whether a reader or another checkpoint was in the way.
    is_busy: bool,
}

impl Wal {
    /// The log of the file of this configuration; `None` in memory.
    pub(crate) fn new(config: &SqliteConfig) -> Result<Option<Self>> {
        let Location::File(path) = &config.location else { return Ok(None) };
        let beside = match config.durability {
            Durability::Normal => Some(Mutex::new(connection::checkpointing(path, config)?)),
            // The store's thread writes, and checkpoints in between.
            Durability::Full => None,
        };
        let most_pages = config.log_pages as usize;
        Ok(Some(Self {
            file: path.clone(),
            beside,
            pages: AtomicUsize::new(0),
            most_pages,
            restart_from: AtomicUsize::new(most_pages * RESTART),
            is_disk_short: AtomicBool::new(false),
        }))
    }

    /// Counts the pages that a commit of this connection has added; whether the log is to be
    /// checkpointed.
    pub(crate) fn count(&self, pages: usize, connection: &Connection) -> bool {
        let before = self.pages.fetch_add(pages, Ordering::Relaxed);
        let now = before + pages;
        let mut is_due = pages > 0 && now >= self.most_pages;
        if now / LOOK_EVERY > before / LOOK_EVERY
            && let Some(free) = free_bytes(&self.file)
        {
            // The log is checkpointed while the file can still take every page of it.
            is_due |= free < 2 * now as u64 * u64::from(format::PAGE_SIZE);
            if free < RESERVE && self.is_reserve_used(connection) {
                self.is_disk_short.store(true, Ordering::Relaxed);
            }
        }
        if is_due {
            self.pages.store(0, Ordering::Relaxed);
        }
        is_due
    }

    /// Whether less than the reserve is free, on the disk and in the file.
    fn is_reserve_used(&self, connection: &Connection) -> bool {
        let Some(free) = free_bytes(&self.file) else { return false };
        let unused = connection.query_row("PRAGMA freelist_count", [], |row| row.get::<_, i64>(0));
        let unused = unused.map_or(0, |pages| pages as u64 * u64::from(format::PAGE_SIZE));
        free + unused < RESERVE
    }

    /// Passive checkpoint beside callers that write, if they do so on their own threads.
    pub(crate) fn checkpoint_beside(&self) {
        if let Some(connection) = &self.beside {
            checkpoint(&connection.lock().unwrap_or_else(PoisonError::into_inner), "PASSIVE");
        }
    }

    /// Checkpoint with the connection that writes. It waits for readers only if the log is too long.
    pub(crate) fn checkpoint(&self, connection: &Connection) {
        // What cannot be copied now, because of a reader or a failing disk, stays in the log.
        let Some(passive) = checkpoint(connection, "PASSIVE") else { return };
        if passive.frames < self.restart_from.load(Ordering::Relaxed) {
            return;
        }
        let next = match self.restart(connection) {
            true => self.most_pages * RESTART,
            false => passive.frames * 2,
        };
        self.restart_from.store(next, Ordering::Relaxed);
    }

    /// Restarting checkpoint; whether the log starts again from its beginning.
    fn restart(&self, connection: &Connection) -> bool {
        if connection.busy_timeout(RESTART_PATIENCE).is_err() {
            return false;
        }
        let outcome = checkpoint(connection, "RESTART");
        // A writer that finds another process writing waits in its own way.
        let is_reset = connection.busy_timeout(Duration::ZERO).is_ok();
        is_reset && outcome.is_some_and(|checkpointed| !checkpointed.is_busy)
    }

    /// Whether the disk is full, or about to be. As long as it is, every write is preceded by
    /// [`reclaim`](Self::reclaim) and committed alone, so that a delete does not fail with a put
    /// beside it.
    pub(crate) fn is_disk_short(&self) -> bool {
        self.is_disk_short.load(Ordering::Relaxed)
    }

    /// Makes the room of the log usable again, as far as the file takes its pages; whether items may
    /// grow.
    pub(crate) fn reclaim(&self, connection: &Connection) -> bool {
        let passive = checkpoint(connection, "PASSIVE");
        if passive.is_some_and(|passive| passive.is_busy || passive.frames > 0) {
            self.restart(connection);
        }
        let is_reserve_used = self.is_reserve_used(connection);
        self.is_disk_short.store(is_reserve_used, Ordering::Relaxed);
        !is_reserve_used
    }

    /// The error of a write that is refused so that deletes keep working.
    pub(crate) fn reserved(&self) -> Error {
        let message = format!(
            "cannot write to {}: its disk is full, less than {} KB are free and kept for deletes; \
             free some space there or delete items, then retry",
            self.file.display(),
            RESERVE >> 10,
        );
        Error::new(ErrorKind::Unavailable, message).with_retry(Retry::Exhausted)
    }

    /// The error of a write that the disk had no room for.
    pub(crate) fn disk_full(&self, error: &Error) -> Error {
        self.is_disk_short.store(true, Ordering::Relaxed);
        let message = format!(
            "cannot write to {}: its disk is full; free some space there, then retry: {}",
            self.file.display(),
            error.message()
        );
        Error::new(ErrorKind::Unavailable, message).with_retry(Retry::Exhausted)
    }
}

/// Whether SQLite failed because it could not make a file longer.
pub(crate) fn is_disk_full(error: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(failure, _) = error else { return false };
    // A limit on the size of files is reported as a write that failed.
    failure.code == ErrorCode::DiskFull || failure.extended_code == ffi::SQLITE_IOERR_WRITE
}

fn checkpoint(connection: &Connection, mode: &str) -> Option<Checkpointed> {
    let pragma = format!("PRAGMA wal_checkpoint({mode})");
    let row = connection.query_row(&pragma, [], |row| {
        let (busy, frames, copied) =
            (row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?);
        let is_busy = busy != 0 || copied < frames;
        Ok(Checkpointed { frames: frames.max(0) as usize, is_busy })
    });
    row.ok()
}

/// Free space of the disk that a file is on, without the part that is reserved for root.
#[cfg(unix)]
fn free_bytes(file: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(file).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_file: &std::path::Path) -> Option<u64> {
    None
}
