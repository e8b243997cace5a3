//! Presigned URLs, signed by the SDK with the credentials of the client.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use aws_sdk_s3::presigning::{PresignedRequest as SdkRequest, PresigningConfig};
use tabla_core::blobs::{ChecksumAlgorithm, Presign, PresignGet, PresignPut, PresignedRequest};
use tabla_core::env::Timestamp;
use tabla_core::{Error, Result};

use super::S3Blobs;
use super::convert::with_checksum;
use super::error::{Access, from_sdk};
use super::exact_key::{ExactKey, sdk_key};

/// A URL is not valid for longer than the credentials that signed it: with those of a role, hours.
#[async_trait]
impl Presign for S3Blobs {
    async fn presign_get(&self, request: PresignGet) -> Result<PresignedRequest> {
        request.check()?;
        let expiry = self.expiry(request.expires_in)?;
        let headers = request.response_headers;
        let key = self.prefix.add(&request.key)?;
        let signed = self
            .client
            .get_object()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .set_version_id(request.version)
            .set_response_content_type(headers.content_type)
            .set_response_cache_control(headers.cache_control)
            .set_response_content_disposition(headers.content_disposition)
            .set_response_content_encoding(headers.content_encoding)
            .set_response_content_language(headers.content_language)
            .customize()
            .interceptor(ExactKey::new(&key))
            .presigned(expiry.config.clone())
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        Ok(expiry.request("GET", &signed))
    }

    async fn presign_put(&self, request: PresignPut) -> Result<PresignedRequest> {
        request.check()?;
        let expiry = self.expiry(request.expires_in)?;
        let md5 = request.checksum.as_ref().filter(|sum| sum.algorithm() == ChecksumAlgorithm::Md5);
        let headers = request.headers;
        // A header that is not given is not signed, and the client may send any.
        let key = self.prefix.add(&request.key)?;
        let mut call = self
            .client
            .put_object()
            .bucket(self.bucket())
            .key(sdk_key(&key))
            .set_content_type(headers.content_type)
            .set_cache_control(headers.cache_control)
            .set_content_disposition(headers.content_disposition)
            .set_content_encoding(headers.content_encoding)
            .set_content_language(headers.content_language)
            .set_content_length(
                request.length.map(|length| i64::try_from(length).unwrap_or(i64::MAX)),
            )
            .set_content_md5(md5.map(|md5| md5.encoded()))
            .set_if_none_match(request.if_absent.then(|| "*".to_owned()));
        for (name, value) in request.metadata {
            call = call.metadata(name, value);
        }
        let signed = with_checksum!(call, request.checksum.as_ref())
            .customize()
            .interceptor(ExactKey::new(&key))
            .presigned(expiry.config.clone())
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        Ok(expiry.request("PUT", &signed))
    }
}

/// Time of a signature, and of its end.
struct Expiry {
    config: PresigningConfig,
    expires: Timestamp,
}

impl S3Blobs {
    /// Begin and end of a URL, in whole seconds.
    fn expiry(&self, expires_in: Duration) -> Result<Expiry> {
        let expires_in = Duration::from_secs(expires_in.as_secs());
        let now = Timestamp::from_secs(self.env.clock.now().as_secs());
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(now.as_secs());
        let config = PresigningConfig::builder().start_time(start).expires_in(expires_in).build();
        let config = config.map_err(|error| Error::config(error.to_string()).with_source(error))?;
        Ok(Expiry { config, expires: now + expires_in })
    }
}

impl Expiry {
    fn request(&self, method: &'static str, signed: &SdkRequest) -> PresignedRequest {
        let mut headers: Vec<(String, String)> = signed
            .headers()
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        headers.retain(|(name, _)| name != "host");
        headers.sort();
        PresignedRequest::new(method, signed.uri(), self.expires).headers(headers)
    }
}
