//! Number of processor instructions per operation, in memory, with one caller.
//!
//! The time of an operation depends on the machine and its load; the number of its instructions
//! hardly does. For hand-written SQLite it is the same in every run. For the engine it varies by up
//! to 3 %, because hash maps have a new seed in every process. The cost of retries has a goal of
//! 1 %, so the engine with and without them is counted in several processes, whose median counts.
//!
//! This program does the work as a child of `callgrind`, which counts. Each time the child enters
//! [`end_of_part`], callgrind writes the counts since the last time. One part executes an operation
//! n times and the next one 2n times: the difference consists of operations only.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tabla_core::ops::StreamViewType;
use tabla_core::{Registry, Store};
use tabla_sqlite::SqliteOpener;

use crate::embedded::limit::Limit;
use crate::embedded::options::list;
use crate::embedded::workload::{ITEMS, StorageMode, Workload};
use crate::embedded::{Failure, Folder, Row, tabla as work};
use crate::median::median;
use crate::process;

/// Command with which this program starts itself as the child.
pub(crate) const CHILD: &str = "instructions-child";

const OPERATIONS: [Workload; 7] = [
    Workload::Get,
    Workload::Put,
    Workload::Update,
    Workload::Query,
    Workload::BatchGet,
    Workload::BatchWrite,
    Workload::Transact,
];

/// Goal: highest number of instructions with the default retries, as a multiple of those with
/// `?retries=off`.
const RETRIES_GOAL: f64 = 1.01;

/// Contestant: the limit, or the engine with an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worked {
    /// Hand-written SQLite.
    ByHand,
    /// Engine at an address with `?retries=off`.
    Plain,
    /// Engine at an address with the default retries.
    Retrying,
    /// Engine with a stream of both images.
    Streamed,
}

impl Worked {
    const ALL: [Self; 4] = [Self::ByHand, Self::Plain, Self::Retrying, Self::Streamed];

    fn name(self) -> &'static str {
        match self {
            Self::ByHand => "limit",
            Self::Plain => "tabla",
            Self::Retrying => "with-retries",
            Self::Streamed => "with-stream",
        }
    }

    /// Number of processes whose median counts, if the goal needs `processes`.
    fn rounds(self, processes: usize) -> usize {
        match self {
            Self::Plain | Self::Retrying => processes,
            Self::ByHand | Self::Streamed => 1,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|worked| worked.name() == name)
    }
}

/// Measures, and prints the table and the goal of retries.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut operations = OPERATIONS.to_vec();
    let mut processes: usize = 7;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument}: the value is missing"))?;
        match argument.as_str() {
            "--operations" => operations = list(value, Workload::named)?,
            "--processes" => {
                let positive = value.parse().ok().filter(|number| *number > 0);
                processes = positive.ok_or("--processes must be at least 1")?;
            }
            _ => {
                return Err(
                    format!("unknown option {argument}; see `cargo xtask bench help`").into()
                );
            }
        }
    }
    if operations.contains(&Workload::Delete) {
        return Err("--operations: delete cannot be measured by `instructions`".into());
    }
    let folder = Folder::make(&std::env::temp_dir())?;
    let mut counts: [Vec<Vec<f64>>; 4] = Default::default();
    for round in 0..processes {
        for (worked, counts) in Worked::ALL.into_iter().zip(&mut counts) {
            if round < worked.rounds(processes) {
                counts.push(count(worked, &operations, folder.path())?);
                eprintln!(
                    "done: {}, process {} of {}",
                    worked.name(),
                    round + 1,
                    worked.rounds(processes)
                );
            }
        }
    }
    let counted = counts.map(|rounds| medians(&rounds));
    println!(
        "instructions per operation; {ITEMS} items in memory, one caller; {} and {}: median of \
         {processes} processes",
        Worked::Plain.name(),
        Worked::Retrying.name()
    );
    let [limit, tabla, retrying, streamed] = Worked::ALL.map(Worked::name);
    println!(
        "{:<16} {limit:>12} {tabla:>12}  times {retrying:>12}  times {streamed:>12}  times",
        ""
    );
    for (number, operation) in operations.iter().enumerate() {
        let [limit, tabla, retrying, streamed] = [0, 1, 2, 3].map(|one| counted[one][number]);
        println!(
            "{:<16} {limit:>12.0} {tabla:>12.0} {:>6.2} {retrying:>12.0} {:>6.3} {streamed:>12.0} \
             {:>6.2}",
            operation.name(),
            tabla / limit,
            retrying / tabla,
            streamed / tabla
        );
    }
    println!("{}", retries_verdict(&operations, &counted[1], &counted[2]));
    Ok(())
}

/// Median of each operation over the processes.
fn medians(rounds: &[Vec<f64>]) -> Vec<f64> {
    let operations = rounds.first().map_or(0, Vec::len);
    let of = |operation: usize| -> Vec<f64> { rounds.iter().map(|one| one[operation]).collect() };
    (0..operations).filter_map(|operation| median(&of(operation))).collect()
}

/// Line that compares the engine with the default retries (`retrying`) and with `?retries=off`
/// (`plain`), and names the operations that miss the goal.
fn retries_verdict(operations: &[Workload], plain: &[f64], retrying: &[f64]) -> String {
    let times = plain.iter().zip(retrying).map(|(plain, retrying)| retrying / plain);
    let missed: Vec<String> = operations
        .iter()
        .zip(times)
        .filter(|(_, times)| *times > RETRIES_GOAL)
        .map(|(operation, times)| format!("{} {times:.3}", operation.name()))
        .collect();
    let verdict = match missed.is_empty() {
        true => "met".to_owned(),
        false => format!("MISSED by {}", missed.join(", ")),
    };
    format!(
        "goal: with-retries needs at most {RETRIES_GOAL} times the instructions of `?retries=off`: \
         {verdict}"
    )
}

/// Counts the instructions per operation of a contestant.
fn count(worked: Worked, operations: &[Workload], folder: &Path) -> Result<Vec<f64>, Failure> {
    let out = folder.join(worked.name());
    let names: Vec<&str> = operations.iter().map(|operation| operation.name()).collect();
    process::output(
        Command::new("valgrind")
            .args(["--tool=callgrind", "--quiet", "--dump-before=*instructions::end_of_part*"])
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg(std::env::current_exe()?)
            .args([CHILD, worked.name(), &names.join(",")]),
    )?;
    let part =
        |number: usize| -> Result<f64, Failure> {
            let dump = std::fs::read_to_string(format!("{}.{number}", out.display()));
            total(&dump.map_err(|error| {
                format!("cannot read part {number} of callgrind's counts: {error}")
            })?)
        };
    let per_operation = |(number, operation): (usize, &Workload)| -> Result<f64, Failure> {
        // Parts are numbered from 1, and the first of three is the warm-up.
        let (once, twice) = (part(3 * number + 2)?, part(3 * number + 3)?);
        Ok((twice - once) / times(*operation) as f64)
    };
    operations.iter().enumerate().map(per_operation).collect()
}

/// Reads the number of instructions of a part.
fn total(dump: &str) -> Result<f64, Failure> {
    let line = dump.lines().find_map(|line| line.strip_prefix("summary: "));
    Ok(line.ok_or("callgrind's output has no summary")?.trim().parse()?)
}

/// Number of operations in the shorter of two parts.
fn times(operation: Workload) -> u64 {
    match operation {
        Workload::Get => 2_000,
        Workload::Put | Workload::Update | Workload::Delete | Workload::Transact => 400,
        Workload::Query | Workload::IndexQuery | Workload::FilteredQuery => 200,
        Workload::BatchGet | Workload::BatchWrite => 20,
    }
}

/// Executes all operations, in parts.
pub(crate) fn child(arguments: &[String]) -> Result<(), Failure> {
    let [worked, operations] = arguments else {
        return Err(format!("`{CHILD}` is started by `instructions`, not by hand").into());
    };
    let worked = Worked::named(worked).ok_or_else(|| format!("unknown contestant `{worked}`"))?;
    let mut worker = match worked {
        Worked::ByHand => Worker::Limit(Limit::load(StorageMode::Memory, Path::new(""))?),
        Worked::Plain | Worked::Retrying | Worked::Streamed => {
            // One thread, so that the count does not depend on which thread wakes which.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let address = match worked {
                Worked::Retrying => "sqlite::memory:",
                _ => "sqlite::memory:?retries=off",
            };
            let store = runtime.block_on(open(address))?;
            if worked == Worked::Streamed {
                runtime.block_on(work::stream(&*store, StreamViewType::NewAndOldImages))?;
            }
            Worker::Tabla(runtime, store)
        }
    };
    let mut next_item = ITEMS;
    for operation in list(operations, Workload::named)? {
        let times = times(operation);
        // The first calls prepare statements and fill caches.
        for ops in [times, times, 2 * times] {
            worker
                .work(&Row { place: StorageMode::Memory, operation, callers: 1, ops }, next_item)?;
            next_item += ops * operation.new_items().max(1);
            end_of_part(ops);
        }
    }
    Ok(())
}

/// Opens the engine at this address, and writes the initial items.
async fn open(address: &str) -> Result<Arc<dyn Store>, Failure> {
    let mut registry = Registry::new();
    registry.register(SqliteOpener);
    let store = registry.open(address).await?;
    work::load(&*store).await?;
    Ok(store)
}

enum Worker {
    Tabla(tokio::runtime::Runtime, Arc<dyn Store>),
    Limit(Limit),
}

impl Worker {
    fn work(&mut self, row: &Row, first: u64) -> Result<(), Failure> {
        match self {
            Self::Tabla(runtime, store) => runtime.block_on(work::timed(store, row, first))?,
            Self::Limit(limit) => limit.timed(row, first)?,
        };
        Ok(())
    }
}

/// callgrind finds this function by its name: the name must be unique, and the call must not
/// be inlined.
#[inline(never)]
fn end_of_part(ops: u64) {
    std::hint::black_box(ops);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_is_read_from_dump() {
        let dump = "# callgrind format\nversion: 1\nevents: Ir\nsummary: 4500\n\nfn=(1)\n1 7\n";
        assert_eq!(total(dump).unwrap(), 4500.0);
        assert!(total("events: Ir\n").is_err());
    }

    #[test]
    fn median_of_several_processes_decides_the_goal_of_retries() {
        let operations = [Workload::Get, Workload::Put];
        let plain = medians(&[vec![100.0, 200.0], vec![103.0, 200.0], vec![101.0, 206.0]]);
        assert_eq!(plain, [101.0, 200.0]);
        let verdict = |retrying: &[f64]| retries_verdict(&operations, &plain, retrying);
        assert!(verdict(&[102.0, 202.0]).ends_with("`?retries=off`: met"));
        assert!(verdict(&[102.0, 204.0]).ends_with("MISSED by put 1.020"));
    }
}
