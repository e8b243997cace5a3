//! Limits and rules of requests on blobs, each with S3's error.

use std::collections::BTreeMap;
use std::time::Duration;

use super::errors::{self, codes};
use crate::error::Result;

/// Longest key, in bytes of UTF-8. S3, "Naming Amazon S3 objects".
pub const KEY_BYTES: usize = 1024;

/// Largest body of one put or part, in bytes: 5 GB. S3, "Multipart upload limits".
pub const PUT_BYTES: u64 = 5 << 30;

/// Smallest part of a multipart upload, in bytes: 5 MB, except for the last part.
pub const PART_BYTES: u64 = 5 << 20;

/// Highest number of a part.
pub const PARTS: u32 = 10_000;

/// Most blobs, prefixes, parts or uploads of one page.
pub const PAGE: usize = 1000;

/// Most keys of one [`DeleteBlobs`](super::DeleteBlobs).
pub const DELETES: usize = 1000;

/// Largest user metadata, in bytes: names and values, without the prefix `x-amz-meta-`.
pub const METADATA_BYTES: usize = 2048;

/// Longest expiry of a presigned URL: 7 days.
pub const PRESIGNED_EXPIRY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Checks a key.
///
/// # Errors
/// `KeyTooLongError` above 1024 bytes; `InvalidArgument` for an empty key, and for one that
/// [leads above its root](leads_above_root).
pub fn check_key(key: &str) -> Result<()> {
    match key.len() {
        0 => Err(errors::invalid_argument("a key has at least 1 byte; this one is empty".into())),
        1..=KEY_BYTES if leads_above_root(key) => Err(errors::invalid_argument(format!(
            "the key {key:?} leads above its root: from left to right, a key has at most as many \
             `..` segments as segments with a name; use another key"
        ))),
        1..=KEY_BYTES => Ok(()),
        length => Err(errors::validation(
            codes::KEY_TOO_LONG,
            format!("Your key is too long: it has {length} bytes, at most {KEY_BYTES} are allowed"),
        )),
    }
}

/// Whether the `..` segments of a key lead above its root, as in `../a` and `a/../../b`.
///
/// S3, "Naming Amazon S3 objects": parsed from left to right, a valid key never has more relative
/// path elements (`..`) than other ones. Empty and `.` segments count as neither. S3 answers a
/// request for such a key with status 400, without a code.
pub fn leads_above_root(key: &str) -> bool {
    let mut depth = 0_usize;
    for segment in key.split('/') {
        match segment {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return true,
            },
            _ => depth += 1,
        }
    }
    false
}

/// Checks the length of a body.
///
/// # Errors
/// `EntityTooLarge` above 5 GB.
pub fn check_length(length: u64) -> Result<()> {
    match length <= PUT_BYTES {
        true => Ok(()),
        false => Err(errors::validation(
            codes::ENTITY_TOO_LARGE,
            format!(
                "Your proposed upload exceeds the maximum allowed size: {length} bytes, at most \
                 {PUT_BYTES} are allowed; use a multipart upload"
            ),
        )),
    }
}

/// Checks user metadata.
///
/// A name is lower-case letters, digits, `-`, `_` and `.`. A value is printable ASCII that neither
/// begins nor ends with a space, because HTTP headers carry it.
///
/// # Errors
/// `MetadataTooLarge` above 2048 bytes; `InvalidArgument` for a name or value.
pub fn check_metadata(metadata: &BTreeMap<String, String>) -> Result<()> {
    for (name, value) in metadata {
        let is_valid = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
        };
        if name.is_empty() || !name.bytes().all(is_valid) {
            return Err(errors::invalid_argument(format!(
                "the metadata name `{name}` is invalid: use lower-case letters, digits, `-`, `_` \
                 and `.`"
            )));
        }
        check_header(&format!("the metadata `{name}`"), value)?;
    }
    let size: usize = metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    match size <= METADATA_BYTES {
        true => Ok(()),
        false => Err(errors::validation(
            codes::METADATA_TOO_LARGE,
            format!(
                "Your metadata headers exceed the maximum allowed metadata size: {size} bytes, at \
                 most {METADATA_BYTES} are allowed"
            ),
        )),
    }
}

/// Checks a value that an HTTP header carries; `what` names it in the error.
///
/// # Errors
/// `InvalidArgument`: the value is not printable ASCII, or begins or ends with a space.
pub fn check_header(what: &str, value: &str) -> Result<()> {
    let is_printable = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    match is_printable && value.trim() == value {
        true => Ok(()),
        false => Err(errors::invalid_argument(format!(
            "{what} has the value {value:?}: only printable ASCII is allowed, without spaces at \
             either end; escape other characters, for example with `%`"
        ))),
    }
}

/// Checks the number of a part.
///
/// # Errors
/// `InvalidArgument`: the number is not 1 to 10,000.
pub fn check_part_number(number: u32) -> Result<()> {
    match (1..=PARTS).contains(&number) {
        true => Ok(()),
        false => Err(errors::invalid_argument(format!(
            "Part number must be an integer between 1 and {PARTS}, inclusive; this one is {number}"
        ))),
    }
}

/// Checks the expiry of a presigned URL.
///
/// # Errors
/// `InvalidArgument`: the expiry is not 1 second to 7 days.
pub fn check_expiry(expiry: Duration) -> Result<()> {
    match expiry >= Duration::from_secs(1) && expiry <= PRESIGNED_EXPIRY {
        true => Ok(()),
        false => Err(errors::invalid_argument(format!(
            "a presigned URL expires after 1 second to 7 days, not after {expiry:?}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_1_to_1024_bytes_are_allowed() {
        for key in ["a", "a/..", "/", "a//b", "\0", "é", &"k".repeat(1024)] {
            check_key(key).unwrap();
        }
        for key in ["", "..", "../a", "a/../../b"] {
            assert_eq!(check_key(key).unwrap_err().code(), "InvalidArgument", "{key:?}");
        }
        assert_eq!(check_key(&"é".repeat(513)).unwrap_err().code(), "KeyTooLongError");
    }

    #[test]
    fn key_with_more_parent_segments_than_names_leads_above_its_root() {
        // The first one of each list is an example of S3's page.
        for key in
            ["videos/2014/../../a", "a/..", "a/../b", "a/b/../..", "...", "..a", "a/..b", "."]
        {
            assert!(!leads_above_root(key), "{key}");
        }
        for key in [
            "videos/../../2014/a",
            "..",
            "../a",
            "a/../..",
            "a/../../a/b",
            "/../a",
            "./../a",
            "a//../../b",
            "a/./../../b",
        ] {
            assert!(leads_above_root(key), "{key}");
        }
    }

    #[test]
    fn metadata_is_limited_to_ascii_and_2048_bytes() {
        let check = |name: &str, value: &str| {
            check_metadata(&BTreeMap::from([(name.to_owned(), value.to_owned())]))
                .map_err(|error| error.code())
        };
        assert_eq!(check("source-page", "page 2, top"), Ok(()));
        assert_eq!(check("a", &"x".repeat(2047)), Ok(()));
        assert_eq!(check("a", &"x".repeat(2048)), Err("MetadataTooLarge"));
        for (name, value) in
            [("", "x"), ("A", "x"), ("a b", "x"), ("a", "é"), ("a", " x"), ("a", "x\n")]
        {
            assert_eq!(check(name, value), Err("InvalidArgument"), "{name:?} {value:?}");
        }
    }

    #[test]
    fn limits_of_parts_bodies_and_expiries() {
        assert!(check_part_number(1).is_ok() && check_part_number(10_000).is_ok());
        assert!(check_part_number(0).is_err() && check_part_number(10_001).is_err());
        assert!(check_length(PUT_BYTES).is_ok());
        assert_eq!(check_length(PUT_BYTES + 1).unwrap_err().code(), "EntityTooLarge");
        assert!(check_expiry(Duration::from_secs(1)).is_ok());
        assert!(check_expiry(PRESIGNED_EXPIRY).is_ok());
        assert!(check_expiry(Duration::from_millis(999)).is_err());
        assert!(check_expiry(PRESIGNED_EXPIRY + Duration::from_secs(1)).is_err());
    }
}
