//! Properties of signature verification: every change of a signed request is detected, and no
//! header makes the server panic.

use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Request};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::signer::{NOW, SIGNED_AT, Signer};
use super::{Credentials, verify};

const KEYS: &str = "[default]\naws_access_key_id=AKIDEXAMPLE\n\
                    aws_secret_access_key=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n";

fn check(request: &Request<Vec<u8>>) -> tabla_core::Result<String> {
    let (parts, body) = request.clone().into_parts();
    verify(&Credentials::parse(KEYS).unwrap(), &parts, &body, NOW).map(str::to_owned)
}

prop_compose! {
    /// Strategy for a signed request whose headers and path no proxy would change.
    fn signed()(
        path in "/([a-z]{1,8}(/[a-z]{1,8}){0,2})?",
        target in "[!-~]{1,40}",
        extra in "[!-~]{1,40}",
        body in vec(any::<u8>(), 1..200),
    ) -> Request<Vec<u8>> {
        let mut request = Request::post(path)
            .header("host", "localhost:8000")
            .header("x-amz-target", target)
            .header("extra", extra)
            .body(body)
            .unwrap();
        Signer::default().sign(&mut request);
        request
    }
}

/// Returns the text with another visible character at one position.
fn changed(text: &[u8], place: Index, step: u8) -> Vec<u8> {
    let mut text = text.to_vec();
    let place = place.index(text.len());
    text[place] = b'!' + (text[place] - b'!' + step) % 94;
    text
}

proptest! {
    #[test]
    fn signed_request_is_accepted(request in signed()) {
        prop_assert_eq!(check(&request).unwrap(), "AKIDEXAMPLE");
    }

    #[test]
    fn changed_body_is_refused(
        mut request in signed(), place: Index, flip in 1_u8..=255,
    ) {
        let place = place.index(request.body().len());
        request.body_mut()[place] ^= flip;
        prop_assert_eq!(check(&request).unwrap_err().code(), "InvalidSignatureException");
    }

    #[test]
    fn shorter_or_longer_body_is_refused(mut request in signed(), longer: bool) {
        if longer { request.body_mut().push(b' ') } else { request.body_mut().truncate(0) }
        prop_assert_eq!(check(&request).unwrap_err().code(), "InvalidSignatureException");
    }

    #[test]
    fn changed_path_is_refused(mut request in signed(), place: Index, letter in b'a'..=b'z') {
        let mut path = request.uri().path().as_bytes().to_vec();
        let place = place.index(path.len());
        if place == 0 { path.push(letter) } else { path[place] = letter }
        prop_assume!(path != request.uri().path().as_bytes());
        *request.uri_mut() = PathAndQuery::from_maybe_shared(path).unwrap().into();
        prop_assert_eq!(check(&request).unwrap_err().code(), "InvalidSignatureException");
    }

    #[test]
    fn changed_method_or_query_string_is_refused(mut request in signed(), method: bool) {
        if method {
            *request.method_mut() = http::Method::PUT;
        } else {
            *request.uri_mut() = format!("{}?a", request.uri().path()).parse().unwrap();
        }
        prop_assert_eq!(check(&request).unwrap_err().code(), "InvalidSignatureException");
    }

    #[test]
    fn changed_header_is_refused(
        mut request in signed(),
        name in select(vec!["host", "x-amz-target", "extra", "x-amz-date"]),
        place: Index,
        step in 1_u8..94,
    ) {
        let value = changed(request.headers()[name].as_bytes(), place, step);
        request.headers_mut().insert(name, HeaderValue::from_bytes(&value).unwrap());
        prop_assert!(check(&request).is_err());
    }

    #[test]
    fn changed_signature_is_refused(
        mut request in signed(), place: Index, step in 1_u8..94,
    ) {
        let header = request.headers()["authorization"].as_bytes();
        let (start, signature) = header.split_at(header.len() - 64);
        let header = [start, &changed(signature, place, step)].concat();
        request.headers_mut().insert("authorization", HeaderValue::from_bytes(&header).unwrap());
        prop_assert!(check(&request).is_err());
    }

    #[test]
    fn added_value_of_a_signed_header_is_refused(
        mut request in signed(), name in select(vec!["host", "x-amz-target", "extra"]),
    ) {
        request.headers_mut().append(name, HeaderValue::from_static("x"));
        prop_assert_eq!(check(&request).unwrap_err().code(), "InvalidSignatureException");
    }

    #[test]
    fn no_header_causes_a_panic(
        authorization in authorization(),
        date in prop_oneof![Just(SIGNED_AT.as_bytes().to_vec()), value()],
        host in value(),
        others in vec((select(vec![
            "date", "host", "x-amz-date", "x-amz-target", "x-amz-content-sha256",
            "x-amz-security-token", "authorization", "x",
        ]), value()), 0..4),
        path in "(/[ -~]{0,20})?(\\?[ -~]{0,20})?",
    ) {
        let mut request = Request::new(b"{}".to_vec());
        if let Ok(uri) = path.parse() {
            *request.uri_mut() = uri;
        }
        let headers = [("authorization", authorization), ("x-amz-date", date), ("host", host)];
        for (name, value) in headers.into_iter().chain(others) {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                request.headers_mut().append(HeaderName::from_static(name), value);
            }
        }
        let error = check(&request).unwrap_err();
        prop_assert_eq!(error.kind(), &tabla_core::ErrorKind::AccessDenied);
        prop_assert!([
            "MissingAuthenticationTokenException",
            "IncompleteSignatureException",
            "InvalidSignatureException",
            "UnrecognizedClientException",
        ].contains(&error.code()));
    }

    #[test]
    fn no_credentials_file_causes_a_panic(text in "(\\[[a-z]?\\]?\n?|aws_access_key_id *=|\
                                               aws_secret_access_key=|aws_session_token=|\
                                               \\PC{0,5}|\r?\n|[#;= ]){0,20}") {
        let _ = Credentials::parse(&text);
    }
}

/// Strategy for arbitrary bytes, most of which are valid in a header.
fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..60),
        "[ -~]{0,60}".prop_map(String::into_bytes),
        ("[a-z;,= ]{1,9}", 1_usize..2000).prop_map(|(part, times)| part.repeat(times).into_bytes()),
    ]
}

/// Strategy for texts that resemble a signature to some degree.
fn authorization() -> impl Strategy<Value = Vec<u8>> {
    let scope = prop_oneof![
        Just("AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws4_request".to_owned()),
        "[A-Z]{0,3}(/[a-z0-9/é]{0,8}){0,6}",
    ];
    let headers = prop_oneof![
        Just("host;x-amz-target;x-amz-date".to_owned()),
        "(host|date|x-amz-date|x-amz-target|[A-Zé: ]{0,3}|;){0,9}",
    ];
    let whole = (scope, headers, "[0-9a-fA-Fg]{0,70}").prop_map(|(scope, headers, signature)| {
        format!(
            "AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={headers}, Signature={signature}"
        )
        .into_bytes()
    });
    let parts = "AWS4-[ -~]{0,9}( |,|Credential|Signature|SignedHeaders|=|[ -~é]{0,4}){0,12}";
    prop_oneof![whole, parts.prop_map(String::into_bytes), value()]
}
