//! Conditions and filters: syntax, limits and evaluation (13-21).
//!
//! Most cases are tables of expression texts, which `texts.rs` evaluates as conditions and as
//! filters on one item.

mod limits;
mod operands;
mod placeholders;
mod syntax;
mod truth;
mod where_allowed;
mod words;

use self::limits::*;
use self::operands::*;
use self::placeholders::*;
use self::syntax::*;
use self::truth::*;
use self::where_allowed::*;
use self::words::*;
use super::prelude::*;

cases! {
    Conditions;
    clause "13a", reserved_words_are_rejected:
        "A reserved word that is used as a bare name in a condition is rejected with \
         ValidationException.";
    extra "every-reserved-word" of "13a", all_573_reserved_words_are_rejected:
        "Each of the 573 reserved words is rejected as a bare name.";
    extra "words-that-are-not-reserved" of "13a", unreserved_words_are_accepted:
        "Words that are not reserved, among them names of functions, are accepted as bare names.";
    extra "grammar-words-are-no-names" of "13a", grammar_words_are_syntax_errors:
        "Keywords of the expression grammar, such as AND and BETWEEN, are syntax errors where a \
         name is expected.";
    clause "13b", reserved_words_are_case_insensitive:
        "Reserved words are recognized in any letter case.";
    clause "13c", reserved_words_are_rejected_in_every_expression:
        "A reserved word is rejected as a bare name in filters, key conditions, updates and \
         projections too.";
    clause "13d", reserved_words_are_accepted_behind_placeholders:
        "A reserved word can be used behind a name placeholder in every kind of expression.";

    clause "14a", unused_names_are_rejected:
        "A name placeholder that no expression uses is rejected with ValidationException.";
    clause "14b", unused_values_are_rejected:
        "A value placeholder that no expression uses is rejected with ValidationException.";
    extra "condition-placeholders-shared" of "14a", placeholders_need_one_use_in_any_expression:
        "A placeholder is used if at least one expression of the request names it.";
    clause "14c", placeholders_without_expression_are_rejected:
        "Placeholders in a request without expressions are rejected with ValidationException by \
         every operation.";
    clause "14d", placeholders_begin_with_their_marks:
        "Name placeholders must begin with #, value placeholders with a colon.";
    clause "14e", placeholders_can_be_numbers: "A placeholder can be a number, such as #0 or :0.";
    extra "condition-placeholder-undefined", undefined_placeholders_are_rejected:
        "An undefined placeholder is rejected with ValidationException.";
    extra "condition-placeholder-is-one-name", name_placeholder_is_one_name:
        "The value of a name placeholder is one attribute name, including dots and brackets.";
    extra "condition-placeholder-of-an-empty-name", empty_name_is_rejected:
        "A name placeholder with an empty name is rejected with ValidationException.";

    clause "15a", expressions_are_limited_to_4096_bytes:
        "An expression of 4096 bytes is accepted; one of 4097 bytes is rejected.";
    extra "condition-length-is-in-bytes" of "15a", expression_length_is_in_bytes:
        "The length of an expression is counted in UTF-8 bytes, not in characters.";
    clause "15b", expression_length_excludes_placeholder_values:
        "The length of an expression is that of its text, before placeholders are substituted.";
    clause "15c", placeholders_are_limited_to_255_bytes:
        "A placeholder of 255 bytes is accepted; a longer one is rejected.";
    clause "15d", in_is_limited_to_100_operands: "IN accepts 100 operands and rejects 101.";
    clause "15e", expressions_are_limited_to_300_operators:
        "An expression with 300 operators is accepted; one with 301 is rejected.";
    extra "condition-path-depth" of "15e", paths_are_limited_to_32_elements:
        "A path of 32 elements is accepted; one of 33 is rejected.";
    extra "condition-list-index" of "15e", list_indexes_are_limited_to_31_bits:
        "A list index of 2147483647 is accepted; a larger one is rejected.";
    extra "condition-name-length" of "15c", names_are_limited_to_65535_bytes:
        "The name behind a placeholder can have 65,535 bytes; a longer one is rejected.";
    extra "condition-value-depth" of "15c", values_are_limited_to_32_levels:
        "The value behind a placeholder can nest 32 lists; a deeper one is rejected.";
    extra "condition-placeholders-too-large" of "15b", placeholders_over_2_mb_are_rejected:
        "Placeholders, names and values of more than 2 MB together are rejected.";
    extra "condition-placeholders-2-mb" of "15b", placeholders_of_2_mb_are_accepted:
        "Placeholders, names and values of 2 MB together are accepted.";

    clause "16a", doubled_parentheses_are_rejected:
        "Redundant doubled parentheses are rejected with ValidationException.";
    clause "16b", single_parentheses_are_accepted:
        "Single parentheses around conditions and operands are accepted.";
    clause "16c", parentheses_follow_the_same_rules_in_transactions:
        "The rules for parentheses are the same in transactions.", needs [Transactions];
    extra "condition-syntax-ends", truncated_expressions_are_syntax_errors:
        "An expression that ends too early is a syntax error near its last token.";
    extra "condition-syntax-operators", misplaced_operators_are_syntax_errors:
        "A misplaced operator is a syntax error near that operator.";
    extra "condition-syntax-characters", literals_and_other_characters_are_syntax_errors:
        "Characters outside the grammar, such as those of literals, are syntax errors.";
    extra "condition-syntax-paths", malformed_paths_are_syntax_errors:
        "A path has names between its dots and whole numbers in its brackets; anything else is \
         a syntax error.";
    extra "condition-syntax-in-and-between", malformed_in_and_between_are_syntax_errors:
        "IN needs a list in parentheses, and BETWEEN two operands that are joined by AND.";
    extra "condition-syntax-near", syntax_error_quotes_three_tokens:
        "A syntax error quotes the token and its neighbors as they are written.";
    extra "condition-syntax-space", whitespace_and_keyword_case_are_free:
        "Whitespace between tokens is optional, and keywords can have any letter case.";
    extra "condition-precedence", not_binds_tighter_than_and_than_or:
        "NOT binds tighter than AND, and AND tighter than OR; parentheses override the precedence.";

    clause "17a", between_with_reversed_bounds_is_rejected:
        "BETWEEN with constant bounds in the wrong order is rejected with ValidationException, \
         whatever the item.";
    extra "condition-between-binaries" of "17a", between_with_reversed_binaries_is_rejected:
        "BETWEEN with binary bounds in the wrong order is rejected with ValidationException.";
    clause "17b", between_with_bounds_of_two_types_is_rejected:
        "BETWEEN with constant bounds of two types is rejected with ValidationException, \
         whatever the item.";
    clause "17c", begins_with_a_number_is_rejected:
        "begins_with with a constant that is neither S nor B is rejected with \
         ValidationException, whatever the item.";
    clause "17d", comparison_of_a_path_with_itself_is_rejected:
        "A comparison of a path with itself is rejected with ValidationException.";
    extra "condition-order-of-constants" of "17c", order_of_unordered_constants_is_rejected:
        "An order comparison with a constant of an unordered type is rejected with \
         ValidationException.";
    extra "condition-operand-counts", wrong_operand_counts_are_rejected:
        "A function with too few or too many operands is rejected with ValidationException.";
    extra "condition-functions-need-paths", existence_functions_need_paths:
        "attribute_exists and attribute_not_exists accept only a path.";
    extra "condition-functions-misplaced", misplaced_functions_are_rejected:
        "A boolean function is rejected as an operand, and size is rejected as a condition.";
    extra "condition-functions-unknown", unknown_functions_are_rejected:
        "Function names are case-sensitive, and unknown functions are rejected.";
    extra "condition-functions-of-updates", update_functions_are_rejected:
        "The update functions if_not_exists and list_append are rejected in conditions.";
    extra "condition-size-of-constants", size_needs_a_constant_with_a_size:
        "size accepts only constants whose type has a size.";
    extra "condition-first-problem", errors_are_reported_in_a_fixed_order:
        "Syntax errors are reported before those of names and functions, and these before those \
         of placeholders and operands.";

    clause "18a", comparison_with_missing_attribute_is_false:
        "A comparison with a missing attribute is false.";
    clause "18b", inequality_with_missing_attribute_is_true: "<> with a missing attribute is true.";
    clause "18c", not_negates_conditions_on_missing_attributes:
        "NOT negates a condition, also one on a missing attribute.";
    clause "18d", size_of_missing_attribute_matches_nothing:
        "A comparison with the size of a missing attribute is false.";
    extra "condition-size-of-types-without-size" of "18d",
        size_of_types_without_size_matches_nothing:
        "A comparison with the size of a number, a BOOL or a NULL is false.";
    clause "19a", size_of_string_is_in_utf16_code_units:
        "The size of a string is its length in UTF-16 code units.";
    clause "19b", size_of_binary_is_in_bytes: "The size of a binary is its length in bytes.";
    clause "19c", size_of_collection_is_its_element_count:
        "The size of a set, list or map is the number of its elements.";
    clause "20a", contains_finds_substrings: "contains finds a substring of a string.";
    clause "20b", contains_finds_set_members: "contains finds a member of a set.";
    clause "20c", contains_compares_numbers_by_value:
        "contains compares the numbers of a set by value.";
    clause "20d", contains_finds_list_elements: "contains finds an element of a list.";
    extra "condition-contains-in-other-types" of "20d", contains_finds_bytes_and_nothing_in_scalars:
        "contains finds bytes in a binary, and is false for types that have no parts.";
    clause "20e", attribute_type_needs_a_placeholder:
        "The second operand of attribute_type must be a value placeholder.";
    clause "20f", attribute_type_needs_a_type_code:
        "The second operand of attribute_type must be a type code, such as S or NS.";
    extra "condition-attribute-type" of "20f", attribute_type_matches_the_type_alone:
        "attribute_type is true for the type of the attribute and for no other.";
    extra "condition-begins-with", begins_with_is_case_sensitive:
        "begins_with compares prefixes of strings and binaries, and is case-sensitive.";
    clause "21a", comparison_of_two_types_is_false:
        "A comparison of values of two types is false, and is no error.";
    extra "condition-types-by-types" of "21a", values_compare_within_their_type:
        "Values are equal only within their type, and only S, N and B are ordered.";
    extra "condition-equality", equality_is_by_value:
        "Numbers are equal by value, sets in any order, and lists and maps in depth.";
    extra "condition-order", order_is_numeric_or_by_bytes:
        "Numbers are in numeric order, strings and binaries in the order of their bytes.";
    extra "condition-between-and-in", between_is_inclusive_and_in_matches_one:
        "BETWEEN includes its bounds, and IN is true if one operand is equal.";
    extra "condition-attributes-with-attributes", attributes_compare_with_attributes:
        "Attributes can be compared with attributes by every operator.";
    extra "condition-constants-with-constants", constants_compare_with_constants:
        "Constants can be compared with constants.";
    extra "condition-nested-paths", nested_paths_reach_into_documents:
        "Paths reach into maps and lists; a path without a value is a missing attribute.";

    extra "condition-builder", built_conditions:
        "A condition from the builder can use any attribute name, and is evaluated like its text.";
    extra "condition-builder-rejected", invalid_built_conditions_are_rejected:
        "A condition from the builder is validated by the rules of the text form.";
    extra "condition-on-every-write", writes_need_their_conditions:
        "Put, update and delete are applied if their condition is true, and otherwise fail with \
         ConditionalCheckFailedException.";
    extra "condition-in-every-transaction", transactions_need_their_conditions:
        "Each operation of a transaction is applied only if its condition is true.",
        needs [Transactions];
    extra "condition-on-missing-item", conditions_on_missing_items_create_none:
        "A condition on a missing item is evaluated on an empty item, and creates none.";
    extra "condition-sees-old-item", conditions_see_the_old_item:
        "A condition is evaluated on the item before the write, not on the written item.";
    extra "condition-before-update", failed_condition_precedes_update_errors:
        "A false condition is reported before an error that the update would cause on the item.";
    extra "condition-invalid-on-every-write", invalid_conditions_are_rejected_by_every_write:
        "An invalid condition is rejected by every write, with or without an item.";
    extra "condition-invalid-in-transactions", invalid_conditions_reject_transactions:
        "An invalid condition rejects a transaction as a whole, before any condition is evaluated.",
        needs [Transactions];
    extra "filter-invalid-on-every-read", invalid_filters_are_rejected:
        "An invalid filter is rejected by query and scan, even if the table is empty.";
    extra "filter-on-key-attributes", query_filter_on_key_attributes_is_rejected:
        "The filter of a query cannot use the key attributes that the query reads by; the \
         filter of a scan can.";
    extra "condition-on-key-attributes", conditions_can_use_key_attributes:
        "Conditions can use key attributes.";
    extra "condition-into-keys", path_into_key_attribute_is_rejected:
        "A path into a key attribute of the table or of an index is rejected with \
         ValidationException.";
    extra "condition-counter-race" of "18c", concurrent_increments_lose_no_update:
        "Of concurrent writes with the same condition exactly one succeeds at a time, and no \
         update is lost.";
}
