//! Harness for versitygw, a real S3 server.

use async_trait::async_trait;
use tabla_conformance::blobs::{BlobHarness, BucketVersions, CaseBucket};
use tabla_s3::{S3BlobHarness, S3Config, SigningKey};
use tabla_testkit::{Endpoint, versitygw};
use tokio::sync::{Mutex, OnceCell};

/// Finds or starts the server for the first case.
#[derive(Default)]
pub(crate) struct VersitygwHarness {
    /// The harness on the server, or the error that every case reports.
    started: OnceCell<Result<S3BlobHarness, String>>,
    server: Mutex<Option<Endpoint>>,
}

impl VersitygwHarness {
    async fn start(&self) -> Result<S3BlobHarness, String> {
        let server = tokio::task::spawn_blocking(versitygw::endpoint)
            .await
            .expect("the start does not panic")
            .map_err(|error| error.to_string())?;
        let key = SigningKey::new(versitygw::access_key(), versitygw::secret_key());
        let config = S3Config::new("suite")
            .with_endpoint(server.url())
            .with_region(versitygw::REGION)
            .with_credentials(key);
        *self.server.lock().await = Some(server);
        let harness = S3BlobHarness::open(config).await.map_err(|error| error.to_string())?;
        match harness.engine() {
            "versitygw" => Ok(harness),
            other => Err(format!("the server is `{other}`, not versitygw")),
        }
    }
}

#[async_trait]
impl BlobHarness for VersitygwHarness {
    fn engine(&self) -> &'static str {
        "versitygw"
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        match self.started.get_or_init(|| self.start()).await {
            Ok(harness) => harness.case_bucket(versions).await,
            Err(error) => panic!("{error}"),
        }
    }

    async fn finish(&self) {
        let server = self.server.lock().await.take();
        // Stopping a container blocks.
        let _ = tokio::task::spawn_blocking(move || drop(server)).await;
    }
}
