//! Conversion of a verified request into the one that `s3s` executes: without its signature, and with
//! a body that is verified while it is read.

use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, RANGE,
    TRANSFER_ENCODING,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body::Body;
use http_body_util::BodyExt;
use s3s::dto::{Timestamp, TimestampFormat};
use tabla_core::blobs::{Checksum, bad_digest};

use super::checksums;
use super::payload::{BoxError, ChunkDecoder, Decoding, Trailer, VerifiedBody};
use super::query::Query;
use super::refusal::{
    INVALID_ARGUMENT, INVALID_URI, MESSAGE_TOO_LONG, MISSING_CONTENT_LENGTH, Refusal,
};
use super::verify::{CONTENT_SHA256, Payload, Verified};
use super::xml;
use crate::sign::encode;

/// Largest body that is read whole, in bytes: a list of 10,000 parts or of 1000 keys in XML
/// is smaller.
const WHOLE: u64 = 8 << 20;

const DECODED_LENGTH: HeaderName = HeaderName::from_static("x-amz-decoded-content-length");

/// Parameters of a presigned URL that are the signature itself.
const SIGNATURE: [&str; 8] = [
    "X-Amz-Algorithm",
    "X-Amz-Content-Sha256",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-Security-Token",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
];

/// Mark of a request whose signature is verified, in its extensions. Only this module creates it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admitted(());

/// Converts headers and query: removes the signature, and moves `x-amz-*` parameters of a presigned
/// URL to the headers, where presigners that sign them in the query expect S3 to read them.
///
/// A checksum of no bytes is dropped, because it says nothing about the body: a presigner signs it if
/// it has no body yet, as that of the SDK for JavaScript does by default. S3 ignores every checksum in
/// a query; here, any other one is verified.
///
/// # Errors
/// `InvalidArgument`: a parameter is no valid header, or the header has another value.
pub(super) fn take_signature(
    head: &mut Parts,
    query: &mut Query,
    verified: &Verified,
) -> Result<(), Refusal> {
    for name in [AUTHORIZATION.as_str(), "x-amz-date", "x-amz-security-token", CONTENT_SHA256] {
        head.headers.remove(name);
    }
    if !verified.is_presigned {
        return Ok(());
    }
    query.remove(|name| SIGNATURE.contains(&name));
    let is_header =
        |name: &str| name.get(..6).is_some_and(|prefix| prefix.eq_ignore_ascii_case("x-amz-"));
    for (name, value) in query.remove(is_header) {
        if checksums::is_without_body(&name, &value) {
            continue;
        }
        let refuse = || {
            let message =
                format!("the query parameter {name} is no header, or one with another value");
            Refusal::new(INVALID_ARGUMENT, message)
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refuse())?;
        let value = HeaderValue::from_str(&value).map_err(|_| refuse())?;
        match head.headers.get(&name) {
            Some(given) if given != value => return Err(refuse()),
            Some(_) => {}
            None => drop(head.headers.insert(name, value)),
        }
    }
    Ok(())
}

/// Removes headers of a read that HTTP tells a server to ignore, and that `s3s` refuses: a range of
/// another form than one range of bytes, and a condition with a malformed time.
pub(super) fn drop_malformed(headers: &mut HeaderMap) {
    let is_range = |text: &str| s3s::dto::Range::parse(text).is_ok();
    let is_time = |text: &str| Timestamp::parse(TimestampFormat::HttpDate, text).is_ok();
    let mut keep = |name: HeaderName, is_valid: &dyn Fn(&str) -> bool| {
        let text = headers.get(&name).map(|value| value.to_str().is_ok_and(is_valid));
        if text == Some(false) {
            headers.remove(name);
        }
    };
    keep(RANGE, &is_range);
    keep(IF_MODIFIED_SINCE, &is_time);
    keep(IF_UNMODIFIED_SINCE, &is_time);
}

/// Whether a path names an object, and not a bucket.
pub(super) fn is_object(path: &str) -> bool {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split_once('/').is_some_and(|(_, key)| !key.is_empty())
}

/// Returns the request for `s3s`. The body of an object or part is a stream; any other one is
/// read whole.
///
/// # Errors
/// S3's: no length, or a malformed one; a body that is too long, or that is not the signed one.
pub(super) async fn request<B>(
    mut head: Parts,
    path: &str,
    query: &Query,
    verified: Verified,
    body: B,
) -> Result<Request<s3s::Body>, Refusal>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let is_streamed = head.method == Method::PUT
        && is_object(path)
        && !head.headers.contains_key("x-amz-copy-source");
    let (length, decoding) = decoding(&mut head.headers, verified.payload, || {
        // A request without a body needs no length, unless it writes an object.
        !is_streamed && body.size_hint().exact() == Some(0)
    })?;
    let body = VerifiedBody::new(body, length, decoding);
    let body = if is_streamed && length > 0 {
        s3s::Body::http_body_unsync(body)
    } else if length > WHOLE {
        return Err(Refusal::new(MESSAGE_TOO_LONG, "Your request was too big.")
            .detail("MaxMessageLengthBytes", WHOLE.to_string()));
    } else {
        let bytes = body.collect().await?.to_bytes();
        // In the completion of an upload, the checksums are those of the object.
        if !is_object(path) {
            check_digests(&head.headers, &bytes)?;
        }
        s3s::Body::from(xml::without_cdata(bytes))
    };
    let query = query.canonical(None);
    let separator = if query.is_empty() { "" } else { "?" };
    let uri = format!("{}{separator}{query}", encode(path, true));
    head.uri = Uri::try_from(uri)
        .map_err(|_| Refusal::new(INVALID_URI, "Couldn't parse the specified URI."))?;
    head.extensions.insert(Admitted(()));
    Ok(Request::from_parts(head, body))
}

/// Returns the decoded length of a body and how it is decoded. The headers become those of the
/// decoded body.
fn decoding(
    headers: &mut HeaderMap,
    payload: Payload,
    is_empty: impl FnOnce() -> bool,
) -> Result<(u64, Decoding), Refusal> {
    let Payload::Chunked { signer, has_trailer } = payload else {
        Trailer::declared(headers, false)?;
        let length = match length(headers, &CONTENT_LENGTH)? {
            Some(length) if !headers.contains_key(TRANSFER_ENCODING) => length,
            None if is_empty() => 0,
            _ => return Err(missing_length("Content-Length")),
        };
        let decoding = match payload {
            Payload::Hash(hash) => Decoding::Hash(hash),
            _ => Decoding::None,
        };
        return Ok((length, decoding));
    };
    let trailer = Trailer::declared(headers, has_trailer)?;
    let length = length(headers, &DECODED_LENGTH)?
        .ok_or_else(|| missing_length("x-amz-decoded-content-length"))?;
    headers.remove(DECODED_LENGTH);
    headers.remove(TRANSFER_ENCODING);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    remove_coding(headers)?;
    Ok((length, Decoding::Chunked(Box::new(ChunkDecoder::new(signer, trailer)))))
}

/// Removes `aws-chunked` from the codings of the content: it is not stored.
fn remove_coding(headers: &mut HeaderMap) -> Result<(), Refusal> {
    let Some(codings) = headers.remove(CONTENT_ENCODING) else { return Ok(()) };
    let codings = codings
        .to_str()
        .map_err(|_| Refusal::new(INVALID_ARGUMENT, "the header content-encoding is not ASCII"))?;
    let stored: Vec<&str> = codings
        .split(',')
        .map(str::trim)
        .filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("aws-chunked"))
        .collect();
    if let Some(value) =
        HeaderValue::from_str(&stored.join(",")).ok().filter(|_| !stored.is_empty())
    {
        headers.insert(CONTENT_ENCODING, value);
    }
    Ok(())
}

/// Parses a header with a length.
fn length(headers: &HeaderMap, name: &HeaderName) -> Result<Option<u64>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let digits = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let length = digits.and_then(|digits| digits.parse().ok());
    match (length, values.next()) {
        (Some(length), None) => Ok(Some(length)),
        _ => Err(Refusal::new(INVALID_ARGUMENT, format!("the header {name} is no length"))
            .detail("ArgumentName", name.as_str())),
    }
}

fn missing_length(name: &str) -> Refusal {
    let message = format!("You must provide the {name} HTTP header.");
    Refusal::new(MISSING_CONTENT_LENGTH, message)
}

/// Compares a body with the checksums in the headers.
fn check_digests(headers: &HeaderMap, bytes: &Bytes) -> Result<(), Refusal> {
    for expected in checksums::expected(headers)? {
        let found = Checksum::of(expected.algorithm(), bytes);
        if found != expected {
            return Err(bad_digest(&expected, &found).into());
        }
    }
    Ok(())
}
