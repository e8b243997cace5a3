//! Deletion of one blob and of many.

use super::prelude::*;

blob_cases! {
    Deletes;

    deleted_blob_is_missing: "A deleted blob is missing, and no other blob is.";
    delete_of_missing_blob_succeeds: "Deleting a missing blob succeeds.";
    deleted_key_can_be_written_again: "A key can be written again after its deletion.";
    delete_many_deletes_all_keys: "A deletion of several keys deletes each of them and no other.";
    delete_many_ignores_missing_keys: "A deletion of several keys succeeds for missing ones.";
    delete_many_allows_duplicates: "A deletion may name a key twice.";
    delete_many_of_1000_keys_succeeds: "A deletion may have 1000 keys.";
    delete_many_of_1001_keys_is_refused:
        "A deletion of 1001 keys is refused with MalformedXML and deletes nothing.";
    delete_many_without_keys_is_refused: "A deletion without keys is refused with MalformedXML.";
    delete_many_reports_invalid_keys:
        "A deletion of several keys reports an invalid one, and deletes the others.";
}

async fn deleted_blob_is_missing(ctx: BlobCtx) {
    ctx.put_keys(["a", "ab", "b", "c/d"]).await;
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("a")).await);
    ctx.expect_missing("a").await;
    ctx.expect_keys(["ab", "b", "c/d"]).await;
    // What is left of a path is no blob.
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("c/d")).await);
    ctx.expect_missing("c/d").await;
    ctx.expect_keys(["ab", "b"]).await;
    let page = ctx.list(ListBlobs::new().delimiter("/")).await;
    assert_eq!(page.prefixes, Vec::<String>::new());
}

async fn delete_of_missing_blob_succeeds(ctx: BlobCtx) {
    ctx.put("b", "x").await;
    for key in ["a", "a/b", "b/c", "B"] {
        ctx.ok(ctx.blobs().delete(DeleteBlob::new(key)).await);
    }
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("b")).await);
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("b")).await);
    ctx.expect_keys([""; 0]).await;
}

async fn deleted_key_can_be_written_again(ctx: BlobCtx) {
    for round in 0..3 {
        ctx.put("a", format!("round {round}")).await;
        ctx.expect_blob("a", format!("round {round}")).await;
        ctx.ok(ctx.blobs().delete(DeleteBlob::new("a")).await);
        ctx.expect_missing("a").await;
    }
}

async fn delete_many(ctx: &BlobCtx, keys: &[&str]) {
    let output = ctx.ok(ctx.blobs().delete_many(DeleteBlobs::new(keys.iter().copied())).await);
    assert!(output.failed.is_empty(), "{:?}", output.failed);
}

async fn delete_many_deletes_all_keys(ctx: BlobCtx) {
    ctx.put_keys(["a", "b", "c", "d/1", "d/2", "e & <f>"]).await;
    delete_many(&ctx, &["b", "d/2", "a", "e & <f>"]).await;
    ctx.expect_keys(["c", "d/1"]).await;
    ctx.expect_missing("a").await;
}

async fn delete_many_ignores_missing_keys(ctx: BlobCtx) {
    ctx.put_keys(["a", "b"]).await;
    delete_many(&ctx, &["missing", "a", "missing too"]).await;
    ctx.expect_keys(["b"]).await;
    delete_many(&ctx, &["missing"]).await;
}

async fn delete_many_allows_duplicates(ctx: BlobCtx) {
    ctx.put_keys(["a", "b", "c"]).await;
    delete_many(&ctx, &["a", "b", "a", "a"]).await;
    ctx.expect_keys(["c"]).await;
}

async fn delete_many_of_1000_keys_succeeds(ctx: BlobCtx) {
    ctx.put_keys(["k0000", "k0500", "k0999", "k1000"]).await;
    let keys = (0..1000).map(|number| format!("k{number:04}"));
    let output = ctx.ok(ctx.blobs().delete_many(DeleteBlobs::new(keys)).await);
    assert!(output.failed.is_empty(), "{:?}", output.failed);
    ctx.expect_keys(["k1000"]).await;
}

async fn delete_many_of_1001_keys_is_refused(ctx: BlobCtx) {
    ctx.put_keys(["k0000", "k1000"]).await;
    let before = ctx.snapshot().await;
    let keys = (0..1001).map(|number| format!("k{number:04}"));
    let result = ctx.blobs().delete_many(DeleteBlobs::new(keys)).await;
    ctx.expect_code(result, codes::MALFORMED_XML);
    ctx.expect_unchanged(&before).await;
}

async fn delete_many_without_keys_is_refused(ctx: BlobCtx) {
    ctx.put("a", "x").await;
    let result = ctx.blobs().delete_many(DeleteBlobs::new([""; 0])).await;
    ctx.expect_code(result, codes::MALFORMED_XML);
    ctx.expect_keys(["a"]).await;
}

async fn delete_many_reports_invalid_keys(ctx: BlobCtx) {
    ctx.put_keys(["a", "b", "c"]).await;
    let long = "k".repeat(1025);
    let request = DeleteBlobs::new(["a", &long, "b"]);
    let output = ctx.ok(ctx.blobs().delete_many(request).await);
    let failed: Vec<(&str, &str)> =
        output.failed.iter().map(|(key, error)| (key.as_str(), error.code())).collect();
    assert_eq!(failed, [(long.as_str(), codes::KEY_TOO_LONG)]);
    ctx.expect_keys(["c"]).await;
}
