//! The conformance suite of blobs on [`ObjectStoreBlobs`].

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

/// Asserts that the suite passes on these blobs, except for these cases, and that at least this
/// many cases run.
async fn expect(blobs: fn() -> ObjectStoreBlobs, least: usize, failing: &[&str]) {
    let report = run(Arc::new(Harness(blobs)), &Filter::All, |_| {}).await;
    let mut ran = 0;
    let mut failed = Vec::new();
    let mut messages = String::new();
    for result in report.columns.iter().flat_map(|column| &column.results) {
        ran += usize::from(result.status != Status::Unsupported);
        if !matches!(result.status, Status::Pass | Status::Unsupported) {
            failed.push(result.case.id);
            messages += &format!("{}: {}\n", result.case.id, result.message);
        }
    }
    assert_eq!(failed, failing, "\n{messages}");
    assert!(ran >= least, "{ran} cases ran");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_passes_without_capabilities() {
    expect(|| ObjectStoreBlobs::new(Arc::new(InMemory::new())), 60, &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_passes_in_memory_of_object_store() {
    let blobs = || {
        let blobs = ObjectStoreBlobs::new(Arc::new(InMemory::new()));
        blobs.put_if_absent().put_if_match().copy_if_absent().metadata()
    };
    expect(blobs, 80, &[]).await;
}

/// Cases that need what `MultipartStore` lacks, as [`ObjectStoreBlobs::with_multipart`] documents.
const NOT_IN_MULTIPART_STORE: &[&str] = &[
    // Numbers with gaps, and parts that are left out.
    "parts_are_joined_by_number",
    "parts_that_are_not_listed_are_left_out",
    "completion_with_small_part_fails",
    // Conditions of completions.
    "failed_condition_keeps_the_upload",
    "completion_if_absent_creates",
    "completion_if_match_needs_present_etag",
    "upload_with_failed_condition_is_aborted",
    "concurrent_completions_if_absent_have_one_winner",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_passes_with_multipart_except_for_its_limits() {
    let blobs = || {
        let blobs = ObjectStoreBlobs::with_multipart(Arc::new(InMemory::new())).sorted_lists();
        blobs.put_if_absent().put_if_match().copy_if_absent().metadata()
    };
    expect(blobs, 100, NOT_IN_MULTIPART_STORE).await;
}

/// Blobs that are an object store that is blobs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_passes_on_the_round_trip() {
    let blobs = || {
        let store = BlobsObjectStore::new(Arc::new(MemoryBlobs::new()));
        let blobs = ObjectStoreBlobs::new(Arc::new(store));
        blobs.put_if_absent().put_if_match().copy_if_absent().metadata()
    };
    expect(blobs, 80, &[]).await;
}
