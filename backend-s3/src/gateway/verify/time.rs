//! Time of a signature: its format, the allowed clock skew, and the expiry of presigned URLs.

use std::time::Duration;

use http::HeaderValue;
use tabla_core::blobs::rules::PRESIGNED_EXPIRY;
use tabla_core::env::Timestamp;
use time::{Date, Month, OffsetDateTime, Time};

use super::super::refusal::{ACCESS_DENIED, QUERY_MALFORMED, REQUEST_TIME_TOO_SKEWED, Refusal};

/// Allowed difference between the clocks of client and server: 15 minutes, as on S3.
const SKEW: Duration = Duration::from_secs(15 * 60);

/// Time of a signature, to the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SigningTime {
    text: String,
    time: Timestamp,
}

impl SigningTime {
    /// Parses `20261119T120000Z`; `None` for any other format.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let number = |range: std::ops::Range<usize>| -> Option<u16> {
            let digits = text.get(range)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let byte = |range: std::ops::Range<usize>| u8::try_from(number(range)?).ok();
        if text.len() != 16 || text.get(8..9)? != "T" || text.get(15..16)? != "Z" {
            return None;
        }
        let month = Month::try_from(byte(4..6)?).ok()?;
        let date = Date::from_calendar_date(number(0..4)?.into(), month, byte(6..8)?).ok()?;
        let clock = Time::from_hms(byte(9..11)?, byte(11..13)?, byte(13..15)?).ok()?;
        let seconds = OffsetDateTime::new_utc(date, clock).unix_timestamp();
        let time = Timestamp::from_secs(u64::try_from(seconds).ok()?);
        Some(Self { text: text.to_owned(), time })
    }

    /// Parses the value of a header.
    pub(super) fn of_header(value: &HeaderValue) -> Option<Self> {
        Self::parse(value.to_str().ok()?)
    }

    /// Time as it appears in the string to sign.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Day as it appears in the scope of a credential.
    pub(super) fn day(&self) -> &str {
        &self.text[..8]
    }

    /// Checks that the time is at most 15 minutes from `now`, which limits how long a captured
    /// request can be replayed.
    ///
    /// # Errors
    /// `RequestTimeTooSkewed`.
    pub(super) fn check_skew(&self, now: Timestamp) -> Result<(), Refusal> {
        if now.since(self.time) <= SKEW && self.time.since(now) <= SKEW {
            return Ok(());
        }
        let message = "The difference between the request time and the current time is too large.";
        Err(Refusal::new(REQUEST_TIME_TOO_SKEWED, message)
            .detail("RequestTime", &self.text)
            .detail("ServerTime", readable(now))
            .detail("MaxAllowedSkewMilliseconds", SKEW.as_millis().to_string()))
    }

    /// Checks that a presigned URL with this time is valid now.
    ///
    /// # Errors
    /// `AccessDenied`: it has expired, or its time is over 15 minutes in the future.
    pub(super) fn check_expiry(&self, expiry: Expiry, now: Timestamp) -> Result<(), Refusal> {
        let end = self.time + expiry.0;
        if now > end {
            return Err(Refusal::new(ACCESS_DENIED, "Request has expired")
                .detail("X-Amz-Expires", expiry.0.as_secs().to_string())
                .detail("Expires", readable(end))
                .detail("ServerTime", readable(now)));
        }
        if self.time.since(now) > SKEW {
            return Err(Refusal::new(ACCESS_DENIED, "Request is not valid yet")
                .detail("ServerTime", readable(now)));
        }
        Ok(())
    }
}

/// Time for which a presigned URL is valid: 1 second to 7 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expiry(Duration);

impl Expiry {
    /// Parses the parameter `X-Amz-Expires`.
    ///
    /// # Errors
    /// `AuthorizationQueryParametersError`: it is no number of 1 to 604,800.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let refuse = |message: &str| Err(Refusal::new(QUERY_MALFORMED, message));
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return refuse("X-Amz-Expires should be a number");
        }
        if digits.len() < text.len() {
            return refuse("X-Amz-Expires must be non-negative");
        }
        // More digits than a number has are more than 7 days.
        match digits.parse().unwrap_or(u64::MAX) {
            0 => refuse("X-Amz-Expires must be at least 1 second"),
            seconds if seconds > PRESIGNED_EXPIRY.as_secs() => refuse(
                "X-Amz-Expires must be less than a week (in seconds); that is, the given \
                 X-Amz-Expires must be less than 604800 seconds",
            ),
            seconds => Ok(Self(Duration::from_secs(seconds))),
        }
    }
}

/// Time such as `2026-11-19T12:00:00Z`.
fn readable(time: Timestamp) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    match OffsetDateTime::from_unix_timestamp(seconds) {
        Ok(time) => format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            time.year(),
            u8::from(time.month()),
            time.day(),
            time.hour(),
            time.minute(),
            time.second()
        ),
        // A clock beyond the year 9999 is wrong, but no reason to panic.
        Err(_) => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SigningTime {
        SigningTime::parse(text).unwrap()
    }

    #[test]
    fn time_has_the_basic_format() {
        assert_eq!(at("20130524T000000Z").time, Timestamp::from_secs(1_369_353_600));
        assert_eq!(at("20130524T000000Z").day(), "20130524");
        for text in [
            "",
            "20130524T000000",
            "20130524t000000Z",
            "20131324T000000Z",
            "20130532T000000Z",
            "20130524T240000Z",
            "20130524T000060Z",
            "+0130524T000000Z",
            "2013052éT00000Z",
            "2013-05-24T00:00:00Z",
            "19691231T235959Z",
        ] {
            assert_eq!(SigningTime::parse(text), None, "{text}");
        }
    }

    #[test]
    fn skew_of_15_minutes_is_allowed() {
        let time = at("20130524T000000Z");
        let check = |offset: i64| {
            let now = Timestamp::from_secs(1_369_353_600_u64.saturating_add_signed(offset));
            time.check_skew(now).map_err(|refusal| refusal.code())
        };
        for allowed in [0, 900, -900] {
            assert_eq!(check(allowed), Ok(()));
        }
        for refused in [901, -901] {
            assert_eq!(check(refused), Err("RequestTimeTooSkewed"));
        }
    }

    #[test]
    fn expiry_is_1_second_to_7_days() {
        assert_eq!(Expiry::parse("1").unwrap().0, Duration::from_secs(1));
        assert_eq!(Expiry::parse("604800").unwrap().0, PRESIGNED_EXPIRY);
        for text in ["", "-", "0", "-1", "604801", "1.5", "+1", " 1", "1e3", "18446744073709551616"]
        {
            assert_eq!(
                Expiry::parse(text).unwrap_err().code(),
                "AuthorizationQueryParametersError"
            );
        }
    }

    #[test]
    fn presigned_url_is_valid_until_its_expiry() {
        let time = at("20130524T000000Z");
        let expiry = Expiry::parse("60").unwrap();
        let check = |millis: u64| time.check_expiry(expiry, Timestamp::from_millis(millis));
        let begin = 1_369_353_600_000;
        assert!(check(begin - 900_000).is_ok(), "the client's clock is 15 minutes ahead");
        assert!(check(begin + 60_000).is_ok());
        let early = check(begin - 900_001).unwrap_err();
        assert_eq!((early.code(), early.message()), ("AccessDenied", "Request is not valid yet"));
        let late = check(begin + 60_001).unwrap_err();
        assert_eq!((late.code(), late.message()), ("AccessDenied", "Request has expired"));
        assert_eq!(late.detail_of("Expires"), Some("2013-05-24T00:01:00Z"));
        assert_eq!(late.detail_of("ServerTime"), Some("2013-05-24T00:01:00Z"));
    }
}
