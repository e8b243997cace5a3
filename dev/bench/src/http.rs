//! Comparison of `tabla serve` with other servers for DynamoDB's protocol: the same requests, from
//! the same client, in turns.

pub(crate) mod client;
mod comparison;
mod goals;
mod memory;
mod options;
mod process_reaper;
pub(crate) mod program;
mod report;
mod request;
mod start;
mod table;

use tokio::runtime::Runtime;

pub(crate) use crate::embedded::workload::StorageMode;

use crate::embedded::Failure;
use crate::embedded::workload::{ITEMS, Workload};
use crate::median::{Durations, is_steady, median, median_ratio};
use crate::service::{self, Responses};
use options::Options;
use program::{Host, Program};
use request::Expected;

/// Server of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Engine {
    Tabla,
    Dynoxide,
    Dynamodb,
    Dynalite,
}

impl Engine {
    pub(crate) const ALL: [Self; 4] = [Self::Tabla, Self::Dynoxide, Self::Dynamodb, Self::Dynalite];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tabla => "tabla",
            Self::Dynoxide => "dynoxide",
            Self::Dynamodb => "dynamodb",
            Self::Dynalite => "dynalite",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|contestant| contestant.name() == name)
    }

    /// Whether the server supports the operation.
    fn can(self, operation: Workload) -> bool {
        !(self == Self::Dynalite && operation == Workload::Transact)
    }
}

/// Row of the result: one workload on a number of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) place: StorageMode,
    pub(crate) connections: usize,
    pub(crate) operation: Workload,
}

/// Results of one server for a row.
pub(crate) struct Measured {
    pub(crate) contestant: Engine,
    pub(crate) row: Row,
    /// Operations per second, round by round.
    pub(crate) rates: Vec<f64>,
    /// Median latency of all rounds in milliseconds.
    pub(crate) p50: f64,
    /// 99th percentile of the latency of all rounds in milliseconds.
    pub(crate) p99: f64,
}

impl Measured {
    fn new(contestant: Engine, row: Row, rates: Vec<f64>, mut durations: Durations) -> Self {
        let mut milliseconds = |share| durations.percentile(share).as_secs_f64() * 1e3;
        let (p50, p99) = (milliseconds(0.50), milliseconds(0.99));
        Self { contestant, row, rates, p50, p99 }
    }

    /// Operations per second in the median round.
    pub(crate) fn rate(&self) -> f64 {
        median(&self.rates).unwrap_or_default()
    }

    /// Ratio of this rate to another's. The ratio is computed round by round, so that a slow moment
    /// of the machine affects both, and the median counts.
    pub(crate) fn times(&self, other: &Self) -> f64 {
        median_ratio(&self.rates, &other.rates)
    }

    /// Whether no round had more than twice the rate of another.
    pub(crate) fn is_steady(&self) -> bool {
        is_steady(&self.rates)
    }
}

/// Results of all measurements.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) measured: Vec<Measured>,
    pub(crate) starts: Vec<start::Started>,
    pub(crate) memory: Vec<memory::Filled>,
    /// Failures of the other servers.
    pub(crate) failures: Vec<String>,
}

impl Found {
    /// Records the failure of another server, which is reported at the end. A failure of our own
    /// server ends the run.
    fn fails(&mut self, contestant: Engine, what: &str, error: Failure) -> Result<(), Failure> {
        let failure = format!("{}, {what}: {error}", contestant.name());
        if contestant == Engine::Tabla {
            return Err(failure.into());
        }
        eprintln!("FAILED: {failure}");
        self.failures.push(failure);
        Ok(())
    }
}

/// Options, programs and host of a measurement.
struct Run<'a> {
    options: &'a Options,
    programs: Vec<&'a Program>,
    host: &'a Host,
}

/// `http`: measures, and prints the tables and the goals.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments)?;
    let (programs, missing) = options.programs();
    for contestant in missing {
        println!("NOT RUN: {0} (left out, or no program named by --{0})", contestant.name());
    }
    let host = Host::new(&options.folder)?;
    println!(
        "median of {} rounds, servers in turns of {} s; {ITEMS} items of 1 KB with one index; \
         {} processors; files in {}",
        options.rounds,
        options.turn,
        std::thread::available_parallelism().map_or(0, usize::from),
        host.folder
    );
    print_client(&host.runtime, &options)?;
    let run = Run { options: &options, programs, host: &host };
    let mut found = Found::default();
    for place in options.places.iter().copied() {
        start::measure(&run, place, &mut found)?;
        comparison::measure(&run, place, &mut found)?;
        memory::measure(&run, place, &mut found)?;
    }
    report::print(&found);
    goals::print(&found);
    if let Some(path) = &options.json {
        std::fs::write(path, report::json(&found))?;
        println!("\nall rows: {}", path.display());
    }
    Ok(())
}

/// Prints the limit of the client: its requests per second on a service that does nothing. At that
/// rate the client is measured and not a server.
fn print_client(runtime: &Runtime, options: &Options) -> Result<(), Failure> {
    let port = service::start(Responses::new())?.port();
    let ask = |connections, ops| {
        let puts = (0..ops).map(|step| request::of(port, Workload::Put, step, ITEMS)).collect();
        runtime.block_on(client::drive(port, connections, puts, Expected::Success))
    };
    print!("limit of the client, in puts per second on a service that does nothing:");
    for connections in options.connections.iter().copied() {
        ask(connections, 1_000)?;
        let ops = 10_000;
        print!(" {:.0} at {connections};", ops as f64 / ask(connections, ops)?.seconds);
    }
    println!();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_median_of_ratios_per_round() {
        let row = Row { place: StorageMode::Memory, connections: 1, operation: Workload::Get };
        let of =
            |rates: &[f64]| Measured::new(Engine::Tabla, row, rates.to_vec(), Durations::default());
        let (own, other) = (of(&[200.0, 20.0, 210.0]), of(&[100.0, 10.0, 100.0]));
        assert_eq!(own.times(&other), 2.0);
        assert_eq!(own.rate(), 200.0);
        assert!(!own.is_steady());
        assert!(of(&[10.0, 19.0]).is_steady());
    }

    #[test]
    fn failure_of_own_server_ends_run() {
        let mut found = Found::default();
        assert!(found.fails(Engine::Dynalite, "get", "it ended".into()).is_ok());
        assert_eq!(found.failures, ["dynalite, get: it ended"]);
        assert!(found.fails(Engine::Tabla, "get", "it ended".into()).is_err());
    }
}
