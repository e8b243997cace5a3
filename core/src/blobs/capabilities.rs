//! Capabilities of blobs.

use super::{CompleteUpload, CopyBlob, CreateUpload, DeleteBlob, PutBlob, WriteCondition};
use crate::error::{Error, Result};

/// Optional features that a backend of [`Blobs`](super::Blobs), with its wrappers, supports.
///
/// A request that needs a missing feature fails with [`crate::ErrorKind::Unsupported`] before
/// anything is sent. Presigned URLs and versions are traits of their own, which
/// [`Blobs::presign`](super::Blobs::presign) and [`Blobs::versions`](super::Blobs::versions) return.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobCapabilities {
    /// Name of the engine: `memory`, `file`, `s3` or another.
    pub engine: &'static str,
    /// Support for [`WriteCondition::IfAbsent`] in puts.
    pub put_if_absent: bool,
    /// Support for [`WriteCondition::IfMatch`] in puts.
    pub put_if_match: bool,
    /// Support for `if_match` in deletes.
    pub delete_if_match: bool,
    /// Support for [`WriteCondition::IfAbsent`] in copies.
    pub copy_if_absent: bool,
    /// Support for multipart uploads.
    pub multipart: bool,
    /// Support for the conditions of puts in completed uploads, too.
    pub conditional_uploads: bool,
    /// Support for part numbers with gaps, and for completions that leave parts out. Without it, a
    /// completion lists all parts of its upload, with the numbers 1 to n.
    pub any_parts: bool,
    /// Support for user metadata and for headers other than the content type.
    pub metadata: bool,
    /// Support for stored checksums. Without it, expected checksums are verified before the write,
    /// and nothing verifies a read.
    pub stored_checksums: bool,
    /// Support for every key that [`rules::check_key`](super::rules::check_key) accepts. Without it,
    /// keys with empty, `.` or `..` segments, a leading or trailing slash, or control characters
    /// are refused.
    pub any_key: bool,
}

impl BlobCapabilities {
    /// Capabilities of an engine that supports all of them.
    pub fn full(engine: &'static str) -> Self {
        Self {
            engine,
            put_if_absent: true,
            put_if_match: true,
            delete_if_match: true,
            copy_if_absent: true,
            multipart: true,
            conditional_uploads: true,
            any_parts: true,
            metadata: true,
            stored_checksums: true,
            any_key: true,
        }
    }

    /// Capabilities of an engine that supports none of them.
    pub fn none(engine: &'static str) -> Self {
        Self {
            engine,
            put_if_absent: false,
            put_if_match: false,
            delete_if_match: false,
            copy_if_absent: false,
            multipart: false,
            conditional_uploads: false,
            any_parts: false,
            metadata: false,
            stored_checksums: false,
            any_key: false,
        }
    }

    /// Checks that the backend supports this put.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unsupported`], naming the engine and the missing feature.
    pub fn check_put(&self, request: &PutBlob) -> Result<()> {
        self.check_write_condition(&request.condition)?;
        self.check_metadata(request.has_metadata())
    }

    /// Checks that the backend supports this copy.
    ///
    /// # Errors
    /// As [`check_put`](Self::check_put).
    pub fn check_copy(&self, request: &CopyBlob) -> Result<()> {
        match &request.condition {
            WriteCondition::None => {}
            WriteCondition::IfAbsent => self.check(self.copy_if_absent, "a copy if absent")?,
            WriteCondition::IfMatch(_) => self.check(self.put_if_match, "a copy if match")?,
        }
        self.check_metadata(request.has_metadata())
    }

    /// Checks that the backend supports this delete.
    ///
    /// # Errors
    /// As [`check_put`](Self::check_put).
    pub fn check_delete(&self, request: &DeleteBlob) -> Result<()> {
        self.check(request.if_match.is_none() || self.delete_if_match, "a delete if match")
    }

    /// Checks that the backend supports this multipart upload.
    ///
    /// # Errors
    /// As [`check_put`](Self::check_put).
    pub fn check_upload(&self, request: &CreateUpload) -> Result<()> {
        self.check_multipart()?;
        self.check_metadata(request.has_metadata())
    }

    /// Checks that the backend supports multipart uploads.
    ///
    /// # Errors
    /// As [`check_put`](Self::check_put).
    pub fn check_multipart(&self) -> Result<()> {
        self.check(self.multipart, "multipart uploads")
    }

    /// Checks that the backend supports multipart uploads and the condition of this completion.
    ///
    /// # Errors
    /// As [`check_put`](Self::check_put).
    pub fn check_completion(&self, request: &CompleteUpload) -> Result<()> {
        self.check_multipart()?;
        self.check_write_condition(&request.condition)?;
        let is_conditional = request.condition != WriteCondition::None;
        self.check(
            !is_conditional || self.conditional_uploads,
            "the condition of a completed upload",
        )
    }

    /// Checks that the backend supports a completion that leaves parts out, or whose numbers are not
    /// 1 to n (`is_partial`).
    ///
    /// # Errors
    /// As [`check_put`](Self::check_put).
    pub fn check_parts(&self, is_partial: bool) -> Result<()> {
        self.check(
            !is_partial || self.any_parts,
            "the completion of an upload without all its parts, or with numbers other than 1 to n",
        )
    }

    fn check_write_condition(&self, condition: &WriteCondition) -> Result<()> {
        match condition {
            WriteCondition::None => Ok(()),
            WriteCondition::IfAbsent => self.check(self.put_if_absent, "a write if absent"),
            WriteCondition::IfMatch(_) => self.check(self.put_if_match, "a write if match"),
        }
    }

    fn check_metadata(&self, is_needed: bool) -> Result<()> {
        self.check(!is_needed || self.metadata, "headers and metadata beside the content type")
    }

    fn check(&self, is_supported: bool, feature: &str) -> Result<()> {
        match is_supported {
            true => Ok(()),
            false => Err(Error::unsupported(format!(
                "the blobs `{}` do not support {feature}",
                self.engine
            ))),
        }
    }
}
