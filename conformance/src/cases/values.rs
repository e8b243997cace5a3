//! Numbers, sets, sizes and key values (1-12).
//!
//! Core's types cannot hold invalid values (39 digits, an empty set, a false NULL), so these cases
//! send DynamoDB JSON, as a client would.

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
    clause "1b", magnitudes_in_range_are_stored:
        "Magnitudes from 1E-130 to 9.99…E+125 are stored, with either sign.";
    clause "1c", number_with_39_digits_is_rejected:
        "A number with 39 significant digits is rejected with ValidationException.";
    extra "number-outer-zeros-are-not-significant" of "1c", outer_zeros_are_not_significant:
        "Zeros at the start and the end of a number are not significant digits.";
    clause "1d", overflow_is_rejected:
        "A number of magnitude 1E126 or more is rejected as an overflow.";
    clause "1e", underflow_is_rejected:
        "A number of magnitude 1E-131 or less is rejected as an underflow.";
    clause "1f", exponent_of_zero_is_range_checked:
        "The exponent of a zero is range-checked too: 0e126 is an overflow, 0e-131 an underflow.";
    extra "number-rejected-at-any-depth" of "1d", nested_numbers_are_validated:
        "Numbers in lists, maps and sets are validated like top-level numbers.";
    clause "2a", redundant_characters_are_removed:
        "A redundant sign, zero or decimal point is removed: 00042, +5, .5 and 1. become 42, 5, \
         0.5 and 1.";
    clause "2b", minus_zero_becomes_zero: "The number -0 becomes 0.";
    clause "2c", exponent_is_written_out:
        "A number with an exponent is returned without it: 1.5E2 becomes 150.";
    clause "2d", trailing_zeros_are_removed:
        "Trailing zeros of a fraction are removed: 1.200 becomes 1.2.";
    clause "2e", malformed_numbers_are_rejected:
        "Texts that are no decimal numbers, such as ++5, 0x5, 1_000, NaN, Infinity and 1e, are \
         rejected with ValidationException.";
    extra "number-normalized-at-any-depth" of "2a", nested_numbers_are_normalized:
        "Numbers in lists, maps and sets are normalized like top-level numbers.";
    clause "3a", equal_numbers_are_one_key: "The number keys 1, 1.0 and 1e0 address the same item.";
    clause "3b", equal_number_keys_in_a_batch_are_duplicates:
        "The number keys 1 and 1.0 in one batch write are duplicates.";
    clause "3c", equal_number_keys_in_a_transaction_are_one_item:
        "The number keys 1 and 1.0 in one transaction are two operations on one item.",
        needs [Transactions];
    clause "3d", equal_number_keys_in_a_batch_get_return_one_item:
        "A batch get of the number keys 1 and 1.0 returns the item once or rejects the duplicate.";
    extra "number-key-in-every-operation" of "3a", number_key_is_found_by_value:
        "Reads, updates and deletes find an item by the value of its number key, whatever its \
         spelling.";
    clause "4a", number_sort_keys_are_in_numeric_order:
        "Number sort keys are in numeric order, negative numbers before zero.";
    clause "4b", sort_keys_differ_in_the_38th_digit:
        "Number sort keys that differ in the 38th digit are different and in order.";
    clause "4c", string_sort_keys_are_in_utf8_order:
        "String sort keys are in the order of their UTF-8 bytes.";
    clause "4d", binary_sort_keys_are_in_byte_order:
        "Binary sort keys are in the order of their unsigned bytes, whatever their lengths.";
    extra "number-ranges" of "4a", number_ranges_are_numeric:
        "Ranges of number sort keys are numeric.";
    extra "index-sort-orders" of "4a", index_sort_keys_have_the_same_order:
        "Index sort keys have the same orders as table sort keys.";
    clause "5a", sums_are_exact: "Addition and subtraction are decimal and exact.";
    clause "5b", sum_overflow_is_rejected:
        "A sum beyond the largest magnitude is rejected and changes nothing.";
    clause "5c", sum_with_39_digits_is_rejected:
        "A sum that needs more than 38 digits is rejected and changes nothing.";
    extra "sum-underflows" of "5b", sum_underflow_is_rejected:
        "A sum below the smallest magnitude is rejected, but a sum of zero is accepted.";
    extra "sum-of-far-magnitudes" of "5c", sum_of_far_magnitudes_is_not_rounded:
        "A sum of a very large and a very small number is rejected rather than rounded.";

    clause "6a", number_size_is_one_byte_per_two_digits:
        "The size of a number is 1 byte, plus 1 byte per two significant digits on each side of \
         the decimal point.";
    clause "6b", negative_number_is_one_byte_larger:
        "A negative number is 1 byte larger than the positive one.";
    clause "6c", outer_zeros_have_no_size:
        "Zeros at the start and the end of a number have no size: 100 and 1E125 have 2 bytes.";
    clause "7a", item_size_is_that_of_names_and_values:
        "The size of an item is the UTF-8 length of its attribute names plus the size of its \
         values.";
    clause "7b", containers_add_3_bytes_and_1_per_element:
        "A list or map has 3 bytes, plus 1 byte per element, besides its contents.";
    clause "7c", null_and_bool_have_1_byte: "A NULL or BOOL has 1 byte.";
    extra "set-sizes" of "7a", set_size_is_that_of_its_members:
        "The size of a set is that of its members.";
    clause "7d", put_is_limited_to_409_600_bytes:
        "A put of 409,600 bytes is accepted; one of 409,601 bytes is rejected with \
         ValidationException.";
    clause "7e", batch_put_is_limited_to_409_600_bytes:
        "A put of 409,600 bytes in a batch is accepted; one of 409,601 bytes is rejected with \
         ValidationException.";
    clause "7f", transactional_put_is_limited_to_409_600_bytes:
        "A put of 409,600 bytes in a transaction is accepted; one of 409,601 bytes is rejected \
         with ValidationException.", needs [Transactions];
    extra "size-limit-precedes-condition" of "7d", size_limit_precedes_condition:
        "An item over the size limit is rejected before its condition is evaluated.";
    clause "8a", updated_item_is_limited_to_409_600_bytes:
        "An update that makes an item larger than 409,600 bytes is rejected with \
         ValidationException.";
    clause "8b", update_request_is_limited_to_409_600_bytes:
        "An update is limited to 409,600 bytes: its names and values, plus 3 bytes, 19 per \
         value that it writes and 2 per value that it clears.";
    extra "update-shrinks-a-large-item" of "8a", update_can_shrink_a_large_item:
        "An update of an item of the largest size can replace its largest value.";

    clause "9a", empty_values_are_stored_outside_keys:
        "Empty strings and binaries are stored in attributes that are no keys.";
    clause "9b", empty_key_is_rejected:
        "An empty string or binary in a key of the table is rejected with ValidationException.";
    extra "empty-key-in-every-operation" of "9b", empty_key_is_rejected_by_every_operation:
        "An empty key is rejected by reads, updates, deletes and batches.";
    clause "9c", empty_index_key_is_rejected:
        "An empty string or binary in an index key is rejected with ValidationException.";
    clause "9d", empty_sets_are_rejected:
        "An empty set is rejected at any depth with ValidationException.";
    clause "9e", sets_can_hold_an_empty_member:
        "A set can hold an empty string or an empty binary.";
    clause "9f", duplicate_set_members_are_rejected:
        "A set with duplicate members is rejected with ValidationException.";
    clause "9g", duplicate_numbers_are_detected_by_value:
        "Duplicates in a number set are detected by value: 1 and 1.0 are duplicates.";
    clause "10a", false_null_is_rejected:
        "A NULL attribute with the value false is rejected with ValidationException.";
    clause "10b", nesting_of_31_levels_is_accepted: "A value of 31 nested containers is accepted.";
    clause "10c", nesting_of_32_levels_is_rejected:
        "A value of 32 nested containers is rejected with ValidationException.";
    extra "nesting-by-update" of "10c", update_to_32_levels_is_rejected:
        "An update that nests 32 containers is rejected with ValidationException.";
    clause "11a", sets_are_unordered: "Sets are equal whatever the order of their members.";
    clause "11b", sets_are_returned_sorted:
        "Sets are returned sorted: strings and binaries by bytes, numbers by value.";
    extra "every-type-is-returned-unchanged", values_of_every_type_are_returned_unchanged:
        "Values of every type are returned unchanged by every read.";
    extra "any-character-is-returned-unchanged", every_character_and_byte_is_returned_unchanged:
        "Strings and names keep every character, and binaries every byte.";

    clause "12a", partition_keys_are_limited_to_2048_bytes:
        "A partition key of 2048 bytes is accepted; one of 2049 bytes is rejected with \
         ValidationException.";
    clause "12b", sort_keys_are_limited_to_1024_bytes:
        "A sort key of 1024 bytes is accepted; one of 1025 bytes is rejected with \
         ValidationException.";
    clause "12c", key_sizes_are_checked_on_reads: "Key sizes are also checked on reads.";
    extra "sort-key-length-in-queries" of "12c", sort_key_size_is_checked_in_queries:
        "The size of a sort key is checked in key conditions.";
    extra "partition-key-length-in-queries" of "12c", partition_key_size_is_checked_in_queries:
        "The size of a partition key is checked in key conditions.";
    extra "index-key-length" of "12a", index_key_size_is_checked_on_put:
        "A put with an index key that is too long is rejected with ValidationException.";
    clause "12d", empty_attribute_name_is_rejected:
        "An empty attribute name is rejected with ValidationException.";
    extra "attribute-name-length" of "12d", attribute_names_are_limited_to_65_535_bytes:
        "An attribute name of 65,535 bytes is accepted; one of 65,536 bytes is rejected with \
         ValidationException.";
}

/// Size of the largest item, in bytes.
const LARGEST: usize = 409_600;

/// Returns an item in DynamoDB JSON with this text as its `n`.
fn number(text: &str) -> serde_json::Value {
    serde_json::json!({ "pk": { "S": "a" }, "n": { "N": text } })
}

/// Asserts that a number is stored and that core's text of it is the normalized one. The text is
/// always core's, also on services, so the comparison shows that the value was preserved.
async fn expect_stored(ctx: &Ctx, table: &Table, written: &str, normal: &str) {
    ctx.ok(ctx.put_json(table, number(written)).await);
    let item = ctx.get(table, item! { "pk" => "a" }).await.expect("the item was written");
    let Some(ValueRef::N(number)) = item.get("n") else { panic!("no number in {item:?}") };
    assert_eq!(number.to_string(), normal, "{written}");
}

/// Asserts that a put of this item is rejected and leaves the table empty.
async fn expect_refused_json(ctx: &Ctx, table: &Table, item: serde_json::Value, message: &str) {
    ctx.expect_validation(ctx.put_json(table, item).await, message);
    ctx.expect_table(table, &[]).await;
}
