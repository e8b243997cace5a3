//! [`BlobsObjectStore`]: what the public tests of `object_store` do not test.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode,
    PutMultipartOptions, PutOptions, TagSet,
};
use tabla_core::blobs::{Blobs, BlobsExt, ListBlobs, ListUploads, PutBlob};
use tabla_s3::{BlobsObjectStore, MemoryBlobs, ObjectStoreBlobs};

fn memory() -> (Arc<MemoryBlobs>, BlobsObjectStore) {
    let blobs = Arc::new(MemoryBlobs::new());
    (Arc::clone(&blobs), BlobsObjectStore::new(blobs))
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

async fn uploads(blobs: &MemoryBlobs) -> usize {
    blobs.list_uploads(ListUploads::new()).await.unwrap().uploads.len()
}

#[tokio::test]
async fn prefix_is_a_folder() {
    let (_, store) = memory();
    for key in ["foo", "foo/bar", "foo/bar/x", "foobar", "foo.bar/y"] {
        store.put(&path(key), "x".into()).await.unwrap();
    }
    let listed = store.list(Some(&path("foo"))).map_ok(|meta| meta.location.to_string());
    assert_eq!(listed.try_collect::<Vec<_>>().await.unwrap(), ["foo/bar", "foo/bar/x"]);
    let level = store.list_with_delimiter(Some(&path("foo"))).await.unwrap();
    assert_eq!(level.objects[0].location, path("foo/bar"));
    assert_eq!((level.objects.len(), level.common_prefixes), (1, vec![path("foo/bar")]));
}

#[tokio::test]
async fn listing_of_several_pages_is_whole() {
    let (_, store) = memory();
    for number in 0..1005 {
        store.put(&path(&format!("k{number:04}/x")), "x".into()).await.unwrap();
    }
    assert_eq!(store.list(None).count().await, 1005);
    assert_eq!(store.list_with_offset(None, &path("k0003/x")).count().await, 1001);
    let level = store.list_with_delimiter(None).await.unwrap();
    assert_eq!((level.common_prefixes.len(), level.objects.len()), (1005, 0));
    let locations = store.list(None).map_ok(|meta| meta.location).boxed();
    let deleted = store.delete_stream(locations).try_collect::<Vec<_>>().await.unwrap();
    assert_eq!(deleted.len(), 1005);
    assert_eq!(store.list(None).count().await, 0);
}

#[tokio::test]
async fn deletions_have_results_in_order() {
    let (_, store) = memory();
    store.put(&path("a"), "x".into()).await.unwrap();
    let long = path(&"k".repeat(1025));
    let source = Error::NotSupported { source: "stopped".into() };
    let locations = [Ok(path("a")), Ok(long.clone()), Err(source), Ok(path("missing")), Ok(long)];
    let results: Vec<_> =
        store.delete_stream(stream::iter(locations).boxed()).collect::<Vec<_>>().await;
    assert_eq!(results[0].as_ref().unwrap(), &path("a"));
    assert!(matches!(results[1], Err(Error::Generic { .. })));
    assert!(matches!(results[2], Err(Error::NotSupported { .. })));
    assert_eq!(results[3].as_ref().unwrap(), &path("missing"));
    assert!(matches!(results[4], Err(Error::Generic { .. })));
}

#[tokio::test]
async fn rename_to_itself_keeps_the_object() {
    let (_, store) = memory();
    store.put(&path("a"), "x".into()).await.unwrap();
    store.rename(&path("a"), &path("a")).await.unwrap();
    store.copy(&path("a"), &path("a")).await.unwrap();
    let error = store.rename_if_not_exists(&path("a"), &path("a")).await.unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
    assert_eq!(store.get(&path("a")).await.unwrap().bytes().await.unwrap(), "x");
    let error = store.rename(&path("b"), &path("b")).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
}

#[tokio::test]
async fn tags_and_storage_classes_are_not_implemented() {
    let (blobs, store) = memory();
    let mut tags = TagSet::default();
    tags.push("name", "value");
    let class = Attributes::from_iter([(Attribute::StorageClass, "COLD")]);
    for options in [PutOptions::from(tags.clone()), PutOptions::from(class.clone())] {
        let error = store.put_opts(&path("a"), "x".into(), options).await.unwrap_err();
        assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    }
    for options in [PutMultipartOptions::from(tags), PutMultipartOptions::from(class)] {
        let error = store.put_multipart_opts(&path("a"), options).await.unwrap_err();
        assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    }
    assert_eq!(blobs.info("a").await.unwrap(), None);
}

#[tokio::test]
async fn missing_capabilities_are_not_implemented() {
    let plain = ObjectStoreBlobs::new(Arc::new(object_store::memory::InMemory::new()));
    let store = BlobsObjectStore::new(Arc::new(plain));
    let create = PutOptions::from(PutMode::Create);
    let error = store.put_opts(&path("a"), "x".into(), create).await.unwrap_err();
    assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    let error = store.put_multipart(&path("a")).await.unwrap_err();
    assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    store.put(&path("a"), "x".into()).await.unwrap();
    let error = store.copy_if_not_exists(&path("a"), &path("b")).await.unwrap_err();
    assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    let options = GetOptions::new().with_version(Some("1"));
    let error = store.get_opts(&path("a"), options).await.unwrap_err();
    assert!(matches!(error, Error::NotImplemented { .. }), "{error}");
    // A rename needs none of them.
    store.rename(&path("a"), &path("b")).await.unwrap();
    assert_eq!(store.get(&path("b")).await.unwrap().bytes().await.unwrap(), "x");
}

#[tokio::test]
async fn conditions_may_be_lists_of_etags() {
    let (_, store) = memory();
    let etag = store.put(&path("a"), "x".into()).await.unwrap().e_tag.unwrap();
    assert!(etag.starts_with('"') && etag.ends_with('"'), "{etag}");
    let key = path("a");
    let get = |options: GetOptions| store.get_opts(&key, options);
    let list = Some(format!("\"other\", {etag}"));
    get(GetOptions::new().with_if_match(list.clone())).await.unwrap();
    get(GetOptions::new().with_if_match(Some("*"))).await.unwrap();
    let error = get(GetOptions::new().with_if_none_match(list.clone())).await.unwrap_err();
    assert!(matches!(error, Error::NotModified { .. }), "{error}");
    let options =
        GetOptions::new().with_if_match(Some("\"a\", \"b\"")).with_if_none_match(Some(etag));
    let error = get(options).await.unwrap_err();
    assert!(matches!(error, Error::Precondition { .. }), "{error}");
    let error = get(GetOptions::new().with_if_none_match(list).with_head(true)).await.unwrap_err();
    assert!(matches!(error, Error::NotModified { .. }), "{error}");
}

#[tokio::test]
async fn empty_ranges_are_errors() {
    let (_, store) = memory();
    store.put(&path("a"), "0123456789".into()).await.unwrap();
    for range in [GetRange::Bounded(3..3), GetRange::Bounded(10..11), GetRange::Offset(10)] {
        let options = GetOptions::new().with_range(Some(range.clone()));
        let error = store.get_opts(&path("a"), options).await.unwrap_err();
        assert!(matches!(error, Error::Generic { .. }), "{range:?}: {error}");
    }
    let ranges = store.get_ranges(&path("a"), &[8..20, 0..2]).await.unwrap();
    assert_eq!(ranges, [Bytes::from_static(b"89"), Bytes::from_static(b"01")]);
}

#[tokio::test]
async fn short_upload_is_one_put() {
    let (blobs, store) = memory();
    let mut upload = store.put_multipart(&path("a")).await.unwrap();
    for piece in ["one ", "two ", "three"] {
        upload.put_part(piece.into()).await.unwrap();
    }
    assert_eq!(uploads(&blobs).await, 0);
    upload.complete().await.unwrap();
    assert_eq!(blobs.read("a").await.unwrap().unwrap(), "one two three");
    assert!(upload.complete().await.is_err() && upload.put_part("x".into()).await.is_err());
    let mut empty = store.put_multipart(&path("empty")).await.unwrap();
    empty.complete().await.unwrap();
    assert_eq!(blobs.read("empty").await.unwrap().unwrap(), "");
}

#[tokio::test]
async fn small_parts_are_gathered_to_5_mb() {
    let (blobs, store) = memory();
    let mut upload = store.put_multipart(&path("a")).await.unwrap();
    let mut expected = Vec::new();
    // Polled in reverse, which decides nothing about the order of the content.
    let mut parts = Vec::new();
    for number in 0..12_u8 {
        let piece = vec![number; (1 << 20) + 1];
        expected.extend_from_slice(&piece);
        parts.push(upload.put_part(piece.into()));
    }
    while let Some(part) = parts.pop() {
        part.await.unwrap();
    }
    assert_eq!(uploads(&blobs).await, 1);
    upload.complete().await.unwrap();
    assert!(blobs.read("a").await.unwrap().unwrap() == expected);
    assert_eq!(uploads(&blobs).await, 0);
    let etag = blobs.info("a").await.unwrap().unwrap().etag;
    assert!(etag.ends_with("-3"), "5 MB, 5 MB and the rest: {etag}");
}

#[tokio::test]
async fn completion_without_all_parts_fails() {
    let (blobs, store) = memory();
    let mut upload = store.put_multipart(&path("a")).await.unwrap();
    upload.put_part(vec![1; 5 << 20].into()).await.unwrap();
    drop(upload.put_part(vec![2; 5 << 20].into()));
    let error = upload.complete().await.unwrap_err();
    assert!(error.to_string().contains("2 parts, and 1 are stored"), "{error}");
    upload.abort().await.unwrap();
    assert_eq!(uploads(&blobs).await, 0);
    assert_eq!(blobs.info("a").await.unwrap(), None);
    assert!(upload.complete().await.is_err());
}

#[tokio::test]
async fn keys_that_are_no_paths_are_not_listed() {
    let (blobs, store) = memory();
    for key in ["/a", "a/", "a//b", "a/../b", "a\nb", "b", "c/d"] {
        blobs.put(PutBlob::new(key, "x")).await.unwrap();
    }
    assert_eq!(blobs.list(ListBlobs::new()).await.unwrap().blobs.len(), 7);
    let listed = store.list(None).map_ok(|meta| meta.location.to_string());
    assert_eq!(listed.try_collect::<Vec<_>>().await.unwrap(), ["b", "c/d"]);
    let level = store.list_with_delimiter(Some(&path("a"))).await.unwrap();
    assert!(level.objects.is_empty() && level.common_prefixes.is_empty(), "{level:?}");
}
