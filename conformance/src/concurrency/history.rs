//! A recorded operation.

use serde::{Deserialize, Serialize};

use super::model::{Action, Condition, ModelOperation, Outcome, Row, Verdict};

/// An operation as it was called and answered.
///
/// The call was made after the tick `called`, the answer was there before the tick `answered`.
/// One operation came before another in real time if it was answered before the other was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Who called.
    pub task: usize,
    /// The tick before the call.
    pub called: u64,
    /// The tick after the answer.
    pub answered: u64,
    /// What was asked.
    pub operation: ModelOperation,
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

    /// The tags that items had at some time, by what the answer says.
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

    /// The tags that it gives to items if it is carried out.
    pub(super) fn tags_written(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.operation.writes().iter().filter_map(|write| match write.action {
            Action::Put(Row { tag, .. }) | Action::Update { tag, .. } => Some((write.key, tag?)),
            Action::Delete | Action::Check => None,
        })
    }
}
