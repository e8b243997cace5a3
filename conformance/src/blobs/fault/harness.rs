//! Harness for blobs with an injected fault.

use std::sync::Arc;

use async_trait::async_trait;

use super::{BlobFault, FaultBlobs};
use crate::blobs::{BlobHarness, BucketVersions, CaseBucket};

/// Harness that wraps each bucket of another harness with the same fault. Without a fault, all
/// cases must pass.
#[derive(Clone, Debug)]
pub struct BlobFaultHarness<H> {
    harness: H,
    fault: Option<BlobFault>,
}

impl<H: BlobHarness> BlobFaultHarness<H> {
    /// Wraps the buckets of `harness` with `fault`.
    pub fn new(harness: H, fault: impl Into<Option<BlobFault>>) -> Self {
        Self { harness, fault: fault.into() }
    }
}

#[async_trait]
impl<H: BlobHarness> BlobHarness for BlobFaultHarness<H> {
    fn engine(&self) -> &'static str {
        self.harness.engine()
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        let mut bucket = self.harness.case_bucket(versions).await;
        let mut blobs = FaultBlobs::new(Arc::clone(&bucket.blobs));
        if let Some(fault) = self.fault {
            blobs = blobs.fault(fault);
        }
        bucket.blobs = Arc::new(blobs);
        bucket
    }

    fn is_complete(&self) -> bool {
        self.harness.is_complete()
    }

    fn parallelism(&self) -> usize {
        self.harness.parallelism()
    }

    async fn finish(&self) {
        self.harness.finish().await;
    }
}
