//! MemoryStore, and SQLite, beside DynamoDB Local on random histories.
//!
//! `TABLA_HISTORIES` says how many, and `TABLA_SEED` which; the long form of the test is 10,000 of
//! a seed that was not used before.

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
        println!("not run, as asked: random histories on DynamoDB Local");
        return;
    }
    let server = tabla_testkit::dynamodb::endpoint().expect("a server");
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("it is a number"))
    };
    let histories = number("TABLA_HISTORIES", histories);
    let seed = number("TABLA_SEED", 1);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let config = DynamoConfig::for_endpoint(server.url()).with_engine(Engine::Local);
    let shared = runtime.block_on(DynamoStore::open(&config)).expect("the server answers");
    let run = SystemRandom.next_u64() as u32;
    let next = AtomicU32::new(0);
    differential::run(histories as u32, seed, KnownDeviations::DynamodbLocal, &runtime, || async {
        let prefix = format!("h{run:08x}-{}-", next.fetch_add(1, Ordering::Relaxed));
        let config = config.clone().with_table_prefix(prefix);
        let clients = (shared.client().clone(), shared.streams_client().clone());
        let store = DynamoStore::from_client(clients.0, clients.1, &config).expect("it is valid");
        (embedded().await, Arc::new(store) as Arc<dyn Store>)
    });
}
