//! Effect of a sweep on callers: the time of puts while the store deletes expired items, compared
//! with the same puts while nothing has expired.
//!
//! The items that expire exist from the beginning, in parts a day apart. The clock of the store is
//! advanced by a day for each part, and between the parts callers write without a sweep. So both
//! are measured in turns, on the same table.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tabla_core::Store;
use tabla_core::env::{Clock, Env, Monotonic, Sleep, SystemClock, Timestamp};
use tabla_core::ops::{
    BatchWriteItem, PutItem, StreamSpecification, StreamViewType, UpdateTable, UpdateTimeToLive,
};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

use crate::embedded::options::list;
use crate::embedded::workload::{BATCH_WRITE, ITEMS, StorageMode, TABLE};
use crate::embedded::{Failure, Folder, tabla as work};
use crate::median::{Durations, Stopwatch};

/// Goal: highest ratio of the 99th percentile of a put during a sweep to that without one.
const GOAL: f64 = 2.0;
/// Number of parts in which items expire.
const PARTS: u64 = 5;
const DAY: u64 = 24 * 60 * 60;
/// Seconds that callers write without a sweep before the first part. Later pauses between parts are
/// as long as the sweep of the last part.
const FIRST: f64 = 2.0;

/// System clock with an offset.
#[derive(Debug, Default)]
struct Ahead(AtomicU64);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now() + Duration::from_secs(self.0.load(Ordering::Relaxed))
    }

    fn monotonic(&self) -> Monotonic {
        SystemClock.monotonic()
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(async move { SystemClock.sleep(duration).await })
    }
}

/// Measures, prints a line for each case, and fails if a goal is missed.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut items = 100_000;
    let mut places = StorageMode::ALL.to_vec();
    let mut callers = vec![1, 16];
    let mut folder = std::env::temp_dir();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument}: the value is missing"))?;
        let positive = |text: &str| text.parse().ok().filter(|number| *number > 0);
        match argument.as_str() {
            "--items" => {
                let wanted = value.parse().ok().filter(|n: &u64| *n >= 1000);
                items = wanted.ok_or("--items must be at least 1000")? / PARTS * PARTS;
            }
            "--places" => places = list(value, StorageMode::named)?,
            "--callers" => callers = list(value, positive)?,
            "--folder" => folder = value.into(),
            _ => {
                return Err(
                    format!("unknown option {argument}; see `cargo xtask bench help`").into()
                );
            }
        }
    }
    let folder = Folder::make(&folder)?;
    println!(
        "latency of a put, without and with a sweep of {items} items of 1 KB; files in {folder}"
    );
    println!(
        "{:<8} {:>7} {:>7}   {:>9} {:>9} {:>9}   {:>9} {:>9} {:>9}   {:>6} {:>7} {:>8}   swept in",
        "", "callers", "stream", "p50", "p99", "puts/s", "p50", "p99", "puts/s", "p99", "goal", ""
    );
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut missed = 0;
    for place in places {
        for callers in &callers {
            for stream in [false, true] {
                let case = Case { place, callers: *callers, stream, items };
                let path = folder.path().join(case.to_string());
                missed += usize::from(!runtime.block_on(case.measure(&path))?);
                for suffix in ["", "-wal", "-shm"] {
                    let mut file = path.clone();
                    file.as_mut_os_string().push(suffix);
                    let _ = std::fs::remove_file(file);
                }
            }
        }
    }
    match missed {
        0 => Ok(()),
        missed => Err(format!("{missed} goals missed").into()),
    }
}

struct Case {
    place: StorageMode,
    callers: usize,
    stream: bool,
    items: u64,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}-{}.db", self.place.name(), self.callers, self.stream)
    }
}

impl Case {
    /// Measures the case, and returns whether the goal is met.
    async fn measure(&self, path: &Path) -> Result<bool, Failure> {
        let clock = Arc::new(Ahead::default());
        let store = self.open(path, &clock).await?;
        let (mut without, mut with) = (Calls::default(), Calls::default());
        let next = Arc::new(AtomicU64::new(ITEMS + self.items));
        let mut stretch = FIRST;
        for part in 1..=PARTS {
            let writers = Writers::start(&store, self.callers, &next);
            SystemClock.sleep(Duration::from_secs_f64(stretch)).await;
            without.add(writers.stop().await?, stretch);
            let deleted = || store.sweeps().deleted;
            let before = deleted();
            clock.0.fetch_add(DAY, Ordering::Relaxed);
            while deleted() == before {
                SystemClock.sleep(Duration::from_millis(1)).await;
            }
            let watch = Stopwatch::start();
            let writers = Writers::start(&store, self.callers, &next);
            while deleted() < part * self.items / PARTS {
                SystemClock.sleep(Duration::from_millis(1)).await;
            }
            stretch = watch.seconds();
            with.add(writers.stop().await?, stretch);
            if let Some(problem) = store.sweeps().problem {
                return Err(problem.into());
            }
        }
        Ok(self.print(without, with))
    }

    /// Opens a store with all items that will expire. It is filled with relaxed durability in
    /// every case.
    async fn open(&self, path: &Path, clock: &Arc<Ahead>) -> Result<SqliteStore, Failure> {
        let config = match self.place {
            StorageMode::Memory => SqliteConfig::in_memory(),
            StorageMode::Durable => SqliteConfig::file(path),
            StorageMode::Relaxed => SqliteConfig::file(path).with_durability(Durability::Relaxed),
        };
        let config = config.with_sweep_every(Some(Duration::from_secs(1)));
        let clock = Arc::clone(clock) as Arc<dyn Clock>;
        let env = Env::system().with_clock(clock);
        let quick = config.clone().with_durability(Durability::Relaxed);
        let filled = SqliteStore::open_with(&quick, env.clone()).await?;
        work::create(&filled).await?;
        if self.stream {
            let stream = StreamSpecification::enabled(StreamViewType::NewAndOldImages);
            filled.update_table(UpdateTable::new(TABLE).stream(Some(stream))).await?;
        }
        filled.update_time_to_live(UpdateTimeToLive::new(TABLE, "expires", true)).await?;
        let now = env.clock.now().as_secs();
        for first in (0..self.items).step_by(BATCH_WRITE as usize) {
            let numbers = first..(first + BATCH_WRITE).min(self.items);
            let batch = numbers.fold(BatchWriteItem::new(), |batch, number| {
                // Items that expire together are spread over the table.
                let expires = now + DAY * (1 + number % PARTS) - DAY / 2;
                batch.put(TABLE, work::item(ITEMS + number).with("expires", expires))
            });
            filled.batch_write(batch).await?;
        }
        match self.place {
            StorageMode::Memory => Ok(filled),
            StorageMode::Durable | StorageMode::Relaxed => {
                drop(filled);
                Ok(SqliteStore::open_with(&config, env).await?)
            }
        }
    }

    fn print(&self, mut without: Calls, mut with: Calls) -> bool {
        let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
        let (before, during) =
            (micros(without.durations.percentile(0.99)), micros(with.durations.percentile(0.99)));
        let times = during / before;
        let is_met = times <= GOAL;
        println!(
            "{:<8} {:>7} {:>7}   {:>6.0} µs {before:>6.0} µs {:>9.0}   {:>6.0} µs {during:>6.0} µs \
             {:>9.0}   {times:>5.2}x {:>6}x {:>8}   {:.1} s, {:.0} items/s",
            self.place.name(),
            self.callers,
            if self.stream { "yes" } else { "no" },
            micros(without.durations.percentile(0.5)),
            without.rate(),
            micros(with.durations.percentile(0.5)),
            with.rate(),
            format!("<= {GOAL}"),
            if is_met { "met" } else { "MISSED" },
            with.seconds,
            self.items as f64 / with.seconds,
        );
        is_met
    }
}

/// Durations of calls, and the seconds in which they were made.
#[derive(Default)]
struct Calls {
    durations: Durations,
    seconds: f64,
}

impl Calls {
    fn add(&mut self, durations: Durations, seconds: f64) {
        self.durations.join(durations);
        self.seconds += seconds;
    }

    fn rate(&self) -> f64 {
        self.durations.len() as f64 / self.seconds
    }
}

/// Callers that put items until they are stopped.
struct Writers {
    stop: Arc<AtomicBool>,
    tasks: Vec<tokio::task::JoinHandle<tabla_core::Result<Durations>>>,
}

impl Writers {
    fn start(store: &SqliteStore, callers: usize, next: &Arc<AtomicU64>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let task = |_| {
            let (store, stop, next) = (store.clone(), Arc::clone(&stop), Arc::clone(next));
            tokio::spawn(async move {
                let mut durations = Durations::default();
                while !stop.load(Ordering::Relaxed) {
                    let item = work::item(next.fetch_add(1, Ordering::Relaxed));
                    durations.time(store.put(PutItem::new(TABLE, item))).await?;
                }
                Ok(durations)
            })
        };
        let tasks = (0..callers).map(task).collect();
        Self { stop, tasks }
    }

    async fn stop(self) -> Result<Durations, Failure> {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Durations::default();
        for task in self.tasks {
            all.join(task.await??);
        }
        Ok(all)
    }
}
