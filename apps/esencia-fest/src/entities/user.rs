//! Users.

use serde::{Deserialize, Serialize};
use tabla::entity::{Day, Entity, Id, UtcTime};

use super::{Email, MAIN, RoomId};

/// User, by e-mail address; in `GSI1` by country and day of registration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = MAIN,
    pk = "USER#{email}",
    sk = "PROFILE",
    index(GSI1, query = by_country, pk = "USER#{country}", sk = "{created_at:as Day}")
)]
pub struct User {
    #[entity(key_only)]
    pub email: Email,
    pub name: String,
    pub country: Id,
    /// Such as `visitor` or `admin`.
    pub role: Id,
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// Completed rooms, in the order of completion.
    pub progress: Vec<RoomId>,
}
