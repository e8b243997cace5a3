//! Rows of a bucket in the catalogue: blobs and their versions. Uploads are in `uploads`, and the
//! counts of links in `links`.

use std::ops::Bound;

use rusqlite::{Connection, OptionalExtension as _, Params, Row as SqlRow};
use tabla_core::Result;
use tabla_core::blobs::{BlobSummary, BlobVersion, UploadSummary, no_such_bucket};

use super::columns::{self, get, integer, key, limit, millis, size, time};
use super::data::Files;
use super::error::{damaged_row, from_sqlite};
use super::links::Links;
use super::uploads;
use crate::storage::{Part, Row, Rows, UploadRow};
use crate::version_id::VersionId;

/// Bytes that are behind all keys: UTF-8 does not contain them.
const BEHIND_ALL_KEYS: &[u8] = &[0xFF];

/// Rows of one bucket in a transaction.
pub(super) struct CatalogueRows<'a> {
    pub(super) connection: &'a Connection,
    pub(super) bucket: i64,
    keeps_versions: bool,
    pub(super) links: Links<'a>,
}

impl<'a> CatalogueRows<'a> {
    /// Rows of the bucket with this name.
    pub(super) fn new(connection: &'a Connection, name: &str, links: Links<'a>) -> Result<Self> {
        let sql = "SELECT id, keeps_versions FROM bucket WHERE name = ?1";
        let found = query_one(connection, sql, [name], |row| {
            Ok((get::<i64>(row, 0)?, get::<bool>(row, 1)?))
        })?;
        let (bucket, keeps_versions) = found.ok_or_else(|| no_such_bucket(name))?;
        Ok(Self { connection, bucket, keeps_versions, links })
    }

    /// If no row of a key is current, makes its newest version current.
    fn promote(&self, key: &str) -> Result<()> {
        let sql = "UPDATE blob SET is_past = 0 \
             WHERE bucket = ?1 AND is_past = 1 AND key = ?2 AND files IS NOT NULL \
             AND version = (SELECT min(version) FROM blob \
               WHERE bucket = ?1 AND is_past = 1 AND key = ?2) \
             AND NOT EXISTS (SELECT 1 FROM blob WHERE bucket = ?1 AND is_past = 0 AND key = ?2)";
        execute(self.connection, sql, (self.bucket, key.as_bytes()))?;
        Ok(())
    }

    /// Versions behind a position: current ones, or past ones.
    fn versions_of(
        &self,
        is_past: bool,
        (first, after): (&str, VersionId),
        end: &[u8],
        count: usize,
    ) -> Result<Vec<(VersionId, BlobVersion)>> {
        let sql = "SELECT key, version, size, etag, modified, files IS NULL, \
             NOT EXISTS (SELECT 1 FROM blob newer WHERE newer.bucket = blob.bucket \
               AND newer.is_past IN (0, 1) AND newer.key = blob.key \
               AND newer.version < blob.version) \
             FROM blob WHERE bucket = ?1 AND is_past = ?2 AND (key, version) > (?3, ?4) \
             AND key < ?5 ORDER BY key, version LIMIT ?6";
        let values = (self.bucket, is_past, first.as_bytes(), after.value(), end, limit(count));
        query(self.connection, sql, values, |row| {
            let version = VersionId::of_value(get(row, 1)?);
            let (key, text, modified) = (key(row, 0)?, version.to_string(), time(row, 4)?);
            let described = match get(row, 5)? {
                true => BlobVersion::delete_marker(key, text, modified),
                false => {
                    BlobVersion::new(key, text, size(row, 2)?, get::<String>(row, 3)?, modified)
                }
            };
            Ok((version, described.latest(get(row, 6)?)))
        })
    }
}

impl Rows<Files> for CatalogueRows<'_> {
    fn keeps_versions(&self) -> bool {
        self.keeps_versions
    }

    fn etag(&self, key: &str) -> Result<Option<String>> {
        let sql = "SELECT etag FROM blob WHERE bucket = ?1 AND is_past = 0 AND key = ?2";
        query_one(self.connection, sql, (self.bucket, key.as_bytes()), |row| get(row, 0))
    }

    fn current(&self, key: &str) -> Result<Option<Row<Files>>> {
        let sql = format!(
            "SELECT {} FROM blob WHERE bucket = ?1 AND is_past = 0 AND key = ?2",
            columns::BLOB
        );
        query_one(self.connection, &sql, (self.bucket, key.as_bytes()), columns::read_blob)
    }

    fn version(&self, key: &str, version: VersionId) -> Result<Option<Row<Files>>> {
        let sql = format!(
            "SELECT {} FROM blob WHERE bucket = ?1 AND is_past IN (0, 1) AND key = ?2 \
             AND version = ?3",
            columns::BLOB
        );
        let values = (self.bucket, key.as_bytes(), version.value());
        query_one(self.connection, &sql, values, columns::read_blob)
    }

    fn keys(
        &self,
        start: Bound<&str>,
        end: Option<&str>,
        count: usize,
    ) -> Result<Vec<BlobSummary>> {
        let start = match start {
            Bound::Included(key) => key.as_bytes().to_vec(),
            // The next text in the order of bytes.
            Bound::Excluded(key) => [key.as_bytes(), &[0]].concat(),
            Bound::Unbounded => Vec::new(),
        };
        let sql = "SELECT key, size, etag, modified FROM blob \
             WHERE bucket = ?1 AND is_past = 0 AND key >= ?2 AND key < ?3 ORDER BY key LIMIT ?4";
        let values = (self.bucket, start, end_bytes(end), limit(count));
        query(self.connection, sql, values, |row| {
            Ok(BlobSummary::new(key(row, 0)?, size(row, 1)?, get::<String>(row, 2)?, time(row, 3)?))
        })
    }

    fn versions(
        &self,
        behind: (&str, VersionId),
        end: Option<&str>,
        count: usize,
    ) -> Result<Vec<BlobVersion>> {
        let end = end_bytes(end);
        let mut found = self.versions_of(false, behind, end, count)?;
        found.extend(self.versions_of(true, behind, end, count)?);
        found.sort_by(|(one, first), (two, second)| (&first.key, one).cmp(&(&second.key, two)));
        found.truncate(count);
        Ok(found.into_iter().map(|(_, version)| version).collect())
    }

    fn next_number(&mut self) -> Result<u64> {
        let sql = "UPDATE bucket SET number = number + 1 WHERE id = ?1 RETURNING number";
        let number = query_one(self.connection, sql, [self.bucket], |row| size(row, 0))?;
        number.ok_or_else(|| damaged_row("a bucket without a number"))
    }

    fn insert(&mut self, row: Row<Files>) -> Result<()> {
        let Row { info, version, content } = row;
        // Linked before the replaced row is unlinked: both may have the same files.
        if let Some(files) = &content {
            self.links.add(files)?;
        }
        self.delete_row(&info.key, version)?;
        if self.keeps_versions {
            let sql = "UPDATE blob SET is_past = 1 WHERE bucket = ?1 AND is_past = 0 AND key = ?2";
            execute(self.connection, sql, (self.bucket, info.key.as_bytes()))?;
        }
        let sql = "INSERT INTO blob (bucket, is_past, key, version, size, etag, modified, checksum, \
             files, content_type, cache_control, content_disposition, content_encoding, \
             content_language, metadata) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
        let values = rusqlite::params![
            self.bucket,
            content.is_none(),
            info.key.as_bytes(),
            version.value(),
            integer(info.size),
            info.etag,
            millis(info.last_modified),
            columns::checksum_text(info.checksum.as_ref()),
            content.map(|files| files.encode()),
            info.headers.content_type,
            info.headers.cache_control,
            info.headers.content_disposition,
            info.headers.content_encoding,
            info.headers.content_language,
            columns::metadata_json(&info.metadata),
        ];
        execute(self.connection, sql, values)?;
        Ok(())
    }

    fn remove(&mut self, key: &str, version: VersionId) -> Result<()> {
        self.delete_row(key, version)?;
        match self.keeps_versions {
            true => self.promote(key),
            false => Ok(()),
        }
    }

    fn upload(&self, key: &str, id: &str) -> Result<Option<UploadRow>> {
        uploads::find(self, key, id)
    }

    fn uploads(
        &self,
        behind: (&str, &str),
        end: Option<&str>,
        count: usize,
    ) -> Result<Vec<UploadSummary>> {
        uploads::list(self, behind, end_bytes(end), count)
    }

    fn insert_upload(&mut self, upload: UploadRow) -> Result<()> {
        uploads::insert(self, upload)
    }

    fn remove_upload(&mut self, upload: &UploadRow) -> Result<()> {
        uploads::remove(self, upload)
    }

    fn parts(&self, upload: &UploadRow, after: u32, count: usize) -> Result<Vec<Part<Files>>> {
        uploads::parts(self, upload, after, count)
    }

    fn insert_part(&mut self, upload: &UploadRow, part: Part<Files>) -> Result<()> {
        uploads::insert_part(self, upload, part)
    }
}

impl CatalogueRows<'_> {
    /// Deletes the row of one version, if there is one, and its links.
    fn delete_row(&mut self, key: &str, version: VersionId) -> Result<()> {
        let sql = "DELETE FROM blob WHERE bucket = ?1 AND is_past IN (0, 1) AND key = ?2 \
             AND version = ?3 RETURNING files";
        let values = (self.bucket, key.as_bytes(), version.value());
        let deleted =
            query_one(self.connection, sql, values, |row| get::<Option<Vec<u8>>>(row, 0))?;
        match deleted.flatten() {
            Some(bytes) => self.links.remove(&columns::files(&bytes)?),
            None => Ok(()),
        }
    }
}

fn end_bytes(end: Option<&str>) -> &[u8] {
    end.map_or(BEHIND_ALL_KEYS, str::as_bytes)
}

/// Executes a statement without a result; returns the number of changed rows.
pub(super) fn execute(connection: &Connection, sql: &str, values: impl Params) -> Result<usize> {
    let run = || connection.prepare_cached(sql)?.execute(values);
    run().map_err(from_sqlite)
}

/// Reads the only row of a result, if there is one.
pub(super) fn query_one<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&SqlRow<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    let found = statement.query_row(values, |row| Ok(read(row))).optional();
    found.map_err(from_sqlite)?.transpose()
}

/// Reads all rows of a result.
pub(super) fn query<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    mut read: impl FnMut(&SqlRow<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    let mut rows = statement.query(values).map_err(from_sqlite)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next().map_err(from_sqlite)? {
        all.push(read(row)?);
    }
    Ok(all)
}
