//! Buckets of a folder: rows of the table `bucket`.

use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::Result;
use tabla_core::blobs::{Blobs, no_such_bucket};

use super::FileFolder;
use super::columns::{get, millis, time};
use super::folder::blocking;
use super::rows::{execute, query, query_one};
use crate::SigningKey;
use crate::buckets::{BucketInfo, Buckets, bucket_exists, bucket_not_empty, check_bucket_name};

impl FileFolder {
    /// Executes a statement that changes the row of a bucket; returns whether there was one
    /// to change.
    async fn change(&self, sql: &'static str, name: &str) -> Result<bool> {
        let (folder, name) = (Arc::clone(&self.folder), name.to_owned());
        let work = move |connection: &_| execute(connection, sql, [name]);
        blocking(move || folder.catalogue.transact(work)).await.map(|changed| changed > 0)
    }
}

#[async_trait]
impl Buckets for FileFolder {
    fn signing_key(&self) -> &SigningKey {
        &self.folder.key
    }

    async fn create_bucket(&self, name: &str) -> Result<()> {
        check_bucket_name(name)?;
        let (folder, owned) = (Arc::clone(&self.folder), name.to_owned());
        let created = blocking(move || {
            let sql = "INSERT INTO bucket (name, created, keeps_versions, number) \
                 VALUES (?1, ?2, 0, 0) ON CONFLICT (name) DO NOTHING";
            let now = millis(folder.now());
            folder.catalogue.transact(move |connection| execute(connection, sql, (owned, now)))
        });
        match created.await? {
            0 => Err(bucket_exists(name)),
            _ => Ok(()),
        }
    }

    async fn delete_bucket(&self, name: &str) -> Result<()> {
        let sql = "DELETE FROM bucket WHERE name = ?1 \
             AND NOT EXISTS (SELECT 1 FROM blob WHERE blob.bucket = bucket.id) \
             AND NOT EXISTS (SELECT 1 FROM upload WHERE upload.bucket = bucket.id)";
        if self.change(sql, name).await? {
            return Ok(());
        }
        let sql = "SELECT 1 FROM bucket WHERE name = ?1";
        let found = self
            .folder
            .catalogue
            .read(|connection| query_one(connection, sql, [name], |_| Ok(())))?;
        Err(found.map_or_else(|| no_such_bucket(name), |()| bucket_not_empty(name)))
    }

    async fn list_buckets(&self) -> Result<Vec<BucketInfo>> {
        let sql = "SELECT name, created, keeps_versions FROM bucket ORDER BY name";
        self.folder.catalogue.read(|connection| {
            query(connection, sql, [], |row| {
                Ok(BucketInfo::new(get::<String>(row, 0)?, time(row, 1)?, get(row, 2)?))
            })
        })
    }

    async fn open_bucket(&self, name: &str) -> Result<Arc<dyn Blobs>> {
        Ok(Arc::new(self.blobs(name)?))
    }

    async fn enable_versions(&self, name: &str) -> Result<()> {
        let sql = "UPDATE bucket SET keeps_versions = 1 WHERE name = ?1";
        match self.change(sql, name).await? {
            true => Ok(()),
            false => Err(no_such_bucket(name)),
        }
    }
}
