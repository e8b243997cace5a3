//! Copies.

use ::object_store::{CopyMode, CopyOptions};
use tabla_core::Result;
use tabla_core::blobs::{
    BlobHeaders, Body, CopyBlob, GetBlob, PutBlob, PutBlobOutput, WriteCondition,
};

use super::ObjectStoreBlobs;
use super::error::{Access, from_store};
use super::path;

impl ObjectStoreBlobs {
    pub(super) async fn copy_object(&self, request: CopyBlob) -> Result<PutBlobOutput> {
        request.check()?;
        self.capabilities.check_copy(&request)?;
        let (source, target) = (path::of_key(&request.source)?, path::of_key(&request.key)?);
        let (access, mode) = match &request.condition {
            _ if request.source_if_match.is_some() || request.replace.is_some() => {
                return self.copy_by_put(request).await;
            }
            WriteCondition::IfMatch(_) => return self.copy_by_put(request).await,
            WriteCondition::None => (Access::Write, CopyMode::Overwrite),
            WriteCondition::IfAbsent => (Access::ConditionalWrite, CopyMode::Create),
        };
        self.store
            .copy_opts(&source, &target, CopyOptions::new().with_mode(mode))
            .await
            .map_err(|error| from_store(access, &request.source, error))?;
        self.present_output(&request.key, &target).await
    }

    /// Copies with a get and a put, for what the store cannot do by itself. The get is of one
    /// version, and the put is atomic.
    async fn copy_by_put(&self, request: CopyBlob) -> Result<PutBlobOutput> {
        let CopyBlob { source, key, source_if_match, condition, replace, .. } = request;
        let put = |(headers, metadata): (BlobHeaders, _), body: Body| {
            let mut put = PutBlob::new(&key, body).headers(headers).condition(condition.clone());
            put.metadata = metadata;
            put
        };
        if let Some(replace) = &replace {
            self.capabilities.check_put(&put(replace.clone(), Body::default()))?;
        }
        let get = match source_if_match {
            Some(etag) => GetBlob::new(&source).if_match(etag),
            None => GetBlob::new(&source),
        };
        let found = self.get_object(get).await?;
        let size = found.info.size;
        let replace = replace.unwrap_or((found.info.headers, found.info.metadata));
        let body = Body::stream(size, found.body.into_inner());
        self.put_object(put(replace, body)).await
    }
}
