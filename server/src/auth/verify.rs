//! Verification of the signature of a request.

use http::request::Parts;
use subtle::ConstantTimeEq;
use tabla_core::env::Timestamp;
use tabla_core::{Error, Result};

use super::authorization::{self, Authorization};
use super::canonical::{self, SignedHeaders, X_AMZ_CONTENT_SHA256, X_AMZ_SECURITY_TOKEN};
use super::credentials::Credentials;
use super::refusal;
use super::scope::Scope;
use super::signing_time::{self, SigningTime};

/// Verifies that a request was signed with one of the keys, at most 15 minutes before or after
/// `now`. Returns the id of that access key.
///
/// `body` is the body as sent, still compressed if it was. The signature always has to cover it;
/// `UNSIGNED-PAYLOAD` is for S3.
///
/// # Errors
/// DynamoDB's errors, in its order: no signature; a missing part; a malformed time, or one outside
/// the allowed skew; an unsigned header; an unsupported algorithm; a malformed or wrong scope; an
/// unknown key; a signature that does not match; the session token of another key.
pub(crate) fn verify<'a>(
    credentials: &'a Credentials,
    parts: &Parts,
    body: &[u8],
    now: Timestamp,
) -> Result<&'a str> {
    let text = authorization::text(parts)?;
    let signature = Authorization::read(&text)?.complete(signing_time::header(&parts.headers))?;
    let moment = SigningTime::read(signature.date)?;
    moment.check_is_near(now)?;
    let signed = SignedHeaders::read(signature.signed_headers);
    signed.check_cover(parts)?;
    signature.check_algorithm()?;
    let scope = Scope::read(signature.credential)?;
    scope.check(&moment)?;

    let (id, key) = credentials.find(scope.key_id).ok_or_else(refusal::unknown_key)?;
    let token = parts.headers.contains_key(X_AMZ_SECURITY_TOKEN);
    if key.is_of_a_session() && !token {
        return Err(refusal::unknown_key());
    }
    let body_hash = canonical::hash(body);
    let requests = canonical::requests(parts, &signed, &body_hash);
    let is_signed = |request: &Vec<u8>| {
        let to_sign = canonical::string_to_sign(&moment, &scope, request);
        let expected = key.sign(&scope, &to_sign);
        bool::from(expected.as_bytes().ct_eq(signature.signature.as_bytes()))
    };
    if !requests.iter().any(is_signed) {
        // The first one is the documented form.
        let request = &requests[0];
        return Err(mismatch(request, &canonical::string_to_sign(&moment, &scope, request)));
    }
    let values = |name| parts.headers.get_all(name).iter().map(|value| value.as_bytes());
    if values(X_AMZ_CONTENT_SHA256).any(|hash| hash != body_hash.as_bytes()) {
        // Wording of S3, which defines this header.
        return Err(refusal::invalid(
            "The provided 'x-amz-content-sha256' header does not match what was computed.",
        ));
    }
    if values(X_AMZ_SECURITY_TOKEN).any(|token| !key.has_token(token)) {
        return Err(refusal::wrong_token());
    }
    Ok(id)
}

/// Returns the error for a signature that does not match. It shows the canonical request and the
/// string to sign, so that the client's author can compare them.
fn mismatch(request: &[u8], to_sign: &str) -> Error {
    refusal::invalid(format!(
        "The request signature we calculated does not match the signature you provided. Check \
         your AWS Secret Access Key and signing method. Consult the service documentation for \
         details.\n\nThe Canonical String for this request should have been\n'{}'\n\n\
         The String-to-Sign should have been\n'{to_sign}'\n",
        String::from_utf8_lossy(request)
    ))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, Request};

    use super::super::signer::{self, NOW, SIGNED_AT, Signer};
    use super::*;

    const KEYS: &str = "[default]\naws_access_key_id=AKIDEXAMPLE\n\
                        aws_secret_access_key=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n\
                        [session]\naws_access_key_id=ASIAEXAMPLE\n\
                        aws_secret_access_key=secret\naws_session_token=token\n";

    fn checked(request: &Request<Vec<u8>>) -> Result<String> {
        let (parts, body) = request.clone().into_parts();
        verify(&Credentials::parse(KEYS).unwrap(), &parts, &body, NOW).map(str::to_owned)
    }

    fn refused(request: &Request<Vec<u8>>) -> (&'static str, String) {
        let error = checked(request).unwrap_err();
        assert_eq!(*error.kind(), tabla_core::ErrorKind::AccessDenied);
        (error.code(), error.message().to_owned())
    }

    fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
        headers.insert(name, HeaderValue::from_str(value).unwrap());
    }

    #[test]
    fn signed_request_returns_the_id_of_its_key() {
        let mut request = signer::get_item();
        Signer::default().sign(&mut request);
        assert_eq!(checked(&request).unwrap(), "AKIDEXAMPLE");

        let mut request = signer::get_item();
        set(request.headers_mut(), "x-amz-security-token", "token");
        Signer { id: "ASIAEXAMPLE", secret: "secret", ..Signer::default() }.sign(&mut request);
        assert_eq!(checked(&request).unwrap(), "ASIAEXAMPLE");
    }

    #[test]
    fn token_and_hash_may_be_added_after_signing() {
        let mut request = signer::get_item();
        Signer { id: "ASIAEXAMPLE", secret: "secret", ..Signer::default() }.sign(&mut request);
        let hash = canonical::hash(request.body());
        set(request.headers_mut(), "x-amz-security-token", "token");
        set(request.headers_mut(), "x-amz-content-sha256", &hash);
        assert_eq!(checked(&request).unwrap(), "ASIAEXAMPLE");
    }

    #[test]
    fn date_header_can_replace_x_amz_date() {
        let mut request = signer::get_item();
        set(request.headers_mut(), "date", "Sun, 30 Aug 2015 12:36:00 GMT");
        Signer { date_header: None, ..Signer::default() }.sign(&mut request);
        assert!(!request.headers().contains_key("x-amz-date"));
        assert_eq!(checked(&request).unwrap(), "AKIDEXAMPLE");
    }

    /// Query strings with the signatures of botocore 1.44.3. In the first group the parameters were
    /// given beside the URL, in the second one in the URL.
    const BOTOCORE: &[(&str, &str)] = &[
        ("x=%2B+", "9e244dd48fd449c7b471fc17f9d8a437894b0d94577cb72f0beb77c79e1945c5"),
        ("b=2&a=1&a=", "6846ba181f307c808e04c988d0e67803ca60accfc5f836b882e4bd621842b916"),
        ("a+b=~%2F%C3%A9", "0e221b8f2bb0ba2ab3fe4ef5c44f8c702a48df1a8777b81f84ce468a4ea393e3"),
        ("A=%257e", "f9d556cf9fce6aa8d49e0d507fb254d270cd9cd75c6a0425fe65d5939e80aee6"),
        ("x=%2B+", "fcf199c63ef6b5579f46dc00dcc55c0887d2f8da4a476b1b30d15cc12378a3ff"),
        ("x=a%20b", "a517d23fdf5440ca68032c8bf91bee9a64d5361b6da81abfc99f48fa0beaee18"),
        ("x=a+b", "c5c3e01998e065cc18857e70ca294d7a606636b6b55ea3e52095de0f48b2f992"),
        ("x=", "cb4a15e8e3a265db6ad38f3fdfb979c82d8b48c761ff2eefe6f2196f709e784a"),
        ("x", "cb4a15e8e3a265db6ad38f3fdfb979c82d8b48c761ff2eefe6f2196f709e784a"),
        ("b=2&a=1&a=0", "bcaa82621d2248172cd0aeaacfb112fe757ed1a755ef50e841d0d1f2d8968e24"),
        ("a=1&a=1", "dbd26d72a3c981bc27b99b3a8576a3962661e17141341b367bf676b6387b5a0f"),
        ("x=~&y=%7E", "d1e8cf15c6f1e693d93dd1f6bf6d7c39b390e228a63bb141a38c8facdbf001d4"),
        ("x=%7e%2f", "0c9c2f8456edddc6347ca20c73338e0c4fc50f33867c2d208435d63649195149"),
        ("x=%ff&y=%FF", "7a8e21c0061c6067c649f1a7b203d9b8c97f0b16a50321ba19bb17eda3b316e0"),
        ("x=/:@", "c0cd126e1e81403ac0337d89ed2554d83d1ef5a91b9319f276fe0e37fad51e9f"),
        ("&&x=1", "1737700757a1c91f13478a7883940c37b4cb5a1e40d83be4048d9b3da4591b6d"),
        ("a=b=c", "f0e73fbeb1751f35a0027f85b3f33e22c6aec94c4ceb4e8b9decf3167f315da9"),
        ("B=1&a=2&%61=0", "50e5982a65f8d3d7cb6ef8a893f2c6f1cafd933337a93991d59677de2ff51ca8"),
    ];

    /// Returns a request as botocore sends it, with this query string and signature.
    fn of_botocore(query: &str, signature: &str) -> Request<Vec<u8>> {
        Request::post(format!("/?{query}"))
            .header("host", "localhost:8000")
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", "DynamoDB_20120810.ListTables")
            .header("x-amz-date", SIGNED_AT)
            .header(
                "authorization",
                format!(
                    "AWS4-HMAC-SHA256 \
                     Credential=AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws4_request, \
                     SignedHeaders=content-type;host;x-amz-date;x-amz-target, \
                     Signature={signature}"
                ),
            )
            .body(b"{}".to_vec())
            .unwrap()
    }

    #[test]
    fn query_strings_signed_by_botocore_are_accepted() {
        let refused = BOTOCORE
            .iter()
            .filter(|(query, signature)| checked(&of_botocore(query, signature)).is_err());
        let refused: Vec<&str> = refused.map(|(query, _)| *query).collect();
        assert!(refused.is_empty(), "{} of {}: {refused:?}", refused.len(), BOTOCORE.len());
    }

    #[test]
    fn signature_for_another_query_string_is_refused() {
        for (query, signature) in BOTOCORE {
            for other in [format!("{query}1"), format!("{query}&y=2"), String::new()] {
                let (code, _) = refused(&of_botocore(&other, signature));
                assert_eq!(code, "InvalidSignatureException", "{query} {other}");
            }
        }
    }

    /// Begins with a request in which everything is wrong, and corrects it step by step.
    #[test]
    fn errors_are_reported_in_dynamodbs_order() {
        let scope = |scope: &str, headers: &str| {
            format!("AWS4-HMAC-SHA25 Credential={scope} SignedHeaders={headers} Signature=0")
        };
        let mut request = signer::get_item();
        let mut steps: Vec<(String, &str, &str)> = Vec::new();
        let mut step = |header: String, date, code| steps.push((header, date, code));
        step("Basic x".to_owned(), "", "MissingAuthenticationTokenException: Request is missing");
        step(
            "AWS4-HMAC-SHA25 x".to_owned(),
            "",
            "IncompleteSignatureException: 'x' not a valid key=value pair",
        );
        step(
            "AWS4-HMAC-SHA25 Signature=0".to_owned(),
            "",
            "IncompleteSignatureException: Authorization header requires 'Credential' parameter. \
             Authorization header requires 'SignedHeaders' parameter. Authorization header \
             requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4",
        );
        step(scope("a", "b"), "1", "IncompleteSignatureException: Date must be in ISO-8601");
        step(scope("a", "b"), "20150830T122059Z", "InvalidSignatureException: Signature expired");
        step(scope("a", "b"), SIGNED_AT, "InvalidSignatureException: 'Host' or ':authority' must");
        step(scope("a", "host"), SIGNED_AT, "InvalidSignatureException: 'x-amz-target' must");
        let names = "host;x-amz-target";
        step(scope("a", names), SIGNED_AT, "IncompleteSignatureException: Unsupported AWS 'algor");
        let scope = |text: &str| scope(text, names).replace("SHA25 ", "SHA256 ");
        step(scope("a"), SIGNED_AT, "IncompleteSignatureException: Credential must have exactly 5");
        step(
            scope("a/20150829/x/s3/aws4"),
            SIGNED_AT,
            "InvalidSignatureException: Credential should be scoped to correct service: \
             'dynamodb'. Credential should be scoped with a valid terminator: 'aws4_request'. \
             Date in Credential scope does not match",
        );
        let whole = "20150830/x/dynamodb/aws4_request";
        let unknown = "UnrecognizedClientException: The security token included in the request is \
                       invalid.";
        step(scope(&format!("a/{whole}")), SIGNED_AT, unknown);
        step(scope(&format!("ASIAEXAMPLE/{whole}")), SIGNED_AT, unknown);
        step(
            scope(&format!("AKIDEXAMPLE/{whole}")),
            SIGNED_AT,
            "InvalidSignatureException: The request signature we calculated does not match",
        );
        for (header, date, expected) in &steps {
            set(request.headers_mut(), "authorization", header);
            set(request.headers_mut(), "x-amz-date", date);
            let error = checked(&request).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{header}\n{error}");
        }
        request.headers_mut().remove("authorization");
        assert_eq!(
            refused(&request),
            (
                "MissingAuthenticationTokenException",
                "Request is missing Authentication Token".to_owned()
            )
        );
    }

    #[test]
    fn error_for_another_signature_shows_the_expected_texts() {
        let mut request = signer::get_item();
        Signer { secret: "another", ..Signer::default() }.sign(&mut request);
        let canonical = format!(
            "POST\n/\n\ncontent-type:application/x-amz-json-1.0\nhost:localhost:8000\n\
             x-amz-date:20150830T123600Z\nx-amz-target:DynamoDB_20120810.GetItem\n\n\
             content-type;host;x-amz-date;x-amz-target\n{}",
            signer::sha256(request.body())
        );
        assert_eq!(
            refused(&request),
            (
                "InvalidSignatureException",
                format!(
                    "The request signature we calculated does not match the signature you \
                     provided. Check your AWS Secret Access Key and signing method. Consult the \
                     service documentation for details.\n\n\
                     The Canonical String for this request should have been\n'{canonical}'\n\n\
                     The String-to-Sign should have been\n'AWS4-HMAC-SHA256\n20150830T123600Z\n\
                     20150830/us-east-1/dynamodb/aws4_request\n{}'\n",
                    signer::sha256(canonical.as_bytes())
                )
            )
        );
    }

    #[test]
    fn signature_is_compared_as_text() {
        let mut request = signer::get_item();
        Signer::default().sign(&mut request);
        let header = request.headers()["authorization"].to_str().unwrap().to_owned();
        let (start, signature) = header.split_at(header.len() - 64);
        for signature in [&signature.to_uppercase(), &signature[1..], &format!("{signature}0"), "é"]
        {
            set(request.headers_mut(), "authorization", &format!("{start}{signature}"));
            let (code, message) = refused(&request);
            assert_eq!(code, "InvalidSignatureException", "{signature}");
            assert!(message.starts_with("The request signature we calculated does not match"));
        }
    }

    #[test]
    fn unsigned_body_is_refused() {
        let mut request = signer::get_item();
        set(request.headers_mut(), "x-amz-content-sha256", "UNSIGNED-PAYLOAD");
        Signer { body_hash: Some("UNSIGNED-PAYLOAD"), ..Signer::default() }.sign(&mut request);
        let (code, message) = refused(&request);
        assert_eq!(code, "InvalidSignatureException");
        assert!(message.starts_with("The request signature we calculated does not match"));
    }

    #[test]
    fn signed_hash_of_another_body_is_refused() {
        for hash in ["UNSIGNED-PAYLOAD", "", &signer::sha256(b"something else")] {
            let mut request = signer::get_item();
            set(request.headers_mut(), "x-amz-content-sha256", hash);
            Signer::default().sign(&mut request);
            assert_eq!(
                refused(&request),
                (
                    "InvalidSignatureException",
                    "The provided 'x-amz-content-sha256' header does not match what was computed."
                        .to_owned()
                )
            );
        }
    }

    #[test]
    fn session_token_must_be_that_of_the_key() {
        let session = Signer { id: "ASIAEXAMPLE", secret: "secret", ..Signer::default() };
        for (signer, tokens, expected) in [
            (&session, &["another"][..], "The security token included in the request is invalid"),
            (&session, &["token", "more"], "The security token included in the request is invalid"),
            (&session, &[], "The security token included in the request is invalid."),
            (
                &Signer::default(),
                &["token"],
                "The security token included in the request is invalid",
            ),
            (&Signer::default(), &[""], "The security token included in the request is invalid"),
        ] {
            let mut request = signer::get_item();
            for token in tokens {
                let token = HeaderValue::from_static(token);
                request.headers_mut().append("x-amz-security-token", token);
            }
            signer.sign(&mut request);
            assert_eq!(refused(&request), ("UnrecognizedClientException", expected.to_owned()));
        }
    }

    #[test]
    fn signature_expires_after_15_minutes() {
        let mut request = signer::get_item();
        Signer::default().sign(&mut request);
        let (parts, body) = request.into_parts();
        let credentials = Credentials::parse(KEYS).unwrap();
        let at = |minutes: i64| {
            let seconds = NOW.as_secs().checked_add_signed(minutes * 60).unwrap();
            verify(&credentials, &parts, &body, Timestamp::from_secs(seconds))
        };
        assert!(at(15).is_ok());
        assert!(at(-15).is_ok());
        assert!(at(16).unwrap_err().message().starts_with("Signature expired: "));
        assert!(at(-16).unwrap_err().message().starts_with("Signature not yet current: "));
    }
}
