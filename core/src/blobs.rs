//! Files in a bucket, in the shape of S3's API: the trait [`Blobs`], its optional traits, requests,
//! and the rules that every backend shares.
//!
//! This module does no I/O. What it decides, no backend decides again: keys, metadata and limits
//! ([`rules`]), conditions ([`WriteCondition`], [`ReadConditions`]), byte ranges ([`ByteRange`]),
//! checksums ([`Digests`]), pages of a listing ([`page_of_keys`]), and the errors with S3's names.

mod body;
mod capabilities;
mod checksum;
mod condition;
mod errors;
mod ext;
mod get;
mod listing;
mod multipart;
mod presign;
mod put;
mod range;
mod registry;
mod retry;
pub mod rules;
mod versions;

use std::fmt::Debug;

use async_trait::async_trait;

pub use body::{BlobStream, Body, ByteStream, stream_verified};
pub use capabilities::BlobCapabilities;
pub use checksum::{
    Checksum, ChecksumAlgorithm, ChecksumPlan, ChecksumType, Digests, PartChecksums,
};
pub use condition::{ReadConditions, WriteCondition};
pub use errors::*;
pub use ext::{BlobsExt, Progress, Upload};
pub use get::*;
pub use listing::{
    BlobPage, BlobSummary, DEFAULT_PAGE, ListBlobs, ListEntry, page_of_keys, prefix_end,
};
pub use multipart::*;
pub use presign::{Presign, PresignGet, PresignPut, PresignedRequest};
pub use put::*;
pub use range::ByteRange;
pub use registry::{BlobOpener, BlobRegistry};
pub use retry::RetryingBlobs;
pub use versions::{BlobVersion, DeleteVersionOutput, ListVersions, VersionPage, Versions};

use crate::error::Result;

/// Files of one bucket, by key, with the operations and the semantics of S3.
///
/// A backend implements this trait: one method per operation, each with one request struct.
/// Applications hold an `Arc<dyn Blobs>` and call it through [`BlobsExt`] as well.
///
/// # Keys
/// A key is 1 to 1024 bytes of UTF-8. It is not a path: `a/../b`, `a//b` and `a/` are three
/// different keys, case counts, and no Unicode form is equal to another. A key that would lead above
/// its root as a path, such as `../a`, is refused, as on S3. Keys order by their bytes.
///
/// # Writes
/// - A write of a blob is atomic: a reader gets the old or the new content as a whole, with its
///   metadata and checksum. A put that fails, or whose body ends early, leaves the old blob.
/// - A write that has returned `Ok` is seen by every read that begins later, and is durable, unless
///   [`BlobCapabilities`] or the backend's documentation says otherwise.
/// - A condition and its write are one step: of concurrent writes with [`WriteCondition::IfAbsent`]
///   exactly one succeeds.
/// - A write that returns an error has changed nothing, unless [`Error::applied`] is
///   [`Applied::Maybe`].
/// - Dropping the future of a write leaves the write undone or done as a whole.
///
/// # Errors
/// Every method can return these kinds besides its own. [`Error::code`] is S3's name of the error.
/// - [`ErrorKind::Validation`]: the request breaks a rule. Nothing was written.
/// - [`ErrorKind::Unsupported`]: [`BlobCapabilities`] lacks what the request needs. Nothing was sent.
/// - [`ErrorKind::Throttled`] and [`ErrorKind::Unavailable`]: retry, see [`Error::retry`]. Blobs
///   from [`BlobRegistry::open`] have done so, unless retries are off.
/// - [`ErrorKind::Corrupt`]: the stored bytes do not have the stored checksum.
///
/// [`Applied::Maybe`]: crate::Applied::Maybe
/// [`Error::applied`]: crate::Error::applied
/// [`Error::code`]: crate::Error::code
/// [`Error::retry`]: crate::Error::retry
/// [`ErrorKind::Corrupt`]: crate::ErrorKind::Corrupt
/// [`ErrorKind::Throttled`]: crate::ErrorKind::Throttled
/// [`ErrorKind::Unavailable`]: crate::ErrorKind::Unavailable
/// [`ErrorKind::Unsupported`]: crate::ErrorKind::Unsupported
/// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
#[async_trait]
pub trait Blobs: Debug + Send + Sync {
    /// Capabilities of this backend together with its wrappers.
    fn capabilities(&self) -> BlobCapabilities;

    /// Presigned URLs, if the backend has them. Default: none.
    fn presign(&self) -> Option<&dyn Presign> {
        None
    }

    /// Versions of blobs, if the bucket keeps them. Default: none.
    fn versions(&self) -> Option<&dyn Versions> {
        None
    }

    /// Writes a whole blob: creates it, or replaces the one with the same key, with its headers
    /// and metadata.
    ///
    /// - The body is at most 5 GB. Its length is known from the start; a stream that is shorter or
    ///   longer fails the put.
    /// - Expected checksums are verified before the blob becomes visible. The stored checksum is
    ///   SHA-256 unless the request names another.
    /// - The ETag changes with the content. It is opaque: compare it, do not compute it.
    ///
    /// # Errors
    /// - [`ErrorKind::ConditionFailed`]: the condition does not hold (`PreconditionFailed`).
    /// - [`ErrorKind::NotFound`]: [`WriteCondition::IfMatch`] and no such blob (`NoSuchKey`).
    /// - [`ErrorKind::Validation`]: a checksum differs (`BadDigest`), or the length
    ///   (`IncompleteBody`).
    /// - [`ErrorKind::TransactionConflict`]: on a service, a concurrent conditional write.
    ///
    /// [`ErrorKind::ConditionFailed`]: crate::ErrorKind::ConditionFailed
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::TransactionConflict`]: crate::ErrorKind::TransactionConflict
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn put(&self, request: PutBlob) -> Result<PutBlobOutput>;

    /// Reads a blob, or a range of its bytes, as a stream.
    ///
    /// - A whole blob is verified against its stored checksum while it is read: the stream ends with
    ///   [`ErrorKind::Corrupt`] if it differs. A range is not verified.
    /// - The stream is of one version of the blob, also if the blob is replaced or deleted while
    ///   it is read.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: no such blob (`NoSuchKey`).
    /// - [`ErrorKind::ConditionFailed`]: `if_match` or `if_unmodified_since` does not hold.
    /// - [`ErrorKind::NotModified`]: `if_none_match` or `if_modified_since` does not hold.
    /// - [`ErrorKind::Validation`]: the range begins behind the end (`InvalidRange`).
    ///
    /// [`ErrorKind::ConditionFailed`]: crate::ErrorKind::ConditionFailed
    /// [`ErrorKind::Corrupt`]: crate::ErrorKind::Corrupt
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::NotModified`]: crate::ErrorKind::NotModified
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn get(&self, request: GetBlob) -> Result<GetBlobOutput>;

    /// Reads headers, metadata and checksum of a blob, without its bytes.
    ///
    /// # Errors
    /// Those of [`get`](Self::get), except for ranges.
    async fn head(&self, request: HeadBlob) -> Result<BlobInfo>;

    /// Deletes a blob.
    ///
    /// - Deleting a missing blob succeeds, also with `if_match`.
    /// - In a bucket with versions, the current version becomes an earlier one, and a delete marker
    ///   takes its place.
    ///
    /// # Errors
    /// [`ErrorKind::ConditionFailed`]: the blob has another ETag.
    ///
    /// [`ErrorKind::ConditionFailed`]: crate::ErrorKind::ConditionFailed
    async fn delete(&self, request: DeleteBlob) -> Result<DeleteBlobOutput>;

    /// Deletes up to 1000 blobs.
    ///
    /// - Not atomic: each delete is, the batch is not. The output lists the keys that failed.
    /// - Deleting a missing blob succeeds.
    async fn delete_many(&self, request: DeleteBlobs) -> Result<DeleteBlobsOutput>;

    /// Lists one page of blobs, in the order of their keys.
    ///
    /// - A page has at most `limit` blobs and common prefixes, 1000 by default.
    /// - With a delimiter, keys that contain it behind the prefix are returned as one common prefix
    ///   up to and including the first delimiter.
    /// - A blob that exists during all pages is returned once. Whether one that is written or
    ///   deleted meanwhile is returned is undefined.
    async fn list(&self, request: ListBlobs) -> Result<BlobPage>;

    /// Copies a blob inside the bucket, by default with its headers and metadata.
    ///
    /// - Atomic, like a put. Source and destination may be the same key if headers or metadata
    ///   are replaced.
    /// - The destination keeps the checksum algorithm of the source.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: no such source.
    /// - [`ErrorKind::ConditionFailed`]: a condition on source or destination does not hold.
    ///
    /// [`ErrorKind::ConditionFailed`]: crate::ErrorKind::ConditionFailed
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    async fn copy(&self, request: CopyBlob) -> Result<PutBlobOutput>;

    /// Begins a multipart upload. Nothing is visible under the key before it is completed.
    async fn create_upload(&self, request: CreateUpload) -> Result<CreateUploadOutput>;

    /// Stores one part of a multipart upload. A part with the same number replaces the earlier one.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: no such upload (`NoSuchUpload`).
    /// - [`ErrorKind::Validation`]: the number is not 1 to 10,000; checksum or length differ.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn upload_part(&self, request: UploadPart) -> Result<UploadedPart>;

    /// Makes the listed parts, in their order, the content of the blob. Other parts are deleted.
    ///
    /// - Atomic, like a put, with its condition.
    /// - Every part but the last has at least 5 MB.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: no such upload; or `IfMatch` and no such blob.
    /// - [`ErrorKind::ConditionFailed`]: the condition does not hold. The upload stays.
    /// - [`ErrorKind::Validation`]: a part is missing or has another ETag or checksum
    ///   (`InvalidPart`), the numbers do not ascend (`InvalidPartOrder`), or a part is too small
    ///   (`EntityTooSmall`).
    ///
    /// [`ErrorKind::ConditionFailed`]: crate::ErrorKind::ConditionFailed
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn complete_upload(&self, request: CompleteUpload) -> Result<PutBlobOutput>;

    /// Ends a multipart upload and deletes its parts.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]: no such upload (`NoSuchUpload`).
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    async fn abort_upload(&self, request: AbortUpload) -> Result<()>;

    /// Lists one page of the parts of a multipart upload, in the order of their numbers.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]: no such upload (`NoSuchUpload`).
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    async fn list_parts(&self, request: ListParts) -> Result<PartPage>;

    /// Lists one page of the multipart uploads in progress, in the order of their keys, and of
    /// one key in the order of their start.
    async fn list_uploads(&self, request: ListUploads) -> Result<UploadPage>;
}

/// Calls a macro with the signatures of all operations of [`Blobs`]. This is the one list of them.
#[doc(hidden)]
#[macro_export]
macro_rules! __blob_operations {
    ($callback:path, $($argument:tt)*) => {
        $callback! {
            $($argument)*;
            put(PutBlob) -> PutBlobOutput,
            get(GetBlob) -> GetBlobOutput,
            head(HeadBlob) -> BlobInfo,
            delete(DeleteBlob) -> DeleteBlobOutput,
            delete_many(DeleteBlobs) -> DeleteBlobsOutput,
            list(ListBlobs) -> BlobPage,
            copy(CopyBlob) -> PutBlobOutput,
            create_upload(CreateUpload) -> CreateUploadOutput,
            upload_part(UploadPart) -> UploadedPart,
            complete_upload(CompleteUpload) -> PutBlobOutput,
            abort_upload(AbortUpload) -> (),
            list_parts(ListParts) -> PartPage,
            list_uploads(ListUploads) -> UploadPage,
        }
    };
}

/// Implements [`Blobs`] for a wrapper.
///
/// - `inner`: field of the wrapped blobs.
/// - `call`: macro that expands to the body of an operation, from `self`, the method and the
///   request. It has one arm for all operations, after one arm for each operation that differs.
/// - `versions`: method with the signature of [`Blobs::versions`], for a wrapper that wraps the
///   operations on versions, too. Default: those of the wrapped blobs.
///
/// Presigned URLs and capabilities are those of the wrapped blobs.
///
/// ```
/// use std::sync::Arc;
/// use tabla::blobs::{Blobs, DeleteBlob};
/// use tabla::Error;
///
/// /// Blobs that cannot be deleted one by one.
/// #[derive(Debug)]
/// struct Kept(Arc<dyn Blobs>);
///
/// macro_rules! kept {
///     ($self:ident, delete, $request:ident) => {
///         Err(Error::validation(format!("{} stays", $request.key)))
///     };
///     ($self:ident, $method:ident, $request:ident) => {
///         $self.0.$method($request).await
///     };
/// }
///
/// tabla::wrap_blobs! {
///     impl[] Blobs for Kept, inner: 0, call: kept
/// }
/// ```
#[macro_export]
macro_rules! wrap_blobs {
    (
        impl[$($generics:tt)*] Blobs for $wrapper:ty, inner: $inner:tt, call: $call:ident
        $(, versions: $versions:ident)?
    ) => {
        $crate::__blob_operations! {
            $crate::__wrap_blobs, [$($generics)*] [$wrapper] [$inner] [$call] [$($versions)?]
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __wrap_blobs {
    (
        [$($generics:tt)*] [$wrapper:ty] [$inner:tt] [$call:ident] [$($versions:ident)?];
        $($method:ident($request:ident) -> $answer:tt,)+
    ) => {
        #[$crate::__async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<$($generics)*> $crate::blobs::Blobs for $wrapper {
            fn capabilities(&self) -> $crate::blobs::BlobCapabilities {
                self.$inner.capabilities()
            }

            fn presign(&self) -> ::std::option::Option<&dyn $crate::blobs::Presign> {
                self.$inner.presign()
            }

            fn versions(&self) -> ::std::option::Option<&dyn $crate::blobs::Versions> {
                $crate::__first! {
                    [$(self.$versions())?]
                    [self.$inner.versions()]
                }
            }

            $(
                async fn $method(
                    &self,
                    request: $crate::blobs::$request,
                ) -> $crate::Result<$crate::__blob_answer!($answer)> {
                    $call!(self, $method, request)
                }
            )+
        }
    };
}

/// Expands to the path of an output.
#[doc(hidden)]
#[macro_export]
macro_rules! __blob_answer {
    (()) => {
        ()
    };
    ($answer:ident) => {
        $crate::blobs::$answer
    };
}

macro_rules! delegated {
    ($self:ident, $method:ident, $request:ident) => {
        (**$self).$method($request).await
    };
}

/// Implements [`Blobs`] for a pointer to blobs.
macro_rules! implement_for_pointer {
    ([$pointer:ty]; $($method:ident($request:ident) -> $answer:tt,)+) => {
        #[async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<T: Blobs + ?Sized> Blobs for $pointer {
            fn capabilities(&self) -> BlobCapabilities {
                (**self).capabilities()
            }

            fn presign(&self) -> Option<&dyn Presign> {
                (**self).presign()
            }

            fn versions(&self) -> Option<&dyn Versions> {
                (**self).versions()
            }

            $(
                async fn $method(&self, request: $request) -> Result<crate::__blob_answer!($answer)> {
                    delegated!(self, $method, request)
                }
            )+
        }
    };
}

crate::__blob_operations!(implement_for_pointer, [std::sync::Arc<T>]);
crate::__blob_operations!(implement_for_pointer, [Box<T>]);
