//! Update expressions: clauses, paths, lists and sums (23-27).

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
    clause "23a", every_clause_reads_the_old_item:
        "All clauses of an update read the item as it was before: SET a = b, b = :x stores the \
         old b in a.";
    extra "update-swaps" of "23a", values_can_be_swapped:
        "Two attributes or two elements of a list can be swapped.";
    extra "update-cannot-read-new-attribute" of "23a", new_attribute_cannot_be_read:
        "An attribute that an update creates cannot be read by the same update.";
    clause "23b", remove_counts_old_elements:
        "REMOVE counts the list elements as they were before the update.";
    extra "update-set-and-remove-elements" of "23b", set_and_remove_count_old_elements:
        "SET and REMOVE on one list both count its elements as they were before the update.";
    clause "23c", overlapping_paths_are_rejected:
        "Two paths that are equal or of which one contains the other are rejected with \
         ValidationException.";
    extra "update-paths-conflict" of "23c", conflicting_paths_are_rejected:
        "Update paths that use one value both as a map and as a list are rejected with \
         ValidationException.";
    extra "update-siblings" of "23c", sibling_paths_do_not_overlap:
        "Paths to siblings do not overlap, and can be read while they are written.";
    clause "23d", each_keyword_is_allowed_once:
        "Each of the keywords SET, REMOVE, ADD and DELETE can occur once in an update.";
    extra "update-keyword-order" of "23d", keywords_are_accepted_in_any_order_and_case:
        "Keywords can be in any order and in any letter case.";
    clause "23e", key_attributes_cannot_be_changed:
        "Key attributes cannot be changed by any clause.";
    extra "update-key-read" of "23e", key_attributes_can_be_read:
        "An update can read key attributes, also those of a missing item.";
    extra "update-key-nested" of "23e", path_into_key_is_rejected:
        "An update path into a key attribute of the table or of an index is rejected with \
         ValidationException.";
    clause "24a", set_past_the_end_appends:
        "SET of a list element past the end appends it without padding.";
    clause "24b", elements_past_the_end_are_appended_in_order:
        "Several list elements past the end are appended in the order of their indexes.";
    clause "24c", path_with_missing_parent_is_rejected:
        "A path whose parent is missing is rejected with ValidationException.";
    extra "update-missing-item-nested" of "24c", nested_path_in_missing_item_is_rejected:
        "A nested path in a missing item is rejected with ValidationException and creates no item.";
    clause "24d", path_through_another_type_is_rejected:
        "A path whose parent is of another type is rejected with ValidationException.";
    clause "24e", remove_of_missing_value_does_nothing: "REMOVE of a missing value does nothing.";
    extra "update-remove-only-missing-item" of "24e", remove_alone_creates_no_item:
        "An update that only removes creates no item if there is none.";
    extra "update-remove-and-set-missing-item" of "24e", remove_and_set_create_the_item:
        "An update that removes and sets creates a missing item.";
    clause "25a", list_append_keeps_the_order: "list_append puts its first list before its second.";
    extra "update-list-append-types" of "25a", list_append_accepts_only_lists:
        "list_append accepts only lists, as constants or as attributes.";
    clause "25b", list_append_accepts_if_not_exists:
        "list_append accepts if_not_exists as an operand.";
    extra "update-list-append-nested" of "25b", nested_list_append_is_rejected:
        "list_append inside another function or a sum is rejected.";
    clause "25c", parentheses_are_accepted:
        "Parentheses around functions, operands and sums are accepted.";
    extra "update-parentheses-doubled" of "25c", doubled_parentheses_are_rejected:
        "Doubled parentheses and parentheses around a target are rejected.";
    clause "25d", functions_can_be_summed:
        "Functions can be operands of an addition or subtraction.";
    extra "update-sum-chains" of "25d", sums_have_two_operands:
        "A sum has two operands; a longer chain is a syntax error.";
    extra "update-sum-types" of "25d", sums_accept_only_numbers: "A sum accepts only numbers.";
    extra "update-if-not-exists" of "25d", if_not_exists_returns_the_existing_value:
        "if_not_exists returns the existing value, also a NULL, and otherwise its second operand.";
    extra "update-if-not-exists-operands" of "25d", if_not_exists_needs_a_path_and_an_operand:
        "if_not_exists accepts a path and one other operand.";
    clause "26a", add_accepts_only_numbers_and_sets: "ADD accepts only numbers and sets.";
    extra "update-add-wrong-type" of "26a", add_needs_the_type_of_the_attribute:
        "ADD accepts only a value of the attribute's type.";
    clause "26b", add_to_missing_number_counts_from_zero: "ADD to a missing number counts from 0.";
    clause "26c", add_creates_a_missing_set:
        "ADD creates a missing set, and forms the union with an existing one.";
    extra "update-add-nested" of "26b", add_works_in_nested_values:
        "ADD works on values in maps and lists.";
    clause "26d", delete_accepts_only_sets: "DELETE accepts only sets.";
    extra "update-delete-wrong-type" of "26d", delete_needs_the_type_of_the_attribute:
        "DELETE accepts only a set of the attribute's type.";
    clause "26e", delete_of_last_member_removes_the_attribute:
        "DELETE of the last member of a set removes the attribute.";
    extra "update-delete-nested" of "26e", emptied_nested_set_is_removed:
        "DELETE of the last member of a nested set removes the set from its map or list.";
    extra "update-delete-missing-members" of "26e", delete_of_missing_members_does_nothing:
        "DELETE of missing members or from a missing set does nothing.";
    clause "26f", sum_with_missing_number_is_rejected:
        "SET n = n + :x with a missing n is rejected with ValidationException and creates no item.";
    extra "update-operand-missing" of "26f", missing_operand_is_rejected:
        "A missing attribute as an operand is rejected with ValidationException, at any place \
         of the expression.";
    clause "27a", update_with_key_alone_creates_the_item:
        "An update with a key and no expression creates a missing item.";
    clause "27b", update_with_key_alone_changes_nothing:
        "An update with a key and no expression does not change an existing item.";
    extra "update-key-alone-condition" of "27a", update_with_key_alone_evaluates_its_condition:
        "An update with a key and no expression evaluates its condition.";
    extra "update-whole-document", whole_values_are_replaced:
        "SET of a map or list replaces the whole value, whatever its type was.";
    extra "update-deep-path", deep_paths_are_read_and_written:
        "Deep paths read and write through maps and lists.";
    extra "update-dotted-name", dotted_name_is_one_name:
        "A name with a dot behind a placeholder is one name.";
    extra "update-counter", if_not_exists_makes_a_counter:
        "if_not_exists in a sum makes a counter that starts at its default.";
    extra "update-builder-and-text", builder_and_text_agree:
        "An update from the builder has the effect of its text form.";
    extra "update-nesting", nesting_is_limited:
        "An update cannot nest values deeper than an item can.";
    extra "update-301-actions", actions_are_no_operators:
        "Actions without operators do not count towards the 300 operators of an expression.";
    extra "update-syntax", syntax_errors_are_rejected:
        "An update with a syntax error is rejected with ValidationException.";
    extra "update-functions", other_functions_are_rejected:
        "Functions of conditions and unknown functions are rejected in updates.";
    extra "update-undefined-placeholder", undefined_placeholders_are_rejected:
        "An undefined placeholder in an update is rejected with ValidationException.";
    extra "update-condition-precedes-errors", failed_condition_precedes_item_errors:
        "A failed condition is reported before an error that the item causes in the update.";
    extra "update-error-in-transaction" of "26a", item_errors_cancel_a_transaction:
        "An error that the item causes in an update cancels its transaction.", needs [Transactions];
    extra "update-in-transaction" of "23a", transactional_updates_equal_single_ones:
        "Updates in a transaction read and write as single updates do.", needs [Transactions];
}

/// Returns the key of the only item that these cases change.
fn key() -> Item {
    item! { "pk" => "a" }
}

/// Returns the item that most cases start from.
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

/// Returns a string set.
fn strings<const N: usize>(members: [&str; N]) -> Value {
    Value::Ss(Set::new(members.map(str::to_owned)).expect("distinct members"))
}

/// Returns a number set.
fn numbers<const N: usize>(members: [i64; N]) -> Value {
    Value::Ns(Set::new(members.map(Number::from)).expect("distinct members"))
}

/// Values of the `:…` placeholders.
type Values<'a> = &'a [(&'a str, Value)];

/// Returns an update of the item in the text form.
fn update(table: &Table, text: &str, values: Values<'_>) -> UpdateItem {
    let request = UpdateItem::new(table, key()).update(text);
    values.iter().fold(request, |request, (name, value)| request.value(*name, value))
}

/// Asserts that the update turns the sample into this item.
async fn changes(ctx: &Ctx, table: &Table, text: &str, values: Values<'_>, after: Item) {
    turns(ctx, table, sample(), text, values, after).await;
}

/// Asserts that the update turns one item into another.
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

/// Asserts that the update is rejected with this message; the caller asserts that nothing changed.
async fn refuses(ctx: &Ctx, table: &Table, text: &str, values: Values<'_>, message: &str) {
    let result = ctx.store().update(update(table, text, values)).await;
    ctx.expect_validation(result.map(|answer| (text, answer)), message);
}

const INVALID_PATH: &str =
    "The document path provided in the update expression is invalid for update";
const NO_ATTRIBUTE: &str =
    "The provided expression refers to an attribute that does not exist in the item";
const WRONG_TYPE: &str = "An operand in the update expression has an incorrect data type";
