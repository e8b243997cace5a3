//! The servers of the client tests: the gateway on a folder, or versitygw.

use std::path::Path;
use std::sync::Arc;

use tabla_core::blobs::{BlobRegistry, Blobs};
use tabla_s3::gateway::{self, GatewayConfig};
use tabla_s3::{Buckets, FileFolder, FileOpener, SigningKey};
use tabla_server::Server;
use tabla_server::listener::ListenerConfig;
use tabla_testkit::Endpoint;
use tabla_testkit::clients::ClientRun;
use tabla_testkit::versitygw::{self, access_key, secret_key};
use tempfile::TempDir;

/// Gateway on a new folder, which runs until this is dropped.
pub(crate) struct Place {
    server: Server,
    key: SigningKey,
    folder: TempDir,
}

impl Place {
    /// Starts the gateway. Pages of `origin` may read its responses.
    pub(crate) async fn start(origin: Option<&str>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let buckets = FileFolder::open(folder.path()).await.expect("the folder opens");
        let key = buckets.signing_key().clone();
        let mut listener = ListenerConfig::new();
        listener.origins.extend(origin.map(str::to_owned));
        let config = GatewayConfig::new().with_listener(listener);
        let server = gateway::spawn(Arc::new(buckets), config).await.expect("the gateway starts");
        Self { server, key, folder }
    }

    /// Opens the bucket `default` by an address that names the gateway for presigned URLs.
    pub(crate) async fn blobs(&self) -> Arc<dyn Blobs> {
        let mut registry = BlobRegistry::new();
        registry.register(FileOpener);
        let (path, public) = (self.folder.path().display(), self.server.url());
        let address = format!("file:{path}?public={public}");
        registry.open(&address).await.expect("the bucket opens")
    }

    /// Run of a client's tests on the gateway, with the key of the folder.
    pub(crate) fn run(&self) -> ClientRun {
        client_run("gateway", self.server.url(), self.key.id(), self.key.secret())
    }
}

/// Running versitygw.
pub(crate) struct Versitygw {
    pub(crate) run: ClientRun,
    _server: Endpoint,
}

/// Returns versitygw, or `None` if the tests should skip it.
pub(crate) fn versitygw() -> Option<Versitygw> {
    if versitygw::is_excluded() {
        println!("skipped on request: client tests on versitygw");
        return None;
    }
    let server = versitygw::endpoint().expect("versitygw starts");
    let mut run = client_run("versitygw", server.url().to_owned(), &access_key(), &secret_key());
    // It accepts signatures of its own region only.
    for name in ["AWS_REGION", "AWS_DEFAULT_REGION"] {
        run.variables.push((name, versitygw::REGION.to_owned()));
    }
    Some(Versitygw { run, _server: server })
}

fn client_run(server: &'static str, url: String, access_key: &str, secret_key: &str) -> ClientRun {
    ClientRun {
        scripts: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients"),
        homes: Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients"),
        server,
        url,
        access_key: access_key.to_owned(),
        secret_key: secret_key.to_owned(),
        variables: Vec::new(),
    }
}
