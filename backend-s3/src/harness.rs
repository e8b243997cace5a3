//! Harnesses that run the conformance suite of blobs on the backends of this crate.

#[cfg(feature = "s3")]
mod service;

use std::sync::Arc;

use async_trait::async_trait;
use tabla_conformance::blobs::{BlobHarness, BucketVersions, CaseBucket};
use tabla_core::blobs::Blobs;
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::{Address, Error, Result};

#[cfg(feature = "s3")]
pub use self::service::S3BlobHarness;
use crate::{Buckets, MemoryBuckets};

/// Start of the clocks of cases, 2026-01-01.
const START: Timestamp = Timestamp::from_secs(1_767_225_600);

/// Address of the gateway in presigned URLs, which no case sends.
const PUBLIC: &str = "http://127.0.0.1:9000";

/// Addresses with a harness, for errors.
const KNOWN: &str = match (cfg!(feature = "file"), cfg!(feature = "s3")) {
    (false, false) => "`memory:`",
    (true, false) => "`memory:`, or a folder such as `file:assets`",
    (false, true) => "`memory:`, or a service such as `s3://suite?endpoint=http://127.0.0.1:9000`",
    (true, true) => {
        "`memory:`, a folder such as `file:assets`, or a service such as \
         `s3://suite?endpoint=http://127.0.0.1:9000`"
    }
};

/// Returns the harness for an address: buckets in memory (`memory:`), in folders beside the named
/// one (`file:assets`), or on the service of an `s3:` address, in buckets whose names begin with the
/// named one.
///
/// The option `retries` is accepted and has no effect: a case sees every error.
///
/// # Errors
/// [`tabla_core::ErrorKind::Config`]: the address is malformed, or of another scheme; it has options
/// that the suite sets itself, such as `versions`. Otherwise those of [`S3BlobHarness::open`].
pub async fn harness_at(address: &str) -> Result<Arc<dyn BlobHarness>> {
    open(address).await.map_err(|error| {
        let message = format!("cannot open `{address}`: {}", error.message());
        error.with_message(message)
    })
}

async fn open(address: &str) -> Result<Arc<dyn BlobHarness>> {
    let mut address: Address = address.parse()?;
    if let Some(other) = address.take("retries").filter(|value| value != "on" && value != "off") {
        let message = format!("the option `retries` is `on` or `off`, not `{other}`");
        return Err(Error::config(message));
    }
    match address.scheme.as_str() {
        "memory" => {
            address.finish(&[])?;
            crate::opener::check_no_name(&address)?;
            Ok(Arc::new(MemoryBlobHarness))
        }
        #[cfg(feature = "file")]
        "file" => {
            address.finish(&[])?;
            Ok(Arc::new(FileBlobHarness::new(&address.path)?))
        }
        #[cfg(feature = "s3")]
        "s3" => Ok(Arc::new(S3BlobHarness::open(crate::S3Config::from_address(address)?).await?)),
        other => Err(Error::config(format!(
            "the suite has no buckets of `{other}:` addresses; name {KNOWN}"
        ))),
    }
}

/// Opens the bucket of these that exists from the start.
async fn open_default(buckets: &dyn Buckets, versions: BucketVersions) -> Arc<dyn Blobs> {
    if versions == BucketVersions::On {
        buckets.enable_versions("default").await.expect("the bucket exists");
    }
    buckets.open_bucket("default").await.expect("the bucket exists")
}

/// Harness for [`MemoryBuckets`].
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryBlobHarness;

#[async_trait]
impl BlobHarness for MemoryBlobHarness {
    fn engine(&self) -> &'static str {
        "memory"
    }

    fn is_complete(&self) -> bool {
        true
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        let clock = ManualClock::new(START);
        let buckets = MemoryBuckets::with_env(Env::test(clock.clone(), 1)).with_public(PUBLIC);
        CaseBucket::new(open_default(&buckets, versions).await).clock(clock)
    }
}

/// Harness for [`FileFolder`](crate::FileFolder): a folder per case, which is deleted after it.
#[cfg(feature = "file")]
#[derive(Debug)]
pub struct FileBlobHarness {
    path: std::path::PathBuf,
    next: std::sync::atomic::AtomicU64,
}

#[cfg(feature = "file")]
impl FileBlobHarness {
    /// Harness with folders at this path, to which a number is appended for each case. Nothing may
    /// exist at those paths.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`]: the path has no name, or its parent folder does not exist.
    pub fn new(path: impl Into<std::path::PathBuf>) -> Result<Self> {
        let path = path.into();
        let refuse = |why: &str| {
            Error::config(format!(
                "{why} `{}`; name a folder beside which the cases make theirs, such as \
                 `file:assets`",
                path.display()
            ))
        };
        if path.file_name().is_none() {
            return Err(refuse("there is no name in the path"));
        }
        match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
                Err(refuse("there is no parent folder of"))
            }
            _ => Ok(Self { path, next: std::sync::atomic::AtomicU64::new(0) }),
        }
    }
}

#[cfg(feature = "file")]
#[async_trait]
impl BlobHarness for FileBlobHarness {
    fn engine(&self) -> &'static str {
        "file"
    }

    fn is_complete(&self) -> bool {
        true
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        let number = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut path = self.path.clone();
        path.as_mut_os_string().push(format!("-{number}"));
        let clock = ManualClock::new(START);
        let folder = crate::FileFolder::open_with_env(&path, Env::test(clock.clone(), 1))
            .await
            .expect("cannot open the folder of a case")
            // A sweep on its own thread could create its lock while the folder is deleted.
            .with_sweeps(false)
            .with_public(PUBLIC);
        CaseBucket::new(open_default(&folder, versions).await).clock(clock).cleanup(
            move || async move {
                drop(folder);
                // What is left does not change the result of the case.
                let _ = std::fs::remove_dir_all(path);
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn address_without_a_harness_is_refused_with_a_remedy() {
        let parent = tempfile::tempdir().unwrap();
        let missing = format!("file:{}/no-such-folder/assets", parent.path().display());
        let with_option = format!("file:{}/assets?versions=on", parent.path().display());
        for (address, part) in [
            ("assets", "has no colon"),
            ("memory:x", "leave it out"),
            ("memory:?bucket=photos", "unknown options"),
            ("memory:?retries=some", "the option `retries` is `on` or `off`, not `some`"),
            ("gs://photos", "no buckets of `gs:` addresses; name `memory:`"),
            #[cfg(feature = "file")]
            ("file:", "such as `file:assets`"),
            #[cfg(feature = "file")]
            (&missing, "there is no parent folder of"),
            #[cfg(feature = "file")]
            (&with_option, "unknown options"),
        ] {
            let error = harness_at(address).await.err().expect(address);
            assert_eq!(error.kind(), &tabla_core::ErrorKind::Config, "{address}");
            let message = error.message();
            assert!(message.starts_with(&format!("cannot open `{address}`: ")), "{message}");
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[cfg(feature = "file")]
    #[tokio::test]
    async fn folder_of_a_case_is_deleted_after_it() {
        let parent = tempfile::tempdir().unwrap();
        let address = format!("file:{}/assets?retries=off", parent.path().display());
        let harness = harness_at(&address).await.unwrap();
        let bucket = harness.case_bucket(BucketVersions::On).await;
        assert!(bucket.blobs.versions().is_some());
        assert!(parent.path().join("assets-0").is_dir());
        // The first put of a folder starts its sweep.
        bucket.blobs.put(tabla_core::blobs::PutBlob::new("a", "x")).await.unwrap();
        (bucket.cleanup.unwrap())().await;
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
