//! Index entries: their existence, their attributes, and how they follow the item (34, 49, 54).

mod carry;
mod entries;
mod live;
mod several;

use super::ascending::{KEY_TYPES, ascending};
use super::prelude::*;
use carry::*;
use entries::*;
use live::*;
use several::*;

cases! {
    Indexes;
    clause "34e", item_without_index_partition_key_is_not_indexed:
        "An item without the partition key of an index is not in the index.";
    clause "34f", item_without_index_sort_key_is_not_indexed:
        "An item without the sort key of an index is not in the index.", needs [LocalIndexes];
    extra "index-entry-appears", entry_appears_with_the_last_key_attribute:
        "An index entry appears when the item gets the last key attribute of the index, by any \
         kind of write.";
    extra "index-entry-moves", entry_moves_with_its_key:
        "An index entry moves when a key attribute changes, and leaves no entry behind.";
    extra "index-entry-disappears", entry_disappears_with_its_key_or_item:
        "An index entry disappears with a key attribute, with a put that lacks one, and with \
         the item.";
    extra "local-index-entry-follows", local_index_follows_writes:
        "Entries of a local secondary index follow puts, updates and deletes.",
        needs [LocalIndexes];
    extra "index-entry-follows-batch", entries_follow_batches:
        "Index entries follow the writes of a batch.";
    extra "index-entry-follows-transaction", entries_follow_transactions:
        "Index entries follow the writes of a transaction.", needs [Transactions];
    extra "index-entry-after-failed-write", failed_write_leaves_entries:
        "A failed write leaves the index entries unchanged.", needs [LocalIndexes];
    extra "index-entry-after-canceled-transaction", canceled_transaction_leaves_entries:
        "A transaction that is canceled at its last operation leaves the index entries unchanged.",
        needs [Transactions, LocalIndexes];
    extra "index-key-by-add", key_number_from_add_orders_its_entry:
        "A number key that ADD creates or changes determines the order of its entry.";
    extra "index-key-by-if-not-exists", computed_key_orders_its_entry:
        "A key attribute that an expression computes determines the order of its entry.";
    extra "index-key-of-many-items", many_items_share_an_index_key:
        "Any number of items can have the same index key.";
    extra "index-entry-rewritten", rewritten_item_has_one_entry:
        "An item that is written twice has one index entry.";
    extra "index-entry-in-race", entry_shows_the_last_state_after_a_race:
        "After concurrent writes an item has the index entry of its last state.";
    extra "indexes-together", write_changes_only_its_indexes:
        "A write changes every index whose entry it affects, and no other.", needs [LocalIndexes];
    extra "indexes-share-attribute", indexes_share_an_attribute:
        "An attribute can be a key of several indexes.";
    extra "index-on-table-keys", index_can_have_the_table_keys:
        "An index can have the keys of the table.";
    extra "index-key-types", entries_of_every_key_type_are_ordered:
        "Index keys of every type find and order their entries.";

    clause "49a", global_index_returns_projected_attributes:
        "A global secondary index returns only the attributes that it projects.",
        needs [IndexProjections];
    clause "49b", global_index_rejects_other_attributes:
        "A read of attributes that a global secondary index does not project is rejected with \
         ValidationException.", needs [IndexProjections];
    clause "49c", local_index_fetches_other_attributes:
        "A local secondary index fetches attributes that it does not project from the table.",
        needs [IndexProjections, LocalIndexes];
    clause "49d", local_index_charges_for_fetches:
        "A local secondary index charges for the items that it fetches from the table.",
        needs [IndexProjections, LocalIndexes];
    clause "49e", global_index_rejects_all_attributes:
        "ALL_ATTRIBUTES is rejected with ValidationException for a global secondary index that \
         does not project all attributes.", needs [IndexProjections];
    extra "select-all-of-complete-index" of "49e", all_attributes_of_complete_index_are_accepted:
        "ALL_ATTRIBUTES is accepted for an index that projects all attributes.";
    extra "projected-attribute-follows", projected_attributes_follow_the_item:
        "A change of an attribute shows in the indexes that project it.", needs [IndexProjections];
    extra "included-attribute-can-be-missing", missing_included_attribute_is_not_in_the_entry:
        "An included attribute that an item lacks is not in its index entry.",
        needs [IndexProjections];
    extra "keys-only-index-excludes-other-keys", keys_only_excludes_keys_of_other_indexes:
        "A KEYS_ONLY index projects the keys of index and table, not those of other indexes.",
        needs [IndexProjections];
    extra "filter-on-unprojected-attribute", filter_on_unprojected_attribute_is_rejected:
        "A query filter on an attribute that the index does not project is rejected with \
         ValidationException.", needs [IndexProjections, LocalIndexes];
    extra "count-of-keys-only-index", count_needs_no_projected_attribute:
        "COUNT is accepted for a KEYS_ONLY index.", needs [IndexProjections];
    extra "path-into-included-attribute", projection_reaches_into_included_attributes:
        "A projection can reach into an attribute that the index projects.",
        needs [IndexProjections];

    clause "54e", key_of_four_and_four_attributes_is_accepted:
        "An index key can have four partition attributes and four sort attributes.",
        needs [MultiAttributeIndexKeys];
    clause "54f", key_of_five_attributes_is_rejected:
        "An index key with five partition attributes or five sort attributes is rejected with \
         ValidationException.", needs [MultiAttributeIndexKeys];
    clause "54g", query_needs_every_partition_attribute:
        "A query must compare every partition attribute of the index by equality.",
        needs [MultiAttributeIndexKeys];
    clause "54h", query_can_give_leading_sort_attributes:
        "A query can compare a leading part of the sort attributes, without gaps.",
        needs [MultiAttributeIndexKeys];
    clause "54i", range_must_be_on_the_last_attribute:
        "An inequality is accepted only on the last sort attribute of the key condition.",
        needs [MultiAttributeIndexKeys];
    extra "multi-attribute-order", entries_are_ordered_by_each_attribute:
        "Entries of a multi-attribute index are ordered by its sort attributes in turn, each by \
         its type.",
        needs [MultiAttributeIndexKeys];
    extra "multi-attribute-ranges", ranges_stay_within_the_attributes_before:
        "A range on a sort attribute stays within the values of the attributes before it, in \
         both directions.", needs [MultiAttributeIndexKeys];
    extra "multi-attribute-sparse", item_without_one_attribute_is_not_indexed:
        "An item that lacks one key attribute of a multi-attribute index is not in the index.",
        needs [MultiAttributeIndexKeys];
    extra "multi-attribute-values-apart", attribute_values_are_not_concatenated:
        "Key attributes are not concatenated: (ab, c) and (a, bc) are different keys.",
        needs [MultiAttributeIndexKeys];
    extra "multi-attribute-pages", last_key_has_every_attribute:
        "The last evaluated key of a multi-attribute index has all its key attributes.",
        needs [MultiAttributeIndexKeys];
    extra "multi-attribute-entry-moves", entry_moves_with_any_attribute:
        "An entry of a multi-attribute index moves when any of its key attributes changes.",
        needs [MultiAttributeIndexKeys];

    extra "index-added", added_index_is_filled_and_follows_writes:
        "An added index has the existing items and follows later writes.";
    extra "index-added-with-projection", added_index_has_its_projection:
        "An added index has the attributes of its projection.", needs [IndexProjections];
    extra "index-added-for-every-key-type", added_index_orders_every_key_type:
        "An added index orders the existing items, for every type of key.";
    extra "index-added-during-writes", added_index_has_concurrent_writes:
        "An added index has all writes that happen while it is backfilled.";
    extra "index-deleted", deleted_index_cannot_be_read:
        "A deleted index can no longer be read, and its key attributes are unrestricted again.";
    extra "index-replaced", index_name_can_be_reused_with_other_keys:
        "An index can be created again under its name with other keys.";
    extra "multi-attribute-index-added", added_index_of_several_attributes_is_filled:
        "An index with several key attributes is filled when it is added.",
        needs [MultiAttributeIndexKeys];
}

/// Returns a query of the index `gsi` for one partition.
fn by_gsi(table: &Table, gpk: &str) -> Query {
    Query::new(table, attr("gpk").eq(gpk)).index("gsi")
}
