//! Activity log.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tabla::Map;
use tabla::entity::{Day, Entity, Id, UtcTime};

use super::{ACTIVITY_LOGS, Email, RoomId};

/// Time after which an event expires: 90 days.
pub const KEPT: Duration = Duration::from_secs(90 * 86_400);

/// Event of a visitor, in the table of its month and in one of the visitor's ten shards. If its
/// country is known, it is also in `GSI1`, in one of ten shards of the country and day. The id of the
/// event decides the shard, so that a second write of an event meets the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = ACTIVITY_LOGS,
    pk = "USER#{user_id}{event_id:shard 10}",
    sk = "{timestamp}#{event_id}",
    index(
        GSI1,
        query = by_country,
        pk = "COUNTRY#{country}#{timestamp:as Day}{event_id:shard 10}",
        sk = "{timestamp}#{event_id}"
    ),
    ttl = ttl
)]
pub struct ActivityLog {
    #[entity(key_only)]
    pub user_id: Email,
    #[entity(key_only)]
    pub timestamp: UtcTime,
    #[entity(key_only)]
    pub event_id: Id,
    pub action: String,
    pub sala_id: Option<RoomId>,
    pub country: Option<Id>,
    pub metadata: Map,
    /// Expiry, in seconds since 1970: [`KEPT`] after `timestamp`.
    pub ttl: u64,
}
