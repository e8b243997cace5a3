//! Log of moderators.

use serde::{Deserialize, Serialize};
use tabla::Map;
use tabla::entity::{Day, Entity, Id, UtcTime};

use super::{MAIN, Status};

/// Action of a moderator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Ban,
    Restore,
    Delete,
}

impl Action {
    /// Action that leads to a status.
    pub fn towards(status: Status) -> Self {
        match status {
            Status::Active => Self::Restore,
            Status::Banned => Self::Ban,
            Status::Deleted => Self::Delete,
        }
    }

    /// Status after the action.
    pub fn result(self) -> Status {
        match self {
            Self::Restore => Status::Active,
            Self::Ban => Status::Banned,
            Self::Delete => Status::Deleted,
        }
    }

    /// Whether a post or comment with this status allows the action: a ban needs the status active,
    /// a deletion any but deleted, a restoration any but active.
    pub fn is_possible(self, status: Status) -> bool {
        match self {
            Self::Ban => status == Status::Active,
            Self::Delete => status != Status::Deleted,
            Self::Restore => status != Status::Active,
        }
    }
}

/// Kind of target of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetType {
    Post,
    Comment,
}

/// Action that a moderator took, in the partition of its day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "MODLOG#{date}", sk = "{timestamp}#{admin_id}#{action_id}")]
pub struct ModerationLog {
    /// Day of `timestamp`: [`ModerationLog::at`] sets both.
    #[entity(key_only)]
    pub date: Day,
    #[entity(key_only)]
    pub timestamp: UtcTime,
    pub admin_id: Id,
    #[entity(key_only)]
    pub action_id: Id,
    pub action: Action,
    pub target_type: TargetType,
    pub target_id: Id,
    pub reason: String,
    /// Text of the target at that moment.
    pub original_content: Option<String>,
    /// Author of the target (`userId`) and its post (`postId`).
    pub metadata: Map,
}

impl ModerationLog {
    /// The entry with this moment and its day.
    #[must_use]
    pub fn at(self, timestamp: UtcTime) -> Self {
        Self { timestamp, date: timestamp.day(), ..self }
    }
}
