//! Conformance cases, one file per family.
//!
//! # How to add a case
//!
//! 1. Find the clause in `clauses/table.rs`; its family names the file of its case. The case with
//!    the id of a clause proves it, and its title is the text of the clause. A behavior beyond the
//!    clauses gets a case with a name.
//! 2. Add a row to the table at the top of the family's file:
//!
//!    ```text
//!    cases! {
//!        Writes;
//!        clause "33a", delete_of_missing_item_succeeds: "Deleting a missing item succeeds.";
//!        extra "write-delete-twice" of "33a", second_delete_succeeds:
//!            "Deleting an item a second time succeeds.";
//!        extra "write-in-the-past", past_write_succeeds:
//!            "A write succeeds after the clock stepped back.", needs [Clock];
//!    }
//!    ```
//!
//!    A `clause` row proves the clause with that id; each clause has exactly one. An `extra` row is
//!    any other case; `of` lists it under a clause. `needs` lists each [`Need`](crate::Need) beyond
//!    plain tables, global indexes and the needs of the family
//!    ([`Family::needs`](crate::Family::needs)). For a store that lacks one, the suite reports the
//!    case as unsupported and asserts that the store rejects requests for it.
//!
//!    The id, the function and the title appear in reports and in `docs/conformance.md`: an id and
//!    a function name state subject and fact, a title is a whole sentence.
//! 3. Write the function below, in the order of the table:
//!
//!    ```text
//!    async fn delete_of_missing_item_succeeds(ctx: Ctx) {
//!        let other = item! { "pk" => "b" };
//!        let table = ctx.table_with(TableSpec::s(), [other.clone()]).await;
//!        let request = DeleteItem::new(&table, item! { "pk" => "a" })
//!            .return_values(ReturnValues::AllOld);
//!        let answer = ctx.ok(ctx.store().delete(request).await);
//!        assert_eq!(answer.attributes, None);
//!        ctx.expect_table(&table, &[other]).await;
//!    }
//!    ```
//!
//! 4. `cargo test -p tabla-conformance --test memory -- writes::` runs the family on MemoryStore,
//!    and `-- ::33a_` the one case.
//!
//! # Methods of `Ctx`
//!
//! - Tables: [`table`](crate::Ctx::table), [`table_with`](crate::Ctx::table_with) and the
//!   [`TableSpec`](crate::TableSpec)s; [`unused_table_name`](crate::Ctx::unused_table_name) for other requests.
//! - Calls that must succeed: `put`, `put_all`, `get`, `update`, `delete`, `query_all`,
//!   `query_pages`, `scan_all`, `scan_pages`, `all_items`, `records`; `ok(answer)` for all others.
//! - Errors: `expect_validation`, `expect_validation_with`, `expect_condition_failed`,
//!   `expect_canceled`, `expect_table_missing`, `expect_code`, `expect_kind`, `expect_error`.
//! - State: `expect_table`, `expect_index`, `expect_query`, `snapshot` and `expect_unchanged`;
//!   `expect_items`, `expect_in_order` and `expect_column` for items that were read.
//! - Time and concurrency: `clock` (needs `Clock`), `sweep` (needs `Sweep`), `now`, `poll`,
//!   `at_once`.
//! - Values that no [`Value`](tabla_core::Value) can hold, such as 39 digits: `put_json`.
//!
//! # Rules
//!
//! - A case asserts the response or the error (code and message), **and** the stored state
//!   afterwards. For a write that must fail, `ctx.snapshot(&table)` before and
//!   `ctx.expect_unchanged(&it)` after it assert that table and indexes are unchanged.
//! - A case expects AWS's message. If DynamoDB Local words the same constraint differently, add the
//!   pair to `wording.rs`. If it behaves differently, the case still expects AWS's behavior; add a
//!   row to the list of the family in `deviations/dynamodb_local.rs`. A case ends at its first
//!   failed assertion, so a behavior in which an engine deviates needs a case of its own.
//! - Write expressions as text where the text is the subject, and with the builder elsewhere.
//! - A case creates its own tables with `ctx.table(TableSpec::…)` and shares nothing. It never
//!   sleeps; reads that may lag use `expect_query`, `expect_index`, `records` or `ctx.poll`.
//! - Several inputs under one rule are a table in the case, and each assertion names its input.
//! - A file of more than about 800 lines is split: `query.rs` keeps the table of cases, and the
//!   functions move to submodules in `query/`.

mod ascending;
mod prelude;
mod texts;

mod values;

mod conditions;
mod key_conditions;
mod projections;
mod updates;

mod batches;
mod writes;

mod tokens;
mod transactions;

mod indexes;
mod pagination;
mod query;
mod scan;

mod capacity;
mod streams;
mod tables;
mod ttl;

mod consumers;
mod documents;
mod entities;
mod laws;

use crate::case::Case;

/// Case tables of all families, in the order of the clauses.
const TABLES: &[&[Case]] = &[
    values::CASES,
    conditions::CASES,
    projections::CASES,
    updates::CASES,
    key_conditions::CASES,
    writes::CASES,
    batches::CASES,
    transactions::CASES,
    tokens::CASES,
    query::CASES,
    scan::CASES,
    pagination::CASES,
    indexes::CASES,
    tables::CASES,
    ttl::CASES,
    streams::CASES,
    capacity::CASES,
    documents::CASES,
    entities::CASES,
    consumers::CASES,
    laws::CASES,
];

/// All conformance cases, in the order of the clauses.
pub fn all() -> impl Iterator<Item = &'static Case> {
    TABLES.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Family, clauses};

    #[test]
    fn ids_are_unique_and_in_kebab_case() {
        let mut seen = BTreeSet::new();
        for case in all() {
            assert!(seen.insert(case.id), "duplicate id {}", case.id);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(!case.id.is_empty() && case.id.chars().all(plain), "{}", case.id);
        }
    }

    #[test]
    fn clauses_of_cases_exist() {
        let known: BTreeSet<&str> = clauses().map(|clause| clause.id).collect();
        for case in all().filter(|case| !case.clause.is_empty()) {
            assert!(
                known.contains(case.clause),
                "case {} names the clause {}, which does not exist",
                case.id,
                case.clause
            );
        }
        // `without_case` would take an extra case with the id of a clause as its proof.
        for case in all().filter(|case| case.clause != case.id) {
            assert!(
                !known.contains(case.id),
                "the extra case {} has the id of a clause: make it a `clause` row",
                case.id
            );
        }
    }

    #[test]
    fn each_family_has_one_table_in_order() {
        let families: Vec<Family> = TABLES
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
        assert!(families.is_sorted(), "{families:?}");
        assert_eq!(TABLES.len(), Family::ALL.len());
    }

    #[test]
    fn titles_end_with_a_full_stop() {
        for case in all() {
            assert!(case.title.ends_with('.'), "{}: {}", case.id, case.title);
        }
    }
}
