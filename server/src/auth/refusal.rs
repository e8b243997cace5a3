//! The errors with which a request is refused, under DynamoDB's names.

use tabla_core::{Error, ErrorKind};

/// A request that is not signed at all.
pub(super) fn unsigned() -> Error {
    missing_token("Request is missing Authentication Token")
}

/// A request that is not signed in a way that is understood here.
pub(super) fn missing_token(message: impl Into<String>) -> Error {
    refuse("MissingAuthenticationTokenException", message)
}

/// A signature with parts missing or malformed.
pub(super) fn incomplete(message: impl Into<String>) -> Error {
    refuse("IncompleteSignatureException", message)
}

/// A signature that does not hold for this request, this service or this time.
pub(super) fn invalid(message: impl Into<String>) -> Error {
    refuse("InvalidSignatureException", message)
}

/// An access key that is not known, or not without its session token.
pub(super) fn unknown_key() -> Error {
    unrecognized("The security token included in the request is invalid.")
}

/// A session token that does not belong to the access key. The service leaves the full stop out
/// here, and only here.
pub(super) fn wrong_token() -> Error {
    unrecognized("The security token included in the request is invalid")
}

fn unrecognized(message: &str) -> Error {
    refuse("UnrecognizedClientException", message)
}

fn refuse(code: &'static str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::AccessDenied, message).with_code(code)
}
