//! Harnesses for blobs in memory: complete ones, and ones that lack capabilities.

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

/// Harness for blobs that lack capabilities, and refuse requests for them or do not.
pub(crate) struct LimitedHarness {
    pub(crate) capabilities: BlobCapabilities,
    pub(crate) refuses: bool,
}

/// Declares no capability.
pub(crate) fn without_capabilities() -> BlobCapabilities {
    BlobCapabilities::none("limited")
}

/// Declares multipart uploads and conditions of puts alone.
pub(crate) fn with_plain_uploads() -> BlobCapabilities {
    let mut capabilities = without_capabilities();
    capabilities.multipart = true;
    capabilities.put_if_absent = true;
    capabilities.put_if_match = true;
    capabilities
}

#[async_trait]
impl BlobHarness for LimitedHarness {
    fn engine(&self) -> &'static str {
        "limited"
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        let mut bucket = MemoryBlobsHarness.case_bucket(versions).await;
        let (capabilities, refuses) = (self.capabilities.clone(), self.refuses);
        bucket.blobs = Arc::new(LimitedBlobs { blobs: bucket.blobs, capabilities, refuses });
        bucket
    }
}

/// Blobs that lack capabilities, among them headers, stored checksums and keys that are no paths.
#[derive(Debug)]
struct LimitedBlobs {
    blobs: Arc<dyn Blobs>,
    capabilities: BlobCapabilities,
    refuses: bool,
}

impl LimitedBlobs {
    fn check(&self, checked: Result<()>) -> Result<()> {
        if self.refuses { checked } else { Ok(()) }
    }

    fn check_multipart(&self) -> Result<()> {
        self.check(self.capabilities.check_multipart())
    }

    /// Refuses completions that the capabilities do not cover.
    async fn check_completion(&self, request: &CompleteUpload) -> Result<()> {
        self.check(self.capabilities.check_completion(request))?;
        let list = ListParts::new(&request.key, &request.upload);
        // A request on a missing upload is left to the wrapped blobs.
        let Ok(page) = self.blobs.list_parts(list).await else { return Ok(()) };
        let stored: Vec<u32> = page.parts.iter().map(|part| part.number).collect();
        let listed: Vec<u32> = request.parts.iter().map(|part| part.number).collect();
        let ascends = !listed.is_empty() && listed.is_sorted_by(|one, next| one < next);
        let is_valid = ascends && listed.iter().all(|number| stored.contains(number));
        let is_partial = is_valid && !listed.iter().copied().eq(1..=stored.len() as u32);
        self.check(self.capabilities.check_parts(is_partial))
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
        self.capabilities.clone()
    }

    async fn put(&self, request: PutBlob) -> Result<PutBlobOutput> {
        self.check(self.capabilities.check_put(&request))?;
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
        self.check(self.capabilities.check_delete(&request))?;
        self.blobs.delete(request).await
    }

    async fn delete_many(&self, request: DeleteBlobs) -> Result<DeleteBlobsOutput> {
        self.blobs.delete_many(request).await
    }

    async fn list(&self, request: ListBlobs) -> Result<BlobPage> {
        self.blobs.list(request).await
    }

    async fn copy(&self, request: CopyBlob) -> Result<PutBlobOutput> {
        self.check(self.capabilities.check_copy(&request))?;
        self.check_key(&request.key)?;
        self.blobs.copy(request).await.map(without_checksum)
    }

    async fn create_upload(&self, request: CreateUpload) -> Result<CreateUploadOutput> {
        self.check(self.capabilities.check_upload(&request))?;
        self.blobs.create_upload(request).await
    }

    async fn upload_part(&self, request: UploadPart) -> Result<UploadedPart> {
        self.check_multipart()?;
        Ok(self.blobs.upload_part(request).await?.checksum(None))
    }

    async fn complete_upload(&self, request: CompleteUpload) -> Result<PutBlobOutput> {
        self.check_completion(&request).await?;
        self.blobs.complete_upload(request).await.map(without_checksum)
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
