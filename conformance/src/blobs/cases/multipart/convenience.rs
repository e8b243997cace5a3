//! [`BlobsExt::upload`]: streams of any length.

use std::sync::{Arc, Mutex, PoisonError};

use futures::{StreamExt, stream};

use super::super::prelude::*;

/// Pieces of these bytes as a stream.
fn pieces(bytes: &Bytes, length: usize) -> Vec<Result<Bytes>> {
    (0..bytes.len())
        .step_by(length)
        .map(|start| Ok(bytes.slice(start..bytes.len().min(start + length))))
        .collect()
}

fn upload(key: &str) -> Upload {
    Upload::new(key).part_bytes(5 << 20).concurrency(2)
}

pub(super) async fn stream_is_uploaded_in_parts_with_progress(ctx: BlobCtx) {
    let bytes = pattern(11 << 20);
    let reported = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reported);
    let request = upload("a")
        .create(CreateUpload::new("a").headers(BlobHeaders::of_type("video/mp4")))
        .progress(move |stored| {
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(stored);
        });
    let content = stream::iter(pieces(&bytes, 1_000_003)).boxed();
    let output = ctx.ok(ctx.blobs().upload(request, content).await);
    ctx.expect_blob("a", &bytes).await;
    let info = ctx.info("a").await;
    assert_eq!(output.etag, info.etag);
    assert_eq!(info.headers.content_type(), "video/mp4");
    if ctx.blobs().capabilities().stored_checksums {
        let expected = Checksum::of(ChecksumAlgorithm::Crc64Nvme, &bytes);
        assert_eq!(info.checksum, Some(expected));
    }
    let reported = reported.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert_eq!(reported.len(), 3, "{reported:?}");
    assert!(reported.is_sorted(), "{reported:?}");
    assert_eq!(reported.last(), Some(&(11 << 20)));
    assert_eq!(ctx.uploads().await, []);
}

pub(super) async fn short_stream_is_uploaded_as_put(ctx: BlobCtx) {
    for (key, bytes) in [("short", pattern(1000)), ("empty", Bytes::new())] {
        let content = stream::iter(pieces(&bytes, 7)).boxed();
        ctx.ok(ctx.blobs().upload(upload(key), content).await);
        ctx.expect_blob(key, &bytes).await;
    }
    assert_eq!(ctx.uploads().await, []);
}

pub(super) async fn failed_stream_aborts_the_upload(ctx: BlobCtx) {
    ctx.put("present", "old").await;
    let before = ctx.snapshot().await;
    for key in ["present", "missing"] {
        // The first part is complete when the stream fails.
        let mut content = pieces(&five_mb(), 1 << 20);
        content.extend(pieces(&pattern(1000), 1000));
        content.push(Err(Error::validation("the source has ended").with_code("SourceEnded")));
        let result = ctx.blobs().upload(upload(key), stream::iter(content).boxed()).await;
        ctx.expect_code(result, "SourceEnded");
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn upload_with_failed_condition_is_aborted(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    let before = ctx.snapshot().await;
    for bytes in [five_mb(), pattern(1000)] {
        let content = stream::iter(pieces(&bytes, 1 << 20)).boxed();
        let request = upload("a").condition(WriteCondition::IfAbsent);
        let result = ctx.blobs().upload(request, content).await;
        ctx.expect_code(result, codes::PRECONDITION_FAILED);
    }
    ctx.expect_unchanged(&before).await;
}
