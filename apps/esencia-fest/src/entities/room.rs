//! Rooms: whether they are open, and what is in them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tabla::entity::{Entity, UtcTime};

use super::{MAIN, RoomId};

/// Whether a room is open.
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
    /// Which.
    #[entity(key_only)]
    pub room_id: RoomId,
    /// When it opens by itself.
    pub open_at: UtcTime,
    /// What an administrator has decided instead.
    pub manual_override: ManualOverride,
    /// When it was first scheduled.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
}

impl RoomStatus {
    /// Whether it is open at this moment.
    pub fn is_open(&self, now: UtcTime) -> bool {
        match self.manual_override {
            ManualOverride::Automatic => now >= self.open_at,
            ManualOverride::Open => true,
            ManualOverride::Closed => false,
        }
    }
}

/// What an administrator has decided about a room. As long as nothing is, the attribute is NULL:
/// it is there, without a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ManualOverride {
    /// Nothing: it opens by itself.
    #[default]
    Automatic,
    /// It is open.
    Open,
    /// It is closed.
    Closed,
}

/// The values that are not NULL.
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

/// A version of what is in a room. Versions do not sort as their numbers do, and nothing reads them
/// in order: the one that is shown is found through `GSI1`, where only it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = MAIN,
    pk = "ROOM#{room_id}",
    sk = "CONTENT#v{version:unordered}",
    index(GSI1, pk = "CONTENT#ACTIVE", sk = "{room_id}", when = active_since)
)]
pub struct RoomContent {
    /// Where.
    #[entity(key_only)]
    pub room_id: RoomId,
    /// Its number, from 1 on.
    #[entity(key_only)]
    pub version: u32,
    /// What kind of content it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is called.
    pub title: String,
    /// Where the film is.
    pub vimeo_url: String,
    /// When the room opened by itself, when this was written.
    pub open_at: UtcTime,
    /// Since when it is shown; it has no value once another version is.
    pub active_since: Option<UtcTime>,
}
