//! Known deviations of engines from S3.
//!
//! A row is data: the engine, the case, S3's behavior with its source, and the engine's behavior
//! ([`Deviation`]). The case still runs. It must fail, and its failure must contain `observed`. If
//! it passes, the run fails until the row is removed. Engines of this workspace have no rows.
//!
//! # How to add a row
//! Run the suite. For a failed case in which the engine is wrong, copy a part of the failure that is
//! the same in every run to `observed`, and add the row to the file of the engine.

mod versitygw;

pub use crate::deviations::Deviation;

/// All known deviations, of all engines.
pub fn all() -> impl Iterator<Item = &'static Deviation> {
    versitygw::ROWS.iter()
}

/// Returns the deviation of this engine in this case, if there is one.
pub fn find(engine: &str, case: &str) -> Option<&'static Deviation> {
    all().find(|deviation| deviation.engine == engine && deviation.case == case)
}

/// Lists the deviations of one engine: `"case": S3 "does this", source "page", but "does that",
/// observed "part of the failure";`
macro_rules! deviations {
    (
        $engine:literal;
        $(
            $case:literal: S3 $aws:literal, source $source:literal, but $does:literal,
            observed $observed:literal;
        )*
    ) => {
        &[$($crate::deviations::Deviation {
            engine: $engine,
            case: $case,
            aws: $aws,
            source: $source,
            does: $does,
            observed: $observed,
        },)*]
    };
}

use deviations;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_are_unique_and_complete() {
        let mut seen = BTreeSet::new();
        for row in all() {
            let at = format!("{} {}", row.engine, row.case);
            let exists = crate::blobs::cases().any(|case| case.id == row.case);
            assert!(exists, "{at}: the case does not exist");
            assert!(seen.insert((row.engine, row.case)), "{at}: duplicate row");
            for text in [row.aws, row.source, row.does, row.observed] {
                assert!(!text.trim().is_empty(), "{at}: empty text");
            }
        }
    }

    #[test]
    fn engines_of_this_workspace_have_no_deviations() {
        let own = ["memory", "file", "gateway", "gateway-memory"];
        assert!(all().all(|row| !own.contains(&row.engine)));
    }
}
