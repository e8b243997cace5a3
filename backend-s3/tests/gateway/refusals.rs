//! Refused requests: each differs in exactly one element from one that the AWS SDK signed and the
//! gateway accepts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_s3::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_s3::config::{Intercept, RuntimeComponents};
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use aws_smithy_types::config_bag::ConfigBag;

use crate::support::{BUCKET, Gateway, Plain};

/// Change of one element, S3's code for it.
type Case = (&'static str, fn(Plain) -> Plain, &'static str);

/// Flips the lowest bit of the last digit of the signature.
fn flip(text: &str, marker: &str) -> String {
    let position = text.find(marker).expect("a signature") + marker.len() + 63;
    let mut bytes = text.as_bytes().to_vec();
    // Digits stay digits: 0 and 1, 2 and 3, a and b after the flip of the lowest bit of its value.
    let digit = char::from(bytes[position]).to_digit(16).unwrap() ^ 1;
    bytes[position] = char::from_digit(digit, 16).unwrap() as u8;
    String::from_utf8(bytes).unwrap()
}

fn set(mut plain: Plain, name: &str, change: impl FnOnce(&str) -> String) -> Plain {
    let header = plain.headers.iter_mut().find(|(given, _)| given == name);
    let (_, value) = header.unwrap_or_else(|| panic!("no header {name}"));
    *value = change(value);
    plain
}

fn method(plain: Plain, name: &str) -> Plain {
    Plain { method: name.to_owned(), ..plain }
}

const BOTH: &[Case] = &[
    ("method POST", |plain| method(plain, "POST"), "SignatureDoesNotMatch"),
    ("method DELETE", |plain| method(plain, "DELETE"), "SignatureDoesNotMatch"),
    (
        "host",
        |plain| set(plain, "host", |host| host.replace("127.0.0.1", "localhost")),
        "SignatureDoesNotMatch",
    ),
    ("key", |plain| plain.replace("/default/k", "/default/other"), "SignatureDoesNotMatch"),
    ("bucket", |plain| plain.replace("/default/k", "/second/k"), "SignatureDoesNotMatch"),
    ("type", |plain| set(plain, "content-type", |_| "text/html".into()), "SignatureDoesNotMatch"),
    ("type missing", |plain| plain.without("content-type"), "SignatureDoesNotMatch"),
    ("length", |plain| plain.body("hello!"), "SignatureDoesNotMatch"),
    ("header", |plain| set(plain, "x-amz-meta-a", |_| "c".into()), "SignatureDoesNotMatch"),
    ("header missing", |plain| plain.without("x-amz-meta-a"), "SignatureDoesNotMatch"),
    ("header added: acl", |plain| plain.header("x-amz-acl", "public-read"), "AccessDenied"),
    ("header added: metadata", |plain| plain.header("x-amz-meta-b", "c"), "AccessDenied"),
    (
        "header added: copy",
        |plain| plain.header("x-amz-copy-source", "default/secret"),
        "AccessDenied",
    ),
    (
        "parameter added: version",
        |plain| plain.replace("?", "?versionId=1&"),
        "SignatureDoesNotMatch",
    ),
    ("parameter added: tagging", |plain| plain.replace("?", "?tagging&"), "SignatureDoesNotMatch"),
    (
        "parameter added: part",
        |plain| plain.replace("?", "?partNumber=1&uploadId=x&"),
        "SignatureDoesNotMatch",
    ),
];

const IN_QUERY: &[Case] = &[
    ("expiry", |plain| plain.replace("Expires=60", "Expires=3600"), "SignatureDoesNotMatch"),
    (
        "expiry over 7 days",
        |plain| plain.replace("Expires=60", "Expires=604801"),
        "AuthorizationQueryParametersError",
    ),
    (
        "expiry 0",
        |plain| plain.replace("Expires=60", "Expires=0"),
        "AuthorizationQueryParametersError",
    ),
    (
        "expiry missing",
        |plain| plain.replace("X-Amz-Expires=60", "a=b"),
        "AuthorizationQueryParametersError",
    ),
    (
        "key id",
        |plain| plain.replace("X-Amz-Credential=TABLA", "X-Amz-Credential=TABLB"),
        "InvalidAccessKeyId",
    ),
    ("region", |plain| plain.replace("eu-central-1", "eu-central-2"), "SignatureDoesNotMatch"),
    ("service", |plain| plain.replace("%2Fs3%2F", "%2Fs4%2F"), "AuthorizationQueryParametersError"),
    (
        "one bit of the signature",
        |plain| Plain { target: flip(&plain.target, "X-Amz-Signature="), ..plain },
        "SignatureDoesNotMatch",
    ),
    ("host not signed", |plain| plain.replace("%3Bhost", ""), "AccessDenied"),
    (
        "second signature",
        |plain| plain.header("authorization", "AWS4-HMAC-SHA256 x"),
        "InvalidArgument",
    ),
];

const IN_HEADER: &[Case] = &[
    (
        "key id",
        |plain| {
            set(plain, "authorization", |text| text.replace("Credential=TABLA", "Credential=TABLB"))
        },
        "InvalidAccessKeyId",
    ),
    (
        "region",
        |plain| set(plain, "authorization", |text| text.replace("eu-central-1", "eu-central-2")),
        "SignatureDoesNotMatch",
    ),
    (
        "service",
        |plain| set(plain, "authorization", |text| text.replace("/s3/", "/sts/")),
        "AuthorizationHeaderMalformed",
    ),
    (
        "one bit of the signature",
        |plain| set(plain, "authorization", |text| flip(text, "Signature=")),
        "SignatureDoesNotMatch",
    ),
    (
        "host not signed",
        |plain| set(plain, "authorization", |text| text.replace(";host", "")),
        "AccessDenied",
    ),
    ("no signature", |plain| plain.without("authorization"), "AccessDenied"),
    ("version 2", |plain| set(plain, "authorization", |_| "AWS a:b".into()), "InvalidRequest"),
    ("payload", |plain| Plain { body: b"hellO".to_vec(), ..plain }, "XAmzContentSHA256Mismatch"),
    (
        "payload not signed",
        |plain| set(plain, "x-amz-content-sha256", |_| "UNSIGNED-PAYLOAD".into()),
        "SignatureDoesNotMatch",
    ),
    ("second signature", |plain| plain.replace("?", "?X-Amz-Signature=x&"), "InvalidArgument"),
];

/// Sends each changed request, which must be refused and write nothing, and then the unchanged one.
async fn check(gateway: &Gateway, valid: &Plain, cases: &[Case]) {
    for (name, change, expected) in cases {
        let answer = gateway.send(&change(valid.clone())).await;
        assert_eq!(answer.code(), *expected, "{name}: {}", answer.text());
        assert!(gateway.keys().await.is_empty(), "{name}");
        let delete = gateway.client.delete_object().bucket(BUCKET).key("k");
        delete.send().await.unwrap();
        let accepted = gateway.send(valid).await;
        assert_eq!(accepted.status, 200, "{name}: {}", accepted.text());
        gateway.client.delete_object().bucket(BUCKET).key("k").send().await.unwrap();
    }
}

/// The request of the SDK, presigned.
async fn presigned(gateway: &Gateway) -> Plain {
    let put = gateway.client.put_object().bucket(BUCKET).key("k").content_type("text/plain");
    let put = put.metadata("a", "b").content_length(5);
    let expiry = PresigningConfig::expires_in(Duration::from_secs(60)).unwrap();
    Plain::from(put.presigned(expiry).await.unwrap()).body("hello")
}

/// Keeps the request that the SDK sends.
#[derive(Debug, Default)]
struct Recorder(Mutex<Option<Plain>>);

#[derive(Debug, Clone)]
struct Record(Arc<Recorder>);

impl Intercept for Record {
    fn name(&self) -> &'static str {
        "record"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), aws_sdk_s3::error::BoxError> {
        let request = context.request();
        let mut plain = Plain::new(request.method(), request.uri());
        for (name, value) in request.headers() {
            plain = plain.header(name, value);
        }
        plain.body = request.body().bytes().expect("a body in memory").to_vec();
        *self.0.0.lock().unwrap() = Some(plain);
        Ok(())
    }
}

/// The request of the SDK, with its signature in the header. The gateway has accepted it.
async fn in_header(gateway: &Gateway) -> Plain {
    let recorder = Arc::new(Recorder::default());
    let put = gateway.client.put_object().bucket(BUCKET).key("k").content_type("text/plain");
    let put = put.metadata("a", "b").body(ByteStream::from_static(b"hello"));
    put.customize().interceptor(Record(Arc::clone(&recorder))).send().await.unwrap();
    gateway.client.delete_object().bucket(BUCKET).key("k").send().await.unwrap();
    let recorded = recorder.0.lock().unwrap().take();
    recorded.expect("a request")
}

#[tokio::test]
async fn changed_presigned_request_is_refused() {
    let gateway = Gateway::start().await;
    let valid = presigned(&gateway).await;
    check(&gateway, &valid, BOTH).await;
    check(&gateway, &valid, IN_QUERY).await;
}

#[tokio::test]
async fn changed_request_with_a_header_is_refused() {
    let gateway = Gateway::start().await;
    let valid = in_header(&gateway).await;
    check(&gateway, &valid, BOTH).await;
    check(&gateway, &valid, IN_HEADER).await;
}

#[tokio::test]
async fn clock_decides_on_requests() {
    let gateway = Gateway::start().await;
    let url = presigned(&gateway).await;
    let header = in_header(&gateway).await;
    gateway.clock.advance(Duration::from_secs(120));
    let expired = gateway.send(&url).await;
    assert_eq!((expired.status, expired.code().as_str()), (403, "AccessDenied"));
    assert_eq!(expired.element("Message"), "Request has expired");
    assert!(!expired.element("Expires").is_empty() && !expired.element("ServerTime").is_empty());
    assert_eq!(gateway.send(&header).await.status, 200, "15 minutes of skew are allowed");
    gateway.client.delete_object().bucket(BUCKET).key("k").send().await.unwrap();
    gateway.clock.advance(Duration::from_secs(14 * 60));
    let skewed = gateway.send(&header).await;
    assert_eq!((skewed.status, skewed.code().as_str()), (403, "RequestTimeTooSkewed"));
    assert_eq!(skewed.element("MaxAllowedSkewMilliseconds"), "900000");
    gateway.clock.step_back(Duration::from_secs(32 * 60));
    let early = gateway.send(&url).await;
    assert_eq!(early.element("Message"), "Request is not valid yet");
    assert_eq!(gateway.send(&header).await.code(), "RequestTimeTooSkewed");
    gateway.clock.advance(Duration::from_secs(16 * 60));
    assert!(gateway.keys().await.is_empty());
    assert_eq!(gateway.send(&url).await.status, 200);
}

#[tokio::test]
async fn keys_of_another_gateway_are_refused() {
    let gateway = Gateway::start().await;
    let secret = "x".repeat(40);
    let own = gateway.buckets.signing_key().id().to_owned();
    let put = async |id: &str, secret: &str| {
        let client = crate::support::client(&gateway.server.url(), id, secret);
        let put = client.put_object().bucket(BUCKET).key("k").body(ByteStream::from_static(b"x"));
        crate::support::code(put.send().await)
    };
    assert_eq!(put("OTHER", &secret).await, "InvalidAccessKeyId");
    assert_eq!(put(&own, &secret).await, "SignatureDoesNotMatch");
    assert!(gateway.keys().await.is_empty());
}
