//! The table and its entities.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id, TableDesign, UtcTime};
use tabla::ops::StreamViewType;

/// The table `branding`. Its stream shows the drafts that have been archived.
pub static BRANDING: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("branding")
        .key("PK", "SK")
        .ttl("timeToArchive")
        .stream(StreamViewType::OldImage)
        .recovery()
});

/// A business, and how many themes it has had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = BRANDING,
    tag("type" = "BUSINESS"),
    pk = "BUS#{business_id}",
    sk = "META",
    created_at = created_at,
    updated_at = updated_at
)]
pub struct Business {
    /// Which.
    #[entity(key_only)]
    pub business_id: Id,
    /// What it is called.
    pub name: Option<String>,
    /// The number of its newest theme. Numbers are never given out twice, not even that of a draft
    /// that is gone.
    pub last_version: u32,
    /// When it was first heard of.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
}

/// What a theme is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// May change, and may go.
    Draft,
    /// Was published once, and never changes again.
    Published,
}

/// A theme of a business.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = BRANDING,
    tag("type" = "THEME"),
    pk = "BUS#{business_id}",
    sk = "THEME#{version:08}",
    updated_at = updated_at,
    revision = revision,
    ttl = time_to_archive
)]
pub struct Theme {
    /// Whose.
    #[entity(key_only)]
    pub business_id: Id,
    /// Its number.
    pub version: u32,
    /// What it is.
    pub status: Status,
    /// Colours, typography and the like.
    pub metadata: BTreeMap<String, String>,
    /// The assets that it uses.
    pub assets: Vec<AssetRef>,
    /// When it last changed.
    pub updated_at: UtcTime,
    /// How often it was written: two who edit it notice each other.
    pub revision: u32,
    /// When it goes, if it is a draft that nobody wants any more; in seconds.
    pub time_to_archive: Option<u64>,
}

/// Which theme of a business is published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = BRANDING,
    tag("type" = "PUBLISHED_MARKER"),
    pk = "BUS#{business_id}",
    sk = "PUBLISHED",
    updated_at = updated_at
)]
pub struct Marker {
    /// Whose.
    #[entity(key_only)]
    pub business_id: Id,
    /// The theme.
    pub version: u32,
    /// Since when.
    pub published_at: UtcTime,
    /// By whom.
    pub published_by: Id,
    /// When it last changed.
    pub updated_at: UtcTime,
}

/// What an asset is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssetKind {
    /// A logo.
    Logo,
    /// A banner.
    Banner,
    /// An icon.
    Icon,
}

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = BRANDING,
    tag("type" = "ASSET"),
    pk = "ASSET#{asset_id}",
    sk = "META",
    updated_at = updated_at
)]
pub struct Asset {
    /// Which.
    #[entity(key_only)]
    pub asset_id: Id,
    /// Whose.
    pub business_id: Id,
    /// What.
    pub asset_type: AssetKind,
    /// Where the file is.
    pub uri: String,
    /// What it adds up to.
    pub checksum: String,
    /// When it last changed.
    pub updated_at: UtcTime,
}

/// An asset among those of its business.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = BRANDING, tag("type" = "ASSET_LINK"), pk = "BUS#{business_id}", sk = "ASSET#{asset_id}")]
pub struct AssetLink {
    /// Whose.
    #[entity(key_only)]
    pub business_id: Id,
    /// Which.
    #[entity(key_only)]
    pub asset_id: Id,
    /// What it is for.
    pub scope: String,
}

/// A reference to an asset: the partition key that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetRef(pub Id);

impl Serialize for AssetRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let key = AssetKey { asset_id: self.0.clone() };
        let text = Asset::partition_text(&key).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for AssetRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let key = Asset::of_partition_text(&text).map_err(serde::de::Error::custom)?;
        Ok(Self(key))
    }
}

impl Asset {
    fn partition_text(key: &AssetKey) -> tabla::Result<String> {
        let text = Asset::design().partition.template().and_then(|template| {
            template.render(&|name| tabla::entity::EntityKey::field(key, name)).transpose()
        });
        text.unwrap_or_else(|| Err(tabla::Error::validation("an asset has no key")))
    }

    fn of_partition_text(text: &str) -> tabla::Result<Id> {
        let template = Asset::design().partition.template();
        let values = match template {
            Some(template) => template.read(text)?,
            None => Vec::new(),
        };
        match values.first() {
            Some((_, value)) => value.to_struct(),
            None => Err(tabla::Error::validation("a reference to an asset names none")),
        }
    }
}
