//! Expiry of items: which items a store deletes, and which items callers exclude.
//!
//! A store deletes items by [`expires_at`] and [`expired`]. An expired item exists until then, so
//! callers exclude it with [`not_expired`].

use std::ops::Range;
use std::time::Duration;

use crate::env::Timestamp;
use crate::error::{Error, Result};
use crate::expr::{Condition, attr};
use crate::{Item, ValueRef};

/// Age in seconds from which an expiry time is considered a mistake, and the item is kept
/// (developer guide, time-to-live-ttl-before-you-start): five years.
const OLDEST: u64 = 5 * 365 * 24 * 60 * 60;

/// Default time between two sweeps of the embedded stores.
pub const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Second since the epoch at which an item expires, by its attribute, rounded down.
///
/// `None` if the item never expires: the attribute is missing, is not a number, or is less than 1
/// or greater than `i64::MAX`.
pub fn expires_at(item: &Item, attribute: &str) -> Option<u64> {
    let Some(ValueRef::N(time)) = item.get(attribute) else { return None };
    // The first second is never in the past of a clock. Engines store the time as a signed integer.
    time.whole_part().filter(|second| (1..=i64::MAX as u64).contains(second))
}

/// Range of the values of [`expires_at`] whose items are deleted at `now`: past seconds, up to five
/// years ago.
pub fn expired(now: Timestamp) -> Range<u64> {
    let now = now.as_secs();
    now.saturating_sub(OLDEST) + 1..now
}

/// Whether an item has expired at `now` and a sweep deletes it.
pub fn is_expired(item: &Item, attribute: &str, now: Timestamp) -> bool {
    expires_at(item, attribute).is_some_and(|second| expired(now).contains(&second))
}

/// Builds the filter that excludes expired items, which exist until the store deletes them
/// (developer guide, "Working with expired items").
///
/// It holds if the attribute is later than `now`, in seconds since the epoch. It also holds for
/// items that never expire: those without the attribute, or with another type.
///
/// An item that expired more than five years ago is excluded, although the store never deletes it:
/// a session must not become valid again because it was not deleted for five years.
///
/// ```
/// use tabla::env::Timestamp;
/// use tabla::{item, not_expired};
///
/// let now = Timestamp::from_secs(1_800_000_000);
/// let live = not_expired("expires", now);
/// assert!(live.evaluate(&item! { "id" => 1, "expires" => 1_800_000_001 }));
/// assert!(live.evaluate(&item! { "id" => 2 }));
/// assert!(!live.evaluate(&item! { "id" => 3, "expires" => 1_799_999_999 }));
/// ```
pub fn not_expired(attribute: &str, now: Timestamp) -> Condition {
    !attr(attribute).le(now.as_secs())
}

/// Parses the option `sweep` of an address: a number of seconds, at least 1, or `off` (`None`).
///
/// # Errors
/// [`crate::ErrorKind::Config`] for any other text.
pub fn sweep_period(text: &str) -> Result<Option<Duration>> {
    if text == "off" {
        return Ok(None);
    }
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
    seconds.map(|seconds| Some(Duration::from_secs(seconds))).ok_or_else(|| {
        Error::config(format!(
            "the option `sweep` is a number of seconds, at least 1, or `off`, not `{text}`"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Number, Value, item};

    const NOW: u64 = 1_800_000_000;

    #[test]
    fn item_expires_by_a_number_in_the_last_five_years() {
        let now = Timestamp::from_secs(NOW);
        let expired = |value: Value| is_expired(&item! { "ttl" => value }, "ttl", now);
        assert!(expired((NOW - 1).into()));
        assert!(!expired(NOW.into()));
        assert!(!expired(1_900_000_000_u64.into()));
        assert!(!expired((NOW - OLDEST).into()));
        assert!(expired((NOW + 1 - OLDEST).into()));
        assert!(!expired(0.into()));
        assert!(!expired((-5).into()));
        assert!(!expired("1799999999".into()));
        assert!(!is_expired(&item! { "other" => 1 }, "ttl", now));
    }

    #[test]
    fn expires_at_ignores_fractions_of_a_second() {
        let at = |text: &str| {
            expires_at(&item! { "ttl" => Number::parse(text).expect("a number") }, "ttl")
        };
        assert_eq!(at("1799999999.999"), Some(1_799_999_999));
        assert_eq!(at("17999999990E-1"), Some(1_799_999_999));
        assert_eq!(at("1.8E9"), Some(NOW));
        assert_eq!(at("9223372036854775807"), Some(i64::MAX as u64));
        for never in ["0", "0.5", "-1", "-1.5", "9223372036854775808", "1E38", "9E125", "1E-130"] {
            assert_eq!(at(never), None, "{never}");
        }
    }

    #[test]
    fn expired_is_empty_at_the_epoch() {
        for second in [0, 1] {
            assert!(expired(Timestamp::from_secs(second)).is_empty());
        }
        assert_eq!(expired(Timestamp::from_secs(3)), 1..3);
    }

    /// A store deletes no item that passes the filter, and deletes an excluded one from the next
    /// second on, unless its time is more than five years ago.
    #[test]
    fn items_that_pass_the_filter_are_not_deleted() {
        for from_now in -3_i64..=3 {
            let second = NOW.checked_add_signed(from_now).expect("a time of this age");
            let item = item! { "ttl" => second };
            let is_shown = not_expired("ttl", Timestamp::from_secs(NOW)).evaluate(&item);
            assert_eq!(is_shown, second > NOW);
            assert!(!is_shown || !is_expired(&item, "ttl", Timestamp::from_secs(NOW)));
            assert!(is_shown || is_expired(&item, "ttl", Timestamp::from_secs(NOW + 1)));
        }
    }

    #[test]
    fn sweep_period_is_a_number_of_seconds_or_off() {
        assert_eq!(sweep_period("off").unwrap(), None);
        assert_eq!(sweep_period("5").unwrap(), Some(Duration::from_secs(5)));
        for text in ["0", "", "-1", "1.5", "never"] {
            let error = sweep_period(text).unwrap_err();
            assert!(error.message().ends_with(&format!("or `off`, not `{text}`")), "{error}");
        }
    }
}
