//! Handlers of records, and their failures.
//!
//! Repeated attempts at a record are in `shard`.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use async_trait::async_trait;
use futures::FutureExt;

use tabla_core::ops::Record;

/// Handler of the records of a stream.
///
/// A record is handled at least once. After a crash or a lost lease, the last few records are
/// repeated, so effects must be idempotent, for instance by [event id](Record::event_id). The
/// records of an item arrive in the order of its changes.
///
/// The future can be dropped at any await: when the lease of the shard is lost, another worker
/// handles the same record. A handler should not block its thread, which also renews the leases. If
/// a lease expires meanwhile and another worker takes over, this one starts no further record of
/// the shard.
///
/// A panic is a failed attempt. The record is retried, and set aside after the last attempt.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Handles one record.
    ///
    /// # Errors
    /// After any error, the record is retried, and set aside after the last attempt.
    /// [`Failure::set_aside`] and [`Failure::stop`] are the exceptions.
    async fn handle(&self, record: &Record) -> Result<(), Failure>;
}

#[async_trait]
impl<H: Handler + ?Sized> Handler for std::sync::Arc<H> {
    async fn handle(&self, record: &Record) -> Result<(), Failure> {
        (**self).handle(record).await
    }
}

/// Error of a handler, with the action that the consumer takes for the record.
///
/// Every error type converts to a failure with `?`; its record is retried.
pub struct Failure {
    advice: FailureAction,
    is_panic: bool,
    error: Box<dyn StdError + Send + Sync>,
}

/// Action of the consumer after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureAction {
    Retry,
    SetAside,
    Stop,
}

impl Failure {
    /// Creates a failure that sets the record aside without another attempt; the shard continues.
    pub fn set_aside(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { advice: FailureAction::SetAside, is_panic: false, error: error.into() }
    }

    /// Creates a failure that stops the consumer with this error; its checkpoint stays before
    /// the record.
    pub fn stop(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { advice: FailureAction::Stop, is_panic: false, error: error.into() }
    }

    /// Creates the failure of a handler that panicked with this payload: a failed attempt.
    fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let error = match text {
            Some(text) => format!("the handler panicked: {text}"),
            None => "the handler panicked".to_owned(),
        };
        Self { advice: FailureAction::Retry, is_panic: true, error: error.into() }
    }

    /// Whether the handler panicked.
    pub(super) fn is_panic(&self) -> bool {
        self.is_panic
    }

    pub(super) fn action(&self) -> FailureAction {
        self.advice
    }

    pub(super) fn into_error(self) -> Box<dyn StdError + Send + Sync> {
        self.error
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { advice: FailureAction::Retry, is_panic: false, error: error.into() }
    }
}

/// Formats the error with its sources.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error)?;
        let mut source = self.error.source();
        while let Some(cause) = source {
            write!(f, ": {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure").field("advice", &self.advice).field("error", &self.error).finish()
    }
}

/// Makes one attempt to handle a record. A panic is a failure like any other.
pub(super) async fn attempt(handler: &dyn Handler, record: &Record) -> Result<(), Failure> {
    // The consumer shares no state with the handler, so unwinding cannot leave its own state
    // broken.
    let handled = AssertUnwindSafe(async { handler.handle(record).await }).catch_unwind().await;
    handled.unwrap_or_else(|payload| Err(Failure::panicked(&*payload)))
}

/// Creates a handler that calls a function with each record.
///
/// ```
/// use tabla::consumer::each;
///
/// let handler = each(|record| async move {
///     println!("{} of {:?}", record.event_name.as_str(), record.keys);
///     Ok(())
/// });
/// # let _ = handler;
/// ```
pub fn each<F, R>(function: F) -> Each<F>
where
    F: Fn(Record) -> R + Send + Sync,
    R: Future<Output = Result<(), Failure>> + Send,
{
    Each(function)
}

/// Handler that [`each`] returns.
pub struct Each<F>(F);

#[async_trait]
impl<F, R> Handler for Each<F>
where
    F: Fn(Record) -> R + Send + Sync,
    R: Future<Output = Result<(), Failure>> + Send,
{
    async fn handle(&self, record: &Record) -> Result<(), Failure> {
        (self.0)(record.clone()).await
    }
}

impl<F> fmt::Debug for Each<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Each")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabla_core::{Error, ErrorKind};

    #[test]
    fn errors_are_retried_unless_they_set_aside_or_stop() {
        fn fails() -> Result<(), Failure> {
            Err(Error::new(ErrorKind::Throttled, "slow down"))?
        }
        assert_eq!(fails().unwrap_err().action(), FailureAction::Retry);
        assert_eq!(Failure::from("text").action(), FailureAction::Retry);
        assert_eq!(Failure::set_aside("text").action(), FailureAction::SetAside);
        assert_eq!(Failure::stop("text").action(), FailureAction::Stop);
    }

    #[test]
    fn failure_is_displayed_with_its_sources() {
        let cause = Error::new(ErrorKind::Throttled, "slow down");
        let error = Error::new(ErrorKind::Unavailable, "no mail").with_source(cause);
        assert_eq!(
            Failure::from(error).to_string(),
            "InternalServerError: no mail: ProvisionedThroughputExceededException: slow down"
        );
    }
}
