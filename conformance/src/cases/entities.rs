//! Typed entities: `tabla_entity` on a store.
//!
//! The layer uses only behavior that other families prove. These cases prove the combination on
//! every store: outcomes, index keys, unique values, pages over shards, and collections.

mod collections;
mod cursors;
mod design;
mod gets;
mod keys;
mod outcomes;
mod recognition;
mod shards;
mod transactions;
mod uniques;
mod unreadable;

use self::collections::*;
use self::cursors::*;
use self::gets::*;
use self::keys::*;
use self::outcomes::*;
use self::recognition::*;
use self::shards::*;
use self::transactions::*;
use self::uniques::*;
use self::unreadable::*;
use super::prelude::*;

cases! {
    Entities;

    extra "entity-create", entity_is_created_once:
        "An entity is created once; a second create returns the existing entity.";
    extra "entity-create-race", concurrent_creates_return_one_entity:
        "Of concurrent creates of one entity, one succeeds, and all return the entity that it \
         wrote.";
    extra "entity-replace", replace_leaves_nothing_of_the_old_entity:
        "Replace leaves no attribute of the old entity, and fails if there is none.";
    extra "entity-save", save_needs_the_read_version:
        "Save succeeds if the entity has not been written since it was read.";
    extra "entity-save-race", concurrent_saves_lose_nothing:
        "Concurrent saves overwrite none of each other: every increment counts.";
    extra "entity-update", update_needs_entity_and_condition:
        "An update is applied if the entity exists and the condition is true.";
    extra "entity-change-in-place", concurrent_changes_in_place_all_count:
        "Concurrent changes of lists and numbers are applied in place, and none is lost.";
    extra "entity-delete", delete_returns_the_entity:
        "Delete returns the deleted entity; a delete whose condition fails changes nothing.";
    extra "entity-get-all", get_all_returns_the_order_of_keys:
        "get_all returns the entities of any number of keys in the order of the keys.";
    extra "entity-view", view_reads_some_fields:
        "A view reads some fields of an entity, by key and by query.";
    extra "entity-exact-numbers", numbers_of_38_digits_are_exact:
        "Numbers of 38 digits are stored, added, compared and found exactly.";
    extra "entity-add-range", sum_out_of_range_fails:
        "A sum outside the range of the field's type fails like a condition, and changes nothing.";
    extra "entity-committed", unreadable_result_is_reported_as_committed:
        "A write whose result cannot be read is committed, and its error reports it as applied.";
    extra "entity-committed-unique", unreadable_unique_result_is_reported_as_committed:
        "A change of a unique value whose result cannot be read is committed, and its error \
         reports it as applied.", needs [Transactions];
    extra "entity-unreadable-page", unreadable_item_does_not_hide_its_page:
        "An unreadable item does not hide the others of its page, and is reported by its key.";

    extra "entity-item", entity_is_stored_as_designed:
        "An entity is stored as the item of its design, without attributes for empty fields.";
    extra "entity-attribute-keys", keys_can_be_plain_attributes:
        "Keys can be plain attributes, in a table without a sort key and in its index.";
    extra "entity-index-follows", change_rewrites_index_keys:
        "A change of a field rewrites the index keys that contain it.";
    extra "entity-index-increment", increment_of_an_index_field_pins_what_was_read:
        "An increment of a field that an index key is made of writes the key with the sum, and \
         fails if the field is not what was read.";
    extra "entity-index-sparse", entity_is_indexed_while_key_fields_have_values:
        "An entity is in an index while all fields of its index key have values.";
    extra "entity-index-when", entity_is_indexed_while_its_when_field_has_a_value:
        "An entity is in an index while the field after `when` has a value; indexes that share \
         an attribute keep it while one of them needs it.";
    extra "entity-stale-index-key", change_that_leaves_a_stale_key_is_rejected:
        "A change that would leave a stale index key is rejected, and changes nothing.";
    extra "entity-stale-change", change_of_stale_entity_fails:
        "A change of an entity that was read earlier fails if it would write a wrong index key.";
    extra "entity-index-halves", changes_of_two_key_halves_do_not_conflict:
        "A change of one half of an index key does not conflict with a change of the other half.";
    extra "entity-ranges", range_of_a_field_stays_within_the_entity:
        "A range over a field is a range of its sort key, and returns no other entity of the \
         partition.";

    extra "entity-by-tag", tag_distinguishes_entities:
        "A tag distinguishes entities that share their keys with others.";
    extra "entity-by-key", keys_distinguish_untagged_entities:
        "Keys distinguish entities without a tag from the others of the partition.";

    extra "entity-transaction-reasons", failed_transaction_names_its_conditions:
        "A transaction over two tables that fails names the failed operations, and changes \
         nothing.", needs [Transactions];
    extra "entity-transaction-token", transaction_with_token_is_executed_once:
        "A transaction with a request token is executed once.", needs [Transactions];
    extra "entity-transaction-resent", resent_transaction_is_executed_once:
        "A transaction that is sent again later without changes is executed once.",
        needs [Transactions];
    extra "entity-unique-create", taken_unique_value_names_its_field:
        "A create with a unique value that is taken fails, and the error names the field.",
        needs [Transactions];
    extra "entity-unique-change", changed_unique_value_is_free_again:
        "A unique value that is changed or cleared can be taken by another entity.",
        needs [Transactions];
    extra "entity-unique-stale", stale_change_leaves_unique_values:
        "A change of a stale entity neither takes nor releases a unique value.",
        needs [Transactions];
    extra "entity-unique-delete", delete_releases_unique_values:
        "A delete releases all unique values of the entity, and a failed delete keeps them.",
        needs [Transactions];
    extra "entity-unique-swap", unique_values_are_swapped_in_a_transaction:
        "Unique values are swapped and handed over in one transaction.", needs [Transactions];
    extra "entity-unique-expires", guard_item_expires_with_its_entity:
        "The guard item of a unique value expires when its entity does.", needs [Transactions];
    extra "entity-unique-swept", expired_entity_without_its_guard_can_be_changed:
        "An expired entity whose unique value another entity has taken can be deleted or given \
         another value.", needs [Transactions];
    extra "entity-unique-race", one_of_concurrent_takers_gets_the_value:
        "Of concurrent writers that take one unique value, one succeeds, and the others leave \
         nothing behind.", needs [Transactions];

    extra "entity-shards-in-order", pages_over_shards_are_sorted:
        "Pages over shards are those of one sorted list, in both directions.";
    extra "entity-shards-filtered", filtered_pages_over_shards_are_full:
        "Pages over shards with a filter are full and lose no entity.";
    extra "entity-shards-ties", ties_over_shards_are_returned_once:
        "Entities with equal sort keys in a sharded index are returned once each.";
    extra "entity-cursor-rejected", cursor_of_another_query_is_rejected:
        "A cursor is bound to its query: any other query rejects it.";
    extra "entity-cursor-deletes", cursor_survives_deletes:
        "A cursor remains valid after the item at its position was deleted.";
    extra "entity-cursor-moves", cursor_moves_between_backends:
        "A cursor of one backend continues in another, in both directions.";
    extra "entity-shards-cursor-moves", cursor_over_shards_moves_between_backends:
        "A cursor over shards of one backend continues in another.";

    extra "entity-collection", collection_returns_every_kind:
        "A collection returns entities of several kinds over all its pages, and loses no item.";
    extra "entity-collection-large", collection_over_1_mb_is_complete:
        "A collection of more than one page of 1 MB is returned completely.";
    extra "entity-expired", expired_entities_can_be_left_out:
        "Expired entities that are not yet deleted can be left out of pages, also over shards.",
        needs [TimeToLive];
}
