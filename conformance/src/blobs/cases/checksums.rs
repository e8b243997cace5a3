//! Checksums that are expected, computed and stored.

use super::prelude::*;

blob_cases! {
    Checksums;

    stored_checksum_is_sha256_by_default:
        "A put stores the SHA-256 of the bytes.", needs [StoredChecksums];
    chosen_checksum_is_stored:
        "A put stores the checksum of the chosen algorithm, and put, head and get return it.",
        needs [StoredChecksums];
    expected_checksum_is_stored:
        "A put stores the checksum that it expects, in place of the chosen algorithm.",
        needs [StoredChecksums];
    expected_md5_is_not_stored:
        "A put that expects an MD5 stores a checksum of the chosen algorithm.",
        needs [StoredChecksums];
    checksum_of_stream_is_stored:
        "A put of a stream verifies and stores the checksum of all its pieces.",
        needs [StoredChecksums];
    right_checksums_are_accepted: "A put with right checksums of every algorithm succeeds.";
    put_with_wrong_checksum_is_refused:
        "A put with a wrong checksum fails with BadDigest and writes nothing.";
    put_with_wrong_md5_is_refused: "A put with a wrong MD5 fails with BadDigest and writes nothing.";
    each_expected_checksum_is_verified:
        "Of several expected checksums, each one that is wrong fails the put.";
    md5_cannot_be_chosen: "MD5 as the algorithm of the stored checksum is refused.";
    composite_checksum_of_put_is_refused: "A composite checksum of a put is refused.";
}

const BYTES: &[u8] = b"some bytes";

/// Algorithms whose checksums can be stored.
const STORED: [ChecksumAlgorithm; 5] = [
    ChecksumAlgorithm::Sha256,
    ChecksumAlgorithm::Sha1,
    ChecksumAlgorithm::Crc32,
    ChecksumAlgorithm::Crc32c,
    ChecksumAlgorithm::Crc64Nvme,
];

async fn expect_stored(ctx: &BlobCtx, put: PutBlob, expected: &Checksum) {
    let key = put.key.clone();
    let output = ctx.write(put).await;
    assert_eq!(output.checksum.as_ref(), Some(expected), "output of the put");
    assert_eq!(ctx.info(&key).await.checksum.as_ref(), Some(expected), "head");
    let (info, _, _) = ctx.get(GetBlob::new(&key)).await;
    assert_eq!(info.checksum.as_ref(), Some(expected), "get");
}

async fn stored_checksum_is_sha256_by_default(ctx: BlobCtx) {
    for bytes in [BYTES, b""] {
        let expected = Checksum::of(ChecksumAlgorithm::Sha256, bytes);
        expect_stored(&ctx, PutBlob::new("a", bytes), &expected).await;
    }
}

async fn chosen_checksum_is_stored(ctx: BlobCtx) {
    for algorithm in STORED {
        let put = PutBlob::new(algorithm.as_str(), BYTES).checksum_algorithm(algorithm);
        expect_stored(&ctx, put, &Checksum::of(algorithm, BYTES)).await;
    }
}

async fn expected_checksum_is_stored(ctx: BlobCtx) {
    for algorithm in STORED {
        let expected = Checksum::of(algorithm, BYTES);
        let put = PutBlob::new(algorithm.as_str(), BYTES).expect(expected.clone());
        expect_stored(&ctx, put, &expected).await;
    }
}

async fn expected_md5_is_not_stored(ctx: BlobCtx) {
    let md5 = Checksum::of(ChecksumAlgorithm::Md5, BYTES);
    let put = PutBlob::new("a", BYTES).expect(md5.clone());
    expect_stored(&ctx, put, &Checksum::of(ChecksumAlgorithm::Sha256, BYTES)).await;
    let put = PutBlob::new("b", BYTES).expect(md5).checksum_algorithm(ChecksumAlgorithm::Crc64Nvme);
    expect_stored(&ctx, put, &Checksum::of(ChecksumAlgorithm::Crc64Nvme, BYTES)).await;
}

async fn checksum_of_stream_is_stored(ctx: BlobCtx) {
    let expected = Checksum::of(ChecksumAlgorithm::Sha256, b"one two");
    let put = PutBlob::new("a", stream_of(7, &["one", " ", "two"]));
    expect_stored(&ctx, put, &expected).await;
    let put = PutBlob::new("b", stream_of(7, &["one", " ", "two"])).expect(expected.clone());
    expect_stored(&ctx, put, &expected).await;
}

async fn right_checksums_are_accepted(ctx: BlobCtx) {
    for algorithm in ChecksumAlgorithm::ALL {
        let key = algorithm.as_str();
        ctx.write(PutBlob::new(key, BYTES).expect(Checksum::of(algorithm, BYTES))).await;
        ctx.expect_blob(key, BYTES).await;
    }
}

async fn expect_refused(ctx: &BlobCtx, algorithms: &[ChecksumAlgorithm]) {
    ctx.put("present", "old").await;
    let before = ctx.snapshot().await;
    for algorithm in algorithms {
        let wrong = Checksum::of(*algorithm, b"other bytes");
        for key in ["present", "missing"] {
            let put = PutBlob::new(key, BYTES).expect(wrong.clone());
            ctx.expect_code(ctx.blobs().put(put).await, codes::BAD_DIGEST);
            let stream = stream_of(10, &["some ", "bytes"]);
            let put = PutBlob::new(key, stream).expect(wrong.clone());
            ctx.expect_code(ctx.blobs().put(put).await, codes::BAD_DIGEST);
        }
    }
    ctx.expect_unchanged(&before).await;
}

async fn put_with_wrong_checksum_is_refused(ctx: BlobCtx) {
    expect_refused(&ctx, &STORED).await;
}

async fn put_with_wrong_md5_is_refused(ctx: BlobCtx) {
    expect_refused(&ctx, &[ChecksumAlgorithm::Md5]).await;
}

async fn each_expected_checksum_is_verified(ctx: BlobCtx) {
    let (md5, sha) = (ChecksumAlgorithm::Md5, ChecksumAlgorithm::Sha256);
    let before = ctx.snapshot().await;
    for (right, wrong) in [(md5, sha), (sha, md5)] {
        let right = Checksum::of(right, BYTES);
        let wrong = Checksum::of(wrong, b"other bytes");
        for both in [[right.clone(), wrong.clone()], [wrong, right]] {
            let put = both.into_iter().fold(PutBlob::new("a", BYTES), PutBlob::expect);
            ctx.expect_code(ctx.blobs().put(put).await, codes::BAD_DIGEST);
        }
    }
    ctx.expect_unchanged(&before).await;
    let both = [md5, sha].map(|algorithm| Checksum::of(algorithm, BYTES));
    ctx.write(both.into_iter().fold(PutBlob::new("a", BYTES), PutBlob::expect)).await;
    ctx.expect_blob("a", BYTES).await;
}

async fn md5_cannot_be_chosen(ctx: BlobCtx) {
    let put = PutBlob::new("a", BYTES).checksum_algorithm(ChecksumAlgorithm::Md5);
    ctx.expect_code(ctx.blobs().put(put).await, codes::INVALID_ARGUMENT);
    ctx.expect_missing("a").await;
}

async fn composite_checksum_of_put_is_refused(ctx: BlobCtx) {
    let algorithm = ChecksumAlgorithm::Sha256;
    let text = format!("{}-1", Checksum::of(algorithm, BYTES).encoded());
    let composite = ctx.ok(Checksum::decode(algorithm, &text));
    let put = PutBlob::new("a", BYTES).expect(composite);
    ctx.expect_code(ctx.blobs().put(put).await, codes::INVALID_ARGUMENT);
    ctx.expect_missing("a").await;
}
