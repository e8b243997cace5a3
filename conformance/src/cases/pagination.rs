//! Pages and the keys between them (46, 47).

mod start;
mod walk;

use super::ascending::{KEY_TYPES, ascending};
use super::prelude::*;
use start::*;
use walk::*;

cases! {
    Pagination;
    clause "46a", last_key_of_index: "The last key of an index page has the keys of index and table.",
        needs [LocalIndexes];
    clause "46b", ties: "Items with equal index keys are neither repeated nor skipped between pages.";
    clause "46c", cursor_item_is_gone: "A page begins after a key whose item no longer exists.";
    clause "46d", start_in_other_partition: "A start key of another partition is refused.";
    clause "46e", start_outside_range: "A start key outside the range of the sort key is refused.";
    clause "46f", upper_bound_holds: "The upper bound of BETWEEN holds on the second page.";
    clause "47a", last_page:
        "A page that ends at the last item may have a last key; the next page is then empty.";
    clause "52c", index_without_sort_key:
        "A global index without a sort key is paged by the table's keys.";

    extra "pages-of-table", pages_of_table:
        "Pages of any limit give a partition once, both ways, for every type of sort key.";
    extra "pages-of-gsi", pages_of_gsi: "The same on a global index, for every type of its keys.";
    extra "pages-of-lsi", pages_of_lsi: "The same on a local index.", needs [LocalIndexes];
    extra "pages-of-ranges" of "46f", pages_of_ranges:
        "Every range of a sort key keeps both its ends on every page, both ways.";
    extra "pages-of-gsi-ranges" of "46f", pages_of_gsi_ranges:
        "So does every range of an index, where other entries tie with its ends.";
    extra "pages-with-filter", pages_with_filter:
        "Pages with a filter give what passes once, however few of a page do.";
    extra "pages-with-projection", pages_with_projection:
        "The last key has the keys though the projection does not.";
    extra "pages-of-hash-table", pages_of_hash_table: "A table without a sort key is paged, too.";
    extra "pages-of-scan", pages_of_scan:
        "Pages of a scan give every item once, for every type of key.";
    extra "pages-of-index-scan", pages_of_index_scan: "So do pages of a scan of an index.",
        needs [LocalIndexes];
    extra "ties-of-lsi" of "46b", ties_of_lsi: "Ties in a local index are paged likewise.",
        needs [LocalIndexes];
    extra "ties-keep-order" of "46b", ties_keep_their_order:
        "Ties come in the same order whatever the limit, and are reversed as a whole.";
    extra "last-key-shared" of "46a", last_key_of_inverted_index:
        "A key that index and table share stands once in the last key.";
    extra "cursor-gone-everywhere" of "46c", cursor_is_gone_everywhere:
        "Pages go on though every cursor item is deleted on the way, on table and indexes.",
        needs [LocalIndexes];
    extra "cursor-moved" of "46c", cursor_item_moves:
        "Pages of an index go on after an entry that has moved away.";
    extra "cursor-never-was" of "46c", cursor_that_never_was:
        "A start key need not ever have existed.";
    extra "written-between-pages" of "46c", written_between_pages:
        "What is written behind the cursor is not read, what is written ahead of it is.";
    extra "start-wrong-shape", start_of_wrong_shape:
        "A start key with too few, too many or other attributes is refused.";
    extra "start-wrong-shape-index", start_of_wrong_shape_in_index:
        "A start key of an index without the keys of index and table is refused.",
        needs [LocalIndexes];
    extra "start-wrong-type", start_of_wrong_type: "A start key of another type is refused.";
    extra "start-empty", start_that_is_empty: "An empty start key is refused.";
    extra "start-too-long", start_that_is_too_long:
        "A start key may be longer than the key of any item: nothing is refused, nothing missed.",
        needs [LocalIndexes];
    extra "start-other-partition-range" of "46d", start_in_other_partition_with_range:
        "A start key of another partition is refused with a range, too.";
}

/// The pages must give these items in this order, with any limit; each page but the last is as
/// long as its limit, and its last key is that of its last item.
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

/// The pages must give these items in this order, and backwards.
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

/// These attributes of an item.
fn part(item: &Item, attributes: &[&str]) -> Item {
    Projection::new(attributes.iter().copied()).project(item)
}

/// Seven items of the partition `a` whose values of an attribute ascend, then one of `b`.
fn seven(partition: &str, attribute: &str, kind: KeyType) -> Vec<Item> {
    let item = |number: usize, value: Value| {
        let mut item = item! { "pk" => "a", "sk" => number, partition => "a" };
        item.insert(attribute, value);
        item
    };
    ascending(kind).into_iter().enumerate().map(|(number, value)| item(number, value)).collect()
}
