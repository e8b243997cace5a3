//! Gets and heads.

use ::object_store::path::Path;
use ::object_store::{Error as StoreError, GetOptions, GetRange, GetResult, ObjectMeta};
use futures::TryStreamExt;
use tabla_core::blobs::{
    BlobInfo, BlobStream, ByteRange, GetBlob, GetBlobOutput, HeadBlob, invalid_range,
};
use tabla_core::{Error, ErrorKind, Result};

use super::ObjectStoreBlobs;
use super::convert::to_info;
use super::error::{Access, from_store};
use super::path;

impl ObjectStoreBlobs {
    pub(super) async fn get_object(&self, request: GetBlob) -> Result<GetBlobOutput> {
        request.check()?;
        let path = path::of_key(&request.key)?;
        let range = match request.range {
            None => None,
            Some(range) => match to_store_range(range) {
                Some(range) => Some(range),
                None => return Err(self.empty_range(&request, &path).await),
            },
        };
        let options = GetOptions::new().with_range(range);
        match self.store.get_opts(&path, options).await {
            Ok(found) => opened(&request, found),
            // Stores have no error of their own for a range behind the end, and some cannot read a
            // range at the end.
            Err(error @ (StoreError::Generic { .. } | StoreError::NotSupported { .. }))
                if request.range.is_some() =>
            {
                self.get_resolved(&request, &path, error).await
            }
            Err(error) => Err(from_store(Access::Read, &request.key, error)),
        }
    }

    /// Error of a read of an empty range, which is not sent.
    async fn empty_range(&self, request: &GetBlob, path: &Path) -> Error {
        match self.describe(&request.key, path).await {
            Ok((info, _)) => {
                request.evaluate(&info).err().unwrap_or_else(|| invalid_range(info.size))
            }
            Err(error) => error,
        }
    }

    /// Reads a range after a failure, with positions that lie in the blob.
    async fn get_resolved(
        &self,
        request: &GetBlob,
        path: &Path,
        error: StoreError,
    ) -> Result<GetBlobOutput> {
        let key = &request.key;
        let (info, meta) = self.describe(key, path).await?;
        let range = request.evaluate(&info)?;
        if !matches!(error, StoreError::NotSupported { .. }) {
            return Err(from_store(Access::Read, key, error));
        }
        // The positions are those of this version.
        let options = GetOptions::new().with_range(Some(range)).with_if_match(meta.e_tag);
        match self.store.get_opts(path, options).await {
            Ok(found) => opened(request, found),
            Err(StoreError::Precondition { .. }) => Err(Error::new(
                ErrorKind::Unavailable,
                format!("the blob `{key}` was replaced between two requests of one read"),
            )),
            Err(error) => Err(from_store(Access::Read, key, error)),
        }
    }

    pub(super) async fn head_object(&self, request: HeadBlob) -> Result<BlobInfo> {
        request.check()?;
        let (info, _) = self.describe(&request.key, &path::of_key(&request.key)?).await?;
        request.conditions.evaluate(&info.etag, info.last_modified)?;
        Ok(info)
    }

    /// Description of the present object, and its metadata as the store has it.
    pub(super) async fn describe(&self, key: &str, path: &Path) -> Result<(BlobInfo, ObjectMeta)> {
        let found = self
            .store
            .get_opts(path, GetOptions::new().with_head(true))
            .await
            .map_err(|error| from_store(Access::Read, key, error))?;
        Ok((to_info(&found.meta, &found.attributes), found.meta))
    }
}

/// Output of a read whose conditions hold. The body has not been read yet.
fn opened(request: &GetBlob, found: GetResult) -> Result<GetBlobOutput> {
    let info = to_info(&found.meta, &found.attributes);
    let range = request.evaluate(&info)?;
    if found.range != range {
        let message = format!(
            "the object store returned the bytes {:?} of `{}`, not {range:?}",
            found.range, request.key
        );
        return Err(Error::new(ErrorKind::Unexpected, message));
    }
    let key = request.key.clone();
    let body = found.into_stream().map_err(move |error| from_store(Access::Read, &key, error));
    Ok(GetBlobOutput::new(info, range, BlobStream::new(body)))
}

/// Range in the type of the store; `None` for one that no blob satisfies.
fn to_store_range(range: ByteRange) -> Option<GetRange> {
    match range {
        ByteRange::Inclusive { first, last } if first <= last => {
            Some(GetRange::Bounded(first..last.saturating_add(1)))
        }
        ByteRange::From(first) => Some(GetRange::Offset(first)),
        ByteRange::Last(count) if count > 0 => Some(GetRange::Suffix(count)),
        ByteRange::Inclusive { .. } | ByteRange::Last(_) => None,
    }
}
