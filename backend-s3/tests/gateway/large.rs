//! Large objects: content, and bounded memory.
//!
//! `TABLA_LARGE_MB` is the length of the objects of `large_objects_take_constant_memory` (default:
//! 64). The long form is 2048.

#[cfg(feature = "file")]
mod transfers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_s3::primitives::ByteStream;
use bytes::Bytes;
use futures::{StreamExt, stream};
use tabla_core::blobs::{
    BlobInfo, BlobStream, Blobs, GetBlob, GetBlobOutput, PutBlob, PutBlobOutput,
};
use tabla_core::env::{Clock, SystemClock, Timestamp};
use tabla_core::{Error, Result};
use tabla_s3::{BucketInfo, Buckets, MemoryBuckets, SigningKey};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::signer::Signer;
use crate::support::{BUCKET, Gateway, Plain};

const LARGE: u64 = 64 << 20;

/// Bytes that sockets and the gateway may hold for one request. The kernel's buffers are most of it.
const BOUND: u64 = 24 << 20;

#[tokio::test]
async fn large_object_is_uploaded_and_downloaded() {
    let gateway = Gateway::start().await;
    let content: Bytes = (0..LARGE).map(|number| (number % 251) as u8).collect();
    let put = gateway.client.put_object().bucket(BUCKET).key("large");
    put.body(ByteStream::from(content.clone())).send().await.unwrap();
    let get = gateway.client.get_object().bucket(BUCKET).key("large").send().await.unwrap();
    assert_eq!(get.content_length(), Some(LARGE as i64));
    assert!(get.body.collect().await.unwrap().into_bytes() == content);
}

/// Blobs that read a body only while they have a permit, and count bytes.
#[derive(Clone, Debug)]
struct Counting {
    inner: Arc<dyn Blobs>,
    permits: Arc<Semaphore>,
    bytes: Arc<AtomicU64>,
    largest: Arc<AtomicU64>,
}

impl Counting {
    async fn write(&self, request: PutBlob) -> Result<PutBlobOutput> {
        let mut stream = request.body.into_stream();
        while let Some(piece) = stream.next().await {
            let length = piece?.len() as u64;
            self.bytes.fetch_add(length, Ordering::Relaxed);
            self.largest.fetch_max(length, Ordering::Relaxed);
            let permit = self.permits.acquire().await;
            drop(permit.map_err(|_| Error::validation("closed"))?);
        }
        Ok(PutBlobOutput::new("etag"))
    }

    fn read(&self) -> GetBlobOutput {
        let piece = Bytes::from(vec![b'x'; 64 << 10]);
        let bytes = Arc::clone(&self.bytes);
        let count = LARGE / piece.len() as u64;
        let pieces = stream::iter(0..count).map(move |_| {
            bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
            Ok(piece.clone())
        });
        let info = BlobInfo::new("k", LARGE, "etag", Timestamp::default());
        GetBlobOutput::new(info, 0..LARGE, BlobStream::new(pieces))
    }
}

macro_rules! counting {
    ($self:ident, put, $request:ident) => {
        $self.write($request).await
    };
    ($self:ident, get, $request:ident) => {{
        let _: GetBlob = $request;
        Ok($self.read())
    }};
    ($self:ident, $method:ident, $request:ident) => {
        $self.inner.$method($request).await
    };
}

tabla_core::wrap_blobs! {
    impl[] Blobs for Counting, inner: inner, call: counting
}

#[derive(Debug)]
struct CountingBuckets(MemoryBuckets, Counting);

#[async_trait]
impl Buckets for CountingBuckets {
    fn signing_key(&self) -> &SigningKey {
        self.0.signing_key()
    }

    async fn create_bucket(&self, name: &str) -> Result<()> {
        self.0.create_bucket(name).await
    }

    async fn delete_bucket(&self, name: &str) -> Result<()> {
        self.0.delete_bucket(name).await
    }

    async fn list_buckets(&self) -> Result<Vec<BucketInfo>> {
        self.0.list_buckets().await
    }

    async fn open_bucket(&self, _: &str) -> Result<Arc<dyn Blobs>> {
        Ok(Arc::new(self.1.clone()))
    }

    async fn enable_versions(&self, name: &str) -> Result<()> {
        self.0.enable_versions(name).await
    }
}

async fn counting() -> (Gateway, Counting) {
    let buckets = MemoryBuckets::new();
    let counting = Counting {
        inner: buckets.open_bucket(BUCKET).await.unwrap(),
        permits: Arc::new(Semaphore::new(0)),
        bytes: Arc::default(),
        largest: Arc::default(),
    };
    let buckets = CountingBuckets(buckets, counting.clone());
    (Gateway::with(|config| config, Some(Arc::new(buckets))).await, counting)
}

/// Sends a body of 64 MB to a storage that does not read. Returns the bytes that were sent.
async fn send_blocked(gateway: &Gateway, counting: &Counting, request: &Plain, body: &[u8]) -> u64 {
    let mut socket = TcpStream::connect(gateway.server.address()).await.unwrap();
    socket.write_all(&request.bytes()).await.unwrap();
    let mut sent = 0;
    while sent < body.len() {
        let written = timeout(Duration::from_millis(500), socket.write(&body[sent..])).await;
        match written {
            Ok(written) => sent += written.unwrap(),
            Err(_) => break,
        }
    }
    let blocked = sent as u64;
    counting.permits.add_permits(1);
    socket.write_all(&body[sent..]).await.unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    blocked
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upload_takes_bounded_memory() {
    let (gateway, counting) = counting().await;
    let mut signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    let plain = Plain::new("PUT", &format!("http://{}/{BUCKET}/k", gateway.host()));
    let length = LARGE.to_string();
    let request = plain.clone().header("content-length", &length);
    let request = signer.header(request, "UNSIGNED-PAYLOAD", &[]);
    let body = vec![b'x'; LARGE as usize];
    let sent = send_blocked(&gateway, &counting, &request, &body).await;
    assert!(sent < BOUND, "{sent} bytes were accepted while the storage read none");
    assert_eq!(counting.bytes.load(Ordering::Relaxed), LARGE);
}

/// One chunk of 64 MB, which s3s itself would gather in memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_chunk_takes_bounded_memory() {
    let (gateway, counting) = counting().await;
    let mut signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    let plain = Plain::new("PUT", &format!("http://{}/{BUCKET}/k", gateway.host()));
    let head = format!("{LARGE:x}\r\n");
    let mut body = head.into_bytes();
    body.resize(body.len() + LARGE as usize, b'x');
    body.extend_from_slice(b"\r\n0\r\n\r\n");
    let request = plain.header("x-amz-decoded-content-length", &LARGE.to_string());
    let request = request.header("content-length", &body.len().to_string());
    let request = signer.header(request, "STREAMING-UNSIGNED-PAYLOAD-TRAILER", &[]);
    let sent = send_blocked(&gateway, &counting, &request, &body).await;
    assert!(sent < BOUND, "{sent} bytes were accepted while the storage read none");
    assert_eq!(counting.bytes.load(Ordering::Relaxed), LARGE);
    let largest = counting.largest.load(Ordering::Relaxed);
    assert!(largest <= 1 << 20, "a piece has {largest} bytes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn download_takes_bounded_memory() {
    let (gateway, counting) = counting().await;
    let mut signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    let plain = Plain::new("GET", &format!("http://{}/{BUCKET}/k", gateway.host()));
    let request = signer.header(plain, "UNSIGNED-PAYLOAD", &[]);
    let mut socket = TcpStream::connect(gateway.server.address()).await.unwrap();
    socket.write_all(&request.bytes()).await.unwrap();
    SystemClock.sleep(Duration::from_millis(500)).await;
    let read = counting.bytes.load(Ordering::Relaxed);
    assert!(read < BOUND, "{read} bytes were read while the client read none");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap();
    assert!(answer.len() as u64 > LARGE);
    assert_eq!(counting.bytes.load(Ordering::Relaxed), LARGE);
}
