//! Clock of a consumer that runs in the background.

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use tabla_core::RetryPolicy;
use tabla_core::env::{Clock, Monotonic, Sleep, Timestamp};

/// Clock whose waits do not advance a manual clock; only the owner of that clock does.
///
/// A [`RetryPolicy`] waits with [`Clock::sleep`], which may advance a manual clock. That is right
/// for a caller with nothing else to wait for. A running consumer is in the background, beside the
/// owner of the clock.
#[derive(Debug)]
struct BackgroundClock(Arc<dyn Clock>);

impl Clock for BackgroundClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn monotonic(&self) -> Monotonic {
        self.0.monotonic()
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        self.0.sleep_until(self.0.monotonic() + duration)
    }

    fn sleep_until(&self, moment: Monotonic) -> Sleep<'_> {
        self.0.sleep_until(moment)
    }

    fn remaining(&self, moment: Timestamp) -> Option<Duration> {
        self.0.remaining(moment)
    }

    fn wake_on_change(&self, waker: Waker) {
        self.0.wake_on_change(waker);
    }
}

/// Returns the same policy, with waits in the background.
pub(super) fn in_background(policy: &RetryPolicy) -> RetryPolicy {
    let clock = BackgroundClock(Arc::clone(&policy.env.clock));
    let env = policy.env.clone().with_clock(Arc::new(clock));
    policy.clone().with_env(env)
}
