//! Presigned URLs: the optional trait [`Presign`], its requests, and their validation.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use super::errors;
use super::{BlobHeaders, Checksum, rules};
use crate::env::Timestamp;
use crate::error::Result;
use crate::ops::setters;

/// Presigned URLs: permissions for one request of a client that has no credentials.
///
/// Signing is local: it sends nothing, and does not check whether the blob exists.
///
/// # Errors
/// Every method returns [`ErrorKind::Validation`] for a request that breaks a rule, and
/// [`ErrorKind::Config`] if the blobs have no address for URLs or no key to sign with.
///
/// [`ErrorKind::Config`]: crate::ErrorKind::Config
/// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
#[async_trait]
pub trait Presign: Send + Sync {
    /// Signs a download.
    async fn presign_get(&self, request: PresignGet) -> Result<PresignedRequest>;

    /// Signs an upload.
    ///
    /// The signature covers the key, the expiry, and all headers of the output: a request with
    /// another content type, length, checksum or condition is refused.
    async fn presign_put(&self, request: PresignPut) -> Result<PresignedRequest>;
}

/// Download to sign; see [`Presign::presign_get`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PresignGet {
    /// Key of the blob.
    pub key: String,
    /// Time until the URL expires: 1 second to 7 days.
    pub expires_in: Duration,
    /// Version to download. Default: the current one.
    pub version: Option<String>,
    /// Headers of the response, in place of the stored ones.
    pub response_headers: BlobHeaders,
}

impl PresignGet {
    /// Download of the current version.
    pub fn new(key: impl Into<String>, expires_in: Duration) -> Self {
        Self {
            key: key.into(),
            expires_in,
            version: None,
            response_headers: BlobHeaders::default(),
        }
    }

    setters! {
        /// Sets the version to download.
        version: Option<String>,
        /// Sets the headers of the response.
        response_headers: BlobHeaders,
    }

    /// Validates the request.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`]: key, expiry or headers break a rule.
    pub fn check(&self) -> Result<()> {
        rules::check_key(&self.key)?;
        rules::check_expiry(self.expires_in)?;
        self.response_headers.check()
    }
}

/// Upload to sign; see [`Presign::presign_put`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PresignPut {
    /// Key of the blob.
    pub key: String,
    /// Time until the URL expires: 1 second to 7 days.
    pub expires_in: Duration,
    /// Headers that the upload must have, and that are stored.
    pub headers: BlobHeaders,
    /// User metadata that the upload must have.
    pub metadata: BTreeMap<String, String>,
    /// Exact length that the upload must have. Default: any.
    pub length: Option<u64>,
    /// Checksum that the upload must have. Default: any.
    pub checksum: Option<Checksum>,
    /// Whether the upload fails if a blob has the key. Default: no.
    pub if_absent: bool,
}

impl PresignPut {
    /// Upload of any content.
    pub fn new(key: impl Into<String>, expires_in: Duration) -> Self {
        Self {
            key: key.into(),
            expires_in,
            headers: BlobHeaders::default(),
            metadata: BTreeMap::new(),
            length: None,
            checksum: None,
            if_absent: false,
        }
    }

    setters! {
        /// Sets the headers that the upload must have.
        headers: BlobHeaders,
        /// Sets the user metadata that the upload must have.
        metadata: BTreeMap<String, String>,
        /// Sets the exact length that the upload must have.
        length: Option<u64>,
        /// Sets the checksum that the upload must have.
        checksum: Option<Checksum>,
    }

    /// Sets the MIME type that the upload must have.
    #[must_use]
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.headers.content_type = Some(content_type.into());
        self
    }

    /// Lets the upload fail if a blob has the key.
    #[must_use]
    pub fn if_absent(mut self) -> Self {
        self.if_absent = true;
        self
    }

    /// Validates the request.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`]: key, expiry, headers, metadata or length break a rule, or
    /// the checksum is composite.
    pub fn check(&self) -> Result<()> {
        rules::check_key(&self.key)?;
        rules::check_expiry(self.expires_in)?;
        self.headers.check()?;
        rules::check_metadata(&self.metadata)?;
        rules::check_length(self.length.unwrap_or(0))?;
        match &self.checksum {
            Some(checksum) if !checksum.is_full_object() => Err(errors::invalid_argument(format!(
                "the checksum {checksum} is of the parts of an upload; give the one of all bytes"
            ))),
            _ => Ok(()),
        }
    }
}

/// Request for a client to send, as it is, before it expires.
///
/// The URL is the permission, so its `Debug` text hides the signature.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PresignedRequest {
    /// HTTP method: `GET` or `PUT`.
    pub method: &'static str,
    /// URL with the signature.
    pub url: String,
    /// Headers that the client has to send, beside `Host`; names in lower case.
    pub headers: Vec<(String, String)>,
    /// Time at which the URL expires.
    pub expires: Timestamp,
}

impl PresignedRequest {
    /// Request without headers.
    pub fn new(method: &'static str, url: impl Into<String>, expires: Timestamp) -> Self {
        Self { method, url: url.into(), headers: Vec::new(), expires }
    }

    setters! {
        /// Sets the headers that the client has to send.
        headers: Vec<(String, String)>,
    }
}

impl fmt::Debug for PresignedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.url.split('?').next().unwrap_or_default();
        f.debug_struct("PresignedRequest")
            .field("method", &self.method)
            .field("url", &format_args!("{path}?…"))
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_text_hides_the_signature() {
        let url = "http://127.0.0.1/b/k?X-Amz-Signature=abc";
        let request = PresignedRequest::new("GET", url, Timestamp::default());
        let text = format!("{request:?}");
        assert!(text.contains("http://127.0.0.1/b/k") && !text.contains("abc"), "{text}");
    }
}
