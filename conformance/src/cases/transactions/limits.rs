//! Limits of a transaction: operations, bytes, tables and items.

use super::super::prelude::*;

const TWICE: &str = "Transaction request cannot include multiple operations on one item";

/// Returns puts of `count` numbered items.
fn puts(table: &Table, count: usize) -> TransactWriteItems {
    (0..count).fold(TransactWriteItems::new(), |request, n| {
        request.item(PutItem::new(table, item! { "pk" => format!("{n:03}") }))
    })
}

pub(super) async fn transactions_are_limited_to_100_operations(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    ctx.expect_validation_with(
        ctx.store().transact_write(puts(&table, 101)).await,
        "Member must have length less than or equal to 100",
    );
    ctx.expect_table(&table, &[]).await;
    ctx.ok(ctx.store().transact_write(puts(&table, 100)).await);
    let all: Vec<Item> = (0..100).map(|n| item! { "pk" => format!("{n:03}") }).collect();
    ctx.expect_table(&table, &all).await;
}

pub(super) async fn transaction_without_operations_is_rejected(ctx: Ctx) {
    ctx.expect_validation_with(
        ctx.store().transact_write(TransactWriteItems::new()).await,
        "Member must have length greater than or equal to 1",
    );
}

pub(super) async fn transaction_of_one_operation_equals_the_single_write(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let key = item! { "pk" => "a" };
    let item = key.clone().with("n", 1);
    let one = |operation: TransactWriteItem| TransactWriteItems::new().item(operation);
    let put = PutItem::new(&table, item.clone()).condition(attr("pk").not_exists());
    ctx.ok(ctx.store().transact_write(one(put.clone().into())).await);
    ctx.expect_table(&table, &[item]).await;
    let result = ctx.store().transact_write(one(put.into())).await;
    ctx.expect_canceled(result, &["ConditionalCheckFailed"]);
    let update = UpdateItem::new(&table, key.clone()).update(Update::new().add("n", 1));
    ctx.ok(ctx.store().transact_write(one(update.into())).await);
    ctx.expect_table(&table, &[key.clone().with("n", 2)]).await;
    let delete = DeleteItem::new(&table, key);
    ctx.ok(ctx.store().transact_write(one(delete.into())).await);
    ctx.expect_table(&table, &[]).await;
}

/// Returns items of these sizes with different keys.
fn items_of(sizes: &[usize]) -> Vec<Item> {
    let item = |(n, size): (usize, &usize)| {
        let item = item! { "pk" => format!("{n:02}"), "v" => "" };
        let filler = "x".repeat(size - item.size());
        item.with("v", filler)
    };
    sizes.iter().enumerate().map(item).collect()
}

fn put_all(table: &Table, items: &[Item]) -> TransactWriteItems {
    items.iter().fold(TransactWriteItems::new(), |request, item| {
        request.item(PutItem::new(table, item.clone()))
    })
}

pub(super) async fn transactions_are_limited_to_4_mb(ctx: Ctx) {
    const LIMIT: usize = 4 * 1024 * 1024;
    let table = ctx.table(TableSpec::s()).await;
    let mut sizes = vec![409_600; 10];
    sizes.push(LIMIT - 10 * 409_600 + 1);
    let result = ctx.store().transact_write(put_all(&table, &items_of(&sizes))).await;
    let text = "Transaction payload size cannot exceed 4MB. Payload Size: 4194305";
    ctx.expect_validation(result, text);
    ctx.expect_table(&table, &[]).await;
    sizes[10] -= 1;
    let items = items_of(&sizes);
    ctx.ok(ctx.store().transact_write(put_all(&table, &items)).await);
    ctx.expect_table(&table, &items).await;
}

pub(super) async fn update_values_count_towards_4_mb(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let value = "x".repeat(400_000);
    let key = |n: usize| item! { "pk" => format!("{n:02}") };
    let tree = (0..11).fold(TransactWriteItems::new(), |request, n| {
        let update = Update::new().set("v", value.as_str());
        request.item(UpdateItem::new(&table, key(n)).update(update))
    });
    let text = (0..11).fold(TransactWriteItems::new(), |request, n| {
        let update = UpdateItem::new(&table, key(n)).update("SET v = :v");
        request.item(update.value(":v", value.as_str()))
    });
    for request in [tree, text] {
        ctx.expect_validation_with(
            ctx.store().transact_write(request).await,
            "Transaction payload size cannot exceed 4MB",
        );
        ctx.expect_table(&table, &[]).await;
    }
}

pub(super) async fn two_operations_on_one_item_are_rejected(ctx: Ctx) {
    let present = item! { "pk" => "a", "sk" => "b", "gpk" => "g", "gsk" => "s", "n" => 1 };
    let table = ctx.table_with(TableSpec::s_s().gsi(), [present.clone()]).await;
    let before = ctx.snapshot(&table).await;
    let key = table.key_of(&present);
    let operations: [TransactWriteItem; 4] = [
        PutItem::new(&table, key.clone().with("n", 2)).into(),
        UpdateItem::new(&table, key.clone()).update(Update::new().add("n", 1)).into(),
        DeleteItem::new(&table, key.clone()).into(),
        // This check is true whatever another operation has written before it.
        ConditionCheck::new(&table, key, attr("absent").not_exists()).into(),
    ];
    let other = PutItem::new(&table, item! { "pk" => "a", "sk" => "other" });
    for first in &operations {
        for second in &operations {
            let request = TransactWriteItems::new()
                .item(first.clone())
                .item(other.clone())
                .item(second.clone());
            ctx.expect_validation(ctx.store().transact_write(request).await, TWICE);
        }
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn duplicate_item_precedes_conditions(ctx: Ctx) {
    let present = item! { "pk" => "a", "n" => 1 };
    let table = ctx.table_with(TableSpec::s(), [present.clone()]).await;
    let key = item! { "pk" => "a" };
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key.clone().with("n", 2)))
        .item(ConditionCheck::new(&table, key, attr("n").eq(3)));
    ctx.expect_validation(ctx.store().transact_write(request).await, TWICE);
    ctx.expect_table(&table, &[present]).await;
}

pub(super) async fn equal_number_keys_are_one_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::n()).await;
    let numbers = ["100", "1E2", "100.0"].map(|text| Number::parse(text).expect("valid number"));
    for second in numbers {
        let request = TransactWriteItems::new()
            .item(PutItem::new(&table, item! { "pk" => numbers[0] }))
            .item(DeleteItem::new(&table, item! { "pk" => second }));
        ctx.expect_validation(ctx.store().transact_write(request).await, TWICE);
    }
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn same_key_in_two_tables_is_two_items(ctx: Ctx) {
    let first = ctx.table(TableSpec::s()).await;
    let second = ctx.table(TableSpec::s()).await;
    let item = item! { "pk" => "a" };
    let request = TransactWriteItems::new()
        .item(PutItem::new(&first, item.clone()))
        .item(PutItem::new(&second, item.clone()));
    ctx.ok(ctx.store().transact_write(request).await);
    ctx.expect_table(&first, std::slice::from_ref(&item)).await;
    ctx.expect_table(&second, &[item]).await;
}

pub(super) async fn items_of_one_partition_are_distinct(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n()).await;
    let items: Vec<Item> = (0..10).map(|n| item! { "pk" => "a", "sk" => n }).collect();
    ctx.ok(ctx.store().transact_write(put_all(&table, &items)).await);
    ctx.expect_in_order(&ctx.query_all(Query::new(&table, attr("pk").eq("a"))).await, &items);
}

pub(super) async fn transaction_can_span_tables(ctx: Ctx) {
    let strings = ctx.table_with(TableSpec::s_s(), [item! { "pk" => "a", "sk" => "b" }]).await;
    let numbers = ctx.table_with(TableSpec::n(), [item! { "pk" => 1, "n" => 1 }]).await;
    let bytes = ctx.table_with(TableSpec::b(), [item! { "pk" => b"\x00" }]).await;
    let change = Update::new().add("n", 1);
    let request = TransactWriteItems::new()
        .item(DeleteItem::new(&strings, item! { "pk" => "a", "sk" => "b" }))
        .item(UpdateItem::new(&numbers, item! { "pk" => 1 }).update(change))
        .item(PutItem::new(&bytes, item! { "pk" => b"\x01" }))
        .item(ConditionCheck::new(&bytes, item! { "pk" => b"\x00" }, attr("pk").exists()));
    ctx.ok(ctx.store().transact_write(request.clone()).await);
    let after = [item! { "pk" => b"\x00" }, item! { "pk" => b"\x01" }];
    ctx.expect_table(&strings, &[]).await;
    ctx.expect_table(&numbers, &[item! { "pk" => 1, "n" => 2 }]).await;
    ctx.expect_table(&bytes, &after).await;

    // The first operations would change the other tables a second time.
    let lost = PutItem::new(&strings, item! { "pk" => "a", "sk" => "c" });
    let mut request = request;
    request.items.remove(0);
    request.items.push(lost.condition(attr("pk").exists()).into());
    let result = ctx.store().transact_write(request).await;
    ctx.expect_canceled(result, &["None", "None", "None", "ConditionalCheckFailed"]);
    ctx.expect_table(&strings, &[]).await;
    ctx.expect_table(&numbers, &[item! { "pk" => 1, "n" => 2 }]).await;
    ctx.expect_table(&bytes, &after).await;
}

pub(super) async fn every_kind_of_operation_is_applied(ctx: Ctx) {
    let row = |name: &str| item! { "pk" => name, "gpk" => "g", "gsk" => name, "n" => 1 };
    let before = ["changed", "checked", "removed", "replaced"].map(row);
    let table = ctx.table_with(TableSpec::s().gsi(), before).await;
    let key = |name: &str| item! { "pk" => name };
    let change = Update::new().set("gsk", "moved").add("n", 1);
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, row("added")))
        .item(PutItem::new(&table, key("replaced")))
        .item(UpdateItem::new(&table, key("changed")).update(change))
        .item(UpdateItem::new(&table, key("created")).update(Update::new().add("n", 5)))
        .item(DeleteItem::new(&table, key("removed")))
        .item(DeleteItem::new(&table, key("absent")))
        .item(ConditionCheck::new(&table, key("checked"), attr("n").eq(1)));
    ctx.ok(ctx.store().transact_write(request).await);
    let changed = row("changed").with("gsk", "moved").with("n", 2);
    let indexed = [row("added"), row("checked"), changed];
    let mut all = indexed.to_vec();
    all.extend([key("replaced"), key("created").with("n", 5)]);
    ctx.expect_table(&table, &all).await;
    ctx.expect_query(Query::new(&table, attr("gpk").eq("g")).index("gsi"), &indexed).await;
}

pub(super) async fn update_without_expression_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, item! { "pk" => "a" }))
        .item(UpdateItem::new(&table, item! { "pk" => "b" }));
    ctx.expect_validation(
        ctx.store().transact_write(request).await,
        "1 validation error detected: Value null at 'transactItems.2.member.update.\
         updateExpression' failed to satisfy constraint: Member must not be null",
    );
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn placeholders_belong_to_one_operation(ctx: Ctx) {
    let key = |name: &str| item! { "pk" => name };
    let before = [
        key("put").with("a", 1),
        key("update").with("b", 2),
        key("delete").with("c", 3),
        key("check").with("d", 4),
    ];
    let table = ctx.table_with(TableSpec::s(), before.clone()).await;
    // The same placeholders have another value in each operation.
    let request = |checked: i32| {
        TransactWriteItems::new()
            .item(
                PutItem::new(&table, key("put").with("new", true))
                    .condition("#n = :v")
                    .name("#n", "a")
                    .value(":v", 1),
            )
            .item(
                UpdateItem::new(&table, key("update"))
                    .update("SET #n = #n + :v")
                    .condition("#n = :v")
                    .name("#n", "b")
                    .value(":v", 2),
            )
            .item(
                DeleteItem::new(&table, key("delete"))
                    .condition("#n = :v")
                    .name("#n", "c")
                    .value(":v", 3),
            )
            .item(
                ConditionCheck::new(&table, key("check"), "#n = :v")
                    .name("#n", "d")
                    .value(":v", checked),
            )
    };
    let result = ctx.store().transact_write(request(5)).await;
    ctx.expect_canceled(result, &["None", "None", "None", "ConditionalCheckFailed"]);
    ctx.expect_table(&table, &before).await;
    ctx.ok(ctx.store().transact_write(request(4)).await);
    let after =
        [key("put").with("new", true), key("update").with("b", 4), key("check").with("d", 4)];
    ctx.expect_table(&table, &after).await;
}
