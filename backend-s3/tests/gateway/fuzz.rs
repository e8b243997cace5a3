//! Robustness: every request has a well-formed response, a refused request changes nothing, and an
//! accepted one changes only what it names.
//!
//! Requests are valid ones with a few changes before and after they are signed, and arbitrary bytes.
//! Gateways on memory and on a folder get the same ones, and must respond alike. The fuzz target
//! `gateway` checks the same laws. `TABLA_FUZZ_REQUESTS` is the number of requests (default:
//! 10,000), `TABLA_SEED` their seed. The long form is 1,000,000.

#[path = "../../../server/tests/any_request/choices.rs"]
mod choices;
mod content;
mod found;
mod generate;
mod laws;
mod seeds;
mod wire;
mod words;
mod xml;

use std::path::Path;
use std::sync::Arc;

use tabla_core::env::{Random, SeededRandom};
use tabla_s3::{Buckets, FileFolder, FileSweep, MemoryBuckets};

use self::choices::Choices;
use self::laws::{Counts, Subject, env};
use self::seeds::SEEDS;
use crate::process::{memory, run_alone};
use crate::support::eventually;

/// Default of `TABLA_FUZZ_REQUESTS`.
const REQUESTS: u64 = 10_000;

/// Default of `TABLA_SEED`.
const SEED: u64 = 1;

/// Requests after which both gateways start again with the first content.
const HISTORY: u64 = 100;

/// Bytes of choices for one request.
const CHOICES: usize = 192;

/// Most memory that the process may have, in MB: buckets, gateways, client, and the largest request.
const PEAK: u64 = 256;

/// Most memory that the second half of the requests may add, in MB, if there are enough of them to
/// have had the largest ones in the first half.
const GROWTH: u64 = 32;

/// Environment variable that marks the child process.
const CHILD: &str = "TABLA_TEST_FUZZED";

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// The same gateway on memory and on a folder.
struct Both {
    memory: Subject,
    file: Subject,
    folder: FileFolder,
    _parent: tempfile::TempDir,
}

impl Both {
    async fn new() -> Self {
        // In memory if there is such a file system: the syncs of a disk are not what is tested.
        let shared = Path::new("/dev/shm");
        let parent = match shared.is_dir() {
            true => tempfile::tempdir_in(shared),
            false => tempfile::tempdir(),
        };
        let parent = parent.expect("a folder");
        let folder = FileFolder::open_with_env(parent.path().join("assets"), env()).await;
        let folder = folder.expect("a folder").with_sweeps(false);
        let memory: Arc<dyn Buckets> = Arc::new(MemoryBuckets::with_env(env()));
        Self {
            memory: Subject::new(memory).await,
            file: Subject::new(Arc::new(folder.clone())).await,
            folder,
            _parent: parent,
        }
    }

    async fn step(&mut self, bytes: &[u8], counts: &mut [Counts; 2]) {
        let on_memory = self.memory.step(&mut Choices::new(bytes)).await;
        let on_file = self.file.step(&mut Choices::new(bytes)).await;
        assert_eq!(on_memory, on_file, "memory and file respond differently to {bytes:?}");
        if let (Some(memory), Some(file)) = (self.memory.comparable(), self.file.comparable()) {
            assert_eq!(memory, file, "memory and file differ after {bytes:?}");
        }
        let closed = || (0, String::new());
        for (counts, outcome) in counts.iter_mut().zip([on_memory, on_file]) {
            *counts.entry(outcome.unwrap_or_else(closed)).or_default() += 1;
        }
    }

    /// Shuts both gateways down, and checks that the requests have left no files.
    async fn finish(self) {
        self.memory.server.shutdown().await;
        self.file.server.shutdown().await;
        let mut swept = FileSweep::default();
        // The file of a dropped request is removed when its last write has returned.
        eventually("no file is being written", async || {
            let report = self.folder.sweep().await.expect("a sweep");
            swept.unreferenced += report.unreferenced;
            report.in_progress == 0
        })
        .await;
        assert_eq!(swept.unreferenced, 0, "requests have left files");
    }
}

async fn fuzz(requests: u64, seed: u64) {
    println!("TABLA_FUZZ_REQUESTS={requests} TABLA_SEED={seed}");
    let mut counts = [Counts::new(), Counts::new()];
    let mut at_half = memory("VmRSS");
    for first in (0..requests).step_by(HISTORY as usize) {
        if first / HISTORY == requests / HISTORY / 2 {
            at_half = memory("VmRSS");
        }
        let seed = seed.wrapping_add(first / HISTORY);
        // Shown if a law is broken.
        println!("history TABLA_FUZZ_REQUESTS={HISTORY} TABLA_SEED={seed} repeats it");
        let random = SeededRandom::new(seed);
        let mut both = Both::new().await;
        for _ in first..requests.min(first + HISTORY) {
            let words = (0..CHOICES / 8).map(|_| random.next_u64().to_le_bytes());
            let bytes: Vec<u8> = words.flatten().collect();
            both.step(&bytes, &mut counts).await;
        }
        both.finish().await;
    }
    println!("status code: memory, file");
    for (outcome, count) in &counts[0] {
        let other = counts[1].get(outcome).copied().unwrap_or(0);
        println!("{} {}: {count}, {other}", outcome.0, outcome.1);
    }
    if let (Some(half), Some(end), Some(peak)) = (at_half, memory("VmRSS"), memory("VmHWM")) {
        println!("memory: {half} MB at half of the requests, {end} MB at the end, peak {peak} MB");
        let is_bounded = requests < REQUESTS || end <= half + GROWTH;
        assert!(peak <= PEAK && is_bounded, "memory is not bounded");
    }
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[tokio::test]
async fn child_that_is_fuzzed() {
    if std::env::var_os(CHILD).is_some() {
        fuzz(number("TABLA_FUZZ_REQUESTS", REQUESTS), number("TABLA_SEED", SEED)).await;
    }
}

#[test]
fn generated_requests_keep_the_laws() {
    run_alone("fuzz::child_that_is_fuzzed", CHILD, "history ");
}

/// The other test would prove little if these were refused.
#[tokio::test]
async fn seeds_are_accepted() {
    let mut both = Both::new().await;
    for seed in SEEDS {
        let outcomes = [both.memory.seed(seed).await, both.file.seed(seed).await];
        for (status, code) in outcomes {
            assert!((200..400).contains(&status), "{seed}: {status} {code}");
        }
        if both.memory.is_used() || both.file.is_used() {
            both.finish().await;
            both = Both::new().await;
        }
    }
}
