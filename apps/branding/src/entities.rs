//! Table `branding` and its entities. Attributes that the document's items lack have defaults.

#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, EntityKey, Id, TableDesign, UtcTime};
use tabla::item;
use tabla::ops::StreamViewType;

/// Table `branding`. Its stream carries the old images of expired drafts.
pub static BRANDING: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("branding")
        .key("PK", "SK")
        .ttl("timeToArchive")
        .stream(StreamViewType::OldImage)
        .recovery()
});

/// Business, and the version of its newest theme.
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
    #[entity(key_only)]
    pub business_id: Id,
    pub name: Option<String>,
    /// Largest version so far. Versions are not reused, not even that of an expired draft.
    #[serde(default)]
    pub last_version: u32,
    #[entity(immutable)]
    #[serde(default)]
    pub created_at: UtcTime,
    #[serde(default)]
    pub updated_at: UtcTime,
}

/// Status of a theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Can change and expire.
    Draft,
    /// Was published once, and never changes.
    Published,
}

/// Theme of a business.
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
    #[entity(key_only)]
    pub business_id: Id,
    pub version: u32,
    pub status: Status,
    /// Colours, typography and other settings, by name.
    pub metadata: BTreeMap<String, String>,
    pub assets: Vec<AssetRef>,
    pub updated_at: UtcTime,
    /// Number of writes, which detects concurrent edits.
    #[serde(default)]
    pub revision: u32,
    /// Expiry of a draft, in seconds since 1970.
    pub time_to_archive: Option<u64>,
}

/// Marker: names the published theme of a business.
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
    #[entity(key_only)]
    pub business_id: Id,
    pub version: u32,
    pub published_at: UtcTime,
    pub published_by: Id,
    #[serde(default)]
    pub updated_at: UtcTime,
}

/// Kind of an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssetKind {
    Logo,
    Banner,
    Icon,
}

/// Description of a file.
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
    #[entity(key_only)]
    pub asset_id: Id,
    pub business_id: Id,
    pub asset_type: AssetKind,
    /// Such as `s3://intrale-branding/assets/logo-123.png`.
    pub uri: String,
    /// Checksum of the file, such as `md5:abcdef`.
    pub checksum: String,
    pub updated_at: UtcTime,
}

/// Link to an asset in its business, for lists of its assets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = BRANDING, tag("type" = "ASSET_LINK"), pk = "BUS#{business_id}", sk = "ASSET#{asset_id}")]
pub struct AssetLink {
    #[entity(key_only)]
    pub business_id: Id,
    #[entity(key_only)]
    pub asset_id: Id,
    /// Use of the asset, such as `theme`.
    pub scope: String,
}

/// Reference to an asset, stored as its partition key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetRef(pub Id);

impl Serialize for AssetRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let key = Asset::key(&self.0).to_item().map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(key.get("PK").and_then(|pk| pk.as_str()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for AssetRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = item! { "PK" => String::deserialize(deserializer)?, "SK" => "META" };
        let key = AssetKey::from_item(&key).map_err(serde::de::Error::custom)?;
        Ok(Self(key.asset_id))
    }
}
