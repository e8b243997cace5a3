//! Faults of multipart uploads.

use tabla_core::Result;
use tabla_core::blobs::*;

use super::{BlobFault, FaultBlobs};

impl<B: Blobs> FaultBlobs<B> {
    pub(super) async fn faulty_create_upload(
        &self,
        mut request: CreateUpload,
    ) -> Result<CreateUploadOutput> {
        let key = request.key.clone();
        if self.has(BlobFault::UploadHeadersLost) {
            request.headers = BlobHeaders::default();
            request.metadata.clear();
        }
        let output = self.blobs.create_upload(request).await?;
        if self.has(BlobFault::UploadVisible) && self.blobs.head(HeadBlob::new(&key)).await.is_err()
        {
            self.blobs.put(PutBlob::new(key, "")).await?;
        }
        Ok(output)
    }

    pub(super) async fn faulty_upload_part(&self, mut request: UploadPart) -> Result<UploadedPart> {
        let number = request.number;
        if self.has(BlobFault::FirstPartKept) {
            let parts = ListParts::new(&request.key, &request.upload);
            let parts = self.blobs.list_parts(parts).await?.parts;
            if let Some(first) = parts.into_iter().find(|part| part.number == number) {
                return Ok(first);
            }
        }
        if self.has(BlobFault::PartsInUploadOrder) {
            let mut memory = self.memory();
            let numbers = memory.numbers.entry(request.upload.clone()).or_default();
            numbers.push(number);
            request.number = numbers.len() as u32;
        }
        let mut part = self.blobs.upload_part(request).await?;
        part.number = number;
        Ok(part)
    }

    pub(super) async fn faulty_complete_upload(
        &self,
        mut request: CompleteUpload,
    ) -> Result<PutBlobOutput> {
        let (key, upload) = (request.key.clone(), request.upload.clone());
        if self.has(BlobFault::AllPartsUsed) {
            let parts = self.blobs.list_parts(ListParts::new(&key, &upload)).await?.parts;
            request.parts = parts.into_iter().map(Into::into).collect();
        }
        if self.has(BlobFault::PartsInUploadOrder) {
            let numbers = self.memory().numbers.get(&upload).cloned().unwrap_or_default();
            for part in &mut request.parts {
                let place = numbers.iter().position(|number| *number == part.number);
                part.number = place.map_or(part.number, |place| place as u32 + 1);
            }
            request.parts.sort_by_key(|part| part.number);
        }
        let listed = match self.has(BlobFault::CompleteLeavesUpload) {
            true => self.blobs.list_uploads(ListUploads::new()).await?.uploads,
            false => Vec::new(),
        };
        match self.blobs.complete_upload(request).await {
            Ok(output) => {
                let own = listed.into_iter().filter(|it| it.upload == upload);
                self.memory().completed.extend(own);
                Ok(output)
            }
            Err(error) => {
                let is_condition = error.code() == codes::PRECONDITION_FAILED;
                if is_condition && self.has(BlobFault::FailureEndsUpload) {
                    self.blobs.abort_upload(AbortUpload::new(key, upload)).await?;
                }
                Err(error)
            }
        }
    }

    pub(super) async fn faulty_abort_upload(&self, request: AbortUpload) -> Result<()> {
        if self.has(BlobFault::AbortKeepsParts) {
            return Ok(());
        }
        self.blobs.abort_upload(request).await
    }

    pub(super) async fn faulty_list_uploads(&self, request: ListUploads) -> Result<UploadPage> {
        let mut page = self.blobs.list_uploads(request).await?;
        page.uploads.extend(self.memory().completed.iter().cloned());
        Ok(page)
    }
}
