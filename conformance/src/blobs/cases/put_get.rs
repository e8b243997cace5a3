//! Puts and gets of bytes and streams.

use std::time::Duration;

use futures::future::{Either, select};
use futures::{StreamExt, stream};

use super::prelude::*;

blob_cases! {
    PutGet;

    get_returns_bytes_of_put: "A get returns the bytes of the put.";
    missing_blob_is_not_found: "Get and head of a missing blob fail with NoSuchKey.";
    blob_may_be_empty: "A blob of zero bytes is stored and read.";
    put_of_stream_stores_all_pieces: "A put of a stream stores all its pieces.";
    put_of_empty_stream_stores_empty_blob: "A put of an empty stream stores a blob of zero bytes.";
    blob_of_5_mb_is_read_whole: "A blob of 5 MB is read whole.";
    put_replaces_content_and_headers:
        "A put replaces content, headers and metadata of a blob together.", needs [Metadata];
    put_describes_what_head_describes:
        "The output of a put agrees with head, get and listing on ETag, size and version.";
    etag_changes_with_content: "Other content has another ETag.";
    put_of_shorter_stream_writes_nothing:
        "A put whose stream is shorter than announced fails with IncompleteBody and leaves the old \
         blob.";
    put_of_longer_stream_writes_nothing:
        "A put whose stream is longer than announced fails with IncompleteBody and leaves the old \
         blob.";
    put_of_failing_stream_writes_nothing:
        "A put whose stream fails returns that error and leaves the old blob.";
    dropped_put_leaves_old_blob:
        "A put that is dropped in the middle of its stream leaves the old blob.";
    read_is_of_one_version:
        "A stream that is being read is of one version, also if the blob is replaced or deleted.";
    last_modified_is_time_of_write: "The time of a blob is that of its last write.", needs [Clock];
    convenience_reads_return_none_for_missing_blob:
        "`read` and `info` return none for a missing blob.";
}

async fn get_returns_bytes_of_put(ctx: BlobCtx) {
    let all: Vec<u8> = (0..=255).collect();
    ctx.put("bytes", all.clone()).await;
    ctx.put("text", "größer").await;
    ctx.expect_blob("bytes", &all).await;
    ctx.expect_blob("text", "größer").await;
    let (info, range, bytes) = ctx.get(GetBlob::new("bytes")).await;
    assert_eq!((info.size, range, bytes.len()), (256, 0..256, 256));
}

async fn missing_blob_is_not_found(ctx: BlobCtx) {
    ctx.put("present", "x").await;
    ctx.expect_missing("missing").await;
    // Names that begin like that of a present blob, and the other way round.
    ctx.expect_missing("presen").await;
    ctx.expect_missing("present2").await;
    ctx.expect_keys(["present"]).await;
}

async fn blob_may_be_empty(ctx: BlobCtx) {
    ctx.put("empty", "").await;
    ctx.expect_blob("empty", "").await;
    let (info, range, _) = ctx.get(GetBlob::new("empty")).await;
    assert_eq!((info.size, range), (0, 0..0));
    ctx.put("empty", "no more").await;
    ctx.expect_blob("empty", "no more").await;
    ctx.put("empty", "").await;
    ctx.expect_blob("empty", "").await;
}

async fn put_of_stream_stores_all_pieces(ctx: BlobCtx) {
    ctx.put("stream", stream_of(11, &["one", "", "two", "three"])).await;
    ctx.expect_blob("stream", "onetwothree").await;
}

async fn put_of_empty_stream_stores_empty_blob(ctx: BlobCtx) {
    ctx.put("stream", stream_of(0, &[])).await;
    ctx.expect_blob("stream", "").await;
    ctx.put("pieces", stream_of(0, &["", ""])).await;
    ctx.expect_blob("pieces", "").await;
}

async fn blob_of_5_mb_is_read_whole(ctx: BlobCtx) {
    let bytes = five_mb();
    ctx.put("bytes", bytes.clone()).await;
    ctx.expect_blob("bytes", &bytes).await;
    // Pieces of a length that no power of two divides.
    let pieces: Vec<Result<Bytes>> = (0..bytes.len())
        .step_by(99_999)
        .map(|start| Ok(bytes.slice(start..bytes.len().min(start + 99_999))))
        .collect();
    ctx.put("stream", Body::stream(bytes.len() as u64, stream::iter(pieces))).await;
    ctx.expect_blob("stream", &bytes).await;
}

async fn put_replaces_content_and_headers(ctx: BlobCtx) {
    let mut headers = BlobHeaders::of_type("text/plain");
    headers.cache_control = Some("max-age=60".to_owned());
    ctx.write(PutBlob::new("a", "old").headers(headers).metadata("only-old", "1")).await;
    ctx.write(PutBlob::new("a", "newer").metadata("only-new", "2")).await;
    let (info, _, bytes) = ctx.get(GetBlob::new("a")).await;
    assert_eq!(bytes, "newer");
    assert_eq!(info.headers.content_type(), BlobHeaders::DEFAULT_CONTENT_TYPE);
    assert_eq!(info.headers.cache_control, None);
    let metadata = [("only-new".to_owned(), "2".to_owned())].into();
    assert_eq!(info.metadata, metadata);
    ctx.expect_blob("a", "newer").await;
}

async fn put_describes_what_head_describes(ctx: BlobCtx) {
    let output = ctx.put("a", "abc").await;
    let (got, _, _) = ctx.get(GetBlob::new("a")).await;
    let head = ctx.info("a").await;
    assert_eq!(got, head);
    assert_eq!((&output.etag, &output.version), (&head.etag, &head.version));
    assert_eq!(output.checksum, head.checksum);
    assert_eq!((head.key.as_str(), head.size), ("a", 3));
    assert!(!head.etag.is_empty() && !head.etag.contains('"'), "{head:?}");
    let page = ctx.list(ListBlobs::new()).await;
    assert_eq!(page.blobs.len(), 1);
    let listed = &page.blobs[0];
    assert_eq!((&listed.key, listed.size, &listed.etag), (&head.key, head.size, &head.etag));
    // A listing may be more exact than a header, which has seconds.
    assert_eq!(listed.last_modified.as_secs(), head.last_modified.as_secs());
}

async fn etag_changes_with_content(ctx: BlobCtx) {
    let first = ctx.put("a", "one").await.etag;
    let second = ctx.put("a", "two").await.etag;
    assert_ne!(first, second, "ETags of other content under one key");
    assert_eq!(ctx.info("a").await.etag, second);
    let other = ctx.put("b", "").await.etag;
    assert!(other != first && other != second, "ETags of other content under other keys");
}

/// Asserts that this body fails with `IncompleteBody`, on a present and on a missing key.
async fn expect_incomplete(ctx: &BlobCtx, body: fn() -> Body) {
    ctx.put("present", "old").await;
    let before = ctx.snapshot().await;
    for key in ["present", "missing"] {
        let result = ctx.blobs().put(PutBlob::new(key, body())).await;
        ctx.expect_code(result, codes::INCOMPLETE_BODY);
    }
    ctx.expect_unchanged(&before).await;
}

async fn put_of_shorter_stream_writes_nothing(ctx: BlobCtx) {
    expect_incomplete(&ctx, || stream_of(7, &["one", "two"])).await;
    expect_incomplete(&ctx, || stream_of(1, &[])).await;
}

async fn put_of_longer_stream_writes_nothing(ctx: BlobCtx) {
    expect_incomplete(&ctx, || stream_of(5, &["one", "two"])).await;
    expect_incomplete(&ctx, || stream_of(3, &["one", "two"])).await;
    expect_incomplete(&ctx, || stream_of(0, &["x"])).await;
}

async fn put_of_failing_stream_writes_nothing(ctx: BlobCtx) {
    ctx.put("present", "old").await;
    let before = ctx.snapshot().await;
    for key in ["present", "missing"] {
        let failure = Error::validation("the source has ended").with_code("SourceEnded");
        let pieces = [Ok(Bytes::from_static(b"abc")), Err(failure)];
        let body = Body::stream(6, stream::iter(pieces));
        let result = ctx.blobs().put(PutBlob::new(key, body)).await;
        ctx.expect_code(result, "SourceEnded");
    }
    ctx.expect_unchanged(&before).await;
}

async fn dropped_put_leaves_old_blob(ctx: BlobCtx) {
    ctx.put("present", "old").await;
    let before = ctx.snapshot().await;
    for key in ["present", "missing"] {
        let pieces = stream::iter([Ok(Bytes::from_static(b"abc"))]).chain(stream::pending());
        let blobs = ctx.shared();
        let put = blobs.put(PutBlob::new(key, Body::stream(6, pieces)));
        let turns = Box::pin(async {
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
        });
        match select(put, turns).await {
            Either::Left((ended, _)) => panic!("a put has ended before its stream: {ended:?}"),
            Either::Right(((), dropped)) => drop(dropped),
        }
    }
    ctx.expect_unchanged(&before).await;
}

async fn read_is_of_one_version(ctx: BlobCtx) {
    let old = five_mb();
    ctx.put("a", old.clone()).await;
    let reads = [ctx.ok(ctx.blobs().get(GetBlob::new("a")).await), {
        let begun = ctx.ok(ctx.blobs().get(GetBlob::new("a")).await);
        let (info, range) = (begun.info, begun.range);
        let mut body = begun.body;
        let first = ctx.ok(body.next().await.expect("a first piece"));
        let rest = stream::iter([Ok(first)]).chain(body);
        GetBlobOutput::new(info, range, BlobStream::new(rest))
    }];
    ctx.put("a", "new").await;
    for read in reads {
        assert!(ctx.ok(read.body.collect().await) == old, "a read begun before the put changed");
    }
    let read = ctx.ok(ctx.blobs().get(GetBlob::new("a")).await);
    ctx.ok(ctx.blobs().delete(DeleteBlob::new("a")).await);
    assert_eq!(ctx.ok(read.body.collect().await), "new");
    ctx.expect_missing("a").await;
}

async fn last_modified_is_time_of_write(ctx: BlobCtx) {
    for key in ["a", "a", "b"] {
        ctx.clock().advance(Duration::from_secs(90));
        let output = ctx.put(key, "x").await;
        let head = ctx.info(key).await;
        assert_eq!(head.last_modified.as_secs(), ctx.now().as_secs(), "{key}");
        if let Some(time) = output.last_modified {
            assert_eq!(time, head.last_modified, "{key}");
        }
    }
    let (a, b) = (ctx.info("a").await, ctx.info("b").await);
    assert_eq!(b.last_modified.since(a.last_modified).as_secs(), 90);
}

async fn convenience_reads_return_none_for_missing_blob(ctx: BlobCtx) {
    ctx.put("a", "x").await;
    assert_eq!(ctx.ok(ctx.blobs().read("a").await).as_deref(), Some(&b"x"[..]));
    assert_eq!(ctx.ok(ctx.blobs().read("b").await), None);
    assert_eq!(ctx.ok(ctx.blobs().info("a").await).map(|info| info.size), Some(1));
    assert_eq!(ctx.ok(ctx.blobs().info("b").await), None);
}
