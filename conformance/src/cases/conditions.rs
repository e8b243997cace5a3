//! Conditions and filters: their text, their limits, their truth (13-21).
//!
//! Most cases are tables of texts, asked as conditions and as filters of the item that
//! `texts.rs` describes.

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
    clause "13a", reserved_words_are_refused: "A reserved word cannot be used bare in a condition.";
    extra "every-reserved-word" of "13a", every_reserved_word: "All 573 reserved words are refused.";
    extra "words-that-are-not-reserved" of "13a", words_that_are_not_reserved:
        "Other words, functions' names among them, can be used bare.";
    extra "words-of-the-grammar" of "13a", words_of_the_grammar:
        "The words that the grammar is made of are no names, and make it a syntax error.";
    clause "13b", reserved_in_any_case: "A reserved word is one in any case of its letters.";
    clause "13c", reserved_in_every_expression:
        "No reserved word in filters, key conditions, updates and projections either.";
    clause "13d", reserved_behind_a_placeholder:
        "A reserved word can be used behind a placeholder, in every kind of expression.";

    clause "14a", unused_names_are_refused: "A name placeholder that no expression uses is refused.";
    clause "14b", unused_values_are_refused:
        "A value placeholder that no expression uses is refused.";
    extra "condition-placeholders-shared" of "14a", placeholders_are_shared:
        "It is enough that one of a request's expressions uses a placeholder.";
    clause "14c", placeholders_need_an_expression:
        "Placeholders without any expression are refused, by every operation.";
    clause "14d", placeholders_have_marks:
        "Name placeholders begin with #, value placeholders with :.";
    clause "14e", placeholders_may_be_numbers: "Placeholders may be numbers: #0, :0.";
    extra "condition-placeholder-undefined", undefined_placeholders_are_refused:
        "A placeholder that stands for nothing is refused.";
    extra "condition-placeholder-is-one-name", a_placeholder_is_one_name:
        "What a name placeholder stands for is one name, dots and brackets included.";
    extra "condition-placeholder-of-an-empty-name", a_placeholder_needs_a_name:
        "A name placeholder cannot stand for the empty name.";

    clause "15a", expressions_have_4096_bytes:
        "An expression of 4096 bytes is accepted, of 4097 refused.";
    extra "condition-length-is-in-bytes" of "15a", length_is_in_bytes:
        "The length of an expression is counted in bytes, not in characters.";
    clause "15b", length_is_that_of_the_text:
        "An expression's length is that of its text, before placeholders are filled in.";
    clause "15c", placeholders_have_255_bytes:
        "A placeholder of 255 bytes is accepted, a longer one refused.";
    clause "15d", in_takes_100_operands: "IN takes 100 operands, and not 101.";
    clause "15e", expressions_have_300_operators:
        "An expression may have 300 operators, and not 301.";
    extra "condition-path-depth" of "15e", paths_have_32_elements:
        "A path may have 32 elements, and not 33.";
    extra "condition-list-index" of "15e", list_indexes_have_31_bits:
        "A list index may be 2147483647, and not more.";
    extra "condition-name-length" of "15c", names_behind_placeholders_have_65535_bytes:
        "A placeholder may stand for a name of 65535 bytes, and not of more.";
    extra "condition-value-depth" of "15c", values_behind_placeholders_have_32_levels:
        "A placeholder may stand for a value of 32 nested lists, and not of more.";
    extra "condition-placeholders-too-large" of "15b", placeholders_of_more_than_2_mb:
        "All placeholders and what they stand for may not have more than 2 MB.";
    extra "condition-placeholders-2-mb" of "15b", placeholders_of_2_mb:
        "All placeholders and what they stand for may have 2 MB.";

    clause "16a", doubled_parentheses_are_refused: "Doubled parentheses are refused.";
    clause "16b", single_parentheses_are_accepted:
        "Single parentheses are accepted, around conditions and operands.";
    clause "16c", parentheses_in_transactions: "Parentheses are judged alike in transactions.",
        needs [Transactions];
    extra "condition-syntax-ends", texts_that_end_early:
        "A text that ends too early is a syntax error near its last token.";
    extra "condition-syntax-operators", operators_in_wrong_places:
        "An operator in a wrong place is a syntax error near it.";
    extra "condition-syntax-characters", characters_that_mean_nothing:
        "Characters outside the grammar, literals among them, are syntax errors.";
    extra "condition-syntax-paths", paths_that_are_none:
        "A path has names between its dots and whole numbers in its brackets.";
    extra "condition-syntax-in-and-between", in_and_between_have_a_form:
        "IN takes a list in parentheses, BETWEEN two operands with AND between them.";
    extra "condition-syntax-near", near_shows_three_tokens:
        "A syntax error shows the token, and the one before and after it as written.";
    extra "condition-syntax-space", space_and_letter_case_are_free:
        "Space is free between tokens, and keywords may be in any letter case.";
    extra "condition-precedence", precedence:
        "NOT binds tighter than AND, AND tighter than OR; parentheses change that.";

    clause "17a", between_the_wrong_way_round:
        "BETWEEN with constant bounds the wrong way round is refused, whatever the item.";
    extra "condition-between-binaries" of "17a", between_binaries_the_wrong_way_round:
        "So is BETWEEN with binaries the wrong way round.";
    clause "17b", between_of_two_types:
        "BETWEEN with constant bounds of two types is refused, whatever the item.";
    clause "17c", begins_with_a_number:
        "begins_with with a constant that is neither S nor B is refused, whatever the item.";
    clause "17d", a_path_and_itself: "A comparison of a path with itself is refused.";
    extra "condition-order-of-constants" of "17c", constants_without_order:
        "Comparing the order of a constant that has none is refused.";
    extra "condition-operand-counts", functions_take_so_many_operands:
        "A function with too few or too many operands is refused.";
    extra "condition-functions-need-paths", functions_that_need_paths:
        "attribute_exists and attribute_not_exists take a path.";
    extra "condition-functions-misplaced", functions_in_wrong_places:
        "A function that is a condition is no operand, and size is no condition.";
    extra "condition-functions-unknown", functions_that_are_none:
        "Functions have their names in lower case, and others do not exist.";
    extra "condition-functions-of-updates", functions_of_updates:
        "if_not_exists and list_append belong to updates.";
    extra "condition-size-of-constants", size_of_constants:
        "size takes a constant that has one.";
    extra "condition-first-problem", the_first_problem_is_reported:
        "Syntax is judged before names and functions, those before placeholders and operands.";

    clause "18a", missing_attributes_compare_false:
        "A comparison with a missing attribute is false.";
    clause "18b", missing_attributes_differ: "<> with a missing attribute is true.";
    clause "18c", not_turns_round: "NOT turns the answer round, also for missing attributes.";
    clause "18d", size_of_nothing: "The size of a missing attribute matches nothing.";
    extra "condition-size-of-what-has-none" of "18d", size_of_what_has_none:
        "The size of a number, a BOOL or a NULL matches nothing either.";
    clause "19a", size_of_strings: "The size of a string is its length in UTF-16 code units.";
    clause "19b", size_of_binaries: "The size of a binary is its length in bytes.";
    clause "19c", size_of_collections:
        "The size of a set, list or map is how many elements it has.";
    clause "20a", contains_in_strings: "contains finds a part of a string.";
    clause "20b", contains_in_sets: "contains finds a member of a set.";
    clause "20c", contains_compares_by_value: "contains compares numbers of a set by value.";
    clause "20d", contains_in_lists: "contains finds an element of a list.";
    extra "condition-contains-elsewhere" of "20d", contains_in_other_types:
        "contains finds bytes in a binary, and nothing in types without parts.";
    clause "20e", attribute_type_takes_a_placeholder:
        "The type in attribute_type must be a value placeholder.";
    clause "20f", attribute_type_takes_a_type_code:
        "The type in attribute_type must be a type code.";
    extra "condition-attribute-type" of "20f", attribute_type_knows_every_type:
        "attribute_type is true for the type that the attribute has, and no other.";
    extra "condition-begins-with", begins_with:
        "begins_with compares the beginnings of strings and of binaries, letter case included.";
    clause "21a", types_do_not_mix: "A comparison of two types is false and no error.";
    extra "condition-types-by-types" of "21a", every_type_with_every_type:
        "Values are equal within their type only, and only S, N and B have an order.";
    extra "condition-equality", equality:
        "Numbers are equal by value, sets in any order, lists and maps in depth.";
    extra "condition-order", order:
        "Numbers are in numeric order, strings and binaries in the order of their bytes.";
    extra "condition-between-and-in", between_and_in:
        "BETWEEN includes its bounds, IN is true if one operand is equal.";
    extra "condition-attributes-with-attributes", attributes_with_attributes:
        "Attributes can be compared with attributes, by every operator.";
    extra "condition-constants-with-constants", constants_with_constants:
        "Constants can be compared with constants.";
    extra "condition-nested-paths", nested_paths:
        "Paths reach into maps and lists; one that leads nowhere is a missing attribute.";

    extra "condition-built", built_conditions:
        "A built condition may use any name, and holds as its text does.";
    extra "condition-built-refused", built_conditions_that_are_refused:
        "A built condition is judged by the rules of the text.";
    extra "condition-on-every-write", conditions_on_every_write:
        "Put, update and delete happen if their condition holds, and else not.";
    extra "condition-in-every-transaction", conditions_in_every_transaction:
        "So does each operation of a transaction.", needs [Transactions];
    extra "condition-on-missing-item", conditions_on_missing_items:
        "A condition on an item that is not there is judged as on an empty one, and leaves none.";
    extra "condition-sees-old-item", conditions_see_the_old_item:
        "A condition is judged on the item before the write, not on what is written.";
    extra "condition-before-update", conditions_come_before_the_update:
        "A condition that does not hold comes before what would be wrong with the change.";
    extra "condition-broken-on-every-write", broken_conditions_change_nothing:
        "A broken condition is refused by every write, whether or not there is an item.";
    extra "condition-broken-in-every-transaction", broken_conditions_in_transactions:
        "In a transaction it refuses the whole request before anything is judged.",
        needs [Transactions];
    extra "filter-broken-on-every-read", broken_filters:
        "A broken filter is refused by query and scan, even if nothing is there.";
    extra "filter-on-key-attributes", filters_on_key_attributes:
        "A query's filter cannot use the key attributes that the query is about; a scan's can.";
    extra "condition-on-key-attributes", conditions_on_key_attributes:
        "Conditions can use key attributes.";
    extra "condition-into-keys", conditions_into_keys:
        "A path into a key attribute, of the table or of an index, is refused.";
    extra "condition-counter-race" of "18c", optimistic_increments:
        "Of concurrent writes on one condition one wins each time, and no update is lost.";
}
