//! Syncs of a put, in a trace of system calls: which, how many, and before the answer.

use std::path::Path;
use std::process::Command;

use tabla_core::blobs::*;

use crate::support::*;

/// Environment variable that marks the child process; its value is the path of the folder.
const CHILD: &str = "TABLA_TEST_TRACED";
const PUTS: usize = 20;

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_that_is_traced() {
    let Ok(path) = std::env::var(CHILD) else { return };
    block_on(async {
        let (_folder, blobs) = open(path.as_ref()).await;
        // The first write creates the WAL, which is synced once more.
        blobs.put(PutBlob::new("first", "1")).await.expect("a put");
        println!("ack first");
        for number in 0..PUTS {
            let put = match number % 2 {
                0 => PutBlob::new("a", bytes(1, 10_000)),
                _ => PutBlob::new("b", pieces(&bytes(1, 600_000), 100_000)),
            };
            blobs.put(put).await.expect("a put");
            println!("ack {number}");
        }
    });
}

/// Events of the trace, in order: `ack`, or what was synced.
fn trace(path: &Path, log: &Path) -> Vec<&'static str> {
    let traced = Command::new("strace")
        .args(["-f", "-y", "-o"])
        .arg(log)
        .args(["-e", "trace=write,fsync,fdatasync"])
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", "syncs::child_that_is_traced", "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .output()
        .expect("cannot start strace: install it, or exclude it with --without strace");
    assert!(traced.status.success(), "{traced:?}");
    let trace = std::fs::read_to_string(log).expect("a trace");
    let data = format!("{}/data/", path.display());
    let event = |line: &str| {
        // A call that another thread interrupts has two lines. Its first has the arguments.
        let is_sync = line.contains("sync(");
        match line {
            _ if line.contains("\"ack ") => Some("ack"),
            _ if !is_sync => None,
            _ if line.contains("catalogue.db-wal") => Some("wal"),
            _ if line.contains("catalogue.db") => Some("catalogue"),
            _ => line.split_once(&data).map(|(_, rest)| {
                let name = rest.split(['>', ')']).next().unwrap_or_default();
                if name.len() == 2 { "folder" } else { "file" }
            }),
        }
    };
    trace.lines().filter_map(event).collect()
}

#[test]
fn put_is_answered_after_three_syncs() {
    if std::env::var("TABLA_WITHOUT").is_ok_and(|list| list.split(',').any(|name| name == "strace"))
    {
        println!("skipped: TABLA_WITHOUT excludes strace");
        return;
    }
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().canonicalize().unwrap().join("assets");
    let events = trace(&path, &parent.path().join("trace"));
    let puts: Vec<&[&str]> = events.split(|event| *event == "ack").skip(1).take(PUTS).collect();
    assert_eq!(puts.len(), PUTS);
    for put in puts {
        assert_eq!(put, ["file", "folder", "wal"]);
    }
}
