//! Keys of writes.

use super::*;

/// DynamoDB's message about a key that does not match the key schema.
const NO_MATCH: &str = "The provided key element does not match the schema";

/// Asserts that an update and a delete with this key are rejected with this message.
async fn refuses_key(ctx: &Ctx, table: &Table, key: Item, message: &str) {
    let update = UpdateItem::new(table, key.clone()).update(Update::new().set("w", 1));
    let result = ctx.store().update(update).await;
    ctx.expect_validation(result.map(|answer| (&key, answer)), message);
    let result = ctx.store().delete(DeleteItem::new(table, key.clone())).await;
    ctx.expect_validation(result.map(|answer| (&key, answer)), message);
}

pub(super) async fn key_needs_exactly_its_attributes(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => 1 };
    let table = ctx.table_with(TableSpec::s_n(), [item.clone()]).await;
    for key in [
        item! {},
        item! { "pk" => "a" },
        item! { "sk" => 1 },
        item! { "pk" => "a", "sk" => 1, "w" => 1 },
        item! { "pk" => "a", "w" => 1 },
    ] {
        refuses_key(&ctx, &table, key, NO_MATCH).await;
    }
    ctx.expect_table(&table, &[item]).await;
}

pub(super) async fn item_needs_its_key(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n()).await;
    for (item, missing) in [
        (item! { "w" => 1 }, "pk"),
        (item! { "sk" => 1, "w" => 1 }, "pk"),
        (item! { "pk" => "a", "w" => 1 }, "sk"),
    ] {
        let message = format!(
            "One or more parameter values were invalid: Missing the key {missing} in the item"
        );
        let result = ctx.store().put(PutItem::new(&table, item)).await;
        ctx.expect_validation(result, &message);
    }
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn key_needs_its_types(ctx: Ctx) {
    for (kind, right, wrong) in [
        (KeyType::S, Value::from("1"), [Value::from(1), Value::from(b"1")]),
        (KeyType::N, Value::from(1), [Value::from("1"), Value::from(b"1")]),
        (KeyType::B, Value::from(b"1"), [Value::from("1"), Value::from(1)]),
    ] {
        let table = ctx.table(TableSpec::keys(kind, None)).await;
        let item = Item::new().with("pk", right);
        ctx.put(&table, item.clone()).await;
        for value in wrong.into_iter().chain([list![1], Value::Null, strings(["1"])]) {
            let message = format!(
                "One or more parameter values were invalid: Type mismatch for key pk expected: \
                 {kind} actual: {}",
                value.type_code()
            );
            let key = Item::new().with("pk", value);
            let result = ctx.store().put(PutItem::new(&table, key.clone())).await;
            ctx.expect_validation(result, &message);
            refuses_key(&ctx, &table, key, NO_MATCH).await;
        }
        ctx.expect_table(&table, &[item]).await;
    }
    let table = ctx.table(TableSpec::s_n()).await;
    let key = item! { "pk" => "a", "sk" => "1" };
    ctx.expect_validation(
        ctx.store().put(PutItem::new(&table, key.clone())).await,
        "One or more parameter values were invalid: Type mismatch for key sk expected: N actual: S",
    );
    refuses_key(&ctx, &table, key, NO_MATCH).await;
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn write_to_missing_table_fails(ctx: Ctx) {
    let store = ctx.store();
    let table = ctx.unused_table_name();
    ctx.expect_table_missing(store.put(PutItem::new(&table, key())).await);
    ctx.expect_table_missing(store.update(UpdateItem::new(&table, key())).await);
    ctx.expect_table_missing(store.delete(DeleteItem::new(&table, key())).await);
    // An invalid key is reported before errors of the expressions.
    let request = PutItem::new(&table, key()).condition("n = ");
    ctx.expect_table_missing(store.put(request).await);
}
