//! Defects that generated requests have found.

use crate::plain::Plain;
use crate::signer::{Signer, sha256};
use crate::support::{Answer, BUCKET, Gateway};

/// Sends a signed request for a path and query below the bucket.
async fn send(gateway: &Gateway, method: &str, target: &str, body: &str) -> Answer {
    let url = format!("http://{}/{BUCKET}{target}", gateway.host());
    let request = Plain::new(method, &url).body(body);
    let mut signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    gateway.send(&signer.header(request, &sha256(body.as_bytes()), &[])).await
}

#[tokio::test]
async fn head_of_a_range_is_partial_content() {
    let gateway = Gateway::start().await;
    send(&gateway, "PUT", "/a", "hello").await;
    let mut signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    let head = Plain::new("HEAD", &format!("http://{}/{BUCKET}/a", gateway.host()));
    let head = signer.header(head.header("range", "bytes=1-2"), &sha256(b""), &[]);
    let answer = gateway.send(&head).await;
    assert_eq!((answer.status, answer.header("content-range")), (206, Some("bytes 1-2/5")));
}

/// `s3s` sends these errors with a code alone.
#[tokio::test]
async fn every_error_has_message_resource_and_request_id() {
    let gateway = Gateway::start().await;
    let long = format!("/{}", "k".repeat(1025));
    for (method, target, body, code) in [
        ("PUT", long.as_str(), "", "KeyTooLongError"),
        ("POST", "?delete", "<Delete>", "MalformedXML"),
        ("POST", "?delete", "", "MissingRequestBodyError"),
    ] {
        let answer = send(&gateway, method, target, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, code));
        assert!(!answer.element("Message").is_empty(), "{answer:?}");
        let path = target.split('?').next().unwrap();
        assert_eq!(answer.element("Resource"), format!("/{BUCKET}{path}"));
        assert_eq!(Some(answer.element("RequestId").as_str()), answer.header("x-amz-request-id"));
    }
}

#[tokio::test]
async fn refused_deletion_of_several_objects_deletes_none() {
    let gateway = Gateway::start().await;
    let etag = send(&gateway, "PUT", "/a", "hello").await;
    let etag = etag.header("etag").unwrap().replace('"', "");
    for refused in [
        "<Object><Key>b</Key><VersionId>null</VersionId><ETag>x</ETag></Object>",
        "<Object><Key>b</Key><Size>1</Size></Object>",
    ] {
        let first = format!("<Object><Key>a</Key><ETag>{etag}</ETag></Object>");
        let body = format!("<Delete>{first}{refused}</Delete>");
        let answer = send(&gateway, "POST", "?delete", &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (501, "NotImplemented"));
        assert_eq!(gateway.keys().await, ["a"]);
    }
}

#[tokio::test]
async fn version_that_is_no_header_is_refused() {
    let gateway = Gateway::start().await;
    gateway.buckets.enable_versions(BUCKET).await.unwrap();
    send(&gateway, "PUT", "/a", "hello").await;
    for version in ["%01", "%0D%0Ax%3A%20y", "%C3%A9", "a%20b"] {
        let answer = send(&gateway, "DELETE", &format!("/a?versionId={version}"), "").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "InvalidArgument"), "{version}");
    }
    assert_eq!(gateway.keys().await, ["a"]);
}

#[tokio::test]
async fn key_in_a_cdata_section_is_read_whole() {
    let gateway = Gateway::start().await;
    for key in ["/a", "/ab%26c"] {
        send(&gateway, "PUT", key, "hello").await;
    }
    let body = "<Delete><Object><Key>a<![CDATA[b&c]]></Key></Object></Delete>";
    assert_eq!(send(&gateway, "POST", "?delete", body).await.status, 200);
    assert_eq!(gateway.keys().await, ["a"]);
}
