//! Buckets in a folder: [`FileFolder`] and [`FileBlobs`].
//!
//! - `catalogue.db`, an SQLite file: keys, ETags, metadata, versions and uploads in progress. Layout
//!   in `schema`, rows in `rows` and `uploads`, connections in `catalogue`.
//! - `data/<xx>/<id>`: the bytes, in files with random names (`data`).
//!
//! A put writes a file (`write`), syncs it and its folder (`entries`), and then commits one
//! transaction, together with those of other puts (`writer`). So a row refers to whole files only, and
//! what a crash leaves is a file without a row, which `sweep` removes.

mod buckets;
mod catalogue;
mod columns;
mod data;
mod entries;
mod error;
mod folder;
mod links;
mod open;
mod opener;
mod read;
mod rows;
mod schema;
mod sweep;
mod uploads;
mod write;
mod writer;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tabla_core::blobs::{BlobInfo, Body, ByteStream, ChecksumPlan};
use tabla_core::env::Env;
use tabla_core::{Applied, Result};

use crate::UrlSigner;
use crate::storage::{Found, Rows, Storage, Written};
use crate::stored::StoredBlobs;

use self::data::Files;
use self::folder::{Folder, blocking};
use self::write::Received;

pub use self::opener::FileOpener;
pub(crate) use self::opener::FolderOptions;
pub use self::sweep::FileSweep;

/// Default of [`FileFolder::with_upload_ttl`]: 7 days.
const UPLOAD_TTL: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Buckets in a folder of the local disk.
///
/// - A put is answered after its bytes, the entry of its file and the catalogue are synced: three
///   syncs, one more than for a plain file whose folder is synced, too. The first two run at the
///   same time. Concurrent puts share the last two.
/// - Several processes may share the folder, on a local file system with file locks.
/// - A killed process leaves at most files that no blob lists. A sweep deletes them. A put starts one
///   when the last was 1 hour ago, see [`with_sweeps`](Self::with_sweeps).
/// - Reading needs permission to write, too.
///
/// The bucket `default` exists from the start. Operations need a tokio runtime. Clones share the
/// open folder.
#[derive(Clone, Debug)]
pub struct FileFolder {
    folder: Arc<Folder>,
    public: Option<String>,
    settings: Settings,
}

/// Blobs of one bucket of a [`FileFolder`].
#[derive(Debug)]
pub struct FileBlobs(StoredBlobs<FileBucket>);

/// Settings of sweeps.
#[derive(Clone, Copy, Debug)]
struct Settings {
    upload_ttl: Duration,
    sweeps: bool,
}

impl FileFolder {
    /// Opens a folder on the clock and randomness of the system. Creates it if it is missing
    /// or empty.
    ///
    /// # Errors
    /// - [`ErrorKind::Config`]: the path is a file, its parent folder is missing, the folder contains
    ///   other files, or its format is newer than this program. Nothing was created.
    /// - [`ErrorKind::AccessDenied`]: no permission to write.
    ///
    /// [`ErrorKind::AccessDenied`]: tabla_core::ErrorKind::AccessDenied
    /// [`ErrorKind::Config`]: tabla_core::ErrorKind::Config
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with_env(path, Env::system()).await
    }

    /// Opens a folder on this clock and randomness.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub async fn open_with_env(path: impl AsRef<Path>, env: Env) -> Result<Self> {
        let path: PathBuf = path.as_ref().to_owned();
        let folder = blocking(move || open::open(&path, env)).await?;
        let settings = Settings { upload_ttl: UPLOAD_TTL, sweeps: true };
        Ok(Self { folder: Arc::new(folder), public: None, settings })
    }

    /// Sets the address of the gateway in presigned URLs, such as `http://127.0.0.1:9000`.
    #[must_use]
    pub fn with_public(self, public: impl Into<String>) -> Self {
        Self { public: Some(public.into()), ..self }
    }

    /// Sets the age at which a sweep aborts multipart uploads (default: 7 days).
    #[must_use]
    pub fn with_upload_ttl(mut self, ttl: Duration) -> Self {
        self.settings.upload_ttl = ttl;
        self
    }

    /// Sets whether puts start sweeps (default: yes): at most one per hour, on a thread of its own.
    #[must_use]
    pub fn with_sweeps(mut self, sweeps: bool) -> Self {
        self.settings.sweeps = sweeps;
        self
    }

    /// Opens a bucket.
    ///
    /// # Errors
    /// - [`tabla_core::ErrorKind::NotFound`]: no such bucket (`NoSuchBucket`).
    /// - [`tabla_core::ErrorKind::Config`]: the address of the gateway is malformed.
    pub fn blobs(&self, bucket: &str) -> Result<FileBlobs> {
        self.folder.read(bucket, |_| Ok(()))?;
        let env = self.folder.env.clone();
        let public = self.public.as_deref();
        let signer = UrlSigner::new(self.folder.key.clone(), bucket, public, env.clone())?;
        let storage = FileBucket {
            folder: Arc::clone(&self.folder),
            name: bucket.to_owned(),
            settings: self.settings,
        };
        Ok(FileBlobs(StoredBlobs::new("file", storage, signer, env)))
    }

    /// Deletes the files that no blob lists, and aborts old multipart uploads. Files of uploads in
    /// progress stay, also those of other processes.
    ///
    /// Waits until a sweep of another process has ended.
    ///
    /// # Errors
    /// Those of the disk and of the catalogue. The next sweep continues.
    pub async fn sweep(&self) -> Result<FileSweep> {
        let (folder, ttl) = (Arc::clone(&self.folder), self.settings.upload_ttl);
        blocking(move || sweep::sweep(&folder, ttl)).await
    }
}

macro_rules! stored {
    ($self:ident, $method:ident, $request:ident) => {
        $self.0.$method($request).await
    };
}

tabla_core::wrap_blobs! {
    impl[] Blobs for FileBlobs, inner: 0, call: stored
}

/// Storage of one bucket.
#[derive(Debug)]
struct FileBucket {
    folder: Arc<Folder>,
    name: String,
    settings: Settings,
}

impl Storage for FileBucket {
    type Content = Files;

    async fn write<R: Send + 'static>(
        &self,
        body: Body,
        plan: ChecksumPlan,
        commit: impl FnOnce(&mut dyn Rows<Files>, Written<Files>) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let folder = Arc::clone(&self.folder);
        let received = Received::new(&folder, &plan, body).await?;
        let name = self.name.clone();
        let output = blocking(move || {
            let (file, written) = received.finish(&folder, &plan)?;
            let outcome = folder.transact(name, |rows| commit(rows, written));
            match &outcome {
                Err(error) if error.applied() == Applied::No => drop(file),
                _ => file.keep(),
            }
            outcome
        })
        .await?;
        if self.settings.sweeps {
            sweep::start_if_due(&self.folder, self.settings.upload_ttl);
        }
        Ok(output)
    }

    async fn transact<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Rows<Files>) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let (folder, name) = (Arc::clone(&self.folder), self.name.clone());
        blocking(move || folder.transact(name, work)).await
    }

    fn read<R>(&self, work: impl FnOnce(&dyn Rows<Files>) -> Result<R>) -> Result<R> {
        self.folder.read(&self.name, work)
    }

    fn open(
        &self,
        find: impl Fn(&dyn Rows<Files>) -> Result<Found<Files>>,
    ) -> Result<(BlobInfo, Range<u64>, ByteStream)> {
        let mut missing = None;
        loop {
            let Found { info, content, range } = self.read(&find)?;
            match read::open(&self.folder, &info.key, &content, range.clone())? {
                Some(stream) => return Ok((info, range, stream)),
                // Deleted after the row was read, unless the row is still the same.
                None if missing.as_ref() == Some(&content) => {
                    return Err(read::missing(&self.folder, &info.key, &content));
                }
                None => missing = Some(content),
            }
        }
    }
}
