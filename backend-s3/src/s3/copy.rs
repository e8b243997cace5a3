//! Copies: CopyObject up to 5 GB, and a multipart upload of ranges of the source above that.

use std::ops::Range;

use aws_sdk_s3::types::MetadataDirective;
use futures::{StreamExt, TryStreamExt, stream};
use tabla_core::blobs::{
    AbortUpload, BlobInfo, Checksum, ChecksumType, CompleteUpload, CopyBlob, CreateUpload,
    HeadBlob, PutBlobOutput, ReadConditions, UploadedPart, WriteCondition, codes, rules,
};

use tabla_core::{Applied, Error, ErrorKind, Result, RetryMode};

use super::S3Blobs;
use super::convert::{
    etag_of_write, missing, of_write, quoted, stored_checksum, time_from_sdk, with_condition,
    with_headers,
};
use super::error::{Access, from_sdk};
use super::exact_key::{ExactKey, sdk_key};
use crate::sign::encode;

/// Longest source of a CopyObject.
const COPY_BYTES: u64 = rules::PUT_BYTES;

/// Length of a part, unless the source has more than 10,000 of them.
const PART_BYTES: u64 = 256 << 20;

/// Parts that are copied at the same time.
const CONCURRENCY: usize = 4;

impl S3Blobs {
    pub(super) async fn copy_object(&self, request: CopyBlob) -> Result<PutBlobOutput> {
        request.check()?;
        self.copy_version(request, None).await
    }

    /// Copies one version of the source, or the current one.
    pub(super) async fn copy_version(
        &self,
        request: CopyBlob,
        version: Option<&str>,
    ) -> Result<PutBlobOutput> {
        match self.copy_at_once(&request, version).await {
            Err(error) if is_refused(&error) => {
                let source = self.head_object(HeadBlob::new(&request.source), version).await?;
                match source.size > COPY_BYTES {
                    true => self.copy_in_parts(request, version, &source, PART_BYTES).await,
                    false => Err(error),
                }
            }
            outcome => outcome,
        }
    }

    async fn copy_at_once(
        &self,
        request: &CopyBlob,
        version: Option<&str>,
    ) -> Result<PutBlobOutput> {
        let key = self.prefix.add(&request.key)?;
        let call = self
            .client
            .copy_object()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .copy_source(self.copy_source(&request.source, version)?)
            .set_copy_source_if_match(request.source_if_match.as_deref().map(quoted));
        let mut call = with_condition!(call, &request.condition);
        if let Some((headers, metadata)) = request.replace.clone() {
            call = with_headers!(call, headers, metadata);
            call = call.metadata_directive(MetadataDirective::Replace);
        }
        let output = call
            .customize()
            .config_override(Self::limited(Some(self.copy_timeout)))
            .interceptor(ExactKey::new(&key))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        let result = output.copy_object_result().ok_or_else(|| missing("CopyObjectResult"));
        let result = of_write(result)?;
        let checksum = of_write(stored_checksum!(result, result.checksum_type()))?;
        Ok(PutBlobOutput::new(etag_of_write(result.e_tag())?)
            .checksum(checksum)
            .last_modified(result.last_modified().map(|time| time_from_sdk(Some(time))))
            .version(output.version_id))
    }

    /// Value of the header `x-amz-copy-source`.
    fn copy_source(&self, key: &str, version: Option<&str>) -> Result<String> {
        let source = format!("{}/{}", self.bucket, encode(&self.prefix.add(key)?, true));
        Ok(match version {
            Some(version) => format!("{source}?versionId={}", encode(version, false)),
            None => source,
        })
    }

    /// Copies ranges of the source as the parts of a multipart upload. The condition of the request
    /// is that of the completion.
    ///
    /// All parts are of the source with the ETag of `source`. If it is replaced meanwhile, the copy
    /// fails with `PreconditionFailed`.
    pub(super) async fn copy_in_parts(
        &self,
        request: CopyBlob,
        version: Option<&str>,
        source: &BlobInfo,
        part_bytes: u64,
    ) -> Result<PutBlobOutput> {
        let mut expected = ReadConditions::default();
        expected.if_match = request.source_if_match.clone();
        expected.evaluate(&source.etag, source.last_modified)?;
        self.check_destination(&request).await?;
        let (headers, metadata) = request
            .replace
            .clone()
            .unwrap_or_else(|| (source.headers.clone(), source.metadata.clone()));
        let mut create = CreateUpload::new(&request.key).headers(headers);
        create.metadata = metadata;
        if let Some(algorithm) = source.checksum.as_ref().map(Checksum::algorithm) {
            let kind = match algorithm.is_crc() {
                true => ChecksumType::FullObject,
                false => ChecksumType::Composite,
            };
            create.checksum = Some((algorithm, kind));
        }
        let source = Source { info: source, version, part_bytes };
        match self.upload_copy(&request, &create, source).await {
            Err(Failure::ChecksumOfWhole) => {
                let create = create.checksum(None);
                self.upload_copy(&request, &create, source).await.map_err(Failure::into_error)
            }
            outcome => outcome.map_err(Failure::into_error),
        }
    }

    /// Begins, fills and completes an upload, and aborts it after a failure.
    async fn upload_copy(
        &self,
        request: &CopyBlob,
        create: &CreateUpload,
        source: Source<'_>,
    ) -> Result<PutBlobOutput, Failure> {
        let has_checksum = create.checksum.is_some();
        let upload = self.create_multipart_upload(create.clone()).await?.upload;
        let copied = async {
            let parts = self.copy_parts(&request.key, &upload, has_checksum, source).await?;
            let complete = CompleteUpload::new(&request.key, &upload, parts)
                .condition(request.condition.clone())
                .expected_size(Some(source.info.size));
            Ok(self.complete_multipart_upload(complete).await?)
        };
        let failure = match copied.await {
            Ok(output) => return Ok(output),
            // A completion that may have been executed has ended the upload.
            Err(Failure::Error(error)) if error.applied() == Applied::Maybe => {
                return Err(error.into());
            }
            Err(failure) => failure,
        };
        let abort = AbortUpload::new(&request.key, upload);
        match (failure, self.abort_multipart_upload(abort).await) {
            (failure, Ok(())) => Err(failure),
            (Failure::Error(error), Err(left)) => Err(error.with_source(left).into()),
            (Failure::ChecksumOfWhole, Err(left)) => Err(left.into()),
        }
    }

    /// Evaluates the condition before anything is copied. The completion decides.
    async fn check_destination(&self, request: &CopyBlob) -> Result<()> {
        if request.condition == WriteCondition::None {
            return Ok(());
        }
        let present = match self.head_object(HeadBlob::new(&request.key), None).await {
            Ok(info) => Some(info.etag),
            Err(error) if error.code() == codes::NO_SUCH_KEY => None,
            Err(error) => return Err(error),
        };
        request.condition.evaluate(&request.key, present.as_deref())
    }

    /// Copies all parts, each with retries of its own.
    async fn copy_parts(
        &self,
        key: &str,
        upload: &str,
        has_checksum: bool,
        source: Source<'_>,
    ) -> Result<Vec<UploadedPart>, Failure> {
        let from = self.copy_source(&source.info.key, source.version)?;
        let copy = |(number, range): (u32, Range<u64>)| {
            let (from, etag) = (&from, &source.info.etag);
            async move {
                let copy = || self.copy_part(key, upload, number, from, etag, range.clone());
                let copied = self.part_retries.run(RetryMode::Idempotent, copy).await;
                // Parts are no blob yet.
                copied.map_err(|error| Failure::from(error.with_applied(Applied::No)))
            }
        };
        let mut ranges = ranges(source.info.size, source.part_bytes);
        let mut parts = Vec::new();
        if let Some(first) = ranges.next() {
            let first = copy(first).await?;
            let is_part = first.size < source.info.size;
            let is_same = first.checksum.is_some() && first.checksum == source.info.checksum;
            if is_part && has_checksum && is_same {
                return Err(Failure::ChecksumOfWhole);
            }
            parts.push(first);
        }
        let rest: Vec<UploadedPart> =
            stream::iter(ranges.map(copy)).buffered(CONCURRENCY).try_collect().await?;
        parts.extend(rest);
        Ok(parts)
    }

    async fn copy_part(
        &self,
        key: &str,
        upload: &str,
        number: u32,
        source: &str,
        etag: &str,
        range: Range<u64>,
    ) -> Result<UploadedPart> {
        let key = self.prefix.add(key)?;
        let output = self
            .client
            .upload_part_copy()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .upload_id(upload)
            .part_number(i32::try_from(number).unwrap_or(i32::MAX))
            .copy_source(source)
            .copy_source_if_match(quoted(etag))
            .copy_source_range(format!("bytes={}-{}", range.start, range.end - 1))
            .customize()
            .config_override(Self::limited(Some(self.copy_timeout)))
            .interceptor(ExactKey::new(&key))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        let result = of_write(output.copy_part_result().ok_or_else(|| missing("CopyPartResult")))?;
        let checksum = of_write(stored_checksum!(result, None))?;
        let etag = etag_of_write(result.e_tag())?;
        Ok(UploadedPart::new(number, etag, range.end - range.start).checksum(checksum))
    }
}

/// Source of a copy in parts.
#[derive(Clone, Copy)]
struct Source<'a> {
    info: &'a BlobInfo,
    version: Option<&'a str>,
    part_bytes: u64,
}

/// Reason for which a copy in parts has ended.
enum Failure {
    Error(Error),
    /// The service has given a part the checksum of the whole source, as versitygw 1.8 does. It
    /// computes the right one in an upload without an algorithm.
    ChecksumOfWhole,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Failure {
    fn into_error(self) -> Error {
        match self {
            Self::Error(error) => error,
            Self::ChecksumOfWhole => Error::new(
                ErrorKind::Unexpected,
                "the service reports the checksum of the whole source for a part of it",
            ),
        }
    }
}

/// Whether a service has refused a CopyObject for a reason that may be the length of the source. S3
/// uses `InvalidRequest` for other reasons, too.
fn is_refused(error: &Error) -> bool {
    matches!(
        error.code(),
        codes::INVALID_REQUEST | codes::ENTITY_TOO_LARGE | codes::INVALID_ARGUMENT
    )
}

/// Numbers and positions of the parts of a source that has bytes.
fn ranges(size: u64, part_bytes: u64) -> impl Iterator<Item = (u32, Range<u64>)> {
    let length = part_bytes.max(size.div_ceil(u64::from(rules::PARTS)));
    (1..)
        .zip((0..size).step_by(length as usize))
        .map(move |(number, first)| (number, first..size.min(first + length)))
}

#[cfg(test)]
mod tests;
