//! Conversion of the SDK's errors to core's [`Error`]: kind, code, retry advice, and whether the
//! write can have been applied.
//!
//! Error codes are those of the S3 API reference ("Error Responses").

use std::error::Error as StdError;
use std::io;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::RequestId;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::DispatchFailure;
use tabla_core::blobs::{codes, not_modified, precondition_failed};
use tabla_core::{Applied, Error, ErrorKind};

/// Access of a call: decides `applied` if the response was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Read: a failed call has changed nothing.
    Read,
    /// Write: if the response was lost, the write may have been applied.
    Write,
}

impl Access {
    pub(super) fn applied_if_sent(self) -> Applied {
        match self {
            Self::Read => Applied::No,
            Self::Write => Applied::Maybe,
        }
    }
}

/// Converts the error of a failed call.
pub(super) fn from_sdk<E>(access: Access, error: SdkError<E, HttpResponse>) -> Error
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    let request_id = error.request_id().map(str::to_owned);
    let mapped = match &error {
        SdkError::ServiceError(failure) => {
            let (name, message) = (failure.err().code(), failure.err().message());
            service_error(access, name, message, failure.raw())
        }
        SdkError::ConstructionFailure(_) => {
            let message = format!("the SDK cannot build the request: {}", root_cause(&error));
            Error::validation(message).with_code(codes::INVALID_ARGUMENT)
        }
        SdkError::DispatchFailure(failure) => dispatch_failure(access, failure),
        SdkError::TimeoutError(_) => no_answer(access),
        SdkError::ResponseError(_) => unavailable(&format!(
            "the response of the service could not be read: {}",
            root_cause(&error)
        ))
        .with_applied(access.applied_if_sent()),
        other => Error::new(ErrorKind::Unexpected, root_cause(other))
            .with_code(UNKNOWN)
            .with_applied(access.applied_if_sent()),
    };
    let mapped = match request_id {
        Some(id) => mapped.with_request_id(id),
        None => mapped,
    };
    mapped.with_source(error)
}

/// Error of one key of a deletion of several.
pub(super) fn from_entry(name: &str, message: &str) -> Error {
    match find(name) {
        Some((code, class)) => class.error(Access::Write, code, message),
        None => Error::new(ErrorKind::Unexpected, with_name(name, message)).with_code(UNKNOWN),
    }
}

/// Error of a call whose response did not come in time.
pub(super) fn no_answer(access: Access) -> Error {
    unavailable("the service did not answer in time").with_applied(access.applied_if_sent())
}

/// Error of a download that breaks off.
pub(super) fn broken_download(error: impl StdError + Send + Sync + 'static) -> Error {
    let message = format!("the connection broke during the download: {}", root_cause(&error));
    unavailable(&message).with_source(error)
}

/// Meaning of an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorClass {
    Validation,
    ConditionFailed,
    NotModified,
    Conflict,
    NotFound,
    InUse,
    Throttled,
    AccessDenied,
    Unsupported,
    WrongRegion,
    DiskFull,
    /// The service failed. A write may have been applied.
    Unavailable,
    /// The service gave up before it had the whole request.
    Interrupted,
}

/// All known error codes of S3 and compatible engines, each with its meaning.
const CODES: &[(&str, ErrorClass)] = &[
    (codes::BAD_DIGEST, ErrorClass::Validation),
    ("BadRequest", ErrorClass::Validation),
    (codes::ENTITY_TOO_LARGE, ErrorClass::Validation),
    (codes::ENTITY_TOO_SMALL, ErrorClass::Validation),
    (codes::INCOMPLETE_BODY, ErrorClass::Validation),
    (codes::INVALID_ARGUMENT, ErrorClass::Validation),
    ("InvalidBucketName", ErrorClass::Validation),
    (codes::INVALID_DIGEST, ErrorClass::Validation),
    ("InvalidObjectState", ErrorClass::Validation),
    (codes::INVALID_PART, ErrorClass::Validation),
    (codes::INVALID_PART_ORDER, ErrorClass::Validation),
    (codes::INVALID_RANGE, ErrorClass::Validation),
    (codes::INVALID_REQUEST, ErrorClass::Validation),
    ("InvalidURI", ErrorClass::Validation),
    (codes::KEY_TOO_LONG, ErrorClass::Validation),
    (codes::MALFORMED_XML, ErrorClass::Validation),
    (codes::METADATA_TOO_LARGE, ErrorClass::Validation),
    ("MissingContentLength", ErrorClass::Validation),
    ("MissingRequestBodyError", ErrorClass::Validation),
    ("XAmzContentChecksumMismatch", ErrorClass::Validation),
    ("XAmzContentSHA256Mismatch", ErrorClass::Validation),
    (codes::PRECONDITION_FAILED, ErrorClass::ConditionFailed),
    (codes::NOT_MODIFIED, ErrorClass::NotModified),
    (codes::CONDITIONAL_REQUEST_CONFLICT, ErrorClass::Conflict),
    ("OperationAborted", ErrorClass::Conflict),
    (codes::NO_SUCH_BUCKET, ErrorClass::NotFound),
    (codes::NO_SUCH_KEY, ErrorClass::NotFound),
    (codes::NO_SUCH_UPLOAD, ErrorClass::NotFound),
    (codes::NO_SUCH_VERSION, ErrorClass::NotFound),
    ("BucketAlreadyExists", ErrorClass::InUse),
    ("BucketAlreadyOwnedByYou", ErrorClass::InUse),
    ("BucketNotEmpty", ErrorClass::InUse),
    ("RequestLimitExceeded", ErrorClass::Throttled),
    ("SlowDown", ErrorClass::Throttled),
    ("SlowDownRead", ErrorClass::Throttled),
    ("SlowDownWrite", ErrorClass::Throttled),
    ("Throttling", ErrorClass::Throttled),
    ("ThrottlingException", ErrorClass::Throttled),
    ("TooManyRequests", ErrorClass::Throttled),
    ("AccessDenied", ErrorClass::AccessDenied),
    ("AccountProblem", ErrorClass::AccessDenied),
    ("AllAccessDisabled", ErrorClass::AccessDenied),
    ("AuthorizationQueryParametersError", ErrorClass::AccessDenied),
    ("ExpiredToken", ErrorClass::AccessDenied),
    ("InvalidAccessKeyId", ErrorClass::AccessDenied),
    ("InvalidSecurity", ErrorClass::AccessDenied),
    ("InvalidToken", ErrorClass::AccessDenied),
    ("MissingSecurityHeader", ErrorClass::AccessDenied),
    ("NotSignedUp", ErrorClass::AccessDenied),
    ("RequestTimeTooSkewed", ErrorClass::AccessDenied),
    ("SignatureDoesNotMatch", ErrorClass::AccessDenied),
    ("TokenRefreshRequired", ErrorClass::AccessDenied),
    // versitygw's name of InvalidAccessKeyId.
    ("XAdminUserNotFound", ErrorClass::AccessDenied),
    ("MethodNotAllowed", ErrorClass::Unsupported),
    ("NotImplemented", ErrorClass::Unsupported),
    ("AuthorizationHeaderMalformed", ErrorClass::WrongRegion),
    ("IllegalLocationConstraintException", ErrorClass::WrongRegion),
    ("PermanentRedirect", ErrorClass::WrongRegion),
    ("TemporaryRedirect", ErrorClass::WrongRegion),
    ("InsufficientStorage", ErrorClass::DiskFull),
    ("XMinioStorageFull", ErrorClass::DiskFull),
    ("InternalError", ErrorClass::Unavailable),
    ("ServiceUnavailable", ErrorClass::Unavailable),
    ("RequestTimeout", ErrorClass::Interrupted),
];

/// Code of an error that is not in [`CODES`]; its real name is in the message.
const UNKNOWN: &str = "UnknownError";

fn find(name: &str) -> Option<(&'static str, ErrorClass)> {
    CODES.iter().find(|(code, _)| *code == name).copied()
}

impl ErrorClass {
    fn error(self, access: Access, code: &'static str, message: &str) -> Error {
        let kind = match self {
            Self::Validation => ErrorKind::Validation,
            Self::ConditionFailed => ErrorKind::ConditionFailed { item: None },
            Self::NotModified => ErrorKind::NotModified,
            Self::Conflict => ErrorKind::TransactionConflict,
            Self::NotFound => ErrorKind::NotFound,
            Self::InUse => ErrorKind::InUse,
            Self::Throttled => ErrorKind::Throttled,
            Self::AccessDenied => ErrorKind::AccessDenied,
            Self::Unsupported => ErrorKind::Unsupported,
            Self::WrongRegion => ErrorKind::Config,
            Self::DiskFull => {
                return Error::disk_full(message).with_applied(access.applied_if_sent());
            }
            Self::Unavailable | Self::Interrupted => ErrorKind::Unavailable,
        };
        let error = Error::new(kind, message).with_code(code);
        match self {
            Self::Unavailable => error.with_applied(access.applied_if_sent()),
            _ => error,
        }
    }
}

fn service_error(
    access: Access,
    name: Option<&str>,
    message: Option<&str>,
    response: &HttpResponse,
) -> Error {
    let (name, message) = (name.unwrap_or_default(), message.unwrap_or_default());
    match find(name) {
        Some((code, ErrorClass::WrongRegion)) => {
            let message = format!("{message}{}", region_hint(response));
            ErrorClass::WrongRegion.error(access, code, &message)
        }
        Some((code, class)) => class.error(access, code, message),
        None => by_status(access, name, message, response),
    }
}

/// Converts a response without a known code by its status: one to HEAD, which has no body, one to a
/// conditional GET, or the page of a proxy.
fn by_status(access: Access, name: &str, message: &str, response: &HttpResponse) -> Error {
    let status = response.status().as_u16();
    let message = match (name, message) {
        ("", "") => format!("the service answered with HTTP status {status} and no error code"),
        _ => with_name(name, message),
    };
    // The SDK names a 404 to HEAD itself.
    let is_bare =
        matches!(name, "" | "NotFound") && response.body().bytes().is_none_or(<[u8]>::is_empty);
    let (code, class) = match status {
        // A success that the SDK could not parse: the write has been applied.
        ..=299 => {
            return unavailable("the response of the service could not be read")
                .with_applied(access.applied_if_sent());
        }
        301 | 307 => {
            let message = format!("the bucket is in another region{}", region_hint(response));
            return ErrorClass::WrongRegion.error(access, "PermanentRedirect", &message);
        }
        304 if is_bare => return not_modified(),
        412 if is_bare => return precondition_failed(),
        400 => (UNKNOWN, ErrorClass::Validation),
        // The page of a proxy, or an unknown error, does not tell that the blob is missing.
        404 if is_bare => (codes::NO_SUCH_KEY, ErrorClass::NotFound),
        405 if is_bare => ("MethodNotAllowed", ErrorClass::Unsupported),
        416 if is_bare => (codes::INVALID_RANGE, ErrorClass::Validation),
        403 => ("AccessDenied", ErrorClass::AccessDenied),
        429 => (UNKNOWN, ErrorClass::Throttled),
        // S3 answers so to a HEAD that it throttles; before a write, it may be a proxy's answer.
        503 => {
            return ErrorClass::Throttled
                .error(access, "SlowDown", &message)
                .with_applied(access.applied_if_sent());
        }
        507 => (UNKNOWN, ErrorClass::DiskFull),
        500.. => (UNKNOWN, ErrorClass::Unavailable),
        _ => return Error::new(ErrorKind::Unexpected, message).with_code(UNKNOWN),
    };
    class.error(access, code, &message)
}

fn with_name(name: &str, message: &str) -> String {
    match (name, message) {
        ("", message) => message.to_owned(),
        (name, "") => name.to_owned(),
        (name, message) => format!("{name}: {message}"),
    }
}

/// Advice for a request to the wrong region, with the right one if the response names it.
fn region_hint(response: &HttpResponse) -> String {
    match response.headers().get("x-amz-bucket-region") {
        Some(region) => format!("; set the region `{region}`, as in `?region={region}`"),
        None => "; set the region of the bucket, as in `?region=eu-west-1`".to_owned(),
    }
}

/// Converts the error of a request without a response.
fn dispatch_failure(access: Access, failure: &DispatchFailure) -> Error {
    let Some(connector) = failure.as_connector_error() else {
        return unavailable("the request could not be sent").with_applied(access.applied_if_sent());
    };
    let cause = root_cause(connector);
    if any_source(connector, |source| source.is::<CredentialsError>()) {
        return Error::config(format!(
            "no AWS credentials: {cause}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a \
             profile that has them"
        ));
    }
    if failure.is_user() {
        return Error::new(
            ErrorKind::Unexpected,
            format!("the request is not valid HTTP: {cause}"),
        )
        .with_code(UNKNOWN);
    }
    if any_source(connector, never_connected) {
        return unavailable(&format!("the service cannot be reached: {cause}"));
    }
    let what = match failure.is_timeout() {
        true => "the service did not answer in time",
        false => "the connection broke before the response came",
    };
    unavailable(&format!("{what}: {cause}")).with_applied(access.applied_if_sent())
}

/// Whether this error means that no connection was made, so that nothing can have been sent.
fn never_connected(source: &(dyn StdError + 'static)) -> bool {
    if let Some(error) = source.downcast_ref::<hyper_util::client::legacy::Error>() {
        return error.is_connect();
    }
    source
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

fn any_source(
    error: &(dyn StdError + 'static),
    mut holds: impl FnMut(&(dyn StdError + 'static)) -> bool,
) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if holds(error) {
            return true;
        }
        next = error.source();
    }
    false
}

/// Returns the text of the innermost error. The SDK's outer errors say only "dispatch failure".
fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn unavailable(message: &str) -> Error {
    Error::new(ErrorKind::Unavailable, message).with_code("ServiceUnavailable")
}

#[cfg(test)]
mod tests;
