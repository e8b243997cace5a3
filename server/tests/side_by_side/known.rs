//! Known differences between the server and DynamoDB Local, each with its reason.
//!
//! The reference is AWS: its documentation, and where that is silent, recorded responses
//! (dynalite's tests, which ran against AWS, and the captures of the suite at paritysuite.org).
//! DynamoDB Local is the implementation that a test can run.

mod bodies;
mod shape;
mod types;
mod words;

use super::same::Difference;
use crate::operation::Operation;

/// Known kind of difference. In its patterns, `*` matches any text.
#[derive(Debug)]
pub(crate) struct Known {
    what: What,
    /// Reason why the difference is accepted.
    #[expect(dead_code, reason = "shown by Debug")]
    why: &'static str,
    /// Whether every complete run has such a difference.
    pub(crate) is_usual: bool,
}

#[derive(Debug)]
enum What {
    /// Patterns of the outcome on the server and on DynamoDB Local.
    Outcome(&'static str, &'static str),
    /// Member of the request whose constraint the server reports, and the pattern of the outcome on
    /// DynamoDB Local.
    Constraint(&'static str, &'static str),
    /// Member of the responses of some operations.
    Member(&'static [Operation], &'static str),
    /// Number in the responses of some operations: its value on the server, and on DynamoDB Local.
    Number(&'static [Operation], &'static str, f64, f64),
}

/// Reason, with patterns of outcomes on the server and on DynamoDB Local.
type Pairs = (&'static str, &'static [(&'static str, &'static str)]);
/// Reason, with operations and members of their responses.
type Paths = (&'static str, &'static [Operation], &'static [&'static str]);

/// Reason, with operations, a member of their responses, and its values on both servers.
type Numbers = (&'static str, &'static [Operation], &'static str, &'static [(f64, f64)]);

/// Returns all known differences.
pub(crate) fn known() -> Vec<Known> {
    let mut known = Vec::new();
    let usual = types::PAIRS.iter().chain(words::PAIRS).map(|pairs| (pairs, true));
    for ((why, pairs), is_usual) in usual.chain(words::RARE.iter().map(|pairs| (pairs, false))) {
        for (ours, theirs) in *pairs {
            known.push(Known { what: What::Outcome(ours, theirs), why, is_usual });
        }
    }
    for (member, texts) in shape::TEXTS {
        for theirs in *texts {
            known.push(Known {
                what: What::Constraint(member, theirs),
                why: shape::WHY,
                is_usual: true,
            });
        }
    }
    for (why, operations, paths) in bodies::PATHS {
        for path in *paths {
            known.push(Known { what: What::Member(operations, path), why, is_usual: true });
        }
    }
    for (why, operations, path, pairs) in bodies::RARE_NUMBERS {
        for (ours, theirs) in *pairs {
            let what = What::Number(operations, path, *ours, *theirs);
            known.push(Known { what, why, is_usual: false });
        }
    }
    known
}

impl Known {
    /// Whether the difference is of this kind.
    pub(crate) fn covers(&self, operation: Operation, difference: &Difference) -> bool {
        match (&self.what, difference) {
            (What::Outcome(ours, theirs), Difference::Outcome { ours: our, theirs: their }) => {
                fits(ours, our) && fits(theirs, their)
            }
            (What::Constraint(member, theirs), Difference::Outcome { ours, theirs: their }) => {
                broken_members(ours).any(|found| fits(member, found)) && fits(theirs, their)
            }
            (What::Member(operations, path), Difference::Member { path: found, .. }) => {
                operations.contains(&operation) && fits(path, found)
            }
            (
                What::Number(operations, path, ours, theirs),
                Difference::Member { path: found, ours: our, theirs: their },
            ) => {
                operations.contains(&operation)
                    && fits(path, found)
                    && our.as_f64() == Some(*ours)
                    && their.as_f64() == Some(*theirs)
            }
            _ => false,
        }
    }
}

/// Returns the members whose constraints an error reports.
pub(crate) fn broken_members(outcome: &str) -> impl Iterator<Item = &str> {
    let list = outcome.strip_prefix("ValidationException: ").and_then(|list| {
        let (count, list) = list.split_once(" detected: ")?;
        count.contains(" validation error").then_some(list)
    });
    let parts = list.unwrap_or_default().split("; ");
    parts.filter_map(|part| {
        let (before, _) = part.split_once("' failed to satisfy constraint: ")?;
        before.rsplit_once(" at '").map(|(_, member)| member)
    })
}

/// Whether a text matches a pattern.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    after.is_empty()
        || rest.char_indices().any(|(at, _)| fits(after, &rest[at..]))
        || fits(after, "")
}
