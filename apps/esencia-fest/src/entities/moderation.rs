//! What moderators did.

use serde::{Deserialize, Serialize};
use tabla::Map;
use tabla::entity::{Day, Entity, Id, UtcTime};

use super::{MAIN, Status};

/// What a moderator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Takes something away.
    Ban,
    /// Shows it again.
    Restore,
    /// Deletes it.
    Delete,
}

impl Action {
    /// The action that leads to a status.
    pub fn towards(status: Status) -> Self {
        match status {
            Status::Active => Self::Restore,
            Status::Banned => Self::Ban,
            Status::Deleted => Self::Delete,
        }
    }

    /// The status that it leads to.
    pub fn result(self) -> Status {
        match self {
            Self::Restore => Status::Active,
            Self::Ban => Status::Banned,
            Self::Delete => Status::Deleted,
        }
    }

    /// Whether it can be done to something of this status: what is active is banned, what is not
    /// deleted is deleted, what is not active is restored.
    pub fn is_possible(self, status: Status) -> bool {
        match self {
            Self::Ban => status == Status::Active,
            Self::Delete => status != Status::Deleted,
            Self::Restore => status != Status::Active,
        }
    }
}

/// What it was done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetType {
    /// A post.
    Post,
    /// A comment.
    Comment,
}

/// What a moderator did, in the partition of its day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "MODLOG#{date}", sk = "{timestamp}#{admin_id}#{action_id}")]
pub struct ModerationLog {
    /// The day of `timestamp`: [`ModerationLog::at`] sees to it.
    #[entity(key_only)]
    pub date: Day,
    /// When.
    #[entity(key_only)]
    pub timestamp: UtcTime,
    /// Who.
    pub admin_id: Id,
    /// Which of those of one second.
    #[entity(key_only)]
    pub action_id: Id,
    /// What.
    pub action: Action,
    /// To what kind of thing.
    pub target_type: TargetType,
    /// To which.
    pub target_id: Id,
    /// Why.
    pub reason: String,
    /// What it said then.
    pub original_content: Option<String>,
    /// Whose it was, where it was, and the like.
    pub metadata: Map,
}

impl ModerationLog {
    /// The same at this moment, on its day.
    #[must_use]
    pub fn at(self, timestamp: UtcTime) -> Self {
        Self { timestamp, date: timestamp.day(), ..self }
    }
}
