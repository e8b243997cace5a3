//! Designs as other tools read them: schemas to deploy, and a model to look at.
//!
//! Each function takes the tables with the names that they have where they run, so that a design
//! with one table for each period is written once for each of them. The same design gives the same
//! text, whenever and wherever it is written, so that a file of it can be kept and compared.
//!
//! [`cloudformation()`] and [`terraform()`] say what [`create`](super::TableDesign::create) asks for,
//! and besides what no request to create a table says: the time to live and the recovery.

mod cloudformation;
mod terraform;
mod workbench;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

pub use self::cloudformation::cloudformation;
pub use self::terraform::terraform;
pub use self::workbench::{Model, workbench};

use tabla_core::ops::IndexProjection;

/// A distinct identifier for each name: the short one where no other name has it, otherwise the
/// long one.
///
/// All that share a short one get their long ones, not all but the first: who is first depends on
/// the order, and a tool that finds an identifier on another table replaces both.
fn distinct(names: Vec<(String, String)>) -> Vec<String> {
    let mut shares: HashMap<&str, usize> = HashMap::new();
    for (short, _) in &names {
        *shares.entry(short).or_default() += 1;
    }
    let mut used = HashSet::new();
    let choose = |(short, long): &(String, String)| {
        let mut chosen = if shares[short.as_str()] == 1 { short.clone() } else { long.clone() };
        // What is given twice is written twice: the tool that reads it refuses that, with a better
        // reason than anyone would find for a table that is missing.
        while !used.insert(chosen.clone()) {
            chosen.push('2');
        }
        chosen
    };
    names.iter().map(choose).collect()
}

/// Digits that tell a name from others that look like it.
fn fingerprint(name: &str) -> String {
    format!("{:08x}", xxh3_64(name.as_bytes()) >> 32)
}

/// What an index carries, as DynamoDB itself says it.
fn projection(projection: &IndexProjection) -> Value {
    let mut written = json!({ "ProjectionType": projection.kind.as_str() });
    if !projection.non_key_attributes.is_empty() {
        written["NonKeyAttributes"] = json!(projection.non_key_attributes);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableDesign;
    use tabla_core::KeyType;
    use tabla_core::ops::{SseSpecification, StreamViewType};

    /// A table with everything that a design can say. Its sort key is in an index too.
    pub(super) fn everything() -> TableDesign {
        let mut table = TableDesign::new("log")
            .key("PK", "SK")
            .index_with("by-day", "day", Some("SK"), IndexProjection::keys_only())
            .index_with("by-user", "user", None, IndexProjection::include(["kind", "size"]))
            .ttl("expires")
            .stream(StreamViewType::NewAndOldImages)
            .sse(
                SseSpecification::enabled()
                    .sse_type(Some("KMS".into()))
                    .kms_master_key_id(Some("arn:aws:kms:eu-west-1:111122223333:key/k".into())),
            )
            .recovery()
            .by_period();
        table.indexes[0].partition.kind = KeyType::N;
        table
    }

    /// Names that differ in punctuation alone.
    pub(super) const ALIKE: [&str; 4] =
        ["log-2025.01", "log-2025_01", "log.2025-01", "log-2025-01"];

    fn named(names: &[(&str, &str)]) -> Vec<String> {
        distinct(names.iter().map(|(short, long)| ((*short).into(), (*long).into())).collect())
    }

    #[test]
    fn a_short_name_is_kept_where_no_other_has_it() {
        assert_eq!(named(&[("a", "a-1"), ("b", "b-2"), ("a", "a-3")]), ["a-1", "b", "a-3"]);
        assert_eq!(named(&[("a", "a-3"), ("a", "a-1"), ("b", "b-2")]), ["a-3", "a-1", "b"]);
    }

    #[test]
    fn even_the_same_twice_is_told_apart() {
        assert_eq!(named(&[("a", "x"), ("a", "x"), ("x", "y")]), ["x", "x2", "x22"]);
    }
}
