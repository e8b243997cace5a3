//! Blobs on S3 and on services that speak its protocol, through the AWS SDK.
//!
//! Core's `RetryingBlobs` is the only retry policy: the SDK's
//! retries and its checksums by default are off. Requests are validated by core's rules before they
//! are sent, so that S3 and the other backends refuse the same ones.

mod body;
mod config;
mod convert;
mod copy;
mod delete_many;
mod error;
mod exact_key;
mod list;
mod multipart;
mod objects;
mod open;
mod opener;
mod prefix;
mod presign;
mod signing;
mod upload_checksums;
mod version_order;
mod versions;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_s3::config::timeout::TimeoutConfig;
use tabla_core::blobs::*;
use tabla_core::env::Env;
use tabla_core::{Result, RetryPolicy};

pub use config::S3Config;
pub use opener::S3Opener;

use prefix::KeyPrefix;
use upload_checksums::UploadChecksums;

/// Blobs of one bucket of S3, or of those under one prefix of its keys.
///
/// ```no_run
/// use tabla_core::blobs::{Blobs, BlobsExt, PutBlob};
/// use tabla_s3::{S3Blobs, S3Config};
///
/// # async fn example() -> tabla_core::Result<()> {
/// let blobs = S3Blobs::open(&S3Config::new("assets").with_region("eu-west-1")).await?;
/// blobs.put(PutBlob::new("logo.png", "…").content_type("image/png")).await?;
/// assert!(blobs.read("logo.png").await?.is_some());
/// # Ok(())
/// # }
/// ```
///
/// - Bytes are hashed once, and sent with their checksum as a header. A stream is sent as it comes,
///   in constant memory, and its checksum follows as a trailer; the last piece is sent only after
///   the stream has ended with its announced length and the expected checksums. S3 verifies what
///   it receives.
/// - S3 needs the checksum algorithm of a multipart upload for each part. Uploads of other processes
///   are looked up with one ListParts per process.
/// - A copy of more than 5 GB, the limit of CopyObject, is a multipart upload of parts of the source:
///   object tags are not copied, the ETag differs from the source's, and the condition of the write
///   is evaluated at the end, too. A failed one is aborted; one whose future is dropped leaves an
///   upload without a blob, which a lifecycle rule removes.
/// - Without the permission `s3:ListBucket`, S3 reports a missing blob as
///   [`AccessDenied`](tabla_core::ErrorKind::AccessDenied).
///
/// Cloning is cheap: clones share connections.
#[derive(Clone, Debug)]
pub struct S3Blobs {
    client: aws_sdk_s3::Client,
    bucket: Arc<str>,
    prefix: KeyPrefix,
    has_versions: bool,
    operation_timeout: Duration,
    copy_timeout: Duration,
    part_retries: RetryPolicy,
    env: Env,
    uploads: Arc<UploadChecksums>,
}

/// Bytes of a body that add 1 s to the time limit of their request.
const BYTES_PER_SECOND: u64 = 64 << 10;

impl S3Blobs {
    /// Creates blobs on a client of the caller, with its connections and credentials.
    ///
    /// Of `config`, bucket, prefix, versions and the time limits of calls are used. Turn off the
    /// client's retries, and its default checksums (`request_checksum_calculation`,
    /// `response_checksum_validation`: when required).
    ///
    /// # Errors
    /// The prefix leaves no byte for a key.
    pub fn from_client(client: aws_sdk_s3::Client, config: &S3Config) -> Result<Self> {
        Ok(Self {
            client,
            bucket: config.bucket.as_str().into(),
            prefix: KeyPrefix::new(&config.prefix)?,
            has_versions: config.versions,
            operation_timeout: config.operation_timeout,
            copy_timeout: config.copy_timeout,
            part_retries: RetryPolicy::none(),
            env: Env::system(),
            uploads: Arc::default(),
        })
    }

    /// Sets the clock of presigned URLs.
    #[must_use]
    pub fn with_env(mut self, env: &Env) -> Self {
        self.env = env.clone();
        self
    }

    /// Sets the retries of each part of a copy of more than 5 GB (default: none). A retry of the whole
    /// copy would begin it again. All other requests are retried by core's `RetryingBlobs`.
    #[must_use]
    pub fn with_part_retries(mut self, retries: RetryPolicy) -> Self {
        self.part_retries = retries;
        self
    }

    /// Returns the SDK's client, for operations that [`Blobs`] does not have.
    ///
    /// Its keys have the [prefix](S3Config::prefix).
    pub fn client(&self) -> &aws_sdk_s3::Client {
        &self.client
    }

    /// Returns the name of the bucket.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Settings of a call with another time limit; `None` for none.
    fn limited(limit: Option<Duration>) -> aws_sdk_s3::config::Builder {
        let timeouts = TimeoutConfig::builder();
        let timeouts = match limit {
            Some(limit) => timeouts.operation_timeout(limit).build(),
            None => timeouts.disable_operation_timeout().build(),
        };
        aws_sdk_s3::config::Builder::new().timeout_config(timeouts)
    }

    /// Time limit of a request with a body of this length.
    fn upload_timeout(&self, length: u64) -> Duration {
        self.operation_timeout + Duration::from_secs(length / BYTES_PER_SECOND)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Blobs for S3Blobs {
    fn capabilities(&self) -> BlobCapabilities {
        BlobCapabilities::full("s3")
    }

    fn presign(&self) -> Option<&dyn Presign> {
        Some(self)
    }

    fn versions(&self) -> Option<&dyn Versions> {
        self.has_versions.then_some(self)
    }

    async fn put(&self, request: PutBlob) -> Result<PutBlobOutput> {
        self.put_object(request).await
    }

    async fn get(&self, request: GetBlob) -> Result<GetBlobOutput> {
        self.get_object(request, None).await
    }

    async fn head(&self, request: HeadBlob) -> Result<BlobInfo> {
        self.head_object(request, None).await
    }

    async fn delete(&self, request: DeleteBlob) -> Result<DeleteBlobOutput> {
        self.delete_object(request).await
    }

    async fn delete_many(&self, request: DeleteBlobs) -> Result<DeleteBlobsOutput> {
        self.delete_objects(request).await
    }

    async fn list(&self, request: ListBlobs) -> Result<BlobPage> {
        self.list_objects(request).await
    }

    async fn copy(&self, request: CopyBlob) -> Result<PutBlobOutput> {
        self.copy_object(request).await
    }

    async fn create_upload(&self, request: CreateUpload) -> Result<CreateUploadOutput> {
        self.create_multipart_upload(request).await
    }

    async fn upload_part(&self, request: UploadPart) -> Result<UploadedPart> {
        self.send_part(request).await
    }

    async fn complete_upload(&self, request: CompleteUpload) -> Result<PutBlobOutput> {
        self.complete_multipart_upload(request).await
    }

    async fn abort_upload(&self, request: AbortUpload) -> Result<()> {
        self.abort_multipart_upload(request).await
    }

    async fn list_parts(&self, request: ListParts) -> Result<PartPage> {
        self.list_upload_parts(request).await
    }

    async fn list_uploads(&self, request: ListUploads) -> Result<UploadPage> {
        self.list_multipart_uploads(request).await
    }
}
