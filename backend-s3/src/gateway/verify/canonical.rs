//! Canonical form of a request, the text that client and server sign, and its signature.

use std::borrow::Cow;

use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use http::request::Parts;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::scope::Scope;
use super::time::SigningTime;
use crate::sign::encode;

type HmacSha256 = Hmac<Sha256>;

/// Canonical requests that a signature may be for: the path decoded and encoded again, as S3 does
/// it, and the path as it was sent, which some clients sign. Both name the same object.
pub(super) fn requests(
    head: &Parts,
    decoded_path: &str,
    query: &str,
    signed_headers: &[Cow<'_, str>],
    payload: &str,
) -> Vec<Vec<u8>> {
    let documented = encode(decoded_path, true);
    let sent = head.uri.path();
    let mut paths = vec![documented.as_str()];
    if sent != documented {
        paths.push(sent);
    }
    let form = |path: &&str| request(head, path, query, signed_headers, payload);
    paths.iter().map(form).collect()
}

fn request(
    head: &Parts,
    path: &str,
    query: &str,
    signed_headers: &[Cow<'_, str>],
    payload: &str,
) -> Vec<u8> {
    let mut text = Vec::with_capacity(512);
    for line in [head.method.as_str(), path, query] {
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
    }
    for name in signed_headers {
        text.extend_from_slice(name.as_bytes());
        text.push(b':');
        write_header(&mut text, &head.headers, name);
        text.push(b'\n');
    }
    text.push(b'\n');
    text.extend_from_slice(signed_headers.join(";").as_bytes());
    text.push(b'\n');
    text.extend_from_slice(payload.as_bytes());
    text
}

/// Writes the values of a header, separated by commas, with runs of spaces collapsed.
fn write_header(text: &mut Vec<u8>, headers: &HeaderMap, name: &str) {
    for (index, value) in headers.get_all(name).iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        let words = value.as_bytes().split(|byte| matches!(byte, b' ' | b'\t'));
        for (index, word) in words.filter(|word| !word.is_empty()).enumerate() {
            if index > 0 {
                text.push(b' ');
            }
            text.extend_from_slice(word);
        }
    }
}

/// Text that the signing key signs.
pub(super) fn string_to_sign(time: &SigningTime, scope: &Scope<'_>, request: &[u8]) -> String {
    format!("AWS4-HMAC-SHA256\n{}\n{}\n{}", time.text(), scope.text, hash(request))
}

/// SHA-256 of bytes, in hexadecimal digits.
pub(in super::super) fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Bytes in lower-case hexadecimal digits.
pub(in super::super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Key that is derived from a secret for one day, region and service.
#[derive(Clone)]
pub(in super::super) struct DerivedKey(HmacSha256);

impl DerivedKey {
    pub(super) fn derive(secret: &str, scope: &Scope<'_>) -> Self {
        let mut key = keyed(format!("AWS4{secret}").as_bytes());
        for part in [scope.day, scope.region, scope.service, "aws4_request"] {
            key = keyed(&key.chain_update(part).finalize().into_bytes());
        }
        Self(key)
    }

    /// Signature of a text, in hexadecimal digits.
    pub(in super::super) fn sign(&self, text: &str) -> String {
        hexadecimal(&self.0.clone().chain_update(text).finalize().into_bytes())
    }

    /// Compares the signature of a text with the given one, in constant time.
    pub(in super::super) fn is_signature(&self, text: &str, given: &[u8]) -> bool {
        self.sign(text).as_bytes().ct_eq(given).into()
    }
}

/// Shows nothing: logs must not contain keys.
impl std::fmt::Debug for DerivedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DerivedKey").finish_non_exhaustive()
    }
}

fn keyed(key: &[u8]) -> HmacSha256 {
    HmacSha256::new_from_slice(key).expect("HMAC takes a key of any length")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Example: GET Object" of the S3 API reference, "Authenticating Requests: Using the
    /// Authorization Header".
    #[test]
    fn signature_is_that_of_the_api_reference() {
        let empty = hash(b"");
        let request = http::Request::get("/test.txt")
            .header("host", "examplebucket.s3.amazonaws.com")
            .header("range", "bytes=0-9")
            .header("x-amz-content-sha256", &empty)
            .header("x-amz-date", "20130524T000000Z");
        let (head, ()) = request.body(()).unwrap().into_parts();
        let names = ["host", "range", "x-amz-content-sha256", "x-amz-date"].map(Cow::Borrowed);
        let canonical = requests(&head, "/test.txt", "", &names, &empty);
        assert_eq!(canonical.len(), 1);
        let time = SigningTime::parse("20130524T000000Z").unwrap();
        let scope =
            Scope::parse("AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request").unwrap();
        let text = string_to_sign(&time, &scope, &canonical[0]);
        let key = DerivedKey::derive("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", &scope);
        let signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
        assert_eq!(key.sign(&text), signature);
        assert!(key.is_signature(&text, signature.as_bytes()));
        assert!(!key.is_signature(&text, &signature.as_bytes()[1..]));
    }

    #[test]
    fn path_that_is_not_encoded_has_two_canonical_forms() {
        let request = http::Request::get("/bucket/a@b").body(()).unwrap();
        let (head, ()) = request.into_parts();
        let forms = requests(&head, "/bucket/a@b", "", &[], "");
        let paths: Vec<_> =
            forms.iter().map(|form| form.split(|byte| *byte == b'\n').nth(1).unwrap()).collect();
        assert_eq!(paths, [b"/bucket/a%40b".as_slice(), b"/bucket/a@b".as_slice()]);
    }
}
