//! The conformance suite on versitygw, a real S3 server, through `S3Blobs`.

use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use async_trait::async_trait;
use aws_sdk_s3::types::{BucketVersioningStatus, VersioningConfiguration};
use tabla_conformance::blobs::{BlobHarness, BucketVersions, CaseBucket, empty_bucket};
use tabla_s3::{S3Blobs, S3Config, SigningKey};
use tabla_testkit::versitygw;

fn main() -> ExitCode {
    if versitygw::is_excluded() {
        println!("skipped (TABLA_WITHOUT): the conformance suite of blobs on versitygw");
        return ExitCode::SUCCESS;
    }
    let server = match versitygw::endpoint() {
        Ok(server) => server,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let code = tabla_conformance::blobs::main(VersitygwHarness::new(server.url()));
    drop(server);
    code
}

/// Makes a bucket per case, and deletes it afterwards.
struct VersitygwHarness {
    endpoint: String,
    /// Start of the names of this run's buckets: other runs may share the server.
    run: String,
    buckets: AtomicU64,
}

impl VersitygwHarness {
    fn new(endpoint: &str) -> Self {
        let now = SystemTime::UNIX_EPOCH.elapsed().expect("the clock is behind 1970");
        Self {
            endpoint: endpoint.to_owned(),
            run: format!("suite-{}-{}", process::id(), now.as_millis()),
            buckets: AtomicU64::new(0),
        }
    }

    fn config(&self, bucket: &str) -> S3Config {
        let key = SigningKey::new(versitygw::access_key(), versitygw::secret_key());
        S3Config::new(bucket)
            .with_endpoint(&self.endpoint)
            .with_region(versitygw::REGION)
            .with_credentials(key)
    }
}

#[async_trait]
impl BlobHarness for VersitygwHarness {
    fn engine(&self) -> &'static str {
        "versitygw"
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        let number = self.buckets.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", self.run);
        let config = self.config(&name);
        let opened = S3Blobs::open(&config).await.expect("the settings are valid");
        let client = opened.client().clone();
        client.create_bucket().bucket(&name).send().await.expect("the bucket is new");
        let blobs = match versions {
            BucketVersions::Off => opened,
            BucketVersions::On => {
                let enabled = VersioningConfiguration::builder()
                    .status(BucketVersioningStatus::Enabled)
                    .build();
                client
                    .put_bucket_versioning()
                    .bucket(&name)
                    .versioning_configuration(enabled)
                    .send()
                    .await
                    .expect("the server runs with a folder for versions");
                S3Blobs::open(&config.with_versions(true)).await.expect("the bucket has versions")
            }
        };
        let blobs = Arc::new(blobs);
        let emptied = Arc::clone(&blobs);
        CaseBucket::new(blobs).cleanup(move || async move {
            // A failed cleanup does not change the result of the case.
            let _ = empty_bucket(&*emptied).await;
            let _ = client.delete_bucket().bucket(&name).send().await;
        })
    }
}
