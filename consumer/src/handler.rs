//! What is done with each record, and what can become of it.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use async_trait::async_trait;
use futures::FutureExt;

use tabla_core::ops::Record;

/// Does something with each record of a stream.
///
/// A record is handled at least once: after a crash or a lost lease, the last few come again, so
/// that an effect has to be one that can be repeated, for instance by its
/// [event id](Record::event_id). The records of an item come in the order of its changes.
///
/// The future may be dropped wherever it waits: when the lease of the shard is lost, somebody else
/// is about to handle the same record. It should not block its thread, on which the leases are
/// renewed, too: if a lease has lapsed meanwhile and another worker has taken the shard, this one
/// begins no further record of it.
///
/// A handler that panics has failed. Its record is tried again, and set aside after the last try.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Handles one record.
    ///
    /// # Errors
    /// Any error means that the record is tried again, and set aside after the last try;
    /// [`Failure::set_aside`] and [`Failure::stop`] say otherwise.
    async fn handle(&self, record: &Record) -> Result<(), Failure>;
}

#[async_trait]
impl<H: Handler + ?Sized> Handler for std::sync::Arc<H> {
    async fn handle(&self, record: &Record) -> Result<(), Failure> {
        (**self).handle(record).await
    }
}

/// Why a record could not be handled, and what is to be done about it.
///
/// Every error becomes one with `?`, and then means that the record is tried again.
pub struct Failure {
    advice: FailureAction,
    is_panic: bool,
    error: Box<dyn StdError + Send + Sync>,
}

/// What is to be done with a record that could not be handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureAction {
    Retry,
    SetAside,
    Stop,
}

impl Failure {
    /// Trying again does not help: the record is set aside at once, and the shard goes on.
    pub fn set_aside(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { advice: FailureAction::SetAside, is_panic: false, error: error.into() }
    }

    /// Nothing can be handled any more: the consumer stops with this error, before the record.
    pub fn stop(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { advice: FailureAction::Stop, is_panic: false, error: error.into() }
    }

    /// A panic with this payload: a failed attempt.
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

/// The error, with those that caused it.
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

/// Hands a record to a handler once. A panic is a failure like any other.
pub(super) async fn attempt(handler: &dyn Handler, record: &Record) -> Result<(), Failure> {
    // What the handler leaves half done is its own: the consumer shares nothing with it.
    let handled = AssertUnwindSafe(async { handler.handle(record).await }).catch_unwind().await;
    handled.unwrap_or_else(|payload| Err(Failure::panicked(&*payload)))
}

/// A handler that calls a function with each record.
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

/// Made by [`each`].
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
    fn every_error_is_tried_again_unless_it_says_otherwise() {
        fn fails() -> Result<(), Failure> {
            Err(Error::new(ErrorKind::Throttled, "slow down"))?
        }
        assert_eq!(fails().unwrap_err().action(), FailureAction::Retry);
        assert_eq!(Failure::from("text").action(), FailureAction::Retry);
        assert_eq!(Failure::set_aside("text").action(), FailureAction::SetAside);
        assert_eq!(Failure::stop("text").action(), FailureAction::Stop);
    }

    #[test]
    fn a_failure_is_shown_with_its_causes() {
        let cause = Error::new(ErrorKind::Throttled, "slow down");
        let error = Error::new(ErrorKind::Unavailable, "no mail").with_source(cause);
        assert_eq!(
            Failure::from(error).to_string(),
            "InternalServerError: no mail: ProvisionedThroughputExceededException: slow down"
        );
    }
}
