//! The table and its entities.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id, TableDesign, UtcTime};

/// The table `Gamificacion`. What it is called in an environment is the database's to say
/// ([`Db::rename`](tabla::entity::Db::rename)).
pub static GAMIFICACION: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("Gamificacion")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .index("GSI2", "GSI2PK", "GSI2SK")
        .index("GSI3", "GSI3PK", "GSI3SK")
        .index("GSI4", "GSI4PK", "GSI4SK")
        .ttl("expiresAt")
});

/// Who a user is. The code is theirs alone, and finds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = GAMIFICACION,
    tag("entityType" = "profile"),
    pk = "USER#{user_id}",
    sk = "PROFILE",
    index(GSI1, pk = "USERCODE#{user_code}", sk = "USER#{user_id}"),
    unique(user_code, pk = "USERCODE#{user_code}", sk = "UNIQUE"),
    created_at = created_at,
    updated_at = updated_at
)]
pub struct Profile {
    /// Who.
    #[entity(key_only)]
    pub user_id: Id,
    /// The code that others know the user by.
    pub user_code: Id,
    /// What the user is called.
    pub name: String,
    /// The user's own level.
    pub level: Id,
    /// Where to write to.
    pub email: Option<String>,
    /// Since when the user is being deleted. Nothing can be added to one who is.
    pub leaving: Option<UtcTime>,
    /// Since when.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
}

/// The figures at the top of a user's panel. They are kept by the writes that they count.
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
    /// Whose.
    #[entity(key_only)]
    pub user_id: Id,
    /// The points that were awarded.
    pub points: u64,
    /// How many goals were completed.
    pub completed_goals: u64,
    /// How many members the network has.
    pub network_size: u64,
    /// Since when.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
}

/// What a user wants to reach.
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
    /// Whose.
    #[entity(key_only)]
    pub user_id: Id,
    /// Which.
    #[entity(key_only)]
    pub goal_id: Id,
    /// What it is called.
    pub title: String,
    /// How far it is: the store cannot compare two fields, so that one of them has to stay.
    #[entity(immutable)]
    pub target: u64,
    /// How far the user is; it only grows, beyond the target too.
    pub progress: u64,
    /// Whether it was completed, and counted.
    pub done: bool,
    /// Since when.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
}

/// A product of a user: found by its badge while it has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = GAMIFICACION,
    tag("entityType" = "product"),
    pk = "USER#{user_id}",
    sk = "PRODUCT#{product_id}",
    index(GSI4, pk = "BADGE#{badge}", sk = "USER#{user_id}#PRODUCT#{product_id}"),
    created_at = created_at,
    updated_at = updated_at
)]
pub struct Product {
    /// Whose.
    #[entity(key_only)]
    pub user_id: Id,
    /// Which.
    #[entity(key_only)]
    pub product_id: Id,
    /// What it is called.
    pub name: String,
    /// What it is marked with.
    pub badge: Option<Id>,
    /// What it is worth.
    pub points: u64,
    /// Since when.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
}

/// What is shown first on a user's panel.
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
    /// Whose.
    #[entity(key_only)]
    pub user_id: Id,
    /// Which.
    #[entity(key_only)]
    pub featured_id: Id,
    /// What it says.
    pub title: String,
    /// The product that it is about.
    pub product_id: Option<Id>,
    /// Since when.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
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
    index(GSI2, pk = "LEVEL#{level}", sk = "USER#{user_id}#MEMBER#{member_id}"),
    index(GSI3, pk = "STATUS#{status}", sk = "USER#{user_id}#MEMBER#{member_id}"),
    created_at = created_at,
    updated_at = updated_at
)]
pub struct NetworkMember {
    /// In whose network.
    #[entity(key_only)]
    pub user_id: Id,
    /// Who.
    #[entity(key_only)]
    pub member_id: Id,
    /// What the member is called.
    pub name: String,
    /// The member's level, such as `ORO`: there are a few, which the document does not list.
    #[entity(values = 8)]
    pub level: Id,
    /// The member's status, such as `ACTIVO`: there are a few, too.
    #[entity(values = 4)]
    pub status: Id,
    /// What the member says of themselves.
    pub bio: Option<String>,
    /// A member since.
    pub joined_at: UtcTime,
    /// Since when it is known here.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
}

/// How far the upload of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssetStatus {
    /// It may arrive, or expire.
    Pending,
    /// It is there.
    Ready,
}

/// What is known of a file, and to what it belongs.
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
    /// Which.
    #[entity(key_only)]
    pub asset_id: Id,
    /// Whose.
    pub user_id: Id,
    /// The product that it shows.
    pub product_id: Option<Id>,
    /// What is shown first and has it as its picture.
    pub featured_id: Option<Id>,
    /// The name of the file in the bucket.
    pub object_key: String,
    /// What kind of file it is.
    pub content_type: String,
    /// How many bytes it has.
    pub size: u64,
    /// Whether it is there.
    pub status: AssetStatus,
    /// When it goes, while it is pending; in seconds.
    pub expires_at: Option<u64>,
    /// Since when.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
}

impl Asset {
    /// Whether it has expired, be it still stored or not.
    pub fn is_expired(&self, now: UtcTime) -> bool {
        self.expires_at.is_some_and(|end| end <= now.as_secs())
    }
}

/// A file among those of its user. It says what the file belongs to, so that the files of a product
/// need not be read one by one.
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
    /// Whose.
    #[entity(key_only)]
    pub user_id: Id,
    /// Which.
    #[entity(key_only)]
    pub asset_id: Id,
    /// The product that it shows.
    pub product_id: Option<Id>,
    /// What is shown first and has it as its picture.
    pub featured_id: Option<Id>,
    /// Since when.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
}

tabla::collection! {
    /// Everything about a user, as their panel shows it.
    pub struct Panel {
        /// Who.
        pub profile: Option<Profile>,
        /// The figures at the top.
        pub dashboard: Option<Dashboard>,
        /// What the user wants to reach.
        pub goals: Vec<Goal>,
        /// The user's products.
        pub products: Vec<Product>,
        /// What is shown first.
        pub featured: Vec<Featured>,
        /// The members of the network.
        pub network: Vec<NetworkMember>,
        /// The user's files.
        pub assets: Vec<AssetLink>,
    }
}
