//! Checksum algorithms of multipart uploads in progress.
//!
//! S3 wants every part and the completion to have a checksum of the algorithm that the upload was
//! created with. An upload of this process is remembered; one of another process is looked up once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tabla_core::blobs::{ChecksumAlgorithm, ChecksumType};

/// Algorithm of an upload; `None` if it has no checksums.
pub(super) type UploadAlgorithm = Option<(ChecksumAlgorithm, ChecksumType)>;

/// Uploads that are remembered. More are rare, and cost one request each.
const MOST: usize = 10_000;

/// Algorithms by the id of the upload.
#[derive(Debug, Default)]
pub(super) struct UploadChecksums(Mutex<HashMap<String, UploadAlgorithm>>);

impl UploadChecksums {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, UploadAlgorithm>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, upload: &str) -> Option<UploadAlgorithm> {
        self.lock().get(upload).copied()
    }

    pub(super) fn insert(&self, upload: &str, algorithm: UploadAlgorithm) {
        let mut known = self.lock();
        // Uploads that were abandoned are never removed one by one.
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(upload.to_owned(), algorithm);
    }

    pub(super) fn remove(&self, upload: &str) {
        self.lock().remove(upload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_remembered_uploads_is_limited() {
        let known = UploadChecksums::default();
        for number in 0..MOST + 1 {
            known.insert(&number.to_string(), None);
        }
        assert_eq!(known.get("0"), None);
        assert_eq!(known.get(&MOST.to_string()), Some(None));
        known.remove(&MOST.to_string());
        assert!(known.lock().is_empty());
    }
}
