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
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

/// Reading of a monotonic clock: the time since an origin that only this clock knows.
///
/// It measures how long something takes. Unlike a [`Timestamp`] it never goes back, whatever is done
/// to the wall time; readings of two clocks cannot be compared, and none outlives its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Monotonic(Duration);

impl Monotonic {
    /// The reading this long after the clock's origin.
    pub const fn after_origin(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// Time from `earlier` to this reading; zero if it is before.
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

/// A boxed wait, so that [`Clock`] stays object-safe.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Tells the time and waits.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The wall time. It may step forward or back when somebody sets the clock.
    fn now(&self) -> Timestamp;

    /// The monotonic time, by which durations are measured: it never steps. A clock that wraps
    /// another one gives the reading of the inner one.
    fn monotonic(&self) -> Monotonic;

    /// Waits this long, by this clock: for a caller who has nothing else to wait for, so that a
    /// clock that is moved by hand may move by itself.
    fn sleep(&self, duration: Duration) -> Sleep<'_>;

    /// Waits until the monotonic time is this: for work in the background, which never moves a
    /// clock. This is right for a clock that runs by itself, and so are the two below.
    fn sleep_until(&self, moment: Monotonic) -> Sleep<'_> {
        self.sleep(moment.since(self.monotonic()))
    }

    /// How long a thread may block before the wall time is this; `None` if a test
    /// moves the clock. The clock then wakes those who have asked for it.
    fn remaining(&self, moment: Timestamp) -> Option<Duration> {
        Some(moment.since(self.now()))
    }

    /// Wakes this once, when the clock is next moved by hand.
    fn wake_on_change(&self, waker: Waker) {
        let _ = waker;
    }
}

/// The machine's own clock. Waiting needs a tokio runtime with its timer enabled.
///
/// On some systems, Linux among them, the monotonic time stands still while the machine is
/// suspended.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock set before 1970 is a misconfigured machine; the epoch is the nearest truth.
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

/// A clock that stands still until it is moved. Waiting on it moves it, and is recorded.
///
/// [`advance`](Self::advance) is time that passes: wall time and monotonic time move together.
/// [`set`](Self::set) is somebody who sets the clock: only the wall time changes.
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
    /// A clock that stands at `now`.
    pub fn new(now: Timestamp) -> Self {
        let monotonic = Monotonic::default();
        let time = ManualTime { now, monotonic, sleeps: Vec::new(), waiting: Vec::new() };
        Self(Arc::new(Mutex::new(time)))
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        self.move_by(by, |_| {});
    }

    /// Sets the wall time, forward or back. No monotonic time passes.
    pub fn set(&self, now: Timestamp) {
        self.change(|time| time.now = now);
    }

    /// Sets the wall time back.
    pub fn step_back(&self, by: Duration) {
        self.change(|time| time.now = Timestamp(time.now.0.saturating_sub(by)));
    }

    /// The waits so far, in order.
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
#[non_exhaustive]
pub struct Env {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Draws numbers.
    pub random: Arc<dyn Random>,
}

impl Env {
    /// This clock and this randomness.
    pub fn new(clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self { clock, random }
    }

    /// The machine's own clock and randomness.
    pub fn system() -> Self {
        Self::new(Arc::new(SystemClock), Arc::new(SystemRandom))
    }

    /// The same randomness with this clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// The same clock with this randomness.
    #[must_use]
    pub fn with_random(self, random: Arc<dyn Random>) -> Self {
        Self { random, ..self }
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
    async fn setting_a_manual_clock_moves_no_monotonic_time() {
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
    fn a_seed_gives_the_same_sequence_again() {
        let draw = |seed| {
            let random = SeededRandom::new(seed);
            [random.next_u64(), random.next_u64(), random.next_u64()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
