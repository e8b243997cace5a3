//! Random histories on MemoryStore and SQLite, compared with DynamoDB Local.
//!
//! `TABLA_HISTORIES` is the number of histories, `TABLA_SEED` their seed. The long form has 10,000
//! histories of a new seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tabla_conformance::differential::{self, KnownDeviations};
use tabla_core::env::{Random, SystemRandom};
use tabla_core::{MemoryStore, Store};
use tabla_dynamo::{DynamoConfig, DynamoStore, Engine};
use tabla_sqlite::{SqliteConfig, SqliteStore};

#[test]
fn memory_and_dynamodb_local_agree() {
    compare(300, || async { Arc::new(MemoryStore::new()) as Arc<dyn Store> });
}

#[test]
fn sqlite_and_dynamodb_local_agree() {
    compare(50, || async {
        let store = SqliteStore::open(&SqliteConfig::in_memory()).await.expect("a store");
        Arc::new(store) as Arc<dyn Store>
    });
}

fn compare<F: Future<Output = Arc<dyn Store>> + Send>(
    histories: u64,
    embedded: impl Fn() -> F + Send + Sync,
) {
    if tabla_testkit::dynamodb::is_excluded() {
        println!("skipped (TABLA_WITHOUT): random histories on DynamoDB Local");
        return;
    }
    let server = tabla_testkit::dynamodb::endpoint().expect("a server");
    let number = |name: &str, default: u64| {
        let Ok(text) = std::env::var(name) else { return default };
        text.parse::<u64>().unwrap_or_else(|error| {
            panic!("{name}={text}: {error}; set a whole number, such as {name}={default}")
        })
    };
    let histories = number("TABLA_HISTORIES", histories);
    let seed = number("TABLA_SEED", 1);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let config = DynamoConfig::for_endpoint(server.url()).with_engine(Engine::Local);
    let shared = runtime.block_on(DynamoStore::open(&config)).expect("the server responds");
    let run = SystemRandom.next_u64() as u32;
    let next = AtomicU32::new(0);
    differential::run(histories as u32, seed, KnownDeviations::DynamodbLocal, &runtime, || async {
        let prefix = format!("h{run:08x}-{}-", next.fetch_add(1, Ordering::Relaxed));
        let config = config.clone().with_table_prefix(prefix);
        let clients = (shared.client().clone(), shared.streams_client().clone());
        let store =
            DynamoStore::from_client(clients.0, clients.1, &config).expect("the prefix is valid");
        (embedded().await, Arc::new(store) as Arc<dyn Store>)
    });
}
