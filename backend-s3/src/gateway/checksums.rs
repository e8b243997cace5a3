//! Checksums in headers, and as members of `s3s`.

use http::HeaderMap;
use tabla_core::Result;
use tabla_core::blobs::{Checksum, ChecksumAlgorithm, codes, invalid_digest, validation};

use super::payload::{CHECKSUM, stored_algorithm};

/// Algorithm of the checksum that is stored if the client names none, as on S3.
pub(super) const DEFAULT: ChecksumAlgorithm = ChecksumAlgorithm::Crc64Nvme;

/// Header with the algorithm that an SDK has computed. S3 compares it with the checksum.
const SDK_ALGORITHM: &str = "x-amz-sdk-checksum-algorithm";

/// Headers with that prefix that are no checksums.
const NO_CHECKSUMS: [&str; 3] = ["algorithm", "mode", "type"];

/// Checksums that the body of a request must have, by its headers.
///
/// # Errors
/// - `InvalidDigest`: a value is malformed.
/// - `InvalidRequest`: there are several `x-amz-checksum-*` headers.
pub(super) fn expected(headers: &HeaderMap) -> Result<Vec<Checksum>> {
    let mut checksums = Vec::new();
    for (name, value) in headers {
        let algorithm = match name.as_str().strip_prefix(CHECKSUM) {
            _ if name.as_str() == "content-md5" => ChecksumAlgorithm::Md5,
            None => continue,
            Some(name) if NO_CHECKSUMS.contains(&name) => continue,
            Some(name) => stored_algorithm(name).ok_or_else(|| {
                validation(
                    codes::INVALID_REQUEST,
                    format!("the checksum algorithm `{name}` is not supported"),
                )
            })?,
        };
        let text = value.to_str().map_err(|_| invalid_digest(format!("{name} is not ASCII")))?;
        checksums.push(Checksum::decode(algorithm, text)?);
    }
    let stored = checksums.iter().filter(|sum| sum.algorithm() != ChecksumAlgorithm::Md5).count();
    match stored {
        0 | 1 => Ok(checksums),
        _ => Err(validation(
            codes::INVALID_REQUEST,
            "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed."
                .to_owned(),
        )),
    }
}

/// Whether a parameter of a presigned URL is about the checksum of a request that had no body when it
/// was signed: its algorithm, or a checksum of no bytes.
pub(super) fn is_without_body(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == SDK_ALGORITHM
        || name
            .strip_prefix(CHECKSUM)
            .and_then(stored_algorithm)
            .is_some_and(|algorithm| Checksum::of(algorithm, b"").encoded() == value)
}

/// The checksum of an `x-amz-checksum-*` header.
pub(super) fn sent(expected: &[Checksum]) -> Option<Checksum> {
    expected.iter().find(|checksum| checksum.algorithm() != ChecksumAlgorithm::Md5).cloned()
}

/// Algorithm of the checksum to store, by the headers: announced as a trailer, or asked for.
///
/// # Errors
/// `InvalidRequest`: the algorithm is not supported, or announced without a checksum.
pub(super) fn algorithm(
    headers: &HeaderMap,
    has_checksum: bool,
) -> Result<Option<ChecksumAlgorithm>> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(trailer) = text("x-amz-trailer") {
        let name = trailer.trim().to_ascii_lowercase();
        return Ok(name.strip_prefix(CHECKSUM).and_then(stored_algorithm));
    }
    let Some(name) = text(SDK_ALGORITHM) else { return Ok(None) };
    match stored_algorithm(name) {
        Some(_) if has_checksum => Ok(None),
        Some(_) => Err(validation(
            codes::INVALID_REQUEST,
            "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or \
             x-amz-trailer headers were found."
                .to_owned(),
        )),
        None if name.eq_ignore_ascii_case("MD5") => Ok(None),
        None => Err(validation(
            codes::INVALID_REQUEST,
            "Value for x-amz-sdk-checksum-algorithm header is invalid.".to_owned(),
        )),
    }
}

/// Sets the members of an output of `s3s` that contain a checksum.
macro_rules! set_checksum {
    ($output:expr, $checksum:expr) => {
        if let Some(checksum) = $checksum {
            let text = Some(checksum.encoded());
            match checksum.algorithm() {
                tabla_core::blobs::ChecksumAlgorithm::Sha256 => $output.checksum_sha256 = text,
                tabla_core::blobs::ChecksumAlgorithm::Sha1 => $output.checksum_sha1 = text,
                tabla_core::blobs::ChecksumAlgorithm::Crc32 => $output.checksum_crc32 = text,
                tabla_core::blobs::ChecksumAlgorithm::Crc32c => $output.checksum_crc32c = text,
                tabla_core::blobs::ChecksumAlgorithm::Crc64Nvme => {
                    $output.checksum_crc64nvme = text;
                }
                // It is not stored.
                tabla_core::blobs::ChecksumAlgorithm::Md5 => {}
            }
        }
    };
}

/// The checksum among the members of an input of `s3s`.
macro_rules! get_checksum {
    ($input:expr) => {
        [
            (tabla_core::blobs::ChecksumAlgorithm::Sha256, &$input.checksum_sha256),
            (tabla_core::blobs::ChecksumAlgorithm::Sha1, &$input.checksum_sha1),
            (tabla_core::blobs::ChecksumAlgorithm::Crc32, &$input.checksum_crc32),
            (tabla_core::blobs::ChecksumAlgorithm::Crc32c, &$input.checksum_crc32c),
            (tabla_core::blobs::ChecksumAlgorithm::Crc64Nvme, &$input.checksum_crc64nvme),
        ]
        .into_iter()
        .find_map(|(algorithm, text)| {
            Some(tabla_core::blobs::Checksum::decode(algorithm, text.as_deref()?))
        })
        .transpose()
        .map_err($crate::gateway::errors::s3_error)
    };
}

pub(super) use {get_checksum, set_checksum};

/// Name of `s3s` for what a checksum is computed over.
pub(super) fn checksum_type(checksum: &Checksum) -> s3s::dto::ChecksumType {
    s3s::dto::ChecksumType::from_static(match checksum.is_full_object() {
        true => s3s::dto::ChecksumType::FULL_OBJECT,
        false => s3s::dto::ChecksumType::COMPOSITE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let header = |(name, value): &(&'static str, &str)| {
            (http::HeaderName::from_static(name), value.parse().unwrap())
        };
        all.iter().map(header).collect()
    }

    #[test]
    fn checksums_of_headers_are_expected() {
        let given = headers(&[
            ("content-md5", "kAFQmDzST7DWlj99KOF/cg=="),
            ("x-amz-checksum-crc32", "NSRBwg=="),
            ("x-amz-checksum-mode", "ENABLED"),
        ]);
        let algorithms: Vec<_> =
            expected(&given).unwrap().iter().map(Checksum::algorithm).collect();
        assert_eq!(algorithms.len(), 2);
        assert!(algorithms.contains(&ChecksumAlgorithm::Md5));
        for (name, value, code) in [
            ("content-md5", "x", "InvalidDigest"),
            ("x-amz-checksum-crc32", "AA==", "InvalidDigest"),
            ("x-amz-checksum-crc99", "AA==", "InvalidRequest"),
        ] {
            assert_eq!(expected(&headers(&[(name, value)])).unwrap_err().code(), code, "{name}");
        }
        let two = [("x-amz-checksum-crc32", "NSRBwg=="), ("x-amz-checksum-crc32c", "Nks/tw==")];
        assert_eq!(expected(&headers(&two)).unwrap_err().code(), "InvalidRequest");
    }

    #[test]
    fn algorithm_of_a_trailer_is_stored() {
        let trailer = headers(&[
            ("x-amz-trailer", "x-amz-checksum-crc64nvme"),
            ("x-amz-sdk-checksum-algorithm", "CRC64NVME"),
        ]);
        assert_eq!(algorithm(&trailer, false).unwrap(), Some(ChecksumAlgorithm::Crc64Nvme));
        let alone = headers(&[("x-amz-sdk-checksum-algorithm", "CRC32")]);
        assert_eq!(algorithm(&alone, false).unwrap_err().code(), "InvalidRequest");
        assert_eq!(algorithm(&alone, true).unwrap(), None);
    }
}
