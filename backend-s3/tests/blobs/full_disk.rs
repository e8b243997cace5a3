//! Full disks: a failed upload leaves no trace, and nothing is lost.

use std::path::Path;
use std::process::Command;

use futures::StreamExt as _;
use tabla_core::blobs::*;
use tabla_core::{Applied, Error, ErrorKind, Retry};

use crate::support::*;

/// Environment variable that marks the child process of a test; its value is the path of the folder.
const CHILD: &str = "TABLA_TEST_FULL_DISK";
/// Largest file of the child, in bytes.
const LIMIT: usize = 2_000_000;

fn check_error(error: &Error) {
    assert!(error.is_disk_full(), "{error}");
    assert_eq!((error.kind(), error.retry()), (&ErrorKind::Unavailable, Retry::Exhausted));
    assert_eq!(error.applied(), Applied::No);
    assert!(error.message().contains("/data/"), "{error}");
    assert!(error.message().contains("free some space"), "{error}");
}

/// Uploads too much in each way.
async fn upload_until_full(path: &Path) {
    let (folder, blobs) = open(path).await;
    let large = bytes(2, 4 * LIMIT);
    let _ = blobs.put(PutBlob::new("a", "old").if_absent()).await;
    for put in [PutBlob::new("a", large.clone()), PutBlob::new("a", pieces(&large, 70_000))] {
        check_error(&failure(blobs.put(put).await));
        assert_eq!(read(&blobs, "a").await.expect("the old blob"), "old");
    }
    check_error(&failure(blobs.put(PutBlob::new("new", large.clone())).await));
    assert_eq!(blobs.info("new").await.expect("a response"), None);
    let upload = blobs.create_upload(CreateUpload::new("film")).await.expect("an upload").upload;
    let part = UploadPart::new("film", &upload, 1, large);
    check_error(&failure(blobs.upload_part(part).await));
    let parts = blobs.list_parts(ListParts::new("film", &upload)).await.expect("a page");
    assert_eq!(parts, PartPage::default());
    // What fits is written.
    let small =
        blobs.upload_part(UploadPart::new("film", &upload, 1, "part")).await.expect("a part");
    blobs.complete_upload(CompleteUpload::new("film", upload, [small])).await.expect("a blob");
    assert_eq!(data_files(path).len(), 2, "failed uploads have left files");
    assert_eq!(folder.sweep().await.expect("a sweep").unreferenced, 0);
    // Until the catalogue is full.
    let mut count = 0;
    let error = loop {
        assert!(count < 20_000, "the disk does not get full");
        match blobs.put(PutBlob::new(format!("small-{count}"), "content")).await {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    // SQLite reports a file-size limit as an I/O error, and a full disk as one.
    assert_eq!((error.kind(), error.retry()), (&ErrorKind::Unavailable, Retry::Exhausted));
    let found = blobs.list_all(ListBlobs::with_prefix("small-")).count().await;
    let is_maybe_written = error.applied() == Applied::Maybe && found == count + 1;
    assert!(found == count || is_maybe_written, "{found} blobs, {count} answered: {error}");
    println!("full");
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_on_a_small_disk() {
    let Ok(path) = std::env::var(CHILD) else { return };
    block_on(upload_until_full(path.as_ref()));
}

/// Runs the test in a child whose files are limited, so that larger writes fail as on a full disk.
#[test]
fn full_disk_during_an_upload_loses_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("assets");
    block_on(async {
        let (_folder, blobs) = open(&path).await;
        blobs.put(PutBlob::new("a", "old")).await.unwrap();
    });
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"", "sh"])
        .arg((LIMIT / 512).to_string())
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", "full_disk::child_on_a_small_disk", "--nocapture"])
        .env(CHILD, &path)
        .output()
        .expect("a child");
    let output = String::from_utf8_lossy(&limited.stdout);
    assert!(limited.status.success(), "{output}{}", String::from_utf8_lossy(&limited.stderr));
    assert!(output.contains("full"), "{output}");
    block_on(async {
        let (folder, blobs) = open(&path).await;
        folder.sweep().await.unwrap();
        assert_agreement(&path);
        assert_eq!(read(&blobs, "a").await.unwrap(), "old");
        assert_eq!(read(&blobs, "film").await.unwrap(), "part");
        let large = bytes(2, 4 * LIMIT);
        blobs.put(PutBlob::new("a", large.clone())).await.unwrap();
        assert_eq!(read(&blobs, "a").await.unwrap(), large);
    });
}
