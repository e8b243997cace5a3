//! Last evaluated keys and start keys.

use tabla_core::expr::Condition;

use super::*;

const INVALID: &str = "The provided starting key is invalid";
const MISMATCH: &str = "The provided key element does not match the schema";
const OUT_OF_RANGE: &str = "The provided starting key does not match the range key predicate";
const OTHER_PARTITION: &str =
    "The provided starting key is outside query boundaries based on provided conditions";

/// Returns nine items that have the same order in the table, in `gsi` and in `lsi`.
fn nine() -> Vec<Item> {
    (1..=9)
        .map(|n| {
            let text = format!("{n}");
            item! {
                "pk" => "a", "sk" => n, "gpk" => "g", "gsk" => text.as_str(), "lsk" => text.as_str(),
            }
        })
        .collect()
}

async fn table_of_nine(ctx: &Ctx) -> Table {
    let table = ctx.table_with(TableSpec::s_n().gsi().lsi(), nine()).await;
    ctx.expect_index(&table, "gsi", &nine()).await;
    table
}

fn by_table(table: &Table) -> Query {
    Query::new(table, attr("pk").eq("a"))
}

fn by_lsi(table: &Table) -> Query {
    by_table(table).index("lsi")
}

fn by_gsi(table: &Table) -> Query {
    Query::new(table, attr("gpk").eq("g")).index("gsi")
}

pub(super) async fn last_key_has_keys_of_index_and_table(ctx: Ctx) {
    let table = table_of_nine(&ctx).await;
    for (query, key) in [
        (by_table(&table), &["pk", "sk"][..]),
        (by_gsi(&table), &["pk", "sk", "gpk", "gsk"][..]),
        (by_lsi(&table), &["pk", "sk", "lsk"][..]),
    ] {
        expect_pages_both_ways(&ctx, query, |item| part(item, key), &nine()).await;
    }
    for (index, key) in [("gsi", &["pk", "sk", "gpk", "gsk"][..]), ("lsi", &["pk", "sk", "lsk"])] {
        let page = ctx.ok(ctx.store().scan(Scan::new(&table).index(index).limit(2)).await);
        let last = page.items.last().map(|item| part(item, key));
        assert_eq!(page.last_evaluated_key, last, "scan of {index}");
    }
}

pub(super) async fn shared_key_occurs_once_in_last_key(ctx: Ctx) {
    // The index inverts the keys of the table, as in single-table designs.
    let shape = TableSpec::s_s().with(|request| {
        request.global_index(SecondaryIndex::new("inv").partition_key("sk").sort_key("pk"))
    });
    let items: Vec<Item> = ["a", "b", "c"].map(|pk| item! { "pk" => pk, "sk" => "x" }).to_vec();
    let table = ctx.table_with(shape, items.clone()).await;
    ctx.expect_index(&table, "inv", &items).await;
    let query = Query::new(&table, attr("sk").eq("x")).index("inv");
    expect_pages_both_ways(&ctx, query, Item::clone, &items).await;
    // The sort key of the table is the only key of the index.
    let shape = TableSpec::s_s()
        .with(|request| request.global_index(SecondaryIndex::new("inv").partition_key("sk")));
    let table = ctx.table_with(shape, items.clone()).await;
    ctx.expect_index(&table, "inv", &items).await;
    let query = Query::new(&table, attr("sk").eq("x")).index("inv").limit(2);
    let pages = ctx.query_pages(query).await;
    assert_eq!(pages[0].last_evaluated_key, pages[0].items.last().cloned());
    ctx.expect_items(&pages.into_iter().flat_map(|page| page.items).collect::<Vec<_>>(), &items);
}

pub(super) async fn start_key_of_deleted_item_is_accepted(ctx: Ctx) {
    let items: Vec<Item> = (1..=6).map(|n| item! { "pk" => "a", "sk" => n }).collect();
    for descending in [false, true] {
        let table = ctx.table_with(TableSpec::s_n(), items.clone()).await;
        let query = by_table(&table);
        let query = if descending { query.descending() } else { query }.limit(3);
        let page = ctx.ok(ctx.store().query(query.clone()).await);
        let last = page.last_evaluated_key.expect("more items follow");
        ctx.delete(&table, last.clone()).await;
        let rest = ctx.query_all(query.exclusive_start_key(last)).await;
        let expected = if descending { [3, 2, 1] } else { [4, 5, 6] };
        ctx.expect_column(&rest, "sk", expected);
    }
}

pub(super) async fn start_keys_of_deleted_items_are_accepted(ctx: Ctx) {
    for make in [by_table, by_gsi, by_lsi] {
        for descending in [false, true] {
            let table = table_of_nine(&ctx).await;
            let mut query = make(&table).limit(2);
            query.scan_index_forward = !descending;
            let mut found = Vec::new();
            loop {
                let page = ctx.ok(ctx.store().query(query.clone()).await);
                found.extend(page.items);
                let Some(last) = page.last_evaluated_key else { break };
                ctx.delete(&table, table.key_of(&last)).await;
                query.exclusive_start_key = Some(last);
            }
            let order: Vec<i32> =
                if descending { (1..=9).rev().collect() } else { (1..=9).collect() };
            ctx.expect_column(&found, "sk", order);
        }
    }
    for index in [None, Some("gsi"), Some("lsi")] {
        let table = table_of_nine(&ctx).await;
        let mut scan = Scan::new(&table).limit(2);
        scan.index = index.map(ToOwned::to_owned);
        let mut found = Vec::new();
        loop {
            let page = ctx.ok(ctx.store().scan(scan.clone()).await);
            found.extend(page.items);
            let Some(last) = page.last_evaluated_key else { break };
            ctx.delete(&table, table.key_of(&last)).await;
            scan.exclusive_start_key = Some(last);
        }
        ctx.expect_items(&found, &nine());
    }
}

pub(super) async fn start_key_of_moved_entry_is_accepted(ctx: Ctx) {
    let items: Vec<Item> = (1..=6)
        .map(|n| item! { "pk" => format!("p{n}"), "gpk" => "g", "gsk" => format!("{n}") })
        .collect();
    let table = ctx.table_with(TableSpec::s().gsi(), items.clone()).await;
    ctx.expect_index(&table, "gsi", &items).await;
    let query = by_gsi(&table).limit(2);
    let page = ctx.ok(ctx.store().query(query.clone()).await);
    // The entry at the start key moves to another partition of the index, which does not affect the
    // next page.
    let key = item! { "pk" => "p2" };
    ctx.update(UpdateItem::new(&table, key.clone()).update(Update::new().set("gpk", "h"))).await;
    let moved = Query::new(&table, attr("gpk").eq("h")).index("gsi");
    ctx.expect_query(moved, &[item! { "pk" => "p2", "gpk" => "h", "gsk" => "2" }]).await;
    let rest = query.exclusive_start_key(page.last_evaluated_key);
    ctx.expect_column(&ctx.query_all(rest.clone()).await, "gsk", ["3", "4", "5", "6"]);
    // An entry that moves ahead of the start key is returned again: pages are no snapshot.
    let ahead = Update::new().set("gpk", "g").set("gsk", "7");
    ctx.update(UpdateItem::new(&table, key).update(ahead)).await;
    let mut expected = items[2..].to_vec();
    expected.push(item! { "pk" => "p2", "gpk" => "g", "gsk" => "7" });
    ctx.expect_query(rest, &expected).await;
}

pub(super) async fn start_key_of_item_that_never_existed_is_accepted(ctx: Ctx) {
    let items: Vec<Item> = [10, 20, 30].map(|n| item! { "pk" => "a", "sk" => n }).to_vec();
    let table = ctx.table_with(TableSpec::s_n(), items).await;
    for (start, after, before) in [
        (5, vec![10, 20, 30], vec![]),
        (15, vec![20, 30], vec![10]),
        (25, vec![30], vec![20, 10]),
        (35, vec![], vec![30, 20, 10]),
    ] {
        let query = by_table(&table).exclusive_start_key(item! { "pk" => "a", "sk" => start });
        ctx.expect_column(&ctx.query_all(query.clone()).await, "sk", after);
        ctx.expect_column(&ctx.query_all(query.descending()).await, "sk", before);
    }
    let table = ctx.table_with(TableSpec::s(), [item! { "pk" => "a" }]).await;
    let start = |pk: &str| Scan::new(&table).exclusive_start_key(item! { "pk" => pk });
    // Each start key is before or after the item in hash order, so a page has at most one item.
    for pk in ["b", "c", "d"] {
        let found = ctx.scan_all(start(pk)).await;
        assert!(found.len() <= 1, "{found:?}");
    }
    ctx.expect_items(&ctx.scan_all(start("a")).await, &[]);
}

pub(super) async fn writes_ahead_of_the_start_key_are_read(ctx: Ctx) {
    let items: Vec<Item> = [10, 20, 30, 40].map(|n| item! { "pk" => "a", "sk" => n }).to_vec();
    let table = ctx.table_with(TableSpec::s_n(), items).await;
    let query = by_table(&table).limit(2);
    let page = ctx.ok(ctx.store().query(query.clone()).await);
    ctx.expect_column(&page.items, "sk", [10, 20]);
    ctx.put_all(&table, [5, 15, 25, 45].map(|n| item! { "pk" => "a", "sk" => n })).await;
    let rest = query.exclusive_start_key(page.last_evaluated_key);
    ctx.expect_column(&ctx.query_all(rest).await, "sk", [25, 30, 40, 45]);
}

/// Asserts that the query is rejected with each of these start keys.
async fn refused(ctx: &Ctx, query: &Query, starts: &[Item], text: &str) {
    for start in starts {
        let query = query.clone().exclusive_start_key(start.clone());
        for query in [query.clone(), query.descending()] {
            ctx.expect_validation(ctx.store().query(query).await, text);
        }
    }
}

pub(super) async fn start_key_of_another_partition_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n().gsi(), nine()).await;
    for pk in ["b", "A", "aa"] {
        refused(&ctx, &by_table(&table), &[item! { "pk" => pk, "sk" => 3 }], OTHER_PARTITION).await;
        let start = item! { "pk" => "a", "sk" => 3, "gpk" => pk, "gsk" => "3" };
        refused(&ctx, &by_gsi(&table), &[start], OTHER_PARTITION).await;
    }
    // The table's partition key is unrestricted in a start key of a global index.
    let start = item! { "pk" => "other", "sk" => 3, "gpk" => "g", "gsk" => "35" };
    ctx.expect_index(&table, "gsi", &nine()).await;
    let found = ctx.query_all(by_gsi(&table).exclusive_start_key(start)).await;
    ctx.expect_column(&found, "sk", 4..=9);
}

pub(super) async fn start_key_of_another_partition_is_rejected_with_a_range(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n().gsi(), nine()).await;
    let once = "The query can return at most one row and cannot be restarted";
    let query = Query::new(&table, attr("pk").eq("a").and(attr("sk").gt(2)));
    refused(&ctx, &query, &[item! { "pk" => "b", "sk" => 3 }], once).await;
    refused(&ctx, &query, &[item! { "pk" => "b", "sk" => 1 }], OUT_OF_RANGE).await;
    let query = Query::new(&table, attr("gpk").eq("g").and(attr("gsk").eq("3"))).index("gsi");
    let start = item! { "pk" => "a", "sk" => 3, "gpk" => "h", "gsk" => "3" };
    refused(&ctx, &query, &[start], once).await;
}

pub(super) async fn start_key_outside_range_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n().gsi(), nine()).await;
    let at = |n: i32| item! { "pk" => "a", "sk" => n };
    let ranges: [(Condition, &[i32]); 6] = [
        (attr("sk").between(3, 6), &[1, 2, 7, 100]),
        (attr("sk").lt(4), &[4, 5]),
        (attr("sk").le(4), &[5, 9]),
        (attr("sk").gt(4), &[4, 3, -1]),
        (attr("sk").ge(4), &[3]),
        (attr("sk").eq(4), &[3, 5]),
    ];
    for (range, outside) in ranges {
        let query = Query::new(&table, attr("pk").eq("a").and(range));
        let starts: Vec<Item> = outside.iter().map(|n| at(*n)).collect();
        refused(&ctx, &query, &starts, OUT_OF_RANGE).await;
    }
    let in_index = |gsk: &str| item! { "pk" => "a", "sk" => 3, "gpk" => "g", "gsk" => gsk };
    let ranges: [(Condition, &[&str]); 4] = [
        (attr("gsk").between("3", "6"), &["1", "29", "61"]),
        (attr("gsk").lt("4"), &["4", "5"]),
        (attr("gsk").gt("4"), &["4", "3"]),
        (attr("gsk").begins_with("4"), &["3", "5"]),
    ];
    for (range, outside) in ranges {
        let query = Query::new(&table, attr("gpk").eq("g").and(range)).index("gsi");
        let starts: Vec<Item> = outside.iter().map(|gsk| in_index(gsk)).collect();
        refused(&ctx, &query, &starts, OUT_OF_RANGE).await;
    }
    // A start key inside the range is accepted.
    let query = Query::new(&table, attr("pk").eq("a").and(attr("sk").between(3, 6)));
    let found = ctx.query_all(query.exclusive_start_key(at(4))).await;
    ctx.expect_column(&found, "sk", [5, 6]);
}

pub(super) async fn start_key_with_wrong_attributes_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), nine()).await;
    let wrong = || {
        [
            item! {},
            item! { "pk" => "a" },
            item! { "sk" => 1 },
            item! { "pk" => "a", "sk" => 1, "more" => 1 },
            item! { "pk" => "a", "other" => 1 },
        ]
    };
    refused(&ctx, &by_table(&table), &wrong(), INVALID).await;
    for start in wrong() {
        let scan = Scan::new(&table).exclusive_start_key(start);
        let text = format!("{INVALID}: {MISMATCH}");
        ctx.expect_validation(ctx.store().scan(scan).await, &text);
    }
}

pub(super) async fn index_start_key_with_wrong_attributes_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n().gsi().lsi(), nine()).await;
    let of_gsi = || {
        [
            item! { "gpk" => "g", "gsk" => "1" },
            item! { "pk" => "a", "sk" => 1 },
            item! { "pk" => "a", "sk" => 1, "gpk" => "g" },
            item! { "pk" => "a", "sk" => 1, "gpk" => "g", "gsk" => "1", "lsk" => "1" },
            item! { "pk" => "a", "sk" => 1, "gpk" => "g", "lsk" => "1" },
        ]
    };
    refused(&ctx, &by_gsi(&table), &of_gsi(), INVALID).await;
    let of_lsi = || {
        [
            item! { "pk" => "a", "sk" => 1 },
            item! { "pk" => "a", "lsk" => "1" },
            item! { "pk" => "a", "sk" => 1, "gsk" => "1" },
        ]
    };
    refused(&ctx, &by_lsi(&table), &of_lsi(), INVALID).await;
    for (index, starts) in [("gsi", of_gsi().to_vec()), ("lsi", of_lsi().to_vec())] {
        for start in starts {
            let scan = Scan::new(&table).index(index).exclusive_start_key(start);
            ctx.expect_validation(ctx.store().scan(scan).await, INVALID);
        }
    }
    // The start keys have the keys of the index, but not those of the table.
    let start = item! { "pk" => "a", "other" => 1, "gpk" => "g", "gsk" => "1" };
    let text = format!("{INVALID}: {MISMATCH}");
    refused(&ctx, &by_gsi(&table), std::slice::from_ref(&start), &text).await;
    let scan = Scan::new(&table).index("gsi").exclusive_start_key(start);
    ctx.expect_validation(ctx.store().scan(scan).await, &text);
}

pub(super) async fn start_key_of_wrong_type_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n().gsi(), nine()).await;
    let wrong = || {
        [
            item! { "pk" => "a", "sk" => "1" },
            item! { "pk" => 1, "sk" => 1 },
            item! { "pk" => "a", "sk" => b"1" },
        ]
    };
    let of_table = format!("{INVALID}: {MISMATCH}");
    refused(&ctx, &by_table(&table), &wrong(), MISMATCH).await;
    for start in wrong() {
        let scan = Scan::new(&table).exclusive_start_key(start);
        ctx.expect_validation(ctx.store().scan(scan).await, &of_table);
    }
    for (start, text) in [
        (item! { "pk" => "a", "sk" => 1, "gpk" => "g", "gsk" => 1 }, MISMATCH),
        (item! { "pk" => "a", "sk" => 1, "gpk" => 1, "gsk" => "1" }, MISMATCH),
        (item! { "pk" => "a", "sk" => "1", "gpk" => "g", "gsk" => "1" }, of_table.as_str()),
        (item! { "pk" => 1, "sk" => 1, "gpk" => "g", "gsk" => "1" }, of_table.as_str()),
    ] {
        refused(&ctx, &by_gsi(&table), std::slice::from_ref(&start), text).await;
        let scan = Scan::new(&table).index("gsi").exclusive_start_key(start);
        ctx.expect_validation(ctx.store().scan(scan).await, text);
    }
}

pub(super) async fn empty_start_key_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_n(), nine()).await;
    let text = "The provided starting key is invalid: One or more parameter values are not valid. \
                The AttributeValue for a key attribute cannot contain an empty string value. Key: pk";
    let start = item! { "pk" => "", "sk" => 1 };
    refused(&ctx, &by_table(&table), std::slice::from_ref(&start), text).await;
    let scan = Scan::new(&table).exclusive_start_key(start);
    ctx.expect_validation(ctx.store().scan(scan).await, text);
}

/// A start key is a position, and no item needs to be able to have it.
pub(super) async fn overlong_start_key_is_accepted(ctx: Ctx) {
    let table = table_of_nine(&ctx).await;
    let long = "4".repeat(1025);
    let start = item! { "pk" => "a", "sk" => 4, "gpk" => "g", "gsk" => long.as_str() };
    // The start key is after every text with a smaller first digit, and after "4" itself.
    let rest = ctx.query_all(by_gsi(&table).exclusive_start_key(start.clone())).await;
    assert_eq!(rest, nine()[4..], "query of the index");
    let before = by_gsi(&table).descending().exclusive_start_key(start.clone());
    let expected: Vec<Item> = nine()[..4].iter().rev().cloned().collect();
    assert_eq!(ctx.query_all(before).await, expected, "descending query of the index");
    let scan = Scan::new(&table).index("gsi").exclusive_start_key(start);
    let scanned = ctx.ok(ctx.store().scan(scan).await).items;
    assert_eq!(scanned, nine()[4..], "scan of the index");
    // No item can have such a partition key, so the scan skips none.
    let start = item! { "pk" => "a".repeat(2049), "sk" => 4 };
    ctx.ok(ctx.store().scan(Scan::new(&table).exclusive_start_key(start)).await);
}
