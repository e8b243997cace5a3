//! Conversion of the SDK's errors to core's [`Error`]: kind, retry advice, and whether the write
//! can have been applied.
//!
//! Error codes and retry advice are those of the developer guide ("Error handling with DynamoDB")
//! and the API reference ("Common Error Types").

use std::error::Error as StdError;
use std::io;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use aws_sdk_dynamodb::types as sdk;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::DispatchFailure;
use tabla_core::{Applied, CancellationCode, CancellationReason, Error, ErrorKind, Retry};

use crate::convert::{Attributes, item_from_sdk};

/// Access of a call: decides `applied` if the response was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read: a failed call has changed nothing.
    Read,
    /// Write: if the response was lost, the write may have been applied.
    Write,
}

impl Access {
    fn applied_if_sent(self) -> Applied {
        match self {
            Self::Read => Applied::No,
            Self::Write => Applied::Maybe,
        }
    }
}

/// Details of an exception, besides its code and message.
pub(crate) trait ErrorDetails {
    /// Returns the item that failed its condition, if the request asked for it.
    fn item(&self) -> Option<&Attributes> {
        None
    }

    /// Returns the cancellation reasons of a transaction, in the order of its operations.
    fn reasons(&self) -> Option<&[sdk::CancellationReason]> {
        None
    }
}

/// Converts the error of a failed call.
pub(crate) fn from_sdk<E>(access: Access, error: SdkError<E, HttpResponse>) -> Error
where
    E: ErrorDetails + ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    let request_id = error.request_id().map(str::to_owned);
    let mapped = match &error {
        SdkError::ServiceError(failure) => {
            service_error(access, failure.err(), failure.raw().status().as_u16())
        }
        SdkError::ConstructionFailure(_) => not_sent_error(&root_cause(&error)),
        SdkError::DispatchFailure(failure) => {
            dispatch_failure(access, failure, &root_cause(&error))
        }
        // The cause names the limit, such as "operation timeout … occurred after 15s".
        SdkError::TimeoutError(_) => {
            unavailable(&format!("the service did not respond in time: {}", root_cause(&error)))
                .with_applied(access.applied_if_sent())
        }
        SdkError::ResponseError(_) => {
            unavailable(&format!("cannot read the response of the service: {}", root_cause(&error)))
                .with_applied(access.applied_if_sent())
        }
        other => Error::new(ErrorKind::Unexpected, root_cause(other))
            .with_applied(access.applied_if_sent()),
    };
    let mapped = match request_id {
        Some(id) => mapped.with_request_id(id),
        None => mapped,
    };
    mapped.with_source(error)
}

/// Meaning of an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorClass {
    Validation,
    ConditionFailed,
    TransactionCanceled,
    TransactionConflict,
    TransactionInProgress,
    IdempotentParameterMismatch,
    NotFound,
    InUse,
    ItemCollectionTooLarge,
    LimitExceeded,
    Throttled,
    TrimmedData,
    ExpiredIterator,
    AccessDenied,
    Unsupported,
    Unavailable,
}

/// All known error codes of DynamoDB, its streams and compatible engines.
const CODES: &[(&str, ErrorClass)] = &[
    ("ValidationException", ErrorClass::Validation),
    ("ValidationError", ErrorClass::Validation),
    ("SerializationException", ErrorClass::Validation),
    ("ConditionalCheckFailedException", ErrorClass::ConditionFailed),
    ("TransactionCanceledException", ErrorClass::TransactionCanceled),
    ("TransactionConflictException", ErrorClass::TransactionConflict),
    ("ReplicatedWriteConflictException", ErrorClass::TransactionConflict),
    ("TransactionInProgressException", ErrorClass::TransactionInProgress),
    ("IdempotentParameterMismatchException", ErrorClass::IdempotentParameterMismatch),
    ("ResourceNotFoundException", ErrorClass::NotFound),
    ("TableNotFoundException", ErrorClass::NotFound),
    ("IndexNotFoundException", ErrorClass::NotFound),
    ("ResourceInUseException", ErrorClass::InUse),
    ("TableInUseException", ErrorClass::InUse),
    ("TableAlreadyExistsException", ErrorClass::InUse),
    ("ItemCollectionSizeLimitExceededException", ErrorClass::ItemCollectionTooLarge),
    ("LimitExceededException", ErrorClass::LimitExceeded),
    ("ProvisionedThroughputExceededException", ErrorClass::Throttled),
    ("ThrottlingException", ErrorClass::Throttled),
    ("Throttling", ErrorClass::Throttled),
    ("RequestLimitExceeded", ErrorClass::Throttled),
    ("TrimmedDataAccessException", ErrorClass::TrimmedData),
    ("ExpiredIteratorException", ErrorClass::ExpiredIterator),
    ("AccessDeniedException", ErrorClass::AccessDenied),
    ("ExpiredTokenException", ErrorClass::AccessDenied),
    ("IncompleteSignatureException", ErrorClass::AccessDenied),
    ("InvalidSignatureException", ErrorClass::AccessDenied),
    ("MissingAuthenticationTokenException", ErrorClass::AccessDenied),
    ("OptInRequired", ErrorClass::AccessDenied),
    ("UnrecognizedClientException", ErrorClass::AccessDenied),
    ("UnknownOperationException", ErrorClass::Unsupported),
    ("InternalServerError", ErrorClass::Unavailable),
    ("InternalFailure", ErrorClass::Unavailable),
    ("ServiceUnavailable", ErrorClass::Unavailable),
    ("ServiceUnavailableException", ErrorClass::Unavailable),
];

/// HTTP status of a store whose disk is full.
const INSUFFICIENT_STORAGE: u16 = 507;

/// Code of an error that is not in [`CODES`]; its real name is in the message.
const UNKNOWN: &str = "UnknownError";

fn service_error<E>(access: Access, error: &E, status: u16) -> Error
where
    E: ErrorDetails + ProvideErrorMetadata,
{
    let name = error.code().unwrap_or_default();
    let message = error.message().unwrap_or_default();
    let Some(&(code, meaning)) = CODES.iter().find(|(code, _)| *code == name) else {
        return unknown_code(access, name, message, status);
    };
    let kind = match meaning {
        ErrorClass::Validation => ErrorKind::Validation,
        ErrorClass::ConditionFailed => ErrorKind::ConditionFailed {
            item: error.item().and_then(|item| item_from_sdk(item.clone()).ok()),
        },
        ErrorClass::TransactionCanceled => {
            ErrorKind::TransactionCanceled { reasons: reasons(error.reasons()) }
        }
        ErrorClass::TransactionConflict => ErrorKind::TransactionConflict,
        ErrorClass::TransactionInProgress => ErrorKind::TransactionInProgress,
        ErrorClass::IdempotentParameterMismatch => ErrorKind::IdempotentParameterMismatch,
        ErrorClass::NotFound => ErrorKind::NotFound,
        ErrorClass::InUse => ErrorKind::InUse,
        ErrorClass::ItemCollectionTooLarge => ErrorKind::ItemCollectionTooLarge,
        ErrorClass::LimitExceeded => ErrorKind::LimitExceeded,
        ErrorClass::Throttled => ErrorKind::Throttled,
        ErrorClass::TrimmedData => ErrorKind::TrimmedData,
        ErrorClass::ExpiredIterator => ErrorKind::ExpiredIterator,
        ErrorClass::AccessDenied => ErrorKind::AccessDenied,
        ErrorClass::Unsupported => ErrorKind::Unsupported,
        ErrorClass::Unavailable => ErrorKind::Unavailable,
    };
    let error = Error::new(kind, message).with_code(code);
    match meaning {
        // "OK to retry? Yes": too many concurrent control-plane operations or readers of a shard.
        ErrorClass::LimitExceeded => error.with_retry(Retry::Later),
        // The transaction with this token is still running, and may succeed.
        ErrorClass::TransactionInProgress => error.with_applied(access.applied_if_sent()),
        // `tabla serve` reports a full disk so; DynamoDB has no such status.
        ErrorClass::Unavailable if status == INSUFFICIENT_STORAGE => {
            Error::disk_full(message).with_applied(access.applied_if_sent())
        }
        // "If … a write operation … receives an HTTP 500 …, the operation may have succeeded".
        ErrorClass::Unavailable => error.with_applied(access.applied_if_sent()),
        _ => error,
    }
}

/// Converts a response with an unknown code or without one, such as the page of a proxy, by status.
fn unknown_code(access: Access, name: &str, message: &str, status: u16) -> Error {
    let message = match (name, message) {
        ("", "") => format!("the service responded with HTTP status {status} and no error code"),
        ("", message) => message.to_owned(),
        (name, message) => format!("{name}: {message}"),
    };
    match status {
        // A success that the SDK could not parse: the write has been applied.
        ..300 => unavailable(&format!(
            "cannot read the response of the service, which has HTTP status {status}"
        ))
        .with_applied(access.applied_if_sent()),
        429 => Error::new(ErrorKind::Throttled, message),
        500.. => unavailable(&message).with_applied(access.applied_if_sent()),
        _ => Error::new(ErrorKind::Unexpected, message),
    }
    .with_code(UNKNOWN)
}

fn reasons(reasons: Option<&[sdk::CancellationReason]>) -> Vec<CancellationReason> {
    reasons
        .unwrap_or_default()
        .iter()
        .map(|reason| {
            CancellationReason::new(CancellationCode::from_name(reason.code().unwrap_or("None")))
                .with_message(reason.message().map(str::to_owned))
                .with_item(reason.item().and_then(|item| item_from_sdk(item.clone()).ok()))
        })
        .collect()
}

/// Converts the error of a request without a response.
fn dispatch_failure(access: Access, failure: &DispatchFailure, cause: &str) -> Error {
    let Some(connector) = failure.as_connector_error() else {
        return unavailable(&format!(
            "cannot send the request: {cause}; check the endpoint and the network"
        ))
        .with_applied(access.applied_if_sent());
    };
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
        );
    }
    if any_source(connector, never_connected) {
        return unavailable(&format!("the service cannot be reached: {cause}"));
    }
    let what = match failure.is_timeout() {
        true => "the service did not respond in time",
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

/// Returns the error of a request that the SDK did not send.
fn not_sent_error(cause: &str) -> Error {
    // The SDK treats an empty table name as missing, and sends no request.
    if cause.starts_with("table_name was missing")
        && let Err(refused) = tabla_core::backend::schema::table_name("")
    {
        return refused;
    }
    Error::config(format!("the SDK cannot build the request: {cause}"))
}

fn unavailable(message: &str) -> Error {
    Error::new(ErrorKind::Unavailable, message)
}

/// Implements [`ErrorDetails`] for errors of operations whose exceptions carry an item.
macro_rules! carries_item {
    ($($operation:ident::$error:ident),+) => {
        $(
            impl ErrorDetails for aws_sdk_dynamodb::operation::$operation::$error {
                fn item(&self) -> Option<&Attributes> {
                    match self {
                        Self::ConditionalCheckFailedException(exception) => exception.item(),
                        _ => None,
                    }
                }
            }
        )+
    };
}

/// Implements [`ErrorDetails`] for errors of transactions.
macro_rules! carries_reasons {
    ($($operation:ident::$error:ident),+) => {
        $(
            impl ErrorDetails for aws_sdk_dynamodb::operation::$operation::$error {
                fn reasons(&self) -> Option<&[sdk::CancellationReason]> {
                    match self {
                        Self::TransactionCanceledException(exception) => {
                            Some(exception.cancellation_reasons())
                        }
                        _ => None,
                    }
                }
            }
        )+
    };
}

/// Implements [`ErrorDetails`] for errors of operations whose exceptions carry no details.
macro_rules! carries_nothing {
    ($sdk:ident: $($operation:ident::$error:ident),+ $(,)?) => {
        $(impl ErrorDetails for $sdk::operation::$operation::$error {})+
    };
}

carries_item!(put_item::PutItemError, update_item::UpdateItemError, delete_item::DeleteItemError);
carries_reasons!(
    transact_get_items::TransactGetItemsError,
    transact_write_items::TransactWriteItemsError
);
carries_nothing!(aws_sdk_dynamodb:
    get_item::GetItemError,
    query::QueryError,
    scan::ScanError,
    batch_get_item::BatchGetItemError,
    batch_write_item::BatchWriteItemError,
    create_table::CreateTableError,
    describe_table::DescribeTableError,
    update_table::UpdateTableError,
    delete_table::DeleteTableError,
    list_tables::ListTablesError,
    update_time_to_live::UpdateTimeToLiveError,
    describe_time_to_live::DescribeTimeToLiveError,
    tag_resource::TagResourceError,
    untag_resource::UntagResourceError,
    list_tags_of_resource::ListTagsOfResourceError,
);
carries_nothing!(aws_sdk_dynamodbstreams:
    list_streams::ListStreamsError,
    describe_stream::DescribeStreamError,
    get_shard_iterator::GetShardIteratorError,
    get_records::GetRecordsError,
);

#[cfg(test)]
mod tests;
