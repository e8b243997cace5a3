//! Transactions (36-39, 41-43).
//!
//! Most failing cases fail at the last operation of a transaction that would otherwise change
//! items, index entries and the stream in every way ([`fixture::Fixture`]). So a store that applies
//! operations before it has evaluated all of them is caught by the trace it leaves.

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

    clause "36a", transactions_are_limited_to_100_operations:
        "A transaction is limited to 100 operations.";
    clause "36b", transactions_are_limited_to_4_mb: "A transaction is limited to 4 MB of items.";
    clause "36c", two_operations_on_one_item_are_rejected:
        "Two operations of a transaction on one item are rejected with ValidationException.";
    clause "36d", transaction_can_span_tables: "A transaction can span several tables.";
    extra "transaction-size-includes-updates" of "36b", update_values_count_towards_4_mb:
        "The values of updates count towards the 4 MB of a transaction.";
    extra "transaction-without-operations" of "36a", transaction_without_operations_is_rejected:
        "A transaction without operations is rejected with ValidationException.";
    extra "transaction-of-one-operation" of "36a",
        transaction_of_one_operation_equals_the_single_write:
        "A transaction of one operation has the effect of the single write.";
    extra "duplicate-item-precedes-conditions" of "36c", duplicate_item_precedes_conditions:
        "Two operations on one item are rejected before any condition is evaluated.";
    extra "duplicate-number-key-in-transaction" of "36c", equal_number_keys_are_one_item:
        "Two operations whose number keys have the same value are on one item.";
    extra "same-key-in-two-tables" of "36c", same_key_in_two_tables_is_two_items:
        "The same key in two tables addresses two items.";
    extra "transaction-within-one-partition" of "36c", items_of_one_partition_are_distinct:
        "A transaction can write several items of one partition.";
    extra "transaction-of-every-operation" of "36d", every_kind_of_operation_is_applied:
        "Puts, updates, deletes and condition checks are applied together.";
    extra "transaction-placeholders" of "36d", placeholders_belong_to_one_operation:
        "Each operation of a transaction has its own placeholders.";
    extra "transaction-update-needs-expression" of "36d", update_without_expression_is_rejected:
        "An update without an update expression is accepted alone, but is rejected in a \
         transaction.";

    clause "37a", reasons_are_in_order:
        "Cancellation reasons are in the order of the operations, with None for those that did \
         not fail.";
    clause "37b", message_lists_codes_in_order:
        "The message of TransactionCanceledException lists the codes in the order of the \
         operations.";
    clause "37c", every_failed_operation_is_reported:
        "Every failed operation has a cancellation reason, not only the first.";
    clause "30d", reason_carries_the_item:
        "The cancellation reason of a failed condition returns the item if requested.";
    extra "reasons-of-100-operations" of "37a", transaction_of_100_operations_has_100_reasons:
        "A transaction of 100 operations has 100 cancellation reasons.";
    extra "canceled-transaction-is-not-applied" of "37a", canceled_transaction_is_not_applied:
        "A cancellation reports that nothing was applied, and that it is not retryable.";
    extra "failed-condition-precedes-update-error" of "37c", failed_condition_precedes_update_error:
        "An operation whose condition fails is not evaluated further.";
    extra "validation-precedes-conditions-in-transaction" of "37c", validation_precedes_conditions:
        "An invalid request is rejected as a whole, even if conditions in it are false.";
    extra "reason-without-an-item" of "30d", reason_of_missing_item_has_no_item:
        "A condition that fails on a missing item returns no item.";

    clause "38a", empty_key_rejects_the_request:
        "An empty key rejects the transaction as a whole with ValidationException.",
        needs [Streams, LocalIndexes];
    clause "38b", oversized_put_rejects_the_request:
        "A put of an item over 400 KB rejects the transaction as a whole with ValidationException.",
        needs [Streams, LocalIndexes];
    clause "38c", invalid_expression_rejects_the_request:
        "An expression with a syntax error or over its size limit rejects the transaction as a \
         whole with ValidationException.", needs [Streams, LocalIndexes];
    clause "38d", unused_placeholder_rejects_the_request:
        "An unused placeholder rejects the transaction as a whole with ValidationException.",
        needs [Streams, LocalIndexes];
    clause "38e", invalid_table_name_rejects_the_request:
        "An invalid table name rejects the transaction as a whole with ValidationException.",
        needs [Streams, LocalIndexes];
    clause "38f", key_of_wrong_type_cancels:
        "A key of the wrong type cancels the transaction with the reason ValidationError.",
        needs [Streams, LocalIndexes];
    clause "38g", index_key_of_wrong_type_cancels:
        "An index key of the wrong type cancels the transaction with the reason ValidationError.",
        needs [Streams, LocalIndexes];
    clause "38h", update_over_400_kb_cancels:
        "An update that makes the item larger than 400 KB cancels the transaction with the \
         reason ValidationError.", needs [Streams, LocalIndexes];
    clause "38i", missing_table_fails_the_request:
        "A missing table fails the transaction with ResourceNotFoundException.",
        needs [Streams, LocalIndexes];
    extra "last-put-condition-fails" of "43c", failed_put_condition_cancels:
        "A put whose condition fails cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-condition-fails" of "43c", failed_update_condition_cancels:
        "An update whose condition fails cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-delete-condition-fails" of "43c", failed_delete_condition_cancels:
        "A delete whose condition fails cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-condition-check-fails" of "43c", failed_condition_check_cancels:
        "A ConditionCheck that fails cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-condition-on-missing-item" of "43c", failed_condition_on_missing_item_cancels:
        "A condition that fails on a missing item cancels the transaction and creates no item.",
        needs [Streams, LocalIndexes];
    extra "last-key-too-long" of "38f", key_too_long_cancels:
        "A key that is too long cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-of-key-attribute" of "38h", update_of_key_attribute_cancels:
        "An update of a key attribute cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-index-key-wrong-type" of "38g", update_to_index_key_of_wrong_type_cancels:
        "An update that gives an index key the wrong type cancels the transaction and leaves no \
         trace.", needs [Streams, LocalIndexes];
    extra "last-update-index-key-too-long" of "38g", update_to_index_key_too_long_cancels:
        "An update that makes an index key too long cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-put-index-key-too-long" of "38g", put_of_index_key_too_long_rejects_the_request:
        "A put with an index key that is too long rejects the transaction as a whole and leaves \
         no trace.", needs [Streams, LocalIndexes];
    extra "last-update-wrong-operand-type" of "38h", update_with_wrong_operand_type_cancels:
        "An update with an operand of the wrong type cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-missing-attribute" of "38h", update_reading_missing_attribute_cancels:
        "An update that reads a missing attribute cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-invalid-path" of "38h", update_of_invalid_path_cancels:
        "An update of a path whose parent is missing cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-overflows" of "38h", update_overflow_cancels:
        "An update whose sum overflows cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-needs-39-digits" of "38h", update_over_38_digits_cancels:
        "An update whose sum needs 39 digits cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-update-nests-too-deep" of "38h", update_nested_too_deep_cancels:
        "An update that nests values too deep cancels the transaction and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-key-wrong-attributes" of "38a", key_with_wrong_attributes_rejects_the_request:
        "A key with a missing or an additional attribute rejects the transaction as a whole.",
        needs [Streams, LocalIndexes];
    extra "last-item-without-key" of "38a", item_without_key_rejects_the_request:
        "An item without its key rejects the transaction as a whole.",
        needs [Streams, LocalIndexes];
    extra "last-empty-index-key" of "38a", empty_index_key_rejects_the_request:
        "An empty index key rejects the transaction as a whole.", needs [Streams, LocalIndexes];
    extra "last-placeholder-undefined" of "38d", undefined_placeholder_rejects_the_request:
        "An undefined placeholder rejects the transaction as a whole.",
        needs [Streams, LocalIndexes];
    extra "last-paths-overlap" of "38c", overlapping_paths_reject_the_request:
        "Overlapping paths in an update reject the transaction as a whole.",
        needs [Streams, LocalIndexes];
    extra "last-operation-on-duplicate-item" of "36c", duplicate_item_rejects_the_request:
        "A second operation on an item rejects the transaction as a whole and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "last-operation-is-101st" of "36a", operation_101_rejects_the_request:
        "A 101st operation rejects the transaction as a whole and leaves no trace.",
        needs [Streams, LocalIndexes];
    extra "first-operation-condition-fails" of "43c", failed_first_operation_leaves_no_trace:
        "A transaction whose first operation fails leaves no trace.", needs [Streams, LocalIndexes];

    clause "39a", single_write_succeeds_or_conflicts:
        "A single write that is concurrent with a transaction succeeds or fails with \
         TransactionConflictException.";
    clause "39b", concurrent_transactions_succeed_or_conflict:
        "A transaction that is concurrent with another succeeds or is canceled with the reason \
         TransactionConflict.";
    clause "39c", transactional_read_is_consistent_or_conflicts:
        "A transactional read that is concurrent with writes is consistent or is canceled with \
         the reason TransactionConflict.";
    clause "39d", get_item_never_conflicts: "GetItem never fails with a conflict.";
    clause "41a", transactions_and_single_writes_lose_no_update:
        "Transactions and concurrent single writes lose no update.";
    clause "41b", get_item_never_goes_back:
        "GetItem returns no state older than one that was read before.";
    clause "41c", transactions_have_no_write_skew:
        "Concurrent transactions have no write skew: of two that check what the other writes, \
         at most one succeeds.";
    clause "41d", reads_return_committed_items_alone:
        "Query, Scan and BatchGetItem return only committed items.";
    clause "41e", transactional_read_is_a_snapshot:
        "A transactional read returns all items as of one moment.";
    extra "transactions-in-both-orders" of "41c", transactions_in_both_orders_all_finish:
        "Concurrent transactions that name the same items in different orders all finish.";
    extra "transaction-with-a-unique-item" of "41c", one_creator_of_unique_item_succeeds:
        "Of concurrent transactions that create the same item, one succeeds as a whole.";

    clause "42a", transactional_write_costs_twice_on_table:
        "A transactional write consumes twice the units of a single write on the table.";
    clause "42b", transactional_write_costs_once_on_index:
        "A transactional write consumes the units of a single write on an index.";
    clause "42c", condition_check_costs_two_units:
        "A ConditionCheck consumes 2 write capacity units.";
    clause "42d", index_entries_follow_the_transaction:
        "Index entries change together with the transaction or not at all.";
    clause "42e", stream_records_follow_the_transaction:
        "Stream records are written together with the transaction or not at all.", needs [Streams];
    clause "42f", token_follows_the_transaction:
        "The request token is stored together with the transaction or not at all.";
    extra "transaction-costs-by-size" of "42a", transaction_costs_by_larger_item:
        "A transactional write consumes 2 units per KB of the larger of the old and the new item.";
    extra "transaction-costs-by-table" of "42a", transaction_costs_are_reported_by_table:
        "A transaction over several tables reports the units of each table.";
    extra "transactional-delete-of-missing-item-costs" of "42a",
        transactional_delete_of_missing_item_costs_two_units:
        "A transactional delete of a missing item consumes 2 write capacity units.";
    extra "transaction-reports-no-capacity-by-default" of "42a",
        capacity_is_reported_only_on_request:
        "A transaction reports consumed capacity and metrics only if requested.";
    extra "transaction-operation-returns-nothing" of "42a", operation_cannot_return_values_of_its_own:
        "An operation of a transaction that asks for attributes, capacity or metrics of its own is \
         rejected.";
    extra "transaction-unchanged-item-has-no-record" of "42e", unchanged_item_has_no_record:
        "An operation of a transaction that changes nothing writes no stream record, but the \
         others do.", needs [Streams];
    extra "transaction-metrics-by-table" of "42a", metrics_are_returned_by_table:
        "A transaction returns item collection metrics for tables with local secondary indexes.",
        needs [LocalIndexes, ItemCollectionMetrics];

    clause "43a", conditions_see_the_state_before:
        "Conditions see the items as they were before the transaction.";
    clause "43b", condition_check_of_missing_item_holds:
        "A ConditionCheck of attribute_not_exists is true for a missing item.";
    clause "43c", failed_condition_check_cancels_all:
        "A ConditionCheck that fails cancels all writes of the transaction.";
    extra "condition-checks-alone" of "43b", transaction_of_condition_checks_alone_is_accepted:
        "A transaction can consist of condition checks alone.";
    extra "condition-check-changes-nothing" of "43b", condition_check_changes_nothing:
        "A ConditionCheck that is true neither creates nor changes its item.";
    extra "expressions-see-the-item-before" of "43a", update_expressions_see_the_item_before:
        "The update expressions of a transaction see the item before the update.";

    extra "transact-get-in-order" of "41e", transactional_read_keeps_the_order:
        "A transactional read returns items in the requested order, with an empty entry for a \
         missing item.";
    extra "transact-get-of-100-items" of "36a", transactional_reads_are_limited_to_100:
        "A transactional read is limited to 100 items.";
    extra "transact-get-duplicate-item" of "36c", two_reads_of_one_item_are_rejected:
        "Two reads of one item in a transactional read are rejected with ValidationException.";
    extra "transact-get-too-large" of "36b", transactional_read_is_limited_to_4_mb:
        "A transactional read is limited to 4 MB of items.";
    extra "transact-get-projected" of "41e", each_read_has_its_projection:
        "Each read of a transactional read has its own projection.";
    extra "transact-get-missing-table" of "38i", read_of_missing_table_fails:
        "A transactional read of a missing table fails with ResourceNotFoundException.";
    extra "transact-get-key-wrong-type" of "38f", key_of_wrong_type_cancels_the_read:
        "A key of the wrong type or with wrong attributes cancels a transactional read with the \
         reason ValidationError.";
    extra "transact-get-invalid-projection" of "38c", invalid_projection_rejects_the_read:
        "An invalid projection rejects a transactional read as a whole with ValidationException.";
    extra "transact-get-empty-key" of "38a", empty_key_rejects_the_read:
        "An empty key rejects a transactional read as a whole with ValidationException.";
    extra "transact-get-costs" of "42a", transactional_reads_cost_two_units_per_4_kb:
        "A transactional read consumes 2 read capacity units per 4 KB, and as much for a \
         missing item.";
}
