//! Connections of rusqlite for items, and their settings. Connections of sqlx are in `open`.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OpenFlags};
use tabla_core::{Error, Result};

use crate::config::{Durability, Location, SqliteConfig};
use crate::error::from_sqlite;
use crate::format;

/// Maximum number of prepared statements that a connection caches: about ten per table and three
/// per index.
const STATEMENT_CACHE: usize = 2000;

/// Length of the WAL, in pages, at which a commit checkpoints it. Normally the writer's thread
/// checkpoints it much earlier.
const MAX_WAL_PAGES: u32 = 40_000;

/// Size to which the WAL is truncated after a checkpoint, in bytes.
const WAL_SIZE_LIMIT: u64 = 64 << 20;

/// Largest page cache of the writing connection, in bytes. After a page split, SQLite walks the
/// whole cache at the next commit (`docs/performance.md`). That costs more than a larger cache
/// saves, because the operating system caches the pages too.
const WRITER_CACHE_BYTES: u64 = 8 << 20;

/// Opens the connection that writes. In memory it also creates the tables.
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
            // The cache holds the whole database. With a limit, SQLite would search it for a page
            // to spill at every new page, and find none.
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
            // The WAL has grown if a long reader kept it from restarting.
            set(&connection, "journal_size_limit", &WAL_SIZE_LIMIT.to_string())?;
            set_cache(&connection, config.cache_size.min(WRITER_CACHE_BYTES))?;
            connection.busy_timeout(config.busy_timeout).map_err(from_sqlite)?;
        }
    }
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}

/// Opens a connection that only reads.
pub(crate) fn open_reader(path: &Path, config: &SqliteConfig) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))
        .map_err(from_sqlite)?;
    // Opened for writing, because a reader may have to recover the WAL.
    set(&connection, "query_only", "1")?;
    set_cache(&connection, config.cache_size)?;
    connection.busy_timeout(config.busy_timeout).map_err(from_sqlite)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}

/// Opens a connection that only checkpoints the WAL.
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
    // SQLite ignores a pragma that it does not know, so the value is read back.
    let kept: i64 =
        connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).map_err(from_sqlite)?;
    if kept != level {
        return Err(Error::config(format!(
            "cannot set the durability: SQLite ignored `PRAGMA synchronous = {name}`; report this \
             as a defect of tabla"
        )));
    }
    Ok(())
}

/// Whether SQLite can open an existing file only for reading. The check neither reads the content
/// nor creates a file.
///
/// SQLite must open the file: if other code of the process closes a descriptor of it, POSIX
/// releases all locks that the process has on the file.
pub(crate) fn is_read_only(path: &Path) -> Result<bool> {
    Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))
        .and_then(|connection| connection.is_readonly(MAIN_DB))
        .map_err(from_sqlite)
}

fn flags(access: OpenFlags) -> OpenFlags {
    // No mutex in SQLite is needed: a connection is used by one thread at a time.
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn set_cache(connection: &Connection, bytes: u64) -> Result<()> {
    set(connection, "cache_size", &format!("-{}", bytes >> 10))
}

fn set(connection: &Connection, pragma: &str, value: &str) -> Result<()> {
    // Some pragmas return the new value as a row, others return nothing.
    let mut statement =
        connection.prepare(&format!("PRAGMA {pragma} = {value}")).map_err(from_sqlite)?;
    let mut rows = statement.query([]).map_err(from_sqlite)?;
    while rows.next().map_err(from_sqlite)?.is_some() {}
    Ok(())
}
