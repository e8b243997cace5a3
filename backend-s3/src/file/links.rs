//! Links of the catalogue to files: how many rows list each file.

use rusqlite::Connection;
use tabla_core::Result;
use tabla_core::env::Timestamp;

use super::columns::{get, millis};
use super::data::{FileId, Files};
use super::error::damaged_row;
use super::rows::{execute, query_one};

/// Counts of links, in a transaction.
pub(super) struct Links<'a> {
    connection: &'a Connection,
    now: Timestamp,
    unlinked: Vec<FileId>,
}

impl<'a> Links<'a> {
    pub(super) fn new(connection: &'a Connection, now: Timestamp) -> Self {
        Self { connection, now, unlinked: Vec::new() }
    }

    /// Counts a row that lists these files.
    pub(super) fn add(&mut self, files: &Files) -> Result<()> {
        let sql = "INSERT INTO file (id, links) VALUES (?1, 1) \
             ON CONFLICT (id) DO UPDATE SET links = links + 1";
        for segment in files.0.iter() {
            execute(self.connection, sql, [segment.file.bytes()])?;
        }
        Ok(())
    }

    /// Counts a row that no longer lists these files.
    ///
    /// A file that no row lists is to be deleted: at once if it is the only one of its content,
    /// because readers have opened it already, else by a sweep after a grace period.
    pub(super) fn remove(&mut self, files: &Files) -> Result<()> {
        for segment in files.0.iter() {
            let id = segment.file.bytes();
            let sql = "UPDATE file SET links = links - 1 WHERE id = ?1 RETURNING links";
            let links = query_one(self.connection, sql, [id], |row| get::<i64>(row, 0))?;
            match links {
                Some(1..) => continue,
                Some(_) => execute(self.connection, "DELETE FROM file WHERE id = ?1", [id])?,
                None => return Err(damaged_row("a file without links")),
            };
            match files.0.len() {
                1 => self.unlinked.push(segment.file),
                _ => {
                    let sql = "INSERT OR REPLACE INTO garbage (file, since) VALUES (?1, ?2)";
                    execute(self.connection, sql, (id, millis(self.now)))?;
                }
            }
        }
        Ok(())
    }

    /// Files to delete after the commit.
    pub(super) fn into_unlinked(self) -> Vec<FileId> {
        self.unlinked
    }
}

/// Whether the catalogue knows a file: a row lists it, or it is garbage.
pub(super) fn is_known(connection: &Connection, id: FileId) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM file WHERE id = ?1) \
         OR EXISTS (SELECT 1 FROM garbage WHERE file = ?1)";
    let known = query_one(connection, sql, [id.bytes()], |row| get(row, 0))?;
    Ok(known.unwrap_or(false))
}

/// Whether a row of the catalogue lists a file.
pub(super) fn is_linked(connection: &Connection, id: FileId) -> Result<bool> {
    let sql = "SELECT 1 FROM file WHERE id = ?1";
    Ok(query_one(connection, sql, [id.bytes()], |_| Ok(()))?.is_some())
}
