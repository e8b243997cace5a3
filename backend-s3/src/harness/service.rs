//! Harness for services that speak S3's protocol.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::types::{
    BucketLocationConstraint, BucketVersioningStatus, CreateBucketConfiguration,
    VersioningConfiguration,
};
use tabla_conformance::blobs::{BlobHarness, BucketVersions, CaseBucket, empty_bucket};
use tabla_core::env::{Random, SystemRandom};
use tabla_core::{Error, Result};

use crate::{S3Blobs, S3Config};

/// Longest name of a bucket in the settings: a random number and that of the case follow it.
const NAME_BYTES: usize = 40;

/// Region without a constraint in CreateBucket.
const DEFAULT_REGION: &str = "us-east-1";

/// Harness for a service that speaks S3's protocol. It makes a bucket per case, and deletes it after
/// the case.
pub struct S3BlobHarness {
    config: S3Config,
    engine: &'static str,
    /// Number in the names of the buckets: other runs may share the service.
    run: u32,
    next: AtomicU64,
}

impl S3BlobHarness {
    /// Harness with buckets whose names begin with the one of these settings. One request finds out
    /// the engine, whose deviations apply, so that a service that cannot be reached fails here.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`]: the settings are invalid, or have a prefix or versions,
    /// which the suite sets itself. Otherwise those of the request.
    pub async fn open(config: S3Config) -> Result<Self> {
        if !config.prefix.is_empty() {
            return Err(Error::config(format!(
                "the suite makes buckets of its own; leave out the prefix `{}`",
                config.prefix
            )));
        }
        if config.versions {
            return Err(Error::config(
                "the suite sets the option `versions` itself, as each case needs it; leave it out",
            ));
        }
        if config.bucket.len() > NAME_BYTES {
            return Err(Error::config(format!(
                "the suite appends numbers to the bucket name `{}`; choose one of at most \
                 {NAME_BYTES} characters",
                config.bucket
            )));
        }
        let run = SystemRandom.next_u64() as u32;
        let harness = Self { config, engine: "s3", run, next: AtomicU64::new(0) };
        let name = harness.bucket_name();
        let blobs = S3Blobs::open(&harness.settings(&name)).await?;
        let engine = engine_of(blobs.server_name().await?.as_deref());
        Ok(Self { engine, ..harness })
    }

    fn bucket_name(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{}-{:08x}-{number}", self.config.bucket, self.run)
    }

    fn settings(&self, bucket: &str) -> S3Config {
        S3Config { bucket: bucket.to_owned(), ..self.config.clone() }
    }

    async fn create_bucket(&self, client: &Client, name: &str) {
        let mut request = client.create_bucket().bucket(name);
        let region = client.config().region().map(|region| region.as_ref().to_owned());
        // AWS wants the region of its endpoint; other services may not know regions.
        if let Some(region) = region.filter(|it| it != DEFAULT_REGION)
            && self.config.endpoint.is_none()
        {
            let region = BucketLocationConstraint::from(region.as_str());
            let location = CreateBucketConfiguration::builder().location_constraint(region).build();
            request = request.create_bucket_configuration(location);
        }
        request.send().await.expect("cannot create the bucket of a case");
    }
}

/// Name of the engine that sends this header `Server`, as in its deviations.
fn engine_of(server: Option<&str>) -> &'static str {
    match server {
        Some("VERSITYGW") => "versitygw",
        Some("tabla") => "gateway",
        Some(server) if server.starts_with("MinIO") => "minio",
        _ => "s3",
    }
}

#[async_trait]
impl BlobHarness for S3BlobHarness {
    fn engine(&self) -> &'static str {
        self.engine
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        let name = self.bucket_name();
        let config = self.settings(&name);
        let mut blobs = S3Blobs::open(&config).await.expect("the settings are valid");
        let client = blobs.client().clone();
        self.create_bucket(&client, &name).await;
        if versions == BucketVersions::On {
            let enabled =
                VersioningConfiguration::builder().status(BucketVersioningStatus::Enabled).build();
            client
                .put_bucket_versioning()
                .bucket(&name)
                .versioning_configuration(enabled)
                .send()
                .await
                .expect("cannot enable the versions of the bucket of a case");
            let config = config.with_versions(true);
            blobs = S3Blobs::open(&config).await.expect("cannot open the bucket of a case");
        }
        let blobs = Arc::new(blobs);
        let emptied = Arc::clone(&blobs);
        CaseBucket::new(blobs).cleanup(move || async move {
            // A failed cleanup does not change the result of the case.
            let _ = empty_bucket(&*emptied).await;
            let _ = client.delete_bucket().bucket(&name).send().await;
        })
    }
}

impl fmt::Debug for S3BlobHarness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3BlobHarness")
            .field("config", &self.config)
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_is_known_by_the_name_of_its_server() {
        assert_eq!(engine_of(Some("VERSITYGW")), "versitygw");
        assert_eq!(engine_of(Some("tabla")), "gateway");
        assert_eq!(engine_of(Some("MinIO")), "minio");
        for server in [None, Some("AmazonS3"), Some("nginx")] {
            assert_eq!(engine_of(server), "s3");
        }
    }

    #[tokio::test]
    async fn settings_that_the_suite_makes_itself_are_refused() {
        let config = || S3Config::new("suite").with_endpoint("http://127.0.0.1:1");
        for (config, part) in [
            (config().with_prefix("dev/"), "leave out the prefix `dev/`"),
            (config().with_versions(true), "leave it out"),
            (S3Config { bucket: "b".repeat(41), ..config() }, "at most 40 characters"),
        ] {
            let error = S3BlobHarness::open(config).await.unwrap_err();
            assert_eq!(error.kind(), &tabla_core::ErrorKind::Config);
            assert!(error.message().contains(part), "{error}");
        }
    }
}
