//! Harnesses for blobs in memory: complete ones, and ones that lack every capability.

use std::sync::Arc;

use async_trait::async_trait;
use tabla_conformance::blobs::{BlobHarness, BucketVersions, CaseBucket};
use tabla_core::blobs::*;
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::{Error, Result};
use tabla_s3::{Buckets, MemoryBuckets};

pub(crate) struct MemoryBlobsHarness;

#[async_trait]
impl BlobHarness for MemoryBlobsHarness {
    fn engine(&self) -> &'static str {
        "memory"
    }

    fn is_complete(&self) -> bool {
        true
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        // 2026-01-01
        let clock = ManualClock::new(Timestamp::from_secs(1_767_225_600));
        let buckets = MemoryBuckets::with_env(Env::test(clock.clone(), 1))
            .with_public("http://127.0.0.1:9000");
        if versions == BucketVersions::On {
            buckets.enable_versions("default").await.expect("the bucket exists");
        }
        let blobs = buckets.open_bucket("default").await.expect("the bucket exists");
        CaseBucket::new(blobs).clock(clock)
    }
}

/// Harness for blobs that declare no capability, and refuse requests for it or do not.
pub(crate) struct LimitedHarness {
    pub(crate) refuses: bool,
}

#[async_trait]
impl BlobHarness for LimitedHarness {
    fn engine(&self) -> &'static str {
        "limited"
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        let mut bucket = MemoryBlobsHarness.case_bucket(versions).await;
        bucket.blobs = Arc::new(LimitedBlobs { blobs: bucket.blobs, refuses: self.refuses });
        bucket
    }
}

/// Blobs that declare no capability.
#[derive(Debug)]
struct LimitedBlobs {
    blobs: Arc<dyn Blobs>,
    refuses: bool,
}

const NONE: fn() -> BlobCapabilities = || BlobCapabilities::none("limited");

impl LimitedBlobs {
    fn check(&self, checked: Result<()>) -> Result<()> {
        if self.refuses { checked } else { Ok(()) }
    }

    fn check_multipart(&self) -> Result<()> {
        self.check(NONE().check_multipart())
    }

    /// Refuses keys that are no plain paths.
    fn check_key(&self, key: &str) -> Result<()> {
        let is_plain = |segment: &str| {
            !matches!(segment, "" | "." | "..") && !segment.contains(|it: char| it.is_control())
        };
        // Requests with invalid keys are left to the wrapped blobs.
        let is_refused =
            rules::check_key(key).is_ok() && !key.split('/').all(is_plain) && self.refuses;
        match is_refused {
            true => Err(Error::unsupported(format!("the key {key:?} is no plain path"))),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl Blobs for LimitedBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        NONE()
    }

    async fn put(&self, request: PutBlob) -> Result<PutBlobOutput> {
        self.check(NONE().check_put(&request))?;
        self.check_key(&request.key)?;
        self.blobs.put(request).await.map(without_checksum)
    }

    async fn get(&self, request: GetBlob) -> Result<GetBlobOutput> {
        let found = self.blobs.get(request).await?;
        Ok(GetBlobOutput::new(found.info.checksum(None), found.range, found.body))
    }

    async fn head(&self, request: HeadBlob) -> Result<BlobInfo> {
        Ok(self.blobs.head(request).await?.checksum(None))
    }

    async fn delete(&self, request: DeleteBlob) -> Result<DeleteBlobOutput> {
        self.check(NONE().check_delete(&request))?;
        self.blobs.delete(request).await
    }

    async fn delete_many(&self, request: DeleteBlobs) -> Result<DeleteBlobsOutput> {
        self.blobs.delete_many(request).await
    }

    async fn list(&self, request: ListBlobs) -> Result<BlobPage> {
        self.blobs.list(request).await
    }

    async fn copy(&self, request: CopyBlob) -> Result<PutBlobOutput> {
        self.check(NONE().check_copy(&request))?;
        self.check_key(&request.key)?;
        self.blobs.copy(request).await.map(without_checksum)
    }

    async fn create_upload(&self, request: CreateUpload) -> Result<CreateUploadOutput> {
        self.check(NONE().check_upload(&request))?;
        self.blobs.create_upload(request).await
    }

    async fn upload_part(&self, request: UploadPart) -> Result<UploadedPart> {
        self.check_multipart()?;
        self.blobs.upload_part(request).await
    }

    async fn complete_upload(&self, request: CompleteUpload) -> Result<PutBlobOutput> {
        self.check_multipart()?;
        self.blobs.complete_upload(request).await
    }

    async fn abort_upload(&self, request: AbortUpload) -> Result<()> {
        self.check_multipart()?;
        self.blobs.abort_upload(request).await
    }

    async fn list_parts(&self, request: ListParts) -> Result<PartPage> {
        self.check_multipart()?;
        self.blobs.list_parts(request).await
    }

    async fn list_uploads(&self, request: ListUploads) -> Result<UploadPage> {
        self.check_multipart()?;
        self.blobs.list_uploads(request).await
    }
}

fn without_checksum(output: PutBlobOutput) -> PutBlobOutput {
    output.checksum(None)
}
