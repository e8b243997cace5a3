//! Multipart uploads.

use http::StatusCode;
use s3s::dto::*;
use s3s::{S3ErrorCode, S3Request, S3Response, S3Result};
use tabla_core::blobs::{
    AbortUpload, ChecksumAlgorithm as Algorithm, ChecksumType as Kind, CompleteUpload,
    CompletedPart as PartOfBlob, CreateUpload, ListParts, ListUploads, UploadPart as PartUpload,
    UploadSummary, UploadedPart,
};

use super::Operations;
use super::convert::{
    KeyEncoding, blob_headers, body, etag, length, limit, metadata, page_size, storage, time,
    write_condition,
};
use crate::gateway::checksums::{self, DEFAULT, checksum_type, get_checksum, set_checksum};
use crate::gateway::errors::refuse;
use crate::gateway::payload::stored_algorithm;

/// Algorithm and kind of the checksum of an upload, with S3's defaults.
fn checksum(
    algorithm: Option<&ChecksumAlgorithm>,
    kind: Option<&ChecksumType>,
) -> S3Result<Option<(Algorithm, Kind)>> {
    let invalid = |header: &str| {
        let message = format!("Value for {header} header is invalid.");
        Err(refuse(S3ErrorCode::InvalidRequest, message))
    };
    let kind = match kind.map(ChecksumType::as_str) {
        None => None,
        Some(ChecksumType::COMPOSITE) => Some(Kind::Composite),
        Some(ChecksumType::FULL_OBJECT) => Some(Kind::FullObject),
        Some(_) => return invalid("x-amz-checksum-type"),
    };
    let Some(name) = algorithm else {
        return match kind {
            None => Ok(None),
            Some(_) => Err(refuse(
                S3ErrorCode::InvalidRequest,
                "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm \
                 header.",
            )),
        };
    };
    let Some(algorithm) = stored_algorithm(name.as_str()) else {
        return invalid("x-amz-checksum-algorithm");
    };
    let default = match algorithm {
        Algorithm::Crc64Nvme => Kind::FullObject,
        _ => Kind::Composite,
    };
    Ok(Some((algorithm, kind.unwrap_or(default))))
}

pub(super) async fn create_multipart_upload(
    operations: &Operations,
    request: S3Request<CreateMultipartUploadInput>,
) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
    let mut input = request.input;
    let bucket = operations.bucket(&input.bucket).await?;
    let headers = blob_headers!(input);
    let mut create = CreateUpload::new(&input.key).headers(headers);
    create.metadata = metadata(input.metadata);
    let given = checksum(input.checksum_algorithm.as_ref(), input.checksum_type.as_ref())?;
    create.checksum = given.or(Some((DEFAULT, Kind::FullObject)));
    // SDKs send CRC-32 with every part, also if the upload was created without an algorithm.
    create.any_part_checksum = given.is_none();
    let created = storage(bucket.create_upload(create).await)?;
    let mut output = CreateMultipartUploadOutput {
        bucket: Some(input.bucket),
        key: Some(input.key),
        upload_id: Some(created.upload),
        ..Default::default()
    };
    if let Some((algorithm, kind)) = given {
        output.checksum_algorithm = Some(ChecksumAlgorithm::from_static(algorithm.as_str()));
        output.checksum_type = Some(ChecksumType::from_static(match kind {
            Kind::FullObject => ChecksumType::FULL_OBJECT,
            Kind::Composite => ChecksumType::COMPOSITE,
        }));
    }
    Ok(S3Response::new(output))
}

/// Number of a part; one that is out of range is refused by the storage.
pub(super) fn part_number(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

pub(super) async fn upload_part(
    operations: &Operations,
    request: S3Request<UploadPartInput>,
) -> S3Result<S3Response<UploadPartOutput>> {
    let input = request.input;
    let bucket = operations.bucket(&input.bucket).await?;
    let content = body(input.content_length, input.body)?;
    let number = part_number(input.part_number);
    let mut part = PartUpload::new(input.key, input.upload_id, number, content);
    part.expected_checksums = storage(checksums::expected(&request.headers))?;
    let has_checksum = !part.expected_checksums.is_empty();
    part.verified_algorithm = storage(checksums::algorithm(&request.headers, has_checksum))?;
    let sent = checksums::sent(&part.expected_checksums);
    let uploaded = storage(bucket.upload_part(part).await)?;
    let mut output = UploadPartOutput { e_tag: etag(&uploaded.etag), ..Default::default() };
    // The client's own algorithm, which can be another than the stored one.
    set_checksum!(output, sent.or(uploaded.checksum));
    Ok(S3Response::new(output))
}

pub(super) async fn complete_multipart_upload(
    operations: &Operations,
    request: S3Request<CompleteMultipartUploadInput>,
) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
    let input = request.input;
    let bucket = operations.bucket(&input.bucket).await?;
    let expected = get_checksum!(input)?;
    let mut parts = Vec::new();
    for part in input.multipart_upload.and_then(|upload| upload.parts).unwrap_or_default() {
        let (Some(number), Some(etag)) = (part.part_number, &part.e_tag) else {
            let message = "a part of the list needs a PartNumber and an ETag";
            return Err(refuse(S3ErrorCode::MalformedXML, message));
        };
        let completed = PartOfBlob::new(part_number(number), etag.value());
        parts.push(completed.checksum(get_checksum!(part)?));
    }
    let condition = write_condition(input.if_match, input.if_none_match)?;
    let size = input.mpu_object_size.map(u64::try_from).transpose().map_err(|_| {
        let message = "Value for x-amz-mp-object-size header is invalid.";
        refuse(S3ErrorCode::InvalidRequest, message)
    })?;
    let complete = CompleteUpload::new(&input.key, input.upload_id, parts)
        .condition(condition)
        .expected_checksum(expected)
        .expected_size(size);
    let written = storage(bucket.complete_upload(complete).await)?;
    let host = request.headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
    let location = format!(
        "http://{}/{}/{}",
        host.unwrap_or_default(),
        input.bucket,
        crate::sign::encode(&input.key, true)
    );
    let mut output = CompleteMultipartUploadOutput {
        bucket: Some(input.bucket),
        key: Some(input.key),
        location: Some(location),
        e_tag: etag(&written.etag),
        version_id: written.version,
        checksum_type: written.checksum.as_ref().map(checksum_type),
        ..Default::default()
    };
    set_checksum!(output, written.checksum);
    Ok(S3Response::new(output))
}

pub(super) async fn abort_multipart_upload(
    operations: &Operations,
    request: S3Request<AbortMultipartUploadInput>,
) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
    let AbortMultipartUploadInput { bucket, key, upload_id, .. } = request.input;
    let bucket = operations.bucket(&bucket).await?;
    storage(bucket.abort_upload(AbortUpload::new(key, upload_id)).await)?;
    Ok(S3Response::with_status(AbortMultipartUploadOutput::default(), StatusCode::NO_CONTENT))
}

pub(super) async fn list_parts(
    operations: &Operations,
    request: S3Request<ListPartsInput>,
) -> S3Result<S3Response<ListPartsOutput>> {
    let ListPartsInput { bucket: name, key, upload_id, max_parts, part_number_marker, .. } =
        request.input;
    let bucket = operations.bucket(&name).await?;
    let list = ListParts::new(&key, &upload_id)
        .after(part_number_marker.map_or(0, part_number))
        .limit(limit(max_parts)?);
    let size = list.page_size();
    let page = storage(bucket.list_parts(list).await)?;
    let describe = |part: UploadedPart| {
        let mut output = Part {
            part_number: i32::try_from(part.number).ok(),
            e_tag: etag(&part.etag),
            size: length(part.size),
            ..Default::default()
        };
        set_checksum!(output, part.checksum);
        output
    };
    Ok(S3Response::new(ListPartsOutput {
        bucket: Some(name),
        key: Some(key),
        upload_id: Some(upload_id),
        max_parts: page_size(size),
        part_number_marker: Some(part_number_marker.unwrap_or(0)),
        is_truncated: Some(page.next.is_some()),
        next_part_number_marker: page.next.and_then(|next| i32::try_from(next).ok()),
        parts: Some(page.parts.into_iter().map(describe).collect()),
        storage_class: Some(StorageClass::from_static(StorageClass::STANDARD)),
        ..Default::default()
    }))
}

pub(super) async fn list_multipart_uploads(
    operations: &Operations,
    request: S3Request<ListMultipartUploadsInput>,
) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
    let input = request.input;
    let encoding = KeyEncoding::new(input.encoding_type.as_ref())?;
    if input.delimiter.is_some_and(|delimiter| !delimiter.is_empty()) {
        let message = "listings of uploads with a delimiter are not implemented";
        return Err(refuse(S3ErrorCode::NotImplemented, message));
    }
    let bucket = operations.bucket(&input.bucket).await?;
    let key_marker = input.key_marker.unwrap_or_default();
    let upload_marker = input.upload_id_marker.unwrap_or_default();
    let prefix = input.prefix.unwrap_or_default();
    let mut list = ListUploads::new().prefix(prefix.clone()).limit(limit(input.max_uploads)?);
    list.after = (!key_marker.is_empty()).then(|| (key_marker.clone(), upload_marker.clone()));
    let size = list.page_size();
    let page = storage(bucket.list_uploads(list).await)?;
    let (next_key, next_upload) = page.next.unzip();
    let describe = |upload: UploadSummary| MultipartUpload {
        key: encoding.encode(upload.key),
        upload_id: Some(upload.upload),
        initiated: time(upload.created),
        storage_class: Some(StorageClass::from_static(StorageClass::STANDARD)),
        ..Default::default()
    };
    Ok(S3Response::new(ListMultipartUploadsOutput {
        bucket: Some(input.bucket),
        prefix: encoding.encode(prefix),
        key_marker: encoding.encode(key_marker),
        upload_id_marker: Some(upload_marker),
        next_key_marker: next_key.and_then(|key| encoding.encode(key)),
        is_truncated: Some(next_upload.is_some()),
        next_upload_id_marker: next_upload,
        max_uploads: page_size(size),
        encoding_type: encoding.member(),
        uploads: Some(page.uploads.into_iter().map(describe).collect()),
        ..Default::default()
    }))
}
