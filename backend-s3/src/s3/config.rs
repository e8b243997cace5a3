//! Settings of blobs on S3: bucket, endpoint, credentials and time-outs.
//!
//! Addresses are parsed in `opener`.

use std::time::Duration;

use crate::SigningKey;

/// Settings of [`S3Blobs`](super::S3Blobs).
///
/// ```
/// use std::time::Duration;
/// use tabla_s3::S3Config;
///
/// let config = S3Config::new("assets")
///     .with_prefix("dev/")
///     .with_endpoint("http://127.0.0.1:9000")
///     .with_operation_timeout(Duration::from_secs(5));
/// assert_eq!(config.prefix, "dev/");
/// assert!(config.has_path_style());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct S3Config {
    /// Name of the bucket, which has to exist.
    pub bucket: String,
    /// Text before every key in the bucket, such as `dev/`. Default: empty.
    ///
    /// Callers do not see it. A key has at most 1024 bytes together with it.
    pub prefix: String,
    /// URL of the service. Default: AWS's own endpoint of the region.
    pub endpoint: Option<String>,
    /// AWS region. Default: from the SDK's region chain (`AWS_REGION`, profile, instance metadata);
    /// `us-east-1` for an endpoint.
    pub region: Option<String>,
    /// Profile of the AWS configuration files. Default: the SDK's chain, such as `AWS_PROFILE`.
    pub profile: Option<String>,
    /// Access key. Default: from the SDK's credentials chain (`AWS_ACCESS_KEY_ID`, profile, role).
    pub credentials: Option<SigningKey>,
    /// Whether URLs have the bucket in their path and not in the host name. Default: with
    /// an endpoint.
    pub path_style: Option<bool>,
    /// Whether the versions of the bucket can be read. Default: no. The bucket has to keep versions.
    pub versions: bool,
    /// Time limit for a connection. Default: 3 s.
    pub connect_timeout: Duration,
    /// Time limit for a call until the first byte of its response. Default: 15 s.
    ///
    /// A body adds 1 s per 64 KB. A put or part from a stream is limited after its last byte only;
    /// before that, it fails when no byte is sent for 20 s.
    pub operation_timeout: Duration,
    /// Time limit for a copy or the completion of a multipart upload, which the service executes
    /// before it responds. Default: 600 s.
    pub copy_timeout: Duration,
}

impl S3Config {
    /// Returns settings for this bucket on AWS, with credentials and region from the SDK's chain.
    pub fn new(bucket: impl Into<String>) -> Self {
        Self {
            bucket: bucket.into(),
            prefix: String::new(),
            endpoint: None,
            region: None,
            profile: None,
            credentials: None,
            path_style: None,
            versions: false,
            connect_timeout: Duration::from_secs(3),
            operation_timeout: Duration::from_secs(15),
            copy_timeout: Duration::from_secs(600),
        }
    }

    /// Sets the [text before every key](Self::prefix).
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the [URL of the service](Self::endpoint).
    #[must_use]
    pub fn with_endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    /// Sets the [region](Self::region).
    #[must_use]
    pub fn with_region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Sets the [profile](Self::profile) for credentials and region.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<String>) -> Self {
        self.profile = Some(profile.into());
        self
    }

    /// Sets the [access key](Self::credentials).
    #[must_use]
    pub fn with_credentials(mut self, key: SigningKey) -> Self {
        self.credentials = Some(key);
        self
    }

    /// Sets whether URLs have the bucket in their [path](Self::path_style).
    #[must_use]
    pub fn with_path_style(mut self, is_path_style: bool) -> Self {
        self.path_style = Some(is_path_style);
        self
    }

    /// Sets whether the [versions](Self::versions) of the bucket can be read.
    #[must_use]
    pub fn with_versions(mut self, has_versions: bool) -> Self {
        self.versions = has_versions;
        self
    }

    /// Sets the [time limit for a connection](Self::connect_timeout).
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the [time limit for a call](Self::operation_timeout).
    #[must_use]
    pub fn with_operation_timeout(mut self, timeout: Duration) -> Self {
        self.operation_timeout = timeout;
        self
    }

    /// Sets the [time limit for copies and completions](Self::copy_timeout).
    #[must_use]
    pub fn with_copy_timeout(mut self, timeout: Duration) -> Self {
        self.copy_timeout = timeout;
        self
    }

    /// Whether URLs have the bucket in their path, as set or by default.
    pub fn has_path_style(&self) -> bool {
        self.path_style.unwrap_or(self.endpoint.is_some())
    }
}
