//! The expiry of items.

use serde::{Deserialize, Serialize};

use super::{Table, shape};
use crate::env::Timestamp;
use crate::error::{Error, Result};
use crate::limits;
use crate::ops::{TimeToLiveDescription, TimeToLiveStatus, UpdateTimeToLive};

/// Whether and by which attribute the items of a table expire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimeToLive {
    /// The attribute that holds the time, while items expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// When expiry was last turned on or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<Timestamp>,
}

impl Table {
    /// The table with the expiry of its items turned on or off.
    ///
    /// # Errors
    /// A validation error if expiry is already so, if it goes by another attribute (disable that
    /// first), or if it was changed less than [`limits::TIME_TO_LIVE_CHANGES`] before `now`. The
    /// developer guide speaks of up to one hour; AWS was seen to allow a change after half of it.
    /// Time is told by `now` alone, so a test moves its clock by an hour and goes on.
    pub fn with_time_to_live(&self, request: &UpdateTimeToLive, now: Timestamp) -> Result<Table> {
        shape::update_time_to_live(request)?;
        let UpdateTimeToLive { table: _, attribute, enabled } = request;
        match (&self.time_to_live.attribute, enabled) {
            (None, false) => return Err(Error::validation("TimeToLive is already disabled")),
            (Some(current), _) if current != attribute => {
                return Err(Error::validation(format!(
                    "TimeToLive is active on a different AttributeName: \
                     current AttributeName is {current}"
                )));
            }
            (Some(_), true) => return Err(Error::validation("TimeToLive is already enabled")),
            (None, true) | (Some(_), false) => {}
        }
        let now = now.to_millis();
        let changed_at = self.time_to_live.changed_at;
        if changed_at.is_some_and(|at| now.since(at) < limits::TIME_TO_LIVE_CHANGES) {
            return Err(Error::validation(
                "Time to live has been modified multiple times within a fixed interval",
            ));
        }
        let mut table = self.clone();
        table.time_to_live =
            TimeToLive { attribute: enabled.then(|| attribute.clone()), changed_at: Some(now) };
        Ok(table)
    }

    /// The table's expiry settings, as a description shows them.
    pub fn ttl_description(&self) -> TimeToLiveDescription {
        let attribute = self.time_to_live.attribute.clone();
        let status = match attribute {
            Some(_) => TimeToLiveStatus::Enabled,
            None => TimeToLiveStatus::Disabled,
        };
        TimeToLiveDescription { status, attribute }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::key::KeyType;
    use crate::ops::CreateTable;

    const NOW: Timestamp = Timestamp::from_secs(1_794_801_850);

    fn table() -> Table {
        let request = CreateTable::new("tab").partition_key("a", KeyType::S);
        Table::create(&request, NOW, "id".to_owned()).unwrap()
    }

    fn set(table: &Table, attribute: &str, enabled: bool, now: Timestamp) -> Result<Table> {
        table.with_time_to_live(&UpdateTimeToLive::new("tab", attribute, enabled), now)
    }

    fn refusal(answer: Result<Table>) -> String {
        let error = answer.unwrap_err();
        assert_eq!(error.code(), "ValidationException");
        error.message().to_owned()
    }

    #[test]
    fn expiry_is_turned_on_and_off() {
        let hour = limits::TIME_TO_LIVE_CHANGES;
        let off = table();
        assert_eq!(off.ttl_description().status, TimeToLiveStatus::Disabled);
        let on = set(&off, "ttl", true, NOW).unwrap();
        assert_eq!(on.ttl_description().status, TimeToLiveStatus::Enabled);
        assert_eq!(on.ttl_description().attribute.as_deref(), Some("ttl"));
        let off = set(&on, "ttl", false, NOW + hour).unwrap();
        assert_eq!(off.ttl_description().status, TimeToLiveStatus::Disabled);
        assert_eq!(off.ttl_description().attribute, None);
        let on = set(&off, "other", true, NOW + 2 * hour).unwrap();
        assert_eq!(on.ttl_description().attribute.as_deref(), Some("other"));
    }

    #[test]
    fn what_is_so_already_is_refused() {
        let off = table();
        assert_eq!(refusal(set(&off, "ttl", false, NOW)), "TimeToLive is already disabled");
        let on = set(&off, "ttl", true, NOW).unwrap();
        assert_eq!(refusal(set(&on, "ttl", true, NOW)), "TimeToLive is already enabled");
        for enabled in [true, false] {
            assert_eq!(
                refusal(set(&on, "other", enabled, NOW)),
                "TimeToLive is active on a different AttributeName: current AttributeName is ttl"
            );
        }
    }

    #[test]
    fn changes_lie_an_hour_apart() {
        let on = set(&table(), "ttl", true, NOW).unwrap();
        let early = limits::TIME_TO_LIVE_CHANGES - Duration::from_millis(1);
        for now in [NOW, NOW + early] {
            assert_eq!(
                refusal(set(&on, "ttl", false, now)),
                "Time to live has been modified multiple times within a fixed interval"
            );
        }
        set(&on, "ttl", false, NOW + limits::TIME_TO_LIVE_CHANGES).unwrap();
    }

    #[test]
    fn the_attribute_has_1_to_255_bytes() {
        set(&table(), &"x".repeat(255), true, NOW).unwrap();
        assert_eq!(
            refusal(set(&table(), "", true, NOW)),
            "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' \
             failed to satisfy constraint: Member must have length greater than or equal to 1"
        );
        assert!(
            refusal(set(&table(), &"é".repeat(128), true, NOW))
                .ends_with("Member must have length less than or equal to 255")
        );
    }
}
