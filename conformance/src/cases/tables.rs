//! Creation, update and deletion of tables (53, 54, 61).

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

    clause "53a", created_table_is_active_and_described:
        "A created table is ACTIVE and is described as it was requested.",
        needs [IndexProjections, LocalIndexes, Streams];
    clause "53b", key_without_definition_is_rejected:
        "A key attribute of a table or index without an attribute definition is rejected with \
         ValidationException.";
    clause "53c", definition_without_key_is_rejected:
        "An attribute definition that no key uses is rejected with ValidationException.";
    extra "duplicate-attribute-definition" of "53c", duplicate_definition_is_rejected:
        "A duplicate attribute definition is rejected with ValidationException.";
    extra "key-schema-rules", key_schema_is_hash_then_range:
        "A key schema is one HASH element, then at most one RANGE element with another name.";
    extra "key-name-length", key_names_have_1_to_255_bytes:
        "The name of a key attribute must have 1 to 255 bytes.";

    clause "53d", tables_are_limited_to_20_global_indexes:
        "A table is limited to 20 global secondary indexes.";
    clause "53e", tables_are_limited_to_5_local_indexes:
        "A table is limited to 5 local secondary indexes.", needs [LocalIndexes];
    clause "53f", include_needs_attributes:
        "An INCLUDE projection must name attributes.", needs [IndexProjections];
    clause "53g", tables_are_limited_to_100_projected_attributes:
        "The indexes of a table are limited to 100 attributes named in projections.",
        needs [IndexProjections];
    extra "projected-attributes-per-index" of "53g", indexes_are_limited_to_20_projected_attributes:
        "One index is limited to 20 attributes named in its projection.", needs [IndexProjections];
    extra "index-projection-rules" of "53f", invalid_projections_are_rejected:
        "ALL and KEYS_ONLY projections cannot name attributes, and INCLUDE cannot name one twice.",
        needs [IndexProjections];
    extra "local-index-rules" of "53e", local_index_needs_partition_key_and_own_sort_key:
        "A local secondary index must have the table's partition key and a sort key of its own.",
        needs [LocalIndexes];
    extra "duplicate-index-name", duplicate_index_name_is_rejected:
        "A duplicate index name in a table is rejected with ValidationException.";
    extra "duplicate-index-name-local-and-global", local_and_global_indexes_share_names:
        "A local and a global secondary index cannot have the same name.", needs [LocalIndexes];
    extra "index-name-rules", index_names_follow_the_rules_of_table_names:
        "Index names have the same length and characters as table names.";

    clause "53h", protected_table_cannot_be_deleted:
        "A table with deletion protection cannot be deleted.";
    extra "deletion-protection-can-be-changed" of "53h", protection_can_be_changed:
        "Deletion protection can be enabled and disabled, and a protected table can be written.";
    extra "create-existing-table", create_of_existing_table_fails:
        "Creating an existing table fails with ResourceInUseException and leaves the table \
         unchanged.";
    extra "create-existing-table-invalid" of "53b", invalid_create_of_existing_table_is_rejected:
        "An invalid request to create an existing table is rejected with ValidationException.";
    extra "create-table-race", one_of_concurrent_creates_succeeds:
        "Of two concurrent requests to create a table, one succeeds.";
    extra "delete-table", deleted_table_is_removed_with_items_and_indexes:
        "A deleted table is removed with its items and indexes.";
    extra "delete-and-create-table", recreated_table_is_empty:
        "A table that is deleted and created again is empty.";
    extra "missing-table", operations_on_missing_table_fail:
        "Describing, updating or deleting a missing table fails and creates none.";
    extra "list-tables", tables_are_listed_by_name_in_pages:
        "Tables are listed in the order of their names, in pages.";
    extra "list-tables-limit", page_of_tables_is_limited_to_100:
        "A page of table names has 1 to 100 names; other limits are rejected.";
    extra "table-counts", description_counts_items_and_bytes:
        "A table description has the item count and the size in bytes of the table and its \
         indexes.", needs [IndexProjections];

    clause "54a", one_index_per_call: "An UpdateTable call can create or delete only one index.";
    clause "54b", added_index_has_existing_items:
        "An added index has the items that existed before.";
    clause "54c", unfit_items_are_left_out_of_added_index:
        "Items whose attributes have the wrong type for an added index are left out of it.";
    extra "added-index-is-sparse" of "54c", added_index_is_sparse:
        "Items that lack a key attribute of an added index, or have an empty one, are left out \
         of it.";
    clause "54d", index_is_active_or_deleted_when_the_call_returns:
        "An added index is ACTIVE when the call returns, and a deleted one no longer exists.";
    extra "added-index-follows-writes" of "54b", added_index_follows_and_validates_writes:
        "An added index follows later writes, and items that do not fit its key are rejected.";
    extra "added-index-projection" of "54b", added_index_has_the_projected_attributes:
        "An added index has the attributes of its projection.", needs [IndexProjections];
    extra "index-recreated-with-other-key" of "54d", deleted_index_can_be_recreated:
        "A deleted index can be created again with another key.";
    extra "add-existing-index", existing_index_is_not_created_again:
        "Adding an existing index is rejected with ValidationException.";
    extra "add-21st-global-index", twenty_first_global_index_is_rejected:
        "Adding a 21st global secondary index fails.";
    extra "added-index-rules", added_index_follows_the_rules_of_new_tables:
        "An added index is validated like one of a new table, and a rejected one leaves no trace.";
    extra "delete-missing-index", delete_of_missing_index_fails:
        "Deleting a missing index fails with ResourceNotFoundException.";
    extra "delete-local-index", local_index_cannot_be_deleted:
        "A local secondary index cannot be deleted.", needs [LocalIndexes];
    extra "index-twice-in-a-call" of "54a", index_is_named_once_per_call:
        "An UpdateTable call can name each index only once.";

    clause "61a", table_names_have_3_to_255_characters:
        "Table names must have 3 to 255 characters.";
    clause "61b", table_names_have_letters_digits_and_marks:
        "Table names may contain only letters, digits, underscores, hyphens and dots.";
    clause "61c", table_can_be_named_by_arn: "A table can be named by its ARN.";
    extra "table-name-rules-in-every-operation" of "61b", every_operation_checks_table_names:
        "Every operation validates the name of its table.";
    extra "table-name-case", table_names_are_case_sensitive: "Table names are case-sensitive.";

    extra "billing-pay-per-request", pay_per_request_table_has_no_throughput:
        "A PAY_PER_REQUEST table has no provisioned throughput.";
    extra "billing-pay-per-request-with-throughput",
        throughput_of_pay_per_request_table_is_rejected:
        "Provisioned throughput is rejected for a PAY_PER_REQUEST table and its indexes.";
    extra "billing-provisioned", provisioned_table_has_its_throughput:
        "A PROVISIONED table has the requested throughput.";
    extra "billing-provisioned-needs-throughput", provisioned_table_needs_throughput:
        "A PROVISIONED table and its global secondary indexes need a throughput of at least 1 \
         unit.";
    extra "billing-changes", billing_mode_can_be_changed:
        "The billing mode can be changed, and the throughput changes with it.";
    extra "billing-changes-indexes", billing_mode_changes_index_throughput:
        "The throughput of indexes changes with the billing mode.";
    extra "added-index-throughput", added_index_has_its_throughput:
        "An index added to a PROVISIONED table has the requested throughput.";
    extra "throughput-unchanged", unchanged_throughput_is_rejected:
        "An update of the throughput must change it.";
    extra "update-table-without-change", update_without_change_is_rejected:
        "An UpdateTable call without a change is rejected with ValidationException.";
    extra "update-table-one-change-per-call", stream_and_index_change_exclude_each_other:
        "An UpdateTable call cannot change both the stream and an index.", needs [Streams];
    extra "table-class", table_class_is_stored_and_changed:
        "The table class is stored and can be changed.";
    extra "encryption-settings", encryption_settings_are_stored:
        "The encryption settings of a table are stored.";
    extra "encryption-settings-conflict", conflicting_encryption_settings_are_rejected:
        "Encryption settings that contradict each other are rejected with ValidationException.";
    extra "tags-change", tags_are_added_changed_and_removed:
        "Tags can be added, changed and removed.", needs [Tags];
    extra "tag-rules", invalid_tags_are_rejected:
        "Tags have limits on their number, their length and their characters.", needs [Tags];
}

/// Returns a message with the usual prefix for invalid parameter values.
fn invalid(text: &str) -> String {
    format!("One or more parameter values were invalid: {text}")
}

/// Returns the message of a structural constraint on one member.
fn constraint(value: &str, member: &str, rule: &str) -> String {
    format!(
        "1 validation error detected: Value '{value}' at '{member}' failed to satisfy constraint: \
         Member must {rule}"
    )
}

/// Asserts that the request is rejected with this message and creates no table.
async fn refused(ctx: &Ctx, shape: TableSpec, message: &str) {
    let name = ctx.unused_table_name();
    ctx.expect_validation(ctx.store().create_table(shape.request(&name)).await, message);
    expect_missing(ctx, ctx.store().describe_table(DescribeTable::new(&name)).await, &name);
}

/// Asserts that a table of this name is rejected with this message.
async fn refused_name(ctx: &Ctx, name: &str, message: &str) {
    ctx.expect_validation(ctx.store().create_table(TableSpec::s().request(name)).await, message);
    let listed = ctx.ok(ctx.store().list_tables(ListTables::default()).await).table_names;
    assert!(!listed.iter().any(|listed| listed == name), "the rejected table exists: {listed:?}");
}

/// Asserts the error of table operations for a missing table.
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

/// Returns the names of the global indexes, in order.
fn global_indexes(description: &TableDescription) -> Vec<&str> {
    let indexes = description.global_secondary_indexes.iter();
    let mut names: Vec<&str> = indexes.map(|index| index.name.as_str()).collect();
    names.sort_unstable();
    names
}

/// Returns a global index on `gpk` alone that projects all attributes.
fn on_gpk(name: &str) -> SecondaryIndex {
    SecondaryIndex::new(name).partition_key("gpk")
}

/// Returns a request that adds a global index on `gpk` (S).
fn add_index(table: &Table, name: &str) -> UpdateTable {
    UpdateTable::new(table).attribute("gpk", KeyType::S).create_index(on_gpk(name))
}
