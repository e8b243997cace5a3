//! Durations of calls, their percentiles, and medians.

// A benchmark measures real time: an injected clock would measure itself.
#![allow(clippy::disallowed_methods)]

use std::time::{Duration, Instant};

/// Durations of many calls.
#[derive(Default)]
pub(crate) struct Durations(Vec<Duration>);

impl Durations {
    /// Awaits a call and records its duration.
    pub(crate) async fn time<T>(&mut self, call: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let output = call.await;
        self.0.push(begun.elapsed());
        output
    }

    /// Adds the durations of another caller.
    pub(crate) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Number of calls.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Duration that this share of the calls does not exceed.
    pub(crate) fn percentile(&mut self, share: f64) -> Duration {
        let rank = (self.0.len() as f64 * share) as usize;
        match self.0.len().checked_sub(1) {
            None => Duration::ZERO,
            Some(last) => *self.0.select_nth_unstable(rank.min(last)).1,
        }
    }

    /// Median, which rare pauses of the machine do not affect.
    pub(crate) fn median(mut self) -> Duration {
        let middle = self.0.len() / 2;
        match self.0.is_empty() {
            true => Duration::ZERO,
            false => *self.0.select_nth_unstable(middle).1,
        }
    }
}

/// Stopwatch of real time.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Median of the numbers, the lower one of two; `None` if there are none.
pub(crate) fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

/// Median of the ratios of two contestants' rates, round by round, so that a slow moment of the
/// machine affects both; 0 without rounds.
pub(crate) fn median_ratio(own: &[f64], others: &[f64]) -> f64 {
    let ratios: Vec<f64> = own.iter().zip(others).map(|(own, other)| own / other).collect();
    median(&ratios).unwrap_or_default()
}

/// Limit on the ratio of the highest to the lowest rate of steady rounds: a higher ratio reflects
/// the machine more than the contestant.
const STEADY: f64 = 2.0;

/// Whether no round had more than twice the rate of another.
pub(crate) fn is_steady(rates: &[f64]) -> bool {
    let fastest = rates.iter().copied().fold(f64::MIN, f64::max);
    let slowest = rates.iter().copied().fold(f64::MAX, f64::min);
    fastest <= STEADY * slowest
}
