//! Rows of multipart uploads and their parts.

use rusqlite::Connection;
use tabla_core::Result;
use tabla_core::blobs::UploadSummary;
use tabla_core::env::Timestamp;

use super::columns::{self, get, integer, key, limit, millis, time};
use super::data::Files;
use super::rows::{CatalogueRows, execute, query, query_one};
use crate::storage::{Part, UploadRow};

pub(super) fn find(rows: &CatalogueRows<'_>, key: &str, id: &str) -> Result<Option<UploadRow>> {
    let sql = format!(
        "SELECT {} FROM upload WHERE bucket = ?1 AND key = ?2 AND id = ?3",
        columns::UPLOAD
    );
    let values = (rows.bucket, key.as_bytes(), id);
    query_one(rows.connection, &sql, values, columns::read_upload)
}

pub(super) fn list(
    rows: &CatalogueRows<'_>,
    (first, after): (&str, &str),
    end: &[u8],
    count: usize,
) -> Result<Vec<UploadSummary>> {
    let sql = "SELECT key, id, created FROM upload \
         WHERE bucket = ?1 AND (key, id) > (?2, ?3) AND key < ?4 ORDER BY key, id LIMIT ?5";
    let values = (rows.bucket, first.as_bytes(), after, end, limit(count));
    query(rows.connection, sql, values, |row| {
        Ok(UploadSummary::new(key(row, 0)?, get::<String>(row, 1)?, time(row, 2)?))
    })
}

pub(super) fn insert(rows: &CatalogueRows<'_>, upload: UploadRow) -> Result<()> {
    let UploadRow { id, created, request } = upload;
    let sql = "INSERT INTO upload (bucket, key, id, created, checksum, content_type, \
         cache_control, content_disposition, content_encoding, content_language, metadata) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let values = rusqlite::params![
        rows.bucket,
        request.key.as_bytes(),
        id,
        millis(created),
        columns::checksum_kind(&request),
        request.headers.content_type,
        request.headers.cache_control,
        request.headers.content_disposition,
        request.headers.content_encoding,
        request.headers.content_language,
        columns::metadata_json(&request.metadata),
    ];
    execute(rows.connection, sql, values)?;
    Ok(())
}

pub(super) fn remove(rows: &mut CatalogueRows<'_>, upload: &UploadRow) -> Result<()> {
    let sql = "DELETE FROM part WHERE bucket = ?1 AND upload = ?2 RETURNING files";
    let files = query(rows.connection, sql, (rows.bucket, &upload.id), |row| {
        columns::files(&get::<Vec<u8>>(row, 0)?)
    })?;
    files.iter().try_for_each(|files| rows.links.remove(files))?;
    let sql = "DELETE FROM upload WHERE bucket = ?1 AND key = ?2 AND id = ?3";
    execute(rows.connection, sql, (rows.bucket, upload.request.key.as_bytes(), &upload.id))?;
    Ok(())
}

pub(super) fn parts(
    rows: &CatalogueRows<'_>,
    upload: &UploadRow,
    after: u32,
    count: usize,
) -> Result<Vec<Part<Files>>> {
    let sql = format!(
        "SELECT {} FROM part WHERE bucket = ?1 AND upload = ?2 AND number > ?3 \
         ORDER BY number LIMIT ?4",
        columns::PART
    );
    let values = (rows.bucket, &upload.id, after, limit(count));
    query(rows.connection, &sql, values, columns::read_part)
}

pub(super) fn insert_part(
    rows: &mut CatalogueRows<'_>,
    upload: &UploadRow,
    part: Part<Files>,
) -> Result<()> {
    let Part { part, content } = part;
    rows.links.add(&content)?;
    let sql = "DELETE FROM part WHERE bucket = ?1 AND upload = ?2 AND number = ?3 RETURNING files";
    let values = (rows.bucket, &upload.id, part.number);
    let replaced = query_one(rows.connection, sql, values, |row| get::<Vec<u8>>(row, 0))?;
    if let Some(bytes) = replaced {
        rows.links.remove(&columns::files(&bytes)?)?;
    }
    let sql = "INSERT INTO part (bucket, upload, number, size, etag, checksum, files) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let values = (
        rows.bucket,
        &upload.id,
        part.number,
        integer(part.size),
        part.etag,
        columns::checksum_text(part.checksum.as_ref()),
        content.encode(),
    );
    execute(rows.connection, sql, values)?;
    Ok(())
}

/// Buckets, keys and ids of uploads that began before a time, in all buckets.
pub(super) fn begun_before(
    connection: &Connection,
    time: Timestamp,
) -> Result<Vec<(String, String, String)>> {
    let sql = "SELECT bucket.name, upload.key, upload.id FROM upload \
         JOIN bucket ON bucket.id = upload.bucket WHERE upload.created < ?1";
    query(connection, sql, [millis(time)], |row| Ok((get(row, 0)?, key(row, 1)?, get(row, 2)?)))
}
