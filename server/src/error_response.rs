//! Errors as JSON, with DynamoDB's status, `__type` and members.
//!
//! The texts of errors come from core and from the parsers in `request` and `shape`.

use http::StatusCode;
use tabla_core::{CancellationReason, Error, ErrorKind, Item};

use crate::request::SERIALIZATION;
use crate::response::{Object, object_with_items};

/// Prefix of `__type` for exceptions of DynamoDB's API model.
const MODELLED: &str = "com.amazonaws.dynamodb.v20120810#";
/// Prefix of `__type` for errors of AWS's service framework, such as an unknown operation.
const FRAMEWORK: &str = "com.amazon.coral.service#";
/// Prefix of `__type` for invalid requests.
const VALIDATION: &str = "com.amazon.coral.validate#";

/// Returns the status and the body of the response to a failed request.
pub(crate) fn answer(error: &Error) -> (StatusCode, Vec<u8>) {
    (status(error), body(error))
}

fn status(error: &Error) -> StatusCode {
    match error.kind() {
        // AWS SDKs retry the statuses 500, 502, 503 and 504.
        _ if error.is_disk_full() => StatusCode::INSUFFICIENT_STORAGE,
        ErrorKind::Unavailable | ErrorKind::Unexpected | ErrorKind::Corrupt | ErrorKind::Config => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        _ if error.code() == TOO_LARGE => StatusCode::PAYLOAD_TOO_LARGE,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// Code of the error for a request that is larger than the server's limits.
pub(crate) const TOO_LARGE: &str = "RequestEntityTooLargeException";
/// Code of the error for an operation that the server does not support.
pub(crate) const UNKNOWN_OPERATION: &str = "UnknownOperationException";
/// Code of the error for a request that admission control rejects.
pub(crate) const THROTTLING: &str = "ThrottlingException";

/// Returns the name of the exception and the prefix of its `__type`.
fn name(error: &Error) -> (&'static str, &'static str) {
    match (error.kind(), error.code()) {
        (_, "ValidationException") => (VALIDATION, "ValidationException"),
        (ErrorKind::AccessDenied, code) => (FRAMEWORK, code),
        (_, code @ (SERIALIZATION | UNKNOWN_OPERATION | TOO_LARGE)) => (FRAMEWORK, code),
        // A store without a feature is reported like a service without the operation.
        (ErrorKind::Unsupported, _) => (FRAMEWORK, UNKNOWN_OPERATION),
        _ if error.is_disk_full() => (MODELLED, "InternalServerError"),
        (ErrorKind::Corrupt | ErrorKind::Config, _) => (MODELLED, "InternalServerError"),
        (_, code) => (MODELLED, code),
    }
}

fn body(error: &Error) -> Vec<u8> {
    let (prefix, code) = name(error);
    object_with_items(items(error), |answer| {
        answer.text("__type", &format!("{prefix}{code}"));
        // The API model spells this member in two ways.
        let member = match error.kind() {
            ErrorKind::TransactionCanceled { .. }
            | ErrorKind::TransactionInProgress
            | ErrorKind::IdempotentParameterMismatch => "Message",
            _ if error.code() == SERIALIZATION => "Message",
            _ => "message",
        };
        // Text that is not JSON is refused without a message.
        if !error.message().is_empty() {
            answer.text(member, error.message());
        }
        match error.kind() {
            ErrorKind::ConditionFailed { item: Some(item) } => answer.item("Item", item),
            ErrorKind::TransactionCanceled { reasons } => {
                answer.array("CancellationReasons", |array| {
                    for one in reasons {
                        array.object(|object| reason(object, one));
                    }
                });
            }
            _ => {}
        }
    })
}

/// Returns the items that an error shows.
fn items(error: &Error) -> Vec<&Item> {
    match error.kind() {
        ErrorKind::ConditionFailed { item } => item.iter().collect(),
        ErrorKind::TransactionCanceled { reasons } => {
            reasons.iter().filter_map(|reason| reason.item.as_ref()).collect()
        }
        _ => Vec::new(),
    }
}

fn reason(object: &mut Object<'_>, reason: &CancellationReason) {
    object.text("Code", reason.code.as_str());
    if let Some(message) = &reason.message {
        object.text("Message", message);
    }
    if let Some(item) = &reason.item {
        object.item("Item", item);
    }
}

/// Returns the error of a request that admission control rejects.
pub(crate) fn throttled(what: &str) -> Error {
    Error::new(
        ErrorKind::Throttled,
        format!("Rate of requests exceeds the allowed throughput: {what}"),
    )
    .with_code(THROTTLING)
}

#[cfg(test)]
mod tests {
    use tabla_core::item;

    use super::*;

    fn text(error: &Error) -> (u16, String) {
        let (status, body) = answer(error);
        (status.as_u16(), String::from_utf8(body).unwrap())
    }

    #[test]
    fn errors_have_dynamodbs_status_type_and_members() {
        for (error, status, body) in [
            (
                Error::validation("wrong"),
                400,
                r#"{"__type":"com.amazon.coral.validate#ValidationException","message":"wrong"}"#,
            ),
            (
                Error::validation("odd").with_code(SERIALIZATION),
                400,
                r#"{"__type":"com.amazon.coral.service#SerializationException","Message":"odd"}"#,
            ),
            (
                Error::validation("").with_code(SERIALIZATION),
                400,
                r#"{"__type":"com.amazon.coral.service#SerializationException"}"#,
            ),
            (
                Error::condition_failed(Some(item! { "pk" => "a" })),
                400,
                r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed","Item":{"pk":{"S":"a"}}}"#,
            ),
            (
                Error::new(ErrorKind::AccessDenied, "who?")
                    .with_code("UnrecognizedClientException"),
                400,
                r#"{"__type":"com.amazon.coral.service#UnrecognizedClientException","message":"who?"}"#,
            ),
            (
                Error::corrupt("a page"),
                500,
                r#"{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"a page"}"#,
            ),
            (
                Error::disk_full("no space"),
                507,
                r#"{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"no space"}"#,
            ),
            (
                Error::unsupported("no streams"),
                400,
                r#"{"__type":"com.amazon.coral.service#UnknownOperationException","message":"no streams"}"#,
            ),
        ] {
            assert_eq!(text(&error), (status, body.to_owned()));
        }
    }

    #[test]
    fn canceled_transaction_lists_its_reasons() {
        let error = Error::transaction_canceled(vec![
            CancellationReason::none(),
            CancellationReason::condition_failed(Some(item! { "pk" => 1 })),
        ]);
        let (_, body) = text(&error);
        assert!(body.contains(r#""Message":"Transaction cancelled"#), "{body}");
        assert!(
            body.ends_with(
                r#""CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Message":"The conditional request failed","Item":{"pk":{"N":"1"}}}]}"#
            ),
            "{body}"
        );
    }
}
