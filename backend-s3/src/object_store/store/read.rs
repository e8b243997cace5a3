//! Gets of [`BlobsObjectStore`].

use std::ops::Range;

use ::object_store::path::Path;
use ::object_store::{
    GetOptions, GetRange, GetResult, GetResultPayload, OBJECT_STORE_COALESCE_DEFAULT, ObjectMeta,
    ObjectStoreExt, Result, coalesce_ranges,
};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use tabla_core::blobs::{
    BlobInfo, BlobStream, BlobSummary, ByteRange, GetBlob, GetBlobOutput, HeadBlob, ReadConditions,
    Versions,
};

use super::super::convert::{quoted, to_attributes, to_system_time, unquoted};
use super::super::error::{Condition, invalid, not_implemented, to_store};
use super::super::path;
use super::BlobsObjectStore;

impl BlobsObjectStore {
    pub(super) async fn read(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let key = location.as_ref();
        let failed = |error| to_store(Condition::Read, key, error);
        let versions = match &options.version {
            Some(version) => Some((self.versions()?, version.as_str())),
            None => None,
        };
        let found = if options.head {
            let mut head = HeadBlob::new(key);
            head.conditions = conditions(&options);
            let info = match versions {
                Some((versions, version)) => versions.head_version(version, head).await,
                None => self.blobs.head(head).await,
            };
            let info = info.map_err(failed)?;
            let range = 0..info.size;
            GetBlobOutput::new(info, range, BlobStream::from_bytes(Bytes::new()))
        } else {
            let mut get = GetBlob::new(key);
            get.conditions = conditions(&options);
            get.range = options.range.as_ref().map(to_range).transpose()?;
            let found = match versions {
                Some((versions, version)) => versions.get_version(version, get).await,
                None => self.blobs.get(get).await,
            };
            found.map_err(failed)?
        };
        let meta = to_meta(location.clone(), &found.info);
        options.check_preconditions(&meta)?;
        let attributes = to_attributes(&found.info.headers, &found.info.metadata);
        let path = key.to_owned();
        let body = found
            .body
            // Some callers ask again after the end.
            .fuse()
            .map_err(move |error| to_store(Condition::Read, &path, error))
            .boxed();
        Ok(GetResult {
            payload: GetResultPayload::Stream(body),
            meta,
            range: found.range,
            attributes,
            extensions: Default::default(),
        })
    }

    fn versions(&self) -> Result<&dyn Versions> {
        self.blobs.versions().ok_or_else(|| not_implemented("a read of a version"))
    }

    pub(super) async fn read_ranges(
        &self,
        location: &Path,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>> {
        let read = |range| self.get_range(location, range);
        coalesce_ranges(ranges, read, OBJECT_STORE_COALESCE_DEFAULT).await
    }
}

/// Conditions that the blobs can evaluate: single ETags. [`GetOptions::check_preconditions`] then
/// evaluates all, lists of ETags and times with fractions of a second among them.
fn conditions(options: &GetOptions) -> ReadConditions {
    let single = |etags: &Option<String>| {
        let etag = etags.as_deref()?;
        let tag = unquoted(etag);
        (quoted(&tag) == etag && !tag.contains('"')).then_some(tag)
    };
    let mut conditions = ReadConditions::default();
    conditions.if_match = single(&options.if_match);
    // A failed if match outranks if none match, so this one is not evaluated before the other.
    if conditions.if_match.is_some() == options.if_match.is_some()
        && options.if_unmodified_since.is_none()
    {
        conditions.if_none_match = single(&options.if_none_match);
    }
    conditions
}

fn to_range(range: &GetRange) -> Result<ByteRange> {
    range.is_valid().map_err(invalid)?;
    Ok(match range {
        GetRange::Bounded(range) => ByteRange::from(range.clone()),
        GetRange::Offset(first) => ByteRange::From(*first),
        GetRange::Suffix(count) => ByteRange::Last(*count),
    })
}

fn to_meta(location: Path, info: &BlobInfo) -> ObjectMeta {
    ObjectMeta {
        location,
        last_modified: to_system_time(info.last_modified).into(),
        size: info.size,
        e_tag: Some(quoted(&info.etag)),
        version: info.version.clone(),
    }
}

/// Metadata of an object in a listing; `None` for a key that is no path.
pub(super) fn to_listed(blob: &BlobSummary) -> Option<ObjectMeta> {
    Some(ObjectMeta {
        location: path::exact(&blob.key)?,
        last_modified: to_system_time(blob.last_modified).into(),
        size: blob.size,
        e_tag: Some(quoted(&blob.etag)),
        version: None,
    })
}
