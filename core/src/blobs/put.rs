//! Requests and outputs of put, copy and delete.

use std::collections::BTreeMap;

use super::{Body, Checksum, ChecksumAlgorithm, ChecksumPlan, WriteCondition, errors, rules};
use crate::env::Timestamp;
use crate::error::{Error, Result};
use crate::ops::setters;

/// Headers that are stored with a blob and returned when it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobHeaders {
    /// MIME type, such as `image/png`. Default: `binary/octet-stream`, as on S3.
    pub content_type: Option<String>,
    /// `Cache-Control`, such as `max-age=3600`.
    pub cache_control: Option<String>,
    /// `Content-Disposition`, such as `attachment; filename="a.pdf"`.
    pub content_disposition: Option<String>,
    /// `Content-Encoding`, such as `gzip`: how the bytes were encoded before the put.
    pub content_encoding: Option<String>,
    /// `Content-Language`, such as `es`.
    pub content_language: Option<String>,
}

impl BlobHeaders {
    /// MIME type of a blob without one.
    pub const DEFAULT_CONTENT_TYPE: &'static str = "binary/octet-stream";

    /// Headers with this MIME type.
    pub fn of_type(content_type: impl Into<String>) -> Self {
        Self { content_type: Some(content_type.into()), ..Self::default() }
    }

    /// The MIME type, or the default one.
    pub fn content_type(&self) -> &str {
        self.content_type.as_deref().unwrap_or(Self::DEFAULT_CONTENT_TYPE)
    }

    /// Names and values of the headers that are set.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("content-type", &self.content_type),
            ("cache-control", &self.cache_control),
            ("content-disposition", &self.content_disposition),
            ("content-encoding", &self.content_encoding),
            ("content-language", &self.content_language),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }

    /// Checks every value.
    ///
    /// # Errors
    /// `InvalidArgument`: a value is not printable ASCII.
    pub fn check(&self) -> Result<()> {
        self.iter().try_for_each(|(name, value)| rules::check_header(name, value))
    }

    /// Whether a header other than the MIME type is set.
    pub(super) fn has_more_than_type(&self) -> bool {
        self.iter().any(|(name, _)| name != "content-type")
    }
}

/// Write of a whole blob; see [`Blobs::put`](super::Blobs::put).
#[derive(Debug)]
#[non_exhaustive]
pub struct PutBlob {
    /// Key of the blob.
    pub key: String,
    /// Bytes of the blob.
    pub body: Body,
    /// Stored headers.
    pub headers: BlobHeaders,
    /// User metadata: at most 2048 bytes of printable ASCII.
    pub metadata: BTreeMap<String, String>,
    /// Condition of the write.
    pub condition: WriteCondition,
    /// Algorithm of the stored checksum, unless one is expected. Default: SHA-256.
    pub checksum_algorithm: ChecksumAlgorithm,
    /// Checksums that the body must have. The first that is not MD5 is stored.
    pub expected_checksums: Vec<Checksum>,
}

impl PutBlob {
    /// Unconditional write of this content.
    pub fn new(key: impl Into<String>, body: impl Into<Body>) -> Self {
        Self {
            key: key.into(),
            body: body.into(),
            headers: BlobHeaders::default(),
            metadata: BTreeMap::new(),
            condition: WriteCondition::None,
            checksum_algorithm: ChecksumAlgorithm::default(),
            expected_checksums: Vec::new(),
        }
    }

    setters! {
        /// Sets the stored headers.
        headers: BlobHeaders,
        /// Sets the condition of the write.
        condition: WriteCondition,
        /// Sets the algorithm of the stored checksum.
        checksum_algorithm: ChecksumAlgorithm,
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.headers.content_type = Some(content_type.into());
        self
    }

    /// Adds user metadata.
    #[must_use]
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Adds a checksum that the body must have.
    #[must_use]
    pub fn expect(mut self, checksum: Checksum) -> Self {
        self.expected_checksums.push(checksum);
        self
    }

    /// Writes only if no blob has the key.
    #[must_use]
    pub fn if_absent(self) -> Self {
        self.condition(WriteCondition::IfAbsent)
    }

    /// Writes only if the present blob has this ETag.
    #[must_use]
    pub fn if_match(self, etag: impl Into<String>) -> Self {
        self.condition(WriteCondition::IfMatch(etag.into()))
    }

    /// Copy of this request with another body.
    #[must_use]
    pub fn with_body(&self, body: impl Into<Body>) -> Self {
        Self {
            key: self.key.clone(),
            body: body.into(),
            headers: self.headers.clone(),
            metadata: self.metadata.clone(),
            condition: self.condition.clone(),
            checksum_algorithm: self.checksum_algorithm,
            expected_checksums: self.expected_checksums.clone(),
        }
    }

    /// Validates the request, and plans its checksums.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`]: key, length, headers, metadata or checksums break a rule.
    pub fn plan(&self) -> Result<ChecksumPlan> {
        rules::check_key(&self.key)?;
        rules::check_length(self.body.length())?;
        self.headers.check()?;
        rules::check_metadata(&self.metadata)?;
        ChecksumPlan::new(Some(self.checksum_algorithm), &self.expected_checksums)
    }

    pub(super) fn has_metadata(&self) -> bool {
        !self.metadata.is_empty() || self.headers.has_more_than_type()
    }
}

/// Result of a put, a copy, or a completed upload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PutBlobOutput {
    /// ETag of the blob, without quotes.
    pub etag: String,
    /// Stored checksum; `None` if the backend stores none.
    pub checksum: Option<Checksum>,
    /// Id of the version, in a bucket that keeps versions.
    pub version: Option<String>,
    /// Time of the write, if the backend reports it.
    pub last_modified: Option<Timestamp>,
}

impl PutBlobOutput {
    /// Output with this ETag.
    pub fn new(etag: impl Into<String>) -> Self {
        Self { etag: etag.into(), checksum: None, version: None, last_modified: None }
    }

    setters! {
        /// Sets the stored checksum.
        checksum: Option<Checksum>,
        /// Sets the id of the version.
        version: Option<String>,
        /// Sets the time of the write.
        last_modified: Option<Timestamp>,
    }
}

/// Copy of a blob; see [`Blobs::copy`](super::Blobs::copy).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CopyBlob {
    /// Key of the source.
    pub source: String,
    /// Key of the destination.
    pub key: String,
    /// ETag that the source must have.
    pub source_if_match: Option<String>,
    /// Condition of the write.
    pub condition: WriteCondition,
    /// Headers and metadata of the destination. Default: those of the source.
    pub replace: Option<(BlobHeaders, BTreeMap<String, String>)>,
}

impl CopyBlob {
    /// Unconditional copy.
    pub fn new(source: impl Into<String>, key: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            key: key.into(),
            source_if_match: None,
            condition: WriteCondition::None,
            replace: None,
        }
    }

    setters! {
        /// Sets the ETag that the source must have.
        source_if_match: Option<String>,
        /// Sets the condition of the write.
        condition: WriteCondition,
    }

    /// Copies only if no blob has the key of the destination.
    #[must_use]
    pub fn if_absent(self) -> Self {
        self.condition(WriteCondition::IfAbsent)
    }

    /// Replaces headers and metadata.
    #[must_use]
    pub fn replace(mut self, headers: BlobHeaders, metadata: BTreeMap<String, String>) -> Self {
        self.replace = Some((headers, metadata));
        self
    }

    /// Validates the request.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`]: a key, headers or metadata break a rule; or source and
    /// destination are equal and nothing is replaced (`InvalidRequest`).
    pub fn check(&self) -> Result<()> {
        rules::check_key(&self.source)?;
        rules::check_key(&self.key)?;
        match &self.replace {
            Some((headers, metadata)) => {
                headers.check()?;
                rules::check_metadata(metadata)
            }
            None if self.source == self.key => Err(errors::validation(
                errors::codes::INVALID_REQUEST,
                "This copy request is illegal because it is trying to copy an object to itself \
                 without changing the object's metadata"
                    .into(),
            )),
            None => Ok(()),
        }
    }

    /// Whether the destination gets metadata, or a header other than the MIME type.
    pub(super) fn has_metadata(&self) -> bool {
        self.replace
            .as_ref()
            .is_some_and(|(headers, metadata)| !metadata.is_empty() || headers.has_more_than_type())
    }
}

/// Deletion of a blob; see [`Blobs::delete`](super::Blobs::delete).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeleteBlob {
    /// Key of the blob.
    pub key: String,
    /// ETag that the blob must have, if it exists.
    pub if_match: Option<String>,
}

impl DeleteBlob {
    /// Unconditional deletion.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), if_match: None }
    }

    /// Deletes only if the blob has this ETag.
    #[must_use]
    pub fn if_match(mut self, etag: impl Into<String>) -> Self {
        self.if_match = Some(etag.into());
        self
    }

    /// Validates the request.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`]: the key breaks a rule.
    pub fn check(&self) -> Result<()> {
        rules::check_key(&self.key)
    }

    /// Evaluates the condition on the ETag of the present blob.
    ///
    /// # Errors
    /// `PreconditionFailed`: there is a blob, and it has another ETag.
    pub fn evaluate(&self, present: Option<&str>) -> Result<()> {
        match (&self.if_match, present) {
            (Some(expected), Some(etag)) => {
                WriteCondition::IfMatch(expected.clone()).evaluate(&self.key, Some(etag))
            }
            _ => Ok(()),
        }
    }
}

/// Result of a deletion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteBlobOutput {
    /// Id of the delete marker, in a bucket that keeps versions.
    pub version: Option<String>,
}

impl DeleteBlobOutput {
    /// Output without a version.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the id of the delete marker.
        version: Option<String>,
    }
}

/// Deletion of up to 1000 blobs; see [`Blobs::delete_many`](super::Blobs::delete_many).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeleteBlobs {
    /// Keys of the blobs.
    pub keys: Vec<String>,
}

impl DeleteBlobs {
    /// Deletion of the blobs with these keys.
    pub fn new<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> Self {
        Self { keys: keys.into_iter().map(Into::into).collect() }
    }

    /// Validates the request. A single invalid key is a failure of that key in the output.
    ///
    /// # Errors
    /// `MalformedXML`, as on S3: no key, or more than 1000.
    pub fn check(&self) -> Result<()> {
        match self.keys.len() {
            1..=rules::DELETES => Ok(()),
            count => Err(errors::validation(
                errors::codes::MALFORMED_XML,
                format!("a deletion has 1 to {} keys, not {count}", rules::DELETES),
            )),
        }
    }
}

/// Result of a deletion of several blobs.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct DeleteBlobsOutput {
    /// Keys that could not be deleted, each with its error.
    pub failed: Vec<(String, Error)>,
    /// Delete markers that were created, in a bucket that keeps versions: key and id of each.
    pub markers: Vec<(String, String)>,
}

impl DeleteBlobsOutput {
    /// Output with these failures.
    pub fn new(failed: Vec<(String, Error)>) -> Self {
        Self { failed, markers: Vec::new() }
    }

    setters! {
        /// Sets the delete markers that were created.
        markers: Vec<(String, String)>,
    }
}
