//! Versions of blobs: the optional trait [`Versions`].

use async_trait::async_trait;

use super::{BlobInfo, GetBlob, GetBlobOutput, HeadBlob, PutBlobOutput, rules};
use crate::env::Timestamp;
use crate::error::Result;
use crate::ops::setters;

/// Earlier contents of the blobs of a bucket that keeps versions.
///
/// A put creates a version; the earlier ones stay. A delete creates a delete marker, behind which
/// the blob is missing.
#[async_trait]
pub trait Versions: Send + Sync {
    /// Lists one page of versions and delete markers: keys in their order, and of one key the
    /// newest first.
    async fn list_versions(&self, request: ListVersions) -> Result<VersionPage>;

    /// Reads one version, like [`Blobs::get`](super::Blobs::get).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound): no such version (`NoSuchVersion`), or
    /// it is a delete marker (`NoSuchKey`; see [`DeleteMarker::of`](super::DeleteMarker::of)).
    async fn get_version(&self, version: &str, request: GetBlob) -> Result<GetBlobOutput>;

    /// Reads headers and metadata of one version, like [`Blobs::head`](super::Blobs::head).
    ///
    /// # Errors
    /// Those of [`get_version`](Self::get_version).
    async fn head_version(&self, version: &str, request: HeadBlob) -> Result<BlobInfo>;

    /// Makes the content of one version the newest one: a new version with the same bytes, headers
    /// and metadata.
    ///
    /// # Errors
    /// Those of [`get_version`](Self::get_version).
    async fn restore_version(&self, key: &str, version: &str) -> Result<PutBlobOutput>;

    /// Deletes one version or delete marker for ever. If it was the current one, the version before
    /// it becomes current. Deleting a missing version succeeds.
    async fn delete_version(&self, key: &str, version: &str) -> Result<DeleteVersionOutput>;
}

/// Result of the deletion of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteVersionOutput {
    /// Whether it was a delete marker; `false` for a missing version.
    pub was_delete_marker: bool,
}

impl DeleteVersionOutput {
    /// Output for a version that was no delete marker.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets whether it was a delete marker.
        was_delete_marker: bool,
    }
}

/// List of one page of versions; see [`Versions::list_versions`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListVersions {
    /// Only keys that begin with this.
    pub prefix: String,
    /// Only versions behind this key and version. For the next page: [`VersionPage::next`].
    pub after: Option<(String, String)>,
    /// Most versions of the page: at most 1000, which is the default.
    pub limit: Option<usize>,
}

impl ListVersions {
    /// All versions.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the prefix of the keys.
        prefix: String,
        /// Sets the key and the version behind which the page begins.
        after: Option<(String, String)>,
        /// Sets the most versions of the page.
        limit: Option<usize>,
    }

    /// Most versions of the page.
    pub fn page_size(&self) -> usize {
        self.limit.unwrap_or(rules::PAGE).min(rules::PAGE)
    }
}

/// Version of a blob, or a delete marker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobVersion {
    /// Key of the blob.
    pub key: String,
    /// Id of the version.
    pub version: String,
    /// Whether it is the newest one of its key.
    pub is_latest: bool,
    /// Whether it is a delete marker, which has no content.
    pub is_delete_marker: bool,
    /// Length in bytes; 0 for a delete marker.
    pub size: u64,
    /// ETag, without quotes; empty for a delete marker.
    pub etag: String,
    /// Time of the write.
    pub last_modified: Timestamp,
}

impl BlobVersion {
    /// Version of a blob that is not the newest one.
    pub fn new(
        key: impl Into<String>,
        version: impl Into<String>,
        size: u64,
        etag: impl Into<String>,
        last_modified: Timestamp,
    ) -> Self {
        Self {
            key: key.into(),
            version: version.into(),
            is_latest: false,
            is_delete_marker: false,
            size,
            etag: etag.into(),
            last_modified,
        }
    }

    /// Delete marker that is not the newest one.
    pub fn delete_marker(
        key: impl Into<String>,
        version: impl Into<String>,
        last_modified: Timestamp,
    ) -> Self {
        let version = Self::new(key, version, 0, "", last_modified);
        Self { is_delete_marker: true, ..version }
    }

    /// Sets whether it is the newest one of its key.
    #[must_use]
    pub fn latest(mut self, is_latest: bool) -> Self {
        self.is_latest = is_latest;
        self
    }
}

/// One page of versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionPage {
    /// Versions and delete markers: keys in their order, and of one key the newest first.
    pub versions: Vec<BlobVersion>,
    /// Position for [`ListVersions::after`] of the next page; `None` on the last page.
    pub next: Option<(String, String)>,
}

impl VersionPage {
    /// Page of these versions.
    pub fn new(versions: Vec<BlobVersion>, next: Option<(String, String)>) -> Self {
        Self { versions, next }
    }
}
