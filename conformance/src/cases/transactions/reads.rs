//! Transactional reads.

use super::super::prelude::*;

fn key(name: &str) -> Item {
    item! { "pk" => name }
}

pub(super) async fn transactional_read_keeps_the_order(ctx: Ctx) {
    let first = ctx.table_with(TableSpec::s(), ["a", "b"].map(|name| key(name).with("n", 1))).await;
    let second = ctx.table_with(TableSpec::n(), [item! { "pk" => 7 }]).await;
    let reads = TransactGetItems::new([
        GetItem::new(&first, key("b")),
        GetItem::new(&first, key("absent")),
        GetItem::new(&second, item! { "pk" => 7 }),
        GetItem::new(&first, key("a")),
    ]);
    let answer = ctx.ok(ctx.store().transact_get(reads).await);
    let expected =
        [Some(key("b").with("n", 1)), None, Some(item! { "pk" => 7 }), Some(key("a").with("n", 1))];
    assert_eq!(answer.responses, expected);
    assert_eq!(answer.consumed_capacity, []);
}

pub(super) async fn transactional_reads_are_limited_to_100(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("099")]).await;
    let reads = |count: usize| {
        TransactGetItems::new((0..count).map(|n| GetItem::new(&table, key(&format!("{n:03}")))))
    };
    let answer = ctx.ok(ctx.store().transact_get(reads(100)).await);
    assert_eq!(answer.responses.len(), 100);
    assert_eq!(answer.responses.last(), Some(&Some(key("099"))));
    assert_eq!(answer.responses.iter().flatten().count(), 1);
    ctx.expect_validation_with(
        ctx.store().transact_get(reads(101)).await,
        "Member must have length less than or equal to 100",
    );
}

pub(super) async fn two_reads_of_one_item_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a").with("n", 1)]).await;
    let reads = [
        GetItem::new(&table, key("a")),
        GetItem::new(&table, key("b")),
        GetItem::new(&table, key("a")).projection("n"),
    ];
    ctx.expect_validation(
        ctx.store().transact_get(TransactGetItems::new(reads)).await,
        "Transaction request cannot include multiple operations on one item",
    );
}

pub(super) async fn transactional_read_is_limited_to_4_mb(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for n in 0..11 {
        ctx.put(&table, key(&format!("{n:02}")).with("v", "x".repeat(400_000))).await;
    }
    let reads = |count: usize| {
        TransactGetItems::new((0..count).map(|n| GetItem::new(&table, key(&format!("{n:02}")))))
    };
    let answer = ctx.ok(ctx.store().transact_get(reads(10)).await);
    assert_eq!(answer.responses.iter().flatten().count(), 10);
    ctx.expect_validation_with(
        ctx.store().transact_get(reads(11)).await,
        "Payload in response is too large",
    );
}

pub(super) async fn each_read_has_its_projection(ctx: Ctx) {
    let item = key("a").with("m", map! { "x" => 1, "y" => 2 }).with("n", 3);
    let table = ctx.table_with(TableSpec::s(), [item, key("b").with("n", 4)]).await;
    let reads = TransactGetItems::new([
        GetItem::new(&table, key("a")).projection("m.#x").name("#x", "x"),
        GetItem::new(&table, key("b")).projection("m"),
        GetItem::new(&table, key("c")).projection("n"),
    ]);
    let answer = ctx.ok(ctx.store().transact_get(reads).await);
    let expected = [Some(item! { "m" => Value::M(map! { "x" => 1 }) }), Some(Item::new()), None];
    assert_eq!(answer.responses, expected);
}

pub(super) async fn read_of_missing_table_fails(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a")]).await;
    let reads = [GetItem::new(&table, key("a")), GetItem::new(ctx.unused_table_name(), key("a"))];
    ctx.expect_table_missing(ctx.store().transact_get(TransactGetItems::new(reads)).await);
}

pub(super) async fn key_of_wrong_type_cancels_the_read(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a")]).await;
    for wrong in [item! { "pk" => 1 }, Item::new(), key("a").with("n", 1)] {
        let reads = [GetItem::new(&table, key("a")), GetItem::new(&table, wrong)];
        let result = ctx.store().transact_get(TransactGetItems::new(reads)).await;
        let reasons = ctx.expect_canceled(result, &["None", "ValidationError"]);
        let text = reasons[1].message.as_deref().unwrap_or_default();
        ctx.expect_text(text, "The provided key element does not match the schema");
    }
}

pub(super) async fn invalid_projection_rejects_the_read(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a")]).await;
    for (projection, text) in [
        ("a,,b", "Invalid ProjectionExpression: Syntax error; token: \",\", near: \",,b\""),
        (
            "m, m.a",
            "Invalid ProjectionExpression: Two document paths overlap with each other; must \
             remove or rewrite one of these paths; path one: [m], path two: [m, a]",
        ),
    ] {
        let read = GetItem::new(&table, key("a")).projection(projection);
        ctx.expect_validation(ctx.store().transact_get(TransactGetItems::new([read])).await, text);
    }
}

pub(super) async fn empty_key_rejects_the_read(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a")]).await;
    let reads = [GetItem::new(&table, key("a")), GetItem::new(&table, key(""))];
    ctx.expect_validation(
        ctx.store().transact_get(TransactGetItems::new(reads)).await,
        "One or more parameter values are not valid. The AttributeValue for a key attribute \
         cannot contain an empty string value. Key: pk",
    );
}

pub(super) async fn transactional_reads_cost_two_units_per_4_kb(ctx: Ctx) {
    let table =
        ctx.table_with(TableSpec::s(), [key("a"), key("b").with("v", "x".repeat(5000))]).await;
    let other = ctx.table(TableSpec::s()).await;
    let reads = TransactGetItems::new([
        GetItem::new(&table, key("a")),
        GetItem::new(&table, key("b")),
        GetItem::new(&other, key("absent")),
    ])
    .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let answer = ctx.ok(ctx.store().transact_get(reads).await);
    let mut units: Vec<(String, f64, Option<f64>, Option<f64>)> = answer
        .consumed_capacity
        .into_iter()
        .map(|row| {
            let parts = (row.read_capacity_units, row.write_capacity_units);
            (row.table_name, row.capacity_units, parts.0, parts.1)
        })
        .collect();
    units.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [
        (table.name().to_owned(), 6.0, Some(6.0), None),
        (other.name().to_owned(), 2.0, Some(2.0), None),
    ];
    assert_eq!(units, expected);
}
