//! Typed entities: what `tabla_entity` makes of a store.
//!
//! The layer asks the store for nothing but what the other families prove. That it comes to the
//! same everywhere is proved here: outcomes, keys of indexes, unique values, pages over shards,
//! collections, and the items that are stored afterwards.

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

    extra "entity-create", create_once:
        "An entity is created once; who comes second is given the first.";
    extra "entity-create-race", creators_race:
        "Of those who create one entity at the same time, one does; all are given what it wrote.";
    extra "entity-replace", replacing:
        "What replaces an entity leaves nothing of it, and replaces only one that is there.";
    extra "entity-save", saving: "An entity is saved if nobody has written it since it was read.";
    extra "entity-save-race", savers_race:
        "Those who save at the same time overwrite nobody: every one counts.";
    extra "entity-update", updating:
        "A change is made if its condition holds, and to an entity that is there.";
    extra "entity-change-in-place", changing_in_place:
        "Lists, numbers and what is inside of them change where they are, all at the same time.";
    extra "entity-delete", deleting:
        "What is deleted is given back; a deletion that loses leaves everything.";
    extra "entity-get-all", get_all:
        "Entities of any number of keys come in the order of the keys.";
    extra "entity-get-projected", get_projected:
        "An entity with a few fields of another is read without the other attributes.";
    extra "entity-exact-numbers", exact_numbers:
        "Numbers of 38 digits are stored, added, compared and found exactly.";
    extra "entity-add-range", add_in_range:
        "A sum that the field's type cannot hold fails as a condition does, and changes nothing.";
    extra "entity-committed", committed_writes:
        "A write whose result cannot be read is committed, and its error does not deny it.";
    extra "entity-committed-unique", committed_unique:
        "The same holds for a change of a unique value.", needs [Transactions];
    extra "entity-unreadable-page", pages_go_on:
        "An item that cannot be read does not hide the others of its page, and is reported by its key.";

    extra "entity-item", stored_items:
        "An entity is the item that its design says, without attributes for what it lacks.";
    extra "entity-attribute-keys", attribute_keys:
        "Keys may be plain attributes, in a table without a sort key and in its index.";
    extra "entity-index-follows", index_follows:
        "A change rewrites the keys of indexes that its fields stand in.";
    extra "entity-index-sparse", index_is_sparse:
        "An entity is in an index while the fields of its key there have values.";
    extra "entity-index-when", index_when:
        "An entity is in an index while the field after `when` has a value, and indexes that \
         share an attribute keep it while one needs it.";
    extra "entity-key-left-behind", keys_left_behind:
        "A change that would leave a key behind is refused, and changes nothing.";
    extra "entity-stale-change", stale_changes:
        "A change of an entity that was read before loses if a key would be wrong.";
    extra "entity-index-halves", index_halves:
        "Who changes one half of an index key does not lose to who changes the other.";
    extra "entity-ranges", ranges:
        "A range of a field is one of its keys, and meets no other entity of the partition.";

    extra "entity-by-tag", recognised_by_tag:
        "Entities with a tag are told by it from others under the same keys.";
    extra "entity-by-key", recognised_by_key:
        "Entities without a tag are told by their keys from others of the partition.";

    extra "entity-transaction-reasons", transaction_reasons:
        "A transaction over two tables says by name what was lost, and does nothing.",
        needs [Transactions];
    extra "entity-transaction-token", transaction_token:
        "A transaction under a token is carried out once.", needs [Transactions];
    extra "entity-transaction-again", transaction_again:
        "A transaction that is sent again later, as it was, is carried out once.",
        needs [Transactions];
    extra "entity-unique-create", unique_create:
        "A unique value is the first's to come, and the second is told which field it is.",
        needs [Transactions];
    extra "entity-unique-change", unique_change:
        "A unique value that is changed or cleared is another's to take.", needs [Transactions];
    extra "entity-unique-stale", unique_stale:
        "A change of what was read before neither takes nor gives up a unique value.",
        needs [Transactions];
    extra "entity-unique-delete", unique_delete:
        "Who is deleted gives up all unique values, and who is not keeps them.",
        needs [Transactions];
    extra "entity-unique-swap", unique_swap:
        "Unique values are swapped and handed over in one transaction.", needs [Transactions];
    extra "entity-unique-expires", unique_expires:
        "What stands for a unique value expires when its entity does.", needs [Transactions];
    extra "entity-unique-swept", unique_swept:
        "An expired entity whose unique value is another's by now is deleted or given another.",
        needs [Transactions];
    extra "entity-unique-race", unique_race:
        "Of those who take one value at the same time, one does, and nothing is left of others.",
        needs [Transactions];

    extra "entity-shards-in-order", shards_in_order:
        "Pages over shards are those of one sorted list, in both directions.";
    extra "entity-shards-filtered", shards_filtered:
        "A filter leaves pages over shards full, and loses nothing.";
    extra "entity-shards-ties", shards_ties:
        "Entities of an index in shards that sort the same are found once each.";
    extra "entity-cursor-refused", cursor_refused:
        "A cursor belongs to what was looked for: anything else refuses it.";
    extra "entity-cursor-deletes", cursor_survives_deletes:
        "A cursor goes on where it was, though what it stands after is gone.";
    extra "entity-cursor-moves", cursor_moves:
        "A cursor of one backend goes on in another, there and back.";
    extra "entity-shards-cursor-moves", shards_cursor_moves:
        "So does a cursor over shards.";

    extra "entity-collection", collection:
        "A collection has entities of several kinds over all its pages, and loses no item.";
    extra "entity-collection-large", large_collection:
        "A collection of more than the megabyte of a page comes back whole.";
    extra "entity-collection-page", collection_page:
        "A page of a collection has entities of several kinds in the order of their keys.";
    extra "entity-expired", expired:
        "What has expired and is still there can be left out, page by page and over shards.",
        needs [TimeToLive];
}
