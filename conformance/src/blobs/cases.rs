//! Conformance cases of blobs, one file per family.
//!
//! # How to add a case
//!
//! 1. Add a row to the table at the top of the family's file:
//!
//!    ```text
//!    blob_cases! {
//!        Deletes;
//!        delete_of_missing_blob_succeeds: "Deleting a missing blob succeeds.";
//!        delete_if_match_of_other_etag_fails:
//!            "A delete with another ETag fails with PreconditionFailed and deletes nothing.",
//!            needs [DeleteIfMatch];
//!    }
//!    ```
//!
//!    The function is the id of the case: a subject and a fact. The title is a whole sentence that
//!    states one fact. `needs` lists each [`BlobNeed`](super::BlobNeed) beyond plain puts, gets,
//!    deletes, copies and listings, and beyond those of the family.
//! 2. Write the function below, in the order of the table.
//! 3. `cargo test -p tabla-s3 --test conformance -- blobs::deletes` runs the family in memory and in
//!    folders, with `--features gateway,object-store,s3` on all engines.
//! 4. If the rule is new, add a [`BlobFault`](super::fault::BlobFault) that the case catches.
//! 5. Regenerate `docs/conformance.md`: that test without a filter prints the command.
//!
//! # Rules
//!
//! - A case asserts the kind and S3's name of an error, **and** the state afterwards:
//!   `ctx.snapshot()` before, `ctx.expect_code(result, codes::…)`, `ctx.expect_unchanged(&it)`.
//! - A case expects the behavior of the S3 API reference. If an engine behaves differently, the case
//!   stays; add a row to the engine's file in `deviations/`. A case ends at its first failed
//!   assertion, so a behavior in which an engine deviates needs a case of its own.
//! - A case never sleeps. Times come from `ctx.clock()`, or from the output of a write.
//! - A part of a multipart upload other than the last needs 5 MB: `five_mb()`. Use one part where
//!   one suffices.
//! - Several inputs under one rule are a table in the case, and each assertion names its input.

mod prelude;

mod checksums;
mod conditions;
mod headers;
mod put_get;
mod ranges;

mod keys;
mod listing;

mod copies;
mod deletes;
mod multipart;
mod presigned;
mod versions;

mod capabilities;
mod concurrency;

use super::case::BlobCase;

/// Case tables of all families, in the order of reports.
const TABLES: &[&[BlobCase]] = &[
    put_get::CASES,
    headers::CASES,
    checksums::CASES,
    conditions::CASES,
    ranges::CASES,
    keys::CASES,
    listing::CASES,
    deletes::CASES,
    copies::CASES,
    multipart::CASES,
    versions::CASES,
    presigned::CASES,
    concurrency::CASES,
    capabilities::CASES,
];

/// All conformance cases of blobs, in the order of reports.
pub fn all() -> impl Iterator<Item = &'static BlobCase> {
    TABLES.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::blobs::BlobFamily;

    #[test]
    fn ids_are_unique() {
        let mut seen = BTreeSet::new();
        for case in all() {
            assert!(seen.insert(case.id), "duplicate id {}", case.id);
        }
    }

    #[test]
    fn each_family_has_one_table_in_order() {
        let families: Vec<BlobFamily> = TABLES
            .iter()
            .filter_map(|table| {
                let first = table.first()?.family;
                assert!(
                    table.iter().all(|case| case.family == first),
                    "the table of {first} has a case of another family"
                );
                Some(first)
            })
            .collect();
        assert_eq!(families, BlobFamily::ALL);
    }

    #[test]
    fn titles_end_with_a_full_stop() {
        for case in all() {
            assert!(case.title.ends_with('.'), "{}: {}", case.id, case.title);
        }
    }
}
