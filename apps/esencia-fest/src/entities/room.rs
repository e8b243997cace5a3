//! Rooms: their state and their content.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tabla::entity::{Entity, UtcTime};

use super::{MAIN, RoomId};

/// State of a room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = MAIN,
    pk = "ROOM#STATUS",
    sk = "ROOM#{room_id}",
    created_at = created_at,
    updated_at = updated_at
)]
pub struct RoomStatus {
    #[entity(key_only)]
    pub room_id: RoomId,
    /// Scheduled opening.
    pub open_at: UtcTime,
    pub manual_override: ManualOverride,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub updated_at: UtcTime,
}

impl RoomStatus {
    /// Whether the room is open at this moment.
    pub fn is_open(&self, now: UtcTime) -> bool {
        match self.manual_override {
            ManualOverride::Automatic => now >= self.open_at,
            ManualOverride::Open => true,
            ManualOverride::Closed => false,
        }
    }
}

/// Decision of an administrator that overrides the schedule of a room. The attribute of
/// [`Automatic`](Self::Automatic) is NULL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ManualOverride {
    /// The room opens as scheduled.
    #[default]
    Automatic,
    Open,
    Closed,
}

/// Values that are not NULL.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Forced {
    Open,
    Closed,
}

impl Serialize for ManualOverride {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Automatic => serializer.serialize_none(),
            Self::Open => Forced::Open.serialize(serializer),
            Self::Closed => Forced::Closed.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ManualOverride {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Option::<Forced>::deserialize(deserializer)? {
            None => Self::Automatic,
            Some(Forced::Open) => Self::Open,
            Some(Forced::Closed) => Self::Closed,
        })
    }
}

/// Version of the content of a room. Keys of versions do not sort as their numbers do, and nothing
/// reads them in order. Only the version that is shown is in `GSI1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = MAIN,
    pk = "ROOM#{room_id}",
    sk = "CONTENT#v{version:unordered}",
    index(GSI1, query = shown, pk = "CONTENT#ACTIVE", sk = "{room_id}", when = active_since)
)]
pub struct RoomContent {
    #[entity(key_only)]
    pub room_id: RoomId,
    /// From 1.
    #[entity(key_only)]
    pub version: u32,
    /// Kind of content, such as `video`.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub vimeo_url: String,
    /// Scheduled opening of the room when this version was written.
    pub open_at: UtcTime,
    /// Since when the version is shown; `None` if another one is shown.
    pub active_since: Option<UtcTime>,
}
