//! Comparison of MemoryStore and SQLite on random histories.
//!
//! `TABLA_HISTORIES` is the number of histories, `TABLA_SEED` their seed. The long form is 20,000
//! histories with a new seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tabla_conformance::differential::{self, KnownDeviations};
use tabla_core::{MemoryStore, Store};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

fn compare(histories: u64, config: impl Fn() -> SqliteConfig + Send + Sync) {
    let histories = number("TABLA_HISTORIES", histories);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let seed = number("TABLA_SEED", 1);
    differential::run(histories as u32, seed, KnownDeviations::None, &runtime, || async {
        let specification: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let store = SqliteStore::open(&config()).await.expect("a store");
        (specification, Arc::new(store) as Arc<dyn Store>)
    });
}

#[test]
fn memory_and_sqlite_in_memory_agree() {
    compare(2000, SqliteConfig::in_memory);
}

#[test]
fn memory_and_sqlite_in_a_file_agree() {
    let folder = tempfile::tempdir().unwrap();
    let next = AtomicU32::new(0);
    // Relaxed, because one process sees no effect of an fsync, and the test takes half the time.
    compare(200, || {
        let name = format!("{}.db", next.fetch_add(1, Ordering::Relaxed));
        SqliteConfig::file(folder.path().join(name)).with_durability(Durability::Relaxed)
    });
}
