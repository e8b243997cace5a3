//! [`StoredBlobs`]: `Blobs` on any [`Storage`].

use async_trait::async_trait;
use tabla_core::Result;
use tabla_core::blobs::*;
use tabla_core::env::{Env, Timestamp};

use crate::UrlSigner;
use crate::operations;
use crate::storage::{Found, Part, Rows, Storage};
use crate::version_id::VersionId;

/// Blobs of one bucket of a storage.
#[derive(Debug)]
pub(crate) struct StoredBlobs<S> {
    engine: &'static str,
    storage: S,
    signer: UrlSigner,
    env: Env,
}

impl<S: Storage> StoredBlobs<S> {
    pub(crate) fn new(engine: &'static str, storage: S, signer: UrlSigner, env: Env) -> Self {
        Self { engine, storage, signer, env }
    }

    fn now(&self) -> Timestamp {
        self.env.clock.now().to_millis()
    }

    /// Reads the content of the row that `find` returns.
    fn open(
        &self,
        request: &GetBlob,
        find: impl Fn(&dyn Rows<S::Content>) -> Result<(BlobInfo, S::Content)>,
    ) -> Result<GetBlobOutput> {
        request.check()?;
        let (info, range, stream) = self.storage.open(|rows| {
            let (info, content) = find(rows)?;
            let range = request.evaluate(&info)?;
            Ok(Found { info, content, range })
        })?;
        let is_whole = range == (0..info.size);
        let stored = info.checksum.clone().filter(|_| is_whole);
        let body = stream_verified(&info.key, stored, stream);
        Ok(GetBlobOutput::new(info, range, body))
    }

    /// Describes the row that `find` returns.
    fn describe(
        &self,
        request: &HeadBlob,
        find: impl Fn(&dyn Rows<S::Content>) -> Result<(BlobInfo, S::Content)>,
    ) -> Result<BlobInfo> {
        request.check()?;
        let (info, _) = self.storage.read(find)?;
        request.conditions.evaluate(&info.etag, info.last_modified)?;
        Ok(info)
    }
}

#[async_trait]
impl<S: Storage> Blobs for StoredBlobs<S> {
    fn capabilities(&self) -> BlobCapabilities {
        BlobCapabilities::full(self.engine)
    }

    fn presign(&self) -> Option<&dyn Presign> {
        Some(self)
    }

    fn versions(&self) -> Option<&dyn Versions> {
        // If the bucket cannot be read, the operation reports the error.
        match self.storage.read(|rows| Ok(rows.keeps_versions())) {
            Ok(false) => None,
            Ok(true) | Err(_) => Some(self),
        }
    }

    async fn put(&self, request: PutBlob) -> Result<PutBlobOutput> {
        let plan = request.plan()?;
        let PutBlob { key, body, headers, metadata, condition, .. } = request;
        let clock = self.env.clock.clone();
        self.storage
            .write(body, plan, move |rows, written| {
                let now = clock.now().to_millis();
                let info = BlobInfo::new(key, written.size, written.etag, now)
                    .headers(headers)
                    .metadata(metadata)
                    .checksum(written.checksum);
                operations::put(rows, info, written.content, &condition)
            })
            .await
    }

    async fn get(&self, request: GetBlob) -> Result<GetBlobOutput> {
        self.open(&request, |rows| operations::current(rows, &request.key))
    }

    async fn head(&self, request: HeadBlob) -> Result<BlobInfo> {
        self.describe(&request, |rows| operations::current(rows, &request.key))
    }

    async fn delete(&self, request: DeleteBlob) -> Result<DeleteBlobOutput> {
        request.check()?;
        let now = self.now();
        self.storage.transact(move |rows| operations::delete(rows, &request, now)).await
    }

    async fn delete_many(&self, request: DeleteBlobs) -> Result<DeleteBlobsOutput> {
        request.check()?;
        let now = self.now();
        let mut failed = Vec::new();
        let mut valid = Vec::new();
        for key in request.keys {
            let delete = DeleteBlob::new(key);
            match delete.check() {
                Ok(()) => valid.push(delete),
                Err(error) => failed.push((delete.key, error)),
            }
        }
        let markers = self
            .storage
            .transact(move |rows| {
                let mut markers = Vec::new();
                for one in valid {
                    let output = operations::delete(rows, &one, now)?;
                    markers.extend(output.version.map(|version| (one.key, version)));
                }
                Ok(markers)
            })
            .await?;
        Ok(DeleteBlobsOutput::new(failed).markers(markers))
    }

    async fn list(&self, request: ListBlobs) -> Result<BlobPage> {
        self.storage
            .read(|rows| page_of_keys(&request, |start, end, count| rows.keys(start, end, count)))
    }

    async fn copy(&self, request: CopyBlob) -> Result<PutBlobOutput> {
        request.check()?;
        let now = self.now();
        self.storage.transact(move |rows| operations::copy(rows, request, now)).await
    }

    async fn create_upload(&self, request: CreateUpload) -> Result<CreateUploadOutput> {
        request.check()?;
        let env = self.env.clone();
        let work = move |rows: &mut dyn Rows<_>| operations::create_upload(rows, request, &env);
        self.storage.transact(work).await.map(CreateUploadOutput::new)
    }

    async fn upload_part(&self, request: UploadPart) -> Result<UploadedPart> {
        request.check()?;
        let find =
            |rows: &dyn Rows<_>| operations::find_upload(rows, &request.key, &request.upload);
        let plan = self.storage.read(find)?.request.plan_part(&request)?;
        let UploadPart { key, upload, number, body, .. } = request;
        self.storage
            .write(body, plan, move |rows, written| {
                let upload = operations::find_upload(rows, &key, &upload)?;
                let part = UploadedPart::new(number, written.etag, written.size)
                    .checksum(written.checksum);
                rows.insert_part(&upload, Part { part: part.clone(), content: written.content })?;
                Ok(part)
            })
            .await
    }

    async fn complete_upload(&self, request: CompleteUpload) -> Result<PutBlobOutput> {
        request.check()?;
        let now = self.now();
        let work = move |rows: &mut dyn Rows<_>| operations::complete_upload(rows, &request, now);
        self.storage.transact(work).await
    }

    async fn abort_upload(&self, request: AbortUpload) -> Result<()> {
        rules::check_key(&request.key)?;
        self.storage
            .transact(move |rows| {
                let upload = operations::find_upload(rows, &request.key, &request.upload)?;
                rows.remove_upload(&upload)
            })
            .await
    }

    async fn list_parts(&self, request: ListParts) -> Result<PartPage> {
        rules::check_key(&request.key)?;
        let size = request.page_size();
        let found = self.storage.read(|rows| {
            let upload = operations::find_upload(rows, &request.key, &request.upload)?;
            rows.parts(&upload, request.after, size + 1)
        })?;
        let parts = found.into_iter().map(|part| part.part).collect();
        let (parts, next) = page(parts, size, |part: &UploadedPart| part.number);
        Ok(PartPage::new(parts, next))
    }

    async fn list_uploads(&self, request: ListUploads) -> Result<UploadPage> {
        let size = request.page_size();
        let after = request.after.as_ref().map(|(key, upload)| (key.as_str(), upload.as_str()));
        let behind = first_position(&request.prefix, after, "");
        let end = prefix_end(&request.prefix);
        let found = self.storage.read(|rows| rows.uploads(behind, end.as_deref(), size + 1))?;
        let (uploads, next) = page(found, size, |last| (last.key.clone(), last.upload.clone()));
        Ok(UploadPage::new(uploads, next))
    }
}

#[async_trait]
impl<S: Storage> Presign for StoredBlobs<S> {
    async fn presign_get(&self, request: PresignGet) -> Result<PresignedRequest> {
        self.signer.get(&request)
    }

    async fn presign_put(&self, request: PresignPut) -> Result<PresignedRequest> {
        self.signer.put(&request)
    }
}

#[async_trait]
impl<S: Storage> Versions for StoredBlobs<S> {
    async fn list_versions(&self, request: ListVersions) -> Result<VersionPage> {
        let size = request.page_size();
        let after = match &request.after {
            Some((key, version)) => Some((key.as_str(), operations::parse_position(version)?)),
            None => None,
        };
        let behind = first_position(&request.prefix, after, VersionId::BEFORE_ALL);
        let end = prefix_end(&request.prefix);
        let found = self.storage.read(|rows| rows.versions(behind, end.as_deref(), size + 1))?;
        let (versions, next) = page(found, size, |last| (last.key.clone(), last.version.clone()));
        Ok(VersionPage::new(versions, next))
    }

    async fn get_version(&self, version: &str, request: GetBlob) -> Result<GetBlobOutput> {
        self.open(&request, |rows| operations::version(rows, &request.key, version))
    }

    async fn head_version(&self, version: &str, request: HeadBlob) -> Result<BlobInfo> {
        self.describe(&request, |rows| operations::version(rows, &request.key, version))
    }

    async fn restore_version(&self, key: &str, version: &str) -> Result<PutBlobOutput> {
        rules::check_key(key)?;
        let (key, version, now) = (key.to_owned(), version.to_owned(), self.now());
        let work =
            move |rows: &mut dyn Rows<_>| operations::restore_version(rows, &key, &version, now);
        self.storage.transact(work).await
    }

    async fn delete_version(&self, key: &str, version: &str) -> Result<DeleteVersionOutput> {
        rules::check_key(key)?;
        let Some(version) = VersionId::parse(version) else {
            return Ok(DeleteVersionOutput::new());
        };
        let key = key.to_owned();
        self.storage.transact(move |rows| operations::delete_version(rows, &key, version)).await
    }
}

/// Position behind which the first entry of a page is: the given one, unless it is before
/// the prefix.
fn first_position<'a, T>(
    prefix: &'a str,
    after: Option<(&'a str, T)>,
    before_all: T,
) -> (&'a str, T) {
    after.filter(|(key, _)| *key >= prefix).unwrap_or((prefix, before_all))
}

/// Cuts a page from entries of which one more than its size were read; returns the position of the
/// next page, too.
fn page<T, P>(mut found: Vec<T>, size: usize, position: impl Fn(&T) -> P) -> (Vec<T>, Option<P>) {
    let has_more = found.len() > size;
    found.truncate(size);
    let next = found.last().filter(|_| has_more).map(position);
    (found, next)
}
