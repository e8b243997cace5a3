//! Listings of objects and of multipart uploads.

use aws_sdk_s3::types::EncodingType;
use tabla_core::Result;
use tabla_core::blobs::{
    BlobPage, BlobSummary, ListBlobs, ListUploads, UploadPage, UploadSummary, prefix_end, rules,
};

use super::S3Blobs;
use super::convert::{listed_key, number, page, time_from_sdk, unquoted};
use super::error::{Access, from_sdk};

/// Position at which a listing begins.
#[derive(Debug, PartialEq, Eq)]
struct Start {
    /// Key behind which S3 begins.
    after: Option<String>,
    /// Entries to leave out: up to this one, and those that begin with `skipped`.
    from: Option<String>,
    skipped: Option<String>,
}

impl Start {
    /// Returns `None` if nothing is behind the position.
    fn new(request: &ListBlobs) -> Option<Self> {
        let ListBlobs { prefix, delimiter, after, .. } = request;
        let after = match after.as_deref() {
            Some(after) if after >= prefix.as_str() => after,
            _ => return Some(Self { after: None, from: None, skipped: None }),
        };
        let rest = after.strip_prefix(prefix.as_str())?;
        let common = match rest.find(delimiter.as_str()) {
            Some(position) if !delimiter.is_empty() => {
                &after[..prefix.len() + position + delimiter.len()]
            }
            _ => {
                let after = after.to_owned();
                return Some(Self { after: Some(after.clone()), from: Some(after), skipped: None });
            }
        };
        // A position inside of a common prefix is behind it. S3 begins behind a key, and groups
        // afterwards: behind the prefix itself it would find the keys below, and return the prefix
        // again.
        prefix_end(common)?;
        Some(Self {
            after: Some(format!("{common}\u{10FFFF}")),
            from: Some(common.to_owned()),
            skipped: Some(common.to_owned()),
        })
    }

    fn is_before(&self, entry: &str) -> bool {
        self.from.as_deref().is_some_and(|from| entry <= from)
            || self.skipped.as_deref().is_some_and(|skipped| entry.starts_with(skipped))
    }
}

impl S3Blobs {
    pub(super) async fn list_objects(&self, request: ListBlobs) -> Result<BlobPage> {
        let size = request.page_size();
        let Some(start) = Start::new(&request).filter(|_| size > 0) else {
            return Ok(BlobPage::new());
        };
        let after = start.after.as_deref().map(|after| self.prefix.add_to_text(after));
        let mut all = BlobPage::new();
        let mut token = None;
        loop {
            let left = size - all.blobs.len() - all.prefixes.len();
            let delimiter = Some(&request.delimiter).filter(|delimiter| !delimiter.is_empty());
            let output = self
                .client
                .list_objects_v2()
                .bucket(self.bucket())
                .prefix(self.prefix.add_to_text(&request.prefix))
                .set_delimiter(delimiter.cloned())
                .set_start_after(after.clone().filter(|after| after.len() <= rules::KEY_BYTES))
                .set_continuation_token(token)
                .encoding_type(EncodingType::Url)
                .max_keys(page(left))
                .send()
                .await
                .map_err(|error| from_sdk(Access::Read, error))?;
            for object in output.contents() {
                let full = listed_key(object.key(), output.encoding_type())?;
                match self.prefix.strip(&full) {
                    Some(key) if !start.is_before(key) => all.blobs.push(BlobSummary::new(
                        key,
                        number(object.size()),
                        unquoted(object.e_tag()),
                        time_from_sdk(object.last_modified()),
                    )),
                    _ => {}
                }
            }
            for common in output.common_prefixes() {
                let full = listed_key(common.prefix(), output.encoding_type())?;
                match self.prefix.strip(&full) {
                    Some(prefix) if !start.is_before(prefix) => {
                        all.prefixes.push(prefix.to_owned())
                    }
                    _ => {}
                }
            }
            token = output.next_continuation_token().map(str::to_owned);
            if output.is_truncated() != Some(true) || token.is_none() {
                return Ok(all);
            }
            if all.blobs.len() + all.prefixes.len() >= size {
                let last_key = all.blobs.last().map(|blob| &blob.key);
                let last = last_key.max(all.prefixes.last()).cloned();
                return Ok(all.next(last));
            }
        }
    }

    pub(super) async fn list_multipart_uploads(&self, request: ListUploads) -> Result<UploadPage> {
        let size = request.page_size();
        if size == 0 {
            return Ok(UploadPage::default());
        }
        let (after_key, after_id) = request.after.unzip();
        let output = self
            .client
            .list_multipart_uploads()
            .bucket(self.bucket())
            .prefix(self.prefix.add_to_text(&request.prefix))
            .set_key_marker(after_key.map(|key| self.prefix.add_to_text(&key)))
            .set_upload_id_marker(after_id)
            .encoding_type(EncodingType::Url)
            .max_uploads(page(size))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        let mut uploads = Vec::with_capacity(output.uploads().len());
        for upload in output.uploads() {
            let full = listed_key(upload.key(), output.encoding_type())?;
            let id = upload.upload_id().unwrap_or_default();
            if let Some(key) = self.prefix.strip(&full) {
                uploads.push(UploadSummary::new(key, id, time_from_sdk(upload.initiated())));
            }
        }
        let next = match output.is_truncated() {
            Some(true) => {
                let key = listed_key(output.next_key_marker(), output.encoding_type())?;
                let id = output.next_upload_id_marker().unwrap_or_default().to_owned();
                self.prefix.strip(&key).map(|key| (key.to_owned(), id))
            }
            _ => None,
        };
        Ok(UploadPage::new(uploads, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(prefix: &str, delimiter: &str, after: &str) -> Option<(String, Vec<&'static str>)> {
        let request =
            ListBlobs::with_prefix(prefix).delimiter(delimiter).after(Some(after.to_owned()));
        let start = Start::new(&request)?;
        let entries = ["a", "a/", "a/1", "a0", "b"];
        let left = entries.into_iter().filter(|entry| !start.is_before(entry)).collect();
        Some((start.after.unwrap_or_default(), left))
    }

    #[test]
    fn listing_continues_behind_a_key_or_a_common_prefix() {
        let of = |after: &str, left: &[&'static str]| Some((after.to_owned(), left.to_vec()));
        assert_eq!(start("", "", "a/"), of("a/", &["a/1", "a0", "b"]));
        assert_eq!(start("", "/", "a"), of("a", &["a/", "a/1", "a0", "b"]));
        assert_eq!(start("", "/", "a/"), of("a/\u{10FFFF}", &["a0", "b"]));
        assert_eq!(start("", "/", "a/1"), of("a/\u{10FFFF}", &["a0", "b"]));
        assert_eq!(start("a/", "/", "a/1"), of("a/1", &["a0", "b"]));
    }

    #[test]
    fn position_outside_of_the_prefix_is_its_begin_or_its_end() {
        assert_eq!(start("b", "/", "a").unwrap().0, "");
        assert_eq!(start("b", "/", "c"), None);
        assert_eq!(start("", "\u{10FFFF}", "\u{10FFFF}"), None);
    }
}
