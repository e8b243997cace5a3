//! The life of a file: found or made, told apart from others, brought to the newest format.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use tabla_core::{Error, ErrorKind, Result};

use crate::config::SqliteConfig;
use crate::connection;
use crate::error::from_sqlx;
use crate::format::{self, APPLICATION_ID, FORMAT_VERSION};
use crate::older;

/// Makes sure that there is a file of the newest format at this path.
///
/// A file that is not tabla's, or is newer than this code, is not touched.
pub(crate) async fn prepare(path: &Path, config: &SqliteConfig) -> Result<()> {
    let is_new = match std::fs::metadata(path) {
        Ok(file) if file.is_dir() => {
            return Err(Error::config(format!("this is a folder, not a file: {}", path.display())));
        }
        Ok(file) => file.len() == 0,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => {
            let message = format!("the file cannot be opened: {}: {error}", path.display());
            return Err(Error::config(message).with_source(error));
        }
    };
    if !is_new {
        if connection::is_read_only(path).map_err(|error| named(error, path))? {
            let message = format!(
                "the file may not be written, and a store writes; permit it, in its folder too: {}",
                path.display()
            );
            return Err(Error::new(ErrorKind::AccessDenied, message));
        }
        identify(path, config).await?;
    }
    let mut connection = connect(path, config, true).await?;
    let made = migrate(&mut connection, path).await.map_err(|error| named(error, path));
    if made.is_err() {
        // What has failed may have ended the transaction; otherwise nothing of it may be kept.
        let _ = sqlx::raw_sql("ROLLBACK").execute(&mut connection).await;
    }
    made?;
    connection.close().await.map_err(from_sqlx)
}

/// Brings a file to the newest format, all of it or nothing.
async fn migrate(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    if look(connection).await?.check(path)? == FORMAT_VERSION {
        return Ok(());
    }
    run(connection, "BEGIN IMMEDIATE").await?;
    // Another process may have done the same: whoever comes second sees what the first has made.
    let version = look(connection).await?.check(path)?;
    if version < FORMAT_VERSION {
        if (1..=older::LAST).contains(&version) {
            older::convert_records(connection).await?;
        }
        run(connection, &format::migration(version)).await?;
    }
    run(connection, "COMMIT").await
}

/// Runs statements that return nothing.
pub(crate) async fn run(connection: &mut SqliteConnection, script: &str) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(script)).execute(connection).await.map_err(from_sqlx)?;
    Ok(())
}

/// Makes sure that a file is tabla's, of a format that this code knows, or empty, and touches
/// nothing. The version of its format, 0 if it is empty.
pub(crate) async fn identify(path: &Path, config: &SqliteConfig) -> Result<i32> {
    let mut connection = connect(path, config, false).await?;
    let seen = look(&mut connection).await.map_err(|error| named(error, path))?;
    connection.close().await.map_err(from_sqlx)?;
    seen.check(path)
}

/// A connection of sqlx's: for what is not on the hot path. `owned` says that the file is known to
/// be tabla's, or is about to be.
pub(crate) async fn connect(
    path: &Path,
    config: &SqliteConfig,
    owned: bool,
) -> Result<SqliteConnection> {
    let mut options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(owned)
        .busy_timeout(config.busy_timeout)
        .foreign_keys(false);
    if owned {
        options = options.page_size(format::PAGE_SIZE).journal_mode(SqliteJournalMode::Wal);
    } else if connection::is_read_only(path).map_err(|error| named(error, path))? {
        refuse_log(path)?;
        options = options.immutable(true);
    }
    options.connect().await.map_err(|error| named(from_sqlx(error), path))
}

/// Makes sure that a file that may not be written has no log beside it: then the file alone can be
/// read, as one that does not change.
///
/// To read it in the usual way, SQLite would begin a log, and leave it behind: one that whoever may
/// write the file need not be allowed to write.
fn refuse_log(path: &Path) -> Result<()> {
    let mut log = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    log.as_mut_os_string().push("-wal");
    if log.exists() {
        let message = format!(
            "the file may not be written, and has a log, which is not read without that; permit \
             it, or copy both: {}",
            path.display()
        );
        return Err(Error::new(ErrorKind::AccessDenied, message));
    }
    Ok(())
}

/// What a file says that it is.
struct Seen {
    application_id: i32,
    version: i32,
    tables: i64,
}

async fn look(connection: &mut SqliteConnection) -> Result<Seen> {
    let row = sqlx::query(
        "SELECT (SELECT application_id FROM pragma_application_id), \
                (SELECT user_version FROM pragma_user_version), \
                (SELECT count(*) FROM sqlite_schema)",
    )
    .fetch_one(connection)
    .await
    .map_err(from_sqlx)?;
    Ok(Seen { application_id: row.get(0), version: row.get(1), tables: row.get(2) })
}

impl Seen {
    /// The version of the format, 0 for an empty file.
    fn check(&self, path: &Path) -> Result<i32> {
        let path = path.display();
        if self.tables == 0 && self.application_id == 0 && self.version == 0 {
            return Ok(0);
        }
        if self.application_id != APPLICATION_ID {
            return Err(Error::config(format!(
                "this is an SQLite file, but not one of tabla's; name another: {path}"
            )));
        }
        if self.version > FORMAT_VERSION {
            return Err(Error::config(format!(
                "this file has format {}, and this program knows formats up to {FORMAT_VERSION}; \
                 use a newer one: {path}",
                self.version
            )));
        }
        if self.version < 1 {
            let message = format!("the file says that it has format {}: {path}", self.version);
            return Err(Error::corrupt(message));
        }
        Ok(self.version)
    }
}

/// The error, with the file that it is about.
fn named(error: Error, path: &Path) -> Error {
    let message = format!("{}: {}", error.message(), path.display());
    Error::new(error.kind().clone(), message).with_retry(error.retry()).with_source(error)
}
