//! Conversions between the types of `s3s` and those of blobs.

use std::collections::BTreeMap;

use futures::TryStreamExt;
use s3s::dto::{
    CopySource, ETag, ETagCondition, EncodingType, Range, StreamingBlob, Timestamp as S3Timestamp,
};
use s3s::{S3ErrorCode, S3Result};
use tabla_core::blobs::{
    BlobHeaders, BlobStream, Body, ByteRange, ReadConditions, WriteCondition, codes, validation,
};
use tabla_core::env::Timestamp;
use tabla_core::{Error, ErrorKind};
use time::OffsetDateTime;

use crate::gateway::errors::{refuse, s3_error};
use crate::sign::encode;

/// ETag as a header.
pub(super) fn etag(etag: &str) -> Option<ETag> {
    Some(ETag::Strong(etag.to_owned()))
}

/// Time in the format of `s3s`.
pub(super) fn time(time: Timestamp) -> Option<S3Timestamp> {
    let seconds = i64::try_from(time.as_secs()).ok()?;
    let moment = OffsetDateTime::from_unix_timestamp(seconds).ok()?;
    let millis = time.as_millis() % 1000;
    Some((moment + std::time::Duration::from_millis(millis)).into())
}

/// Time of a header. One before 1970 is the epoch.
fn timestamp(time: S3Timestamp) -> Timestamp {
    let seconds = OffsetDateTime::from(time).unix_timestamp();
    Timestamp::from_secs(u64::try_from(seconds).unwrap_or(0))
}

/// ETag of a condition that only an equal, strong one fulfills.
fn strong(condition: ETagCondition) -> String {
    match condition {
        ETagCondition::Any => "*".to_owned(),
        ETagCondition::ETag(ETag::Strong(etag)) => etag,
        ETagCondition::ETag(ETag::Weak(etag)) => format!("W/{etag}"),
    }
}

/// Conditions of a read.
pub(super) fn read_conditions(
    if_match: Option<ETagCondition>,
    if_none_match: Option<ETagCondition>,
    if_modified_since: Option<S3Timestamp>,
    if_unmodified_since: Option<S3Timestamp>,
) -> ReadConditions {
    let mut conditions = ReadConditions::default();
    conditions.if_match = if_match.map(strong);
    conditions.if_none_match = if_none_match.map(|condition| match condition {
        ETagCondition::Any => "*".to_owned(),
        ETagCondition::ETag(etag) => etag.into_value(),
    });
    conditions.if_modified_since = if_modified_since.map(timestamp);
    conditions.if_unmodified_since = if_unmodified_since.map(timestamp);
    conditions
}

/// Condition of a write.
///
/// # Errors
/// `NotImplemented`, as on S3: both headers, or `If-None-Match` with an ETag.
pub(super) fn write_condition(
    if_match: Option<ETagCondition>,
    if_none_match: Option<ETagCondition>,
) -> S3Result<WriteCondition> {
    match (if_match, if_none_match) {
        (None, None) => Ok(WriteCondition::None),
        (None, Some(ETagCondition::Any)) => Ok(WriteCondition::IfAbsent),
        (Some(condition), None) => Ok(WriteCondition::IfMatch(strong(condition))),
        _ => Err(refuse(
            S3ErrorCode::NotImplemented,
            "A header you provided implies functionality that is not implemented: a write has \
             either If-Match or If-None-Match: *",
        )),
    }
}

/// Range of a read.
pub(super) fn range(range: Range) -> ByteRange {
    match range {
        Range::Int { first, last: Some(last) } => ByteRange::Inclusive { first, last },
        Range::Int { first, last: None } => ByteRange::From(first),
        Range::Suffix { length } => ByteRange::Last(length),
    }
}

/// Length as a header.
pub(super) fn length(length: u64) -> Option<i64> {
    i64::try_from(length).ok()
}

/// Most entries of a page.
///
/// # Errors
/// `InvalidArgument`: it is negative.
pub(super) fn limit(limit: Option<i32>) -> S3Result<Option<usize>> {
    let convert = |limit: i32| {
        usize::try_from(limit).map_err(|_| {
            let message = format!("the limit of a page is an integer of at least 0, not {limit}");
            refuse(S3ErrorCode::InvalidArgument, message)
        })
    };
    limit.map(convert).transpose()
}

/// Limit of a page as a member of an output.
pub(super) fn page_size(size: usize) -> Option<i32> {
    i32::try_from(size).ok()
}

/// Stored headers, from the members of an input.
macro_rules! blob_headers {
    ($input:expr) => {{
        let mut headers = tabla_core::blobs::BlobHeaders::default();
        headers.content_type = $input.content_type.take().filter(|value| !value.is_empty());
        headers.cache_control = $input.cache_control.take();
        headers.content_disposition = $input.content_disposition.take();
        headers.content_encoding = $input.content_encoding.take();
        headers.content_language = $input.content_language.take();
        headers
    }};
}

/// Sets the members of an output that contain stored headers.
macro_rules! set_blob_headers {
    ($output:expr, $headers:expr) => {{
        let headers: tabla_core::blobs::BlobHeaders = $headers;
        $output.content_type = Some(headers.content_type().to_owned());
        $output.cache_control = headers.cache_control;
        $output.content_disposition = headers.content_disposition;
        $output.content_encoding = headers.content_encoding;
        $output.content_language = headers.content_language;
    }};
}

pub(super) use {blob_headers, set_blob_headers};

/// Replaces stored headers by those of a presigned URL.
pub(super) fn replace_headers(stored: &mut BlobHeaders, given: BlobHeaders) {
    let pairs = [
        (&mut stored.content_type, given.content_type),
        (&mut stored.cache_control, given.cache_control),
        (&mut stored.content_disposition, given.content_disposition),
        (&mut stored.content_encoding, given.content_encoding),
        (&mut stored.content_language, given.content_language),
    ];
    for (stored, given) in pairs {
        if given.is_some() {
            *stored = given;
        }
    }
}

/// User metadata of an input.
pub(super) fn metadata(metadata: Option<s3s::dto::Metadata>) -> BTreeMap<String, String> {
    metadata.into_iter().flatten().collect()
}

/// User metadata of an output.
pub(super) fn s3_metadata(metadata: BTreeMap<String, String>) -> Option<s3s::dto::Metadata> {
    (!metadata.is_empty()).then(|| metadata.into_iter().collect())
}

/// Body of a write, with its exact length.
///
/// # Errors
/// `MissingContentLength`.
pub(super) fn body(length: Option<i64>, body: Option<StreamingBlob>) -> S3Result<Body> {
    let length = length.and_then(|length| u64::try_from(length).ok()).ok_or_else(|| {
        let message = "You must provide the Content-Length HTTP header.";
        refuse(S3ErrorCode::MissingContentLength, message)
    })?;
    let Some(body) = body else { return Ok(Body::default()) };
    let convert = |error: Box<dyn std::error::Error + Send + Sync>| match error.downcast::<Error>()
    {
        Ok(error) => *error,
        Err(other) => validation(codes::INCOMPLETE_BODY, other.to_string()),
    };
    Ok(match length {
        // It was read and verified before.
        0 => Body::default(),
        _ => Body::stream(length, body.map_err(convert)),
    })
}

/// Content of a blob as the body of a response.
pub(super) fn streaming(content: BlobStream, length: u64) -> StreamingBlob {
    let logged = content.inspect_err(|error| {
        if *error.kind() != ErrorKind::NotModified {
            tracing::error!(%error, "a read failed; the connection is closed");
        }
    });
    let body = crate::gateway::operations::objects::Exact::new(logged, length);
    StreamingBlob::from(s3s::Body::http_body_unsync(body))
}

/// Bucket, key and version of the source of a copy.
///
/// # Errors
/// `NotImplemented`: it is an access point.
pub(super) fn copy_source(source: CopySource) -> S3Result<(String, String, Option<String>)> {
    match source {
        CopySource::Bucket { bucket, key, version_id } => {
            Ok((bucket.into(), key.into(), version_id.map(Into::into)))
        }
        _ => Err(refuse(S3ErrorCode::NotImplemented, "access points are not implemented")),
    }
}

/// Encoding of the keys of a listing, which a client may ask for because XML cannot contain
/// every character.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyEncoding {
    is_url: bool,
}

impl KeyEncoding {
    /// # Errors
    /// `InvalidArgument`: it is not `url`.
    pub(super) fn new(encoding: Option<&EncodingType>) -> S3Result<Self> {
        match encoding.map(EncodingType::as_str) {
            None | Some("") => Ok(Self { is_url: false }),
            Some(EncodingType::URL) => Ok(Self { is_url: true }),
            Some(_) => Err(refuse(
                S3ErrorCode::InvalidArgument,
                "Invalid Encoding Method specified in Request",
            )),
        }
    }

    /// The encoding, as a member of an output.
    pub(super) fn member(self) -> Option<EncodingType> {
        self.is_url.then(|| EncodingType::from_static(EncodingType::URL))
    }

    /// Encodes a key, prefix or delimiter.
    pub(super) fn encode(self, text: String) -> Option<String> {
        Some(match self.is_url {
            true => encode(&text, true),
            false => text,
        })
    }

    /// Encodes a text that is not empty.
    pub(super) fn encode_some(self, text: String) -> Option<String> {
        self.encode(text).filter(|text| !text.is_empty())
    }
}

/// Error of the storage as one of `s3s`, for `map_err` on a whole method.
pub(super) fn storage<T>(result: tabla_core::Result<T>) -> S3Result<T> {
    result.map_err(s3_error)
}
