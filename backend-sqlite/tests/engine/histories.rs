//! Histories that two processes record at the same time, checked as one.

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
/// Tasks of each process.
const TASKS: usize = 4;
const ROUNDS: u64 = 20;
/// Tells a child its part, and makes one of this test.
const CHILD: &str = "TABLA_TEST_RECORDER";
/// What stands before the entries of a round in the output of a child.
const RECORDED: &str = "recorded ";

#[test]
fn what_two_processes_do_is_strictly_serializable() {
    let mut checker = checker();
    for round in HISTORY.iter() {
        checker.round(&round.merged()).unwrap_or_else(|violation| panic!("{violation}"));
    }
    let entries = || HISTORY.iter().flat_map(Round::merged);
    let Options { operations, keys, .. } = Options::default();
    assert_eq!(entries().count(), ROUNDS as usize * (PROCESSES * TASKS * operations + keys));
    // The embedded engine makes everybody wait for their turn: nobody meets a conflict.
    assert!(!entries().any(|entry| matches!(entry.outcome, Outcome::NoEffect(_))));
    assert!(!entries().any(|entry| entry.is_unknown()));
}

/// If the processes had worked one after the other, the history would say little.
#[test]
fn neither_process_can_be_understood_without_the_other() {
    assert!(HISTORY.iter().any(Round::has_meetings), "they never met");
    for process in 0..PROCESSES {
        let mut checker = checker();
        let mut rounds =
            HISTORY.iter().map(|round| [&round.by[process][..], &round.after].concat());
        let outcome = rounds.try_for_each(|round| checker.round(&round).map(|_| ()));
        assert!(matches!(outcome, Err(Violation::Disorder(_))), "{process}: {outcome:?}");
    }
}

/// A read is said to have seen what was true a round ago or more. What was written since has to be
/// seen, whichever process has written it.
#[test]
fn a_stale_read_is_found() {
    finds(|before, round| {
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

/// A write of one process is said to have been refused, although the other has seen it.
#[test]
fn a_write_that_is_disowned_is_found() {
    finds(|_, round| {
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

/// Changes one answer in each round to a false one, of those that are proposed for its place in
/// the merged round, and sees the round refused.
#[track_caller]
fn finds(lies: impl Fn(&[Round], &Round) -> Vec<(usize, Outcome)>) {
    let mut found = 0;
    let mut checker = checker();
    for (number, round) in HISTORY.iter().enumerate() {
        let mut entries = round.merged();
        let mut lies = lies(&HISTORY[..number], round);
        if !lies.is_empty() {
            let (place, lie) = lies.swap_remove(lies.len() / 2);
            let truth = std::mem::replace(&mut entries[place].outcome, lie);
            let judged = checker.clone().round(&entries);
            let told = &entries[place];
            assert!(matches!(judged, Err(Violation::Disorder(_))), "believed: {told}: {judged:?}");
            entries[place].outcome = truth;
            found += 1;
        }
        checker.round(&entries).expect("this is what was recorded");
    }
    assert!(found > 0, "there was nothing to lie about");
}

/// An item as it was after one of these rounds, but not after the last one.
fn stale(rounds: &[Round], key: usize) -> Option<Row> {
    let (last, before) = rounds.split_last()?;
    let last = last.after_of(key).and_then(|row| row.tag);
    before.iter().filter_map(|round| round.after_of(key)).find(|row| {
        // A tag is given once, so an item that has another does not come back.
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

/// What was recorded in a round: by each process while all worked, and afterwards by this one.
struct Round {
    by: [Vec<Entry>; PROCESSES],
    after: Vec<Entry>,
}

impl Round {
    fn merged(&self) -> Vec<Entry> {
        self.by.iter().chain([&self.after]).flatten().cloned().collect()
    }

    /// Whether the processes have worked on an item at the same time.
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

    /// An item as it was when the round had ended.
    fn after_of(&self, key: usize) -> Option<Row> {
        self.after.iter().find_map(|entry| match &entry.outcome {
            Outcome::Read(rows) if entry.operation == ModelOperation::Get(key) => rows[0],
            _ => None,
        })
    }
}

/// Recorded once, and looked at by all these tests.
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
            // One syncs and one does not: they take turns in different ways.
            is_synced: number == 0,
            tasks: first..first + TASKS,
            invitation: recorder.invitation().expect("the ticks are in a file"),
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

/// What a child does.
#[derive(Serialize, Deserialize)]
struct Part {
    path: PathBuf,
    is_synced: bool,
    tasks: Range<usize>,
    invitation: Invitation,
}

/// Only a child does anything here: it makes the calls of a round for each seed that it is given,
/// and tells what it has recorded.
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
            let seed = seed.expect("the parent writes").parse().expect("a number");
            let random = SeededRandom::new(seed);
            let work = recorder.work(&stores, tasks.clone(), &random);
            let entries = work.await.unwrap_or_else(|violation| panic!("{violation}"));
            println!("{RECORDED}{}", serde_json::to_string(&entries).expect("plain data"));
        }
    });
}

/// A child, which ends with this.
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
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        Self { child, seeds, lines }
    }

    /// Has it begin a round.
    fn begin(&mut self, seed: u64) {
        let seeds = self.seeds.as_mut().expect("it has not been ended");
        writeln!(seeds, "{seed}").expect("the child reads");
    }

    /// Waits for what it has recorded in the round.
    fn entries(&mut self) -> Vec<Entry> {
        // The first stand behind what the child's runner has printed without a new line.
        let entries = self.lines.by_ref().find_map(|line| {
            let line = line.expect("the child writes");
            line.split_once(RECORDED).map(|(_, entries)| entries.to_owned())
        });
        serde_json::from_str(&entries.expect("the child has ended; its error is above"))
            .expect("entries")
    }

    /// Has it end by itself.
    fn end(mut self) {
        self.seeds = None;
        assert!(self.child.wait().expect("a child").success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already, unless a test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
