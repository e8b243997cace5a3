//! Faults of gets and heads.

use tabla_core::blobs::*;
use tabla_core::{ErrorKind, Result};

use super::{BlobFault, FaultBlobs};

impl<B: Blobs> FaultBlobs<B> {
    pub(super) async fn faulty_get(&self, mut request: GetBlob) -> Result<GetBlobOutput> {
        request.key = self.faulty_key(&request.key);
        self.spoil_conditions(&mut request.conditions);
        request.range = request.range.map(|range| self.faulty_range(range));
        let found = self.not_modified(self.blobs.get(request).await)?;
        Ok(GetBlobOutput::new(self.faulty_info(found.info), found.range, found.body))
    }

    pub(super) async fn faulty_head(&self, mut request: HeadBlob) -> Result<BlobInfo> {
        request.key = self.faulty_key(&request.key);
        self.spoil_conditions(&mut request.conditions);
        let found = self.not_modified(self.blobs.head(request).await)?;
        Ok(self.faulty_info(found))
    }

    fn faulty_range(&self, range: ByteRange) -> ByteRange {
        match range {
            ByteRange::Inclusive { first, last }
                if self.has(BlobFault::RangeOffByOne) && last > first =>
            {
                ByteRange::Inclusive { first, last: last - 1 }
            }
            ByteRange::Last(count) if self.has(BlobFault::SuffixFromStart) && count > 0 => {
                ByteRange::Inclusive { first: 0, last: count - 1 }
            }
            other => other,
        }
    }

    fn spoil_conditions(&self, conditions: &mut ReadConditions) {
        if self.has(BlobFault::NoneMatchIgnored) {
            conditions.if_none_match = None;
        }
        if self.has(BlobFault::ModifiedSinceIgnored) {
            conditions.if_modified_since = None;
        }
        if self.has(BlobFault::TimeOutranksEtag) && conditions.if_unmodified_since.is_some() {
            conditions.if_match = None;
        }
    }

    fn not_modified<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| match error.kind() {
            ErrorKind::NotModified if self.has(BlobFault::NotModifiedFails) => {
                precondition_failed()
            }
            _ => error,
        })
    }
}
