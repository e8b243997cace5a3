//! Opening of a folder: creation, and identification of its catalogue.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use rusqlite::{Connection, MAIN_DB};
use tabla_core::env::Env;
use tabla_core::{Error, ErrorKind, Result};

use super::catalogue::{self, Catalogue};
use super::columns::{get, millis};
use super::data::{DataFolder, sync_folder};
use super::error::{damaged_row, from_io, from_sqlite, with_path};
use super::folder::{Folder, LOCK, open_lock};
use super::rows::{execute, query_one};
use super::schema::{self, APPLICATION_ID, FORMAT_VERSION};
use crate::SigningKey;
use crate::buckets::DEFAULT_BUCKET;

/// Name of the catalogue.
const CATALOGUE: &str = "catalogue.db";
/// Name of the folder with the files.
const DATA: &str = "data";

/// Opens a folder, and creates it if it is missing or empty. It blocks.
///
/// # Errors
/// [`ErrorKind::Config`] for a path that is no folder of blobs and cannot become one: nothing
/// is created.
pub(super) fn open(path: &Path, env: Env) -> Result<Folder> {
    let absolute = std::path::absolute(path)
        .map_err(|error| refused(path, "name a folder, such as `assets`").with_source(error))?;
    let file = absolute.join(CATALOGUE);
    if is_new(path, &absolute)? || identify(&file)?.is_empty(&file)? {
        create(&absolute, &file, &env)?;
    }
    let opened = Catalogue::open(file)?;
    let key = opened.read(|connection| {
        let sql = "SELECT key_id, key_secret FROM folder";
        let found = query_one(connection, sql, [], |row| {
            Ok(SigningKey::new(get::<String>(row, 0)?, get::<String>(row, 1)?))
        })?;
        found.ok_or_else(|| damaged_row("it has no signing key"))
    })?;
    Ok(Folder {
        data: DataFolder::new(absolute.join(DATA)),
        path: absolute,
        catalogue: opened,
        key,
        env,
        next_sweep: 0.into(),
    })
}

/// Whether there is no catalogue yet. Checks that one can be created.
fn is_new(path: &Path, absolute: &Path) -> Result<bool> {
    match fs::metadata(absolute) {
        Ok(found) if !found.is_dir() => {
            return Err(refused(path, "it is a file; name a folder"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = absolute.parent().filter(|parent| !parent.exists());
            return match parent {
                Some(parent) => {
                    let why = format!("there is no folder `{}`; create it first", parent.display());
                    Err(refused(path, &why))
                }
                None => Ok(true),
            };
        }
        Err(error) => {
            let why = match absolute.ancestors().skip(1).find(|folder| folder.is_file()) {
                Some(file) => {
                    format!("`{}` is a file, not a folder; name a folder", file.display())
                }
                None => format!("{error}; check the permissions of its folders"),
            };
            return Err(refused(path, &why).with_source(error));
        }
    }
    let failed = |error| from_io("read", path, error);
    match fs::metadata(absolute.join(CATALOGUE)) {
        Ok(found) => return Ok(found.len() == 0),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        Err(_) => {}
    }
    for entry in fs::read_dir(absolute).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        // A creation that was interrupted has left these.
        if name != LOCK && name != DATA && !name.to_string_lossy().starts_with(CATALOGUE) {
            let why = format!(
                "the folder has other files, such as `{}`, and no catalogue of blobs; name a new or \
                 an empty folder",
                name.to_string_lossy()
            );
            return Err(refused(path, &why));
        }
    }
    Ok(true)
}

fn refused(path: &Path, why: &str) -> Error {
    Error::config(format!("cannot open `{}`: {why}", path.display()))
}

/// Creates the folder, durably. Of several processes one does so, and the others wait.
fn create(folder: &Path, file: &Path, env: &Env) -> Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(from_io("create", folder, error));
        }
        _ => {}
    }
    let lock = open_lock(folder)
        .and_then(|lock| lock.lock().map(|()| lock))
        .map_err(|error| from_io("lock", &folder.join(LOCK), error))?;
    if is_new(folder, folder)? {
        DataFolder::new(folder.join(DATA)).create()?;
        create_private(file).map_err(|error| from_io("create", file, error))?;
    }
    // Another process may have created it meanwhile.
    if identify(file)?.is_empty(file)? {
        let connection = catalogue::connect(file).map_err(from_sqlite);
        let filled = connection.and_then(|connection| fill(&connection, env));
        filled.map_err(|error| with_path(error, file))?;
        sync_folder(folder)?;
        folder.parent().map_or(Ok(()), sync_folder)?;
    }
    drop(lock);
    Ok(())
}

/// Creates an empty file that only its owner can read: it will contain the signing key.
fn create_private(file: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(|_| ())
}

/// Fills an empty catalogue: tables, signing key, and the default bucket.
fn fill(connection: &Connection, env: &Env) -> Result<()> {
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE;")
        .and_then(|()| connection.execute_batch(&schema::create()))
        .map_err(from_sqlite)?;
    let key = SigningKey::random(env);
    let now = millis(env.clock.now());
    let sql = "INSERT INTO folder (key_id, key_secret, swept) VALUES (?1, ?2, ?3)";
    execute(connection, sql, (key.id(), key.secret(), now))?;
    let sql = "INSERT INTO bucket (name, created, keeps_versions, number) VALUES (?1, ?2, 0, 0)";
    execute(connection, sql, (DEFAULT_BUCKET, now))?;
    connection.execute_batch("COMMIT").map_err(from_sqlite)
}

/// Application id and format version in the header of a catalogue, and the number of its SQL
/// schema objects.
struct Header {
    application_id: i32,
    version: i32,
    objects: i64,
}

/// Reads the header of a file without changing the file.
fn identify(file: &Path) -> Result<Header> {
    let read = || -> Result<(Header, bool)> {
        let connection = catalogue::connect(file).map_err(from_sqlite)?;
        let sql = "SELECT (SELECT application_id FROM pragma_application_id), \
             (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
        let header = query_one(&connection, sql, [], |row| {
            let (application_id, version, objects) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
            Ok(Header { application_id, version, objects })
        })?;
        let is_read_only = connection.is_readonly(MAIN_DB).map_err(from_sqlite)?;
        Ok((header.ok_or_else(|| damaged_row("it has no header"))?, is_read_only))
    };
    let (header, is_read_only) = read().map_err(|error| with_path(error, file))?;
    match is_read_only {
        true => Err(Error::new(
            ErrorKind::AccessDenied,
            format!(
                "cannot open `{}`: the file is read-only, and blobs are written; make it, its \
                 folder and everything in that writable",
                file.display()
            ),
        )),
        false => Ok(header),
    }
}

impl Header {
    /// Whether the file has no content yet; fails if it must be refused.
    fn is_empty(&self, file: &Path) -> Result<bool> {
        if self.objects == 0 && self.application_id == 0 && self.version == 0 {
            return Ok(true);
        }
        if self.application_id != APPLICATION_ID {
            let why = format!(
                "tabla did not write this SQLite file (its application_id is {:#010x}); name \
                 another folder",
                self.application_id
            );
            return Err(refused(file, &why));
        }
        match self.version {
            FORMAT_VERSION => Ok(false),
            newer if newer > FORMAT_VERSION => {
                let why = format!(
                    "file format {newer} is newer than this program ({FORMAT_VERSION}); upgrade \
                     tabla"
                );
                Err(refused(file, &why))
            }
            damaged => Err(Error::corrupt(format!(
                "cannot open `{}`: file format {damaged} is out of range, the header is damaged; \
                 restore a backup",
                file.display()
            ))),
        }
    }
}
