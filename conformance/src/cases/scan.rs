//! Scans of whole tables and of segments (51).

use super::ascending::{KEY_TYPES, ascending};
use super::prelude::*;

cases! {
    Scan;
    clause "51a", segment_must_be_below_total_segments:
        "A Segment that is not less than TotalSegments is rejected with ValidationException.";
    clause "51b", total_segments_is_1_to_1_000_000:
        "TotalSegments must be between 1 and 1,000,000.";
    clause "51c", segment_and_total_segments_need_each_other:
        "Segment and TotalSegments must be given together.";
    clause "51d", segments_are_disjoint_and_complete:
        "The segments of a parallel scan are disjoint and together return every item.";
    clause "51e", segment_continues_after_deleted_start_key:
        "A segment continues at a start key whose item was deleted.";
    clause "51f", scan_returns_every_item_once:
        "A scan returns every item once; its order is unspecified.";

    extra "segments-of-every-key-type" of "51d", segments_cover_every_key_type:
        "Segments cover tables with partition keys of every type.";
    extra "segments-in-pages" of "51d", segments_in_pages_are_complete:
        "Segments that are read in pages of any limit return every item once.";
    extra "segments-of-one-partition" of "51d", segments_cover_one_partition_once:
        "Segments of a table with one partition return every item once.";
    extra "segments-of-index" of "51d", segments_cover_indexes:
        "Segments of an index return every entry once.", needs [LocalIndexes];
    extra "segments-concurrent" of "51d", concurrent_segments_are_complete:
        "Segments that are read concurrently return every item once.";
    extra "segments-stable" of "51d", segments_are_stable:
        "A segment returns the same items in each scan.";
    extra "segments-with-filter" of "51d", segments_with_filter_are_complete:
        "Segments with a filter read every item once and return those that match.";
    extra "start-key-in-other-segment", start_key_of_another_segment_is_rejected:
        "A start key of another segment is rejected with ValidationException.";
    extra "scan-empty", scan_of_empty_table_returns_an_empty_page:
        "A scan of an empty table or index returns an empty page.", needs [LocalIndexes];
    extra "scan-sparse-index", scan_of_sparse_index_returns_its_entries:
        "A scan of a sparse index returns only the items that have its key.";
    extra "scan-after-writes" of "51f", consistent_scan_sees_completed_writes:
        "A consistent scan sees every write that has returned.";
    extra "scan-invalid-parameters", rejected_scans_change_nothing:
        "Rejected scans leave the table unchanged.";
}

/// Returns one item for each of thirty partitions, with different values of `n`.
fn thirty() -> Vec<Item> {
    (0..30).map(|n| item! { "pk" => format!("k{n}"), "n" => n }).collect()
}

/// Reads all segments to their ends and returns the items of each, in the order of the segments.
async fn in_segments(ctx: &Ctx, scan: &Scan, total: i32) -> Vec<Vec<Item>> {
    let mut segments = Vec::new();
    for segment in 0..total {
        segments.push(ctx.scan_all(scan.clone().segment(segment, total)).await);
    }
    segments
}

async fn segment_must_be_below_total_segments(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), thirty()).await;
    for (segment, total) in [(1, 1), (2, 2), (3, 2), (999_999, 999_999)] {
        ctx.expect_validation(
            ctx.store().scan(Scan::new(&table).segment(segment, total)).await,
            &format!(
                "The Segment parameter is zero-based and must be less than parameter \
                 TotalSegments: Segment: {segment} is not less than TotalSegments: {total}"
            ),
        );
    }
    let beyond = ctx.store().scan(Scan::new(&table).segment(1_000_000, 1_000_000)).await;
    ctx.expect_validation(
        beyond,
        "1 validation error detected: Value '1000000' at 'segment' failed to satisfy constraint: \
         Member must have value less than or equal to 999999",
    );
    let negative = ctx.store().scan(Scan::new(&table).segment(-1, 2)).await;
    ctx.expect_validation(
        negative,
        "1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: \
         Member must have value greater than or equal to 0",
    );
    ctx.ok(ctx.store().scan(Scan::new(&table).segment(999_999, 1_000_000)).await);
}

async fn total_segments_is_1_to_1_000_000(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), thirty()).await;
    for total in [0, -1] {
        ctx.expect_validation(
            ctx.store().scan(Scan::new(&table).segment(0, total)).await,
            &format!(
                "1 validation error detected: Value '{total}' at 'totalSegments' failed to \
                 satisfy constraint: Member must have value greater than or equal to 1"
            ),
        );
    }
    ctx.expect_validation(
        ctx.store().scan(Scan::new(&table).segment(0, 1_000_001)).await,
        "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy \
         constraint: Member must have value less than or equal to 1000000",
    );
    ctx.expect_items(&ctx.scan_all(Scan::new(&table).segment(0, 1)).await, &thirty());
    let found = ctx.scan_all(Scan::new(&table).segment(0, 1_000_000)).await;
    assert!(found.len() < 30, "one of a million segments has all items");
}

async fn segment_and_total_segments_need_each_other(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), thirty()).await;
    let scan = Scan::new(&table);
    ctx.expect_validation(
        ctx.store().scan(assign!(scan.clone(), { segment: Some(0) })).await,
        "The TotalSegments parameter is required but was not present in the request when Segment \
         parameter is present",
    );
    ctx.expect_validation(
        ctx.store().scan(assign!(scan.clone(), { total_segments: Some(2) })).await,
        "The Segment parameter is required but was not present in the request when parameter \
         TotalSegments is present",
    );
    ctx.expect_items(&ctx.scan_all(scan).await, &thirty());
}

async fn segments_are_disjoint_and_complete(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), thirty()).await;
    for total in [1, 2, 3, 4, 7, 16, 50] {
        let segments = in_segments(&ctx, &Scan::new(&table).consistent_read(true), total).await;
        ctx.expect_items(&segments.concat(), &thirty());
        if total == 2 {
            // Segments are useful only if the items are spread over them.
            assert!(segments.iter().all(|items| !items.is_empty()), "one of two segments is empty");
        }
    }
}

async fn segments_cover_every_key_type(ctx: Ctx) {
    for kind in KEY_TYPES {
        let items = ascending(kind).map(|value| item! { "pk" => value });
        let table = ctx.table_with(TableSpec::keys(kind, None), items.clone()).await;
        for total in [2, 5] {
            let found = in_segments(&ctx, &Scan::new(&table), total).await.concat();
            ctx.expect_items(&found, &items);
        }
    }
}

async fn segments_in_pages_are_complete(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), thirty()).await;
    for limit in [1, 2, 3, 10] {
        let found = in_segments(&ctx, &Scan::new(&table).limit(limit), 4).await.concat();
        ctx.expect_items(&found, &thirty());
    }
}

async fn segments_cover_one_partition_once(ctx: Ctx) {
    let items: Vec<Item> = (0..12).map(|n| item! { "pk" => "a", "sk" => n }).collect();
    let table = ctx.table_with(TableSpec::s_n(), items.clone()).await;
    for (total, limit) in [(2, 100), (3, 1), (8, 5)] {
        let scan = Scan::new(&table).limit(limit);
        ctx.expect_items(&in_segments(&ctx, &scan, total).await.concat(), &items);
    }
}

async fn segments_cover_indexes(ctx: Ctx) {
    let items: Vec<Item> = (0..20)
        .map(|n| {
            item! {
                "pk" => format!("p{}", n % 3), "sk" => n, "lsk" => format!("{}", n % 2),
                "gpk" => format!("g{}", n % 7), "gsk" => "s",
            }
        })
        .collect();
    let table = ctx.table_with(TableSpec::s_n().gsi().lsi(), items.clone()).await;
    ctx.put(&table, item! { "pk" => "p0", "sk" => 100 }).await;
    ctx.expect_index(&table, "gsi", &items).await;
    for index in ["gsi", "lsi"] {
        for (total, limit) in [(1, 3), (2, 100), (5, 2)] {
            let scan = Scan::new(&table).index(index).limit(limit);
            ctx.expect_items(&in_segments(&ctx, &scan, total).await.concat(), &items);
        }
    }
}

async fn concurrent_segments_are_complete(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), thirty()).await;
    let read = |segment: i32| {
        let (ctx, scan) = (ctx.clone(), Scan::new(&table).segment(segment, 6).limit(2));
        async move { ctx.scan_all(scan).await }
    };
    let segments = ctx.at_once((0..6).map(read)).await;
    ctx.expect_items(&segments.concat(), &thirty());
}

async fn segments_are_stable(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), thirty()).await;
    let before = in_segments(&ctx, &Scan::new(&table), 3).await;
    // Changing and deleting items moves no other item to another segment.
    ctx.put(&table, item! { "pk" => "k1", "n" => 100 }).await;
    ctx.delete(&table, item! { "pk" => "k2" }).await;
    let after = in_segments(&ctx, &Scan::new(&table), 3).await;
    for (before, after) in before.iter().zip(&after) {
        let keys = |items: &[Item]| -> Vec<Item> {
            let deleted = item! { "pk" => "k2" };
            items.iter().map(|item| table.key_of(item)).filter(|key| *key != deleted).collect()
        };
        ctx.expect_items(&keys(after), &keys(before));
    }
}

async fn segments_with_filter_are_complete(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), thirty()).await;
    let (mut found, mut scanned) = (Vec::new(), 0);
    for segment in 0..4 {
        let scan = Scan::new(&table).filter(attr("n").lt(5)).segment(segment, 4).limit(3);
        for page in ctx.scan_pages(scan).await {
            found.extend(page.items);
            scanned += page.scanned_count;
        }
    }
    ctx.expect_items(&found, &thirty()[..5]);
    assert_eq!(scanned, 30);
}

async fn segment_continues_after_deleted_start_key(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), thirty()).await;
    let mut found = Vec::new();
    for segment in 0..3 {
        let mut scan = Scan::new(&table).segment(segment, 3).limit(2);
        loop {
            let page = ctx.ok(ctx.store().scan(scan.clone()).await);
            found.extend(page.items);
            let Some(last) = page.last_evaluated_key else { break };
            ctx.delete(&table, last.clone()).await;
            scan.exclusive_start_key = Some(last);
        }
    }
    ctx.expect_items(&found, &thirty());
}

async fn start_key_of_another_segment_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), thirty()).await;
    let segments = in_segments(&ctx, &Scan::new(&table), 2).await;
    for (segment, other) in [(0, 1), (1, 0)] {
        let start = table.key_of(&segments[other][0]);
        let scan = Scan::new(&table).segment(segment, 2).exclusive_start_key(start.clone());
        ctx.expect_validation(
            ctx.store().scan(scan).await,
            &format!(
                "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use \
                 ExclusiveStartKey with correct Segment. TotalSegments: 2 Segment: {segment}"
            ),
        );
        // A scan without segments accepts the start key.
        ctx.ok(ctx.store().scan(Scan::new(&table).exclusive_start_key(start)).await);
    }
}

async fn scan_returns_every_item_once(ctx: Ctx) {
    let mut items = Vec::new();
    for pk in 0..6 {
        items.extend(
            (0..4).map(|sk| item! { "pk" => format!("p{pk}"), "sk" => sk, "n" => pk * sk }),
        );
    }
    let table = ctx.table_with(TableSpec::s_n(), items.clone()).await;
    let scan = Scan::new(&table);
    for scan in [scan.clone(), scan.clone().consistent_read(true), scan.limit(5)] {
        ctx.expect_items(&ctx.scan_all(scan).await, &items);
    }
    // The order of partitions is unspecified; items of one partition are in the order of the sort
    // key.
    let found = ctx.scan_all(Scan::new(&table)).await;
    for pk in 0..6 {
        let of_partition: Vec<Item> = found
            .iter()
            .filter(|item| item.get("pk") == Some(ValueRef::S(&format!("p{pk}"))))
            .cloned()
            .collect();
        ctx.expect_column(&of_partition, "sk", 0..4);
    }
}

async fn scan_of_empty_table_returns_an_empty_page(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n().gsi().lsi()).await;
    let scan = Scan::new(&table);
    for scan in [
        scan.clone(),
        scan.clone().limit(1),
        scan.clone().segment(0, 2),
        scan.clone().select(Select::Count),
        scan.clone().index("gsi"),
        scan.clone().index("lsi").consistent_read(true),
    ] {
        let page = ctx.ok(ctx.store().scan(scan.clone()).await);
        assert_eq!(page, Page::default(), "{scan:?}");
    }
}

async fn scan_of_sparse_index_returns_its_entries(ctx: Ctx) {
    let inside: Vec<Item> =
        (0..3).map(|n| item! { "pk" => format!("in{n}"), "gpk" => "g", "gsk" => "s" }).collect();
    let outside = [item! { "pk" => "out1", "gpk" => "g" }, item! { "pk" => "out2" }];
    let table = ctx.table_with(TableSpec::s().gsi(), inside.clone()).await;
    ctx.put_all(&table, outside.clone()).await;
    ctx.expect_index(&table, "gsi", &inside).await;
    let page = ctx.ok(ctx.store().scan(Scan::new(&table).index("gsi")).await);
    assert_eq!(
        (page.count, page.scanned_count),
        (3, 3),
        "items without index keys must not be read"
    );
    ctx.expect_table(&table, &[&inside[..], &outside[..]].concat()).await;
}

async fn consistent_scan_sees_completed_writes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let mut expected = Vec::new();
    for n in 0..10 {
        let item = item! { "pk" => format!("k{n}"), "n" => n };
        ctx.put(&table, item.clone()).await;
        expected.push(item);
        ctx.expect_table(&table, &expected).await;
    }
    for item in expected.clone() {
        ctx.delete(&table, table.key_of(&item)).await;
        expected.remove(0);
        ctx.expect_table(&table, &expected).await;
    }
}

async fn rejected_scans_change_nothing(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s().gsi(), thirty()).await;
    let before = ctx.snapshot(&table).await;
    for scan in [
        Scan::new(&table).limit(0),
        Scan::new(&table).segment(2, 2),
        Scan::new(&table).index("gsi").consistent_read(true),
        Scan::new(&table).filter("n = :missing"),
        Scan::new(&table).projection("n, n"),
        Scan::new(&table).value(":unused", 1),
        Scan::new(&table).name("#unused", "n"),
    ] {
        let result = ctx.store().scan(scan).await;
        ctx.expect_kind(result, "Validation", |kind| matches!(kind, ErrorKind::Validation));
    }
    ctx.expect_unchanged(&before).await;
}
