//! Versions of objects.

use std::cmp::Reverse;

use async_trait::async_trait;
use aws_sdk_s3::types::EncodingType;
use tabla_core::Result;
use tabla_core::blobs::{
    BlobInfo, BlobVersion, CopyBlob, DeleteVersionOutput, GetBlob, GetBlobOutput, HeadBlob,
    ListVersions, PutBlobOutput, VersionPage, Versions, codes,
};

use super::S3Blobs;
use super::convert::{listed_key, number, page, time_from_sdk, unquoted};
use super::error::{Access, from_sdk};
use super::exact_key::{ExactKey, sdk_key};
use super::objects::describe_missing;
use super::version_order::VersionOrder;

#[async_trait]
impl Versions for S3Blobs {
    async fn list_versions(&self, request: ListVersions) -> Result<VersionPage> {
        let size = request.page_size();
        if size == 0 {
            return Ok(VersionPage::default());
        }
        let (after_key, after_version) = request.after.unzip();
        let order = VersionOrder::default();
        let output = self
            .client
            .list_object_versions()
            .bucket(self.bucket())
            .prefix(self.prefix.add_to_text(&request.prefix))
            .set_key_marker(after_key.map(|key| self.prefix.add_to_text(&key)))
            .set_version_id_marker(after_version)
            .encoding_type(EncodingType::Url)
            .max_keys(page(size))
            .customize()
            .interceptor(order.clone())
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        let (mut versions, mut markers) = (Vec::new(), Vec::new());
        for version in output.versions() {
            let key = listed_key(version.key(), output.encoding_type())?;
            let found = BlobVersion::new(
                key,
                version.version_id().unwrap_or_default(),
                number(version.size()),
                unquoted(version.e_tag()),
                time_from_sdk(version.last_modified()),
            );
            versions.push(found.latest(version.is_latest().unwrap_or(false)));
        }
        for marker in output.delete_markers() {
            let key = listed_key(marker.key(), output.encoding_type())?;
            let id = marker.version_id().unwrap_or_default();
            let found = BlobVersion::delete_marker(key, id, time_from_sdk(marker.last_modified()));
            markers.push(found.latest(marker.is_latest().unwrap_or(false)));
        }
        let mut all = order.merge(versions, markers);
        order_by_time(&mut all);
        all.retain_mut(|version| match self.prefix.strip(&version.key) {
            Some(key) => {
                version.key = key.to_owned();
                true
            }
            None => false,
        });
        let next = match output.is_truncated() {
            Some(true) => {
                let key = listed_key(output.next_key_marker(), output.encoding_type())?;
                let version = output.next_version_id_marker().unwrap_or_default().to_owned();
                self.prefix.strip(&key).map(|key| (key.to_owned(), version))
            }
            _ => None,
        };
        Ok(VersionPage::new(all, next))
    }

    async fn get_version(&self, version: &str, request: GetBlob) -> Result<GetBlobOutput> {
        self.get_object(request, Some(version)).await
    }

    async fn head_version(&self, version: &str, request: HeadBlob) -> Result<BlobInfo> {
        self.head_object(request, Some(version)).await
    }

    async fn restore_version(&self, key: &str, version: &str) -> Result<PutBlobOutput> {
        match self.copy_version(CopyBlob::new(key, key), Some(version)).await {
            Ok(output) => Ok(output),
            // S3 refuses a delete marker so.
            Err(error) if error.code() == codes::INVALID_REQUEST => {
                match self.head_object(HeadBlob::new(key), Some(version)).await {
                    Ok(_) => Err(error),
                    Err(cause) => Err(cause),
                }
            }
            Err(error) => Err(describe_missing(error, key, Some(version))),
        }
    }

    async fn delete_version(&self, key: &str, version: &str) -> Result<DeleteVersionOutput> {
        let full = self.prefix.add(key)?;
        let deleted = self
            .client
            .delete_object()
            .bucket(self.bucket())
            .key(sdk_key(&full))
            .version_id(version)
            .customize()
            .interceptor(ExactKey::new(&full))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))
            .map_err(|error| describe_missing(error, key, Some(version)));
        match deleted {
            Ok(output) => {
                let was_marker = output.delete_marker() == Some(true);
                Ok(DeleteVersionOutput::new().was_delete_marker(was_marker))
            }
            Err(error) if matches!(error.code(), codes::NO_SUCH_VERSION | codes::NO_SUCH_KEY) => {
                Ok(DeleteVersionOutput::new())
            }
            Err(error) => Err(error),
        }
    }
}

/// Orders the entries of an engine that lists delete markers apart from versions.
///
/// The order of S3 is kept: by time it would be wrong, as S3 gives a multipart upload the time of
/// its begin.
fn order_by_time(all: &mut [BlobVersion]) {
    let is_ordered = all
        .is_sorted_by(|one, next| one.key < next.key || (one.key == next.key && !next.is_latest));
    if !is_ordered {
        let newest_first =
            |version: &BlobVersion| (Reverse(version.is_latest), Reverse(version.last_modified));
        all.sort_by(|one, other| {
            one.key.cmp(&other.key).then_with(|| newest_first(one).cmp(&newest_first(other)))
        });
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::env::Timestamp;

    use super::*;

    #[test]
    fn only_entries_of_another_order_than_that_of_s3_are_sorted() {
        let version = |key: &str, second: u64| {
            BlobVersion::new(key, format!("{key}{second}"), 1, "e", Timestamp::from_secs(second))
        };
        let marker = |key: &str, second: u64| {
            let time = Timestamp::from_secs(second);
            BlobVersion::delete_marker(key, format!("{key}{second}"), time)
        };
        let ids = |mut all: Vec<BlobVersion>| {
            order_by_time(&mut all);
            all.into_iter().map(|version| version.version).collect::<Vec<_>>()
        };
        // A multipart upload that began before the version below it.
        let of_s3 =
            vec![version("a", 1).latest(true), version("a", 2), marker("b", 0).latest(true)];
        assert_eq!(ids(of_s3), ["a1", "a2", "b0"]);
        let apart = vec![
            marker("a", 2),
            marker("b", 4).latest(true),
            version("a", 3).latest(true),
            version("a", 1),
            version("b", 1),
        ];
        assert_eq!(ids(apart), ["a3", "a2", "a1", "b4", "b1"]);
    }
}
