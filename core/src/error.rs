//! The one error type of the workspace.
//!
//! An [`Error`] says what a caller can act on: its [`ErrorKind`] (with the data that comes with
//! it), the exception name and message that DynamoDB gives, whether trying again can help, and
//! whether the write may have happened although its answer was lost.

use std::error::Error as StdError;
use std::fmt;

use crate::Item;

/// What every fallible function of the workspace returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a store, of a request, or of the code that reads and writes items.
///
/// It is one pointer wide, so that results stay small on the hot path.
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

/// What went wrong, with what a caller needs to act on it.
///
/// Kinds are few: there is one only where a caller would do something different.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is wrong and will stay wrong: change it.
    Validation,
    /// The condition of a single write did not hold. Decide again with the current item.
    ConditionFailed {
        /// The item as it was, if the request asked for it and there was one.
        item: Option<Item>,
    },
    /// A transaction was not carried out. The reasons stand in the order of its operations.
    TransactionCanceled {
        /// One reason per operation; the innocent ones have [`CancellationCode::None`].
        reasons: Vec<CancellationReason>,
    },
    /// A single write met a transaction in flight on the same item. Try again.
    TransactionConflict,
    /// A transaction with this client request token is still running. Try again later.
    TransactionInProgress,
    /// A client request token was used again with other content. Use a new token.
    IdempotentParameterMismatch,
    /// The table, index or stream does not exist, or is not active yet.
    NotFound,
    /// The table or index exists already, or is being changed.
    InUse,
    /// An item collection of a table with local secondary indexes has outgrown 10 GB.
    ItemCollectionTooLarge,
    /// A limit on control-plane work was met, such as one index change at a time.
    LimitExceeded,
    /// The store asks the caller to slow down.
    Throttled,
    /// The stream position has been trimmed away. Start again at the trim horizon.
    TrimmedData,
    /// The shard iterator is too old. Ask for a new one at the last sequence number.
    ExpiredIterator,
    /// The caller may not do this.
    AccessDenied,
    /// This store cannot do this; [`crate::Capabilities`] says so beforehand.
    Unsupported,
    /// An address or a setting is wrong: correct it and open the store again.
    Config,
    /// Stored bytes are not what they should be. Restore from a backup.
    Corrupt,
    /// The store cannot be reached, timed out, or failed inside. Try again.
    Unavailable,
    /// None of the above.
    Unexpected,
}

/// Whether the same call can succeed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// Trying again gives the same answer.
    Never,
    /// Trying again after a pause may help.
    Later,
    /// Waiting may help, but not soon: the retries ran out, or the cause is one that a person has to
    /// remove, such as a full disk. An outer layer should not start over.
    Exhausted,
}

/// Whether the write behind a failed call may have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// Nothing was changed.
    No,
    /// The write may have happened: its answer was lost, or the operation failed after the commit.
    /// The message says so where it is known that the write is committed.
    Maybe,
}

/// Why one operation stood in the way of its transaction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CancellationReason {
    /// The cause; [`CancellationCode::None`] for an operation that was not at fault.
    pub code: CancellationCode,
    /// DynamoDB's message, absent for [`CancellationCode::None`].
    pub message: Option<String>,
    /// The item as it was, if the operation asked for it on a failed condition.
    pub item: Option<Item>,
}

/// The cause in a [`CancellationReason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CancellationCode {
    /// Not at fault.
    None,
    /// The operation's condition did not hold.
    ConditionalCheckFailed,
    /// Another transaction or write held the item.
    TransactionConflict,
    /// The operation would have written an invalid item.
    ValidationError,
    /// An item collection has outgrown 10 GB.
    ItemCollectionSizeLimitExceeded,
    /// The table's provisioned throughput was exceeded.
    ProvisionedThroughputExceeded,
    /// The table asked to slow down.
    ThrottlingError,
    /// Anything else.
    Other,
}

impl CancellationCode {
    /// The name that DynamoDB gives this cause.
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

    /// The cause with this name, [`CancellationCode::Other`] if there is none.
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
    /// The reason with this cause, without message or item.
    pub fn new(code: CancellationCode) -> Self {
        Self { code, message: None, item: None }
    }

    /// The same with this message.
    #[must_use]
    pub fn with_message(self, message: impl Into<Option<String>>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// The same with this item.
    #[must_use]
    pub fn with_item(self, item: impl Into<Option<Item>>) -> Self {
        Self { item: item.into(), ..self }
    }

    /// The reason of an operation that was not at fault.
    pub fn none() -> Self {
        Self::new(CancellationCode::None)
    }

    /// The reason of an operation whose condition did not hold.
    pub fn condition_failed(item: Option<Item>) -> Self {
        Self {
            code: CancellationCode::ConditionalCheckFailed,
            message: Some(CONDITION_FAILED.to_owned()),
            item,
        }
    }

    /// The reason of an operation whose item another write was changing.
    pub fn conflict() -> Self {
        Self {
            code: CancellationCode::TransactionConflict,
            message: Some("Transaction is ongoing for the item".to_owned()),
            item: None,
        }
    }

    /// The reason of an operation that would have written an invalid item.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { code: CancellationCode::ValidationError, message: Some(message.into()), item: None }
    }
}

const CONDITION_FAILED: &str = "The conditional request failed";

impl ErrorKind {
    /// The exception name that DynamoDB uses for this kind.
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

/// Whether contention or throttling stood in the way, and nothing that stays wrong. A condition
/// that did not hold beside them is judged anew: whoever was met may be about to change that.
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
    /// An error of this kind, with DynamoDB's exception name and the retry advice of the kind.
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

    /// A request that is wrong.
    pub fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Validation, message)
    }

    /// A single write whose condition did not hold.
    pub fn condition_failed(item: Option<Item>) -> Self {
        Self::new(ErrorKind::ConditionFailed { item }, CONDITION_FAILED)
    }

    /// A transaction that was not carried out, with the message that lists the codes in order.
    pub fn transaction_canceled(reasons: Vec<CancellationReason>) -> Self {
        let codes: Vec<&str> = reasons.iter().map(|reason| reason.code.as_str()).collect();
        let message = format!(
            "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
            codes.join(", ")
        );
        Self::new(ErrorKind::TransactionCanceled { reasons }, message)
    }

    /// A table that does not exist, in the words of the data operations.
    pub fn table_not_found() -> Self {
        Self::new(ErrorKind::NotFound, "Requested resource not found")
    }

    /// Stored bytes that are not what they should be.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Something this store cannot do.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// A wrong address or setting.
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// The same error under another of DynamoDB's exception names.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.0.code = code;
        self
    }

    /// The same error with another message.
    #[must_use]
    pub fn with_message(mut self, message: String) -> Self {
        self.0.message = message;
        self
    }

    /// The same error with other retry advice.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.0.retry = retry;
        self
    }

    /// The same error, saying whether the write may have happened.
    #[must_use]
    pub fn with_applied(mut self, applied: Applied) -> Self {
        self.0.applied = applied;
        self
    }

    /// The same error with the id that the service gave the request.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }

    /// The same error with what caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// What went wrong, taken out.
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// DynamoDB's exception name, such as `ValidationException`.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// The message: DynamoDB's own where it has one.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether trying again can help.
    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// Whether the write may have happened.
    pub fn applied(&self) -> Applied {
        self.0.applied
    }

    /// The id that the service gave the request, if there was a service.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Whether a condition did not hold: that of a single write, or any in a transaction.
    pub fn is_condition_failed(&self) -> bool {
        match &self.0.kind {
            ErrorKind::ConditionFailed { .. } => true,
            ErrorKind::TransactionCanceled { reasons } => {
                reasons.iter().any(|reason| reason.code == CancellationCode::ConditionalCheckFailed)
            }
            _ => false,
        }
    }

    /// Whether the table, index or stream does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self.0.kind, ErrorKind::NotFound)
    }

    /// The reasons of a canceled transaction, empty for every other error.
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
    fn an_error_is_one_pointer_wide() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn a_cancellation_lists_its_codes_in_order() {
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
    fn a_transaction_lost_to_contention_is_worth_another_try() {
        let conflict = CancellationReason::conflict();
        let error = Error::transaction_canceled(vec![CancellationReason::none(), conflict.clone()]);
        assert_eq!(error.retry(), Retry::Later);
        let lost = CancellationReason::condition_failed(None);
        let error = Error::transaction_canceled(vec![lost.clone(), conflict.clone()]);
        assert_eq!(error.retry(), Retry::Later);
        let wrong = CancellationReason::invalid("a wrong item");
        let error = Error::transaction_canceled(vec![lost, conflict, wrong]);
        assert_eq!(error.retry(), Retry::Never);
    }
}
