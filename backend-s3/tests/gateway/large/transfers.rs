//! Transfers of large objects through `file:` and through its gateway, in a process of their own.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, stream};
use tabla_core::Result;
use tabla_core::blobs::{Blobs, BlobsExt, Body, ByteStream, DeleteBlob, GetBlob, PutBlob, Upload};
use tabla_s3::{FileBlobs, FileFolder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::plain::Plain;
use crate::process::{memory, reset_peak, run_alone};
use crate::signer::Signer;
use crate::support::{BUCKET, Gateway};

/// Default of `TABLA_LARGE_MB`.
const MEGABYTES: u64 = 64;

/// Memory that one transfer may add, in MB. Both sides of it are in the process.
const BOUND: u64 = 16;

/// Memory of a multipart upload: its parts in flight, in MB.
const PARTS: u64 = 32;

/// Environment variable that marks the child process.
const CHILD: &str = "TABLA_TEST_LARGE";

/// Length of a piece of content: no multiple or part of a buffer's length.
const PIECE: usize = 1_000_003;

/// Content that differs in each piece.
#[derive(Clone)]
struct Pattern {
    block: Arc<[u8]>,
    length: u64,
}

impl Pattern {
    fn new(length: u64) -> Self {
        let mut state = 1_u64;
        let random = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        });
        Self { block: random.take(PIECE).collect(), length }
    }

    /// A piece; the last one is shorter.
    fn piece(&self, number: u64) -> Bytes {
        let length = (self.length - number * PIECE as u64).min(PIECE as u64) as usize;
        let mut piece = self.block[..length].to_vec();
        for (byte, tag) in piece.iter_mut().zip(number.to_be_bytes()) {
            *byte = tag;
        }
        piece.into()
    }

    fn pieces(&self) -> impl Iterator<Item = Bytes> + Send + use<> {
        let this = self.clone();
        (0..self.length.div_ceil(PIECE as u64)).map(move |number| this.piece(number))
    }

    fn stream(&self) -> ByteStream {
        stream::iter(self.pieces()).map(Ok).boxed()
    }
}

/// Comparison of received bytes with the content.
struct Check {
    pattern: Pattern,
    piece: Bytes,
    position: u64,
}

impl Check {
    fn new(pattern: &Pattern) -> Self {
        Self { pattern: pattern.clone(), piece: Bytes::new(), position: 0 }
    }

    fn receive(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.piece.is_empty() {
                assert!(self.position < self.pattern.length, "more than the content");
                self.piece = self.pattern.piece(self.position / PIECE as u64);
            }
            let count = bytes.len().min(self.piece.len());
            assert!(
                self.piece.split_to(count) == bytes[..count],
                "other bytes behind {}",
                self.position
            );
            self.position += count as u64;
            bytes = &bytes[count..];
        }
    }

    fn finish(self) {
        assert_eq!(self.position, self.pattern.length);
    }
}

/// Buckets in a folder of the disk, and their gateway.
struct Scene {
    folder: FileFolder,
    blobs: FileBlobs,
    gateway: Gateway,
    _place: tempfile::TempDir,
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Blobs,
    BlobsInParts,
    Gateway,
    GatewayInChunks,
}

const WAYS: [Way; 4] = [Way::Blobs, Way::BlobsInParts, Way::Gateway, Way::GatewayInChunks];

impl Scene {
    async fn new() -> Self {
        let place = tempfile::tempdir().expect("a folder");
        let folder = FileFolder::open(place.path().join("assets")).await.expect("a folder");
        let blobs = folder.blobs(BUCKET).expect("the default bucket");
        let gateway = Gateway::with(|config| config, Some(Arc::new(folder.clone()))).await;
        Self { folder, blobs, gateway, _place: place }
    }

    async fn upload(&self, way: Way, pattern: &Pattern) -> Result<()> {
        match way {
            Way::Blobs => {
                let body = Body::stream(pattern.length, pattern.stream());
                self.blobs.put(PutBlob::new("k", body)).await?;
            }
            Way::BlobsInParts => {
                self.blobs.upload(Upload::new("k"), pattern.stream()).await?;
            }
            Way::Gateway => self.send(pattern, None).await,
            Way::GatewayInChunks => {
                let encoded: u64 =
                    pattern.pieces().map(|piece| chunk(&piece, &"0".repeat(64)).len() as u64).sum();
                let end = chunk(b"", &"0".repeat(64)).len() as u64;
                self.send(pattern, Some(encoded + end)).await;
            }
        }
        Ok(())
    }

    /// Uploads through the gateway: as it is, or in signed chunks of this length.
    async fn send(&self, pattern: &Pattern, in_chunks: Option<u64>) {
        let mut signer = self.signer();
        let put = Plain::new("PUT", &format!("http://{}/{BUCKET}/k", self.gateway.host()));
        let length = in_chunks.unwrap_or(pattern.length).to_string();
        let put = put.header("content-length", &length);
        let put = match in_chunks {
            None => signer.header(put, "UNSIGNED-PAYLOAD", &[]),
            Some(_) => {
                let length = pattern.length.to_string();
                let put = put.header("x-amz-decoded-content-length", &length);
                signer.header(put, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", &[])
            }
        };
        let mut socket = self.connect(&put).await;
        for piece in pattern.pieces().chain(in_chunks.map(|_| Bytes::new())) {
            let piece = match in_chunks {
                Some(_) => chunk(&piece, &signer.chunk(&piece)).into(),
                None => piece,
            };
            socket.write_all(&piece).await.expect("the gateway reads");
        }
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await.expect("the gateway responds");
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    async fn download(&self, way: Way, pattern: &Pattern) -> Result<()> {
        let mut check = Check::new(pattern);
        match way {
            Way::Blobs | Way::BlobsInParts => {
                let mut body = self.blobs.get(GetBlob::new("k")).await?.body.into_inner();
                while let Some(piece) = body.next().await {
                    check.receive(&piece?);
                }
            }
            Way::Gateway | Way::GatewayInChunks => {
                let get = Plain::new("GET", &format!("http://{}/{BUCKET}/k", self.gateway.host()));
                let get = self.signer().header(get, "UNSIGNED-PAYLOAD", &[]);
                let mut socket = self.connect(&get).await;
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(socket.read_u8().await.expect("a head"));
                }
                assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
                let mut buffer = vec![0; 64 << 10];
                loop {
                    match socket.read(&mut buffer).await.expect("a body") {
                        0 => break,
                        count => check.receive(&buffer[..count]),
                    }
                }
            }
        }
        check.finish();
        Ok(())
    }

    fn signer(&self) -> Signer {
        Signer::new(self.gateway.buckets.signing_key(), &self.gateway.amz_time())
    }

    async fn connect(&self, request: &Plain) -> TcpStream {
        let mut socket = TcpStream::connect(self.gateway.server.address()).await.expect("a socket");
        socket.write_all(&request.bytes()).await.expect("the gateway reads");
        socket
    }
}

/// Signed chunk of a body.
fn chunk(piece: &[u8], signature: &str) -> Vec<u8> {
    let mut chunk = format!("{:x};chunk-signature={signature}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(piece);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

/// Memory at the start of a transfer, in MB: freed memory that the allocator keeps is part of it.
struct Start(Option<u64>);

impl Start {
    fn now() -> Self {
        reset_peak();
        Self(memory("VmRSS"))
    }

    fn check(&self, what: &str, bound: u64) {
        let (Some(start), Some(peak)) = (self.0, memory("VmHWM")) else { return };
        println!("{what}: {start} MB before, peak {peak} MB");
        assert!(peak <= start + bound, "{what}: {peak} MB, {start} MB before");
    }
}

async fn transfer(megabytes: u64) -> Result<()> {
    let scene = Scene::new().await;
    for way in WAYS {
        // The short transfer shows, and takes, what does not depend on the length.
        for length in [1, megabytes] {
            let pattern = Pattern::new((length << 20) + 1);
            let parts = if matches!(way, Way::BlobsInParts) { PARTS } else { 0 };
            let start = Start::now();
            scene.upload(way, &pattern).await?;
            start.check(&format!("{way:?} up, {length} MB"), BOUND + parts);
            let start = Start::now();
            scene.download(way, &pattern).await?;
            start.check(&format!("{way:?} down, {length} MB"), BOUND);
            scene.blobs.delete(DeleteBlob::new("k")).await?;
        }
    }
    let Scene { folder, gateway: Gateway { server, .. }, .. } = scene;
    server.shutdown().await;
    let swept = folder.sweep().await?;
    // Files of the blob that was written in parts stay for an hour.
    assert_eq!((swept.unreferenced, swept.uploads, swept.in_progress), (0, 0, 0));
    Ok(())
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_with_large_objects() {
    if std::env::var_os(CHILD).is_some() {
        let text = std::env::var("TABLA_LARGE_MB");
        let megabytes = text.map_or(MEGABYTES, |text| text.parse().expect("a number"));
        transfer(megabytes).await.expect("transfers");
    }
}

#[test]
fn large_objects_take_constant_memory() {
    run_alone("large::transfers::child_with_large_objects", CHILD, "\0");
}
