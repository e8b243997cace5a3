//! Injected time and randomness: [`Clock`], [`Random`] and their pair [`Env`].
//!
//! Only this module reads the clock, draws random numbers or sleeps. Everything else takes an
//! [`Env`], so that tests of expiry, request tokens, retention and back-off move a clock instead of
//! sleeping.

#![allow(clippy::disallowed_methods)]

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Wall-clock time, as the duration since the Unix epoch. Serialized as milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(Duration);

impl Timestamp {
    /// Time `millis` milliseconds after the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// Time `secs` seconds after the epoch.
    pub const fn from_secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0.as_secs()
    }

    /// Whole milliseconds since the epoch, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0.as_millis() as u64
    }

    /// Time rounded down to the millisecond, the precision of stored times.
    pub const fn to_millis(self) -> Self {
        Self::from_millis(self.as_millis())
    }

    /// Duration from `earlier` to this time; zero if `earlier` is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// Serializes milliseconds since the epoch.
impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_millis().serialize(serializer)
    }
}

/// Deserializes milliseconds since the epoch.
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

/// Reading of a monotonic clock: the time since an origin of that clock.
///
/// It measures durations. Unlike a [`Timestamp`] it never steps back, even if the wall time does.
/// Readings of two clocks cannot be compared, and a reading has no meaning in another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Monotonic(Duration);

impl Monotonic {
    /// Reading `elapsed` after the origin of the clock.
    pub const fn after_origin(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// Duration from `earlier` to this reading; zero if `earlier` is later.
    pub fn since(self, earlier: Monotonic) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl std::ops::Add<Duration> for Monotonic {
    type Output = Monotonic;

    fn add(self, later: Duration) -> Monotonic {
        Monotonic(self.0.saturating_add(later))
    }
}

/// Boxed future of a wait, so that [`Clock`] can be a trait object.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Source of wall time and monotonic time that can also wait.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Wall time. It may step forward or back when the clock is set.
    fn now(&self) -> Timestamp;

    /// Monotonic time, by which durations are measured. It never steps back. A clock that wraps
    /// another one returns the reading of the inner one.
    fn monotonic(&self) -> Monotonic;

    /// Waits for a duration of this clock. For callers that wait for nothing else: a manual clock
    /// advances by the duration and returns at once.
    fn sleep(&self, duration: Duration) -> Sleep<'_>;

    /// Waits until a monotonic time. For background work, which never advances a manual clock.
    ///
    /// The defaults of this method and of the two below are right for a clock that runs by itself.
    fn sleep_until(&self, moment: Monotonic) -> Sleep<'_> {
        self.sleep(moment.since(self.monotonic()))
    }

    /// Time for which a thread may block until a wall time is reached; `None` if only a test moves
    /// the clock. Such a clock wakes the wakers of [`wake_on_change`](Self::wake_on_change).
    fn remaining(&self, moment: Timestamp) -> Option<Duration> {
        Some(moment.since(self.now()))
    }

    /// Registers a waker that is woken once, when the clock is next moved by hand. Default: never.
    fn wake_on_change(&self, waker: Waker) {
        let _ = waker;
    }
}

/// Clock of the operating system. Waiting needs a tokio runtime with its timer enabled.
///
/// On some systems, Linux among them, the monotonic time does not advance while the machine
/// is suspended.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock before 1970 is misconfigured: the epoch is the closest valid time.
        Timestamp(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    fn monotonic(&self) -> Monotonic {
        static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        Monotonic(ORIGIN.elapsed())
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Clock for tests: it stands still until it is moved. [`sleep`](Clock::sleep) advances it and
/// records the duration.
///
/// [`advance`](Self::advance) moves wall time and monotonic time together, as time that passes.
/// [`set`](Self::set) changes the wall time alone, like a change of the system clock. Clones share
/// one time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<ManualTime>>);

#[derive(Debug)]
struct ManualTime {
    now: Timestamp,
    monotonic: Monotonic,
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
    /// Creates a clock with the wall time `now`.
    pub fn new(now: Timestamp) -> Self {
        let monotonic = Monotonic::default();
        let time = ManualTime { now, monotonic, sleeps: Vec::new(), waiting: Vec::new() };
        Self(Arc::new(Mutex::new(time)))
    }

    /// Advances wall time and monotonic time.
    pub fn advance(&self, by: Duration) {
        self.move_by(by, |_| {});
    }

    /// Sets the wall time, forward or back. The monotonic time stays.
    pub fn set(&self, now: Timestamp) {
        self.change(|time| time.now = now);
    }

    /// Sets the wall time back by a duration. The monotonic time stays.
    pub fn step_back(&self, by: Duration) {
        self.change(|time| time.now = Timestamp(time.now.0.saturating_sub(by)));
    }

    /// Durations of all calls of [`sleep`](Clock::sleep) so far, in order.
    pub fn sleeps(&self) -> Vec<Duration> {
        self.lock().sleeps.clone()
    }

    fn move_by(&self, by: Duration, note: impl FnOnce(&mut ManualTime)) {
        self.change(|time| {
            time.now = time.now + by;
            time.monotonic = time.monotonic + by;
            note(time);
        });
    }

    fn change(&self, change: impl FnOnce(&mut ManualTime)) {
        let waiting = {
            let mut time = self.lock();
            change(&mut time);
            std::mem::take(&mut time.waiting)
        };
        // The lock is released: a woken task may read the clock at once.
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

    fn monotonic(&self) -> Monotonic {
        self.lock().monotonic
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        self.move_by(duration, |time| time.sleeps.push(duration));
        Box::pin(std::future::ready(()))
    }

    fn sleep_until(&self, moment: Monotonic) -> Sleep<'_> {
        Box::pin(std::future::poll_fn(move |context| {
            let mut time = self.lock();
            if time.monotonic >= moment {
                return Poll::Ready(());
            }
            time.wait(context.waker().clone());
            Poll::Pending
        }))
    }

    fn remaining(&self, moment: Timestamp) -> Option<Duration> {
        (self.now() >= moment).then_some(Duration::ZERO)
    }

    fn wake_on_change(&self, waker: Waker) {
        self.lock().wait(waker);
    }
}

/// Blocks the thread for a duration of the system clock. For a thread that waits for another
/// process, whose time no test can move.
pub fn block(duration: Duration) {
    std::thread::sleep(duration);
}

/// Source of random numbers.
pub trait Random: Send + Sync + fmt::Debug {
    /// Draws 64 random bits.
    fn next_u64(&self) -> u64;
}

/// Randomness of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn next_u64(&self) -> u64 {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).expect("no randomness from the operating system");
        u64::from_le_bytes(bytes)
    }
}

/// Repeatable sequence of random numbers (SplitMix64), for tests.
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    /// Creates the sequence of a seed.
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

/// Clock and randomness of a store or a retry policy. Default: those of the system.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Env {
    /// Clock for all times and waits.
    pub clock: Arc<dyn Clock>,
    /// Source of ids, tokens and jitter.
    pub random: Arc<dyn Random>,
}

impl Env {
    /// Combines a clock and a source of randomness.
    pub fn new(clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self { clock, random }
    }

    /// Clock and randomness of the operating system.
    pub fn system() -> Self {
        Self::new(Arc::new(SystemClock), Arc::new(SystemRandom))
    }

    /// Sets the clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Sets the source of randomness.
    #[must_use]
    pub fn with_random(self, random: Arc<dyn Random>) -> Self {
        Self { random, ..self }
    }

    /// Manual clock and the repeatable random sequence of a seed, for tests.
    pub fn test(clock: ManualClock, seed: u64) -> Self {
        Self { clock: Arc::new(clock), random: Arc::new(SeededRandom::new(seed)) }
    }

    /// Draws 32 random hexadecimal digits.
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
    async fn sleep_advances_a_manual_clock() {
        let clock = ManualClock::new(Timestamp::from_secs(10));
        clock.sleep(Duration::from_secs(5)).await;
        clock.advance(Duration::from_secs(1));
        assert_eq!(clock.now(), Timestamp::from_secs(16));
        assert_eq!(clock.sleeps(), [Duration::from_secs(5)]);
    }

    #[tokio::test]
    async fn sleep_until_does_not_advance_a_manual_clock() {
        let clock = ManualClock::new(Timestamp::from_secs(10));
        let waiting = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep_until(Monotonic::after_origin(Duration::from_secs(5))).await }
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

    #[tokio::test]
    async fn set_leaves_the_monotonic_time_of_a_manual_clock() {
        let clock = ManualClock::new(Timestamp::from_secs(100));
        let begun = clock.monotonic();
        let waiting = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep_until(begun + Duration::from_secs(5)).await }
        });
        clock.advance(Duration::from_secs(4));
        clock.set(Timestamp::from_secs(1000));
        clock.step_back(Duration::from_secs(990));
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        assert_eq!(clock.now(), Timestamp::from_secs(10));
        assert_eq!(clock.monotonic().since(begun), Duration::from_secs(4));
        clock.advance(Duration::from_secs(1));
        waiting.await.unwrap();
        assert_eq!(clock.now(), Timestamp::from_secs(11));
    }

    #[test]
    fn system_monotonic_time_never_goes_back() {
        let readings: Vec<Monotonic> = (0..100).map(|_| SystemClock.monotonic()).collect();
        assert!(readings.is_sorted(), "{readings:?}");
    }

    #[test]
    fn seeds_determine_the_random_sequence() {
        let draw = |seed| {
            let random = SeededRandom::new(seed);
            [random.next_u64(), random.next_u64(), random.next_u64()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
