//! Polling of a table until a change is complete.
//!
//! The condition that ends the polling is in `tables`.

use std::time::Duration;

use tabla_core::env::{Clock, Timestamp};
use tabla_core::{Applied, Error, ErrorKind, Result, Retry};

/// Pause after the first poll. DynamoDB Local is ready at once, a table on AWS after some seconds.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// Upper bound of the pauses, which double.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// Pauses between polls, which double up to [`LONGEST_PAUSE`], with a limit on the whole wait.
pub(crate) struct StatusPoll<'a> {
    clock: &'a dyn Clock,
    limit: Duration,
    begun: Timestamp,
    pause: Duration,
}

impl<'a> StatusPoll<'a> {
    pub(crate) fn new(clock: &'a dyn Clock, limit: Duration) -> Self {
        Self { clock, limit, begun: clock.now(), pause: FIRST_PAUSE }
    }

    /// Pauses before the next poll.
    ///
    /// # Errors
    /// The limit is reached. The message has `state`, the result of the last poll. The service
    /// continues the change, so the error has [`Applied::Maybe`] and [`Retry::Never`].
    pub(crate) async fn pause(&mut self, state: &str) -> Result<()> {
        let waited = self.clock.now().since(self.begun);
        let left = self.limit.saturating_sub(waited);
        if left.is_zero() {
            return Err(Error::new(
                ErrorKind::Unavailable,
                format!(
                    "{state} after {} s of waiting; the service continues the change, so check it \
                     with describe_table",
                    waited.as_secs()
                ),
            )
            .with_retry(Retry::Never)
            .with_applied(Applied::Maybe));
        }
        self.clock.sleep(self.pause.min(left)).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::env::ManualClock;

    use super::*;

    #[tokio::test]
    async fn pauses_double_up_to_the_bound_until_the_limit() {
        let clock = ManualClock::new(Timestamp::from_secs(1_000));
        let mut wait = StatusPoll::new(&clock, Duration::from_secs(10));
        let error = loop {
            if let Err(error) = wait.pause("table `orders` is CREATING").await {
                break error;
            }
        };
        assert_eq!(
            error.message(),
            "table `orders` is CREATING after 10 s of waiting; the service continues the change, so \
             check it with describe_table"
        );
        assert_eq!(error.applied(), Applied::Maybe);
        assert_eq!(error.retry(), Retry::Never);
        let sleeps = clock.sleeps();
        assert_eq!(sleeps[..3], [50, 100, 200].map(Duration::from_millis));
        assert!(sleeps.iter().all(|pause| *pause <= LONGEST_PAUSE));
        assert_eq!(sleeps.iter().sum::<Duration>(), Duration::from_secs(10));
    }
}
