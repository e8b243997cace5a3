//! Creation of folders, and folders that are refused.

use std::os::unix::fs::PermissionsExt as _;

use tabla_core::ErrorKind;
use tabla_core::blobs::*;
use tabla_s3::{Buckets as _, FileFolder};

use crate::support::*;

#[tokio::test]
async fn catalogue_is_readable_by_its_owner_alone() {
    let sample = Sample::new().await;
    sample.blobs.put(PutBlob::new("a", "1")).await.unwrap();
    for name in ["catalogue.db", "catalogue.db-wal", "catalogue.db-shm"] {
        let mode = sample.path.join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn interrupted_creation_is_completed() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("assets");
    for step in 0..4 {
        std::fs::create_dir(&path).unwrap();
        if step >= 1 {
            std::fs::write(path.join("lock"), "").unwrap();
        }
        if step >= 2 {
            std::fs::create_dir_all(path.join("data/00")).unwrap();
        }
        if step >= 3 {
            std::fs::write(path.join("catalogue.db"), "").unwrap();
            std::fs::create_dir(path.join("data/01")).unwrap();
        }
        let (_folder, blobs) = open(&path).await;
        blobs.put(PutBlob::new("a", "1")).await.unwrap();
        assert_agreement(&path);
        std::fs::remove_dir_all(&path).unwrap();
    }
}

#[tokio::test]
async fn foreign_newer_and_damaged_catalogues_are_refused_and_not_changed() {
    let config = ErrorKind::Config;
    for (sql, kind, parts) in [
        (
            "CREATE TABLE a (b)",
            config.clone(),
            ["tabla did not write this SQLite file", "name another folder"],
        ),
        (
            "PRAGMA application_id = 0x54424C42; PRAGMA user_version = 9; CREATE TABLE a (b)",
            config,
            ["file format 9 is newer than this program (1)", "upgrade tabla"],
        ),
        (
            "PRAGMA application_id = 0x54424C42; CREATE TABLE a (b)",
            ErrorKind::Corrupt,
            ["file format 0 is out of range", "restore a backup"],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalogue.db");
        rusqlite::Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        let before = std::fs::read(&file).unwrap();
        let error = failure(FileFolder::open(folder.path()).await);
        assert_eq!(error.kind(), &kind, "{error}");
        assert!(error.message().starts_with("cannot open `"), "{error}");
        assert!(error.message().contains("catalogue.db"), "{error}");
        for part in parts {
            assert!(error.message().contains(part), "{error}");
        }
        assert_eq!(std::fs::read(&file).unwrap(), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("catalogue.db"), "no database".repeat(100)).unwrap();
    let error = failure(FileFolder::open(folder.path()).await);
    assert_eq!(error.kind(), &ErrorKind::Corrupt);
    assert!(error.message().contains("is not an SQLite file"), "{error}");
}

/// Several tasks of one process create the folder at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_opens_create_one_folder() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("assets");
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..8 {
        let path = path.clone();
        tasks.spawn(async move {
            let (folder, blobs) = open(&path).await;
            blobs.put(PutBlob::new(format!("key-{number}"), "1")).await.unwrap();
            folder.signing_key().clone()
        });
    }
    let keys = tasks.join_all().await;
    assert!(keys.iter().all(|key| *key == keys[0]));
    let (_folder, blobs) = open(&path).await;
    assert_eq!(blobs.list(ListBlobs::new()).await.unwrap().blobs.len(), 8);
}

#[tokio::test]
async fn name_of_a_folder_may_have_any_characters() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("a b%20c é?#");
    let (_folder, blobs) = open(&path).await;
    blobs.put(PutBlob::new("a", "1")).await.unwrap();
    assert!(path.join("catalogue.db").exists());
    assert_agreement(&path);
}
