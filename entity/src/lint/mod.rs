//! What is wrong with a design, found before it runs.

mod calls;
mod declarations;
mod entities;
mod indexes;

use std::fmt;

use super::AppDesign;

pub use self::entities::FEW_PARTITIONS;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A key condition that the store refuses, such as one on a partition key that is not equality.
    KeyCondition,
    /// A sort key that sorts numbers as text, and a pattern that relies on its order.
    NumbersAsText,
    /// A pattern that reads a whole table, and does not say so.
    Scan,
    /// An index that no pattern uses.
    UnusedIndex,
    /// A filter on an attribute of the key, where a condition belongs.
    FilterOnKey,
    /// An index that does not carry what a pattern reads.
    MissingAttribute,
    /// A declaration that does not fit the design.
    Declaration,
    /// Everything in one partition, or in a few ([`FEW_PARTITIONS`]).
    HotPartition,
    /// An index that carries everything where less would do.
    WideProjection,
    /// An item collection that grows for ever.
    UnboundedCollection,
    /// A log whose entries stay for ever.
    LogWithoutTtl,
}

impl Rule {
    /// Whether it is an error; the others are warnings.
    pub fn is_error(self) -> bool {
        !matches!(
            self,
            Self::HotPartition
                | Self::WideProjection
                | Self::UnboundedCollection
                | Self::LogWithoutTtl
        )
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::KeyCondition => "key-condition",
            Self::NumbersAsText => "numbers-as-text",
            Self::Scan => "scan",
            Self::UnusedIndex => "unused-index",
            Self::FilterOnKey => "filter-on-key",
            Self::MissingAttribute => "missing-attribute",
            Self::Declaration => "declaration",
            Self::HotPartition => "hot-partition",
            Self::WideProjection => "wide-projection",
            Self::UnboundedCollection => "unbounded-collection",
            Self::LogWithoutTtl => "log-without-ttl",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// By which rule.
    pub rule: Rule,
    /// In what: a pattern, an entity or an index.
    pub subject: String,
    /// What is wrong, and what to do.
    pub message: String,
    /// Why the app takes it, if it does.
    pub accepted: Option<&'static str>,
}

/// A warning that an app takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accepted {
    /// The rule.
    pub rule: Rule,
    /// In what: a pattern, an entity or an index.
    pub subject: &'static str,
    /// Why.
    pub reason: &'static str,
}

impl Accepted {
    /// Acceptance of this rule's warning about this pattern, entity or index.
    pub const fn new(rule: Rule, subject: &'static str, reason: &'static str) -> Self {
        Self { rule, subject, reason }
    }
}

impl Finding {
    fn new(rule: Rule, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule, subject: subject.into(), message: message.into(), accepted: None }
    }

    /// Whether the design must not be used so.
    pub fn is_error(&self) -> bool {
        self.rule.is_error()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.subject, self.rule, self.message)
    }
}

/// Checks a design. Errors come first.
pub fn check(design: &AppDesign) -> Vec<Finding> {
    let mut findings = declarations::check(design);
    findings.extend(calls::check(design));
    findings.extend(indexes::check(design));
    findings.extend(design.entities.iter().flat_map(|entity| entities::check(entity)));
    for finding in &mut findings {
        let is_it = |accepted: &&Accepted| {
            accepted.rule == finding.rule && accepted.subject == finding.subject
        };
        if !finding.rule.is_error() {
            finding.accepted = design.accepted.iter().find(is_it).map(|accepted| accepted.reason);
        }
    }
    findings.sort_by_key(|finding| (!finding.is_error(), finding.accepted.is_some()));
    findings
}
