//! Parser of the `Authorization` header.

use std::borrow::Cow;

use http::HeaderValue;
use http::header::AUTHORIZATION;
use http::request::Parts;
use tabla_core::Result;

use super::refusal;

/// Name of the supported signature algorithm.
pub(super) const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Parameters of a signature in the query string, in the order in which errors name them.
const IN_QUERY: [&str; 5] =
    ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date"];

/// Returns the text of the `Authorization` header.
///
/// # Errors
/// The request is not signed, or its signature is in the query string.
pub(super) fn text(parts: &Parts) -> Result<Cow<'_, str>> {
    let query = parts.uri.query().unwrap_or_default();
    let in_query = parameter(query, IN_QUERY[0]).is_some();
    match parts.headers.get(AUTHORIZATION) {
        Some(_) if in_query => Err(refusal::invalid(
            "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP \
             header.",
        )),
        // Bytes that are not UTF-8 match no key and no signature; the text is needed for errors.
        Some(value) => Ok(String::from_utf8_lossy(value.as_bytes())),
        None if in_query => Err(signed_in_query(query)),
        None => Err(refusal::unsigned()),
    }
}

/// Returns the error for a signature in the query string, which names missing parameters. DynamoDB
/// accepts such signatures; this server does not, because no SDK sends them.
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

/// Returns the value of a parameter of the query string, or an empty text if it has no value.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Parsed `Authorization` header, of which parts may be missing.
#[derive(Debug)]
pub(super) struct Authorization<'a> {
    text: &'a str,
    algorithm: &'a str,
    credential: &'a str,
    signature: &'a str,
    /// Names of the signed headers. The list may be empty, but not missing.
    signed_headers: Option<&'a str>,
}

/// Parsed `Authorization` header with all its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompleteAuthorization<'a> {
    pub(super) algorithm: &'a str,
    /// Access key id and scope, separated by slashes.
    pub(super) credential: &'a str,
    pub(super) signature: &'a str,
    pub(super) signed_headers: &'a str,
    /// Header with the time of the signature.
    pub(super) date: &'a HeaderValue,
}

impl<'a> Authorization<'a> {
    /// Parses the header. Its parts are separated by commas, spaces or both.
    ///
    /// # Errors
    /// The text is not a signature of version 4, or has a part without a name.
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

    /// Returns all parts, with the date of the signature.
    ///
    /// # Errors
    /// One error that names everything that is missing.
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
    /// Checks that the algorithm is supported.
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
    fn parts_are_separated_by_commas_or_spaces_in_any_order() {
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
    fn header_that_is_not_a_version_4_signature_counts_as_missing() {
        for text in ["", "AWS4", "Basic dXNlcjpwYXNz", "Bearer abc", "AWS a:b", "aws4-hmac-sha256"]
        {
            let error = Authorization::read(text).unwrap_err();
            assert_eq!(error.code(), "MissingAuthenticationTokenException", "{text}");
            assert_eq!(error.message(), "Request is missing Authentication Token", "{text}");
        }
    }

    #[test]
    fn error_names_all_missing_parts() {
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
    fn part_without_a_name_is_reported_before_missing_parts() {
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
    fn other_algorithms_are_refused() {
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
    fn signature_in_the_query_string_is_refused() {
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
