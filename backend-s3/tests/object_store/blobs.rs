//! [`ObjectStoreBlobs`]: what the conformance suite does not test.

use std::sync::Arc;

use bytes::Bytes;
use futures::{TryStreamExt, stream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use object_store::{Attribute, Attributes, ObjectStore, ObjectStoreExt, PutOptions};
use tabla_core::ErrorKind;
use tabla_core::blobs::*;
use tabla_s3::{BlobsObjectStore, MemoryBlobs, ObjectStoreBlobs};

fn in_memory() -> (Arc<InMemory>, ObjectStoreBlobs) {
    let store = Arc::new(InMemory::new());
    let blobs = ObjectStoreBlobs::new(Arc::clone(&store) as Arc<dyn ObjectStore>);
    (store, blobs.put_if_absent().put_if_match().copy_if_absent().metadata())
}

/// Stream of this many bytes, in pieces of 1 MB and a rest.
fn stream_of(length: usize) -> Body {
    let pieces = (0..length).step_by(1 << 20).map(move |start| {
        let end = length.min(start + (1 << 20));
        Ok((start..end).map(|position| (position / 7) as u8).collect::<Vec<_>>().into())
    });
    Body::stream(length as u64, stream::iter(pieces.collect::<Vec<_>>()))
}

fn bytes_of(length: usize) -> Vec<u8> {
    (0..length).map(|position| (position / 7) as u8).collect()
}

#[tokio::test]
async fn long_stream_is_an_upload_with_headers() {
    let (_, blobs) = in_memory();
    let length = (35 << 20) + 3;
    let checksum = Checksum::of(ChecksumAlgorithm::Sha256, &bytes_of(length));
    let put = PutBlob::new("long", stream_of(length)).content_type("text/plain");
    let output = blobs.put(put.metadata("page", "2").expect(checksum)).await.unwrap();
    let found = blobs.get(GetBlob::new("long")).await.unwrap();
    assert_eq!(found.info.etag, output.etag);
    assert_eq!(found.info.headers.content_type(), "text/plain");
    assert_eq!(found.info.metadata["page"], "2");
    assert!(found.body.collect().await.unwrap() == bytes_of(length));
}

#[tokio::test]
async fn long_stream_with_wrong_checksum_writes_nothing() {
    let (store, blobs) = in_memory();
    blobs.put(PutBlob::new("long", "old")).await.unwrap();
    let wrong = Checksum::of(ChecksumAlgorithm::Crc32c, b"other");
    let put = PutBlob::new("long", stream_of(9 << 20)).expect(wrong);
    assert_eq!(blobs.put(put).await.unwrap_err().code(), "BadDigest");
    let failing = stream::iter([
        Ok(Bytes::from(vec![0; 9 << 20])),
        Err(tabla_core::Error::validation("the source has ended").with_code("SourceEnded")),
    ]);
    let put = PutBlob::new("long", Body::stream(10 << 20, failing));
    assert_eq!(blobs.put(put).await.unwrap_err().code(), "SourceEnded");
    let bytes = store.get(&Path::from("long")).await.unwrap().bytes().await.unwrap();
    assert_eq!(bytes, "old");
}

#[tokio::test]
async fn condition_of_a_long_stream_is_unsupported_before_it_is_read() {
    let (_, blobs) = in_memory();
    let blobs = blobs.buffered_bytes(4);
    let unread = |length| Body::stream(length, stream::pending());
    let error = blobs.put(PutBlob::new("a", unread(5)).if_absent()).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unsupported);
    assert!(error.message().contains("5 bytes: at most 4"), "{error}");
    let short = Body::stream(4, stream::iter([Ok(Bytes::from_static(b"four"))]));
    blobs.put(PutBlob::new("a", short).if_absent()).await.unwrap();
    assert_eq!(blobs.read("a").await.unwrap().unwrap(), "four");
}

#[tokio::test]
async fn undeclared_capabilities_are_refused() {
    let blobs = ObjectStoreBlobs::new(Arc::new(InMemory::new()));
    let refused = |error: tabla_core::Error| assert_eq!(error.kind(), &ErrorKind::Unsupported);
    refused(blobs.put(PutBlob::new("a", "x").if_absent()).await.unwrap_err());
    refused(blobs.put(PutBlob::new("a", "x").if_match("0")).await.unwrap_err());
    refused(blobs.put(PutBlob::new("a", "x").metadata("page", "2")).await.unwrap_err());
    refused(blobs.create_upload(CreateUpload::new("a")).await.unwrap_err());
    refused(blobs.delete(DeleteBlob::new("a").if_match("0")).await.unwrap_err());
    assert_eq!(blobs.info("a").await.unwrap(), None);
}

#[tokio::test]
async fn objects_of_others_are_read() {
    let (store, blobs) = in_memory();
    let attributes = Attributes::from_iter([
        (Attribute::ContentType, "image/png"),
        (Attribute::StorageClass, "COLD"),
        (Attribute::Metadata("Upper Case".into()), "ñ"),
    ]);
    let options = PutOptions { attributes, ..PutOptions::default() };
    store.put_opts(&Path::from("a/b"), "x".into(), options).await.unwrap();
    let info = blobs.info("a/b").await.unwrap().unwrap();
    assert_eq!(info.headers, BlobHeaders::of_type("image/png"));
    assert_eq!(info.metadata["Upper Case"], "ñ");
}

/// A store that lists behind a delay: one page reads one level alone.
#[tokio::test]
async fn delimiter_reads_one_level() {
    let (store, _) = in_memory();
    for number in 0..200 {
        store.put(&Path::from(format!("a/{number}/x")), "x".into()).await.unwrap();
    }
    let wait = std::time::Duration::from_secs(1);
    let config = ThrottleConfig { wait_list_per_entry: wait, ..ThrottleConfig::default() };
    let store = ThrottledStore::new(InMemory::clone(&store), config);
    let blobs = ObjectStoreBlobs::new(Arc::new(store));
    let page = blobs.list(ListBlobs::new().delimiter("/")).await.unwrap();
    assert_eq!((page.prefixes, page.next), (vec!["a/".to_owned()], None));
}

#[tokio::test]
async fn upload_gathers_a_stream_of_unknown_length() {
    let store = Arc::new(InMemory::new());
    let blobs = ObjectStoreBlobs::with_multipart(store).metadata();
    let upload = Upload::new("long").part_bytes(5 << 20);
    let content = stream_of((11 << 20) + 1).into_stream();
    let create = CreateUpload::new("long").metadata("page", "2");
    blobs.upload(upload.create(create), content).await.unwrap();
    let found = blobs.get(GetBlob::new("long")).await.unwrap();
    assert_eq!(found.info.metadata["page"], "2");
    assert!(found.body.collect().await.unwrap() == bytes_of((11 << 20) + 1));
    assert_eq!(blobs.list_uploads(ListUploads::new()).await.unwrap().uploads, []);
}

#[tokio::test]
async fn completion_with_gap_or_condition_is_unsupported() {
    let blobs = ObjectStoreBlobs::with_multipart(Arc::new(InMemory::new())).put_if_absent();
    let capabilities = blobs.capabilities();
    assert!(!capabilities.conditional_uploads && !capabilities.any_parts);
    let upload = blobs.create_upload(CreateUpload::new("a")).await.unwrap().upload;
    let part = |number| blobs.upload_part(UploadPart::new("a", &upload, number, "x"));
    let (first, third) = (part(1).await.unwrap(), part(3).await.unwrap());
    let complete = |parts: &[UploadedPart]| CompleteUpload::new("a", &upload, parts.to_vec());
    for request in [
        complete(std::slice::from_ref(&first)),
        complete(std::slice::from_ref(&third)),
        complete(std::slice::from_ref(&first)).if_absent(),
    ] {
        let error = blobs.complete_upload(request).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Unsupported, "{error}");
    }
    blobs.abort_upload(AbortUpload::new("a", &upload)).await.unwrap();
    assert_eq!(blobs.info("a").await.unwrap(), None);
}

#[tokio::test]
async fn expected_checksum_of_an_upload_is_verified() {
    let blobs = ObjectStoreBlobs::with_multipart(Arc::new(InMemory::new()));
    let upload = blobs.create_upload(CreateUpload::new("a")).await.unwrap().upload;
    let part = blobs.upload_part(UploadPart::new("a", &upload, 1, "content")).await.unwrap();
    assert_eq!(part.checksum, None);
    let request = |bytes: &[u8]| {
        let checksum = Checksum::of(ChecksumAlgorithm::Crc64Nvme, bytes);
        CompleteUpload::new("a", &upload, [part.clone()]).expected_checksum(Some(checksum))
    };
    let error = blobs.complete_upload(request(b"other")).await.unwrap_err();
    assert_eq!(error.code(), "BadDigest");
    blobs.complete_upload(request(b"content")).await.unwrap();
    assert_eq!(blobs.read("a").await.unwrap().unwrap(), "content");
}

#[tokio::test]
async fn content_survives_the_round_trip() {
    let inner = Arc::new(MemoryBlobs::new());
    let store = Arc::new(BlobsObjectStore::new(Arc::clone(&inner) as Arc<dyn Blobs>));
    let outer = ObjectStoreBlobs::with_multipart(store).put_if_match().metadata();
    let put = PutBlob::new("a/b c", "content").content_type("text/plain").metadata("page", "2");
    let output = outer.put(put).await.unwrap();
    let (one, two) = (inner.info("a/b c").await.unwrap(), outer.info("a/b c").await.unwrap());
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((&one.etag, &two.etag), (&output.etag, &output.etag));
    assert_eq!((&one.headers, &one.metadata), (&two.headers, &two.metadata));
    assert_eq!((one.size, one.last_modified), (two.size, two.last_modified));
    // A key that is no path stays hidden.
    inner.put(PutBlob::new("a//b", "hidden")).await.unwrap();
    inner.put(PutBlob::new("folder/", "hidden")).await.unwrap();
    let keys: Vec<String> =
        outer.list_all(ListBlobs::new()).map_ok(|blob| blob.key).try_collect().await.unwrap();
    assert_eq!(keys, ["a/b c"]);
    let found = outer.get(GetBlob::new("a/b c").range(ByteRange::Last(4))).await.unwrap();
    assert_eq!(found.body.collect().await.unwrap(), "tent");
    let error = outer.put(PutBlob::new("a/b c", "x").if_match("other")).await.unwrap_err();
    assert_eq!(error.code(), "PreconditionFailed");
}
