//! Payloads: hashed, unsigned, in signed chunks, with trailers; and payloads that are not as signed.

use std::time::Duration;

use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{ChecksumAlgorithm, ChecksumMode};
use tabla_core::env::{Clock, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::signer::{Signer, sha256};
use crate::support::{BUCKET, Gateway, Plain, eventually};

const CHUNKED: &str = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
const CHUNKED_TRAILER: &str = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
const TRAILER: &str = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

fn signer(gateway: &Gateway) -> Signer {
    Signer::new(gateway.buckets.signing_key(), &gateway.amz_time())
}

fn put(gateway: &Gateway, key: &str) -> Plain {
    Plain::new("PUT", &format!("http://{}/{BUCKET}/{key}", gateway.host()))
}

/// Sends a request; on a refusal, nothing may have been written.
async fn outcome(gateway: &Gateway, request: &Plain) -> String {
    let before = gateway.keys().await;
    let answer = gateway.send(request).await;
    if answer.status == 200 {
        return "200".to_owned();
    }
    assert_eq!(gateway.keys().await, before, "{answer:?}");
    answer.code()
}

async fn content(gateway: &Gateway, key: &str) -> Vec<u8> {
    let get = gateway.client.get_object().bucket(BUCKET).key(key).send().await.unwrap();
    get.body.collect().await.unwrap().to_vec()
}

#[tokio::test]
async fn hash_of_the_payload_is_verified() {
    let gateway = Gateway::start().await;
    let mut signer = signer(&gateway);
    let valid = signer.header(put(&gateway, "a").body("hello"), &sha256(b"hello"), &[]);
    let other = Plain { body: b"hellO".to_vec(), ..valid.clone() };
    assert_eq!(outcome(&gateway, &other).await, "XAmzContentSHA256Mismatch");
    assert_eq!(outcome(&gateway, &valid).await, "200");
    let empty = signer.header(put(&gateway, "b").body(""), &sha256(b"x"), &[]);
    assert_eq!(outcome(&gateway, &empty).await, "XAmzContentSHA256Mismatch");
    let empty = signer.header(put(&gateway, "b").body(""), &sha256(b""), &[]);
    assert_eq!(outcome(&gateway, &empty).await, "200");
    assert_eq!(content(&gateway, "b").await, b"");
    let bucket = Plain::new("PUT", &format!("http://{}/second", gateway.host()));
    let list = signer.header(bucket, &sha256(b"x"), &[]);
    assert_eq!(outcome(&gateway, &list).await, "XAmzContentSHA256Mismatch");
}

#[tokio::test]
async fn length_is_required_and_exact() {
    let gateway = Gateway::start().await;
    let mut signer = signer(&gateway);
    let missing = signer.header(put(&gateway, "a"), "UNSIGNED-PAYLOAD", &[]);
    let answer = gateway.send(&missing).await;
    assert_eq!((answer.status, answer.code().as_str()), (411, "MissingContentLength"));
    let mut chunked = signer.header(put(&gateway, "a"), "UNSIGNED-PAYLOAD", &[]);
    chunked = chunked.header("transfer-encoding", "chunked");
    chunked.body = b"5\r\nhello\r\n0\r\n\r\n".to_vec();
    let answer = gateway.send(&chunked).await;
    assert_eq!((answer.status, answer.code().as_str()), (411, "MissingContentLength"));
    let missing = put(&gateway, "a").body("0\r\n\r\n");
    let missing = signer.header(missing, TRAILER, &[]);
    assert_eq!(gateway.send(&missing).await.code(), "MissingContentLength");
    assert!(gateway.keys().await.is_empty());
}

#[tokio::test]
async fn signed_chunks_are_verified() {
    let gateway = Gateway::start().await;
    let mut signer = signer(&gateway);
    let mut request = |key: &str, length: &str, texts: &[&str]| {
        let plain = put(&gateway, key)
            .header("x-amz-decoded-content-length", length)
            .header("content-encoding", "gzip,aws-chunked");
        let signed = signer.header(plain, CHUNKED, &[]);
        let body = signer.chunks(texts) + "\r\n";
        signed.body(body)
    };
    let valid = request("a", "10", &["hello", "world"]);
    let text = String::from_utf8(valid.body.clone()).unwrap();
    let change = |from: &str, to: &str| valid.clone().body(text.replacen(from, to, 1));
    let chunks: Vec<&str> = text.split_inclusive("\r\n").collect();
    for (changed, expected) in [
        (change("hello", "hellO"), "SignatureDoesNotMatch"),
        (change("world", "worlD"), "SignatureDoesNotMatch"),
        (change("5;", "4;"), "SignatureDoesNotMatch"),
        (change(";chunk-signature=", ";chunk-signaturf="), "InvalidRequest"),
        (change("0;chunk-signature=", "0;chunk-signature=0"), "SignatureDoesNotMatch"),
        // The first chunk again, the chunks in another order, and a chunk less.
        (
            valid.clone().body([&chunks[..2], &chunks[..2], &chunks[4..]].concat().concat()),
            "SignatureDoesNotMatch",
        ),
        (
            valid.clone().body([&chunks[2..4], &chunks[..2], &chunks[4..]].concat().concat()),
            "SignatureDoesNotMatch",
        ),
        (
            valid.clone().body([&chunks[..2], &chunks[4..]].concat().concat()),
            "SignatureDoesNotMatch",
        ),
        (valid.clone().body(chunks[..4].concat()), "InvalidRequest"),
        (request("a", "11", &["hello", "world"]), "IncompleteBody"),
        (request("a", "9", &["hello", "world"]), "IncompleteBody"),
    ] {
        assert_eq!(outcome(&gateway, &changed).await, expected, "{changed:?}");
    }
    assert_eq!(outcome(&gateway, &valid).await, "200");
    assert_eq!(content(&gateway, "a").await, b"helloworld");
    let head = gateway.client.head_object().bucket(BUCKET).key("a").send().await.unwrap();
    assert_eq!(head.content_encoding(), Some("gzip"), "aws-chunked is not stored");
    assert_eq!(outcome(&gateway, &request("b", "0", &[])).await, "200");
    assert_eq!(content(&gateway, "b").await, b"");
}

#[tokio::test]
async fn signed_trailers_are_verified() {
    let gateway = Gateway::start().await;
    let mut signer = signer(&gateway);
    let mut request = |line: &str| {
        let plain = put(&gateway, "a")
            .header("x-amz-decoded-content-length", "5")
            .header("x-amz-trailer", "x-amz-checksum-crc32c");
        let signed = signer.header(plain, CHUNKED_TRAILER, &[]);
        let body = signer.chunks(&["hello"]) + &signer.trailer(line);
        signed.body(body)
    };
    let valid = request("x-amz-checksum-crc32c:mnG7TA==");
    let text = String::from_utf8(valid.body.clone()).unwrap();
    let changed = valid.clone().body(text.replace("mnG7TA==", "mnG7TQ=="));
    assert_eq!(outcome(&gateway, &changed).await, "SignatureDoesNotMatch");
    let unsigned = text.split("x-amz-trailer-signature").next().unwrap().to_owned() + "\r\n";
    let unsigned = valid.clone().body(unsigned);
    assert_eq!(outcome(&gateway, &unsigned).await, "MalformedTrailerError");
    let wrong = request("x-amz-checksum-crc32c:mnG7TQ==");
    assert_eq!(outcome(&gateway, &wrong).await, "BadDigest");
    let other = request("x-amz-checksum-crc32:NhCmhg==");
    assert_eq!(outcome(&gateway, &other).await, "MalformedTrailerError");
    assert_eq!(outcome(&gateway, &valid).await, "200");
    let get = gateway.client.get_object().bucket(BUCKET).key("a");
    let get = get.checksum_mode(ChecksumMode::Enabled).send().await.unwrap();
    assert_eq!(get.checksum_crc32_c(), Some("mnG7TA=="), "the trailing checksum is stored");
}

#[tokio::test]
async fn unsigned_trailers_are_verified() {
    let gateway = Gateway::start().await;
    let mut signer = signer(&gateway);
    let mut request = |trailer: &str| {
        let plain = put(&gateway, "a")
            .header("x-amz-decoded-content-length", "5")
            .header("x-amz-trailer", "x-amz-checksum-crc32c");
        signer.header(plain, TRAILER, &[]).body(format!("5\r\nhello\r\n0\r\n{trailer}\r\n"))
    };
    let wrong = request("x-amz-checksum-crc32c:mnG7TQ==\r\n");
    assert_eq!(outcome(&gateway, &wrong).await, "BadDigest");
    assert_eq!(outcome(&gateway, &request("")).await, "MalformedTrailerError");
    let valid = request("x-amz-checksum-crc32c:mnG7TA==\r\n");
    assert_eq!(outcome(&gateway, &valid).await, "200");
    assert_eq!(content(&gateway, "a").await, b"hello");
}

/// A body from a file is sent in chunks with a trailing checksum.
#[tokio::test]
async fn chunked_upload_of_the_sdk_is_accepted() {
    let gateway = Gateway::start().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let content: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    std::fs::write(&path, &content).unwrap();
    for algorithm in [ChecksumAlgorithm::Crc64Nvme, ChecksumAlgorithm::Sha256] {
        let body = ByteStream::from_path(&path).await.unwrap();
        let put = gateway.client.put_object().bucket(BUCKET).key("file").body(body);
        put.checksum_algorithm(algorithm).send().await.unwrap();
        let get = gateway.client.get_object().bucket(BUCKET).key("file");
        let get = get.checksum_mode(ChecksumMode::Enabled).send().await.unwrap();
        assert_eq!(get.body.collect().await.unwrap().to_vec(), content);
    }
}

#[tokio::test]
async fn client_that_vanishes_writes_nothing() {
    let gateway = Gateway::start().await;
    let mut signer = signer(&gateway);
    let plain = put(&gateway, "a").header("content-length", "1000000");
    let request = signer.header(plain, "UNSIGNED-PAYLOAD", &[]);
    let upload = gateway.client.create_multipart_upload().bucket(BUCKET).key("b").send().await;
    let upload = upload.unwrap().upload_id.unwrap();
    let part = format!("http://{}/{BUCKET}/b?partNumber=1&uploadId={upload}", gateway.host());
    let part = Plain::new("PUT", &part).header("content-length", "1000000");
    let part = signer.header(part, "UNSIGNED-PAYLOAD", &[]);
    for request in [request, part] {
        let mut socket = TcpStream::connect(gateway.server.address()).await.unwrap();
        socket.write_all(&request.bytes()).await.unwrap();
        socket.write_all(&vec![b'x'; 600_000]).await.unwrap();
        SystemClock.sleep(Duration::from_millis(50)).await;
        drop(socket);
        // A half-closed connection ends the body early, and gets an answer.
        let mut socket = TcpStream::connect(gateway.server.address()).await.unwrap();
        socket.write_all(&request.bytes()).await.unwrap();
        socket.write_all(&vec![b'x'; 600_000]).await.unwrap();
        socket.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // The connection may also be closed without one.
        let _ = socket.read_to_end(&mut answer).await;
        assert!(!String::from_utf8_lossy(&answer).contains("200 OK"));
    }
    eventually("nothing is written", async || gateway.keys().await.is_empty()).await;
    let parts = gateway.client.list_parts().bucket(BUCKET).key("b").upload_id(&upload);
    assert!(parts.send().await.unwrap().parts().is_empty());
}
