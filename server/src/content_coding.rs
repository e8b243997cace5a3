//! Compressed bodies: decoding those of requests, and the choice of a coding for responses.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::{GzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use tabla_core::{Error, Result};

use crate::error_response::TOO_LARGE;
use crate::request::SERIALIZATION;

/// Size below which a response is not compressed, in bytes: compression would save no packet.
const WORTH_COMPRESSING: usize = 1024;

/// Coding of a compressed body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentCoding {
    Gzip,
    Deflate,
}

impl ContentCoding {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Gzip, Self::Deflate].into_iter().find(|it| it.as_str().eq_ignore_ascii_case(name))
    }
}

/// Returns the body of a request, decompressed if its `Content-Encoding` says so. A body of more
/// than `limit` bytes is refused.
pub(crate) fn decompress(headers: &HeaderMap, body: Bytes, limit: usize) -> Result<Bytes> {
    let Some(name) = headers.get(CONTENT_ENCODING) else { return Ok(body) };
    let name = name.to_str().unwrap_or_default().trim();
    if name.is_empty() || name.eq_ignore_ascii_case("identity") {
        return Ok(body);
    }
    match ContentCoding::named(name) {
        Some(ContentCoding::Gzip) => inflated(GzDecoder::new(&*body), limit),
        Some(ContentCoding::Deflate) => inflated(ZlibDecoder::new(&*body), limit),
        None => Err(Error::validation(format!(
            "the Content-Encoding {name} is not supported: use gzip, deflate or none"
        ))
        .with_code(SERIALIZATION)),
    }
}

fn inflated(reader: impl Read, limit: usize) -> Result<Bytes> {
    let mut body = Vec::new();
    reader.take(limit as u64 + 1).read_to_end(&mut body).map_err(|error| {
        Error::validation(format!("the body cannot be decompressed: {error}"))
            .with_code(SERIALIZATION)
    })?;
    if body.len() > limit {
        return Err(too_large(limit));
    }
    // The capacity is what the request holds in memory, and what is counted.
    body.shrink_to_fit();
    Ok(body.into())
}

/// Returns the error of a body with more bytes than the limit.
pub(crate) fn too_large(limit: usize) -> Error {
    Error::validation(format!("Request size exceeds the limit of {limit} bytes"))
        .with_code(TOO_LARGE)
}

/// Chooses the coding of a response of this length from the `Accept-Encoding` of its request.
pub(crate) fn negotiate(headers: &HeaderMap, length: usize) -> Option<ContentCoding> {
    if length < WORTH_COMPRESSING {
        return None;
    }
    let accepted = headers.get(ACCEPT_ENCODING)?.to_str().ok()?;
    let mut names = accepted.split(',').filter_map(|part| {
        let (name, parameter) = part.split_once(';').unwrap_or((part, ""));
        let refused = parameter.trim().strip_prefix("q=").is_some_and(is_zero);
        (!refused).then(|| name.trim())
    });
    names.find_map(ContentCoding::named)
}

/// Whether a quality value excludes its coding: 0, 0.0, 0.00 or 0.000.
fn is_zero(quality: &str) -> bool {
    quality.trim().parse::<f32>().is_ok_and(|quality| quality == 0.0)
}

pub(crate) fn compress(encoding: ContentCoding, body: &[u8]) -> Vec<u8> {
    let out = Vec::with_capacity(body.len() / 4);
    let level = Compression::fast();
    let written = match encoding {
        ContentCoding::Gzip => {
            let mut encoder = GzEncoder::new(out, level);
            encoder.write_all(body).and_then(|()| encoder.finish())
        }
        ContentCoding::Deflate => {
            let mut encoder = ZlibEncoder::new(out, level);
            encoder.write_all(body).and_then(|()| encoder.finish())
        }
    };
    written.expect("writing to a vector does not fail")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(name: http::header::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn compressed_body_is_decompressed_to_the_original() {
        let body = b"{\"TableName\":\"things\"}".repeat(100);
        for encoding in [ContentCoding::Gzip, ContentCoding::Deflate] {
            let packed = compress(encoding, &body);
            assert!(packed.len() < body.len());
            let headers = headers(CONTENT_ENCODING, encoding.as_str());
            assert_eq!(decompress(&headers, packed.into(), body.len()).unwrap(), body);
        }
        let plain = decompress(&HeaderMap::new(), body.clone().into(), 1).unwrap();
        assert_eq!(plain, body, "the listener checks the length of uncompressed bodies");
    }

    #[test]
    fn body_over_the_limit_is_refused_before_it_is_decompressed_completely() {
        let packed = compress(ContentCoding::Gzip, &vec![b' '; 10 << 20]);
        let error = decompress(&headers(CONTENT_ENCODING, "gzip"), packed.into(), 1 << 20);
        assert_eq!(error.unwrap_err().code(), TOO_LARGE);
    }

    #[test]
    fn damaged_bodies_and_unknown_codings_are_refused() {
        for (name, body) in [("gzip", &b"no gzip"[..]), ("deflate", b"no zlib"), ("br", b"{}")] {
            let error = decompress(&headers(CONTENT_ENCODING, name), body.into(), 100).unwrap_err();
            assert_eq!(error.code(), SERIALIZATION, "{name}: {error}");
        }
    }

    #[test]
    fn response_has_a_coding_that_the_client_accepts() {
        for (accept, encoding) in [
            ("gzip", Some(ContentCoding::Gzip)),
            ("deflate, gzip", Some(ContentCoding::Deflate)),
            ("gzip;q=0, deflate;q=0.5", Some(ContentCoding::Deflate)),
            ("identity", None),
            ("br", None),
            ("*", None),
        ] {
            assert_eq!(negotiate(&headers(ACCEPT_ENCODING, accept), 5000), encoding, "{accept}");
        }
        assert_eq!(negotiate(&headers(ACCEPT_ENCODING, "gzip"), 100), None);
        assert_eq!(negotiate(&HeaderMap::new(), 5000), None);
    }
}
