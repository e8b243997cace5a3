//! Deletions of one object and of many.

use std::collections::BTreeSet;

use ::object_store::path::Path;
use ::object_store::{Error as StoreError, ObjectStoreExt};
use futures::{StreamExt, stream};
use tabla_core::Result;
use tabla_core::blobs::{DeleteBlob, DeleteBlobOutput, DeleteBlobs, DeleteBlobsOutput};

use super::ObjectStoreBlobs;
use super::error::{Access, from_store};
use super::path;

impl ObjectStoreBlobs {
    pub(super) async fn delete_object(&self, request: DeleteBlob) -> Result<DeleteBlobOutput> {
        request.check()?;
        self.capabilities.check_delete(&request)?;
        self.delete_path(&request.key, &path::of_key(&request.key)?).await?;
        Ok(DeleteBlobOutput::new())
    }

    async fn delete_path(&self, key: &str, path: &Path) -> Result<()> {
        match self.store.delete(path).await {
            Ok(()) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(from_store(Access::Write, key, error)),
        }
    }

    pub(super) async fn delete_objects(&self, request: DeleteBlobs) -> Result<DeleteBlobsOutput> {
        request.check()?;
        let mut failed = Vec::new();
        let mut open = BTreeSet::new();
        for key in request.keys {
            match path::of_key(&key) {
                Ok(path) => {
                    open.insert(path);
                }
                Err(error) => failed.push((key, error)),
            }
        }
        let paths: Vec<_> = open.iter().cloned().map(Ok).collect();
        let mut results = self.store.delete_stream(stream::iter(paths).boxed());
        while let Some(result) = results.next().await {
            if let Ok(path) = result {
                open.remove(&path);
            }
        }
        // An error of the stream can be one of many keys, and does not name them. So each key that
        // is left is deleted again, for an error of its own.
        for path in open {
            if let Err(error) = self.delete_path(path.as_ref(), &path).await {
                failed.push((path.into(), error));
            }
        }
        Ok(DeleteBlobsOutput::new(failed))
    }
}
