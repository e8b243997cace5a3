//! Addresses: options, and refusals that create nothing.

use std::time::Duration;

use tabla_core::blobs::*;
use tabla_core::{ErrorKind, Result};
use tabla_s3::{FileOpener, MemoryOpener};

use crate::support::*;

fn registry() -> BlobRegistry {
    let mut registry = BlobRegistry::new();
    registry.register(MemoryOpener).register(FileOpener);
    registry
}

#[tokio::test]
async fn bad_address_names_value_cause_and_remedy_and_creates_nothing() {
    let parent = tempfile::tempdir().unwrap();
    std::fs::write(parent.path().join("file"), "text").unwrap();
    std::fs::create_dir(parent.path().join("other")).unwrap();
    std::fs::write(parent.path().join("other/notes.txt"), "text").unwrap();
    let here = parent.path().display();
    let names = || {
        let entries = std::fs::read_dir(parent.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    for (address, parts) in [
        ("file:".to_owned(), ["name a folder", "`file:assets`"]),
        ("file://assets".to_owned(), ["`//assets`", "write `file:assets`"]),
        (format!("file:{here}/file"), ["it is a file", "name a folder"]),
        (format!("file:{here}/file/assets"), ["/file` is a file", "name a folder"]),
        (format!("file:{here}/none/assets"), ["there is no folder", "create it first"]),
        (format!("file:{here}/other"), ["`notes.txt`", "name a new or an empty folder"]),
        (format!("file:{here}/a?bucket=No"), ["the bucket name `No`", "3 to 63 lower-case"]),
        (format!("file:{here}/a?public=127.0.0.1"), ["not `127.0.0.1`", "http://127.0.0.1:9000"]),
        (format!("file:{here}/a?versions=yes"), ["`versions` is `on` or `off`", "not `yes`"]),
        (format!("file:{here}/a?uploads=0"), ["a number of days, at least 1", "not `0`"]),
        (format!("file:{here}/a?uploads=week"), ["a number of days", "not `week`"]),
        (format!("file:{here}/a?sweep=never"), ["`sweep` is `on` or `off`", "not `never`"]),
        (
            format!("file:{here}/a?version=on"),
            ["bucket, public, versions, uploads, sweep, retries", ": version"],
        ),
        ("memory:assets".to_owned(), ["takes no name", "leave it out"]),
        ("memory:?bucket=a_b".to_owned(), ["the bucket name `a_b`", "3 to 63"]),
        ("memory:?public=ftp://a".to_owned(), ["`ftp://a`", "http://127.0.0.1:9000"]),
        ("memory:?sweep=off".to_owned(), ["bucket, public, versions, retries", ": sweep"]),
        ("disk:assets".to_owned(), ["no backend of blobs opens `disk:`", "file:assets"]),
    ] {
        let error = failure(registry().open(&address).await);
        assert_eq!(error.kind(), &ErrorKind::Config, "{address}: {error}");
        assert!(error.message().starts_with("cannot open `"), "{error}");
        for part in parts {
            assert!(error.message().contains(part), "{address}: no {part:?} in {error}");
        }
    }
    assert_eq!(names(), ["file", "other"]);
}

#[tokio::test]
async fn address_opens_one_bucket_of_a_folder() -> Result<()> {
    let parent = tempfile::tempdir().unwrap();
    let address = |options: &str| format!("file:{}/assets{options}", parent.path().display());
    let open = async |options: &str| registry().open(&address(options)).await;
    let photos = open("?bucket=photos&versions=on&uploads=1&sweep=off").await?;
    photos.put(PutBlob::new("a", "1")).await?;
    assert!(photos.versions().is_some());
    let default = open("").await?;
    assert_eq!(default.list(ListBlobs::new()).await?, BlobPage::new());
    assert!(default.versions().is_none());
    // Versions stay on.
    let again = open("?bucket=photos&public=http://127.0.0.1:9000").await?;
    assert!(again.versions().is_some());
    assert_eq!(read(&*again, "a").await?, "1");
    let get = PresignGet::new("a", Duration::from_secs(60));
    let signed = again.presign().expect("signing").presign_get(get.clone()).await?;
    assert!(signed.url.starts_with("http://127.0.0.1:9000/photos/a?"), "{}", signed.url);
    let error = failure(default.presign().expect("signing").presign_get(get).await);
    assert!(error.message().contains("?public=http://127.0.0.1:9000"), "{error}");
    Ok(())
}

#[tokio::test]
async fn each_open_of_memory_is_a_bucket_of_its_own() -> Result<()> {
    let one = registry().open("memory:?versions=on&public=https://files.example").await?;
    one.put(PutBlob::new("a", "1")).await?;
    assert!(one.versions().is_some());
    let get = PresignGet::new("a", Duration::from_secs(60));
    let signed = one.presign().expect("signing").presign_get(get).await?;
    assert!(signed.url.starts_with("https://files.example/default/a?"), "{}", signed.url);
    let two = registry().open("memory:").await?;
    assert_eq!(two.list(ListBlobs::new()).await?, BlobPage::new());
    Ok(())
}
