//! Requests as they are sent: presigned URLs, prefix, checksums, pages.

use std::time::Duration;

use tabla_core::blobs::*;
use tabla_core::env::{Env, ManualClock, Timestamp};

use super::fake::{FakeResponse, FakeService, Request};
use super::*;

/// 2013-05-24T00:00:00.500Z
fn blobs(config: S3Config) -> S3Blobs {
    let clock = ManualClock::new(Timestamp::from_millis(1_369_353_600_500));
    FakeService::new([]).blobs_with(&config).with_env(&Env::test(clock, 1))
}

fn ok(headers: &[(&'static str, &str)], body: &str) -> FakeResponse {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    FakeResponse::Answer(200, headers, body.to_owned())
}

fn query<'a>(url: &'a str, name: &str) -> Option<&'a str> {
    let (_, query) = url.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

#[tokio::test]
async fn presigned_upload_binds_all_its_headers() {
    let request = PresignPut::new("a b/é", Duration::from_millis(60_900))
        .headers(BlobHeaders::of_type("image/png"))
        .metadata([("source".to_owned(), "page 2".to_owned())].into())
        .length(Some(3))
        .checksum(Some(Checksum::of(ChecksumAlgorithm::Sha256, b"abc")))
        .if_absent();
    let signed =
        blobs(S3Config::new("assets").with_prefix("dev/")).presign_put(request).await.unwrap();
    assert_eq!(signed.method, "PUT");
    assert!(
        signed.url.starts_with("http://127.0.0.1:1/assets/dev/a%20b/%C3%A9?"),
        "{}",
        signed.url
    );
    let names = "content-length%3Bcontent-type%3Bhost%3Bif-none-match%3Bx-amz-checksum-sha256%3B\
                 x-amz-meta-source";
    assert_eq!(query(&signed.url, "X-Amz-SignedHeaders"), Some(names));
    assert_eq!(query(&signed.url, "X-Amz-Date"), Some("20130524T000000Z"));
    assert_eq!(query(&signed.url, "X-Amz-Expires"), Some("60"));
    assert_eq!(signed.expires, Timestamp::from_secs(1_369_353_660));
    let headers: Vec<(&str, &str)> =
        signed.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let expected = [
        ("content-length", "3"),
        ("content-type", "image/png"),
        ("if-none-match", "*"),
        ("x-amz-checksum-sha256", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
        ("x-amz-meta-source", "page 2"),
    ];
    assert_eq!(headers, expected);
}

#[tokio::test]
async fn presigned_upload_without_demands_signs_the_host_alone() {
    let request = PresignPut::new("k", Duration::from_secs(60));
    let signed = blobs(S3Config::new("assets")).presign_put(request).await.unwrap();
    assert_eq!(query(&signed.url, "X-Amz-SignedHeaders"), Some("host"));
    assert_eq!(signed.headers, []);
    // The SDK's default would be a checksum of the empty body.
    assert!(!signed.url.to_ascii_lowercase().contains("checksum"), "{}", signed.url);
}

#[tokio::test]
async fn presigned_upload_binds_content_md5() {
    let request = PresignPut::new("k", Duration::from_secs(60))
        .checksum(Some(Checksum::of(ChecksumAlgorithm::Md5, b"abc")));
    let signed = blobs(S3Config::new("assets")).presign_put(request).await.unwrap();
    assert_eq!(query(&signed.url, "X-Amz-SignedHeaders"), Some("content-md5%3Bhost"));
}

#[tokio::test]
async fn presigned_download_has_version_and_response_headers() {
    let request = PresignGet::new("k", Duration::from_secs(604_800))
        .version(Some("v1".to_owned()))
        .response_headers(BlobHeaders::of_type("text/plain"));
    let signed = blobs(S3Config::new("assets")).presign_get(request).await.unwrap();
    assert_eq!((signed.method, signed.headers), ("GET", Vec::new()));
    assert_eq!(query(&signed.url, "versionId"), Some("v1"));
    assert_eq!(query(&signed.url, "response-content-type"), Some("text%2Fplain"));
    assert_eq!(query(&signed.url, "X-Amz-SignedHeaders"), Some("host"));
    let text = format!("{:?}", PresignedRequest::new("GET", &signed.url, signed.expires));
    assert!(!text.contains("Signature="), "{text}");
}

#[tokio::test]
async fn put_sends_its_checksum_and_hashes_the_body_once() {
    let fake = FakeService::new([ok(&[("etag", "\"e\"")], "")]);
    let output = fake.blobs().put(PutBlob::new("a b", "abc")).await.unwrap();
    let sha256 = Checksum::of(ChecksumAlgorithm::Sha256, b"abc");
    assert_eq!((output.etag.as_str(), output.checksum.as_ref()), ("e", Some(&sha256)));
    let sent = &fake.requests()[0];
    assert_eq!((sent.method.as_str(), sent.header("content-length")), ("PUT", Some("3")));
    assert_eq!(sent.header("x-amz-checksum-sha256"), Some(sha256.encoded().as_str()));
    assert_eq!(sent.header("x-amz-content-sha256"), Some(sha256.hex().as_str()));
    assert_eq!(sent.header("content-type"), Some("binary/octet-stream"));
    assert_eq!(sent.header("x-amz-sdk-checksum-algorithm"), None);
}

#[tokio::test]
async fn malformed_checksum_of_a_written_blob_is_maybe_applied() {
    let headers = [("etag", "\"e\""), ("x-amz-checksum-sha256", "?")];
    let fake = FakeService::new([ok(&headers, "")]);
    let error = fake.blobs().put(PutBlob::new("k", "abc")).await.unwrap_err();
    assert_eq!(error.kind(), &tabla_core::ErrorKind::Unexpected);
    assert_eq!(error.applied(), tabla_core::Applied::Maybe);
}

#[tokio::test]
async fn value_that_no_header_carries_is_invalid() {
    let fake = FakeService::new([]);
    let error = fake.blobs().get(GetBlob::new("k").if_match("a\nb")).await.unwrap_err();
    assert_eq!(error.code(), "InvalidArgument");
}

#[tokio::test]
async fn streamed_put_sends_its_checksum_last() {
    let fake = FakeService::new([ok(&[("etag", "\"e\"")], "")]);
    let body = Body::stream(3, futures::stream::iter([Ok("abc".into())]));
    fake.blobs().put(PutBlob::new("k", body).content_type("text/plain")).await.unwrap();
    let sent = &fake.requests()[0];
    assert_eq!(sent.header("x-amz-trailer"), Some("x-amz-checksum-sha256"));
    assert_eq!(sent.header("x-amz-decoded-content-length"), Some("3"));
    assert_eq!(
        sent.header("x-amz-content-sha256"),
        Some("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER")
    );
}

#[tokio::test]
async fn get_is_verified_once() {
    let wrong = Checksum::of(ChecksumAlgorithm::Crc32, b"abd").encoded();
    let headers = [("x-amz-checksum-crc32", wrong.as_str()), ("content-length", "3")];
    let fake = FakeService::new([ok(&headers, "abc")]);
    let found = fake.blobs().get(GetBlob::new("k")).await.unwrap();
    assert_eq!(fake.requests()[0].header("x-amz-checksum-mode"), Some("ENABLED"));
    let error = found.body.collect().await.unwrap_err();
    assert_eq!(error.kind(), &tabla_core::ErrorKind::Corrupt);
}

#[tokio::test]
async fn prefix_is_in_every_request_and_in_no_output() {
    let listing = "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>\
        <NextContinuationToken>t</NextContinuationToken><Contents><Key>dev/</Key></Contents>\
        <Contents><Key>dev/a+b</Key><Size>1</Size></Contents>\
        <CommonPrefixes><Prefix>dev/c/</Prefix></CommonPrefixes></ListBucketResult>";
    let copied = "<CopyObjectResult><ETag>\"e\"</ETag></CopyObjectResult>";
    let fake = FakeService::new([ok(&[], listing), ok(&[], copied)]);
    let blobs = fake.blobs_with(&S3Config::new("assets").with_prefix("dev/"));
    let request = ListBlobs::new().delimiter("/").after(Some("Z".to_owned())).limit(Some(2));
    let page = blobs.list(request).await.unwrap();
    assert_eq!(page.blobs.iter().map(|blob| blob.key.as_str()).collect::<Vec<_>>(), ["a b"]);
    assert_eq!((page.prefixes, page.next), (vec!["c/".to_owned()], Some("c/".to_owned())));
    blobs.copy(CopyBlob::new("a b", "é")).await.unwrap();
    let requests: Vec<Request> = fake.requests();
    assert_eq!(query(&requests[0].uri, "prefix"), Some("dev%2F"));
    assert_eq!(query(&requests[0].uri, "start-after"), Some("dev%2FZ"));
    assert_eq!(requests[1].header("x-amz-copy-source"), Some("assets/dev/a%20b"));
    assert!(requests[1].uri.contains("/assets/dev/%C3%A9"), "{}", requests[1].uri);
    assert_eq!(
        blobs.get(GetBlob::new("k".repeat(1021))).await.unwrap_err().code(),
        "KeyTooLongError"
    );
}

#[tokio::test]
async fn page_is_filled_where_the_service_repeats_the_common_prefix() {
    let page = |entries: &str, token: &str| {
        let truncated = !token.is_empty();
        ok(
            &[],
            &format!(
                "<ListBucketResult><IsTruncated>{truncated}</IsTruncated>{token}{entries}\
                 </ListBucketResult>"
            ),
        )
    };
    let token = "<NextContinuationToken>t</NextContinuationToken>";
    let fake = FakeService::new([
        page("<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>", token),
        page("<Contents><Key>b</Key></Contents>", ""),
    ]);
    let request = ListBlobs::new().delimiter("/").after(Some("a/".to_owned())).limit(Some(1));
    let found = fake.blobs().list(request).await.unwrap();
    assert_eq!(found.blobs[0].key, "b");
    assert_eq!((found.prefixes.len(), found.next), (0, None));
    let requests = fake.requests();
    assert_eq!(query(&requests[0].uri, "start-after"), Some("a%2F%F4%8F%BF%BF"));
    assert_eq!(query(&requests[1].uri, "continuation-token"), Some("t"));
}

#[tokio::test]
async fn parts_have_the_algorithm_of_their_upload() {
    let created = "<InitiateMultipartUploadResult><UploadId>u</UploadId>\
        </InitiateMultipartUploadResult>";
    let listed = "<ListPartsResult><ChecksumAlgorithm>SHA256</ChecksumAlgorithm>\
        <ChecksumType>COMPOSITE</ChecksumType></ListPartsResult>";
    let etag = || ok(&[("etag", "\"e\"")], "");
    let fake = FakeService::new([ok(&[], created), etag(), ok(&[], listed), etag(), etag()]);
    let blobs = fake.blobs();
    let upload = blobs.create_upload(CreateUpload::new("k")).await.unwrap().upload;
    let part = blobs.upload_part(UploadPart::new("k", &upload, 1, "abc")).await.unwrap();
    assert_eq!(part.checksum, Some(Checksum::of(ChecksumAlgorithm::Crc64Nvme, b"abc")));
    // An upload of another process is looked up once.
    for number in [1, 2] {
        let part = UploadPart::new("k", "other", number, "abc");
        let part = blobs.upload_part(part).await.unwrap();
        assert_eq!(part.checksum, Some(Checksum::of(ChecksumAlgorithm::Sha256, b"abc")));
    }
    assert_eq!(fake.requests().len(), 5);
    assert!(fake.requests()[1].header("x-amz-checksum-crc64nvme").is_some());
}

#[tokio::test]
async fn completion_sends_the_checksums_of_all_parts() {
    let created = "<InitiateMultipartUploadResult><UploadId>u</UploadId>\
        </InitiateMultipartUploadResult>";
    let crc = Checksum::of(ChecksumAlgorithm::Crc64Nvme, b"abc");
    let listed = format!(
        "<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>\"e\"</ETag><Size>3</Size>\
         <ChecksumCRC64NVME>{}</ChecksumCRC64NVME></Part></ListPartsResult>",
        crc.encoded()
    );
    let done =
        "<CompleteMultipartUploadResult><ETag>\"f-1\"</ETag></CompleteMultipartUploadResult>";
    let fake = FakeService::new([ok(&[], created), ok(&[], &listed), ok(&[], done)]);
    let blobs = fake.blobs();
    let upload = blobs.create_upload(CreateUpload::new("k")).await.unwrap().upload;
    let request = CompleteUpload::new("k", upload, [CompletedPart::new(1, "e")])
        .expected_size(Some(3))
        .if_absent();
    assert_eq!(blobs.complete_upload(request).await.unwrap().etag, "f-1");
    let sent = &fake.requests()[2];
    assert_eq!(sent.header("x-amz-mp-object-size"), Some("3"));
    assert_eq!(sent.header("if-none-match"), Some("*"));
    assert_eq!(sent.header("x-amz-checksum-type"), Some("FULL_OBJECT"));
}

#[tokio::test]
async fn range_of_no_byte_is_an_invalid_range() {
    for range in [ByteRange::Last(0), ByteRange::Inclusive { first: 2, last: 1 }] {
        let fake = FakeService::new([ok(&[("content-length", "3"), ("etag", "\"e\"")], "")]);
        let error = fake.blobs().get(GetBlob::new("k").range(range)).await.unwrap_err();
        assert_eq!(error.code(), "InvalidRange");
        assert_eq!(fake.requests()[0].method, "HEAD");
    }
}

#[tokio::test]
async fn versions_need_a_bucket_that_keeps_them() {
    assert!(blobs(S3Config::new("assets")).versions().is_none());
    assert!(blobs(S3Config::new("assets").with_versions(true)).versions().is_some());
}
