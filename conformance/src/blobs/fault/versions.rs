//! Faults of versions.

use async_trait::async_trait;
use tabla_core::Result;
use tabla_core::blobs::*;

use super::failure::blob_operation;
use super::{BlobFault, FaultBlobs};

impl<B: Blobs> FaultBlobs<B> {
    /// The versions of the wrapped blobs, which exist if those of the wrapper do.
    fn inner_versions(&self) -> Result<&dyn Versions> {
        self.blobs
            .versions()
            .ok_or_else(|| tabla_core::Error::unsupported("the blobs no longer have versions"))
    }

    async fn faulty_list_versions(&self, request: ListVersions) -> Result<VersionPage> {
        let mut page = self.inner_versions()?.list_versions(request).await?;
        if self.has(BlobFault::MarkersHidden) {
            page.versions.retain(|version| !version.is_delete_marker);
        }
        if self.has(BlobFault::VersionsOldestFirst) {
            page.versions.reverse();
            // The sort is stable, so the versions of one key stay reversed.
            page.versions.sort_by(|one, next| one.key.cmp(&next.key));
        }
        Ok(page)
    }

    async fn faulty_get_version(&self, version: &str, request: GetBlob) -> Result<GetBlobOutput> {
        match self.has(BlobFault::VersionIgnored) {
            true => self.blobs.get(request).await,
            false => self.inner_versions()?.get_version(version, request).await,
        }
    }

    async fn faulty_restore_version(&self, key: &str, version: &str) -> Result<PutBlobOutput> {
        if self.has(BlobFault::RestoreKeepsCurrent) {
            let found = self.blobs.get(GetBlob::new(key)).await?;
            let body = found.body.collect().await?;
            return self.blobs.put(PutBlob::new(key, body)).await;
        }
        self.inner_versions()?.restore_version(key, version).await
    }
}

#[async_trait]
impl<B: Blobs> Versions for FaultBlobs<B> {
    async fn list_versions(&self, request: ListVersions) -> Result<VersionPage> {
        let call = self.faulty_list_versions(request);
        self.call(blob_operation!(list_versions), false, call).await
    }

    async fn get_version(&self, version: &str, request: GetBlob) -> Result<GetBlobOutput> {
        let call = self.faulty_get_version(version, request);
        self.call(blob_operation!(get_version), false, call).await
    }

    async fn head_version(&self, version: &str, request: HeadBlob) -> Result<BlobInfo> {
        let call = async { self.inner_versions()?.head_version(version, request).await };
        self.call(blob_operation!(head_version), false, call).await
    }

    async fn restore_version(&self, key: &str, version: &str) -> Result<PutBlobOutput> {
        let call = self.faulty_restore_version(key, version);
        self.call(blob_operation!(restore_version), false, call).await
    }

    async fn delete_version(&self, key: &str, version: &str) -> Result<DeleteVersionOutput> {
        let call = async { self.inner_versions()?.delete_version(key, version).await };
        self.call(blob_operation!(delete_version), false, call).await
    }
}
