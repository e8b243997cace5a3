//! Retries of blobs: [`RetryingBlobs`].

use async_trait::async_trait;

use super::*;
use crate::error::Result;
use crate::store::{RetryMode, RetryPolicy};

/// Blobs that retry under a policy. Created by [`BlobsExt::with_retries`].
///
/// - Throttling, unavailability and conflicts: every operation whose body can be sent again, that
///   is, one in memory. A put or part from a stream is sent once.
/// - A write that may have been executed is repeated if it is unconditional, because two executions
///   have the effect of one. With a condition it is not: the second one would fail by the first.
/// - A download is retried until its first byte, and not in the middle of the stream.
#[derive(Clone, Debug)]
pub struct RetryingBlobs<B> {
    blobs: B,
    policy: RetryPolicy,
}

impl<B: Blobs> RetryingBlobs<B> {
    pub(super) fn new(blobs: B, policy: RetryPolicy) -> Self {
        Self { blobs, policy }
    }

    fn own_versions(&self) -> Option<&dyn Versions> {
        self.blobs.versions().map(|_| self as &dyn Versions)
    }

    /// The versions behind this wrapper, which [`own_versions`](Self::own_versions) has seen.
    fn inner_versions(&self) -> Result<&dyn Versions> {
        self.blobs
            .versions()
            .ok_or_else(|| crate::Error::unsupported("the blobs no longer have versions"))
    }
}

/// Mode of a write with this condition.
fn mode(condition: &WriteCondition) -> RetryMode {
    match condition {
        WriteCondition::None => RetryMode::Idempotent,
        WriteCondition::IfAbsent | WriteCondition::IfMatch(_) => RetryMode::OnlyIfNotApplied,
    }
}

/// Body of an operation of [`RetryingBlobs`].
macro_rules! retried {
    ($self:ident, put, $request:ident) => {{
        let Some(bytes) = $request.body.as_bytes().cloned() else {
            return $self.blobs.put($request).await;
        };
        let call = || $self.blobs.put($request.with_body(bytes.clone()));
        $self.policy.run(mode(&$request.condition), call).await
    }};
    ($self:ident, upload_part, $request:ident) => {{
        let Some(bytes) = $request.body.as_bytes().cloned() else {
            return $self.blobs.upload_part($request).await;
        };
        let call = || $self.blobs.upload_part($request.with_body(bytes.clone()));
        $self.policy.run(RetryMode::Idempotent, call).await
    }};
    ($self:ident, copy, $request:ident) => {
        $self.policy.run(mode(&$request.condition), || $self.blobs.copy($request.clone())).await
    };
    // A second completion would find no upload.
    ($self:ident, complete_upload, $request:ident) => {{
        let call = || $self.blobs.complete_upload($request.clone());
        $self.policy.run(RetryMode::OnlyIfNotApplied, call).await
    }};
    ($self:ident, delete, $request:ident) => {{
        let mode = match $request.if_match {
            None => RetryMode::Idempotent,
            Some(_) => RetryMode::OnlyIfNotApplied,
        };
        $self.policy.run(mode, || $self.blobs.delete($request.clone())).await
    }};
    ($self:ident, $method:ident, $request:ident) => {
        $self.policy.run(RetryMode::Idempotent, || $self.blobs.$method($request.clone())).await
    };
}

crate::wrap_blobs! {
    impl[B: Blobs] Blobs for RetryingBlobs<B>, inner: blobs, call: retried, versions: own_versions
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<B: Blobs> Versions for RetryingBlobs<B> {
    async fn list_versions(&self, request: ListVersions) -> Result<VersionPage> {
        let versions = self.inner_versions()?;
        self.policy.run(RetryMode::Idempotent, || versions.list_versions(request.clone())).await
    }

    async fn get_version(&self, version: &str, request: GetBlob) -> Result<GetBlobOutput> {
        let versions = self.inner_versions()?;
        let call = || versions.get_version(version, request.clone());
        self.policy.run(RetryMode::Idempotent, call).await
    }

    async fn head_version(&self, version: &str, request: HeadBlob) -> Result<BlobInfo> {
        let versions = self.inner_versions()?;
        let call = || versions.head_version(version, request.clone());
        self.policy.run(RetryMode::Idempotent, call).await
    }

    async fn restore_version(&self, key: &str, version: &str) -> Result<PutBlobOutput> {
        let versions = self.inner_versions()?;
        self.policy
            .run(RetryMode::OnlyIfNotApplied, || versions.restore_version(key, version))
            .await
    }

    async fn delete_version(&self, key: &str, version: &str) -> Result<DeleteVersionOutput> {
        let versions = self.inner_versions()?;
        self.policy.run(RetryMode::Idempotent, || versions.delete_version(key, version)).await
    }
}
