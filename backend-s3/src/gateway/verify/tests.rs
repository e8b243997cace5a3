use std::time::Duration;

use http::Request;
use tabla_core::blobs::{PresignGet, PresignPut, PresignedRequest};
use tabla_core::env::{Env, ManualClock};

use super::super::query;
use super::*;
use crate::{SigningKey, UrlSigner};

/// 2013-05-24T00:00:00Z
const NOW: u64 = 1_369_353_600;

fn key() -> SigningKey {
    SigningKey::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
}

fn signer() -> UrlSigner {
    let env = Env::test(ManualClock::new(Timestamp::from_secs(NOW)), 1);
    UrlSigner::new(key(), "bucket", Some("http://127.0.0.1:9000"), env).unwrap()
}

/// Head of a presigned request.
fn head(request: &PresignedRequest) -> Parts {
    let target = request.url.strip_prefix("http://127.0.0.1:9000").unwrap();
    let mut head = Request::builder().method(request.method).uri(target);
    head = head.header("host", "127.0.0.1:9000");
    for (name, value) in &request.headers {
        head = head.header(name, value);
    }
    head.body(()).unwrap().into_parts().0
}

/// Head of a request that is signed in its header.
fn signed_head(payload: &str, extra: &[(&str, &str)], credential: &str, time: &str) -> Parts {
    let mut head = Request::put("/bucket/key%20a?partNumber=1&uploadId=x%2By")
        .header("host", "127.0.0.1:9000")
        .header("x-amz-content-sha256", payload)
        .header("x-amz-date", time);
    for (name, value) in extra {
        head = head.header(*name, *value);
    }
    let (mut head, ()) = head.body(()).unwrap().into_parts();
    let mut names: Vec<String> = head.headers.keys().map(|name| name.as_str().to_owned()).collect();
    names.sort();
    let scope = Scope::parse(credential).unwrap();
    let cows: Vec<_> = names.iter().map(|name| name.as_str().into()).collect();
    let query = Query::parse(head.uri.query().unwrap()).unwrap().canonical(None);
    let path = query::decode_path(head.uri.path()).unwrap();
    let requests = canonical::requests(&head, &path, &query, &cows, payload);
    let time = time::SigningTime::parse(time).unwrap();
    let text = canonical::string_to_sign(&time, &scope, &requests[0]);
    let signature = DerivedKey::derive(key().secret(), &scope).sign(&text);
    let text = format!(
        "AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={}, Signature={signature}",
        names.join(";")
    );
    head.headers.insert("authorization", text.parse().unwrap());
    head
}

const CREDENTIAL: &str = "AKIDEXAMPLE/20130524/eu-central-1/s3/aws4_request";
const TIME: &str = "20130524T000000Z";

fn check_at(head: &Parts, now: u64) -> Result<Verified, Refusal> {
    let path = query::decode_path(head.uri.path())?;
    let query = Query::parse(head.uri.query().unwrap_or_default())?;
    verify(&Keys::new(key(), None), head, &path, &query, Timestamp::from_secs(now))
}

/// Code of the refusal, or `accepted`.
fn code(head: &Parts) -> &'static str {
    check_at(head, NOW).map_or_else(|refusal| refusal.code(), |_| "accepted")
}

fn get(expiry: u64) -> Parts {
    let request = PresignGet::new("a/b c+é", Duration::from_secs(expiry));
    head(&signer().get(&request).unwrap())
}

/// The same request with another query.
fn with_query(mut head: Parts, change: impl Fn(String) -> String) -> Parts {
    let query = change(head.uri.query().unwrap().to_owned());
    head.uri = format!("{}?{query}", head.uri.path()).parse().unwrap();
    head
}

#[test]
fn presigned_urls_of_the_signer_are_accepted() {
    let verified = check_at(&get(60), NOW).unwrap();
    assert!(verified.is_presigned && matches!(verified.payload, Payload::Unsigned));
    assert_eq!(code(&get(604_800)), "accepted");
    let put = PresignPut::new("k", Duration::from_secs(60)).content_type("text/plain").if_absent();
    let put = signer().put(&put.length(Some(3))).unwrap();
    assert_eq!(code(&head(&put)), "accepted");
}

#[test]
fn changed_presigned_url_is_refused() {
    let replace = |from: &'static str, to: &'static str| {
        with_query(get(60), |query| {
            assert!(query.contains(from), "{query}");
            query.replace(from, to)
        })
    };
    for (changed, expected) in [
        (replace("X-Amz-Expires=60", "X-Amz-Expires=61"), "SignatureDoesNotMatch"),
        (replace("X-Amz-Expires=60", "X-Amz-Expires=604801"), "AuthorizationQueryParametersError"),
        (replace("X-Amz-Expires=60", "X-Amz-Expires=0"), "AuthorizationQueryParametersError"),
        (replace("X-Amz-Expires=60&", ""), "AuthorizationQueryParametersError"),
        (replace("X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders="), "AccessDenied"),
        (replace("X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders=date"), "AccessDenied"),
        (replace("SignedHeaders=host", "SignedHeaders=date%3Bhost"), "SignatureDoesNotMatch"),
        (replace("AKIDEXAMPLE", "AKIDEXAMPLF"), "InvalidAccessKeyId"),
        (replace("%2Fs3%2F", "%2Fsts%2F"), "AuthorizationQueryParametersError"),
        (replace("us-east-1", "us-east-2"), "SignatureDoesNotMatch"),
        (replace("HMAC-SHA256", "HMAC-SHA1"), "AuthorizationQueryParametersError"),
        (replace("20130524T", "20130525T"), "AuthorizationQueryParametersError"),
        (replace("X-Amz-Algorithm=", "versionId=1&X-Amz-Algorithm="), "SignatureDoesNotMatch"),
        (replace("X-Amz-Algorithm=", "uploads&X-Amz-Algorithm="), "SignatureDoesNotMatch"),
        (replace("X-Amz-Algorithm=", "X-Amz-Expires=60&X-Amz-Algorithm="), "InvalidArgument"),
        (replace("X-Amz-Algorithm=", "Signature=x&X-Amz-Algorithm="), "InvalidArgument"),
        (replace("X-Amz-Signature=", "x-amz-signature="), "AuthorizationQueryParametersError"),
    ] {
        assert_eq!(code(&changed), expected, "{}", changed.uri);
    }
}

#[test]
fn every_bit_of_the_signature_counts() {
    let signature = |query: &str| query.rsplit_once('=').unwrap().1.to_owned();
    let valid = signature(get(60).uri.query().unwrap());
    for position in 0..valid.len() {
        let changed = with_query(get(60), |query| {
            let mut signature = signature(&query).into_bytes();
            signature[position] = if signature[position] == b'0' { b'1' } else { b'0' };
            query.replace(&valid, std::str::from_utf8(&signature).unwrap())
        });
        assert_eq!(code(&changed), "SignatureDoesNotMatch", "{position}");
    }
    for other in ["", &valid[1..], &valid.to_uppercase(), &format!("{valid}0")] {
        let changed = with_query(get(60), |query| query.replace(&valid, other));
        assert_ne!(code(&changed), "accepted", "{other}");
    }
}

#[test]
fn changed_method_path_host_and_headers_are_refused() {
    let mut method = get(60);
    method.method = http::Method::DELETE;
    assert_eq!(code(&method), "SignatureDoesNotMatch");
    let mut host = get(60);
    host.headers.insert("host", "127.0.0.1:9001".parse().unwrap());
    assert_eq!(code(&host), "SignatureDoesNotMatch");
    let mut path = get(60);
    path.uri = path.uri.to_string().replace("/bucket/a", "/bucket/b").parse().unwrap();
    assert_eq!(code(&path), "SignatureDoesNotMatch");
    for (name, value, expected) in [
        ("x-amz-copy-source", "bucket/secret", "AccessDenied"),
        ("x-amz-meta-a", "b", "AccessDenied"),
        ("x-amz-date", TIME, "AccessDenied"),
        ("authorization", "AWS4-HMAC-SHA256 x", "InvalidArgument"),
        ("range", "bytes=0-1", "accepted"),
        ("x-amzn-trace-id", "x", "accepted"),
        // It is the last line of the canonical request, whether it is signed as a header or not.
        ("x-amz-content-sha256", "UNSIGNED-PAYLOAD", "accepted"),
        ("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "SignatureDoesNotMatch"),
    ] {
        let mut changed = get(60);
        changed.headers.insert(name, value.parse().unwrap());
        assert_eq!(code(&changed), expected, "{name}");
    }
    let unsigned = check_at(
        &{
            let mut changed = get(60);
            changed.headers.insert("x-amz-tagging", "a=b".parse().unwrap());
            changed.headers.insert("x-amz-acl", "public-read".parse().unwrap());
            changed
        },
        NOW,
    );
    let refusal = unsigned.unwrap_err();
    assert_eq!(refusal.detail_of("HeadersNotSigned"), Some("x-amz-acl, x-amz-tagging"));
}

#[test]
fn presigned_headers_are_bound() {
    let put = PresignPut::new("k", Duration::from_secs(60)).content_type("text/plain");
    let put = signer().put(&put.length(Some(3))).unwrap();
    for (name, value) in [("content-type", "text/html"), ("content-length", "4")] {
        let mut changed = head(&put);
        changed.headers.insert(name, value.parse().unwrap());
        assert_eq!(code(&changed), "SignatureDoesNotMatch", "{name}");
        changed.headers.remove(name);
        assert_eq!(code(&changed), "SignatureDoesNotMatch", "{name}");
    }
}

#[test]
fn presigned_url_follows_the_injected_clock() {
    let at = |now| check_at(&get(60), now).map_or_else(|refusal| refusal.code(), |_| "accepted");
    assert_eq!(at(NOW + 60), "accepted");
    assert_eq!(at(NOW + 61), "AccessDenied");
    assert_eq!(at(NOW - 900), "accepted");
    assert_eq!(at(NOW - 901), "AccessDenied");
}

#[test]
fn signature_in_the_header_is_verified() {
    let empty = hash(b"");
    for payload in [&empty, "UNSIGNED-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"] {
        let head = signed_head(payload, &[("x-amz-meta-a", "  b   c ")], CREDENTIAL, TIME);
        assert_eq!(code(&head), "accepted", "{payload}");
        let skewed = |now| check_at(&head, now).map_err(|refusal| refusal.code()).is_ok();
        assert!(skewed(NOW + 900) && skewed(NOW - 900));
        assert_eq!(check_at(&head, NOW + 901).unwrap_err().code(), "RequestTimeTooSkewed");
        assert_eq!(check_at(&head, NOW - 901).unwrap_err().code(), "RequestTimeTooSkewed");
    }
    for (payload, expected) in [
        ("hash", "InvalidArgument"),
        (&empty[1..], "InvalidArgument"),
        ("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", "NotImplemented"),
    ] {
        assert_eq!(code(&signed_head(payload, &[], CREDENTIAL, TIME)), expected);
    }
    for (credential, expected) in [
        ("AKIDEXAMPLE/20130524/us-east-1/sts/aws4_request", "AuthorizationHeaderMalformed"),
        ("AKIDEXAMPLE/20130525/us-east-1/s3/aws4_request", "AuthorizationHeaderMalformed"),
        ("OTHER/20130524/us-east-1/s3/aws4_request", "InvalidAccessKeyId"),
    ] {
        assert_eq!(code(&signed_head(&empty, &[], credential, TIME)), expected);
    }
    let token = [("x-amz-security-token", "x")];
    assert_eq!(code(&signed_head(&empty, &token, CREDENTIAL, TIME)), "InvalidToken");
}

#[test]
fn changed_request_with_a_header_is_refused() {
    let valid = || signed_head("UNSIGNED-PAYLOAD", &[("content-length", "3")], CREDENTIAL, TIME);
    assert_eq!(code(&valid()), "accepted");
    for (name, value, expected) in [
        ("content-length", "4", "SignatureDoesNotMatch"),
        ("host", "other", "SignatureDoesNotMatch"),
        ("x-amz-date", "20130524T000001Z", "SignatureDoesNotMatch"),
        ("x-amz-date", "yesterday", "AccessDenied"),
        ("x-amz-content-sha256", &hash(b""), "SignatureDoesNotMatch"),
        ("x-amz-acl", "private", "AccessDenied"),
        ("authorization", "AWS AKIDEXAMPLE:signature", "InvalidRequest"),
        ("authorization", "Basic dXNlcjpwYXNz", "InvalidArgument"),
        ("authorization", "AWS4-HMAC-SHA256 Credential=x", "AuthorizationHeaderMalformed"),
    ] {
        let mut changed = valid();
        changed.headers.insert(name, value.parse().unwrap());
        assert_eq!(code(&changed), expected, "{name}: {value}");
    }
    for (name, expected) in [
        ("authorization", "AccessDenied"),
        ("content-length", "SignatureDoesNotMatch"),
        ("x-amz-date", "AccessDenied"),
        ("x-amz-content-sha256", "InvalidRequest"),
    ] {
        let mut changed = valid();
        changed.headers.remove(name);
        assert_eq!(code(&changed), expected, "{name}");
    }
    let mut twice = valid();
    let header = twice.headers["authorization"].clone();
    twice.headers.append("authorization", header);
    assert_eq!(code(&twice), "InvalidArgument");
    for query in ["partNumber=2&uploadId=x%2By", "uploadId=x+y&partNumber=1", "uploadId=x%2By"] {
        assert_eq!(code(&with_query(valid(), |_| query.to_owned())), "SignatureDoesNotMatch");
    }
    // Another order and another spelling are the same request.
    let same = with_query(valid(), |_| "uploadId=%78%2by&partNumber=1".to_owned());
    assert_eq!(code(&same), "accepted");
}

#[test]
fn version_2_and_two_signatures_are_refused() {
    let request =
        |uri: &str| Request::get(uri).header("host", "h").body(()).unwrap().into_parts().0;
    assert_eq!(code(&request("/bucket/key")), "AccessDenied");
    let version_2 = request("/bucket/key?AWSAccessKeyId=a&Expires=9999999999&Signature=b");
    assert_eq!(code(&version_2), "InvalidRequest");
    assert_eq!(code(&request("/bucket/key?AWSAccessKeyId=a")), "InvalidRequest");
}

#[test]
fn refusal_shows_what_was_to_be_signed() {
    let changed = with_query(get(60), |query| query.replace("us-east-1", "us-east-2"));
    let refusal = check_at(&changed, NOW).unwrap_err();
    let canonical = refusal.detail_of("CanonicalRequest").unwrap();
    assert!(
        canonical.starts_with("GET\n/bucket/a/b%20c%2B%C3%A9\nX-Amz-Algorithm="),
        "{canonical}"
    );
    assert!(refusal.detail_of("StringToSign").unwrap().starts_with("AWS4-HMAC-SHA256\n20130524T"));
    assert!(!format!("{refusal:?}").contains(key().secret()));
}

/// Signer of the examples in the S3 API reference, "Signature Calculations for the Authorization
/// Header: Transferring Payload in Multiple Chunks".
fn example_signer(seed: &str) -> ChunkSigner {
    let scope = Scope::parse("AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request").unwrap();
    ChunkSigner {
        key: DerivedKey::derive("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", &scope),
        time: TIME.to_owned(),
        scope: scope.text.to_owned(),
        previous: seed.to_owned(),
    }
}

#[test]
fn chunks_of_the_api_reference_are_accepted() {
    let mut signer =
        example_signer("4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9");
    for (length, signature) in [
        (65_536, "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"),
        (1024, "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"),
        (0, "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"),
    ] {
        let other = hash(&vec![b'b'; length + 1]);
        assert!(!signer.is_chunk(&other, signature.as_bytes()));
        assert!(signer.is_chunk(&hash(&vec![b'a'; length]), signature.as_bytes()), "{length}");
    }
}

#[test]
fn trailer_of_the_api_reference_is_accepted() {
    let mut signer =
        example_signer("106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e");
    for (length, signature) in [
        (65_536, "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2"),
        (1024, "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7"),
        (0, "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992"),
    ] {
        assert!(signer.is_chunk(&hash(&vec![b'a'; length]), signature.as_bytes()), "{length}");
    }
    let trailer = b"x-amz-checksum-crc32c:sOO8/Q==\n";
    let signature = b"d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435";
    assert!(signer.is_trailer(trailer, signature));
    assert!(!signer.is_trailer(b"x-amz-checksum-crc32c:sOO8/A==\n", signature));
}
