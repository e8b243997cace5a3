//! Bridge to the crate `object_store`, in both directions: [`ObjectStoreBlobs`] and
//! [`BlobsObjectStore`].

#[cfg(feature = "az")]
mod az;
mod blobs;
mod convert;
mod copy;
mod delete;
mod error;
#[cfg(feature = "gs")]
mod gs;
mod list;
#[cfg(any(feature = "az", feature = "gs"))]
mod opener;
mod path;
mod put;
mod read;
mod store;
mod uploads;

#[cfg(feature = "az")]
pub use az::AzOpener;
pub use blobs::ObjectStoreBlobs;
#[cfg(feature = "gs")]
pub use gs::GsOpener;
pub use store::BlobsObjectStore;
