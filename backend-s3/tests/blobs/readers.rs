//! Readers keep the content that they have opened.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use futures::TryStreamExt as _;
use tabla_core::ErrorKind;
use tabla_core::blobs::*;

use crate::support::*;

const HOUR: Duration = Duration::from_secs(60 * 60);
/// Part of a multipart blob: the least that S3 accepts.
const PART: usize = 5 << 20;

/// Reads the first piece, lets `change` happen, and reads the rest.
async fn read_across(
    blobs: &dyn Blobs,
    key: &str,
    change: impl Future<Output = ()>,
) -> tabla_core::Result<BytesMut> {
    let mut body = blobs.get(GetBlob::new(key)).await?.body;
    let first = body.try_next().await?.expect("a piece");
    let mut all = BytesMut::from(&first[..]);
    change.await;
    while let Some(piece) = body.try_next().await? {
        all.extend_from_slice(&piece);
    }
    Ok(all)
}

#[tokio::test]
async fn reader_keeps_its_content_while_the_blob_is_replaced_and_deleted() {
    let (all, _parent) = both().await;
    for (engine, buckets) in all {
        let blobs = buckets.open_bucket("default").await.unwrap();
        let old = bytes(1, 3_000_000);
        for is_replaced in [true, false] {
            blobs.put(PutBlob::new("a", old.clone())).await.unwrap();
            let change = async {
                match is_replaced {
                    true => drop(blobs.put(PutBlob::new("a", "new")).await.unwrap()),
                    false => drop(blobs.delete(DeleteBlob::new("a")).await.unwrap()),
                }
            };
            assert_eq!(read_across(&*blobs, "a", change).await.unwrap(), old, "{engine}");
        }
        assert_eq!(failure(read(&*blobs, "a").await).code(), "NoSuchKey");
    }
}

#[tokio::test]
async fn reader_of_a_multipart_blob_has_an_hour_after_its_deletion() {
    for (pause, is_whole) in [(HOUR - Duration::from_secs(1), true), (HOUR, false)] {
        let sample = Sample::new().await;
        let parts = [bytes(1, PART), bytes(2, PART), bytes(3, 7)];
        upload_parts(&*sample.blobs, "film", &parts).await.unwrap();
        let change = async {
            sample.blobs.delete(DeleteBlob::new("film")).await.unwrap();
            sample.clock.advance(pause);
            sample.folder.sweep().await.unwrap();
        };
        let outcome = read_across(&*sample.blobs, "film", change).await;
        match is_whole {
            true => assert_eq!(outcome.unwrap(), parts.concat()),
            false => {
                let error = failure(outcome);
                assert_eq!(error.kind(), &ErrorKind::Unavailable);
                assert!(error.message().contains("over 1 hour ago"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn ranges_of_a_multipart_blob_cross_its_parts() {
    let sample = Sample::new().await;
    let parts = [bytes(1, PART), bytes(2, PART + 1), bytes(3, 7)];
    upload_parts(&*sample.blobs, "film", &parts).await.unwrap();
    let all = parts.concat();
    let part = PART as u64;
    for range in
        [0..all.len() as u64, part - 2..part + 2, part..part + 1, 2 * part - 9..2 * part + 8]
    {
        let get = GetBlob::new("film").range(range.clone());
        let found = sample.blobs.get(get).await.unwrap();
        assert_eq!(found.range, range);
        let found = found.body.collect().await.unwrap();
        assert_eq!(found, all[range.start as usize..range.end as usize], "{range:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_see_a_whole_content_while_others_write() {
    let sample = Sample::new().await;
    let content = |number: u64| bytes(number, 100_000 + number as usize % 3);
    sample.blobs.put(PutBlob::new("a", content(0))).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..2 {
        let blobs = Arc::clone(&sample.blobs);
        tasks.spawn(async move {
            for number in 0..100 {
                blobs.put(PutBlob::new("a", content(writer * 100 + number))).await.unwrap();
            }
        });
    }
    for _ in 0..2 {
        let blobs = Arc::clone(&sample.blobs);
        tasks.spawn(async move {
            for _ in 0..300 {
                // Verified against the checksum of the row.
                let found = blobs.get(GetBlob::new("a")).await.unwrap();
                let size = found.info.size;
                assert_eq!(found.body.collect().await.unwrap().len() as u64, size);
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(sample.files().len(), 1);
    assert_agreement(&sample.path);
}

#[tokio::test]
async fn copies_share_files_until_the_last_is_deleted() {
    let sample = Sample::new().await;
    let content = bytes(1, 100_000);
    sample.blobs.put(PutBlob::new("a", content.clone())).await.unwrap();
    for key in ["b", "c"] {
        sample.blobs.copy(CopyBlob::new("a", key)).await.unwrap();
    }
    let headers = BlobHeaders::of_type("image/png");
    let copy = CopyBlob::new("c", "c").replace(headers.clone(), Default::default());
    sample.blobs.copy(copy).await.unwrap();
    assert_eq!(sample.files().len(), 1);
    sample.blobs.delete(DeleteBlob::new("a")).await.unwrap();
    sample.blobs.put(PutBlob::new("b", "other")).await.unwrap();
    assert_agreement(&sample.path);
    assert_eq!(read(&*sample.blobs, "c").await.unwrap(), content);
    assert_eq!(sample.blobs.head(HeadBlob::new("c")).await.unwrap().headers, headers);
    sample.blobs.delete_many(DeleteBlobs::new(["b", "c", "d"])).await.unwrap();
    assert_eq!(sample.files().len(), 0);
    assert_agreement(&sample.path);
}
