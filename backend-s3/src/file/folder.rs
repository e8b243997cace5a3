//! State of an open folder, which all its buckets share.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use tabla_core::env::{Env, Timestamp};
use tabla_core::{Error, ErrorKind, Result, Retry};

use super::catalogue::Catalogue;
use super::data::{DataFolder, Files};
use super::links::Links;
use super::rows::CatalogueRows;
use crate::SigningKey;
use crate::storage::Rows;

/// Name of the file that is locked.
pub(super) const LOCK: &str = "lock";

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    /// Absolute path.
    pub(super) path: PathBuf,
    pub(super) catalogue: Catalogue,
    pub(super) data: DataFolder,
    pub(super) key: SigningKey,
    pub(super) env: Env,
    /// Time at which this folder next looks whether a sweep is due, in milliseconds.
    pub(super) next_sweep: AtomicU64,
}

impl Folder {
    pub(super) fn now(&self) -> Timestamp {
        self.env.clock.now().to_millis()
    }

    /// Executes a transaction on the rows of a bucket, and then deletes the files that it has
    /// unlinked. It blocks.
    pub(super) fn transact<R: Send + 'static>(
        &self,
        bucket: String,
        work: impl FnOnce(&mut dyn Rows<Files>) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let now = self.now();
        let (output, unlinked) = self.catalogue.transact(move |connection| {
            let links = Links::new(connection, now);
            let mut rows = CatalogueRows::new(connection, &bucket, links)?;
            let output = work(&mut rows)?;
            Ok((output, rows.links.into_unlinked()))
        })?;
        for id in unlinked {
            // What is left, a sweep removes.
            let _ = self.data.remove(id);
        }
        Ok(output)
    }

    /// Reads the rows of a bucket.
    pub(super) fn read<R>(
        &self,
        bucket: &str,
        work: impl FnOnce(&dyn Rows<Files>) -> Result<R>,
    ) -> Result<R> {
        let now = self.now();
        self.catalogue.read(|connection| {
            let rows = CatalogueRows::new(connection, bucket, Links::new(connection, now))?;
            work(&rows)
        })
    }
}

/// Runs blocking work on tokio's threads for that.
pub(super) async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R> + Send + 'static,
) -> Result<R> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // Only work that has not begun is cancelled.
        Err(error) => Err(Error::new(
            ErrorKind::Unavailable,
            "the tokio runtime is shutting down, nothing was done",
        )
        .with_retry(Retry::Exhausted)
        .with_source(error)),
    }
}

/// Opens the file of a folder that is locked during its creation, and during sweeps.
pub(super) fn open_lock(folder: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK))
}
