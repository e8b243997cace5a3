//! Deletion of many objects by one request.

use std::collections::BTreeSet;

use aws_sdk_s3::types::{Delete, ObjectIdentifier};
use tabla_core::blobs::{Blobs, DeleteBlob, DeleteBlobs, DeleteBlobsOutput};
use tabla_core::{Error, ErrorKind, Result};

use super::S3Blobs;
use super::convert::missing;
use super::error::{Access, from_entry, from_sdk};

impl S3Blobs {
    pub(super) async fn delete_objects(&self, request: DeleteBlobs) -> Result<DeleteBlobsOutput> {
        request.check()?;
        let (mut failed, mut markers) = (Vec::new(), Vec::new());
        let (mut objects, mut one_by_one) = (Vec::new(), Vec::new());
        // Keys that the response has to name.
        let mut open = BTreeSet::new();
        for key in request.keys {
            match self.prefix.add(&key) {
                Err(error) => failed.push((key, error)),
                Ok(full) if !is_xml(&full) => one_by_one.push(key),
                Ok(full) => {
                    let object = ObjectIdentifier::builder().key(&full).build();
                    objects.push(object.map_err(|error| Error::config(error.to_string()))?);
                    open.insert(full);
                }
            }
        }
        if !objects.is_empty() {
            // With `quiet`, a key that the service overlooks would count as deleted.
            let delete = Delete::builder().set_objects(Some(objects)).quiet(false).build();
            let output = self
                .client
                .delete_objects()
                .bucket(self.bucket())
                .delete(delete.map_err(|error| Error::config(error.to_string()))?)
                .send()
                .await
                .map_err(|error| from_sdk(Access::Write, error))?;
            for deleted in output.deleted() {
                let full = deleted.key().unwrap_or_default();
                open.remove(full);
                if let Some(marker) = deleted.delete_marker_version_id() {
                    let key = self.prefix.strip(full).unwrap_or(full);
                    markers.push((key.to_owned(), marker.to_owned()));
                }
            }
            for entry in output.errors() {
                let full = entry.key().unwrap_or_default();
                open.remove(full);
                let error = from_entry(
                    entry.code().unwrap_or_default(),
                    entry.message().unwrap_or_default(),
                );
                if !is_missing(&error) {
                    failed.push((self.prefix.strip(full).unwrap_or(full).to_owned(), error));
                }
            }
            for full in open {
                let error =
                    missing("result for the key").with_applied(Access::Write.applied_if_sent());
                failed.push((self.prefix.strip(&full).unwrap_or(&full).to_owned(), error));
            }
        }
        for key in one_by_one {
            match self.delete(DeleteBlob::new(&key)).await {
                Ok(output) => markers.extend(output.version.map(|marker| (key, marker))),
                Err(error) => failed.push((key, error)),
            }
        }
        Ok(DeleteBlobsOutput::new(failed).markers(markers))
    }
}

/// Whether this is the error of an engine for a key without a blob, which S3 deletes with success.
fn is_missing(error: &Error) -> bool {
    error.kind() == &ErrorKind::NotFound && error.code() == tabla_core::blobs::codes::NO_SUCH_KEY
}

/// Whether XML 1.0, the format of the request, has all these characters, and parsers leave them as
/// they are.
fn is_xml(key: &str) -> bool {
    key.trim() == key
        && key.chars().all(|character| {
            !character.is_control() && !matches!(character, '\u{FFFE}' | '\u{FFFF}')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_xml_cannot_carry_are_deleted_one_by_one() {
        for key in ["a", "a b", "<&>\"'", "é\u{10FFFF}", "a/../b"] {
            assert!(is_xml(key), "{key:?}");
        }
        for key in ["\0", "a\nb", " a", "a ", "\u{1F}", "\u{85}", "\u{FFFE}"] {
            assert!(!is_xml(key), "{key:?}");
        }
    }
}
