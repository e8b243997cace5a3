//! Harness for [`MemoryStore`].

use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::MemoryStore;
use tabla_core::env::{Env, ManualClock, Timestamp};

use crate::{CaseStore, Harness};

/// Harness whose cases run on [`MemoryStore`], each with a clock that the case can move.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryHarness;

/// Start time of the clock, 2026-01-01, so that times of earlier years are past.
const START: Timestamp = Timestamp::from_secs(1_767_225_600);

#[async_trait]
impl Harness for MemoryHarness {
    fn engine(&self) -> &'static str {
        "memory"
    }

    fn is_complete(&self) -> bool {
        true
    }

    async fn case_store(&self) -> CaseStore {
        let clock = ManualClock::new(START);
        // Expired items stay until the case sweeps.
        let store = MemoryStore::with_env(Env::test(clock.clone(), 1)).with_sweep_every(None);
        let store = Arc::new(store);
        let swept = store.clone();
        CaseStore::new(store).clock(clock).sweep(move || {
            swept.sweep_expired();
            std::future::ready(Ok(()))
        })
    }
}
