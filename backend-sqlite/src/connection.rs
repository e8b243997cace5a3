//! Connections on the hot path.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OpenFlags};
use tabla_core::{Error, Result};

use crate::config::{Durability, Location, SqliteConfig};
use crate::error::from_sqlite;
use crate::format;

/// Prepared statements that a connection keeps: about ten per table and three per index.
const STATEMENT_CACHE: usize = 2000;

/// A commit moves the log to the file by itself only if it has grown to this many pages, because
/// the store's thread, which sees to that, is far behind.
const MAX_WAL_PAGES: u32 = 40_000;

/// So many bytes of the log stay on the disk once it has been moved.
const WAL_SIZE_LIMIT: u64 = 64 << 20;

/// The most that the connection that writes keeps in its cache. When a page is split, SQLite looks
/// through all of the cache at the next commit (`docs/performance.md`): what a larger one saves in
/// reads of pages, which the system has in memory anyway, is less than that costs.
const WRITER_CACHE_BYTES: u64 = 8 << 20;

/// The connection that writes.
pub(crate) fn open_writer(config: &SqliteConfig) -> Result<Connection> {
    let connection = match &config.location {
        Location::Memory => Connection::open_in_memory(),
        Location::File(path) => {
            Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))
        }
    }
    .map_err(from_sqlite)?;
    match &config.location {
        Location::Memory => {
            // All pages are in this cache: with a limit, SQLite would look for one to spill, in
            // vain, at every new page.
            let settings = format!(
                "PRAGMA cache_size = -1000000000; PRAGMA page_size = {};",
                format::PAGE_SIZE
            );
            connection.execute_batch(&settings).map_err(from_sqlite)?;
            connection.execute_batch(&format::migration(0)).map_err(from_sqlite)?;
        }
        Location::File(_) => {
            set_durability(&connection, config)?;
            set(&connection, "wal_autocheckpoint", &MAX_WAL_PAGES.to_string())?;
            // After a long reader has gone, the log is cut back to what it usually has.
            set(&connection, "journal_size_limit", &WAL_SIZE_LIMIT.to_string())?;
            set_cache(&connection, config.cache_size.min(WRITER_CACHE_BYTES))?;
            connection.busy_timeout(config.busy_timeout).map_err(from_sqlite)?;
        }
    }
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}

/// A connection that only reads.
pub(crate) fn open_reader(path: &Path, config: &SqliteConfig) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))
        .map_err(from_sqlite)?;
    // Opened to write, because a reader of the log must be able to take part in its recovery.
    set(&connection, "query_only", "1")?;
    set_cache(&connection, config.cache_size)?;
    connection.busy_timeout(config.busy_timeout).map_err(from_sqlite)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}

/// A connection that only moves the log to the file.
pub(crate) fn open_checkpointer(path: &Path, config: &SqliteConfig) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))
        .map_err(from_sqlite)?;
    set_durability(&connection, config)?;
    connection.busy_timeout(Duration::ZERO).map_err(from_sqlite)?;
    Ok(connection)
}

fn set_durability(connection: &Connection, config: &SqliteConfig) -> Result<()> {
    let (name, level) = match config.durability {
        Durability::Durable => ("FULL", 2),
        Durability::Relaxed => ("NORMAL", 1),
    };
    set(connection, "synchronous", name)?;
    // A promise is worth reading back.
    let kept: i64 =
        connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).map_err(from_sqlite)?;
    if kept != level {
        return Err(Error::config(format!("SQLite did not take synchronous={name}")));
    }
    Ok(())
}

/// Whether SQLite can only read a file that is there. It looks at nothing inside, and leaves no file
/// behind.
///
/// Only SQLite may find this out: whoever else opens and closes the file takes away the locks that
/// this process has on it.
pub(crate) fn is_read_only(path: &Path) -> Result<bool> {
    Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))
        .and_then(|connection| connection.is_readonly(MAIN_DB))
        .map_err(from_sqlite)
}

fn flags(access: OpenFlags) -> OpenFlags {
    // A connection is used by one thread at a time: a lock of its own sees to that.
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn set_cache(connection: &Connection, bytes: u64) -> Result<()> {
    set(connection, "cache_size", &format!("-{}", bytes >> 10))
}

fn set(connection: &Connection, pragma: &str, value: &str) -> Result<()> {
    // Some answer with the new value, some with nothing.
    let mut statement =
        connection.prepare(&format!("PRAGMA {pragma} = {value}")).map_err(from_sqlite)?;
    let mut rows = statement.query([]).map_err(from_sqlite)?;
    while rows.next().map_err(from_sqlite)?.is_some() {}
    Ok(())
}
