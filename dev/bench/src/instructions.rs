//! How many instructions of the processor an operation takes: in memory, one caller.
//!
//! The time of an operation depends on the machine and on what else it does; the number of its
//! instructions hardly does: by hand it is the same in every run, and the engine's differs by up to
//! 3 %, because maps are seeded anew in every process.
//!
//! This program does the work as a child of `callgrind`, which counts. Whenever the child enters
//! [`end_of_part`], what was counted since the last time is written down. Each operation is done so
//! many times in one part and twice as often in the next: the difference has nothing but operations
//! in it.

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
use crate::process;

/// The command by which this program calls itself.
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

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worked {
    /// SQLite by hand.
    ByHand,
    /// The engine, from an address with `?retries=off`.
    Plain,
    /// The engine, from an address with the default retries.
    Retrying,
    /// The engine, with a stream of both images.
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

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|worked| worked.name() == name)
    }
}

/// Measures, and prints the table.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut operations = OPERATIONS.to_vec();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} has no value"))?;
        match argument.as_str() {
            "--operations" => operations = list(value, Workload::named)?,
            _ => return Err(format!("no such option: {argument}").into()),
        }
    }
    if operations.contains(&Workload::Delete) {
        return Err("a delete needs an item that is there; it is not among these".into());
    }
    let folder = Folder::make(&std::env::temp_dir())?;
    let mut counted = Vec::new();
    for worked in Worked::ALL {
        counted.push(count(worked, &operations, folder.path())?);
        eprintln!("done: {}", worked.name());
    }
    println!("instructions per operation; {ITEMS} items in memory, one caller");
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
    Ok(())
}

/// The instructions that each operation takes.
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
    let part = |number: usize| -> Result<f64, Failure> {
        let dump = std::fs::read_to_string(format!("{}.{number}", out.display()));
        total(&dump.map_err(|error| format!("callgrind has not counted part {number}: {error}"))?)
    };
    let per_operation = |(number, operation): (usize, &Workload)| -> Result<f64, Failure> {
        // Parts are counted from 1, and the first of three is what leads up to the others.
        let (once, twice) = (part(3 * number + 2)?, part(3 * number + 3)?);
        Ok((twice - once) / times(*operation) as f64)
    };
    operations.iter().enumerate().map(per_operation).collect()
}

/// The instructions of a part.
fn total(dump: &str) -> Result<f64, Failure> {
    let line = dump.lines().find_map(|line| line.strip_prefix("summary: "));
    Ok(line.ok_or("callgrind has written no summary")?.trim().parse()?)
}

/// How often an operation is done in the shorter part.
fn times(operation: Workload) -> u64 {
    match operation {
        Workload::Get => 2_000,
        Workload::Put | Workload::Update | Workload::Delete | Workload::Transact => 400,
        Workload::Query | Workload::IndexQuery | Workload::FilteredQuery => 200,
        Workload::BatchGet | Workload::BatchWrite => 20,
    }
}

/// Does every operation, in parts.
pub(crate) fn child(arguments: &[String]) -> Result<(), Failure> {
    let [worked, operations] = arguments else {
        return Err(format!("{CHILD} is called by `instructions`").into());
    };
    let worked = Worked::named(worked).ok_or_else(|| format!("nobody is called {worked}"))?;
    let mut worker = match worked {
        Worked::ByHand => Worker::Limit(Limit::load(StorageMode::Memory, Path::new(""))?),
        Worked::Plain | Worked::Retrying | Worked::Streamed => {
            // One thread: what is counted does not depend on who wakes whom.
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

/// The engine at this address, with the items that are always there.
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

/// Known to callgrind by its name: nothing else may be known by it, and it must not disappear.
#[inline(never)]
fn end_of_part(ops: u64) {
    std::hint::black_box(ops);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_says_its_total() {
        let dump = "# callgrind format\nversion: 1\nevents: Ir\nsummary: 4500\n\nfn=(1)\n1 7\n";
        assert_eq!(total(dump).unwrap(), 4500.0);
        assert!(total("events: Ir\n").is_err());
    }
}
