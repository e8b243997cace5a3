//! The conformance suite on SQLite, in a file and in memory.

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use tabla::env::{Env, ManualClock, Timestamp};
use tabla_conformance::{Fresh, Harness};
use tabla_sqlite::{SqliteConfig, SqliteStore};

/// Files, or memory.
struct Sqlite {
    engine: &'static str,
    folder: Option<tempfile::TempDir>,
}

#[async_trait]
impl Harness for Sqlite {
    fn engine(&self) -> &'static str {
        self.engine
    }

    fn is_complete(&self) -> bool {
        true
    }

    async fn fresh(&self) -> Fresh {
        let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
        let env = Env::system();
        let config = match &self.folder {
            Some(folder) => SqliteConfig::file(folder.path().join(format!("{}.db", env.token()))),
            None => SqliteConfig::in_memory(),
        };
        let env = Env { clock: Arc::new(clock.clone()), ..env };
        let store = SqliteStore::open_with(&config, env).await.expect("a store");
        let sweeping = store.clone();
        Fresh::new(Arc::new(store)).clock(clock).sweep(move || {
            let store = sweeping.clone();
            async move { store.sweep_expired().await.map(|_| ()) }
        })
    }
}

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder for the files");
    let file = Sqlite { engine: "sqlite", folder: Some(folder) };
    let memory = Sqlite { engine: "sqlite-memory", folder: None };
    let outcomes = [tabla_conformance::main(file), tabla_conformance::main(memory)];
    match outcomes.iter().all(|outcome| *outcome == ExitCode::SUCCESS) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
