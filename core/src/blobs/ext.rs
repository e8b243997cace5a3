//! Convenience methods for callers, on top of [`Blobs`].

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream, FuturesUnordered, StreamExt, TryStreamExt};

use super::*;
use crate::error::{Error, Result};
use crate::store::RetryPolicy;

/// Convenience methods for callers. All blobs have them; no backend implements them.
#[async_trait]
pub trait BlobsExt: Blobs {
    /// Reads a whole blob into memory; `None` if there is none.
    async fn read(&self, key: &str) -> Result<Option<Bytes>> {
        match self.get(GetBlob::new(key)).await {
            Ok(found) => found.body.collect().await.map(Some),
            Err(error) if error.code() == codes::NO_SUCH_KEY => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Describes a blob; `None` if there is none.
    async fn info(&self, key: &str) -> Result<Option<BlobInfo>> {
        match self.head(HeadBlob::new(key)).await {
            Ok(found) => Ok(Some(found)),
            // A response to HEAD has no body, so a service reports the kind alone.
            Err(error) if error.is_not_found() && error.code() != codes::NO_SUCH_BUCKET => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Streams the blobs of a listing, page after page. Common prefixes are left out.
    ///
    /// `limit` is the size of one page, not of the whole.
    fn list_all(&self, request: ListBlobs) -> BoxStream<'_, Result<BlobSummary>> {
        let next = move |state: Option<ListBlobs>| async move {
            let Some(request) = state else { return Ok::<_, Error>(None) };
            let page = self.list(request.clone()).await?;
            let rest = page.next.map(|next| ListBlobs { after: Some(next), ..request });
            Ok(Some((stream::iter(page.blobs.into_iter().map(Ok)), rest)))
        };
        stream::try_unfold(Some(request), next).try_flatten().boxed()
    }

    /// Writes a blob of any length from a stream, as a multipart upload with constant memory.
    ///
    /// A stream that fits into one part becomes a plain put. After an error the upload is aborted.
    /// If the future is dropped, an upload without a blob stays; a sweep of the backend, or a
    /// lifecycle rule on a service, removes it.
    ///
    /// # Errors
    /// Those of the stream, of [`put`](Blobs::put) and of the multipart operations.
    async fn upload(&self, upload: Upload, content: ByteStream) -> Result<PutBlobOutput> {
        upload.run(self, content).await
    }

    /// Retries under this policy; see [`RetryingBlobs`].
    fn with_retries(self, policy: RetryPolicy) -> RetryingBlobs<Self>
    where
        Self: Sized,
    {
        RetryingBlobs::new(self, policy)
    }
}

impl<B: Blobs + ?Sized> BlobsExt for B {}

/// Called with the number of bytes that are stored so far.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// Multipart upload of a stream; see [`BlobsExt::upload`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Upload {
    /// Begin of the upload: key, headers, metadata, checksum.
    pub create: CreateUpload,
    /// Condition of the write.
    pub condition: WriteCondition,
    /// Length of every part but the last, in bytes (default: 8 MB; at least 5 MB). 10,000 parts are
    /// the limit, so the longest blob has 80 GB by default.
    pub part_bytes: usize,
    /// Parts that are sent at the same time (default: 4). Memory is this many parts.
    pub concurrency: usize,
    /// Called after each stored part. Default: none.
    pub progress: Option<Progress>,
}

impl Upload {
    /// Upload without headers, metadata and condition.
    pub fn new(key: impl Into<String>) -> Self {
        Self {
            create: CreateUpload::new(key),
            condition: WriteCondition::None,
            part_bytes: 8 << 20,
            concurrency: 4,
            progress: None,
        }
    }

    /// Sets headers, metadata and checksum.
    #[must_use]
    pub fn create(mut self, create: CreateUpload) -> Self {
        self.create = create;
        self
    }

    /// Sets the condition of the write.
    #[must_use]
    pub fn condition(mut self, condition: WriteCondition) -> Self {
        self.condition = condition;
        self
    }

    /// Sets the length of every part but the last, in bytes.
    #[must_use]
    pub fn part_bytes(mut self, bytes: usize) -> Self {
        self.part_bytes = bytes;
        self
    }

    /// Sets the number of parts that are sent at the same time.
    #[must_use]
    pub fn concurrency(mut self, parts: usize) -> Self {
        self.concurrency = parts;
        self
    }

    /// Sets the function that is called after each stored part.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    async fn run<B: Blobs + ?Sized>(self, blobs: &B, content: ByteStream) -> Result<PutBlobOutput> {
        self.check()?;
        let mut parts = Parts { content, left: Bytes::new(), length: self.part_bytes };
        let first = parts.next().await?.unwrap_or_default();
        if first.len() < self.part_bytes {
            let length = first.len() as u64;
            let CreateUpload { key, headers, metadata, checksum: _, any_part_checksum: _ } =
                self.create;
            let mut put = PutBlob::new(key, first).headers(headers).condition(self.condition);
            put.metadata = metadata;
            let output = blobs.put(put).await?;
            report(&self.progress, length);
            return Ok(output);
        }
        let key = self.create.key.clone();
        let upload = blobs.create_upload(self.create.clone()).await?.upload;
        match self.send(blobs, &upload, first, parts).await {
            Ok(output) => Ok(output),
            Err(error) => {
                // The error of the upload is the one to report. A completion that may have been
                // executed has ended the upload.
                if error.applied() == crate::Applied::No
                    && let Err(left) = blobs.abort_upload(AbortUpload::new(key, upload)).await
                {
                    return Err(error.with_source(left));
                }
                Err(error)
            }
        }
    }

    fn check(&self) -> Result<()> {
        if (self.part_bytes as u64) < rules::PART_BYTES || self.part_bytes as u64 > rules::PUT_BYTES
        {
            return Err(invalid_argument(format!(
                "the parts of an upload have {} to {} bytes, not {}",
                rules::PART_BYTES,
                rules::PUT_BYTES,
                self.part_bytes
            )));
        }
        match self.concurrency {
            0 => Err(invalid_argument("an upload sends at least 1 part at a time, not 0".into())),
            _ => self.create.check(),
        }
    }

    /// Sends all parts and completes the upload.
    async fn send<B: Blobs + ?Sized>(
        &self,
        blobs: &B,
        upload: &str,
        first: Bytes,
        mut parts: Parts,
    ) -> Result<PutBlobOutput> {
        let key = &self.create.key;
        let mut stored: Vec<UploadedPart> = Vec::new();
        let mut sending = FuturesUnordered::new();
        let (mut next, mut number, mut bytes) = (Some(first), 0, 0);
        loop {
            if let Some(part) = next.take() {
                number += 1;
                sending.push(blobs.upload_part(UploadPart::new(key, upload, number, part)));
                if sending.len() < self.concurrency {
                    next = parts.next().await?;
                    continue;
                }
            }
            let Some(part) = sending.next().await else { break };
            let part = part?;
            bytes += part.size;
            stored.push(part);
            report(&self.progress, bytes);
            next = parts.next().await?;
        }
        stored.sort_by_key(|part| part.number);
        let request = CompleteUpload::new(key, upload, stored)
            .condition(self.condition.clone())
            .expected_size(Some(bytes));
        blobs.complete_upload(request).await
    }
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("create", &self.create)
            .field("condition", &self.condition)
            .field("part_bytes", &self.part_bytes)
            .field("concurrency", &self.concurrency)
            .finish_non_exhaustive()
    }
}

fn report(progress: &Option<Progress>, bytes: u64) {
    if let Some(progress) = progress {
        progress(bytes);
    }
}

/// Pieces of a stream, gathered to parts of equal length.
struct Parts {
    content: ByteStream,
    /// Rest of the last piece.
    left: Bytes,
    length: usize,
}

impl Parts {
    /// The next part; a shorter one only at the end, and then `None`.
    async fn next(&mut self) -> Result<Option<Bytes>> {
        let mut part = Vec::new();
        while part.len() < self.length {
            if self.left.is_empty() {
                match self.content.try_next().await? {
                    Some(piece) => self.left = piece,
                    None => break,
                }
            }
            // All at once: a buffer that grows has several times its length for a moment.
            part.reserve_exact(self.length - part.len());
            let count = self.left.len().min(self.length - part.len());
            part.extend_from_slice(&self.left.split_to(count));
        }
        Ok((!part.is_empty()).then(|| part.into()))
    }
}
