//! Faults of listings.

use tabla_core::Result;
use tabla_core::blobs::*;

use super::writes::CONSTANT;
use super::{BlobFault, FaultBlobs};

impl<B: Blobs> FaultBlobs<B> {
    pub(super) async fn faulty_list(&self, mut request: ListBlobs) -> Result<BlobPage> {
        if self.has(BlobFault::DelimiterIgnored) {
            request.delimiter.clear();
        }
        if self.has(BlobFault::LimitIgnored) {
            request.limit = None;
        }
        let (after, size) = (request.after.clone(), request.page_size());
        let mut page = self.blobs.list(request).await?;
        if self.has(BlobFault::ListIgnoresCase) {
            page.blobs.sort_by_key(|blob| blob.key.to_lowercase());
        }
        if self.has(BlobFault::EtagConstant) {
            page.blobs.iter_mut().for_each(|blob| blob.etag = CONSTANT.to_owned());
        }
        // A page of one key would repeat it for ever.
        if self.has(BlobFault::CursorRepeatsKey)
            && size > 1
            && let Some(last) = after
            && let Ok(info) = self.blobs.head(HeadBlob::new(last)).await
        {
            let again = BlobSummary::new(info.key, info.size, info.etag, info.last_modified);
            page.blobs.insert(0, again);
            if page.blobs.len() > size {
                page.blobs.pop();
                page.next = page.blobs.last().map(|blob| blob.key.clone());
            }
        }
        if self.has(BlobFault::FullPageHasNext)
            && page.next.is_none()
            && page.blobs.len() + page.prefixes.len() == size
        {
            page.next = page.blobs.last().map(|blob| blob.key.clone());
        }
        Ok(page)
    }
}
