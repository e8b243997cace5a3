//! Update expressions (23-27).

mod actions;
mod lists;
mod paths;
mod text;
mod values;

use self::actions::*;
use self::lists::*;
use self::paths::*;
use self::text::*;
use self::values::*;
use super::prelude::*;

cases! {
    Updates;
    clause "23a", clauses_read_the_old_item: "All clauses of an update read the item as it was.";
    extra "update-swaps" of "23a", swap: "Two attributes, or two elements of a list, can be swapped.";
    extra "update-new-attribute-unread" of "23a", new_attribute_is_not_read:
        "What an update sets cannot be read by the same update.";
    clause "23b", remove_counts_as_it_was: "REMOVE counts the elements of a list as they were.";
    extra "update-set-and-remove-elements" of "23b", set_and_remove_count_as_it_was:
        "SET and REMOVE in one list both count its elements as they were.";
    clause "23c", overlapping_paths_are_refused:
        "Two paths of which one is or lies in the other are refused.";
    extra "update-paths-conflict" of "23c", conflicting_paths_are_refused:
        "Paths that take one value for a map and for a list are refused.";
    extra "update-siblings" of "23c", siblings_are_no_overlap:
        "Paths to siblings do not overlap, and may be read while they are written.";
    clause "23d", each_keyword_stands_once: "Each keyword may stand once.";
    extra "update-keyword-order" of "23d", keywords_in_any_order_and_case:
        "Keywords stand in any order, and in any case of their letters.";
    clause "23e", key_attributes_are_fixed: "Key attributes cannot be changed, in no way.";
    extra "update-key-read" of "23e", key_attributes_can_be_read:
        "Key attributes can be read by an update, also of an item that is not there yet.";
    extra "update-key-nested" of "23e", keys_are_scalars:
        "A path into a key of the table or of an index is refused.";
    clause "24a", set_past_the_end_appends: "SET of an element past the end appends, unpadded.";
    clause "24b", elements_past_the_end_are_in_order:
        "Several elements past the end are appended in the order of their indexes.";
    clause "24c", missing_parent_is_invalid: "A path with a missing parent is invalid.";
    extra "update-missing-item-nested" of "24c", nested_path_in_a_missing_item:
        "A nested path in an item that is not there is invalid, and makes no item.";
    clause "24d", parent_of_another_type_is_invalid: "A path through another type is invalid.";
    clause "24e", removing_nothing_does_nothing: "REMOVE of what is not there does nothing.";
    extra "update-remove-only-missing-item" of "24e", removing_from_nothing_makes_no_item:
        "An update that only takes away makes no item where there is none.";
    extra "update-remove-and-set-missing-item" of "24e", setting_makes_the_item:
        "An update that also sets something makes the item.";
    clause "25a", list_append_keeps_its_order:
        "list_append puts its first list before its second.";
    extra "update-list-append-types" of "25a", list_append_takes_lists:
        "list_append takes lists only, be they constants or attributes.";
    clause "25b", list_append_takes_if_not_exists: "list_append takes if_not_exists.";
    extra "update-list-append-nested" of "25b", list_append_cannot_be_nested:
        "list_append cannot stand inside another function or a sum.";
    clause "25c", parentheses_are_legal: "Parentheses around operands and sums are legal.";
    extra "update-parentheses-doubled" of "25c", doubled_parentheses_are_refused:
        "Doubled parentheses are refused, and so are those around a target.";
    clause "25d", functions_can_be_summed: "Functions may be added and subtracted.";
    extra "update-sum-chains" of "25d", sums_have_two_operands:
        "A sum has two operands: chains are a syntax error.";
    extra "update-sum-types" of "25d", sums_take_numbers: "A sum takes numbers only.";
    extra "update-if-not-exists" of "25d", if_not_exists_takes_what_is_there:
        "if_not_exists gives what is there, a NULL too, or else its second operand.";
    extra "update-if-not-exists-operands" of "25d", if_not_exists_operands:
        "if_not_exists takes a path and one other operand.";
    clause "26a", add_takes_numbers_and_sets: "ADD takes numbers and sets only.";
    extra "update-add-mixed" of "26a", add_takes_its_own_type:
        "ADD takes a value of the type that the attribute has.";
    clause "26b", add_counts_from_zero: "ADD to a missing number counts from 0.";
    clause "26c", add_makes_a_set: "ADD to a missing set makes it; to a set, it is a union.";
    extra "update-add-nested" of "26b", add_works_inside: "ADD works inside maps and lists.";
    clause "26d", delete_takes_sets: "DELETE takes sets only.";
    extra "update-delete-mixed" of "26d", delete_takes_its_own_type:
        "DELETE takes a set of the type that the attribute has.";
    clause "26e", deleting_the_last_member_removes_the_set:
        "DELETE of the last member removes the attribute.";
    extra "update-delete-nested" of "26e", emptied_nested_set_is_removed:
        "A set inside a map or list is removed when it is emptied, too.";
    extra "update-delete-absent" of "26e", deleting_absent_members_does_nothing:
        "DELETE of members that are not there, or from no set, does nothing.";
    clause "26f", sum_with_a_missing_number_is_an_error:
        "SET n = n + :x with a missing n is an error, and makes no item.";
    extra "update-operand-missing" of "26f", missing_operand_is_an_error:
        "An operand that is not there is an error, wherever it stands.";
    clause "27a", key_alone_makes_the_item: "An update with a key alone makes the item.";
    clause "27b", key_alone_changes_nothing: "An update with a key alone leaves an item as it is.";
    extra "update-key-alone-condition" of "27a", key_alone_with_a_condition:
        "An update with a key alone heeds its condition.";
    extra "update-whole-document", whole_values_are_replaced:
        "SET of a map or list replaces it whole, whatever its type was.";
    extra "update-deep-path", deep_paths: "Deep paths read and write through maps and lists.";
    extra "update-dotted-name", dotted_name: "A name with a dot behind a placeholder is one name.";
    extra "update-counter", counter: "if_not_exists and a sum make a counter.";
    extra "update-builder-and-text", builder_and_text_agree:
        "An update that is built does what the same one as text does.";
    extra "update-nesting", nesting_is_limited: "An update cannot nest deeper than an item may.";
    extra "update-301-actions", actions_are_not_counted:
        "Actions without operators do not count as operators.";
    extra "update-syntax", wrong_syntax_is_refused: "A text that is no update is refused.";
    extra "update-functions", other_functions_are_refused:
        "Functions of conditions, and unknown ones, are refused.";
    extra "update-undefined-placeholder", undefined_placeholders_are_refused:
        "A placeholder that stands for nothing is refused.";
    extra "update-condition-first", condition_is_judged_first:
        "A condition that fails comes before anything that the item makes wrong.";
    extra "update-error-in-transaction" of "26a", errors_cancel_a_transaction:
        "What an item makes wrong about an update cancels its transaction.", needs [Transactions];
    extra "update-in-transaction" of "23a", transaction_updates_alike:
        "Updates in a transaction read and write as single ones do.", needs [Transactions];
}

/// The key of the one item that these cases change.
fn key() -> Item {
    item! { "pk" => "a" }
}

/// The item that most cases start from.
fn sample() -> Item {
    item! {
        "pk" => "a",
        "n" => 5,
        "s" => "abc",
        "l" => list![0, 1, 2],
        "m" => map! { "x" => 1, "y" => map! { "z" => 2 } },
        "ss" => strings(["a", "b"]),
        "ns" => numbers([1, 2]),
        "flag" => true,
        "nil" => Value::Null,
        "b" => b"\x01\x02",
    }
}

/// A set of strings.
fn strings<const N: usize>(members: [&str; N]) -> Value {
    Value::Ss(Set::new(members.map(str::to_owned)).expect("members that differ"))
}

/// A set of numbers.
fn numbers<const N: usize>(members: [i64; N]) -> Value {
    Value::Ns(Set::new(members.map(Number::from)).expect("members that differ"))
}

/// The values of `:…` placeholders.
type Values<'a> = &'a [(&'a str, Value)];

/// An update of the item as text.
fn update(table: &Table, text: &str, values: Values<'_>) -> UpdateItem {
    let request = UpdateItem::new(table, key()).update(text);
    values.iter().fold(request, |request, (name, value)| request.value(*name, value))
}

/// The update must turn the sample into this.
async fn changes(ctx: &Ctx, table: &Table, text: &str, values: Values<'_>, after: Item) {
    turns(ctx, table, sample(), text, values, after).await;
}

/// The update must turn one item into another.
async fn turns(
    ctx: &Ctx,
    table: &Table,
    before: Item,
    text: &str,
    values: Values<'_>,
    after: Item,
) {
    ctx.put(table, before).await;
    if let Err(error) = ctx.store().update(update(table, text, values)).await {
        panic!("{text}: {error}");
    }
    let actual = ctx.get(table, key()).await;
    assert_eq!(actual, Some(after), "after {text}");
}

/// The update must be refused with this message; the caller proves that nothing changed.
async fn refuses(ctx: &Ctx, table: &Table, text: &str, values: Values<'_>, message: &str) {
    let result = ctx.store().update(update(table, text, values)).await;
    ctx.expect_validation(result.map(|answer| (text, answer)), message);
}

const INVALID_PATH: &str =
    "The document path provided in the update expression is invalid for update";
const NO_ATTRIBUTE: &str =
    "The provided expression refers to an attribute that does not exist in the item";
const WRONG_TYPE: &str = "An operand in the update expression has an incorrect data type";
