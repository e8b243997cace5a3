//! Errors of blobs, with S3's names and, where S3 has one, its message.

use std::fmt;

use super::Checksum;
use crate::env::Timestamp;
use crate::error::{Error, ErrorKind};

/// Name of an error, as [`Error::code`] returns it.
macro_rules! codes {
    ($($name:ident = $code:literal,)+) => {
        /// S3's names of errors, as [`Error::code`](crate::Error::code) returns them.
        pub mod codes {
            $(
                #[doc = concat!("`", $code, "`.")]
                pub const $name: &str = $code;
            )+
        }
    };
}

codes! {
    BAD_DIGEST = "BadDigest",
    CONDITIONAL_REQUEST_CONFLICT = "ConditionalRequestConflict",
    ENTITY_TOO_LARGE = "EntityTooLarge",
    ENTITY_TOO_SMALL = "EntityTooSmall",
    INCOMPLETE_BODY = "IncompleteBody",
    INVALID_ARGUMENT = "InvalidArgument",
    INVALID_DIGEST = "InvalidDigest",
    INVALID_PART = "InvalidPart",
    INVALID_PART_ORDER = "InvalidPartOrder",
    INVALID_RANGE = "InvalidRange",
    INVALID_REQUEST = "InvalidRequest",
    KEY_TOO_LONG = "KeyTooLongError",
    MALFORMED_XML = "MalformedXML",
    METADATA_TOO_LARGE = "MetadataTooLarge",
    NO_SUCH_BUCKET = "NoSuchBucket",
    NO_SUCH_KEY = "NoSuchKey",
    NO_SUCH_UPLOAD = "NoSuchUpload",
    NO_SUCH_VERSION = "NoSuchVersion",
    NOT_MODIFIED = "NotModified",
    PRECONDITION_FAILED = "PreconditionFailed",
}

/// Error for a missing blob.
pub fn no_such_key(key: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("no blob has the key `{key}`"))
        .with_code(codes::NO_SUCH_KEY)
}

/// Error for a missing bucket.
pub fn no_such_bucket(bucket: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("the bucket `{bucket}` does not exist; create it"))
        .with_code(codes::NO_SUCH_BUCKET)
}

/// Error for a multipart upload that does not exist, was completed, or was aborted.
pub fn no_such_upload(upload: &str) -> Error {
    let message = format!(
        "no multipart upload has the id `{upload}`: it was completed or aborted, or never created"
    );
    Error::new(ErrorKind::NotFound, message).with_code(codes::NO_SUCH_UPLOAD)
}

/// Error for a missing version of a blob.
pub fn no_such_version(key: &str, version: &str) -> Error {
    let message = format!("the blob `{key}` has no version `{version}`");
    Error::new(ErrorKind::NotFound, message).with_code(codes::NO_SUCH_VERSION)
}

/// Delete marker that a read has found instead of a blob: the source of its `NoSuchKey`, if the
/// backend knows the marker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteMarker {
    /// Key of the deleted blob.
    pub key: String,
    /// Id of the delete marker.
    pub version: String,
    /// Time of the deletion.
    pub last_modified: Timestamp,
}

impl DeleteMarker {
    /// Delete marker with this id.
    pub fn new(
        key: impl Into<String>,
        version: impl Into<String>,
        last_modified: Timestamp,
    ) -> Self {
        Self { key: key.into(), version: version.into(), last_modified }
    }

    /// The delete marker that an error is about.
    pub fn of(error: &Error) -> Option<&Self> {
        std::error::Error::source(error)?.downcast_ref()
    }
}

impl fmt::Display for DeleteMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the version `{}` of the blob `{}` is a delete marker", self.version, self.key)
    }
}

impl std::error::Error for DeleteMarker {}

/// Error for a blob whose current version, or the version that a read names, is a delete marker.
pub fn deleted(marker: DeleteMarker) -> Error {
    no_such_key(&marker.key).with_source(marker)
}

/// Error for a condition that does not hold.
pub fn precondition_failed() -> Error {
    let message = "At least one of the pre-conditions you specified did not hold";
    Error::new(ErrorKind::ConditionFailed { item: None }, message)
        .with_code(codes::PRECONDITION_FAILED)
}

/// Error for a read of a blob that the caller has already.
pub fn not_modified() -> Error {
    Error::new(ErrorKind::NotModified, "the blob has not changed").with_code(codes::NOT_MODIFIED)
}

/// Error for a range that begins behind the end of the blob.
pub fn invalid_range(length: u64) -> Error {
    validation(
        codes::INVALID_RANGE,
        format!("The requested range is not satisfiable: the blob has {length} bytes"),
    )
}

/// Error for a body that ends too early.
pub fn incomplete_body(missing: u64) -> Error {
    validation(
        codes::INCOMPLETE_BODY,
        format!("the body ended {missing} bytes before its announced length; nothing was written"),
    )
}

/// Error for a body that is longer than announced.
pub fn body_too_long() -> Error {
    validation(
        codes::INCOMPLETE_BODY,
        "the body has more bytes than its announced length; nothing was written".into(),
    )
}

/// Error for bytes with another checksum than expected.
pub fn bad_digest(expected: &Checksum, found: &Checksum) -> Error {
    validation(
        codes::BAD_DIGEST,
        format!(
            "the checksum of the received bytes is {found}, not {expected}; nothing was written"
        ),
    )
}

/// Error for stored bytes with another checksum than the stored one.
pub fn corrupt(key: &str, stored: &Checksum) -> Error {
    Error::corrupt(format!(
        "the bytes of the blob `{key}` do not have its checksum {stored}; restore it from a backup"
    ))
}

/// Error for a malformed checksum.
pub fn invalid_digest(message: String) -> Error {
    validation(codes::INVALID_DIGEST, message)
}

/// Error for a value that breaks a rule of the API.
pub fn invalid_argument(message: String) -> Error {
    validation(codes::INVALID_ARGUMENT, message)
}

/// Error for a part that is missing, or has another ETag or checksum.
pub fn invalid_part(number: u32) -> Error {
    validation(
        codes::INVALID_PART,
        format!(
            "part {number} was not uploaded, or has another ETag or checksum; upload it again, or \
             list the parts"
        ),
    )
}

/// Error of kind [`ErrorKind::Validation`] with a name of S3.
pub fn validation(code: &'static str, message: String) -> Error {
    Error::validation(message).with_code(code)
}
