//! Put, get and head of objects.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::Stream;
use http::header::{ALLOW, CONTENT_TYPE, ETAG, EXPIRES, LAST_MODIFIED};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::{Body, Frame, SizeHint};
use s3s::dto::*;
use s3s::{S3ErrorCode, S3Request, S3Response, S3Result};
use tabla_core::blobs::{
    BlobHeaders, BlobInfo, DeleteMarker, GetBlob, HeadBlob, PutBlob, Versions, no_such_version,
};
use tabla_core::{Error, Result};

use super::Operations;
use super::convert::{
    self, blob_headers, body, etag, length, metadata, read_conditions, replace_headers,
    s3_metadata, set_blob_headers, storage, streaming, time, write_condition,
};
use crate::gateway::checksums::{self, checksum_type, set_checksum};
use crate::gateway::errors::{refuse, s3_error};

pub(super) async fn put_object(
    operations: &Operations,
    request: S3Request<PutObjectInput>,
) -> S3Result<S3Response<PutObjectOutput>> {
    let mut input = request.input;
    let bucket = operations.bucket(&input.bucket).await?;
    let headers = blob_headers!(input);
    let mut put = PutBlob::new(input.key, body(input.content_length, input.body)?)
        .headers(headers)
        .condition(write_condition(input.if_match, input.if_none_match)?);
    put.metadata = metadata(input.metadata);
    put.expected_checksums = storage(checksums::expected(&request.headers))?;
    let has_checksum = !put.expected_checksums.is_empty();
    let algorithm = storage(checksums::algorithm(&request.headers, has_checksum))?;
    put.checksum_algorithm = algorithm.unwrap_or(checksums::DEFAULT);
    let written = storage(bucket.put(put).await)?;
    let mut output = PutObjectOutput {
        e_tag: etag(&written.etag),
        version_id: written.version,
        checksum_type: written.checksum.as_ref().map(checksum_type),
        ..Default::default()
    };
    set_checksum!(output, written.checksum);
    Ok(S3Response::new(output))
}

/// Error of a read, with the headers that S3 sends with it. The response to a read of what has not
/// changed repeats the ETag that the client has.
fn read_error(
    error: Error,
    version: Option<&str>,
    if_none_match: Option<ETagCondition>,
) -> s3s::S3Error {
    if let Some(marker) = DeleteMarker::of(&error) {
        return deleted_error(marker.clone(), error, version.is_some());
    }
    let mut converted = s3_error(error);
    let known = if_none_match.and_then(ETagCondition::into_etag);
    if converted.status_code() == Some(StatusCode::NOT_MODIFIED)
        && let Some(value) = known.and_then(|etag| etag.to_http_header().ok())
    {
        converted.set_headers(HeaderMap::from_iter([(ETAG, value)]));
    }
    converted
}

/// Error of a read of a delete marker. S3 tells its time only if the request names its version.
fn deleted_error(marker: DeleteMarker, error: Error, is_named: bool) -> s3s::S3Error {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    headers.insert("x-amz-delete-marker", HeaderValue::from_static("true"));
    if let Ok(version) = HeaderValue::from_str(&marker.version) {
        headers.insert("x-amz-version-id", version);
    }
    let mut converted = match is_named {
        false => s3_error(error),
        true => {
            let message = "The specified method is not allowed against this resource.";
            let mut converted = refuse(S3ErrorCode::MethodNotAllowed, message);
            converted.set_status_code(StatusCode::METHOD_NOT_ALLOWED);
            headers.insert(ALLOW, HeaderValue::from_static("DELETE"));
            if let Some(modified) = time(marker.last_modified).and_then(http_date) {
                headers.insert(LAST_MODIFIED, modified);
            }
            converted
        }
    };
    converted.set_headers(headers);
    converted
}

/// Versions of a bucket.
///
/// # Errors
/// `NoSuchVersion`: the bucket keeps none.
pub(super) fn versions<'a>(
    bucket: &'a dyn tabla_core::blobs::Blobs,
    key: &str,
    version: &str,
) -> Result<&'a dyn Versions> {
    bucket.versions().ok_or_else(|| no_such_version(key, version))
}

/// Headers of a response that the query sets.
macro_rules! response_headers {
    ($input:expr) => {{
        let mut headers = BlobHeaders::default();
        headers.content_type = $input.response_content_type.take();
        headers.cache_control = $input.response_cache_control.take();
        headers.content_disposition = $input.response_content_disposition.take();
        headers.content_encoding = $input.response_content_encoding.take();
        headers.content_language = $input.response_content_language.take();
        headers
    }};
}

/// Sets the members that get and head have in common.
macro_rules! describe {
    ($output:expr, $info:expr, $has_checksum:expr) => {{
        let info: BlobInfo = $info;
        $output.accept_ranges = Some("bytes".to_owned());
        $output.e_tag = etag(&info.etag);
        $output.last_modified = time(info.last_modified);
        $output.metadata = s3_metadata(info.metadata);
        $output.version_id = info.version;
        set_blob_headers!($output, info.headers);
        if $has_checksum {
            $output.checksum_type = info.checksum.as_ref().map(checksum_type);
            set_checksum!($output, info.checksum);
        }
    }};
}

fn is_checksum_mode(mode: Option<&ChecksumMode>) -> bool {
    mode.is_some_and(|mode| mode.as_str() == ChecksumMode::ENABLED)
}

/// Response with the header `Expires`, if the query sets it.
fn with_expires<T>(output: T, expires: Option<Timestamp>) -> S3Response<T> {
    let mut response = S3Response::new(output);
    if let Some(value) = expires.and_then(http_date) {
        response.headers.insert(EXPIRES, value);
    }
    response
}

/// Time in the format of HTTP's headers.
fn http_date(time: Timestamp) -> Option<HeaderValue> {
    let mut text = Vec::new();
    time.format(TimestampFormat::HttpDate, &mut text).ok()?;
    HeaderValue::from_bytes(&text).ok()
}

pub(super) async fn get_object(
    operations: &Operations,
    request: S3Request<GetObjectInput>,
) -> S3Result<S3Response<GetObjectOutput>> {
    let mut input = request.input;
    let bucket = operations.bucket(&input.bucket).await?;
    let mut get = GetBlob::new(input.key);
    get.range = input.range.map(convert::range);
    let has_range = get.range.is_some();
    get.conditions = read_conditions(
        input.if_match.take(),
        input.if_none_match.clone(),
        input.if_modified_since.take(),
        input.if_unmodified_since.take(),
    );
    let found = match &input.version_id {
        Some(version) => match versions(&*bucket, &get.key, version) {
            Ok(versions) => versions.get_version(version, get).await,
            Err(error) => Err(error),
        },
        None => bucket.get(get).await,
    };
    let if_none_match = input.if_none_match.take();
    let version = input.version_id.as_deref();
    let mut found = found.map_err(|error| read_error(error, version, if_none_match))?;
    replace_headers(&mut found.info.headers, response_headers!(input));
    let (range, size) = (found.range, found.info.size);
    let count = range.end - range.start;
    let mut output = GetObjectOutput {
        body: Some(streaming(found.body, count)),
        content_length: length(count),
        ..Default::default()
    };
    if has_range {
        output.content_range =
            Some(format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1)));
    }
    let has_checksum = is_checksum_mode(input.checksum_mode.as_ref()) && count == size;
    describe!(output, found.info, has_checksum);
    Ok(with_expires(output, input.response_expires))
}

pub(super) async fn head_object(
    operations: &Operations,
    request: S3Request<HeadObjectInput>,
) -> S3Result<S3Response<HeadObjectOutput>> {
    let mut input = request.input;
    let bucket = operations.bucket(&input.bucket).await?;
    let mut head = HeadBlob::new(input.key);
    head.conditions = read_conditions(
        input.if_match.take(),
        input.if_none_match.clone(),
        input.if_modified_since.take(),
        input.if_unmodified_since.take(),
    );
    let found = match &input.version_id {
        Some(version) => match versions(&*bucket, &head.key, version) {
            Ok(versions) => versions.head_version(version, head).await,
            Err(error) => Err(error),
        },
        None => bucket.head(head).await,
    };
    let if_none_match = input.if_none_match.take();
    let version = input.version_id.as_deref();
    let mut info = found.map_err(|error| read_error(error, version, if_none_match))?;
    replace_headers(&mut info.headers, response_headers!(input));
    let mut output = HeadObjectOutput::default();
    let mut count = info.size;
    if let Some(range) = input.range {
        let range = storage(convert::range(range).resolve(info.size))?;
        count = range.end - range.start;
        output.content_range =
            Some(format!("bytes {}-{}/{}", range.start, range.end - 1, info.size));
    }
    output.content_length = length(count);
    let has_checksum = is_checksum_mode(input.checksum_mode.as_ref()) && count == info.size;
    describe!(output, info, has_checksum);
    Ok(with_expires(output, input.response_expires))
}

/// Stream with a known length, as a body.
pub(super) struct Exact<S> {
    stream: Pin<Box<S>>,
    left: u64,
}

impl<S> Exact<S> {
    pub(super) fn new(stream: S, length: u64) -> Self {
        Self { stream: Box::pin(stream), left: length }
    }
}

impl<S: Stream<Item = Result<Bytes>>> Body for Exact<S> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>>>> {
        self.stream.as_mut().poll_next(context).map(|piece| {
            let piece = piece?;
            Some(piece.map(|bytes| {
                self.left = self.left.saturating_sub(bytes.len() as u64);
                Frame::data(bytes)
            }))
        })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
