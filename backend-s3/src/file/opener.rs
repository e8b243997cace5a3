//! Opener of `file:` addresses.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tabla_core::blobs::{BlobOpener, Blobs};
use tabla_core::env::Env;
use tabla_core::{Address, Error, OpenContext, Result};

use super::FileFolder;
use crate::opener::{BucketOptions, open_bucket, take_switch};

/// Opener of `file:` addresses: a folder, such as `file:assets` or `file:/var/lib/assets`.
///
/// Options:
/// - `bucket`: name of the bucket (default: `default`). It is created if it is missing.
/// - `public`: address of the gateway in presigned URLs.
/// - `versions=on`: makes the bucket keep versions from now on.
/// - `uploads`: age in days at which a sweep aborts multipart uploads (default: 7).
/// - `sweep=off`: puts start no sweeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileOpener;

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

#[async_trait]
impl BlobOpener for FileOpener {
    fn scheme(&self) -> &'static str {
        "file"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("file:assets", "blobs in a folder, created if it is missing"),
            ("file:assets?bucket=photos", "the same folder, another bucket"),
        ]
    }

    async fn open(&self, mut address: Address, context: &OpenContext) -> Result<Arc<dyn Blobs>> {
        let options = BucketOptions::take(&mut address)?;
        let settings = FolderOptions::take(&mut address)?;
        address.finish(&[&BucketOptions::NAMES[..], &FolderOptions::NAMES].concat())?;
        let mut folder = settings.open(&address.path, context.env.clone()).await?;
        if let Some(public) = options.public {
            folder = folder.with_public(public);
        }
        open_bucket(&folder, &options.bucket, options.versions).await
    }
}

/// Options of an address that concern the whole folder.
pub(crate) struct FolderOptions {
    uploads: Option<Duration>,
    sweeps: Option<bool>,
}

impl FolderOptions {
    pub(crate) const NAMES: [&str; 2] = ["uploads", "sweep"];

    /// Takes the options from the address, and validates them before anything is created.
    pub(crate) fn take(address: &mut Address) -> Result<Self> {
        let uploads = address.take("uploads").map(|days| parse_days(&days)).transpose()?;
        let sweeps = take_switch(address, "sweep")?;
        Ok(Self { uploads, sweeps })
    }

    /// Opens the folder with these options.
    pub(crate) async fn open(self, path: &str, env: Env) -> Result<FileFolder> {
        check_path(path)?;
        let mut folder = FileFolder::open_with_env(path, env).await?;
        if let Some(uploads) = self.uploads {
            folder = folder.with_upload_ttl(uploads);
        }
        if let Some(sweeps) = self.sweeps {
            folder = folder.with_sweeps(sweeps);
        }
        Ok(folder)
    }
}

fn parse_days(days: &str) -> Result<Duration> {
    match days.parse::<u32>() {
        Ok(days @ 1..) => Ok(Duration::from_secs(u64::from(days) * SECONDS_PER_DAY)),
        _ => Err(Error::config(format!(
            "the option `uploads` is a number of days, at least 1, not `{days}`"
        ))),
    }
}

/// Refuses paths that look like a URL with a host.
fn check_path(path: &str) -> Result<()> {
    if path.is_empty() {
        return Err(Error::config("name a folder after the colon, such as `file:assets`"));
    }
    match path.strip_prefix("//") {
        Some(rest) if !rest.starts_with('/') => Err(Error::config(format!(
            "`//{rest}` would be a folder `{rest}` of the root; write `file:{rest}` for a folder \
             here, or `file:/{rest}` for one of the root"
        ))),
        _ => Ok(()),
    }
}
