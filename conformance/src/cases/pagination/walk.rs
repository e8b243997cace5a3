//! Reads of all pages to the end.

use std::collections::BTreeSet;

use tabla_core::expr::Condition;

use super::*;

pub(super) async fn pages_of_table_are_complete(ctx: Ctx) {
    for kind in KEY_TYPES {
        let items: Vec<Item> =
            ascending(kind).into_iter().map(|value| item! { "pk" => "a", "sk" => value }).collect();
        let table = ctx.table_with(TableSpec::keys(KeyType::S, Some(kind)), items.clone()).await;
        ctx.put(&table, items[2].clone().with("pk", "b")).await;
        let query = Query::new(&table, attr("pk").eq("a"));
        expect_pages_both_ways(&ctx, query, |item| table.key_of(item), &items).await;
    }
}

pub(super) async fn pages_of_global_index_are_complete(ctx: Ctx) {
    for kind in KEY_TYPES {
        let sort = Some(("gsk", kind));
        let shape =
            TableSpec::s_n().gsi_on("gsi", ("gpk", KeyType::S), sort, IndexProjection::keys_only());
        let items = seven("gpk", "gsk", kind);
        let table = ctx.table_with(shape, items.iter().rev().cloned()).await;
        let query = Query::new(&table, attr("gpk").eq("a")).index("gsi");
        ctx.expect_query(query.clone(), &items).await;
        let key = |item: &Item| part(item, &["pk", "sk", "gpk", "gsk"]);
        expect_pages_both_ways(&ctx, query, key, &items).await;
    }
    // The partition key of the index is tested with every type too.
    for kind in KEY_TYPES {
        let shape = TableSpec::s().gsi_on(
            "gsi",
            ("gpk", kind),
            Some(("gsk", KeyType::N)),
            IndexProjection::all(),
        );
        let table = ctx.table(shape).await;
        let mut all = Vec::new();
        for (number, value) in ascending(kind).into_iter().enumerate() {
            for n in 0..3 {
                all.push(item! { "pk" => format!("{number}-{n}"), "gpk" => &value, "gsk" => n });
            }
        }
        ctx.put_all(&table, all.clone()).await;
        ctx.expect_index(&table, "gsi", &all).await;
        for (number, value) in ascending(kind).into_iter().enumerate() {
            let query = Query::new(&table, attr("gpk").eq(value)).index("gsi");
            let expected = &all[3 * number..3 * number + 3];
            expect_pages_both_ways(&ctx, query, Item::clone, expected).await;
        }
    }
}

pub(super) async fn pages_of_local_index_are_complete(ctx: Ctx) {
    for kind in KEY_TYPES {
        let shape = TableSpec::s_n().lsi_on("lsi", ("lsk", kind), IndexProjection::keys_only());
        let items = seven("pk", "lsk", kind);
        let table = ctx.table_with(shape, items.iter().rev().cloned()).await;
        ctx.put(&table, items[2].clone().with("pk", "b")).await;
        let query = Query::new(&table, attr("pk").eq("a")).index("lsi");
        expect_pages_both_ways(&ctx, query, Item::clone, &items).await;
    }
}

/// Returns conditions on a sort key of seven ascending values, each with the range of values that
/// it selects.
fn ranges(key: &str, values: &[Value; 7]) -> Vec<(Condition, std::ops::Range<usize>)> {
    let at = |position: usize| values[position].clone();
    vec![
        (attr(key).lt(at(5)), 0..5),
        (attr(key).le(at(5)), 0..6),
        (attr(key).gt(at(1)), 2..7),
        (attr(key).ge(at(1)), 1..7),
        (attr(key).between(at(1), at(5)), 1..6),
        (attr(key).eq(at(3)), 3..4),
    ]
}

pub(super) async fn upper_bound_holds_on_second_page(ctx: Ctx) {
    let items: Vec<Item> = (1..=9).map(|n| item! { "pk" => "a", "sk" => n }).collect();
    let table = ctx.table_with(TableSpec::s_n().gsi(), items.clone()).await;
    let query = Query::new(&table, attr("pk").eq("a").and(attr("sk").between(2, 6))).limit(2);
    let pages = ctx.query_pages(query.clone()).await;
    let page = |number: usize| pages.get(number).map_or(&[][..], |page: &Page| &page.items);
    ctx.expect_column(page(0), "sk", [2, 3]);
    ctx.expect_column(page(1), "sk", [4, 5]);
    ctx.expect_column(page(2), "sk", [6]);
    let pages = ctx.query_pages(query.descending()).await;
    let page = |number: usize| pages.get(number).map_or(&[][..], |page: &Page| &page.items);
    ctx.expect_column(page(0), "sk", [6, 5]);
    ctx.expect_column(page(1), "sk", [4, 3]);
    ctx.expect_column(page(2), "sk", [2]);
}

pub(super) async fn pages_keep_the_bounds_of_a_range(ctx: Ctx) {
    for kind in KEY_TYPES {
        let values = ascending(kind);
        let items: Vec<Item> =
            values.iter().map(|value| item! { "pk" => "a", "sk" => value }).collect();
        let table = ctx.table_with(TableSpec::keys(KeyType::S, Some(kind)), items.clone()).await;
        for (condition, range) in ranges("sk", &values) {
            let query = Query::new(&table, attr("pk").eq("a").and(condition));
            expect_pages_both_ways(&ctx, query, Item::clone, &items[range]).await;
        }
    }
}

pub(super) async fn pages_of_index_keep_the_bounds_of_a_range(ctx: Ctx) {
    for kind in KEY_TYPES {
        let values = ascending(kind);
        let sort = Some(("gsk", kind));
        let shape = TableSpec::s().gsi_on("gsi", ("gpk", KeyType::S), sort, IndexProjection::all());
        // Each value has two entries.
        let mut items = Vec::new();
        for (number, value) in values.iter().enumerate() {
            for twin in ["x", "y"] {
                let key = format!("{twin}{number}");
                items.push(item! { "pk" => key, "gpk" => "g", "gsk" => value });
            }
        }
        let table = ctx.table_with(shape, items.clone()).await;
        ctx.expect_index(&table, "gsi", &items).await;
        for (condition, range) in ranges("gsk", &values) {
            let query = Query::new(&table, attr("gpk").eq("g").and(condition.clone())).index("gsi");
            let expected = &items[2 * range.start..2 * range.end];
            let sorted = values[range].iter().flat_map(|value| [value, value]);
            for limit in 1..=expected.len() + 1 {
                let limit = limit as i32;
                let found = ctx.query_all(query.clone().limit(limit)).await;
                ctx.expect_items(&found, expected);
                ctx.expect_column(&found, "gsk", sorted.clone());
                let found = ctx.query_all(query.clone().limit(limit).descending()).await;
                ctx.expect_items(&found, expected);
                ctx.expect_column(&found, "gsk", sorted.clone().rev());
            }
        }
    }
}

pub(super) async fn pages_with_filter_are_complete(ctx: Ctx) {
    let items: Vec<Item> = (0..20)
        .map(|n| item! { "pk" => "a", "sk" => n, "n" => n, "gpk" => "g", "gsk" => format!("{n:02}") })
        .collect();
    let table = ctx.table_with(TableSpec::s_n().gsi(), items.clone()).await;
    ctx.expect_index(&table, "gsi", &items).await;
    for (filter, expected) in [
        (attr("n").is_in([3, 4, 17]), vec![3, 4, 17]),
        (attr("n").gt(18), vec![19]),
        (attr("n").lt(0), vec![]),
        (attr("n").ge(0), (0..20).collect()),
    ] {
        let by_table = Query::new(&table, attr("pk").eq("a"));
        let by_index = Query::new(&table, attr("gpk").eq("g")).index("gsi");
        for query in [by_table, by_index] {
            for limit in [1, 2, 3, 7, 19, 20, 21] {
                let query = query.clone().filter(filter.clone()).limit(limit);
                let pages = ctx.query_pages(query.clone()).await;
                let found: Vec<Item> = pages.iter().flat_map(|page| page.items.clone()).collect();
                ctx.expect_column(&found, "n", expected.clone());
                let scanned: usize = pages.iter().map(|page| page.scanned_count).sum();
                assert_eq!(scanned, 20, "total ScannedCount of {query:?}");
                let count: usize = pages.iter().map(|page| page.count).sum();
                assert_eq!(count, expected.len(), "total Count of {query:?}");
                let found = ctx.query_all(query.descending()).await;
                ctx.expect_column(&found, "n", expected.iter().rev().copied());
            }
        }
        for limit in [1, 3, 20, 21] {
            let scan = Scan::new(&table).filter(filter.clone()).limit(limit);
            let found = ctx.scan_all(scan).await;
            ctx.expect_items(
                &found,
                &expected.iter().map(|n| items[*n].clone()).collect::<Vec<_>>(),
            );
        }
    }
}

pub(super) async fn last_key_is_whole_under_a_projection(ctx: Ctx) {
    let items: Vec<Item> = (0..5)
        .map(|n| item! { "pk" => "a", "sk" => n, "v" => 10 * n, "gpk" => "g", "gsk" => format!("{n}") })
        .collect();
    let table = ctx.table_with(TableSpec::s_n().gsi(), items.clone()).await;
    ctx.expect_index(&table, "gsi", &items).await;
    let projection = Projection::new(["v"]);
    let query = Query::new(&table, attr("pk").eq("a")).projection(projection.clone()).limit(2);
    let page = ctx.ok(ctx.store().query(query.clone()).await);
    ctx.expect_in_order(&page.items, &[item! { "v" => 0 }, item! { "v" => 10 }]);
    assert_eq!(page.last_evaluated_key, Some(item! { "pk" => "a", "sk" => 1 }));
    ctx.expect_column(&ctx.query_all(query).await, "v", [0, 10, 20, 30, 40]);
    let query = Query::new(&table, attr("gpk").eq("g")).index("gsi").projection(projection.clone());
    let page = ctx.ok(ctx.store().query(query.clone().limit(3)).await);
    let last = item! { "pk" => "a", "sk" => 2, "gpk" => "g", "gsk" => "2" };
    assert_eq!(page.last_evaluated_key, Some(last));
    ctx.expect_column(&ctx.query_all(query.limit(3)).await, "v", [0, 10, 20, 30, 40]);
    let scan = Scan::new(&table).projection(projection).limit(2);
    let pages = ctx.scan_pages(scan).await;
    let last = pages[0].last_evaluated_key.as_ref().expect("more items follow");
    assert_eq!(part(last, &["pk", "sk"]), *last, "the last key must have only the table's keys");
    assert_eq!(pages.iter().map(|page| page.count).sum::<usize>(), 5);
}

pub(super) async fn pages_of_table_without_sort_key_are_complete(ctx: Ctx) {
    for kind in KEY_TYPES {
        let items = ascending(kind).map(|value| item! { "pk" => value });
        let table = ctx.table_with(TableSpec::keys(kind, None), items.clone()).await;
        for item in &items {
            let query = Query::new(
                &table,
                attr("pk").eq(item.get("pk").expect("the item has the key").to_value()),
            );
            for limit in [1, 2] {
                let found = ctx.query_all(query.clone().limit(limit)).await;
                ctx.expect_in_order(&found, std::slice::from_ref(item));
                let found = ctx.query_all(query.clone().limit(limit).descending()).await;
                ctx.expect_in_order(&found, std::slice::from_ref(item));
            }
        }
    }
}

/// Asserts that the pages of a scan return every item once with any limit, and that each last key
/// is that of the page's last item.
async fn expect_scan_pages(ctx: &Ctx, scan: Scan, key: &[&str], expected: &[Item]) {
    let whole = ctx.scan_all(scan.clone()).await;
    ctx.expect_items(&whole, expected);
    for limit in 1..=expected.len() + 1 {
        let pages = ctx.scan_pages(scan.clone().limit(limit as i32)).await;
        let found: Vec<Item> = pages.iter().flat_map(|page| page.items.clone()).collect();
        ctx.expect_items(&found, expected);
        for page in &pages[..pages.len() - 1] {
            assert_eq!(
                (page.count, page.scanned_count),
                (limit, limit),
                "limit {limit} of {scan:?}"
            );
            let last = page.items.last().map(|item| part(item, key));
            assert_eq!(page.last_evaluated_key, last, "limit {limit} of {scan:?}");
        }
    }
}

pub(super) async fn pages_of_scan_are_complete(ctx: Ctx) {
    for kind in KEY_TYPES {
        let items = ascending(kind).map(|value| item! { "pk" => value });
        let table = ctx.table_with(TableSpec::keys(kind, None), items.clone()).await;
        expect_scan_pages(&ctx, Scan::new(&table), &["pk"], &items).await;
        let mut items = Vec::new();
        for value in ascending(kind) {
            items.extend(["a", "b"].map(|pk| item! { "pk" => pk, "sk" => &value }));
        }
        let table = ctx.table_with(TableSpec::keys(KeyType::S, Some(kind)), items.clone()).await;
        let scan = Scan::new(&table).consistent_read(true);
        expect_scan_pages(&ctx, scan, &["pk", "sk"], &items).await;
    }
}

pub(super) async fn pages_of_index_scan_are_complete(ctx: Ctx) {
    let items: Vec<Item> = (0..9)
        .map(|n| {
            item! {
                "pk" => format!("p{}", n % 2), "sk" => n, "lsk" => format!("l{}", n / 4),
                "gpk" => format!("g{}", n % 3), "gsk" => format!("s{}", n / 6),
            }
        })
        .collect();
    let table = ctx.table_with(TableSpec::s_n().gsi().lsi(), items.clone()).await;
    // This item is in neither index.
    ctx.put(&table, item! { "pk" => "p0", "sk" => 100 }).await;
    ctx.expect_index(&table, "gsi", &items).await;
    let scan = Scan::new(&table).index("gsi");
    expect_scan_pages(&ctx, scan, &["pk", "sk", "gpk", "gsk"], &items).await;
    let scan = Scan::new(&table).index("lsi");
    expect_scan_pages(&ctx, scan, &["pk", "sk", "lsk"], &items).await;
}

pub(super) async fn last_page_may_have_a_last_key(ctx: Ctx) {
    let items: Vec<Item> = (1..=4).map(|n| item! { "pk" => "a", "sk" => n }).collect();
    let table = ctx.table_with(TableSpec::s_n(), items.clone()).await;
    for limit in [1, 2, 4] {
        let query = Query::new(&table, attr("pk").eq("a")).limit(limit);
        for query in [query.clone(), query.descending()] {
            let pages = ctx.query_pages(query).await;
            let full = 4 / limit as usize;
            assert!(
                [full, full + 1].contains(&pages.len()),
                "unexpected number of pages: {}",
                pages.len()
            );
            if let Some(empty) = pages.get(full) {
                assert_eq!(*empty, Page::default(), "page after the last item");
            }
        }
        let pages = ctx.scan_pages(Scan::new(&table).limit(limit)).await;
        if let Some(empty) = pages.get(4 / limit as usize) {
            assert_eq!(*empty, Page::default(), "page after the last item of a scan");
        }
        ctx.expect_items(
            &pages.into_iter().flat_map(|page| page.items).collect::<Vec<_>>(),
            &items,
        );
    }
}

pub(super) async fn index_without_sort_key_is_paged_by_table_keys(ctx: Ctx) {
    let mut items = Vec::new();
    for pk in ["a", "b", "c"] {
        items.extend((1..=3).map(|sk| item! { "pk" => pk, "sk" => sk, "gpk" => "g" }));
    }
    let table = ctx.table_with(TableSpec::s_n().gsi_hash(), items.clone()).await;
    ctx.expect_index(&table, "gsi", &items).await;
    let query = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    for query in [query.clone(), query.descending()] {
        for limit in 1..=10 {
            let pages = ctx.query_pages(query.clone().limit(limit)).await;
            let found: Vec<Item> = pages.iter().flat_map(|page| page.items.clone()).collect();
            ctx.expect_items(&found, &items);
            let last = pages[0].items.last().cloned();
            if limit < 9 {
                assert_eq!(pages[0].last_evaluated_key, last, "limit {limit}");
            }
        }
    }
}

/// Returns items that tie in the index `gsi`, from several partitions of a table with a sort key.
fn tied() -> Vec<Item> {
    let mut items = Vec::new();
    for pk in ["a", "b", "c"] {
        items.extend(
            [-5, 1, 2, 30].map(|sk| item! { "pk" => pk, "sk" => sk, "gpk" => "g", "gsk" => "tie" }),
        );
    }
    items
}

pub(super) async fn ties_are_neither_repeated_nor_skipped(ctx: Ctx) {
    let items = tied();
    let table = ctx.table_with(TableSpec::s_n().gsi(), items.clone()).await;
    // The ties have neighbors on both sides.
    let around = ["sooner", "zebra"]
        .map(|gsk| item! { "pk" => "d", "sk" => gsk.len(), "gpk" => "g", "gsk" => gsk });
    ctx.put_all(&table, around.clone()).await;
    let all = [&items[..], &around[..]].concat();
    ctx.expect_index(&table, "gsi", &all).await;
    let query = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    let one = Query::new(&table, attr("gpk").eq("g").and(attr("gsk").eq("tie"))).index("gsi");
    for limit in 1..=all.len() + 1 {
        let limit = limit as i32;
        for descending in [false, true] {
            let turn = |query: Query| if descending { query.descending() } else { query };
            let found = ctx.query_all(turn(query.clone()).limit(limit)).await;
            ctx.expect_items(&found, &all);
            let mut order = vec!["sooner"];
            order.extend(["tie"; 12]);
            order.push("zebra");
            if descending {
                order.reverse();
            }
            ctx.expect_column(&found, "gsk", order);
            let found = ctx.query_all(turn(one.clone()).limit(limit)).await;
            ctx.expect_items(&found, &items);
        }
        ctx.expect_items(&ctx.scan_all(Scan::new(&table).index("gsi").limit(limit)).await, &all);
    }
}

pub(super) async fn ties_of_local_index_are_paged(ctx: Ctx) {
    let items: Vec<Item> =
        [-5, 1, 2, 30, 400].map(|sk| item! { "pk" => "a", "sk" => sk, "lsk" => "tie" }).to_vec();
    let table = ctx.table_with(TableSpec::s_n().lsi(), items.clone()).await;
    let query = Query::new(&table, attr("pk").eq("a")).index("lsi").consistent_read(true);
    for limit in 1..=6 {
        ctx.expect_items(&ctx.query_all(query.clone().limit(limit)).await, &items);
        ctx.expect_items(&ctx.query_all(query.clone().limit(limit).descending()).await, &items);
        let scan = Scan::new(&table).index("lsi").limit(limit);
        ctx.expect_items(&ctx.scan_all(scan).await, &items);
    }
}

pub(super) async fn ties_keep_their_order(ctx: Ctx) {
    let items = tied();
    let table = ctx.table_with(TableSpec::s_n().gsi(), items.clone()).await;
    ctx.expect_index(&table, "gsi", &items).await;
    let query = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    let order = ctx.query_all(query.clone()).await;
    let reversed: Vec<Item> = order.iter().rev().cloned().collect();
    for limit in [1, 2, 5, 11, 12] {
        ctx.expect_query(query.clone().limit(limit), &order).await;
        ctx.expect_query(query.clone().descending().limit(limit), &reversed).await;
    }
    let distinct: BTreeSet<String> = order.iter().map(|item| format!("{item:?}")).collect();
    assert_eq!(distinct.len(), items.len());
}
