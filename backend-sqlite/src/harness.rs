//! Harness that runs the conformance suite on this engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use tabla_conformance::{CaseStore, Harness};
use tabla_core::env::{Env, ManualClock, Timestamp};

use crate::{Location, SqliteConfig, SqliteStore};

/// Harness that opens a store for each conformance case: in memory, or in a file of its own that is
/// removed after the case.
#[derive(Debug)]
pub struct SqliteHarness {
    config: SqliteConfig,
    next: AtomicU64,
}

impl SqliteHarness {
    /// Creates a harness that opens stores with these settings. A number is appended to a file's
    /// path for each store; no file may exist at those paths.
    pub fn new(config: SqliteConfig) -> Self {
        Self { config, next: AtomicU64::new(0) }
    }
}

#[async_trait]
impl Harness for SqliteHarness {
    fn engine(&self) -> &'static str {
        match self.config.location {
            Location::File(_) => "sqlite",
            Location::Memory => "sqlite-memory",
        }
    }

    fn is_complete(&self) -> bool {
        true
    }

    async fn case_store(&self) -> CaseStore {
        let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
        let env = Env::system().with_clock(Arc::new(clock.clone()));
        // Expired items stay until the case sweeps.
        let mut config = self.config.clone().with_sweep_every(None);
        if let Location::File(path) = &mut config.location {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            path.as_mut_os_string().push(format!("-{number}"));
        }
        let store =
            SqliteStore::open_with(&config, env).await.expect("cannot open the store of a case");
        let sweeping = store.clone();
        let fresh = CaseStore::new(Arc::new(store)).clock(clock).sweep(move || {
            let store = sweeping.clone();
            async move { store.sweep_expired().await.map(|_| ()) }
        });
        match config.location {
            Location::Memory => fresh,
            // A file can be removed while it is open. SQLite removes the WAL when the last
            // connection is closed, so it may be missing.
            Location::File(path) => fresh.cleanup(move || async move {
                for suffix in ["", "-wal", "-shm"] {
                    let mut file = path.clone();
                    file.as_mut_os_string().push(suffix);
                    let _ = std::fs::remove_file(file);
                }
            }),
        }
    }
}
