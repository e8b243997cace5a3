//! Completions, their failures, conditions and checksums.

use super::super::prelude::*;

/// Completes with these parts, which must succeed.
async fn complete<P: Into<CompletedPart>>(
    ctx: &BlobCtx,
    key: &str,
    upload: &str,
    parts: impl IntoIterator<Item = P>,
) -> PutBlobOutput {
    let request = CompleteUpload::new(key, upload, parts);
    ctx.ok(ctx.blobs().complete_upload(request).await)
}

/// Asserts that this completion fails with this name and changes nothing.
async fn expect_fails(ctx: &BlobCtx, request: CompleteUpload, code: &'static str) {
    let before = ctx.snapshot().await;
    ctx.expect_code(ctx.blobs().complete_upload(request).await, code);
    ctx.expect_unchanged(&before).await;
}

/// Two parts of an upload, the first with 5 MB, and the bytes of both.
async fn two_parts(ctx: &BlobCtx, upload: &str) -> ([UploadedPart; 2], Bytes) {
    let second = ctx.part("a", upload, 2, "the second part").await;
    let first = ctx.part("a", upload, 1, five_mb()).await;
    let whole = [&five_mb()[..], b"the second part"].concat();
    ([first, second], whole.into())
}

pub(super) async fn completed_upload_is_one_blob(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "content").await;
    let output = complete(&ctx, "a", &upload, [part]).await;
    ctx.expect_blob("a", "content").await;
    let info = ctx.info("a").await;
    assert_eq!((output.etag, output.checksum), (info.etag, info.checksum));
    assert_eq!(output.version, info.version);
    assert_eq!(ctx.uploads().await, []);
    ctx.expect_keys(["a"]).await;
    // A part may be empty if it is the last one.
    let upload = ctx.upload("empty").await;
    let part = ctx.part("empty", &upload, 1, "").await;
    complete(&ctx, "empty", &upload, [part]).await;
    ctx.expect_blob("empty", "").await;
}

pub(super) async fn parts_are_joined_by_number(ctx: BlobCtx) {
    // All parts have 5 MB, so that no order of them has one that is too small.
    let mut reversed = five_mb().to_vec();
    reversed.reverse();
    let contents = [Bytes::from(reversed), five_mb(), Bytes::from(vec![7; 5 << 20])];
    let upload = ctx.upload("a").await;
    let last = ctx.part("a", &upload, 3, contents[2].clone()).await;
    let middle = ctx.part("a", &upload, 2, contents[1].clone()).await;
    let first = ctx.part("a", &upload, 1, contents[0].clone()).await;
    complete(&ctx, "a", &upload, [first, middle, last]).await;
    ctx.expect_blob("a", contents.concat()).await;
    let seam = (10 << 20) - 2..(10 << 20) + 2;
    let (_, _, bytes) = ctx.get(GetBlob::new("a").range(seam)).await;
    assert_eq!(bytes, [&five_mb()[(5 << 20) - 2..], &[7, 7]].concat());
}

pub(super) async fn part_numbers_may_have_gaps(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let last = ctx.part("a", &upload, 10_000, "last").await;
    let first = ctx.part("a", &upload, 2, five_mb()).await;
    complete(&ctx, "a", &upload, [first, last]).await;
    ctx.expect_blob("a", [&five_mb()[..], b"last"].concat()).await;
}

pub(super) async fn part_with_the_same_number_replaces(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let old = ctx.part("a", &upload, 1, "old").await;
    let new = ctx.part("a", &upload, 1, "newer").await;
    assert_eq!(ctx.parts("a", &upload).await.len(), 1);
    expect_fails(&ctx, CompleteUpload::new("a", &upload, [old]), codes::INVALID_PART).await;
    complete(&ctx, "a", &upload, [new]).await;
    ctx.expect_blob("a", "newer").await;
}

pub(super) async fn parts_that_are_not_listed_are_left_out(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    ctx.part("a", &upload, 1, five_mb()).await;
    let second = ctx.part("a", &upload, 2, "two").await;
    complete(&ctx, "a", &upload, [second]).await;
    ctx.expect_blob("a", "two").await;
    assert_eq!(ctx.uploads().await, []);
}

pub(super) async fn completion_replaces_the_blob(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "uploaded").await;
    let old = ctx.put("a", "put after the upload began").await;
    let output = complete(&ctx, "a", &upload, [part]).await;
    assert_ne!(output.etag, old.etag);
    ctx.expect_blob("a", "uploaded").await;
    ctx.put("a", "put again").await;
    ctx.expect_blob("a", "put again").await;
}

pub(super) async fn uploads_of_one_key_are_independent(ctx: BlobCtx) {
    let (one, two) = (ctx.upload("a").await, ctx.upload("a").await);
    assert_ne!(one, two);
    let first = ctx.part("a", &one, 1, "one").await;
    let second = ctx.part("a", &two, 1, "two").await;
    complete(&ctx, "a", &two, [second]).await;
    ctx.expect_blob("a", "two").await;
    assert_eq!(ctx.parts("a", &one).await.len(), 1);
    complete(&ctx, "a", &one, [first]).await;
    ctx.expect_blob("a", "one").await;
}

pub(super) async fn completed_upload_cannot_be_completed_again(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "uploaded").await;
    complete(&ctx, "a", &upload, [part.clone()]).await;
    ctx.put("a", "newer").await;
    expect_fails(&ctx, CompleteUpload::new("a", &upload, [part]), codes::NO_SUCH_UPLOAD).await;
    let before = ctx.snapshot().await;
    let late = UploadPart::new("a", &upload, 2, "late");
    ctx.expect_code(ctx.blobs().upload_part(late).await, codes::NO_SUCH_UPLOAD);
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn completion_with_wrong_etag_fails(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "new").await;
    let wrong = CompletedPart::new(1, "0123456789abcdef0123456789abcdef");
    expect_fails(&ctx, CompleteUpload::new("a", &upload, [wrong]), codes::INVALID_PART).await;
    complete(&ctx, "a", &upload, [part]).await;
    ctx.expect_blob("a", "new").await;
}

pub(super) async fn completion_with_missing_part_fails(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, five_mb()).await;
    let missing = CompletedPart::new(2, part.etag.clone());
    let parts = [part.into(), missing];
    expect_fails(&ctx, CompleteUpload::new("a", &upload, parts), codes::INVALID_PART).await;
    ctx.expect_missing("a").await;
}

pub(super) async fn completion_in_wrong_order_fails(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let ([first, second], _) = two_parts(&ctx, &upload).await;
    for parts in [[second.clone(), first.clone()], [first.clone(), first.clone()]] {
        let request = CompleteUpload::new("a", &upload, parts);
        expect_fails(&ctx, request, codes::INVALID_PART_ORDER).await;
    }
    ctx.expect_missing("a").await;
}

pub(super) async fn completion_with_small_part_fails(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let small = five_mb().slice(1..);
    let first = ctx.part("a", &upload, 1, small.clone()).await;
    let second = ctx.part("a", &upload, 2, "last").await;
    let request = CompleteUpload::new("a", &upload, [first, second]);
    expect_fails(&ctx, request, codes::ENTITY_TOO_SMALL).await;
    ctx.expect_missing("a").await;
    // As the last part it is not too small.
    let first = ctx.part("a", &upload, 1, five_mb()).await;
    let second = ctx.part("a", &upload, 2, small.clone()).await;
    complete(&ctx, "a", &upload, [first, second]).await;
    ctx.expect_blob("a", [five_mb(), small].concat()).await;
}

pub(super) async fn completion_without_parts_fails(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    ctx.part("a", &upload, 1, "x").await;
    let none: [CompletedPart; 0] = [];
    expect_fails(&ctx, CompleteUpload::new("a", &upload, none), codes::MALFORMED_XML).await;
}

pub(super) async fn completion_with_10001_parts_fails(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "x").await;
    let parts = (1..=10_001).map(|number| CompletedPart::new(number, part.etag.clone()));
    expect_fails(&ctx, CompleteUpload::new("a", &upload, parts), codes::MALFORMED_XML).await;
}

pub(super) async fn completion_with_other_size_fails(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "four").await;
    let request =
        |size| CompleteUpload::new("a", &upload, [part.clone()]).expected_size(Some(size));
    for size in [0, 3, 5] {
        expect_fails(&ctx, request(size), codes::INVALID_REQUEST).await;
    }
    ctx.ok(ctx.blobs().complete_upload(request(4)).await);
    ctx.expect_blob("a", "four").await;
}

pub(super) async fn completion_with_wrong_checksum_fails(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "content").await;
    let request = |bytes: &[u8]| {
        let checksum = Checksum::of(ChecksumAlgorithm::Crc64Nvme, bytes);
        CompleteUpload::new("a", &upload, [part.clone()]).expected_checksum(Some(checksum))
    };
    expect_fails(&ctx, request(b"other"), codes::BAD_DIGEST).await;
    ctx.expect_missing("a").await;
    ctx.ok(ctx.blobs().complete_upload(request(b"content")).await);
    ctx.expect_blob("a", "content").await;
}

pub(super) async fn failed_condition_keeps_the_upload(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "uploaded").await;
    ctx.put("a", "put after the upload began").await;
    let request = CompleteUpload::new("a", &upload, [part]).if_absent();
    expect_fails(&ctx, request.clone(), codes::PRECONDITION_FAILED).await;
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("a")).await);
    ctx.ok(ctx.blobs().complete_upload(request).await);
    ctx.expect_blob("a", "uploaded").await;
}

pub(super) async fn completion_if_absent_creates(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "uploaded").await;
    let request = CompleteUpload::new("a", &upload, [part]).if_absent();
    ctx.ok(ctx.blobs().complete_upload(request).await);
    ctx.expect_blob("a", "uploaded").await;
}

pub(super) async fn completion_if_match_needs_present_etag(ctx: BlobCtx) {
    let old = ctx.put("a", "old").await.etag;
    let present = ctx.put("a", "present").await.etag;
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "uploaded").await;
    let request = |etag: &str| {
        let condition = WriteCondition::IfMatch(etag.to_owned());
        CompleteUpload::new("a", &upload, [part.clone()]).condition(condition)
    };
    expect_fails(&ctx, request(&old), codes::PRECONDITION_FAILED).await;
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("a")).await);
    expect_fails(&ctx, request(&present), codes::NO_SUCH_KEY).await;
    ctx.put("a", "present").await;
    let present = ctx.info("a").await.etag;
    ctx.ok(ctx.blobs().complete_upload(request(&present)).await);
    ctx.expect_blob("a", "uploaded").await;
}

/// Completes an upload of two parts with this checksum, and returns its bytes and the checksums
/// of its parts.
async fn completed_with(
    ctx: &BlobCtx,
    checksum: (ChecksumAlgorithm, ChecksumType),
) -> (Bytes, Vec<u8>, Option<Checksum>) {
    let create = CreateUpload::new("a").checksum(Some(checksum));
    let upload = ctx.ok(ctx.blobs().create_upload(create).await).upload;
    let (parts, whole) = two_parts(ctx, &upload).await;
    let mut of_parts = Vec::new();
    for part in &parts {
        let checksum = part.checksum.as_ref().expect("a part has a checksum");
        assert_eq!(checksum.algorithm(), parts[0].checksum.as_ref().expect("one").algorithm());
        of_parts.extend_from_slice(checksum.value());
    }
    let output = complete(ctx, "a", &upload, parts).await;
    let info = ctx.info("a").await;
    assert_eq!(output.checksum, info.checksum, "{checksum:?}");
    (whole, of_parts, info.checksum)
}

pub(super) async fn full_object_checksum_is_of_all_bytes(ctx: BlobCtx) {
    for algorithm in
        [ChecksumAlgorithm::Crc64Nvme, ChecksumAlgorithm::Crc32, ChecksumAlgorithm::Crc32c]
    {
        let (whole, _, found) = completed_with(&ctx, (algorithm, ChecksumType::FullObject)).await;
        assert_eq!(found, Some(Checksum::of(algorithm, &whole)), "{algorithm}");
    }
}

pub(super) async fn composite_checksum_is_of_part_checksums(ctx: BlobCtx) {
    let algorithm = ChecksumAlgorithm::Sha256;
    let (whole, of_parts, found) = completed_with(&ctx, (algorithm, ChecksumType::Composite)).await;
    let text = format!("{}-2", Checksum::of(algorithm, &of_parts).encoded());
    assert_eq!(found.map(|checksum| checksum.encoded()), Some(text));
    ctx.expect_blob("a", &whole).await;
}

pub(super) async fn impossible_checksums_are_refused(ctx: BlobCtx) {
    let before = ctx.snapshot().await;
    for checksum in [
        (ChecksumAlgorithm::Sha256, ChecksumType::FullObject),
        (ChecksumAlgorithm::Sha1, ChecksumType::FullObject),
        (ChecksumAlgorithm::Crc64Nvme, ChecksumType::Composite),
        (ChecksumAlgorithm::Md5, ChecksumType::FullObject),
        (ChecksumAlgorithm::Md5, ChecksumType::Composite),
    ] {
        let create = CreateUpload::new("a").checksum(Some(checksum));
        ctx.expect_code(ctx.blobs().create_upload(create).await, codes::INVALID_REQUEST);
    }
    ctx.expect_unchanged(&before).await;
}
