//! Requests on buckets.

use s3s::dto::*;
use s3s::{S3ErrorCode, S3Request, S3Response, S3Result};
use tabla_core::blobs::no_such_bucket;

use super::Operations;
use super::convert::{storage, time};
use crate::buckets::BucketInfo;
use crate::gateway::errors::{refuse, s3_error};
use crate::sign::REGION;

async fn info(operations: &Operations, name: &str) -> S3Result<BucketInfo> {
    let buckets = storage(operations.buckets.list_buckets().await)?;
    let found = buckets.into_iter().find(|bucket| bucket.name == name);
    found.ok_or_else(|| s3_error(no_such_bucket(name)))
}

/// The configuration of the region is ignored, because the gateway is in none.
pub(super) async fn create_bucket(
    operations: &Operations,
    request: S3Request<CreateBucketInput>,
) -> S3Result<S3Response<CreateBucketOutput>> {
    let name = request.input.bucket;
    storage(operations.buckets.create_bucket(&name).await)?;
    Ok(S3Response::new(CreateBucketOutput { location: Some(format!("/{name}")) }))
}

pub(super) async fn delete_bucket(
    operations: &Operations,
    request: S3Request<DeleteBucketInput>,
) -> S3Result<S3Response<DeleteBucketOutput>> {
    storage(operations.buckets.delete_bucket(&request.input.bucket).await)?;
    Ok(S3Response::with_status(DeleteBucketOutput::default(), http::StatusCode::NO_CONTENT))
}

pub(super) async fn head_bucket(
    operations: &Operations,
    request: S3Request<HeadBucketInput>,
) -> S3Result<S3Response<HeadBucketOutput>> {
    operations.bucket(&request.input.bucket).await?;
    let bucket_region = Some(REGION.to_owned());
    Ok(S3Response::new(HeadBucketOutput { bucket_region, ..Default::default() }))
}

pub(super) async fn get_bucket_location(
    operations: &Operations,
    request: S3Request<GetBucketLocationInput>,
) -> S3Result<S3Response<GetBucketLocationOutput>> {
    operations.bucket(&request.input.bucket).await?;
    // An empty location is us-east-1.
    Ok(S3Response::new(GetBucketLocationOutput::default()))
}

pub(super) async fn list_buckets(
    operations: &Operations,
    request: S3Request<ListBucketsInput>,
) -> S3Result<S3Response<ListBucketsOutput>> {
    let ListBucketsInput { continuation_token, max_buckets, prefix, .. } = request.input;
    let limit = super::convert::limit(max_buckets)?.unwrap_or(usize::MAX).max(1);
    let after = continuation_token.unwrap_or_default();
    let starts = prefix.clone().unwrap_or_default();
    let all = storage(operations.buckets.list_buckets().await)?;
    let mut found =
        all.into_iter().filter(|bucket| bucket.name > after && bucket.name.starts_with(&starts));
    let page: Vec<BucketInfo> = found.by_ref().take(limit).collect();
    let mut output = ListBucketsOutput { prefix, ..Default::default() };
    if found.next().is_some() {
        output.continuation_token = page.last().map(|bucket| bucket.name.clone());
    }
    let describe = |bucket: BucketInfo| Bucket {
        creation_date: time(bucket.created),
        name: Some(bucket.name),
        ..Default::default()
    };
    output.buckets = Some(page.into_iter().map(describe).collect());
    Ok(S3Response::new(output))
}

pub(super) async fn get_bucket_versioning(
    operations: &Operations,
    request: S3Request<GetBucketVersioningInput>,
) -> S3Result<S3Response<GetBucketVersioningOutput>> {
    let bucket = info(operations, &request.input.bucket).await?;
    let enabled = BucketVersioningStatus::from_static(BucketVersioningStatus::ENABLED);
    let status = bucket.has_versions.then_some(enabled);
    Ok(S3Response::new(GetBucketVersioningOutput { status, ..Default::default() }))
}

pub(super) async fn put_bucket_versioning(
    operations: &Operations,
    request: S3Request<PutBucketVersioningInput>,
) -> S3Result<S3Response<PutBucketVersioningOutput>> {
    let PutBucketVersioningInput { bucket, versioning_configuration: given, .. } = request.input;
    if given.mfa_delete.is_some_and(|mfa| mfa.as_str() == MFADelete::ENABLED) {
        return Err(refuse(S3ErrorCode::NotImplemented, "MFA delete is not implemented"));
    }
    match given.status.as_ref().map(BucketVersioningStatus::as_str) {
        Some(BucketVersioningStatus::ENABLED) => {
            storage(operations.buckets.enable_versions(&bucket).await)?;
            Ok(S3Response::new(PutBucketVersioningOutput::default()))
        }
        Some(BucketVersioningStatus::SUSPENDED) => Err(refuse(
            S3ErrorCode::NotImplemented,
            "versions of a bucket cannot be suspended: delete the versions that are not needed",
        )),
        _ => Err(refuse(
            S3ErrorCode::IllegalVersioningConfigurationException,
            "The versioning configuration needs the Status Enabled",
        )),
    }
}
