//! DynamoDB-style tables for Rust.
//!
//! Facade of the workspace: applications depend on this crate. It re-exports the other crates, and
//! [`open`] opens a store by its address.
//!
//! - [`Store`] is the trait that backends implement. [`StoreExt`] adds methods for callers.
//! - [`ops`] has a request and a response for each operation.
//! - [`Item`] and [`Value`] are the data.
//! - [`attr`] and [`Update`] build expressions.
#![cfg_attr(feature = "entity", doc = "- [`entity`] has typed entities of a single-table design.")]
#![cfg_attr(feature = "consumer", doc = "- [`consumer`] has workers that process change streams.")]
#![cfg_attr(
    feature = "blobs",
    doc = "- [`blobs()`] opens the files of a bucket by its address; [`s3`] has their backends."
)]
#![cfg_attr(feature = "server", doc = "- [`server`] is DynamoDB's wire protocol over any store.")]

pub use tabla_core::*;

#[cfg(feature = "consumer")]
pub use tabla_consumer as consumer;
#[cfg(feature = "dynamodb")]
pub use tabla_dynamo as dynamodb;
#[cfg(feature = "entity")]
pub use tabla_entity as entity;
#[cfg(feature = "blobs")]
pub use tabla_s3 as s3;
#[cfg(feature = "server")]
pub use tabla_server as server;
#[cfg(feature = "sqlite")]
pub use tabla_sqlite as sqlite;

#[cfg(feature = "entity")]
pub use tabla_entity::{checked_text, collection};

use std::sync::Arc;

use tabla_core::blobs::{BlobRegistry, Blobs};

/// Opens the store at an address, such as `sqlite:shop.db`, `memory:` or `dynamodb:`.
///
/// The store retries throttling, transaction conflicts and unprocessed batch items: up to 10
/// attempts, with random waits of at most 25 ms that double up to 5 s. A write whose response was
/// lost is not repeated, except a transaction, which has a request token. The option `?retries=off`
/// of the address turns retries off; [`Registry::with_retries`] sets another policy.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = tabla::open("memory:").await?;
/// assert_eq!(tabla::Store::capabilities(&store).engine, "memory");
/// # Ok::<(), tabla::Error>(()) }).unwrap();
/// ```
///
/// # Errors
/// [`ErrorKind::Config`] if the address is malformed, or its scheme needs a disabled feature of
/// this crate; and the errors of the backend. A failed open creates no file.
pub async fn open(address: &str) -> Result<Arc<dyn Store>> {
    registry().open(address).await
}

/// Returns the registry behind [`open`], with every scheme whose feature is enabled.
///
/// Register other backends with it.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    register(&mut registry);
    registry
}

/// Registers every scheme whose feature is enabled, and for the others the feature to enable.
pub fn register(registry: &mut Registry) {
    #[cfg(feature = "sqlite")]
    registry.register(tabla_sqlite::SqliteOpener);
    #[cfg(not(feature = "sqlite"))]
    registry.register_missing("sqlite", "enable the feature `sqlite` of the crate `tabla`");
    #[cfg(feature = "dynamodb")]
    registry.register(tabla_dynamo::DynamoOpener);
    #[cfg(not(feature = "dynamodb"))]
    registry.register_missing("dynamodb", "enable the feature `dynamodb` of the crate `tabla`");
}

/// Opens the blobs at an address, such as `file:assets`, `memory:` or `s3://bucket`.
///
/// The blobs retry throttling, unavailability and conflicts under the policy of [`open`]; see
/// [`RetryingBlobs`](tabla_core::blobs::RetryingBlobs) for what is repeated. The option
/// `?retries=off` turns retries off.
///
/// ```
/// # #[cfg(feature = "blobs")]
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use tabla::blobs::{Blobs, BlobsExt, PutBlob};
///
/// let files = tabla::blobs("memory:").await?;
/// files.put(PutBlob::new("logo.svg", "<svg/>").content_type("image/svg+xml")).await?;
/// assert_eq!(files.read("logo.svg").await?.as_deref(), Some("<svg/>".as_bytes()));
/// # Ok::<(), tabla::Error>(()) }).unwrap();
/// ```
///
/// # Errors
/// [`ErrorKind::Config`] if the address is malformed, or its scheme needs a disabled feature of
/// this crate; and the errors of the backend. A failed open creates no file.
pub async fn blobs(address: &str) -> Result<Arc<dyn Blobs>> {
    blob_registry().open(address).await
}

/// Returns the registry behind [`blobs()`], with every scheme whose feature is enabled.
///
/// Register other backends with it.
pub fn blob_registry() -> BlobRegistry {
    let mut registry = BlobRegistry::new();
    register_blobs(&mut registry);
    registry
}

/// Registers every scheme of blobs whose feature is enabled, and for the others the feature
/// to enable.
pub fn register_blobs(registry: &mut BlobRegistry) {
    #[cfg(feature = "blobs")]
    registry.register(tabla_s3::MemoryOpener).register(tabla_s3::FileOpener);
    #[cfg(not(feature = "blobs"))]
    for scheme in ["file", "memory"] {
        registry.register_missing(scheme, "enable the feature `blobs` of the crate `tabla`");
    }
    #[cfg(feature = "s3")]
    registry.register(tabla_s3::S3Opener);
    #[cfg(not(feature = "s3"))]
    registry.register_missing("s3", "enable the feature `s3` of the crate `tabla`");
    #[cfg(feature = "gs")]
    registry.register(tabla_s3::GsOpener);
    #[cfg(not(feature = "gs"))]
    registry.register_missing("gs", "enable the feature `gs` of the crate `tabla`");
    #[cfg(feature = "az")]
    registry.register(tabla_s3::AzOpener);
    #[cfg(not(feature = "az"))]
    registry.register_missing("az", "enable the feature `az` of the crate `tabla`");
}

/// Runs the program in the README of the project as a test.
#[cfg(all(doctest, feature = "entity", feature = "sqlite"))]
#[doc = include_str!("../../README.md")]
struct ProjectReadme;

/// Compiles the examples of the guide to files.
#[cfg(all(doctest, feature = "gateway"))]
#[doc = include_str!("../../docs/files.md")]
struct FilesGuide;

/// Runs the program in the README of the package as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct PackageReadme;
