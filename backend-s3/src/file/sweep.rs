//! Sweeps: deletion of files that no row lists, and of abandoned uploads.

use std::fs::TryLockError;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tabla_core::Result;
use tabla_core::env::Timestamp;

use super::columns::{get, limit, millis};
use super::data::{FileId, LAST_SUBFOLDER};
use super::error::from_io;
use super::folder::{Folder, open_lock};
use super::rows::{execute, query, query_one};
use super::{links, uploads};

/// Time between sweeps.
const PERIOD: Duration = Duration::from_secs(60 * 60);

/// Time for which files of a content of several files stay after their last row: a reader opens
/// them one after another.
const GRACE: Duration = Duration::from_secs(60 * 60);

/// Garbage that is deleted in one transaction.
const BATCH: usize = 1000;

/// Result of [`FileFolder::sweep`](crate::FileFolder::sweep).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileSweep {
    /// Deleted files that no blob or part listed: of killed processes and failed deletes.
    pub unreferenced: u64,
    /// Deleted files of replaced and deleted multipart blobs, 1 hour after the last of them.
    pub garbage: u64,
    /// Aborted multipart uploads that were older than the limit of the folder.
    pub uploads: u64,
    /// Files of uploads in progress, which stay.
    pub in_progress: u64,
}

/// Sweeps a folder now. It blocks, also while another process sweeps.
pub(super) fn sweep(folder: &Arc<Folder>, upload_ttl: Duration) -> Result<FileSweep> {
    let lock = open_lock(&folder.path);
    let lock = lock.and_then(|lock| lock.lock().map(|()| lock));
    let _lock = lock.map_err(|error| from_io("lock", &folder.path, error))?;
    run(&Arc::downgrade(folder), upload_ttl, folder.now())
}

/// Starts a sweep on a thread of its own, unless this or another process has swept within the
/// period. The sweep ends early when the folder is no longer open, or with the program.
pub(super) fn start_if_due(folder: &Arc<Folder>, upload_ttl: Duration) {
    let now = folder.now();
    let next = folder.next_sweep.load(Ordering::Relaxed);
    let after = (now + PERIOD).as_millis();
    // A clock that was set back leaves `next` more than a period ahead.
    let is_due = next <= now.as_millis() || next > after;
    let order = Ordering::Relaxed;
    if !is_due || folder.next_sweep.compare_exchange(next, after, order, order).is_err() {
        return;
    }
    let folder = Arc::downgrade(folder);
    let work = move || {
        if let Err(error) = sweep_if_due(&folder, upload_ttl, now) {
            tracing::warn!("a sweep of blobs failed; the next one is due in 1 hour: {error}");
        }
    };
    // Without a thread the next put tries again.
    let _ = std::thread::Builder::new().name("tabla-blobs-sweep".to_owned()).spawn(work);
}

fn sweep_if_due(folder: &Weak<Folder>, upload_ttl: Duration, now: Timestamp) -> Result<()> {
    let Some(open) = folder.upgrade() else { return Ok(()) };
    let lock = open_lock(&open.path).map_err(|error| from_io("lock", &open.path, error))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(()),
        Err(TryLockError::Error(error)) => return Err(from_io("lock", &open.path, error)),
    }
    let swept = open.catalogue.read(|connection| {
        let sql = "SELECT swept FROM folder";
        query_one(connection, sql, [], |row| get::<i64>(row, 0))
    })?;
    let swept = swept.unwrap_or(0);
    if swept <= millis(now) && millis(now) - swept < PERIOD.as_millis() as i64 {
        return Ok(());
    }
    drop(open);
    run(folder, upload_ttl, now).map(|_| ())
}

/// Sweeps the folder while it is open. The caller holds the lock.
fn run(folder: &Weak<Folder>, upload_ttl: Duration, now: Timestamp) -> Result<FileSweep> {
    let mut report = FileSweep::default();
    if let Some(folder) = folder.upgrade() {
        sweep_uploads(&folder, before(now, upload_ttl), &mut report)?;
        sweep_garbage(&folder, before(now, GRACE), &mut report)?;
    }
    // Programs that end early do not always sweep the same subfolders.
    let first = (now.as_millis() % u64::from(LAST_SUBFOLDER)) as u8;
    for number in (first..=LAST_SUBFOLDER).chain(0..first) {
        let Some(folder) = folder.upgrade() else { return Ok(report) };
        sweep_subfolder(&folder, number, &mut report)?;
    }
    if let Some(folder) = folder.upgrade() {
        folder.catalogue.transact(move |connection| {
            execute(connection, "UPDATE folder SET swept = ?1", [millis(now)])
        })?;
    }
    Ok(report)
}

fn before(now: Timestamp, duration: Duration) -> Timestamp {
    let duration = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(duration))
}

/// Aborts uploads that began before a time.
fn sweep_uploads(folder: &Folder, before: Timestamp, report: &mut FileSweep) -> Result<()> {
    let found = folder.catalogue.read(|connection| uploads::begun_before(connection, before))?;
    for (bucket, key, id) in found {
        // It may have been completed or aborted meanwhile.
        let outcome = folder.transact(bucket, move |rows| match rows.upload(&key, &id)? {
            Some(upload) => rows.remove_upload(&upload).map(|()| 1),
            None => Ok(0),
        });
        match outcome {
            Ok(count) => report.uploads += count,
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Deletes files that have been garbage since before a time.
fn sweep_garbage(folder: &Folder, before: Timestamp, report: &mut FileSweep) -> Result<()> {
    loop {
        let sql = "SELECT file FROM garbage WHERE since <= ?1 LIMIT ?2";
        let found = folder.catalogue.read(|connection| {
            query(connection, sql, (millis(before), limit(BATCH)), |row| get::<[u8; 16]>(row, 0))
        })?;
        for id in &found {
            folder.data.remove(FileId::of_bytes(*id))?;
        }
        let count = found.len();
        folder.catalogue.transact(move |connection| {
            let sql = "DELETE FROM garbage WHERE file = ?1";
            found.iter().try_for_each(|id| execute(connection, sql, [id]).map(|_| ()))
        })?;
        report.garbage += count as u64;
        if count < BATCH {
            return Ok(());
        }
    }
}

/// Deletes the files of a subfolder that the catalogue does not know, and that no upload has locked.
fn sweep_subfolder(folder: &Folder, number: u8, report: &mut FileSweep) -> Result<()> {
    let found = folder.data.list(number)?;
    let unknown = folder.catalogue.read(|connection| {
        let mut unknown = Vec::new();
        for id in found {
            if !links::is_known(connection, id)? {
                unknown.push(id);
            }
        }
        Ok(unknown)
    })?;
    for id in unknown {
        let Some(file) = folder.data.open(id)? else { continue };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                report.in_progress += 1;
                continue;
            }
            Err(TryLockError::Error(error)) => {
                return Err(from_io("lock", &folder.data.path(id), error));
            }
        }
        // The upload may have been committed before its lock was released.
        if !folder.catalogue.read(|connection| links::is_known(connection, id))? {
            folder.data.remove(id)?;
            report.unreferenced += 1;
        }
    }
    Ok(())
}
