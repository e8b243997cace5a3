//! Buckets of memory and of a folder: both answer the same.

use tabla_core::ErrorKind;
use tabla_core::blobs::*;
use tabla_core::env::Timestamp;
use tabla_s3::{BucketInfo, FileFolder};

use crate::support::*;

#[tokio::test]
async fn buckets_are_created_listed_and_deleted() {
    let (all, _parent) = both().await;
    for (engine, buckets) in all {
        buckets.create_bucket("photos").await.unwrap();
        let error = failure(buckets.create_bucket("photos").await);
        assert_eq!((error.kind(), error.code()), (&ErrorKind::InUse, "BucketAlreadyOwnedByYou"));
        for name in ["", "ab", "Photos", "a_b", "-ab", "a..b", &"a".repeat(64)] {
            let error = failure(buckets.create_bucket(name).await);
            assert_eq!(error.code(), "InvalidBucketName", "{engine} {name}");
        }
        let created = Timestamp::from_secs(1_800_000_000);
        let expected = |has_versions| {
            vec![
                BucketInfo::new("default", created, false),
                BucketInfo::new("photos", created, has_versions),
            ]
        };
        assert_eq!(buckets.list_buckets().await.unwrap(), expected(false), "{engine}");
        buckets.enable_versions("photos").await.unwrap();
        assert_eq!(buckets.list_buckets().await.unwrap(), expected(true), "{engine}");

        let photos = buckets.open_bucket("photos").await.unwrap();
        photos.put(PutBlob::new("a", "1")).await.unwrap();
        assert_eq!(failure(buckets.delete_bucket("photos").await).code(), "BucketNotEmpty");
        let versions = photos.versions().unwrap();
        let version = photos.head(HeadBlob::new("a")).await.unwrap().version.unwrap();
        photos.delete(DeleteBlob::new("a")).await.unwrap();
        assert_eq!(failure(buckets.delete_bucket("photos").await).code(), "BucketNotEmpty");
        versions.delete_version("a", &version).await.unwrap();
        let page = versions.list_versions(ListVersions::new()).await.unwrap();
        versions.delete_version("a", &page.versions[0].version).await.unwrap();
        let upload = photos.create_upload(CreateUpload::new("a")).await.unwrap().upload;
        assert_eq!(failure(buckets.delete_bucket("photos").await).code(), "BucketNotEmpty");
        photos.abort_upload(AbortUpload::new("a", upload)).await.unwrap();
        buckets.delete_bucket("photos").await.unwrap();

        let missing = failure(photos.put(PutBlob::new("a", "1")).await);
        assert_eq!((missing.kind(), missing.code()), (&ErrorKind::NotFound, "NoSuchBucket"));
        for error in [
            missing,
            failure(photos.get(GetBlob::new("a")).await),
            failure(photos.list(ListBlobs::new()).await),
            failure(buckets.open_bucket("photos").await),
            failure(buckets.delete_bucket("photos").await),
            failure(buckets.enable_versions("photos").await),
        ] {
            assert_eq!(error.code(), "NoSuchBucket", "{engine}");
        }
        // A bucket of the same name is another one.
        buckets.create_bucket("photos").await.unwrap();
        assert!(photos.versions().is_none());
        assert_eq!(photos.list(ListBlobs::new()).await.unwrap(), BlobPage::new());
    }
}

#[tokio::test]
async fn blob_from_before_versions_becomes_the_version_null() {
    let (all, _parent) = both().await;
    for (engine, buckets) in all {
        let blobs = buckets.open_bucket("default").await.unwrap();
        assert!(blobs.versions().is_none());
        assert_eq!(blobs.put(PutBlob::new("a", "0")).await.unwrap().version, None);
        buckets.enable_versions("default").await.unwrap();
        let versions = blobs.versions().expect("versions from now on");
        assert_eq!(blobs.head(HeadBlob::new("a")).await.unwrap().version.as_deref(), Some("null"));
        let first = blobs.put(PutBlob::new("a", "1")).await.unwrap().version.unwrap();
        let found = versions.get_version("null", GetBlob::new("a")).await.unwrap();
        assert_eq!(found.body.collect().await.unwrap(), "0", "{engine}");
        let marker = blobs.delete(DeleteBlob::new("a")).await.unwrap().version.unwrap();
        assert_eq!(failure(read(&*blobs, "a").await).code(), "NoSuchKey");
        let page = versions.list_versions(ListVersions::new()).await.unwrap();
        let listed: Vec<_> = page
            .versions
            .iter()
            .map(|one| (one.version.as_str(), one.is_latest, one.is_delete_marker))
            .collect();
        let expected = [(&*marker, true, true), (&*first, false, false), ("null", false, false)];
        assert_eq!(listed, expected, "{engine}");
        let error = failure(versions.get_version(&marker, GetBlob::new("a")).await);
        assert_eq!(error.code(), "NoSuchKey");
        for text in ["x", "ffffffffffffffff", "0000000000000001"] {
            let error = failure(versions.get_version(text, GetBlob::new("a")).await);
            assert_eq!(error.code(), "NoSuchVersion");
        }
        // Without the marker, the version before it is current.
        versions.delete_version("a", &marker).await.unwrap();
        assert_eq!(read(&*blobs, "a").await.unwrap(), "1");
        versions.restore_version("a", "null").await.unwrap();
        assert_eq!(read(&*blobs, "a").await.unwrap(), "0");
    }
}

#[tokio::test]
async fn folders_on_one_path_share_everything() {
    let sample = Sample::new().await;
    let other = FileFolder::open(&sample.path).await.unwrap();
    let blobs = other.blobs("default").unwrap();
    sample.blobs.put(PutBlob::new("a", "1")).await.unwrap();
    assert_eq!(read(&blobs, "a").await.unwrap(), "1");
    use tabla_s3::Buckets as _;
    assert_eq!(other.signing_key(), sample.folder.signing_key());
    other.enable_versions("default").await.unwrap();
    assert!(sample.blobs.versions().is_some());
    blobs.delete(DeleteBlob::new("a")).await.unwrap();
    assert_eq!(failure(read(&*sample.blobs, "a").await).code(), "NoSuchKey");
}
