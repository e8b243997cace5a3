//! The conformance suite on buckets in memory and in folders.

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use tabla_conformance::blobs::{BlobHarness, BucketVersions, CaseBucket};
use tabla_core::blobs::Blobs;
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_s3::{Buckets, MemoryBuckets};

/// Start time of the clocks, 2026-01-01.
const START: Timestamp = Timestamp::from_secs(1_767_225_600);

/// Address in presigned URLs, which no case sends.
const PUBLIC: &str = "http://127.0.0.1:9000";

/// The bucket of these that exists from the start.
async fn bucket(buckets: &dyn Buckets, versions: BucketVersions) -> Arc<dyn Blobs> {
    if versions == BucketVersions::On {
        buckets.enable_versions("default").await.expect("the bucket exists");
    }
    buckets.open_bucket("default").await.expect("the bucket exists")
}

struct MemoryHarness;

#[async_trait]
impl BlobHarness for MemoryHarness {
    fn engine(&self) -> &'static str {
        "memory"
    }

    fn is_complete(&self) -> bool {
        true
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        let clock = ManualClock::new(START);
        let buckets = MemoryBuckets::with_env(Env::test(clock.clone(), 1)).with_public(PUBLIC);
        CaseBucket::new(bucket(&buckets, versions).await).clock(clock)
    }
}

#[cfg(feature = "file")]
struct FileHarness;

#[cfg(feature = "file")]
#[async_trait]
impl BlobHarness for FileHarness {
    fn engine(&self) -> &'static str {
        "file"
    }

    fn is_complete(&self) -> bool {
        true
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        let clock = ManualClock::new(START);
        let place = tempfile::tempdir().expect("a folder for the case");
        let env = Env::test(clock.clone(), 1);
        let folder = tabla_s3::FileFolder::open_with_env(place.path(), env)
            .await
            .expect("an empty folder")
            .with_public(PUBLIC);
        CaseBucket::new(bucket(&folder, versions).await)
            .clock(clock)
            .cleanup(move || async move { drop((folder, place)) })
    }
}

fn main() -> ExitCode {
    let mut outcomes = vec![tabla_conformance::blobs::main(MemoryHarness)];
    #[cfg(feature = "file")]
    outcomes.push(tabla_conformance::blobs::main(FileHarness));
    match outcomes.iter().all(|outcome| *outcome == ExitCode::SUCCESS) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
