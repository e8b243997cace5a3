//! What is done with each record, and what can become of it.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;

use async_trait::async_trait;

use crate::ops::Record;

/// Does something with each record of a stream.
///
/// A record is handled at least once: after a crash or a lost lease, the last few come again, so
/// that an effect has to be one that can be repeated, for instance by its
/// [event id](Record::event_id). The records of an item come in the order of its changes.
///
/// The future may be dropped wherever it waits: when the lease of the shard is lost, somebody else
/// is about to handle the same record. It should not block its thread, on which the leases are
/// renewed, too.
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
    advice: Advice,
    error: Box<dyn StdError + Send + Sync>,
}

/// What is to be done with a record that could not be handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    TryAgain,
    SetAside,
    Stop,
}

impl Failure {
    /// Trying again does not help: the record is set aside at once, and the shard goes on.
    pub fn set_aside(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { advice: Advice::SetAside, error: error.into() }
    }

    /// Nothing can be handled any more: the consumer stops with this error, before the record.
    pub fn stop(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { advice: Advice::Stop, error: error.into() }
    }

    pub(super) fn advice(&self) -> Advice {
        self.advice
    }

    pub(super) fn into_error(self) -> Box<dyn StdError + Send + Sync> {
        self.error
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { advice: Advice::TryAgain, error: error.into() }
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
    use crate::{Error, ErrorKind};

    #[test]
    fn every_error_is_tried_again_unless_it_says_otherwise() {
        fn fails() -> Result<(), Failure> {
            Err(Error::new(ErrorKind::Throttled, "slow down"))?
        }
        assert_eq!(fails().unwrap_err().advice(), Advice::TryAgain);
        assert_eq!(Failure::from("text").advice(), Advice::TryAgain);
        assert_eq!(Failure::set_aside("text").advice(), Advice::SetAside);
        assert_eq!(Failure::stop("text").advice(), Advice::Stop);
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
