//! The canonical form of a request: the text that client and server sign. It does not depend on
//! spaces and the order of headers, which proxies may change.

use std::borrow::Cow;

use http::header::HOST;
use http::request::Parts;
use sha2::{Digest, Sha256};
use tabla_core::Result;

use super::authorization::ALGORITHM;
use super::refusal;
use super::scope::Scope;
use super::signing_time::{SigningTime, X_AMZ_DATE};

pub(super) const X_AMZ_CONTENT_SHA256: &str = "x-amz-content-sha256";
pub(super) const X_AMZ_SECURITY_TOKEN: &str = "x-amz-security-token";

/// Names of the headers that a signature covers, in lower case, sorted, without duplicates.
#[derive(Debug)]
pub(super) struct SignedHeaders<'a>(Vec<Cow<'a, str>>);

impl<'a> SignedHeaders<'a> {
    /// Parses the list of names of the `Authorization` header.
    pub(super) fn read(text: &'a str) -> Self {
        let names = text.split(';').filter(|name| !name.is_empty());
        let mut names: Vec<Cow<'a, str>> = names.map(lower_case).collect();
        // Without this, a header that is named a thousand times would be written a thousand times.
        names.sort_unstable();
        names.dedup();
        Self(names)
    }

    /// Checks that the signature covers the host and every `x-amz-*` header. Without this check, an
    /// attacker who captures a request could replay it with another `x-amz-target`.
    ///
    /// AWS documents this rule, though DynamoDB has been observed to accept requests that sign the
    /// host alone. Three headers are exempt here, because some clients do not sign them. Each is
    /// verified in another way: the time is in the string to sign, the hash is compared with that of
    /// the body, and the session token with that of the access key.
    pub(super) fn check_cover(&self, parts: &Parts) -> Result<()> {
        if !self.has(HOST.as_str()) {
            return Err(not_signed("'Host' or ':authority'"));
        }
        let exempt = [X_AMZ_DATE, X_AMZ_CONTENT_SHA256, X_AMZ_SECURITY_TOKEN];
        for name in parts.headers.keys().map(|name| name.as_str()) {
            if name.starts_with("x-amz-") && !exempt.contains(&name) && !self.has(name) {
                return Err(not_signed(&format!("'{name}'")));
            }
        }
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.0.binary_search_by(|signed| signed.as_ref().cmp(name)).is_ok()
    }
}

fn lower_case(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

fn not_signed(name: &str) -> tabla_core::Error {
    refusal::invalid(format!("{name} must be a 'SignedHeader' in the AWS Authorization."))
}

/// Returns the canonical requests that a signature may be for, without duplicates: one per
/// canonical form of the query string. Each has the method, path, query string, headers, their
/// names, and the hash of the body, a line each. The first one is the documented form.
pub(super) fn requests(parts: &Parts, signed: &SignedHeaders<'_>, body_hash: &str) -> Vec<Vec<u8>> {
    let queries = queries(parts.uri.query().unwrap_or_default());
    queries.iter().map(|query| request(parts, query, signed, body_hash)).collect()
}

fn request(parts: &Parts, query: &[u8], signed: &SignedHeaders<'_>, body_hash: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(512);
    text.extend_from_slice(parts.method.as_str().as_bytes());
    text.push(b'\n');
    write_path(&mut text, parts.uri.path());
    text.push(b'\n');
    text.extend_from_slice(query);
    text.push(b'\n');
    for name in &signed.0 {
        text.extend_from_slice(name.as_bytes());
        text.push(b':');
        write_header(&mut text, parts, name);
        text.push(b'\n');
    }
    text.push(b'\n');
    write_separated(&mut text, signed.0.iter().map(|name| name.as_bytes()), b';');
    text.push(b'\n');
    text.extend_from_slice(body_hash.as_bytes());
    text
}

/// Returns the text that the signing key signs.
pub(super) fn string_to_sign(moment: &SigningTime, scope: &Scope<'_>, request: &[u8]) -> String {
    format!("{ALGORITHM}\n{}\n{}\n{}", moment.text(), scope.text, hash(request))
}

/// Returns the SHA-256 of the bytes, in hexadecimal digits.
pub(super) fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Returns the bytes in lower-case hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// Writes the path without empty segments, `.` and `..`, percent-encoded once more: the path
/// arrives encoded, and that is how every service but S3 signs it. A folder, which may be written
/// with a dot at the end, keeps its slash (RFC 3986, 5.2.4).
fn write_path(text: &mut Vec<u8>, path: &str) {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    for segment in &segments {
        text.push(b'/');
        write_encoded(text, segment.bytes());
    }
    let is_folder = matches!(path.rsplit('/').next(), Some("" | "." | ".."));
    if segments.is_empty() || is_folder {
        text.push(b'/');
    }
}

/// Returns the canonical forms of a query string, without duplicates. Clients agree on one form
/// only for a query string that is sent in canonical form. For others this accepts, in this order:
///
/// 1. the documented form: each name and value decoded and encoded again, with `+` as a plus sign;
/// 2. the same with `+` as a space: botocore sends a space in a parameter as `+`, and signs `%20`;
/// 3. the names and values as they are sent: botocore signs the query string of a URL unchanged.
///
/// The parameters are sorted by name, then by value. The server does not use the query string, so
/// that it makes no difference which of two spellings was signed.
fn queries(query: &str) -> Vec<Vec<u8>> {
    let mut all = Vec::with_capacity(1);
    for form in [query_with_plus, query_with_spaces, query_as_sent] {
        let form = form(query);
        if !all.contains(&form) {
            all.push(form);
        }
    }
    all
}

fn query_with_plus(query: &str) -> Vec<u8> {
    sorted(parameters(query).map(|pair| pair.map(|part| encoded(decoded(part)))))
}

fn query_with_spaces(query: &str) -> Vec<u8> {
    let encoded = |part: &str| encoded(decoded(&part.replace('+', "%20")));
    sorted(parameters(query).map(|pair| pair.map(encoded)))
}

/// Returns the parameters as they are sent. Empty ones are kept, as botocore does.
fn query_as_sent(query: &str) -> Vec<u8> {
    if query.is_empty() {
        return Vec::new();
    }
    sorted(query.split('&').map(|pair| name_and_value(pair).map(|part| part.as_bytes().to_vec())))
}

fn parameters(query: &str) -> impl Iterator<Item = [&str; 2]> {
    query.split('&').filter(|pair| !pair.is_empty()).map(name_and_value)
}

fn name_and_value(pair: &str) -> [&str; 2] {
    pair.split_once('=').map_or([pair, ""], |(name, value)| [name, value])
}

fn sorted(pairs: impl Iterator<Item = [Vec<u8>; 2]>) -> Vec<u8> {
    let mut pairs: Vec<[Vec<u8>; 2]> = pairs.collect();
    pairs.sort_unstable();
    let mut text = Vec::new();
    write_separated(&mut text, pairs.iter().map(|pair| pair.join(&b'=')), b'&');
    text
}

fn encoded(bytes: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut text = Vec::new();
    write_encoded(&mut text, bytes);
    text
}

/// Decodes percent-encoding. Malformed escapes, and `+`, are kept as they are.
fn decoded(text: &str) -> impl Iterator<Item = u8> {
    let mut rest = text.as_bytes();
    std::iter::from_fn(move || {
        if let [b'%', high, low, after @ ..] = rest
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            rest = after;
            return Some(high << 4 | low);
        }
        let (first, after) = rest.split_first()?;
        rest = after;
        Some(*first)
    })
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Percent-encodes everything but the unreserved characters of RFC 3986.
fn write_encoded(text: &mut Vec<u8>, bytes: impl Iterator<Item = u8>) {
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(byte);
        } else {
            text.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
}

/// Writes the values of a header, with runs of spaces collapsed. A signed header that is missing is
/// empty. A missing host is the authority of the URI, as in HTTP/2.
fn write_header(text: &mut Vec<u8>, parts: &Parts, name: &str) {
    let values = parts.headers.get_all(name);
    let authority = match parts.uri.authority() {
        Some(authority) if name == HOST && values.iter().next().is_none() => authority.as_str(),
        _ => "",
    };
    text.extend_from_slice(authority.as_bytes());
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        let words = value.as_bytes().split(|byte| matches!(byte, b' ' | b'\t'));
        write_separated(text, words.filter(|word| !word.is_empty()), b' ');
    }
}

fn write_separated<T: AsRef<[u8]>>(
    text: &mut Vec<u8>,
    parts: impl Iterator<Item = T>,
    separator: u8,
) {
    for (index, part) in parts.enumerate() {
        if index > 0 {
            text.push(separator);
        }
        text.extend_from_slice(part.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut text = Vec::new();
        write(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn path_is_normalized_and_encoded_once_more() {
        for (path, expected) in [
            ("", "/"),
            ("/", "/"),
            ("//", "/"),
            ("/./", "/"),
            ("/example/..", "/"),
            ("/example1/example2/../..", "/"),
            ("/../../example", "/example"),
            ("/example/.", "/example/"),
            ("/a/b/..", "/a/"),
            ("//example//", "/example/"),
            ("/./example", "/example"),
            ("/example space/", "/example%20space/"),
            ("/example%20space/", "/example%2520space/"),
            ("/\u{1234}", "/%E1%88%B4"),
            ("/-._~0aZ", "/-._~0aZ"),
            ("*", "/%2A"),
        ] {
            assert_eq!(written(|text| write_path(text, path)), expected, "{path}");
        }
    }

    #[test]
    fn query_strings_with_equal_parameters_have_one_documented_form() {
        for (query, expected) in [
            ("", ""),
            ("&&", ""),
            ("a", "a="),
            ("b=2&a=1", "a=1&b=2"),
            ("a=2&a=1&A=3", "A=3&a=1&a=2"),
            ("a=b=c", "a=b%3Dc"),
            ("%61=%7e%2f&b=~/", "a=~%2F&b=~%2F"),
            ("a=1+1", "a=1%2B1"),
            ("a=%&b=%4&c=%zz&d=%+1", "a=%25&b=%254&c=%25zz&d=%25%2B1"),
            ("a=%ff%C3%a9", "a=%FF%C3%A9"),
            ("\u{1234}=bar", "%E1%88%B4=bar"),
        ] {
            let [documented, ..] = &queries(query)[..] else { panic!("{query} has no form") };
            assert_eq!(String::from_utf8_lossy(documented), expected, "{query}");
        }
    }

    #[test]
    fn query_string_has_other_forms_only_where_clients_disagree() {
        for (query, others) in [
            ("", &[][..]),
            ("x=%2B%20&y=~", &[]),
            ("b&a=", &[]),
            ("x=%2B+", &["x=%2B%20", "x=%2B+"]),
            ("a+b=1", &["a%20b=1", "a+b=1"]),
            ("y=%7e&x=%2f", &["x=%2f&y=%7e"]),
            ("&&x=1", &["=&=&x=1"]),
            ("x=%2", &["x=%2"]),
        ] {
            let forms = queries(query);
            let forms: Vec<_> = forms.iter().map(|form| String::from_utf8_lossy(form)).collect();
            assert_eq!(forms[1..], *others, "{query}");
        }
    }

    fn canonical(request: http::request::Builder, signed: &str) -> String {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let [text] = &requests(&parts, &SignedHeaders::read(signed), "hash")[..] else {
            panic!("a request without a query string has one form");
        };
        String::from_utf8(text.clone()).unwrap()
    }

    #[test]
    fn headers_are_sorted_joined_and_trimmed() {
        let request = http::Request::post("/")
            .header("My-Header1", " b  ,\tc ")
            .header("Host", "example.com")
            .header("my-header1", "a")
            .header("other", "not signed");
        assert_eq!(
            canonical(request, "MY-header1;;host;host;absent;bad name"),
            "POST\n/\n\nabsent:\nbad name:\nhost:example.com\nmy-header1:b , c,a\n\n\
             absent;bad name;host;my-header1\nhash"
        );
    }

    #[test]
    fn authority_of_the_uri_replaces_a_missing_host_header() {
        let request = || http::Request::post("http://localhost:8000/");
        assert!(canonical(request(), "host").contains("\nhost:localhost:8000\n"));
        let named = request().header("host", "example.com");
        assert!(canonical(named, "host").contains("\nhost:example.com\n"));
    }

    #[test]
    fn x_amz_headers_have_to_be_signed() {
        let refused = |signed: &str| {
            let (parts, ()) = http::Request::post("/")
                .header("host", "localhost")
                .header("x-amz-date", "20150830T123600Z")
                .header("x-amz-security-token", "token")
                .header("x-amz-content-sha256", "hash")
                .header("X-Amz-Target", "DynamoDB_20120810.GetItem")
                .header("x-amzn-trace-id", "added on the way")
                .body(())
                .unwrap()
                .into_parts();
            SignedHeaders::read(signed).check_cover(&parts).err()
        };
        assert!(refused("host;x-amz-target").is_none());
        assert!(refused("X-Amz-Target;Host").is_none());
        for (signed, expected) in [
            ("", "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."),
            ("hosts", "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."),
            ("host", "'x-amz-target' must be a 'SignedHeader' in the AWS Authorization."),
        ] {
            let error = refused(signed).unwrap();
            assert_eq!(error.code(), "InvalidSignatureException");
            assert_eq!(error.message(), expected, "{signed}");
        }
    }

    #[test]
    fn hashes_are_lower_case() {
        assert_eq!(hash(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
