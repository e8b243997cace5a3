//! The contestants, and their turns.

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
use super::shape::{ITEMS, Place};
use super::{Contestant, Failure, Measured, Row, tabla as work};

/// The variable that names a server, as in the tests.
const ENDPOINT_VARIABLE: &str = "TABLA_DYNAMODB_ENDPOINT";

/// How many times the others' work those do in memory that are compared most closely: a stretch of a
/// few milliseconds would tell more of the machine, which has just woken up a thread, than of them. In
/// a file, a longer stretch would have the engine move its log meanwhile, and the limit not.
const EMBEDDED_TIMES: u64 = 10;

/// DynamoDB Local takes about so many times longer for an operation.
const DYNAMODB_SHARE: u64 = 20;

pub(crate) struct Contest {
    runtime: Runtime,
    stores: BTreeMap<Place, Arc<dyn Store>>,
    limits: BTreeMap<Place, Limit>,
    dynoxide: Option<Peer>,
    dynamodb: Option<Arc<dyn Store>>,
    /// New items that no row has written yet.
    next_item: u64,
}

impl Contest {
    /// Opens all contestants and has them write the items that are always there.
    pub(crate) fn open(options: &Options, folder: &Path) -> Result<Self, Failure> {
        let is_in = |contestant| !options.without.contains(&contestant);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let dynoxide = match is_in(Contestant::Dynoxide) {
            true => Some(Peer::start("dynoxide", folder)?),
            false => None,
        };
        let dynamodb = match is_in(Contestant::Dynamodb).then(endpoint).flatten() {
            Some(endpoint) if options.places.contains(&Place::Memory) => {
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
            if is_in(Contestant::Limit) {
                limits.insert(place, Limit::load(place, &file("limit", place, folder))?);
            }
        }
        Ok(Self { runtime, stores, limits, dynoxide, dynamodb, next_item: ITEMS })
    }

    /// Has them do every row, round by round, in turns.
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
        let mut all: Vec<Measured> = Contestant::ALL
            .into_iter()
            .filter(|one| one.takes_part(row.place, row.callers) && self.is_open(*one))
            .map(|contestant| {
                let mut row = row.clone();
                row.ops = match contestant {
                    Contestant::Tabla | Contestant::Limit if row.place == Place::Memory => {
                        row.ops * EMBEDDED_TIMES
                    }
                    Contestant::Tabla | Contestant::Limit | Contestant::Dynoxide => row.ops,
                    Contestant::Dynamodb => {
                        (row.ops / DYNAMODB_SHARE).max(20).max(2 * row.callers as u64)
                    }
                };
                Measured { contestant, row, seconds: Vec::new() }
            })
            .collect();
        for _ in 0..rounds {
            let first = self.next_item;
            // Updates take numbers too: they set what no update has set before.
            self.next_item += EMBEDDED_TIMES * row.ops * row.operation.new_items().max(1);
            for one in &mut all {
                let seconds = self.turn(one.contestant, &one.row, first).map_err(|error| {
                    format!("{}, {:?}: {error}", one.contestant.name(), one.row)
                })?;
                one.seconds.push(seconds);
            }
            // Nobody is always first.
            all.rotate_left(1);
        }
        all.sort_by_key(|one| one.contestant);
        Ok(all)
    }

    fn is_open(&self, contestant: Contestant) -> bool {
        match contestant {
            Contestant::Tabla => true,
            Contestant::Limit => !self.limits.is_empty(),
            Contestant::Dynoxide => self.dynoxide.is_some(),
            Contestant::Dynamodb => self.dynamodb.is_some(),
        }
    }

    fn turn(&mut self, contestant: Contestant, row: &Row, first: u64) -> Result<f64, Failure> {
        const OPEN: &str = "only open contestants are asked";
        let runtime = self.runtime.handle();
        match contestant {
            Contestant::Tabla => work::run(runtime, &self.stores[&row.place], row, first),
            Contestant::Limit => self.limits.get_mut(&row.place).expect(OPEN).run(row, first),
            Contestant::Dynoxide => self.dynoxide.as_mut().expect(OPEN).run(row, first),
            Contestant::Dynamodb => {
                work::run(runtime, self.dynamodb.as_ref().expect(OPEN), row, first)
            }
        }
    }
}

/// The file of a contestant.
pub(crate) fn file(contestant: &str, place: Place, folder: &Path) -> PathBuf {
    folder.join(format!("{contestant}-{}.db", place.name()))
}

/// How the engine is opened in a place, with its data in this file if it is one.
pub(crate) fn config(place: Place, file: PathBuf) -> SqliteConfig {
    match place {
        Place::Memory => SqliteConfig::in_memory(),
        Place::Durable => SqliteConfig::file(file),
        Place::Relaxed => SqliteConfig::file(file).with_durability(Durability::Normal),
    }
}

/// The engine, with the items that are always there.
pub(crate) async fn open_tabla(place: Place, folder: &Path) -> Result<Arc<dyn Store>, Failure> {
    let config = config(place, file("tabla", place, folder));
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&config).await?);
    work::load(&*store).await?;
    Ok(store)
}

fn endpoint() -> Option<String> {
    std::env::var(ENDPOINT_VARIABLE).ok().filter(|url| !url.trim().is_empty())
}

async fn dynamodb(endpoint: &str) -> Result<Arc<dyn Store>, Failure> {
    // The server may have the tables of others.
    let prefix = format!("bench-{}-", std::process::id());
    let config = DynamoConfig::at(endpoint).with_table_prefix(prefix);
    let store: Arc<dyn Store> = Arc::new(DynamoStore::open(&config).await?);
    work::load(&*store).await?;
    Ok(store)
}
