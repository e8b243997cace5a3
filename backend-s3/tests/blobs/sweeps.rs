//! Sweeps: they delete what no blob lists, and no upload in progress.

use std::time::Duration;

use tabla_core::blobs::*;
use tabla_s3::{FileFolder, FileSweep};

use crate::support::*;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Part of a multipart blob: the least that S3 accepts.
const PART: usize = 5 << 20;

#[tokio::test]
async fn sweep_during_100_slow_uploads_removes_none() {
    const UPLOADS: u64 = 100;
    const LENGTH: usize = 300_000;
    let sample = Sample::new().await;
    let (mut senders, mut puts) = (Vec::new(), tokio::task::JoinSet::new());
    for number in 0..UPLOADS {
        let (send, body) = slow_body(LENGTH + 1);
        send.unbounded_send(Ok(bytes(number, LENGTH))).unwrap();
        senders.push(send);
        let blobs = std::sync::Arc::clone(&sample.blobs);
        let put = PutBlob::new(format!("slow-{number}"), body);
        puts.spawn(async move { blobs.put(put).await });
    }
    // As another process: it shares only the folder.
    let other = FileFolder::open(&sample.path).await.unwrap();
    // A sweep may find a file between its creation and its lock. Then the upload takes another one.
    let mut sweeps = 0;
    while other.sweep().await.unwrap().in_progress < UPLOADS {
        sweeps += 1;
        assert!(sweeps < 5000, "not all uploads have locked their files");
    }
    let report = other.sweep().await.unwrap();
    assert_eq!((report.unreferenced, report.in_progress), (0, UPLOADS));
    for send in senders {
        send.unbounded_send(Ok("!".into())).unwrap();
    }
    while let Some(outcome) = puts.join_next().await {
        outcome.unwrap().unwrap();
    }
    assert_eq!(other.sweep().await.unwrap(), FileSweep::default());
    for number in 0..UPLOADS {
        let found = read(&*sample.blobs, &format!("slow-{number}")).await.unwrap();
        assert_eq!(found, [&bytes(number, LENGTH)[..], b"!"].concat());
    }
    assert_agreement(&sample.path);
}

#[tokio::test]
async fn dropped_and_failed_puts_leave_nothing() {
    let sample = Sample::new().await;
    sample.blobs.put(PutBlob::new("a", "old")).await.unwrap();
    let (send, body) = slow_body(1_000_000);
    send.unbounded_send(Ok(bytes(1, 600_000))).unwrap();
    let put = tokio::spawn({
        let blobs = std::sync::Arc::clone(&sample.blobs);
        async move { blobs.put(PutBlob::new("a", body)).await }
    });
    while sample.files().len() < 2 {
        tokio::task::yield_now().await;
    }
    put.abort();
    assert!(put.await.unwrap_err().is_cancelled());
    // Too short, too long, another checksum, a failed condition, an error of the stream.
    let short = Body::stream(9, futures::stream::iter([Ok("123".into())]));
    let long = Body::stream(1, futures::stream::iter([Ok("123".into())]));
    let broken = tabla_core::Error::validation("the source broke");
    let broken = Body::stream(9, futures::stream::iter([Ok("123".into()), Err(broken)]));
    let sha = Checksum::of(ChecksumAlgorithm::Sha256, b"other");
    for (put, code) in [
        (PutBlob::new("a", short), "IncompleteBody"),
        (PutBlob::new("a", long), "IncompleteBody"),
        (PutBlob::new("a", broken), "ValidationException"),
        (PutBlob::new("a", "new").expect(sha), "BadDigest"),
        (PutBlob::new("a", "new").if_absent(), "PreconditionFailed"),
    ] {
        assert_eq!(failure(sample.blobs.put(put).await).code(), code);
    }
    assert_eq!(read(&*sample.blobs, "a").await.unwrap(), "old");
    // A write that was under way when its future was dropped removes its file afterwards.
    while sample.files().len() > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(sample.folder.sweep().await.unwrap(), FileSweep::default());
    assert_agreement(&sample.path);
}

#[tokio::test]
async fn file_that_no_blob_lists_is_removed_and_a_foreign_one_stays() {
    let sample = Sample::new().await;
    sample.blobs.put(PutBlob::new("a", "1")).await.unwrap();
    let subfolder = sample.path.join("data/0a");
    let left = subfolder.join("0a0000000000000000000000000000ff");
    let foreign = subfolder.join("notes.txt");
    std::fs::write(&left, "left by a killed process").unwrap();
    std::fs::write(&foreign, "of somebody else").unwrap();
    let report = sample.folder.sweep().await.unwrap();
    assert_eq!(report.unreferenced, 1);
    assert!(!left.exists() && foreign.exists());
    assert_eq!(read(&*sample.blobs, "a").await.unwrap(), "1");
}

#[tokio::test]
async fn abandoned_multipart_upload_leaves_nothing_after_its_sweep() {
    let sample = Sample::new().await;
    let create = CreateUpload::new("film");
    let old = sample.blobs.create_upload(create.clone()).await.unwrap().upload;
    for number in [1, 2] {
        let part = UploadPart::new("film", &old, number, bytes(1, 100_000));
        sample.blobs.upload_part(part).await.unwrap();
    }
    sample.clock.advance(DAY);
    let young = sample.blobs.create_upload(create).await.unwrap().upload;
    let part = UploadPart::new("film", &young, 1, "a part");
    let part = sample.blobs.upload_part(part).await.unwrap();
    sample.clock.advance(6 * DAY);
    assert_eq!(sample.folder.sweep().await.unwrap().uploads, 0, "exactly 7 days are not too old");
    sample.clock.advance(Duration::from_secs(1));
    assert_eq!(sample.folder.sweep().await.unwrap().uploads, 1);
    let error = failure(sample.blobs.list_parts(ListParts::new("film", &old)).await);
    assert_eq!(error.code(), "NoSuchUpload");
    assert_eq!(sample.files().len(), 1);
    let complete = CompleteUpload::new("film", young, [part]);
    sample.blobs.complete_upload(complete).await.unwrap();
    assert_eq!(read(&*sample.blobs, "film").await.unwrap(), "a part");
    assert_agreement(&sample.path);
    // A shorter limit.
    sample.blobs.create_upload(CreateUpload::new("film")).await.unwrap();
    sample.clock.advance(2 * HOUR);
    let strict = sample.folder.clone().with_upload_ttl(HOUR);
    assert_eq!(strict.sweep().await.unwrap().uploads, 1);
}

#[tokio::test]
async fn files_of_a_deleted_multipart_blob_stay_for_an_hour() {
    let sample = Sample::new().await;
    let parts = [bytes(1, PART), bytes(2, 10)];
    upload_parts(&*sample.blobs, "film", &parts).await.unwrap();
    assert_eq!(sample.files().len(), 2);
    sample.blobs.delete(DeleteBlob::new("film")).await.unwrap();
    sample.clock.advance(HOUR - Duration::from_secs(1));
    assert_eq!(sample.folder.sweep().await.unwrap(), FileSweep::default());
    assert_eq!(sample.files().len(), 2);
    sample.clock.advance(Duration::from_secs(1));
    assert_eq!(sample.folder.sweep().await.unwrap().garbage, 2);
    assert_eq!(sample.files().len(), 0);
    assert_agreement(&sample.path);
}

#[tokio::test]
async fn put_starts_a_sweep_once_an_hour() {
    let sample = Sample::new().await;
    let folder = sample.folder.clone().with_sweeps(true);
    let blobs = folder.blobs("default").unwrap();
    let left = sample.path.join("data/0a/0a0000000000000000000000000000ff");
    let put = async || blobs.put(PutBlob::new("a", "1")).await.unwrap();
    std::fs::write(&left, "left by a killed process").unwrap();
    // The creation of the folder counts as a sweep.
    put().await;
    sample.clock.advance(HOUR - Duration::from_secs(1));
    put().await;
    let catalogue = rusqlite::Connection::open(sample.path.join("catalogue.db")).unwrap();
    let swept = || -> i64 {
        catalogue.query_row("SELECT swept FROM folder", [], |row| row.get(0)).unwrap()
    };
    let created = swept();
    assert!(left.exists());
    sample.clock.advance(Duration::from_secs(1));
    put().await;
    // The sweep runs on a thread of its own.
    while swept() == created {
        tokio::task::yield_now().await;
    }
    assert!(!left.exists());
    assert_eq!(swept() - created, HOUR.as_millis() as i64);
}
