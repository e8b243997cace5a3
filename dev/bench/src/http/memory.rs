//! Memory of servers that hold many items.

use super::program::Program;
use super::{Engine, Found, Run, StorageMode, table};
use crate::embedded::Failure;
use crate::median::Stopwatch;

/// Number of items that are written between two checks of the time.
const STRIDE: u64 = 1_000;

/// Seconds after which a server gets no more items. One that does an fsync per item would
/// take hours.
const PATIENCE: f64 = 600.0;

/// Memory of a server with its items.
pub(crate) struct Filled {
    pub(crate) contestant: Engine,
    pub(crate) place: StorageMode,
    /// Number of items that the server holds.
    pub(crate) items: u64,
    /// Seconds that writing them took.
    pub(crate) seconds: f64,
    /// Resident memory afterwards, in bytes.
    pub(crate) resident: u64,
}

impl Filled {
    pub(crate) fn megabytes(&self) -> f64 {
        self.resident as f64 / f64::from(1 << 20)
    }
}

/// Fills one server after the other, each in a new process.
pub(crate) fn measure(run: &Run<'_>, place: StorageMode, found: &mut Found) -> Result<(), Failure> {
    if run.options.items == 0 {
        return Ok(());
    }
    for program in run.programs.iter().copied() {
        match fill(run, program, place) {
            Ok(filled) => found.memory.push(filled),
            Err(error) => found.fails(program.contestant, "many items", error)?,
        }
        eprintln!("done: {}, items of {}", place.name(), program.contestant.name());
    }
    Ok(())
}

fn fill(run: &Run<'_>, program: &Program, place: StorageMode) -> Result<Filled, Failure> {
    let (wanted, runtime) = (run.options.items, &run.host.runtime);
    let mut server = program.start(run.host, place)?;
    runtime.block_on(table::create(server.port))?;
    let watch = Stopwatch::start();
    let mut items = 0;
    while items < wanted && watch.seconds() < PATIENCE {
        let count = STRIDE.min(wanted - items);
        let filled = runtime.block_on(table::fill(server.port, items, count));
        server.or_its_end(filled)?;
        items += count;
    }
    let seconds = watch.seconds();
    let resident = server.resident()?;
    Ok(Filled { contestant: program.contestant, place, items, seconds, resident })
}
