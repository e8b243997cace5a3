//! Versions and delete markers.

use std::time::Duration;

use super::prelude::*;

blob_cases! {
    Versions;

    put_keeps_earlier_versions: "A put creates a version, and the earlier ones stay.";
    versions_are_listed_newest_first:
        "Versions are listed by key, and of one key the newest first, delete markers among them.";
    listing_has_current_blobs_alone:
        "A listing of blobs has neither earlier versions nor deleted blobs.";
    old_version_is_read:
        "An earlier version is read with its bytes, headers, metadata and checksum.";
    range_and_conditions_apply_to_version:
        "Range and conditions of a read apply to the version that it names.";
    delete_creates_marker: "A delete hides the blob behind a delete marker.";
    delete_of_missing_blob_creates_marker: "A delete of a missing blob creates a delete marker.";
    delete_many_creates_markers: "A deletion of several keys creates a delete marker for each.";
    delete_marker_has_no_content: "A read of a delete marker as a version fails with NoSuchKey.";
    missing_version_is_not_found: "A read of a missing version fails with NoSuchVersion.";
    version_belongs_to_its_key: "A version id with another key fails with NoSuchVersion.";
    restore_makes_old_content_current:
        "A restored version is a new version with the old bytes, headers and metadata.";
    restore_brings_deleted_blob_back: "A deleted blob is back after one of its versions is restored.";
    deleted_version_is_gone: "Deleting an earlier version deletes it alone.";
    deleting_current_version_brings_back_the_one_before:
        "Deleting the current version makes the version before it current.";
    deleting_marker_brings_blob_back: "Deleting the delete marker brings the blob back.";
    deleting_missing_version_succeeds: "Deleting a missing version succeeds.";
    conditions_see_the_current_version:
        "Conditions of writes see the current version, and none behind a delete marker.",
        needs [PutIfAbsent, PutIfMatch];
    failed_writes_create_no_version: "A write that fails creates no version.",
        needs [PutIfAbsent];
    versions_are_listed_in_pages: "Pages of every limit have every version once and in order.";
    versions_are_listed_by_prefix: "A prefix selects the versions whose keys begin with it.";
    copies_and_uploads_create_versions: "A copy and a completed upload create versions.",
        needs [Multipart];
    versions_have_their_times: "Each version has the time of its write.", needs [Clock];
}

/// Puts these contents under one key, oldest first, and returns the ids of their versions.
async fn put_versions(ctx: &BlobCtx, key: &str, contents: &[&'static str]) -> Vec<String> {
    let mut ids = Vec::new();
    for content in contents {
        let output = ctx.put(key, *content).await;
        ids.push(output.version.expect("a put in a bucket with versions has one"));
    }
    ids
}

/// Deletes a blob, and returns the id of the delete marker.
async fn delete(ctx: &BlobCtx, key: &str) -> String {
    let output = ctx.ok(ctx.blobs().delete(DeleteBlob::new(key)).await);
    output.version.expect("a delete in a bucket with versions has a delete marker")
}

async fn read_version(ctx: &BlobCtx, key: &str, version: &str) -> Bytes {
    let found = ctx.ok(ctx.versions().get_version(version, GetBlob::new(key)).await);
    assert_eq!(found.info.version.as_deref(), Some(version));
    ctx.ok(found.body.collect().await)
}

/// Rows of the list of versions: key, id, latest, delete marker.
type Rows<'a> = Vec<(&'a str, &'a str, bool, bool)>;

async fn expect_versions(ctx: &BlobCtx, expected: Rows<'_>) {
    let rows = ctx.version_rows().await;
    let found: Rows<'_> = rows
        .iter()
        .map(|(key, id, latest, marker)| (key.as_str(), id.as_str(), *latest, *marker))
        .collect();
    assert_eq!(found, expected);
}

async fn put_keeps_earlier_versions(ctx: BlobCtx) {
    let ids = put_versions(&ctx, "a", &["one", "two", "two"]).await;
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    ctx.expect_blob("a", "two").await;
    assert_eq!(ctx.info("a").await.version.as_ref(), ids.last());
    for (id, content) in ids.iter().zip(["one", "two", "two"]) {
        assert_eq!(read_version(&ctx, "a", id).await, content);
    }
}

async fn versions_are_listed_newest_first(ctx: BlobCtx) {
    let b = put_versions(&ctx, "b", &["b"]).await;
    let a = put_versions(&ctx, "a", &["one", "twelve"]).await;
    let marker = delete(&ctx, "a").await;
    let again = put_versions(&ctx, "a", &["again"]).await;
    let last = delete(&ctx, "b").await;
    let page = ctx.ok(ctx.versions().list_versions(ListVersions::new()).await);
    assert_eq!(page.next, None);
    let sizes: Vec<u64> = page.versions.iter().map(|version| version.size).collect();
    assert_eq!(sizes, [5, 0, 6, 3, 0, 1]);
    for version in &page.versions {
        assert_eq!(version.etag.is_empty(), version.is_delete_marker, "{version:?}");
    }
    let rows = vec![
        ("a", again[0].as_str(), true, false),
        ("a", &marker, false, true),
        ("a", &a[1], false, false),
        ("a", &a[0], false, false),
        ("b", &last, true, true),
        ("b", &b[0], false, false),
    ];
    expect_versions(&ctx, rows).await;
}

async fn listing_has_current_blobs_alone(ctx: BlobCtx) {
    put_versions(&ctx, "a", &["one", "two"]).await;
    put_versions(&ctx, "b", &["one", "two"]).await;
    put_versions(&ctx, "c/1", &["one"]).await;
    delete(&ctx, "b").await;
    delete(&ctx, "c/1").await;
    ctx.expect_keys(["a"]).await;
    let page = ctx.list(ListBlobs::new().delimiter("/").limit(Some(1))).await;
    assert_eq!((page.blobs.len(), page.prefixes.len(), page.next), (1, 0, None));
}

async fn old_version_is_read(ctx: BlobCtx) {
    let put = PutBlob::new("a", "one").content_type("text/plain").metadata("page", "1");
    let old = ctx.write(put).await;
    let info = ctx.info("a").await;
    ctx.write(PutBlob::new("a", "newer").content_type("text/html")).await;
    let id = old.version.expect("a version");
    let mut found = ctx.ok(ctx.versions().get_version(&id, GetBlob::new("a")).await);
    let mut head = ctx.ok(ctx.versions().head_version(&id, HeadBlob::new("a")).await);
    // Times are compared by `versions_have_their_times`.
    (found.info.last_modified, head.last_modified) = (info.last_modified, info.last_modified);
    assert_eq!((&found.info, &head), (&info, &info));
    assert_eq!(ctx.ok(found.body.collect().await), "one");
    ctx.expect_blob("a", "newer").await;
}

async fn range_and_conditions_apply_to_version(ctx: BlobCtx) {
    let old = ctx.put("a", "0123456789").await;
    let etag = ctx.put("a", "short").await.etag;
    let id = old.version.expect("a version");
    let get = |request| ctx.versions().get_version(&id, request);
    let part = ctx.ok(get(GetBlob::new("a").range(6..9).if_match(&old.etag)).await);
    assert_eq!((part.range.clone(), part.info.size), (6..9, 10));
    assert_eq!(ctx.ok(part.body.collect().await), "678");
    let result = get(GetBlob::new("a").if_match(&etag)).await;
    ctx.expect_code(result, codes::PRECONDITION_FAILED);
    let result = get(GetBlob::new("a").if_none_match(&old.etag)).await;
    ctx.expect_code(result, codes::NOT_MODIFIED);
}

async fn delete_creates_marker(ctx: BlobCtx) {
    let ids = put_versions(&ctx, "a", &["one"]).await;
    ctx.put("b", "other").await;
    let marker = delete(&ctx, "a").await;
    ctx.expect_missing("a").await;
    ctx.expect_blob("b", "other").await;
    assert_eq!(read_version(&ctx, "a", &ids[0]).await, "one");
    let rows = ctx.version_rows().await;
    assert_eq!(rows[0], ("a".to_owned(), marker, true, true));
    assert_eq!(rows.len(), 3);
}

async fn delete_of_missing_blob_creates_marker(ctx: BlobCtx) {
    let first = delete(&ctx, "a").await;
    let second = delete(&ctx, "a").await;
    ctx.expect_missing("a").await;
    expect_versions(&ctx, vec![("a", &second, true, true), ("a", &first, false, true)]).await;
}

async fn delete_many_creates_markers(ctx: BlobCtx) {
    let a = put_versions(&ctx, "a", &["a"]).await;
    put_versions(&ctx, "b", &["b"]).await;
    let output = ctx.ok(ctx.blobs().delete_many(DeleteBlobs::new(["a", "b"])).await);
    assert!(output.failed.is_empty(), "{:?}", output.failed);
    ctx.expect_keys([""; 0]).await;
    let rows = ctx.version_rows().await;
    let markers: Vec<(&str, bool)> = rows.iter().map(|row| (row.0.as_str(), row.3)).collect();
    assert_eq!(markers, [("a", true), ("a", false), ("b", true), ("b", false)]);
    let mut created = output.markers;
    created.sort();
    let rows = rows.into_iter().filter(|row| row.3).map(|(key, id, ..)| (key, id));
    assert_eq!(created, rows.collect::<Vec<_>>());
    assert_eq!(read_version(&ctx, "a", &a[0]).await, "a");
}

async fn delete_marker_has_no_content(ctx: BlobCtx) {
    put_versions(&ctx, "a", &["one"]).await;
    let marker = delete(&ctx, "a").await;
    let result = ctx.versions().get_version(&marker, GetBlob::new("a")).await;
    ctx.expect_code(result, codes::NO_SUCH_KEY);
    let result = ctx.versions().head_version(&marker, HeadBlob::new("a")).await;
    ctx.expect_kind_of(result, codes::NO_SUCH_KEY);
    let before = ctx.snapshot().await;
    let result = ctx.versions().restore_version("a", &marker).await;
    ctx.expect_code(result, codes::NO_SUCH_KEY);
    ctx.expect_unchanged(&before).await;
}

async fn missing_version_is_not_found(ctx: BlobCtx) {
    // An id in the form of the engine's.
    let gone = put_versions(&ctx, "a", &["one", "two"]).await.swap_remove(0);
    ctx.ok(ctx.versions().delete_version("a", &gone).await);
    let before = ctx.snapshot().await;
    let code = codes::NO_SUCH_VERSION;
    let result = ctx.versions().get_version(&gone, GetBlob::new("a")).await;
    ctx.expect_code(result, code);
    let result = ctx.versions().head_version(&gone, HeadBlob::new("a")).await;
    ctx.expect_kind_of(result, code);
    ctx.expect_code(ctx.versions().restore_version("a", &gone).await, code);
    ctx.expect_unchanged(&before).await;
}

async fn version_belongs_to_its_key(ctx: BlobCtx) {
    let ids = put_versions(&ctx, "a", &["a"]).await;
    put_versions(&ctx, "b", &["b"]).await;
    let before = ctx.snapshot().await;
    let result = ctx.versions().get_version(&ids[0], GetBlob::new("b")).await;
    ctx.expect_code(result, codes::NO_SUCH_VERSION);
    let result = ctx.versions().restore_version("b", &ids[0]).await;
    ctx.expect_code(result, codes::NO_SUCH_VERSION);
    ctx.ok(ctx.versions().delete_version("b", &ids[0]).await);
    ctx.expect_unchanged(&before).await;
}

async fn restore_makes_old_content_current(ctx: BlobCtx) {
    let put = PutBlob::new("a", "one").content_type("text/plain").metadata("page", "1");
    let old = ctx.write(put).await;
    let info = ctx.info("a").await;
    let new = ctx.put("a", "two").await;
    let old_id = old.version.expect("a version");
    let restored = ctx.ok(ctx.versions().restore_version("a", &old_id).await);
    ctx.expect_blob("a", "one").await;
    let now = ctx.info("a").await;
    assert_eq!((&now.headers, &now.metadata), (&info.headers, &info.metadata));
    assert_eq!((now.checksum, &now.version), (info.checksum, &restored.version));
    let restored = restored.version.expect("a version");
    let new = new.version.expect("a version");
    let rows = vec![
        ("a", restored.as_str(), true, false),
        ("a", &new, false, false),
        ("a", &old_id, false, false),
    ];
    expect_versions(&ctx, rows).await;
}

async fn restore_brings_deleted_blob_back(ctx: BlobCtx) {
    let ids = put_versions(&ctx, "a", &["one", "two"]).await;
    delete(&ctx, "a").await;
    ctx.ok(ctx.versions().restore_version("a", &ids[0]).await);
    ctx.expect_blob("a", "one").await;
    assert_eq!(ctx.version_rows().await.len(), 4);
}

async fn deleted_version_is_gone(ctx: BlobCtx) {
    let ids = put_versions(&ctx, "a", &["one", "two", "three"]).await;
    ctx.ok(ctx.versions().delete_version("a", &ids[1]).await);
    expect_versions(&ctx, vec![("a", &ids[2], true, false), ("a", &ids[0], false, false)]).await;
    ctx.expect_blob("a", "three").await;
    assert_eq!(read_version(&ctx, "a", &ids[0]).await, "one");
    let result = ctx.versions().get_version(&ids[1], GetBlob::new("a")).await;
    ctx.expect_code(result, codes::NO_SUCH_VERSION);
}

async fn deleting_current_version_brings_back_the_one_before(ctx: BlobCtx) {
    let ids = put_versions(&ctx, "a", &["one", "two"]).await;
    ctx.ok(ctx.versions().delete_version("a", &ids[1]).await);
    ctx.expect_blob("a", "one").await;
    assert_eq!(ctx.info("a").await.version.as_ref(), Some(&ids[0]));
    expect_versions(&ctx, vec![("a", &ids[0], true, false)]).await;
    ctx.ok(ctx.versions().delete_version("a", &ids[0]).await);
    ctx.expect_missing("a").await;
    expect_versions(&ctx, Vec::new()).await;
}

async fn deleting_marker_brings_blob_back(ctx: BlobCtx) {
    let ids = put_versions(&ctx, "a", &["one"]).await;
    let marker = delete(&ctx, "a").await;
    let output = ctx.ok(ctx.versions().delete_version("a", &marker).await);
    assert!(output.was_delete_marker);
    ctx.expect_blob("a", "one").await;
    expect_versions(&ctx, vec![("a", &ids[0], true, false)]).await;
}

async fn deleting_missing_version_succeeds(ctx: BlobCtx) {
    let ids = put_versions(&ctx, "a", &["one", "two"]).await;
    let output = ctx.ok(ctx.versions().delete_version("a", &ids[0]).await);
    assert!(!output.was_delete_marker);
    let before = ctx.snapshot().await;
    ctx.ok(ctx.versions().delete_version("a", &ids[0]).await);
    ctx.ok(ctx.versions().delete_version("missing", &ids[0]).await);
    ctx.expect_unchanged(&before).await;
}

async fn conditions_see_the_current_version(ctx: BlobCtx) {
    let old = ctx.put("a", "one").await.etag;
    let present = ctx.put("a", "two").await.etag;
    let put = |body: &'static str| PutBlob::new("a", body);
    let before = ctx.snapshot().await;
    let result = ctx.blobs().put(put("three").if_match(&old)).await;
    ctx.expect_code(result, codes::PRECONDITION_FAILED);
    ctx.expect_unchanged(&before).await;
    ctx.write(put("three").if_match(&present)).await;
    let last = ctx.info("a").await.etag;
    delete(&ctx, "a").await;
    let before = ctx.snapshot().await;
    ctx.expect_code(ctx.blobs().put(put("four").if_match(&last)).await, codes::NO_SUCH_KEY);
    ctx.expect_unchanged(&before).await;
    ctx.write(put("four").if_absent()).await;
    ctx.expect_blob("a", "four").await;
    assert_eq!(ctx.version_rows().await.len(), 5);
}

async fn failed_writes_create_no_version(ctx: BlobCtx) {
    ctx.put("a", "one").await;
    let before = ctx.snapshot().await;
    let wrong = Checksum::of(ChecksumAlgorithm::Sha256, b"other");
    let blobs = ctx.blobs();
    let result = blobs.put(PutBlob::new("a", "two").expect(wrong)).await;
    ctx.expect_code(result, codes::BAD_DIGEST);
    let result = blobs.put(PutBlob::new("a", "two").if_absent()).await;
    ctx.expect_code(result, codes::PRECONDITION_FAILED);
    let result = blobs.put(PutBlob::new("a", stream_of(9, &["two"]))).await;
    ctx.expect_code(result, codes::INCOMPLETE_BODY);
    let result = blobs.copy(CopyBlob::new("missing", "a")).await;
    ctx.expect_code(result, codes::NO_SUCH_KEY);
    ctx.expect_unchanged(&before).await;
}

async fn versions_are_listed_in_pages(ctx: BlobCtx) {
    for key in ["b", "a", "c/1"] {
        put_versions(&ctx, key, &["one", "two"]).await;
    }
    delete(&ctx, "a").await;
    put_versions(&ctx, "a", &["three"]).await;
    let all = ctx.version_rows().await;
    assert_eq!(all.len(), 8);
    for limit in 1..=all.len() + 1 {
        let mut request = ListVersions::new().limit(Some(limit));
        let mut found = Vec::new();
        for _ in 0..=all.len() {
            let page = ctx.ok(ctx.versions().list_versions(request.clone()).await);
            assert!(page.versions.len() <= limit, "limit {limit}: {page:?}");
            let rows = page.versions.into_iter();
            found.extend(rows.map(|it| (it.key, it.version, it.is_latest, it.is_delete_marker)));
            match page.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
        assert_eq!(found, all, "limit {limit}");
    }
}

async fn versions_are_listed_by_prefix(ctx: BlobCtx) {
    for key in ["a", "b/1", "b/2", "b%", "c"] {
        put_versions(&ctx, key, &["x"]).await;
    }
    delete(&ctx, "b/1").await;
    for (prefix, expected) in
        [("b/", &["b/1", "b/1", "b/2"][..]), ("b%", &["b%"]), ("d", &[]), ("c", &["c"])]
    {
        let request = ListVersions::new().prefix(prefix.to_owned());
        let page = ctx.ok(ctx.versions().list_versions(request).await);
        let keys: Vec<&str> = page.versions.iter().map(|version| version.key.as_str()).collect();
        assert_eq!(keys, expected, "prefix {prefix}");
    }
}

async fn copies_and_uploads_create_versions(ctx: BlobCtx) {
    let first = put_versions(&ctx, "a", &["one"]).await;
    ctx.put("source", "two").await;
    let copied = ctx.ok(ctx.blobs().copy(CopyBlob::new("source", "a")).await);
    let upload = ctx.upload("a").await;
    let part = ctx.part("a", &upload, 1, "three").await;
    let request = CompleteUpload::new("a", upload, [part]);
    let completed = ctx.ok(ctx.blobs().complete_upload(request).await);
    for (version, content) in [
        (first.first(), "one"),
        (copied.version.as_ref(), "two"),
        (completed.version.as_ref(), "three"),
    ] {
        let version = version.expect("a version");
        assert_eq!(read_version(&ctx, "a", version).await, content);
    }
    ctx.expect_blob("a", "three").await;
    assert_eq!(ctx.version_rows().await.len(), 4);
}

async fn versions_have_their_times(ctx: BlobCtx) {
    let begin = ctx.now().as_secs();
    for content in ["one", "two"] {
        ctx.clock().advance(Duration::from_secs(60));
        ctx.put("a", content).await;
    }
    ctx.clock().advance(Duration::from_secs(60));
    delete(&ctx, "a").await;
    let page = ctx.ok(ctx.versions().list_versions(ListVersions::new()).await);
    let times: Vec<u64> =
        page.versions.iter().map(|version| version.last_modified.as_secs() - begin).collect();
    assert_eq!(times, [180, 120, 60]);
}
