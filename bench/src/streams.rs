//! What a stream adds to the writes of its table.
//!
//! The same writes on three stores that differ in nothing but the stream: without one, with one that
//! carries the keys, and with one that carries both images. They take turns in every round, and a
//! round is judged by its own ratio, so that a slow moment of the machine meets all three.
//!
//! Beside them, for one caller, the same is done by hand on SQLite: what one more row for each change
//! costs there is what nobody who keeps items and records in one SQLite database can go below.

use std::path::Path;
use std::sync::Arc;

use tabla::Store;
use tabla::ops::StreamViewType;
use tabla_sqlite::SqliteStore;
use tokio::runtime::Runtime;

use crate::embedded::contest::{config, file};
use crate::embedded::limit::Limit;
use crate::embedded::options::{Options, list};
use crate::embedded::shape::{ITEMS, Operation, Place};
use crate::embedded::{Failure, Folder, Row, tabla as work};
use crate::median::median;

/// The most times that a write may take of what it takes without a stream.
const GOAL: f64 = 1.3;

const OPERATIONS: [Operation; 4] =
    [Operation::Put, Operation::Update, Operation::Delete, Operation::Transact];

/// What the streams carry; the first store has none.
const STREAMS: [Option<StreamViewType>; 3] =
    [None, Some(StreamViewType::KeysOnly), Some(StreamViewType::NewAndOldImages)];

/// Measures, prints the table, and fails if a goal is missed.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut places = Place::ALL.to_vec();
    let mut callers = vec![1, 16];
    let mut operations = OPERATIONS.to_vec();
    let mut rounds = 15;
    let mut folder = std::env::temp_dir();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} has no value"))?;
        let positive = |text: &str| text.parse().ok().filter(|number| *number > 0);
        let writing = |name: &str| Operation::named(name).filter(|one| OPERATIONS.contains(one));
        match argument.as_str() {
            "--places" => places = list(value, Place::named)?,
            "--callers" => callers = list(value, positive)?,
            "--operations" => operations = list(value, writing)?,
            "--rounds" => rounds = positive(value).ok_or("--rounds is at least 1")?,
            "--folder" => folder = value.into(),
            _ => return Err(format!("no such option: {argument}").into()),
        }
    }
    let folder = Folder::make(&folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let usual = Options::parse(&[])?;
    println!("time of a write without a stream, and how many times that with one");
    println!("{rounds} rounds, stores in turns, the middle ratio counts; files in {folder}");
    println!(
        "{:<9} {:<11} {:>7} {:>9}   keys   both {:>17}   by hand, both",
        "", "", "callers", "µs", ""
    );
    let mut missed = 0;
    for place in places {
        let stores = runtime.block_on(open(place, folder.path()))?;
        let mut by_hand = by_hand(place, folder.path())?;
        let mut next_item = ITEMS;
        for callers in callers.iter().copied() {
            for operation in operations.iter().copied() {
                let ops = usual.ops(place, operation, callers);
                let row = Row { place, operation, callers, ops };
                // By hand there is one connection, and one caller.
                let by_hand = if callers == 1 { &mut by_hand[..] } else { &mut [] };
                let contestants = Contestants { stores: &stores, by_hand };
                let seconds = contestants.measure(&runtime, &row, rounds, &mut next_item)?;
                missed += print(&row, &seconds);
            }
        }
    }
    match missed {
        0 => Ok(()),
        missed => Err(format!("{missed} goals missed").into()),
    }
}

/// A store for each of [`STREAMS`], with the items that are always there.
async fn open(place: Place, folder: &Path) -> Result<Vec<Arc<dyn Store>>, Failure> {
    let mut stores: Vec<Arc<dyn Store>> = Vec::new();
    for stream in STREAMS {
        let name = stream.map_or("NONE", StreamViewType::as_str);
        let config = config(place, file(name, place, folder));
        let store = SqliteStore::open(&config).await?;
        work::load(&store).await?;
        if let Some(view) = stream {
            work::stream(&store, view).await?;
        }
        stores.push(Arc::new(store));
    }
    Ok(stores)
}

/// SQLite by hand, without and with a record of each change.
fn by_hand(place: Place, folder: &Path) -> Result<Vec<Limit>, Failure> {
    let plain = Limit::load(place, &file("by-hand", place, folder))?;
    let mut recording = Limit::load(place, &file("by-hand-recording", place, folder))?;
    recording.record(place)?;
    Ok(vec![plain, recording])
}

struct Contestants<'a> {
    /// One for each of [`STREAMS`].
    stores: &'a [Arc<dyn Store>],
    by_hand: &'a mut [Limit],
}

/// The seconds of each, round by round.
struct Seconds {
    stores: Vec<Vec<f64>>,
    by_hand: Vec<Vec<f64>>,
}

impl Contestants<'_> {
    /// Has them do the work of a row in turns.
    fn measure(
        self,
        runtime: &Runtime,
        row: &Row,
        rounds: usize,
        next_item: &mut u64,
    ) -> Result<Seconds, Failure> {
        let Self { stores, by_hand } = self;
        let mut seconds = Seconds {
            stores: vec![Vec::new(); stores.len()],
            by_hand: vec![Vec::new(); by_hand.len()],
        };
        for round in 0..rounds {
            let first = *next_item;
            // Updates take numbers too: they set what no update has set before.
            *next_item += row.ops * row.operation.new_items().max(1);
            for turn in 0..stores.len() {
                // Nobody is always first.
                let one = (round + turn) % stores.len();
                seconds.stores[one].push(work::run(runtime.handle(), &stores[one], row, first)?);
            }
            for turn in 0..by_hand.len() {
                let one = (round + turn) % by_hand.len();
                seconds.by_hand[one].push(by_hand[one].run(row, first)?);
            }
        }
        Ok(seconds)
    }
}

/// Prints a line for a row; how many goals are missed.
fn print(row: &Row, seconds: &Seconds) -> usize {
    let (without, with) = seconds.stores.split_first().expect("the first store has no stream");
    let micros = median(without).unwrap_or_default() / row.ops as f64 * 1e6;
    let ratios: Vec<f64> = with.iter().map(|with| ratio(with, without)).collect();
    let missed = ratios.iter().filter(|ratio| **ratio > GOAL).count();
    let ratios: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:>6.2}")).collect();
    let by_hand = match &seconds.by_hand[..] {
        [without, with] => format!("{:.2}", ratio(with, without)),
        _ => String::new(),
    };
    println!(
        "{:<9} {:<11} {:>7} {micros:>9.1} {}   goal <= {GOAL}: {:<6}   {by_hand:>6}",
        row.place.name(),
        row.operation.name(),
        row.callers,
        ratios.join(" "),
        if missed == 0 { "met" } else { "MISSED" }
    );
    missed
}

/// The ratio in the middle of those of the rounds.
fn ratio(with: &[f64], without: &[f64]) -> f64 {
    let ratios: Vec<f64> = with.iter().zip(without).map(|(with, without)| with / without).collect();
    median(&ratios).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_judged_by_its_own_ratio() {
        // The machine is ten times as slow in the second round.
        assert_eq!(ratio(&[2.0, 24.0, 2.0], &[1.0, 20.0, 2.0]), 1.2);
        let row = Row { place: Place::Memory, operation: Operation::Put, callers: 1, ops: 10 };
        let without = vec![1.0, 10.0, 1.0];
        let (cheap, dear) = (vec![1.3, 13.0, 9.0], vec![1.4, 14.0, 1.0]);
        let print = |stores: &[&Vec<f64>]| {
            let stores = stores.iter().map(|seconds| seconds.to_vec()).collect();
            print(&row, &Seconds { stores, by_hand: Vec::new() })
        };
        assert_eq!(print(&[&without, &cheap, &cheap]), 0);
        assert_eq!(print(&[&without, &cheap, &dear]), 1);
        assert_eq!(print(&[&without, &dear, &dear]), 2);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for arguments in
            [&["--fast"][..], &["--rounds", "0"], &["--operations", "get"], &["--places", "tape"]]
        {
            let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
            assert!(run(&arguments).is_err(), "{arguments:?}");
        }
    }
}
