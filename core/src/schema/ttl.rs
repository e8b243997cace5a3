//! Expiry settings of a table, and the rules of changing them.

use serde::{Deserialize, Serialize};

use super::{Table, shape};
use crate::env::Timestamp;
use crate::error::{Error, Result};
use crate::limits;
use crate::ops::{TimeToLiveDescription, TimeToLiveStatus, UpdateTimeToLive};

/// Expiry settings of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimeToLive {
    /// Attribute that holds the time of expiry; `None` while expiry is disabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// Time at which expiry was last enabled or disabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<Timestamp>,
}

impl Table {
    /// Returns the table with expiry enabled or disabled.
    ///
    /// # Errors
    /// A validation error if expiry is enabled or disabled already, uses another attribute (disable
    /// it first), or was changed less than [`limits::TIME_TO_LIVE_CHANGES`] before `now`. The
    /// developer guide says up to one hour; AWS was observed to allow a change after half an hour.
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

    /// Describes the expiry settings.
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

    fn refusal(result: Result<Table>) -> String {
        let error = result.unwrap_err();
        assert_eq!(error.code(), "ValidationException");
        error.message().to_owned()
    }

    #[test]
    fn expiry_can_be_enabled_and_disabled() {
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
    fn repeated_change_of_expiry_is_refused() {
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
    fn second_change_of_expiry_within_an_hour_is_refused() {
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
    fn expiry_attribute_has_1_to_255_bytes() {
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
