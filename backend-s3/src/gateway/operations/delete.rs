//! Deletion of objects and versions.

use std::collections::{HashMap, HashSet, VecDeque};

use http::StatusCode;
use s3s::dto::*;
use s3s::{S3ErrorCode, S3Request, S3Response, S3Result};
use tabla_core::Result;
use tabla_core::blobs::{
    Blobs, DeleteBlob, DeleteBlobs, DeleteVersionOutput, codes, rules, validation,
};

use super::Operations;
use super::convert::storage;
use super::objects::versions;
use crate::gateway::errors::{code_and_status, message, refuse};

pub(super) async fn delete_object(
    operations: &Operations,
    request: S3Request<DeleteObjectInput>,
) -> S3Result<S3Response<DeleteObjectOutput>> {
    let DeleteObjectInput { bucket, key, version_id, if_match, .. } = request.input;
    let bucket = operations.bucket(&bucket).await?;
    let if_match = if_match.map(|condition| match condition {
        ETagCondition::Any => "*".to_owned(),
        ETagCondition::ETag(etag) => etag.into_value(),
    });
    let mut output = DeleteObjectOutput::default();
    match version_id {
        Some(_) if if_match.is_some() => {
            let message = "If-Match of the deletion of a version is not implemented";
            return Err(refuse(S3ErrorCode::NotImplemented, message));
        }
        // The response repeats it in a header.
        Some(version) if !version.bytes().all(|byte| byte.is_ascii_graphic()) => {
            return Err(refuse(S3ErrorCode::InvalidArgument, "Invalid version id specified"));
        }
        Some(version) => {
            let deleted = storage(delete_version(&*bucket, &key, &version).await)?;
            output.delete_marker = deleted.was_delete_marker.then_some(true);
            output.version_id = Some(version);
        }
        None => {
            let mut delete = DeleteBlob::new(key);
            delete.if_match = if_match;
            let deleted = storage(bucket.delete(delete).await)?;
            output.delete_marker = deleted.version.is_some().then_some(true);
            output.version_id = deleted.version;
        }
    }
    Ok(S3Response::with_status(output, StatusCode::NO_CONTENT))
}

async fn delete_version(
    bucket: &dyn Blobs,
    key: &str,
    version: &str,
) -> Result<DeleteVersionOutput> {
    versions(bucket, key, version)?.delete_version(key, version).await
}

/// Deletes several objects: those with a version or an ETag one by one, the others in one operation.
pub(super) async fn delete_objects(
    operations: &Operations,
    request: S3Request<DeleteObjectsInput>,
) -> S3Result<S3Response<DeleteObjectsOutput>> {
    let DeleteObjectsInput { bucket, delete, .. } = request.input;
    let bucket = operations.bucket(&bucket).await?;
    let count = delete.objects.len();
    if count == 0 || count > rules::DELETES {
        let message = format!("a deletion has 1 to {} keys, not {count}", rules::DELETES);
        return storage(Err(validation(codes::MALFORMED_XML, message)));
    }
    // Before anything is deleted: a refused request changes nothing.
    for object in &delete.objects {
        if object.last_modified_time.is_some() || object.size.is_some() {
            let message = "conditions on the time or size of a deletion are not implemented";
            return Err(refuse(S3ErrorCode::NotImplemented, message));
        }
        if object.version_id.is_some() && object.e_tag.is_some() {
            let message = "If-Match of the deletion of a version is not implemented";
            return Err(refuse(S3ErrorCode::NotImplemented, message));
        }
    }
    let mut deleted: Vec<DeletedObject> = Vec::new();
    let mut errors: Vec<Error> = Vec::new();
    let mut plain = Vec::new();
    for object in delete.objects {
        let key = object.key;
        let outcome = match (&object.version_id, object.e_tag) {
            (Some(version), _) => delete_version(&*bucket, &key, version).await.map(|output| {
                let marker = output.was_delete_marker.then(|| version.clone());
                entry(key.clone(), Some(version.clone()), marker)
            }),
            (None, Some(etag)) => {
                let delete = DeleteBlob::new(&key).if_match(etag.into_value());
                let output = bucket.delete(delete).await;
                output.map(|output| entry(key.clone(), None, output.version))
            }
            (None, None) => {
                plain.push(key);
                continue;
            }
        };
        match outcome {
            Ok(entry) => deleted.push(entry),
            Err(error) => errors.push(failure(key, object.version_id, &error)),
        }
    }
    if !plain.is_empty() {
        let output = storage(bucket.delete_many(DeleteBlobs::new(plain.clone())).await)?;
        let failed: HashSet<&String> = output.failed.iter().map(|(key, _)| key).collect();
        plain.retain(|key| !failed.contains(key));
        // A key that the request names twice has two delete markers.
        let mut markers: HashMap<String, VecDeque<String>> = HashMap::new();
        for (key, marker) in output.markers {
            markers.entry(key).or_default().push_back(marker);
        }
        deleted.extend(plain.into_iter().map(|key| {
            let marker = markers.get_mut(&key).and_then(VecDeque::pop_front);
            entry(key, None, marker)
        }));
        errors.extend(output.failed.into_iter().map(|(key, error)| failure(key, None, &error)));
    }
    let deleted = (!delete.quiet.unwrap_or(false)).then_some(deleted);
    let errors = (!errors.is_empty()).then_some(errors);
    Ok(S3Response::new(DeleteObjectsOutput { deleted, errors, ..Default::default() }))
}

/// Entry of a deleted object, with the delete marker that was created, or that was the version.
fn entry(key: String, version_id: Option<String>, marker: Option<String>) -> DeletedObject {
    DeletedObject {
        delete_marker: marker.is_some().then_some(true),
        delete_marker_version_id: marker,
        key: Some(key),
        version_id,
    }
}

fn failure(key: String, version_id: Option<String>, error: &tabla_core::Error) -> Error {
    let (code, _) = code_and_status(error);
    Error { code: Some(code.to_owned()), message: Some(message(error)), key: Some(key), version_id }
}
