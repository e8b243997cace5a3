//! Operations on the rows of a bucket, each inside one transaction.

use std::collections::BTreeMap;

use tabla_core::blobs::{
    BlobInfo, CompleteUpload, CopyBlob, CreateUpload, DeleteBlob, DeleteBlobOutput, DeleteMarker,
    DeleteVersionOutput, PartChecksums, PutBlobOutput, ReadConditions, WriteCondition, deleted,
    no_such_key, no_such_upload, no_such_version,
};
use tabla_core::env::{Env, Timestamp};
use tabla_core::{Error, Result};

use crate::storage::{Content, Part, Row, Rows, UploadRow};
use crate::version_id::VersionId;

/// Writes a blob, unless the condition fails.
pub(crate) fn put<C>(
    rows: &mut dyn Rows<C>,
    info: BlobInfo,
    content: C,
    condition: &WriteCondition,
) -> Result<PutBlobOutput> {
    condition.evaluate(&info.key, rows.etag(&info.key)?.as_deref())?;
    let version = next_version(rows)?;
    let output = PutBlobOutput::new(&info.etag)
        .checksum(info.checksum.clone())
        .version(shown_version(rows, version))
        .last_modified(Some(info.last_modified));
    rows.insert(Row { info, version, content: Some(content) })?;
    Ok(output)
}

/// Deletes a blob, or puts a delete marker before it in a bucket that keeps versions.
pub(crate) fn delete<C>(
    rows: &mut dyn Rows<C>,
    request: &DeleteBlob,
    now: Timestamp,
) -> Result<DeleteBlobOutput> {
    if request.if_match.is_some() {
        request.evaluate(rows.etag(&request.key)?.as_deref())?;
    }
    if !rows.keeps_versions() {
        rows.remove(&request.key, VersionId::NULL)?;
        return Ok(DeleteBlobOutput::new());
    }
    let version = next_version(rows)?;
    let info = BlobInfo::new(&request.key, 0, "", now);
    rows.insert(Row { info, version, content: None })?;
    Ok(DeleteBlobOutput::new().version(shown_version(rows, version)))
}

/// Deletes one version or delete marker, if there is one.
pub(crate) fn delete_version<C>(
    rows: &mut dyn Rows<C>,
    key: &str,
    version: VersionId,
) -> Result<DeleteVersionOutput> {
    let was_delete_marker = rows.version(key, version)?.is_some_and(|row| row.content.is_none());
    rows.remove(key, version)?;
    Ok(DeleteVersionOutput::new().was_delete_marker(was_delete_marker))
}

/// Copies a blob without its bytes: both rows refer to the same content.
pub(crate) fn copy<C>(
    rows: &mut dyn Rows<C>,
    request: CopyBlob,
    now: Timestamp,
) -> Result<PutBlobOutput> {
    let (source, content) = current(rows, &request.source)?;
    let conditions = match request.source_if_match {
        Some(etag) => condition_of_source(etag),
        None => ReadConditions::default(),
    };
    conditions.evaluate(&source.etag, source.last_modified)?;
    let (headers, metadata) = request.replace.unwrap_or((source.headers, source.metadata));
    let info = BlobInfo::new(request.key, source.size, source.etag, now)
        .headers(headers)
        .metadata(metadata)
        .checksum(source.checksum);
    put(rows, info, content, &request.condition)
}

fn condition_of_source(etag: String) -> ReadConditions {
    let mut conditions = ReadConditions::default();
    conditions.if_match = Some(etag);
    conditions
}

/// Description and content of the current blob of a key.
pub(crate) fn current<C>(rows: &dyn Rows<C>, key: &str) -> Result<(BlobInfo, C)> {
    match rows.current(key)? {
        Some(Row { info, version, content: Some(content) }) => {
            let shown = shown_version(rows, version);
            Ok((info.version(shown), content))
        }
        _ => Err(missing(rows, key)?),
    }
}

/// Error for a key without a current row.
fn missing<C>(rows: &dyn Rows<C>, key: &str) -> Result<Error> {
    if !rows.keeps_versions() {
        return Ok(no_such_key(key));
    }
    let newest = rows.versions((key, VersionId::BEFORE_ALL), None, 1)?.pop();
    Ok(match newest.filter(|newest| newest.key == key && newest.is_delete_marker) {
        Some(marker) => deleted(DeleteMarker::new(key, marker.version, marker.last_modified)),
        None => no_such_key(key),
    })
}

/// Description and content of one version of a blob.
pub(crate) fn version<C>(rows: &dyn Rows<C>, key: &str, text: &str) -> Result<(BlobInfo, C)> {
    let found = match VersionId::parse(text) {
        Some(version) => rows.version(key, version)?,
        None => None,
    };
    let row = found.ok_or_else(|| no_such_version(key, text))?;
    match row.content {
        Some(content) => Ok((row.info.version(Some(text.to_owned())), content)),
        None => Err(deleted(DeleteMarker::new(key, text, row.info.last_modified))),
    }
}

/// Makes one version of a blob the newest one.
pub(crate) fn restore_version<C>(
    rows: &mut dyn Rows<C>,
    key: &str,
    text: &str,
    now: Timestamp,
) -> Result<PutBlobOutput> {
    let (mut info, content) = version(rows, key, text)?;
    (info.last_modified, info.version) = (now, None);
    put(rows, info, content, &WriteCondition::None)
}

/// Begins a multipart upload. Ids of uploads ascend in the order of their begin.
pub(crate) fn create_upload<C>(
    rows: &mut dyn Rows<C>,
    request: CreateUpload,
    env: &Env,
) -> Result<String> {
    let number = rows.next_number()?;
    let id = format!("{number:016x}{:016x}", env.random.next_u64());
    let created = env.clock.now().to_millis();
    rows.insert_upload(UploadRow { id: id.clone(), created, request })?;
    Ok(id)
}

/// Finds a multipart upload.
pub(crate) fn find_upload<C>(rows: &dyn Rows<C>, key: &str, id: &str) -> Result<UploadRow> {
    rows.upload(key, id)?.ok_or_else(|| no_such_upload(id))
}

/// Makes the parts of an upload a blob, and removes the upload.
pub(crate) fn complete_upload<C: Content>(
    rows: &mut dyn Rows<C>,
    request: &CompleteUpload,
    now: Timestamp,
) -> Result<PutBlobOutput> {
    let upload = find_upload(rows, &request.key, &request.upload)?;
    let stored: BTreeMap<u32, Part<C>> = rows
        .parts(&upload, 0, usize::MAX)?
        .into_iter()
        .map(|part| (part.part.number, part))
        .collect();
    let chosen = request.choose(|number| stored.get(&number), |part| &part.part)?;
    let mut checksums = PartChecksums::new(upload.request.checksum);
    for part in &chosen {
        checksums.add(part.part.size, &part.part.etag, part.part.checksum.as_ref())?;
    }
    let size = chosen.iter().map(|part| part.part.size).sum();
    let (etag, checksum) = checksums.finish();
    request.check_whole(size, checksum.as_ref())?;
    let info = BlobInfo::new(&request.key, size, etag, now)
        .headers(upload.request.headers.clone())
        .metadata(upload.request.metadata.clone())
        .checksum(checksum);
    let content = C::concat(chosen.iter().map(|part| &part.content));
    let output = put(rows, info, content, &request.condition)?;
    rows.remove_upload(&upload)?;
    Ok(output)
}

/// Id of a version that is about to be written.
fn next_version<C>(rows: &mut dyn Rows<C>) -> Result<VersionId> {
    match rows.keeps_versions() {
        true => Ok(VersionId::of_number(rows.next_number()?)),
        false => Ok(VersionId::NULL),
    }
}

/// Text of a version for an output; `None` in a bucket that keeps none.
fn shown_version<C>(rows: &dyn Rows<C>, version: VersionId) -> Option<String> {
    rows.keeps_versions().then(|| version.to_string())
}

/// Version behind which a page begins.
///
/// # Errors
/// `InvalidArgument`: no version has this id.
pub(crate) fn parse_position(version: &str) -> Result<VersionId> {
    VersionId::parse(version).ok_or_else(|| {
        let message = format!(
            "the version id `{version}` is invalid; take the position from the page before"
        );
        Error::validation(message).with_code("InvalidArgument")
    })
}
