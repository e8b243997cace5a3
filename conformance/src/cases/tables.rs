//! Creating, changing and deleting tables (53, 54, 61).

mod create;
mod index_rules;
mod indexes;
mod lifecycle;
mod names;
mod settings;

use self::create::*;
use self::index_rules::*;
use self::indexes::*;
use self::lifecycle::*;
use self::names::*;
use self::settings::*;
use super::prelude::*;

cases! {
    Tables;

    clause "53a", described_as_asked:
        "A created table is ACTIVE, and is described as it was asked for.",
        needs [IndexProjections, LocalIndexes, Streams];
    clause "53b", key_without_definition:
        "A key attribute of table or index without a definition is refused.";
    clause "53c", definition_without_key: "A definition that no key uses is refused.";
    extra "definition-twice" of "53c", definition_twice: "A definition may stand once.";
    extra "key-schema", key_schema_rules:
        "A key is one HASH element, then at most one RANGE element of another name.";
    extra "key-name-length", key_name_length:
        "The name of a key attribute has 1 to 255 bytes.";

    clause "53d", twenty_global_indexes: "A table has at most 20 global indexes.";
    clause "53e", five_local_indexes: "A table has at most 5 local indexes.", needs [LocalIndexes];
    clause "53f", include_names_attributes:
        "An INCLUDE projection names attributes.", needs [IndexProjections];
    clause "53g", hundred_projected_attributes:
        "The indexes of a table carry at most 100 attributes by name.", needs [IndexProjections];
    extra "projected-per-index" of "53g", twenty_attributes_per_index:
        "One index carries at most 20 attributes by name.", needs [IndexProjections];
    extra "projection-rules" of "53f", projection_rules:
        "ALL and KEYS_ONLY name no attributes, INCLUDE none twice.", needs [IndexProjections];
    extra "local-index-rules" of "53e", local_index_rules:
        "A local index has the table's partition key and a sort key of its own.",
        needs [LocalIndexes];
    extra "index-name-twice", index_name_twice: "An index name stands once in a table.";
    extra "local-index-name-twice", local_index_name_twice:
        "Local and global indexes share their names.", needs [LocalIndexes];
    extra "index-names", index_names: "Index names are as long and made of what table names are.";

    clause "53h", protected_table: "A protected table is not deleted.";
    extra "protection-can-be-set" of "53h", protection_is_switched:
        "Protection is switched on and off, and a protected table can be written to.";
    extra "create-twice", create_twice:
        "Creating a table whose name is taken fails, and leaves the table as it is.";
    extra "create-twice-invalid" of "53b", create_twice_invalid:
        "A wrong request is refused as wrong before its name is seen to be taken.";
    extra "create-at-once", create_at_once: "Of two that create one table, one does.";
    extra "delete-table", delete_table: "A deleted table is gone, with its items and indexes.";
    extra "delete-and-create", delete_and_create: "A table created again begins empty.";
    extra "missing-table", missing_table:
        "Describing, changing and deleting a table that is not there fails, and makes none.";
    extra "list-tables", list_tables: "Tables are listed in the order of their names, in pages.";
    extra "list-tables-limit", list_tables_limit: "A page of table names has 1 to 100.";
    extra "table-counts", table_counts:
        "A description counts items and bytes of table and index.", needs [IndexProjections];

    clause "54a", one_index_per_call: "One index is created or deleted per call.";
    clause "54b", index_is_backfilled: "A new index has the items that were there before.";
    clause "54c", misfits_are_left_out:
        "Items whose attributes do not fit a new index are left out of it.";
    extra "backfill-is-sparse" of "54c", backfill_is_sparse:
        "Items that lack a key attribute of a new index, or have it empty, are left out of it.";
    clause "54d", index_comes_and_goes:
        "A new index is ACTIVE when the call answers, and a deleted one gone.";
    extra "index-follows" of "54b", new_index_follows_writes:
        "A new index follows the writes after it, and refuses what it cannot index.";
    extra "index-again" of "54d", index_again:
        "A deleted index can be created again with another key.";
    extra "added-index-carries" of "54b", added_index_carries:
        "A new index carries what its projection names.", needs [IndexProjections];
    extra "added-index-throughput", added_index_throughput:
        "An index added to a provisioned table has the throughput it was given.";
    extra "index-exists", index_exists: "An index that exists is not created again.";
    extra "index-21", twenty_first_index: "A 21st global index is not added.";
    extra "added-index-rules", added_index_rules:
        "An added index is checked as one of a new table, and a refused one leaves no trace.";
    extra "delete-missing-index", delete_missing_index: "Deleting an index that is not there fails.";
    extra "delete-local-index", delete_local_index:
        "A local index cannot be deleted.", needs [LocalIndexes];
    extra "index-twice-in-a-call" of "54a", index_twice_in_a_call:
        "An index is named once in a call.";

    clause "61a", name_length: "Table names have 3 to 255 characters.";
    clause "61b", name_characters: "Table names have letters, digits, _, - and . only.";
    clause "61c", table_by_arn: "A table may be named by its ARN.";
    extra "name-rules-everywhere" of "61b", names_are_checked_everywhere:
        "Every operation checks the name of its table.";
    extra "name-case", names_have_case: "Table names are case-sensitive.";

    extra "billing-by-request", by_request: "A table paid by request has no throughput.";
    extra "billing-by-request-with-units", by_request_with_units:
        "Throughput is refused for a table or index paid by request.";
    extra "billing-provisioned", provisioned: "A provisioned table has the throughput it was given.";
    extra "billing-needs-units", provisioned_needs_units:
        "A provisioned table and its global indexes need a throughput of at least 1.";
    extra "billing-changes", billing_changes: "The billing mode is changed, and throughput with it.";
    extra "billing-changes-indexes", billing_changes_indexes:
        "The throughput of indexes changes with the billing mode.";
    extra "throughput-unchanged", throughput_unchanged: "A change of throughput changes it.";
    extra "update-nothing", update_nothing: "An update that asks for no change is refused.";
    extra "update-alone", update_alone:
        "A change of the stream and one of the indexes do not go together.", needs [Streams];
    extra "table-class", table_class: "A table's class is kept and changed.";
    extra "encryption", encryption: "Encryption settings are kept.";
    extra "encryption-rules", encryption_rules:
        "Encryption settings that contradict each other are refused.";
    extra "tags", tags: "Tags are added, changed and taken away.", needs [Tags];
    extra "tag-rules", tag_rules: "Tags have a number, a length and an alphabet.", needs [Tags];
}

/// A rule of meaning that a request breaks, with the service's usual beginning.
fn invalid(text: &str) -> String {
    format!("One or more parameter values were invalid: {text}")
}

/// A rule of shape that one member breaks.
fn constraint(value: &str, member: &str, rule: &str) -> String {
    format!(
        "1 validation error detected: Value '{value}' at '{member}' failed to satisfy constraint: \
         Member must {rule}"
    )
}

/// The request must be refused with this message, and leave no table behind.
async fn refused(ctx: &Ctx, shape: TableSpec, message: &str) {
    let name = ctx.free_name();
    ctx.expect_validation(ctx.store().create_table(shape.request(&name)).await, message);
    expect_missing(ctx, ctx.store().describe_table(DescribeTable::new(&name)).await, &name);
}

/// A table of this name must be refused with this message.
async fn refused_name(ctx: &Ctx, name: &str, message: &str) {
    ctx.expect_validation(ctx.store().create_table(TableSpec::s().request(name)).await, message);
    let listed = ctx.ok(ctx.store().list_tables(ListTables::default()).await).table_names;
    assert!(!listed.iter().any(|listed| listed == name), "the refused table is there: {listed:?}");
}

/// The table must be missing, in the words of the operations on tables.
#[track_caller]
fn expect_missing<T: std::fmt::Debug>(ctx: &Ctx, answer: tabla_core::Result<T>, name: &str) {
    ctx.expect_code(
        answer,
        "ResourceNotFoundException",
        &format!("Requested resource not found: Table: {name} not found"),
    );
}

async fn describe(ctx: &Ctx, table: &Table) -> TableDescription {
    ctx.ok(ctx.store().describe_table(DescribeTable::new(table)).await)
}

/// The names of the global indexes, in order.
fn global_indexes(description: &TableDescription) -> Vec<&str> {
    let indexes = description.global_secondary_indexes.iter();
    let mut names: Vec<&str> = indexes.map(|index| index.name.as_str()).collect();
    names.sort_unstable();
    names
}

/// A global index on `gpk` alone, carrying everything.
fn on_gpk(name: &str) -> SecondaryIndex {
    SecondaryIndex::new(name).partition_key("gpk")
}

/// Adds a global index on `gpk` (S).
fn add_index(table: &Table, name: &str) -> UpdateTable {
    UpdateTable::new(table).attribute("gpk", KeyType::S).create_index(on_gpk(name))
}
