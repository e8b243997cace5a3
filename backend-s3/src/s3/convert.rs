//! Conversion of values between core and the SDK: ETags, times, checksums and headers.

use std::time::Duration;

use aws_sdk_s3::types as sdk;
use aws_smithy_types::DateTime;
use tabla_core::blobs::{BlobHeaders, Checksum, ChecksumAlgorithm, ChecksumType};
use tabla_core::env::Timestamp;
use tabla_core::{Applied, Error, ErrorKind, Result};

/// ETag as HTTP has it, in quotes. `*` stands for any and has none.
pub(super) fn quoted(etag: &str) -> String {
    match etag {
        "*" => etag.to_owned(),
        etag => format!("\"{etag}\""),
    }
}

/// ETag without its quotes.
pub(super) fn unquoted(etag: Option<&str>) -> String {
    let etag = etag.unwrap_or_default();
    etag.strip_prefix('"').and_then(|etag| etag.strip_suffix('"')).unwrap_or(etag).to_owned()
}

/// Value from the response to a write, which has been applied even if the response is malformed.
pub(super) fn of_write<T>(value: Result<T>) -> Result<T> {
    value.map_err(|error| error.with_applied(Applied::Maybe))
}

/// ETag in the response to a write.
///
/// # Errors
/// [`ErrorKind::Unexpected`] with [`Applied::Maybe`]: the response has none, so it is none of S3.
pub(super) fn etag_of_write(etag: Option<&str>) -> Result<String> {
    match unquoted(etag) {
        etag if etag.is_empty() => of_write(Err(missing("ETag"))),
        etag => Ok(etag),
    }
}

pub(super) fn time_from_sdk(time: Option<&DateTime>) -> Timestamp {
    let Some(time) = time else { return Timestamp::default() };
    let seconds = Timestamp::from_secs(u64::try_from(time.secs()).unwrap_or(0));
    seconds + Duration::from_nanos(u64::from(time.subsec_nanos()))
}

/// Time in seconds, the precision of HTTP.
pub(super) fn time_to_sdk(time: Timestamp) -> DateTime {
    DateTime::from_secs(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
}

/// Length in bytes or number of a page. The SDK's numbers have a sign.
pub(super) fn number(value: Option<i64>) -> u64 {
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
}

/// Number of a page in a request: at most 1000.
pub(super) fn page(size: usize) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}

/// Error for a response that lacks an element which S3 documents.
pub(super) fn missing(element: &str) -> Error {
    Error::new(ErrorKind::Unexpected, format!("the response of the service has no {element}"))
}

pub(super) fn algorithm_to_sdk(algorithm: ChecksumAlgorithm) -> sdk::ChecksumAlgorithm {
    algorithm.as_str().into()
}

pub(super) fn type_to_sdk(kind: ChecksumType) -> sdk::ChecksumType {
    match kind {
        ChecksumType::FullObject => sdk::ChecksumType::FullObject,
        ChecksumType::Composite => sdk::ChecksumType::Composite,
    }
}

/// Checksum of a response. `None` for one without its number of parts: it cannot be compared.
///
/// # Errors
/// [`ErrorKind::Unexpected`]: the text is no checksum.
pub(super) fn checksum_from_sdk(
    texts: [(ChecksumAlgorithm, Option<&str>); 5],
    kind: Option<&sdk::ChecksumType>,
) -> Result<Option<Checksum>> {
    let Some((algorithm, text)) =
        texts.into_iter().find_map(|(algorithm, text)| Some((algorithm, text?)))
    else {
        return Ok(None);
    };
    let checksum = Checksum::decode(algorithm, text).map_err(|error| {
        let message = format!("the response of the service has a malformed checksum: {error}");
        Error::new(ErrorKind::Unexpected, message).with_source(error)
    })?;
    let is_composite = kind == Some(&sdk::ChecksumType::Composite);
    Ok(Some(checksum).filter(|checksum| !is_composite || !checksum.is_full_object()))
}

/// Checksum of an output of the SDK, whose fields are the same in many types.
macro_rules! stored_checksum {
    ($output:expr, $kind:expr) => {{
        use tabla_core::blobs::ChecksumAlgorithm as Algorithm;
        let output = &$output;
        $crate::s3::convert::checksum_from_sdk(
            [
                (Algorithm::Sha256, output.checksum_sha256()),
                (Algorithm::Sha1, output.checksum_sha1()),
                (Algorithm::Crc32, output.checksum_crc32()),
                (Algorithm::Crc32c, output.checksum_crc32_c()),
                (Algorithm::Crc64Nvme, output.checksum_crc64_nvme()),
            ],
            $kind,
        )
    }};
}
pub(super) use stored_checksum;

/// Sets a checksum on a builder of the SDK. MD5 has a header of its own.
macro_rules! with_checksum {
    ($builder:expr, $checksum:expr) => {{
        use tabla_core::blobs::ChecksumAlgorithm as Algorithm;
        let builder = $builder;
        match $checksum {
            None => builder,
            Some(checksum) => {
                let text = checksum.encoded();
                match checksum.algorithm() {
                    Algorithm::Sha256 => builder.checksum_sha256(text),
                    Algorithm::Sha1 => builder.checksum_sha1(text),
                    Algorithm::Crc32 => builder.checksum_crc32(text),
                    Algorithm::Crc32c => builder.checksum_crc32_c(text),
                    Algorithm::Crc64Nvme => builder.checksum_crc64_nvme(text),
                    Algorithm::Md5 => builder,
                }
            }
        }
    }};
}
pub(super) use with_checksum;

/// Sets stored headers and metadata on a builder of the SDK.
///
/// The SDK has another default for the MIME type than S3, so it is always sent.
macro_rules! with_headers {
    ($builder:expr, $headers:expr, $metadata:expr) => {{
        let headers: tabla_core::blobs::BlobHeaders = $headers;
        let mut builder = $builder
            .content_type(headers.content_type())
            .set_cache_control(headers.cache_control)
            .set_content_disposition(headers.content_disposition)
            .set_content_encoding(headers.content_encoding)
            .set_content_language(headers.content_language);
        for (name, value) in $metadata {
            builder = builder.metadata(name, value);
        }
        builder
    }};
}
pub(super) use with_headers;

/// Sets the condition of a write on a builder of the SDK.
macro_rules! with_condition {
    ($builder:expr, $condition:expr) => {{
        use tabla_core::blobs::WriteCondition as Condition;
        let builder = $builder;
        match $condition {
            Condition::None => builder,
            Condition::IfAbsent => builder.if_none_match("*"),
            Condition::IfMatch(etag) => builder.if_match($crate::s3::convert::quoted(etag)),
        }
    }};
}
pub(super) use with_condition;

/// Headers of a response. S3's default MIME type is that of a blob without one.
pub(super) fn headers_from_sdk(
    content_type: Option<String>,
    cache_control: Option<String>,
    content_disposition: Option<String>,
    content_encoding: Option<String>,
    content_language: Option<String>,
) -> BlobHeaders {
    let mut headers = BlobHeaders::default();
    headers.content_type =
        content_type.filter(|content_type| content_type != BlobHeaders::DEFAULT_CONTENT_TYPE);
    headers.cache_control = cache_control;
    headers.content_disposition = content_disposition;
    headers.content_encoding = content_encoding.and_then(|encoding| without_chunks(&encoding));
    headers.content_language = content_language;
    headers
}

/// Encoding of the stored bytes. S3 removes the encoding `aws-chunked` of a put from it; some
/// engines do not.
fn without_chunks(encoding: &str) -> Option<String> {
    let is_stored = |encoding: &&str| !encoding.is_empty() && *encoding != "aws-chunked";
    let stored: Vec<&str> = encoding.split(',').map(str::trim).filter(is_stored).collect();
    (!stored.is_empty()).then(|| stored.join(","))
}

/// Key of a listing, which is asked for with `encoding-type=url`. `encoding` is that of the response:
/// some engines have none.
///
/// With it, a space is `+`, and other bytes are `%` and two hexadecimal digits.
///
/// # Errors
/// [`ErrorKind::Unexpected`]: the key is not well escaped, or no UTF-8.
pub(super) fn listed_key(
    text: Option<&str>,
    encoding: Option<&sdk::EncodingType>,
) -> Result<String> {
    let text = text.unwrap_or_default();
    if encoding != Some(&sdk::EncodingType::Url) {
        return Ok(text.to_owned());
    }
    let malformed = || {
        let message = format!("the response of the service has the malformed key `{text}`");
        Error::new(ErrorKind::Unexpected, message)
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
                let (high, low) = (digit().ok_or_else(malformed)?, digit().ok_or_else(malformed)?);
                (high * 16 + low) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| malformed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn etags_have_quotes_in_http() {
        assert_eq!(quoted("abc-2"), "\"abc-2\"");
        assert_eq!(quoted("*"), "*");
        assert_eq!(unquoted(Some("\"abc\"")), "abc");
        assert_eq!(unquoted(Some("abc")), "abc");
        assert_eq!(unquoted(None), "");
    }

    #[test]
    fn keys_of_listings_are_decoded_if_they_are_encoded() {
        for (text, key) in [("a+b", "a b"), ("a%2Bb%20c", "a+b c"), ("%C3%A9/%25", "é/%"), ("", "")]
        {
            assert_eq!(listed_key(Some(text), Some(&sdk::EncodingType::Url)).unwrap(), key);
            assert_eq!(listed_key(Some(text), None).unwrap(), text);
        }
        for text in ["%", "%4", "%zz", "%ff"] {
            let error = listed_key(Some(text), Some(&sdk::EncodingType::Url)).unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Unexpected, "{text}");
        }
    }

    #[test]
    fn chunked_transfer_is_no_encoding_of_the_stored_bytes() {
        assert_eq!(without_chunks("gzip, aws-chunked").as_deref(), Some("gzip"));
        assert_eq!(without_chunks("aws-chunked"), None);
        assert_eq!(without_chunks("gzip").as_deref(), Some("gzip"));
    }

    #[test]
    fn composite_checksum_is_never_taken_for_one_of_all_bytes() {
        let text = Checksum::of(ChecksumAlgorithm::Sha256, b"abc").encoded();
        let decode = |text: &str, kind: Option<&sdk::ChecksumType>| {
            let none = [
                ChecksumAlgorithm::Sha1,
                ChecksumAlgorithm::Crc32,
                ChecksumAlgorithm::Crc32c,
                ChecksumAlgorithm::Crc64Nvme,
            ];
            let [a, b, c, d] = none.map(|algorithm| (algorithm, None));
            checksum_from_sdk([(ChecksumAlgorithm::Sha256, Some(text)), a, b, c, d], kind)
        };
        assert!(decode(&text, None).unwrap().is_some_and(|found| found.is_full_object()));
        assert_eq!(decode(&text, Some(&sdk::ChecksumType::Composite)).unwrap(), None);
        let composite = decode(&format!("{text}-2"), Some(&sdk::ChecksumType::Composite)).unwrap();
        assert!(composite.is_some_and(|found| !found.is_full_object()));
        assert_eq!(decode("?", None).unwrap_err().kind(), &ErrorKind::Unexpected);
    }

    #[test]
    fn times_keep_their_fraction() {
        let time = DateTime::from_secs_and_nanos(10, 500_000_000);
        assert_eq!(time_from_sdk(Some(&time)), Timestamp::from_millis(10_500));
        assert_eq!(time_to_sdk(Timestamp::from_millis(10_500)), DateTime::from_secs(10));
        assert_eq!(time_from_sdk(None), Timestamp::default());
    }
}
