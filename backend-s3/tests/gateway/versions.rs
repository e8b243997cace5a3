//! Buckets that keep versions, through the AWS SDK.

use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{
    BucketVersioningStatus, Delete, ObjectIdentifier, VersioningConfiguration,
};

use crate::signer::Signer;
use crate::support::{Answer, BUCKET, Gateway, Plain, code};

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

/// A gateway whose bucket keeps versions, with one version of the key `k` behind a delete marker.
/// Returns the ids of both, too.
async fn deleted() -> (Gateway, String, String) {
    let gateway = Gateway::start().await;
    set(&gateway, BucketVersioningStatus::Enabled).await.unwrap();
    let put = gateway.client.put_object().bucket(BUCKET).key("k");
    let put = put.body(ByteStream::from_static(b"one")).send().await.unwrap();
    let deleted = gateway.client.delete_object().bucket(BUCKET).key("k").send().await.unwrap();
    (gateway, put.version_id.unwrap(), deleted.version_id.unwrap())
}

async fn send(gateway: &Gateway, method: &str, target: &str) -> Answer {
    let mut signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    let request = Plain::new(method, &format!("http://{}/{BUCKET}/{target}", gateway.host()));
    gateway.send(&signer.header(request, "UNSIGNED-PAYLOAD", &[])).await
}

#[tokio::test]
async fn delete_marker_may_only_be_deleted() {
    let (gateway, version, marker) = deleted().await;
    let listed = gateway.client.list_object_versions().bucket(BUCKET).send().await.unwrap();
    let time = listed.delete_markers()[0].last_modified().unwrap();
    let time = time.fmt(aws_sdk_s3::primitives::DateTimeFormat::HttpDate).unwrap();
    for method in ["GET", "HEAD"] {
        let answer = send(&gateway, method, &format!("k?versionId={marker}")).await;
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.header("x-amz-delete-marker"), Some("true"));
        assert_eq!(answer.header("x-amz-version-id"), Some(marker.as_str()));
        assert_eq!(answer.header("allow"), Some("DELETE"));
        let modified = answer.header("last-modified").unwrap();
        // The list has milliseconds, the header has seconds.
        assert_eq!(modified[..25], time[..25]);
        match method {
            "GET" => {
                assert_eq!(answer.code(), "MethodNotAllowed");
                assert_eq!(answer.header("content-type"), Some("application/xml"));
            }
            _ => assert!(answer.body.is_empty()),
        }
        let behind = send(&gateway, method, "k").await;
        assert_eq!(behind.status, 404, "{method}");
        assert_eq!(behind.header("x-amz-delete-marker"), Some("true"));
        assert_eq!(behind.header("x-amz-version-id"), Some(marker.as_str()));
        assert_eq!((behind.header("allow"), behind.header("last-modified")), (None, None));
        let never = send(&gateway, method, "never").await;
        assert_eq!((never.status, never.header("x-amz-delete-marker")), (404, None));
    }
    assert_eq!(send(&gateway, "GET", "k").await.code(), "NoSuchKey");
    let copy = |version: &str| {
        let source = format!("{BUCKET}/k?versionId={version}");
        gateway.client.copy_object().bucket(BUCKET).key("copy").copy_source(source).send()
    };
    assert_eq!(code(copy(&marker).await), "InvalidRequest");
    copy(&version).await.unwrap();
    let delete = gateway.client.delete_object().bucket(BUCKET).key("k").version_id(&version);
    assert_eq!(delete.send().await.unwrap().delete_marker(), None);
    let delete = || gateway.client.delete_object().bucket(BUCKET).key("k").version_id(&marker);
    assert_eq!(delete().send().await.unwrap().delete_marker(), Some(true));
    assert_eq!(delete().send().await.unwrap().delete_marker(), None, "it is gone");
}

#[tokio::test]
async fn deletion_of_many_lists_delete_markers() {
    let (gateway, version, marker) = deleted().await;
    let object = |key: &str, version: Option<&String>| {
        let object = ObjectIdentifier::builder().key(key).set_version_id(version.cloned());
        object.build().unwrap()
    };
    let all = vec![
        object("k", Some(&version)),
        object("k", Some(&marker)),
        object("never", None),
        object("twice", None),
        object("twice", None),
    ];
    let request = Delete::builder().set_objects(Some(all)).build().unwrap();
    let output = gateway.client.delete_objects().bucket(BUCKET).delete(request);
    let output = output.send().await.unwrap();
    assert!(output.errors().is_empty(), "{output:?}");
    let [old, gone, never, first, second] = output.deleted() else { panic!("{output:?}") };
    assert_eq!((old.version_id(), old.delete_marker()), (Some(version.as_str()), None));
    assert_eq!(old.delete_marker_version_id(), None);
    assert_eq!((gone.version_id(), gone.delete_marker()), (Some(marker.as_str()), Some(true)));
    assert_eq!(gone.delete_marker_version_id(), Some(marker.as_str()));
    let listed = gateway.client.list_object_versions().bucket(BUCKET).send().await.unwrap();
    let markers: Vec<_> = listed
        .delete_markers()
        .iter()
        .map(|marker| (marker.key().unwrap(), marker.version_id().unwrap()))
        .collect();
    let created: Vec<_> = [never, second, first]
        .into_iter()
        .map(|entry| {
            assert_eq!((entry.version_id(), entry.delete_marker()), (None, Some(true)));
            (entry.key().unwrap(), entry.delete_marker_version_id().unwrap())
        })
        .collect();
    assert_eq!(markers, created);
}

#[tokio::test]
async fn bucket_without_versions_lists_its_objects() {
    let gateway = Gateway::start().await;
    let put = gateway.client.put_object().bucket(BUCKET).key("k");
    put.body(ByteStream::from_static(b"x")).send().await.unwrap();
    let list = gateway.client.list_object_versions().bucket(BUCKET).send().await.unwrap();
    assert_eq!(list.versions()[0].version_id(), Some("null"));
}
