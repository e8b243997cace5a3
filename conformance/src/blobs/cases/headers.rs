//! Headers and user metadata.

use std::collections::BTreeMap;

use super::prelude::*;

blob_cases! {
    Headers;

    content_type_is_returned: "The content type of a put is returned.";
    content_type_defaults_to_octet_stream:
        "A blob without a content type has the type binary/octet-stream.";
    every_header_is_returned:
        "Content type, cache control, disposition, encoding and language are returned.",
        needs [Metadata];
    encoded_content_is_returned_as_stored:
        "Content with a content encoding is returned as it was stored.", needs [Metadata];
    metadata_is_returned: "User metadata is returned by head and get.", needs [Metadata];
    metadata_may_have_2_kb:
        "User metadata of 2048 bytes, names and values together, is stored.", needs [Metadata];
    metadata_over_2_kb_is_refused:
        "User metadata of more than 2048 bytes is refused with MetadataTooLarge.",
        needs [Metadata];
    invalid_metadata_name_is_refused:
        "A metadata name of other characters than a-z, 0-9, `-`, `_` and `.` is refused.",
        needs [Metadata];
    invalid_metadata_value_is_refused:
        "A metadata value that is not printable ASCII is refused.", needs [Metadata];
    invalid_header_value_is_refused:
        "A header value that is not printable ASCII is refused.", needs [Metadata];
    upload_has_headers_of_its_begin:
        "A multipart upload has the headers and metadata of its begin.",
        needs [Metadata, Multipart];
}

/// One value for each header.
fn all_headers() -> BlobHeaders {
    let mut headers = BlobHeaders::of_type("text/plain; charset=utf-8");
    headers.cache_control = Some("max-age=3600, public".to_owned());
    headers.content_disposition = Some("attachment; filename=\"a b.pdf\"".to_owned());
    headers.content_encoding = Some("gzip".to_owned());
    headers.content_language = Some("es-MX, en".to_owned());
    headers
}

async fn content_type_is_returned(ctx: BlobCtx) {
    for content_type in ["image/png", "application/vnd.api+json; charset=utf-8"] {
        ctx.write(PutBlob::new("a", "x").content_type(content_type)).await;
        assert_eq!(ctx.info("a").await.headers.content_type(), content_type);
    }
    ctx.expect_blob("a", "x").await;
}

async fn content_type_defaults_to_octet_stream(ctx: BlobCtx) {
    // A name with an extension must not decide.
    ctx.put("a.png", "x").await;
    let headers = ctx.info("a.png").await.headers;
    assert_eq!(headers.content_type(), "binary/octet-stream");
    assert_eq!(headers.cache_control, None);
    assert_eq!(headers.content_disposition, None);
    assert_eq!(headers.content_encoding, None);
    assert_eq!(headers.content_language, None);
}

async fn every_header_is_returned(ctx: BlobCtx) {
    ctx.write(PutBlob::new("a", "x").headers(all_headers())).await;
    assert_eq!(ctx.info("a").await.headers, all_headers());
    assert_eq!(ctx.get(GetBlob::new("a")).await.0.headers, all_headers());
    let part = ctx.get(GetBlob::new("a").range(0..1)).await.0;
    assert_eq!(part.headers, all_headers());
}

async fn encoded_content_is_returned_as_stored(ctx: BlobCtx) {
    // The header of gzip, and no valid body: nothing must decode it.
    let bytes: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3];
    let mut headers = BlobHeaders::default();
    headers.content_encoding = Some("gzip".to_owned());
    ctx.write(PutBlob::new("a.gz", bytes.to_vec()).headers(headers)).await;
    ctx.expect_blob("a.gz", bytes).await;
}

async fn metadata_is_returned(ctx: BlobCtx) {
    let pairs = [
        ("plain", "value"),
        ("with-hyphen", "1"),
        ("with_underscore", "2"),
        ("with.dot", "3"),
        ("0", "digit"),
        ("punctuation", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
        ("inner-space", "two  words"),
        ("percent", "caf%C3%A9"),
    ];
    let put = PutBlob::new("a", "x");
    let put = pairs.iter().fold(put, |put, (name, value)| put.metadata(*name, *value));
    ctx.write(put).await;
    let expected: BTreeMap<String, String> =
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    assert_eq!(ctx.info("a").await.metadata, expected);
    assert_eq!(ctx.get(GetBlob::new("a")).await.0.metadata, expected);
}

/// Put whose metadata has this many bytes, in several names.
fn put_with_metadata_of(bytes: usize) -> PutBlob {
    let put = PutBlob::new("a", "new").metadata("first", "x".repeat(1000));
    put.metadata("second", "y".repeat(bytes - "first".len() - 1000 - "second".len()))
}

async fn metadata_may_have_2_kb(ctx: BlobCtx) {
    let put = put_with_metadata_of(2048);
    let expected = put.metadata.clone();
    ctx.write(put).await;
    assert_eq!(ctx.info("a").await.metadata, expected);
}

async fn metadata_over_2_kb_is_refused(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    let before = ctx.snapshot().await;
    for bytes in [2049, 10_000] {
        let result = ctx.blobs().put(put_with_metadata_of(bytes)).await;
        ctx.expect_code(result, codes::METADATA_TOO_LARGE);
    }
    ctx.expect_unchanged(&before).await;
}

async fn invalid_metadata_name_is_refused(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    let before = ctx.snapshot().await;
    for name in ["", "Upper", "two words", "colon:", "é", "line\n", "slash/", "nul\0"] {
        let put = PutBlob::new("a", "new").metadata(name, "x");
        ctx.expect_code(ctx.blobs().put(put).await, codes::INVALID_ARGUMENT);
    }
    ctx.expect_unchanged(&before).await;
}

/// Values that no header can carry unchanged.
const INVALID_VALUES: [&str; 7] =
    ["é", "line\r\nx-amz-meta-b: 1", "tab\t", "nul\0", " before", "after ", "\u{7f}"];

async fn invalid_metadata_value_is_refused(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    let before = ctx.snapshot().await;
    for value in INVALID_VALUES {
        let put = PutBlob::new("a", "new").metadata("name", value);
        ctx.expect_code(ctx.blobs().put(put).await, codes::INVALID_ARGUMENT);
    }
    ctx.expect_unchanged(&before).await;
}

async fn invalid_header_value_is_refused(ctx: BlobCtx) {
    ctx.put("a", "old").await;
    let before = ctx.snapshot().await;
    for value in INVALID_VALUES {
        let put = PutBlob::new("a", "new").content_type(value);
        ctx.expect_code(ctx.blobs().put(put).await, codes::INVALID_ARGUMENT);
        let mut headers = BlobHeaders::default();
        headers.content_disposition = Some(value.to_owned());
        let put = PutBlob::new("a", "new").headers(headers);
        ctx.expect_code(ctx.blobs().put(put).await, codes::INVALID_ARGUMENT);
    }
    ctx.expect_unchanged(&before).await;
}

async fn upload_has_headers_of_its_begin(ctx: BlobCtx) {
    ctx.write(PutBlob::new("a", "old").content_type("text/old").metadata("old", "1")).await;
    let create = CreateUpload::new("a").headers(all_headers()).metadata("page", "2, top");
    let upload = ctx.ok(ctx.blobs().create_upload(create).await).upload;
    let part = ctx.part("a", &upload, 1, "new").await;
    ctx.ok(ctx.blobs().complete_upload(CompleteUpload::new("a", upload, [part])).await);
    let info = ctx.info("a").await;
    assert_eq!(info.headers, all_headers());
    assert_eq!(info.metadata, [("page".to_owned(), "2, top".to_owned())].into());
    ctx.expect_blob("a", "new").await;
}
