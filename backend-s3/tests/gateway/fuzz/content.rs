//! Content of buckets, to be compared.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use tabla_core::blobs::*;
use tabla_s3::Buckets;

/// All that a gateway serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content(pub(crate) BTreeMap<String, Bucket>);

/// Content of one bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) keeps_versions: bool,
    pub(crate) objects: BTreeMap<String, Object>,
    versions: Vec<BlobVersion>,
    /// Parts of the multipart uploads, by key and id of the upload.
    pub(crate) uploads: BTreeMap<(String, String), Vec<UploadedPart>>,
}

/// An object, with everything that a client can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) info: BlobInfo,
    pub(crate) bytes: Bytes,
}

impl Content {
    /// Reads everything.
    pub(crate) async fn read(buckets: &dyn Buckets) -> Self {
        let mut content = Self::default();
        for bucket in buckets.list_buckets().await.expect("buckets are listed") {
            let blobs = buckets.open_bucket(&bucket.name).await.expect("a listed bucket opens");
            let read = Bucket::read(&*blobs, bucket.has_versions).await;
            content.0.insert(bucket.name, read);
        }
        content
    }

    pub(crate) fn object(&self, bucket: &str, key: &str) -> Option<&Object> {
        self.0.get(bucket)?.objects.get(key)
    }

    /// Buckets and keys that differ. A bucket that was created or deleted, or that begins to keep
    /// versions, has no key.
    pub(crate) fn changes(&self, other: &Self) -> BTreeSet<(String, Option<String>)> {
        let names: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let mut changes = BTreeSet::new();
        for name in names {
            match (self.0.get(name), other.0.get(name)) {
                (Some(one), Some(other)) if one == other => {}
                // Every key gets a version.
                (Some(one), Some(other)) if one.keeps_versions != other.keeps_versions => {
                    assert!(one.bytes().eq(other.bytes()), "{name} has lost objects");
                    changes.insert((name.clone(), None));
                }
                (Some(one), Some(other)) => {
                    let keys: BTreeSet<&str> = one.keys().chain(other.keys()).collect();
                    let differs = |key: &&str| one.of_key(key) != other.of_key(key);
                    let keys = keys.into_iter().filter(differs);
                    changes.extend(keys.map(|key| (name.clone(), Some(key.to_owned()))));
                }
                _ => drop(changes.insert((name.clone(), None))),
            }
        }
        changes
    }

    /// Content without the ids of uploads, which are random.
    pub(crate) fn without_ids(&self) -> Self {
        let mut content = self.clone();
        for bucket in content.0.values_mut() {
            let uploads = std::mem::take(&mut bucket.uploads);
            let number =
                |(number, ((key, _), parts)): (usize, _)| ((key, number.to_string()), parts);
            bucket.uploads = uploads.into_iter().enumerate().map(number).collect();
        }
        content
    }
}

impl Bucket {
    async fn read(blobs: &dyn Blobs, keeps_versions: bool) -> Self {
        let mut bucket = Self { keeps_versions, ..Self::default() };
        let listed = blobs.list(ListBlobs::new()).await.expect("objects are listed").blobs;
        for summary in listed {
            let found = blobs.get(GetBlob::new(&summary.key)).await.expect("a listed object");
            let bytes = found.body.collect().await.expect("a whole object");
            assert_eq!((bytes.len() as u64, &found.info.etag), (summary.size, &summary.etag));
            bucket.objects.insert(summary.key, Object { info: found.info, bytes });
        }
        if let Some(versions) = blobs.versions() {
            let listed = versions.list_versions(ListVersions::new()).await;
            bucket.versions = listed.expect("versions are listed").versions;
        }
        let uploads = blobs.list_uploads(ListUploads::new()).await.expect("uploads are listed");
        for UploadSummary { key, upload, .. } in uploads.uploads {
            let parts = blobs.list_parts(ListParts::new(&key, &upload)).await;
            bucket.uploads.insert((key, upload), parts.expect("parts are listed").parts);
        }
        bucket
    }

    /// Keys and bytes of the objects.
    fn bytes(&self) -> impl Iterator<Item = (&String, &Bytes)> {
        self.objects.iter().map(|(key, object)| (key, &object.bytes))
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        let versions = self.versions.iter().map(|version| version.key.as_str());
        let uploads = self.uploads.keys().map(|(key, _)| key.as_str());
        self.objects.keys().map(String::as_str).chain(versions).chain(uploads)
    }

    /// All that a bucket has of one key.
    #[expect(clippy::type_complexity, reason = "it is only compared")]
    fn of_key(
        &self,
        key: &str,
    ) -> (Option<&Object>, Vec<&BlobVersion>, Vec<(&str, &Vec<UploadedPart>)>) {
        let versions = self.versions.iter().filter(|version| version.key == key).collect();
        let uploads = self.uploads.iter().filter(|((of, _), _)| of == key);
        let uploads = uploads.map(|((_, id), parts)| (id.as_str(), parts)).collect();
        (self.objects.get(key), versions, uploads)
    }
}
