//! The `Authorization` header, taken apart.

use std::borrow::Cow;

use http::HeaderValue;
use http::header::AUTHORIZATION;
use http::request::Parts;
use tabla_core::Result;

use super::refusal;

/// The one algorithm that is understood.
pub(super) const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What a signature in the query string consists of, in the order in which the service misses it.
const IN_QUERY: [&str; 5] =
    ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date"];

/// The text of the header.
///
/// # Errors
/// The request is not signed, or its signature stands in the query string.
pub(super) fn text(parts: &Parts) -> Result<Cow<'_, str>> {
    let query = parts.uri.query().unwrap_or_default();
    let in_query = parameter(query, IN_QUERY[0]).is_some();
    match parts.headers.get(AUTHORIZATION) {
        Some(_) if in_query => Err(refusal::invalid(
            "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP \
             header.",
        )),
        // What is not UTF-8 matches no key and no signature; here it must only not be lost.
        Some(value) => Ok(String::from_utf8_lossy(value.as_bytes())),
        None if in_query => Err(signed_in_query(query)),
        None => Err(refusal::unsigned()),
    }
}

/// The service takes signatures in the query string too. No SDK sends them to it, so they are
/// refused here; the parts that it would miss are still named.
fn signed_in_query(query: &str) -> tabla_core::Error {
    let mut missing: String = IN_QUERY
        .into_iter()
        .filter(|name| parameter(query, name).is_none_or(str::is_empty))
        .map(|name| format!("AWS query-string parameters must include '{name}'. "))
        .collect();
    if missing.is_empty() {
        return refusal::missing_token(
            "Signatures in the query string are not supported: sign with an Authorization header",
        );
    }
    missing.push_str("Re-examine the query-string parameters.");
    refusal::incomplete(missing)
}

/// The value of a parameter of the query string; empty if it has no value.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The parts of the header, of which some may be missing.
#[derive(Debug)]
pub(super) struct Authorization<'a> {
    text: &'a str,
    algorithm: &'a str,
    credential: &'a str,
    signature: &'a str,
    /// These may be empty, but must be there.
    signed_headers: Option<&'a str>,
}

/// The parts that a signature needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompleteAuthorization<'a> {
    pub(super) algorithm: &'a str,
    /// The access key with what its signature is good for.
    pub(super) credential: &'a str,
    pub(super) signature: &'a str,
    pub(super) signed_headers: &'a str,
    /// The header that says when it was made.
    pub(super) date: &'a HeaderValue,
}

impl<'a> Authorization<'a> {
    /// Takes the header apart. Its parts are separated by commas, spaces or both.
    ///
    /// # Errors
    /// It is not a signature of version 4, or has a part without a name.
    pub(super) fn read(text: &'a str) -> Result<Self> {
        let text = text.trim();
        if !text.starts_with("AWS4-") {
            return Err(refusal::unsigned());
        }
        let mut parts = text.split([',', ' ', '\t']).filter(|part| !part.is_empty());
        let algorithm = parts.next().unwrap_or_default();
        let mut read =
            Self { text, algorithm, credential: "", signature: "", signed_headers: None };
        for part in parts {
            let Some((name, value)) = part.split_once('=') else {
                return Err(refusal::incomplete(format!(
                    "'{part}' not a valid key=value pair (missing equal-sign) in Authorization \
                     header: '{text}'."
                )));
            };
            match name {
                "Credential" => read.credential = value,
                "Signature" => read.signature = value,
                "SignedHeaders" => read.signed_headers = Some(value),
                _ => {}
            }
        }
        Ok(read)
    }

    /// The parts, if all are there, and a date besides.
    ///
    /// # Errors
    /// One that names everything that is missing.
    pub(super) fn complete(
        self,
        date: Option<&'a HeaderValue>,
    ) -> Result<CompleteAuthorization<'a>> {
        let Self { text, algorithm, credential, signature, signed_headers } = self;
        let parts = [
            ("Credential", credential.is_empty()),
            ("Signature", signature.is_empty()),
            ("SignedHeaders", signed_headers.is_none()),
        ];
        let mut missing: String = parts
            .into_iter()
            .filter(|(_, is_missing)| *is_missing)
            .map(|(name, _)| format!("Authorization header requires '{name}' parameter. "))
            .collect();
        if date.is_none() {
            missing.push_str(
                "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' \
                 header. ",
            );
        }
        match (signed_headers, date) {
            (Some(signed_headers), Some(date)) if missing.is_empty() => {
                Ok(CompleteAuthorization { algorithm, credential, signature, signed_headers, date })
            }
            _ => Err(refusal::incomplete(format!("{missing}Authorization={text}"))),
        }
    }
}

impl CompleteAuthorization<'_> {
    /// Checks that the signature was made with the one algorithm that is understood.
    pub(super) fn check_algorithm(&self) -> Result<()> {
        if self.algorithm == ALGORITHM {
            return Ok(());
        }
        Err(refusal::incomplete(format!(
            "Unsupported AWS 'algorithm': '{}' (only {ALGORITHM} for now). ",
            self.algorithm
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static DATE: HeaderValue = HeaderValue::from_static("20150830T123600Z");

    fn refused(text: &str, date: Option<&HeaderValue>) -> (&'static str, String) {
        let error = Authorization::read(text).and_then(|read| read.complete(date)).unwrap_err();
        (error.code(), error.message().to_owned())
    }

    #[test]
    fn the_parts_are_separated_by_commas_or_spaces_in_any_order() {
        for text in [
            "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=c;d, Signature=e",
            "AWS4-HMAC-SHA256 Signature=e,Credential=a/b,SignedHeaders=c;d",
            "  AWS4-HMAC-SHA256\tSignedHeaders=c;d Credential=a/b  Signature=e Other=f ",
        ] {
            let complete = Authorization::read(text).unwrap().complete(Some(&DATE)).unwrap();
            complete.check_algorithm().unwrap();
            assert_eq!(complete.credential, "a/b", "{text}");
            assert_eq!(complete.signature, "e", "{text}");
            assert_eq!(complete.signed_headers, "c;d", "{text}");
        }
    }

    #[test]
    fn what_is_no_signature_of_version_4_counts_as_none() {
        for text in ["", "AWS4", "Basic dXNlcjpwYXNz", "Bearer abc", "AWS a:b", "aws4-hmac-sha256"]
        {
            let error = Authorization::read(text).unwrap_err();
            assert_eq!(error.code(), "MissingAuthenticationTokenException", "{text}");
            assert_eq!(error.message(), "Request is missing Authentication Token", "{text}");
        }
    }

    #[test]
    fn everything_that_is_missing_is_named_at_once() {
        const CREDENTIAL: &str = "Authorization header requires 'Credential' parameter. ";
        const SIGNATURE: &str = "Authorization header requires 'Signature' parameter. ";
        const HEADERS: &str = "Authorization header requires 'SignedHeaders' parameter. ";
        const EITHER: &str = "Authorization header requires existence of either a 'X-Amz-Date' or a \
                            'Date' header. ";
        let date = Some(&DATE);
        for (text, date, missing) in [
            ("AWS4-", None, [CREDENTIAL, SIGNATURE, HEADERS, EITHER].concat()),
            ("AWS4- Signature=b, Credential=a", date, HEADERS.to_owned()),
            ("AWS4- Signature=b,SignedHeaders=", date, CREDENTIAL.to_owned()),
            (
                "AWS4- Credential=,SignedHeaders=a Signature=",
                date,
                [CREDENTIAL, SIGNATURE].concat(),
            ),
            ("AWS4- Credential=a,SignedHeaders=b Signature=c", None, EITHER.to_owned()),
        ] {
            let expected = format!("{missing}Authorization={text}");
            assert_eq!(refused(text, date), ("IncompleteSignatureException", expected));
        }
    }

    #[test]
    fn a_part_without_a_name_is_refused_before_a_missing_one() {
        let text = "AWS4-HMAC-SHA256 Credential=AKID /20210706/us-east-2/dynamodb/aws4_request";
        assert_eq!(
            refused(text, None),
            (
                "IncompleteSignatureException",
                format!(
                    "'/20210706/us-east-2/dynamodb/aws4_request' not a valid key=value pair \
                     (missing equal-sign) in Authorization header: '{text}'."
                )
            )
        );
    }

    #[test]
    fn only_one_algorithm_is_understood() {
        let text = "AWS4-HMAC-SHA25 Credential=a SignedHeaders=b Signature=c";
        let complete = Authorization::read(text).unwrap().complete(Some(&DATE)).unwrap();
        let error = complete.check_algorithm().unwrap_err();
        assert_eq!(error.code(), "IncompleteSignatureException");
        assert_eq!(
            error.message(),
            "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for now). "
        );
    }

    #[test]
    fn a_signature_in_the_query_string_is_refused() {
        let all = "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-SignedHeaders=d\
                   &X-Amz-Date=e";
        for (uri, header, code, message) in [
            (
                all,
                None,
                "MissingAuthenticationTokenException",
                "Signatures in the query string are not supported: sign with an Authorization \
                 header",
            ),
            (
                "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d",
                None,
                "IncompleteSignatureException",
                "AWS query-string parameters must include 'X-Amz-SignedHeaders'. Re-examine the \
                 query-string parameters.",
            ),
            (
                "/?X-Amz-Algorithm",
                None,
                "IncompleteSignatureException",
                "AWS query-string parameters must include 'X-Amz-Algorithm'. \
                 AWS query-string parameters must include 'X-Amz-Credential'. \
                 AWS query-string parameters must include 'X-Amz-Signature'. \
                 AWS query-string parameters must include 'X-Amz-SignedHeaders'. \
                 AWS query-string parameters must include 'X-Amz-Date'. \
                 Re-examine the query-string parameters.",
            ),
            (
                "/?X-Amz-Algorithm",
                Some("X"),
                "InvalidSignatureException",
                "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP \
                 header.",
            ),
            (
                "/?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d",
                None,
                "MissingAuthenticationTokenException",
                "Request is missing Authentication Token",
            ),
        ] {
            let mut request = http::Request::post(uri);
            if let Some(header) = header {
                request = request.header(AUTHORIZATION, header);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            let error = text(&parts).unwrap_err();
            assert_eq!((error.code(), error.message()), (code, message), "{uri}");
        }
    }
}
