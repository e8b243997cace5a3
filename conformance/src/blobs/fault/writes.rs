//! Faults of puts, copies and deletes.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures::StreamExt;
use tabla_core::Result;
use tabla_core::blobs::*;

use super::{BlobFault, FaultBlobs};

impl<B: Blobs> FaultBlobs<B> {
    pub(super) async fn faulty_put(&self, mut request: PutBlob) -> Result<PutBlobOutput> {
        request.key = self.faulty_key(&request.key);
        if self.has(BlobFault::ConditionIgnored) {
            request.condition = WriteCondition::None;
        }
        if self.has(BlobFault::MatchAsAbsent) && request.condition != WriteCondition::None {
            request.condition = WriteCondition::IfAbsent;
        }
        if self.has(BlobFault::ChecksumNotVerified) {
            request.expected_checksums.clear();
        }
        if self.has(BlobFault::MetadataDropped) && rules::check_metadata(&request.metadata).is_err()
        {
            request.metadata.clear();
        }
        if self.has(BlobFault::HeadersKept)
            && let Ok(present) = self.blobs.head(HeadBlob::new(&request.key)).await
        {
            request.headers = present.headers;
            request.metadata = present.metadata;
        }
        if self.has(BlobFault::ShortStreamStored) && request.body.as_bytes().is_none() {
            request = shortened(request).await?;
        }
        let is_split = match &request.condition {
            WriteCondition::None => false,
            WriteCondition::IfAbsent => self.has(BlobFault::ConditionNotAtomic),
            WriteCondition::IfMatch(_) => self.has(BlobFault::LastMatchWins),
        };
        if is_split {
            let present = self.blobs.head(HeadBlob::new(&request.key)).await.ok();
            let etag = present.as_ref().map(|info| info.etag.as_str());
            request.condition.evaluate(&request.key, etag)?;
            // Lets the concurrent calls evaluate their conditions, too.
            tokio::task::yield_now().await;
            request.condition = WriteCondition::None;
        }
        let key = request.key.clone();
        let bytes = request.body.as_bytes().cloned();
        let written = self.blobs.put(request).await;
        if self.has(BlobFault::FailedPutDeletes) && written.is_err() {
            self.blobs.delete(DeleteBlob::new(&key)).await?;
        }
        if self.has(BlobFault::BadDigestWritten)
            && let (Err(error), Some(bytes)) = (&written, bytes)
            && error.code() == codes::BAD_DIGEST
        {
            self.blobs.put(PutBlob::new(&key, bytes)).await?;
        }
        written.map(|output| self.faulty_output(output))
    }

    fn faulty_output(&self, mut output: PutBlobOutput) -> PutBlobOutput {
        if self.has(BlobFault::EtagConstant) {
            output.etag = CONSTANT.to_owned();
        }
        if self.has(BlobFault::ChecksumDropped) {
            output.checksum = None;
        }
        output
    }

    pub(super) fn faulty_info(&self, mut info: BlobInfo) -> BlobInfo {
        if self.has(BlobFault::EtagConstant) {
            info.etag = CONSTANT.to_owned();
        }
        if self.has(BlobFault::ChecksumDropped) {
            info.checksum = None;
        }
        info
    }

    pub(super) fn faulty_key(&self, key: &str) -> String {
        if self.has(BlobFault::KeysFolded) {
            return key.to_lowercase();
        }
        if self.has(BlobFault::SlashesJoined) {
            return key.replace("//", "/");
        }
        if self.has(BlobFault::KeysDecoded) {
            return key.replace("%20", " ");
        }
        if self.has(BlobFault::KeysResolved) {
            return resolved(key);
        }
        key.to_owned()
    }

    pub(super) async fn faulty_copy(&self, mut request: CopyBlob) -> Result<PutBlobOutput> {
        if self.has(BlobFault::CopyDropsMetadata)
            && request.replace.is_none()
            && let Ok(source) = self.blobs.head(HeadBlob::new(&request.source)).await
        {
            request.replace = Some((source.headers, BTreeMap::new()));
        }
        if self.has(BlobFault::SourceMatchIgnored) {
            request.source_if_match = None;
        }
        self.blobs.copy(request).await.map(|output| self.faulty_output(output))
    }

    pub(super) async fn faulty_delete(&self, mut request: DeleteBlob) -> Result<DeleteBlobOutput> {
        if self.has(BlobFault::DeleteMatchIgnored) {
            request.if_match = None;
        }
        if self.has(BlobFault::DeleteMissingFails) {
            self.blobs.head(HeadBlob::new(&request.key)).await?;
        }
        self.blobs.delete(request).await
    }

    pub(super) async fn faulty_delete_many(
        &self,
        mut request: DeleteBlobs,
    ) -> Result<DeleteBlobsOutput> {
        if self.has(BlobFault::LastDeleteLost) && request.keys.len() > 1 {
            request.keys.pop();
        }
        self.blobs.delete_many(request).await
    }
}

/// ETag of every blob with [`BlobFault::EtagConstant`].
pub(super) const CONSTANT: &str = "d41d8cd98f00b204e9800998ecf8427e";

/// Key as a file system resolves it.
fn resolved(key: &str) -> String {
    let mut segments = Vec::new();
    for segment in key.split('/') {
        match segment {
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

/// Put of the bytes that a stream has, whatever it announced.
async fn shortened(mut request: PutBlob) -> Result<PutBlob> {
    let mut stream = std::mem::take(&mut request.body).into_stream();
    let mut all = Vec::new();
    while let Some(piece) = stream.next().await {
        match piece {
            Ok(piece) => all.extend_from_slice(&piece),
            Err(error) if error.code() == codes::INCOMPLETE_BODY => break,
            Err(error) => return Err(error),
        }
    }
    request.body = Bytes::from(all).into();
    Ok(request)
}
