//! Ranges of sort keys and their order.

use tabla_core::expr::Condition;

use super::*;

pub(super) async fn descending_query_reverses_the_sort_order(ctx: Ctx) {
    for kind in KEY_TYPES {
        let table = ctx.table(TableSpec::keys(KeyType::S, Some(kind))).await;
        let values = ascending(kind);
        // The items are written in neither order.
        for position in [3, 0, 6, 2, 5, 1, 4] {
            ctx.put(&table, item! { "pk" => "a", "sk" => &values[position] }).await;
        }
        let query = of_five(&table);
        ctx.expect_column(&ctx.query_all(query.clone()).await, "sk", values.clone());
        let descending = ctx.query_all(query.descending()).await;
        ctx.expect_column(&descending, "sk", values.into_iter().rev());
    }
}

pub(super) async fn descending_query_keeps_partition_range_and_limit(ctx: Ctx) {
    let mut items = five();
    items.extend((1..=5).map(|n| item! { "pk" => "b", "sk" => n }));
    let table = ctx.table_with(TableSpec::s_n(), items).await;
    let query = |condition: Condition| Query::new(&table, attr("pk").eq("a").and(condition));
    for (condition, expected) in [
        (attr("sk").ge(1), vec![5, 4, 3, 2, 1]),
        (attr("sk").between(2, 4), vec![4, 3, 2]),
        (attr("sk").lt(3), vec![2, 1]),
        (attr("sk").gt(3), vec![5, 4]),
    ] {
        let query = query(condition).descending();
        let all = ctx.query_all(query.clone()).await;
        ctx.expect_column(&all, "sk", expected.clone());
        ctx.expect_column(&all, "pk", vec!["a"; expected.len()]);
        let first = ctx.ok(ctx.store().query(query.clone().limit(2)).await);
        ctx.expect_column(&first.items, "sk", expected[..2].to_vec());
        ctx.expect_column(&ctx.query_all(query.limit(2)).await, "sk", expected);
    }
}

/// Returns every sort key condition with the part of seven ascending values that it selects.
fn ranges(
    attribute: &str,
    values: &[Value; 7],
) -> Vec<(&'static str, Condition, std::ops::Range<usize>)> {
    let key = || attr(attribute);
    let at = |position: usize| values[position].clone();
    vec![
        ("=", key().eq(at(3)), 3..4),
        ("= the first", key().eq(at(0)), 0..1),
        ("= the last", key().eq(at(6)), 6..7),
        ("<", key().lt(at(3)), 0..3),
        ("< the first", key().lt(at(0)), 0..0),
        ("<=", key().le(at(3)), 0..4),
        ("<= the last", key().le(at(6)), 0..7),
        (">", key().gt(at(3)), 4..7),
        ("> the last", key().gt(at(6)), 7..7),
        (">=", key().ge(at(3)), 3..7),
        (">= the first", key().ge(at(0)), 0..7),
        ("BETWEEN", key().between(at(1), at(5)), 1..6),
        ("BETWEEN all", key().between(at(0), at(6)), 0..7),
        ("BETWEEN one", key().between(at(2), at(2)), 2..3),
    ]
}

/// Asserts every range of every type of sort key, in both directions. The items have the partition
/// key `partition` = `a` and the sort key in `attribute`.
async fn expect_ranges(
    ctx: &Ctx,
    partition: &str,
    attribute: &str,
    index: Option<&str>,
    shape: impl Fn(KeyType) -> TableSpec,
) {
    for kind in KEY_TYPES {
        let values = ascending(kind);
        let table = ctx.table(shape(kind)).await;
        let mut items = Vec::new();
        for (number, value) in values.iter().enumerate() {
            let mut item = item! { "pk" => "a", "sk" => number, partition => "a" };
            item.insert(attribute, value);
            items.push(item);
        }
        ctx.put_all(&table, items.iter().rev().cloned()).await;
        // No range may return this neighboring item.
        let mut other = items[3].clone();
        other.insert("pk", "b");
        other.insert(partition, "b");
        ctx.put(&table, other).await;
        for (what, condition, range) in ranges(attribute, &values) {
            let mut query = Query::new(&table, attr(partition).eq("a").and(condition));
            query.index = index.map(ToOwned::to_owned);
            let expected = &items[range];
            let what = format!("{what} on {kind:?}");
            ctx.expect_query(query.clone(), expected).await;
            let descending = ctx.query_all(query.descending()).await;
            let reversed: Vec<Item> = expected.iter().rev().cloned().collect();
            assert!(descending == reversed, "{what}, descending: {descending:?}");
        }
    }
}

pub(super) async fn sort_key_conditions_select_ranges_of_tables(ctx: Ctx) {
    let shape = |kind| TableSpec::keys(KeyType::S, Some(kind));
    for kind in KEY_TYPES {
        let values = ascending(kind);
        let items = values.clone().map(|value| item! { "pk" => "a", "sk" => value });
        let table = ctx.table_with(shape(kind), items.clone()).await;
        ctx.put(&table, item! { "pk" => "b", "sk" => &values[3] }).await;
        for (what, condition, range) in ranges("sk", &values) {
            let query = Query::new(&table, attr("pk").eq("a").and(condition));
            let found = ctx.query_all(query.clone()).await;
            assert!(found == items[range.clone()], "{what} on {kind:?}: {found:?}");
            let mut found = ctx.query_all(query.descending()).await;
            found.reverse();
            assert!(found == items[range], "{what} on {kind:?}, descending: {found:?}");
        }
    }
}

pub(super) async fn sort_key_conditions_select_ranges_of_global_indexes(ctx: Ctx) {
    expect_ranges(&ctx, "gpk", "gsk", Some("gsi"), |kind| {
        let partition = ("gpk", KeyType::S);
        TableSpec::s_n().gsi_on("gsi", partition, Some(("gsk", kind)), IndexProjection::all())
    })
    .await;
}

pub(super) async fn sort_key_conditions_select_ranges_of_local_indexes(ctx: Ctx) {
    expect_ranges(&ctx, "pk", "lsk", Some("lsi"), |kind| {
        TableSpec::s_n().lsi_on("lsi", ("lsk", kind), IndexProjection::all())
    })
    .await;
}

pub(super) async fn string_prefix_returns_all_its_keys(ctx: Ctx) {
    let keys =
        ["a", "a\u{10ffff}", "a\u{10ffff}z", "ab", "abc", "abd", "ac", "A", "b", "\u{10ffff}"];
    let items = keys.map(|key| item! { "pk" => "a", "sk" => key });
    let table = ctx.table_with(TableSpec::s_s(), items).await;
    for (prefix, expected) in [
        ("ab", vec!["ab", "abc", "abd"]),
        ("a", vec!["a", "ab", "abc", "abd", "ac", "a\u{10ffff}", "a\u{10ffff}z"]),
        ("a\u{10ffff}", vec!["a\u{10ffff}", "a\u{10ffff}z"]),
        ("\u{10ffff}", vec!["\u{10ffff}"]),
        ("A", vec!["A"]),
        ("abcd", vec![]),
    ] {
        let condition = attr("pk").eq("a").and(attr("sk").begins_with(prefix));
        let query = Query::new(&table, condition);
        ctx.expect_column(&ctx.query_all(query.clone()).await, "sk", expected.clone());
        let descending = ctx.query_all(query.descending()).await;
        ctx.expect_column(&descending, "sk", expected.into_iter().rev());
    }
}

pub(super) async fn binary_prefix_returns_all_its_keys(ctx: Ctx) {
    let keys: [&[u8]; 7] =
        [b"\0", b"\0\0", b"\x01\xff", b"\x01\xff\0", b"\x02", b"\xff", b"\xff\xff\x01"];
    let items = keys.map(|key| item! { "pk" => "a", "sk" => key });
    let table = ctx.table_with(TableSpec::s_b(), items.clone()).await;
    let prefixes: [(&[u8], std::ops::Range<usize>); 5] =
        [(b"\0", 0..2), (b"\x01\xff", 2..4), (b"\x01", 2..4), (b"\xff", 5..7), (b"\xff\xff", 6..7)];
    for (prefix, range) in prefixes {
        let condition = attr("pk").eq("a").and(attr("sk").begins_with(prefix));
        ctx.expect_query(Query::new(&table, condition), &items[range]).await;
    }
}

pub(super) async fn partition_key_selects_its_partition(ctx: Ctx) {
    for kind in KEY_TYPES {
        let table = ctx.table(TableSpec::keys(kind, Some(KeyType::N))).await;
        let values = ascending(kind);
        for value in &values {
            ctx.put_all(&table, (1..=2).map(|n| item! { "pk" => value, "sk" => n })).await;
        }
        for value in &values {
            let expected = [1, 2].map(|n| item! { "pk" => value, "sk" => n });
            ctx.expect_query(Query::new(&table, attr("pk").eq(value.clone())), &expected).await;
        }
    }
    // All spellings of a number address one partition.
    let table = ctx.table_with(TableSpec::keys(KeyType::N, None), [item! { "pk" => 150 }]).await;
    for text in ["150", "1.5E2", "0150.00"] {
        let number = Number::parse(text).expect("valid number");
        ctx.expect_query(Query::new(&table, attr("pk").eq(number)), &[item! { "pk" => 150 }]).await;
    }
}
