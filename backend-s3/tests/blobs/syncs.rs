//! Syncs of puts, in a trace of system calls: which, how many, in what order, and before the answer.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tabla_core::blobs::*;

use crate::support::*;

/// Environment variable that marks the child process; its value is the path of the folder.
const CHILD: &str = "TABLA_TEST_TRACED";
/// Environment variable with the number of puts that the child executes at the same time.
const CALLERS: &str = "TABLA_TEST_CALLERS";
/// Puts of each caller.
const PUTS: usize = 10;

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_that_is_traced() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let callers: usize = std::env::var(CALLERS).expect("a variable").parse().expect("a number");
    block_on(async {
        let (_folder, blobs) = open(path.as_ref()).await;
        let blobs = Arc::new(blobs);
        // The first write creates the WAL, which is synced once more.
        blobs.put(PutBlob::new("first", "1")).await.expect("a put");
        println!("ack first");
        let mut tasks = tokio::task::JoinSet::new();
        for caller in 0..callers {
            let blobs = Arc::clone(&blobs);
            tasks.spawn(async move {
                for number in 0..PUTS {
                    let key = format!("{caller}/{number}");
                    let put = match number % 3 {
                        0 => PutBlob::new(&key, bytes(1, 10_000)),
                        1 => PutBlob::new(&key, bytes(1, 600_000)),
                        _ => PutBlob::new(&key, pieces(&bytes(1, 600_000), 100_000)),
                    };
                    blobs.put(put).await.expect("a put");
                    println!("ack {key}");
                }
            });
        }
        tasks.join_all().await;
    });
}

/// System call of the trace, with the numbers of the lines at which it began and ended.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    what: What,
    begin: usize,
    end: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// Creation of the file with this name.
    Creation(String),
    FileSync(String),
    FolderSync(String),
    WalSync,
    CatalogueSync,
    /// Answer to the put of this key.
    Answer(String),
}

/// Runs the child under strace, and returns its calls in the order of their begins.
fn trace(path: &Path, log: &Path, callers: usize) -> Vec<Call> {
    let traced = Command::new("strace")
        .args(["-f", "-y", "-s", "4096", "-o"])
        .arg(log)
        .args(["-e", "trace=write,openat,fsync,fdatasync,sync_file_range,syncfs,sync,msync"])
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", "syncs::child_that_is_traced", "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .env(CALLERS, callers.to_string())
        .output()
        .expect("cannot start strace: install it, or exclude it with --without strace");
    assert!(traced.status.success(), "{traced:?}");
    let trace = std::fs::read_to_string(log).expect("a trace");
    let data = format!("{}/data/", path.display());
    let mut calls: Vec<Call> = Vec::new();
    // Calls by their thread, which other threads have interrupted in the trace.
    let mut unfinished: HashMap<&str, usize> = HashMap::new();
    for (number, line) in trace.lines().enumerate() {
        let (thread, call) = line.split_once(' ').expect("a thread");
        let call = call.trim_start();
        if call.starts_with("<... ") {
            if let Some(begun) = unfinished.remove(thread) {
                calls[begun].end = number;
            }
            continue;
        }
        let Some(what) = what(call, &data) else { continue };
        if call.ends_with("<unfinished ...>") {
            unfinished.insert(thread, calls.len());
        }
        calls.push(Call { what, begin: number, end: number });
    }
    assert!(unfinished.is_empty(), "{unfinished:?}");
    calls
}

/// What a call does, if it is of interest here; `data` is the path of the files.
fn what(call: &str, data: &str) -> Option<What> {
    let in_data = || {
        let (_, rest) = call.split_once(data)?;
        let name: String =
            rest.chars().take_while(|c| c.is_ascii_hexdigit() || *c == '/').collect();
        Some(name)
    };
    if call.starts_with("write(") {
        let (_, key) = call.split_once("\"ack ")?;
        return key.split_once("\\n").map(|(key, _)| What::Answer(key.to_owned()));
    }
    if call.starts_with("openat(") {
        return match call.contains("O_EXCL") {
            true => in_data().map(What::Creation),
            false => None,
        };
    }
    if call.starts_with("+++") || call.starts_with("---") {
        return None;
    }
    assert!(call.contains("sync"), "an unexpected call: {call}");
    Some(match in_data() {
        Some(name) if name.len() == 2 => What::FolderSync(name),
        Some(name) => What::FileSync(name),
        None if call.contains("catalogue.db-wal") => What::WalSync,
        None => What::CatalogueSync,
    })
}

/// Names of the files in `data` by the keys of the blobs.
fn files(path: &Path) -> HashMap<String, String> {
    let catalogue = rusqlite::Connection::open(path.join("catalogue.db")).expect("a catalogue");
    let mut statement = catalogue
        .prepare("SELECT CAST(key AS TEXT), lower(hex(substr(files, 1, 16))) FROM blob")
        .expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
    let named = rows.expect("rows").map(|row| row.expect("a row"));
    named.map(|(key, id)| (key, format!("{}/{id}", &id[..2]))).collect()
}

/// Calls between the answer to the first put and the one to the last.
fn calls_of_puts(callers: usize) -> Option<(Vec<Call>, HashMap<String, String>)> {
    if std::env::var("TABLA_WITHOUT").is_ok_and(|list| list.split(',').any(|name| name == "strace"))
    {
        println!("skipped: TABLA_WITHOUT excludes strace");
        return None;
    }
    let parent = tempfile::tempdir().expect("a folder");
    let path = parent.path().canonicalize().expect("a path").join("assets");
    let mut calls = trace(&path, &parent.path().join("trace"), callers);
    let is_answer = |call: &Call| matches!(call.what, What::Answer(_));
    let first = calls.iter().position(is_answer).expect("an answer");
    let last = calls.iter().rposition(is_answer).expect("an answer");
    // Closing the catalogue syncs, too.
    let calls = calls.drain(first..=last).skip(1).collect();
    Some((calls, files(&path)))
}

/// Asserts that the put of a key was answered after its file, the entry of that and the catalogue
/// were durable, in this order.
fn assert_durable(calls: &[Call], key: &str, file: &str) {
    let find = |wanted: What| {
        let mut found = calls.iter().filter(|call| call.what == wanted);
        let call = found.next().unwrap_or_else(|| panic!("{key}: no {wanted:?}"));
        assert_eq!(found.next(), None, "{key}");
        call
    };
    let created = find(What::Creation(file.to_owned()));
    let synced = find(What::FileSync(file.to_owned()));
    let answered = find(What::Answer(key.to_owned()));
    let folder = What::FolderSync(file[..2].to_owned());
    let entry = calls
        .iter()
        .find(|call| call.what == folder && call.begin > created.end)
        .unwrap_or_else(|| panic!("{key}: the entry of {file} has no sync"));
    let durable = synced.end.max(entry.end);
    let is_commit = |call: &&Call| {
        call.what == What::WalSync && call.begin > durable && call.end < answered.begin
    };
    assert!(calls.iter().any(|call| is_commit(&call)), "{key}: {created:?} {answered:?}");
}

#[test]
fn put_is_answered_after_three_syncs() {
    let Some((calls, files)) = calls_of_puts(1) else { return };
    let is_answer = |call: &Call| matches!(call.what, What::Answer(_));
    let puts: Vec<&[Call]> = calls.split_inclusive(is_answer).collect();
    assert_eq!(puts.len(), PUTS);
    for (number, put) in puts.into_iter().enumerate() {
        let key = format!("0/{number}");
        assert_durable(put, &key, &files[&key]);
        // The creation and the answer; one sync each of the file, its folder and the catalogue.
        assert_eq!(put.len(), 5, "{put:?}");
    }
}

#[test]
fn puts_at_the_same_time_are_durable_when_they_are_answered() {
    const CALLERS: usize = 16;
    let Some((calls, files)) = calls_of_puts(CALLERS) else { return };
    for caller in 0..CALLERS {
        for number in 0..PUTS {
            let key = format!("{caller}/{number}");
            assert_durable(&calls, &key, &files[&key]);
        }
    }
    let count =
        |is_counted: fn(&What) -> bool| calls.iter().filter(|call| is_counted(&call.what)).count();
    let files = count(|what| matches!(what, What::FileSync(_)));
    let folders = count(|what| matches!(what, What::FolderSync(_)));
    let commits = count(|what| *what == What::WalSync);
    println!("{files} syncs of files, {folders} of folders, {commits} of the WAL");
    let puts = CALLERS * PUTS;
    assert_eq!(files, puts);
    assert!(folders <= puts && commits <= puts);
}
