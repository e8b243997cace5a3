//! The public tests of `object_store::integration` on [`BlobsObjectStore`], over memory, over
//! `file:`, and over an object store that is blobs.
//!
//! All functions of version 0.14.2 run but one: `response_extensions` tests object stores that are
//! built on that crate's own HTTP client.

use std::sync::Arc;

use object_store::integration as public;
use object_store::list::PaginatedListStore;
use object_store::memory::InMemory;
use object_store::multipart::MultipartStore;
use object_store::{DynObjectStore, Error, ObjectStore};
use tabla_core::blobs::Blobs;
use tabla_s3::{BlobsObjectStore, Buckets, MemoryBuckets, ObjectStoreBlobs};

/// Name of the bucket, which each test creates.
const BUCKET: &str = "integration";

async fn bucket(buckets: &dyn Buckets, versions: bool) -> BlobsObjectStore {
    buckets.create_bucket(BUCKET).await.unwrap();
    if versions {
        buckets.enable_versions(BUCKET).await.unwrap();
    }
    BlobsObjectStore::new(buckets.open_bucket(BUCKET).await.unwrap())
}

/// Runs a function on every engine, each time on an empty store.
async fn on_every_engine(versions: bool, test: impl AsyncFn(&BlobsObjectStore)) {
    test(&bucket(&MemoryBuckets::new(), versions).await).await;
    #[cfg(feature = "file")]
    {
        let folder = tempfile::tempdir().unwrap();
        let files = tabla_s3::FileFolder::open(folder.path()).await.unwrap();
        test(&bucket(&files, versions).await).await;
    }
    if !versions {
        test(&BlobsObjectStore::new(in_memory())).await;
    }
}

/// Blobs on the object store in memory of the crate itself.
fn in_memory() -> Arc<dyn Blobs> {
    let blobs = ObjectStoreBlobs::with_multipart(Arc::new(InMemory::new()));
    Arc::new(blobs.put_if_absent().put_if_match().copy_if_absent().metadata())
}

macro_rules! public_tests {
    ($($test:ident: $call:expr;)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                on_every_engine(false, $call).await;
            }
        )+
    };
}

public_tests! {
    put_get_delete_list: async |store| public::put_get_delete_list(store).await;
    put_get_attributes: async |store| public::put_get_attributes(store).await;
    get_opts: async |store| public::get_opts(store).await;
    put_opts: async |store| public::put_opts(store, true).await;
    stream_get: async |store| public::stream_get(store).await;
    list_uses_directories_correctly:
        async |store| public::list_uses_directories_correctly(store).await;
    list_with_delimiter: async |store| public::list_with_delimiter(store).await;
    rename_and_copy: async |store| public::rename_and_copy(store).await;
    copy_if_not_exists: async |store| public::copy_if_not_exists(store).await;
    copy_rename_nonexistent_object:
        async |store| public::copy_rename_nonexistent_object(store).await;
    multipart_race_condition: async |store| public::multipart_race_condition(store, true).await;
    multipart_out_of_order: async |store| public::multipart_out_of_order(store).await;
    list_with_offset_exclusivity:
        async |store| public::list_with_offset_exclusivity(store).await;
    list_paginated: async |store: &BlobsObjectStore| {
        public::list_paginated(store, store as &dyn PaginatedListStore).await;
    };
    multipart: async |store: &BlobsObjectStore| {
        public::multipart(store, store as &dyn MultipartStore).await;
    };
    multipart_with_opts: async |store: &BlobsObjectStore| {
        public::multipart_with_opts(store, store as &dyn MultipartStore).await;
    };
    multipart_put_part_out_of_order: async |store: &BlobsObjectStore| {
        public::multipart_put_part_out_of_order(store, store as &dyn MultipartStore).await;
    };
    get_nonexistent_object: async |store: &BlobsObjectStore| {
        let store: &DynObjectStore = store;
        let error = public::get_nonexistent_object(store, None).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
    };
}

/// With versions, `get_opts` reads an earlier version, too.
#[tokio::test]
async fn get_opts_with_versions() {
    on_every_engine(true, async |store| {
        assert!(store.blobs().versions().is_some());
        public::get_opts(store as &dyn ObjectStore).await;
    })
    .await;
}
