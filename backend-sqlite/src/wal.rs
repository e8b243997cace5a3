//! Write-ahead log (WAL) of a file: its checkpoints, and the reserve on a full disk.
//!
//! A *checkpoint* copies the pages of the log into the database file. SQLite starts the log again
//! from its beginning once all of it is copied and no reader uses it. A passive checkpoint waits
//! for no reader or writer, so that overlapping readers could let the log grow without bound. Above
//! a limit, a *restarting* checkpoint holds writers back until the current readers have finished. It
//! never waits for new readers, because they need the database file alone.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, ffi};
use tabla_core::{Error, Result};

use crate::config::{Durability, Location, SqliteConfig};
use crate::{connection, format};

/// Length at which the log is restarted, as a multiple of the length at which it is checkpointed.
const RESTART: usize = 4;

/// Maximum time that a restarting checkpoint holds writers back while it waits for readers. Readers
/// of this store gather at most 1 MB, but another process may be checking the whole file.
const RESTART_PATIENCE: Duration = Duration::from_millis(500);

/// Pages of the log (256 KB) after which the free space of the disk is read again.
const DISK_CHECK_PAGES: usize = 64;

/// Free space, on the disk and in the file, below which no item may grow. It leaves room to
/// checkpoint the log, and to log deletes.
const RESERVE: u64 = 512 << 10;

/// The write-ahead log of a store's file.
#[derive(Debug)]
pub(crate) struct Wal {
    file: PathBuf,
    /// Connection for passive checkpoints beside callers that write on their own threads.
    checkpointer: Option<Mutex<Connection>>,
    /// Estimated pages that were written to the log since the last checkpoint.
    pages: AtomicUsize,
    /// Length, in pages, at which the log is checkpointed.
    max_pages: usize,
    /// Length, in frames, at which the log is restarted. If readers do not finish in time, it is
    /// set to twice the log's length, so that one long read does not hold writers back repeatedly.
    restart_from: AtomicUsize,
    /// Whether the disk is full or has less free space than the reserve.
    is_disk_short: AtomicBool,
}

/// Result of a checkpoint.
#[derive(Clone, Copy, Debug)]
struct Checkpointed {
    /// Length of the log, in frames.
    frames: usize,
    /// Whether a reader or another checkpoint kept this one from copying the whole log.
    is_busy: bool,
}

impl Wal {
    /// Creates the state of the configured file's log; `None` in memory.
    pub(crate) fn new(config: &SqliteConfig) -> Result<Option<Self>> {
        let Location::File(path) = &config.location else { return Ok(None) };
        let beside = match config.durability {
            Durability::Relaxed => Some(Mutex::new(connection::open_checkpointer(path, config)?)),
            // The store's thread writes, and checkpoints in between.
            Durability::Durable => None,
        };
        let most_pages = config.wal_pages as usize;
        Ok(Some(Self {
            file: path.clone(),
            checkpointer: beside,
            pages: AtomicUsize::new(0),
            max_pages: most_pages,
            restart_from: AtomicUsize::new(most_pages * RESTART),
            is_disk_short: AtomicBool::new(false),
        }))
    }

    /// Counts the pages that a commit has added to the log; returns whether a checkpoint is due.
    pub(crate) fn count(&self, pages: usize, connection: &Connection) -> bool {
        let before = self.pages.fetch_add(pages, Ordering::Relaxed);
        let now = before + pages;
        let mut is_due = pages > 0 && now >= self.max_pages;
        if now / DISK_CHECK_PAGES > before / DISK_CHECK_PAGES
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

    /// Whether less than the reserve is free on the disk and in the file.
    fn is_reserve_used(&self, connection: &Connection) -> bool {
        let Some(free) = free_bytes(&self.file) else { return false };
        let unused = connection.query_row("PRAGMA freelist_count", [], |row| row.get::<_, i64>(0));
        let unused = unused.map_or(0, |pages| pages as u64 * u64::from(format::PAGE_SIZE));
        free + unused < RESERVE
    }

    /// Executes a passive checkpoint on its own connection, if callers write inline.
    pub(crate) fn checkpoint_concurrently(&self) {
        if let Some(connection) = &self.checkpointer {
            checkpoint(&connection.lock().unwrap_or_else(PoisonError::into_inner), "PASSIVE");
        }
    }

    /// Executes a checkpoint on the writing connection. It waits for readers only if the log is
    /// too long.
    pub(crate) fn checkpoint(&self, connection: &Connection) {
        // Pages that a reader or a failing disk keeps from being copied stay in the log.
        let Some(passive) = checkpoint(connection, "PASSIVE") else { return };
        if passive.frames < self.restart_from.load(Ordering::Relaxed) {
            return;
        }
        let next = match self.restart(connection) {
            true => self.max_pages * RESTART,
            false => passive.frames * 2,
        };
        self.restart_from.store(next, Ordering::Relaxed);
    }

    /// Executes a restarting checkpoint; returns whether the log starts again from its beginning.
    fn restart(&self, connection: &Connection) -> bool {
        if connection.busy_timeout(RESTART_PATIENCE).is_err() {
            return false;
        }
        let outcome = checkpoint(connection, "RESTART");
        // `Shared::execute` waits for other processes, so SQLite must not.
        let is_reset = connection.busy_timeout(Duration::ZERO).is_ok();
        is_reset && outcome.is_some_and(|checkpointed| !checkpointed.is_busy)
    }

    /// Whether the disk is full or has less free space than the reserve. Until that changes, the
    /// writer calls [`reclaim`](Self::reclaim) before each group and commits each write alone, so
    /// that a delete does not fail together with a put.
    pub(crate) fn is_disk_short(&self) -> bool {
        self.is_disk_short.load(Ordering::Relaxed)
    }

    /// Checkpoints and restarts the log, so that its space can be reused; returns whether items may
    /// grow again.
    pub(crate) fn reclaim(&self, connection: &Connection) -> bool {
        let passive = checkpoint(connection, "PASSIVE");
        if passive.is_some_and(|passive| passive.is_busy || passive.frames > 0) {
            self.restart(connection);
        }
        let is_reserve_used = self.is_reserve_used(connection);
        self.is_disk_short.store(is_reserve_used, Ordering::Relaxed);
        !is_reserve_used
    }

    /// Returns the error of a write that is refused because the rest of the disk is reserved
    /// for deletes.
    pub(crate) fn reserve_error(&self) -> Error {
        let message = format!(
            "cannot write to `{}`: its disk is full, the last {} KB are reserved for deletes; free \
             some space there or delete items, then retry",
            self.file.display(),
            RESERVE >> 10,
        );
        Error::disk_full(message)
    }

    /// Records that the disk is full, and returns the error of a write for which it had no space.
    pub(crate) fn disk_full_error(&self, error: &Error) -> Error {
        self.is_disk_short.store(true, Ordering::Relaxed);
        let message = format!(
            "cannot write to `{}`: its disk is full; free some space there, then retry (cause: {})",
            self.file.display(),
            error.message()
        );
        Error::disk_full(message)
    }
}

/// Whether SQLite failed because it could not extend a file.
pub(crate) fn is_disk_full(error: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(failure, _) = error else { return false };
    // SQLite reports a limit on file sizes as a failed write.
    failure.code == ErrorCode::DiskFull || failure.extended_code == ffi::SQLITE_IOERR_WRITE
}

/// Executes a checkpoint of this mode; `None` if it failed.
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

/// Returns the free space of a file's disk, in bytes, without the part that is reserved for root.
#[cfg(unix)]
fn free_bytes(file: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(file).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_file: &std::path::Path) -> Option<u64> {
    None
}
