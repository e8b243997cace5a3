//! What a storage of buckets provides: rows of a bucket, and the contents that they refer to.
//!
//! [`StoredBlobs`](crate::stored::StoredBlobs) implements `Blobs` on it, so that memory and files
//! share one implementation of all operations.

use std::fmt::Debug;
use std::ops::{Bound, Range};

use tabla_core::Result;
use tabla_core::blobs::{
    BlobInfo, BlobSummary, BlobVersion, Body, ByteStream, Checksum, ChecksumPlan, CreateUpload,
    UploadSummary, UploadedPart,
};
use tabla_core::env::Timestamp;

use crate::version_id::VersionId;

/// Where the bytes of a blob or part are.
pub(crate) trait Content: Clone + Debug + Send + Sync + 'static {
    /// Content of all these, in their order, without copying bytes.
    fn concat<'a>(contents: impl Iterator<Item = &'a Self>) -> Self;
}

/// Stored content of a write that has not been committed yet.
pub(crate) struct Written<C> {
    pub(crate) content: C,
    pub(crate) size: u64,
    pub(crate) etag: String,
    pub(crate) checksum: Option<Checksum>,
}

/// Version of a blob.
#[derive(Clone, Debug)]
pub(crate) struct Row<C> {
    /// Description without the id of the version.
    pub(crate) info: BlobInfo,
    pub(crate) version: VersionId,
    /// `None`: it is a delete marker.
    pub(crate) content: Option<C>,
}

/// Multipart upload in progress.
#[derive(Clone, Debug)]
pub(crate) struct UploadRow {
    pub(crate) id: String,
    pub(crate) created: Timestamp,
    pub(crate) request: CreateUpload,
}

/// Stored part of a multipart upload.
#[derive(Clone, Debug)]
pub(crate) struct Part<C> {
    pub(crate) part: UploadedPart,
    pub(crate) content: C,
}

/// Rows of one bucket in one transaction. All methods see the same state.
///
/// The *current* row of a key is its newest version, unless that is a delete marker.
pub(crate) trait Rows<C> {
    /// Whether the bucket keeps versions.
    fn keeps_versions(&self) -> bool;

    /// ETag of the current row.
    fn etag(&self, key: &str) -> Result<Option<String>>;

    /// The current row.
    fn current(&self, key: &str) -> Result<Option<Row<C>>>;

    /// One version or delete marker.
    fn version(&self, key: &str, version: VersionId) -> Result<Option<Row<C>>>;

    /// Up to `count` current rows, in the order of their keys; see
    /// [`page_of_keys`](tabla_core::blobs::page_of_keys).
    fn keys(&self, start: Bound<&str>, end: Option<&str>, count: usize)
    -> Result<Vec<BlobSummary>>;

    /// Up to `count` versions and delete markers behind this key and version, whose keys are before
    /// `end`, in the order of both.
    fn versions(
        &self,
        behind: (&str, VersionId),
        end: Option<&str>,
        count: usize,
    ) -> Result<Vec<BlobVersion>>;

    /// Counts up the number of the bucket and returns it. The first is 1.
    fn next_number(&mut self) -> Result<u64>;

    /// Adds the newest version of a key. It replaces one with the same version id.
    fn insert(&mut self, row: Row<C>) -> Result<()>;

    /// Removes one version or delete marker, if there is one.
    fn remove(&mut self, key: &str, version: VersionId) -> Result<()>;

    /// A multipart upload, if it has this key.
    fn upload(&self, key: &str, id: &str) -> Result<Option<UploadRow>>;

    /// Up to `count` uploads behind this key and id, whose keys are before `end`, in the order
    /// of both.
    fn uploads(
        &self,
        behind: (&str, &str),
        end: Option<&str>,
        count: usize,
    ) -> Result<Vec<UploadSummary>>;

    /// Adds an upload.
    fn insert_upload(&mut self, upload: UploadRow) -> Result<()>;

    /// Removes an upload and its parts.
    fn remove_upload(&mut self, upload: &UploadRow) -> Result<()>;

    /// Up to `count` parts with higher numbers than `after`, in the order of their numbers.
    fn parts(&self, upload: &UploadRow, after: u32, count: usize) -> Result<Vec<Part<C>>>;

    /// Adds a part. It replaces one with the same number.
    fn insert_part(&mut self, upload: &UploadRow, part: Part<C>) -> Result<()>;
}

/// Storage of one bucket.
///
/// Every method fails with `NoSuchBucket` if the bucket has been deleted.
pub(crate) trait Storage: Debug + Send + Sync + 'static {
    type Content: Content;

    /// Stores a body, verifies the checksums of the plan, and executes `commit` in a transaction.
    /// If any of it fails, or the future is dropped before the transaction, nothing is changed.
    fn write<R: Send + 'static>(
        &self,
        body: Body,
        plan: ChecksumPlan,
        commit: impl FnOnce(&mut dyn Rows<Self::Content>, Written<Self::Content>) -> Result<R>
        + Send
        + 'static,
    ) -> impl Future<Output = Result<R>> + Send;

    /// Executes a transaction.
    fn transact<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Rows<Self::Content>) -> Result<R> + Send + 'static,
    ) -> impl Future<Output = Result<R>> + Send;

    /// Reads rows. Short, so that it may run on an asynchronous task.
    fn read<R>(&self, work: impl FnOnce(&dyn Rows<Self::Content>) -> Result<R>) -> Result<R>;

    /// Finds a row, and opens the bytes of its content at these positions. The stream is of that
    /// content, also if the row is replaced or removed meanwhile. `find` may be called again.
    fn open(
        &self,
        find: impl Fn(&dyn Rows<Self::Content>) -> Result<Found<Self::Content>>,
    ) -> Result<(BlobInfo, Range<u64>, ByteStream)>;
}

/// Row of a blob to open, and the positions to read.
pub(crate) struct Found<C> {
    pub(crate) info: BlobInfo,
    pub(crate) content: C,
    pub(crate) range: Range<u64>,
}
