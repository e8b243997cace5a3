//! State of a bucket, to assert that a failed call has changed nothing.

use std::fmt::Debug;
use std::future::Future;
use std::panic::Location;

use bytes::Bytes;
use tabla_core::Result;
use tabla_core::blobs::{
    BlobInfo, BlobVersion, GetBlob, ListBlobs, ListParts, ListUploads, ListVersions, UploadSummary,
    UploadedPart,
};

use super::BlobCtx;
use crate::ctx::{fail, ok_at};

/// State of a bucket with at most 1000 blobs: bytes and descriptions, versions, and uploads with
/// their parts.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketSnapshot {
    blobs: Vec<(BlobInfo, Bytes)>,
    versions: Vec<BlobVersion>,
    uploads: Vec<(UploadSummary, Vec<UploadedPart>)>,
}

impl BlobCtx {
    /// Reads the whole state of the bucket.
    #[track_caller]
    pub fn snapshot(&self) -> impl Future<Output = BucketSnapshot> + Send + use<> {
        let at = Location::caller();
        let ctx = self.clone();
        async move { ok_at(at, ctx.read_snapshot().await) }
    }

    /// Asserts that the state of the bucket has not changed.
    #[track_caller]
    pub fn expect_unchanged<'a>(
        &self,
        before: &'a BucketSnapshot,
    ) -> impl Future<Output = ()> + Send + use<'a> {
        let at = Location::caller();
        let ctx = self.clone();
        async move {
            let after = ok_at(at, ctx.read_snapshot().await);
            if after == *before {
                return;
            }
            let infos = |snapshot: &BucketSnapshot| -> Vec<BlobInfo> {
                snapshot.blobs.iter().map(|(info, _)| info.clone()).collect()
            };
            changed(at, "blobs", &infos(before), &infos(&after));
            changed(at, "versions", &before.versions, &after.versions);
            changed(at, "uploads", &before.uploads, &after.uploads);
            fail(at, "the bytes of a blob have changed, but not its description");
        }
    }

    async fn read_snapshot(&self) -> Result<BucketSnapshot> {
        let blobs = self.blobs();
        let mut whole =
            BucketSnapshot { blobs: Vec::new(), versions: Vec::new(), uploads: Vec::new() };
        for blob in blobs.list(ListBlobs::new()).await?.blobs {
            let found = blobs.get(GetBlob::new(blob.key)).await?;
            whole.blobs.push((found.info, found.body.collect().await?));
        }
        if let Some(versions) = blobs.versions() {
            whole.versions = versions.list_versions(ListVersions::new()).await?.versions;
        }
        if blobs.capabilities().multipart {
            for upload in blobs.list_uploads(ListUploads::new()).await?.uploads {
                let parts = ListParts::new(&upload.key, &upload.upload);
                let parts = blobs.list_parts(parts).await?.parts;
                whole.uploads.push((upload, parts));
            }
        }
        Ok(whole)
    }
}

fn changed<T: Debug + PartialEq>(at: &Location<'_>, what: &str, before: &[T], after: &[T]) {
    if before != after {
        fail(at, format_args!("the {what} have changed from {before:#?}\nto {after:#?}"));
    }
}
