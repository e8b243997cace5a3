//! Harness for [`ObjectStoreBlobs`] on the store in memory of the crate `object_store`.

use std::sync::Arc;

use async_trait::async_trait;
use object_store::memory::InMemory;
use tabla_conformance::blobs::{BlobHarness, BucketVersions, CaseBucket};
use tabla_s3::ObjectStoreBlobs;

/// Declares every capability that the store has.
pub(crate) struct InMemoryHarness;

#[async_trait]
impl BlobHarness for InMemoryHarness {
    fn engine(&self) -> &'static str {
        "object_store InMemory"
    }

    async fn case_bucket(&self, _: BucketVersions) -> CaseBucket {
        let blobs = ObjectStoreBlobs::with_multipart(Arc::new(InMemory::new())).sorted_lists();
        let blobs = blobs.put_if_absent().put_if_match().copy_if_absent().metadata();
        CaseBucket::new(Arc::new(blobs))
    }
}
