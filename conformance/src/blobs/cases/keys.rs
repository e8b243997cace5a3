//! Keys: length, characters and distinctness.

use super::prelude::*;

blob_cases! {
    Keys;

    key_of_1024_bytes_is_stored: "A key of 1024 bytes without a slash is stored.", needs [AnyKey];
    path_of_1024_bytes_is_stored: "A key of 1024 bytes in short segments is stored.";
    key_over_1024_bytes_is_refused:
        "A key of 1025 bytes is refused with KeyTooLongError by every operation.";
    empty_key_is_refused: "An empty key is refused by every operation.";
    keys_differ_by_case: "Keys that differ by case are different.";
    key_may_continue_another_key:
        "A key and a key that continues it behind a slash are both stored.";
    keys_with_empty_segments_are_distinct:
        "Keys with a leading, trailing or double slash are different from those without.",
        needs [AnyKey];
    keys_with_dot_segments_are_distinct:
        "The segments `.` and `..` are part of the key.", needs [AnyKey];
    key_above_its_root_is_refused:
        "A key whose `..` segments lead above its root is refused by every operation.";
    keys_with_control_characters_are_stored:
        "Keys with control characters are stored.", needs [AnyKey];
    key_with_nul_is_stored: "A key with NUL is stored.", needs [AnyKey];
    unicode_forms_are_distinct: "Unicode forms of one text are different keys.";
    keys_of_any_script_are_stored:
        "Keys with characters of all planes are stored, invisible ones and non-characters among \
         them.";
    percent_signs_are_not_decoded: "Percent signs, plus and space in keys are not decoded.";
    url_characters_are_part_of_keys: "Characters with a meaning in URLs are part of the key.";
    quotes_and_backslashes_are_part_of_keys:
        "Quotes, backslashes, angle brackets and wildcards are part of the key.";
    spaces_at_the_ends_are_part_of_keys: "Spaces at either end of a key are part of it.";
    names_of_devices_and_drives_are_keys:
        "Names that operating systems reserve are keys like others.";
}

/// Writes a blob under each key, and asserts that each is read, listed, copied and deleted as a
/// key of its own.
async fn expect_distinct(ctx: &BlobCtx, keys: &[&str]) {
    for key in keys {
        ctx.put(*key, format!("content of {key}")).await;
    }
    for key in keys {
        ctx.expect_blob(key, format!("content of {key}")).await;
    }
    let mut sorted: Vec<&str> = keys.to_vec();
    sorted.sort_unstable();
    ctx.expect_keys(sorted.iter().copied()).await;
    ctx.expect_keys_in_pages(&sorted).await;
    for key in keys {
        ctx.ok(ctx.blobs().copy(CopyBlob::new(*key, "copy")).await);
        ctx.expect_blob("copy", format!("content of {key}")).await;
    }
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("copy")).await);
    // One half one by one, the other half together.
    let (first, rest) = keys.split_at(keys.len() / 2);
    for key in first {
        ctx.ok(ctx.blobs().delete(DeleteBlob::new(*key)).await);
        ctx.expect_missing(key).await;
    }
    for key in rest {
        ctx.expect_blob(key, format!("content of {key}")).await;
    }
    let output = ctx.ok(ctx.blobs().delete_many(DeleteBlobs::new(rest.iter().copied())).await);
    assert!(output.failed.is_empty(), "{:?}", output.failed);
    ctx.expect_keys([""; 0]).await;
}

impl BlobCtx {
    /// Asserts that pages of one key each have these keys.
    async fn expect_keys_in_pages(&self, sorted: &[&str]) {
        let pages = self.pages(ListBlobs::new().limit(Some(1))).await;
        let keys: Vec<String> =
            pages.into_iter().flat_map(|page| page.blobs).map(|blob| blob.key).collect();
        assert_eq!(keys, sorted, "pages of one key each");
    }
}

async fn key_of_1024_bytes_is_stored(ctx: BlobCtx) {
    let (ascii, wide) = ("k".repeat(1024), "é".repeat(512));
    expect_distinct(&ctx, &[&ascii, &wide, &ascii[1..]]).await;
}

async fn path_of_1024_bytes_is_stored(ctx: BlobCtx) {
    let path = format!("{}end", "segment/".repeat(127)) + "12345";
    assert_eq!(path.len(), 1024);
    expect_distinct(&ctx, &[&path]).await;
}

async fn expect_key_refused(ctx: &BlobCtx, key: &str, code: &'static str) {
    ctx.put("a", "old").await;
    let before = ctx.snapshot().await;
    let blobs = ctx.blobs();
    ctx.expect_code(blobs.put(PutBlob::new(key, "x")).await, code);
    ctx.expect_code(blobs.get(GetBlob::new(key)).await, code);
    ctx.expect_kind_of(blobs.head(HeadBlob::new(key)).await, code);
    ctx.expect_code(blobs.delete(DeleteBlob::new(key)).await, code);
    ctx.expect_code(blobs.copy(CopyBlob::new("a", key)).await, code);
    ctx.expect_code(blobs.copy(CopyBlob::new(key, "b")).await, code);
    if blobs.capabilities().multipart {
        ctx.expect_code(blobs.create_upload(CreateUpload::new(key)).await, code);
    }
    ctx.expect_unchanged(&before).await;
}

async fn key_over_1024_bytes_is_refused(ctx: BlobCtx) {
    for key in ["k".repeat(1025), "é".repeat(512) + "x", "segment/".repeat(200)] {
        expect_key_refused(&ctx, &key, codes::KEY_TOO_LONG).await;
    }
}

async fn empty_key_is_refused(ctx: BlobCtx) {
    expect_key_refused(&ctx, "", codes::INVALID_ARGUMENT).await;
}

async fn keys_differ_by_case(ctx: BlobCtx) {
    expect_distinct(&ctx, &["a", "A", "folder/file", "Folder/file", "folder/FILE", "É", "é"]).await;
}

async fn key_may_continue_another_key(ctx: BlobCtx) {
    expect_distinct(&ctx, &["a", "a/b", "a/b/c", "a-", "ab"]).await;
}

async fn keys_with_empty_segments_are_distinct(ctx: BlobCtx) {
    let keys = ["a", "/a", "//a", "a/", "a//", "b/c", "b//c", "b///c", "/b/c/", "/", "//"];
    expect_distinct(&ctx, &keys).await;
}

async fn keys_with_dot_segments_are_distinct(ctx: BlobCtx) {
    let keys = [
        "b",
        "a/../b",
        "a/./b",
        "a/b",
        "a/b/../b",
        "a/..",
        "a/.",
        ".",
        "./b",
        "a/b/../../b",
        "videos/2014/../../video1.wmv",
        "...",
        ".hidden",
        "a..b",
        "..a",
    ];
    expect_distinct(&ctx, &keys).await;
}

async fn key_above_its_root_is_refused(ctx: BlobCtx) {
    // S3, "Naming Amazon S3 objects": from left to right, a key never has more `..` segments than
    // others. The name is core's: S3 answers with status 400 and none.
    let keys =
        ["..", "../b", "../../b", "a/../../b", "a/../../2014/b", "/../b", "./../b", "a//../../b"];
    for key in keys {
        expect_key_refused(&ctx, key, codes::INVALID_ARGUMENT).await;
    }
    ctx.put("b", "old").await;
    let deleted = ctx.ok(ctx.blobs().delete_many(DeleteBlobs::new(["../b", "b/../../a"])).await);
    let failed: Vec<&str> = deleted.failed.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(failed, ["../b", "b/../../a"]);
    ctx.expect_keys(["a", "b"]).await;
}

async fn keys_with_control_characters_are_stored(ctx: BlobCtx) {
    let keys = ["a\u{1}b", "a\tb", "a\nb", "a\rb", "a\r\nb", "\u{1b}[0m", "\u{7f}", "a\u{85}b"];
    expect_distinct(&ctx, &keys).await;
}

async fn key_with_nul_is_stored(ctx: BlobCtx) {
    expect_distinct(&ctx, &["a", "a\0", "a\0b", "\0", "ab"]).await;
}

async fn unicode_forms_are_distinct(ctx: BlobCtx) {
    let keys = [
        "caf\u{e9}",   // NFC
        "cafe\u{301}", // NFD
        "\u{fb01}n",   // ligature fi
        "fin",
        "\u{ff21}", // fullwidth A
        "A",
        "\u{212b}", // angstrom sign
        "\u{c5}",
        "stra\u{df}e",
        "strasse",
        "\u{3c2}", // final sigma
        "\u{3c3}",
    ];
    expect_distinct(&ctx, &keys).await;
}

async fn keys_of_any_script_are_stored(ctx: BlobCtx) {
    let keys = [
        "写真/猫.jpg",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd}",
        "👍🏽",
        "👩‍👩‍👧",
        "a\u{200b}b", // zero-width space
        "a\u{202e}b", // right-to-left override
        "\u{feff}a",  // byte order mark
        "\u{d7ff}",
        "\u{e000}",
        "\u{fffd}",
        "\u{fffe}",
        "\u{ffff}",
        "\u{10000}",
        "\u{10ffff}",
    ];
    expect_distinct(&ctx, &keys).await;
}

async fn percent_signs_are_not_decoded(ctx: BlobCtx) {
    let keys = [
        "a b", "a+b", "a%20b", "a%2Bb", "a%2520b", "100%", "%", "%zz", "a%2Fb", "a/b", "%00",
        "%C3%A9", "é",
    ];
    expect_distinct(&ctx, &keys).await;
}

async fn url_characters_are_part_of_keys(ctx: BlobCtx) {
    let keys = [
        "a",
        "a?b",
        "a?versionId=1",
        "a?uploads",
        "a#b",
        "a&b=c",
        "a=b",
        "a;b",
        "a:b",
        "a@b",
        "a,b",
        "mailto:a",
        "a!b",
        "a$b",
        "a(b)",
        "a~b",
        "[a]",
    ];
    expect_distinct(&ctx, &keys).await;
}

async fn quotes_and_backslashes_are_part_of_keys(ctx: BlobCtx) {
    let keys = [
        "a\\b",
        "a/b",
        "a\"b",
        "a'b",
        "a`b",
        "<a>",
        "&amp;",
        "&",
        "a|b",
        "a*b",
        "a%b",
        "a_b",
        "axb",
        "{a}",
        "a^b",
        "'; drop table blobs; --",
    ];
    expect_distinct(&ctx, &keys).await;
}

async fn spaces_at_the_ends_are_part_of_keys(ctx: BlobCtx) {
    expect_distinct(&ctx, &["a", " a", "a ", " a ", " ", "  ", "a /b", "a/ b", "a.", "a. "]).await;
}

async fn names_of_devices_and_drives_are_keys(ctx: BlobCtx) {
    expect_distinct(&ctx, &["CON", "nul.txt", "C:a", "aux/com1", "~", "$HOME", ".git/config"])
        .await;
}
