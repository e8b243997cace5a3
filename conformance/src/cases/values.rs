//! Numbers, sets, sizes, key values (1-12).
//!
//! Texts that are no values (39 digits, an empty set, a false NULL) cannot be held by core's
//! types, so these cases come in as DynamoDB JSON, as they would from a caller.

mod keys;
mod numbers;
mod sets;
mod sizes;

use super::prelude::*;

use keys::*;
use numbers::*;
use sets::*;
use sizes::*;

cases! {
    Values;

    clause "1a", number_keeps_38_digits: "A number keeps 38 significant digits exactly.";
    clause "1b", magnitudes_in_range: "Magnitudes from 1E-130 to 9.99…E+125 are stored.";
    clause "1c", digit_39_is_refused: "A number of 39 significant digits is refused.";
    extra "number-zeros-are-no-digits" of "1c", zeros_are_no_digits:
        "Zeros at the ends of a number are no significant digits.";
    clause "1d", overflow_is_refused: "1E126 and beyond is refused as overflow.";
    clause "1e", underflow_is_refused: "1E-131 and below is refused as underflow.";
    clause "1f", zero_is_range_checked: "A zero's exponent is range-checked like any other.";
    extra "number-refused-at-any-depth" of "1d", numbers_are_checked_at_any_depth:
        "Numbers in lists, maps and sets are checked too.";
    clause "2a", meaningless_characters_go: "Signs, zeros and points without meaning go.";
    clause "2b", minus_zero_is_zero: "-0 becomes 0.";
    clause "2c", exponents_are_written_out: "An exponent is written out.";
    clause "2d", trailing_zeros_go: "Trailing zeros of a fraction go.";
    clause "2e", what_is_no_number: "Spaces, ++5, 0x5, 1_000, NaN, Infinity and 1e are refused.";
    extra "number-normalised-at-any-depth" of "2a", numbers_are_normalised_at_any_depth:
        "Numbers in lists, maps and sets are normalised too.";
    clause "3a", one_number_is_one_key: "1, 1.0 and 1e0 address the same item.";
    clause "3b", one_number_twice_in_a_batch: "1 and 1.0 in one batch write are a duplicate.";
    clause "3c", one_number_twice_in_a_transaction:
        "1 and 1.0 in one transaction are two operations on one item.", needs [Transactions];
    clause "3d", one_number_twice_in_a_batch_get:
        "A batch get of 1 and 1.0 gives the item or refuses the duplicate, never it twice.";
    extra "number-key-in-every-operation" of "3a", one_number_key_everywhere:
        "Reads, updates and deletes find the item whatever the spelling of its number key.";
    clause "4a", numbers_sort_numerically: "Number sort keys are in numeric order.";
    clause "4b", digit_38_tells_keys_apart:
        "Number sort keys that differ in the 38th digit are different and in order.";
    clause "4c", strings_sort_by_utf8: "String sort keys are in the order of their UTF-8 bytes.";
    clause "4d", binaries_sort_by_bytes: "Binary sort keys are in the order of unsigned bytes.";
    extra "number-ranges" of "4a", number_ranges: "Ranges of number sort keys are numeric.";
    extra "index-sort-orders" of "4a", indexes_sort_alike:
        "Index sort keys are in the same orders as table sort keys.";
    clause "5a", sums_are_exact: "Addition and subtraction are decimal and exact.";
    clause "5b", sum_overflows: "A result beyond the largest magnitude is an error.";
    clause "5c", sum_of_39_digits_is_refused: "A sum that needs 39 digits is an error.";
    extra "sum-underflows" of "5b", sum_underflows:
        "A result below the smallest magnitude is an error, and zero is none.";
    extra "sum-of-far-magnitudes" of "5c", sum_of_far_magnitudes:
        "Nothing is rounded away when a very small number is added to a very large one.";

    clause "6a", number_sizes: "A number's size is 1, and 1 per two digits around the point.";
    clause "6b", negative_number_sizes: "A negative number's size is 1 more.";
    clause "6c", zeros_have_no_size: "Zeros at the ends of a number have no size.";
    clause "7a", names_and_values_have_sizes:
        "An item's size is its names in UTF-8 and its values.";
    clause "7b", container_sizes: "A list or map is 3 bytes, and 1 per element.";
    clause "7c", null_and_bool_sizes: "NULL and BOOL are 1 byte.";
    extra "set-sizes" of "7a", set_sizes: "A set's size is that of its members.";
    clause "7d", largest_put: "A put of 409,600 bytes is accepted, of 409,601 refused.";
    clause "7e", largest_batch_put: "A batch write of 409,600 bytes is accepted, of 409,601 refused.";
    clause "7f", largest_transactional_put:
        "A transactional put of 409,600 bytes is accepted, of 409,601 refused.",
        needs [Transactions];
    extra "large-put-with-failing-condition" of "7d", size_goes_before_the_condition:
        "An item that is too large is refused before its condition is judged.";
    clause "8a", largest_updated_item:
        "An update that makes an item of more than 409,600 bytes is refused.";
    clause "8b", largest_update:
        "An update is charged 19 bytes per value it writes and 2 per one it clears, and 3.";
    extra "update-shrinks-a-large-item" of "8a", an_update_may_shrink_a_large_item:
        "An update of an item of the largest size may replace what makes it large.";

    clause "9a", empty_values_are_stored:
        "Empty strings and binaries are stored in attributes that are no keys.";
    clause "9b", empty_key_is_refused:
        "An empty string or binary in the table's key is refused.";
    extra "empty-key-in-every-operation" of "9b", empty_key_everywhere:
        "An empty key is refused by reads, updates, deletes and batches alike.";
    clause "9c", empty_index_key_is_refused:
        "An empty string or binary in an index key is refused.";
    clause "9d", empty_sets_are_refused: "An empty set is refused at any depth.";
    clause "9e", sets_may_hold_an_empty_member:
        "A set may hold an empty string or an empty binary.";
    clause "9f", duplicates_are_refused: "A set with a duplicate is refused.";
    clause "9g", number_duplicates_are_refused:
        "Duplicates in a number set are judged by value.";
    clause "10a", false_null_is_refused: "A NULL that is false is refused.";
    clause "10b", nesting_31: "31 nested containers are accepted.";
    clause "10c", nesting_32: "32 nested containers are refused.";
    extra "nesting-by-update" of "10c", nesting_by_update:
        "An update that nests 32 containers is refused.";
    clause "11a", sets_are_unordered: "Sets are equal whatever the order of their members.";
    clause "11b", sets_come_back_sorted:
        "Sets come back sorted: strings and binaries by bytes, numbers by value.";
    extra "every-type-comes-back", every_type_comes_back:
        "Every type of value comes back as it was written, by every read.";
    extra "any-text-comes-back", any_text_comes_back:
        "Strings and names keep every character, and binaries every byte.";

    clause "12a", partition_key_length:
        "A partition key of 2048 bytes is accepted, of 2049 refused.";
    clause "12b", sort_key_length: "A sort key of 1024 bytes is accepted, of 1025 refused.";
    clause "12c", key_length_on_reads: "Key sizes are checked on reads too.";
    extra "key-length-in-queries" of "12c", sort_key_length_in_queries:
        "The size of a sort key is checked in key conditions.";
    extra "partition-key-length-in-queries" of "12c", partition_key_length_in_queries:
        "The size of a partition key is checked in key conditions.";
    extra "index-key-length" of "12a", index_key_length:
        "An index key that is too long is refused on put.";
    clause "12d", empty_name_is_refused: "An empty attribute name is refused.";
    extra "name-length" of "12d", name_length:
        "An attribute name of 65,535 bytes is accepted, of 65,536 refused.";
}

/// The largest item in bytes.
const LARGEST: usize = 409_600;

/// The item with this text as its `n`.
fn number(text: &str) -> serde_json::Value {
    serde_json::json!({ "pk": { "S": "a" }, "n": { "N": text } })
}

/// The texts of stored numbers are what core makes of them, on services too: what is compared is
/// that the value survived, and that core's text of it is the normal one.
async fn expect_stored(ctx: &Ctx, table: &Table, written: &str, normal: &str) {
    ctx.ok(ctx.put_json(table, number(written)).await);
    let item = ctx.get(table, item! { "pk" => "a" }).await.expect("just written");
    let Some(ValueRef::N(number)) = item.get("n") else { panic!("no number in {item:?}") };
    assert_eq!(number.to_string(), normal, "{written}");
}

/// A put of this item must be refused, and leave the table empty.
async fn expect_refused_json(ctx: &Ctx, table: &Table, item: serde_json::Value, message: &str) {
    ctx.expect_validation(ctx.put_json(table, item).await, message);
    ctx.expect_table(table, &[]).await;
}
