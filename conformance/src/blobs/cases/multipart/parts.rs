//! Parts, and uploads that are missing or aborted.

use super::super::prelude::*;

pub(super) async fn upload_is_invisible_before_completion(ctx: BlobCtx) {
    ctx.put("present", "old").await;
    for key in ["present", "missing"] {
        let upload = ctx.upload(key).await;
        ctx.part(key, &upload, 1, "new").await;
    }
    ctx.expect_missing("missing").await;
    ctx.expect_blob("present", "old").await;
    ctx.expect_keys(["present"]).await;
}

pub(super) async fn part_numbers_are_1_to_10000(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    for number in [0, 10_001, u32::MAX] {
        let part = UploadPart::new("a", &upload, number, "x");
        ctx.expect_code(ctx.blobs().upload_part(part).await, codes::INVALID_ARGUMENT);
    }
    assert_eq!(ctx.parts("a", &upload).await, []);
    for number in [1, 10_000] {
        ctx.part("a", &upload, number, "x").await;
    }
    let numbers: Vec<u32> = ctx.parts("a", &upload).await.iter().map(|part| part.number).collect();
    assert_eq!(numbers, [1, 10_000]);
}

pub(super) async fn part_with_wrong_checksum_is_refused(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    ctx.part("a", &upload, 1, "old").await;
    let before = ctx.snapshot().await;
    for algorithm in [ChecksumAlgorithm::Crc64Nvme, ChecksumAlgorithm::Md5] {
        for number in [1, 2] {
            let part = UploadPart::new("a", &upload, number, "new")
                .expect(Checksum::of(algorithm, b"other"));
            ctx.expect_code(ctx.blobs().upload_part(part).await, codes::BAD_DIGEST);
        }
    }
    ctx.expect_unchanged(&before).await;
    for algorithm in [ChecksumAlgorithm::Crc64Nvme, ChecksumAlgorithm::Md5] {
        let part = UploadPart::new("a", &upload, 2, "new").expect(Checksum::of(algorithm, b"new"));
        ctx.ok(ctx.blobs().upload_part(part).await);
    }
}

pub(super) async fn part_with_checksum_of_other_algorithm_is_refused(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let before = ctx.snapshot().await;
    let part = UploadPart::new("a", &upload, 1, "new")
        .expect(Checksum::of(ChecksumAlgorithm::Sha256, b"new"));
    ctx.expect_code(ctx.blobs().upload_part(part).await, codes::INVALID_REQUEST);
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn part_has_any_checksum_if_the_upload_allows_it(ctx: BlobCtx) {
    let create = CreateUpload::new("a").any_part_checksum(true);
    let upload = ctx.ok(ctx.blobs().create_upload(create).await).upload;
    let contents = [five_mb(), five_mb(), Bytes::from_static(b"last")];
    let algorithms = [ChecksumAlgorithm::Crc32, ChecksumAlgorithm::Sha256, ChecksumAlgorithm::Md5];
    let mut parts = Vec::new();
    for ((content, algorithm), number) in contents.iter().zip(algorithms).zip(1..) {
        let part = |sum| UploadPart::new("a", &upload, number, content.clone()).expect(sum);
        let wrong = part(Checksum::of(algorithm, b"other"));
        ctx.expect_code(ctx.blobs().upload_part(wrong).await, codes::BAD_DIGEST);
        let right = part(Checksum::of(algorithm, content));
        parts.push(ctx.ok(ctx.blobs().upload_part(right).await));
    }
    let output = ctx.ok(ctx.blobs().complete_upload(CompleteUpload::new("a", upload, parts)).await);
    let whole = contents.concat();
    let expected = Checksum::of(ChecksumAlgorithm::Crc64Nvme, &whole);
    assert_eq!(output.checksum, Some(expected.clone()));
    assert_eq!(ctx.info("a").await.checksum, Some(expected));
    ctx.expect_blob("a", whole).await;
}

pub(super) async fn part_of_shorter_stream_is_refused(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    ctx.part("a", &upload, 1, "old").await;
    let before = ctx.snapshot().await;
    for number in [1, 2] {
        let part = UploadPart::new("a", &upload, number, stream_of(4, &["new"]));
        ctx.expect_code(ctx.blobs().upload_part(part).await, codes::INCOMPLETE_BODY);
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn part_has_its_etag_checksum_and_size(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let first = ctx.part("a", &upload, 1, "one").await;
    let second = ctx.part("a", &upload, 2, stream_of(6, &["seco", "nd"])).await;
    assert_eq!((first.number, first.size, second.number, second.size), (1, 3, 2, 6));
    assert_ne!(first.etag, second.etag);
    let expected = Checksum::of(ChecksumAlgorithm::Crc64Nvme, b"one");
    assert_eq!(first.checksum, Some(expected));
    assert_eq!(ctx.parts("a", &upload).await, [first, second]);
}

/// Asserts that every operation on this upload fails with `NoSuchUpload`.
async fn expect_no_upload(ctx: &BlobCtx, key: &str, upload: &str) {
    let code = codes::NO_SUCH_UPLOAD;
    let blobs = ctx.blobs();
    ctx.expect_code(blobs.upload_part(UploadPart::new(key, upload, 1, "x")).await, code);
    ctx.expect_code(blobs.list_parts(ListParts::new(key, upload)).await, code);
    let part = CompletedPart::new(1, "0123456789abcdef0123456789abcdef");
    ctx.expect_code(blobs.complete_upload(CompleteUpload::new(key, upload, [part])).await, code);
    ctx.expect_code(blobs.abort_upload(AbortUpload::new(key, upload)).await, code);
}

pub(super) async fn operations_on_missing_upload_fail(ctx: BlobCtx) {
    // An id in the form of the engine's.
    let upload = ctx.upload("a").await;
    ctx.ok(ctx.blobs().abort_upload(AbortUpload::new("a", &upload)).await);
    ctx.put("a", "old").await;
    let before = ctx.snapshot().await;
    expect_no_upload(&ctx, "a", &upload).await;
    expect_no_upload(&ctx, "a", "no-such-upload").await;
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn upload_belongs_to_its_key(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    ctx.part("a", &upload, 1, "new").await;
    let before = ctx.snapshot().await;
    expect_no_upload(&ctx, "b", &upload).await;
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn aborted_upload_is_gone(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    let kept = ctx.upload("a").await;
    ctx.part("a", &kept, 1, "kept").await;
    let before = ctx.snapshot().await;
    let upload = ctx.upload("a").await;
    ctx.part("a", &upload, 1, "new").await;
    ctx.ok(ctx.blobs().abort_upload(AbortUpload::new("a", &upload)).await);
    expect_no_upload(&ctx, "a", &upload).await;
    ctx.expect_unchanged(&before).await;
}
