//! `tabla conformance --blobs`: results side by side, exit code, deviations, and errors of addresses.

use std::process::{Command, Output};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tabla::blobs::Blobs;
use tabla::s3::gateway::{self, GatewayConfig};
use tabla::s3::{BucketInfo, Buckets, MemoryBuckets, SigningKey};
use tabla::server::Server;
use tabla::{Result, env};
use tabla_conformance::blobs::fault::{BlobFault, FaultBlobs};
use tabla_testkit::versitygw;

use crate::{process, text};

/// Runs `tabla conformance` with these arguments, and this access key for `s3:` addresses.
fn conformance(key: &SigningKey, arguments: &[&str]) -> Output {
    Command::new(process::program())
        .arg("conformance")
        .args(arguments)
        .env_remove("AWS_PROFILE")
        .env("AWS_ACCESS_KEY_ID", key.id())
        .env("AWS_SECRET_ACCESS_KEY", key.secret())
        .output()
        .expect("the program starts")
}

/// Address of the cases' buckets on a service.
fn address(url: &str) -> String {
    format!("s3://suite?endpoint={url}")
}

/// Buckets in memory whose blobs have a fault.
#[derive(Debug)]
struct FaultBuckets {
    buckets: MemoryBuckets,
    fault: Option<BlobFault>,
}

#[async_trait]
impl Buckets for FaultBuckets {
    fn signing_key(&self) -> &SigningKey {
        self.buckets.signing_key()
    }

    async fn create_bucket(&self, name: &str) -> Result<()> {
        self.buckets.create_bucket(name).await
    }

    async fn delete_bucket(&self, name: &str) -> Result<()> {
        self.buckets.delete_bucket(name).await
    }

    async fn list_buckets(&self) -> Result<Vec<BucketInfo>> {
        self.buckets.list_buckets().await
    }

    async fn open_bucket(&self, name: &str) -> Result<Arc<dyn Blobs>> {
        let blobs = self.buckets.open_bucket(name).await?;
        Ok(match self.fault {
            Some(fault) => Arc::new(FaultBlobs::new(blobs).fault(fault)),
            None => blobs,
        })
    }

    async fn enable_versions(&self, name: &str) -> Result<()> {
        self.buckets.enable_versions(name).await
    }
}

/// A gateway in memory, whose buckets stay visible.
struct Gateway {
    server: Server,
    buckets: Arc<FaultBuckets>,
}

impl Gateway {
    async fn start(fault: Option<BlobFault>) -> Self {
        let buckets = MemoryBuckets::with_env(env::Env::system());
        let buckets = Arc::new(FaultBuckets { buckets, fault });
        let server = gateway::spawn(Arc::clone(&buckets) as Arc<dyn Buckets>, GatewayConfig::new());
        Self { server: server.await.expect("a free port"), buckets }
    }

    /// Runs the command on this gateway, after these arguments.
    async fn conformance(&self, arguments: &[&str]) -> Output {
        let key = self.buckets.signing_key().clone();
        let mut all: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        all.extend(["--blobs".to_owned(), address(&self.server.url())]);
        let run = move || conformance(&key, &all.iter().map(String::as_str).collect::<Vec<_>>());
        tokio::task::spawn_blocking(run).await.expect("the program has ended")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_of_blobs_compares_addresses_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = format!("file:{}/assets", folder.path().display());
    let gateway = Gateway::start(None).await;
    let arguments = ["--json", "blobs::keys::", "--blobs", "memory:", "--blobs", &files];
    let output = gateway.conformance(&arguments).await;
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let engines = report["engines"].as_array().expect("an array");
    let engines: Vec<_> = engines.iter().map(|engine| engine["engine"].as_str()).collect();
    assert_eq!(engines, [Some("memory"), Some("file"), Some("gateway")]);
    let cases = report["cases"].as_array().expect("an array");
    assert!(cases.len() > 15, "{report}");
    for case in cases {
        assert_eq!(case["family"], "keys");
        for engine in ["memory", "file", "gateway"] {
            assert_eq!(case["results"][engine]["status"], "pass", "{engine}: {case}");
        }
    }
    assert_eq!(folder.path().read_dir().expect("the folder").count(), 0);
    let left = gateway.buckets.list_buckets().await.expect("a list");
    assert_eq!(left.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["default"]);
    gateway.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_of_blobs_reports_a_failed_case_with_exit_code_1() {
    let gateway = Gateway::start(Some(BlobFault::KeysFolded)).await;
    let output = gateway.conformance(&["keys_differ_by_case", "empty_key_is_refused"]).await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let shown = text(&output.stdout);
    assert!(shown.contains("FAILED on gateway"), "{shown}");
    assert!(shown.contains("1 pass, 0 deviates, 0 unsupported, 1 fail"), "{shown}");
    assert!(
        text(&output.stderr).contains("failed: blobs::keys::keys_differ_by_case"),
        "{output:?}"
    );
    gateway.server.shutdown().await;
}

#[test]
fn conformance_of_blobs_shows_the_deviations_of_versitygw() {
    if versitygw::is_excluded() {
        println!("skipped (TABLA_WITHOUT): the deviations of versitygw need it");
        return;
    }
    let server = versitygw::endpoint().expect("a server");
    let key = SigningKey::new(versitygw::access_key(), versitygw::secret_key());
    let address = address(server.url());
    let output = conformance(&key, &["--blobs", &address, "--markdown", "blobs::keys::"]);
    assert!(output.status.success(), "{output:?}");
    let shown = text(&output.stdout);
    assert!(shown.starts_with("# Conformance of blobs\n"), "{shown}");
    assert!(
        shown.contains("\n| versitygw | key_with_nul_is_stored | stores keys with NUL |"),
        "{shown}"
    );
    assert!(shown.contains("| case | rule | versitygw |\n"), "{shown}");
}

#[test]
fn conformance_updates_and_checks_the_section_of_its_suite() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("results.md");
    std::fs::write(&file, "# Other\n\ntext\n").expect("a file");
    let file = file.to_str().expect("the path is UTF-8");
    let key = SigningKey::new("none", "none");
    let update = conformance(&key, &["--blobs", "memory:", "--update", file]);
    assert!(update.status.success(), "{update:?}");
    assert_eq!(text(&update.stdout), "");
    let check = || conformance(&key, &["--blobs", "memory:", "--check", file]);
    assert!(check().status.success(), "{:?}", check());
    let written = std::fs::read_to_string(file).expect("the file");
    assert!(written.starts_with("# Other\n\ntext\n\n# Conformance of blobs\n"), "{written}");
    std::fs::write(file, written.replace("| pass |", "| fail |")).expect("the file");
    let differs = check();
    assert_eq!(differs.status.code(), Some(1), "{differs:?}");
    let error = text(&differs.stderr);
    assert!(error.contains("the section `Conformance of blobs` of"), "{error}");
    assert!(error.contains("regenerate it with --update"), "{error}");
}
