//! Concurrent clients on a server that is killed and restarted.
//!
//! `TABLA_CONNECTIONS` is the number of clients, `TABLA_SECONDS` the length of each of the three
//! runs of the server. The long form is 500 clients and 60 seconds. It needs a release build
//! (`cargo test --release`, or `TABLA_PROGRAM`), and prints its figures with `--nocapture`. A kill
//! cannot prove that a commit was synced, because the machine keeps running.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tabla::env::{Clock, SystemClock};
use tokio::task::JoinSet;

use crate::counters::Counters;
use crate::process::{Served, connections, number};
use crate::things::table;
use crate::wire::Connection;
use crate::worker::Worker;
use crate::{tabla, text};

const SECONDS: u64 = 1;
const LIVES: usize = 3;

/// Shortest run whose memory is checked, in seconds.
const LONG: u64 = 30;
/// Number of times that the memory is read in a run.
const LOOKS: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_survive_kills_under_load() {
    let seconds = number("TABLA_SECONDS").unwrap_or(SECONDS);
    let mut workers: Vec<Worker> = (0..connections()).map(Worker::new).collect();
    let mut counters = Counters::default();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("load.db");
    let mut server = Served::on(&file).await;
    server.ask("CreateTable", &table()).await.expect();
    for life in 1..=LIVES {
        // The last run ends with a shutdown.
        let is_killed = life < LIVES;
        let memory = live(&mut server, &mut workers, seconds, is_killed).await;
        println!("life {life}: {}", figures(&mut workers, &memory));
        if seconds >= LONG {
            assert_flat(&memory);
        }
        match is_killed {
            true => assert_eq!(server.ended().await.code, None),
            false => server.stop().await,
        }
        assert_sound(&file);
        server = Served::on(&file).await;
        let mut connection = server.connect().await;
        for worker in &mut workers {
            worker.verify(&mut connection).await.expect("responses");
        }
        counters.verify(&mut workers, &mut connection).await.expect("responses");
    }
    server.stop().await;
}

/// Runs all clients for `seconds`, then kills the server under load if `is_killed`.
///
/// Returns the memory of the server over time, in bytes.
async fn live(
    server: &mut Served,
    workers: &mut Vec<Worker>,
    seconds: u64,
    is_killed: bool,
) -> Vec<u64> {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for worker in workers.drain(..) {
        tasks.spawn(work(worker, server.address, Arc::clone(&is_over), is_killed));
    }
    let mut memory = Vec::new();
    for _ in 0..LOOKS {
        SystemClock.sleep(Duration::from_secs(seconds) / LOOKS as u32).await;
        memory.extend(server.memory());
        assert!(tasks.try_join_next().is_none(), "a client has ended early");
    }
    is_over.store(true, Ordering::SeqCst);
    if is_killed {
        server.kill();
    }
    workers.extend(tasks.join_all().await);
    memory
}

/// Sends requests until the run is over, or until the connection fails if the server is killed.
async fn work(
    mut worker: Worker,
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    is_killed: bool,
) -> Worker {
    let mut connection = Connection::open(address).await.expect("the server listens");
    let begun = SystemClock.now();
    while is_killed || !is_over.load(Ordering::SeqCst) {
        if let Err(error) = worker.step(&mut connection).await {
            let is_expected = is_killed && is_over.load(Ordering::SeqCst);
            assert!(is_expected, "a connection failed: {error}");
            break;
        }
    }
    worker.seen.lasted = SystemClock.now().since(begun);
    worker
}

/// Returns the number of requests per second, percentiles, codes and memory, as text.
fn figures(workers: &mut [Worker], memory: &[u64]) -> String {
    let connections = workers.len();
    let mut codes = BTreeMap::new();
    let mut durations = Vec::new();
    let mut lasted = Duration::ZERO;
    for worker in workers {
        let seen = std::mem::take(&mut worker.seen);
        for (code, count) in seen.codes {
            *codes.entry(code).or_insert(0) += count;
        }
        durations.extend(seen.durations);
        lasted = lasted.max(seen.lasted);
    }
    durations.sort_unstable();
    let part = |percent: usize| durations.get(durations.len() * percent / 100);
    let rate = durations.len() as f64 / lasted.as_secs_f64();
    let memory: Vec<u64> = memory.iter().map(|bytes| bytes >> 20).collect();
    format!(
        "{connections} connections, {lasted:.1?}, {rate:.0} requests per second, p50 {:.2?}, \
         p99 {:.2?}, responses {codes:?}, memory in MB {memory:?}",
        part(50).copied().unwrap_or_default(),
        part(99).copied().unwrap_or_default()
    )
}

/// Checks that from the first third to the end, memory grows by at most a fifth plus 32 MB.
fn assert_flat(memory: &[u64]) {
    if let (Some(early), Some(last)) = (memory.get(LOOKS / 3), memory.last()) {
        assert!(*last < early + early / 5 + (32 << 20), "{memory:?}");
    }
}

fn assert_sound(file: &Path) {
    let check = tabla(&["check", file.to_str().expect("the path is UTF-8")]);
    assert!(check.status.success(), "{}{}", text(&check.stdout), text(&check.stderr));
}
