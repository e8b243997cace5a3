//! Overhead of a stream on the writes of its table.
//!
//! The same writes run on three stores that differ only in the stream: none, one of keys, and one
//! of both images. The stores take turns in every round, and the ratio is computed round by round,
//! so that a slow moment of the machine affects all three. At the end the records are read back:
//! records that are cheap to write have to be reconstructed.
//!
//! For one caller, the same is done with hand-written SQLite. The cost of one more row per change
//! there is the lower limit for any store that keeps items and records in one SQLite database.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tabla_core::Store;
use tabla_core::ops::{
    DescribeStream, GetRecords, GetShardIterator, ListStreams, ShardPosition, StreamViewType,
};
use tabla_sqlite::SqliteStore;
use tokio::runtime::Runtime;

use crate::embedded::comparison::{config, file};
use crate::embedded::limit::Limit;
use crate::embedded::options::{Options, list};
use crate::embedded::workload::{ITEMS, StorageMode, Workload};
use crate::embedded::{Failure, Folder, Row, tabla as work};
use crate::median::{Stopwatch, median};

/// Goal: highest ratio of the time of a write with a stream to that without one.
const GOAL: f64 = 1.3;

const OPERATIONS: [Workload; 4] =
    [Workload::Put, Workload::Update, Workload::Delete, Workload::Transact];

/// Factor on the usual number of operations of a round, so that it contains several checkpoints. In
/// shorter rounds, identical stores differed by up to a half.
const LONGER: u64 = 4;

/// View types of the streams; the first store has none.
const STREAMS: [Option<StreamViewType>; 3] =
    [None, Some(StreamViewType::KeysOnly), Some(StreamViewType::NewAndOldImages)];

/// Measures, prints the table, and fails if a goal is missed.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut places = StorageMode::ALL.to_vec();
    let mut callers = vec![1, 16];
    let mut operations = OPERATIONS.to_vec();
    let mut rounds = 9;
    let mut folder = std::env::temp_dir();
    let mut is_part = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let value = rest.next().ok_or_else(|| format!("{argument}: the value is missing"))?;
        let positive = |text: &str| text.parse().ok().filter(|number| *number > 0);
        let writing = |name: &str| Workload::named(name).filter(|one| OPERATIONS.contains(one));
        match argument.as_str() {
            "--places" => places = list(value, StorageMode::named)?,
            "--callers" => callers = list(value, positive)?,
            "--operations" => operations = list(value, writing)?,
            "--rounds" => rounds = positive(value).ok_or("--rounds must be at least 1")?,
            "--folder" => folder = value.into(),
            PART => is_part = true,
            _ => {
                return Err(
                    format!("unknown option {argument}; see `cargo xtask bench help`").into()
                );
            }
        }
    }
    if !is_part {
        println!("time of a write without a stream; time with a stream as a multiple of it");
        println!("3 times {rounds} rounds, stores in turns; the median ratio counts");
        println!(
            "{:<9} {:<11} {:>7} {:>9}   keys   both {:>17}   by hand, both",
            "", "", "callers", "µs", ""
        );
    }
    let parts =
        places.iter().flat_map(|place| callers.iter().map(move |callers| (*place, *callers)));
    let missed = match parts.collect::<Vec<_>>()[..] {
        [(place, callers)] => measure_part(place, callers, &operations, rounds, &folder)?,
        ref parts => {
            let ends = parts.iter().map(|(place, callers)| run_part(arguments, *place, *callers));
            let met: Vec<bool> = ends.collect::<Result<_, _>>()?;
            met.into_iter().filter(|is_met| !is_met).count()
        }
    };
    match missed {
        0 => Ok(()),
        _ => Err("at least one goal is missed; see MISSED above".into()),
    }
}

/// Option that marks a process as one of several.
const PART: &str = "--part";

/// Measures the rows of one storage mode and number of callers in a new process, because memory
/// that earlier rows have used and freed is slower. Returns whether all goals are met.
fn run_part(arguments: &[String], place: StorageMode, callers: usize) -> Result<bool, Failure> {
    let callers = callers.to_string();
    let own = ["--places", place.name(), "--callers", &callers, PART, "of several"];
    let mut command = Command::new(std::env::current_exe()?);
    Ok(command.arg("streams").args(arguments).args(own).status()?.success())
}

/// Measures and prints the rows of one storage mode and number of callers; returns the number of
/// missed goals.
fn measure_part(
    place: StorageMode,
    callers: usize,
    operations: &[Workload],
    rounds: usize,
    folder: &Path,
) -> Result<usize, Failure> {
    let folder = Folder::make(folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let usual = Options::parse(&[])?;
    let rows: Vec<Row> = operations
        .iter()
        .map(|operation| {
            let ops = usual.ops(place, *operation, callers) * LONGER / TURNS;
            Row { place, operation: *operation, callers, ops }
        })
        .collect();
    // Hand-written SQLite has one connection, and so one caller.
    let mut by_hand = if callers == 1 { by_hand(place, folder.path())? } else { Vec::new() };
    let mut next_item = ITEMS;
    let (mut thirds, mut reading) = (Vec::new(), Vec::new());
    // Of three identical stores, the third is up to a quarter faster with 16 callers on two
    // processors. So each store is measured in every position.
    for shift in 0..STREAMS.len() {
        let mut streams = STREAMS;
        streams.rotate_left(shift);
        let stores = runtime.block_on(open(place, streams, &format!("{shift}"), folder.path()))?;
        let mut third = Vec::new();
        for row in &rows {
            let contestants = Contestants { stores: &stores, by_hand: &mut by_hand };
            let mut seconds = contestants.measure(&runtime, row, rounds, &mut next_item)?;
            seconds.stores.rotate_right(shift);
            third.push(seconds);
        }
        thirds.push(third);
        reading.clear();
        for (store, stream) in stores.iter().zip(streams) {
            let Some(view) = stream else { continue };
            let (records, seconds) = runtime.block_on(read_back(&**store))?;
            let micros = seconds / records as f64 * 1e6;
            let (place, view) = (place.name(), view.as_str());
            reading.push(format!(
                "{place:<9} {records} records of {view} read back, {micros:.1} µs each"
            ));
        }
    }
    let mut missed = 0;
    for (index, row) in rows.iter().enumerate() {
        let thirds: Vec<&Seconds> = thirds.iter().map(|third| &third[index]).collect();
        missed += print(row, &thirds);
    }
    reading.iter().for_each(|line| println!("{line}"));
    Ok(missed)
}

/// Opens a store for each of these streams, and writes the initial items.
async fn open(
    place: StorageMode,
    streams: [Option<StreamViewType>; 3],
    suffix: &str,
    folder: &Path,
) -> Result<Vec<Arc<dyn Store>>, Failure> {
    let mut stores: Vec<Arc<dyn Store>> = Vec::new();
    for stream in streams {
        let name = stream.map_or("NONE", StreamViewType::as_str);
        let config = config(place, file(&format!("{name}-{suffix}"), place, folder));
        let store = SqliteStore::open(&config).await?;
        work::load(&store).await?;
        if let Some(view) = stream {
            work::stream(&store, view).await?;
        }
        stores.push(Arc::new(store));
    }
    Ok(stores)
}

/// Reads all records of the only stream; returns their number and the seconds.
async fn read_back(store: &dyn Store) -> Result<(usize, f64), Failure> {
    let streams = store.list_streams(ListStreams::default()).await?.streams;
    let arn = streams.first().ok_or("the store has no stream")?.arn.clone();
    let shards = store.describe_stream(DescribeStream::new(arn.clone())).await?.shards;
    let stopwatch = Stopwatch::start();
    let mut records = 0;
    for shard in shards {
        let position = ShardPosition::TrimHorizon;
        let from = GetShardIterator::new(arn.clone(), shard.id, position);
        let mut next = Some(store.get_shard_iterator(from).await?);
        while let Some(iterator) = next {
            let page = store.get_records(GetRecords::new(iterator)).await?;
            next = page.next_iterator.filter(|_| !page.records.is_empty());
            records += page.records.len();
        }
    }
    Ok((records, stopwatch.seconds()))
}

/// Opens hand-written SQLite twice, without and with a record of each change.
fn by_hand(place: StorageMode, folder: &Path) -> Result<Vec<Limit>, Failure> {
    let plain = Limit::load(place, &file("by-hand", place, folder))?;
    let mut recording = Limit::load(place, &file("by-hand-recording", place, folder))?;
    recording.record(place)?;
    Ok(vec![plain, recording])
}

struct Contestants<'a> {
    /// One store for each of [`STREAMS`].
    stores: &'a [Arc<dyn Store>],
    by_hand: &'a mut [Limit],
}

/// Seconds of each contestant, round by round.
struct Seconds {
    stores: Vec<Vec<f64>>,
    by_hand: Vec<Vec<f64>>,
}

impl Contestants<'_> {
    /// Runs the work of a row on all contestants, in turns.
    fn measure(
        self,
        runtime: &Runtime,
        row: &Row,
        rounds: usize,
        next_item: &mut u64,
    ) -> Result<Seconds, Failure> {
        let Self { stores, by_hand } = self;
        let mut seconds = Seconds {
            stores: vec![vec![0.0; rounds]; stores.len()],
            by_hand: vec![vec![0.0; rounds]; by_hand.len()],
        };
        for round in 0..rounds {
            for turns in [to, fro] {
                let first = *next_item;
                // Updates need new numbers too: each sets a value that no update has set before.
                *next_item += row.ops * row.operation.new_items().max(1);
                for one in turns(stores.len()) {
                    seconds.stores[one][round] +=
                        work::run(runtime.handle(), &stores[one], row, first)?;
                }
                for one in turns(by_hand.len()) {
                    seconds.by_hand[one][round] += by_hand[one].run(row, first)?;
                }
            }
        }
        Ok(seconds)
    }
}

/// Number of turns of each contestant in a round.
const TURNS: u64 = 2;

/// Order of the first turns of a round. A contestant can leave work to the disk that slows the next
/// one down. With this order and that of [`fro`], each comes after each other one once.
fn to(count: usize) -> Vec<usize> {
    (0..count).collect()
}

/// Order of the second turns of a round.
fn fro(count: usize) -> Vec<usize> {
    (0..count).map(|turn| (count - turn) % count).collect()
}

/// Prints the line of a row, with geometric means over the three positions; returns the number of
/// missed goals.
fn print(row: &Row, thirds: &[&Seconds]) -> usize {
    let mean = |of: &dyn Fn(&Seconds) -> f64| {
        thirds.iter().map(|third| of(third)).product::<f64>().powf(1.0 / thirds.len() as f64)
    };
    let micros = mean(&|third| median(&third.stores[0]).unwrap_or_default());
    let micros = micros / (TURNS * row.ops) as f64 * 1e6;
    let ratios: Vec<f64> = (1..thirds[0].stores.len())
        .map(|with| mean(&|third| ratio(&third.stores[with], &third.stores[0])))
        .collect();
    let missed = ratios.iter().filter(|ratio| **ratio > GOAL).count();
    let ratios: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:>6.2}")).collect();
    let by_hand = match thirds[0].by_hand.len() {
        0 => String::new(),
        _ => format!("{:.2}", mean(&|third| ratio(&third.by_hand[1], &third.by_hand[0]))),
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

/// Median of the ratios of the rounds.
fn ratio(with: &[f64], without: &[f64]) -> f64 {
    let ratios: Vec<f64> = with.iter().zip(without).map(|(with, without)| with / without).collect();
    median(&ratios).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ratio_is_median_of_ratios_per_round() {
        // The machine is ten times as slow in the second round.
        assert_eq!(ratio(&[2.0, 24.0, 2.0], &[1.0, 20.0, 2.0]), 1.2);
        let row = Row { place: StorageMode::Memory, operation: Workload::Put, callers: 1, ops: 10 };
        let without = vec![1.0, 10.0, 1.0];
        let (cheap, dear) = (vec![1.3, 13.0, 9.0], vec![1.4, 14.0, 1.0]);
        let print = |stores: &[&Vec<f64>]| {
            let stores = stores.iter().map(|seconds| seconds.to_vec()).collect();
            let seconds = Seconds { stores, by_hand: Vec::new() };
            print(&row, &[&seconds])
        };
        assert_eq!(print(&[&without, &cheap, &cheap]), 0);
        assert_eq!(print(&[&without, &cheap, &dear]), 1);
        assert_eq!(print(&[&without, &dear, &dear]), 2);
    }

    #[test]
    fn each_contestant_follows_each_other_once() {
        let round = [to(3), fro(3), to(3)].concat();
        assert_eq!(round[..7], [0, 1, 2, 0, 2, 1, 0]);
        let followers: BTreeSet<(usize, usize)> =
            round.windows(2).take(6).map(|pair| (pair[0], pair[1])).collect();
        assert_eq!(followers.len(), 6);
        assert!(followers.iter().all(|(before, after)| before != after));
    }

    #[test]
    fn invalid_options_are_rejected() {
        for arguments in
            [&["--fast"][..], &["--rounds", "0"], &["--operations", "get"], &["--places", "tape"]]
        {
            let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
            assert!(run(&arguments).is_err(), "{arguments:?}");
        }
    }
}
