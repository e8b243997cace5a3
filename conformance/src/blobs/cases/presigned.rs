//! Validation of presigned URLs; the gateway's tests send them.

use std::time::Duration;

use super::prelude::*;

blob_cases! {
    Presigned;

    expiry_is_1_second_to_7_days:
        "A presigned URL expires after 1 second to 7 days; another expiry is refused.";
    presigned_get_names_method_and_key:
        "A presigned GET has the method, a URL with the key, and the time of its expiry.";
    presigned_put_binds_its_headers:
        "A presigned PUT lists the headers that the client has to send.";
    presigning_sends_nothing: "Presigning neither needs the blob nor writes it.";
    presigned_requests_follow_the_rules_of_puts:
        "Keys, headers, metadata, length and checksum of a presigned URL follow the rules of puts.";
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn expiry_is_1_second_to_7_days(ctx: BlobCtx) {
    let presign = ctx.presign();
    for expiry in [
        Duration::ZERO,
        Duration::from_millis(999),
        7 * DAY + Duration::from_millis(1),
        7 * DAY + Duration::from_secs(1),
        365 * DAY,
    ] {
        let result = presign.presign_get(PresignGet::new("a", expiry)).await;
        ctx.expect_code(result, codes::INVALID_ARGUMENT);
        let result = presign.presign_put(PresignPut::new("a", expiry)).await;
        ctx.expect_code(result, codes::INVALID_ARGUMENT);
    }
    for expiry in [Duration::from_secs(1), Duration::from_secs(900), 7 * DAY] {
        let earliest = ctx.now().as_secs() + expiry.as_secs();
        for request in [
            ctx.ok(presign.presign_get(PresignGet::new("a", expiry)).await),
            ctx.ok(presign.presign_put(PresignPut::new("a", expiry)).await),
        ] {
            let latest = ctx.now().as_secs() + expiry.as_secs();
            let expires = request.expires.as_secs();
            assert!((earliest..=latest).contains(&expires), "{expiry:?}: {request:?}");
        }
    }
}

async fn presigned_get_names_method_and_key(ctx: BlobCtx) {
    let request = PresignGet::new("folder/photo.png", DAY);
    let signed = ctx.ok(ctx.presign().presign_get(request).await);
    assert_eq!((signed.method, &signed.headers), ("GET", &Vec::new()));
    let (path, query) = signed.url.split_once('?').expect("a query");
    assert!(path.starts_with("http") && path.ends_with("/folder/photo.png"), "{signed:?}");
    for name in ["X-Amz-Signature=", "X-Amz-Expires=86400", "X-Amz-SignedHeaders=host"] {
        assert!(query.contains(name), "no {name} in {signed:?}");
    }
}

async fn presigned_put_binds_its_headers(ctx: BlobCtx) {
    let checksum = Checksum::of(ChecksumAlgorithm::Sha256, b"abc");
    let mut request = PresignPut::new("a", DAY)
        .content_type("image/png")
        .length(Some(3))
        .checksum(Some(checksum.clone()))
        .if_absent();
    request.metadata.insert("page".to_owned(), "2".to_owned());
    let signed = ctx.ok(ctx.presign().presign_put(request).await);
    assert_eq!(signed.method, "PUT");
    let expected = [
        ("content-length", "3"),
        ("content-type", "image/png"),
        ("if-none-match", "*"),
        ("x-amz-checksum-sha256", &checksum.encoded()),
        ("x-amz-meta-page", "2"),
    ];
    for (name, value) in expected {
        let found = signed.headers.iter().find(|header| header.0 == name);
        assert_eq!(found.map(|header| header.1.as_str()), Some(value), "{name}");
    }
}

async fn presigning_sends_nothing(ctx: BlobCtx) {
    let before = ctx.snapshot().await;
    ctx.ok(ctx.presign().presign_get(PresignGet::new("missing", DAY)).await);
    ctx.ok(ctx.presign().presign_put(PresignPut::new("missing", DAY)).await);
    ctx.expect_unchanged(&before).await;
}

async fn presigned_requests_follow_the_rules_of_puts(ctx: BlobCtx) {
    let presign = ctx.presign();
    let long = "k".repeat(1025);
    for (key, code) in [
        (long.as_str(), codes::KEY_TOO_LONG),
        ("", codes::INVALID_ARGUMENT),
        ("a/../../b", codes::INVALID_ARGUMENT),
    ] {
        ctx.expect_code(presign.presign_get(PresignGet::new(key, DAY)).await, code);
        ctx.expect_code(presign.presign_put(PresignPut::new(key, DAY)).await, code);
    }
    let put = || PresignPut::new("a", DAY);
    let composite = ctx.ok(Checksum::decode(ChecksumAlgorithm::Crc32, "AAAAAA==-2"));
    let mut metadata = put();
    metadata.metadata.insert("a".to_owned(), "x".repeat(2048));
    for (request, code) in [
        (put().content_type("line\n"), codes::INVALID_ARGUMENT),
        (metadata, codes::METADATA_TOO_LARGE),
        (put().length(Some((5 << 30) + 1)), codes::ENTITY_TOO_LARGE),
        (put().checksum(Some(composite)), codes::INVALID_ARGUMENT),
    ] {
        ctx.expect_code(presign.presign_put(request).await, code);
    }
}
