//! [`BlobsUpload`]: a multipart upload whose parts may have any length.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::object_store::{MultipartUpload, PutPayload, PutResult, Result, UploadPart as PartFuture};
use async_trait::async_trait;
use bytes::Bytes;
use futures::FutureExt;
use tabla_core::blobs::{
    AbortUpload, Blobs, CompleteUpload, CreateUpload, PutBlob, UploadPart, UploadedPart, rules,
};
use tokio::sync::OnceCell;

use super::super::error::{Condition, invalid, to_store};
use super::to_result;

/// Multipart upload to blobs.
#[derive(Debug)]
pub(super) struct BlobsUpload {
    shared: Arc<Shared>,
    /// Pieces that are not sent yet, and their length.
    rest: Vec<Bytes>,
    rest_bytes: u64,
    /// Parts that are sent, or whose futures have not ended.
    parts: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Completed,
    Aborted,
}

/// What the futures of parts need, which outlive their upload.
#[derive(Debug)]
struct Shared {
    blobs: Arc<dyn Blobs>,
    create: CreateUpload,
    /// Id of the upload, which the first part begins.
    id: OnceCell<String>,
    stored: Mutex<Stored>,
}

#[derive(Debug, Default)]
struct Stored {
    parts: Vec<UploadedPart>,
    bytes: u64,
}

impl BlobsUpload {
    pub(super) fn new(blobs: Arc<dyn Blobs>, create: CreateUpload) -> Self {
        let shared = Shared { blobs, create, id: OnceCell::new(), stored: Mutex::default() };
        let shared = Arc::new(shared);
        Self { shared, rest: Vec::new(), rest_bytes: 0, parts: 0, state: State::Open }
    }

    /// Takes the pieces as the next part.
    fn take_part(&mut self) -> (u32, Bytes) {
        self.parts += 1;
        (self.parts, self.take_rest())
    }

    fn take_rest(&mut self) -> Bytes {
        self.rest_bytes = 0;
        PutPayload::from_iter(self.rest.drain(..)).into()
    }

    fn check_open(&self) -> Result<()> {
        match self.state {
            State::Open => Ok(()),
            State::Completed => Err(invalid("the upload was completed")),
            State::Aborted => Err(invalid("the upload was aborted")),
        }
    }

    /// Writes content below 5 MB, for which no upload was begun.
    async fn put(&mut self) -> Result<PutResult> {
        let bytes = self.take_rest();
        let create = &self.shared.create;
        let mut put = PutBlob::new(&create.key, bytes.clone()).headers(create.headers.clone());
        put.metadata = create.metadata.clone();
        let result = self.shared.blobs.put(put).await;
        if result.is_err() {
            // For another attempt of the caller.
            self.rest_bytes = bytes.len() as u64;
            self.rest.push(bytes);
        }
        result.map(to_result).map_err(|error| self.shared.failed(error))
    }
}

impl Shared {
    fn failed(&self, error: tabla_core::Error) -> ::object_store::Error {
        to_store(Condition::Read, &self.create.key, error)
    }

    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, number: u32, bytes: Bytes) -> tabla_core::Result<()> {
        let begin = async || {
            let output = self.blobs.create_upload(self.create.clone()).await?;
            Ok::<_, tabla_core::Error>(output.upload)
        };
        let id = self.id.get_or_try_init(begin).await?;
        let request = UploadPart::new(&self.create.key, id, number, bytes);
        let part = self.blobs.upload_part(request).await?;
        let mut stored = self.stored();
        stored.bytes += part.size;
        stored.parts.push(part);
        Ok(())
    }

    async fn complete(&self, parts: u32) -> Result<PutResult> {
        let (mut stored, bytes) = {
            let stored = self.stored();
            (stored.parts.clone(), stored.bytes)
        };
        let Some(id) = self.id.get().filter(|_| stored.len() == parts as usize) else {
            return Err(invalid(format!(
                "the upload has {parts} parts, and {} are stored: poll the futures of all parts to \
                 their end, and abort the upload if one fails",
                stored.len()
            )));
        };
        stored.sort_by_key(|part| part.number);
        let request = CompleteUpload::new(&self.create.key, id, stored).expected_size(Some(bytes));
        let result = self.blobs.complete_upload(request).await;
        result.map(to_result).map_err(|error| self.failed(error))
    }
}

#[async_trait]
impl MultipartUpload for BlobsUpload {
    fn put_part(&mut self, data: PutPayload) -> PartFuture {
        if let Err(error) = self.check_open() {
            return async { Err(error) }.boxed();
        }
        self.rest_bytes += data.content_length() as u64;
        self.rest.extend(data);
        if self.rest_bytes < rules::PART_BYTES {
            return async { Ok(()) }.boxed();
        }
        let (number, bytes) = self.take_part();
        let shared = Arc::clone(&self.shared);
        async move { shared.send(number, bytes).await.map_err(|error| shared.failed(error)) }
            .boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.check_open()?;
        let result = if self.parts == 0 {
            self.put().await?
        } else {
            if self.rest_bytes > 0 {
                let (number, bytes) = self.take_part();
                let sent = self.shared.send(number, bytes).await;
                sent.map_err(|error| self.shared.failed(error))?;
            }
            self.shared.complete(self.parts).await?
        };
        self.state = State::Completed;
        Ok(result)
    }

    async fn abort(&mut self) -> Result<()> {
        self.check_open()?;
        self.take_rest();
        if let Some(id) = self.shared.id.get() {
            let request = AbortUpload::new(&self.shared.create.key, id);
            let result = self.shared.blobs.abort_upload(request).await;
            result.map_err(|error| self.shared.failed(error))?;
        }
        self.state = State::Aborted;
        Ok(())
    }
}
