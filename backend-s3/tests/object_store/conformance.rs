//! The conformance suite of blobs on [`ObjectStoreBlobs`] with fewer capabilities, and on the round
//! trip. `tests/conformance` runs it with all that a store can have.

use std::sync::Arc;

use async_trait::async_trait;
use object_store::memory::InMemory;
use tabla_conformance::blobs::{BlobHarness, BucketVersions, CaseBucket, run};
use tabla_conformance::{Filter, Status};
use tabla_core::blobs::Blobs;
use tabla_s3::{BlobsObjectStore, MemoryBlobs, ObjectStoreBlobs};

struct Harness(fn() -> ObjectStoreBlobs);

#[async_trait]
impl BlobHarness for Harness {
    fn engine(&self) -> &'static str {
        "object_store"
    }

    async fn case_bucket(&self, _: BucketVersions) -> CaseBucket {
        CaseBucket::new(Arc::new(self.0()) as Arc<dyn Blobs>)
    }
}

/// Asserts that the suite passes on these blobs, and that at least this many cases run.
async fn expect(blobs: fn() -> ObjectStoreBlobs, least: usize) {
    let report = run(Arc::new(Harness(blobs)), &Filter::All, |_| {}).await;
    assert!(!report.failed(), "{}", report.to_terminal());
    let ran = report.columns[0].count(Status::Pass);
    assert!(ran >= least, "{ran} cases ran");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_passes_without_capabilities() {
    expect(|| ObjectStoreBlobs::new(Arc::new(InMemory::new())), 60).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_passes_in_memory_of_object_store() {
    let blobs = || {
        let blobs = ObjectStoreBlobs::new(Arc::new(InMemory::new()));
        blobs.put_if_absent().put_if_match().copy_if_absent().metadata()
    };
    expect(blobs, 80).await;
}

/// Without a declared condition, completions have none either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_passes_with_multipart_alone() {
    expect(|| ObjectStoreBlobs::with_multipart(Arc::new(InMemory::new())), 80).await;
}

/// Blobs that are an object store that is blobs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_passes_on_the_round_trip() {
    let blobs = || {
        let store = BlobsObjectStore::new(Arc::new(MemoryBlobs::new()));
        let blobs = ObjectStoreBlobs::new(Arc::new(store));
        blobs.put_if_absent().put_if_match().copy_if_absent().metadata()
    };
    expect(blobs, 80).await;
}
