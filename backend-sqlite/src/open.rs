//! Opening of a file: creation, identification, and migration to the current format.
//!
//! The layout of the file is in `format`, connections for items are in `connection`.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use tabla_core::{Error, ErrorKind, Result};

use crate::config::SqliteConfig;
use crate::connection;
use crate::error::from_sqlx;
use crate::format::{self, APPLICATION_ID, FORMAT_VERSION, PRERELEASE_APPLICATION_ID};

/// Creates the file, or migrates it to the current format.
///
/// A file of another program, or of a newer format, is refused and not changed.
pub(crate) async fn prepare(path: &Path, config: &SqliteConfig) -> Result<()> {
    let is_new = match std::fs::metadata(path) {
        Ok(file) if file.is_dir() => {
            return Err(Error::config(format!(
                "cannot open `{}`: it is a directory; name a file in it",
                path.display()
            )));
        }
        Ok(file) => file.len() == 0,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder.filter(|folder| !folder.exists()) {
                return Err(Error::config(format!(
                    "cannot open `{}`: there is no folder `{}`; create it first",
                    path.display(),
                    folder.display()
                )));
            }
            true
        }
        Err(error) => {
            let why = match path.ancestors().skip(1).find(|folder| folder.is_file()) {
                Some(file) => {
                    format!("`{}` is a file, not a folder; name a folder", file.display())
                }
                None => format!("{error}; check the permissions of its folders"),
            };
            let message = format!("cannot open `{}`: {why}", path.display());
            return Err(Error::config(message).with_source(error));
        }
    };
    if !is_new {
        if connection::is_read_only(path).map_err(|error| with_path(error, path))? {
            let message = format!(
                "cannot open `{}`: the file is read-only, and a store writes; make the file and its \
                 folder writable",
                path.display()
            );
            return Err(Error::new(ErrorKind::AccessDenied, message));
        }
        identify(path, config).await?;
    }
    let mut connection = connect(path, config, true).await?;
    let migrated = migrate(&mut connection, path).await.map_err(|error| with_path(error, path));
    if migrated.is_err() {
        // Fails if the failed statement has already ended the transaction.
        let _ = sqlx::raw_sql("ROLLBACK").execute(&mut connection).await;
    }
    migrated?;
    connection.close().await.map_err(from_sqlx)
}

/// Migrates a file to the current format, in one transaction.
async fn migrate(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    if read_header(connection).await?.check(path)? == FORMAT_VERSION {
        return Ok(());
    }
    run(connection, "BEGIN IMMEDIATE").await?;
    // Another process may have migrated the file before this one got the lock.
    let version = read_header(connection).await?.check(path)?;
    if version < FORMAT_VERSION {
        run(connection, &format::migration(version)).await?;
    }
    run(connection, "COMMIT").await
}

/// Executes SQL statements without a result.
pub(crate) async fn run(connection: &mut SqliteConnection, script: &str) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(script)).execute(connection).await.map_err(from_sqlx)?;
    Ok(())
}

/// Reads the version of a file's format, 0 if the file is empty, without changing the file.
///
/// # Errors
/// The file was not written by tabla, or its format is newer.
pub(crate) async fn identify(path: &Path, config: &SqliteConfig) -> Result<i32> {
    let mut connection = connect(path, config, false).await?;
    let seen = read_header(&mut connection).await.map_err(|error| with_path(error, path))?;
    connection.close().await.map_err(from_sqlx)?;
    seen.check(path)
}

/// Opens a connection of sqlx, for work off the hot path. `owned` says that the file belongs to
/// tabla or is to be created: only then may the connection create it or change its journal mode.
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
    } else if connection::is_read_only(path).map_err(|error| with_path(error, path))? {
        check_no_wal(path)?;
        options = options.immutable(true);
    }
    options.connect().await.map_err(|error| with_path(from_sqlx(error), path))
}

/// Fails if a read-only file has a WAL beside it. Without one, the file can be opened as immutable.
///
/// A normal read-only connection would create a WAL and leave it behind. A user who may write the
/// file might then lack permission to write its WAL.
fn check_no_wal(path: &Path) -> Result<()> {
    let mut log = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    log.as_mut_os_string().push("-wal");
    if log.exists() {
        let message = format!(
            "cannot open `{}`: the file is read-only and has a log (-wal), which SQLite reads only \
             with write permission; make both writable, or copy both",
            path.display()
        );
        return Err(Error::new(ErrorKind::AccessDenied, message));
    }
    Ok(())
}

/// Application id and format version in a file's header, and the number of its SQL schema objects.
struct FileHeader {
    application_id: i32,
    version: i32,
    tables: i64,
}

async fn read_header(connection: &mut SqliteConnection) -> Result<FileHeader> {
    let row = sqlx::query(
        "SELECT (SELECT application_id FROM pragma_application_id), \
                (SELECT user_version FROM pragma_user_version), \
                (SELECT count(*) FROM sqlite_schema)",
    )
    .fetch_one(connection)
    .await
    .map_err(from_sqlx)?;
    Ok(FileHeader { application_id: row.get(0), version: row.get(1), tables: row.get(2) })
}

impl FileHeader {
    /// Returns the version of the format, 0 for an empty file; fails if the file must be refused.
    fn check(&self, path: &Path) -> Result<i32> {
        let path = path.display();
        if self.tables == 0 && self.application_id == 0 && self.version == 0 {
            return Ok(0);
        }
        let version = self.version;
        match self.application_id {
            APPLICATION_ID => {}
            PRERELEASE_APPLICATION_ID => {
                return Err(Error::config(format!(
                    "cannot open `{path}`: a version of tabla before the first release wrote it; \
                     create a new file"
                )));
            }
            _ => {
                return Err(Error::config(format!(
                    "cannot open `{path}`: tabla did not write this SQLite file (its application_id \
                     is {:#010x}); use another file",
                    self.application_id
                )));
            }
        }
        if version > FORMAT_VERSION {
            return Err(Error::config(format!(
                "cannot open `{path}`: file format {version} is newer than this program \
                 ({FORMAT_VERSION}); upgrade tabla"
            )));
        }
        if version < 1 {
            return Err(Error::corrupt(format!(
                "cannot open `{path}`: file format {version} is out of range, the header is \
                 damaged; restore a backup"
            )));
        }
        Ok(version)
    }
}

/// Adds the path of the file to an error, unless [`FileHeader::check`] has added it.
fn with_path(error: Error, path: &Path) -> Error {
    if error.message().starts_with("cannot open `") {
        return error;
    }
    let message = format!("cannot open `{}`: {}", path.display(), error.message());
    Error::new(error.kind().clone(), message).with_retry(error.retry()).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another process migrates the file to a newer format after this one has identified it.
    #[tokio::test]
    async fn newer_format_found_during_migration_is_reported_with_the_path_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.db");
        let config = SqliteConfig::file(&path);
        prepare(&path, &config).await.expect("a new file");
        let mut connection = connect(&path, &config, true).await.expect("a connection");
        run(&mut connection, "PRAGMA user_version = 77").await.expect("a newer version");
        let error = migrate(&mut connection, &path).await.expect_err("a newer format");
        let message = with_path(error, &path).message().to_owned();
        assert_eq!(message.matches("cannot open").count(), 1, "{message}");
        assert!(message.contains("file format 77 is newer"), "{message}");
    }
}
