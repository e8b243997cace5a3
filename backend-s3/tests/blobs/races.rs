//! Conditional writes of several tasks and processes on one key: one winner per round.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;

use tabla_core::blobs::*;
use tabla_s3::MemoryBlobs;
use tokio::sync::Barrier;

use crate::support::*;

const ROUNDS: usize = 100;
const WRITERS: usize = 16;
/// Environment variable that marks a child process; its value is the path of the folder.
const CHILD: &str = "TABLA_TEST_RACER";

/// Puts under a condition; `None` if the condition failed.
async fn try_put(
    blobs: &dyn Blobs,
    key: &str,
    content: String,
    condition: WriteCondition,
) -> Option<String> {
    match blobs.put(PutBlob::new(key, content).condition(condition)).await {
        Ok(output) => Some(output.etag),
        Err(error) => {
            assert_eq!(error.code(), "PreconditionFailed", "{error}");
            None
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_16_tasks_in_memory_wins_each_round() {
    let blobs = Arc::new(MemoryBlobs::new());
    let barrier = Arc::new(Barrier::new(WRITERS));
    let first = blobs.put(PutBlob::new("counter", "0")).await.unwrap().etag;
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (blobs, barrier) = (Arc::clone(&blobs), Arc::clone(&barrier));
        let mut etag = first.clone();
        tasks.spawn(async move {
            let mut wins = Vec::new();
            for round in 0..ROUNDS {
                let content = format!("{writer} in {round}");
                barrier.wait().await;
                let key = format!("round-{round}");
                let absent =
                    try_put(&*blobs, &key, content.clone(), WriteCondition::IfAbsent).await;
                let condition = WriteCondition::IfMatch(etag.clone());
                let matched = try_put(&*blobs, "counter", content, condition).await;
                wins.push((absent, matched));
                barrier.wait().await;
                etag = blobs.head(HeadBlob::new("counter")).await.unwrap().etag;
            }
            wins
        });
    }
    let wins = tasks.join_all().await;
    for round in 0..ROUNDS {
        let absent: Vec<_> = wins.iter().filter_map(|wins| wins[round].0.as_ref()).collect();
        let matched: Vec<_> = wins.iter().filter_map(|wins| wins[round].1.as_ref()).collect();
        assert_eq!((absent.len(), matched.len()), (1, 1), "round {round}");
        let stored = blobs.head(HeadBlob::new(format!("round-{round}"))).await.unwrap();
        assert_eq!(&stored.etag, absent[0]);
    }
}

/// Body of a child process; does nothing in a normal test run. Each line of the input is a round and
/// the ETag to match; each line of the output is the outcome.
#[test]
fn child_that_races() {
    let Ok(path) = std::env::var(CHILD) else { return };
    block_on(async {
        let (_folder, blobs) = open(path.as_ref()).await;
        println!("ready -");
        for line in std::io::stdin().lines() {
            let line = line.expect("a line");
            let (round, etag) = line.split_once(' ').expect("a round and an ETag");
            let content = format!("{} in {round}", std::process::id());
            let key = format!("round-{round}");
            let absent = try_put(&blobs, &key, content.clone(), WriteCondition::IfAbsent).await;
            let condition = WriteCondition::IfMatch(etag.to_owned());
            let matched = try_put(&blobs, "counter", content, condition).await;
            let shown = |etag: Option<String>| etag.unwrap_or("-".to_owned());
            println!("{} {}", shown(absent), shown(matched));
        }
    });
}

struct Racer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Racer {
    fn start(path: &std::path::Path) -> Self {
        let mut child = child("races::child_that_races")
            .env(CHILD, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let input = child.stdin.take().expect("piped input");
        let output = BufReader::new(child.stdout.take().expect("piped output"));
        let mut racer = Self { child, input, output };
        racer.outcome("ready");
        racer
    }

    /// Reads the next outcome: two words, the first of which is `first` if it is not empty.
    fn outcome(&mut self, first: &str) -> (Option<String>, Option<String>) {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).expect("a line") > 0, "the child has ended");
            // The test runner of the child prints a prefix without a line end.
            let line = line.trim().rsplit("... ").next().unwrap_or_default();
            let Some((one, two)) = line.split_once(' ') else { continue };
            let is_word = |word: &str| word == "-" || (word.len() == 32 && !word.contains(' '));
            if (first.is_empty() && is_word(one) && is_word(two)) || (one == first && two == "-") {
                let etag = |word: &str| (word != "-").then(|| word.to_owned());
                return (etag(one), etag(two));
            }
        }
    }
}

#[test]
fn one_of_16_processes_on_a_folder_wins_each_round() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("assets");
    // The processes create the folder together.
    let starting: Vec<_> = (0..WRITERS)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || Racer::start(&path))
        })
        .collect();
    let mut racers: Vec<Racer> =
        starting.into_iter().map(|racer| racer.join().expect("a racer")).collect();
    let mut etag = block_on(async {
        let (_folder, blobs) = open(&path).await;
        blobs.put(PutBlob::new("counter", "0")).await.unwrap().etag
    });
    for round in 0..ROUNDS {
        for racer in &mut racers {
            writeln!(racer.input, "{round} {etag}").expect("a child that reads");
        }
        let outcomes: Vec<_> = racers.iter_mut().map(|racer| racer.outcome("")).collect();
        let absent: Vec<_> = outcomes.iter().filter_map(|(absent, _)| absent.as_ref()).collect();
        let matched: Vec<_> = outcomes.iter().filter_map(|(_, matched)| matched.as_ref()).collect();
        assert_eq!((absent.len(), matched.len()), (1, 1), "round {round}");
        etag = matched[0].clone();
    }
    for Racer { mut child, input, output: _output } in racers {
        drop(input);
        assert!(child.wait().expect("a child").success());
    }
    assert_agreement(&path);
    block_on(async {
        let (_folder, blobs) = open(&path).await;
        assert_eq!(blobs.head(HeadBlob::new("counter")).await.unwrap().etag, etag);
        let page = blobs.list(ListBlobs::with_prefix("round-")).await.unwrap();
        assert_eq!(page.blobs.len(), ROUNDS);
    });
}
