//! How many pages of the file a read needs as the file grows.
//!
//! The engine makes the file; then its own statements run on a connection of this program, which
//! looks at what the process reads meanwhile. SQLite's own count of missed pages
//! (`sqlite3_db_status`) has no safe binding; what Linux counts as read is the same number, because
//! SQLite reads a page at a time and nothing else in this process reads. It tells what SQLite asks
//! for, whether the system has it in memory or not.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Statement};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};
use xxhash_rust::xxh3::xxh3_64;

use crate::embedded::options::list;
use crate::embedded::{Failure, Folder, limit, tabla as work, workload};

/// The size of the file's pages.
const PAGE_SIZE: u64 = 4096;
/// The cache that the engine gives a connection unless told, in KB.
const CACHE_KB: u64 = 64 << 10;
/// Reads on a connection that has just been opened.
const COLD_SAMPLES: u64 = 40;
/// Reads on a connection that has been read from before.
const WARM_SAMPLES: u64 = 400;

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut sizes = vec![10_000, 100_000];
    let mut folder = std::env::temp_dir();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} has no value"))?;
        match argument.as_str() {
            "--items" => {
                sizes = list(value, |size| {
                    size.parse().ok().filter(|n: &u64| {
                        *n >= LEAST && n.is_multiple_of(workload::PAGE) && !n.is_multiple_of(7_919)
                    })
                })?
            }
            "--folder" => folder = value.into(),
            _ => return Err(format!("no such option: {argument}").into()),
        }
    }
    let folder = Folder::make(&folder)?;
    println!("pages of {PAGE_SIZE} bytes read by one call, on average; items come in no order");
    println!(
        "{:>9} {:>9} {:>6}   {:>8} {:>9} {:>12}   {:>8} {:>9} {:>12}",
        "items",
        "MB",
        "b/item",
        "cold get",
        "query-50",
        "index-50",
        "warm get",
        "query-50",
        "index-50"
    );
    for items in sizes {
        let path = folder.path().join(format!("{items}.db"));
        make(items, &path)?;
        measure(items, &path)?;
        std::fs::remove_file(&path)?;
    }
    println!("cold: with an empty cache; warm: after as many reads as the cache holds, 64 MB");
    Ok(())
}

/// Below this, the pages of the index are not full.
const LEAST: u64 = workload::ITEMS;

/// Has the engine write the items, those of a partition far from one another.
fn make(items: u64, path: &Path) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let config = SqliteConfig::file(path).with_durability(Durability::Relaxed);
        let store = SqliteStore::open(&config).await?;
        work::create(&store).await?;
        work::fill_with(&store, items, |step| scattered(step, items)).await
    })
}

/// Every number below `items` once, in no order.
fn scattered(step: u64, items: u64) -> u64 {
    // A prime that divides no round number.
    step * 7_919 % items
}

/// A number below `end`, at random but the same in every run. It must have nothing to do with the
/// order in which the items were written: reads in that order would find the next item on the page
/// of the one before.
fn drawn(step: u64, end: u64) -> u64 {
    xxh3_64(&step.to_be_bytes()) % end
}

struct Statements<'c> {
    get: Statement<'c>,
    query: Statement<'c>,
    index_query: Statement<'c>,
}

#[derive(Clone, Copy)]
enum Read {
    Get,
    Query,
    IndexQuery,
}

const READS: [Read; 3] = [Read::Get, Read::Query, Read::IndexQuery];

fn measure(items: u64, path: &Path) -> Result<(), Failure> {
    let bytes = std::fs::metadata(path)?.len();
    let mut pages = Vec::new();
    for read in READS {
        let mut total = 0;
        for sample in 0..COLD_SAMPLES {
            let connection = open(path)?;
            let mut statements = prepare(&connection)?;
            total += pages_read(|| statements.run(read, sample * 31 + 7, items))?;
        }
        pages.push(total as f64 / COLD_SAMPLES as f64);
    }
    for read in READS {
        let connection = open(path)?;
        let mut statements = prepare(&connection)?;
        let warm_up = items.min(2 * CACHE_KB / (PAGE_SIZE >> 10));
        let per_read = if matches!(read, Read::Get) { 1 } else { workload::PAGE };
        for step in 0..warm_up / per_read {
            statements.run(read, step, items)?;
        }
        let total = pages_read(|| {
            let from = warm_up / per_read;
            (from..from + WARM_SAMPLES).try_for_each(|step| statements.run(read, step, items))
        })?;
        pages.push(total as f64 / WARM_SAMPLES as f64);
    }
    println!(
        "{items:>9} {:>9.1} {:>6.0}   {:>8.1} {:>9.1} {:>12.1}   {:>8.2} {:>9.1} {:>12.1}",
        bytes as f64 / f64::from(1 << 20),
        bytes as f64 / items as f64,
        pages[0],
        pages[1],
        pages[2],
        pages[3],
        pages[4],
        pages[5],
    );
    Ok(())
}

fn open(path: &Path) -> Result<Connection, Failure> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.execute_batch(&format!("PRAGMA cache_size = -{CACHE_KB}"))?;
    Ok(connection)
}

/// The engine's statements. Preparing them reads the schema, and nothing of the items.
fn prepare(connection: &Connection) -> Result<Statements<'_>, Failure> {
    let (number, indexes): (i64, String) =
        connection.query_row("SELECT number, indexes FROM tabla_tables", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let indexes: BTreeMap<String, i64> = serde_json::from_str(&indexes)?;
    let index = indexes.get(workload::INDEX).ok_or("the index has no number")?;
    let select = |keys: String, place: &str| {
        connection.prepare(&format!(
            "SELECT k.id, i.sum, i.item FROM {keys} k LEFT JOIN items_{number} i ON i.id = k.id \
             WHERE {place}"
        ))
    };
    const RANGE: &str = "k.key >= ?1 AND k.key < ?2 ORDER BY k.key";
    Ok(Statements {
        get: select(format!("keys_{number}"), "k.key = ?1")?,
        query: select(format!("keys_{number}"), RANGE)?,
        index_query: select(format!("index_{index}"), RANGE)?,
    })
}

impl Statements<'_> {
    fn run(&mut self, read: Read, step: u64, items: u64) -> Result<(), Failure> {
        match read {
            Read::Get => count(&mut self.get, &[limit::key_of(drawn(step, items))], 1),
            Read::Query => {
                let partition = workload::partition(drawn(step, items / workload::PAGE));
                count(&mut self.query, &range(&partition), workload::PAGE)
            }
            Read::IndexQuery => {
                let shelf = workload::shelf(drawn(step, items / workload::PAGE));
                count(&mut self.index_query, &range(&shelf), workload::PAGE)
            }
        }
    }
}

fn range(partition: &str) -> [Vec<u8>; 2] {
    let lower = limit::prefix(partition);
    let mut upper = lower.clone();
    tabla_core::backend::key_encoding::prefix_successor(&mut upper);
    [lower, upper]
}

/// Reads all rows and their items.
fn count(statement: &mut Statement<'_>, keys: &[Vec<u8>], expected: u64) -> Result<(), Failure> {
    let mut rows = statement.query(rusqlite::params_from_iter(keys))?;
    let mut found = 0;
    while let Some(row) = rows.next()? {
        found += u64::from(!row.get_ref(2)?.as_blob()?.is_empty());
    }
    work::expect(found == expected, "all rows are found")
}

/// How many pages this reads.
fn pages_read(work: impl FnOnce() -> Result<(), Failure>) -> Result<u64, Failure> {
    let before = bytes_read()?;
    work()?;
    // Looking at the count is counted too; it is far less than a page.
    Ok((bytes_read()? - before) / PAGE_SIZE)
}

/// What this process has read so far, as Linux counts it.
fn bytes_read() -> Result<u64, Failure> {
    let counts = std::fs::read_to_string("/proc/self/io")?;
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    Ok(read.ok_or("/proc/self/io has no rchar")?.parse()?)
}
