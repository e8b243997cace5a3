//! Which items have expired.

use crate::env::Timestamp;
use crate::{Item, Number, ValueRef};

/// Items whose time lies further back than this are taken for a mistake and kept (developer
/// guide, time-to-live-ttl-before-you-start).
const OLDEST: u64 = 5 * 365 * 24 * 60 * 60;

/// Whether this item has expired by the time in its attribute: a number of seconds since the
/// epoch, in the past, but not by more than five years. Anything else never expires.
pub fn is_expired(item: &Item, attribute: &str, now: Timestamp) -> bool {
    let Some(ValueRef::N(time)) = item.get(attribute) else { return false };
    let now = now.as_secs();
    time < Number::from(now) && time > Number::from(now.saturating_sub(OLDEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Value, item};

    #[test]
    fn only_a_number_of_seconds_in_the_last_five_years_expires() {
        let now = Timestamp::from_secs(1_800_000_000);
        let expired = |value: Value| is_expired(&item! { "ttl" => value }, "ttl", now);
        assert!(expired(1_799_999_999_u64.into()));
        assert!(!expired(1_800_000_000_u64.into()));
        assert!(!expired(1_900_000_000_u64.into()));
        assert!(!expired((1_800_000_000_u64 - OLDEST).into()));
        assert!(expired((1_800_000_001_u64 - OLDEST).into()));
        assert!(!expired(0.into()));
        assert!(!expired((-5).into()));
        assert!(!expired("1799999999".into()));
        assert!(!is_expired(&item! { "other" => 1 }, "ttl", now));
    }
}
