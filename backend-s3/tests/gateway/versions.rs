//! Buckets that keep versions, through the AWS SDK.

use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{
    BucketVersioningStatus, Delete, ObjectIdentifier, VersioningConfiguration,
};

use crate::support::{BUCKET, Gateway, code};

async fn set(gateway: &Gateway, status: BucketVersioningStatus) -> Result<(), String> {
    let configuration = VersioningConfiguration::builder().status(status).build();
    let put = gateway.client.put_bucket_versioning().bucket(BUCKET);
    match put.versioning_configuration(configuration).send().await {
        Ok(_) => Ok(()),
        refused => Err(code(refused)),
    }
}

#[tokio::test]
async fn versions_are_written_read_listed_and_deleted() {
    let gateway = Gateway::start().await;
    let client = &gateway.client;
    let status = client.get_bucket_versioning().bucket(BUCKET).send().await.unwrap();
    assert_eq!(status.status(), None);
    set(&gateway, BucketVersioningStatus::Enabled).await.unwrap();
    let status = client.get_bucket_versioning().bucket(BUCKET).send().await.unwrap();
    assert_eq!(status.status(), Some(&BucketVersioningStatus::Enabled));
    let suspended = set(&gateway, BucketVersioningStatus::Suspended).await;
    assert_eq!(suspended, Err("NotImplemented".to_owned()));
    let mut versions = Vec::new();
    for text in ["one", "two"] {
        let put = client.put_object().bucket(BUCKET).key("k");
        let put = put.body(ByteStream::from_static(text.as_bytes())).send().await.unwrap();
        versions.push(put.version_id.unwrap());
    }
    let deleted = client.delete_object().bucket(BUCKET).key("k").send().await.unwrap();
    assert_eq!(deleted.delete_marker(), Some(true));
    let marker = deleted.version_id.unwrap();
    assert_eq!(code(client.get_object().bucket(BUCKET).key("k").send().await), "NoSuchKey");
    let get = client.get_object().bucket(BUCKET).key("k").version_id(&versions[0]);
    let get = get.send().await.unwrap();
    assert_eq!(get.version_id(), Some(versions[0].as_str()));
    assert_eq!(get.body.collect().await.unwrap().to_vec(), b"one");
    let head = client.head_object().bucket(BUCKET).key("k").version_id(&versions[1]);
    assert_eq!(head.send().await.unwrap().content_length(), Some(3));
    let list = client.list_object_versions().bucket(BUCKET).send().await.unwrap();
    let listed: Vec<_> = list.versions().iter().map(|one| one.version_id().unwrap()).collect();
    assert_eq!(listed, [&versions[1], &versions[0]]);
    assert_eq!(list.delete_markers()[0].version_id(), Some(marker.as_str()));
    assert_eq!(list.delete_markers()[0].is_latest(), Some(true));
    let source = format!("{BUCKET}/k?versionId={}", versions[0]);
    let copy = client.copy_object().bucket(BUCKET).key("old").copy_source(source);
    copy.send().await.unwrap();
    let old = client.get_object().bucket(BUCKET).key("old").send().await.unwrap();
    assert_eq!(old.body.collect().await.unwrap().to_vec(), b"one");
    let both = [&marker, &versions[1]]
        .map(|version| ObjectIdentifier::builder().key("k").version_id(version).build().unwrap());
    let delete = Delete::builder().set_objects(Some(both.to_vec())).build().unwrap();
    client.delete_objects().bucket(BUCKET).delete(delete).send().await.unwrap();
    let current = client.get_object().bucket(BUCKET).key("k").send().await.unwrap();
    assert_eq!(current.body.collect().await.unwrap().to_vec(), b"one");
    let other = client.get_object().bucket(BUCKET).key("k").version_id(&marker).send().await;
    assert_eq!(code(other), "NoSuchVersion");
}

#[tokio::test]
async fn bucket_without_versions_lists_its_objects() {
    let gateway = Gateway::start().await;
    let put = gateway.client.put_object().bucket(BUCKET).key("k");
    put.body(ByteStream::from_static(b"x")).send().await.unwrap();
    let list = gateway.client.list_object_versions().bucket(BUCKET).send().await.unwrap();
    assert_eq!(list.versions()[0].version_id(), Some("null"));
}
