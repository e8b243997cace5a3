//! Violations of a request's shape, collected as the service reports them.

use std::fmt::Display;

use crate::error::{Error, Result};

/// The most violations that one answer lists.
const REPORTED: usize = 10;

/// The characters of table and index names, as the service writes them.
const NAME_PATTERN: &str = "[a-zA-Z0-9_.-]+";

/// Violations of a request's shape, found so far. The service checks the whole shape of a request
/// before it looks at its meaning, and answers all violations at once, at most ten:
/// `2 validation errors detected: Value '…' at '…' failed to satisfy constraint: …; Value …`.
///
/// The service goes through the members of a structure in the order of a hash table of their names;
/// whoever notes violations keeps to that order.
#[derive(Debug, Default)]
pub struct Constraints(Vec<String>);

impl Constraints {
    /// Notes that the member with this value breaks this rule.
    pub fn violated(&mut self, value: impl Display, member: impl Display, rule: impl Display) {
        self.note(format_args!("Value '{value}'"), member, rule);
    }

    /// Notes that a member breaks this rule whose value is not shown: what it holds are items.
    /// AWS used to show them, by the address that they had in its memory.
    pub fn violated_unseen(&mut self, member: impl Display, rule: impl Display) {
        self.note("Value", member, rule);
    }

    /// Notes that a member is not there.
    pub fn missing(&mut self, member: impl Display) {
        self.note("Value null", member, "Member must not be null");
    }

    fn note(&mut self, value: impl Display, member: impl Display, rule: impl Display) {
        if !self.is_full() {
            self.0.push(format!("{value} at '{member}' failed to satisfy constraint: {rule}"));
        }
    }

    /// Notes the violations that were found in a part of the request, after those found so far.
    pub fn append(&mut self, part: Self) {
        let room = REPORTED - self.0.len();
        self.0.extend(part.0.into_iter().take(room));
    }

    /// Whether there are as many as one answer lists, so that more are of no use.
    pub fn is_full(&self) -> bool {
        self.0.len() >= REPORTED
    }

    /// Checks the length in bytes of a text.
    pub fn length(&mut self, value: &str, member: impl Display, min: usize, max: usize) {
        if let Some(rule) = broken(value.len(), min, max) {
            self.violated(value, member, rule);
        }
    }

    /// Checks how many elements a list or a map has; `shown` is its value, if that is shown.
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

    /// Checks that a number is not too small.
    pub fn at_least(&mut self, value: i64, member: impl Display, min: i64) {
        if value < min {
            let rule = format_args!("Member must have value greater than or equal to {min}");
            self.violated(value, member, rule);
        }
    }

    /// Checks that a number is not too great.
    pub fn at_most(&mut self, value: i64, member: impl Display, max: i64) {
        if value > max {
            let rule = format_args!("Member must have value less than or equal to {max}");
            self.violated(value, member, rule);
        }
    }

    /// Checks that a text is one of a few.
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

    /// All is well, or the error that lists the violations.
    ///
    /// # Errors
    ///
    /// A validation error, if there are any.
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

/// The rule about lengths that this one breaks.
fn broken(length: usize, min: usize, max: usize) -> Option<String> {
    if length < min {
        Some(format!("Member must have length greater than or equal to {min}"))
    } else if length > max {
        Some(format!("Member must have length less than or equal to {max}"))
    } else {
        None
    }
}

/// A rule of meaning that was broken, with the service's usual beginning.
pub(super) fn invalid(message: impl Display) -> Error {
    Error::validation(format!("One or more parameter values were invalid: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_violations_are_answered_together() {
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
    fn some_values_are_not_shown_and_some_not_there() {
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
    fn no_more_than_ten_are_listed() {
        let mut found = Constraints::default();
        for value in 0..20 {
            found.at_least(-value - 1, "limit", 0);
        }
        let message = found.finish().unwrap_err().message().to_owned();
        assert!(message.starts_with("10 validation errors detected: "), "{message}");
    }
}
