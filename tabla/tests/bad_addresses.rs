//! Addresses that cannot be opened: each error names the value, the cause and the remedy, and nothing
//! is created on disk. A scheme whose feature is off is in `outside.rs`, because this program may be
//! built with all features.

use std::fs;
use std::path::Path;

use tabla::{Error, Registry};

/// Names and contents of everything in a folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let bytes = if path.is_file() { fs::read(&path).expect("a file") } else { Vec::new() };
            (path.display().to_string(), bytes)
        })
        .collect();
    found.sort();
    found
}

async fn refused(registry: &Registry, address: &str) -> Error {
    match registry.open(address).await {
        Ok(store) => panic!("{address} was opened: {store:?}"),
        Err(error) => error,
    }
}

/// Opens each address, and compares its error with these parts of it.
async fn all_refused(registry: &Registry, cases: &[(String, &[&str])]) {
    for (address, parts) in cases {
        let message = refused(registry, address).await.to_string();
        for part in *parts {
            assert!(message.contains(part), "{address}: {part:?} is not in: {message}");
        }
    }
}

/// Changes four bytes of a file, such as a field in the header of an SQLite file.
#[cfg(feature = "sqlite")]
fn set_field(path: &str, first: usize, value: i32) {
    let mut bytes = fs::read(path).expect("the file of the test");
    bytes[first..first + 4].copy_from_slice(&value.to_be_bytes());
    fs::write(path, bytes).expect("the file of the test");
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn bad_address_names_value_cause_and_remedy_and_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(at("folder")).unwrap();
    fs::write(
        at("notes.txt"),
        "This is no database, but a text of more than a hundred bytes. ".repeat(9),
    )
    .unwrap();
    // Files of tabla's with other headers: of a later version (`user_version` is at byte 60), of
    // another program and of a version before the first release (`application_id` is at byte 68).
    for (name, first, value) in
        [("newer.db", 60, 77), ("foreign.db", 68, 0x4750_4B47), ("prerelease.db", 68, 0x7461_626C)]
    {
        drop(tabla::open(&format!("sqlite:{}", at(name))).await.unwrap());
        set_field(&at(name), first, value);
    }
    let before = contents(folder.path());
    // Where a path without a folder would be.
    let here = contents(Path::new("."));

    let mut registry = tabla::registry();
    registry.register_missing("cassandra", "enable the feature `cassandra` of the crate `tabla`");
    let sqlite = |name: &str| format!("sqlite:{}", at(name));
    let cases: [(String, &[&str]); 22] = [
        ("".into(), &["cannot open ``", "no colon", "sqlite:shop.db"]),
        ("shop.db".into(), &["`shop.db`", "no colon", "sqlite:shop.db"]),
        ("mongo:shop".into(), &["`mongo:shop`", "no store opens `mongo:`", "memory:"]),
        ("cassandra:shop".into(), &["`cassandra:shop`", "built without", "feature `cassandra`"]),
        ("memory:shop".into(), &["`memory:shop`", "takes no name", "leave it out"]),
        ("memory:?sweep".into(), &["`memory:?sweep`", "has no value", "name=value"]),
        ("memory:?sweep=1&sweep=2".into(), &["`sweep`", "given twice", "leave one out"]),
        ("memory:?sweep=%zz".into(), &["`%zz`", "not well escaped", "%25"]),
        ("memory:?sweeep=5".into(), &["sweeep", "unknown option", "sweep, retries"]),
        ("memory:?retries=some".into(), &["`some`", "`retries`", "`on` or `off`"]),
        ("sqlite:".into(), &["`sqlite:`", "names a file", "sqlite:shop.db"]),
        ("sqlite:a.db?sync=full".into(), &["sync", "unknown option", "durability"]),
        (sqlite("a.db?durability=off"), &["off", "durability", "`full` or `normal`"]),
        (sqlite("a.db?cache=8MB"), &["8MB", "cache", "number of megabytes"]),
        (sqlite("a.db?retries=some"), &["`some`", "`retries`", "`on` or `off`"]),
        (sqlite("folder"), &["folder`", "it is a directory", "name a file"]),
        (sqlite("missing/a.db"), &["missing/a.db`", "there is no folder `", "create it"]),
        (
            sqlite("notes.txt/a.db"),
            &["notes.txt/a.db`", "is a file, not a folder", "name a folder"],
        ),
        (sqlite("notes.txt"), &["notes.txt`", "not an SQLite file", "use another file"]),
        (sqlite("foreign.db"), &["foreign.db`", "not one of tabla's", "use another file"]),
        (sqlite("prerelease.db"), &["prerelease.db`", "before the first release", "new file"]),
        (sqlite("newer.db"), &["newer.db`", "file format 77 is newer", "upgrade tabla"]),
    ];
    all_refused(&registry, &cases).await;
    assert_eq!(contents(folder.path()), before);
    assert_eq!(contents(Path::new(".")), here);
}

#[cfg(all(feature = "sqlite", unix))]
mod read_only {
    use std::fs::{OpenOptions, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;

    /// Variable with the path that the child opens.
    const CHILD: &str = "TABLA_TEST_READ_ONLY_PATH";

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    }

    /// This program, run by somebody whom modes of files bind: they do not bind root.
    fn bound_child(file: &Path) -> Command {
        let program = std::env::current_exe().expect("this program");
        if OpenOptions::new().write(true).open(file).is_err() {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        let capabilities = "--bounding-set=-dac_override,-dac_read_search";
        command.args(["--inh-caps=-all", capabilities]).arg(program);
        command
    }

    #[tokio::test]
    async fn read_only_file_is_refused_and_not_touched() {
        for folder_mode in [0o755, 0o555] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("shop.db");
            drop(tabla::open(&format!("sqlite:{}", file.display())).await.unwrap());
            set_mode(&file, 0o444);
            set_mode(folder.path(), folder_mode);
            let before = contents(folder.path());
            let output = bound_child(&file)
                .args(["--exact", "read_only::child_without_permission", "--nocapture"])
                .env(CHILD, &file)
                .output()
                .expect("setpriv, of util-linux, is needed to run this test as root");
            let after = contents(folder.path());
            set_mode(folder.path(), 0o755);
            let shown = String::from_utf8_lossy(&output.stdout);
            let told = format!(
                "cannot open `{}`: the file is read-only, and a store writes; make the file and its \
                 folder writable",
                file.display()
            );
            assert!(shown.contains(&told), "{shown}{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(after, before);
        }
    }

    /// Only the child does anything here.
    #[tokio::test]
    async fn child_without_permission() {
        let Ok(path) = std::env::var(CHILD) else { return };
        println!("{}", refused(&tabla::registry(), &format!("sqlite:{path}")).await);
    }
}

#[cfg(feature = "dynamodb")]
#[tokio::test]
async fn bad_dynamodb_address_names_value_cause_and_remedy_and_creates_nothing() {
    let here = contents(Path::new("."));
    let form = "`dynamodb:` or `dynamodb://host:port`";
    let cases: [(String, &[&str]); 8] = [
        ("dynamodb:orders".into(), &["`dynamodb:orders`", "orders", form]),
        ("dynamodb://".into(), &["`dynamodb://`", form]),
        ("dynamodb://host/table".into(), &["`dynamodb://host/table`", form]),
        ("dynamodb:?tls=true".into(), &["`dynamodb:?tls=true`", "`tls`", "`dynamodb://host:port`"]),
        ("dynamodb://h?tls=maybe".into(), &["`dynamodb://h?tls=maybe`", "`tls` is true or false"]),
        ("dynamodb://h?engine=dynalite".into(), &["dynalite", "engine is one of", "`alternator`"]),
        ("dynamodb:?regio=x".into(), &["regio", "unknown option", "region, tls, retries"]),
        ("dynamodb:?retries=some".into(), &["`some`", "`retries`", "`on` or `off`"]),
    ];
    all_refused(&tabla::registry(), &cases).await;
    assert_eq!(contents(Path::new(".")), here);
}
