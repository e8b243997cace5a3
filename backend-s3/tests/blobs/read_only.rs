//! Read-only folders and catalogues: clear refusals that change nothing.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tabla_core::ErrorKind;
use tabla_core::blobs::*;
use tabla_s3::FileFolder;

use crate::support::*;

/// Environment variable that marks the child process of a test; its value is the path to open.
const CHILD: &str = "TABLA_TEST_READ_ONLY";

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_that_is_refused() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let error = block_on(async { failure(FileFolder::open(path).await) });
    assert_eq!(error.kind(), &ErrorKind::AccessDenied, "{error}");
    assert!(error.message().starts_with("cannot "), "{error}");
    assert!(error.message().contains("writable"), "{error}");
    println!("refused");
}

/// Opens a folder in a child without the privilege to ignore permissions.
fn open_in_child(path: &Path) {
    let mut command = match ignores_permissions() {
        false => Command::new(std::env::current_exe().expect("this program")),
        true => {
            let mut command = Command::new("setpriv");
            command
                .args(["--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"])
                .arg(std::env::current_exe().expect("this program"));
            command
        }
    };
    let output = command
        .args(["--exact", "read_only::child_that_is_refused", "--nocapture"])
        .env(CHILD, path)
        .output()
        .expect("a child");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("refused"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

/// Whether this process may write read-only files, as root may.
fn ignores_permissions() -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    set_mode(folder.path(), 0o555);
    std::fs::write(folder.path().join("a"), "").is_ok()
}

#[test]
fn folder_in_a_read_only_folder_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    set_mode(parent.path(), 0o555);
    open_in_child(&parent.path().join("assets"));
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
fn read_only_empty_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    set_mode(folder.path(), 0o555);
    open_in_child(folder.path());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn read_only_catalogue_is_refused_and_not_changed() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("assets");
    block_on(async {
        let (_folder, blobs) = open(&path).await;
        blobs.put(PutBlob::new("a", "1")).await.unwrap();
    });
    let file = path.join("catalogue.db");
    let before = std::fs::read(&file).unwrap();
    set_mode(&file, 0o444);
    open_in_child(&path);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    set_mode(&file, 0o600);
    block_on(async {
        let (_folder, blobs) = open(&path).await;
        assert_eq!(read(&blobs, "a").await.unwrap(), "1");
    });
}
