//! Limits, counts, and pages of 1 MB.

use super::*;

pub(super) async fn limit_counts_before_the_filter(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    let even = of_five(&table).filter(attr("odd").eq(0));
    let page = ctx.ok(ctx.store().query(even.clone().limit(2)).await);
    ctx.expect_column(&page.items, "sk", [2]);
    assert_eq!((page.count, page.scanned_count), (1, 2));
    assert_eq!(page.last_evaluated_key, Some(item! { "pk" => "a", "sk" => 2 }));
    let scan = Scan::new(&table).filter(attr("odd").eq(7)).limit(4);
    let page = ctx.ok(ctx.store().scan(scan).await);
    assert_eq!((page.count, page.scanned_count), (0, 4));
    assert!(page.last_evaluated_key.is_some(), "the limit ended the scan before 1 MB");
    // All pages together return the items that pass the filter.
    ctx.expect_column(&ctx.query_all(even.limit(2)).await, "sk", [2, 4]);
}

pub(super) async fn page_without_items_can_have_a_last_key(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    let query = of_five(&table).filter(attr("odd").eq(0)).limit(1);
    let page = ctx.ok(ctx.store().query(query.clone()).await);
    assert_eq!((page.items.len(), page.count, page.scanned_count), (0, 0, 1));
    assert_eq!(page.last_evaluated_key, Some(item! { "pk" => "a", "sk" => 1 }));
    let next = query.exclusive_start_key(page.last_evaluated_key);
    ctx.expect_column(&ctx.ok(ctx.store().query(next).await).items, "sk", [2]);
}

pub(super) async fn count_and_scanned_count_differ_by_the_filter(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    for (what, filter, count) in [
        ("some", attr("odd").eq(1), 3),
        ("all", attr("more").eq("x"), 5),
        ("none", attr("more").not_exists(), 0),
    ] {
        let query = of_five(&table).filter(filter.clone());
        let page = ctx.ok(ctx.store().query(query).await);
        assert_eq!(
            (page.count, page.scanned_count),
            (count, 5),
            "query whose filter passes {what}"
        );
        assert_eq!(page.items.len(), count, "query whose filter passes {what}");
        let scan = Scan::new(&table).filter(filter.and(attr("pk").eq("a")));
        let page = ctx.ok(ctx.store().scan(scan).await);
        assert_eq!((page.count, page.scanned_count), (count, 6), "scan whose filter passes {what}");
    }
    let page = ctx.ok(ctx.store().query(of_five(&table)).await);
    assert_eq!((page.count, page.scanned_count), (5, 5), "without a filter");
}

pub(super) async fn limit_below_one_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    for limit in [0, -1, i32::MIN] {
        let text = format!(
            "1 validation error detected: Value '{limit}' at 'limit' failed to satisfy \
             constraint: Member must have value greater than or equal to 1"
        );
        ctx.expect_validation(ctx.store().query(of_five(&table).limit(limit)).await, &text);
        ctx.expect_validation(ctx.store().scan(Scan::new(&table).limit(limit)).await, &text);
    }
}

pub(super) async fn limit_above_item_count_changes_nothing(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    for limit in [6, 1000, i32::MAX] {
        let page = ctx.ok(ctx.store().query(of_five(&table).limit(limit)).await);
        ctx.expect_column(&page.items, "sk", 1..=5);
        assert_eq!(page.last_evaluated_key, None, "limit {limit}");
    }
}

pub(super) async fn limit_counts_index_entries(ctx: Ctx) {
    let items: Vec<Item> = (1..=5)
        .map(|n| item! { "pk" => format!("p{n}"), "gpk" => "g", "gsk" => format!("{n}"), "n" => n })
        .collect();
    let table = ctx.table_with(TableSpec::s().gsi(), items.clone()).await;
    ctx.expect_index(&table, "gsi", &items).await;
    let query = Query::new(&table, attr("gpk").eq("g")).index("gsi").filter(attr("n").gt(2));
    let page = ctx.ok(ctx.store().query(query.clone().limit(3)).await);
    assert_eq!((page.count, page.scanned_count), (1, 3));
    let last = item! { "pk" => "p3", "gpk" => "g", "gsk" => "3" };
    assert_eq!(page.last_evaluated_key, Some(last));
    let page = ctx.ok(ctx.store().query(query.limit(2).descending()).await);
    assert_eq!((page.count, page.scanned_count), (2, 2));
    ctx.expect_column(&page.items, "gsk", ["5", "4"]);
}

pub(super) async fn empty_partition_returns_an_empty_page(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n().gsi(), five()).await;
    for query in [
        Query::new(&table, attr("pk").eq("c")),
        Query::new(&table, attr("pk").eq("a").and(attr("sk").gt(5))),
        Query::new(&table, attr("pk").eq("c")).limit(1),
        Query::new(&table, attr("pk").eq("c")).select(Select::Count),
        Query::new(&table, attr("gpk").eq("a")).index("gsi"),
    ] {
        let page = ctx.ok(ctx.store().query(query.clone()).await);
        assert_eq!(page, Page::default(), "{query:?}");
    }
}

pub(super) async fn count_returns_no_items(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    let count = of_five(&table).select(Select::Count);
    let page = ctx.ok(ctx.store().query(count.clone().filter(attr("odd").eq(1))).await);
    assert_eq!((page.count, page.scanned_count), (3, 5));
    assert_eq!(page.items, []);
    let page = ctx.ok(ctx.store().query(count.clone().limit(2)).await);
    assert_eq!((page.count, page.scanned_count), (2, 2));
    assert_eq!(page.last_evaluated_key, Some(item! { "pk" => "a", "sk" => 2 }));
    let pages = ctx.query_pages(count.limit(2)).await;
    assert_eq!(pages.iter().map(|page| page.count).sum::<usize>(), 5);
    let scan = Scan::new(&table).select(Select::Count).filter(attr("pk").eq("b"));
    let page = ctx.ok(ctx.store().scan(scan).await);
    assert_eq!((page.items.len(), page.count, page.scanned_count), (0, 1, 6));
}

pub(super) async fn filter_sees_unprojected_attributes(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), five()).await;
    let projection = Projection::new(["sk"]);
    let query = of_five(&table).filter(attr("odd").eq(0)).projection(projection.clone());
    ctx.expect_query(query, &[item! { "sk" => 2 }, item! { "sk" => 4 }]).await;
    let scan = Scan::new(&table).filter(attr("pk").eq("b")).projection(projection);
    ctx.expect_items(&ctx.scan_all(scan).await, &[item! { "sk" => 3 }]);
}

/// Creates a table of ten items of about 200,000 bytes: six are more than 1 MB, five are less.
async fn ten_large(ctx: &Ctx, shape: TableSpec) -> Table {
    let large = "x".repeat(200_000);
    let item = |n: i32| {
        item! {
            "pk" => "a", "sk" => n, "gpk" => "g", "gsk" => format!("{n:02}"),
            "large" => large.as_str(), "n" => n,
        }
    };
    ctx.table_with(shape, (1..=10).map(item)).await
}

#[track_caller]
fn ends_after(page: &Page, count: usize, scanned: usize) {
    assert!(
        (page.count, page.scanned_count) == (count, scanned),
        "the page ended after {} items, of which {} passed; expected {scanned} and {count}",
        page.scanned_count,
        page.count
    );
}

pub(super) async fn page_ends_at_1_mb_before_the_filter(ctx: Ctx) {
    let table = ten_large(&ctx, TableSpec::s_n()).await;
    let query = of_five(&table).filter(attr("n").gt(9));
    let page = ctx.ok(ctx.store().query(query.clone()).await);
    ends_after(&page, 0, 6);
    assert_eq!(page.last_evaluated_key, Some(item! { "pk" => "a", "sk" => 6 }));
    ctx.expect_column(&ctx.query_all(query).await, "sk", [10]);
}

pub(super) async fn scan_page_ends_at_1_mb_before_the_filter(ctx: Ctx) {
    let table = ten_large(&ctx, TableSpec::s_n()).await;
    let scan = Scan::new(&table).filter(attr("n").gt(9));
    let page = ctx.ok(ctx.store().scan(scan.clone()).await);
    ends_after(&page, 0, 6);
    ctx.expect_column(&ctx.scan_all(scan).await, "sk", [10]);
}

pub(super) async fn page_ends_at_1_mb_before_the_projection(ctx: Ctx) {
    let table = ten_large(&ctx, TableSpec::s_n()).await;
    let projection = Projection::new(["sk"]);
    let page = ctx.ok(ctx.store().query(of_five(&table).projection(projection.clone())).await);
    ends_after(&page, 6, 6);
    ctx.expect_column(&page.items, "sk", 1..=6);
    assert_eq!(page.last_evaluated_key, Some(item! { "pk" => "a", "sk" => 6 }));
    let page = ctx.ok(ctx.store().scan(Scan::new(&table).projection(projection)).await);
    ends_after(&page, 6, 6);
    ctx.expect_column(&ctx.query_all(of_five(&table)).await, "sk", 1..=10);
}

pub(super) async fn count_page_ends_at_1_mb(ctx: Ctx) {
    let table = ten_large(&ctx, TableSpec::s_n()).await;
    let pages = ctx.query_pages(of_five(&table).select(Select::Count)).await;
    let counts: Vec<usize> = pages.iter().map(|page| page.count).collect();
    assert_eq!(counts, [6, 4]);
}

pub(super) async fn descending_page_ends_at_1_mb(ctx: Ctx) {
    let table = ten_large(&ctx, TableSpec::s_n()).await;
    let pages = ctx.query_pages(of_five(&table).descending()).await;
    assert_eq!(pages.len(), 2);
    ctx.expect_column(&pages[0].items, "sk", (5..=10).rev());
    ctx.expect_column(&pages[1].items, "sk", (1..=4).rev());
}

pub(super) async fn page_ends_at_1_mb_below_its_limit(ctx: Ctx) {
    let table = ten_large(&ctx, TableSpec::s_n()).await;
    for (limit, count) in [(5, 5), (6, 6), (7, 6), (100, 6)] {
        let page = ctx.ok(ctx.store().query(of_five(&table).limit(limit)).await);
        ends_after(&page, count, count);
        assert!(page.last_evaluated_key.is_some(), "limit {limit}");
    }
}

pub(super) async fn index_page_ends_at_1_mb_of_projected_attributes(ctx: Ctx) {
    let table =
        ten_large(&ctx, TableSpec::s_n().gsi_projecting(IndexProjection::include(["n"]))).await;
    let query = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    let page = ctx.poll(|| async {
        let page = ctx.ok(ctx.store().query(query.clone()).await);
        (page.scanned_count == 10 || page.last_evaluated_key.is_some()).then_some(page)
    });
    let page = page.await.expect("the index entries appear");
    ends_after(&page, 10, 10);
    assert_eq!(page.last_evaluated_key, None);
    let page = ctx.ok(ctx.store().scan(Scan::new(&table).index("gsi")).await);
    ends_after(&page, 10, 10);
}

pub(super) async fn page_of_complete_index_ends_at_1_mb(ctx: Ctx) {
    let table = ten_large(&ctx, TableSpec::s_n().gsi()).await;
    let query = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    ctx.expect_index(&table, "gsi", &ctx.all_items(&table).await).await;
    let page = ctx.ok(ctx.store().query(query.clone().projection(Projection::new(["n"]))).await);
    ends_after(&page, 6, 6);
    let last = item! { "pk" => "a", "sk" => 6, "gpk" => "g", "gsk" => "06" };
    assert_eq!(page.last_evaluated_key, Some(last));
    ctx.expect_column(&ctx.query_all(query).await, "sk", 1..=10);
}

/// Creates a table of three items with `total` bytes together, then two small ones.
async fn three_of(ctx: &Ctx, total: usize) -> Table {
    let table = ctx.table(TableSpec::s_n()).await;
    let frame = item! { "pk" => "a", "sk" => 1, "x" => "" }.size();
    let mut left = total;
    for n in 1..=3 {
        let size = left / (4 - n);
        left -= size;
        ctx.put(&table, item! { "pk" => "a", "sk" => n, "x" => "x".repeat(size - frame) }).await;
    }
    for n in 4..=5 {
        ctx.put(&table, item! { "pk" => "a", "sk" => n }).await;
    }
    table
}

pub(super) async fn item_across_the_limit_is_returned(ctx: Ctx) {
    const MEGABYTE: usize = 1024 * 1024;
    for (total, count) in [(MEGABYTE - 1, 4), (MEGABYTE, 3), (MEGABYTE + 1, 3)] {
        let table = three_of(&ctx, total).await;
        let page = ctx.ok(ctx.store().query(of_five(&table)).await);
        ends_after(&page, count, count);
        let last = item! { "pk" => "a", "sk" => count };
        assert_eq!(page.last_evaluated_key, Some(last), "{total} bytes in three items");
        ctx.expect_column(&ctx.query_all(of_five(&table)).await, "sk", 1..=5);
    }
}

pub(super) async fn page_full_at_last_item_has_no_last_key(ctx: Ctx) {
    for total in [1024 * 1024, 1024 * 1024 + 1] {
        let table = three_of(&ctx, total).await;
        for n in 4..=5 {
            ctx.delete(&table, item! { "pk" => "a", "sk" => n }).await;
        }
        let page = ctx.ok(ctx.store().query(of_five(&table)).await);
        ends_after(&page, 3, 3);
        // No item follows. A last key would be correct too: AWS may return one, and then an empty
        // page.
        ctx.expect_column(&ctx.query_all(of_five(&table)).await, "sk", 1..=3);
    }
}
