//! Conditions of reads and writes, and their evaluation.

use super::errors;
use crate::env::Timestamp;
use crate::error::Result;

/// Condition of a write, evaluated in the same atomic step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WriteCondition {
    /// Write in any case.
    #[default]
    None,
    /// Write only if no blob has the key.
    IfAbsent,
    /// Write only if the blob with the key has this ETag.
    IfMatch(String),
}

impl WriteCondition {
    /// Evaluates the condition on the ETag of the present blob; `None` if there is no blob.
    ///
    /// # Errors
    /// `PreconditionFailed`; `NoSuchKey` for [`WriteCondition::IfMatch`] without a blob.
    pub fn evaluate(&self, key: &str, present: Option<&str>) -> Result<()> {
        match (self, present) {
            (Self::None, _) | (Self::IfAbsent, None) => Ok(()),
            (Self::IfMatch(expected), Some(etag)) if expected == etag || expected == ANY => Ok(()),
            (Self::IfMatch(_), None) => Err(errors::no_such_key(key)),
            (Self::IfAbsent | Self::IfMatch(_), Some(_)) => Err(errors::precondition_failed()),
        }
    }
}

/// ETag of a condition that every present blob fulfills, as in HTTP.
const ANY: &str = "*";

/// Conditions of a read. All that are given have to hold, with the precedence of HTTP: an ETag
/// outranks the time of the same direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadConditions {
    /// Read only if the blob has this ETag.
    pub if_match: Option<String>,
    /// Read only if the blob has another ETag, because the caller has that one already.
    pub if_none_match: Option<String>,
    /// Read only if the blob was written later than this, to the second.
    pub if_modified_since: Option<Timestamp>,
    /// Read only if the blob was not written later than this, to the second.
    pub if_unmodified_since: Option<Timestamp>,
}

impl ReadConditions {
    /// Whether no condition is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Evaluates the conditions on the present blob.
    ///
    /// # Errors
    /// - `PreconditionFailed`: `if_match` or `if_unmodified_since` does not hold.
    /// - [`crate::ErrorKind::NotModified`]: `if_none_match` or `if_modified_since` does not hold.
    pub fn evaluate(&self, etag: &str, modified: Timestamp) -> Result<()> {
        let is_later = |than: Timestamp| modified.as_secs() > than.as_secs();
        let fulfills_match = match (&self.if_match, self.if_unmodified_since) {
            (Some(expected), _) => expected == etag || expected == ANY,
            (None, Some(since)) => !is_later(since),
            (None, None) => true,
        };
        if !fulfills_match {
            return Err(errors::precondition_failed());
        }
        let is_modified = match (&self.if_none_match, self.if_modified_since) {
            (Some(known), _) => known != etag && known != ANY,
            (None, Some(since)) => is_later(since),
            (None, None) => true,
        };
        match is_modified {
            true => Ok(()),
            false => Err(errors::not_modified()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn secs(secs: u64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    #[test]
    fn write_conditions_on_present_and_missing_blobs() {
        let code = |condition: WriteCondition, present| match condition.evaluate("k", present) {
            Ok(()) => "",
            Err(error) => error.code(),
        };
        let matching = || WriteCondition::IfMatch("e".to_owned());
        assert_eq!(code(WriteCondition::None, Some("e")), "");
        assert_eq!(code(WriteCondition::IfAbsent, None), "");
        assert_eq!(code(WriteCondition::IfAbsent, Some("e")), "PreconditionFailed");
        assert_eq!(code(matching(), Some("e")), "");
        assert_eq!(code(matching(), Some("f")), "PreconditionFailed");
        assert_eq!(code(matching(), None), "NoSuchKey");
        assert_eq!(code(WriteCondition::IfMatch("*".to_owned()), Some("f")), "");
    }

    #[test]
    fn etags_outrank_times() {
        let outcome = |conditions: ReadConditions| match conditions.evaluate("e", secs(100)) {
            Ok(()) => "read",
            Err(error) if error.kind() == &ErrorKind::NotModified => "not modified",
            Err(_) => "failed",
        };
        let text = |text: &str| Some(text.to_owned());
        let matching = |etag, since| ReadConditions {
            if_match: etag,
            if_unmodified_since: since,
            ..ReadConditions::default()
        };
        assert_eq!(outcome(matching(text("e"), Some(secs(99)))), "read");
        assert_eq!(outcome(matching(text("f"), Some(secs(101)))), "failed");
        assert_eq!(outcome(matching(None, Some(secs(99)))), "failed");
        assert_eq!(outcome(matching(None, Some(secs(100)))), "read");
        let other = |etag, since| ReadConditions {
            if_none_match: etag,
            if_modified_since: since,
            ..ReadConditions::default()
        };
        assert_eq!(outcome(other(text("e"), Some(secs(99)))), "not modified");
        assert_eq!(outcome(other(text("f"), Some(secs(101)))), "read");
        assert_eq!(outcome(other(None, Some(secs(100)))), "not modified");
        assert_eq!(outcome(other(None, Some(secs(99)))), "read");
        assert_eq!(outcome(other(text("*"), None)), "not modified");
    }
}
