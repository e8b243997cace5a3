//! Presigned URLs, of the AWS SDK and of the buckets, used by plain HTTP.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_s3::presigning::PresigningConfig;
use tabla_core::blobs::{
    BlobHeaders, Blobs, Checksum, ChecksumAlgorithm, PresignGet, PresignPut, PresignedRequest,
};
use tabla_core::env::Env;
use tabla_s3::{Buckets, MemoryBuckets};

use crate::signer::{Signer, sha256};
use crate::support::{BUCKET, Gateway, Plain};

const MINUTE: Duration = Duration::from_secs(60);

fn expiry() -> PresigningConfig {
    PresigningConfig::expires_in(MINUTE).unwrap()
}

fn plain(request: &PresignedRequest) -> Plain {
    let mut plain = Plain::new(request.method, &request.url);
    for (name, value) in &request.headers {
        plain = plain.header(name, value);
    }
    plain
}

/// A gateway, and its bucket as it signs URLs for that gateway.
async fn with_public() -> (Gateway, Arc<dyn Blobs>) {
    let buckets = MemoryBuckets::with_env(Env::system());
    let gateway = Gateway::with(|config| config, Some(Arc::new(buckets.clone()))).await;
    let public = buckets.with_public(gateway.server.url());
    let blobs = public.open_bucket(BUCKET).await.unwrap();
    (gateway, blobs)
}

#[tokio::test]
async fn urls_of_the_sdk_upload_and_download() {
    let gateway = Gateway::start().await;
    let put = gateway.client.put_object().bucket(BUCKET).key("a b/ü+").content_type("text/plain");
    let put = Plain::from(put.metadata("x", "1").presigned(expiry()).await.unwrap());
    let answer = gateway.send(&put.body("hello")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let get = gateway.client.get_object().bucket(BUCKET).key("a b/ü+");
    let get = get.response_content_type("text/csv").response_content_disposition("inline; a=\"b\"");
    let get = Plain::from(get.presigned(expiry()).await.unwrap());
    let answer = gateway.send(&get).await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "hello"));
    assert_eq!(answer.header("content-type"), Some("text/csv"));
    assert_eq!(answer.header("content-disposition"), Some("inline; a=\"b\""));
    assert_eq!(answer.header("x-amz-meta-x"), Some("1"));
    assert!(answer.header("x-amz-request-id").is_some());
    let part = gateway.send(&get.clone().header("range", "bytes=1-2")).await;
    assert_eq!((part.status, part.text().as_str()), (206, "el"));
    let etag = answer.header("etag").unwrap();
    let same = gateway.send(&get.clone().header("if-none-match", etag)).await;
    assert_eq!((same.status, same.body.len(), same.header("etag")), (304, 0, Some(etag)));
    let head = gateway.client.head_object().bucket(BUCKET).key("a b/ü+");
    let head = Plain::from(head.presigned(expiry()).await.unwrap());
    let answer = gateway.send(&head).await;
    assert_eq!((answer.status, answer.header("content-length")), (200, Some("5")));
    let delete = gateway.client.delete_object().bucket(BUCKET).key("a b/ü+");
    let delete = Plain::from(delete.presigned(expiry()).await.unwrap());
    assert_eq!(gateway.send(&delete).await.status, 204);
    assert_eq!(gateway.send(&get).await.code(), "NoSuchKey");
}

#[tokio::test]
async fn urls_of_the_bucket_upload_and_download() {
    let (gateway, blobs) = with_public().await;
    let presign = blobs.presign().unwrap();
    let put = PresignPut::new("k/ü", MINUTE)
        .content_type("text/plain")
        .length(Some(5))
        .checksum(Some(Checksum::of(ChecksumAlgorithm::Crc32c, b"hello")))
        .if_absent();
    let put = plain(&presign.presign_put(put).await.unwrap());
    // The same length and signature, another content.
    let wrong = Plain { body: b"hellO".to_vec(), ..put.clone() };
    assert_eq!(gateway.send(&wrong).await.code(), "BadDigest");
    let long = put.clone().body("hello!");
    assert_eq!(gateway.send(&long).await.code(), "SignatureDoesNotMatch");
    assert!(gateway.keys().await.is_empty());
    assert_eq!(gateway.send(&put.clone().body("hello")).await.status, 200);
    assert_eq!(gateway.send(&put.body("hello")).await.code(), "PreconditionFailed");
    let headers = BlobHeaders::of_type("text/html");
    let get = PresignGet::new("k/ü", MINUTE).response_headers(headers);
    let get = plain(&presign.presign_get(get).await.unwrap());
    let answer = gateway.send(&get).await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "hello"));
    assert_eq!(answer.header("content-type"), Some("text/html"));
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn url_of_a_version_downloads_that_version() {
    let (gateway, blobs) = with_public().await;
    gateway.buckets.enable_versions(BUCKET).await.unwrap();
    let one = blobs.put(tabla_core::blobs::PutBlob::new("k", "one")).await.unwrap();
    blobs.put(tabla_core::blobs::PutBlob::new("k", "two")).await.unwrap();
    let get = PresignGet::new("k", MINUTE).version(one.version);
    let get = plain(&blobs.presign().unwrap().presign_get(get).await.unwrap());
    assert_eq!(gateway.send(&get).await.text(), "one");
}

#[tokio::test]
async fn headers_that_are_signed_in_the_query_are_honored() {
    let gateway = Gateway::start().await;
    let signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    let url = |query: &str| format!("http://{}/{BUCKET}/k?{query}", gateway.host());
    let signed = |query: &str| signer.query(Plain::new("PUT", &url(query)), "60", &["host"]);
    // As the presigner of the JavaScript SDK does it.
    let put = signed(
        "X-Amz-Content-Sha256=UNSIGNED-PAYLOAD&x-amz-checksum-crc32c=mnG7TA%3D%3D&x-amz-meta-a=b%20c",
    );
    assert_eq!(gateway.send(&put.clone().body("hellO")).await.code(), "BadDigest");
    let answer = gateway.send(&put.body("hello")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let head = gateway.client.head_object().bucket(BUCKET).key("k").send().await.unwrap();
    assert_eq!(head.metadata().unwrap()["a"], "b c");
    let acl = signed("x-amz-acl=public-read").body("hello");
    assert_eq!(gateway.send(&acl).await.code(), "NotImplemented");
    let other = signed("x-amz-meta-a=b").header("x-amz-meta-a", "c").body("hello");
    assert_eq!(gateway.send(&other).await.code(), "AccessDenied");
}

#[tokio::test]
async fn signatures_that_s3s_accepts_and_s3_refuses() {
    let gateway = Gateway::start().await;
    let signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    let put = || {
        let plain = Plain::new("PUT", &format!("http://{}/{BUCKET}/k", gateway.host()));
        plain.body("hello")
    };
    for (expiry, names, expected) in [
        ("604801", &["host"][..], "AuthorizationQueryParametersError"),
        ("0", &["host"], "AuthorizationQueryParametersError"),
        ("-1", &["host"], "AuthorizationQueryParametersError"),
        ("60", &["content-length"], "AccessDenied"),
        ("60", &["host", "x-amz-meta-missing"], "SignatureDoesNotMatch"),
    ] {
        let request = signer.query(put(), expiry, names);
        assert_eq!(gateway.send(&request).await.code(), expected, "{expiry} {names:?}");
    }
    let mut signer = signer;
    let payload = sha256(b"hello");
    let unsigned = signer.header(put().header("x-amz-meta-a", "b"), &payload, &["x-amz-meta-a"]);
    let answer = gateway.send(&unsigned).await;
    assert_eq!(answer.code(), "AccessDenied");
    assert_eq!(answer.element("HeadersNotSigned"), "x-amz-meta-a");
    let host = signer.header(put(), &payload, &["host"]);
    assert_eq!(gateway.send(&host).await.element("HeadersNotSigned"), "host");
    let anonymous = gateway.send(&put()).await;
    assert_eq!((anonymous.status, anonymous.code().as_str()), (403, "AccessDenied"));
    let form = Plain::new("POST", &format!("http://{}/{BUCKET}", gateway.host()));
    let form = form.header("content-type", "multipart/form-data; boundary=x").body("--x--");
    assert_eq!(gateway.send(&form).await.code(), "NotImplemented");
    assert!(gateway.keys().await.is_empty());
    let valid = signer.query(put(), "604800", &["host"]);
    assert_eq!(gateway.send(&valid).await.status, 200);
}
