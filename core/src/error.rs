//! Error type of the whole workspace: [`Error`], its kinds, retry advice and cancellation reasons.
//!
//! Checks, and the texts of their errors, are next to the rules in `expr`, `schema` and `engine`.

use std::error::Error as StdError;
use std::fmt;

use crate::Item;

/// Result of every fallible function of the workspace.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of a store, of a request, or of the encoding of items.
///
/// It has a [`kind`](Error::kind) with its data, DynamoDB's exception name and message, advice on
/// [retries](Error::retry), and whether a failed write [may have happened](Error::applied).
///
/// It is one pointer wide, so that results stay small.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    code: &'static str,
    message: String,
    retry: Retry,
    applied: Applied,
    request_id: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// Code of [`Error::disk_full`]. DynamoDB has no such exception.
const DISK_FULL: &str = "InsufficientStorage";

/// Kind of an [`Error`], with the data that a caller needs to act on it.
///
/// There is one kind for each different reaction of a caller.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request breaks a rule. Change it; a retry fails the same way.
    Validation,
    /// The condition of a single write failed. Read the item and decide again.
    ConditionFailed {
        /// Present item, if the request asked for it and the item exists.
        item: Option<Item>,
    },
    /// A transaction was canceled, and nothing of it was applied.
    TransactionCanceled {
        /// One reason per operation, in the order of the request. An operation that did not cause
        /// the cancellation has [`CancellationCode::None`].
        reasons: Vec<CancellationReason>,
    },
    /// A single write met a transaction in flight on the same item, or a conditional write of a blob
    /// met another one. Retry.
    TransactionConflict,
    /// A transaction with this request token is in flight. Retry later.
    TransactionInProgress,
    /// A request token was used before, with other operations. Use a new token.
    IdempotentParameterMismatch,
    /// The table, index, stream or shard does not exist, or is not active yet. Check the name.
    NotFound,
    /// The blob has not changed since the ETag or time of the request. Use the copy that you have.
    NotModified,
    /// The table or index exists already, or is being changed. Wait, or use another name.
    InUse,
    /// An item collection of a table with local secondary indexes exceeds 10 GB. Delete some of its
    /// items, or use another partition key.
    ItemCollectionTooLarge,
    /// A limit on tables and indexes is reached, such as one index change at a time.
    LimitExceeded,
    /// The store refuses load above a limit. Retry after a back-off.
    Throttled,
    /// The records at a stream position were deleted after retention. Resume at the trim horizon.
    TrimmedData,
    /// The shard iterator is older than 15 minutes. Get a new one after the last sequence number.
    ExpiredIterator,
    /// The caller lacks the permission. Check credentials and policies.
    AccessDenied,
    /// The store lacks a feature that the request needs; see [`crate::Capabilities`].
    Unsupported,
    /// An address or a setting is invalid. Correct it and open the store again.
    Config,
    /// Stored bytes are damaged. Restore them from a backup.
    Corrupt,
    /// The store cannot be reached, timed out, or failed internally. Retry if
    /// [`Error::retry`] says so.
    Unavailable,
    /// An error of no other kind, such as a response that the backend cannot interpret.
    Unexpected,
}

/// Advice on retries of the failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// A retry fails the same way.
    Never,
    /// A retry after a back-off may succeed.
    Later,
    /// The retries ran out, or a person has to remove the cause, such as a full disk. An outer
    /// layer does not retry.
    Exhausted,
}

/// Whether a failed write can have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// Nothing was changed.
    No,
    /// The write may have happened: its response was lost, or the operation failed after its
    /// commit. If the commit is certain, the message says so.
    Maybe,
}

/// Outcome of one operation of a canceled transaction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CancellationReason {
    /// Cause; [`CancellationCode::None`] for an operation that did not cause the cancellation.
    pub code: CancellationCode,
    /// Message of DynamoDB; `None` for [`CancellationCode::None`].
    pub message: Option<String>,
    /// Present item, if the condition failed and the operation asked for the item.
    pub item: Option<Item>,
}

/// Cause in a [`CancellationReason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CancellationCode {
    /// The operation did not cause the cancellation.
    None,
    /// The condition of the operation failed.
    ConditionalCheckFailed,
    /// Another transaction or write on the item is in flight.
    TransactionConflict,
    /// The operation does not fit the item, or its result is an invalid item.
    ValidationError,
    /// The item collection exceeds 10 GB.
    ItemCollectionSizeLimitExceeded,
    /// The provisioned throughput of the table or of an index is exceeded.
    ProvisionedThroughputExceeded,
    /// The table or an index is throttled, without provisioned throughput.
    ThrottlingError,
    /// Cause with a name that this version does not know.
    Other,
}

impl CancellationCode {
    /// DynamoDB's name of the cause, such as `ConditionalCheckFailed`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::ConditionalCheckFailed => "ConditionalCheckFailed",
            Self::TransactionConflict => "TransactionConflict",
            Self::ValidationError => "ValidationError",
            Self::ItemCollectionSizeLimitExceeded => "ItemCollectionSizeLimitExceeded",
            Self::ProvisionedThroughputExceeded => "ProvisionedThroughputExceeded",
            Self::ThrottlingError => "ThrottlingError",
            Self::Other => "Other",
        }
    }

    /// Returns the cause with this name; [`CancellationCode::Other`] for an unknown one.
    pub fn from_name(name: &str) -> Self {
        [
            Self::None,
            Self::ConditionalCheckFailed,
            Self::TransactionConflict,
            Self::ValidationError,
            Self::ItemCollectionSizeLimitExceeded,
            Self::ProvisionedThroughputExceeded,
            Self::ThrottlingError,
        ]
        .into_iter()
        .find(|code| code.as_str() == name)
        .unwrap_or(Self::Other)
    }
}

impl fmt::Display for CancellationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl CancellationReason {
    /// Reason with this cause, without message or item.
    pub fn new(code: CancellationCode) -> Self {
        Self { code, message: None, item: None }
    }

    /// Sets the message.
    #[must_use]
    pub fn with_message(self, message: impl Into<Option<String>>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// Sets the item.
    #[must_use]
    pub fn with_item(self, item: impl Into<Option<Item>>) -> Self {
        Self { item: item.into(), ..self }
    }

    /// Reason of an operation that did not cause the cancellation.
    pub fn none() -> Self {
        Self::new(CancellationCode::None)
    }

    /// Reason of an operation whose condition failed.
    pub fn condition_failed(item: Option<Item>) -> Self {
        Self {
            code: CancellationCode::ConditionalCheckFailed,
            message: Some(CONDITION_FAILED.to_owned()),
            item,
        }
    }

    /// Reason of an operation on an item with another write in flight.
    pub fn conflict() -> Self {
        Self {
            code: CancellationCode::TransactionConflict,
            message: Some("Transaction is ongoing for the item".to_owned()),
            item: None,
        }
    }

    /// Reason of an operation whose result is an invalid item.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { code: CancellationCode::ValidationError, message: Some(message.into()), item: None }
    }
}

const CONDITION_FAILED: &str = "The conditional request failed";

impl ErrorKind {
    /// DynamoDB's exception name for this kind.
    fn default_code(&self) -> &'static str {
        match self {
            Self::Validation => "ValidationException",
            Self::ConditionFailed { .. } => "ConditionalCheckFailedException",
            Self::TransactionCanceled { .. } => "TransactionCanceledException",
            Self::TransactionConflict => "TransactionConflictException",
            Self::TransactionInProgress => "TransactionInProgressException",
            Self::IdempotentParameterMismatch => "IdempotentParameterMismatchException",
            Self::NotFound => "ResourceNotFoundException",
            Self::InUse => "ResourceInUseException",
            Self::ItemCollectionTooLarge => "ItemCollectionSizeLimitExceededException",
            Self::LimitExceeded => "LimitExceededException",
            Self::Throttled => "ProvisionedThroughputExceededException",
            Self::TrimmedData => "TrimmedDataAccessException",
            Self::ExpiredIterator => "ExpiredIteratorException",
            Self::AccessDenied => "AccessDeniedException",
            Self::Unavailable | Self::Unexpected => "InternalServerError",
            // A name of S3: DynamoDB has no such reads.
            Self::NotModified => "NotModified",
            // DynamoDB has no names for these: they do not come from a service.
            Self::Unsupported => "Unsupported",
            Self::Config => "ConfigInvalid",
            Self::Corrupt => "DataCorrupt",
        }
    }

    fn default_retry(&self) -> Retry {
        match self {
            Self::TransactionConflict
            | Self::TransactionInProgress
            | Self::Throttled
            | Self::Unavailable => Retry::Later,
            Self::TransactionCanceled { reasons } if is_contention(reasons) => Retry::Later,
            _ => Retry::Never,
        }
    }
}

/// Whether a transaction was canceled by contention or throttling, and by nothing that a retry
/// cannot change. A condition that failed beside a conflict is evaluated again: the concurrent
/// write may change its outcome.
fn is_contention(reasons: &[CancellationReason]) -> bool {
    use CancellationCode as Code;
    let passes = |code| {
        matches!(
            code,
            Code::TransactionConflict | Code::ThrottlingError | Code::ProvisionedThroughputExceeded
        )
    };
    let may_pass = |code| passes(code) || matches!(code, Code::None | Code::ConditionalCheckFailed);
    reasons.iter().any(|reason| passes(reason.code))
        && reasons.iter().all(|reason| may_pass(reason.code))
}

impl Error {
    /// Creates an error of this kind, with DynamoDB's exception name and the retry advice of the
    /// kind, and [`Applied::No`].
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let code = kind.default_code();
        let retry = kind.default_retry();
        Self(Box::new(Inner {
            kind,
            code,
            message: message.into(),
            retry,
            applied: Applied::No,
            request_id: None,
            source: None,
        }))
    }

    /// Error for a request that breaks a rule.
    pub fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Validation, message)
    }

    /// Error for a single write whose condition failed; `item` is the present item, if asked for.
    pub fn condition_failed(item: Option<Item>) -> Self {
        Self::new(ErrorKind::ConditionFailed { item }, CONDITION_FAILED)
    }

    /// Error for a canceled transaction. The message lists the codes in order.
    pub fn transaction_canceled(reasons: Vec<CancellationReason>) -> Self {
        let codes: Vec<&str> = reasons.iter().map(|reason| reason.code.as_str()).collect();
        let message = format!(
            "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
            codes.join(", ")
        );
        Self::new(ErrorKind::TransactionCanceled { reasons }, message)
    }

    /// Error for a missing table, with the message of the operations on items.
    pub fn table_not_found() -> Self {
        Self::new(ErrorKind::NotFound, "Requested resource not found")
    }

    /// Error for damaged bytes in a store.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Error for a write that found no free disk space: [`ErrorKind::Unavailable`] with
    /// [`Retry::Exhausted`], so no layer retries it.
    pub fn disk_full(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message).with_code(DISK_FULL).with_retry(Retry::Exhausted)
    }

    /// Error for a request that needs a feature which the store lacks.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Error for an invalid address or setting.
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// Sets the exception name.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.0.code = code;
        self
    }

    /// Sets the message.
    #[must_use]
    pub fn with_message(mut self, message: String) -> Self {
        self.0.message = message;
        self
    }

    /// Sets the retry advice.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.0.retry = retry;
        self
    }

    /// Sets whether the write can have happened.
    #[must_use]
    pub fn with_applied(mut self, applied: Applied) -> Self {
        self.0.applied = applied;
        self
    }

    /// Sets the request id of the service.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }

    /// Sets the source, which [`StdError::source`] returns.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Copy without the source, which cannot be cloned: for each further caller of work that several
    /// callers share.
    #[must_use]
    pub fn without_source(&self) -> Self {
        Self(Box::new(Inner {
            kind: self.0.kind.clone(),
            code: self.0.code,
            message: self.0.message.clone(),
            retry: self.0.retry,
            applied: self.0.applied,
            request_id: self.0.request_id.clone(),
            source: None,
        }))
    }

    /// Kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Converts the error into its kind, with the data of the kind.
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// DynamoDB's exception name, such as `ValidationException`.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// Message without the exception name: DynamoDB's own where it has one.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Advice on retries.
    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// Whether the write can have happened; [`Applied::No`] for a read.
    pub fn applied(&self) -> Applied {
        self.0.applied
    }

    /// Request id of the service; `None` for an embedded store.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Whether the disk of the store is full ([`Error::disk_full`]).
    pub fn is_disk_full(&self) -> bool {
        self.code() == DISK_FULL
    }

    /// Whether a condition failed: that of a single write, or any of a transaction.
    pub fn is_condition_failed(&self) -> bool {
        match &self.0.kind {
            ErrorKind::ConditionFailed { .. } => true,
            ErrorKind::TransactionCanceled { reasons } => {
                reasons.iter().any(|reason| reason.code == CancellationCode::ConditionalCheckFailed)
            }
            _ => false,
        }
    }

    /// Whether the kind is [`ErrorKind::NotFound`].
    pub fn is_not_found(&self) -> bool {
        matches!(self.0.kind, ErrorKind::NotFound)
    }

    /// Reasons of a canceled transaction, one per operation; empty for any other error.
    pub fn cancellation_reasons(&self) -> &[CancellationReason] {
        match &self.0.kind {
            ErrorKind::TransactionCanceled { reasons } => reasons,
            _ => &[],
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        f.debug_struct("Error")
            .field("code", &inner.code)
            .field("message", &inner.message)
            .field("kind", &inner.kind)
            .field("retry", &inner.retry)
            .field("applied", &inner.applied)
            .field("request_id", &inner.request_id)
            .field("source", &inner.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_of_unit_is_one_pointer_wide() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn copy_has_everything_but_the_source() {
        let error = Error::new(ErrorKind::Unavailable, "no disk")
            .with_code("Gone")
            .with_retry(Retry::Exhausted)
            .with_applied(Applied::Maybe)
            .with_request_id("7")
            .with_source("cause");
        let copy = error.without_source();
        assert_eq!(copy.to_string(), error.to_string());
        assert_eq!((copy.kind(), copy.code()), (&ErrorKind::Unavailable, "Gone"));
        assert_eq!((copy.retry(), copy.applied()), (Retry::Exhausted, Applied::Maybe));
        assert_eq!(copy.request_id(), Some("7"));
        assert!(StdError::source(&copy).is_none() && StdError::source(&error).is_some());
    }

    #[test]
    fn cancellation_message_lists_the_codes_in_order() {
        let error = Error::transaction_canceled(vec![
            CancellationReason::none(),
            CancellationReason::condition_failed(None),
        ]);
        assert_eq!(
            error.message(),
            "Transaction cancelled, please refer cancellation reasons for specific reasons \
             [None, ConditionalCheckFailed]"
        );
        assert!(error.is_condition_failed());
        assert_eq!(error.retry(), Retry::Never);
    }

    #[test]
    fn transaction_canceled_by_contention_can_be_retried() {
        let conflict = CancellationReason::conflict();
        let error = Error::transaction_canceled(vec![CancellationReason::none(), conflict.clone()]);
        assert_eq!(error.retry(), Retry::Later);
        let failed = CancellationReason::condition_failed(None);
        let error = Error::transaction_canceled(vec![failed.clone(), conflict.clone()]);
        assert_eq!(error.retry(), Retry::Later);
        let wrong = CancellationReason::invalid("an invalid item");
        let error = Error::transaction_canceled(vec![failed, conflict, wrong]);
        assert_eq!(error.retry(), Retry::Never);
    }
}
