//! Addresses that cannot be opened: each error names the value, the cause and the remedy, and nothing
//! is created on disk.

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
    // A file of tabla's, made to say that a later version has written it: byte 60 of the header of an
    // SQLite file begins its `user_version`.
    drop(tabla::open(&format!("sqlite:{}", at("newer.db"))).await.unwrap());
    let mut newer = fs::read(at("newer.db")).unwrap();
    newer[60..64].copy_from_slice(&77_i32.to_be_bytes());
    fs::write(at("newer.db"), newer).unwrap();
    // The same with another program's `application_id`, at byte 68.
    drop(tabla::open(&format!("sqlite:{}", at("foreign.db"))).await.unwrap());
    let mut foreign = fs::read(at("foreign.db")).unwrap();
    foreign[68..72].copy_from_slice(&0x4750_4B47_i32.to_be_bytes());
    fs::write(at("foreign.db"), foreign).unwrap();
    let before = contents(folder.path());

    let mut registry = tabla::registry();
    registry.register_missing("cassandra", "enable the feature `cassandra` of the crate `tabla`");
    let sqlite = |name: &str| format!("sqlite:{}", at(name));
    let cases: [(String, &[&str]); 17] = [
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
        (sqlite("a.db?durability=off"), &["off", "durability", "`full` or `normal`"]),
        (sqlite("a.db?cache=8MB"), &["8MB", "cache", "number of megabytes"]),
        (sqlite("folder"), &["folder", "directory", "name a file"]),
        (sqlite("missing/a.db"), &["missing/a.db", "folder", "create"]),
        (sqlite("notes.txt"), &["notes.txt", "not an SQLite file", "use another file"]),
        (sqlite("foreign.db"), &["foreign.db", "not one of tabla's", "use another file"]),
        (sqlite("newer.db"), &["newer.db", "file format 77 is newer", "upgrade tabla"]),
    ];
    for (address, parts) in &cases {
        let message = refused(&registry, address).await.to_string();
        for part in *parts {
            assert!(message.contains(part), "{address}: {part:?} is not in: {message}");
        }
    }
    assert_eq!(contents(folder.path()), before);
}

#[cfg(not(feature = "dynamodb"))]
#[tokio::test]
async fn scheme_without_its_feature_names_the_feature() {
    let message = refused(&tabla::registry(), "dynamodb:").await.to_string();
    assert!(message.contains("enable the feature `dynamodb` of the crate `tabla`"), "{message}");
}
