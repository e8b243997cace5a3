//! Moments, days and months as text that sorts as they do.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::{Date, OffsetDateTime};

use super::part::{Digits, KeyPart};
use tabla_core::env::Timestamp;
use tabla_core::{Error, Result};

/// The last second of the year 9999: later ones would need a fifth digit, and sort before it.
const LAST_SECOND: u64 = 253_402_300_799;

/// A moment in UTC, to the second: `2025-08-18T10:30:00Z`.
///
/// All texts have the same width, so that they sort as the moments do, in keys and in attributes.
///
/// ```
/// use tabla::entity::UtcTime;
///
/// let time: UtcTime = "2025-08-18T10:30:00Z".parse()?;
/// assert_eq!(time.as_secs(), 1_755_513_000);
/// assert_eq!((time.day().to_string(), time.month().to_string()), ("2025-08-18".into(), "2025-08".into()));
/// # Ok::<(), tabla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcTime(u64);

/// A moment in UTC, to the millisecond: `2025-08-18T10:30:00.250Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcMillis(u64);

/// A day: `2025-08-18`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

/// A month: `2025-08`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    year: u16,
    month: u8,
}

impl UtcTime {
    /// The moment this many seconds after the epoch; at most the last of the year 9999.
    pub const fn from_secs(secs: u64) -> Self {
        Self(if secs > LAST_SECOND { LAST_SECOND } else { secs })
    }

    /// Seconds since the epoch: what a time to live is.
    pub const fn as_secs(self) -> u64 {
        self.0
    }

    /// The day that it is in.
    pub fn day(self) -> Day {
        let (date, _) = split(self.0);
        Day { year: date.year() as u16, month: u8::from(date.month()), day: date.day() }
    }

    /// The month that it is in.
    pub fn month(self) -> Month {
        self.day().month()
    }

    /// `2025-08-18T10:30:00Z`: written digit by digit, because every key with a moment is.
    fn text(self) -> String {
        let (date, time) = split(self.0);
        let (hour, minute, second) = time.as_hms();
        let mut text = *b"0000-00-00T00:00:00Z";
        let year = date.year() as u16;
        let pairs = [
            (0, (year / 100) as u8),
            (2, (year % 100) as u8),
            (5, u8::from(date.month())),
            (8, date.day()),
            (11, hour),
            (14, minute),
            (17, second),
        ];
        for (at, number) in pairs {
            text[at] = b'0' + number / 10;
            text[at + 1] = b'0' + number % 10;
        }
        text.iter().map(|byte| char::from(*byte)).collect()
    }

    /// The moment this much later.
    #[must_use]
    pub const fn plus(self, later: Duration) -> Self {
        Self::from_secs(self.0.saturating_add(later.as_secs()))
    }

    /// The moment this much earlier, at least the epoch.
    #[must_use]
    pub const fn minus(self, earlier: Duration) -> Self {
        Self(self.0.saturating_sub(earlier.as_secs()))
    }
}

impl UtcMillis {
    /// The moment this many milliseconds after the epoch; at most the last of the year 9999.
    pub const fn from_millis(millis: u64) -> Self {
        let last = LAST_SECOND * 1000 + 999;
        Self(if millis > last { last } else { millis })
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The second that it is in.
    pub const fn second(self) -> UtcTime {
        UtcTime(self.0 / 1000)
    }

    /// The moment this much later.
    #[must_use]
    pub const fn plus(self, later: Duration) -> Self {
        Self::from_millis(self.0.saturating_add(later.as_millis() as u64))
    }
}

impl Day {
    /// The month that it is in.
    pub const fn month(self) -> Month {
        Month { year: self.year, month: self.month }
    }

    /// Its first second.
    pub fn start(self) -> UtcTime {
        let month = time::Month::try_from(self.month).expect("a day has a month from 1 to 12");
        let date = Date::from_calendar_date(i32::from(self.year), month, self.day)
            .expect("a day is one of the calendar's");
        UtcTime(date.midnight().assume_utc().unix_timestamp() as u64)
    }

    /// Its last second.
    pub fn end(self) -> UtcTime {
        UtcTime(self.start().0 + 86_399)
    }

    /// The day after it.
    #[must_use]
    pub fn next(self) -> Self {
        UtcTime::from_secs(self.start().0 + 86_400).day()
    }

    /// The days from this one to another, both included.
    pub fn through(self, last: Day) -> impl Iterator<Item = Day> {
        std::iter::successors(Some(self), |day| Some(day.next()).filter(|next| next > day))
            .take_while(move |day| *day <= last)
    }
}

impl Month {
    /// Its first second.
    pub fn start(self) -> UtcTime {
        Day { year: self.year, month: self.month, day: 1 }.start()
    }

    /// Its last second.
    pub fn end(self) -> UtcTime {
        let month = time::Month::try_from(self.month).expect("a month is from 1 to 12");
        let day = month.length(i32::from(self.year));
        Day { year: self.year, month: self.month, day }.end()
    }

    /// The month after it.
    #[must_use]
    pub const fn next(self) -> Self {
        match self.month {
            12 => Self { year: self.year + 1, month: 1 },
            month => Self { year: self.year, month: month + 1 },
        }
    }

    /// The months from this one to another, both included.
    pub fn through(self, last: Month) -> impl Iterator<Item = Month> {
        std::iter::successors(Some(self), |month| Some(month.next()))
            .take_while(move |month| *month <= last)
    }
}

fn split(secs: u64) -> (Date, time::Time) {
    let moment = OffsetDateTime::from_unix_timestamp(secs as i64).expect("no year after 9999");
    (moment.date(), moment.time())
}

impl From<Timestamp> for UtcTime {
    fn from(moment: Timestamp) -> Self {
        Self::from_secs(moment.as_secs())
    }
}

impl From<Timestamp> for UtcMillis {
    fn from(moment: Timestamp) -> Self {
        Self::from_millis(moment.as_millis())
    }
}

impl From<UtcMillis> for UtcTime {
    fn from(time: UtcMillis) -> Self {
        time.second()
    }
}

impl Digits for UtcTime {
    fn to_digits(&self) -> u64 {
        self.0
    }

    fn from_digits(number: u64) -> Option<Self> {
        (number <= LAST_SECOND).then_some(Self(number))
    }
}

impl Digits for UtcMillis {
    fn to_digits(&self) -> u64 {
        self.0
    }

    fn from_digits(number: u64) -> Option<Self> {
        (number <= LAST_SECOND * 1000 + 999).then_some(Self(number))
    }
}

impl From<UtcTime> for Timestamp {
    fn from(time: UtcTime) -> Self {
        Timestamp::from_secs(time.0)
    }
}

impl From<UtcTime> for Day {
    fn from(time: UtcTime) -> Self {
        time.day()
    }
}

impl From<UtcTime> for Month {
    fn from(time: UtcTime) -> Self {
        time.month()
    }
}

impl From<UtcMillis> for Day {
    fn from(time: UtcMillis) -> Self {
        time.second().day()
    }
}

impl From<UtcMillis> for Month {
    fn from(time: UtcMillis) -> Self {
        time.second().month()
    }
}

impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().as_str())
    }
}

impl fmt::Display for UtcMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.second().to_string();
        write!(f, "{}.{:03}Z", text.trim_end_matches('Z'), self.0 % 1000)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:02}", self.month(), self.day)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

/// Reads the digits where the form has `0`, if all other bytes are those of the form.
fn digits<const N: usize>(form: &str, text: &str) -> Option<[u64; N]> {
    if form.len() != text.len() {
        return None;
    }
    let mut numbers = [0; N];
    let mut number = 0;
    let mut in_number = false;
    for (expected, found) in form.bytes().zip(text.bytes()) {
        match expected {
            b'0' => {
                let digit = char::from(found).to_digit(10)?;
                numbers[number] = numbers[number] * 10 + u64::from(digit);
                in_number = true;
            }
            _ if expected != found => return None,
            _ if in_number => {
                number += 1;
                in_number = false;
            }
            _ => {}
        }
    }
    Some(numbers)
}

fn seconds(day: [u64; 3], [hour, minute, second]: [u64; 3]) -> Option<u64> {
    let [year, month, day] = day;
    let month = time::Month::try_from(month as u8).ok()?;
    let date = Date::from_calendar_date(year as i32, month, day as u8).ok()?;
    let time = time::Time::from_hms(hour as u8, minute as u8, second as u8).ok()?;
    u64::try_from(date.with_time(time).assume_utc().unix_timestamp()).ok()
}

impl FromStr for UtcTime {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let [year, month, day, hour, minute, second] = digits("0000-00-00T00:00:00Z", text)?;
            seconds([year, month, day], [hour, minute, second])
        };
        read().map(Self).ok_or_else(|| not("a moment such as 2025-08-18T10:30:00Z", text))
    }
}

impl FromStr for UtcMillis {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let [year, month, day, hour, minute, second, millis] =
                digits("0000-00-00T00:00:00.000Z", text)?;
            Some(seconds([year, month, day], [hour, minute, second])? * 1000 + millis)
        };
        read().map(Self).ok_or_else(|| not("a moment such as 2025-08-18T10:30:00.250Z", text))
    }
}

impl FromStr for Day {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let day = digits("0000-00-00", text)?;
            seconds(day, [0; 3])
        };
        let start = read().ok_or_else(|| not("a day such as 2025-08-18", text))?;
        Ok(UtcTime(start).day())
    }
}

impl FromStr for Month {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let day: Result<Day> = format!("{text}-01").parse();
        day.map(Day::month).map_err(|_| not("a month such as 2025-08", text))
    }
}

fn not(what: &str, text: &str) -> Error {
    Error::validation(format!("{text:?} is not {what}"))
}

macro_rules! as_text {
    ($($type:ident)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl KeyPart for $type {
            const SAFE: bool = true;
            const ORDERED: bool = true;

            fn write_key(&self, out: &mut String) -> Result<()> {
                use fmt::Write as _;
                write!(out, "{self}").expect("a string takes any text");
                Ok(())
            }

            fn read_key(text: &str) -> Result<Self> {
                text.parse()
            }

            fn example(_: &str) -> Self {
                let time = UtcTime::from_secs(1_755_513_000);
                Self::from_example(time)
            }
        }
    )*};
}

as_text! { UtcTime UtcMillis Day Month }

impl UtcTime {
    fn from_example(time: UtcTime) -> Self {
        time
    }
}

impl UtcMillis {
    fn from_example(time: UtcTime) -> Self {
        Self(time.0 * 1000)
    }
}

impl Day {
    fn from_example(time: UtcTime) -> Self {
        time.day()
    }
}

impl Month {
    fn from_example(time: UtcTime) -> Self {
        time.month()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn moments_read_back_and_sort(one in 0..=LAST_SECOND, other in 0..=LAST_SECOND) {
            let (a, b) = (UtcTime(one), UtcTime(other));
            prop_assert_eq!(a.to_string().parse::<UtcTime>().unwrap(), a);
            prop_assert_eq!(a.to_string().cmp(&b.to_string()), a.cmp(&b));
            prop_assert!(a.day().start() <= a && a <= a.day().end());
            prop_assert!(a.month().start() <= a && a <= a.month().end());
            prop_assert_eq!(a.day().to_string().parse::<Day>().unwrap(), a.day());
            prop_assert_eq!(a.month().to_string().parse::<Month>().unwrap(), a.month());
            let (a, b) = (UtcMillis(one * 1000 + other % 1000), UtcMillis(other * 1000));
            prop_assert_eq!(a.to_string().parse::<UtcMillis>().unwrap(), a);
            prop_assert_eq!(a.to_string().cmp(&b.to_string()), a.cmp(&b));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "2025-08-18",
            "2025-08-18T10:30:00",
            "2025-08-18T10:30:00.1Z",
            "2025-02-30T10:30:00Z",
            "2025-08-18T24:00:00Z",
            "1969-12-31T23:59:59Z",
            "2025-8-18T10:30:00Z",
            "2025-08-18t10:30:00Z",
        ] {
            assert!(text.parse::<UtcTime>().is_err(), "{text}");
        }
        for text in ["", "2025", "2025-13", "2025-00", "2025-1", "2025-01-"] {
            assert!(text.parse::<Month>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_month_has_an_end() {
        let end = |text: &str| text.parse::<UtcTime>().unwrap().month().end().to_string();
        assert_eq!(end("2024-02-03T00:00:00Z"), "2024-02-29T23:59:59Z");
        assert_eq!(end("2025-12-31T23:59:59Z"), "2025-12-31T23:59:59Z");
        assert_eq!(end("9999-12-01T00:00:00Z"), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn days_and_months_are_counted_through() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        let days: Vec<String> =
            day("2024-02-28").through(day("2024-03-01")).map(|day| day.to_string()).collect();
        assert_eq!(days, ["2024-02-28", "2024-02-29", "2024-03-01"]);
        assert_eq!(day("2024-03-01").through(day("2024-02-28")).count(), 0);
        let month = |text: &str| text.parse::<Month>().unwrap();
        let months: Vec<String> =
            month("2025-11").through(month("2026-01")).map(|month| month.to_string()).collect();
        assert_eq!(months, ["2025-11", "2025-12", "2026-01"]);
        assert_eq!(day("9999-12-31").through(day("9999-12-31")).count(), 1);
    }
}
