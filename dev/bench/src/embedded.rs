//! Comparison of the embedded engine with hand-written SQLite, Dynoxide and DynamoDB Local: the
//! same work, in turns.

pub(crate) mod comparison;
mod footprint;
mod goals;
pub(crate) mod limit;
pub(crate) mod options;
mod peer;
mod report;
pub(crate) mod tabla;
pub(crate) mod workload;

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) use footprint::{COMMAND as FOOTPRINT, run as footprint};

use comparison::Comparison;
use options::Options;
use workload::{StorageMode, Workload};

/// Error that ends a measurement.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Contestant: the engine, the limit or a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Engine {
    Tabla,
    Limit,
    Dynoxide,
    Dynamodb,
}

impl Engine {
    pub(crate) const ALL: [Self; 4] = [Self::Tabla, Self::Limit, Self::Dynoxide, Self::Dynamodb];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tabla => "tabla",
            Self::Limit => "limit",
            Self::Dynoxide => "dynoxide",
            Self::Dynamodb => "dynamodb",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|contestant| contestant.name() == name)
    }

    /// Whether the contestant is measured in this storage mode with this number of callers.
    fn takes_part(self, place: StorageMode, callers: usize) -> bool {
        match self {
            Self::Tabla | Self::Dynoxide => true,
            Self::Limit => callers == 1,
            Self::Dynamodb => place == StorageMode::Memory && callers <= 16,
        }
    }
}

/// Row of the result: a number of operations of one workload, timed as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) place: StorageMode,
    pub(crate) operation: Workload,
    pub(crate) callers: usize,
    pub(crate) ops: u64,
}

/// Seconds of each round of a row, for one contestant.
pub(crate) struct Measured {
    pub(crate) contestant: Engine,
    pub(crate) row: Row,
    pub(crate) seconds: Vec<f64>,
}

impl Measured {
    /// Operations per second in the median round.
    pub(crate) fn rate(&self) -> f64 {
        crate::median::median(&self.seconds).map_or(0.0, |seconds| self.row.ops as f64 / seconds)
    }
}

impl Measured {
    /// Ratio of this rate to another's. The ratio is computed round by round, so that a slow moment
    /// of the machine affects both, and the median counts.
    pub(crate) fn times(&self, other: &Self) -> f64 {
        let rounds = self.seconds.iter().zip(&other.seconds);
        let work = self.row.ops as f64 / other.row.ops as f64;
        let ratios: Vec<f64> = rounds.map(|(own, others)| work * others / own).collect();
        crate::median::median(&ratios).unwrap_or_default()
    }
}

/// Whether an operation changes data.
pub(crate) fn is_write(operation: Workload) -> bool {
    operation == Workload::Update || operation.new_items() > 0
}

/// Limit for a steady row on the ratio of its slowest to its fastest round: a higher ratio reflects
/// the machine more than the contestant.
const STEADY: f64 = 2.0;

impl Measured {
    /// Whether all rounds are within [`STEADY`].
    pub(crate) fn is_steady(&self) -> bool {
        let slowest = self.seconds.iter().copied().fold(f64::MIN, f64::max);
        let fastest = self.seconds.iter().copied().fold(f64::MAX, f64::min);
        slowest <= STEADY * fastest
    }
}

/// `embedded`: measures, and prints the tables and the goals.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments)?;
    let folder = Folder::make(&options.folder)?;
    let contest = Comparison::open(&options, folder.path())?;
    println!(
        "median of {} rounds, contestants in turns; {} processors; files in {}",
        options.rounds,
        std::thread::available_parallelism().map_or(0, usize::from),
        folder,
    );
    let measured = contest.run(&options)?;
    let footprints = footprint::all(&options, folder.path())?;
    report::print(&measured);
    report::print_footprints(&footprints);
    goals::print(&measured);
    if let Some(path) = &options.json {
        std::fs::write(path, report::json(&measured, &footprints))?;
        println!("\nall rows: {}", path.display());
    }
    Ok(())
}

/// Folder that is deleted at the end of the run.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn make(parent: &Path) -> Result<Self, Failure> {
        let path = parent.join(format!("tabla-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("cannot delete {self}: {error}");
        }
    }
}
