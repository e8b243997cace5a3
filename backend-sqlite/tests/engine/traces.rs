//! System calls of a store that writes: no write is acknowledged before its commit is synced.
//!
//! A child writes under `strace`. The trace has, in order, every write to a file, every end of an
//! fsync, and every acknowledgment. After a power failure, a disk has the synced bytes and perhaps
//! no others. So at every acknowledgment, the files as of their last fsync must contain the write.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tabla_core::ops::*;
use tabla_core::{Store, item};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

use crate::support::*;

const WRITERS: usize = 8;
const WRITES: i64 = 12;
/// Environment variable that marks the child process of a test; its value is the durability and the
/// path of the file.
const CHILD: &str = "TABLA_TEST_TRACED";

/// Body of the child process, which writes and prints each acknowledged write; does nothing in a
/// normal test run.
#[test]
fn child_that_is_traced() {
    let Ok(text) = std::env::var(CHILD) else { return };
    let (durability, path) = match text.split_once(' ') {
        Some(("durable", path)) => (Durability::Durable, path),
        Some((_, path)) => (Durability::Relaxed, path),
        None => panic!("{CHILD} must be a durability and a path: {text}"),
    };
    // A short WAL, so that it is checkpointed several times.
    let config = SqliteConfig::file(path).with_durability(durability).with_wal_pages(100);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let store = Arc::new(SqliteStore::open(&config).await.expect("a store"));
        let mut tasks = tokio::task::JoinSet::new();
        for writer in 0..WRITERS {
            let store = Arc::clone(&store);
            tasks.spawn(async move {
                for number in 1..=WRITES {
                    let put = |twin: &str| {
                        let customer = format!("w{writer}{twin}");
                        PutItem::new("orders", order(&customer, number, "open"))
                    };
                    let both = TransactWriteItems::new().item(put("")).item(put("-twin"));
                    store.transact_write(both).await.expect("a transaction");
                    println!("ack {writer} {number}");
                }
            });
        }
        tasks.join_all().await;
    });
}

#[test]
fn durable_write_is_acknowledged_after_the_sync_of_its_commit() {
    if is_excluded() {
        println!("skipped: TABLA_WITHOUT excludes strace");
        return;
    }
    let traced = trace("durable");
    assert_eq!(traced.acknowledged, WRITERS * WRITES as usize);
    assert_eq!(traced.lost, Vec::<String>::new());
    // Write groups share an fsync.
    assert!(traced.syncs < traced.acknowledged, "{} syncs", traced.syncs);
}

/// A relaxed store shows that the trace detects acknowledgments before the sync.
#[test]
fn relaxed_writes_can_be_lost_in_a_power_failure_and_files_stay_sound() {
    if is_excluded() {
        println!("skipped: TABLA_WITHOUT excludes strace");
        return;
    }
    let traced = trace("relaxed");
    assert!(!traced.lost.is_empty(), "no write would be lost, although the store is relaxed");
}

fn is_excluded() -> bool {
    std::env::var("TABLA_WITHOUT").is_ok_and(|list| list.split(',').any(|name| name == "strace"))
}

/// Result of a trace.
struct Traced {
    acknowledged: usize,
    syncs: usize,
    /// Writes that were acknowledged before they were synced.
    lost: Vec<String>,
}

fn trace(durability: &str) -> Traced {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("an existing folder").join("a.db");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        open(&path).await.create_table(orders()).await.expect("a table");
    });
    let mut files =
        BTreeMap::from([(path.clone(), File::synced(std::fs::read(&path).expect("a file")))]);
    let log = folder.path().join("trace");
    let traced = Command::new("strace")
        .args(["-f", "-y", "-xx", "-s", "100000000", "-o"])
        .arg(&log)
        .args(["-e", "trace=pwrite64,write,fsync,fdatasync,ftruncate,unlink"])
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", "traces::child_that_is_traced", "--nocapture", "--test-threads=1"])
        .env(CHILD, format!("{durability} {}", path.display()))
        .output()
        .expect("cannot start strace: install it, or exclude it with --without strace");
    assert!(traced.status.success(), "{traced:?}");

    let trace = std::fs::read_to_string(&log).expect("a trace");
    let mut result = Traced { acknowledged: 0, syncs: 0, lost: Vec::new() };
    let mut acknowledged = Vec::new();
    let mut seen = BTreeSet::new();
    for event in Events::new(&trace) {
        match event {
            Event::Wrote { file, at, bytes } => {
                files.entry(file).or_default().write(at, &bytes);
            }
            Event::Truncated { file, length } => {
                files.entry(file).or_default().now.resize(length, 0);
            }
            Event::Removed { file } => {
                files.remove(&file);
            }
            Event::SyncBegan { file } => files.entry(file).or_default().begin_sync(),
            Event::SyncEnded { file } => {
                // Acknowledgments up to now must be covered by the syncs before this one.
                result.lost.extend(runtime.block_on(lost(&path, &files, &acknowledged)));
                if let Some(file) = files.get_mut(&file) {
                    file.end_sync();
                }
                result.syncs += 1;
            }
            Event::Acknowledged { writer, number } => {
                assert!(seen.insert((writer, number)), "a write was acknowledged twice");
                acknowledged.push((writer, number));
            }
        }
    }
    result.lost.extend(runtime.block_on(lost(&path, &files, &acknowledged)));
    result.acknowledged = acknowledged.len();
    result
}

/// Returns the acknowledged writes that the synced files do not contain. The files must be sound,
/// and transactions whole.
async fn lost(
    path: &Path,
    files: &BTreeMap<PathBuf, File>,
    acknowledged: &[(usize, i64)],
) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, content) in files {
        let name = file.file_name().expect("a file");
        // SQLite never syncs the WAL index; it is rebuilt from the WAL.
        if !name.to_string_lossy().ends_with("-shm") {
            std::fs::write(folder.path().join(name), &content.synced).expect("a copy");
        }
    }
    let copy = folder.path().join(path.file_name().expect("a file"));
    let report = checked(&copy).await;
    assert_eq!(report.problems, Vec::<String>::new());
    let store = open(&copy).await;
    let mut lost = Vec::new();
    for (writer, number) in acknowledged {
        let mut found = Vec::new();
        for twin in ["", "-twin"] {
            let key = item! { "pk" => format!("w{writer}{twin}"), "sk" => *number };
            let output = store.get(GetItem::new("orders", key)).await.expect("a response");
            found.push(output.item.is_some());
        }
        assert_eq!(
            found[0], found[1],
            "a transaction was applied in part: writer {writer}, {number}"
        );
        if !found[0] {
            lost.push(format!("writer {writer}, {number}"));
        }
    }
    lost
}

/// Content of a file: currently, at the start of a running sync, and after a power failure.
#[derive(Default)]
struct File {
    now: Vec<u8>,
    at_sync: Vec<u8>,
    synced: Vec<u8>,
}

impl File {
    fn synced(content: Vec<u8>) -> Self {
        Self { now: content.clone(), at_sync: Vec::new(), synced: content }
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        let end = at + bytes.len();
        if self.now.len() < end {
            self.now.resize(end, 0);
        }
        self.now[at..end].copy_from_slice(bytes);
    }

    fn begin_sync(&mut self) {
        self.at_sync = self.now.clone();
    }

    fn end_sync(&mut self) {
        self.synced = std::mem::take(&mut self.at_sync);
    }
}

enum Event {
    Wrote { file: PathBuf, at: usize, bytes: Vec<u8> },
    Truncated { file: PathBuf, length: usize },
    Removed { file: PathBuf },
    SyncBegan { file: PathBuf },
    SyncEnded { file: PathBuf },
    Acknowledged { writer: usize, number: i64 },
}

/// Iterator over the events of a trace, in order. `strace` prints a call on two lines if a call of
/// another thread comes between. Such a call counts at its first line; a sync counts at both.
struct Events<'t> {
    lines: std::str::Lines<'t>,
    /// File of each running sync, by thread.
    syncing: HashMap<&'t str, PathBuf>,
    next: Option<Event>,
}

impl<'t> Events<'t> {
    fn new(trace: &'t str) -> Self {
        Self { lines: trace.lines(), syncing: HashMap::new(), next: None }
    }

    fn read(&mut self, line: &'t str) -> Option<Event> {
        let (thread, call) = line.split_once(' ')?;
        let call = call.trim_start();
        if call.starts_with("<... fsync resumed>") || call.starts_with("<... fdatasync resumed>") {
            return self.syncing.remove(thread).map(|file| Event::SyncEnded { file });
        }
        let (name, arguments) = call.split_once('(')?;
        let is_ended = !call.ends_with("<unfinished ...>");
        match name {
            "write" => {
                let text = String::from_utf8(quoted(arguments)?).ok()?;
                let mut words = text.split_whitespace();
                // Skips the output of the test runner.
                (arguments.starts_with("1<") && words.next()? == "ack").then_some(())?;
                let (writer, number) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
                Some(Event::Acknowledged { writer, number })
            }
            "pwrite64" => {
                let file = file(arguments)?;
                let bytes = quoted(arguments)?;
                let end = arguments.rsplit_once('"')?.1;
                let at = end.split(',').nth(2)?.trim();
                let digits: String = at.chars().take_while(char::is_ascii_digit).collect();
                Some(Event::Wrote { file, at: digits.parse().ok()?, bytes })
            }
            "fsync" | "fdatasync" => {
                let file = file(arguments)?;
                if is_ended {
                    self.next = Some(Event::SyncEnded { file: file.clone() });
                } else {
                    self.syncing.insert(thread, file.clone());
                }
                Some(Event::SyncBegan { file })
            }
            "ftruncate" => {
                let length = arguments.split(',').nth(1)?.trim();
                let digits: String = length.chars().take_while(char::is_ascii_digit).collect();
                Some(Event::Truncated { file: file(arguments)?, length: digits.parse().ok()? })
            }
            "unlink" => {
                let name = String::from_utf8(quoted(arguments)?).ok()?;
                Some(Event::Removed { file: PathBuf::from(name) })
            }
            _ => None,
        }
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.next.take() {
            return Some(event);
        }
        loop {
            let line = self.lines.next()?;
            if let Some(event) = self.read(line) {
                return Some(event);
            }
        }
    }
}

/// Returns the path of the first argument, such as `7<\x2f…>`.
fn file(arguments: &str) -> Option<PathBuf> {
    let name = arguments.split_once('<')?.1.split_once('>')?.0;
    String::from_utf8(bytes(name)?).ok().map(PathBuf::from)
}

/// Returns the bytes between quotes, such as `"\x61…"`.
fn quoted(arguments: &str) -> Option<Vec<u8>> {
    bytes(arguments.split_once('"')?.1.split_once('"')?.0)
}

fn bytes(escaped: &str) -> Option<Vec<u8>> {
    escaped.split("\\x").skip(1).map(|digits| u8::from_str_radix(digits, 16).ok()).collect()
}
