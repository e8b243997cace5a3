//! Queries (44, 45, 48-50, 52).

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
    clause "44a", limit_is_before_filter: "Limit counts the items that are read, before the filter.";
    clause "44b", empty_page_goes_on: "A page may have no items and go on.";
    clause "44c", counts: "Count is what passed the filter, ScannedCount what was read.";
    extra "limit-zero" of "44a", limit_below_one: "A limit below 1 is refused.";
    extra "limit-large" of "44a", limit_above_all: "A limit above what there is changes nothing.";
    extra "limit-on-index" of "44a", limit_on_indexes: "Limits count entries of indexes likewise.";
    extra "query-nothing" of "44c", nothing_there: "A partition without items gives an empty page.";
    extra "count-only" of "44c", count_only: "COUNT gives both counts and no items.";
    extra "filter-then-projection" of "44c", filter_sees_whole_items:
        "A filter sees attributes that the projection drops.";

    clause "45a", page_is_before_filter: "A page ends at 1 MB of what is read, before the filter.";
    clause "45b", page_is_before_projection:
        "A page ends at 1 MB of whole items, before the projection.";
    clause "45c", page_of_index: "A page of an index ends at 1 MB of what the index carries.";
    clause "45d", item_over_the_edge:
        "An item larger than what is left of the page is returned all the same.";
    extra "scan-page-before-filter" of "45a", scan_page_is_before_filter:
        "A page of a scan ends at 1 MB of what is read, before the filter.";
    extra "page-count" of "45b", page_of_count: "COUNT reads pages of the same size.";
    extra "page-backwards" of "45b", page_backwards: "A descending query has pages of 1 MB, too.";
    extra "page-limit" of "45b", page_below_limit: "A page ends at 1 MB even below its limit.";
    extra "page-of-whole-index" of "45c", page_of_whole_index:
        "A page of an index that carries everything ends at 1 MB.";
    extra "page-exactly-full" of "45d", page_exactly_full:
        "A page that is full with its last item has no last key.";

    clause "48a", consistent_query_of_gsi: "A consistent query of a global index is refused.";
    clause "48b", consistent_scan_of_gsi: "A consistent scan of a global index is refused.";
    clause "48c", consistent_count_of_gsi: "A consistent count of a global index is refused.";
    clause "48d", consistent_read_of_lsi: "A consistent read of a local index is allowed.",
        needs [LocalIndexes];
    extra "consistent-query" of "48d", consistent_reads_see_writes:
        "A consistent query sees every write that was answered.", needs [LocalIndexes];

    clause "50a", count_with_projection: "COUNT with a projection is refused.";
    clause "50b", specific_without_projection: "SPECIFIC_ATTRIBUTES without a projection is refused.";
    clause "50c", projected_without_index: "ALL_PROJECTED_ATTRIBUTES without an index is refused.";
    extra "select-all-with-projection" of "50a", all_with_projection:
        "ALL_ATTRIBUTES and ALL_PROJECTED_ATTRIBUTES with a projection are refused.";
    extra "select-specific" of "50b", specific_with_projection:
        "SPECIFIC_ATTRIBUTES with a projection is the projection alone.";
    extra "select-all" of "50c", all_of_table: "ALL_ATTRIBUTES of a table is what there is anyway.";
    extra "query-projection", projection_of_query:
        "A projection gives what it names, keys only if it names them.";

    clause "52a", descending: "A descending query gives the sort key in descending order.";
    clause "52b", descending_in_range:
        "A descending query stays in its partition, with ranges and limits.";
    extra "ranges-of-table", ranges_of_table:
        "Every condition on a sort key gives its range, for every type of key, both ways.";
    extra "ranges-of-gsi", ranges_of_gsi: "The same on a global index.";
    extra "ranges-of-lsi", ranges_of_lsi: "The same on a local index.", needs [LocalIndexes];
    extra "prefixes-of-strings", prefixes_of_strings:
        "A prefix of a string gives all that begin with it, to the last character there is.";
    extra "prefixes-of-binaries", prefixes_of_binaries:
        "A prefix of a binary gives all that begin with it, if it ends in the largest byte, too.";
    extra "partition-keys", partitions_of_every_type:
        "A partition key of any type names exactly its partition.";

    extra "query-without-condition", no_key_condition: "A query without a key condition is refused.";
    extra "query-unknown-index", unknown_index: "An index that the table does not have is refused.";
    extra "query-missing-table", missing_table: "A query of a table that is not there says so.";
    extra "query-filter-key", filter_on_key: "A filter on a key of what is queried is refused.";
    extra "query-filter-other-key", filter_on_other_key:
        "A filter may name keys of the table in an index, and the other way round.";
    extra "query-path-into-key", path_into_key: "A path into a key attribute is refused.";
}

/// Five items of one partition, `sk` from 1 to 5, `odd` 1 or 0; and one of another partition.
fn five() -> Vec<Item> {
    let mut items: Vec<Item> =
        (1..=5).map(|n| item! { "pk" => "a", "sk" => n, "odd" => n % 2, "more" => "x" }).collect();
    items.push(item! { "pk" => "b", "sk" => 3, "odd" => 1 });
    items
}

/// What is asked of the partition of five.
fn of_five(table: &Table) -> Query {
    Query::new(table, attr("pk").eq("a"))
}
