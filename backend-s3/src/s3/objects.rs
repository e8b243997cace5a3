//! Operations on one object: put, get, head and delete.

use std::ops::Range;

use aws_sdk_s3::config::RequestChecksumCalculation;
use aws_sdk_s3::types::ChecksumMode;
use tabla_core::blobs::{
    BlobInfo, BlobStream, ByteRange, DeleteBlob, DeleteBlobOutput, GetBlob, GetBlobOutput,
    HeadBlob, PutBlob, PutBlobOutput, codes, no_such_key, no_such_version, stream_verified,
};
use tabla_core::{Error, Result};

use super::S3Blobs;
use super::body::{UploadBody, download, sent};
use super::convert::{
    algorithm_to_sdk, etag_of_write, headers_from_sdk, missing, number, of_write, quoted,
    stored_checksum, time_from_sdk, time_to_sdk, unquoted, with_checksum, with_condition,
    with_headers,
};
use super::error::{Access, from_sdk};
use super::exact_key::{ExactKey, sdk_key};
use super::signing::SignKnownBody;

/// Sets the conditions of a read on a builder of the SDK.
macro_rules! with_read_conditions {
    ($builder:expr, $conditions:expr) => {{
        let conditions = $conditions;
        $builder
            .set_if_match(conditions.if_match.as_deref().map(quoted))
            .set_if_none_match(conditions.if_none_match.as_deref().map(quoted))
            .set_if_modified_since(conditions.if_modified_since.map(time_to_sdk))
            .set_if_unmodified_since(conditions.if_unmodified_since.map(time_to_sdk))
    }};
}

/// Description of a blob from the response to a get or a head.
macro_rules! info_from_sdk {
    ($output:expr, $key:expr, $size:expr) => {{
        let output = $output;
        let checksum = stored_checksum!(output, output.checksum_type())?;
        let modified = time_from_sdk(output.last_modified());
        let metadata = output.metadata.unwrap_or_default().into_iter().collect();
        let headers = headers_from_sdk(
            output.content_type,
            output.cache_control,
            output.content_disposition,
            output.content_encoding,
            output.content_language,
        );
        BlobInfo::new($key, $size, unquoted(output.e_tag.as_deref()), modified)
            .headers(headers)
            .metadata(metadata)
            .checksum(checksum)
            .version(output.version_id)
    }};
}

impl S3Blobs {
    pub(super) async fn put_object(&self, request: PutBlob) -> Result<PutBlobOutput> {
        let plan = request.plan()?;
        let key = self.prefix.add(&request.key)?;
        let PutBlob { body, headers, metadata, condition, .. } = request;
        let body = UploadBody::new(body, &plan, plan.stored()).await?;
        let mut limits = self.upload_limits(&body);
        let call = self
            .client
            .put_object()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .content_length(i64::try_from(body.length).unwrap_or(i64::MAX))
            .set_content_md5(body.md5.as_ref().map(|md5| md5.encoded()))
            .body(body.content);
        let mut call =
            with_checksum!(with_headers!(call, headers, metadata), body.checksum.as_ref());
        call = with_condition!(call, &condition);
        if let Some(algorithm) = body.trailer {
            call = call.checksum_algorithm(algorithm_to_sdk(algorithm));
            limits = limits.request_checksum_calculation(RequestChecksumCalculation::WhenSupported);
        }
        let call = call
            .customize()
            .config_override(limits)
            .interceptor(ExactKey::new(&key))
            .interceptor(SignKnownBody(body.sha256));
        let call = async { call.send().await.map_err(|error| from_sdk(Access::Write, error)) };
        let output = sent(call, body.progress, &*self.env.clock, self.operation_timeout).await?;
        let checksum =
            of_write(stored_checksum!(output, output.checksum_type()))?.or(body.checksum);
        Ok(PutBlobOutput::new(etag_of_write(output.e_tag())?)
            .checksum(checksum)
            .version(output.version_id))
    }

    /// Settings of a request with this body.
    pub(super) fn upload_limits(&self, body: &UploadBody) -> aws_sdk_s3::config::Builder {
        Self::limited(match body.progress {
            None => Some(self.upload_timeout(body.length)),
            // `sent` limits it after its last byte.
            Some(_) => None,
        })
    }

    pub(super) async fn get_object(
        &self,
        request: GetBlob,
        version: Option<&str>,
    ) -> Result<GetBlobOutput> {
        let key = self.prefix.add(&request.key)?;
        let range = match request.range {
            Some(ByteRange::Inclusive { first, last }) if first > last => {
                return Err(self.unsatisfiable(request, version).await);
            }
            Some(ByteRange::Last(0)) => return Err(self.unsatisfiable(request, version).await),
            // Services parse positions as signed numbers.
            Some(ByteRange::Inclusive { first, last }) if last > i64::MAX as u64 => {
                Some(ByteRange::From(first))
            }
            range => range,
        };
        let call = self
            .client
            .get_object()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .set_version_id(version.map(str::to_owned))
            .set_range(range.map(ByteRange::header));
        let call = with_read_conditions!(call, &request.conditions);
        let output = call
            .customize()
            .interceptor(ExactKey::new(&key))
            // The checksum is in the response and core verifies it. The SDK, asked for it through its
            // own setting, would verify it as well.
            .mutate_request(|request| {
                request.headers_mut().insert("x-amz-checksum-mode", "ENABLED");
            })
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))
            .map_err(|error| describe_missing(error, &request.key, version))?;
        let length = number(output.content_length());
        let (range, size) = match output.content_range() {
            None => (0..length, length),
            Some(text) => content_range(text).ok_or_else(|| missing("valid Content-Range"))?,
        };
        let is_whole = range == (0..size);
        let mut output = output;
        let content = download(std::mem::take(&mut output.body));
        let info: BlobInfo = info_from_sdk!(output, request.key, size);
        let body = match is_whole {
            true => stream_verified(&info.key, info.checksum.clone(), content),
            false => BlobStream::new(content),
        };
        Ok(GetBlobOutput::new(info, range, body))
    }

    /// Error of a get whose range is of no byte. HTTP cannot express it: a service would ignore such
    /// a range.
    async fn unsatisfiable(&self, request: GetBlob, version: Option<&str>) -> Error {
        let mut head = HeadBlob::new(&request.key);
        head.conditions = request.conditions.clone();
        match self.head_object(head, version).await {
            Ok(info) => request
                .evaluate(&info)
                .err()
                .unwrap_or_else(|| tabla_core::blobs::invalid_range(info.size)),
            Err(error) => error,
        }
    }

    pub(super) async fn head_object(
        &self,
        request: HeadBlob,
        version: Option<&str>,
    ) -> Result<BlobInfo> {
        let key = self.prefix.add(&request.key)?;
        let call = self
            .client
            .head_object()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .set_version_id(version.map(str::to_owned))
            .checksum_mode(ChecksumMode::Enabled);
        let output = with_read_conditions!(call, &request.conditions)
            .customize()
            .interceptor(ExactKey::new(&key))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))
            .map_err(|error| match error.code() {
                // A response to HEAD has no body: it does not tell what is missing.
                codes::NO_SUCH_KEY if version.is_some() => error.with_code(codes::NO_SUCH_VERSION),
                _ => error,
            })
            .map_err(|error| describe_missing(error, &request.key, version))?;
        let size = number(output.content_length());
        Ok(info_from_sdk!(output, request.key, size))
    }

    pub(super) async fn delete_object(&self, request: DeleteBlob) -> Result<DeleteBlobOutput> {
        let key = self.prefix.add(&request.key)?;
        let output = self
            .client
            .delete_object()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .set_if_match(request.if_match.as_deref().map(quoted))
            .customize()
            .interceptor(ExactKey::new(&key))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error));
        match output {
            Ok(output) => Ok(DeleteBlobOutput::new().version(output.version_id)),
            // S3 answers with success; some engines do not.
            Err(error) if error.code() == codes::NO_SUCH_KEY => Ok(DeleteBlobOutput::new()),
            Err(error) => Err(error),
        }
    }
}

/// Replaces the service's text for what is missing by one with the key. A version that is a delete
/// marker is a missing blob.
pub(super) fn describe_missing(error: Error, key: &str, version: Option<&str>) -> Error {
    let is_marker = error.code() == "MethodNotAllowed" && version.is_some();
    let known = match (error.code(), version) {
        (codes::NO_SUCH_KEY, _) => no_such_key(key),
        _ if is_marker => no_such_key(key),
        (codes::NO_SUCH_VERSION, Some(version)) => no_such_version(key, version),
        // S3 has this error for an id that it has never given.
        (codes::INVALID_ARGUMENT, Some(version)) if error.message().contains("version id") => {
            no_such_version(key, version)
        }
        _ => return error,
    };
    let known = match error.request_id() {
        Some(id) => known.with_request_id(id),
        None => known,
    };
    known.with_source(error)
}

/// Positions and length of the whole, from `bytes 0-4/10`.
fn content_range(text: &str) -> Option<(Range<u64>, u64)> {
    let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    Some((first..last.checked_add(1)?, size.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use tabla_core::ErrorKind;

    use super::*;

    #[test]
    fn content_range_has_positions_and_length() {
        assert_eq!(content_range("bytes 2-4/10"), Some((2..5, 10)));
        for text in ["2-4/10", "bytes 2-4", "bytes */10", "bytes 2-x/10"] {
            assert_eq!(content_range(text), None, "{text}");
        }
    }

    #[test]
    fn missing_versions_have_core_texts() {
        let error = |code| {
            Error::new(ErrorKind::Unexpected, "Invalid version id specified").with_code(code)
        };
        for (code, version, expected) in [
            ("NoSuchKey", None, "NoSuchKey"),
            ("MethodNotAllowed", Some("v"), "NoSuchKey"),
            ("MethodNotAllowed", None, "MethodNotAllowed"),
            ("NoSuchVersion", Some("v"), "NoSuchVersion"),
            ("InvalidArgument", Some("v"), "NoSuchVersion"),
            ("InvalidArgument", None, "InvalidArgument"),
            ("NoSuchBucket", Some("v"), "NoSuchBucket"),
        ] {
            assert_eq!(describe_missing(error(code), "k", version).code(), expected, "{code}");
        }
    }
}
