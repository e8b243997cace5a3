//! What administrators set.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tabla::Number;
use tabla::entity::{Entity, UtcTime};

use super::{MAIN, RoomId};

/// Who may register.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "CONFIG#domains", sk = "CONFIG#domains")]
pub struct ConfigDomains {
    /// The domains of those who may, from the `@` on.
    pub whitelist: Vec<String>,
}

/// When rooms open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "CONFIG#schedule", sk = "CONFIG#schedule")]
pub struct ConfigSchedule {
    /// When each room opens by itself.
    pub sala_open_times: BTreeMap<RoomId, UtcTime>,
}

/// What must not be said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = MAIN, pk = "CONFIG#profanity", sk = "CONFIG#profanity")]
pub struct ConfigProfanity {
    /// The words.
    pub blacklist: Vec<String>,
    /// How bad they are.
    pub severity: BTreeMap<String, Severity>,
    /// From which score on something is banned by itself.
    pub auto_moderation_threshold: Number,
}

/// How bad a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A little.
    Low,
    /// Rather.
    Medium,
    /// Very.
    High,
}
