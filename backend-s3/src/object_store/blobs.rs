//! [`ObjectStoreBlobs`]: any object store as blobs.

use std::fmt;
use std::sync::Arc;

use ::object_store::ObjectStore;
use ::object_store::multipart::MultipartStore;
use async_trait::async_trait;
use tabla_core::Result;
use tabla_core::blobs::*;
use tabla_core::env::Env;

use super::path::ENGINE;
use super::uploads::Uploads;

/// Blobs in any [`ObjectStore`], with the capabilities that it has.
///
/// The crate `object_store` cannot tell which optional features a store supports. So the caller
/// declares them; undeclared ones are refused as [`tabla_core::ErrorKind::Unsupported`] before
/// anything is sent.
///
/// | store | `put_if_absent` | `put_if_match` | `copy_if_absent` | `metadata` |
/// |---|---|---|---|---|
/// | `InMemory`, Google Cloud Storage, Azure | yes | yes | yes | yes |
/// | Amazon S3 | yes | yes | as its builder configures it | yes |
/// | `LocalFileSystem` | yes | no | yes | no, nor a content type |
///
/// ```
/// use std::sync::Arc;
/// use object_store::memory::InMemory;
/// use tabla_core::blobs::{Blobs, BlobsExt, PutBlob};
/// use tabla_s3::ObjectStoreBlobs;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> tabla_core::Result<()> {
/// let blobs = ObjectStoreBlobs::new(Arc::new(InMemory::new())).put_if_absent().metadata();
/// blobs.put(PutBlob::new("photos/1", "bytes").metadata("page", "2").if_absent()).await?;
/// assert_eq!(blobs.read("photos/1").await?.as_deref(), Some(&b"bytes"[..]));
/// # Ok(())
/// # }
/// ```
///
/// # Differences from S3
/// - Keys are paths: one with an empty, `.` or `..` segment, a slash at either end, or a control
///   character is refused.
/// - There is no delete if match, and no version.
/// - No checksum is stored. Expected checksums are verified before the write: of bytes before they
///   are sent, of a stream before its last request.
/// - A put if match reads the ETag first, then writes under the condition that the object is still
///   the one it has read.
/// - A put of a stream of up to [`buffered_bytes`](Self::buffered_bytes) is read into memory and
///   sent at once. A longer one is an upload in parts of 8 MB, of which 4 are in memory. It cannot
///   have a condition: those are refused. If its future is dropped, the parts stay until a
///   lifecycle rule of the service deletes them.
/// - The conditions of reads are evaluated on the metadata of the response, before its body is
///   read.
/// - A copy that replaces headers, or has a condition other than if absent, is a get and a put.
/// - The ETag of a store without one is made of the time in seconds and the length. It changes with
///   most writes, and is no condition of a write.
///
/// # Listings
/// The crate `object_store` lists in any order. So a page reads the listing behind its position to
/// the end and keeps the first keys: constant memory, but all pages of n keys read n²/2000 of them.
/// For a store that lists in the order of keys, [`sorted_lists`](Self::sorted_lists) ends the read
/// with the page. With the delimiter `/`, a page reads one level of the folder of its prefix, and
/// has it in memory. A prefix reads its folder: `a/b` reads `a/`, and `a` reads all keys.
/// `LocalFileSystem` returns empty folders as common prefixes, unless it deletes them.
#[derive(Clone)]
pub struct ObjectStoreBlobs {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) capabilities: BlobCapabilities,
    pub(super) buffered_bytes: u64,
    pub(super) sorted_lists: bool,
    uploads: Option<Uploads>,
}

impl ObjectStoreBlobs {
    /// Blobs in this store, without any optional capability.
    pub fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self {
            store,
            capabilities: BlobCapabilities::none(ENGINE),
            buffered_bytes: 8 << 20,
            sorted_lists: false,
            uploads: None,
        }
    }

    /// Blobs in this store, with multipart uploads and without any other optional capability.
    ///
    /// The store cannot list uploads and their parts, so this value and its clones keep the list: an
    /// upload that another process has begun does not exist here. The trait [`MultipartStore`] has
    /// neither conditions nor part numbers, so
    /// [`conditional_uploads`](BlobCapabilities::conditional_uploads) and
    /// [`any_parts`](BlobCapabilities::any_parts) are false. Each part is in memory while it is sent.
    pub fn with_multipart<S: ObjectStore + MultipartStore>(store: Arc<S>) -> Self {
        Self::with_multipart_and_env(store, Env::system())
    }

    /// Like [`with_multipart`](Self::with_multipart), with this clock and randomness for the times
    /// and ids of uploads.
    pub fn with_multipart_and_env<S: ObjectStore + MultipartStore>(
        store: Arc<S>,
        env: Env,
    ) -> Self {
        let uploads = Uploads::new(Arc::clone(&store) as Arc<dyn MultipartStore>, env);
        let mut blobs = Self { uploads: Some(uploads), ..Self::new(store) };
        blobs.capabilities.multipart = true;
        blobs
    }

    /// Declares that the store has [`PutMode::Create`](::object_store::PutMode::Create).
    #[must_use]
    pub fn put_if_absent(mut self) -> Self {
        self.capabilities.put_if_absent = true;
        self
    }

    /// Declares that the store has [`PutMode::Update`](::object_store::PutMode::Update).
    #[must_use]
    pub fn put_if_match(mut self) -> Self {
        self.capabilities.put_if_match = true;
        self
    }

    /// Declares that the store has [`CopyMode::Create`](::object_store::CopyMode::Create).
    #[must_use]
    pub fn copy_if_absent(mut self) -> Self {
        self.capabilities.copy_if_absent = true;
        self
    }

    /// Declares that the store keeps [`Attributes`](::object_store::Attributes). A content type is
    /// sent in any case.
    #[must_use]
    pub fn metadata(mut self) -> Self {
        self.capabilities.metadata = true;
        self
    }

    /// Declares that the store lists in the order of keys, as Google Cloud Storage and Amazon S3 do,
    /// and as `LocalFileSystem` does not.
    #[must_use]
    pub fn sorted_lists(mut self) -> Self {
        self.sorted_lists = true;
        self
    }

    /// Sets the longest stream that is read into memory and sent at once (default: 8 MB).
    #[must_use]
    pub fn buffered_bytes(mut self, bytes: u64) -> Self {
        self.buffered_bytes = bytes;
        self
    }

    /// Returns the object store, for operations that [`Blobs`] does not have.
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    fn uploads(&self) -> Result<&Uploads> {
        self.capabilities.check_multipart()?;
        self.uploads
            .as_ref()
            .ok_or_else(|| tabla_core::Error::unsupported("the object store has no uploads"))
    }
}

impl fmt::Debug for ObjectStoreBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStoreBlobs")
            .field("store", &self.store)
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Blobs for ObjectStoreBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        self.capabilities.clone()
    }

    fn presign(&self) -> Option<&dyn Presign> {
        None
    }

    fn versions(&self) -> Option<&dyn Versions> {
        None
    }

    async fn put(&self, request: PutBlob) -> Result<PutBlobOutput> {
        self.put_object(request).await
    }

    async fn get(&self, request: GetBlob) -> Result<GetBlobOutput> {
        self.get_object(request).await
    }

    async fn head(&self, request: HeadBlob) -> Result<BlobInfo> {
        self.head_object(request).await
    }

    async fn delete(&self, request: DeleteBlob) -> Result<DeleteBlobOutput> {
        self.delete_object(request).await
    }

    async fn delete_many(&self, request: DeleteBlobs) -> Result<DeleteBlobsOutput> {
        self.delete_objects(request).await
    }

    async fn list(&self, request: ListBlobs) -> Result<BlobPage> {
        self.list_objects(request).await
    }

    async fn copy(&self, request: CopyBlob) -> Result<PutBlobOutput> {
        self.copy_object(request).await
    }

    async fn create_upload(&self, request: CreateUpload) -> Result<CreateUploadOutput> {
        self.capabilities.check_upload(&request)?;
        self.uploads()?.create(request).await
    }

    async fn upload_part(&self, request: UploadPart) -> Result<UploadedPart> {
        self.uploads()?.put_part(request).await
    }

    async fn complete_upload(&self, request: CompleteUpload) -> Result<PutBlobOutput> {
        self.capabilities.check_completion(&request)?;
        let (path, result) = self.uploads()?.complete(&request, &self.capabilities).await?;
        self.written(&request.key, &path, result).await
    }

    async fn abort_upload(&self, request: AbortUpload) -> Result<()> {
        self.uploads()?.abort(&request).await
    }

    async fn list_parts(&self, request: ListParts) -> Result<PartPage> {
        self.uploads()?.list_parts(&request)
    }

    async fn list_uploads(&self, request: ListUploads) -> Result<UploadPage> {
        Ok(self.uploads()?.list(&request))
    }
}
