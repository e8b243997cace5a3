//! Copies inside the bucket.

use std::collections::BTreeMap;
use std::time::Duration;

use super::prelude::*;

blob_cases! {
    Copies;

    copy_has_bytes_of_source: "A copy has the bytes of its source, which stays.";
    copy_keeps_headers_and_metadata:
        "A copy keeps the headers and metadata of its source.", needs [Metadata];
    copy_replaces_headers_and_metadata:
        "A copy that replaces headers and metadata has the new ones alone.", needs [Metadata];
    copy_replaces_the_destination:
        "A copy replaces a present blob, with its headers and metadata.", needs [Metadata];
    copy_keeps_checksum: "A copy has the checksum of its source.", needs [StoredChecksums];
    copy_of_upload_keeps_bytes_and_algorithm:
        "A copy of a multipart upload has its bytes, and a checksum of its algorithm.",
        needs [Multipart, StoredChecksums];
    copy_is_independent_of_its_source:
        "A copy stays as it is when its source is replaced or deleted.";
    copy_to_itself_replaces_headers:
        "A copy to its own key replaces headers and metadata and keeps the bytes.",
        needs [Metadata];
    copy_to_itself_without_change_is_refused:
        "A copy to its own key that replaces nothing is refused with InvalidRequest.";
    copy_of_missing_source_fails:
        "A copy of a missing source fails with NoSuchKey and writes nothing.";
    copy_if_absent_creates: "A copy if absent creates a missing blob.", needs [CopyIfAbsent];
    copy_if_absent_to_present_blob_fails:
        "A copy if absent to a present blob fails with PreconditionFailed and writes nothing.",
        needs [CopyIfAbsent];
    copy_if_match_needs_present_etag:
        "A copy if match needs the present ETag of the destination.", needs [PutIfMatch];
    copy_if_source_matches_needs_its_etag:
        "A copy with an ETag of the source fails with PreconditionFailed if it has another one.";
    copy_with_invalid_metadata_is_refused:
        "A copy with invalid metadata is refused and writes nothing.", needs [Metadata];
    copy_has_its_own_time: "The time of a copy is that of the copy.", needs [Clock];
}

fn described(key: &str, body: &'static str) -> PutBlob {
    let mut headers = BlobHeaders::of_type("text/plain");
    headers.cache_control = Some("no-cache".to_owned());
    headers.content_language = Some("es".to_owned());
    PutBlob::new(key, body).headers(headers).metadata("page", "2").metadata("by", "ana")
}

async fn copy(ctx: &BlobCtx, request: CopyBlob) -> PutBlobOutput {
    ctx.ok(ctx.blobs().copy(request).await)
}

async fn copy_has_bytes_of_source(ctx: BlobCtx) {
    ctx.put("a", "content").await;
    ctx.put("empty", "").await;
    let output = copy(&ctx, CopyBlob::new("a", "b")).await;
    copy(&ctx, CopyBlob::new("empty", "c/empty")).await;
    for key in ["a", "b"] {
        ctx.expect_blob(key, "content").await;
    }
    ctx.expect_blob("c/empty", "").await;
    let info = ctx.info("b").await;
    assert_eq!((output.etag, output.version), (info.etag, info.version));
    let large = five_mb();
    ctx.put("large", large.clone()).await;
    copy(&ctx, CopyBlob::new("large", "large copy")).await;
    ctx.expect_blob("large copy", &large).await;
}

async fn copy_keeps_headers_and_metadata(ctx: BlobCtx) {
    ctx.write(described("a", "x")).await;
    copy(&ctx, CopyBlob::new("a", "b")).await;
    let (source, copied) = (ctx.info("a").await, ctx.info("b").await);
    assert_eq!(copied.headers, source.headers);
    assert_eq!(copied.metadata, source.metadata);
    assert_eq!(copied.metadata.len(), 2);
}

async fn copy_replaces_headers_and_metadata(ctx: BlobCtx) {
    ctx.write(described("a", "x")).await;
    let source = ctx.info("a").await;
    let metadata = BTreeMap::from([("new".to_owned(), "1".to_owned())]);
    let request =
        CopyBlob::new("a", "b").replace(BlobHeaders::of_type("image/png"), metadata.clone());
    copy(&ctx, request).await;
    let copied = ctx.info("b").await;
    assert_eq!(copied.headers, BlobHeaders::of_type("image/png"));
    assert_eq!(copied.metadata, metadata);
    copy(&ctx, CopyBlob::new("a", "c").replace(BlobHeaders::default(), BTreeMap::new())).await;
    let copied = ctx.info("c").await;
    assert_eq!(copied.headers.content_type(), BlobHeaders::DEFAULT_CONTENT_TYPE);
    assert_eq!(copied.headers.cache_control, None);
    assert_eq!(copied.metadata, BTreeMap::new());
    assert_eq!(ctx.info("a").await, source);
    ctx.expect_blob("c", "x").await;
}

async fn copy_replaces_the_destination(ctx: BlobCtx) {
    ctx.put("a", "source").await;
    ctx.write(described("b", "destination")).await;
    copy(&ctx, CopyBlob::new("a", "b")).await;
    ctx.expect_blob("b", "source").await;
    let info = ctx.info("b").await;
    assert_eq!((info.headers.cache_control, info.metadata), (None, BTreeMap::new()));
}

async fn copy_keeps_checksum(ctx: BlobCtx) {
    for algorithm in [ChecksumAlgorithm::Sha256, ChecksumAlgorithm::Crc32c] {
        ctx.write(PutBlob::new("a", "content").checksum_algorithm(algorithm)).await;
        let output = copy(&ctx, CopyBlob::new("a", "b")).await;
        let expected = Some(Checksum::of(algorithm, b"content"));
        assert_eq!(output.checksum, expected, "{algorithm}");
        assert_eq!(ctx.info("b").await.checksum, expected, "{algorithm}");
    }
}

async fn copy_of_upload_keeps_bytes_and_algorithm(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "content").await;
    ctx.ok(ctx.blobs().complete_upload(CompleteUpload::new("a", upload, [part])).await);
    copy(&ctx, CopyBlob::new("a", "b")).await;
    ctx.expect_blob("b", "content").await;
    let expected = Checksum::of(ChecksumAlgorithm::Crc64Nvme, b"content");
    assert_eq!(ctx.info("b").await.checksum, Some(expected));
}

async fn copy_is_independent_of_its_source(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    copy(&ctx, CopyBlob::new("a", "b")).await;
    copy(&ctx, CopyBlob::new("b", "c")).await;
    ctx.put("a", "new").await;
    ctx.expect_blob("b", "old").await;
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("a")).await);
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("b")).await);
    ctx.expect_blob("c", "old").await;
    ctx.expect_keys(["c"]).await;
}

async fn copy_to_itself_replaces_headers(ctx: BlobCtx) {
    ctx.write(described("a", "content")).await;
    let metadata = BTreeMap::from([("new".to_owned(), "1".to_owned())]);
    let headers = BlobHeaders::of_type("text/html");
    copy(&ctx, CopyBlob::new("a", "a").replace(headers.clone(), metadata.clone())).await;
    ctx.expect_blob("a", "content").await;
    let info = ctx.info("a").await;
    assert_eq!((info.headers, info.metadata), (headers, metadata));
}

async fn copy_to_itself_without_change_is_refused(ctx: BlobCtx) {
    ctx.put("a", "content").await;
    let before = ctx.snapshot().await;
    let result = ctx.blobs().copy(CopyBlob::new("a", "a")).await;
    ctx.expect_code(result, codes::INVALID_REQUEST);
    ctx.expect_unchanged(&before).await;
}

async fn copy_of_missing_source_fails(ctx: BlobCtx) {
    ctx.put("b", "old").await;
    let before = ctx.snapshot().await;
    for destination in ["b", "c"] {
        let result = ctx.blobs().copy(CopyBlob::new("missing", destination)).await;
        ctx.expect_code(result, codes::NO_SUCH_KEY);
    }
    let replaced = CopyBlob::new("a", "a").replace(BlobHeaders::default(), BTreeMap::new());
    ctx.expect_code(ctx.blobs().copy(replaced).await, codes::NO_SUCH_KEY);
    ctx.expect_unchanged(&before).await;
}

async fn copy_if_absent_creates(ctx: BlobCtx) {
    ctx.put("a", "content").await;
    copy(&ctx, CopyBlob::new("a", "b").if_absent()).await;
    ctx.expect_blob("b", "content").await;
}

async fn copy_if_absent_to_present_blob_fails(ctx: BlobCtx) {
    ctx.put("a", "content").await;
    ctx.put("b", "old").await;
    let before = ctx.snapshot().await;
    let result = ctx.blobs().copy(CopyBlob::new("a", "b").if_absent()).await;
    ctx.expect_code(result, codes::PRECONDITION_FAILED);
    ctx.expect_unchanged(&before).await;
}

async fn copy_if_match_needs_present_etag(ctx: BlobCtx) {
    let source = ctx.put("a", "content").await.etag;
    let present = ctx.put("b", "old").await.etag;
    let before = ctx.snapshot().await;
    let request = |key: &str, etag: &str| {
        CopyBlob::new("a", key).condition(WriteCondition::IfMatch(etag.to_owned()))
    };
    let result = ctx.blobs().copy(request("b", &source)).await;
    ctx.expect_code(result, codes::PRECONDITION_FAILED);
    ctx.expect_code(ctx.blobs().copy(request("missing", &source)).await, codes::NO_SUCH_KEY);
    ctx.expect_unchanged(&before).await;
    copy(&ctx, request("b", &present)).await;
    ctx.expect_blob("b", "content").await;
}

async fn copy_if_source_matches_needs_its_etag(ctx: BlobCtx) {
    let old = ctx.put("a", "old").await.etag;
    let present = ctx.put("a", "present").await.etag;
    ctx.put("b", "destination").await;
    let before = ctx.snapshot().await;
    for key in ["b", "missing"] {
        let request = CopyBlob::new("a", key).source_if_match(Some(old.clone()));
        ctx.expect_code(ctx.blobs().copy(request).await, codes::PRECONDITION_FAILED);
    }
    ctx.expect_unchanged(&before).await;
    copy(&ctx, CopyBlob::new("a", "b").source_if_match(Some(present))).await;
    ctx.expect_blob("b", "present").await;
}

async fn copy_with_invalid_metadata_is_refused(ctx: BlobCtx) {
    ctx.put("a", "content").await;
    let before = ctx.snapshot().await;
    for (name, value, code) in [
        ("Upper", "x".to_owned(), codes::INVALID_ARGUMENT),
        ("a", "é".to_owned(), codes::INVALID_ARGUMENT),
        ("a", "x".repeat(2048), codes::METADATA_TOO_LARGE),
    ] {
        let metadata = BTreeMap::from([(name.to_owned(), value)]);
        let request = CopyBlob::new("a", "b").replace(BlobHeaders::default(), metadata);
        ctx.expect_code(ctx.blobs().copy(request).await, code);
    }
    ctx.expect_unchanged(&before).await;
}

async fn copy_has_its_own_time(ctx: BlobCtx) {
    ctx.put("a", "content").await;
    ctx.clock().advance(Duration::from_secs(60));
    copy(&ctx, CopyBlob::new("a", "b")).await;
    let (source, copied) = (ctx.info("a").await, ctx.info("b").await);
    assert_eq!(copied.last_modified.as_secs(), ctx.now().as_secs());
    assert_eq!(copied.last_modified.since(source.last_modified).as_secs(), 60);
}
