//! Users.

use serde::{Deserialize, Serialize};
use tabla::entity::{Day, Entity, Id, UtcTime};

use super::{Email, MAIN, RoomId};

/// A user, by their address; in `GSI1` by country and by the day on which they came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = MAIN,
    pk = "USER#{email}",
    sk = "PROFILE",
    index(GSI1, pk = "USER#{country}", sk = "{created_at:as Day}")
)]
pub struct User {
    /// Who.
    #[entity(key_only)]
    pub email: Email,
    /// What they are called.
    pub name: String,
    /// Where they are from.
    pub country: Id,
    /// What they may do.
    pub role: Id,
    /// When they registered.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// The rooms that they have completed, in the order in which they did.
    pub progress: Vec<RoomId>,
}
