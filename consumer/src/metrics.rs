//! Metrics of the workers in this process.
//!
//! The status over all processes is in `status`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tabla_core::env::{Clock, Timestamp};
use tabla_core::ops::ShardId;

/// Metrics of one [`Consumer`](super::Consumer) and its clones in this process.
///
/// Clones share the same counters. Reading them makes no store call.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    clock: Arc<dyn Clock>,
    numbers: Mutex<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    handled: u64,
    set_aside: u64,
    failed_attempts: u64,
    leases_lost: u64,
    behind: BTreeMap<ShardId, Option<Timestamp>>,
}

impl Metrics {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner { clock, numbers: Mutex::default() }))
    }

    /// Number of records that were handled.
    pub fn handled(&self) -> u64 {
        self.numbers().handled
    }

    /// Number of records that were set aside.
    pub fn set_aside(&self) -> u64 {
        self.numbers().set_aside
    }

    /// Number of failed attempts at records.
    pub fn failed_attempts(&self) -> u64 {
        self.numbers().failed_attempts
    }

    /// Number of leases that were lost to other workers or not renewed in time.
    pub fn leases_lost(&self) -> u64 {
        self.numbers().leases_lost
    }

    /// Lag of each shard in progress: age of its current or last record; zero if the end
    /// was reached.
    pub fn lags(&self) -> Vec<(ShardId, Duration)> {
        let now = self.0.clock.now();
        let lag = |behind: Option<Timestamp>| behind.map_or(Duration::ZERO, |at| now.since(at));
        let numbers = self.numbers();
        numbers.behind.iter().map(|(shard, behind)| (shard.clone(), lag(*behind))).collect()
    }

    /// Largest lag of any shard in progress; zero if there is none.
    pub fn lag(&self) -> Duration {
        self.lags().into_iter().map(|(_, lag)| lag).max().unwrap_or_default()
    }

    pub(super) fn note_handled(&self) {
        self.numbers().handled += 1;
    }

    pub(super) fn note_set_aside(&self) {
        self.numbers().set_aside += 1;
    }

    pub(super) fn note_failed_attempt(&self) {
        self.numbers().failed_attempts += 1;
    }

    pub(super) fn note_lost(&self) {
        self.numbers().leases_lost += 1;
    }

    /// Records that the shard has reached a record of this time; `None` at its end.
    pub(super) fn set_lag(&self, shard: &ShardId, behind: Option<Timestamp>) {
        self.numbers().behind.insert(shard.clone(), behind);
    }

    pub(super) fn forget(&self, shard: &ShardId) {
        self.numbers().behind.remove(shard);
    }

    fn numbers(&self) -> MutexGuard<'_, Counters> {
        self.0.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabla_core::env::ManualClock;

    #[test]
    fn lag_grows_with_the_clock_until_the_end_is_reached() {
        let clock = ManualClock::new(Timestamp::from_secs(100));
        let metrics = Metrics::new(Arc::new(clock.clone()));
        assert_eq!(metrics.lag(), Duration::ZERO);
        let (one, two) = (ShardId::from("one"), ShardId::from("two"));
        metrics.set_lag(&one, Some(Timestamp::from_secs(90)));
        metrics.set_lag(&two, Some(Timestamp::from_secs(95)));
        clock.advance(Duration::from_secs(1));
        assert_eq!(metrics.lag(), Duration::from_secs(11));
        metrics.set_lag(&one, None);
        assert_eq!(metrics.lags()[0], (one, Duration::ZERO));
        assert_eq!(metrics.lag(), Duration::from_secs(6));
        metrics.forget(&two);
        assert_eq!(metrics.lag(), Duration::ZERO);
    }
}
