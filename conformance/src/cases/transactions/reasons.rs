//! Cancellation reasons, and the state that conditions see.

use tabla_core::{Applied, Retry};

use super::super::prelude::*;

fn key(name: &str) -> Item {
    item! { "pk" => name }
}

/// Returns a condition check that is true or false.
fn check(table: &Table, name: &str, holds: bool) -> ConditionCheck {
    let condition = if holds { attr("pk").not_exists() } else { attr("pk").exists() };
    ConditionCheck::new(table, key(name), condition)
}

pub(super) async fn reasons_are_in_order(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("present")]).await;
    let before = ctx.snapshot(&table).await;
    let lost = PutItem::new(&table, key("present").with("n", 1)).condition(attr("n").exists());
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key("a")))
        .item(lost)
        .item(UpdateItem::new(&table, key("b")).update(Update::new().set("n", 1)))
        .item(check(&table, "c", false))
        .item(DeleteItem::new(&table, key("d")));
    let codes = ["None", "ConditionalCheckFailed", "None", "ConditionalCheckFailed", "None"];
    let reasons = ctx.expect_canceled(ctx.store().transact_write(request).await, &codes);
    for reason in [&reasons[1], &reasons[3]] {
        let text = reason.message.as_deref().unwrap_or_default();
        ctx.expect_text(text, "The conditional request failed");
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn message_lists_codes_in_order(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let wrong = PutItem::new(&table, item! { "pk" => 1 });
    let request = TransactWriteItems::new()
        .item(check(&table, "a", false))
        .item(check(&table, "b", true))
        .item(wrong);
    let error = ctx.expect_error(ctx.store().transact_write(request).await);
    assert_eq!(error.code(), "TransactionCanceledException");
    ctx.expect_text(
        error.message(),
        "Transaction cancelled, please refer cancellation reasons for specific reasons \
         [ConditionalCheckFailed, None, ValidationError]",
    );
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn every_failed_operation_is_reported(ctx: Ctx) {
    let half = "x".repeat(210_000);
    let large = key("large").with("v", half.clone());
    let table = ctx.table_with(TableSpec::s().gsi(), [large]).await;
    let before = ctx.snapshot(&table).await;
    let grow = Update::new().set("w", half);
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key("a")).condition(attr("pk").exists()))
        .item(DeleteItem::new(&table, item! { "pk" => 1 }))
        .item(PutItem::new(&table, key("b").with("gpk", 1)))
        .item(PutItem::new(&table, key("c")))
        .item(UpdateItem::new(&table, key("large")).update(grow));
    let result = ctx.store().transact_write(request).await;
    let codes =
        ["ConditionalCheckFailed", "ValidationError", "ValidationError", "None", "ValidationError"];
    let reasons = ctx.expect_canceled(result, &codes);
    for (reason, text) in reasons.iter().zip([
        "The conditional request failed",
        "The provided key element does not match the schema",
        "One or more parameter values were invalid: Type mismatch for Index Key gpk Expected: S \
         Actual: N IndexName: gsi",
        "",
        "Item size to update has exceeded the maximum allowed size",
    ]) {
        ctx.expect_text(reason.message.as_deref().unwrap_or_default(), text);
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn reason_carries_the_item(ctx: Ctx) {
    let items = ["a", "b", "c", "d", "e"].map(|name| key(name).with("of", name));
    let table = ctx.table_with(TableSpec::s(), items.clone()).await;
    let lost = attr("of").not_exists();
    let change = Update::new().set("of", "new");
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key("a")).condition(lost.clone()).return_item_on_failure())
        .item(
            UpdateItem::new(&table, key("b"))
                .update(change)
                .condition(lost.clone())
                .return_item_on_failure(),
        )
        .item(DeleteItem::new(&table, key("c")).condition(lost.clone()).return_item_on_failure())
        .item(ConditionCheck::new(&table, key("d"), lost.clone()).return_item_on_failure())
        .item(DeleteItem::new(&table, key("e")).condition(lost))
        .item(PutItem::new(&table, key("new")).return_item_on_failure());
    let mut codes = vec!["ConditionalCheckFailed"; 5];
    codes.push("None");
    let reasons = ctx.expect_canceled(ctx.store().transact_write(request).await, &codes);
    let carried: Vec<Option<&Item>> = reasons.iter().map(|reason| reason.item.as_ref()).collect();
    let [a, b, c, d, _] = &items;
    assert_eq!(carried, [Some(a), Some(b), Some(c), Some(d), None, None]);
    ctx.expect_table(&table, &items).await;
}

pub(super) async fn reason_of_missing_item_has_no_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request =
        TransactWriteItems::new().item(check(&table, "a", false).return_item_on_failure()).item(
            UpdateItem::new(&table, key("b"))
                .update(Update::new().add("n", 1))
                .condition(attr("n").exists())
                .return_item_on_failure(),
        );
    let result = ctx.store().transact_write(request).await;
    let reasons = ctx.expect_canceled(result, &["ConditionalCheckFailed"; 2]);
    assert!(reasons.iter().all(|reason| reason.item.is_none()), "{reasons:?}");
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn transaction_of_100_operations_has_100_reasons(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let mut request = TransactWriteItems::new();
    let mut codes = Vec::new();
    for n in 0..100 {
        let put = PutItem::new(&table, key(&n.to_string()));
        let fails = n % 10 == 9;
        let lost = attr("pk").exists();
        request = request.item(if fails { put.condition(lost) } else { put });
        codes.push(if fails { "ConditionalCheckFailed" } else { "None" });
    }
    ctx.expect_canceled(ctx.store().transact_write(request).await, &codes);
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn canceled_transaction_is_not_applied(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key("a")))
        .item(check(&table, "b", false));
    let error = ctx.expect_error(ctx.store().transact_write(request).await);
    assert_eq!(error.applied(), Applied::No, "{error:?}");
    assert_eq!(error.retry(), Retry::Never, "{error:?}");
    assert!(error.is_condition_failed(), "{error:?}");
    assert_eq!(error.cancellation_reasons().len(), 2, "{error:?}");
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn failed_condition_precedes_update_error(ctx: Ctx) {
    let present = key("a").with("s", "text");
    let table = ctx.table_with(TableSpec::s(), [present.clone()]).await;
    for fault in [
        Update::new().add("s", 1),
        Update::new().set(attr("absent").field("b"), 1),
        Update::new().set("pk", "b"),
    ] {
        let update =
            UpdateItem::new(&table, key("a")).update(fault).condition(attr("s").eq("other"));
        let result = ctx.store().transact_write(TransactWriteItems::new().item(update)).await;
        ctx.expect_canceled(result, &["ConditionalCheckFailed"]);
    }
    ctx.expect_table(&table, &[present]).await;
}

pub(super) async fn validation_precedes_conditions(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let wrong: [(TransactWriteItem, &str); 3] = [
        (
            UpdateItem::new(&table, key("b")).update("SET").into(),
            "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"SET\"",
        ),
        (
            PutItem::new(&table, key("")).into(),
            "One or more parameter values are not valid. The AttributeValue for a key attribute \
             cannot contain an empty string value. Key: pk",
        ),
        (
            PutItem::new(&table, key("b").with("v", "x".repeat(409_600))).into(),
            "Item size has exceeded the maximum allowed size",
        ),
    ];
    for (operation, text) in wrong {
        let request = TransactWriteItems::new().item(check(&table, "a", false)).item(operation);
        ctx.expect_validation(ctx.store().transact_write(request).await, text);
    }
    let request = TransactWriteItems::new()
        .item(check(&table, "a", false))
        .item(PutItem::new(ctx.unused_table_name(), key("b")));
    ctx.expect_table_missing(ctx.store().transact_write(request).await);
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn conditions_see_the_state_before(ctx: Ctx) {
    let account = |name: &str, n: i32| key(name).with("n", n);
    let table = ctx.table_with(TableSpec::s(), [account("a", 1), account("b", 2)]).await;
    // Each condition is true of the item before the transaction and false of the item after it.
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, account("a", 10)).condition(attr("n").eq(1)))
        .item(
            UpdateItem::new(&table, key("b"))
                .update(Update::new().set("n", 20))
                .condition(attr("n").eq(2)),
        )
        .item(PutItem::new(&table, account("c", 30)).condition(attr("n").not_exists()));
    ctx.ok(ctx.store().transact_write(request.clone()).await);
    let after = [account("a", 10), account("b", 20), account("c", 30)];
    ctx.expect_table(&table, &after).await;
    let result = ctx.store().transact_write(request).await;
    ctx.expect_canceled(result, &["ConditionalCheckFailed"; 3]);
    ctx.expect_table(&table, &after).await;
}

pub(super) async fn update_expressions_see_the_item_before(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a").with("x", 1).with("y", 2)]).await;
    let swap = Update::new().set("x", attr("y")).set("y", attr("x").plus(10));
    let update = UpdateItem::new(&table, key("a")).update(swap);
    ctx.ok(ctx.store().transact_write(TransactWriteItems::new().item(update)).await);
    ctx.expect_table(&table, &[key("a").with("x", 2).with("y", 11)]).await;
}

pub(super) async fn condition_check_of_missing_item_holds(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key("a")))
        .item(ConditionCheck::new(&table, key("b"), attr("pk").not_exists()))
        .item(ConditionCheck::new(&table, key("c"), attr("n").ne(1)));
    ctx.ok(ctx.store().transact_write(request).await);
    ctx.expect_table(&table, &[key("a")]).await;
}

pub(super) async fn failed_condition_check_cancels_all(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s().gsi(), [key("a").with("n", 1)]).await;
    let before = ctx.snapshot(&table).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key("b").with("gpk", "g").with("gsk", "s")))
        .item(ConditionCheck::new(&table, key("a"), attr("n").eq(2)))
        .item(DeleteItem::new(&table, key("c")));
    let result = ctx.store().transact_write(request).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed", "None"]);
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn transaction_of_condition_checks_alone_is_accepted(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a")]).await;
    let request = |b_holds| {
        TransactWriteItems::new()
            .item(ConditionCheck::new(&table, key("a"), attr("pk").exists()))
            .item(check(&table, "b", b_holds))
    };
    ctx.ok(ctx.store().transact_write(request(true)).await);
    let result = ctx.store().transact_write(request(false)).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
    ctx.expect_table(&table, &[key("a")]).await;
}

pub(super) async fn condition_check_changes_nothing(ctx: Ctx) {
    let present = key("a").with("gpk", "g").with("gsk", "s");
    let table = ctx.table_with(TableSpec::s().gsi(), [present]).await;
    let before = ctx.snapshot(&table).await;
    let request = TransactWriteItems::new()
        .item(ConditionCheck::new(&table, key("a"), attr("gsk").eq("s")))
        .item(check(&table, "absent", true));
    ctx.ok(ctx.store().transact_write(request).await);
    ctx.expect_unchanged(&before).await;
}
