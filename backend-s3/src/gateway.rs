//! Gateway: buckets as an S3-compatible HTTP service, with verified signatures.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> tabla_core::Result<()> {
//! use std::sync::Arc;
//! use tabla_s3::{Buckets, MemoryBuckets};
//! use tabla_s3::gateway::{self, GatewayConfig};
//!
//! let buckets = MemoryBuckets::new();
//! println!("access key {}", buckets.signing_key().id());
//! let server = gateway::spawn(Arc::new(buckets), GatewayConfig::new()).await?;
//! println!("endpoint for any S3 client, with path-style addresses: {}", server.url());
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Requests
//! - Buckets: CreateBucket, HeadBucket, ListBuckets, DeleteBucket, GetBucketLocation,
//!   GetBucketVersioning, PutBucketVersioning (`Enabled`).
//! - Objects: PutObject, GetObject, HeadObject, DeleteObject, DeleteObjects, CopyObject, also
//!   between buckets, ListObjectsV2, ListObjects, ListObjectVersions.
//! - Multipart uploads: CreateMultipartUpload, UploadPart, UploadPartCopy, CompleteMultipartUpload,
//!   AbortMultipartUpload, ListParts, ListMultipartUploads.
//! - Ranges, conditions (ETag and time), versions, checksums (`x-amz-checksum-*` as a header or
//!   trailer, `Content-MD5`), user metadata, stored headers, `response-*` parameters.
//! - Path-style addresses: `http://host/bucket/key`.
//!
//! Everything else is answered with `NotImplemented`: the requests of [`NOT_SERVED`], the headers of
//! [`HEADERS`], unknown sub-resources, and `partNumber` in a read. A browser's form upload
//! (PostObject) is not implemented either.
//!
//! # What is verified
//! Every request needs a valid Signature Version 4, in the header `Authorization` or in the query.
//! There are no anonymous requests. These are refused with S3's codes, before the body is read:
//! - a time more than 15 minutes from the gateway's clock (`RequestTimeTooSkewed`); a presigned URL
//!   that has expired or whose time is in the future (`AccessDenied`);
//! - an expiry that is not 1 to 604,800 seconds, or a malformed parameter
//!   (`AuthorizationQueryParametersError`);
//! - a signature that does not cover `host` or an `x-amz-*` header of the request (`AccessDenied`);
//! - an unknown key (`InvalidAccessKeyId`), the session token of another key (`InvalidToken`);
//! - a signature that does not match method, path, query, signed headers or payload
//!   (`SignatureDoesNotMatch`), which includes a signed header that is missing, and a signed
//!   `content-length` that differs;
//! - two signatures (`InvalidArgument`), Signature Version 2 (`InvalidRequest`), another service
//!   (`AuthorizationHeaderMalformed`). Any region is accepted.
//!
//! boto3 and version 1 of the AWS CLI presign with Signature Version 2 for an endpoint of their own,
//! unless `signature_version` is `s3v4`.
//!
//! The body is verified while it is read: its length, its SHA-256, the signature of each chunk and
//! of the trailer, and every checksum. Only then is its last piece passed to the storage, so that a
//! request that fails, or whose client vanishes, writes nothing.
//!
//! # Checksums
//! - The stored checksum is the one that the client sends. Without one, it is the CRC-64/NVME of all
//!   bytes, as on S3, also of a multipart upload that was created without an algorithm.
//! - A part of such an upload may be sent with a checksum of any algorithm, as SDKs do by default. A
//!   part of an upload that names its algorithm is refused with another one (`InvalidRequest`).
//! - A presigner that has no body yet can sign the checksum of no bytes into the query, as that of the
//!   SDK for JavaScript does by default. It is ignored. Any other checksum in a query is verified,
//!   although S3 ignores it: sign the header, so that S3 verifies it, too.
//!
//! # Limits
//! An object or part has at most 5 GB and streams in constant memory. Any other body has at most
//! 8 MB. Limits on connections and time-outs are those of [`ListenerConfig`].
//!
//! # Web pages
//! Only pages of [`ListenerConfig::origins`] get CORS headers; there is no `*`, and loopback origins
//! have to be listed, too. A signed request of another page is executed, as that of any program, and
//! the browser hides the response from the page. The `Host` of a request is not checked against a
//! list, because every signature covers it.

mod checksums;
mod cors;
mod errors;
mod keys;
mod operations;
mod payload;
mod prepare;
mod query;
mod refusal;
mod unsupported;
mod verify;
mod xml;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, SERVER};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{S3Result, s3_error};
use tabla_core::Result;
use tabla_core::env::Env;
use tabla_server::Credentials;
use tabla_server::listener::{
    Authentication, ListenerConfig, Protocol, RequestBody, ResponseBody, Server,
};

use self::cors::Origins;
use self::keys::Keys;
use self::operations::Operations;
use self::payload::BoxError;
use self::prepare::Admitted;
use self::query::Query;
use self::refusal::Refusal;
use crate::Buckets;

pub use self::unsupported::{HEADERS, NOT_SERVED, SERVED};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amz-request-id");

/// Configuration of a gateway: its listener and access keys.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GatewayConfig {
    /// Address, connection limit, time-outs, clock, and the origins of web pages that may
    /// read responses.
    pub listener: ListenerConfig,
    /// Access keys beside the buckets' own one, such as those of the tables' server (default: none).
    /// Without them, the gateway listens beyond loopback only if [`ListenerConfig::insecure`]
    /// is set.
    pub credentials: Option<Arc<Credentials>>,
}

impl GatewayConfig {
    /// Default configuration: a free port of the loopback address, the buckets' own key.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the listener.
    #[must_use]
    pub fn with_listener(self, listener: ListenerConfig) -> Self {
        Self { listener, ..self }
    }

    /// Accepts requests that are signed with one of these keys, too.
    #[must_use]
    pub fn with_credentials(self, credentials: impl Into<Arc<Credentials>>) -> Self {
        Self { credentials: Some(credentials.into()), ..self }
    }
}

/// Starts a gateway for buckets, on the current Tokio runtime.
///
/// # Errors
/// A configured origin is malformed; the address can be reached from other machines, and neither
/// credentials nor [`ListenerConfig::insecure`] are set; or the address cannot be bound.
pub async fn spawn(buckets: Arc<dyn Buckets>, config: GatewayConfig) -> Result<Server> {
    let authentication = match config.credentials {
        Some(_) => Authentication::Required,
        None => Authentication::None,
    };
    let gateway = Gateway::new(buckets, &config);
    Ok(config.listener.bind(authentication).await?.serve(gateway))
}

/// S3's protocol over buckets, without sockets.
///
/// Cheap to clone: clones share the buckets.
#[derive(Clone)]
pub struct Gateway(Arc<Inner>);

struct Inner {
    service: S3Service,
    keys: Keys,
    origins: Origins,
    env: Env,
    /// First half of all request ids of this gateway, drawn at random.
    id: u64,
    requests: AtomicU64,
}

impl Gateway {
    /// Protocol with the keys, the clock and the origins of a configuration. Its address is not
    /// bound, and its limits and time-outs do not apply.
    pub fn new(buckets: Arc<dyn Buckets>, config: &GatewayConfig) -> Self {
        let env = config.listener.env.clone();
        let keys = Keys::new(buckets.signing_key().clone(), config.credentials.clone());
        let mut builder = S3ServiceBuilder::new(Operations::new(buckets));
        builder.set_auth(NoSignature);
        builder.set_access(OnlyAdmitted);
        Self(Arc::new(Inner {
            service: builder.build(),
            keys,
            origins: Origins::new(&config.listener.origins),
            id: env.random.next_u64(),
            env,
            requests: AtomicU64::new(0),
        }))
    }

    /// Executes a request and returns its response, errors included.
    pub async fn call<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let number = self.0.requests.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:016X}{number:016X}", self.0.id);
        let (head, body) = request.into_parts();
        let (method, resource) = (head.method.clone(), head.uri.path().to_owned());
        let origin = self.0.origins.allowed(&head.headers).cloned();
        let outcome = match method {
            Method::OPTIONS => self.0.origins.preflight(&head.headers).map(whole),
            _ => self.execute(head, body, &resource, &id).await,
        };
        let mut response = outcome.unwrap_or_else(|refusal| {
            tracing::debug!(id, %method, code = refusal.code(), "refused");
            whole(refusal.response(&resource, &id))
        });
        // `s3s` has no other status for the response to HeadObject.
        if response.status() == StatusCode::OK && response.headers().contains_key(CONTENT_RANGE) {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        let is_error = !response.status().is_success();
        if response.status() == StatusCode::NOT_MODIFIED || method == Method::HEAD && is_error {
            *response.body_mut() = ResponseBody::new(Bytes::new());
            response.headers_mut().remove(CONTENT_TYPE);
            response.headers_mut().remove(CONTENT_LENGTH);
        }
        let headers = response.headers_mut();
        headers.insert(SERVER, HeaderValue::from_static("tabla"));
        if let Ok(id) = HeaderValue::from_str(&id) {
            headers.insert(REQUEST_ID, id);
        }
        cors::allow(origin.as_ref(), headers);
        response
    }

    /// Verifies and executes a request.
    async fn execute<B>(
        &self,
        mut head: Parts,
        body: B,
        resource: &str,
        id: &str,
    ) -> Result<Response<ResponseBody>, Refusal>
    where
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        unsupported::check_form(&head.method, &head.headers)?;
        let path = query::decode_path(head.uri.path())?;
        let mut query = Query::parse(head.uri.query().unwrap_or_default())?;
        let now = self.0.env.clock.now();
        let verified = verify::verify(&self.0.keys, &head, &path, &query, now)?;
        prepare::take_signature(&mut head, &mut query, &verified)?;
        let is_object = prepare::is_object(&path);
        unsupported::check(&head.method, is_object, &head.headers, &query)?;
        prepare::drop_malformed(&mut head.headers);
        let request = prepare::request(head, &path, &query, verified, body).await?;
        match self.0.service.call(request).await {
            Ok(response) => {
                let response = xml::complete_error(response, resource, id);
                Ok(xml::escape_controls(response).map(ResponseBody::streamed))
            }
            Err(error) => {
                tracing::error!(?error, "a request failed");
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                let message = "We encountered an internal error. Please try again.";
                Err(Refusal::with_status(status, "InternalError", message.to_owned()))
            }
        }
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("keys", &self.0.keys).finish_non_exhaustive()
    }
}

impl Protocol for Gateway {
    async fn respond(&self, request: Request<RequestBody>) -> Response<ResponseBody> {
        self.call(request).await
    }
}

fn whole(response: Response<Bytes>) -> Response<ResponseBody> {
    response.map(ResponseBody::new)
}

/// Refuses every signature that `s3s` would verify: [`verify`] has verified and removed it.
struct NoSignature;

#[async_trait::async_trait]
impl S3Auth for NoSignature {
    async fn get_secret_key(&self, _: &str) -> S3Result<SecretKey> {
        Err(s3_error!(AccessDenied))
    }
}

/// Refuses every request that does not have the mark of a verified signature.
struct OnlyAdmitted;

#[async_trait::async_trait]
impl S3Access for OnlyAdmitted {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        match context.extensions_mut().get::<Admitted>() {
            Some(_) => Ok(()),
            None => Err(s3_error!(AccessDenied)),
        }
    }
}
