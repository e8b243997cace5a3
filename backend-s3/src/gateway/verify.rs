//! Verification of the signature of a request: Signature Version 4, in the header `Authorization` or
//! in the query of a presigned URL.
//!
//! Everything that decides what is executed is verified here, by the injected clock, before the body
//! is read. `s3s` receives the request without its signature.

mod canonical;
mod scope;
mod signed;
mod time;

use http::HeaderMap;
use http::request::Parts;
use tabla_core::env::Timestamp;

use self::canonical::DerivedKey;
use self::scope::Scope;
use self::signed::{Place, Signed};
use super::keys::Keys;
use super::query::Query;
use super::refusal::{
    ACCESS_DENIED, INVALID_ACCESS_KEY_ID, INVALID_ARGUMENT, INVALID_TOKEN, NOT_IMPLEMENTED,
    Refusal, SIGNATURE_DOES_NOT_MATCH,
};

pub(super) use self::canonical::{hash, hexadecimal};

/// Header with the hash or the kind of the body.
pub(super) const CONTENT_SHA256: &str = "x-amz-content-sha256";

/// Request whose signature is valid.
#[derive(Debug)]
pub(super) struct Verified {
    /// How the body is signed.
    pub(super) payload: Payload,
    /// Whether the signature was in the query.
    pub(super) is_presigned: bool,
}

/// How the body of a request is signed.
#[derive(Debug)]
pub(super) enum Payload {
    /// Not at all. Checksums in signed headers may cover it.
    Unsigned,
    /// By its SHA-256.
    Hash([u8; 32]),
    /// In chunks, each with a signature if there is a signer.
    Chunked { signer: Option<ChunkSigner>, has_trailer: bool },
}

/// Key, time and scope with which the chunks of a body are signed.
#[derive(Debug)]
pub(super) struct ChunkSigner {
    key: DerivedKey,
    time: String,
    scope: String,
    /// Signature of the request, then of each chunk: each covers the one before.
    previous: String,
}

impl ChunkSigner {
    /// Verifies the signature of the next chunk, given the SHA-256 of its bytes.
    pub(super) fn is_chunk(&mut self, hash_of_chunk: &str, given: &[u8]) -> bool {
        let empty = hash(b"");
        let lines = format!("{empty}\n{hash_of_chunk}");
        let is_signature = self.verify("AWS4-HMAC-SHA256-PAYLOAD", &lines, given);
        if is_signature {
            self.previous = String::from_utf8_lossy(given).into_owned();
        }
        is_signature
    }

    /// Verifies the signature of the trailer, given its canonical form.
    pub(super) fn is_trailer(&self, canonical: &[u8], given: &[u8]) -> bool {
        self.verify("AWS4-HMAC-SHA256-TRAILER", &hash(canonical), given)
    }

    fn verify(&self, kind: &str, lines: &str, given: &[u8]) -> bool {
        let Self { key, time, scope, previous } = self;
        key.is_signature(&format!("{kind}\n{time}\n{scope}\n{previous}\n{lines}"), given)
    }
}

/// Verifies the signature of a request.
///
/// # Errors
/// S3's: no signature or an incomplete one, a time outside the allowed skew or expiry, an unsigned
/// header, an unknown key, a session token of another key, a signature that does not match.
pub(super) fn verify(
    keys: &Keys,
    head: &Parts,
    path: &str,
    query: &Query,
    now: Timestamp,
) -> Result<Verified, Refusal> {
    let signed = Signed::read(head, query)?;
    match signed.place {
        Place::Header => signed.time.check_skew(now)?,
        Place::Query(expiry) => signed.time.check_expiry(expiry, now)?,
    }
    check_cover(&head.headers, &signed)?;
    let scope = signed.scope;
    let key = keys.find(scope.key_id, signed.token).ok_or_else(|| {
        let message = "The AWS Access Key Id you provided does not exist in our records.";
        Refusal::new(INVALID_ACCESS_KEY_ID, message).detail("AWSAccessKeyId", scope.key_id)
    })?;
    let derived = DerivedKey::derive(key.secret, &scope);
    check_signature(head, path, query, &signed, &derived)?;
    if !key.has_token {
        let message = "The provided token is malformed or otherwise invalid.";
        return Err(Refusal::new(INVALID_TOKEN, message));
    }
    let is_presigned = matches!(signed.place, Place::Query(_));
    let payload = payload(&signed, scope, derived)?;
    if is_presigned && matches!(payload, Payload::Chunked { .. }) {
        return Err(Refusal::new(
            NOT_IMPLEMENTED,
            "chunk-signed payloads of presigned URLs are not implemented; send the body as it is",
        ));
    }
    Ok(Verified { payload, is_presigned })
}

/// Checks that the signature covers the host and every `x-amz-*` header. Without this, the holder of
/// a presigned URL could add headers, such as `x-amz-copy-source`.
fn check_cover(headers: &HeaderMap, signed: &Signed<'_>) -> Result<(), Refusal> {
    let is_signed = |name: &str| signed.headers.iter().any(|given| given == name);
    let must_be_signed = |name: &&str| {
        // The hash of the body is a line of its own in the text that is signed.
        *name == "host" || name.starts_with("x-amz-") && *name != CONTENT_SHA256
    };
    let given = headers.keys().map(|name| name.as_str());
    let mut not_signed: Vec<&str> =
        given.filter(must_be_signed).filter(|name| !is_signed(name)).collect();
    if !headers.contains_key("host") && !is_signed("host") {
        not_signed.push("host");
    }
    if not_signed.is_empty() {
        return Ok(());
    }
    not_signed.sort_unstable();
    let message = "There were headers present in the request which were not signed";
    Err(Refusal::new(ACCESS_DENIED, message).detail("HeadersNotSigned", not_signed.join(", ")))
}

/// Compares the signature with that of the canonical request.
fn check_signature(
    head: &Parts,
    path: &str,
    query: &Query,
    signed: &Signed<'_>,
    key: &DerivedKey,
) -> Result<(), Refusal> {
    let without = match signed.place {
        Place::Header => None,
        Place::Query(_) => Some(signed::SIGNATURE),
    };
    let query = query.canonical(without);
    let requests = canonical::requests(head, path, &query, &signed.headers, signed.payload);
    let to_sign = |request: &[u8]| canonical::string_to_sign(&signed.time, &signed.scope, request);
    let is_match = requests
        .iter()
        .any(|request| key.is_signature(&to_sign(request), signed.signature.as_bytes()));
    // A signed header that is missing has the canonical form of an empty one.
    let is_missing = |name: &str| !head.headers.contains_key(name);
    if is_match && !signed.headers.iter().any(|name| is_missing(name)) {
        return Ok(());
    }
    let message = "The request signature we calculated does not match the signature you provided. \
                   Check your key and signing method.";
    let refusal = Refusal::new(SIGNATURE_DOES_NOT_MATCH, message)
        .detail("AWSAccessKeyId", signed.scope.key_id);
    // The first one is the documented form. Neither text contains a secret.
    Err(match requests.first() {
        Some(request) => refusal
            .detail("StringToSign", to_sign(request))
            .detail("CanonicalRequest", String::from_utf8_lossy(request)),
        None => refusal,
    })
}

/// How the body is signed, by the value that stands for it in the canonical request.
fn payload(signed: &Signed<'_>, scope: Scope<'_>, key: DerivedKey) -> Result<Payload, Refusal> {
    let signer = ChunkSigner {
        key,
        time: signed.time.text().to_owned(),
        scope: scope.text.to_owned(),
        previous: signed.signature.to_owned(),
    };
    match signed.payload {
        "UNSIGNED-PAYLOAD" => Ok(Payload::Unsigned),
        "STREAMING-UNSIGNED-PAYLOAD-TRAILER" => {
            Ok(Payload::Chunked { signer: None, has_trailer: true })
        }
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" => {
            Ok(Payload::Chunked { signer: Some(signer), has_trailer: false })
        }
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER" => {
            Ok(Payload::Chunked { signer: Some(signer), has_trailer: true })
        }
        other if other.starts_with("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD") => {
            Err(Refusal::new(NOT_IMPLEMENTED, "AWS4-ECDSA-P256-SHA256 is not implemented"))
        }
        other => parse_hash(other).map(Payload::Hash).ok_or_else(|| {
            Refusal::new(
                INVALID_ARGUMENT,
                "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, \
                 STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, \
                 STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or a valid sha256 value.",
            )
            .detail("ArgumentName", CONTENT_SHA256)
            .detail("ArgumentValue", other)
        }),
    }
}

/// Parses 64 hexadecimal digits.
fn parse_hash(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| pair.iter().fold(0, |all, digit| all << 4 | digit)).collect();
    (digits.len() == 64).then(|| bytes.try_into().ok())?
}

#[cfg(test)]
mod tests;
