//! Listings: order, prefixes, delimiters and pages.

use std::collections::BTreeSet;

use futures::TryStreamExt;

use super::prelude::*;

blob_cases! {
    Listing;

    empty_bucket_lists_nothing: "A listing of an empty bucket is one empty page.";
    keys_are_listed_in_order_of_bytes: "Keys are listed in the order of their UTF-8 bytes.";
    prefix_selects_keys: "A prefix selects the keys that begin with it.";
    prefix_is_no_pattern: "Wildcards and the case of a prefix are compared literally.";
    missing_prefix_lists_nothing: "A prefix that no key has lists nothing.";
    delimiter_groups_keys:
        "A delimiter groups keys to common prefixes up to and including its first occurrence.";
    delimiter_is_searched_behind_the_prefix:
        "A delimiter inside of the prefix does not group.";
    delimiter_may_have_several_characters: "A delimiter of several characters groups keys.";
    unused_delimiter_groups_nothing: "A delimiter that no key has groups nothing.";
    prefixes_and_keys_are_each_in_order: "Common prefixes are in the order of their bytes.";
    pages_of_every_limit_have_all_keys:
        "Pages of every limit have every key once and in order.";
    pages_with_delimiter_have_all_groups:
        "Pages of every limit have every key and common prefix once, and count both.";
    page_has_at_most_limit_entries: "A page has at most as many entries as its limit.";
    last_full_page_has_no_next: "A full page is the last one if nothing follows it.";
    limit_of_zero_lists_nothing: "A limit of 0 lists nothing and has no next page.";
    page_has_at_most_1000_keys: "A page has at most 1000 keys, also with a higher limit.";
    listing_starts_after_a_key:
        "A listing that starts after a key begins with the next one, whether the key exists or not.";
    start_before_the_prefix_lists_all_of_it:
        "A listing that starts after a key before the prefix lists the whole prefix.";
    listing_has_stable_keys_once_while_others_change:
        "Keys that exist during all pages are listed once, while others are written and deleted.";
    list_all_streams_every_page: "`list_all` streams the blobs of all pages.";
}

/// Keys and common prefixes of a page.
fn entries(page: &BlobPage) -> (Vec<&str>, Vec<&str>) {
    let keys = page.blobs.iter().map(|blob| blob.key.as_str()).collect();
    (keys, page.prefixes.iter().map(String::as_str).collect())
}

async fn expect_page(ctx: &BlobCtx, request: ListBlobs, keys: &[&str], prefixes: &[&str]) {
    let text = format!("{request:?}");
    let page = ctx.list(request).await;
    assert_eq!(entries(&page), (keys.to_vec(), prefixes.to_vec()), "{text}");
    assert_eq!(page.next, None, "{text}");
}

async fn empty_bucket_lists_nothing(ctx: BlobCtx) {
    expect_page(&ctx, ListBlobs::new(), &[], &[]).await;
    expect_page(&ctx, ListBlobs::with_prefix("a").delimiter("/"), &[], &[]).await;
}

async fn keys_are_listed_in_order_of_bytes(ctx: BlobCtx) {
    // UTF-16 code units would sort U+1F600 before U+FB01, and a file system `d/x` first or last.
    let sorted = [
        "A",
        "B",
        "_",
        "a",
        "a!",
        "a0",
        "aA",
        "aa",
        "b",
        "d-x",
        "d.x",
        "d/x",
        "d0",
        "~",
        "é",
        "\u{fb01}",
        "\u{1f600}",
    ];
    ctx.put_keys(sorted.iter().rev().copied()).await;
    ctx.expect_keys(sorted).await;
}

async fn prefix_selects_keys(ctx: BlobCtx) {
    ctx.put_keys(["a", "ab", "b", "c/1", "c/2", "é1", "é2"]).await;
    let prefix = ListBlobs::with_prefix;
    expect_page(&ctx, prefix("c/"), &["c/1", "c/2"], &[]).await;
    expect_page(&ctx, prefix("a"), &["a", "ab"], &[]).await;
    // A prefix that is a key by itself.
    expect_page(&ctx, prefix("ab"), &["ab"], &[]).await;
    expect_page(&ctx, prefix("c/1"), &["c/1"], &[]).await;
    expect_page(&ctx, prefix("é"), &["é1", "é2"], &[]).await;
}

async fn prefix_is_no_pattern(ctx: BlobCtx) {
    ctx.put_keys(["a%b", "a*b", "a.b", "a?b", "a_b", "aXb", "axb", "a[x]b"]).await;
    for key in ["a%", "a*", "a.", "a?", "a_", "aX", "ax", "a["] {
        let page = ctx.list(ListBlobs::with_prefix(key)).await;
        assert_eq!(page.blobs.len(), 1, "prefix {key}: {page:?}");
    }
    expect_page(&ctx, ListBlobs::with_prefix("A"), &[], &[]).await;
}

async fn missing_prefix_lists_nothing(ctx: BlobCtx) {
    ctx.put_keys(["a/1", "c/1"]).await;
    for prefix in ["b", "a/1/", "a/10", "\u{10ffff}", "d"] {
        expect_page(&ctx, ListBlobs::with_prefix(prefix), &[], &[]).await;
        expect_page(&ctx, ListBlobs::with_prefix(prefix).delimiter("/"), &[], &[]).await;
    }
}

async fn delimiter_groups_keys(ctx: BlobCtx) {
    ctx.put_keys(["a", "b/1", "b/2/x", "b/2/y", "c/1", "d"]).await;
    let list = || ListBlobs::new().delimiter("/");
    expect_page(&ctx, list(), &["a", "d"], &["b/", "c/"]).await;
    let below = ListBlobs::with_prefix("b/").delimiter("/");
    expect_page(&ctx, below, &["b/1"], &["b/2/"]).await;
}

async fn delimiter_is_searched_behind_the_prefix(ctx: BlobCtx) {
    ctx.put_keys(["a/b/1", "a/b/2", "a/bc/1", "a/bd"]).await;
    let list = |prefix: &str| ListBlobs::with_prefix(prefix).delimiter("/");
    expect_page(&ctx, list("a/b"), &["a/bd"], &["a/b/", "a/bc/"]).await;
    expect_page(&ctx, list("a/b/"), &["a/b/1", "a/b/2"], &[]).await;
    expect_page(&ctx, list("a"), &[], &["a/"]).await;
}

async fn delimiter_may_have_several_characters(ctx: BlobCtx) {
    ctx.put_keys(["a--1", "a--2", "a-b", "b", "c--d--1", "é::1", "é:2"]).await;
    let list = |delimiter: &str| ListBlobs::new().delimiter(delimiter);
    expect_page(&ctx, list("--"), &["a-b", "b", "é:2", "é::1"], &["a--", "c--"]).await;
    expect_page(&ctx, list("::"), &["a--1", "a--2", "a-b", "b", "c--d--1", "é:2"], &["é::"]).await;
    let below = ListBlobs::with_prefix("c--").delimiter("--");
    expect_page(&ctx, below, &[], &["c--d--"]).await;
}

async fn unused_delimiter_groups_nothing(ctx: BlobCtx) {
    ctx.put_keys(["a/1", "b"]).await;
    expect_page(&ctx, ListBlobs::new().delimiter("|"), &["a/1", "b"], &[]).await;
}

async fn prefixes_and_keys_are_each_in_order(ctx: BlobCtx) {
    ctx.put_keys(["B/1", "a/1", "a0", "a-/1", "\u{fb01}/1", "\u{1f600}/1", "z"]).await;
    let prefixes = ["B/", "a-/", "a/", "\u{fb01}/", "\u{1f600}/"];
    expect_page(&ctx, ListBlobs::new().delimiter("/"), &["a0", "z"], &prefixes).await;
}

const TREE: [&str; 9] = ["a", "b/1", "b/2", "b/3", "c", "d/1/x", "d/2/x", "e", "f/1"];

async fn pages_of_every_limit_have_all_keys(ctx: BlobCtx) {
    ctx.put_keys(TREE).await;
    for limit in 1..=TREE.len() + 1 {
        let pages = ctx.pages(ListBlobs::new().limit(Some(limit))).await;
        let keys: Vec<&str> = pages.iter().flat_map(|page| entries(page).0).collect();
        assert_eq!(keys, TREE, "limit {limit}");
        assert_eq!(pages.len(), TREE.len().div_ceil(limit), "limit {limit}");
    }
}

async fn pages_with_delimiter_have_all_groups(ctx: BlobCtx) {
    ctx.put_keys(TREE).await;
    for (prefix, expected) in [
        ("", &["a", "b/", "c", "d/", "e", "f/"][..]),
        ("b/", &["b/1", "b/2", "b/3"]),
        ("d/", &["d/1/", "d/2/"]),
    ] {
        for limit in 1..=expected.len() + 1 {
            let request = ListBlobs::with_prefix(prefix).delimiter("/").limit(Some(limit));
            let pages = ctx.pages(request).await;
            let mut all = Vec::new();
            for page in &pages {
                let (keys, prefixes) = entries(page);
                let both: BTreeSet<&str> = keys.into_iter().chain(prefixes).collect();
                all.extend(both);
            }
            assert_eq!(all, expected, "prefix {prefix:?}, limit {limit}");
        }
    }
}

async fn page_has_at_most_limit_entries(ctx: BlobCtx) {
    ctx.put_keys(TREE).await;
    let page = ctx.list(ListBlobs::new().limit(Some(4))).await;
    assert_eq!(entries(&page).0, ["a", "b/1", "b/2", "b/3"]);
    assert!(page.next.is_some(), "{page:?}");
    let page = ctx.list(ListBlobs::new().delimiter("/").limit(Some(3))).await;
    assert_eq!(entries(&page), (vec!["a", "c"], vec!["b/"]));
    assert!(page.next.is_some(), "{page:?}");
}

async fn last_full_page_has_no_next(ctx: BlobCtx) {
    ctx.put_keys(["a", "b", "c/1", "c/2"]).await;
    let page = ctx.list(ListBlobs::new().limit(Some(4))).await;
    assert_eq!((page.blobs.len(), page.next), (4, None));
    // The last entry is a common prefix with keys behind the last one read.
    let page = ctx.list(ListBlobs::new().delimiter("/").limit(Some(3))).await;
    assert_eq!(entries(&page), (vec!["a", "b"], vec!["c/"]));
    assert_eq!(page.next, None);
}

async fn limit_of_zero_lists_nothing(ctx: BlobCtx) {
    ctx.put_keys(["a", "b/1"]).await;
    expect_page(&ctx, ListBlobs::new().limit(Some(0)), &[], &[]).await;
    expect_page(&ctx, ListBlobs::new().delimiter("/").limit(Some(0)), &[], &[]).await;
}

async fn page_has_at_most_1000_keys(ctx: BlobCtx) {
    let keys: Vec<String> = (0..1001).map(|number| format!("k{number:04}")).collect();
    ctx.put_keys(keys.iter()).await;
    for limit in [None, Some(1000), Some(1001), Some(100_000)] {
        let request = ListBlobs::new().limit(limit);
        let page = ctx.list(request.clone()).await;
        assert_eq!(page.blobs.len(), 1000, "limit {limit:?}");
        let next = ctx.list(request.after(page.next)).await;
        assert_eq!((next.blobs.len(), next.next), (1, None), "limit {limit:?}");
    }
    ctx.expect_keys(keys).await;
}

async fn listing_starts_after_a_key(ctx: BlobCtx) {
    ctx.put_keys(["a", "b", "b-1", "c"]).await;
    for (after, expected) in [
        ("a", &["b", "b-1", "c"][..]),
        ("b", &["b-1", "c"]),
        ("aa", &["b", "b-1", "c"]),
        ("b-", &["b-1", "c"]),
        ("b0", &["c"]),
        ("A", &["a", "b", "b-1", "c"]),
        ("c", &[]),
        ("\u{10ffff}", &[]),
    ] {
        let request = ListBlobs::new().after(Some(after.to_owned()));
        expect_page(&ctx, request, expected, &[]).await;
    }
}

async fn start_before_the_prefix_lists_all_of_it(ctx: BlobCtx) {
    ctx.put_keys(["a", "b/1", "b/2", "c"]).await;
    for (after, expected) in
        [("a", &["b/1", "b/2"][..]), ("b/1", &["b/2"]), ("b/2", &[]), ("c", &[])]
    {
        let request = ListBlobs::with_prefix("b/").after(Some(after.to_owned()));
        expect_page(&ctx, request, expected, &[]).await;
    }
}

async fn listing_has_stable_keys_once_while_others_change(ctx: BlobCtx) {
    let stable: Vec<String> = (0..30).map(|number| format!("k{number:02}")).collect();
    ctx.put_keys(stable.iter()).await;
    ctx.put_keys((0..30).map(|number| format!("k{number:02}-goes"))).await;
    let mut request = ListBlobs::new().limit(Some(7));
    let mut found: Vec<String> = Vec::new();
    for step in 0.. {
        let page = ctx.list(request.clone()).await;
        found.extend(page.blobs.into_iter().map(|blob| blob.key));
        // Before, at and behind the position, the blob at the position among them.
        if let Some(next) = page.next.as_ref().filter(|next| next.ends_with("-goes")) {
            ctx.ok(ctx.blobs().delete(DeleteBlob::new(next)).await);
        }
        ctx.put(format!("a{step}"), "new").await;
        ctx.put(format!("k{:02}-comes", (step * 5) % 30), "new").await;
        ctx.put(&stable[step % 30], "written again").await;
        ctx.ok(ctx.blobs().delete(DeleteBlob::new(format!("k{:02}-goes", 29 - step))).await);
        match page.next {
            Some(next) => request.after = Some(next),
            None => break,
        }
        assert!(step < 29, "the listing does not end");
    }
    assert!(found.is_sorted_by(|one, next| one < next), "out of order or twice: {found:?}");
    let kept: Vec<&String> = found.iter().filter(|key| !key.contains('-')).collect();
    let kept: Vec<&str> =
        kept.into_iter().map(String::as_str).filter(|key| key.starts_with('k')).collect();
    assert_eq!(kept, stable);
}

async fn list_all_streams_every_page(ctx: BlobCtx) {
    ctx.put_keys(TREE).await;
    let request = ListBlobs::with_prefix("b/").limit(Some(2));
    let blobs: Vec<BlobSummary> = ctx.ok(ctx.blobs().list_all(request).try_collect().await);
    let keys: Vec<&str> = blobs.iter().map(|blob| blob.key.as_str()).collect();
    assert_eq!(keys, ["b/1", "b/2", "b/3"]);
}
