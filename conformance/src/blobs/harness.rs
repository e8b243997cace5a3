//! Harness: the interface between the suite and the tests of a backend of blobs.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::Result;
use tabla_core::blobs::{
    AbortUpload, Blobs, DeleteBlobs, ListBlobs, ListUploads, ListVersions, rules,
};
use tabla_core::env::ManualClock;

use crate::harness::Cleanup;

/// Factory of the buckets that the cases run on.
///
/// [`case_bucket`](Self::case_bucket) may be called concurrently. Start a server in its first call,
/// so that listing the cases starts none.
#[async_trait]
pub trait BlobHarness: Send + Sync + 'static {
    /// Name of the engine: the key of its [deviations](crate::blobs::deviations) and its column
    /// in reports.
    fn engine(&self) -> &'static str;

    /// Makes an empty bucket that no other case sees: a bucket of its own, or a prefix of a shared
    /// one. The blobs do not retry.
    ///
    /// An engine without versions ignores [`BucketVersions::On`]; its
    /// [`Blobs::versions`] returns `None`.
    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket;

    /// Whether an unsupported case fails, because the engine claims every capability.
    /// Default: false.
    fn is_complete(&self) -> bool {
        false
    }

    /// Number of cases that run at once. Default: 4.
    fn parallelism(&self) -> usize {
        4
    }

    /// Releases shared resources, such as a server. Called once, after the last case.
    async fn finish(&self) {}
}

/// Whether the bucket of a case keeps versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BucketVersions {
    /// A put replaces the blob.
    Off,
    /// A put creates a version.
    On,
}

/// Bucket for one case, with the abilities that the harness has for it.
#[non_exhaustive]
pub struct CaseBucket {
    /// Blobs of the bucket.
    pub blobs: Arc<dyn Blobs>,
    /// Clock of the blobs, if it can be moved.
    pub clock: Option<ManualClock>,
    /// Cleanup after the case.
    pub cleanup: Option<Cleanup>,
}

impl CaseBucket {
    /// Bucket with neither movable clock nor cleanup.
    pub fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs, clock: None, cleanup: None }
    }

    /// Sets the clock that the blobs read.
    #[must_use]
    pub fn clock(mut self, clock: ManualClock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Sets the function that runs after the case, passed or failed.
    #[must_use]
    pub fn cleanup<F>(mut self, cleanup: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.cleanup = Some(Box::new(move || Box::pin(cleanup())));
        self
    }

    /// Sets a cleanup that [empties the bucket](empty_bucket) and ignores errors: for a
    /// shared server.
    #[must_use]
    pub fn emptied(self) -> Self {
        let blobs = Arc::clone(&self.blobs);
        self.cleanup(move || async move {
            // A failed cleanup does not change the result of the case.
            let _ = empty_bucket(&*blobs).await;
        })
    }
}

impl fmt::Debug for CaseBucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaseBucket").field("blobs", &self.blobs).finish_non_exhaustive()
    }
}

/// Deletes all blobs, versions, delete markers and multipart uploads of a bucket, so that the
/// bucket itself can be deleted.
///
/// # Errors
/// Those of the operations.
pub async fn empty_bucket(blobs: &dyn Blobs) -> Result<()> {
    if blobs.capabilities().multipart {
        loop {
            let page = blobs.list_uploads(ListUploads::new()).await?;
            for upload in &page.uploads {
                blobs.abort_upload(AbortUpload::new(&upload.key, &upload.upload)).await?;
            }
            if page.next.is_none() {
                break;
            }
        }
    }
    if let Some(versions) = blobs.versions() {
        loop {
            let page = versions.list_versions(ListVersions::new()).await?;
            for version in &page.versions {
                versions.delete_version(&version.key, &version.version).await?;
            }
            if page.next.is_none() {
                return Ok(());
            }
        }
    }
    loop {
        let page = blobs.list(ListBlobs::new()).await?;
        let keys: Vec<&str> = page.blobs.iter().map(|blob| blob.key.as_str()).collect();
        for keys in keys.chunks(rules::DELETES) {
            blobs.delete_many(DeleteBlobs::new(keys.iter().copied())).await?;
        }
        if page.next.is_none() {
            return Ok(());
        }
    }
}
