//! Index entries: which there are, what they carry, how they follow the item (34, 49, 54).

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
    clause "34e", without_partition_key:
        "An item without the index's partition key is not in the index.";
    clause "34f", without_sort_key: "An item without the index's sort key is not in the index.",
        needs [LocalIndexes];
    extra "entry-appears", entry_appears:
        "An entry appears with the last of the index's key attributes, however it is written.";
    extra "entry-changes", entry_changes:
        "An entry moves when a key attribute changes, and leaves nothing behind.";
    extra "entry-goes", entry_goes:
        "An entry goes with a key attribute, with a put that has none, and with the item.";
    extra "local-entry-follows", local_entry_follows: "Entries of a local index follow likewise.",
        needs [LocalIndexes];
    extra "entry-by-batch", entries_by_batch: "Entries follow the writes of a batch.";
    extra "entry-by-transaction", entries_by_transaction:
        "Entries follow the writes of a transaction.", needs [Transactions];
    extra "entry-after-failure", entries_after_failures:
        "A write that fails leaves the entries as they are.", needs [LocalIndexes];
    extra "entry-after-cancellation", entries_after_cancellation:
        "So does a transaction that fails at its last operation.",
        needs [Transactions, LocalIndexes];
    extra "entry-number-added", number_key_by_add:
        "A number key that ADD creates and changes orders its entry.";
    extra "entry-from-if-not-exists", key_by_expression:
        "A key attribute that an expression computes orders its entry.";
    extra "entries-of-one-key", many_of_one_key:
        "Any number of items may have the same index key.";
    extra "entry-written-again", written_again: "An item that is written again has one entry.";
    extra "entry-in-race", entries_in_a_race:
        "However writes of one item interleave, it has the entry of its last state.";
    extra "indexes-together", indexes_together:
        "One write changes every index that it concerns, and no other.", needs [LocalIndexes];
    extra "indexes-share-attribute", indexes_share_an_attribute:
        "An attribute may be a key of several indexes.";
    extra "index-on-table-keys", index_on_table_keys: "An index may be made of the table's keys.";
    extra "index-key-types", keys_of_every_type:
        "Index keys of every type find and order their entries.";

    clause "49a", gsi_gives_what_it_carries: "A global index gives only what it carries.",
        needs [IndexProjections];
    clause "49b", gsi_refuses_the_rest:
        "Asking a global index for what it does not carry is refused.", needs [IndexProjections];
    clause "49c", lsi_fetches:
        "A local index fetches what it does not carry from the table.",
        needs [IndexProjections, LocalIndexes];
    clause "49d", lsi_charges: "A local index charges for what it fetches.",
        needs [IndexProjections, LocalIndexes];
    clause "49e", gsi_refuses_all:
        "ALL_ATTRIBUTES of a global index that does not carry all is refused.",
        needs [IndexProjections];
    extra "all-of-whole-index" of "49e", all_of_whole_index:
        "ALL_ATTRIBUTES of an index that carries everything is allowed.";
    extra "carried-changes", carried_attributes_follow:
        "A change of an attribute shows in the indexes that carry it.", needs [IndexProjections];
    extra "included-comes-and-goes", included_attribute_comes_and_goes:
        "An included attribute that an item has not got is not in its entry.",
        needs [IndexProjections];
    extra "keys-of-other-indexes", keys_of_other_indexes_are_not_carried:
        "KEYS_ONLY carries the keys of index and table, not of other indexes.",
        needs [IndexProjections];
    extra "filter-not-carried", filter_on_what_is_not_carried:
        "A query's filter on what the index does not carry is refused.",
        needs [IndexProjections, LocalIndexes];
    extra "count-of-keys-only", count_of_keys_only: "COUNT needs nothing to be carried.",
        needs [IndexProjections];
    extra "path-into-included", path_into_included:
        "A projection may look into an attribute that the index carries.",
        needs [IndexProjections];

    clause "54e", four_and_four: "An index key may have four attributes in each half.",
        needs [MultiAttributeIndexKeys];
    clause "54f", five_are_refused: "An index key of five attributes in a half is refused.",
        needs [MultiAttributeIndexKeys];
    clause "54g", every_partition_attribute:
        "A query must give every partition attribute by equality.",
        needs [MultiAttributeIndexKeys];
    clause "54h", leading_sort_attributes:
        "A query may give a leading run of sort attributes, without gaps.",
        needs [MultiAttributeIndexKeys];
    clause "54i", range_comes_last:
        "An inequality may stand only on the last sort attribute given.",
        needs [MultiAttributeIndexKeys];
    extra "several-in-order", several_in_order:
        "Entries are in the order of the sort attributes, each by its own type.",
        needs [MultiAttributeIndexKeys];
    extra "several-ranges", ranges_of_several:
        "Every range of a sort attribute keeps to the attributes before it, both ways.",
        needs [MultiAttributeIndexKeys];
    extra "several-sparse", several_are_sparse:
        "An item without any one of the attributes is not in the index.",
        needs [MultiAttributeIndexKeys];
    extra "several-apart", several_are_kept_apart:
        "Attributes are not run together: ab and c are not a and bc.",
        needs [MultiAttributeIndexKeys];
    extra "several-in-pages", several_in_pages:
        "Pages of such an index have all its keys in their last key.",
        needs [MultiAttributeIndexKeys];
    extra "several-follow", several_follow: "An entry moves when any of the attributes changes.",
        needs [MultiAttributeIndexKeys];

    extra "index-created-live", created_live:
        "An index that is added has the items that were there, and follows the writes after.";
    extra "index-created-projecting", created_live_projecting:
        "An index that is added carries what its projection says.", needs [IndexProjections];
    extra "index-created-types", created_live_of_every_type:
        "An index that is added orders the items that were there, for every type of key.";
    extra "index-created-in-race", created_in_a_race:
        "Writes while an index is added are all in it.";
    extra "index-deleted-live", deleted_live:
        "An index that is deleted can be read no longer, and its keys are free again.";
    extra "index-replaced", replaced_live:
        "An index may come back under its name with other keys.";
    extra "index-several-live", several_live:
        "An index of several attributes is filled when it is added.",
        needs [MultiAttributeIndexKeys];
}

/// What is asked of the index `gsi` in one partition.
fn by_gsi(table: &Table, gpk: &str) -> Query {
    Query::new(table, attr("gpk").eq(gpk)).index("gsi")
}
