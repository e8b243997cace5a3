//! The conformance suite on SQLite, in files and in memory.

use std::process::ExitCode;

use tabla_sqlite::{SqliteConfig, SqliteHarness};

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder for the files");
    let files = SqliteConfig::file(folder.path().join("case"));
    let outcomes = [files, SqliteConfig::in_memory()]
        .map(|config| tabla_conformance::main(SqliteHarness::new(config)));
    match outcomes.iter().all(|outcome| *outcome == ExitCode::SUCCESS) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
