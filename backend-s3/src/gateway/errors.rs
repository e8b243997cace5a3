//! Errors of the storage as errors of S3.

use http::StatusCode;
use s3s::{S3Error, S3ErrorCode};
use tabla_core::blobs::codes;
use tabla_core::{Error, ErrorKind};

/// S3's code of an error, and the status that S3 sends with it.
pub(super) fn code_and_status(error: &Error) -> (&'static str, StatusCode) {
    let internal = |status| ("InternalError", status);
    match error.kind() {
        // AWS SDKs retry the statuses 500, 502, 503 and 504, and a full disk stays full.
        _ if error.is_disk_full() => internal(StatusCode::INSUFFICIENT_STORAGE),
        ErrorKind::Throttled => ("SlowDown", StatusCode::SERVICE_UNAVAILABLE),
        ErrorKind::Unavailable => ("ServiceUnavailable", StatusCode::SERVICE_UNAVAILABLE),
        ErrorKind::Unsupported => ("NotImplemented", StatusCode::NOT_IMPLEMENTED),
        ErrorKind::NotModified => (codes::NOT_MODIFIED, StatusCode::NOT_MODIFIED),
        ErrorKind::ConditionFailed { .. } => {
            (codes::PRECONDITION_FAILED, StatusCode::PRECONDITION_FAILED)
        }
        ErrorKind::TransactionConflict => {
            (codes::CONDITIONAL_REQUEST_CONFLICT, StatusCode::CONFLICT)
        }
        ErrorKind::NotFound => (error.code(), StatusCode::NOT_FOUND),
        ErrorKind::InUse => (error.code(), StatusCode::CONFLICT),
        ErrorKind::AccessDenied => (error.code(), StatusCode::FORBIDDEN),
        ErrorKind::Validation => match error.code() {
            codes::INVALID_RANGE => (codes::INVALID_RANGE, StatusCode::RANGE_NOT_SATISFIABLE),
            // The code of a request that has none of S3's.
            "ValidationException" => (codes::INVALID_REQUEST, StatusCode::BAD_REQUEST),
            code => (code, StatusCode::BAD_REQUEST),
        },
        _ => internal(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// Message of an error for the client. Causes inside the server are logged, and not sent.
pub(super) fn message(error: &Error) -> String {
    let (_, status) = code_and_status(error);
    match status {
        StatusCode::INTERNAL_SERVER_ERROR => {
            tracing::error!(%error, "a request failed");
            "We encountered an internal error. Please try again.".to_owned()
        }
        StatusCode::INSUFFICIENT_STORAGE => {
            tracing::error!(%error, "a request failed: the disk is full");
            error.message().to_owned()
        }
        _ => error.message().to_owned(),
    }
}

/// Error of the storage as an error of `s3s`.
pub(super) fn s3_error(error: Error) -> S3Error {
    let (code, status) = code_and_status(&error);
    let mut converted = S3Error::with_message(s3_code(code), message(&error));
    converted.set_status_code(status);
    converted
}

/// Error with one of S3's codes, which `s3s` knows the status of.
pub(super) fn refuse(code: S3ErrorCode, message: impl Into<String>) -> S3Error {
    S3Error::with_message(code, message.into())
}

fn s3_code(code: &'static str) -> S3ErrorCode {
    S3ErrorCode::from_bytes(code.as_bytes()).unwrap_or(S3ErrorCode::InternalError)
}

#[cfg(test)]
mod tests {
    use tabla_core::blobs::{invalid_range, no_such_bucket, no_such_key, precondition_failed};

    use super::*;

    #[test]
    fn errors_have_the_codes_and_statuses_of_s3() {
        for (error, code, status) in [
            (no_such_key("k"), "NoSuchKey", 404),
            (no_such_bucket("b"), "NoSuchBucket", 404),
            (precondition_failed(), "PreconditionFailed", 412),
            (invalid_range(3), "InvalidRange", 416),
            (Error::validation("x").with_code("BadDigest"), "BadDigest", 400),
            (Error::validation("x"), "InvalidRequest", 400),
            (Error::unsupported("x"), "NotImplemented", 501),
            (Error::new(ErrorKind::Throttled, "x"), "SlowDown", 503),
            (Error::new(ErrorKind::Unavailable, "x"), "ServiceUnavailable", 503),
            (Error::disk_full("x"), "InternalError", 507),
            (Error::corrupt("secret"), "InternalError", 500),
        ] {
            let converted = s3_error(error);
            assert_eq!(converted.code().as_str(), code);
            assert_eq!(
                converted.status_code().map(|status| status.as_u16()),
                Some(status),
                "{code}"
            );
            assert!(!converted.to_string().contains("secret"));
        }
    }

    #[test]
    fn every_code_of_blobs_is_known_to_s3s_or_custom() {
        assert_eq!(s3_code("BadDigest"), S3ErrorCode::BadDigest);
        assert_eq!(s3_code("XAmzContentSHA256Mismatch").as_str(), "XAmzContentSHA256Mismatch");
    }
}
