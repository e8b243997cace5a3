//! Requests and outputs of get and head.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{BlobHeaders, BlobStream, ByteRange, Checksum, ReadConditions, rules};
use crate::env::Timestamp;
use crate::error::Result;
use crate::ops::setters;

/// Read of a blob; see [`Blobs::get`](super::Blobs::get).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetBlob {
    /// Key of the blob.
    pub key: String,
    /// Bytes to read. Default: all.
    pub range: Option<ByteRange>,
    /// Conditions of the read.
    pub conditions: ReadConditions,
}

/// Read of a blob without its bytes; see [`Blobs::head`](super::Blobs::head).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeadBlob {
    /// Key of the blob.
    pub key: String,
    /// Conditions of the read.
    pub conditions: ReadConditions,
}

/// Defines methods that set the conditions of a read.
macro_rules! condition_setters {
    () => {
        /// Reads only if the blob has this ETag.
        #[must_use]
        pub fn if_match(mut self, etag: impl Into<String>) -> Self {
            self.conditions.if_match = Some(etag.into());
            self
        }

        /// Reads only if the blob has another ETag.
        #[must_use]
        pub fn if_none_match(mut self, etag: impl Into<String>) -> Self {
            self.conditions.if_none_match = Some(etag.into());
            self
        }

        /// Reads only if the blob was written later than this, to the second.
        #[must_use]
        pub fn if_modified_since(mut self, time: Timestamp) -> Self {
            self.conditions.if_modified_since = Some(time);
            self
        }

        /// Reads only if the blob was not written later than this, to the second.
        #[must_use]
        pub fn if_unmodified_since(mut self, time: Timestamp) -> Self {
            self.conditions.if_unmodified_since = Some(time);
            self
        }

        /// Validates the request.
        ///
        /// # Errors
        /// [`crate::ErrorKind::Validation`]: the key breaks a rule.
        pub fn check(&self) -> Result<()> {
            rules::check_key(&self.key)
        }
    };
}

impl GetBlob {
    /// Read of the whole blob.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), range: None, conditions: ReadConditions::default() }
    }

    /// Reads only these bytes.
    #[must_use]
    pub fn range(mut self, range: impl Into<ByteRange>) -> Self {
        self.range = Some(range.into());
        self
    }

    condition_setters!();

    /// Evaluates conditions and range on the present blob; returns the positions to read.
    ///
    /// # Errors
    /// Those of [`ReadConditions::evaluate`] and [`ByteRange::resolve`].
    pub fn evaluate(&self, info: &BlobInfo) -> Result<Range<u64>> {
        self.conditions.evaluate(&info.etag, info.last_modified)?;
        self.range.map_or(Ok(0..info.size), |range| range.resolve(info.size))
    }
}

impl HeadBlob {
    /// Read of the blob's headers.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), conditions: ReadConditions::default() }
    }

    condition_setters!();
}

/// Headers, metadata and checksum of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobInfo {
    /// Key of the blob.
    pub key: String,
    /// Length in bytes.
    pub size: u64,
    /// ETag, without quotes.
    pub etag: String,
    /// Time of the write. Some backends round it to seconds.
    pub last_modified: Timestamp,
    /// Stored headers.
    pub headers: BlobHeaders,
    /// User metadata.
    pub metadata: BTreeMap<String, String>,
    /// Stored checksum; `None` if the backend stores none.
    pub checksum: Option<Checksum>,
    /// Id of the version, in a bucket that keeps versions.
    pub version: Option<String>,
}

impl BlobInfo {
    /// Description of a blob without headers, metadata, checksum and version.
    pub fn new(
        key: impl Into<String>,
        size: u64,
        etag: impl Into<String>,
        last_modified: Timestamp,
    ) -> Self {
        Self {
            key: key.into(),
            size,
            etag: etag.into(),
            last_modified,
            headers: BlobHeaders::default(),
            metadata: BTreeMap::new(),
            checksum: None,
            version: None,
        }
    }

    setters! {
        /// Sets the stored headers.
        headers: BlobHeaders,
        /// Sets the user metadata.
        metadata: BTreeMap<String, String>,
        /// Sets the stored checksum.
        checksum: Option<Checksum>,
        /// Sets the id of the version.
        version: Option<String>,
    }
}

/// Result of a get.
#[derive(Debug)]
#[non_exhaustive]
pub struct GetBlobOutput {
    /// Description of the whole blob.
    pub info: BlobInfo,
    /// Positions of the bytes in `body`.
    pub range: Range<u64>,
    /// Bytes at these positions.
    pub body: BlobStream,
}

impl GetBlobOutput {
    /// Output with these bytes of a blob.
    pub fn new(info: BlobInfo, range: Range<u64>, body: BlobStream) -> Self {
        Self { info, range, body }
    }

    /// Whether `body` is the whole blob.
    pub fn is_whole(&self) -> bool {
        self.range == (0..self.info.size)
    }
}
