//! Comparison of blobs: `file:` with other ways to store files, and the gateway with versitygw; the
//! number of fsyncs per put; and the memory of a gateway while a large blob goes up and down.

mod client;
mod comparison;
mod content;
mod goals;
mod large;
mod local;
mod options;
mod report;
mod server;
mod syncs;
mod traced;

use crate::embedded::Failure;
use crate::http::program::Host;
use crate::median::{Durations, is_steady, median, median_ratio};
use content::Size;
use options::{Options, Part};
use server::ServerProgram;

pub(crate) use syncs::{CHILD as SYNCS_CHILD, child as syncs_child};

/// Contestant of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Contestant {
    /// `file:`, in this process.
    File,
    /// Files that are written by hand: one fsync of the file, one of its folder.
    Plain,
    /// `LocalFileSystem` of the crate `object_store` with `with_fsync(true)`.
    ObjectStoreSynced,
    /// The same with its defaults, without an fsync.
    ObjectStore,
    /// `tabla serve --blobs file:…`.
    Gateway,
    /// versitygw on its `posix` backend.
    Versitygw,
}

impl Contestant {
    const LOCAL: [Self; 4] = [Self::File, Self::Plain, Self::ObjectStoreSynced, Self::ObjectStore];
    const SERVERS: [Self; 2] = [Self::Gateway, Self::Versitygw];

    fn name(self) -> &'static str {
        match self {
            Self::File => "file:",
            Self::Plain => "plain file",
            Self::ObjectStoreSynced => "object_store fsync",
            Self::ObjectStore => "object_store",
            Self::Gateway => "gateway",
            Self::Versitygw => "versitygw",
        }
    }
}

/// Operation that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Put,
    Get,
}

impl Operation {
    const ALL: [Self; 2] = [Self::Put, Self::Get];

    fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

/// Row of the result: an operation on blobs of one size, by a number of callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    operation: Operation,
    size: Size,
    callers: usize,
}

/// Results of one contestant for a row.
pub(crate) struct Measured {
    contestant: Contestant,
    row: Row,
    /// Operations per second, round by round.
    rates: Vec<f64>,
    /// Median latency of all rounds in milliseconds.
    p50: f64,
    /// 99th percentile of the latency of all rounds in milliseconds.
    p99: f64,
}

impl Measured {
    fn new(contestant: Contestant, row: Row, rates: Vec<f64>, mut durations: Durations) -> Self {
        let mut milliseconds = |share| durations.percentile(share).as_secs_f64() * 1e3;
        let (p50, p99) = (milliseconds(0.50), milliseconds(0.99));
        Self { contestant, row, rates, p50, p99 }
    }

    /// Operations per second in the median round.
    fn rate(&self) -> f64 {
        median(&self.rates).unwrap_or_default()
    }

    /// Median of the ratios of this rate to another's.
    fn times(&self, other: &Self) -> f64 {
        median_ratio(&self.rates, &other.rates)
    }

    fn is_steady(&self) -> bool {
        is_steady(&self.rates)
    }
}

/// Results of all measurements.
#[derive(Default)]
pub(crate) struct Found {
    measured: Vec<Measured>,
    syncs: Vec<syncs::Counted>,
    traced: Vec<traced::Traced>,
    large: Vec<large::Transferred>,
}

/// `blobs`: measures, and prints the tables and the goals.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments)?;
    let host = Host::new(&options.folder)?;
    let programs = options.programs();
    for contestant in Contestant::SERVERS {
        if !programs.iter().any(|program| program.contestant == contestant) {
            println!("NOT RUN: {} (its program is not named)", contestant.name());
        }
    }
    println!(
        "median of {} rounds, contestants in turns of {} s; checksum of the client: {}; {} processors; \
         files in {}",
        options.rounds,
        options.turn,
        options.checksum.map_or("none", |algorithm| algorithm.as_str()),
        std::thread::available_parallelism().map_or(0, usize::from),
        host.folder
    );
    let mut found = Found::default();
    for part in options.parts.iter().copied() {
        match part {
            Part::Syncs => {
                found.syncs = syncs::measure(&options, &host)?;
                found.traced = traced::measure(&options, &host, &programs)?;
            }
            Part::Local => found.measured.extend(comparison::local(&options, &host)?),
            Part::Http => found.measured.extend(comparison::http(&options, &host, &programs)?),
            Part::Large => found.large = large::measure(&options, &host, &programs)?,
        }
        eprintln!("done: {}", part.name());
    }
    report::print(&found);
    goals::print(&found);
    if let Some(path) = &options.json {
        std::fs::write(path, report::json(&found))?;
        println!("\nall rows: {}", path.display());
    }
    Ok(())
}
