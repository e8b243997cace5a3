//! Lists of parts and of uploads in progress.

use std::time::Duration;

use super::super::prelude::*;

pub(super) async fn parts_are_listed_in_pages(ctx: BlobCtx) {
    let upload = ctx.upload("a").await;
    let numbers = [1, 2, 5, 77, 10_000];
    for number in numbers.iter().rev() {
        ctx.part("a", &upload, *number, format!("part {number}")).await;
    }
    for limit in 1..=numbers.len() + 1 {
        let mut request = ListParts::new("a", &upload).limit(Some(limit));
        let mut found = Vec::new();
        for _ in 0..=numbers.len() {
            let page = ctx.ok(ctx.blobs().list_parts(request.clone()).await);
            assert!(page.parts.len() <= limit, "limit {limit}: {page:?}");
            found.extend(page.parts.iter().map(|part| part.number));
            match page.next {
                Some(next) => request.after = next,
                None => break,
            }
        }
        assert_eq!(found, numbers, "limit {limit}");
    }
    let page = ctx.ok(ctx.blobs().list_parts(ListParts::new("a", &upload).after(5)).await);
    let behind: Vec<u32> = page.parts.iter().map(|part| part.number).collect();
    assert_eq!((behind, page.next), (vec![77, 10_000], None));
}

pub(super) async fn uploads_are_listed_in_pages(ctx: BlobCtx) {
    let mut expected = Vec::new();
    for key in ["b", "a", "é", "b", "a/1", "B"] {
        expected.push((key.to_owned(), ctx.upload(key).await));
    }
    // Uploads of one key have no order here: they may have begun in the same second.
    expected.sort();
    for limit in 1..=expected.len() + 1 {
        let mut request = ListUploads::new().limit(Some(limit));
        let mut found = Vec::new();
        for _ in 0..=expected.len() {
            let page = ctx.ok(ctx.blobs().list_uploads(request.clone()).await);
            assert!(page.uploads.len() <= limit, "limit {limit}: {page:?}");
            found.extend(page.uploads.into_iter().map(|upload| (upload.key, upload.upload)));
            match page.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
        let keys: Vec<String> = found.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(keys, ["B", "a", "a/1", "b", "b", "é"], "limit {limit}");
        found.sort();
        assert_eq!(found, expected, "limit {limit}");
    }
}

pub(super) async fn uploads_of_one_key_are_listed_by_start(ctx: BlobCtx) {
    let mut expected = Vec::new();
    for _ in 0..5 {
        ctx.clock().advance(Duration::from_secs(10));
        expected.push((ctx.upload("a").await, ctx.now().as_secs()));
    }
    let found: Vec<(String, u64)> = ctx
        .uploads()
        .await
        .into_iter()
        .map(|upload| (upload.upload, upload.created.as_secs()))
        .collect();
    assert_eq!(found, expected);
    let mut request = ListUploads::new().limit(Some(2));
    let mut ids = Vec::new();
    for _ in 0..3 {
        let page = ctx.ok(ctx.blobs().list_uploads(request.clone()).await);
        ids.extend(page.uploads.into_iter().map(|upload| upload.upload));
        request.after = page.next;
    }
    assert_eq!(request.after, None);
    assert_eq!(ids, expected.into_iter().map(|(id, _)| id).collect::<Vec<_>>());
}

pub(super) async fn uploads_are_listed_by_prefix(ctx: BlobCtx) {
    for key in ["a", "b/1", "b/2", "b%", "c"] {
        ctx.upload(key).await;
    }
    for (prefix, expected) in
        [("b/", &["b/1", "b/2"][..]), ("b", &["b%", "b/1", "b/2"]), ("d", &[]), ("b%", &["b%"])]
    {
        let request = ListUploads::new().prefix(prefix.to_owned());
        let page = ctx.ok(ctx.blobs().list_uploads(request).await);
        let keys: Vec<&str> = page.uploads.iter().map(|upload| upload.key.as_str()).collect();
        assert_eq!(keys, expected, "prefix {prefix}");
        assert_eq!(page.next, None, "prefix {prefix}");
    }
}
