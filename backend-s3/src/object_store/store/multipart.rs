//! Multipart uploads of [`BlobsObjectStore`] by the ids of their parts.

use ::object_store::multipart::{MultipartStore, PartId};
use ::object_store::path::Path;
use ::object_store::{MultipartId, PutMultipartOptions, PutPayload, PutResult, Result};
use async_trait::async_trait;
use bytes::Bytes;
use tabla_core::blobs::{AbortUpload, CompleteUpload, CompletedPart, UploadPart};

use super::super::error::{Condition, invalid, to_store};
use super::{BlobsObjectStore, to_result};

impl BlobsObjectStore {
    async fn upload_part(
        &self,
        path: &Path,
        id: &str,
        number: u32,
        bytes: Bytes,
    ) -> Result<PartId> {
        let part = UploadPart::new(path.as_ref(), id, number, bytes);
        let part = self
            .blobs
            .upload_part(part)
            .await
            .map_err(|error| to_store(Condition::Read, path.as_ref(), error))?;
        Ok(PartId { content_id: part.etag })
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl MultipartStore for BlobsObjectStore {
    async fn create_multipart(&self, path: &Path) -> Result<MultipartId> {
        self.create_multipart_opts(path, PutMultipartOptions::default()).await
    }

    async fn create_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<MultipartId> {
        let create = self.create_upload(path, options)?;
        let result = self.blobs.create_upload(create).await;
        result
            .map(|output| output.upload)
            .map_err(|error| to_store(Condition::Read, path.as_ref(), error))
    }

    async fn put_part(
        &self,
        path: &Path,
        id: &MultipartId,
        part_idx: usize,
        data: PutPayload,
    ) -> Result<PartId> {
        let number = u32::try_from(part_idx.saturating_add(1)).map_err(invalid)?;
        self.upload_part(path, id, number, Bytes::from(data)).await
    }

    async fn complete_multipart(
        &self,
        path: &Path,
        id: &MultipartId,
        mut parts: Vec<PartId>,
    ) -> Result<PutResult> {
        // An upload of blobs has at least one part.
        if parts.is_empty() {
            parts.push(self.upload_part(path, id, 1, Bytes::new()).await?);
        }
        let parts =
            (1..).zip(parts).map(|(number, part)| CompletedPart::new(number, part.content_id));
        let request = CompleteUpload::new(path.as_ref(), id, parts);
        let result = self.blobs.complete_upload(request).await;
        result.map(to_result).map_err(|error| to_store(Condition::Read, path.as_ref(), error))
    }

    async fn abort_multipart(&self, path: &Path, id: &MultipartId) -> Result<()> {
        let result = self.blobs.abort_upload(AbortUpload::new(path.as_ref(), id)).await;
        result.map_err(|error| to_store(Condition::Read, path.as_ref(), error))
    }
}
