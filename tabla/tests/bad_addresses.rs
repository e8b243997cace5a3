//! Every address that a store refuses: its error names the value, the cause and the remedy, and
//! nothing is created on disk.
//!
//! Errors that depend on the environment of the process, and those of command line options, are in
//! `cli/tests/command/config_errors.rs`. The exact text for a disabled feature is in `outside.rs`.

use std::fs;
use std::path::Path;

use tabla::{Error, Registry};

/// An address, and what its error must contain: the value, the cause and the remedy.
type Case<'a> = (String, &'a str, &'a str, &'a str);

/// Returns path and content of each entry of a folder, sorted by path.
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
        Ok(store) => panic!("{address} opened {store:?}, but has to be refused"),
        Err(error) => error,
    }
}

/// Opens each address, and checks the three parts of its error.
async fn assert_refused(registry: &Registry, cases: &[Case<'_>]) {
    for (address, value, cause, remedy) in cases {
        let error = refused(registry, address).await;
        let message = error.message();
        assert!(message.starts_with("cannot open `"), "{address}: {message}");
        for (column, part) in [("value", value), ("cause", cause), ("remedy", remedy)] {
            assert!(message.contains(*part), "{address}: no {column} {part:?} in: {message}");
        }
    }
}

#[tokio::test]
async fn bad_memory_or_unknown_address_names_value_cause_and_remedy_and_creates_nothing() {
    let here = contents(Path::new("."));
    let mut registry = tabla::registry();
    registry.register_missing("cassandra", "enable the feature `cassandra` of the crate `tabla`");
    let sweep = "a number of seconds, at least 1, or `off`";
    let retries = "is `on` or `off`, not";
    let escape = "write `%` as `%25`";
    let cases: &[Case<'_>] = &[
        ("".into(), "cannot open ``", "no colon", "such as `memory:`"),
        ("shop.db".into(), "`shop.db`", "no colon", "valid addresses:\n"),
        (":".into(), "`:`", "no store opens `:`", "valid addresses:\n"),
        ("mongo:shop".into(), "`mongo:shop`", "no store opens `mongo:`", "valid addresses:\n"),
        ("MEMORY:".into(), "`MEMORY:`", "no store opens `MEMORY:`", "  memory:  "),
        ("cassandra:shop".into(), "`cassandra:shop`", "built without", "the feature `cassandra`"),
        ("memory:shop".into(), "`shop`", "takes no name", "leave it out"),
        ("memory:?sweep".into(), "`sweep`", "has no value", "the form `name=value`"),
        ("memory:?sweep=1&sweep=2".into(), "`sweep`", "is given twice", "leave one out"),
        ("memory:?sweep=%zz".into(), "`%zz`", "not well escaped", escape),
        ("memory:?sweep=%4".into(), "`%4`", "not well escaped", escape),
        ("memory:?sweep=%ff".into(), "`%ff`", "not well escaped", escape),
        ("memory:?sweeep=5".into(), ": sweeep", "unknown option", "there are: sweep, retries"),
        ("memory:?retries=some".into(), "`some`", "the option `retries`", retries),
        ("memory:?retries=".into(), "not ``", "the option `retries`", retries),
        ("memory:?sweep=soon".into(), "not `soon`", "the option `sweep`", sweep),
        ("memory:?sweep=0".into(), "not `0`", "the option `sweep`", sweep),
        ("memory:?sweep=-5".into(), "not `-5`", "the option `sweep`", sweep),
        ("memory:?sweep=1.5".into(), "not `1.5`", "the option `sweep`", sweep),
        ("memory:?sweep=60s".into(), "not `60s`", "the option `sweep`", sweep),
    ];
    assert_refused(&registry, cases).await;
    assert_eq!(contents(Path::new(".")), here);
}

#[tokio::test]
async fn address_without_its_feature_names_the_feature_and_creates_nothing() {
    let here = contents(Path::new("."));
    let features = [("sqlite", cfg!(feature = "sqlite")), ("dynamodb", cfg!(feature = "dynamodb"))];
    for (scheme, _) in features.into_iter().filter(|(_, is_enabled)| !is_enabled) {
        let (address, value) = (format!("{scheme}:shop"), format!("`{scheme}:shop`"));
        let cause = format!("built without `{scheme}:` addresses");
        let remedy = format!("enable the feature `{scheme}` of the crate `tabla`");
        let case: Case<'_> = (address, value.as_str(), cause.as_str(), remedy.as_str());
        assert_refused(&tabla::registry(), &[case]).await;
    }
    assert_eq!(contents(Path::new(".")), here);
}

/// Overwrites four bytes of a file, such as a field in the header of an SQLite file.
#[cfg(feature = "sqlite")]
fn set_field(path: &str, first: usize, value: i32) {
    let mut bytes = fs::read(path).expect("the file of the test");
    bytes[first..first + 4].copy_from_slice(&value.to_be_bytes());
    fs::write(path, bytes).expect("the file of the test");
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn bad_sqlite_address_names_value_cause_and_remedy_and_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(at("folder")).unwrap();
    fs::write(
        at("notes.txt"),
        "This is a text of more than a hundred bytes, and not a database. ".repeat(9),
    )
    .unwrap();
    // Files of tabla with a changed header. The format (`user_version`) is at byte 60, the program
    // (`application_id`) at byte 68.
    for (name, first, value) in [
        ("newer.db", 60, 77),
        ("damaged.db", 60, -1),
        ("foreign.db", 68, 0x4750_4B47),
        ("prerelease.db", 68, 0x7461_626C),
    ] {
        drop(tabla::open(&format!("sqlite:{}", at(name))).await.unwrap());
        set_field(&at(name), first, value);
    }
    let before = contents(folder.path());
    // A path without a folder would be created here.
    let here = contents(Path::new("."));

    let sqlite = |name: &str| format!("sqlite:{}", at(name));
    let durability = "is `durable` or `relaxed`";
    let cache = "a number of megabytes from 1 to 1048576";
    let busy = "a number of milliseconds from 0 to 2147483647";
    let log = "a number of pages from 1 to 4294967295";
    let sweep = "a number of seconds, at least 1, or `off`";
    let known = "there are: busy, cache, durability, log, sweep, retries";
    let retries = "is `on` or `off`, not";
    let cases: &[Case<'_>] = &[
        (
            "sqlite:".into(),
            "cannot open `sqlite:`",
            "has no path",
            "as in `sqlite:shop.db`, or `:memory:`",
        ),
        ("sqlite:?cache=8".into(), "`sqlite:?cache=8`", "has no path", "as in `sqlite:shop.db`"),
        ("sqlite:a.db?sync=full".into(), ": sync", "unknown option", known),
        ("sqlite::memory:?sync=full".into(), ": sync", "unknown option", known),
        ("sqlite:a.db?cache".into(), "`cache`", "has no value", "the form `name=value`"),
        ("sqlite:a.db?log=1&log=2".into(), "`log`", "is given twice", "leave one out"),
        (sqlite("a.db?durability=off"), "not `off`", "the option `durability`", durability),
        (sqlite("a.db?durability=FULL"), "not `FULL`", "the option `durability`", durability),
        (sqlite("a.db?cache=8MB"), "not `8MB`", "the option `cache`", cache),
        (sqlite("a.db?cache=0"), "not `0`", "the option `cache`", cache),
        (sqlite("a.db?cache=1048577"), "not `1048577`", "the option `cache`", cache),
        (sqlite("a.db?busy=soon"), "not `soon`", "the option `busy`", busy),
        (sqlite("a.db?busy=5s"), "not `5s`", "the option `busy`", busy),
        (sqlite("a.db?busy=-1"), "not `-1`", "the option `busy`", busy),
        (sqlite("a.db?busy=2147483648"), "not `2147483648`", "the option `busy`", busy),
        (sqlite("a.db?log=0"), "not `0`", "the option `log`", log),
        (sqlite("a.db?log=4294967296"), "not `4294967296`", "the option `log`", log),
        (sqlite("a.db?sweep=1h"), "not `1h`", "the option `sweep`", sweep),
        (sqlite("a.db?retries=some"), "`some`", "the option `retries`", retries),
        (sqlite("folder"), "folder`", "it is a directory", "name a file in it"),
        (sqlite("missing/a.db"), "missing/a.db`", "there is no folder `", "create it"),
        (sqlite("notes.txt/a.db"), "notes.txt/a.db`", "is a file, not a folder", "name a folder"),
        (sqlite("notes.txt"), "notes.txt`", "not an SQLite file", "use another file"),
        (sqlite("foreign.db"), "foreign.db`", "tabla did not write", "use another file"),
        (
            sqlite("prerelease.db"),
            "prerelease.db`",
            "before the first release",
            "create a new file",
        ),
        (sqlite("newer.db"), "newer.db`", "file format 77 is newer", "upgrade tabla"),
        (sqlite("damaged.db"), "damaged.db`", "file format -1 is out", "restore a backup"),
    ];
    assert_refused(&tabla::registry(), cases).await;
    assert_eq!(contents(folder.path()), before);
    assert_eq!(contents(Path::new(".")), here);
}

#[cfg(all(feature = "sqlite", unix))]
mod read_only {
    use std::fs::{OpenOptions, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;

    /// Environment variable with the path that the child process opens.
    const CHILD: &str = "TABLA_TEST_READ_ONLY_PATH";

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("the test owns the file");
    }

    /// Returns a command that runs this program without root's exemption from file modes.
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
            let expected = format!(
                "cannot open `{}`: the file is read-only, and a store writes; make the file and its \
                 folder writable",
                file.display()
            );
            assert!(
                shown.contains(&expected),
                "{shown}{}",
                String::from_utf8_lossy(&output.stderr)
            );
            assert_eq!(after, before);
        }
    }

    /// Body of the child process; without [`CHILD`] in its environment it does nothing.
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
    let form = "write `dynamodb:` or `dynamodb://host:port`";
    let no_endpoint = "is not an endpoint";
    let tls = "is `true` or `false`, not";
    let engines = "use `dynamodb`, `local`, `alternator` or `tabla`";
    let known = "there are: engine, prefix, profile, region, tls, retries";
    let retries = "is `on` or `off`, not";
    let cases: &[Case<'_>] = &[
        ("dynamodb:orders".into(), "`orders`", no_endpoint, form),
        ("dynamodb://".into(), "`dynamodb://`", no_endpoint, form),
        ("dynamodb://host/table".into(), "`//host/table`", no_endpoint, form),
        ("dynamodb://user@host".into(), "`//user@host`", no_endpoint, form),
        ("dynamodb:?tls=true".into(), "`tls`", "needs an endpoint", "leave `tls` out"),
        ("dynamodb://h?tls=maybe".into(), "`maybe`", "the option `tls`", tls),
        ("dynamodb://h?engine=dynalite".into(), "`dynalite`", "unknown engine", engines),
        ("dynamodb:?regio=x".into(), ": regio", "unknown option", known),
        ("dynamodb:?retries=some".into(), "`some`", "the option `retries`", retries),
        (
            "dynamodb://127.0.0.1:1?engine=local&prefix=dev/".into(),
            "the table prefix `dev/`",
            "has a character that no table name has",
            "use only a-z",
        ),
        (
            "dynamodb://127.0.0.1:1".into(),
            "`http://127.0.0.1:1`",
            "the service cannot be reached",
            "check that a server with DynamoDB's protocol listens there",
        ),
    ];
    assert_refused(&tabla::registry(), cases).await;
    assert_eq!(contents(Path::new(".")), here);
}
