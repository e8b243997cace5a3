//! When items expire.
//!
//! There are two questions, and both are answered here for everybody. Whether the *service* deletes
//! an item is a matter of [`expires_at`] and [`expired`]. Whether a *caller* still wants to see it
//! is what [`not_expired`] says, because an expired item is there until it is deleted.

use std::ops::Range;
use std::time::Duration;

use crate::env::Timestamp;
use crate::error::{Error, Result};
use crate::expr::{Condition, attr};
use crate::{Item, ValueRef};

/// Items whose time lies further back than this are taken for a mistake and kept (developer
/// guide, time-to-live-ttl-before-you-start).
const OLDEST: u64 = 5 * 365 * 24 * 60 * 60;

/// How often the stores that delete expired items by themselves look for them, unless told
/// otherwise.
pub const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// The second since the epoch in which this item's time comes, by its attribute; `None` if it never
/// expires, because the attribute is missing, is no number, or is a time that no clock shows.
pub fn expires_at(item: &Item, attribute: &str) -> Option<u64> {
    let Some(ValueRef::N(time)) = item.get(attribute) else { return None };
    // No item expires in the first second, which is never in the past of a clock, nor in one that
    // an engine could not keep as a signed integer.
    time.whole_part().filter(|second| (1..=i64::MAX as u64).contains(second))
}

/// The seconds of [`expires_at`] whose items are expired by now, and are to be deleted: those that
/// have passed, but not by more than five years.
pub fn expired(now: Timestamp) -> Range<u64> {
    let now = now.as_secs();
    now.saturating_sub(OLDEST) + 1..now
}

/// Whether this item has expired by the time in its attribute, and is to be deleted.
pub fn is_expired(item: &Item, attribute: &str, now: Timestamp) -> bool {
    expires_at(item, attribute).is_some_and(|second| expired(now).contains(&second))
}

/// Holds for an item whose time has not come: the filter that callers put on what they read,
/// because the service has yet to delete what has expired (developer guide, "Working with expired
/// items").
///
/// It is the guide's `expires > :now`, turned round so that items that never expire pass, too:
/// those without the attribute, and those in which it is no number.
///
/// An item that expired more than five years ago does not pass, as with the guide's filter,
/// although the service keeps it: its time has come, and a session must not be valid again because
/// nobody deleted it for five years.
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

/// Reads the option `sweep` of an address: a number of seconds, or `off`.
///
/// # Errors
/// [`crate::ErrorKind::Config`] for anything else.
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

    /// Whatever the filter shows, the service does not delete; what it hides is deleted from the
    /// next second on, unless its time is too far back.
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
