//! Sets of buckets: the trait [`Buckets`], which the gateway serves.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::blobs::Blobs;
use tabla_core::env::Timestamp;
use tabla_core::{Error, ErrorKind, Result};

use crate::SigningKey;

/// Buckets that this crate stores: those of a folder, or of a [`MemoryBuckets`](crate::MemoryBuckets).
#[async_trait]
pub trait Buckets: Debug + Send + Sync {
    /// Key with which these buckets sign presigned URLs, and the gateway verifies them.
    fn signing_key(&self) -> &SigningKey;

    /// Creates an empty bucket without versions.
    ///
    /// # Errors
    /// - [`ErrorKind::InUse`]: it exists (`BucketAlreadyOwnedByYou`).
    /// - [`ErrorKind::Validation`]: the name breaks a rule (`InvalidBucketName`).
    async fn create_bucket(&self, name: &str) -> Result<()>;

    /// Deletes an empty bucket.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: no such bucket (`NoSuchBucket`).
    /// - [`ErrorKind::InUse`]: it has blobs, versions or uploads (`BucketNotEmpty`).
    async fn delete_bucket(&self, name: &str) -> Result<()>;

    /// All buckets, in the order of their names.
    async fn list_buckets(&self) -> Result<Vec<BucketInfo>>;

    /// Opens a bucket.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]: no such bucket (`NoSuchBucket`).
    async fn open_bucket(&self, name: &str) -> Result<Arc<dyn Blobs>>;

    /// Makes a bucket keep versions from now on. It cannot be undone.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]: no such bucket (`NoSuchBucket`).
    async fn enable_versions(&self, name: &str) -> Result<()>;
}

/// Bucket of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketInfo {
    /// Name of the bucket.
    pub name: String,
    /// Time of its creation.
    pub created: Timestamp,
    /// Whether it keeps versions.
    pub has_versions: bool,
}

impl BucketInfo {
    /// Bucket of a listing.
    pub fn new(name: impl Into<String>, created: Timestamp, has_versions: bool) -> Self {
        Self { name: name.into(), created, has_versions }
    }
}

/// Bucket of an address that names none.
pub(crate) const DEFAULT_BUCKET: &str = "default";

/// Checks the name of a bucket: 3 to 63 lower-case letters, digits, `-` and `.`, beginning and
/// ending with a letter or digit.
///
/// # Errors
/// `InvalidBucketName`.
pub(crate) fn check_bucket_name(name: &str) -> Result<()> {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_valid = (3..=63).contains(&name.len())
        && name.bytes().all(|byte| is_alphanumeric(byte) || matches!(byte, b'-' | b'.'))
        && name.bytes().next().is_some_and(is_alphanumeric)
        && name.bytes().last().is_some_and(is_alphanumeric)
        && !name.contains("..");
    match is_valid {
        true => Ok(()),
        false => Err(Error::validation(format!(
            "the bucket name `{name}` is invalid: use 3 to 63 lower-case letters, digits, `-` and \
             `.`, with a letter or digit at both ends"
        ))
        .with_code("InvalidBucketName")),
    }
}

/// Error for a bucket that exists already.
pub(crate) fn bucket_exists(name: &str) -> Error {
    Error::new(ErrorKind::InUse, format!("the bucket `{name}` exists already"))
        .with_code("BucketAlreadyOwnedByYou")
}

/// Error for the deletion of a bucket that has content.
pub(crate) fn bucket_not_empty(name: &str) -> Error {
    let message = format!("the bucket `{name}` has blobs, versions or uploads; delete them first");
    Error::new(ErrorKind::InUse, message).with_code("BucketNotEmpty")
}
