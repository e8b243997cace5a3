//! Queries: limits, pages, `Select`, order (44, 45, 48-50, 52).

mod limits;
mod ranges;
mod select;

use super::ascending::{KEY_TYPES, ascending};
use super::prelude::*;
use limits::*;
use ranges::*;
use select::*;

cases! {
    Query;
    clause "44a", limit_counts_before_the_filter:
        "Limit counts the items that are read, before the filter.";
    clause "44b", page_without_items_can_have_a_last_key:
        "A page can have no items and still have a last evaluated key.";
    clause "44c", count_and_scanned_count_differ_by_the_filter:
        "Count is the number of items that pass the filter, ScannedCount the number of items \
         that are read.";
    extra "limit-zero" of "44a", limit_below_one_is_rejected:
        "A limit below 1 is rejected with ValidationException.";
    extra "limit-large" of "44a", limit_above_item_count_changes_nothing:
        "A limit above the number of items does not change the result.";
    extra "limit-on-index" of "44a", limit_counts_index_entries:
        "Limit on an index counts index entries.";
    extra "query-empty-partition" of "44c", empty_partition_returns_an_empty_page:
        "A query of a partition without items returns an empty page.";
    extra "count-returns-no-items" of "44c", count_returns_no_items:
        "Select COUNT returns both counts and no items.";
    extra "filter-then-projection" of "44c", filter_sees_unprojected_attributes:
        "The filter of a query sees attributes that the projection omits.";

    clause "45a", page_ends_at_1_mb_before_the_filter:
        "A page ends at 1 MB of the items that are read, before the filter.";
    clause "45b", page_ends_at_1_mb_before_the_projection:
        "A page ends at 1 MB of whole items, before the projection.";
    clause "45c", index_page_ends_at_1_mb_of_projected_attributes:
        "A page of an index ends at 1 MB of projected attributes.";
    clause "45d", item_across_the_limit_is_returned:
        "An item that exceeds what remains of the 1 MB is still returned on the page.";
    extra "scan-page-before-filter" of "45a", scan_page_ends_at_1_mb_before_the_filter:
        "A page of a scan ends at 1 MB of the items that are read, before the filter.";
    extra "page-of-count" of "45b", count_page_ends_at_1_mb:
        "A page of a COUNT ends at 1 MB of the items that are read.";
    extra "page-descending" of "45b", descending_page_ends_at_1_mb:
        "A page of a descending query ends at 1 MB.";
    extra "page-below-limit" of "45b", page_ends_at_1_mb_below_its_limit:
        "A page ends at 1 MB even if it has fewer items than its limit.";
    extra "page-of-complete-index" of "45c", page_of_complete_index_ends_at_1_mb:
        "A page of an index that projects all attributes ends at 1 MB.";
    extra "page-exactly-full" of "45d", page_full_at_last_item_has_no_last_key:
        "A page that the last item fills exactly has no last evaluated key.";

    clause "48a", consistent_query_of_global_index_is_rejected:
        "A consistent query of a global secondary index is rejected with ValidationException.";
    clause "48b", consistent_scan_of_global_index_is_rejected:
        "A consistent scan of a global secondary index is rejected with ValidationException.";
    clause "48c", consistent_count_of_global_index_is_rejected:
        "A consistent COUNT of a global secondary index is rejected with ValidationException.";
    clause "48d", consistent_read_of_local_index_is_accepted:
        "A consistent read of a local secondary index is accepted.", needs [LocalIndexes];
    extra "consistent-query-sees-writes" of "48d", consistent_query_sees_completed_writes:
        "A consistent query sees every write that has returned.", needs [LocalIndexes];

    clause "50a", count_with_projection_is_rejected:
        "COUNT with a projection is rejected with ValidationException.";
    clause "50b", specific_attributes_need_a_projection:
        "SPECIFIC_ATTRIBUTES without a projection is rejected with ValidationException.";
    clause "50c", projected_attributes_need_an_index:
        "ALL_PROJECTED_ATTRIBUTES without an index is rejected with ValidationException.";
    extra "select-all-with-projection" of "50a", all_attributes_with_projection_are_rejected:
        "ALL_ATTRIBUTES and ALL_PROJECTED_ATTRIBUTES with a projection are rejected with \
         ValidationException.";
    extra "select-specific" of "50b", specific_attributes_are_those_of_the_projection:
        "SPECIFIC_ATTRIBUTES returns the attributes of the projection.";
    extra "select-all" of "50c", all_attributes_are_the_default_of_tables:
        "ALL_ATTRIBUTES on a table is the default.";
    extra "query-projection", query_projection_returns_named_attributes:
        "A projection on a query returns the attributes that it names, and keys only if it \
         names them.";

    clause "52a", descending_query_reverses_the_sort_order:
        "A descending query returns the items in descending order of the sort key.";
    clause "52b", descending_query_keeps_partition_range_and_limit:
        "A descending query stays in its partition, and respects ranges and limits.";
    extra "ranges-of-table", sort_key_conditions_select_ranges_of_tables:
        "Every sort key condition selects its range of a table, for every type of key, in both \
         directions.";
    extra "ranges-of-gsi", sort_key_conditions_select_ranges_of_global_indexes:
        "Every sort key condition selects its range of a global secondary index.";
    extra "ranges-of-lsi", sort_key_conditions_select_ranges_of_local_indexes:
        "Every sort key condition selects its range of a local secondary index.",
        needs [LocalIndexes];
    extra "prefixes-of-strings", string_prefix_returns_all_its_keys:
        "A string prefix returns all keys that begin with it, up to the last Unicode character.";
    extra "prefixes-of-binaries", binary_prefix_returns_all_its_keys:
        "A binary prefix returns all keys that begin with it, also if it ends in the byte 0xFF.";
    extra "partition-key-of-every-type", partition_key_selects_its_partition:
        "A partition key of any type selects exactly its partition.";

    extra "query-without-key-condition", query_without_key_condition_is_rejected:
        "A query without a key condition is rejected with ValidationException.";
    extra "query-unknown-index", unknown_index_is_rejected:
        "A read of an unknown index is rejected with ValidationException.";
    extra "query-missing-table", query_of_missing_table_fails:
        "A query of a missing table fails with ResourceNotFoundException.";
    extra "query-filter-on-key", filter_on_key_is_rejected:
        "A filter on a key attribute of the queried table or index is rejected with \
         ValidationException.";
    extra "query-filter-on-other-key", filter_on_other_key_is_accepted:
        "A filter of an index query can use keys of the table, and a filter of a table query \
         keys of the index.";
    extra "query-path-into-key", path_into_key_is_rejected:
        "A path into a key attribute is rejected with ValidationException.";
}

/// Returns five items of one partition, with `sk` from 1 to 5 and `odd` 1 or 0, and one of another.
fn five() -> Vec<Item> {
    let mut items: Vec<Item> =
        (1..=5).map(|n| item! { "pk" => "a", "sk" => n, "odd" => n % 2, "more" => "x" }).collect();
    items.push(item! { "pk" => "b", "sk" => 3, "odd" => 1 });
    items
}

/// Returns a query of the partition with five items.
fn of_five(table: &Table) -> Query {
    Query::new(table, attr("pk").eq("a"))
}
