//! Behavior on versitygw that the conformance suite does not cover: presigned requests as a client
//! sends them, the prefix of the keys, streams that fail, and errors of the configuration.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use aws_sdk_s3::types::{BucketVersioningStatus, VersioningConfiguration};
use futures::{StreamExt, stream};
use tabla_core::blobs::*;
use tabla_core::{Applied, Error, ErrorKind};
use tabla_testkit::{Endpoint, versitygw};

use super::*;
use crate::SigningKey;

/// Server and settings of a new bucket on it; `None` if tests of servers are left out.
pub(super) async fn bucket() -> Option<(Endpoint, S3Config)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    if versitygw::is_excluded() {
        println!("skipped (TABLA_WITHOUT): a test on versitygw");
        return None;
    }
    // Starting a container blocks.
    let server = tokio::task::spawn_blocking(versitygw::endpoint).await.unwrap().unwrap();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let config = S3Config::new(format!("unit-{}-{now}-{number}", std::process::id()))
        .with_endpoint(server.url())
        .with_region(versitygw::REGION)
        .with_credentials(SigningKey::new(versitygw::access_key(), versitygw::secret_key()));
    let blobs = S3Blobs::open(&config).await.unwrap();
    blobs.client().create_bucket().bucket(blobs.bucket()).send().await.unwrap();
    Some((server, config))
}

/// Sends a presigned request as it is, except for `other` headers; returns status and body.
fn send(request: &PresignedRequest, other: &[(&str, &str)], body: &str) -> (u16, String) {
    let (host, path) = request.url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut head =
        format!("{} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n", request.method);
    let mut headers: Vec<(&str, &str)> =
        request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let length = body.len().to_string();
    if request.method == "PUT" && !headers.iter().any(|(name, _)| *name == "content-length") {
        headers.push(("content-length", &length));
    }
    for (name, value) in other {
        headers.retain(|(present, _)| present != name);
        if !value.is_empty() {
            headers.push((name, value));
        }
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(stream, "{head}\r\n{body}").unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    let response = String::from_utf8(response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[tokio::test]
async fn presigned_upload_is_refused_unless_it_is_sent_as_signed() {
    let Some((_server, config)) = bucket().await else { return };
    let blobs = S3Blobs::open(&config.with_prefix("dev/")).await.unwrap();
    let request = PresignPut::new("a b/é", Duration::from_secs(60))
        .headers(BlobHeaders::of_type("text/plain"))
        .metadata([("source".to_owned(), "page 2".to_owned())].into())
        .length(Some(3))
        .checksum(Some(Checksum::of(ChecksumAlgorithm::Sha256, b"abc")))
        .if_absent();
    let signed = blobs.presign_put(request).await.unwrap();
    let other_sum = Checksum::of(ChecksumAlgorithm::Sha256, b"abd").encoded();
    for (headers, body) in [
        (&[("content-type", "text/html")][..], "abc"),
        (&[("content-type", "")], "abc"),
        (&[("content-length", "4")], "abcd"),
        (&[("x-amz-checksum-sha256", other_sum.as_str())], "abd"),
        (&[("x-amz-checksum-sha256", "")], "abc"),
        (&[("x-amz-meta-source", "page 3")], "abc"),
        (&[("if-none-match", "")], "abc"),
        (&[], "abd"),
    ] {
        let (status, response) = send(&signed, headers, body);
        assert!((400..404).contains(&status), "{headers:?} {body}: {status} {response}");
    }
    assert_eq!(blobs.read("a b/é").await.unwrap(), None);
    assert_eq!(send(&signed, &[], "abc").0, 200);
    let info = blobs.info("a b/é").await.unwrap().unwrap();
    assert_eq!((info.size, info.headers.content_type()), (3, "text/plain"));
    assert_eq!(info.metadata["source"], "page 2");
    assert_eq!(info.checksum, Some(Checksum::of(ChecksumAlgorithm::Sha256, b"abc")));
    assert_eq!(send(&signed, &[], "abc").0, 412);
}

#[tokio::test]
async fn presigned_download_has_the_response_headers() {
    let Some((_server, config)) = bucket().await else { return };
    let blobs = S3Blobs::open(&config).await.unwrap();
    blobs.put(PutBlob::new("k", "abc").content_type("text/html")).await.unwrap();
    let request = PresignGet::new("k", Duration::from_secs(60))
        .response_headers(BlobHeaders::of_type("text/plain"));
    let signed = blobs.presign_get(request).await.unwrap();
    assert_eq!(send(&signed, &[], ""), (200, "abc".to_owned()));
    let mut forged = signed.clone();
    forged.url = forged.url.replace("text%2Fplain", "text%2Fhtml");
    assert_eq!(send(&forged, &[], "").0, 403);
    let upload = PresignPut::new("free", Duration::from_secs(60));
    let upload = blobs.presign_put(upload).await.unwrap();
    assert_eq!(send(&upload, &[("content-type", "image/png")], "any").0, 200);
    assert_eq!(blobs.info("free").await.unwrap().unwrap().headers.content_type(), "image/png");
}

#[tokio::test]
async fn prefix_separates_the_blobs_of_one_bucket() {
    let Some((_server, config)) = bucket().await else { return };
    let all = S3Blobs::open(&config).await.unwrap();
    let dev = S3Blobs::open(&config.clone().with_prefix("dev/")).await.unwrap();
    // Consoles create an empty object for a folder.
    for key in ["dev/", "dew", "a"] {
        all.put(PutBlob::new(key, "")).await.unwrap();
    }
    for key in ["a/1", "a/2", "b", "c d+e"] {
        dev.put(PutBlob::new(key, key)).await.unwrap();
    }
    let keys = |page: BlobPage| page.blobs.into_iter().map(|blob| blob.key).collect::<Vec<_>>();
    assert_eq!(keys(dev.list(ListBlobs::new()).await.unwrap()), ["a/1", "a/2", "b", "c d+e"]);
    let page = dev.list(ListBlobs::new().delimiter("/").limit(Some(1))).await.unwrap();
    assert_eq!((page.prefixes, page.next.as_deref()), (vec!["a/".to_owned()], Some("a/")));
    let page = dev.list(ListBlobs::new().delimiter("/").after(page.next)).await.unwrap();
    assert_eq!((keys(page.clone()), page.prefixes), (vec!["b".into(), "c d+e".into()], vec![]));
    dev.copy(CopyBlob::new("c d+e", "é%")).await.unwrap();
    assert_eq!(all.read("dev/é%").await.unwrap().unwrap(), "c d+e");
    let upload = dev.create_upload(CreateUpload::new("m")).await.unwrap().upload;
    let uploads = dev.list_uploads(ListUploads::new()).await.unwrap().uploads;
    assert_eq!((uploads[0].key.as_str(), &uploads[0].upload), ("m", &upload));
    dev.abort_upload(AbortUpload::new("m", upload)).await.unwrap();
    assert!(dev.delete_many(DeleteBlobs::new(["b", "é%"])).await.unwrap().failed.is_empty());
    assert_eq!(all.read("dev/b").await.unwrap(), None);
    assert_eq!(
        dev.get(GetBlob::new("k".repeat(1021))).await.unwrap_err().code(),
        "KeyTooLongError"
    );
}

#[tokio::test]
async fn stream_is_sent_with_its_checksum_or_not_at_all() {
    let Some((_server, config)) = bucket().await else { return };
    let blobs = S3Blobs::open(&config).await.unwrap();
    let piece = bytes::Bytes::from(vec![7; 100_000]);
    let pieces = |count: usize| stream::iter(vec![piece.clone(); count]).map(Ok);
    let whole = piece.repeat(30);
    let put = |body: Body| PutBlob::new("k", body).content_type("text/plain");
    for algorithm in ChecksumAlgorithm::ALL {
        let sum = Checksum::of(algorithm, &whole);
        let body = || Body::stream(3_000_000, pieces(30));
        let output = match algorithm {
            ChecksumAlgorithm::Md5 => blobs.put(put(body()).expect(sum.clone())).await.unwrap(),
            _ => blobs.put(put(body()).checksum_algorithm(algorithm)).await.unwrap(),
        };
        let found = blobs.get(GetBlob::new("k")).await.unwrap();
        assert_eq!(found.info.checksum, output.checksum, "{algorithm}");
        assert_eq!(found.info.headers, BlobHeaders::of_type("text/plain"));
        assert_eq!(found.body.collect().await.unwrap(), whole);
        if algorithm != ChecksumAlgorithm::Md5 {
            assert_eq!(output.checksum, Some(sum.clone()));
        }
        let known = blobs.put(put(body()).expect(sum)).await.unwrap();
        assert_eq!(known.etag, output.etag);
    }
    let failing = || {
        let error = Error::new(ErrorKind::AccessDenied, "the source failed");
        Body::stream(200_000, stream::iter([Ok(piece.clone()), Err(error)]))
    };
    let wrong = Checksum::of(ChecksumAlgorithm::Crc32, b"other");
    for (request, code) in [
        (PutBlob::new("no", failing()), "AccessDeniedException"),
        (PutBlob::new("no", Body::stream(300_000, pieces(2))), "IncompleteBody"),
        (PutBlob::new("no", Body::stream(100_000, pieces(2))), "IncompleteBody"),
        (PutBlob::new("no", Body::stream(100_000, pieces(1))).expect(wrong), "BadDigest"),
    ] {
        let error = blobs.put(request).await.unwrap_err();
        assert_eq!((error.code(), error.applied()), (code, Applied::No));
    }
    assert_eq!(blobs.read("no").await.unwrap(), None);
}

#[tokio::test]
async fn refused_large_body_leaves_the_old_blob() {
    let Some((_server, config)) = bucket().await else { return };
    let blobs = S3Blobs::open(&config).await.unwrap();
    blobs.put(PutBlob::new("k", "old")).await.unwrap();
    let bytes = bytes::Bytes::from(vec![7; 20_000_000]);
    let streamed = Body::stream(20_000_000, stream::iter([Ok(bytes.clone())]));
    for body in [bytes.into(), streamed] {
        let error = blobs.put(PutBlob::new("k", body).if_absent()).await.unwrap_err();
        // The server answers before it has read the body, and closes the connection. What is still
        // being sent resets it, and the answer may be lost.
        let is_lost = error.kind() == &ErrorKind::Unavailable && error.applied() == Applied::Maybe;
        assert!(is_lost || error.code() == "PreconditionFailed", "{error:?}");
    }
    assert_eq!(blobs.read("k").await.unwrap().unwrap(), "old");
}

#[tokio::test]
async fn upload_of_a_stream_has_a_checksum_of_all_bytes() {
    let Some((_server, config)) = bucket().await else { return };
    let blobs = S3Blobs::open(&config).await.unwrap();
    let piece = bytes::Bytes::from(vec![7; 1_000_000]);
    let content = stream::iter(vec![piece.clone(); 13]).map(Ok);
    let upload = Upload::new("big").part_bytes(5 << 20).condition(WriteCondition::IfAbsent);
    let output = blobs.upload(upload, Box::pin(content)).await.unwrap();
    let sum = Checksum::of(ChecksumAlgorithm::Crc64Nvme, &piece.repeat(13));
    assert_eq!(output.checksum, Some(sum.clone()));
    let found = blobs.get(GetBlob::new("big")).await.unwrap();
    assert_eq!((found.info.checksum.clone(), found.info.size), (Some(sum), 13_000_000));
    assert_eq!(found.body.collect().await.unwrap(), piece.repeat(13));
    assert!(blobs.list_uploads(ListUploads::new()).await.unwrap().uploads.is_empty());
}

#[tokio::test]
async fn another_process_continues_an_upload() {
    let Some((_server, config)) = bucket().await else { return };
    for checksum in [
        None,
        Some((ChecksumAlgorithm::Sha256, ChecksumType::Composite)),
        Some((ChecksumAlgorithm::Crc32c, ChecksumType::FullObject)),
    ] {
        let first = S3Blobs::open(&config).await.unwrap();
        let second = S3Blobs::open(&config).await.unwrap();
        let create = CreateUpload::new("k").checksum(checksum);
        let upload = first.create_upload(create).await.unwrap().upload;
        let part = second.upload_part(UploadPart::new("k", &upload, 1, "abc")).await.unwrap();
        assert_eq!(part.checksum, checksum.map(|(algorithm, _)| Checksum::of(algorithm, b"abc")));
        // The caller knows the ETag alone.
        let third = S3Blobs::open(&config).await.unwrap();
        let parts = [CompletedPart::new(1, part.etag)];
        third.complete_upload(CompleteUpload::new("k", upload, parts)).await.unwrap();
        assert_eq!(third.read("k").await.unwrap().unwrap(), "abc", "{checksum:?}");
    }
}

/// S3 itself refuses these keys with status 400, so core does before a request is sent.
#[tokio::test]
async fn server_refuses_a_key_above_its_root() {
    let Some((_server, config)) = bucket().await else { return };
    let blobs = S3Blobs::open(&config).await.unwrap();
    for key in ["../k", "a/../../k", "/../k"] {
        let put = blobs.client().put_object().bucket(blobs.bucket()).key(key);
        let error = put.send().await.expect_err(key);
        let status = error.raw_response().map(|response| response.status().as_u16());
        assert_eq!(status, Some(400), "{key}: {error:?}");
    }
    assert_eq!(blobs.list(ListBlobs::new()).await.unwrap().blobs, []);
}

#[tokio::test]
async fn configuration_errors_are_named() {
    let Some((_server, config)) = bucket().await else { return };
    let error = S3Blobs::open(&config.clone().with_versions(true)).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Config);
    assert!(error.message().contains("keeps no versions"), "{error}");
    let blobs = S3Blobs::open(&config).await.unwrap();
    let enabled =
        VersioningConfiguration::builder().status(BucketVersioningStatus::Enabled).build();
    let call = blobs.client().put_bucket_versioning().bucket(blobs.bucket());
    call.versioning_configuration(enabled).send().await.unwrap();
    S3Blobs::open(&config.clone().with_versions(true)).await.unwrap();

    let missing = S3Config { bucket: "no-such-bucket".to_owned(), ..config.clone() };
    let missing = S3Blobs::open(&missing).await.unwrap();
    assert_eq!(missing.put(PutBlob::new("k", "a")).await.unwrap_err().code(), "NoSuchBucket");
    let secret = SigningKey::new(versitygw::access_key(), "wrong");
    let wrong = S3Blobs::open(&config.clone().with_credentials(secret)).await.unwrap();
    let error = wrong.put(PutBlob::new("k", "a")).await.unwrap_err();
    assert_eq!((error.code(), error.kind()), ("SignatureDoesNotMatch", &ErrorKind::AccessDenied));
    let unknown = SigningKey::new("NOBODY", "wrong");
    let unknown = S3Blobs::open(&config.with_credentials(unknown)).await.unwrap();
    let error = unknown.list(ListBlobs::new()).await.unwrap_err();
    // versitygw's name of `InvalidAccessKeyId`.
    assert_eq!((error.code(), error.kind()), ("XAdminUserNotFound", &ErrorKind::AccessDenied));
}
