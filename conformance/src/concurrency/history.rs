//! A recorded operation, and the clock that orders it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::model::{Operation, Outcome};

/// An operation as it was called and answered.
///
/// The call was made after the tick `called`, the answer was there before the tick `answered`.
/// One operation came before another in real time if it was answered before the other was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who called.
    pub task: usize,
    /// The tick before the call.
    pub called: u64,
    /// The tick after the answer.
    pub answered: u64,
    /// What was asked.
    pub operation: Operation,
    /// What was answered.
    pub outcome: Outcome,
}

impl Entry {
    /// Whether the answer leaves open if, and when, it was carried out.
    pub fn is_unknown(&self) -> bool {
        matches!(self.outcome, Outcome::Unknown(_))
    }

    /// Whether it has changed nothing, for sure.
    pub fn is_without_effect(&self) -> bool {
        matches!(self.outcome, Outcome::Read(_) | Outcome::Refused(_) | Outcome::NoEffect(_))
    }
}

/// A logical clock that all tasks share: every tick is another number, and later ones are larger.
///
/// It orders calls and answers without reading the time, and a tick also serves as the tag of
/// what is written after it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ticks(Arc<AtomicU64>);

impl Ticks {
    /// The next number, from 1.
    pub(super) fn next(&self) -> u64 {
        // One total order of all ticks, which also orders what happens around them.
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}
