//! The time of a signature: its header, its formats, and the allowed clock skew.

use http::header::DATE;
use http::{HeaderMap, HeaderValue};
use tabla_core::Result;
use tabla_core::env::Timestamp;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

use super::refusal;

pub(super) const X_AMZ_DATE: &str = "x-amz-date";

/// Allowed difference between the clocks of client and server, in minutes.
///
/// Other services allow 5. DynamoDB's own errors have said `- 15 min.` since 2013, and still did in
/// 2024 (<https://github.com/praetorian-inc/chariot-ui/issues/453>).
const SKEW_MINUTES: i64 = 15;

/// Basic format of ISO 8601, in which the time is signed.
const BASIC: &[BorrowedFormatItem<'_>] =
    format_description!("[year][month][day]T[hour][minute][second]Z");

/// Format of HTTP's `Date` header, up to its zone. The signature has the basic format in this
/// case too.
const HTTP: &[BorrowedFormatItem<'_>] = format_description!(
    "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] "
);

/// Zones of a `Date` header: that of HTTP, and those of botocore, which follows the rules for mail.
const UTC: [&str; 3] = ["GMT", "-0000", "+0000"];

/// Returns the header with the time of the signature, if there is one.
pub(super) fn header(headers: &HeaderMap) -> Option<&HeaderValue> {
    let given = |name: &str| headers.get(name).filter(|value| !value.is_empty());
    given(X_AMZ_DATE).or_else(|| given(DATE.as_str()))
}

/// Time of a signature, to the second.
#[derive(Debug)]
pub(super) struct SigningTime {
    text: String,
    seconds: i64,
}

impl SigningTime {
    /// Parses the value of the header that [`header`] returns.
    pub(super) fn read(value: &HeaderValue) -> Result<Self> {
        let text = String::from_utf8_lossy(value.as_bytes());
        // The parser accepts a year with a sign; DynamoDB does not.
        if let Some(seconds) = parse(&text, BASIC)
            && text.starts_with(|first: char| first.is_ascii_digit())
        {
            return Ok(Self { text: text.into_owned(), seconds });
        }
        let without_zone = UTC.iter().find_map(|zone| text.strip_suffix(zone));
        if let Some(seconds) = without_zone.and_then(|text| parse(text, HTTP)) {
            return Ok(Self { text: basic(seconds), seconds });
        }
        Err(refusal::incomplete(format!(
            "Date must be in ISO-8601 'basic format'. Got '{text}'. \
             See http://en.wikipedia.org/wiki/ISO_8601"
        )))
    }

    /// Returns the time as it appears in the string to sign.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the day as it appears in the scope of a credential.
    pub(super) fn day(&self) -> &str {
        self.text.split('T').next().unwrap_or_default()
    }

    /// Checks that the time is at most 15 minutes from `now`, which limits how long a captured
    /// request can be replayed.
    pub(super) fn check_is_near(&self, now: Timestamp) -> Result<()> {
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let earliest = now.saturating_sub(SKEW_MINUTES * 60);
        let latest = now.saturating_add(SKEW_MINUTES * 60);
        let message = if self.seconds < earliest {
            format!(
                "Signature expired: {} is now earlier than {} ({} - {SKEW_MINUTES} min.)",
                self.text,
                basic(earliest),
                basic(now)
            )
        } else if self.seconds > latest {
            format!(
                "Signature not yet current: {} is still later than {} ({} + {SKEW_MINUTES} min.)",
                self.text,
                basic(latest),
                basic(now)
            )
        } else {
            return Ok(());
        };
        Err(refusal::invalid(message))
    }
}

/// Parses a time, and returns its seconds since the epoch.
fn parse(text: &str, format: &[BorrowedFormatItem<'_>]) -> Option<i64> {
    let time = PrimitiveDateTime::parse(text, format).ok()?;
    Some(time.assume_utc().unix_timestamp())
}

/// Formats a time in the basic format.
fn basic(seconds: i64) -> String {
    let time = OffsetDateTime::from_unix_timestamp(seconds).ok();
    // A clock beyond the year 9999 is wrong, but no reason to panic.
    time.and_then(|time| time.format(BASIC).ok()).unwrap_or_else(|| seconds.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SigningTime> {
        SigningTime::read(&HeaderValue::from_str(text).unwrap())
    }

    #[test]
    fn formats_of_one_time_are_parsed_alike() {
        for text in
            ["20150830T123600Z", "Sun, 30 Aug 2015 12:36:00 GMT", "Sun, 30 Aug 2015 12:36:00 -0000"]
        {
            let moment = read(text).unwrap();
            assert_eq!(moment.text(), "20150830T123600Z", "{text}");
            assert_eq!(moment.day(), "20150830", "{text}");
            assert_eq!(moment.seconds, 1_440_938_160, "{text}");
        }
    }

    #[test]
    fn other_formats_are_refused() {
        for text in [
            "201",
            "2015-08-30T12:36:00Z",
            "20150830T123600",
            "20150830T123600Z ",
            "20150830t123600z",
            "20150231T123600Z",
            "20150830T243600Z",
            "+20150830T123600Z",
            "-20150830T123600Z",
            "+2015083T123600Z",
            "1440938160",
            "Sun, 30 Aug 2015 12:36:00 +0200",
            "GMT",
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.code(), "IncompleteSignatureException");
            assert_eq!(
                error.message(),
                format!(
                    "Date must be in ISO-8601 'basic format'. Got '{text}'. \
                     See http://en.wikipedia.org/wiki/ISO_8601"
                )
            );
        }
    }

    #[test]
    fn signature_is_accepted_with_15_minutes_of_clock_skew() {
        let now = Timestamp::from_millis(1_440_938_160_999);
        for text in ["20150830T122100Z", "20150830T123600Z", "20150830T125100Z"] {
            read(text).unwrap().check_is_near(now).unwrap();
        }
        for (text, expected) in [
            (
                "20150830T122059Z",
                "Signature expired: 20150830T122059Z is now earlier than 20150830T122100Z \
                 (20150830T123600Z - 15 min.)",
            ),
            (
                "20150830T125101Z",
                "Signature not yet current: 20150830T125101Z is still later than \
                 20150830T125100Z (20150830T123600Z + 15 min.)",
            ),
        ] {
            let error = read(text).unwrap().check_is_near(now).unwrap_err();
            assert_eq!(error.code(), "InvalidSignatureException");
            assert_eq!(error.message(), expected);
        }
    }

    #[test]
    fn signature_is_refused_without_a_panic_at_extreme_times() {
        for now in [0, u64::MAX / 1000] {
            let now = Timestamp::from_secs(now);
            read("20150830T123600Z").unwrap().check_is_near(now).unwrap_err();
        }
    }

    #[test]
    fn x_amz_date_takes_precedence_over_date() {
        let mut headers = HeaderMap::new();
        assert_eq!(header(&headers), None);
        headers.insert(DATE, HeaderValue::from_static("a"));
        assert_eq!(header(&headers).unwrap(), "a");
        headers.insert(X_AMZ_DATE, HeaderValue::from_static(""));
        assert_eq!(header(&headers).unwrap(), "a");
        headers.insert(X_AMZ_DATE, HeaderValue::from_static("b"));
        assert_eq!(header(&headers).unwrap(), "b");
    }
}
