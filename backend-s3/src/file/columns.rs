//! Columns of the catalogue: conversion of rows to values and back.

use std::collections::BTreeMap;

use rusqlite::Row as SqlRow;
use tabla_core::blobs::{
    BlobHeaders, BlobInfo, Checksum, ChecksumAlgorithm, ChecksumType, CreateUpload, UploadedPart,
};
use tabla_core::env::Timestamp;
use tabla_core::{Error, Result};

use super::data::Files;
use super::error::{damaged_row, from_sqlite};
use crate::storage::{Part, Row, UploadRow};
use crate::version_id::VersionId;

/// Columns that [`read_blob`] reads.
pub(super) const BLOB: &str = "key, version, size, etag, modified, checksum, files, content_type, \
     cache_control, content_disposition, content_encoding, content_language, metadata";

/// Columns that [`read_upload`] reads.
pub(super) const UPLOAD: &str = "key, id, created, checksum, content_type, cache_control, \
     content_disposition, content_encoding, content_language, metadata";

/// Columns that [`read_part`] reads.
pub(super) const PART: &str = "number, size, etag, checksum, files";

/// Reads a version of a blob.
pub(super) fn read_blob(row: &SqlRow<'_>) -> Result<Row<Files>> {
    let (headers, metadata) = read_headers(row, 7)?;
    let info = BlobInfo::new(key(row, 0)?, size(row, 2)?, get::<String>(row, 3)?, time(row, 4)?)
        .checksum(checksum(row, 5)?)
        .headers(headers)
        .metadata(metadata);
    let version = VersionId::of_value(get(row, 1)?);
    let content = get::<Option<Vec<u8>>>(row, 6)?.map(|bytes| files(&bytes)).transpose()?;
    Ok(Row { info, version, content })
}

/// Reads a multipart upload.
pub(super) fn read_upload(row: &SqlRow<'_>) -> Result<UploadRow> {
    let (headers, metadata) = read_headers(row, 4)?;
    let request = CreateUpload::new(key(row, 0)?).headers(headers);
    let mut request = with_checksum_kind(request, get::<Option<String>>(row, 3)?.as_deref())?;
    request.metadata = metadata;
    Ok(UploadRow { id: get(row, 1)?, created: time(row, 2)?, request })
}

/// Reads a part of an upload.
pub(super) fn read_part(row: &SqlRow<'_>) -> Result<Part<Files>> {
    let part = UploadedPart::new(get(row, 0)?, get::<String>(row, 2)?, size(row, 1)?)
        .checksum(checksum(row, 3)?);
    Ok(Part { part, content: files(&get::<Vec<u8>>(row, 4)?)? })
}

/// Reads one column.
pub(super) fn get<T: rusqlite::types::FromSql>(row: &SqlRow<'_>, column: usize) -> Result<T> {
    row.get(column).map_err(from_sqlite)
}

pub(super) fn key(row: &SqlRow<'_>, column: usize) -> Result<String> {
    String::from_utf8(get(row, column)?).map_err(|error| damaged_row(format!("a key: {error}")))
}

pub(super) fn size(row: &SqlRow<'_>, column: usize) -> Result<u64> {
    let size: i64 = get(row, column)?;
    u64::try_from(size).map_err(|_| damaged_row(format!("a blob has {size} bytes")))
}

pub(super) fn time(row: &SqlRow<'_>, column: usize) -> Result<Timestamp> {
    let millis: i64 = get(row, column)?;
    let millis = u64::try_from(millis).map_err(|_| damaged_row(format!("the time {millis}")))?;
    Ok(Timestamp::from_millis(millis))
}

/// Value of a time.
pub(super) fn millis(time: Timestamp) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Value of a length or count.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Value of a `LIMIT`.
pub(super) fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn files(bytes: &[u8]) -> Result<Files> {
    Files::decode(bytes).ok_or_else(|| damaged_row("a list of files"))
}

fn checksum(row: &SqlRow<'_>, column: usize) -> Result<Option<Checksum>> {
    let Some(text) = get::<Option<String>>(row, column)? else { return Ok(None) };
    let decoded = text
        .split_once(' ')
        .and_then(|(algorithm, value)| Checksum::decode(algorithm.parse().ok()?, value).ok());
    decoded.map(Some).ok_or_else(|| damaged_row(format!("the checksum `{text}`")))
}

/// Value of a checksum.
pub(super) fn checksum_text(checksum: Option<&Checksum>) -> Option<String> {
    checksum.map(Checksum::to_string)
}

/// Value of the checksum of an upload and its parts.
pub(super) fn checksum_kind(upload: &CreateUpload) -> Option<String> {
    upload.checksum.map(|(algorithm, kind)| {
        let kind = match kind {
            ChecksumType::FullObject => "full",
            ChecksumType::Composite => "composite",
        };
        let any = if upload.any_part_checksum { ANY_PART } else { "" };
        format!("{algorithm} {kind}{any}")
    })
}

/// End of the value of an upload whose parts may be sent with any checksum.
const ANY_PART: &str = ", any";

fn with_checksum_kind(upload: CreateUpload, text: Option<&str>) -> Result<CreateUpload> {
    let Some(text) = text else { return Ok(upload.checksum(None)) };
    let damaged = || damaged_row(format!("the checksum `{text}` of an upload"));
    let (kind, is_any) = match text.strip_suffix(ANY_PART) {
        Some(kind) => (kind, true),
        None => (text, false),
    };
    let (algorithm, kind) = kind.split_once(' ').ok_or_else(damaged)?;
    let kind = match kind {
        "full" => ChecksumType::FullObject,
        "composite" => ChecksumType::Composite,
        _ => return Err(damaged()),
    };
    let algorithm: ChecksumAlgorithm = algorithm.parse().map_err(|_: Error| damaged())?;
    Ok(upload.checksum(Some((algorithm, kind))).any_part_checksum(is_any))
}

fn read_headers(row: &SqlRow<'_>, first: usize) -> Result<(BlobHeaders, BTreeMap<String, String>)> {
    let mut headers = BlobHeaders::default();
    headers.content_type = get(row, first)?;
    headers.cache_control = get(row, first + 1)?;
    headers.content_disposition = get(row, first + 2)?;
    headers.content_encoding = get(row, first + 3)?;
    headers.content_language = get(row, first + 4)?;
    let metadata = match get::<Option<String>>(row, first + 5)? {
        Some(json) => serde_json::from_str(&json)
            .map_err(|error| damaged_row(format!("the metadata of a blob: {error}")))?,
        None => BTreeMap::new(),
    };
    Ok((headers, metadata))
}

/// Value of user metadata.
pub(super) fn metadata_json(metadata: &BTreeMap<String, String>) -> Option<String> {
    (!metadata.is_empty()).then(|| serde_json::json!(metadata).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_an_upload_is_decoded_as_encoded() {
        let read = |text: &str| with_checksum_kind(CreateUpload::new("k"), Some(text));
        for algorithm in ChecksumAlgorithm::ALL {
            for kind in [ChecksumType::FullObject, ChecksumType::Composite] {
                for any in [false, true] {
                    let upload = CreateUpload::new("k").checksum(Some((algorithm, kind)));
                    let text = checksum_kind(&upload.any_part_checksum(any)).unwrap();
                    let found = read(&text).unwrap();
                    assert_eq!(found.checksum, Some((algorithm, kind)));
                    assert_eq!(found.any_part_checksum, any);
                }
            }
        }
        let none = CreateUpload::new("k").checksum(None);
        assert_eq!(checksum_kind(&none), None);
        assert_eq!(with_checksum_kind(none, None).unwrap().checksum, None);
        for text in ["", "SHA256", "SHA256 half", "SHA0 full", ", any", "SHA256 full, some"] {
            let error = read(text).unwrap_err();
            assert_eq!(error.kind(), &tabla_core::ErrorKind::Corrupt, "{text}");
        }
    }
}
