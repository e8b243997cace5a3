//! What visitors did.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tabla::Map;
use tabla::entity::{Day, Entity, Id, UtcTime};

use super::{ACTIVITY_LOGS, Email, RoomId};

/// How long an event is kept: 90 days.
pub const KEPT: Duration = Duration::from_secs(90 * 86_400);

/// What a visitor did, in the table of its month, in one of ten partitions of the visitor; in
/// `GSI1` by country and day, if the country is known, in ten partitions too. The shard is that of
/// the event's id, so that an event that is written twice is written to one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = ACTIVITY_LOGS,
    pk = "USER#{user_id}{event_id:shard 10}",
    sk = "{timestamp}#{event_id}",
    index(
        GSI1,
        pk = "COUNTRY#{country}#{timestamp:as Day}{event_id:shard 10}",
        sk = "{timestamp}#{event_id}"
    ),
    ttl = ttl
)]
pub struct ActivityLog {
    /// Who.
    #[entity(key_only)]
    pub user_id: Email,
    /// When.
    #[entity(key_only)]
    pub timestamp: UtcTime,
    /// Which of those of one second.
    #[entity(key_only)]
    pub event_id: Id,
    /// What.
    pub action: String,
    /// In which room, if in any.
    pub sala_id: Option<RoomId>,
    /// From where, if that is known.
    pub country: Option<Id>,
    /// Whatever else there is to say.
    pub metadata: Map,
    /// When it may go, in seconds: [`KEPT`] after `timestamp`.
    pub ttl: u64,
}
