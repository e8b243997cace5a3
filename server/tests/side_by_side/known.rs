//! The differences that are known, each with its reason.
//!
//! What AWS answers is in its documentation, and where that is silent in what others have recorded:
//! dynalite's tests, which ran against AWS, and the captures of the suite at paritysuite.org.
//! DynamoDB Local is asked because it is there.

mod bodies;
mod shape;
mod types;
mod words;

use super::same::Difference;
use crate::operation::Operation;

/// A kind of difference. In its texts, `*` stands for anything.
#[derive(Debug)]
pub(crate) struct Known {
    what: What,
    /// Why it may be.
    #[expect(dead_code, reason = "it is shown with the rest")]
    why: &'static str,
    /// Whether every run has such a difference.
    pub(crate) is_usual: bool,
}

#[derive(Debug)]
enum What {
    /// What the server says, and what DynamoDB Local says.
    Outcome(&'static str, &'static str),
    /// A member of the request that breaks a constraint, as the server says, and what DynamoDB Local
    /// says.
    Constraint(&'static str, &'static str),
    /// A member of the answers to some operations.
    Member(&'static [Operation], &'static str),
    /// A number in the answers to some operations: what the server says, and DynamoDB Local.
    Number(&'static [Operation], &'static str, f64, f64),
}

/// A reason, and what the server and DynamoDB Local say.
type Pairs = (&'static str, &'static [(&'static str, &'static str)]);
/// A reason, some operations, and members of their answers.
type Paths = (&'static str, &'static [Operation], &'static [&'static str]);

/// A reason, some operations, a member of their answers, and what the server and DynamoDB Local say.
type Numbers = (&'static str, &'static [Operation], &'static str, &'static [(f64, f64)]);

/// All of them.
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
    /// Whether this is such a difference.
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

/// The members that break constraints, as an answer lists them.
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

/// Whether a text is what the pattern says.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    after.is_empty()
        || rest.char_indices().any(|(at, _)| fits(after, &rest[at..]))
        || fits(after, "")
}
