//! Parser of the signature of a request.

use std::borrow::Cow;

use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};

use super::super::query::Query;
use super::super::refusal::{
    ACCESS_DENIED, HEADER_MALFORMED, INVALID_ARGUMENT, INVALID_REQUEST, QUERY_MALFORMED, Refusal,
};
use super::CONTENT_SHA256;
use super::scope::Scope;
use super::time::{Expiry, SigningTime};

/// Name of the supported algorithm.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Parameter of a presigned URL that the signature does not cover.
pub(super) const SIGNATURE: &str = "X-Amz-Signature";

/// Parameters of which any one makes a request a presigned one.
const MARKS: [&str; 3] = ["X-Amz-Algorithm", "X-Amz-Credential", SIGNATURE];

/// Parameters of presigned URLs of Signature Version 2.
const VERSION_2: [&str; 2] = ["AWSAccessKeyId", "Signature"];

const SECURITY_TOKEN: &str = "x-amz-security-token";

/// Parsed signature.
#[derive(Debug)]
pub(super) struct Signed<'a> {
    pub(super) place: Place,
    pub(super) scope: Scope<'a>,
    pub(super) time: SigningTime,
    /// Names of the signed headers: in lower case, sorted, without duplicates.
    pub(super) headers: Vec<Cow<'a, str>>,
    pub(super) signature: &'a str,
    /// Value that stands for the body in the canonical request.
    pub(super) payload: &'a str,
    /// Session token.
    pub(super) token: Option<&'a [u8]>,
}

/// Where the signature was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the header `Authorization`.
    Header,
    /// In the query, with an expiry.
    Query(Expiry),
}

impl<'a> Signed<'a> {
    /// Parses the signature of a request.
    ///
    /// # Errors
    /// S3's: no signature, two of them, one of another version, or a malformed one.
    pub(super) fn read(head: &'a Parts, query: &'a Query) -> Result<Self, Refusal> {
        let in_query = MARKS.iter().any(|name| query.has(name));
        let is_version_2 = VERSION_2.iter().any(|name| query.has(name));
        let mut given = head.headers.get_all(AUTHORIZATION).iter();
        let header = given.next();
        let count = usize::from(header.is_some())
            + usize::from(given.next().is_some())
            + usize::from(in_query)
            + usize::from(is_version_2);
        if count > 1 {
            return Err(Refusal::new(
                INVALID_ARGUMENT,
                "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, \
                 Signature query string parameter or the Authorization header should be specified",
            ));
        }
        match header {
            _ if is_version_2 => Err(version_2()),
            Some(header) => Self::in_header(head, header),
            None if in_query => Self::in_query(head, query),
            None => Err(Refusal::new(
                ACCESS_DENIED,
                "Access Denied: the request is not signed; sign it with an access key",
            )),
        }
    }

    fn in_header(head: &'a Parts, header: &'a HeaderValue) -> Result<Self, Refusal> {
        let malformed = |what: &str| {
            let message = format!("The authorization header is malformed; {what}");
            Refusal::new(HEADER_MALFORMED, message)
        };
        let text = header.to_str().map_err(|_| malformed("it is not ASCII."))?.trim();
        let (algorithm, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        match algorithm {
            ALGORITHM => {}
            "AWS" => return Err(version_2()),
            _ => {
                return Err(Refusal::new(INVALID_ARGUMENT, "Unsupported Authorization Type")
                    .detail("ArgumentName", "Authorization"));
            }
        }
        let (mut credential, mut headers, mut signature) = (None, None, None);
        for part in rest.split([',', ' ', '\t']).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let place = match name {
                "Credential" => &mut credential,
                "SignedHeaders" => &mut headers,
                "Signature" => &mut signature,
                _ => return Err(malformed(&format!("it has the unknown part `{name}`."))),
            };
            if place.replace(value).is_some() {
                return Err(malformed(&format!("it has `{name}` twice.")));
            }
        }
        let (Some(credential), Some(headers), Some(signature)) = (credential, headers, signature)
        else {
            return Err(malformed("it needs Credential, SignedHeaders and Signature."));
        };
        let time = one(&head.headers, "x-amz-date")?.and_then(SigningTime::of_header);
        let time = time.ok_or_else(|| {
            let message = "AWS authentication requires a valid x-amz-date header";
            Refusal::new(ACCESS_DENIED, message)
        })?;
        let scope = Scope::parse(credential)
            .ok_or_else(|| malformed("the Credential is not id/day/region/s3/aws4_request."))?;
        scope.check(time.day()).map_err(|what| malformed(&what))?;
        let payload = one(&head.headers, CONTENT_SHA256)?.map(HeaderValue::to_str);
        let payload = payload.and_then(Result::ok).ok_or_else(|| {
            Refusal::new(
                INVALID_REQUEST,
                "Missing required header for this request: x-amz-content-sha256",
            )
        })?;
        Ok(Self {
            place: Place::Header,
            scope,
            time,
            headers: header_names(headers),
            signature,
            payload,
            token: one(&head.headers, SECURITY_TOKEN)?.map(HeaderValue::as_bytes),
        })
    }

    fn in_query(head: &'a Parts, query: &'a Query) -> Result<Self, Refusal> {
        let malformed = |message: String| Refusal::new(QUERY_MALFORMED, message);
        let required = |name| {
            let given = query.get(name)?.filter(|value| !value.is_empty());
            given.ok_or_else(|| {
                malformed(
                    "Query-string authentication version 4 requires the X-Amz-Algorithm, \
                     X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and \
                     X-Amz-Expires parameters."
                        .to_owned(),
                )
            })
        };
        let algorithm = required("X-Amz-Algorithm")?;
        let credential = required("X-Amz-Credential")?;
        let signature = required(SIGNATURE)?;
        let time = required("X-Amz-Date")?;
        // An empty list does not cover the host, which is an error of its own.
        let headers = query
            .get("X-Amz-SignedHeaders")?
            .map_or_else(|| required("X-Amz-SignedHeaders"), Ok)?;
        let expiry = Expiry::parse(required("X-Amz-Expires")?)?;
        if algorithm != ALGORITHM {
            return Err(malformed(format!("X-Amz-Algorithm only supports \"{ALGORITHM}\"")));
        }
        let time = SigningTime::parse(time).ok_or_else(|| {
            let format = "yyyyMMdd'T'HHmmss'Z'";
            malformed(format!("X-Amz-Date must be in the ISO8601 Long Format \"{format}\""))
        })?;
        let credential_error =
            |what: &str| malformed(format!("Error parsing the X-Amz-Credential parameter; {what}"));
        let scope = Scope::parse(credential).ok_or_else(|| {
            credential_error(
                "the Credential is mal-formed; expecting \
                 \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".",
            )
        })?;
        scope.check(time.day()).map_err(|what| credential_error(&what))?;
        let payload = match one(&head.headers, CONTENT_SHA256)? {
            // A value that is no text matches no hash and no kind.
            Some(value) => value.to_str().unwrap_or_default(),
            None => query.get("X-Amz-Content-Sha256")?.unwrap_or("UNSIGNED-PAYLOAD"),
        };
        let token = match query.get("X-Amz-Security-Token")? {
            Some(token) => Some(token.as_bytes()),
            None => one(&head.headers, SECURITY_TOKEN)?.map(HeaderValue::as_bytes),
        };
        Ok(Self {
            place: Place::Query(expiry),
            scope,
            time,
            headers: header_names(headers),
            signature,
            payload,
            token,
        })
    }
}

/// Returns the value of a header.
///
/// # Errors
/// `InvalidArgument`: there are several.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a HeaderValue>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    match values.next() {
        None => Ok(first),
        Some(_) => {
            let message = format!("the header {name} is given more than once");
            Err(Refusal::new(INVALID_ARGUMENT, message).detail("ArgumentName", name))
        }
    }
}

fn header_names(text: &str) -> Vec<Cow<'_, str>> {
    let names = text.split(';').filter(|name| !name.is_empty());
    let mut names: Vec<Cow<'_, str>> = names
        .map(|name| match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(name.to_ascii_lowercase()),
            false => Cow::Borrowed(name),
        })
        .collect();
    // Without this, a header that is named a thousand times would be written a thousand times.
    names.sort_unstable();
    names.dedup();
    names
}

fn version_2() -> Refusal {
    Refusal::new(
        INVALID_REQUEST,
        "The authorization mechanism you have provided is not supported. Please use \
         AWS4-HMAC-SHA256. (boto3 and the AWS CLI: set signature_version to s3v4.)",
    )
}
