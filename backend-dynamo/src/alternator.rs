//! Write isolation of tables on ScyllaDB's Alternator: set at creation, checked at opening.
//!
//! How far Alternator isolates a conditional write from other writes depends on the *write
//! isolation* of the table (ScyllaDB documentation, "Alternator-specific APIs"). Only the policy
//! `always_use_lwt` keeps the contract of [`Store`](tabla_core::Store) for every workload. The
//! server's default may be another policy, and a tag of the table overrides it.

use tabla_core::ops::Tags;
use tabla_core::{Error, Result};

use crate::DynamoStore;

/// Tag with the write isolation policy of a table.
const TAG: &str = "system:write_isolation";
/// Policy under which every write is a transaction on its item.
const SAFE: &str = "always_use_lwt";
/// Names of [`SAFE`] that Alternator accepts.
const SAFE_NAMES: [&str; 3] = ["a", "always", SAFE];

/// Alternator's name of the system table with the server's settings. Other engines do not have it.
pub(crate) const SETTINGS_TABLE: &str = ".scylla.alternator.system.config";
/// Setting with the server's default policy.
pub(crate) const ISOLATION_SETTING: &str = "alternator_write_isolation";

/// Adds the tag of [`SAFE`] to the tags of a new table.
pub(crate) fn ask_for_isolation(tags: &mut Tags) {
    tags.insert(TAG.to_owned(), SAFE.to_owned());
}

/// Removes the isolation tag from tags that the caller sees.
pub(crate) fn hide_isolation(tags: &mut Tags) {
    tags.remove(TAG);
}

/// Whether the value of [`ISOLATION_SETTING`], a JSON string, is a name of [`SAFE`].
pub(crate) fn is_safe_default(value: &str) -> bool {
    SAFE_NAMES.contains(&value.trim_matches('"'))
}

impl DynamoStore {
    /// Checks the write isolation of every table with the store's prefix.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`] for the first table with another policy than [`SAFE`].
    pub(crate) async fn check_isolation(&self, default_is_safe: bool) -> Result<()> {
        let mut start = None;
        loop {
            let page = self.table_names(start, None).await?;
            for name in &page.table_names {
                let Some(own) = self.prefix.strip(name) else { continue };
                let arn = self.describe(own.to_owned()).await?.arn;
                match self.tags_of(&arn).await?.get(TAG) {
                    Some(policy) if SAFE_NAMES.contains(&policy.as_str()) => {}
                    None if default_is_safe => {}
                    policy => return Err(not_isolated(own, policy.map(String::as_str))),
                }
            }
            start = page.last_evaluated_table_name;
            if start.is_none() {
                return Ok(());
            }
        }
    }

    /// Checks that a new table has the policy of its tag.
    pub(crate) async fn check_isolation_of(&self, arn: &str, table: &str) -> Result<()> {
        match self.tags_of(arn).await?.get(TAG) {
            Some(policy) if SAFE_NAMES.contains(&policy.as_str()) => Ok(()),
            policy => Err(not_isolated(table, policy.map(String::as_str))),
        }
    }
}

fn not_isolated(table: &str, policy: Option<&str>) -> Error {
    Error::config(format!(
        "the write isolation of table `{table}` must be `{SAFE}`, or conditional writes can be \
         lost: tag the table with `{TAG}` = `{SAFE}`; it is {}",
        policy.unwrap_or(
            "not tagged, and the server's default is not a safe policy, or cannot be read"
        )
    ))
}
