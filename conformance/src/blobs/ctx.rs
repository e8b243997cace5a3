//! Context of a case: its bucket, and assertions that report what differed.

mod expect;
mod snapshot;

use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::panic::Location;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use futures::future::{BoxFuture, join_all};
use futures::stream;
use tabla_core::Result;
use tabla_core::blobs::{
    BlobInfo, BlobPage, Blobs, Body, CreateUpload, GetBlob, HeadBlob, ListBlobs, ListParts,
    ListUploads, ListVersions, Presign, PutBlob, PutBlobOutput, UploadPart, UploadSummary,
    UploadedPart, Versions,
};
use tabla_core::env::{Clock, ManualClock, SystemClock, Timestamp};

pub use self::snapshot::BucketSnapshot;
use super::harness::CaseBucket;
use crate::catch_panic::catch_panic;
use crate::ctx::{fail, ok_at};

/// Most pages of a listing that a case follows. A listing that repeats its position ends here.
const PAGES: usize = 2000;

/// Context of a running case: its bucket, helpers and assertions. Cloning it is cheap and gives
/// another handle on the same bucket.
///
/// A helper whose assertion fails panics with the expected and the actual value, which fails
/// the case.
#[derive(Clone)]
pub struct BlobCtx {
    blobs: Arc<dyn Blobs>,
    clock: Option<ManualClock>,
}

impl fmt::Debug for BlobCtx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobCtx").field("blobs", &self.blobs).finish_non_exhaustive()
    }
}

/// Bytes that differ at every position of a page, in the smallest length of a part of a multipart
/// upload: 5 MB.
pub(super) fn five_mb() -> Bytes {
    static BYTES: LazyLock<Bytes> = LazyLock::new(|| pattern(5 << 20));
    BYTES.clone()
}

/// Bytes in which a part that is missing or in another place shows.
pub(super) fn pattern(length: usize) -> Bytes {
    let mut bytes = Vec::with_capacity(length + 4);
    let mut word = 1_u32;
    while bytes.len() < length {
        // The constants of a common linear congruential generator.
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    bytes.truncate(length);
    bytes.into()
}

/// Body of these pieces as a stream, which announces `length` bytes.
pub(super) fn stream_of(length: u64, pieces: &[&'static str]) -> Body {
    let pieces: Vec<Result<Bytes>> =
        pieces.iter().map(|piece| Ok(Bytes::from_static(piece.as_bytes()))).collect();
    Body::stream(length, stream::iter(pieces))
}

impl BlobCtx {
    pub(super) fn new(bucket: &CaseBucket) -> Self {
        Self { blobs: Arc::clone(&bucket.blobs), clock: bucket.clock.clone() }
    }

    /// Blobs under test.
    pub fn blobs(&self) -> &dyn Blobs {
        &*self.blobs
    }

    /// Blobs under test, for a task.
    pub fn shared(&self) -> Arc<dyn Blobs> {
        Arc::clone(&self.blobs)
    }

    /// Versions of the blobs. The case must need [`Versions`](super::BlobNeed::Versions).
    #[track_caller]
    pub fn versions(&self) -> &dyn Versions {
        self.blobs.versions().expect("the bucket has no versions; add `Versions` to the needs")
    }

    /// Presigned URLs of the blobs. The case must need [`Presign`](super::BlobNeed::Presign).
    #[track_caller]
    pub fn presign(&self) -> &dyn Presign {
        self.blobs.presign().expect("the blobs do not presign; add `Presign` to the needs")
    }

    /// Movable clock of the blobs. The case must need [`Clock`](super::BlobNeed::Clock).
    #[track_caller]
    pub fn clock(&self) -> &ManualClock {
        self.clock.as_ref().expect("the case has no clock; add `Clock` to its needs")
    }

    /// Current time of the blobs' clock, movable or not.
    pub fn now(&self) -> Timestamp {
        match &self.clock {
            Some(clock) => clock.now(),
            None => SystemClock.now(),
        }
    }

    /// Returns the value of a result, which must not be an error.
    #[track_caller]
    pub fn ok<T>(&self, result: Result<T>) -> T {
        ok_at(Location::caller(), result)
    }

    /// Puts a blob without headers, which must succeed.
    #[track_caller]
    pub fn put(
        &self,
        key: impl Into<String>,
        body: impl Into<Body>,
    ) -> BoxFuture<'static, PutBlobOutput> {
        self.write_at(Location::caller(), PutBlob::new(key, body))
    }

    /// Executes a put, which must succeed.
    #[track_caller]
    pub fn write(&self, request: PutBlob) -> BoxFuture<'static, PutBlobOutput> {
        self.write_at(Location::caller(), request)
    }

    fn write_at(
        &self,
        at: &'static Location<'static>,
        request: PutBlob,
    ) -> BoxFuture<'static, PutBlobOutput> {
        let blobs = self.shared();
        Box::pin(async move { ok_at(at, blobs.put(request).await) })
    }

    /// Puts blobs with these keys, each with its key as content, many at a time.
    pub async fn put_keys<K: Into<String>>(&self, keys: impl IntoIterator<Item = K>) {
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        for keys in keys.chunks(16) {
            join_all(keys.iter().map(|key| self.put(key.clone(), key.clone()))).await;
        }
    }

    /// Reads a whole blob, which must succeed.
    #[track_caller]
    pub fn read(&self, key: impl Into<String>) -> BoxFuture<'static, Bytes> {
        let at = Location::caller();
        let get = self.get_at(at, GetBlob::new(key));
        Box::pin(async move { get.await.2 })
    }

    /// Executes a get, which must succeed, and reads its body. Returns the description of the
    /// blob, and the range and bytes of the body.
    #[track_caller]
    pub fn get(&self, request: GetBlob) -> BoxFuture<'static, (BlobInfo, Range<u64>, Bytes)> {
        self.get_at(Location::caller(), request)
    }

    fn get_at(
        &self,
        at: &'static Location<'static>,
        request: GetBlob,
    ) -> BoxFuture<'static, (BlobInfo, Range<u64>, Bytes)> {
        let blobs = self.shared();
        Box::pin(async move {
            let found = ok_at(at, blobs.get(request).await);
            (found.info, found.range, ok_at(at, found.body.collect().await))
        })
    }

    /// Describes a blob, which must exist.
    #[track_caller]
    pub fn info(&self, key: impl Into<String>) -> BoxFuture<'static, BlobInfo> {
        let at = Location::caller();
        let (blobs, request) = (self.shared(), HeadBlob::new(key));
        Box::pin(async move { ok_at(at, blobs.head(request).await) })
    }

    /// Lists one page, which must succeed.
    #[track_caller]
    pub fn list(&self, request: ListBlobs) -> BoxFuture<'static, BlobPage> {
        let at = Location::caller();
        let blobs = self.shared();
        Box::pin(async move { ok_at(at, blobs.list(request).await) })
    }

    /// Lists all pages, which must succeed. A page must have at most `limit` entries, and only the
    /// last one may have fewer.
    #[track_caller]
    pub fn pages(&self, mut request: ListBlobs) -> BoxFuture<'static, Vec<BlobPage>> {
        let at = Location::caller();
        let blobs = self.shared();
        Box::pin(async move {
            let mut pages = Vec::new();
            loop {
                let page = ok_at(at, blobs.list(request.clone()).await);
                let (count, most) = (page.blobs.len() + page.prefixes.len(), request.page_size());
                if count > most || (page.next.is_some() && count < most) {
                    fail(at, format_args!("a page of limit {most} has {count} entries: {page:?}"));
                }
                request.after = page.next.clone();
                pages.push(page);
                if request.after.is_none() {
                    return pages;
                }
                if pages.len() == PAGES {
                    fail(at, format_args!("the listing has not ended after {PAGES} pages"));
                }
            }
        })
    }

    /// Lists all keys, in the order of the listing.
    #[track_caller]
    pub fn keys(&self) -> BoxFuture<'static, Vec<String>> {
        let pages = self.pages(ListBlobs::new());
        Box::pin(async move {
            pages.await.into_iter().flat_map(|page| page.blobs).map(|it| it.key).collect()
        })
    }

    /// Begins a multipart upload without headers, and returns its id.
    #[track_caller]
    pub fn upload(&self, key: impl Into<String>) -> BoxFuture<'static, String> {
        let at = Location::caller();
        let (blobs, request) = (self.shared(), CreateUpload::new(key));
        Box::pin(async move { ok_at(at, blobs.create_upload(request).await).upload })
    }

    /// Stores a part, which must succeed.
    #[track_caller]
    pub fn part(
        &self,
        key: &str,
        upload: &str,
        number: u32,
        body: impl Into<Body>,
    ) -> BoxFuture<'static, UploadedPart> {
        let at = Location::caller();
        let (blobs, request) = (self.shared(), UploadPart::new(key, upload, number, body));
        Box::pin(async move { ok_at(at, blobs.upload_part(request).await) })
    }

    /// Lists the first page of the parts of an upload.
    #[track_caller]
    pub fn parts(&self, key: &str, upload: &str) -> BoxFuture<'static, Vec<UploadedPart>> {
        let at = Location::caller();
        let (blobs, request) = (self.shared(), ListParts::new(key, upload));
        Box::pin(async move { ok_at(at, blobs.list_parts(request).await).parts })
    }

    /// Lists the first page of the uploads in progress.
    #[track_caller]
    pub fn uploads(&self) -> BoxFuture<'static, Vec<UploadSummary>> {
        let at = Location::caller();
        let blobs = self.shared();
        Box::pin(async move { ok_at(at, blobs.list_uploads(ListUploads::new()).await).uploads })
    }

    /// Lists the first page of versions as key, id, and whether it is the latest and a delete
    /// marker. The case must need [`Versions`](super::BlobNeed::Versions).
    #[track_caller]
    pub fn version_rows(&self) -> BoxFuture<'_, Vec<(String, String, bool, bool)>> {
        let at = Location::caller();
        let versions = self.versions();
        Box::pin(async move {
            let page = ok_at(at, versions.list_versions(ListVersions::new()).await);
            let rows = page.versions.into_iter();
            rows.map(|it| (it.key, it.version, it.is_latest, it.is_delete_marker)).collect()
        })
    }

    /// Runs the futures concurrently, each as a task of the runtime, and returns their results in
    /// order. A panic in one fails the case.
    pub async fn at_once<T, F>(&self, futures: impl IntoIterator<Item = F>) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let tasks = futures.into_iter().map(|future| tokio::spawn(catch_panic(future)));
        join_all(tasks)
            .await
            .into_iter()
            .map(|task| match task {
                Ok(Ok(answer)) => answer,
                Ok(Err(panic)) => panic!("one of the concurrent calls failed: {panic}"),
                Err(error) => {
                    panic!("the task of a concurrent call was canceled or panicked: {error}")
                }
            })
            .collect()
    }
}
