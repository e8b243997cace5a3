//! The table and its entities.

#![allow(missing_docs)]

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id, TableDesign, UtcTime};

/// Table `Gamificacion`. [`Db::rename`](tabla::entity::Db::rename) sets its name in an environment.
pub static GAMIFICACION: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("Gamificacion")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .index("GSI2", "GSI2PK", "GSI2SK")
        .index("GSI3", "GSI3PK", "GSI3SK")
        .index("GSI4", "GSI4PK", "GSI4SK")
        .ttl("expiresAt")
});

/// A user, with a unique code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = GAMIFICACION,
    tag("entityType" = "profile"),
    pk = "USER#{user_id}",
    sk = "PROFILE",
    index(GSI1, query = by_code, pk = "USERCODE#{user_code}", sk = "USER#{user_id}"),
    unique(user_code, pk = "USERCODE#{user_code}", sk = "UNIQUE"),
    created_at = created_at,
    updated_at = updated_at
)]
pub struct Profile {
    #[entity(key_only)]
    pub user_id: Id,
    pub user_code: Id,
    #[serde(default)]
    pub name: String,
    pub level: Id,
    pub email: Option<String>,
    /// Start of the user's deletion. While it is set, nothing can be added to the user.
    pub leaving: Option<UtcTime>,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub updated_at: UtcTime,
}

/// Totals of a user's panel, updated in the transaction that writes the counted item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = GAMIFICACION,
    tag("entityType" = "dashboard"),
    pk = "USER#{user_id}",
    sk = "DASHBOARD",
    created_at = created_at,
    updated_at = updated_at
)]
pub struct Dashboard {
    #[entity(key_only)]
    pub user_id: Id,
    #[serde(default)]
    pub points: u64,
    #[serde(default)]
    pub completed_goals: u64,
    /// Number of members of the network.
    #[serde(default)]
    pub network_size: u64,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub updated_at: UtcTime,
}

/// A goal of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = GAMIFICACION,
    tag("entityType" = "goal"),
    pk = "USER#{user_id}",
    sk = "GOAL#{goal_id}",
    created_at = created_at,
    updated_at = updated_at
)]
pub struct Goal {
    #[entity(key_only)]
    pub user_id: Id,
    #[entity(key_only)]
    pub goal_id: Id,
    #[serde(default)]
    pub title: String,
    /// Progress at which the goal is reached. It is immutable because a condition cannot compare
    /// two attributes.
    #[entity(immutable)]
    pub target: u64,
    /// Progress so far. It only grows, and may exceed the target.
    pub progress: u64,
    /// Whether the goal is completed and counted on the dashboard.
    pub done: bool,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub updated_at: UtcTime,
}

/// A product of a user, in GSI4 while it has a badge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = GAMIFICACION,
    tag("entityType" = "product"),
    pk = "USER#{user_id}",
    sk = "PRODUCT#{product_id}",
    index(GSI4, query = by_badge, pk = "BADGE#{badge}", sk = "USER#{user_id}#PRODUCT#{product_id}"),
    created_at = created_at,
    updated_at = updated_at
)]
pub struct Product {
    #[entity(key_only)]
    pub user_id: Id,
    #[entity(key_only)]
    pub product_id: Id,
    #[serde(default)]
    pub name: String,
    pub badge: Option<Id>,
    #[serde(default)]
    pub points: u64,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub updated_at: UtcTime,
}

/// A featured entry at the top of a user's panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = GAMIFICACION,
    tag("entityType" = "featured"),
    pk = "USER#{user_id}",
    sk = "FEATURED#{featured_id}",
    created_at = created_at,
    updated_at = updated_at
)]
pub struct Featured {
    #[entity(key_only)]
    pub user_id: Id,
    #[entity(key_only)]
    pub featured_id: Id,
    #[serde(default)]
    pub title: String,
    /// Product that the entry advertises.
    pub product_id: Option<Id>,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub updated_at: UtcTime,
}

/// A member of a user's network, found by level and by status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = GAMIFICACION,
    tag("entityType" = "network"),
    pk = "USER#{user_id}",
    sk = "NETWORK#{member_id}",
    index(GSI2, query = by_level, pk = "LEVEL#{level}", sk = "USER#{user_id}#MEMBER#{member_id}"),
    index(
        GSI3,
        query = by_status,
        pk = "STATUS#{status}",
        sk = "USER#{user_id}#MEMBER#{member_id}"
    ),
    created_at = created_at,
    updated_at = updated_at
)]
pub struct NetworkMember {
    /// Owner of the network.
    #[entity(key_only)]
    pub user_id: Id,
    #[entity(key_only)]
    pub member_id: Id,
    #[serde(default)]
    pub name: String,
    /// Level, such as `ORO`. The document lists no levels; 8 is an estimate for the lint.
    #[entity(values = 8)]
    pub level: Id,
    /// Status, such as `ACTIVO`. The document lists no statuses; 4 is an estimate for the lint.
    #[entity(values = 4)]
    pub status: Id,
    pub bio: Option<String>,
    pub joined_at: UtcTime,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub updated_at: UtcTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssetStatus {
    /// The file is awaited until the asset expires.
    Pending,
    /// The upload is confirmed.
    Ready,
}

/// Metadata of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = GAMIFICACION,
    tag("entityType" = "asset"),
    pk = "ASSET#{asset_id}",
    sk = "METADATA",
    created_at = created_at,
    updated_at = updated_at,
    ttl = expires_at
)]
pub struct Asset {
    #[entity(key_only)]
    pub asset_id: Id,
    /// Owner of the file.
    pub user_id: Id,
    /// Product that the file shows.
    pub product_id: Option<Id>,
    /// Featured entry that the file is the picture of.
    pub featured_id: Option<Id>,
    /// Key of the object in the bucket.
    pub object_key: String,
    pub content_type: String,
    /// Size of the file in bytes.
    pub size: u64,
    pub status: AssetStatus,
    /// Expiry in seconds since 1970; only a pending asset has one.
    pub expires_at: Option<u64>,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub updated_at: UtcTime,
}

/// File to be uploaded. The fields are those of [`Asset`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub asset_id: Id,
    pub user_id: Id,
    pub product_id: Option<Id>,
    pub featured_id: Option<Id>,
    pub object_key: String,
    pub content_type: String,
    pub size: u64,
}

impl Asset {
    /// Whether the asset has expired. The store may not have deleted it yet.
    pub fn is_expired(&self, now: UtcTime) -> bool {
        self.expires_at.is_some_and(|end| end <= now.as_secs())
    }
}

/// A confirmed file in the partition of its user. It repeats `product_id` and `featured_id` of the
/// asset, so that the files of a product are found without a read of each asset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = GAMIFICACION,
    tag("entityType" = "assetLink"),
    pk = "USER#{user_id}",
    sk = "ASSET#{asset_id}",
    created_at = created_at,
    updated_at = updated_at
)]
pub struct AssetLink {
    #[entity(key_only)]
    pub user_id: Id,
    #[entity(key_only)]
    pub asset_id: Id,
    pub product_id: Option<Id>,
    pub featured_id: Option<Id>,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub updated_at: UtcTime,
}

tabla::collection! {
    /// Item collection of a user: everything that the panel shows.
    pub struct Panel {
        pub profile: Option<Profile>,
        pub dashboard: Option<Dashboard>,
        pub goals: Vec<Goal>,
        pub products: Vec<Product>,
        pub featured: Vec<Featured>,
        pub network: Vec<NetworkMember>,
        pub assets: Vec<AssetLink>,
    }
}
