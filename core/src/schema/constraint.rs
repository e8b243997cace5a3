//! Validation errors on the shape of a request, collected as DynamoDB reports them.

use std::fmt::Display;

use crate::error::{Error, Result};

/// Largest number of violations that one error lists.
const REPORTED: usize = 10;

/// Pattern of table and index names, as in DynamoDB's messages.
const NAME_PATTERN: &str = "[a-zA-Z0-9_.-]+";

/// Collector of violations of a request's shape.
///
/// DynamoDB validates the whole shape of a request before its meaning, and reports all violations
/// in one error, at most ten: `2 validation errors detected: Value '…' at '…' failed to satisfy
/// constraint: …; Value …`.
///
/// DynamoDB checks the members of a structure in the order of a hash table of their names. Callers
/// add violations in that order.
#[derive(Debug, Default)]
pub struct Constraints(Vec<String>);

impl Constraints {
    /// Adds a violation of `rule` by a member with this value.
    pub fn violated(&mut self, value: impl Display, member: impl Display, rule: impl Display) {
        self.note(format_args!("Value '{value}'"), member, rule);
    }

    /// Adds a violation of `rule` by a member whose value is not shown, because it contains items.
    /// AWS's older wording showed their memory addresses.
    pub fn violated_unseen(&mut self, member: impl Display, rule: impl Display) {
        self.note("Value", member, rule);
    }

    /// Adds the violation of a required member that is missing.
    pub fn missing(&mut self, member: impl Display) {
        self.note("Value null", member, "Member must not be null");
    }

    fn note(&mut self, value: impl Display, member: impl Display, rule: impl Display) {
        if !self.is_full() {
            self.0.push(format!("{value} at '{member}' failed to satisfy constraint: {rule}"));
        }
    }

    /// Adds the violations of a part of the request, after those collected so far.
    pub fn append(&mut self, part: Self) {
        let room = REPORTED - self.0.len();
        self.0.extend(part.0.into_iter().take(room));
    }

    /// Whether ten violations are collected, so that no more are reported.
    pub fn is_full(&self) -> bool {
        self.0.len() >= REPORTED
    }

    /// Checks the length of a text in bytes.
    pub fn length(&mut self, value: &str, member: impl Display, min: usize, max: usize) {
        if let Some(rule) = broken(value.len(), min, max) {
            self.violated(value, member, rule);
        }
    }

    /// Checks the number of elements of a list or a map; `shown` is its value, if the message
    /// shows it.
    pub fn count(
        &mut self,
        count: usize,
        shown: Option<&dyn Display>,
        member: impl Display,
        min: usize,
        max: usize,
    ) {
        match (broken(count, min, max), shown) {
            (None, _) => {}
            (Some(rule), Some(value)) => self.violated(value, member, rule),
            (Some(rule), None) => self.violated_unseen(member, rule),
        }
    }

    /// Checks a lower bound of a number, included.
    pub fn at_least(&mut self, value: i64, member: impl Display, min: i64) {
        if value < min {
            let rule = format_args!("Member must have value greater than or equal to {min}");
            self.violated(value, member, rule);
        }
    }

    /// Checks an upper bound of a number, included.
    pub fn at_most(&mut self, value: i64, member: impl Display, max: i64) {
        if value > max {
            let rule = format_args!("Member must have value less than or equal to {max}");
            self.violated(value, member, rule);
        }
    }

    /// Checks that a text is one of the allowed values.
    pub fn choice(&mut self, value: &str, member: impl Display, choices: &[&str]) {
        if !choices.contains(&value) {
            let set = choices.join(", ");
            let rule = format_args!("Member must satisfy enum value set: [{set}]");
            self.violated(value, member, rule);
        }
    }

    /// Checks the characters of a table or index name, then its length.
    pub fn name(&mut self, value: &str, member: impl Display, min: usize, max: usize) {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if !value.is_empty() && !value.chars().all(allowed) {
            let rule =
                format_args!("Member must satisfy regular expression pattern: {NAME_PATTERN}");
            self.violated(value, &member, rule);
        }
        self.length(value, member, min, max);
    }

    /// Returns the error with all violations, if there are any.
    ///
    /// # Errors
    ///
    /// A validation error that lists up to ten violations.
    pub fn finish(self) -> Result<()> {
        match self.0.len() {
            0 => Ok(()),
            1 => Err(Error::validation(format!("1 validation error detected: {}", self.0[0]))),
            count => Err(Error::validation(format!(
                "{count} validation errors detected: {}",
                self.0.join("; ")
            ))),
        }
    }
}

/// Rule that a length violates; `None` if it is within the bounds.
fn broken(length: usize, min: usize, max: usize) -> Option<String> {
    if length < min {
        Some(format!("Member must have length greater than or equal to {min}"))
    } else if length > max {
        Some(format!("Member must have length less than or equal to {max}"))
    } else {
        None
    }
}

/// Error for a violated rule of meaning, with DynamoDB's usual prefix.
pub(super) fn invalid(message: impl Display) -> Error {
    Error::validation(format!("One or more parameter values were invalid: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_are_reported_in_one_error() {
        let mut found = Constraints::default();
        found.name("a!", "tableName", 3, 255);
        found.at_most(101, "limit", 100);
        assert_eq!(
            found.finish().unwrap_err().message(),
            "3 validation errors detected: \
             Value 'a!' at 'tableName' failed to satisfy constraint: \
             Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; \
             Value 'a!' at 'tableName' failed to satisfy constraint: \
             Member must have length greater than or equal to 3; \
             Value '101' at 'limit' failed to satisfy constraint: \
             Member must have value less than or equal to 100"
        );
    }

    #[test]
    fn violations_without_a_value_are_reported() {
        let mut found = Constraints::default();
        found.missing("key");
        found.count(0, None, "transactItems", 1, 100);
        found.count(0, Some(&"[]"), "keySchema", 1, 2);
        found.choice("HASH", "keyType", &["HASH", "RANGE"]);
        found.choice("X", "keyType", &["HASH", "RANGE"]);
        assert_eq!(
            found.finish().unwrap_err().message(),
            "4 validation errors detected: \
             Value null at 'key' failed to satisfy constraint: Member must not be null; \
             Value at 'transactItems' failed to satisfy constraint: \
             Member must have length greater than or equal to 1; \
             Value '[]' at 'keySchema' failed to satisfy constraint: \
             Member must have length greater than or equal to 1; \
             Value 'X' at 'keyType' failed to satisfy constraint: \
             Member must satisfy enum value set: [HASH, RANGE]"
        );
    }

    #[test]
    fn error_lists_at_most_ten_violations() {
        let mut found = Constraints::default();
        for value in 0..20 {
            found.at_least(-value - 1, "limit", 0);
        }
        let message = found.finish().unwrap_err().message().to_owned();
        assert!(message.starts_with("10 validation errors detected: "), "{message}");
    }
}
