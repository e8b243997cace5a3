//! Multipart uploads.

use std::collections::HashMap;

use aws_sdk_s3::config::RequestChecksumCalculation;
use aws_sdk_s3::types::{self as sdk, CompletedMultipartUpload};
use tabla_core::blobs::{
    AbortUpload, Checksum, ChecksumAlgorithm, ChecksumType, CompleteUpload, CompletedPart,
    CreateUpload, CreateUploadOutput, ListParts, PartPage, PutBlobOutput, UploadPart, UploadedPart,
};
use tabla_core::{Error, Result};

use super::S3Blobs;
use super::body::{UploadBody, sent};
use super::convert::{
    algorithm_to_sdk, etag_of_write, missing, number, of_write, page, quoted, stored_checksum,
    type_to_sdk, unquoted, with_checksum, with_condition, with_headers,
};
use super::error::{Access, from_sdk};
use super::exact_key::{ExactKey, sdk_key};
use super::signing::SignKnownBody;
use super::upload_checksums::UploadAlgorithm;

impl S3Blobs {
    pub(super) async fn create_multipart_upload(
        &self,
        request: CreateUpload,
    ) -> Result<CreateUploadOutput> {
        request.check()?;
        let CreateUpload { key, headers, metadata, checksum, any_part_checksum, .. } = request;
        let key = self.prefix.add(&key)?;
        // S3 computes CRC-64/NVME in an upload without an algorithm.
        let checksum = checksum.filter(|_| !any_part_checksum);
        let call = self
            .client
            .create_multipart_upload()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .set_checksum_algorithm(checksum.map(|(algorithm, _)| algorithm_to_sdk(algorithm)))
            .set_checksum_type(checksum.map(|(_, kind)| type_to_sdk(kind)));
        let output = with_headers!(call, headers, metadata)
            .customize()
            .interceptor(ExactKey::new(&key))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        let upload = output.upload_id().ok_or_else(|| missing("UploadId"))?;
        self.uploads.insert(upload, checksum);
        Ok(CreateUploadOutput::new(upload))
    }

    pub(super) async fn send_part(&self, request: UploadPart) -> Result<UploadedPart> {
        request.check()?;
        let key = self.prefix.add(&request.key)?;
        let algorithm = self.algorithm_of(&request.key, &request.upload).await?;
        let algorithm = algorithm.map(|(algorithm, _)| algorithm);
        let plan = request.plan_checksums(algorithm)?;
        let body = UploadBody::new(request.body, &plan, algorithm).await?;
        let mut limits = self.upload_limits(&body);
        let call = self
            .client
            .upload_part()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .upload_id(&request.upload)
            .part_number(i32::try_from(request.number).unwrap_or(i32::MAX))
            .content_length(i64::try_from(body.length).unwrap_or(i64::MAX))
            .set_content_md5(body.md5.as_ref().map(|md5| md5.encoded()))
            .body(body.content);
        let mut call = with_checksum!(call, body.checksum.as_ref());
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
        let checksum = of_write(stored_checksum!(output, None))?.or(body.checksum);
        Ok(UploadedPart::new(request.number, etag_of_write(output.e_tag())?, body.length)
            .checksum(checksum))
    }

    pub(super) async fn complete_multipart_upload(
        &self,
        request: CompleteUpload,
    ) -> Result<PutBlobOutput> {
        request.check()?;
        let key = self.prefix.add(&request.key)?;
        let algorithm = self.algorithm_of(&request.key, &request.upload).await?;
        let parts = match algorithm {
            Some(_) => self.with_part_checksums(&request).await?,
            // S3 refuses checksums of parts if the upload names no algorithm.
            None => request.parts.into_iter().map(|part| part.checksum(None)).collect(),
        };
        let parts = parts.iter().map(|part| {
            let builder = sdk::CompletedPart::builder()
                .part_number(i32::try_from(part.number).unwrap_or(i32::MAX))
                .e_tag(quoted(&part.etag));
            with_checksum!(builder, part.checksum.as_ref()).build()
        });
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts.collect())).build();
        let call = self
            .client
            .complete_multipart_upload()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .upload_id(&request.upload)
            .multipart_upload(parts)
            .set_checksum_type(algorithm.map(|(_, kind)| type_to_sdk(kind)))
            .set_mpu_object_size(
                request.expected_size.map(|size| i64::try_from(size).unwrap_or(i64::MAX)),
            );
        let call = with_checksum!(call, request.expected_checksum.as_ref());
        let output = with_condition!(call, &request.condition)
            .customize()
            .config_override(Self::limited(Some(self.copy_timeout)))
            .interceptor(ExactKey::new(&key))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        self.uploads.remove(&request.upload);
        let checksum = of_write(stored_checksum!(output, output.checksum_type()))?;
        Ok(PutBlobOutput::new(etag_of_write(output.e_tag())?)
            .checksum(checksum)
            .version(output.version_id))
    }

    pub(super) async fn abort_multipart_upload(&self, request: AbortUpload) -> Result<()> {
        let key = self.prefix.add(&request.key)?;
        self.client
            .abort_multipart_upload()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .upload_id(&request.upload)
            .customize()
            .interceptor(ExactKey::new(&key))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        self.uploads.remove(&request.upload);
        Ok(())
    }

    pub(super) async fn list_upload_parts(&self, request: ListParts) -> Result<PartPage> {
        let size = request.page_size();
        if size == 0 {
            return Ok(PartPage::default());
        }
        Ok(self.parts_page(&request, size).await?.0)
    }

    /// Lists one page of parts, with the algorithm of the upload.
    async fn parts_page(
        &self,
        request: &ListParts,
        size: usize,
    ) -> Result<(PartPage, UploadAlgorithm)> {
        let key = self.prefix.add(&request.key)?;
        let output = self
            .client
            .list_parts()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .upload_id(&request.upload)
            .part_number_marker(request.after.to_string())
            .max_parts(page(size))
            .customize()
            .interceptor(ExactKey::new(&key))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        let mut parts = Vec::with_capacity(output.parts().len());
        for part in output.parts() {
            let (number, size) = (part_number(part.part_number()), number(part.size()));
            let part_of = UploadedPart::new(number, unquoted(part.e_tag()), size);
            parts.push(part_of.checksum(stored_checksum!(part, None)?));
        }
        let next = match output.is_truncated() {
            Some(true) => parts.last().map(|part| part.number),
            _ => None,
        };
        let algorithm = output.checksum_algorithm().and_then(|name| name.as_str().parse().ok());
        Ok((PartPage::new(parts, next), algorithm.map(|algorithm| (algorithm, kind_of(&output)))))
    }

    /// Algorithm that the upload was created with.
    ///
    /// # Errors
    /// `NoSuchUpload`.
    async fn algorithm_of(&self, key: &str, upload: &str) -> Result<UploadAlgorithm> {
        if let Some(known) = self.uploads.get(upload) {
            return Ok(known);
        }
        let (_, algorithm) = self.parts_page(&ListParts::new(key, upload), 1).await?;
        self.uploads.insert(upload, algorithm);
        Ok(algorithm)
    }

    /// Parts of a completion with their checksums, which S3 wants for all parts or for none. Those
    /// that the caller does not know are looked up.
    async fn with_part_checksums(&self, request: &CompleteUpload) -> Result<Vec<CompletedPart>> {
        let mut parts = request.parts.clone();
        if parts.iter().all(|part| part.checksum.is_some()) {
            return Ok(parts);
        }
        let mut stored: HashMap<u32, Option<Checksum>> = HashMap::new();
        let mut list = ListParts::new(&request.key, &request.upload);
        loop {
            let (page, _) = self.parts_page(&list, list.page_size()).await?;
            stored.extend(page.parts.into_iter().map(|part| (part.number, part.checksum)));
            match page.next {
                Some(next) => list.after = next,
                None => break,
            }
        }
        for part in parts.iter_mut().filter(|part| part.checksum.is_none()) {
            part.checksum = stored.remove(&part.number).flatten();
        }
        Ok(parts)
    }
}

/// Type of the checksum of an upload. S3's default is that of the algorithm.
fn kind_of(output: &aws_sdk_s3::operation::list_parts::ListPartsOutput) -> ChecksumType {
    match output.checksum_type() {
        Some(sdk::ChecksumType::Composite) => ChecksumType::Composite,
        Some(sdk::ChecksumType::FullObject) => ChecksumType::FullObject,
        _ => match output.checksum_algorithm().map(|name| name.as_str().parse()) {
            Some(Ok::<_, Error>(ChecksumAlgorithm::Crc64Nvme)) => ChecksumType::FullObject,
            _ => ChecksumType::Composite,
        },
    }
}

fn part_number(value: Option<i32>) -> u32 {
    value.and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
}
