//! Put, update and delete of one item (29-34).

mod conditions;
mod index_keys;
mod keys;
mod returned;

use self::conditions::*;
use self::index_keys::*;
use self::keys::*;
use self::returned::*;
use super::prelude::*;

cases! {
    Writes;
    clause "29a", put_returns_old_or_nothing: "A put returns NONE or ALL_OLD only.";
    clause "29b", delete_returns_old_or_nothing: "A delete returns NONE or ALL_OLD only.";
    clause "29c", update_returns_nothing_by_default: "An update returns nothing by default.";
    clause "29d", update_returns_the_old_item: "ALL_OLD returns the whole item as it was.";
    clause "29e", update_returns_the_new_item: "ALL_NEW returns the whole item as it is now.";
    extra "write-all-new-without-item" of "29e", all_new_of_no_item:
        "ALL_NEW returns nothing if there is no item afterwards.";
    clause "29f", update_returns_what_was_touched: "UPDATED_OLD returns what was touched.";
    clause "29g", update_returns_what_is_touched: "UPDATED_NEW returns what is touched.";
    extra "write-updated-old-fragment" of "29f", updated_old_of_a_nested_path:
        "UPDATED_OLD of a nested path returns only that fragment.";
    clause "29h", updated_new_of_a_nested_path:
        "UPDATED_NEW of a nested path returns only that fragment.";
    extra "write-updated-new-appended" of "29h", updated_new_of_an_appended_element:
        "UPDATED_NEW does not return an element that was appended past the end.";
    extra "write-updated-new-moved-up" of "29h", updated_new_of_a_removed_element:
        "UPDATED_NEW of a removed element returns the one that took its place.";
    clause "29i", updated_new_of_nothing: "UPDATED_NEW returns nothing if nothing was set.";
    extra "write-updated-key-alone" of "29i", updated_of_a_key_alone:
        "UPDATED_OLD and UPDATED_NEW of an update with a key alone return nothing.";
    clause "29j", all_old_of_a_missing_item: "ALL_OLD of a missing item returns none.";
    clause "30a", failed_put_returns_the_item:
        "A put whose condition fails returns the item in the error if asked.";
    clause "30b", failed_update_returns_the_item:
        "An update whose condition fails returns the item in the error if asked.";
    clause "30c", failed_delete_returns_the_item:
        "A delete whose condition fails returns the item in the error if asked.";
    extra "write-failed-returns-whole-item" of "30a", failure_returns_what_stands:
        "The item in the error is the one that stands, whole, and not the one refused.";
    extra "write-return-on-failure-success" of "30a", success_returns_no_item:
        "A write whose condition holds returns no item for having asked for one on failure.";
    clause "31a", condition_on_a_missing_item:
        "A condition on a missing item is judged on an empty one.";
    clause "31b", failed_update_leaves_no_ghost:
        "An update whose condition fails leaves no ghost of a missing item.";
    clause "31c", condition_needs_an_attribute:
        "A condition that needs an attribute fails on a missing item, for each write.";
    extra "write-condition-on-key" of "31a", condition_on_the_key_finds_the_item:
        "A condition on the key is judged on the stored item, not on the one to be written.";
    extra "write-condition-reads-old" of "31a", condition_reads_the_old_item:
        "A condition reads the item as it was, also for attributes that the write sets.";
    extra "write-condition-nested" of "31c", condition_on_nested_paths:
        "A condition reads nested paths; one that leads nowhere is a missing attribute.";
    extra "write-condition-types" of "31c", condition_of_another_type:
        "A condition that compares two types fails, and the write with it.";
    extra "write-put-if-absent" of "31a", put_if_absent:
        "A put under attribute_not_exists writes once.";
    extra "write-put-if-absent-sort-key" of "31a", put_if_absent_looks_at_the_whole_key:
        "attribute_not_exists of the partition key is about the item, not about the partition.";
    extra "write-version-lock" of "31c", version_lock:
        "A version in the condition lets one of two writers win.";
    extra "write-index-after-failure" of "31b", failed_write_leaves_the_indexes:
        "A write whose condition fails leaves the indexes as they were.";
    clause "33a", deleting_nothing_succeeds: "Deleting an item that is not there succeeds.";
    extra "write-delete-twice" of "33a", delete_twice: "So does deleting an item twice.";
    extra "write-delete-one" of "33a", delete_touches_one_item:
        "A delete touches no other item of the partition.";
    clause "34a", put_of_a_wrong_index_key:
        "A put with an index key of another type is refused.";
    extra "write-index-key-lsi" of "34a", put_of_a_wrong_local_key:
        "Local indexes refuse a key of another type, too.", needs [LocalIndexes];
    extra "write-index-key-half" of "34a", sort_half_alone_is_checked:
        "The sort half of an index key is checked, even if the item is not in the index.";
    extra "write-index-key-half-update" of "34b", updated_sort_half_is_checked:
        "So it is on update.";
    extra "write-index-key-lsi-update" of "34b", update_to_a_wrong_local_key:
        "Local indexes refuse an update to another type, too.", needs [LocalIndexes];
    clause "34b", update_to_a_wrong_index_key:
        "An update to an index key of another type is refused.";
    extra "write-index-key-computed" of "34b", computed_index_key_is_checked:
        "An index key that an update copies or adds up is checked, too.";
    extra "write-index-key-computed-fits" of "34b", computed_index_key_is_indexed:
        "An index key that an update copies or adds up, and that fits, moves the entry.";
    clause "34c", empty_index_key: "An empty index key is refused, on put and update.";
    clause "34d", non_scalar_index_key:
        "A list, map, set, BOOL or NULL as an index key is refused.";
    extra "write-index-key-size" of "34c", index_key_size:
        "An index key may be as large as a table's, and not larger.";
    extra "write-index-key-size-update" of "34c", updated_index_key_size:
        "Nor can it be made larger by an update.";
    extra "write-index-key-kept" of "34b", kept_index_key_is_not_checked:
        "What an update leaves alone is not checked: it may be older than the index.";
    extra "write-index-key-absent" of "34a", absent_index_keys_are_no_fault:
        "An item without index keys is written, and is in no index.";
    extra "write-put-replaces", put_replaces_the_whole_item:
        "A put replaces the whole item: attributes that it lacks are gone.";
    extra "write-same-again", same_put_again: "The same put again changes nothing.";
    extra "write-key-shape", key_must_be_the_whole_key:
        "A key must have the table's key attributes, and nothing else.";
    extra "write-key-missing", item_must_have_its_key: "A put must have the table's key.";
    extra "write-key-type", key_must_have_its_type: "A key must have the types of the table's.";
    extra "write-missing-table", missing_table_is_not_found:
        "A write to a table that is not there is refused.";
    extra "write-bad-condition", wrong_condition_is_refused:
        "A condition that is no condition is refused, whatever the item.";
}

/// The writes to one item, to be given the same condition each.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Put,
    Update,
    Delete,
}

const KINDS: [Kind; 3] = [Kind::Put, Kind::Update, Kind::Delete];

/// A condition as text, and the values it needs.
type Text<'a> = (&'a str, &'a [(&'a str, Value)]);

impl Kind {
    /// Puts `written`, sets its attribute `w`, or deletes the item, under a condition.
    async fn run(
        self,
        ctx: &Ctx,
        table: &Table,
        (condition, values): Text<'_>,
    ) -> tabla_core::Result<WriteOutput> {
        let store = ctx.store();
        macro_rules! conditional {
            ($request:expr) => {
                values
                    .iter()
                    .fold($request.condition(condition), |all, (name, value)| {
                        all.value(*name, value)
                    })
                    .return_item_on_failure()
            };
        }
        match self {
            Kind::Put => store.put(conditional!(PutItem::new(table, written()))).await,
            Kind::Update => {
                let set = Update::new().set("w", "new");
                store.update(conditional!(UpdateItem::new(table, key()).update(set))).await
            }
            Kind::Delete => store.delete(conditional!(DeleteItem::new(table, key()))).await,
        }
    }
}

/// The key of the item that these cases write.
fn key() -> Item {
    item! { "pk" => "a" }
}

/// What [`Kind::Put`] puts.
fn written() -> Item {
    key().with("w", "new")
}

/// A set of strings.
fn strings<const N: usize>(members: [&str; N]) -> Value {
    Value::Ss(Set::new(members.map(str::to_owned)).expect("members that differ"))
}
