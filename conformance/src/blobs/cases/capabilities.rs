//! Declared capabilities, and the refusal of requests for missing ones.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::prelude::*;
use crate::blobs::BlobNeed;

blob_cases! {
    Capabilities;

    missing_capabilities_are_refused:
        "A request for a capability that the blobs lack is refused as Unsupported and changes \
         nothing.";
    bucket_without_versions_has_no_version_ids:
        "In a bucket without versions no output has the id of a version.";
}

#[track_caller]
fn refused<T: Debug>(need: BlobNeed, result: Result<T>) {
    match result {
        Ok(answer) => panic!("the blobs lack {need}, but the request succeeded: {answer:?}"),
        Err(error) => assert!(
            *error.kind() == ErrorKind::Unsupported,
            "the blobs lack {need}, but the error is not of kind Unsupported: {error:?}"
        ),
    }
}

async fn missing_capabilities_are_refused(ctx: BlobCtx) {
    let capabilities = ctx.blobs().capabilities();
    assert!(!capabilities.engine.is_empty(), "the engine has no name");
    ctx.put("a", "old").await;
    let before = ctx.snapshot().await;
    for need in BlobNeed::CAPABILITIES {
        if need.capability(&capabilities) == Some(false) {
            expect_refused(&ctx, *need).await;
            ctx.expect_unchanged(&before).await;
        }
    }
}

async fn expect_refused(ctx: &BlobCtx, need: BlobNeed) {
    let blobs = ctx.blobs();
    match need {
        BlobNeed::PutIfAbsent => {
            refused(need, blobs.put(PutBlob::new("b", "new").if_absent()).await);
            refused(need, blobs.put(PutBlob::new("a", "new").if_absent()).await);
        }
        BlobNeed::PutIfMatch => {
            let etag = ctx.info("a").await.etag;
            refused(need, blobs.put(PutBlob::new("a", "new").if_match(&etag)).await);
            let copy = CopyBlob::new("a", "b").condition(WriteCondition::IfMatch(etag));
            refused(need, blobs.copy(copy).await);
        }
        BlobNeed::DeleteIfMatch => {
            let etag = ctx.info("a").await.etag;
            refused(need, blobs.delete(DeleteBlob::new("a").if_match(etag)).await);
            refused(need, blobs.delete(DeleteBlob::new("b").if_match("other")).await);
        }
        BlobNeed::CopyIfAbsent => {
            refused(need, blobs.copy(CopyBlob::new("a", "b").if_absent()).await);
        }
        BlobNeed::Multipart => uploads_refused(ctx).await,
        BlobNeed::ConditionalUploads => conditional_completions_refused(ctx).await,
        BlobNeed::AnyParts => partial_completions_refused(ctx).await,
        BlobNeed::Metadata => metadata_refused(ctx).await,
        BlobNeed::StoredChecksums => checksums_not_stored(ctx).await,
        BlobNeed::AnyKey => {
            for key in ["/a", "a/", "a//b", "a/../b", "./a", "a\0", "a\nb"] {
                refused(need, blobs.put(PutBlob::new(key, "new")).await);
            }
        }
        BlobNeed::Versions | BlobNeed::Presign | BlobNeed::Clock => {}
    }
}

async fn uploads_refused(ctx: &BlobCtx) {
    let (need, blobs) = (BlobNeed::Multipart, ctx.blobs());
    refused(need, blobs.create_upload(CreateUpload::new("b")).await);
    refused(need, blobs.upload_part(UploadPart::new("b", "id", 1, "x")).await);
    let parts = [CompletedPart::new(1, "0123456789abcdef0123456789abcdef")];
    refused(need, blobs.complete_upload(CompleteUpload::new("b", "id", parts)).await);
    refused(need, blobs.abort_upload(AbortUpload::new("b", "id")).await);
    refused(need, blobs.list_parts(ListParts::new("b", "id")).await);
    refused(need, blobs.list_uploads(ListUploads::new()).await);
}

/// Without conditions of completions, one with a condition of puts is refused, and the upload stays.
async fn conditional_completions_refused(ctx: &BlobCtx) {
    let (need, blobs) = (BlobNeed::ConditionalUploads, ctx.blobs());
    if !blobs.capabilities().multipart {
        return;
    }
    let upload = ctx.upload("b").await;
    let part = ctx.part("b", &upload, 1, "new").await;
    let before = ctx.snapshot().await;
    let etag = ctx.info("a").await.etag;
    for condition in [WriteCondition::IfAbsent, WriteCondition::IfMatch(etag)] {
        let request = CompleteUpload::new("b", &upload, [part.clone()]).condition(condition);
        refused(need, blobs.complete_upload(request).await);
        ctx.expect_unchanged(&before).await;
    }
    ctx.ok(blobs.abort_upload(AbortUpload::new("b", upload)).await);
}

/// Without any parts, a completion that leaves a part out or has a gap is refused. The upload stays
/// as it is.
async fn partial_completions_refused(ctx: &BlobCtx) {
    let (need, blobs) = (BlobNeed::AnyParts, ctx.blobs());
    if !blobs.capabilities().multipart {
        return;
    }
    for numbers in [[1, 2], [1, 3]] {
        let upload = ctx.upload("b").await;
        let mut parts = Vec::new();
        for number in numbers {
            parts.push(ctx.part("b", &upload, number, five_mb()).await);
        }
        let before = ctx.snapshot().await;
        let last = parts.split_off(1);
        refused(need, blobs.complete_upload(CompleteUpload::new("b", &upload, parts)).await);
        refused(need, blobs.complete_upload(CompleteUpload::new("b", &upload, last)).await);
        ctx.expect_unchanged(&before).await;
        ctx.ok(blobs.abort_upload(AbortUpload::new("b", upload)).await);
    }
    let upload = ctx.upload("b").await;
    let last = ctx.part("b", &upload, 2, "last").await;
    let before = ctx.snapshot().await;
    refused(need, blobs.complete_upload(CompleteUpload::new("b", &upload, [last])).await);
    ctx.expect_unchanged(&before).await;
    ctx.ok(blobs.abort_upload(AbortUpload::new("b", upload)).await);
}

async fn metadata_refused(ctx: &BlobCtx) {
    let (need, blobs) = (BlobNeed::Metadata, ctx.blobs());
    let mut headers = BlobHeaders::default();
    headers.cache_control = Some("no-cache".to_owned());
    refused(need, blobs.put(PutBlob::new("b", "new").metadata("page", "1")).await);
    refused(need, blobs.put(PutBlob::new("b", "new").headers(headers.clone())).await);
    let metadata = BTreeMap::from([("page".to_owned(), "1".to_owned())]);
    let copy = CopyBlob::new("a", "b").replace(BlobHeaders::default(), metadata);
    refused(need, blobs.copy(copy).await);
    if blobs.capabilities().multipart {
        refused(need, blobs.create_upload(CreateUpload::new("b").headers(headers)).await);
    }
}

/// Without stored checksums, a put still verifies the expected ones.
async fn checksums_not_stored(ctx: &BlobCtx) {
    let right = Checksum::of(ChecksumAlgorithm::Sha256, b"new");
    let wrong = Checksum::of(ChecksumAlgorithm::Sha256, b"other");
    let put = || PutBlob::new("b", "new");
    let result = ctx.blobs().put(put().expect(wrong)).await;
    ctx.expect_code(result, codes::BAD_DIGEST);
    ctx.expect_missing("b").await;
    assert_eq!(ctx.write(put().expect(right)).await.checksum, None);
    assert_eq!(ctx.info("b").await.checksum, None);
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("b")).await);
}

async fn bucket_without_versions_has_no_version_ids(ctx: BlobCtx) {
    if ctx.blobs().versions().is_some() {
        return;
    }
    assert_eq!(ctx.put("a", "x").await.version, None);
    assert_eq!(ctx.info("a").await.version, None);
    let copied = ctx.ok(ctx.blobs().copy(CopyBlob::new("a", "b")).await);
    assert_eq!(copied.version, None);
    assert_eq!(ctx.ok(ctx.blobs().delete(DeleteBlob::new("a")).await).version, None);
}
