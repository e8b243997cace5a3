//! Entry of a recorded history.

use serde::{Deserialize, Serialize};

use super::model::{Action, Condition, ModelOperation, Outcome, Row, Verdict};

/// Recorded operation with its outcome.
///
/// The call began after the tick `called`, and its response arrived before the tick `answered`. One
/// operation precedes another in real time if it was answered before the other was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// Number of the task that called.
    pub task: usize,
    /// Tick before the call.
    pub called: u64,
    /// Tick after the response.
    pub answered: u64,
    /// Operation that was called.
    pub operation: ModelOperation,
    /// Outcome as recorded.
    pub outcome: Outcome,
}

impl Entry {
    /// Whether the outcome is unknown: if and when the operation took effect.
    pub fn is_unknown(&self) -> bool {
        matches!(self.outcome, Outcome::Unknown(_))
    }

    /// Whether the outcome says that the operation changed nothing.
    pub fn is_without_effect(&self) -> bool {
        matches!(self.outcome, Outcome::Read(_) | Outcome::Refused(_) | Outcome::NoEffect(_))
    }

    /// Tags that items had at some time according to the outcome, as (key, tag).
    pub(super) fn tags_seen(&self) -> Vec<(usize, u64)> {
        let mut seen = Vec::new();
        let mut see = |key: usize, row: &Option<Row>| {
            seen.extend(row.and_then(|row| row.tag).map(|tag| (key, tag)));
        };
        let writes = self.operation.writes();
        match &self.outcome {
            Outcome::Read(rows) => {
                for (key, row) in self.operation.keys().into_iter().zip(rows) {
                    see(key, row);
                }
            }
            Outcome::Written(returned) => {
                for write in writes {
                    see(write.key, returned);
                    if let Some(Condition::Tag(tag)) = write.condition {
                        see(write.key, &Some(Row::tagged(tag)));
                    }
                }
            }
            Outcome::Refused(verdicts) => {
                for (write, verdict) in writes.iter().zip(verdicts) {
                    if let Verdict::Failed(row) = verdict {
                        see(write.key, row);
                    }
                }
            }
            Outcome::NoEffect(_) | Outcome::Unknown(_) => {}
        }
        seen
    }

    /// Tags that the operation gives to items if it is executed, as (key, tag).
    pub(super) fn tags_written(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.operation.writes().iter().filter_map(|write| match write.action {
            Action::Put(Row { tag, .. }) | Action::Update { tag, .. } => Some((write.key, tag?)),
            Action::Delete | Action::Check => None,
        })
    }
}
