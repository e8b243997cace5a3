//! What a consumer has done, and how far it is behind.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tabla_core::env::{Clock, Timestamp};
use tabla_core::ops::ShardId;

/// What the workers of one [`Consumer`](super::Consumer) and its clones have done in this process,
/// and how far they are behind. Cloning gives another handle on the same numbers; reading them asks
/// no store.
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
    failed_tries: u64,
    leases_lost: u64,
    behind: BTreeMap<ShardId, Option<Timestamp>>,
}

impl Metrics {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner { clock, numbers: Mutex::default() }))
    }

    /// Records that were handled.
    pub fn handled(&self) -> u64 {
        self.numbers().handled
    }

    /// Records that were set aside.
    pub fn set_aside(&self) -> u64 {
        self.numbers().set_aside
    }

    /// Tries of records that failed.
    pub fn failed_attempts(&self) -> u64 {
        self.numbers().failed_tries
    }

    /// Leases that were lost to others, or not renewed in time.
    pub fn leases_lost(&self) -> u64 {
        self.numbers().leases_lost
    }

    /// How far each shard that is worked on is behind: how long ago the record at hand, or the last
    /// one, was written; zero if the end was reached.
    pub fn lags(&self) -> Vec<(ShardId, Duration)> {
        let now = self.0.clock.now();
        let lag = |behind: Option<Timestamp>| behind.map_or(Duration::ZERO, |at| now.since(at));
        let numbers = self.numbers();
        numbers.behind.iter().map(|(shard, behind)| (shard.clone(), lag(*behind))).collect()
    }

    /// How far the shard is behind that is furthest behind.
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
        self.numbers().failed_tries += 1;
    }

    pub(super) fn note_lost(&self) {
        self.numbers().leases_lost += 1;
    }

    /// The shard has come to a record of this time, or to its end.
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
    fn the_lag_grows_with_the_clock_until_the_end_is_reached() {
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
