//! Histories of two processes that write concurrently, merged and checked for
//! strict serializability.

use std::io::{BufRead, BufReader, Lines, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use tabla_conformance::concurrency::model::{Action, ModelOperation, Outcome, Row, Verdict};
use tabla_conformance::concurrency::{
    Checker, Entry, Invitation, Options, Recorder, Ticks, Violation,
};
use tabla_core::Store;
use tabla_core::env::SeededRandom;
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

const PROCESSES: usize = 2;
/// Number of tasks of each process.
const TASKS: usize = 4;
const ROUNDS: u64 = 20;
/// Environment variable that marks the child process of a test; its value is a [`Part`] as JSON.
const CHILD: &str = "TABLA_TEST_RECORDER";
/// Prefix of the line with the entries of a round, in the output of a child.
const RECORDED: &str = "recorded ";

#[test]
fn operations_of_two_processes_are_strictly_serializable() {
    let mut checker = checker();
    for round in HISTORY.iter() {
        checker.round(&round.merged()).unwrap_or_else(|violation| panic!("{violation}"));
    }
    let entries = || HISTORY.iter().flat_map(Round::merged);
    let Options { operations, keys, .. } = Options::default();
    assert_eq!(entries().count(), ROUNDS as usize * (PROCESSES * TASKS * operations + keys));
    // Writers of the embedded engine wait for each other, so there are no conflicts.
    assert!(!entries().any(|entry| matches!(entry.outcome, Outcome::NoEffect(_))));
    assert!(!entries().any(|entry| entry.is_unknown()));
}

/// The operations overlap: a history of processes that work one after the other would prove little.
#[test]
fn history_of_one_process_alone_is_not_serializable() {
    assert!(
        HISTORY.iter().any(Round::has_meetings),
        "the processes never used an item at the same time"
    );
    for process in 0..PROCESSES {
        let mut checker = checker();
        let mut rounds =
            HISTORY.iter().map(|round| [&round.by[process][..], &round.after].concat());
        let outcome = rounds.try_for_each(|round| checker.round(&round).map(|_| ()));
        assert!(matches!(outcome, Err(Violation::Disorder(_))), "{process}: {outcome:?}");
    }
}

/// A read is changed to return the item of an earlier round. The checker must detect that a later
/// write of either process is missing.
#[test]
fn stale_read_is_detected() {
    check_rejects(|before, round| {
        let entries = round.merged().into_iter().enumerate();
        let stale = entries.filter_map(|(place, entry)| match entry.operation {
            ModelOperation::Get(key) => {
                stale(before, key).map(|row| (place, Outcome::Read(vec![Some(row)])))
            }
            _ => None,
        });
        stale.collect()
    });
}

/// A write of one process is changed to a failed condition, although the other process has read it.
#[test]
fn write_reported_as_failed_is_detected_if_it_was_read() {
    check_rejects(|_, round| {
        let [one, two] = &round.by;
        let is_seen = |tag| two.iter().any(|entry| reads(entry, tag));
        let seen = one.iter().enumerate().filter(|(_, entry)| match &entry.operation {
            ModelOperation::Write(write) if write.condition.is_some() => {
                let (Action::Put(Row { tag, .. }) | Action::Update { tag, .. }) = write.action
                else {
                    return false;
                };
                matches!(entry.outcome, Outcome::Written(_)) && tag.is_some_and(is_seen)
            }
            _ => false,
        });
        seen.map(|(place, _)| (place, Outcome::Refused(vec![Verdict::Failed(None)]))).collect()
    });
}

/// Changes one outcome in each round to a wrong one that `wrong` proposes, and expects the checker
/// to reject the round.
#[track_caller]
fn check_rejects(wrong: impl Fn(&[Round], &Round) -> Vec<(usize, Outcome)>) {
    let mut found = 0;
    let mut checker = checker();
    for (number, round) in HISTORY.iter().enumerate() {
        let mut entries = round.merged();
        let mut proposals = wrong(&HISTORY[..number], round);
        if !proposals.is_empty() {
            let (place, outcome) = proposals.swap_remove(proposals.len() / 2);
            let recorded = std::mem::replace(&mut entries[place].outcome, outcome);
            let verdict = checker.clone().round(&entries);
            let entry = &entries[place];
            let is_rejected = matches!(verdict, Err(Violation::Disorder(_)));
            assert!(is_rejected, "not rejected: {entry}: {verdict:?}");
            entries[place].outcome = recorded;
            found += 1;
        }
        checker.round(&entries).expect("the recorded round");
    }
    assert!(found > 0, "no round had an outcome to change");
}

/// Returns an item as of the end of one of these rounds, if it differs from the end of the
/// last round.
fn stale(rounds: &[Round], key: usize) -> Option<Row> {
    let (last, before) = rounds.split_last()?;
    let last = last.after_of(key).and_then(|row| row.tag);
    before.iter().filter_map(|round| round.after_of(key)).find(|row| {
        // Tags are unique, so an item never gets an earlier tag back.
        row.tag.is_some() && row.tag != last
    })
}

fn reads(entry: &Entry, tag: u64) -> bool {
    let Outcome::Read(rows) = &entry.outcome else { return false };
    rows.iter().flatten().any(|row| row.tag == Some(tag))
}

fn checker() -> Checker {
    Checker::new(Options::default().keys)
}

/// Entries of a round: of each child while all worked, and of this process afterwards.
struct Round {
    by: [Vec<Entry>; PROCESSES],
    after: Vec<Entry>,
}

impl Round {
    fn merged(&self) -> Vec<Entry> {
        self.by.iter().chain([&self.after]).flatten().cloned().collect()
    }

    /// Whether operations of both processes on one item overlap in time.
    fn has_meetings(&self) -> bool {
        let [one, two] = &self.by;
        one.iter().any(|a| {
            two.iter().any(|b| {
                let keys = b.operation.keys();
                a.called < b.answered
                    && b.called < a.answered
                    && a.operation.keys().iter().any(|key| keys.contains(key))
            })
        })
    }

    /// Returns an item as of the end of the round.
    fn after_of(&self, key: usize) -> Option<Row> {
        self.after.iter().find_map(|entry| match &entry.outcome {
            Outcome::Read(rows) if entry.operation == ModelOperation::Get(key) => rows[0],
            _ => None,
        })
    }
}

/// Rounds of one recording, which all these tests use.
static HISTORY: LazyLock<Vec<Round>> = LazyLock::new(record);

fn record() -> Vec<Round> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.db");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let stores = [runtime.block_on(store(&SqliteConfig::file(&path)))];
    let ticks = Ticks::in_file(folder.path().join("ticks")).expect("a file");
    let options = Options::default();
    let recorder = Recorder::create(&*stores[0], &options, ticks);
    let recorder = runtime.block_on(recorder).expect("tables");
    let mut processes: [Process; PROCESSES] = std::array::from_fn(|number| {
        let first = number * TASKS;
        Process::start(&Part {
            path: path.clone(),
            // One durable store and one relaxed one, whose write groups run on different threads.
            is_synced: number == 0,
            tasks: first..first + TASKS,
            invitation: recorder.invitation().expect("ticks in a file"),
        })
    });
    let rounds = (0..ROUNDS).map(|round| {
        for (number, process) in processes.iter_mut().enumerate() {
            process.begin(round * PROCESSES as u64 + number as u64);
        }
        let by = processes.each_mut().map(Process::entries);
        let after = recorder.read_everything(&stores, PROCESSES * TASKS);
        Round { by, after: runtime.block_on(after).expect("reads") }
    });
    let rounds = rounds.collect();
    processes.into_iter().for_each(Process::end);
    rounds
}

async fn store(config: &SqliteConfig) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(config).await.expect("a store"))
}

/// Task of a child.
#[derive(Serialize, Deserialize)]
struct Part {
    path: PathBuf,
    is_synced: bool,
    tasks: Range<usize>,
    invitation: Invitation,
}

/// Body of the child process that a test starts; does nothing in a normal test run. For each seed
/// from its input, the child executes a round and prints the entries that it has recorded.
#[test]
fn child_that_records() {
    let Ok(part) = std::env::var(CHILD) else { return };
    let Part { path, is_synced, tasks, invitation } = serde_json::from_str(&part).expect("a part");
    let durability = if is_synced { Durability::Durable } else { Durability::Relaxed };
    let config = SqliteConfig::file(path).with_durability(durability);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let stores = [store(&config).await];
        let recorder = Recorder::join(invitation).expect("a recorder");
        for seed in std::io::stdin().lines() {
            let seed = seed.expect("a parent that writes").parse().expect("a number");
            let random = SeededRandom::new(seed);
            let work = recorder.work(&stores, tasks.clone(), &random);
            let entries = work.await.unwrap_or_else(|violation| panic!("{violation}"));
            println!("{RECORDED}{}", serde_json::to_string(&entries).expect("plain data"));
        }
    });
}

/// Child process, which is killed when this is dropped.
struct Process {
    child: Child,
    seeds: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(part: &Part) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "histories::child_that_records", "--nocapture"])
            .env(CHILD, serde_json::to_string(part).expect("plain data"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let seeds = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("piped output")).lines();
        Self { child, seeds, lines }
    }

    /// Begins a round in the child.
    fn begin(&mut self, seed: u64) {
        let seeds = self.seeds.as_mut().expect("a child that was not ended");
        writeln!(seeds, "{seed}").expect("a child that reads");
    }

    /// Waits for the entries that the child has recorded in the round.
    fn entries(&mut self) -> Vec<Entry> {
        // The child's test runner prints a prefix without a line end before the first entries.
        let entries = self.lines.by_ref().find_map(|line| {
            let line = line.expect("a child that writes");
            line.split_once(RECORDED).map(|(_, entries)| entries.to_owned())
        });
        serde_json::from_str(
            &entries.expect("entries of a child; if it has ended, its error is above"),
        )
        .expect("entries")
    }

    /// Ends the child, and expects its success.
    fn end(mut self) {
        self.seeds = None;
        assert!(self.child.wait().expect("a child").success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The child is still running only if a test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
