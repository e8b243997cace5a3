use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rusqlite::Connection;
use tempfile::TempDir;

use super::super::catalogue::connect;
use super::super::rows::query_one;
use super::*;

/// Work of one caller in a transaction.
type Work<R> = Box<dyn FnOnce(&Connection) -> Result<R> + Send>;

/// Writer on a database with one empty table.
fn sample() -> (Arc<Writer>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalogue.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE number (value INTEGER UNIQUE);")
        .unwrap();
    let connection = connect(&path).unwrap();
    (Arc::new(Writer::new(path, connection)), folder)
}

fn insert(connection: &Connection, value: i64) -> Result<()> {
    execute(connection, "INSERT INTO number VALUES (?1)", [value]).map(|_| ())
}

fn numbers(folder: &TempDir) -> Vec<i64> {
    let connection = connect(&folder.path().join("catalogue.db")).unwrap();
    let mut statement = connection.prepare("SELECT value FROM number ORDER BY value").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(|row| row.unwrap()).collect()
}

/// Executes these transactions in one group, in this order; returns the outcome of each thread.
fn in_one_group<R: Send + 'static>(
    writer: &Arc<Writer>,
    all: Vec<Work<R>>,
) -> Vec<thread::Result<Result<R>>> {
    let (begun, has_begun) = mpsc::channel();
    let (end, may_end) = mpsc::channel();
    let first = thread::spawn({
        let writer = Arc::clone(writer);
        move || {
            writer.transact(move |_| {
                begun.send(()).unwrap();
                may_end.recv().unwrap();
                Ok(())
            })
        }
    });
    has_begun.recv().unwrap();
    let mut threads = Vec::new();
    for (number, work) in (1..).zip(all) {
        let waiting = Arc::clone(writer);
        threads.push(thread::spawn(move || waiting.transact(work)));
        while lock(&writer.queue).waiting.len() < number {
            thread::yield_now();
        }
    }
    end.send(()).unwrap();
    first.join().unwrap().unwrap();
    threads.into_iter().map(thread::JoinHandle::join).collect()
}

#[test]
fn waiting_transactions_share_a_commit_in_their_order() {
    let (writer, folder) = sample();
    let reader = connect(&folder.path().join("catalogue.db")).unwrap();
    // Changes once per commit of another connection.
    let version = || -> i64 {
        reader
            .query_row("SELECT data_version FROM pragma_data_version", [], |row| row.get(0))
            .unwrap()
    };
    let count = |connection: &Connection| -> Result<i64> {
        let found = query_one(connection, "SELECT count(*) FROM number", [], |row| {
            Ok(row.get(0).unwrap())
        })?;
        Ok(found.unwrap())
    };
    let before = version();
    let work = |value: i64| -> Work<i64> {
        Box::new(move |connection| {
            insert(connection, value)?;
            count(connection)
        })
    };
    let counts: Vec<i64> = in_one_group(&writer, (0..16).map(work).collect())
        .into_iter()
        .map(|outcome| outcome.unwrap().unwrap())
        .collect();
    assert_eq!(counts, (1..=16).collect::<Vec<_>>());
    assert_eq!(version(), before + 1);
    assert_eq!(numbers(&folder).len(), 16);
}

#[test]
fn failed_transaction_changes_nothing_and_disturbs_no_other() {
    let (writer, folder) = sample();
    let good = |value: i64| -> Work<()> { Box::new(move |connection| insert(connection, value)) };
    let outcomes = in_one_group(
        &writer,
        vec![
            good(1),
            Box::new(|connection| {
                insert(connection, 2)?;
                Err(Error::validation("a failed condition"))
            }),
            good(3),
            Box::new(|connection| {
                insert(connection, 4)?;
                insert(connection, 1)
            }),
            Box::new(|connection| {
                insert(connection, 5)?;
                panic!("a defect")
            }),
            good(6),
        ],
    );
    let shown: Vec<String> = outcomes
        .into_iter()
        .map(|outcome| match outcome {
            Ok(Ok(())) => "done".to_owned(),
            Ok(Err(error)) => error.message().to_owned(),
            Err(panic) => (*panic.downcast_ref::<&str>().unwrap()).to_owned(),
        })
        .collect();
    assert_eq!([0, 2, 5].map(|one: usize| shown[one].as_str()), ["done"; 3]);
    assert_eq!([1, 4].map(|one: usize| shown[one].as_str()), ["a failed condition", "a defect"]);
    assert!(shown[3].contains("UNIQUE") && shown[3].contains("catalogue.db"), "{}", shown[3]);
    assert_eq!(numbers(&folder), [1, 3, 6]);
}

#[test]
fn group_that_is_rolled_back_fails_for_all_of_its_callers() {
    let (writer, folder) = sample();
    let outcomes = in_one_group::<()>(
        &writer,
        vec![
            Box::new(|connection| insert(connection, 1)),
            // As SQLite does it after some errors of the disk.
            Box::new(|connection| {
                execute(connection, "ROLLBACK", [])?;
                Err(Error::disk_full("no space"))
            }),
            Box::new(|connection| insert(connection, 3)),
        ],
    );
    for outcome in outcomes {
        let error = outcome.unwrap().unwrap_err();
        assert!(error.is_disk_full(), "{error}");
        assert_eq!(error.applied(), Applied::No);
    }
    writer.transact(|connection| insert(connection, 4)).unwrap();
    assert_eq!(numbers(&folder), [4]);
}

#[test]
fn lone_transaction_that_fails_or_panics_is_rolled_back() {
    let (writer, folder) = sample();
    let failed = writer.transact(|connection| {
        insert(connection, 1)?;
        insert(connection, 1)
    });
    let error = failed.unwrap_err();
    assert!(std::error::Error::source(&error).is_some(), "the error of SQLite");
    assert_eq!(error.message().matches("catalogue.db").count(), 1, "{error}");
    let panicking = thread::spawn({
        let writer = Arc::clone(&writer);
        move || {
            writer.transact::<()>(|connection| {
                insert(connection, 2)?;
                panic!("a defect")
            })
        }
    });
    assert!(panicking.join().is_err());
    writer.transact(|connection| insert(connection, 3)).unwrap();
    assert_eq!(numbers(&folder), [3]);
}

#[test]
fn every_transaction_of_many_threads_is_executed_once() {
    let (writer, folder) = sample();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let value = next.fetch_add(1, Ordering::Relaxed) as i64;
                    writer.transact(move |connection| insert(connection, value)).unwrap();
                }
            });
        }
    });
    assert_eq!(numbers(&folder), (0..400).collect::<Vec<_>>());
}
