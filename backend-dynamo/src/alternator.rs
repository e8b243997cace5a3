//! What ScyllaDB's Alternator needs before its answers can be trusted.
//!
//! Alternator isolates a conditional write from other writes only as far as a table's *write
//! isolation* says (ScyllaDB documentation, "Alternator-specific APIs"). The one policy that keeps
//! [`Store`](tabla_core::Store)'s contract for every workload is `always_use_lwt`. It is the server's
//! default or not, and a table's tag overrides it: so tables are tagged when they are created, and
//! those that are there already are checked when the store is opened.

use tabla_core::ops::Tags;
use tabla_core::{Error, Result};

use crate::DynamoStore;

/// The tag by which a table chooses its policy.
const TAG: &str = "system:write_isolation";
/// The policy under which every write is a transaction on its item.
const SAFE: &str = "always_use_lwt";
/// Its names.
const SAFE_NAMES: [&str; 3] = ["a", "always", SAFE];

/// The system table that holds the server's settings, by the name under which Alternator shows it.
/// On every other engine there is no such table.
pub(crate) const SETTINGS_TABLE: &str = ".scylla.alternator.system.config";
/// The setting that holds the server's default policy.
pub(crate) const ISOLATION_SETTING: &str = "alternator_write_isolation";

/// Tags a table that is to be created.
pub(crate) fn ask_for_isolation(tags: &mut Tags) {
    tags.insert(TAG.to_owned(), SAFE.to_owned());
}

/// Takes the engine's own tag out of what the caller sees.
pub(crate) fn hide_isolation(tags: &mut Tags) {
    tags.remove(TAG);
}

/// Whether the setting's value, a JSON string, names the safe policy.
pub(crate) fn is_safe_default(value: &str) -> bool {
    SAFE_NAMES.contains(&value.trim_matches('"'))
}

impl DynamoStore {
    /// Refuses to open over tables whose writes are not isolated.
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

    /// Checks that a new table has the policy that it was tagged with.
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
        policy.unwrap_or("not tagged, and the server's default is another or cannot be read")
    ))
}
