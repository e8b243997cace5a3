//! Pages, last evaluated keys and start keys (46, 47).

mod start;
mod walk;

use super::ascending::{KEY_TYPES, ascending};
use super::prelude::*;
use start::*;
use walk::*;

cases! {
    Pagination;
    clause "46a", last_key_has_keys_of_index_and_table:
        "The last evaluated key of an index page has the keys of the index and of the table.",
        needs [LocalIndexes];
    clause "46b", ties_are_neither_repeated_nor_skipped:
        "Items with equal index keys are neither repeated nor skipped between pages.";
    clause "46c", start_key_of_deleted_item_is_accepted:
        "A page can start after a key whose item no longer exists.";
    clause "46d", start_key_of_another_partition_is_rejected:
        "A start key of another partition is rejected with ValidationException.";
    clause "46e", start_key_outside_range_is_rejected:
        "A start key outside the range of the sort key condition is rejected with \
         ValidationException.";
    clause "46f", upper_bound_holds_on_second_page:
        "The upper bound of BETWEEN also applies to the second page.";
    clause "47a", last_page_may_have_a_last_key:
        "A page that ends at the last item may have a last evaluated key; the next page is then \
         empty.";
    clause "52c", index_without_sort_key_is_paged_by_table_keys:
        "A global secondary index without a sort key is paged by the keys of the table.";

    extra "pages-of-table", pages_of_table_are_complete:
        "Pages of a table with any limit return each item once, in both directions, for every \
         type of sort key.";
    extra "pages-of-gsi", pages_of_global_index_are_complete:
        "Pages of a global secondary index return each item once, for every type of its keys.";
    extra "pages-of-lsi", pages_of_local_index_are_complete:
        "Pages of a local secondary index return each item once.", needs [LocalIndexes];
    extra "pages-of-ranges" of "46f", pages_keep_the_bounds_of_a_range:
        "Pages of a range keep both its bounds, in both directions.";
    extra "pages-of-gsi-ranges" of "46f", pages_of_index_keep_the_bounds_of_a_range:
        "Pages of an index range keep both its bounds, even if other entries tie with a bound.";
    extra "pages-with-filter", pages_with_filter_are_complete:
        "Pages with a filter return each matching item once, even if few items of a page match.";
    extra "pages-with-projection", last_key_is_whole_under_a_projection:
        "The last evaluated key has the key attributes even if the projection omits them.";
    extra "pages-of-table-without-sort-key", pages_of_table_without_sort_key_are_complete:
        "Pages of a table without a sort key return each item once.";
    extra "pages-of-scan", pages_of_scan_are_complete:
        "Pages of a scan return each item once, for every type of key.";
    extra "pages-of-index-scan", pages_of_index_scan_are_complete:
        "Pages of an index scan return each item once.", needs [LocalIndexes];
    extra "ties-of-lsi" of "46b", ties_of_local_index_are_paged:
        "Items with equal keys in a local secondary index are neither repeated nor skipped \
         between pages.", needs [LocalIndexes];
    extra "ties-keep-order" of "46b", ties_keep_their_order:
        "Items with equal index keys have the same order with every limit, and the reverse \
         order in descending queries.";
    extra "last-key-shared" of "46a", shared_key_occurs_once_in_last_key:
        "A key attribute that index and table share occurs once in the last evaluated key.";
    extra "start-keys-of-deleted-items" of "46c", start_keys_of_deleted_items_are_accepted:
        "Paging continues although every item at a start key is deleted, on the table and on \
         its indexes.", needs [LocalIndexes];
    extra "start-key-of-moved-entry" of "46c", start_key_of_moved_entry_is_accepted:
        "Paging of an index continues after an entry that has moved to another key.";
    extra "start-key-of-item-that-never-existed" of "46c",
        start_key_of_item_that_never_existed_is_accepted:
        "A start key is accepted even if its item never existed.";
    extra "writes-between-pages" of "46c", writes_ahead_of_the_start_key_are_read:
        "Items that are written behind the start key are not read; items written ahead of it are.";
    extra "start-key-wrong-attributes", start_key_with_wrong_attributes_is_rejected:
        "A start key with missing, additional or other attributes is rejected with \
         ValidationException.";
    extra "start-key-wrong-attributes-index", index_start_key_with_wrong_attributes_is_rejected:
        "A start key of an index without the keys of index and table is rejected with \
         ValidationException.", needs [LocalIndexes];
    extra "start-key-wrong-type", start_key_of_wrong_type_is_rejected:
        "A start key with a value of another type is rejected with ValidationException.";
    extra "start-key-empty", empty_start_key_is_rejected:
        "An empty start key is rejected with ValidationException.";
    extra "start-key-too-long", overlong_start_key_is_accepted:
        "A start key can be longer than the key of any item, and the page misses no item.",
        needs [LocalIndexes];
    extra "start-key-other-partition-range" of "46d",
        start_key_of_another_partition_is_rejected_with_a_range:
        "A start key of another partition is rejected in a query with a range too.";
}

/// Asserts that pages with any limit return these items in this order. Each page but the last has
/// as many items as its limit, and its last key is that of its last item.
async fn expect_pages(ctx: &Ctx, query: Query, key: impl Fn(&Item) -> Item, expected: &[Item]) {
    for limit in 1..=expected.len() + 1 {
        let pages = ctx.query_pages(query.clone().limit(limit as i32)).await;
        let what = format!("limit {limit} of {query:?}");
        let found: Vec<&Item> = pages.iter().flat_map(|page| &page.items).collect();
        assert!(found == expected.iter().collect::<Vec<_>>(), "{what}: {found:?}");
        for (number, page) in pages.iter().enumerate() {
            assert_eq!(page.count, page.items.len(), "{what}");
            assert_eq!(page.scanned_count, page.items.len(), "{what}");
            if number + 1 < pages.len() {
                assert_eq!(page.items.len(), limit, "{what}");
                let last = page.items.last().map(&key);
                assert_eq!(page.last_evaluated_key, last, "{what}");
            }
        }
    }
}

/// Asserts that the pages return these items in this order, and in reverse when descending.
async fn expect_pages_both_ways(
    ctx: &Ctx,
    query: Query,
    key: impl Fn(&Item) -> Item,
    expected: &[Item],
) {
    expect_pages(ctx, query.clone(), &key, expected).await;
    let reversed: Vec<Item> = expected.iter().rev().cloned().collect();
    expect_pages(ctx, query.descending(), key, &reversed).await;
}

/// Returns a part of the item: these attributes.
fn part(item: &Item, attributes: &[&str]) -> Item {
    Projection::new(attributes.iter().copied()).project(item)
}

/// Returns seven items of the partition `a` with ascending values of an attribute, then one of `b`.
fn seven(partition: &str, attribute: &str, kind: KeyType) -> Vec<Item> {
    let item = |number: usize, value: Value| {
        let mut item = item! { "pk" => "a", "sk" => number, partition => "a" };
        item.insert(attribute, value);
        item
    };
    ascending(kind).into_iter().enumerate().map(|(number, value)| item(number, value)).collect()
}
