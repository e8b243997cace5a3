//! Waiting for a table to be what it was asked to be.

use std::time::Duration;

use tabla_core::env::{Clock, Timestamp};
use tabla_core::{Applied, Error, ErrorKind, Result, Retry};

/// The first pause: DynamoDB Local is ready at once, a table on AWS takes some seconds.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// Pauses double up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// A wait with growing pauses and an end.
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

    /// Pauses before the next look.
    ///
    /// # Errors
    /// The time is up: `state` says what the last look saw. The change goes on at the service, so
    /// [`Applied::Maybe`], and asking for it again would be refused.
    pub(crate) async fn pause(&mut self, state: &str) -> Result<()> {
        let waited = self.clock.now().since(self.begun);
        let left = self.limit.saturating_sub(waited);
        if left.is_zero() {
            return Err(Error::new(
                ErrorKind::Unavailable,
                format!("{state} after {} s of waiting", waited.as_secs()),
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
    async fn pauses_double_up_to_a_bound_and_end_at_the_limit() {
        let clock = ManualClock::new(Timestamp::from_secs(1_000));
        let mut wait = StatusPoll::new(&clock, Duration::from_secs(10));
        let error = loop {
            if let Err(error) = wait.pause("table `orders` is CREATING").await {
                break error;
            }
        };
        assert_eq!(error.message(), "table `orders` is CREATING after 10 s of waiting");
        assert_eq!(error.applied(), Applied::Maybe);
        assert_eq!(error.retry(), Retry::Never);
        let sleeps = clock.sleeps();
        assert_eq!(sleeps[..3], [50, 100, 200].map(Duration::from_millis));
        assert!(sleeps.iter().all(|pause| *pause <= LONGEST_PAUSE));
        assert_eq!(sleeps.iter().sum::<Duration>(), Duration::from_secs(10));
    }
}
