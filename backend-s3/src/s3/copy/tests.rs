use std::time::Duration;

use bytes::Bytes;
use tabla_core::RetryPolicy;
use tabla_core::blobs::*;

use super::super::fake::{FakeResponse, FakeService, Request};
use super::super::server_tests;
use super::*;

const GB: u64 = 1 << 30;

fn ok(body: impl Into<String>) -> FakeResponse {
    FakeResponse::Answer(200, Vec::new(), body.into())
}

/// Description of a source of this length.
fn head(size: u64) -> FakeResponse {
    let headers = [
        ("content-length", size.to_string()),
        ("content-type", "video/mp4".to_owned()),
        ("etag", "\"source\"".to_owned()),
        ("last-modified", "Wed, 21 Oct 2026 07:28:00 GMT".to_owned()),
        ("x-amz-meta-title", "a film".to_owned()),
    ];
    FakeResponse::Answer(200, headers.into(), String::new())
}

fn created() -> FakeResponse {
    ok("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
}

fn part() -> FakeResponse {
    let crc = Checksum::of(ChecksumAlgorithm::Crc64Nvme, b"abc").encoded();
    ok(format!(
        "<CopyPartResult><ETag>\"p\"</ETag><ChecksumCRC64NVME>{crc}</ChecksumCRC64NVME>\
         </CopyPartResult>"
    ))
}

fn completed() -> FakeResponse {
    ok("<CompleteMultipartUploadResult><ETag>\"all-2\"</ETag></CompleteMultipartUploadResult>")
}

/// Copies a source of 8 GB in parts of 4 GB.
async fn copy_in_two(blobs: &S3Blobs, request: CopyBlob) -> Result<PutBlobOutput> {
    let source = blobs.head_object(HeadBlob::new(&request.source), None).await?;
    blobs.copy_in_parts(request, None, &source, 4 * GB).await
}

fn part_requests(requests: &[Request]) -> impl Iterator<Item = &Request> {
    requests.iter().filter(|request| request.header("x-amz-copy-source-range").is_some())
}

#[test]
fn parts_cover_the_source_and_their_number_is_limited() {
    let cut = |size, part| ranges(size, part).collect::<Vec<_>>();
    assert_eq!(cut(10, 4), [(1, 0..4), (2, 4..8), (3, 8..10)]);
    assert_eq!(cut(8, 4), [(1, 0..4), (2, 4..8)]);
    let most = cut(48 << 40, PART_BYTES);
    assert_eq!(most.len(), rules::PARTS as usize);
    assert_eq!(most.last().unwrap().1.end, 48 << 40);
    assert!(most[0].1.end <= rules::PUT_BYTES, "a part has at most 5 GB");
}

#[tokio::test]
async fn source_that_is_too_long_for_one_request_is_copied_in_parts() {
    let size = 5 * GB + 1;
    let count = size.div_ceil(PART_BYTES) as usize;
    let refused = FakeResponse::error(400, "InvalidRequest");
    let absent = FakeResponse::Answer(404, Vec::new(), String::new());
    let answers = [refused, head(size), absent, created()];
    let parts = (0..count).map(|_| part());
    let fake = FakeService::new(answers.into_iter().chain(parts).chain([completed()]));
    let request = CopyBlob::new("a b", "é").if_absent();
    let output = fake.blobs().copy(request).await.unwrap();
    assert_eq!(output.etag, "all-2");
    let requests = fake.requests();
    let [at_once, _head, _destination, create, .., complete] = &requests[..] else { panic!() };
    for request in [at_once, complete] {
        assert_eq!(request.header("if-none-match"), Some("*"));
    }
    assert_eq!(create.header("content-type"), Some("video/mp4"));
    assert_eq!(create.header("x-amz-meta-title"), Some("a film"));
    assert_eq!(create.header("x-amz-checksum-algorithm"), Some("CRC64NVME"));
    assert_eq!(complete.header("x-amz-mp-object-size"), Some(size.to_string().as_str()));
    let mut next = 0;
    for part in part_requests(&requests) {
        assert_eq!(part.header("x-amz-copy-source"), Some("assets/a%20b"));
        assert_eq!(part.header("x-amz-copy-source-if-match"), Some("\"source\""));
        assert_eq!(part.header("if-none-match"), None);
        let last = (next + PART_BYTES).min(size) - 1;
        assert_eq!(
            part.header("x-amz-copy-source-range"),
            Some(format!("bytes={next}-{last}").as_str())
        );
        next = last + 1;
    }
    assert_eq!(next, size);
}

#[tokio::test]
async fn refusal_for_another_reason_is_returned() {
    let fake = FakeService::new([FakeResponse::error(400, "InvalidRequest"), head(5 * GB)]);
    let error = fake.blobs().copy(CopyBlob::new("a", "b")).await.unwrap_err();
    assert_eq!(error.code(), "InvalidRequest");
    let fake = FakeService::new([FakeResponse::error(412, "PreconditionFailed")]);
    let error = fake.blobs().copy(CopyBlob::new("a", "b").if_absent()).await.unwrap_err();
    assert_eq!(error.code(), "PreconditionFailed");
}

#[tokio::test]
async fn conditions_are_evaluated_before_anything_is_copied() {
    let matching = |etag: &str| CopyBlob::new("a", "b").source_if_match(Some(etag.to_owned()));
    let fake = FakeService::new([head(8 * GB)]);
    let error = copy_in_two(&fake.blobs(), matching("other")).await.unwrap_err();
    assert_eq!(error.code(), "PreconditionFailed");
    let answers = [head(8 * GB), created(), part(), part(), completed()];
    copy_in_two(&FakeService::new(answers).blobs(), matching("source")).await.unwrap();
    let fake = FakeService::new([head(8 * GB), head(3)]);
    let request = CopyBlob::new("a", "b").if_absent();
    let error = copy_in_two(&fake.blobs(), request).await.unwrap_err();
    assert_eq!((error.code(), error.applied()), ("PreconditionFailed", Applied::No));
}

#[tokio::test]
async fn failed_copy_is_aborted() {
    let broken = || FakeResponse::error(500, "InternalError");
    let aborted = || FakeResponse::Answer(204, Vec::new(), String::new());
    let lost = FakeResponse::error(412, "PreconditionFailed");
    for answers in [
        vec![head(8 * GB), created(), broken(), aborted()],
        vec![head(8 * GB), created(), part(), broken(), aborted()],
        vec![head(8 * GB), created(), part(), part(), lost, aborted()],
    ] {
        let fake = FakeService::new(answers);
        let error = copy_in_two(&fake.blobs(), CopyBlob::new("a", "b")).await.unwrap_err();
        assert_eq!(error.applied(), Applied::No, "{error}");
        let requests = fake.requests();
        let last = requests.last().unwrap();
        assert_eq!(last.method, "DELETE");
        assert!(last.uri.contains("uploadId=u"), "{}", last.uri);
    }
    // A completion whose response was lost may have succeeded: its upload is left alone.
    let fake = FakeService::new([head(8 * GB), created(), part(), part(), broken()]);
    let error = copy_in_two(&fake.blobs(), CopyBlob::new("a", "b")).await.unwrap_err();
    assert_eq!(error.applied(), Applied::Maybe, "{error}");
    assert_eq!(fake.requests().last().unwrap().method, "POST");
}

#[tokio::test]
async fn part_is_retried_by_itself() {
    let slow = FakeResponse::error(503, "SlowDown");
    let fake = FakeService::new([head(8 * GB), created(), part(), slow, part(), completed()]);
    let retries = RetryPolicy::default().with_base(Duration::ZERO);
    let blobs = fake.blobs().with_part_retries(retries);
    copy_in_two(&blobs, CopyBlob::new("a", "b")).await.unwrap();
    assert_eq!(part_requests(&fake.requests()).count(), 3);
    let slow = FakeResponse::error(503, "SlowDown");
    let aborted = FakeResponse::Answer(204, Vec::new(), String::new());
    let fake = FakeService::new([head(8 * GB), created(), slow, aborted]);
    let error = copy_in_two(&fake.blobs(), CopyBlob::new("a", "b")).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Throttled);
}

#[tokio::test]
async fn part_with_the_checksum_of_the_whole_source_is_not_trusted() {
    let crc = Checksum::of(ChecksumAlgorithm::Crc64Nvme, b"abc").encoded();
    let FakeResponse::Answer(status, mut headers, body) = head(8 * GB) else { unreachable!() };
    headers.push(("x-amz-checksum-crc64nvme", crc));
    let head = FakeResponse::Answer(status, headers, body);
    let aborted = FakeResponse::Answer(204, Vec::new(), String::new());
    let fake = FakeService::new([
        head,
        created(),
        part(),
        aborted,
        created(),
        part(),
        part(),
        completed(),
    ]);
    copy_in_two(&fake.blobs(), CopyBlob::new("a", "b")).await.unwrap();
    let algorithms: Vec<_> = fake
        .requests()
        .iter()
        .filter(|request| request.uri.ends_with("?uploads"))
        .map(|request| request.header("x-amz-checksum-algorithm").map(str::to_owned))
        .collect();
    assert_eq!(algorithms, [Some("CRC64NVME".to_owned()), None]);
}

/// Copies a blob in parts of 5 MB, and compares the copy with the source; `keeps` is whether the
/// service computes checksums of parts of the source's algorithm.
async fn assert_copied_in_parts(blobs: &S3Blobs, keeps: bool) {
    const PART: u64 = 5 << 20;
    let content: Bytes = (0..12_000_000u32).map(|number| (number / 7) as u8).collect();
    let put = PutBlob::new("source", content.clone())
        .metadata("title", "a film")
        .content_type("video/mp4")
        .checksum_algorithm(ChecksumAlgorithm::Crc32c);
    let source = blobs.put(put).await.unwrap();
    let info = async |key: &str| blobs.head(HeadBlob::new(key)).await.unwrap();
    let copy = async |request: CopyBlob| {
        let source = info(&request.source).await;
        blobs.copy_in_parts(request, None, &source, PART).await
    };
    let request = CopyBlob::new("source", "copy").source_if_match(Some(source.etag)).if_absent();
    let output = copy(request.clone()).await.unwrap();
    let found = blobs.get(GetBlob::new("copy")).await.unwrap();
    assert_eq!(found.info.etag, output.etag);
    assert!(output.etag.ends_with("-3"), "{}", output.etag);
    assert_eq!(found.info.headers, BlobHeaders::of_type("video/mp4"));
    assert_eq!(found.info.metadata["title"], "a film");
    let kept = if keeps { ChecksumAlgorithm::Crc32c } else { ChecksumAlgorithm::Crc64Nvme };
    assert_eq!(found.info.checksum, Some(Checksum::of(kept, &content)));
    assert_eq!(found.body.collect().await.unwrap(), content);
    let error = copy(request).await.unwrap_err();
    assert_eq!(error.code(), "PreconditionFailed");
    // The completion decides: the destination appears after the first look at it.
    let late = CopyBlob::new("source", "late").if_absent();
    let upload = CreateUpload::new("late").checksum(None);
    let upload = blobs.create_upload(upload).await.unwrap().upload;
    let from = Source { info: &info("source").await, version: None, part_bytes: PART };
    let Ok(parts) = blobs.copy_parts("late", &upload, false, from).await else {
        panic!("no parts")
    };
    blobs.put(PutBlob::new("late", "another")).await.unwrap();
    let complete = CompleteUpload::new("late", &upload, parts).condition(late.condition);
    let error = blobs.complete_upload(complete).await.unwrap_err();
    assert_eq!(error.code(), "PreconditionFailed");
    blobs.abort_upload(AbortUpload::new("late", upload)).await.unwrap();
    // A source that is replaced meanwhile.
    let old = info("source").await;
    let sha = PutBlob::new("source", content.slice(1..));
    blobs.put(sha.checksum_algorithm(ChecksumAlgorithm::Sha256)).await.unwrap();
    let request = CopyBlob::new("source", "mixed");
    let error = blobs.copy_in_parts(request, None, &old, PART).await.unwrap_err();
    assert_eq!((error.code(), error.applied()), ("PreconditionFailed", Applied::No));
    assert_eq!(blobs.read("mixed").await.unwrap(), None);
    copy(CopyBlob::new("source", "composite")).await.unwrap();
    let composite = info("composite").await.checksum.unwrap();
    if keeps {
        assert_eq!(composite.algorithm(), ChecksumAlgorithm::Sha256);
        assert!(!composite.is_full_object() && composite.encoded().ends_with("-3"), "{composite}");
    }
    assert_eq!(blobs.read("composite").await.unwrap().unwrap(), content.slice(1..));
    assert_eq!(blobs.list_uploads(ListUploads::new()).await.unwrap().uploads, []);
}

#[tokio::test]
async fn copy_in_parts_on_versitygw() {
    let Some((_server, config)) = server_tests::bucket().await else { return };
    assert_copied_in_parts(&S3Blobs::open(&config).await.unwrap(), false).await;
}

#[cfg(feature = "gateway")]
#[tokio::test]
async fn copy_in_parts_on_the_gateway() {
    use std::sync::Arc;

    use super::super::S3Config;
    use crate::gateway::{self, GatewayConfig};
    use crate::{Buckets, MemoryBuckets};

    let buckets = MemoryBuckets::new();
    let key = buckets.signing_key().clone();
    let server = gateway::spawn(Arc::new(buckets), GatewayConfig::new()).await.unwrap();
    let config = S3Config::new("default")
        .with_endpoint(server.url())
        .with_region("us-east-1")
        .with_credentials(key);
    assert_copied_in_parts(&S3Blobs::open(&config).await.unwrap(), true).await;
    server.shutdown().await;
}
