//! Conditions of writes, deletes and reads.

use tabla_core::env::Timestamp;

use super::prelude::*;

blob_cases! {
    Conditions;

    put_if_absent_creates: "A put if absent creates a missing blob.", needs [PutIfAbsent];
    put_if_absent_of_present_blob_fails:
        "A put if absent on a present blob fails with PreconditionFailed and writes nothing.",
        needs [PutIfAbsent];
    put_if_absent_after_delete_succeeds:
        "A put if absent succeeds after the blob was deleted.", needs [PutIfAbsent];
    put_if_match_of_present_etag_replaces:
        "A put if match with the present ETag replaces the blob.", needs [PutIfMatch];
    put_if_match_of_other_etag_fails:
        "A put if match with another ETag fails with PreconditionFailed and writes nothing.",
        needs [PutIfMatch];
    put_if_match_of_missing_blob_fails:
        "A put if match on a missing blob fails with NoSuchKey and creates nothing.",
        needs [PutIfMatch];
    stream_with_failed_condition_writes_nothing:
        "A put of a stream whose condition fails writes nothing.",
        needs [PutIfAbsent, PutIfMatch];
    delete_if_match_of_present_etag_deletes:
        "A delete if match with the present ETag deletes the blob.", needs [DeleteIfMatch];
    delete_if_match_of_other_etag_fails:
        "A delete if match with another ETag fails with PreconditionFailed and deletes nothing.",
        needs [DeleteIfMatch];
    delete_if_match_of_missing_blob_succeeds:
        "A delete if match of a missing blob succeeds.", needs [DeleteIfMatch];
    read_if_match_needs_present_etag:
        "A read if match succeeds with the present ETag, and fails with PreconditionFailed with \
         another one.";
    get_if_none_match_of_present_etag_is_not_modified:
        "A get if none match is NotModified with the present ETag, and succeeds with another one.";
    head_if_none_match_of_present_etag_is_not_modified:
        "A head if none match is NotModified with the present ETag, and succeeds with another one.";
    read_if_modified_since_compares_seconds:
        "A read if modified since is NotModified at the second of the write, and succeeds with an \
         earlier time.";
    read_if_unmodified_since_compares_seconds:
        "A read if unmodified since succeeds at the second of the write and later, and fails with \
         PreconditionFailed with an earlier time.";
    times_are_those_of_the_last_write:
        "A read if modified since succeeds once the blob is written again.", needs [Clock];
    if_match_outranks_if_unmodified_since:
        "With if match, a read does not evaluate if unmodified since.";
    if_none_match_outranks_if_modified_since:
        "With if none match, a read does not evaluate if modified since.";
    failed_if_match_outranks_if_none_match:
        "A read whose if match and if none match both fail, fails with PreconditionFailed.";
    conditional_read_of_missing_blob_fails:
        "A read of a missing blob with any condition fails with NoSuchKey.";
}

const OTHER: &str = "0123456789abcdef0123456789abcdef";

async fn put_if_absent_creates(ctx: BlobCtx) {
    ctx.put("other", "x").await;
    ctx.write(PutBlob::new("a", "new").if_absent()).await;
    ctx.expect_blob("a", "new").await;
    ctx.expect_blob("other", "x").await;
}

async fn put_if_absent_of_present_blob_fails(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    let before = ctx.snapshot().await;
    for body in ["new", "old", ""] {
        let result = ctx.blobs().put(PutBlob::new("a", body).if_absent()).await;
        ctx.expect_code(result, codes::PRECONDITION_FAILED);
    }
    ctx.expect_unchanged(&before).await;
}

async fn put_if_absent_after_delete_succeeds(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("a")).await);
    ctx.write(PutBlob::new("a", "new").if_absent()).await;
    ctx.expect_blob("a", "new").await;
}

async fn put_if_match_of_present_etag_replaces(ctx: BlobCtx) {
    let mut etag = ctx.put("a", "0").await.etag;
    for body in ["1", "2"] {
        etag = ctx.write(PutBlob::new("a", body).if_match(etag)).await.etag;
        ctx.expect_blob("a", body).await;
    }
}

async fn put_if_match_of_other_etag_fails(ctx: BlobCtx) {
    let old = ctx.put("a", "old").await.etag;
    let present = ctx.put("a", "present").await.etag;
    let elsewhere = ctx.put("b", "b").await.etag;
    let before = ctx.snapshot().await;
    for etag in [old, elsewhere, OTHER.to_owned(), present.to_uppercase() + "x"] {
        let result = ctx.blobs().put(PutBlob::new("a", "new").if_match(&etag)).await;
        ctx.expect_code(result, codes::PRECONDITION_FAILED);
    }
    ctx.expect_unchanged(&before).await;
}

async fn put_if_match_of_missing_blob_fails(ctx: BlobCtx) {
    let etag = ctx.put("b", "b").await.etag;
    let gone = ctx.put("gone", "gone").await.etag;
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("gone")).await);
    let before = ctx.snapshot().await;
    for (key, etag) in [("a", etag), ("gone", gone)] {
        let result = ctx.blobs().put(PutBlob::new(key, "new").if_match(etag)).await;
        ctx.expect_code(result, codes::NO_SUCH_KEY);
    }
    ctx.expect_unchanged(&before).await;
}

async fn stream_with_failed_condition_writes_nothing(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    let before = ctx.snapshot().await;
    let put = |key: &str| PutBlob::new(key, stream_of(6, &["new", "new"]));
    let blobs = ctx.blobs();
    ctx.expect_code(blobs.put(put("a").if_absent()).await, codes::PRECONDITION_FAILED);
    ctx.expect_code(blobs.put(put("a").if_match(OTHER)).await, codes::PRECONDITION_FAILED);
    ctx.expect_code(blobs.put(put("b").if_match(OTHER)).await, codes::NO_SUCH_KEY);
    ctx.expect_unchanged(&before).await;
    ctx.write(put("b").if_absent()).await;
    ctx.expect_blob("b", "newnew").await;
}

async fn delete_if_match_of_present_etag_deletes(ctx: BlobCtx) {
    let etag = ctx.put("a", "x").await.etag;
    ctx.put("b", "x").await;
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("a").if_match(etag)).await);
    ctx.expect_missing("a").await;
    ctx.expect_keys(["b"]).await;
}

async fn delete_if_match_of_other_etag_fails(ctx: BlobCtx) {
    let old = ctx.put("a", "old").await.etag;
    ctx.put("a", "present").await;
    let before = ctx.snapshot().await;
    for etag in [old.as_str(), OTHER] {
        let result = ctx.blobs().delete(DeleteBlob::new("a").if_match(etag)).await;
        ctx.expect_code(result, codes::PRECONDITION_FAILED);
    }
    ctx.expect_unchanged(&before).await;
}

async fn delete_if_match_of_missing_blob_succeeds(ctx: BlobCtx) {
    let etag = ctx.put("b", "x").await.etag;
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("a").if_match(&etag)).await);
    ctx.expect_missing("a").await;
    ctx.expect_blob("b", "x").await;
}

async fn read_if_match_needs_present_etag(ctx: BlobCtx) {
    let etag = ctx.put("a", "x").await.etag;
    let (_, _, bytes) = ctx.get(GetBlob::new("a").if_match(&etag)).await;
    assert_eq!(bytes, "x");
    ctx.ok(ctx.blobs().head(HeadBlob::new("a").if_match(&etag)).await);
    let code = codes::PRECONDITION_FAILED;
    ctx.expect_code(ctx.blobs().get(GetBlob::new("a").if_match(OTHER)).await, code);
    ctx.expect_kind_of(ctx.blobs().head(HeadBlob::new("a").if_match(OTHER)).await, code);
}

async fn get_if_none_match_of_present_etag_is_not_modified(ctx: BlobCtx) {
    let etag = ctx.put("a", "x").await.etag;
    let error = ctx.blobs().get(GetBlob::new("a").if_none_match(&etag)).await;
    ctx.expect_code(error, codes::NOT_MODIFIED);
    let (_, _, bytes) = ctx.get(GetBlob::new("a").if_none_match(OTHER)).await;
    assert_eq!(bytes, "x");
    ctx.put("a", "y").await;
    let (_, _, bytes) = ctx.get(GetBlob::new("a").if_none_match(&etag)).await;
    assert_eq!(bytes, "y");
}

async fn head_if_none_match_of_present_etag_is_not_modified(ctx: BlobCtx) {
    let etag = ctx.put("a", "x").await.etag;
    let error = ctx.blobs().head(HeadBlob::new("a").if_none_match(&etag)).await;
    ctx.expect_kind_of(error, codes::NOT_MODIFIED);
    ctx.ok(ctx.blobs().head(HeadBlob::new("a").if_none_match(OTHER)).await);
}

/// Puts a blob, and returns its ETag, and the time of the write with this many seconds more.
async fn written(ctx: &BlobCtx) -> (String, impl Fn(i64) -> Timestamp + use<>) {
    ctx.put("a", "x").await;
    let info = ctx.info("a").await;
    let written = info.last_modified;
    (info.etag, move |seconds| {
        Timestamp::from_secs(written.as_secs().saturating_add_signed(seconds))
    })
}

async fn read_if_modified_since_compares_seconds(ctx: BlobCtx) {
    let (_, at) = written(&ctx).await;
    let get = GetBlob::new("a").if_modified_since(at(0));
    ctx.expect_code(ctx.blobs().get(get).await, codes::NOT_MODIFIED);
    let head = HeadBlob::new("a").if_modified_since(at(0));
    ctx.expect_kind_of(ctx.blobs().head(head).await, codes::NOT_MODIFIED);
    for earlier in [-1, -1000] {
        ctx.get(GetBlob::new("a").if_modified_since(at(earlier))).await;
        let head = HeadBlob::new("a").if_modified_since(at(earlier));
        ctx.ok(ctx.blobs().head(head).await);
    }
}

async fn read_if_unmodified_since_compares_seconds(ctx: BlobCtx) {
    let (_, at) = written(&ctx).await;
    for later in [0, 1, 1000] {
        ctx.get(GetBlob::new("a").if_unmodified_since(at(later))).await;
        let head = HeadBlob::new("a").if_unmodified_since(at(later));
        ctx.ok(ctx.blobs().head(head).await);
    }
    let code = codes::PRECONDITION_FAILED;
    let get = GetBlob::new("a").if_unmodified_since(at(-1));
    ctx.expect_code(ctx.blobs().get(get).await, code);
    let head = HeadBlob::new("a").if_unmodified_since(at(-1));
    ctx.expect_kind_of(ctx.blobs().head(head).await, code);
}

async fn times_are_those_of_the_last_write(ctx: BlobCtx) {
    let (_, at) = written(&ctx).await;
    ctx.clock().advance(std::time::Duration::from_secs(60));
    let get = || GetBlob::new("a").if_modified_since(at(30));
    ctx.expect_code(ctx.blobs().get(get()).await, codes::NOT_MODIFIED);
    ctx.put("a", "y").await;
    assert_eq!(ctx.get(get()).await.2, "y");
    let get = GetBlob::new("a").if_unmodified_since(at(30));
    ctx.expect_code(ctx.blobs().get(get).await, codes::PRECONDITION_FAILED);
}

async fn if_match_outranks_if_unmodified_since(ctx: BlobCtx) {
    let (etag, at) = written(&ctx).await;
    ctx.get(GetBlob::new("a").if_match(&etag).if_unmodified_since(at(-1000))).await;
    let get = GetBlob::new("a").if_match(OTHER).if_unmodified_since(at(1000));
    ctx.expect_code(ctx.blobs().get(get).await, codes::PRECONDITION_FAILED);
}

async fn if_none_match_outranks_if_modified_since(ctx: BlobCtx) {
    let (etag, at) = written(&ctx).await;
    let get = GetBlob::new("a").if_none_match(&etag).if_modified_since(at(-1000));
    ctx.expect_code(ctx.blobs().get(get).await, codes::NOT_MODIFIED);
    ctx.get(GetBlob::new("a").if_none_match(OTHER).if_modified_since(at(0))).await;
}

async fn failed_if_match_outranks_if_none_match(ctx: BlobCtx) {
    let (etag, _) = written(&ctx).await;
    let get = GetBlob::new("a").if_match(OTHER).if_none_match(&etag);
    ctx.expect_code(ctx.blobs().get(get).await, codes::PRECONDITION_FAILED);
    let get = GetBlob::new("a").if_match(&etag).if_none_match(&etag);
    ctx.expect_code(ctx.blobs().get(get).await, codes::NOT_MODIFIED);
    ctx.get(GetBlob::new("a").if_match(&etag).if_none_match(OTHER)).await;
}

async fn conditional_read_of_missing_blob_fails(ctx: BlobCtx) {
    let (etag, at) = written(&ctx).await;
    let get = || GetBlob::new("missing");
    for request in [
        get().if_match(&etag),
        get().if_none_match(&etag),
        get().if_modified_since(at(0)),
        get().if_unmodified_since(at(0)),
    ] {
        ctx.expect_code(ctx.blobs().get(request).await, codes::NO_SUCH_KEY);
    }
}
