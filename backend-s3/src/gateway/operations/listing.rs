//! Listings of objects and versions.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use s3s::dto::*;
use s3s::{S3ErrorCode, S3Request, S3Response, S3Result};
use tabla_core::blobs::{BlobPage, BlobSummary, BlobVersion, ListBlobs, ListVersions, VersionPage};

use super::Operations;
use super::convert::{KeyEncoding, etag, length, limit, page_size, storage, time};
use crate::gateway::errors::refuse;

/// Objects and common prefixes of a page.
fn contents(page: BlobPage, encoding: KeyEncoding) -> (Vec<Object>, Vec<CommonPrefix>) {
    let object = |blob: BlobSummary| Object {
        key: encoding.encode(blob.key),
        size: length(blob.size),
        e_tag: etag(&blob.etag),
        last_modified: time(blob.last_modified),
        storage_class: Some(ObjectStorageClass::from_static(ObjectStorageClass::STANDARD)),
        ..Default::default()
    };
    let prefix = |prefix| CommonPrefix { prefix: encoding.encode(prefix) };
    (page.blobs.into_iter().map(object).collect(), page.prefixes.into_iter().map(prefix).collect())
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// Position of a token.
///
/// # Errors
/// `InvalidArgument`: this gateway did not make it.
fn position(token: &str) -> S3Result<String> {
    let bytes = BASE64.decode(token).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
        refuse(S3ErrorCode::InvalidArgument, "The continuation token provided is incorrect")
    })
}

pub(super) async fn list_objects_v2(
    operations: &Operations,
    request: S3Request<ListObjectsV2Input>,
) -> S3Result<S3Response<ListObjectsV2Output>> {
    let input = request.input;
    let encoding = KeyEncoding::new(input.encoding_type.as_ref())?;
    let bucket = operations.bucket(&input.bucket).await?;
    let mut list = ListBlobs::with_prefix(input.prefix.unwrap_or_default())
        .delimiter(input.delimiter.unwrap_or_default())
        .limit(limit(input.max_keys)?);
    list.after = match &input.continuation_token {
        Some(token) => Some(position(token)?),
        None => input.start_after.clone().filter(|after| !after.is_empty()),
    };
    let (prefix, delimiter) = (list.prefix.clone(), list.delimiter.clone());
    let max_keys = page_size(list.page_size());
    let page = storage(bucket.list(list).await)?;
    let next = page.next.as_ref().map(|next| BASE64.encode(next));
    let (contents, prefixes) = contents(page, encoding);
    Ok(S3Response::new(ListObjectsV2Output {
        name: Some(input.bucket),
        prefix: encoding.encode(prefix),
        delimiter: encoding.encode_some(delimiter),
        max_keys,
        key_count: page_size(contents.len() + prefixes.len()),
        is_truncated: Some(next.is_some()),
        continuation_token: input.continuation_token,
        next_continuation_token: next,
        start_after: input.start_after.and_then(|after| encoding.encode_some(after)),
        encoding_type: encoding.member(),
        contents: some(contents),
        common_prefixes: some(prefixes),
        ..Default::default()
    }))
}

pub(super) async fn list_objects(
    operations: &Operations,
    request: S3Request<ListObjectsInput>,
) -> S3Result<S3Response<ListObjectsOutput>> {
    let input = request.input;
    let encoding = KeyEncoding::new(input.encoding_type.as_ref())?;
    let bucket = operations.bucket(&input.bucket).await?;
    let mut list = ListBlobs::with_prefix(input.prefix.unwrap_or_default())
        .delimiter(input.delimiter.unwrap_or_default())
        .limit(limit(input.max_keys)?);
    list.after = input.marker.clone().filter(|marker| !marker.is_empty());
    let (prefix, delimiter) = (list.prefix.clone(), list.delimiter.clone());
    let max_keys = page_size(list.page_size());
    let page = storage(bucket.list(list).await)?;
    let is_truncated = page.next.is_some();
    // S3 returns it only with a delimiter; without one, it is the last key.
    let next_marker = page.next.clone().filter(|_| !delimiter.is_empty());
    let (contents, prefixes) = contents(page, encoding);
    Ok(S3Response::new(ListObjectsOutput {
        name: Some(input.bucket),
        prefix: encoding.encode(prefix),
        delimiter: encoding.encode_some(delimiter),
        marker: encoding.encode(input.marker.unwrap_or_default()),
        next_marker: next_marker.and_then(|marker| encoding.encode(marker)),
        max_keys,
        is_truncated: Some(is_truncated),
        encoding_type: encoding.member(),
        contents: some(contents),
        common_prefixes: some(prefixes),
        ..Default::default()
    }))
}

/// Lists versions. In a bucket that keeps none, each object has the version `null`, as on S3.
pub(super) async fn list_object_versions(
    operations: &Operations,
    request: S3Request<ListObjectVersionsInput>,
) -> S3Result<S3Response<ListObjectVersionsOutput>> {
    let input = request.input;
    let encoding = KeyEncoding::new(input.encoding_type.as_ref())?;
    if input.delimiter.is_some_and(|delimiter| !delimiter.is_empty()) {
        let message = "listings of versions with a delimiter are not implemented";
        return Err(refuse(S3ErrorCode::NotImplemented, message));
    }
    let bucket = operations.bucket(&input.bucket).await?;
    let key_marker = input.key_marker.unwrap_or_default();
    let version_marker = input.version_id_marker.unwrap_or_default();
    let limit = limit(input.max_keys)?;
    let prefix = input.prefix.unwrap_or_default();
    let (page, size) = match bucket.versions() {
        Some(versions) => {
            let mut list = ListVersions::new();
            list.prefix = prefix.clone();
            list.limit = limit;
            list.after =
                (!key_marker.is_empty()).then(|| (key_marker.clone(), version_marker.clone()));
            let size = list.page_size();
            (storage(versions.list_versions(list).await)?, size)
        }
        None => {
            let mut list = ListBlobs::with_prefix(prefix.clone()).limit(limit);
            list.after = (!key_marker.is_empty()).then(|| key_marker.clone());
            let size = list.page_size();
            (current(storage(bucket.list(list).await)?), size)
        }
    };
    let (next_key, next_version) = page.next.unzip();
    let (markers, versions): (Vec<_>, Vec<_>) =
        page.versions.into_iter().partition(|version| version.is_delete_marker);
    let describe = |version: BlobVersion| ObjectVersion {
        key: encoding.encode(version.key),
        version_id: Some(version.version),
        is_latest: Some(version.is_latest),
        size: length(version.size),
        e_tag: etag(&version.etag),
        last_modified: time(version.last_modified),
        storage_class: Some(ObjectVersionStorageClass::from_static(
            ObjectVersionStorageClass::STANDARD,
        )),
        ..Default::default()
    };
    let mark = |version: BlobVersion| DeleteMarkerEntry {
        key: encoding.encode(version.key),
        version_id: Some(version.version),
        is_latest: Some(version.is_latest),
        last_modified: time(version.last_modified),
        ..Default::default()
    };
    Ok(S3Response::new(ListObjectVersionsOutput {
        name: Some(input.bucket),
        prefix: encoding.encode(prefix),
        key_marker: encoding.encode(key_marker),
        version_id_marker: Some(version_marker),
        is_truncated: Some(next_key.is_some()),
        next_key_marker: next_key.and_then(|key| encoding.encode(key)),
        next_version_id_marker: next_version,
        max_keys: page_size(size),
        encoding_type: encoding.member(),
        versions: some(versions.into_iter().map(describe).collect()),
        delete_markers: some(markers.into_iter().map(mark).collect()),
        ..Default::default()
    }))
}

/// Objects of a bucket without versions, each as its only version.
fn current(page: BlobPage) -> VersionPage {
    let version = |blob: BlobSummary| {
        BlobVersion::new(blob.key, "null", blob.size, blob.etag, blob.last_modified).latest(true)
    };
    let next = page.next.map(|key| (key, "null".to_owned()));
    VersionPage::new(page.blobs.into_iter().map(version).collect(), next)
}
