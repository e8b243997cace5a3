//! Number of pages that a read needs as the file grows.
//!
//! The engine writes the file. Then its statements run on a connection of this program, which
//! counts the bytes that the process reads. SQLite's own counter of cache misses
//! (`sqlite3_db_status`) has no safe binding. The bytes counted by Linux give the same number,
//! because SQLite reads page by page and nothing else in this process reads. They include pages
//! that the system has cached.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Statement};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};
use xxhash_rust::xxh3::xxh3_64;

use crate::embedded::options::list;
use crate::embedded::{Failure, Folder, limit, tabla as work, workload};

/// Size of a page of the file in bytes.
const PAGE_SIZE: u64 = 4096;
/// Cache of a connection in KB: the engine's default for readers.
const CACHE_KB: u64 = 64 << 10;
/// Number of reads on connections that have just been opened.
const COLD_SAMPLES: u64 = 40;
/// Number of reads on a connection that has read before.
const WARM_SAMPLES: u64 = 400;

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut sizes = vec![10_000, 100_000];
    let mut folder = std::env::temp_dir();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument}: the value is missing"))?;
        match argument.as_str() {
            "--items" => {
                sizes = list(value, |size| {
                    size.parse().ok().filter(|n: &u64| {
                        *n >= LEAST && n.is_multiple_of(workload::PAGE) && !n.is_multiple_of(7_919)
                    })
                })?
            }
            "--folder" => folder = value.into(),
            _ => {
                return Err(
                    format!("unknown option {argument}; see `cargo xtask bench help`").into()
                );
            }
        }
    }
    let folder = Folder::make(&folder)?;
    println!("pages of {PAGE_SIZE} bytes read by one call, on average; items in random order");
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

/// Smallest number of items: below it, the pages of the index are not full.
const LEAST: u64 = workload::ITEMS;

/// Writes the items with the engine, those of a partition far apart.
fn make(items: u64, path: &Path) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let config = SqliteConfig::file(path).with_durability(Durability::Relaxed);
        let store = SqliteStore::open(&config).await?;
        work::create(&store).await?;
        work::fill_with(&store, items, |step| scattered(step, items)).await
    })
}

/// Number of step `step`: over all steps, each number below `items` once, in scrambled order.
fn scattered(step: u64, items: u64) -> u64 {
    // A prime that does not divide the allowed numbers of items.
    step * 7_919 % items
}

/// Pseudo-random number below `end`, the same in every run. It is independent of the order in which
/// the items were written: reads in that order would find the next item on the page of the
/// one before.
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

/// Prepares the engine's statements, which reads the schema but no items.
fn prepare(connection: &Connection) -> Result<Statements<'_>, Failure> {
    let (number, indexes): (i64, String) =
        connection.query_row("SELECT number, indexes FROM tabla_tables", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let indexes: BTreeMap<String, i64> = serde_json::from_str(&indexes)?;
    let index = indexes.get(workload::INDEX).ok_or("the catalogue has no number of the index")?;
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

/// Reads all rows with their items.
fn count(statement: &mut Statement<'_>, keys: &[Vec<u8>], expected: u64) -> Result<(), Failure> {
    let mut rows = statement.query(rusqlite::params_from_iter(keys))?;
    let mut found = 0;
    while let Some(row) = rows.next()? {
        found += u64::from(!row.get_ref(2)?.as_blob()?.is_empty());
    }
    work::expect(found == expected, "the query returns all rows")
}

/// Number of pages that a read needs.
fn pages_read(work: impl FnOnce() -> Result<(), Failure>) -> Result<u64, Failure> {
    let before = bytes_read()?;
    work()?;
    // Reading the counter is counted too; that is far less than a page.
    Ok((bytes_read()? - before) / PAGE_SIZE)
}

/// Number of bytes that this process has read, as counted by Linux.
fn bytes_read() -> Result<u64, Failure> {
    let counts = std::fs::read_to_string("/proc/self/io")?;
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    Ok(read.ok_or("/proc/self/io has no rchar")?.parse()?)
}
