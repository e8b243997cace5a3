//! Violations of a request's shape, collected as the service reports them.

use std::fmt::Display;

use crate::error::{Error, Result};

/// The most violations that one answer lists.
const REPORTED: usize = 10;

/// The characters of table and index names, as the service writes them.
const NAME_PATTERN: &str = "[a-zA-Z0-9_.-]+";

/// The violations found so far. The service checks the whole shape of a request before it looks
/// at its meaning, and answers all violations at once:
/// `2 validation errors detected: Value '…' at '…' failed to satisfy constraint: …; Value …`.
#[derive(Debug, Default)]
pub(super) struct Constraints(Vec<String>);

impl Constraints {
    /// Notes that the member with this value breaks this rule.
    pub(super) fn violated(
        &mut self,
        value: impl Display,
        member: impl Display,
        rule: impl Display,
    ) {
        if self.0.len() < REPORTED {
            self.0.push(format!(
                "Value '{value}' at '{member}' failed to satisfy constraint: {rule}"
            ));
        }
    }

    /// Checks the length in bytes of a text.
    pub(super) fn length(&mut self, value: &str, member: impl Display, min: usize, max: usize) {
        if value.len() < min {
            self.violated(value, member, AtLeast(min));
        } else if value.len() > max {
            self.violated(value, member, AtMost(max));
        }
    }

    /// Checks that a number is not too small.
    pub(super) fn at_least(&mut self, value: i64, member: impl Display, min: i64) {
        if value < min {
            let rule = format_args!("Member must have value greater than or equal to {min}");
            self.violated(value, member, rule);
        }
    }

    /// Checks that a number is not too great.
    pub(super) fn at_most(&mut self, value: i64, member: impl Display, max: i64) {
        if value > max {
            let rule = format_args!("Member must have value less than or equal to {max}");
            self.violated(value, member, rule);
        }
    }

    /// Checks the characters of a table or index name, then its length.
    pub(super) fn name(&mut self, value: &str, member: impl Display, min: usize, max: usize) {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if !value.is_empty() && !value.chars().all(allowed) {
            let rule =
                format_args!("Member must satisfy regular expression pattern: {NAME_PATTERN}");
            self.violated(value, &member, rule);
        }
        self.length(value, member, min, max);
    }

    /// All is well, or the error that lists the violations.
    pub(super) fn finish(self) -> Result<()> {
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

/// The rule of a least length.
pub(super) struct AtLeast(pub(super) usize);

/// The rule of a greatest length.
pub(super) struct AtMost(pub(super) usize);

impl Display for AtLeast {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Member must have length greater than or equal to {}", self.0)
    }
}

impl Display for AtMost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Member must have length less than or equal to {}", self.0)
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
    fn no_more_than_ten_are_listed() {
        let mut found = Constraints::default();
        for value in 0..20 {
            found.at_least(-value - 1, "limit", 0);
        }
        let message = found.finish().unwrap_err().message().to_owned();
        assert!(message.starts_with("10 validation errors detected: "), "{message}");
    }
}
