//! Blobs with the semantics of S3: in memory, on the local disk, and on S3 itself.
//!
//! - [`MemoryBuckets`]: buckets in memory, the executable specification of
//!   [`Blobs`](tabla_core::blobs::Blobs).
//! - `FileFolder`: buckets in a folder of the local disk (feature `file`).
//! - `S3Blobs`: a bucket of S3, or of another service with its protocol (feature `s3`).
//! - `ObjectStoreBlobs` and `BlobsObjectStore`: adapters from and to the crate `object_store`
//!   (feature `object-store`), and openers of `gs:` and `az:` addresses (features `gs` and `az`).
//! - [`Buckets`]: a set of buckets that this crate stores itself, which the gateway serves.
//! - [`SigningKey`] and [`UrlSigner`]: presigned URLs for those buckets.
//! - `harness_at`: the conformance suite on a backend, by its address (feature `conformance`).
//!
//! Rules, conditions, checksums and listings are in [`tabla_core::blobs`]. This crate stores bytes.

mod buckets;
#[cfg(feature = "file")]
mod file;
#[cfg(feature = "gateway")]
pub mod gateway;
#[cfg(feature = "conformance")]
mod harness;
mod memory;
#[cfg(feature = "object-store")]
mod object_store;
mod open;
mod opener;
mod operations;
#[cfg(feature = "s3")]
mod s3;
mod sign;
mod storage;
mod stored;
mod version_id;

#[cfg(feature = "az")]
pub use self::object_store::AzOpener;
#[cfg(feature = "gs")]
pub use self::object_store::GsOpener;
#[cfg(feature = "object-store")]
pub use self::object_store::{BlobsObjectStore, ObjectStoreBlobs};
pub use buckets::{BucketInfo, Buckets};
#[cfg(feature = "file")]
pub use file::{FileBlobs, FileFolder, FileOpener, FileSweep};
#[cfg(all(feature = "conformance", feature = "file"))]
pub use harness::FileBlobHarness;
#[cfg(all(feature = "conformance", feature = "s3"))]
pub use harness::S3BlobHarness;
#[cfg(feature = "conformance")]
pub use harness::{MemoryBlobHarness, harness_at};
pub use memory::{MemoryBlobs, MemoryBuckets};
pub use open::open_buckets;
pub use opener::MemoryOpener;
#[cfg(feature = "s3")]
pub use s3::{S3Blobs, S3Config, S3Opener};
pub use sign::{SigningKey, UrlSigner};
