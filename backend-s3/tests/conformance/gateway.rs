//! Harness for the gateway, through `S3Blobs` on the AWS SDK.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use tabla_conformance::blobs::{BlobHarness, BucketVersions, CaseBucket};
use tabla_core::env::{Clock, Env, ManualClock, SystemClock, Timestamp};
use tabla_s3::gateway::{self, GatewayConfig};
use tabla_s3::{Buckets, MemoryBuckets, S3Blobs, S3Config};
use tabla_server::listener::ListenerConfig;

/// Bucket that exists from the start.
const BUCKET: &str = "default";

/// Starts a gateway per case: in memory, or on a folder of its own.
pub(crate) struct GatewayHarness {
    /// Path of the folders, to which a number is appended; `None`: in memory.
    path: Option<PathBuf>,
    next: AtomicU64,
}

impl GatewayHarness {
    pub(crate) fn in_memory() -> Self {
        Self { path: None, next: AtomicU64::new(0) }
    }

    #[cfg(feature = "file")]
    pub(crate) fn on_files(path: PathBuf) -> Self {
        Self { path: Some(path), next: AtomicU64::new(0) }
    }

    /// Path of the folder of the next case.
    fn next_path(&self) -> Option<PathBuf> {
        let mut path = self.path.clone()?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        path.as_mut_os_string().push(format!("-{number}"));
        Some(path)
    }
}

/// Opens the buckets of a case: in a new folder, or in memory.
async fn buckets(path: Option<&Path>, env: &Env) -> Arc<dyn Buckets> {
    match path {
        #[cfg(feature = "file")]
        Some(path) => {
            let folder = tabla_s3::FileFolder::open_with_env(path, env.clone()).await;
            // A sweep on its own thread could create its lock while the folder is deleted.
            Arc::new(folder.expect("an empty folder").with_sweeps(false))
        }
        _ => Arc::new(MemoryBuckets::with_env(env.clone())),
    }
}

#[async_trait]
impl BlobHarness for GatewayHarness {
    fn engine(&self) -> &'static str {
        match self.path {
            Some(_) => "gateway",
            None => "gateway-memory",
        }
    }

    fn is_complete(&self) -> bool {
        true
    }

    async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
        // The SDK signs with the time of the machine, from which the gateway's clock may differ by
        // 15 minutes. No case moves it that far.
        let clock = ManualClock::new(Timestamp::from_secs(SystemClock.now().as_secs()));
        let env = Env::test(clock.clone(), 1);
        let path = self.next_path();
        let buckets = buckets(path.as_deref(), &env).await;
        if versions == BucketVersions::On {
            buckets.enable_versions(BUCKET).await.expect("the bucket exists");
        }
        let listener = ListenerConfig::new().with_env(env.clone());
        let config = GatewayConfig::new().with_listener(listener);
        let server = gateway::spawn(Arc::clone(&buckets), config).await.expect("a free port");
        let config = S3Config::new(BUCKET)
            .with_endpoint(server.url())
            .with_credentials(buckets.signing_key().clone())
            .with_versions(versions == BucketVersions::On);
        let blobs = S3Blobs::open(&config).await.expect("a bucket").with_env(&env);
        CaseBucket::new(Arc::new(blobs)).clock(clock).cleanup(move || async move {
            server.shutdown().await;
            if let Some(path) = path {
                // What is left is deleted with the folder of all cases.
                let _ = std::fs::remove_dir_all(path);
            }
        })
    }
}
