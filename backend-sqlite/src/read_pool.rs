//! Pool of the connections that read a file.
//!
//! Settings of connections are in `connection`, statements in `rows`.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use tabla_core::Result;

use crate::config::SqliteConfig;
use crate::connection;
use crate::error::from_sqlite;

/// Maximum number of idle connections that are kept open.
const MAX_IDLE: usize = 16;

/// Pool of reading connections. A read never waits for a connection: if none is idle, it opens one.
#[derive(Debug)]
pub(crate) struct ReadPool {
    path: PathBuf,
    config: SqliteConfig,
    idle: Mutex<Vec<Connection>>,
}

impl ReadPool {
    pub(crate) fn new(path: PathBuf, config: SqliteConfig) -> Self {
        Self { path, config, idle: Mutex::default() }
    }

    /// Runs a read of one statement, which sees one state of the file.
    pub(crate) fn read<R>(&self, work: impl FnOnce(&Connection) -> Result<R>) -> Result<R> {
        let connection = match self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            Some(connection) => connection,
            None => connection::open_reader(&self.path, &self.config)?,
        };
        let outcome = work(&connection);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
        outcome
    }

    /// Runs a read of several statements in one transaction: all see the same state of the file.
    pub(crate) fn snapshot<R>(&self, work: impl FnOnce(&Connection) -> Result<R>) -> Result<R> {
        self.read(|connection| {
            let run = |sql: &str| {
                connection
                    .prepare_cached(sql)
                    .and_then(|mut sql| sql.execute([]))
                    .map_err(from_sqlite)
            };
            run("BEGIN")?;
            let outcome = work(connection).and_then(|value| run("COMMIT").map(|_| value));
            if outcome.is_err() && !connection.is_autocommit() {
                // The first error is reported; SQLite may have rolled back by itself already.
                let _ = run("ROLLBACK");
            }
            outcome
        })
    }
}
