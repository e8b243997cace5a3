//! Capacity units of a transaction, its index entries, stream records, token and metrics.

use super::super::prelude::*;
use super::super::tokens::fresh_token;

fn key(name: &str) -> Item {
    item! { "pk" => name }
}

/// Returns the write units of each table, in the order of the table names.
fn units(answer: &TransactWriteItemsOutput) -> Vec<(&str, f64)> {
    let mut units: Vec<(&str, f64)> = answer
        .consumed_capacity
        .iter()
        .map(|row| {
            assert_eq!(row.write_capacity_units, Some(row.capacity_units), "{row:?}");
            assert_eq!(row.read_capacity_units, None, "{row:?}");
            (row.table_name.as_str(), row.capacity_units)
        })
        .collect();
    units.sort_by_key(|row| row.0);
    units
}

async fn run_counting(ctx: &Ctx, request: TransactWriteItems) -> TransactWriteItemsOutput {
    let request = request.return_consumed_capacity(ReturnConsumedCapacity::Indexes);
    ctx.ok(ctx.store().transact_write(request).await)
}

pub(super) async fn transactional_write_costs_twice_on_table(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let put = TransactWriteItems::new().item(PutItem::new(&table, key("a")));
    assert_eq!(units(&run_counting(&ctx, put).await), [(table.name(), 2.0)]);
    let change = Update::new().set("n", 1);
    let update = TransactWriteItems::new().item(UpdateItem::new(&table, key("a")).update(change));
    assert_eq!(units(&run_counting(&ctx, update).await), [(table.name(), 2.0)]);
    let delete = TransactWriteItems::new().item(DeleteItem::new(&table, key("a")));
    assert_eq!(units(&run_counting(&ctx, delete).await), [(table.name(), 2.0)]);
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn transaction_costs_by_larger_item(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("b").with("v", "x".repeat(2500))]).await;
    // 1024 bytes are one unit, 1025 are two; the larger of old and new item counts.
    let sized = |name: &str, size: usize| {
        let item = key(name).with("v", "");
        let filler = "x".repeat(size - item.size());
        item.with("v", filler)
    };
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, sized("a", 1024)))
        .item(PutItem::new(&table, key("b")))
        .item(PutItem::new(&table, sized("c", 1025)));
    let answer = run_counting(&ctx, request).await;
    assert_eq!(units(&answer), [(table.name(), 2.0 + 6.0 + 4.0)]);
}

pub(super) async fn transaction_costs_are_reported_by_table(ctx: Ctx) {
    let first = ctx.table(TableSpec::s()).await;
    let second = ctx.table(TableSpec::s()).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&first, key("a")))
        .item(PutItem::new(&second, key("a")))
        .item(PutItem::new(&second, key("b")));
    let answer = run_counting(&ctx, request).await;
    assert_eq!(units(&answer), [(first.name(), 2.0), (second.name(), 4.0)]);
}

pub(super) async fn transactional_delete_of_missing_item_costs_two_units(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = TransactWriteItems::new().item(DeleteItem::new(&table, key("absent")));
    assert_eq!(units(&run_counting(&ctx, request).await), [(table.name(), 2.0)]);
}

pub(super) async fn capacity_is_reported_only_on_request(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = TransactWriteItems::new().item(PutItem::new(&table, key("a")));
    let answer = ctx.ok(ctx.store().transact_write(request).await);
    assert_eq!(answer, TransactWriteItemsOutput::default());
}

pub(super) async fn transactional_write_costs_once_on_index(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key("a").with("gpk", "g").with("gsk", "s")))
        .item(PutItem::new(&table, key("b")));
    let answer = run_counting(&ctx, request).await;
    assert_eq!(units(&answer), [(table.name(), 5.0)]);
    let [row] = &answer.consumed_capacity[..] else { panic!("not exactly one table: {answer:?}") };
    assert_eq!(row.table.map(|part| part.capacity_units), Some(4.0), "{row:?}");
    assert_eq!(row.global_secondary_indexes["gsi"].capacity_units, 1.0, "{row:?}");
}

pub(super) async fn condition_check_costs_two_units(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a")]).await;
    let request =
        TransactWriteItems::new().item(ConditionCheck::new(&table, key("a"), attr("pk").exists()));
    assert_eq!(units(&run_counting(&ctx, request).await), [(table.name(), 2.0)]);
    ctx.expect_table(&table, &[key("a")]).await;
}

pub(super) async fn index_entries_follow_the_transaction(ctx: Ctx) {
    let row = |name: &str, sort: &str| key(name).with("gpk", "g").with("gsk", sort);
    let table = ctx.table_with(TableSpec::s().gsi(), [row("a", "1"), row("b", "2")]).await;
    let request = |n: i32| {
        TransactWriteItems::new()
            .item(
                UpdateItem::new(&table, key("a"))
                    .update(Update::new().set("gsk", "9"))
                    .condition(attr("n").not_exists()),
            )
            .item(UpdateItem::new(&table, key("b")).update(Update::new().remove("gpk")))
            .item(PutItem::new(&table, row("c", "3")))
            .item(PutItem::new(&table, key("guard").with("n", n)).condition(attr("n").ne(n)))
    };
    let entries = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    ctx.ok(ctx.store().transact_write(request(1)).await);
    let after = [row("c", "3"), row("a", "9")];
    ctx.expect_query(entries.clone(), &after).await;

    let undo = TransactWriteItems::new()
        .item(UpdateItem::new(&table, key("a")).update(Update::new().set("gsk", "1")))
        .item(DeleteItem::new(&table, key("c")))
        .item(PutItem::new(&table, row("b", "2")))
        .item(PutItem::new(&table, key("guard")).condition(attr("n").eq(2)));
    let result = ctx.store().transact_write(undo).await;
    ctx.expect_canceled(result, &["None", "None", "None", "ConditionalCheckFailed"]);
    ctx.expect_query(entries, &after).await;
}

pub(super) async fn stream_records_follow_the_transaction(ctx: Ctx) {
    let shape = TableSpec::s().stream(StreamViewType::NewAndOldImages);
    let table = ctx.table_with(shape, ["changed", "removed"].map(key)).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key("added")))
        .item(UpdateItem::new(&table, key("changed")).update(Update::new().set("n", 1)))
        .item(DeleteItem::new(&table, key("removed")))
        .item(ConditionCheck::new(&table, key("absent"), attr("pk").not_exists()));
    let lost = PutItem::new(&table, key("lost")).condition(attr("pk").exists());
    let result = ctx.store().transact_write(request.clone().item(lost)).await;
    ctx.expect_canceled(result, &["None", "None", "None", "None", "ConditionalCheckFailed"]);
    ctx.ok(ctx.store().transact_write(request).await);

    let records = ctx.records(&table, 5).await;
    let mut seen: Vec<(EventName, Item, Option<Item>, Option<Item>)> = records
        .into_iter()
        .map(|record| (record.event_name, record.keys, record.old_image, record.new_image))
        .collect();
    assert_eq!(seen.len(), 5, "{seen:#?}");
    // The stream has two puts of the set-up, then one record per change of the transaction, in any
    // order.
    let changes = [
        (EventName::Insert, key("changed"), None, Some(key("changed"))),
        (EventName::Insert, key("removed"), None, Some(key("removed"))),
        (EventName::Insert, key("added"), None, Some(key("added"))),
        (
            EventName::Modify,
            key("changed"),
            Some(key("changed")),
            Some(key("changed").with("n", 1)),
        ),
        (EventName::Remove, key("removed"), Some(key("removed")), None),
    ];
    seen.retain(|record| !changes.contains(record));
    assert!(seen.is_empty(), "unexpected records: {seen:#?}");
}

pub(super) async fn unchanged_item_has_no_record(ctx: Ctx) {
    let shape = TableSpec::s().stream(StreamViewType::KeysOnly);
    let table = ctx.table_with(shape, [key("a").with("n", 1)]).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key("a").with("n", 1)))
        .item(DeleteItem::new(&table, key("absent")))
        .item(PutItem::new(&table, key("b")));
    ctx.ok(ctx.store().transact_write(request).await);
    let records = ctx.records(&table, 2).await;
    let keys: Vec<&Item> = records.iter().map(|record| &record.keys).collect();
    assert_eq!(keys.len(), 2, "{records:#?}");
    assert!(keys.contains(&&key("a")) && keys.contains(&&key("b")), "{records:#?}");
}

pub(super) async fn token_follows_the_transaction(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a").with("n", 0)]).await;
    let request = TransactWriteItems::new()
        .item(UpdateItem::new(&table, key("a")).update(Update::new().add("n", 1)))
        .item(ConditionCheck::new(&table, key("gate"), attr("pk").exists()))
        .client_request_token(fresh_token());
    let result = ctx.store().transact_write(request.clone()).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
    ctx.expect_table(&table, &[key("a").with("n", 0)]).await;
    // The token was not stored, so the same transaction is executed when its condition is true.
    ctx.put(&table, key("gate")).await;
    ctx.ok(ctx.store().transact_write(request.clone()).await);
    let after = [key("a").with("n", 1), key("gate")];
    ctx.expect_table(&table, &after).await;
    // The token is stored now, so a repetition changes nothing.
    ctx.ok(ctx.store().transact_write(request).await);
    ctx.expect_table(&table, &after).await;
}

pub(super) async fn metrics_are_returned_by_table(ctx: Ctx) {
    let local = ctx.table(TableSpec::s_s().lsi()).await;
    let plain = ctx.table(TableSpec::s()).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&local, item! { "pk" => "a", "sk" => "b", "lsk" => "c" }))
        .item(PutItem::new(&plain, key("a")))
        .return_item_collection_metrics(ReturnItemCollectionMetrics::Size);
    let answer = ctx.ok(ctx.store().transact_write(request).await);
    let metrics = &answer.item_collection_metrics;
    assert_eq!(metrics.keys().collect::<Vec<_>>(), [local.name()], "{metrics:?}");
    let [collection] = &metrics[local.name()][..] else {
        panic!("not exactly one collection: {metrics:?}")
    };
    assert_eq!(collection.item_collection_key, key("a"));
    assert_eq!(collection.size_estimate_range_gb, [0.0, 1.0]);
}

pub(super) async fn operation_cannot_return_values_of_its_own(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let all_old = ReturnValues::AllOld;
    let total = ReturnConsumedCapacity::Total;
    let size = ReturnItemCollectionMetrics::Size;
    let key = item! { "pk" => "a" };
    let put = || PutItem::new(&table, key.clone());
    let update = || UpdateItem::new(&table, key.clone()).update(Update::new().set("n", 1));
    let delete = || DeleteItem::new(&table, key.clone());
    let operations: [TransactWriteItem; 9] = [
        put().return_values(all_old).into(),
        put().return_consumed_capacity(total).into(),
        put().return_item_collection_metrics(size).into(),
        update().return_values(all_old).into(),
        update().return_consumed_capacity(total).into(),
        update().return_item_collection_metrics(size).into(),
        delete().return_values(all_old).into(),
        delete().return_consumed_capacity(total).into(),
        delete().return_item_collection_metrics(size).into(),
    ];
    for operation in operations {
        ctx.expect_validation(
            ctx.store().transact_write(TransactWriteItems::new().item(operation)).await,
            "an operation of a transaction cannot return attributes, capacity or metrics of its own; \
             leave `return_values` out and set the others on the transaction",
        );
        ctx.expect_table(&table, &[]).await;
    }
}
