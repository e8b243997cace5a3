//! Opening of blobs: creation of the SDK's client, and the check that the bucket keeps versions.
//!
//! Addresses are parsed in `opener`.

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_sdk_s3::config::{RequestChecksumCalculation, ResponseChecksumValidation};
use aws_sdk_s3::types::BucketVersioningStatus;
use tabla_core::{Error, ErrorKind, Result};

use super::error::{Access, from_sdk};
use super::{S3Blobs, S3Config};

/// Region in signatures for an endpoint, unless the configuration names one.
const ENDPOINT_REGION: &str = "us-east-1";

impl S3Blobs {
    /// Opens the blobs that `config` describes.
    ///
    /// Sends no request, except with [`S3Config::versions`]: one that checks that the bucket keeps
    /// versions. A caller without the permission for it is let through.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: a setting is invalid, no region is set, or the bucket keeps no
    /// versions. With versions, also the errors of the request.
    pub async fn open(config: &S3Config) -> Result<Self> {
        let sdk_config = sdk_config(config).await;
        if sdk_config.region().is_none() {
            return Err(Error::config(
                "no AWS region is set: name one in the address (`?region=eu-west-1`), in AWS_REGION \
                 or in the profile",
            ));
        }
        let client_config = aws_sdk_s3::config::Builder::from(&sdk_config)
            .force_path_style(config.has_path_style())
            // Checksums are computed, sent and verified by this crate: the SDK would add those of an
            // empty body to presigned URLs, and hash every body once more.
            .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
            .response_checksum_validation(ResponseChecksumValidation::WhenRequired)
            .build();
        let blobs = Self::from_client(aws_sdk_s3::Client::from_conf(client_config), config)?;
        if config.versions {
            blobs.check_versioning().await?;
        }
        Ok(blobs)
    }

    /// Name by which the service calls itself: the header `Server` of its responses. The bucket
    /// must be missing.
    ///
    /// # Errors
    /// Those of the request, such as wrong credentials.
    #[cfg(feature = "conformance")]
    pub(crate) async fn server_name(&self) -> Result<Option<String>> {
        let Err(error) = self.client.head_bucket().bucket(self.bucket()).send().await else {
            return Ok(None);
        };
        let name = error.raw_response().and_then(|response| response.headers().get("server"));
        let name = name.map(str::to_owned);
        match from_sdk(Access::Read, error) {
            error if error.kind() == &ErrorKind::NotFound => Ok(name),
            error => Err(error),
        }
    }

    async fn check_versioning(&self) -> Result<()> {
        let call = self.client.get_bucket_versioning().bucket(self.bucket());
        match call.send().await.map_err(|error| from_sdk(Access::Read, error)) {
            Ok(found) if found.status() == Some(&BucketVersioningStatus::Enabled) => Ok(()),
            Ok(_) => Err(Error::config(format!(
                "the bucket `{}` keeps no versions; enable its versioning, or leave out the option \
                 `versions`",
                self.bucket
            ))),
            Err(error) if error.kind() == &ErrorKind::AccessDenied => Ok(()),
            Err(error) => Err(error),
        }
    }
}

async fn sdk_config(config: &S3Config) -> SdkConfig {
    // No time limit for the first byte of a response: it would count the upload of the body. A call
    // as a whole has one.
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(config.connect_timeout)
        .operation_timeout(config.operation_timeout)
        .build();
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        // Core's policy retries. Two policies would multiply their attempts.
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .app_name(AppName::new("tabla").expect("letters are valid in an application name"));
    if let Some(region) = &config.region {
        loader = loader.region(Region::new(region.clone()));
    } else if config.endpoint.is_some() && config.profile.is_none() {
        loader = loader.region(Region::new(ENDPOINT_REGION));
    }
    if let Some(profile) = &config.profile {
        loader = loader.profile_name(profile);
    }
    if let Some(endpoint) = &config.endpoint {
        loader = loader.endpoint_url(endpoint);
    }
    if let Some(key) = &config.credentials {
        let credentials = Credentials::new(key.id(), key.secret(), None, None, "tabla");
        loader = loader.credentials_provider(credentials);
    }
    loader.load().await
}
