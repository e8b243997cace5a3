//! Copies of objects and of parts, inside a bucket and between buckets.

use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result};
use tabla_core::blobs::{
    BlobInfo, Blobs, Body, ByteRange, CopyBlob, DeleteMarker, GetBlob, GetBlobOutput, HeadBlob,
    PutBlob, PutBlobOutput, ReadConditions, UploadPart, codes, precondition_failed, rules,
    validation,
};
use tabla_core::{Error, ErrorKind, Result};

use super::Operations;
use super::convert::{
    blob_headers, copy_source, etag, metadata, read_conditions, storage, time, write_condition,
};
use super::multipart::part_number;
use super::objects::versions;
use crate::gateway::checksums::{DEFAULT, checksum_type, set_checksum};
use crate::gateway::errors::refuse;
use crate::gateway::payload::stored_algorithm;

/// Source of a copy, as it was when its conditions were evaluated.
struct Source {
    bucket: std::sync::Arc<dyn Blobs>,
    version: Option<String>,
    info: BlobInfo,
}

impl Source {
    /// Evaluates the conditions on the source.
    async fn find(
        bucket: std::sync::Arc<dyn Blobs>,
        key: String,
        version: Option<String>,
        conditions: ReadConditions,
    ) -> Result<Self> {
        let mut head = HeadBlob::new(key);
        head.conditions = conditions;
        let found = match &version {
            Some(version) => {
                versions(&*bucket, &head.key, version)?.head_version(version, head).await
            }
            None => bucket.head(head).await,
        };
        // S3 answers every condition of a copy with 412.
        let info = found.map_err(|error| match error.kind() {
            ErrorKind::NotModified => precondition_failed(),
            _ if version.is_some() && DeleteMarker::of(&error).is_some() => marker_as_source(),
            _ => error,
        })?;
        if info.size > rules::PUT_BYTES {
            return Err(too_large(&info));
        }
        Ok(Self { bucket, version, info })
    }

    /// Reads the source, which must not have changed meanwhile.
    async fn read(&self, range: Option<ByteRange>) -> Result<GetBlobOutput> {
        let mut get = GetBlob::new(&self.info.key).if_match(&self.info.etag);
        get.range = range;
        match &self.version {
            Some(version) => {
                versions(&*self.bucket, &get.key, version)?.get_version(version, get).await
            }
            None => self.bucket.get(get).await,
        }
    }
}

fn marker_as_source() -> Error {
    validation(
        codes::INVALID_REQUEST,
        "The source of a copy request may not specifically refer to a delete marker by version id."
            .to_owned(),
    )
}

fn too_large(info: &BlobInfo) -> Error {
    validation(
        codes::INVALID_REQUEST,
        format!(
            "The specified copy source is larger than the maximum allowable size for a copy source: \
             {} bytes, at most {} are allowed; copy it in parts",
            info.size,
            rules::PUT_BYTES
        ),
    )
}

pub(super) async fn copy_object(
    operations: &Operations,
    request: S3Request<CopyObjectInput>,
) -> S3Result<S3Response<CopyObjectOutput>> {
    let mut input = request.input;
    let target = operations.bucket(&input.bucket).await?;
    let (name, key, version) = copy_source(input.copy_source.clone())?;
    let bucket = match name == input.bucket {
        true => std::sync::Arc::clone(&target),
        false => operations.bucket(&name).await?,
    };
    let conditions = read_conditions(
        input.copy_source_if_match.take(),
        input.copy_source_if_none_match.take(),
        input.copy_source_if_modified_since.take(),
        input.copy_source_if_unmodified_since.take(),
    );
    let if_match = request.headers.get("if-match").map(condition_header).transpose()?;
    let if_none_match = request.headers.get("if-none-match").map(condition_header).transpose()?;
    let condition = write_condition(if_match, if_none_match)?;
    let algorithm = input.checksum_algorithm.as_ref().map(|name| {
        stored_algorithm(name.as_str()).ok_or_else(|| {
            let message = "Value for x-amz-checksum-algorithm header is invalid.";
            refuse(s3s::S3ErrorCode::InvalidRequest, message)
        })
    });
    let algorithm = algorithm.transpose()?;
    let directive = input.metadata_directive.as_ref().map(MetadataDirective::as_str);
    let replace = match directive {
        None | Some("" | MetadataDirective::COPY) => None,
        Some(MetadataDirective::REPLACE) => {
            Some((blob_headers!(input), metadata(input.metadata.take())))
        }
        Some(_) => {
            let message = "Unknown metadata directive.";
            return Err(refuse(s3s::S3ErrorCode::InvalidArgument, message));
        }
    };
    let source = storage(Source::find(bucket, key, version, conditions).await)?;
    let stored = source.info.checksum.as_ref().map(|checksum| checksum.algorithm());
    let is_other_checksum = algorithm.is_some() && algorithm != stored;
    let is_inside = name == input.bucket && source.version.is_none() && !is_other_checksum;
    let written = if is_inside {
        let mut copy = CopyBlob::new(&source.info.key, input.key)
            .source_if_match(Some(source.info.etag.clone()))
            .condition(condition);
        copy.replace = replace;
        storage(target.copy(copy).await)?
    } else {
        let mut put = PutBlob::new(input.key, Body::default()).condition(condition);
        (put.headers, put.metadata) =
            replace.unwrap_or_else(|| (source.info.headers.clone(), source.info.metadata.clone()));
        put.checksum_algorithm = algorithm.or(stored).unwrap_or(DEFAULT);
        storage(stream(&source, &*target, put).await)?
    };
    let mut result = CopyObjectResult {
        e_tag: etag(&written.etag),
        last_modified: time(written.last_modified.unwrap_or(source.info.last_modified)),
        checksum_type: written.checksum.as_ref().map(checksum_type),
        ..Default::default()
    };
    set_checksum!(result, written.checksum);
    Ok(S3Response::new(CopyObjectOutput {
        copy_object_result: Some(result),
        copy_source_version_id: source.info.version,
        version_id: written.version,
        ..Default::default()
    }))
}

/// Writes the content of the source.
async fn stream(source: &Source, target: &dyn Blobs, mut put: PutBlob) -> Result<PutBlobOutput> {
    let found = source.read(None).await?;
    put.body = Body::stream(found.info.size, found.body);
    target.put(put).await
}

fn condition_header(value: &http::HeaderValue) -> S3Result<ETagCondition> {
    ETagCondition::parse_http_header(value.as_bytes()).map_err(|_| {
        refuse(s3s::S3ErrorCode::InvalidArgument, "the ETag of a condition is malformed")
    })
}

pub(super) async fn upload_part_copy(
    operations: &Operations,
    request: S3Request<UploadPartCopyInput>,
) -> S3Result<S3Response<UploadPartCopyOutput>> {
    let mut input = request.input;
    let target = operations.bucket(&input.bucket).await?;
    let (name, key, version) = copy_source(input.copy_source)?;
    let bucket = operations.bucket(&name).await?;
    let conditions = read_conditions(
        input.copy_source_if_match.take(),
        input.copy_source_if_none_match.take(),
        input.copy_source_if_modified_since.take(),
        input.copy_source_if_unmodified_since.take(),
    );
    let range = input.copy_source_range.as_deref().map(copy_range).transpose()?;
    let source = storage(Source::find(bucket, key, version, conditions).await)?;
    let part = async {
        let found = source.read(range).await?;
        let length = found.range.end - found.range.start;
        let body = Body::stream(length, found.body);
        let number = part_number(input.part_number);
        target.upload_part(UploadPart::new(input.key, input.upload_id, number, body)).await
    };
    let uploaded = storage(part.await)?;
    let mut result = CopyPartResult {
        e_tag: etag(&uploaded.etag),
        last_modified: time(source.info.last_modified),
        ..Default::default()
    };
    set_checksum!(result, uploaded.checksum);
    Ok(S3Response::new(UploadPartCopyOutput {
        copy_part_result: Some(result),
        copy_source_version_id: source.info.version,
        ..Default::default()
    }))
}

/// Parses `bytes=first-last`, the only form that S3 accepts here.
fn copy_range(text: &str) -> S3Result<ByteRange> {
    let numbers = text.strip_prefix("bytes=").and_then(|range| range.split_once('-'));
    let parse = |(first, last): (&str, &str)| Some((first.parse().ok()?, last.parse().ok()?));
    match numbers.and_then(parse) {
        Some((first, last)) if first <= last => Ok(ByteRange::Inclusive { first, last }),
        _ => Err(refuse(
            s3s::S3ErrorCode::InvalidArgument,
            "The x-amz-copy-source-range value must be of the form bytes=first-last where first and \
             last are the zero-based offsets of the first and last bytes to copy",
        )),
    }
}
