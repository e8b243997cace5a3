//! Authentication errors, with DynamoDB's codes and messages.

use tabla_core::{Error, ErrorKind};

/// Error for a request without a signature.
pub(super) fn unsigned() -> Error {
    missing_token("Request is missing Authentication Token")
}

/// Error for a request without a signature, or with one of a kind that the server does not support.
pub(super) fn missing_token(message: impl Into<String>) -> Error {
    refuse("MissingAuthenticationTokenException", message)
}

/// Error for a signature with missing or malformed parts.
pub(super) fn incomplete(message: impl Into<String>) -> Error {
    refuse("IncompleteSignatureException", message)
}

/// Error for a signature that is invalid for this request, service or time.
pub(super) fn invalid(message: impl Into<String>) -> Error {
    refuse("InvalidSignatureException", message)
}

/// Error for an unknown access key, or for a temporary one without a session token.
pub(super) fn unknown_key() -> Error {
    unrecognized("The security token included in the request is invalid.")
}

/// Error for a session token of another access key. Only this message has no full stop, as
/// on DynamoDB.
pub(super) fn wrong_token() -> Error {
    unrecognized("The security token included in the request is invalid")
}

fn unrecognized(message: &str) -> Error {
    refuse("UnrecognizedClientException", message)
}

fn refuse(code: &'static str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::AccessDenied, message).with_code(code)
}
