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
    clause "29a", put_accepts_none_and_all_old:
        "A put accepts only the return values NONE and ALL_OLD.";
    clause "29b", delete_accepts_none_and_all_old:
        "A delete accepts only the return values NONE and ALL_OLD.";
    clause "29c", update_returns_nothing_by_default: "An update returns no attributes by default.";
    clause "29d", update_returns_the_old_item:
        "An update with ALL_OLD returns the item as it was before.";
    clause "29e", update_returns_the_new_item:
        "An update with ALL_NEW returns the item as it is afterwards.";
    extra "write-all-new-without-item" of "29e", all_new_without_item_returns_nothing:
        "ALL_NEW returns no attributes if no item exists afterwards.";
    clause "29f", updated_old_returns_old_values:
        "An update with UPDATED_OLD returns the updated attributes as they were before.";
    clause "29g", updated_new_returns_new_values:
        "An update with UPDATED_NEW returns the updated attributes as they are afterwards.";
    extra "write-updated-old-fragment" of "29f", updated_old_of_nested_path_returns_the_fragment:
        "UPDATED_OLD of a nested path returns only the updated fragment.";
    clause "29h", updated_new_of_nested_path_returns_the_fragment:
        "UPDATED_NEW of a nested path returns only the updated fragment.";
    extra "write-updated-new-appended" of "29h", updated_new_omits_appended_elements:
        "UPDATED_NEW does not return a list element that was appended past the end.";
    extra "write-updated-new-moved-up" of "29h",
        updated_new_of_removed_element_returns_its_successor:
        "UPDATED_NEW of a removed list element returns the element that moved to its index.";
    clause "29i", updated_new_without_set_returns_nothing:
        "UPDATED_NEW returns no attributes if nothing was set.";
    extra "write-updated-key-alone" of "29i", update_with_key_alone_returns_no_updated_attributes:
        "UPDATED_OLD and UPDATED_NEW return no attributes for an update without an expression.";
    clause "29j", all_old_of_missing_item_returns_nothing:
        "ALL_OLD of a missing item returns no attributes.";
    clause "30a", failed_put_returns_the_item:
        "A put whose condition fails returns the stored item in the error if requested.";
    clause "30b", failed_update_returns_the_item:
        "An update whose condition fails returns the stored item in the error if requested.";
    clause "30c", failed_delete_returns_the_item:
        "A delete whose condition fails returns the stored item in the error if requested.";
    extra "write-failed-returns-whole-item" of "30a", failed_write_returns_the_stored_item:
        "The item in the error is the whole stored item, not the rejected one.";
    extra "write-return-on-failure-success" of "30a", successful_write_returns_no_item:
        "A write whose condition is true returns no item, even if the item was requested for a \
         failure.";
    clause "31a", condition_on_missing_item_sees_an_empty_item:
        "A condition on a missing item is evaluated on an empty item, so that \
         attribute_not_exists is true.";
    clause "31b", failed_update_creates_no_item:
        "An update whose condition fails on a missing item creates no item.";
    clause "31c", condition_on_attribute_of_missing_item_fails:
        "A condition that needs an attribute fails on a missing item, for put, update and delete.";
    extra "write-condition-on-key" of "31a", condition_on_key_sees_the_stored_item:
        "A condition on the key is evaluated on the stored item, not on the one to be written.";
    extra "write-condition-reads-old" of "31a", condition_reads_the_old_item:
        "A condition reads the item as it was before, also for attributes that the write sets.";
    extra "write-condition-nested" of "31c", condition_reads_nested_paths:
        "A condition reads nested paths; a path without a value is a missing attribute.";
    extra "write-condition-types" of "31c", condition_on_two_types_fails:
        "A condition that compares values of two types is false, and the write fails.";
    extra "write-put-if-absent" of "31a", put_if_absent_writes_once:
        "A put with attribute_not_exists writes the item once.";
    extra "write-put-if-absent-sort-key" of "31a", put_if_absent_checks_the_whole_key:
        "attribute_not_exists of the partition key checks the item, not the partition.";
    extra "write-version-lock" of "31c", version_lock_admits_one_of_two_writers:
        "Of two writers with the same version in their conditions, one succeeds.";
    extra "write-index-after-failure" of "31b", failed_write_leaves_the_indexes:
        "A write whose condition fails leaves the indexes unchanged.";
    clause "33a", delete_of_missing_item_succeeds: "Deleting a missing item succeeds.";
    extra "write-delete-twice" of "33a", second_delete_succeeds:
        "Deleting an item a second time succeeds.";
    extra "write-delete-one" of "33a", delete_affects_one_item:
        "A delete affects no other item of the partition.";
    clause "34a", put_of_index_key_of_wrong_type_is_rejected:
        "A put with an index key of the wrong type is rejected with ValidationException.";
    extra "write-index-key-lsi" of "34a", put_of_local_index_key_of_wrong_type_is_rejected:
        "A put with a local index key of the wrong type is rejected with ValidationException.",
        needs [LocalIndexes];
    extra "write-index-key-half" of "34a", sort_key_alone_is_checked_on_put:
        "The index sort key of a put is checked, even if the item lacks the index partition key.";
    extra "write-index-key-half-update" of "34b", sort_key_alone_is_checked_on_update:
        "The index sort key of an update is checked, even if the item lacks the index partition \
         key.";
    extra "write-index-key-lsi-update" of "34b",
        update_to_local_index_key_of_wrong_type_is_rejected:
        "An update that gives a local index key the wrong type is rejected with \
         ValidationException.", needs [LocalIndexes];
    clause "34b", update_to_index_key_of_wrong_type_is_rejected:
        "An update that gives an index key the wrong type is rejected with ValidationException.";
    extra "write-index-key-computed" of "34b", computed_index_key_is_checked:
        "An index key that an update copies or computes is checked.";
    extra "write-index-key-computed-valid" of "34b", computed_index_key_moves_the_entry:
        "A valid index key that an update copies or computes moves the index entry.";
    clause "34c", empty_index_key_is_rejected:
        "An empty index key is rejected with ValidationException, on put and update.";
    clause "34d", non_scalar_index_key_is_rejected:
        "A list, map, set, BOOL or NULL as an index key is rejected with ValidationException.";
    extra "write-index-key-size" of "34c", index_key_size_is_limited_on_put:
        "A put accepts index keys up to the size of table keys, and rejects larger ones.";
    extra "write-index-key-size-update" of "34c", index_key_size_is_limited_on_update:
        "An update that makes an index key larger than a table key can be is rejected with \
         ValidationException.";
    extra "write-index-key-kept" of "34b", unchanged_index_key_is_not_checked:
        "An attribute that an update leaves unchanged is not checked, since it can be older \
         than the index.";
    extra "write-index-key-missing" of "34a", item_without_index_keys_is_accepted:
        "An item without index keys is accepted, and is in no index.";
    extra "write-put-replaces", put_replaces_the_whole_item:
        "A put replaces the whole item: attributes that the new item lacks are deleted.";
    extra "write-same-put-twice", repeated_put_changes_nothing: "A repeated put changes nothing.";
    extra "write-key-attributes", key_needs_exactly_its_attributes:
        "A key must have the key attributes of the table and no others.";
    extra "write-item-without-key", item_needs_its_key:
        "A put must contain the key attributes of the table.";
    extra "write-key-type", key_needs_its_types:
        "Key attributes must have the types of the key schema.";
    extra "write-missing-table", write_to_missing_table_fails:
        "A write to a missing table fails with ResourceNotFoundException.";
    extra "write-invalid-condition", invalid_condition_is_rejected:
        "An invalid condition is rejected with ValidationException, whatever the item.";
}

/// Kinds of single-item writes, which get the same condition each.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Put,
    Update,
    Delete,
}

const KINDS: [Kind; 3] = [Kind::Put, Kind::Update, Kind::Delete];

/// Condition as text with its placeholder values.
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

/// Returns the key of the item that these cases write.
fn key() -> Item {
    item! { "pk" => "a" }
}

/// Returns the item that [`Kind::Put`] puts.
fn written() -> Item {
    key().with("w", "new")
}

/// Returns a string set.
fn strings<const N: usize>(members: [&str; N]) -> Value {
    Value::Ss(Set::new(members.map(str::to_owned)).expect("distinct members"))
}
