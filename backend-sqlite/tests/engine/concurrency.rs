//! Concurrent callers on the same items, through one store and through several stores on one file.

use std::sync::Arc;

use tabla_conformance::concurrency::{Options, bank_transfers, counters, run};
use tabla_core::Store;
use tabla_core::env::SeededRandom;
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

async fn open(config: &SqliteConfig) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(config).await.expect("a store"))
}

async fn check(stores: Vec<Arc<dyn Store>>, rounds: usize) {
    let options = Options::new().with_rounds(rounds);
    let outcome = run(stores.clone(), options, &SeededRandom::new(1)).await;
    let report = outcome.unwrap_or_else(|violation| panic!("{violation}"));
    // Writers of the embedded engine wait for each other, so there are no conflicts.
    assert_eq!((report.conflicts, report.unknown), (0, 0), "{report}");
    bank_transfers(&stores, 6, 8, 15).await.unwrap_or_else(|violation| panic!("{violation}"));
    counters(&stores, 3, 8, 15).await.unwrap_or_else(|violation| panic!("{violation}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_is_strictly_serializable() {
    check(vec![open(&SqliteConfig::in_memory()).await], 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn file_is_strictly_serializable() {
    let folder = tempfile::tempdir().unwrap();
    for durability in [Durability::Durable, Durability::Relaxed] {
        let file = folder.path().join(format!("{durability:?}.db"));
        let config = SqliteConfig::file(file).with_durability(durability);
        check(vec![open(&config).await], 8).await;
    }
}

/// Like several processes, the stores share only the file. One is durable, two are relaxed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_stores_on_one_file_are_strictly_serializable() {
    let folder = tempfile::tempdir().unwrap();
    let file = SqliteConfig::file(folder.path().join("a.db"));
    let relaxed = file.clone().with_durability(Durability::Relaxed);
    check(vec![open(&file).await, open(&relaxed).await, open(&relaxed).await], 8).await;
}
