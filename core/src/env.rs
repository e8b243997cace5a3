//! Time and randomness, injected.
//!
//! This is the one module that reads the clock, draws randomness or waits. Everything else takes
//! a [`Clock`] and a [`Random`], so that expiry, idempotency windows, stream retention and backoff
//! are tested by moving a clock, not by sleeping.

#![allow(clippy::disallowed_methods)]

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, as the time since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(Duration);

impl Timestamp {
    /// The moment this many milliseconds after the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// The moment this many seconds after the epoch.
    pub const fn from_secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }

    /// Whole seconds since the epoch.
    pub const fn as_secs(self) -> u64 {
        self.0.as_secs()
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0.as_millis() as u64
    }

    /// The same moment to the millisecond, as it is when it is stored.
    pub const fn to_millis(self) -> Self {
        Self::from_millis(self.as_millis())
    }

    /// How long after `earlier` this is; zero if it is before.
    pub fn since(self, earlier: Timestamp) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// As milliseconds since the epoch.
impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_millis().serialize(serializer)
    }
}

/// From milliseconds since the epoch.
impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(Self::from_millis)
    }
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, later: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(later))
    }
}

/// A boxed wait, so that [`Clock`] stays object-safe.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Tells the time and waits.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The current moment.
    fn now(&self) -> Timestamp;

    /// Waits this long, by this clock: for a caller who has nothing else to wait for, so that a
    /// clock that is moved by hand may move by itself.
    fn sleep(&self, duration: Duration) -> Sleep<'_>;

    /// Waits until it is this moment by this clock, whoever moves it: for work in the background,
    /// which never moves a clock. This is right for a clock that runs by itself, and so are the two
    /// below.
    fn until(&self, moment: Timestamp) -> Sleep<'_> {
        self.sleep(moment.since(self.now()))
    }

    /// The same for a thread: how long it may block before it is this moment; `None` if only
    /// whoever moves the clock knows. That one then wakes those who have asked for it.
    fn remaining(&self, moment: Timestamp) -> Option<Duration> {
        Some(moment.since(self.now()))
    }

    /// Wakes this once, when the clock is next moved by hand.
    fn wake_when_moved(&self, waker: Waker) {
        let _ = waker;
    }
}

/// The machine's own clock. Waiting needs a tokio runtime with its timer enabled.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock set before 1970 is a misconfigured machine; the epoch is the nearest truth.
        Timestamp(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A clock that stands still until it is moved. Waiting on it moves it, and is recorded.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<ManualTime>>);

#[derive(Debug)]
struct ManualTime {
    now: Timestamp,
    sleeps: Vec<Duration>,
    waiting: Vec<Waker>,
}

impl ManualTime {
    fn wait(&mut self, waker: Waker) {
        if !self.waiting.iter().any(|waiting| waiting.will_wake(&waker)) {
            self.waiting.push(waker);
        }
    }
}

impl ManualClock {
    /// A clock that stands at `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(ManualTime { now, sleeps: Vec::new(), waiting: Vec::new() })))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.move_by(by, |_| {});
    }

    /// The waits so far, in order.
    pub fn sleeps(&self) -> Vec<Duration> {
        self.lock().sleeps.clone()
    }

    fn move_by(&self, by: Duration, note: impl FnOnce(&mut ManualTime)) {
        let waiting = {
            let mut time = self.lock();
            time.now = time.now + by;
            note(&mut time);
            std::mem::take(&mut time.waiting)
        };
        // Whoever is woken may look at the clock at once.
        waiting.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ManualTime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.lock().now
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        self.move_by(duration, |time| time.sleeps.push(duration));
        Box::pin(std::future::ready(()))
    }

    fn until(&self, moment: Timestamp) -> Sleep<'_> {
        Box::pin(std::future::poll_fn(move |context| {
            let mut time = self.lock();
            if time.now >= moment {
                return Poll::Ready(());
            }
            time.wait(context.waker().clone());
            Poll::Pending
        }))
    }

    fn remaining(&self, moment: Timestamp) -> Option<Duration> {
        (self.now() >= moment).then_some(Duration::ZERO)
    }

    fn wake_when_moved(&self, waker: Waker) {
        self.lock().wait(waker);
    }
}

/// Blocks the thread for this long, by no clock but the machine's: for a thread that waits for
/// another process, whose time no test can move.
pub fn block(duration: Duration) {
    std::thread::sleep(duration);
}

/// A source of random numbers.
pub trait Random: Send + Sync + fmt::Debug {
    /// The next 64 random bits.
    fn next_u64(&self) -> u64;
}

/// The operating system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn next_u64(&self) -> u64 {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).expect("the operating system provides randomness");
        u64::from_le_bytes(bytes)
    }
}

/// A repeatable sequence (SplitMix64), for tests.
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    /// The sequence that belongs to this seed.
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Random for SeededRandom {
    fn next_u64(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut z = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// The clock and the randomness that a store or a policy works with.
#[derive(Clone, Debug)]
pub struct Env {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Draws numbers.
    pub random: Arc<dyn Random>,
}

impl Env {
    /// The machine's own clock and randomness.
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock), random: Arc::new(SystemRandom) }
    }

    /// This clock, and the repeatable sequence of this seed.
    pub fn test(clock: ManualClock, seed: u64) -> Self {
        Self { clock: Arc::new(clock), random: Arc::new(SeededRandom::new(seed)) }
    }

    /// 32 random hexadecimal digits.
    pub fn token(&self) -> String {
        format!("{:016x}{:016x}", self.random.next_u64(), self.random.next_u64())
    }
}

impl Default for Env {
    fn default() -> Self {
        Self::system()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_on_a_manual_clock_moves_it() {
        let clock = ManualClock::new(Timestamp::from_secs(10));
        clock.sleep(Duration::from_secs(5)).await;
        clock.advance(Duration::from_secs(1));
        assert_eq!(clock.now(), Timestamp::from_secs(16));
        assert_eq!(clock.sleeps(), [Duration::from_secs(5)]);
    }

    #[tokio::test]
    async fn who_waits_for_a_moment_does_not_move_the_clock() {
        let clock = ManualClock::new(Timestamp::from_secs(10));
        let waiting = tokio::spawn({
            let clock = clock.clone();
            async move { clock.until(Timestamp::from_secs(15)).await }
        });
        for _ in 0..5 {
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished());
            clock.advance(Duration::from_secs(1));
        }
        waiting.await.unwrap();
        assert_eq!(clock.now(), Timestamp::from_secs(15));
        assert_eq!(clock.remaining(Timestamp::from_secs(16)), None);
        assert_eq!(clock.remaining(Timestamp::from_secs(15)), Some(Duration::ZERO));
    }

    #[test]
    fn a_seed_gives_the_same_sequence_again() {
        let draw = |seed| {
            let random = SeededRandom::new(seed);
            [random.next_u64(), random.next_u64(), random.next_u64()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
