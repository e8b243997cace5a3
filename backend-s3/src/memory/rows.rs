//! Rows of a bucket in ordered maps.

use std::collections::BTreeMap;
use std::ops::Bound;

use tabla_core::Result;
use tabla_core::blobs::{BlobSummary, BlobVersion, UploadSummary};

use super::Segments;
use crate::storage::{Part, Row, Rows, UploadRow};
use crate::version_id::VersionId;

/// Rows of one bucket.
#[derive(Debug, Default)]
pub(super) struct MemoryRows {
    keeps_versions: bool,
    /// Number that was counted last.
    number: u64,
    /// Versions by key, and of a key the newest first. No key is without versions.
    blobs: BTreeMap<String, BTreeMap<VersionId, Row<Segments>>>,
    /// Uploads by key and id.
    uploads: BTreeMap<(String, String), Upload>,
}

/// Upload in progress, and its parts by number.
type Upload = (UploadRow, BTreeMap<u32, Part<Segments>>);

impl MemoryRows {
    pub(super) fn is_empty(&self) -> bool {
        self.blobs.is_empty() && self.uploads.is_empty()
    }

    pub(super) fn enable_versions(&mut self) {
        self.keeps_versions = true;
    }
}

/// The newest version, unless it is a delete marker.
fn newest(versions: &BTreeMap<VersionId, Row<Segments>>) -> Option<&Row<Segments>> {
    versions.values().next().filter(|row| row.content.is_some())
}

fn position(upload: &UploadRow) -> (String, String) {
    (upload.request.key.clone(), upload.id.clone())
}

impl Rows<Segments> for MemoryRows {
    fn keeps_versions(&self) -> bool {
        self.keeps_versions
    }

    fn etag(&self, key: &str) -> Result<Option<String>> {
        Ok(self.blobs.get(key).and_then(newest).map(|row| row.info.etag.clone()))
    }

    fn current(&self, key: &str) -> Result<Option<Row<Segments>>> {
        Ok(self.blobs.get(key).and_then(newest).cloned())
    }

    fn version(&self, key: &str, version: VersionId) -> Result<Option<Row<Segments>>> {
        Ok(self.blobs.get(key).and_then(|versions| versions.get(&version)).cloned())
    }

    fn keys(
        &self,
        start: Bound<&str>,
        end: Option<&str>,
        count: usize,
    ) -> Result<Vec<BlobSummary>> {
        let found = self
            .blobs
            .range::<str, _>((start, Bound::Unbounded))
            .take_while(|(key, _)| end.is_none_or(|end| key.as_str() < end))
            .filter_map(|(_, versions)| newest(versions))
            .map(|Row { info, .. }| {
                BlobSummary::new(&info.key, info.size, &info.etag, info.last_modified)
            });
        Ok(found.take(count).collect())
    }

    fn versions(
        &self,
        behind: (&str, VersionId),
        end: Option<&str>,
        count: usize,
    ) -> Result<Vec<BlobVersion>> {
        let (first, after) = behind;
        let found = self
            .blobs
            .range::<str, _>((Bound::Included(first), Bound::Unbounded))
            .take_while(|(key, _)| end.is_none_or(|end| key.as_str() < end))
            .flat_map(|(key, versions)| {
                versions.iter().enumerate().map(move |(index, (version, row))| {
                    let (info, text) = (&row.info, version.to_string());
                    let described = match row.content {
                        Some(_) => {
                            BlobVersion::new(key, text, info.size, &info.etag, info.last_modified)
                        }
                        None => BlobVersion::delete_marker(key, text, info.last_modified),
                    };
                    ((key.as_str(), *version), described.latest(index == 0))
                })
            })
            .filter(|(position, _)| *position > (first, after))
            .map(|(_, described)| described);
        Ok(found.take(count).collect())
    }

    fn next_number(&mut self) -> Result<u64> {
        self.number += 1;
        Ok(self.number)
    }

    fn insert(&mut self, row: Row<Segments>) -> Result<()> {
        self.blobs.entry(row.info.key.clone()).or_default().insert(row.version, row);
        Ok(())
    }

    fn remove(&mut self, key: &str, version: VersionId) -> Result<()> {
        if let Some(versions) = self.blobs.get_mut(key) {
            versions.remove(&version);
            if versions.is_empty() {
                self.blobs.remove(key);
            }
        }
        Ok(())
    }

    fn upload(&self, key: &str, id: &str) -> Result<Option<UploadRow>> {
        let found = self.uploads.get(&(key.to_owned(), id.to_owned()));
        Ok(found.map(|(upload, _)| upload.clone()))
    }

    fn uploads(
        &self,
        behind: (&str, &str),
        end: Option<&str>,
        count: usize,
    ) -> Result<Vec<UploadSummary>> {
        let start = Bound::Excluded((behind.0.to_owned(), behind.1.to_owned()));
        let found = self
            .uploads
            .range((start, Bound::Unbounded))
            .take_while(|((key, _), _)| end.is_none_or(|end| key.as_str() < end))
            .map(|((key, id), (upload, _))| UploadSummary::new(key, id, upload.created));
        Ok(found.take(count).collect())
    }

    fn insert_upload(&mut self, upload: UploadRow) -> Result<()> {
        self.uploads.insert(position(&upload), (upload, BTreeMap::new()));
        Ok(())
    }

    fn remove_upload(&mut self, upload: &UploadRow) -> Result<()> {
        self.uploads.remove(&position(upload));
        Ok(())
    }

    fn parts(&self, upload: &UploadRow, after: u32, count: usize) -> Result<Vec<Part<Segments>>> {
        let Some((_, parts)) = self.uploads.get(&position(upload)) else { return Ok(Vec::new()) };
        let behind = (Bound::Excluded(after), Bound::Unbounded);
        Ok(parts.range(behind).map(|(_, part)| part.clone()).take(count).collect())
    }

    fn insert_part(&mut self, upload: &UploadRow, part: Part<Segments>) -> Result<()> {
        if let Some((_, parts)) = self.uploads.get_mut(&position(upload)) {
            parts.insert(part.part.number, part);
        }
        Ok(())
    }
}
