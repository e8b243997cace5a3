//! Whether a request was signed by somebody who may.

use http::request::Parts;
use subtle::ConstantTimeEq;
use tabla::env::Timestamp;
use tabla::{Error, Result};

use super::authorization::{self, Authorization};
use super::canonical::{self, SignedHeaders, X_AMZ_CONTENT_SHA256, X_AMZ_SECURITY_TOKEN};
use super::credentials::Credentials;
use super::moment::{self, Moment};
use super::refusal;
use super::scope::Scope;

/// Checks that a request was signed with one of the keys, and not long ago. Returns the id of that
/// access key.
///
/// The body is the one that was sent, still compressed if it was. It is always part of what has to
/// be signed; `UNSIGNED-PAYLOAD` is for S3.
///
/// # Errors
/// DynamoDB's own refusals, the first of them if there are several: no signature, a part of it
/// missing, a time that is malformed or not near, a header that is not signed, another algorithm, a
/// scope that is malformed or wrong, an unknown key, another signature, another session token.
pub(crate) fn verify<'a>(
    credentials: &'a Credentials,
    parts: &Parts,
    body: &[u8],
    now: Timestamp,
) -> Result<&'a str> {
    let text = authorization::text(parts)?;
    let signature = Authorization::read(&text)?.complete(moment::header(&parts.headers))?;
    let moment = Moment::read(signature.date)?;
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
    let request = canonical::request(parts, &signed, &body_hash);
    let to_sign = canonical::string_to_sign(&moment, &scope, &request);
    let expected = key.sign(&scope, &to_sign);
    if !bool::from(expected.as_bytes().ct_eq(signature.signature.as_bytes())) {
        return Err(mismatch(&request, &to_sign));
    }
    let values = |name| parts.headers.get_all(name).iter().map(|value| value.as_bytes());
    if values(X_AMZ_CONTENT_SHA256).any(|hash| hash != body_hash.as_bytes()) {
        // In the words of S3, whose header this is.
        return Err(refusal::invalid(
            "The provided 'x-amz-content-sha256' header does not match what was computed.",
        ));
    }
    if values(X_AMZ_SECURITY_TOKEN).any(|token| !key.has_token(token)) {
        return Err(refusal::wrong_token());
    }
    Ok(id)
}

/// Another signature was expected: for these texts, so that their author can find the difference.
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
        assert_eq!(*error.kind(), tabla::ErrorKind::AccessDenied);
        (error.code(), error.message().to_owned())
    }

    fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
        headers.insert(name, HeaderValue::from_str(value).unwrap());
    }

    #[test]
    fn a_signed_request_is_let_in_under_the_name_of_its_key() {
        let mut request = signer::get_item();
        Signer::default().sign(&mut request);
        assert_eq!(checked(&request).unwrap(), "AKIDEXAMPLE");

        let mut request = signer::get_item();
        set(request.headers_mut(), "x-amz-security-token", "token");
        Signer { id: "ASIAEXAMPLE", secret: "secret", ..Signer::default() }.sign(&mut request);
        assert_eq!(checked(&request).unwrap(), "ASIAEXAMPLE");
    }

    #[test]
    fn a_token_and_a_hash_may_be_added_after_signing() {
        let mut request = signer::get_item();
        Signer { id: "ASIAEXAMPLE", secret: "secret", ..Signer::default() }.sign(&mut request);
        let hash = canonical::hash(request.body());
        set(request.headers_mut(), "x-amz-security-token", "token");
        set(request.headers_mut(), "x-amz-content-sha256", &hash);
        assert_eq!(checked(&request).unwrap(), "ASIAEXAMPLE");
    }

    #[test]
    fn a_date_of_the_message_serves_as_well() {
        let mut request = signer::get_item();
        set(request.headers_mut(), "date", "Sun, 30 Aug 2015 12:36:00 GMT");
        Signer { date_header: None, ..Signer::default() }.sign(&mut request);
        assert!(!request.headers().contains_key("x-amz-date"));
        assert_eq!(checked(&request).unwrap(), "AKIDEXAMPLE");
    }

    /// One request with everything wrong, which is put right step by step.
    #[test]
    fn refusals_come_in_the_order_of_the_service() {
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
    fn another_signature_is_answered_with_what_it_should_have_been_for() {
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
    fn a_signature_is_compared_as_text() {
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
    fn a_body_that_is_not_signed_is_refused() {
        let mut request = signer::get_item();
        set(request.headers_mut(), "x-amz-content-sha256", "UNSIGNED-PAYLOAD");
        Signer { body_hash: Some("UNSIGNED-PAYLOAD"), ..Signer::default() }.sign(&mut request);
        let (code, message) = refused(&request);
        assert_eq!(code, "InvalidSignatureException");
        assert!(message.starts_with("The request signature we calculated does not match"));
    }

    #[test]
    fn a_hash_of_something_else_is_refused_even_if_it_is_signed() {
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
    fn a_token_has_to_be_that_of_the_key() {
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
    fn a_signature_is_not_good_for_longer_than_its_time() {
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
