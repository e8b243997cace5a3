//! Opener of `memory:` addresses of blobs.

use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::blobs::{BlobOpener, Blobs};
use tabla_core::{Address, Error, OpenContext, Result};

use crate::MemoryBuckets;
use crate::buckets::{Buckets, DEFAULT_BUCKET, check_bucket_name};
use crate::sign::check_public;

/// Opener of `memory:` addresses. Each open creates a bucket of its own.
///
/// Options: `bucket` (its name in presigned URLs, default `default`), `public` (address of the
/// gateway), `versions=on`.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryOpener;

#[async_trait]
impl BlobOpener for MemoryOpener {
    fn scheme(&self) -> &'static str {
        "memory"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[("memory:", "blobs in memory, lost when the program ends")]
    }

    /// Returns true: operations in memory never have to be retried.
    fn implements_retries(&self) -> bool {
        true
    }

    async fn open(&self, mut address: Address, context: &OpenContext) -> Result<Arc<dyn Blobs>> {
        let options = BucketOptions::take(&mut address)?;
        address.finish(&BucketOptions::NAMES)?;
        check_no_name(&address)?;
        let mut buckets = MemoryBuckets::with_env(context.env.clone());
        if let Some(public) = options.public {
            buckets = buckets.with_public(public);
        }
        open_bucket(&buckets, &options.bucket, options.versions).await
    }
}

/// Refuses a `memory:` address with a name.
pub(crate) fn check_no_name(address: &Address) -> Result<()> {
    match address.path.is_empty() {
        true => Ok(()),
        false => Err(Error::config(format!(
            "`memory:` takes no name after the colon: `{}`; leave it out",
            address.path
        ))),
    }
}

/// Options of an address that opens one bucket.
pub(crate) struct BucketOptions {
    pub(crate) bucket: String,
    pub(crate) public: Option<String>,
    pub(crate) versions: bool,
}

impl BucketOptions {
    pub(crate) const NAMES: [&str; 3] = ["bucket", "public", "versions"];

    /// Takes the options from the address, and validates them before anything is created.
    pub(crate) fn take(address: &mut Address) -> Result<Self> {
        let bucket = address.take("bucket").unwrap_or_else(|| DEFAULT_BUCKET.to_owned());
        check_bucket_name(&bucket).map_err(|error| Error::config(error.message()))?;
        let public = address.take("public");
        if let Some(public) = &public {
            check_public(public)?;
        }
        let versions = take_switch(address, "versions")?.unwrap_or(false);
        Ok(Self { bucket, public, versions })
    }
}

/// Takes an option that is `on` or `off`.
pub(crate) fn take_switch(address: &mut Address, option: &str) -> Result<Option<bool>> {
    match address.take(option).as_deref() {
        None => Ok(None),
        Some("on") => Ok(Some(true)),
        Some("off") => Ok(Some(false)),
        Some(other) => {
            Err(Error::config(format!("the option `{option}` is `on` or `off`, not `{other}`")))
        }
    }
}

/// Opens a bucket, and creates it if it is missing: who embeds blobs has no tool for that.
pub(crate) async fn open_bucket(
    buckets: &dyn Buckets,
    name: &str,
    versions: bool,
) -> Result<Arc<dyn Blobs>> {
    match buckets.create_bucket(name).await {
        Ok(()) => {}
        // Also if another process has just created it.
        Err(error) if error.kind() == &tabla_core::ErrorKind::InUse => {}
        Err(error) => return Err(error),
    }
    if versions {
        buckets.enable_versions(name).await?;
    }
    buckets.open_bucket(name).await
}
