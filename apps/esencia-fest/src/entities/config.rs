//! Configuration by administrators.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tabla::Number;
use tabla::entity::{Entity, UtcTime};

use super::{MAIN, RoomId};

/// Domains whose users can register.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "CONFIG#domains", sk = "CONFIG#domains")]
pub struct ConfigDomains {
    /// Domains with their `@`, such as `@sura.com.co`.
    pub whitelist: Vec<String>,
}

/// Opening times of rooms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "CONFIG#schedule", sk = "CONFIG#schedule")]
pub struct ConfigSchedule {
    pub sala_open_times: BTreeMap<RoomId, UtcTime>,
}

/// Forbidden words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "CONFIG#profanity", sk = "CONFIG#profanity")]
pub struct ConfigProfanity {
    pub blacklist: Vec<String>,
    /// Severities of words; a word without one counts as [`Severity::High`].
    pub severity: BTreeMap<String, Severity>,
    /// Lowest score, from 0 to 1, at which the filter bans a text.
    pub auto_moderation_threshold: Number,
}

/// Severity of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Low,
    Medium,
    High,
}
