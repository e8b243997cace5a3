//! Servers of the comparison: `tabla serve --blobs`, and versitygw.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bytes::Bytes;
use tabla_core::blobs::{Blobs, Checksum, DeleteBlobs, PresignGet, PresignPut, PutBlob};
use tabla_core::env::Env;
use tabla_s3::{Buckets, FileFolder, S3Blobs, S3Config, SigningKey, UrlSigner};

use super::Contestant;
use super::client::{Connection, Request, drive};
use super::comparison::Turn;
use super::local::BUCKET;
use crate::embedded::{Failure, Folder};
use crate::http::client::LoadRun;
use crate::http::program::{Host, Running, free_port, launch};

/// Region in the signatures.
const REGION: &str = "us-east-1";

/// Access key and secret key of versitygw.
const VERSITYGW_KEY: (&str, &str) = ("bench", "a secret of the benchmark");

/// Time until presigned URLs expire.
const EXPIRY: Duration = Duration::from_secs(60 * 60);

/// Attempts with different ports: another program may take a port before the server does.
const ATTEMPTS: usize = 3;

/// Blob that every connection reads before its turn.
const GREETING: &str = "greeting";

/// Server and the path of its program.
pub(crate) struct ServerProgram {
    pub(crate) contestant: Contestant,
    pub(crate) path: PathBuf,
}

/// Running server with an empty bucket.
pub(super) struct Server {
    pub(super) contestant: Contestant,
    pub(super) running: Running,
    pub(super) blobs: S3Blobs,
    signer: UrlSigner,
}

impl ServerProgram {
    /// Starts the server on a new folder.
    pub(super) fn start(&self, host: &Host) -> Result<Server, Failure> {
        let mut last: Failure = "the server was not started".into();
        for _ in 0..ATTEMPTS {
            match self.start_once(host) {
                Ok(server) => return Ok(server),
                Err(error) => last = error,
            }
        }
        Err(format!("{} did not start: {last}", self.contestant.name()).into())
    }

    fn start_once(&self, host: &Host) -> Result<Server, Failure> {
        let folder = Folder::make(&host.folder.path().join(self.contestant.name()))?;
        let data = fs::canonicalize(folder.path())?.join("data");
        let port = free_port()?;
        let key = match self.contestant {
            Contestant::Gateway => host.runtime.block_on(async {
                // The server opens the folder that this creates.
                let folder = FileFolder::open(&data).await?;
                Ok::<_, Failure>(folder.signing_key().clone())
            })?,
            _ => {
                fs::create_dir_all(&data)?;
                SigningKey::new(VERSITYGW_KEY.0, VERSITYGW_KEY.1)
            }
        };
        let command = self.command(port, &data);
        let url = format!("http://127.0.0.1:{port}");
        let signer = UrlSigner::new(key.clone(), BUCKET, Some(&url), Env::system())?;
        let config =
            S3Config::new(BUCKET).with_endpoint(&url).with_region(REGION).with_credentials(key);
        let blobs = host.runtime.block_on(S3Blobs::open(&config))?;
        let running = launch(host, folder, command, port, async || {
            // A server that is starting refuses connections.
            blobs.client().list_buckets().send().await?;
            Ok(())
        })?;
        let server = Server { contestant: self.contestant, running, blobs, signer };
        host.runtime.block_on(server.prepare())?;
        Ok(server)
    }

    fn command(&self, port: u16, data: &Path) -> Command {
        let mut command = Command::new(&self.path);
        let address = format!("127.0.0.1:{port}");
        match self.contestant {
            Contestant::Gateway => {
                command.args(["serve", "--listen", "127.0.0.1:0", "--blobs-listen", &address]);
                command.arg("--blobs").arg(format!("file:{}", data.display()));
            }
            _ => {
                command.env("ROOT_ACCESS_KEY", VERSITYGW_KEY.0);
                command.env("ROOT_SECRET_KEY", VERSITYGW_KEY.1);
                // By default it closes the connection after each response.
                command.args(["--keep-alive", "--quiet", "--region", REGION]);
                command.args(["--port", &address, "posix"]).arg(data);
            }
        }
        command
    }
}

impl Server {
    pub(super) fn port(&self) -> u16 {
        self.running.port
    }

    /// Creates the bucket, unless it exists from the start, and the blob that connections
    /// read first.
    async fn prepare(&self) -> Result<(), Failure> {
        if self.contestant == Contestant::Versitygw {
            self.blobs.client().create_bucket().bucket(BUCKET).send().await?;
        }
        self.blobs.put(PutBlob::new(GREETING, GREETING)).await?;
        Ok(())
    }

    fn put(
        &self,
        key: &str,
        content: Bytes,
        checksum: Option<Checksum>,
    ) -> Result<Request, Failure> {
        let signed = self.signer.put(&PresignPut::new(key, EXPIRY).checksum(checksum))?;
        Request::put(&signed.url, &signed.headers, content)
    }

    fn get(&self, key: &str, length: usize) -> Result<Request, Failure> {
        let signed = self.signer.get(&PresignGet::new(key, EXPIRY))?;
        Request::get(&signed.url, length)
    }

    /// Executes the operations of a turn.
    pub(super) async fn turn(&self, turn: &Turn) -> Result<LoadRun, Failure> {
        let request = |step| match turn.is_put() {
            true => self.put(&turn.key(step), turn.content.clone(), turn.checksum.clone()),
            false => self.get(&turn.key(step), turn.content.len()),
        };
        let requests = (0..turn.ops).map(request).collect::<Result<_, _>>()?;
        let greeting = self.get(GREETING, GREETING.len())?;
        drive(self.port(), turn.row.callers, &greeting, requests).await
    }

    /// Reads a blob; `see` gets its pieces.
    pub(super) async fn read(
        &self,
        key: &str,
        length: usize,
        see: impl FnMut(&[u8]),
    ) -> Result<(), Failure> {
        Connection::open(self.port()).await?.ask(&self.get(key, length)?, see).await
    }

    pub(super) async fn write(
        &self,
        key: &str,
        content: Bytes,
        checksum: Option<Checksum>,
    ) -> Result<(), Failure> {
        let request = self.put(key, content, checksum)?;
        Connection::open(self.port()).await?.ask(&request, |_| ()).await
    }

    pub(super) async fn delete(&self, keys: Vec<String>) -> Result<(), Failure> {
        for keys in keys.chunks(1_000) {
            let failed = self.blobs.delete_many(DeleteBlobs::new(keys.iter().cloned())).await?;
            if let Some(failed) = failed.failed.first() {
                return Err(format!("a blob was not deleted: {failed:?}").into());
            }
        }
        Ok(())
    }
}
