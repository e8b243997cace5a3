//! Transactions (36-39, 41-43).
//!
//! Most cases that fail do so at the last operation of a transaction that would otherwise change
//! items, index entries and the stream in every way ([`stage::Stage`]): an engine that applies
//! while it judges is caught by the trace it leaves.

mod capacity;
mod causes;
mod fixture;
mod isolation;
mod limits;
mod reads;
mod reasons;

use self::capacity::*;
use self::causes::*;
use self::isolation::*;
use self::limits::*;
use self::reads::*;
use self::reasons::*;
use super::prelude::*;

pub(super) use self::isolation::retry_on_conflict;

cases! {
    Transactions;

    clause "36a", a_hundred_operations: "A transaction has 100 operations at most.";
    clause "36b", four_megabytes: "A transaction has 4 MB at most.";
    clause "36c", two_operations_on_one_item: "Two operations on one item are refused.";
    clause "36d", several_tables: "A transaction may span tables.";
    extra "transaction-of-updates-too-large" of "36b", updates_too_large:
        "What updates bring along counts towards 4 MB.";
    extra "transaction-without-operations" of "36a", no_operations:
        "A transaction without operations is refused.";
    extra "transaction-of-one" of "36a", one_operation:
        "A transaction of one operation does what the operation does alone.";
    extra "one-item-twice-before-conditions" of "36c", twice_before_conditions:
        "Two operations on one item are refused before any condition is judged.";
    extra "one-number-twice-in-transaction" of "36c", one_number_twice:
        "Number keys of one value are one item.";
    extra "one-key-in-two-tables" of "36c", one_key_in_two_tables:
        "The same key in two tables is two items.";
    extra "one-partition-many-items" of "36c", one_partition_many_items:
        "Items of one partition are different items.";
    extra "all-kinds-of-operations" of "36d", all_kinds_of_operations:
        "Puts, updates, deletes and checks are carried out together.";
    extra "placeholders-in-a-transaction" of "36d", placeholders_of_each_operation:
        "Each operation of a transaction has placeholders of its own.";
    extra "bare-update-in-a-transaction" of "36d", bare_update_is_refused:
        "Unlike alone, in a transaction an update must say what to change.";

    clause "37a", reasons_in_order: "Reasons stand in the order of the operations.";
    clause "37b", message_lists_codes: "The message lists the codes in order.";
    clause "37c", all_faults_are_reported: "All operations at fault are reported.";
    clause "30d", reason_carries_the_item: "A reason carries the item if asked.";
    extra "reasons-of-a-hundred" of "37a", reasons_of_a_hundred:
        "A transaction of 100 operations has 100 reasons.";
    extra "canceled-is-not-applied" of "37a", canceled_is_not_applied:
        "A cancellation says that nothing was applied, and that trying again does not help.";
    extra "condition-hides-the-fault-behind-it" of "37c", condition_hides_the_fault_behind_it:
        "An operation whose condition fails is not judged further.";
    extra "request-fault-before-reasons" of "37c", request_fault_before_reasons:
        "A wrong request is refused as such, whatever conditions fail in it.";
    extra "reason-without-an-item" of "30d", reason_without_an_item:
        "A condition that fails on a missing item has no item to return.";

    clause "38a", empty_key: "An empty key fails the request.", needs [Streams, LocalIndexes];
    clause "38b", put_too_large: "A put of an item that is too large fails the request.",
        needs [Streams, LocalIndexes];
    clause "38c", wrong_expression: "An expression that is wrong fails the request.",
        needs [Streams, LocalIndexes];
    clause "38d", unused_placeholder: "An unused placeholder fails the request.",
        needs [Streams, LocalIndexes];
    clause "38e", bad_table_name: "A bad table name fails the request.",
        needs [Streams, LocalIndexes];
    clause "38f", key_of_another_type: "A key of another type cancels.",
        needs [Streams, LocalIndexes];
    clause "38g", index_key_of_another_type: "An index key of another type cancels.",
        needs [Streams, LocalIndexes];
    clause "38h", update_too_large: "An update that makes the item too large cancels.",
        needs [Streams, LocalIndexes];
    clause "38i", missing_table: "A missing table fails the request.",
        needs [Streams, LocalIndexes];
    extra "last-put-loses-its-condition" of "43c", last_put_loses:
        "A put that loses its condition cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-loses-its-condition" of "43c", last_update_loses:
        "An update that loses its condition cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-delete-loses-its-condition" of "43c", last_delete_loses:
        "A delete that loses its condition cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-check-fails" of "43c", last_check_fails:
        "A check that fails cancels, and leaves no trace.", needs [Streams, LocalIndexes];
    extra "last-condition-on-nothing" of "43c", last_condition_on_nothing:
        "A condition that a missing item does not meet cancels, and leaves no ghost.",
        needs [Streams, LocalIndexes];
    extra "last-key-too-long" of "38f", last_key_too_long:
        "A key that is too long cancels, and leaves no trace.", needs [Streams, LocalIndexes];
    extra "last-update-of-a-key-attribute" of "38h", last_update_of_a_key_attribute:
        "An update of a key attribute cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-of-an-index-key-to-another-type" of "38g", last_update_of_index_key_type:
        "An update of an index key to another type cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-of-an-index-key-too-long" of "38g", last_update_of_index_key_size:
        "An update that makes an index key too long cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-put-of-an-index-key-too-long" of "38g", last_put_of_index_key_size:
        "A put with an index key that is too long fails the request, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-of-the-wrong-type" of "38h", last_update_of_the_wrong_type:
        "An update whose operand has the wrong type cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-of-a-missing-attribute" of "38h", last_update_of_a_missing_attribute:
        "An update that reads a missing attribute cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-of-a-wrong-path" of "38h", last_update_of_a_wrong_path:
        "An update of a path that is not there cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-overflows" of "38h", last_update_overflows:
        "An update whose sum is too large cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-needs-39-digits" of "38h", last_update_needs_39_digits:
        "An update whose sum needs 39 digits cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-nests-too-deep" of "38h", last_update_nests_too_deep:
        "An update that nests too deep cancels, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-key-is-not-the-schema" of "38a", last_key_is_not_the_schema:
        "A key with an attribute too many or too few fails the request.",
        needs [Streams, LocalIndexes];
    extra "last-item-without-its-key" of "38a", last_item_without_its_key:
        "An item without its key fails the request.", needs [Streams, LocalIndexes];
    extra "last-empty-index-key" of "38a", last_empty_index_key:
        "An empty index key fails the request.", needs [Streams, LocalIndexes];
    extra "last-placeholder-undefined" of "38d", last_placeholder_undefined:
        "A placeholder that is not defined fails the request.", needs [Streams, LocalIndexes];
    extra "last-paths-overlap" of "38c", last_paths_overlap:
        "Paths that overlap fail the request.", needs [Streams, LocalIndexes];
    extra "last-operation-on-an-item-again" of "36c", last_operation_on_an_item_again:
        "A second operation on an item fails the request, and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-operation-is-one-too-many" of "36a", last_operation_is_one_too_many:
        "Operation 101 fails the request, and leaves no trace.", needs [Streams, LocalIndexes];
    extra "first-operation-fails" of "43c", first_operation_fails:
        "A transaction that fails at its first operation leaves no trace.",
        needs [Streams, LocalIndexes];

    clause "39a", single_writes_meet_transactions:
        "A single write that meets a transaction goes through or reports the conflict.";
    clause "39b", transactions_meet:
        "Transactions that meet go through or report the conflict.";
    clause "39c", reads_meet_writes:
        "A transactional read that meets writes is consistent or reports the conflict.";
    clause "39d", get_item_never_conflicts: "GetItem never conflicts.";
    clause "41a", no_update_is_lost: "Between transactions and single writes no update is lost.";
    clause "41b", get_item_goes_forward: "GetItem never goes back behind what was seen.";
    clause "41c", no_write_skew: "Transactions that read what the other writes do not both pass.";
    clause "41d", only_committed_is_read: "Queries, scans and batches see committed items only.";
    clause "41e", transactional_read_is_a_snapshot: "A transactional read sees one moment.";
    extra "transactions-in-both-orders" of "41c", transactions_in_both_orders:
        "Transactions that name the same items in different orders all end.";
    extra "transaction-with-a-unique-item" of "41c", unique_item_has_one_owner:
        "Of transactions that create the same item, one is carried out as a whole.";

    clause "42a", table_costs_twice: "A transactional write costs twice on the table.";
    clause "42b", index_costs_once: "A transactional write costs once on an index.";
    clause "42c", check_costs_two: "A ConditionCheck costs 2 write units.";
    clause "42d", indexes_follow_the_transaction:
        "Index entries change with the transaction, or not at all.";
    clause "42e", stream_follows_the_transaction:
        "Stream records are written with the transaction, or not at all.", needs [Streams];
    clause "42f", token_follows_the_transaction:
        "The token is kept with the transaction, or not at all.";
    extra "units-of-a-transaction-by-size" of "42a", units_by_size:
        "A transactional write costs 2 units per KB of the larger item.";
    extra "units-of-a-transaction-by-table" of "42a", units_by_table:
        "A transaction over several tables accounts for each.";
    extra "units-of-deleting-nothing" of "42a", units_of_deleting_nothing:
        "A transactional delete of a missing item costs 2 units.";
    extra "transaction-without-figures" of "42a", no_figures_unless_asked:
        "A transaction returns no figures unless asked.";
    extra "own-figures-in-a-transaction" of "42a", figures_of_an_operation:
        "An operation of a transaction that asks for values or figures of its own is refused.";
    extra "unchanged-write-leaves-no-record" of "42e", unchanged_write_leaves_no_record:
        "An operation that changes nothing writes no record, its neighbours do.",
        needs [Streams];
    extra "metrics-of-a-transaction" of "42a", metrics_by_table:
        "A transaction returns item-collection metrics for tables with local indexes.",
        needs [LocalIndexes, ItemCollectionMetrics];

    clause "43a", conditions_see_the_state_before: "Conditions see the state before.";
    clause "43b", check_of_a_missing_item: "A check of attribute_not_exists holds for nothing.";
    clause "43c", failed_check_cancels_all: "A check that fails cancels all writes.";
    extra "checks-alone" of "43b", checks_alone: "A transaction may have checks only.";
    extra "check-changes-nothing" of "43b", check_changes_nothing:
        "A check that holds neither creates nor changes its item.";
    extra "expressions-see-the-item-before" of "43a", expressions_see_the_item_before:
        "The expressions of an update see the item before it.";

    extra "transact-get-in-order" of "41e", items_in_the_order_asked:
        "A transactional read answers in the order asked, with a gap for a missing item.";
    extra "transact-get-of-a-hundred" of "36a", a_hundred_reads:
        "A transactional read has 100 reads at most.";
    extra "transact-get-twice" of "36c", one_item_read_twice:
        "Two reads of one item are refused.";
    extra "transact-get-too-large" of "36b", answer_of_four_megabytes:
        "A transactional read returns 4 MB at most.";
    extra "transact-get-projected" of "41e", reads_are_projected:
        "Each read of a transaction has its own projection.";
    extra "transact-get-missing-table" of "38i", read_of_a_missing_table:
        "A read of a missing table fails the request.";
    extra "transact-get-key-of-another-type" of "38f", read_with_a_key_of_another_type:
        "A read with a key of another type or other attributes cancels, with the reason ValidationError.";
    extra "transact-get-wrong-projection" of "38c", read_with_a_wrong_projection:
        "A read with a wrong projection fails the request.";
    extra "transact-get-empty-key" of "38a", read_with_an_empty_key:
        "A read with an empty key fails the request.";
    extra "transact-get-units" of "42a", reads_cost_twice:
        "A transactional read costs 2 units per 4 KB, for a missing item too.";
}
