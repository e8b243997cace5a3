//! The cases, one file per family.
//!
//! # How to add a case
//!
//! 1. Find the clause in `clauses.rs`; it stands under the family whose file you open. A clause
//!    is proved by the case that has its id. Situations beyond the clauses get a case with a name.
//! 2. Add a row to the table at the top of the family's file:
//!
//!    ```text
//!    cases! {
//!        Writes;
//!        clause "33a", deleting_nothing_succeeds: "Deleting an item that is not there succeeds.";
//!        extra "delete-twice" of "33a", second_delete: "So does deleting an item twice.";
//!        extra "put-then-wait", waits: "A case that moves the clock says so.", needs [Clock];
//!    }
//!    ```
//!
//!    `clause` proves the clause of that id, exactly one row each. `extra` is any other case; with
//!    `of` it is listed under a clause. `needs` names what the case uses beyond plain tables,
//!    global indexes and what its family needs anyway ([`Family::needs`](crate::Family::needs)): a
//!    [`Need`](crate::Need) each. On a store that lacks one, the suite proves that it refuses
//!    instead, and reports the case as unsupported.
//! 3. Write the function below, in the order of the table:
//!
//!    ```text
//!    async fn deleting_nothing_succeeds(ctx: Ctx) {
//!        let other = item! { "pk" => "b" };
//!        let table = ctx.table_with(Shape::s(), [other.clone()]).await;
//!        let request = DeleteItem::new(&table, item! { "pk" => "a" })
//!            .return_values(ReturnValues::AllOld);
//!        let answer = ctx.ok(ctx.store().delete(request).await);
//!        assert_eq!(answer.attributes, None);
//!        ctx.expect_table(&table, &[other]).await;
//!    }
//!    ```
//!
//! 4. `cargo test -p tabla-conformance --test memory -- writes::` runs the family on MemoryStore,
//!    `-- ::33a_` the one case.
//!
//! # What `Ctx` offers
//!
//! - Tables: [`table`](crate::Ctx::table), [`table_with`](crate::Ctx::table_with) and the
//!   [`Shape`](crate::Shape)s; [`free_name`](crate::Ctx::free_name) for requests of your own.
//! - Calls that must succeed: `put`, `put_all`, `get`, `update`, `delete`, `query_all`,
//!   `query_pages`, `scan_all`, `scan_pages`, `all_items`, `records`; `ok(answer)` for the rest.
//! - Errors: `expect_validation`, `expect_validation_with`, `expect_condition_failed`,
//!   `expect_canceled`, `expect_table_missing`, `expect_code`, `expect_kind`, `expect_error`.
//! - State: `expect_table`, `expect_index`, `expect_query`, `snapshot` and `expect_unchanged`;
//!   `expect_items`, `expect_in_order` and `expect_column` for items in hand.
//! - Time and concurrency: `clock` (needs `Clock`), `sweep` (needs `Sweep`), `now`, `poll`,
//!   `at_once`.
//! - Texts that no [`Value`](tabla_core::Value) can hold, such as 39 digits: `put_json`.
//!
//! # Rules
//!
//! - A case asserts the answer or the error (code and message), **and** the stored state after it.
//!   For a write that must fail, `ctx.snapshot(&table)` before and `ctx.expect_unchanged(&it)`
//!   after show that table and indexes kept what they had.
//! - State AWS's text. If DynamoDB Local words the same constraint differently, the pair goes into
//!   `wording.rs`. If it behaves differently, the case stays as AWS is, and a row goes into your
//!   family's list in `deviations/dynamodb_local.rs`. A case ends at its first failed assertion, so
//!   what an engine is known to get wrong stands in a case of its own, apart from what it gets
//!   right.
//! - Expressions in the text form where the text is the subject; with the builder elsewhere.
//! - A case makes its own tables with `ctx.table(Shape::…)`, and shares nothing. It never sleeps;
//!   what may lag is read with `expect_query`, `expect_index`, `records` or `ctx.poll`.
//! - Several inputs with one rule are a table in the case, and each assertion names its input.
//! - A file past about 800 lines is split: `query.rs` keeps the one table, and
//!   the functions move to submodules in `query/`.

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

/// The tables of all families, in the order of the semantics.
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

/// All cases, in the order of the semantics.
pub fn all() -> impl Iterator<Item = &'static Case> {
    TABLES.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Family, clauses};

    #[test]
    fn ids_are_unique_and_fit_for_a_command_line() {
        let mut seen = BTreeSet::new();
        for case in all() {
            assert!(seen.insert(case.id), "{} stands twice", case.id);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(!case.id.is_empty() && case.id.chars().all(plain), "{}", case.id);
        }
    }

    #[test]
    fn cases_name_clauses_that_there_are() {
        let known: BTreeSet<&str> = clauses().map(|clause| clause.id).collect();
        for case in all().filter(|case| !case.clause.is_empty()) {
            assert!(known.contains(case.clause), "{}: no clause {}", case.id, case.clause);
        }
        // An extra case with a clause's id would pass for its proof.
        for case in all().filter(|case| case.clause != case.id) {
            assert!(!known.contains(case.id), "{} is a clause: write `clause`", case.id);
        }
    }

    #[test]
    fn each_family_has_its_table_in_order() {
        let families: Vec<Family> = TABLES
            .iter()
            .filter_map(|table| {
                let first = table.first()?.family;
                assert!(table.iter().all(|case| case.family == first), "{first}: mixed");
                Some(first)
            })
            .collect();
        assert!(families.is_sorted(), "{families:?}");
        assert_eq!(TABLES.len(), Family::ALL.len());
    }

    #[test]
    fn titles_are_sentences() {
        for case in all() {
            assert!(case.title.ends_with('.'), "{}: {}", case.id, case.title);
        }
    }
}
