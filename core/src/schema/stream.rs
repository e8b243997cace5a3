//! Streams of a table: the enabled one and those that were disabled; labels and ARNs.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Table;
use super::constraint::invalid;
use super::name::table_arn;
use crate::env::Timestamp;
use crate::error::{Error, Result};
use crate::limits;
use crate::ops::{StreamArn, StreamSpecification, StreamStatus, StreamSummary, StreamViewType};

/// Stream of a table, enabled or disabled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TableStream {
    /// Images that its records contain.
    pub view_type: StreamViewType,
    /// Time at which it was enabled, in milliseconds; unique among the streams of the table.
    pub created_at: Timestamp,
    /// Time at which it was disabled; `None` while it is enabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<Timestamp>,
}

/// Change of a table's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamChange {
    /// New stream, which records changes from now on.
    Enabled(TableStream),
    /// Stream that records no more changes; the engine closes its shards.
    Disabled(TableStream),
}

impl TableStream {
    /// Label of the stream: the time at which it was enabled, as `2026-11-16T04:04:10.643`.
    pub fn label(&self) -> String {
        iso8601(self.created_at)
    }

    /// ARN of the stream of a table with this name.
    pub fn arn(&self, table: &str) -> StreamArn {
        StreamArn(format!("{}/stream/{}", table_arn(table), self.label()))
    }

    /// Status of the stream: enabled or disabled.
    pub fn status(&self) -> StreamStatus {
        match self.disabled_at {
            None => StreamStatus::Enabled,
            Some(_) => StreamStatus::Disabled,
        }
    }

    /// Whether its records can be read: while it is enabled, and for 24 hours after that.
    pub fn is_readable(&self, now: Timestamp) -> bool {
        self.disabled_at.is_none_or(|at| now.since(at) < limits::STREAM_RETENTION)
    }
}

impl Table {
    /// Enabled stream; `None` if there is none.
    pub fn stream(&self) -> Option<&TableStream> {
        self.latest_stream().filter(|stream| stream.disabled_at.is_none())
    }

    /// Stream that was enabled last; `None` if the table never had one.
    pub fn latest_stream(&self) -> Option<&TableStream> {
        self.streams.last()
    }

    /// Streams that can be read, oldest first.
    pub fn readable_streams(&self, now: Timestamp) -> impl Iterator<Item = &TableStream> {
        self.streams.iter().filter(move |stream| stream.is_readable(now))
    }

    /// Stream with this ARN; `None` if there is none that can be read.
    pub fn find_stream(&self, arn: &StreamArn, now: Timestamp) -> Option<&TableStream> {
        self.readable_streams(now).find(|stream| stream.arn(&self.name) == *arn)
    }

    /// Builds the entry of a stream of this table in lists.
    pub fn summarize_stream(&self, stream: &TableStream) -> StreamSummary {
        StreamSummary {
            arn: stream.arn(&self.name),
            table: self.name.clone(),
            label: stream.label(),
        }
    }

    /// Returns the table with its stream disabled, for a table that is deleted. An engine keeps it
    /// while [`Table::readable_streams`] is not empty.
    #[must_use]
    pub fn with_stream_disabled(&self, now: Timestamp) -> Table {
        let mut table = self.clone();
        table.disable_stream(now.to_millis());
        table
    }

    /// Returns a newly created table with stream labels later than those of `earlier`, a deleted
    /// table of the same name, and of the tables before it.
    #[must_use]
    pub fn with_labels_after(mut self, earlier: &Table) -> Table {
        self.streams_after = earlier.latest_label();
        let least = self.streams_after.map(|latest| latest + TICK);
        if let (Some(stream), Some(least)) = (self.streams.last_mut(), least) {
            stream.created_at = stream.created_at.max(least);
        }
        self
    }

    /// Time of the latest stream label of any table with this name.
    fn latest_label(&self) -> Option<Timestamp> {
        let own = self.latest_stream().map(|stream| stream.created_at);
        own.max(self.streams_after)
    }

    pub(super) fn enable_stream(&mut self, view_type: StreamViewType, now: Timestamp) {
        let least = self.latest_label().map(|latest| latest + TICK);
        let created_at = least.map_or(now, |least| now.max(least));
        // Streams past retention are removed only now: descriptions name the latest stream until
        // there is a new one.
        self.streams.retain(|stream| stream.is_readable(now));
        self.streams.push(TableStream { view_type, created_at, disabled_at: None });
    }

    pub(super) fn disable_stream(&mut self, now: Timestamp) -> Option<TableStream> {
        let stream = self.streams.last_mut().filter(|stream| stream.disabled_at.is_none())?;
        stream.disabled_at = Some(now);
        Some(stream.clone())
    }

    /// Enables or disables the stream for an update request.
    pub(super) fn change_stream(
        &mut self,
        given: StreamSpecification,
        now: Timestamp,
    ) -> Result<StreamChange> {
        let enabled = self.stream().is_some();
        match (given.enabled, given.view_type) {
            (true, None) => {
                Err(invalid("If stream is being enabled then UpdateViewType is required"))
            }
            (false, Some(_)) => Err(invalid(
                "If stream is being disabled, then UpdateViewType must not be specified",
            )),
            (true, Some(_)) if enabled => Err(Error::validation(format!(
                "Table already has an enabled stream: TableName: {}",
                self.name
            ))),
            (true, Some(view_type)) => {
                self.enable_stream(view_type, now);
                let stream = self.stream().expect("the stream was just enabled");
                Ok(StreamChange::Enabled(stream.clone()))
            }
            (false, None) => match self.disable_stream(now) {
                Some(stream) => Ok(StreamChange::Disabled(stream)),
                None => Err(Error::validation(format!(
                    "Table has no stream to disable: TableName: {}",
                    self.name
                ))),
            },
        }
    }
}

/// Validates the stream settings of a new table; `None` means no stream.
pub(super) fn of_new_table(given: Option<StreamSpecification>) -> Result<Option<StreamViewType>> {
    match given.map(|given| (given.enabled, given.view_type)) {
        None | Some((false, None)) => Ok(None),
        Some((true, Some(view_type))) => Ok(Some(view_type)),
        Some((true, None)) => {
            Err(invalid("Table is being created with a stream enabled, UpdateViewType is required"))
        }
        Some((false, Some(_))) => Err(invalid(
            "Table is being created with a stream disabled, UpdateViewType should not be specified",
        )),
    }
}

/// Smallest difference between two labels.
const TICK: Duration = Duration::from_millis(1);

/// Formats a time in UTC with milliseconds and without a zone, for stream labels.
fn iso8601(moment: Timestamp) -> String {
    let millis = moment.as_millis();
    let (days, in_day) = (millis / 86_400_000, millis % 86_400_000);
    let (year, month, day) = civil(days);
    let (hour, minute) = (in_day / 3_600_000, in_day / 60_000 % 60);
    let (second, milli) = (in_day / 1000 % 60, in_day % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}")
}

/// Converts days since 1970-01-01 to year, month and day of the Gregorian calendar. It counts years
/// from March, so that the leap day is the last day of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_TO_EPOCH: u64 = 719_468; // from 0000-03-01
    const DAYS_IN_ERA: u64 = 146_097; // 400 years
    let days = days + DAYS_TO_EPOCH;
    let (era, in_era) = (days / DAYS_IN_ERA, days % DAYS_IN_ERA);
    let year_of_era = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
    let day_of_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::KeyType;
    use crate::ops::{CreateTable, UpdateTable};

    const NOW: Timestamp = Timestamp::from_millis(1_794_801_850_643);

    /// Last millisecond before the year 10000.
    const YEAR_10000: u64 = 253_402_300_799_999;

    fn table(request: CreateTable) -> Result<Table> {
        Table::create(&request.partition_key("a", KeyType::S), NOW, "id".to_owned())
    }

    fn set(enabled: bool, view_type: Option<StreamViewType>) -> UpdateTable {
        UpdateTable::new("tab").stream(Some(StreamSpecification { enabled, view_type }))
    }

    #[test]
    fn label_is_the_time_in_utc() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000"),
            (951_782_399_999, "2000-02-28T23:59:59.999"),
            (951_782_400_000, "2000-02-29T00:00:00.000"),
            (1_794_801_850_643, "2026-11-16T04:04:10.643"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000"),
        ] {
            assert_eq!(iso8601(Timestamp::from_millis(millis)), text);
        }
    }

    proptest! {
        #[test]
        fn labels_order_as_their_times_do(one in 0..YEAR_10000, other in 0..YEAR_10000) {
            let label = |millis| iso8601(Timestamp::from_millis(millis));
            prop_assert_eq!(label(one).cmp(&label(other)), one.cmp(&other));
            prop_assert_eq!(label(one).len(), 23);
            prop_assert!(label(one) < label(one + 1));
        }
    }

    #[test]
    fn label_of_any_time_does_not_panic() {
        iso8601(Timestamp::from_millis(u64::MAX));
        iso8601(Timestamp::from_secs(u64::MAX));
    }

    #[test]
    fn stream_arn_has_table_and_label() {
        let table = table(CreateTable::new("tab").stream(StreamViewType::NewImage)).unwrap();
        let stream = table.stream().unwrap();
        assert_eq!(stream.label(), "2026-11-16T04:04:10.643");
        assert_eq!(
            stream.arn(&table.name).0,
            "arn:aws:dynamodb:local:000000000000:table/tab/stream/2026-11-16T04:04:10.643"
        );
        assert_eq!(table.find_stream(&stream.arn("tab"), NOW), Some(stream));
    }

    #[test]
    fn view_type_is_required_exactly_for_an_enabled_stream() {
        let mut request = CreateTable::new("tab");
        request.stream = Some(StreamSpecification { enabled: true, view_type: None });
        let prefix = "One or more parameter values were invalid: ";
        assert_eq!(
            table(request.clone()).unwrap_err().message(),
            format!(
                "{prefix}Table is being created with a stream enabled, UpdateViewType is required"
            )
        );
        let view_type = Some(StreamViewType::KeysOnly);
        request.stream = Some(StreamSpecification { enabled: false, view_type });
        assert_eq!(
            table(request.clone()).unwrap_err().message(),
            format!(
                "{prefix}Table is being created with a stream disabled, UpdateViewType should not \
                 be specified"
            )
        );
        request.stream = Some(StreamSpecification { enabled: false, view_type: None });
        let table = table(request).unwrap();
        assert_eq!(table.stream(), None);
        assert_eq!(
            table.apply_update(&set(true, None), NOW).unwrap_err().message(),
            format!("{prefix}If stream is being enabled then UpdateViewType is required")
        );
        assert_eq!(
            table.apply_update(&set(false, view_type), NOW).unwrap_err().message(),
            format!(
                "{prefix}If stream is being disabled, then UpdateViewType must not be specified"
            )
        );
    }

    #[test]
    fn stream_cannot_be_enabled_or_disabled_twice() {
        let first = table(CreateTable::new("tab").stream(StreamViewType::KeysOnly)).unwrap();
        for view in [StreamViewType::KeysOnly, StreamViewType::NewImage] {
            assert_eq!(
                first.apply_update(&set(true, Some(view)), NOW).unwrap_err().message(),
                "Table already has an enabled stream: TableName: tab"
            );
        }
        let change = first.apply_update(&set(false, None), NOW).unwrap();
        let Some(StreamChange::Disabled(disabled)) = change.stream else { panic!("{change:?}") };
        assert_eq!(disabled.disabled_at, Some(NOW));
        assert_eq!(change.table.stream(), None);
        assert_eq!(change.table.latest_stream(), Some(&disabled));
        assert_eq!(
            change.table.apply_update(&set(false, None), NOW).unwrap_err().message(),
            "Table has no stream to disable: TableName: tab"
        );
    }

    #[test]
    fn streams_of_one_millisecond_have_distinct_labels() {
        let mut table = table(CreateTable::new("tab").stream(StreamViewType::KeysOnly)).unwrap();
        let before = NOW.as_millis() - 1000;
        for now in [NOW, NOW, Timestamp::from_millis(before)] {
            table = table.apply_update(&set(false, None), now).unwrap().table;
            table =
                table.apply_update(&set(true, Some(StreamViewType::OldImage)), now).unwrap().table;
        }
        let labels: Vec<String> = table.streams.iter().map(TableStream::label).collect();
        assert_eq!(labels.len(), 4);
        assert!(labels.is_sorted_by(|a, b| a < b), "{labels:?}");
    }

    #[test]
    fn recreated_table_has_a_stream_with_a_later_label() {
        let create = || table(CreateTable::new("tab").stream(StreamViewType::KeysOnly)).unwrap();
        let deleted = create().with_stream_disabled(NOW);
        assert_eq!(deleted.stream(), None);
        let again = create().with_labels_after(&deleted);
        assert!(again.streams[0].label() > deleted.streams[0].label());
    }

    #[test]
    fn labels_increase_across_recreated_tables_without_a_stream() {
        let name = || CreateTable::new("tab");
        let with_stream = table(name().stream(StreamViewType::KeysOnly)).unwrap();
        let view = Some(StreamViewType::KeysOnly);
        let earlier = Timestamp::from_millis(NOW.as_millis() - 3_600_000);
        // Two tables without a stream in between, and a clock that was set back.
        let one = table(name()).unwrap().with_labels_after(&with_stream.with_stream_disabled(NOW));
        let two = table(name()).unwrap().with_labels_after(&one.with_stream_disabled(earlier));
        for now in [NOW, earlier] {
            let enabled = two.apply_update(&set(true, view), now).unwrap().table;
            assert!(enabled.streams[0].label() > with_stream.streams[0].label(), "{now:?}");
        }
        let three = table(name().stream(StreamViewType::KeysOnly)).unwrap().with_labels_after(&two);
        assert!(three.streams[0].label() > with_stream.streams[0].label());
        // The stored form keeps the label.
        let stored: Table = serde_json::from_str(&serde_json::to_string(&two).unwrap()).unwrap();
        assert_eq!(stored, two);
    }

    #[test]
    fn disabled_stream_is_readable_for_24_hours() {
        let table = table(CreateTable::new("tab").stream(StreamViewType::KeysOnly)).unwrap();
        let table = table.apply_update(&set(false, None), NOW).unwrap().table;
        let last = NOW + (limits::STREAM_RETENTION - TICK);
        assert_eq!(table.readable_streams(last).count(), 1);
        let over = NOW + limits::STREAM_RETENTION;
        assert_eq!(table.readable_streams(over).count(), 0);
        assert!(table.latest_stream().is_some(), "descriptions still name it");
        let view = Some(StreamViewType::NewImage);
        let table = table.apply_update(&set(true, view), over).unwrap().table;
        assert_eq!(table.streams.len(), 1, "streams past retention are removed");
    }
}
