//! Read-only files and folders: clear refusals, no change of the file, verification
//! without writing.

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tabla_core::ops::*;
use tabla_core::{Error, ErrorKind, Retry, Store, attr, item};
use tabla_sqlite::{SqliteConfig, SqliteStore};

use crate::support::*;

/// Environment variable that marks the child process of a test; its value is the part to run and
/// the path of the file.
const CHILD: &str = "TABLA_TEST_READ_ONLY";
const ORDERS: i64 = 10;

#[test]
fn read_only_file_is_refused_and_not_changed() {
    // In a writable folder, SQLite would create a WAL that the owner of the file could not write.
    for folder_mode in [0o755, 0o555] {
        let sample = Sample::make();
        set_mode(&sample.path, 0o444);
        set_mode(sample.folder.path(), folder_mode);
        sample.in_child("refused");
        sample.is_unchanged();
    }
}

#[test]
fn file_in_a_read_only_folder_is_refused_and_not_changed() {
    let sample = Sample::make();
    set_mode(sample.folder.path(), 0o555);
    sample.in_child("refused");
    sample.is_unchanged();
}

#[test]
fn new_file_in_a_read_only_folder_is_refused() {
    let sample = Sample::make();
    std::fs::remove_file(&sample.path).unwrap();
    set_mode(sample.folder.path(), 0o555);
    sample.in_child("not created");
    assert_eq!(sample.names(), Vec::<String>::new());
}

/// A check needs no write permission, for example on a read-only disk.
#[test]
fn read_only_file_can_be_verified() {
    for folder_mode in [0o755, 0o555] {
        let sample = Sample::make();
        set_mode(&sample.path, 0o444);
        set_mode(sample.folder.path(), folder_mode);
        sample.in_child("verified");
        sample.is_unchanged();
    }
}

/// A check without the WAL would miss the writes in it.
#[test]
fn check_refuses_a_read_only_file_with_a_wal() {
    let mut sample = Sample::make();
    let path = sample.folder.path().join("copy.db");
    let store = block_on(open(&sample.path));
    block_on(async { store.put(PutItem::new("orders", order("c", 1, "open"))).await.unwrap() });
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        std::fs::copy(name(&sample.path), name(&path)).unwrap();
        set_mode(name(&path).as_ref(), 0o444);
    }
    drop(store);
    set_mode(sample.folder.path(), 0o555);
    sample.path = path;
    sample.in_child("not verified");
}

/// An open store can still write: permissions are checked when a file is opened.
#[test]
fn file_that_becomes_read_only_while_open_loses_no_write() {
    let sample = Sample::make();
    sample.in_child("protected");
    assert_eq!(sample.names(), ["a.db", "a.db-shm", "a.db-wal"]);
    sample.permit();
    assert_eq!(block_on(checked(&sample.path)).problems, Vec::<String>::new());
    block_on(async {
        let store = open(&sample.path).await;
        let page = store.query(Query::new("orders", attr("pk").eq("later"))).await.unwrap();
        assert_eq!(page.items.len(), 2);
        store.put(PutItem::new("orders", order("later", 3, "open"))).await.unwrap();
    });
    assert_eq!(sample.names(), ["a.db"]);
}

/// Body of the child process, which lacks the permissions; does nothing in a normal test run.
#[test]
fn child_without_permission() {
    let Ok(text) = std::env::var(CHILD) else { return };
    let (part, path) = text.split_once(": ").expect("a part and a path");
    let path = Path::new(path);
    block_on(async {
        match part {
            "refused" => is_refused(path, &refusal(path).await),
            "not created" => {
                let error = refusal(path).await;
                assert_eq!((error.kind(), error.retry()), (&ErrorKind::Config, Retry::Never));
                for part in [&prefix(path), "check that its folder exists", "make both writable"] {
                    assert!(error.message().contains(part), "{error}");
                }
            }
            "verified" => {
                let report = checked(path).await;
                assert_eq!(report.problems, Vec::<String>::new());
                assert_eq!(report.items, ORDERS as u64);
            }
            "not verified" => {
                let error = tabla_sqlite::check(path, |_| ()).await.unwrap_err();
                is_refused(path, &error);
                assert!(error.message().contains("has a log"), "{error}");
            }
            "protected" => write_while_protected(path).await,
            _ => panic!("unknown part: {part}"),
        }
    });
    println!("as expected");
}

async fn refusal(path: &Path) -> Error {
    SqliteStore::open(&SqliteConfig::file(path)).await.expect_err("a refusal")
}

/// Expects an error that names the file, the cause and the remedy.
#[track_caller]
fn is_refused(path: &Path, error: &Error) {
    assert_eq!((error.kind(), error.retry()), (&ErrorKind::AccessDenied, Retry::Never));
    for part in [&prefix(path), "read-only", "make", "writable"] {
        assert!(error.message().contains(part), "{error}");
    }
}

/// Returns the beginning of the error of a file that cannot be opened.
fn prefix(path: &Path) -> String {
    format!("cannot open `{}`: ", path.display())
}

async fn write_while_protected(path: &Path) {
    let store = open(path).await;
    let put = |number| store.put(PutItem::new("orders", order("later", number, "open")));
    put(1).await.expect("a put");
    for suffix in ["", "-wal", "-shm"] {
        set_mode(format!("{}{suffix}", path.display()).as_ref(), 0o444);
    }
    set_mode(path.parent().expect("a folder"), 0o555);
    put(2).await.expect("a put on open files");
    // These reads open new connections.
    for number in 1..=2 {
        let get = GetItem::new("orders", item! { "pk" => "later", "sk" => number });
        assert!(store.get(get).await.expect("a response").item.is_some());
    }
    is_refused(path, &refusal(path).await);
    put(2).await.expect("a put after the refusal of another store");
}

/// File with ten orders, in its own folder.
struct Sample {
    folder: tempfile::TempDir,
    path: std::path::PathBuf,
    bytes: Vec<u8>,
}

impl Sample {
    fn make() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        block_on(async {
            let store = open(&path).await;
            store.create_table(orders()).await.expect("a table");
            fill(&store, ORDERS).await;
        });
        let bytes = std::fs::read(&path).expect("a file");
        Self { folder, path, bytes }
    }

    /// Runs a part in a child process for which permissions count, even if this process is root's.
    #[track_caller]
    fn in_child(&self, part: &str) {
        let this = std::env::current_exe().expect("this program");
        let mut command = match ignores_permissions(self.folder.path()) {
            false => Command::new(this),
            true => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"])
                    .arg(this);
                command
            }
        };
        let output = command
            .args(["--exact", "read_only::child_without_permission", "--nocapture"])
            .env(CHILD, format!("{part}: {}", self.path.display()))
            .output()
            .expect("setpriv, of util-linux, is needed to run this test as root");
        let printed = String::from_utf8_lossy(&output.stdout);
        let is_good = output.status.success() && printed.contains("as expected");
        assert!(is_good, "{part}: {printed}{}", String::from_utf8_lossy(&output.stderr));
    }

    #[track_caller]
    fn is_unchanged(&self) {
        assert_eq!(self.names(), ["a.db"]);
        assert!(std::fs::read(&self.path).expect("a file") == self.bytes, "the file was changed");
        self.permit();
        let store = block_on(open(&self.path));
        block_on(async {
            store.put(PutItem::new("orders", order("c", 99, "open"))).await.expect("a put");
        });
    }

    /// Makes the folder and its files writable.
    fn permit(&self) {
        set_mode(self.folder.path(), 0o755);
        for name in self.names() {
            set_mode(&self.folder.path().join(name), 0o644);
        }
    }

    fn names(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.folder.path()).expect("a folder");
        let name = |file: std::io::Result<std::fs::DirEntry>| {
            file.expect("a file").file_name().into_string().expect("text")
        };
        let mut names: Vec<String> = files.map(name).collect();
        names.sort();
        names
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        // A read-only folder could not be removed.
        set_mode(self.folder.path(), 0o755);
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode))
        .expect("permission to change the mode");
}

/// Whether this process can write read-only files, like a process of root.
fn ignores_permissions(folder: &Path) -> bool {
    let probe = tempfile::NamedTempFile::new_in(folder.parent().expect("the system's folder"));
    let probe = probe.expect("a file");
    set_mode(probe.path(), 0o444);
    OpenOptions::new().write(true).open(probe.path()).is_ok()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}
