//! Ranges of bytes.

use super::prelude::*;

blob_cases! {
    Ranges;

    range_includes_its_last_byte: "A range from first to last includes both.";
    range_is_clipped_at_the_end: "A range that ends behind the end of the blob is clipped.";
    open_range_reads_to_the_end: "A range without a last byte reads to the end.";
    suffix_range_reads_the_last_bytes: "A range of the last n bytes reads them.";
    long_suffix_reads_the_whole_blob:
        "A range of more last bytes than the blob has reads the whole blob.";
    range_behind_the_end_is_refused:
        "A range that begins at or behind the end fails with InvalidRange.";
    suffix_of_zero_bytes_is_refused: "A range of the last 0 bytes fails with InvalidRange.";
    range_of_empty_blob_is_refused: "Any range of an empty blob fails with InvalidRange.";
    range_describes_the_whole_blob:
        "A get of a range describes the whole blob, and names the range.";
    ranges_of_large_blob_are_exact: "Ranges of a blob of 5 MB are exact.";
}

const BYTES: &[u8] = b"0123456789";

async fn expect_range(ctx: &BlobCtx, range: impl Into<ByteRange>, expected: &str) {
    let range = range.into();
    let (_, positions, bytes) = ctx.get(GetBlob::new("a").range(range)).await;
    assert_eq!(bytes, expected, "{range:?}");
    let length = positions.end - positions.start;
    assert_eq!(length, expected.len() as u64, "{range:?} returns the range {positions:?}");
    assert_eq!(BYTES[positions.start as usize], bytes[0], "{range:?}");
}

async fn expect_invalid(ctx: &BlobCtx, range: impl Into<ByteRange>) {
    let result = ctx.blobs().get(GetBlob::new("a").range(range)).await;
    ctx.expect_code(result, codes::INVALID_RANGE);
}

fn inclusive(first: u64, last: u64) -> ByteRange {
    ByteRange::Inclusive { first, last }
}

async fn range_includes_its_last_byte(ctx: BlobCtx) {
    ctx.put("a", BYTES).await;
    expect_range(&ctx, inclusive(0, 0), "0").await;
    expect_range(&ctx, inclusive(9, 9), "9").await;
    expect_range(&ctx, inclusive(2, 4), "234").await;
    expect_range(&ctx, inclusive(0, 9), "0123456789").await;
    expect_range(&ctx, 2..4, "23").await;
}

async fn range_is_clipped_at_the_end(ctx: BlobCtx) {
    ctx.put("a", BYTES).await;
    expect_range(&ctx, inclusive(8, 10), "89").await;
    expect_range(&ctx, inclusive(0, 1_000_000), "0123456789").await;
    expect_range(&ctx, inclusive(9, i64::MAX as u64), "9").await;
}

async fn open_range_reads_to_the_end(ctx: BlobCtx) {
    ctx.put("a", BYTES).await;
    expect_range(&ctx, ByteRange::From(0), "0123456789").await;
    expect_range(&ctx, ByteRange::From(7), "789").await;
    expect_range(&ctx, ByteRange::From(9), "9").await;
}

async fn suffix_range_reads_the_last_bytes(ctx: BlobCtx) {
    ctx.put("a", BYTES).await;
    expect_range(&ctx, ByteRange::Last(1), "9").await;
    expect_range(&ctx, ByteRange::Last(3), "789").await;
    expect_range(&ctx, ByteRange::Last(10), "0123456789").await;
}

async fn long_suffix_reads_the_whole_blob(ctx: BlobCtx) {
    ctx.put("a", BYTES).await;
    expect_range(&ctx, ByteRange::Last(11), "0123456789").await;
    expect_range(&ctx, ByteRange::Last(1_000_000), "0123456789").await;
}

async fn range_behind_the_end_is_refused(ctx: BlobCtx) {
    ctx.put("a", BYTES).await;
    expect_invalid(&ctx, inclusive(10, 10)).await;
    expect_invalid(&ctx, inclusive(10, 20)).await;
    expect_invalid(&ctx, inclusive(1_000_000, 2_000_000)).await;
    expect_invalid(&ctx, ByteRange::From(10)).await;
    expect_invalid(&ctx, ByteRange::From(1_000_000)).await;
    ctx.expect_blob("a", BYTES).await;
}

async fn suffix_of_zero_bytes_is_refused(ctx: BlobCtx) {
    ctx.put("a", BYTES).await;
    expect_invalid(&ctx, ByteRange::Last(0)).await;
    expect_invalid(&ctx, 3..3).await;
}

async fn range_of_empty_blob_is_refused(ctx: BlobCtx) {
    ctx.put("a", "").await;
    expect_invalid(&ctx, inclusive(0, 0)).await;
    expect_invalid(&ctx, ByteRange::From(0)).await;
    expect_invalid(&ctx, ByteRange::Last(1)).await;
}

async fn range_describes_the_whole_blob(ctx: BlobCtx) {
    ctx.write(PutBlob::new("a", BYTES).content_type("text/plain")).await;
    let head = ctx.info("a").await;
    let part = ctx.ok(ctx.blobs().get(GetBlob::new("a").range(2..5)).await);
    assert!(!part.is_whole(), "{part:?}");
    assert_eq!(part.range, 2..5);
    assert_eq!((part.info.size, &part.info.etag), (10, &head.etag));
    assert_eq!(part.info.headers, head.headers);
    assert_eq!(part.info.last_modified, head.last_modified);
    let whole = ctx.ok(ctx.blobs().get(GetBlob::new("a").range(ByteRange::From(0))).await);
    assert!(whole.is_whole(), "{whole:?}");
}

async fn ranges_of_large_blob_are_exact(ctx: BlobCtx) {
    let bytes = five_mb();
    let length = bytes.len();
    ctx.put("a", bytes.clone()).await;
    // Around the sizes of blocks and buffers, and at both ends.
    for at in [0, 4095, 4096, 65_535, 65_536, 1 << 20, length / 2, length - 7] {
        let range = at as u64..at as u64 + 7;
        let (_, _, part) = ctx.get(GetBlob::new("a").range(range)).await;
        assert_eq!(part, bytes.slice(at..at + 7), "7 bytes at {at}");
    }
    let (_, _, part) = ctx.get(GetBlob::new("a").range(1..length as u64 - 1)).await;
    assert!(part == bytes.slice(1..length - 1), "all bytes but the first and the last");
    let (_, _, part) = ctx.get(GetBlob::new("a").range(ByteRange::Last(3 << 20))).await;
    assert!(part == bytes.slice(length - (3 << 20)..), "the last 3 MB");
}
