//! The requests of S3 on buckets: one method per request, each in the module of its subject.

mod buckets;
mod convert;
mod copy;
mod delete;
mod listing;
mod multipart;
mod objects;

use std::sync::Arc;

use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result};
use tabla_core::blobs::Blobs;

use super::errors::s3_error;
use crate::Buckets;

/// Implementation of [`S3`]; requests without a method here are answered with `NotImplemented`.
pub(super) struct Operations {
    buckets: Arc<dyn Buckets>,
}

impl Operations {
    pub(super) fn new(buckets: Arc<dyn Buckets>) -> Self {
        Self { buckets }
    }

    async fn bucket(&self, name: &str) -> S3Result<Arc<dyn Blobs>> {
        self.buckets.open_bucket(name).await.map_err(s3_error)
    }
}

/// Implements [`S3`] with functions that take the operations and the request.
macro_rules! operations {
    ($($method:ident($input:ident) -> $output:ident: $module:ident,)+) => {
        #[async_trait::async_trait]
        impl S3 for Operations {
            $(
                async fn $method(&self, request: S3Request<$input>) -> S3Result<S3Response<$output>> {
                    $module::$method(self, request).await
                }
            )+
        }
    };
}

operations! {
    abort_multipart_upload(AbortMultipartUploadInput) -> AbortMultipartUploadOutput: multipart,
    complete_multipart_upload(CompleteMultipartUploadInput) -> CompleteMultipartUploadOutput: multipart,
    copy_object(CopyObjectInput) -> CopyObjectOutput: copy,
    create_bucket(CreateBucketInput) -> CreateBucketOutput: buckets,
    create_multipart_upload(CreateMultipartUploadInput) -> CreateMultipartUploadOutput: multipart,
    delete_bucket(DeleteBucketInput) -> DeleteBucketOutput: buckets,
    delete_object(DeleteObjectInput) -> DeleteObjectOutput: delete,
    delete_objects(DeleteObjectsInput) -> DeleteObjectsOutput: delete,
    get_bucket_location(GetBucketLocationInput) -> GetBucketLocationOutput: buckets,
    get_bucket_versioning(GetBucketVersioningInput) -> GetBucketVersioningOutput: buckets,
    get_object(GetObjectInput) -> GetObjectOutput: objects,
    head_bucket(HeadBucketInput) -> HeadBucketOutput: buckets,
    head_object(HeadObjectInput) -> HeadObjectOutput: objects,
    list_buckets(ListBucketsInput) -> ListBucketsOutput: buckets,
    list_multipart_uploads(ListMultipartUploadsInput) -> ListMultipartUploadsOutput: multipart,
    list_object_versions(ListObjectVersionsInput) -> ListObjectVersionsOutput: listing,
    list_objects(ListObjectsInput) -> ListObjectsOutput: listing,
    list_objects_v2(ListObjectsV2Input) -> ListObjectsV2Output: listing,
    list_parts(ListPartsInput) -> ListPartsOutput: multipart,
    put_bucket_versioning(PutBucketVersioningInput) -> PutBucketVersioningOutput: buckets,
    put_object(PutObjectInput) -> PutObjectOutput: objects,
    upload_part(UploadPartInput) -> UploadPartOutput: multipart,
    upload_part_copy(UploadPartCopyInput) -> UploadPartCopyOutput: copy,
}
