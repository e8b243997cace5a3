//! Contestants of the comparison: opening them, and running each row on all of them in turns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabla_core::Store;
use tabla_dynamo::{DynamoConfig, DynamoStore};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};
use tokio::runtime::Runtime;

use super::limit::Limit;
use super::options::Options;
use super::peer::Peer;
use super::workload::{ITEMS, StorageMode};
use super::{Engine, Failure, Measured, Row, tabla as work};

/// Environment variable that names a server, as in the tests.
const ENDPOINT_VARIABLE: &str = "TABLA_DYNAMODB_ENDPOINT";

/// Factor on the work of the two engines that are compared most closely, in memory: a turn of a few
/// milliseconds would mostly measure the machine, which has just woken a thread. In a file, a
/// longer turn would contain checkpoints of the WAL.
const EMBEDDED_TIMES: u64 = 10;

/// Divisor of the number of operations of DynamoDB Local, which take about this many times as long.
const DYNAMODB_SHARE: u64 = 20;

pub(crate) struct Comparison {
    runtime: Runtime,
    stores: BTreeMap<StorageMode, Arc<dyn Store>>,
    limits: BTreeMap<StorageMode, Limit>,
    dynoxide: Option<Peer>,
    dynamodb: Option<Arc<dyn Store>>,
    /// First item number that no row has written yet.
    next_item: u64,
}

impl Comparison {
    /// Opens all contestants, and writes the initial items to each.
    pub(crate) fn open(options: &Options, folder: &Path) -> Result<Self, Failure> {
        let is_in = |contestant| !options.without.contains(&contestant);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let dynoxide = match is_in(Engine::Dynoxide) {
            true => Some(Peer::start("dynoxide", folder)?),
            false => None,
        };
        let dynamodb = match is_in(Engine::Dynamodb).then(endpoint).flatten() {
            Some(endpoint) if options.places.contains(&StorageMode::Memory) => {
                Some(runtime.block_on(dynamodb(&endpoint))?)
            }
            Some(_) => None,
            None => {
                println!(
                    "NOT RUN: DynamoDB Local (left out, or no server named by {ENDPOINT_VARIABLE})"
                );
                None
            }
        };
        let mut stores = BTreeMap::new();
        let mut limits = BTreeMap::new();
        for place in options.places.iter().copied() {
            stores.insert(place, runtime.block_on(open_tabla(place, folder))?);
            if is_in(Engine::Limit) {
                limits.insert(place, Limit::load(place, &file("limit", place, folder))?);
            }
        }
        Ok(Self { runtime, stores, limits, dynoxide, dynamodb, next_item: ITEMS })
    }

    /// Runs every row on all contestants, round by round, in turns.
    pub(crate) fn run(mut self, options: &Options) -> Result<Vec<Measured>, Failure> {
        let mut measured = Vec::new();
        for place in options.places.iter().copied() {
            for callers in options.callers.iter().copied() {
                for operation in options.operations.iter().copied() {
                    let ops = options.ops(place, operation, callers);
                    let row = Row { place, operation, callers, ops };
                    measured.extend(self.row(&row, options.rounds)?);
                }
                eprintln!("done: {}, callers: {callers}", place.name());
            }
        }
        if let Some(store) = &self.dynamodb {
            self.runtime.block_on(work::unload(&**store))?;
        }
        Ok(measured)
    }

    fn row(&mut self, row: &Row, rounds: usize) -> Result<Vec<Measured>, Failure> {
        let mut all: Vec<Measured> = Engine::ALL
            .into_iter()
            .filter(|one| one.takes_part(row.place, row.callers) && self.is_open(*one))
            .map(|contestant| {
                let mut row = row.clone();
                row.ops = match contestant {
                    Engine::Tabla | Engine::Limit if row.place == StorageMode::Memory => {
                        row.ops * EMBEDDED_TIMES
                    }
                    Engine::Tabla | Engine::Limit | Engine::Dynoxide => row.ops,
                    Engine::Dynamodb => {
                        (row.ops / DYNAMODB_SHARE).max(20).max(2 * row.callers as u64)
                    }
                };
                Measured { contestant, row, seconds: Vec::new() }
            })
            .collect();
        for _ in 0..rounds {
            let first = self.next_item;
            // Updates need new numbers too: each sets a value that no update has set before.
            self.next_item += EMBEDDED_TIMES * row.ops * row.operation.new_items().max(1);
            for one in &mut all {
                let seconds = self.run_slice(one.contestant, &one.row, first).map_err(|error| {
                    format!("{}, {:?}: {error}", one.contestant.name(), one.row)
                })?;
                one.seconds.push(seconds);
            }
            // The first contestant changes from round to round.
            all.rotate_left(1);
        }
        all.sort_by_key(|one| one.contestant);
        Ok(all)
    }

    fn is_open(&self, contestant: Engine) -> bool {
        match contestant {
            Engine::Tabla => true,
            Engine::Limit => !self.limits.is_empty(),
            Engine::Dynoxide => self.dynoxide.is_some(),
            Engine::Dynamodb => self.dynamodb.is_some(),
        }
    }

    fn run_slice(&mut self, contestant: Engine, row: &Row, first: u64) -> Result<f64, Failure> {
        const OPEN: &str = "only open contestants have turns";
        let runtime = self.runtime.handle();
        match contestant {
            Engine::Tabla => work::run(runtime, &self.stores[&row.place], row, first),
            Engine::Limit => self.limits.get_mut(&row.place).expect(OPEN).run(row, first),
            Engine::Dynoxide => self.dynoxide.as_mut().expect(OPEN).run(row, first),
            Engine::Dynamodb => work::run(runtime, self.dynamodb.as_ref().expect(OPEN), row, first),
        }
    }
}

/// Path of the database file of a contestant.
pub(crate) fn file(contestant: &str, place: StorageMode, folder: &Path) -> PathBuf {
    folder.join(format!("{contestant}-{}.db", place.name()))
}

/// Configuration of the engine for a storage mode; `file` is ignored in memory.
pub(crate) fn config(place: StorageMode, file: PathBuf) -> SqliteConfig {
    match place {
        StorageMode::Memory => SqliteConfig::in_memory(),
        StorageMode::Durable => SqliteConfig::file(file),
        StorageMode::Relaxed => SqliteConfig::file(file).with_durability(Durability::Relaxed),
    }
}

/// Opens the engine, and writes the initial items.
pub(crate) async fn open_tabla(
    place: StorageMode,
    folder: &Path,
) -> Result<Arc<dyn Store>, Failure> {
    let config = config(place, file("tabla", place, folder));
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&config).await?);
    work::load(&*store).await?;
    Ok(store)
}

fn endpoint() -> Option<String> {
    std::env::var(ENDPOINT_VARIABLE).ok().filter(|url| !url.trim().is_empty())
}

async fn dynamodb(endpoint: &str) -> Result<Arc<dyn Store>, Failure> {
    // The server may have tables of other users.
    let prefix = format!("bench-{}-", std::process::id());
    let config = DynamoConfig::for_endpoint(endpoint).with_table_prefix(prefix);
    let store: Arc<dyn Store> = Arc::new(DynamoStore::open(&config).await?);
    work::load(&*store).await?;
    Ok(store)
}
