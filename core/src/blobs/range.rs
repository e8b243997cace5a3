//! Ranges of bytes.

use std::ops::Range;

use super::errors;
use crate::error::Result;

/// Part of a blob, as in HTTP's `Range` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// From the first to the last position, both included. What lies behind the end is left out.
    Inclusive {
        /// Position of the first byte.
        first: u64,
        /// Position of the last byte.
        last: u64,
    },
    /// From this position to the end.
    From(u64),
    /// This many bytes at the end.
    Last(u64),
}

impl ByteRange {
    /// Positions in a blob of this length, without the end.
    ///
    /// # Errors
    /// `InvalidRange`: the range contains no byte of the blob.
    pub fn resolve(self, length: u64) -> Result<Range<u64>> {
        let range = match self {
            Self::Inclusive { first, last } => first..last.saturating_add(1).min(length),
            Self::From(first) => first..length,
            Self::Last(count) => length.saturating_sub(count)..length,
        };
        match range.is_empty() {
            true => Err(errors::invalid_range(length)),
            false => Ok(range),
        }
    }

    /// Value of HTTP's `Range` header.
    pub fn header(self) -> String {
        match self {
            Self::Inclusive { first, last } => format!("bytes={first}-{last}"),
            Self::From(first) => format!("bytes={first}-"),
            Self::Last(count) => format!("bytes=-{count}"),
        }
    }
}

impl From<Range<u64>> for ByteRange {
    /// An empty range becomes one that no blob satisfies.
    fn from(range: Range<u64>) -> Self {
        match range.end.checked_sub(1) {
            Some(last) if last >= range.start => Self::Inclusive { first: range.start, last },
            _ => Self::Last(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_clipped_and_empty_ones_refused() {
        let resolve = |range: ByteRange, length| range.resolve(length).ok();
        let inclusive = |first, last| ByteRange::Inclusive { first, last };
        assert_eq!(resolve(inclusive(0, 0), 10), Some(0..1));
        assert_eq!(resolve(inclusive(2, 99), 10), Some(2..10));
        assert_eq!(resolve(inclusive(0, u64::MAX), 10), Some(0..10));
        assert_eq!(resolve(inclusive(10, 12), 10), None);
        assert_eq!(resolve(ByteRange::From(9), 10), Some(9..10));
        assert_eq!(resolve(ByteRange::From(10), 10), None);
        assert_eq!(resolve(ByteRange::Last(3), 10), Some(7..10));
        assert_eq!(resolve(ByteRange::Last(30), 10), Some(0..10));
        assert_eq!(resolve(ByteRange::Last(0), 10), None);
        assert_eq!(resolve(ByteRange::Last(1), 0), None);
        assert_eq!(resolve((3..5).into(), 10), Some(3..5));
        assert_eq!(resolve((3..3).into(), 10), None);
    }
}
