//! Multipart uploads, whose parts the store keeps and this process lists.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::object_store::multipart::{MultipartStore, PartId};
use ::object_store::path::Path;
use ::object_store::{
    Error as StoreError, MultipartId, PutMultipartOptions, PutPayload, PutResult,
};
use tabla_core::blobs::{
    AbortUpload, BlobCapabilities, CompleteUpload, CreateUpload, CreateUploadOutput, ListParts,
    ListUploads, PartChecksums, PartPage, UploadPage, UploadPart, UploadSummary, UploadedPart,
    no_such_upload, rules,
};
use tabla_core::env::{Env, Timestamp};
use tabla_core::{Applied, Error, Result};

use super::convert::to_attributes;
use super::error::{Access, from_store};
use super::path;

/// Uploads in progress. Clones share them.
#[derive(Clone)]
pub(super) struct Uploads {
    store: Arc<dyn MultipartStore>,
    /// By key and id. Ids ascend in the order of the uploads' start.
    open: Arc<Mutex<Open>>,
    next: Arc<AtomicU64>,
    env: Env,
}

type Open = BTreeMap<(String, String), OpenUpload>;

struct OpenUpload {
    request: CreateUpload,
    created: Timestamp,
    store_id: MultipartId,
    /// With the checksums of this process, which the store does not keep.
    parts: BTreeMap<u32, (UploadedPart, PartId)>,
}

impl Uploads {
    pub(super) fn new(store: Arc<dyn MultipartStore>, env: Env) -> Self {
        Self { store, open: Arc::default(), next: Arc::default(), env }
    }

    pub(super) async fn create(&self, request: CreateUpload) -> Result<CreateUploadOutput> {
        request.check()?;
        let path = path::of_key(&request.key)?;
        let attributes = to_attributes(&request.headers, &request.metadata);
        let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
        let store_id = self
            .store
            .create_multipart_opts(&path, options)
            .await
            .map_err(|error| from_store(Access::Write, &request.key, error))?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let id = format!("{number:016x}{:016x}", self.env.random.next_u64());
        let created = self.env.clock.now().to_millis();
        let key = (request.key.clone(), id.clone());
        let upload = OpenUpload { request, created, store_id, parts: BTreeMap::new() };
        self.lock().insert(key, upload);
        Ok(CreateUploadOutput::new(id))
    }

    pub(super) async fn put_part(&self, request: UploadPart) -> Result<UploadedPart> {
        request.check()?;
        let path = path::of_key(&request.key)?;
        let (plan, store_id) = self.read(&request.key, &request.upload, |upload| {
            Ok((upload.request.plan_part(&request)?, upload.store_id.clone()))
        })?;
        let UploadPart { key, upload, number, body, .. } = request;
        let bytes = body.into_bytes().await?;
        let mut digests = plan.start();
        digests.update(&bytes);
        let (etag, checksum) = plan.finish(digests)?;
        let part = UploadedPart::new(number, etag, bytes.len() as u64).checksum(checksum);
        let index = number as usize - 1;
        let id = self
            .store
            .put_part(&path, &store_id, index, PutPayload::from(bytes))
            .await
            .map_err(|error| failed(&key, &upload, error))?;
        let mut open = self.lock();
        let stored = open
            .get_mut(&(key, upload.clone()))
            .ok_or_else(|| no_such_upload(&upload).with_applied(Applied::Maybe))?;
        stored.parts.insert(number, (part.clone(), id));
        Ok(without_checksum(&part))
    }

    pub(super) async fn complete(
        &self,
        request: &CompleteUpload,
        capabilities: &BlobCapabilities,
    ) -> Result<(Path, PutResult)> {
        request.check()?;
        let path = path::of_key(&request.key)?;
        let (store_id, parts) = self
            .read(&request.key, &request.upload, |upload| upload.chosen(request, capabilities))?;
        let result = self
            .store
            .complete_multipart(&path, &store_id, parts)
            .await
            .map_err(|error| failed(&request.key, &request.upload, error))?;
        self.lock().remove(&(request.key.clone(), request.upload.clone()));
        Ok((path, result))
    }

    pub(super) async fn abort(&self, request: &AbortUpload) -> Result<()> {
        let path = path::of_key(&request.key)?;
        let store_id =
            self.read(&request.key, &request.upload, |upload| Ok(upload.store_id.clone()))?;
        self.store
            .abort_multipart(&path, &store_id)
            .await
            .map_err(|error| failed(&request.key, &request.upload, error))?;
        self.lock().remove(&(request.key.clone(), request.upload.clone()));
        Ok(())
    }

    pub(super) fn list_parts(&self, request: &ListParts) -> Result<PartPage> {
        path::of_key(&request.key)?;
        let size = request.page_size();
        self.read(&request.key, &request.upload, |upload| {
            let behind = (Bound::Excluded(request.after), Bound::Unbounded);
            let mut found = upload.parts.range(behind).map(|(_, (part, _))| without_checksum(part));
            let parts: Vec<_> = found.by_ref().take(size).collect();
            let next = found.next().and_then(|_| parts.last()).map(|last| last.number);
            Ok(PartPage::new(parts, next))
        })
    }

    pub(super) fn list(&self, request: &ListUploads) -> UploadPage {
        let size = request.page_size();
        let open = self.lock();
        let start = match &request.after {
            Some(after) => Bound::Excluded(after.clone()),
            None => Bound::Unbounded,
        };
        let mut found = open
            .range((start, Bound::Unbounded))
            .filter(|((key, _), _)| key.starts_with(&request.prefix))
            .map(|((key, id), upload)| UploadSummary::new(key, id, upload.created));
        let uploads: Vec<_> = found.by_ref().take(size).collect();
        let next = found
            .next()
            .and_then(|_| uploads.last())
            .map(|last: &UploadSummary| (last.key.clone(), last.upload.clone()));
        UploadPage::new(uploads, next)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<R>(
        &self,
        key: &str,
        id: &str,
        read: impl FnOnce(&OpenUpload) -> Result<R>,
    ) -> Result<R> {
        rules::check_key(key)?;
        let open = self.lock();
        let upload =
            open.get(&(key.to_owned(), id.to_owned())).ok_or_else(|| no_such_upload(id))?;
        read(upload)
    }
}

impl OpenUpload {
    /// Parts of a completion, in the form of the store.
    fn chosen(
        &self,
        request: &CompleteUpload,
        capabilities: &BlobCapabilities,
    ) -> Result<(MultipartId, Vec<PartId>)> {
        let chosen =
            request.choose(|number| self.parts.get(&number), |(part, _): &(_, PartId)| part)?;
        let mut checksums = PartChecksums::new(self.request.checksum);
        for (part, _) in &chosen {
            checksums.add(part.size, &part.etag, part.checksum.as_ref())?;
        }
        let (_, checksum) = checksums.finish();
        let size = chosen.iter().map(|(part, _)| part.size).sum();
        request.check_whole(size, checksum.as_ref())?;
        let is_gapless = chosen.iter().zip(1..).all(|((part, _), number)| part.number == number);
        capabilities.check_parts(!is_gapless || chosen.len() != self.parts.len())?;
        Ok((self.store_id.clone(), chosen.into_iter().map(|(_, id)| id.clone()).collect()))
    }
}

/// Part as the caller sees it: without the checksum, which the store does not keep.
fn without_checksum(part: &UploadedPart) -> UploadedPart {
    part.clone().checksum(None)
}

fn failed(key: &str, upload: &str, error: StoreError) -> Error {
    match error {
        StoreError::NotFound { .. } => no_such_upload(upload).with_source(error),
        error => from_store(Access::Write, key, error),
    }
}

impl fmt::Debug for Uploads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uploads").field("open", &self.lock().len()).finish_non_exhaustive()
    }
}
