//! Attributes that are keys of an index (34).

use super::*;

/// Returns a table with the index `gsi` on `gpk` (S) and `gsk` (S), and `num` on `gn` (N).
fn indexed() -> TableSpec {
    TableSpec::s().gsi().gsi_on("num", ("gn", KeyType::N), None, IndexProjection::all())
}

/// Returns an item that is in both indexes.
fn sample() -> Item {
    key().with("gpk", "g").with("gsk", "h").with("gn", 1)
}

fn mismatch(index: &str, attribute: &str, expected: &str, actual: &str) -> String {
    format!(
        "One or more parameter values were invalid: Type mismatch for Index Key {attribute} \
         Expected: {expected} Actual: {actual} IndexName: {index}"
    )
}

const UNSUPPORTED_TYPE: &str =
    "The update expression attempted to update the secondary index key to unsupported type";

pub(super) async fn put_of_index_key_of_wrong_type_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(indexed(), [sample()]).await;
    let before = ctx.snapshot(&table).await;
    for (item, index, attribute, expected, actual) in [
        (key().with("gpk", 1).with("gsk", "h"), "gsi", "gpk", "S", "N"),
        (key().with("gpk", "g").with("gsk", b"h"), "gsi", "gsk", "S", "B"),
        (key().with("gn", "1"), "num", "gn", "N", "S"),
        // This put would replace the valid item.
        (sample().with("gn", b"1"), "num", "gn", "N", "B"),
    ] {
        let result = ctx.store().put(PutItem::new(&table, item)).await;
        ctx.expect_validation(result, &mismatch(index, attribute, expected, actual));
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn put_of_local_index_key_of_wrong_type_is_rejected(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => "b", "lsk" => "l" };
    let table = ctx.table_with(TableSpec::s_s().lsi(), [item.clone()]).await;
    let before = ctx.snapshot(&table).await;
    let result = ctx.store().put(PutItem::new(&table, item.clone().with("lsk", 1))).await;
    ctx.expect_validation(result, &mismatch("lsi", "lsk", "S", "N"));
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn update_to_local_index_key_of_wrong_type_is_rejected(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => "b", "lsk" => "l" };
    let table = ctx.table_with(TableSpec::s_s().lsi(), [item.clone()]).await;
    let before = ctx.snapshot(&table).await;
    let request = UpdateItem::new(&table, table.key_of(&item)).update(Update::new().set("lsk", 1));
    ctx.expect_validation(ctx.store().update(request).await, UNSUPPORTED_TYPE);
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn sort_key_alone_is_checked_on_put(ctx: Ctx) {
    let table = ctx.table(indexed()).await;
    let result = ctx.store().put(PutItem::new(&table, key().with("gsk", 1))).await;
    ctx.expect_validation(result, &mismatch("gsi", "gsk", "S", "N"));
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn sort_key_alone_is_checked_on_update(ctx: Ctx) {
    let table = ctx.table(indexed()).await;
    let request = UpdateItem::new(&table, key()).update(Update::new().set("gsk", 1));
    ctx.expect_validation(ctx.store().update(request).await, UNSUPPORTED_TYPE);
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn update_to_index_key_of_wrong_type_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(indexed(), [sample()]).await;
    let before = ctx.snapshot(&table).await;
    for (attribute, value) in
        [("gpk", Value::from(1)), ("gsk", Value::from(b"h")), ("gn", Value::from("1"))]
    {
        for pk in ["a", "b"] {
            let set = Update::new().set("n", 1).set(attribute, value.clone());
            let request = UpdateItem::new(&table, item! { "pk" => pk }).update(set);
            let result = ctx.store().update(request).await;
            ctx.expect_validation(result.map(|answer| (attribute, answer)), UNSUPPORTED_TYPE);
        }
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn computed_index_key_is_checked(ctx: Ctx) {
    let table = ctx.table_with(indexed(), [sample().with("n", 5)]).await;
    let before = ctx.snapshot(&table).await;
    for update in [
        Update::new().set("gpk", attr("n")),
        Update::new().set("gpk", attr("n").plus(1)),
        Update::new().set("gpk", attr("none").if_not_exists(1)),
        Update::new().set("gn", attr("pk")),
    ] {
        let request = UpdateItem::new(&table, key()).update(update.clone());
        let result = ctx.store().update(request).await;
        ctx.expect_validation(result.map(|answer| (update, answer)), UNSUPPORTED_TYPE);
    }
    let request =
        UpdateItem::new(&table, item! { "pk" => "b" }).update(Update::new().add("gpk", 1));
    ctx.expect_validation(ctx.store().update(request).await, UNSUPPORTED_TYPE);
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn computed_index_key_moves_the_entry(ctx: Ctx) {
    let item = sample().with("l", list!["x"]);
    let table = ctx.table_with(indexed(), [item.clone()]).await;
    let added = Update::new().add("gn", 1).set("gpk", attr("l").index(0));
    ctx.update(UpdateItem::new(&table, key()).update(added)).await;
    let after = item.with("gn", 2).with("gpk", "x");
    ctx.expect_table(&table, std::slice::from_ref(&after)).await;
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&after)).await;
    ctx.expect_index(&table, "num", &[after]).await;
}

pub(super) async fn empty_index_key_is_rejected(ctx: Ctx) {
    let shape = indexed().gsi_on("bin", ("gb", KeyType::B), None, IndexProjection::all());
    let table = ctx.table_with(shape, [sample().with("gb", b"b")]).await;
    let before = ctx.snapshot(&table).await;
    for (attribute, value, kind, index) in [
        ("gpk", Value::from(""), "string", "gsi"),
        ("gsk", Value::from(""), "string", "gsi"),
        ("gb", Value::from(b""), "binary", "bin"),
    ] {
        let message = format!(
            "One or more parameter values are not valid. A value specified for a secondary index \
             key is not supported. The AttributeValue for a key attribute cannot contain an empty \
             {kind} value. IndexName: {index}, IndexKey: {attribute}"
        );
        let item = key().with(attribute, value.clone());
        ctx.expect_validation(ctx.store().put(PutItem::new(&table, item)).await, &message);
        let message = format!(
            "One or more parameter values are not valid. The update expression attempted to \
             update a secondary index key to a value that is not supported. The AttributeValue \
             for a key attribute cannot contain an empty {kind} value."
        );
        let set = Update::new().set(attribute, value);
        let request = UpdateItem::new(&table, key()).update(set);
        ctx.expect_validation(ctx.store().update(request).await, &message);
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn non_scalar_index_key_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(indexed(), [sample()]).await;
    let before = ctx.snapshot(&table).await;
    for value in [
        list![],
        list!["g"],
        Value::M(map! {}),
        Value::from(true),
        Value::Null,
        strings(["g"]),
        Value::Ns(Set::new([Number::from(1)]).expect("non-empty set")),
    ] {
        for (index, attribute, expected) in [("gsi", "gpk", "S"), ("num", "gn", "N")] {
            let item = key().with(attribute, value.clone());
            let result = ctx.store().put(PutItem::new(&table, item)).await;
            let message = mismatch(index, attribute, expected, value.type_code());
            ctx.expect_validation(result, &message);
            let set = Update::new().set(attribute, value.clone());
            let request = UpdateItem::new(&table, key()).update(set);
            let result = ctx.store().update(request).await;
            ctx.expect_validation(result.map(|answer| (&value, answer)), UNSUPPORTED_TYPE);
        }
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn index_key_size_is_limited_on_put(ctx: Ctx) {
    let table = ctx.table(indexed()).await;
    let largest = key().with("gpk", "g".repeat(2048)).with("gsk", "h".repeat(1024));
    ctx.put(&table, largest.clone()).await;
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&largest)).await;
    let before = ctx.snapshot(&table).await;
    for (attribute, length) in [("gpk", 2049), ("gsk", 1025)] {
        let item = key().with(attribute, "x".repeat(length));
        let result = ctx.store().put(PutItem::new(&table, item)).await;
        ctx.expect_validation_with(result.map(|_| attribute), "parameter values were invalid");
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn index_key_size_is_limited_on_update(ctx: Ctx) {
    let table = ctx.table_with(indexed(), [sample()]).await;
    let before = ctx.snapshot(&table).await;
    for (attribute, length) in [("gpk", 2049), ("gsk", 1025)] {
        let set = Update::new().set(attribute, "x".repeat(length));
        let result = ctx.store().update(UpdateItem::new(&table, key()).update(set)).await;
        ctx.expect_validation(
            result.map(|_| attribute),
            "The update expression attempted to update the secondary index key beyond allowed \
             size limits",
        );
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn unchanged_index_key_is_not_checked(ctx: Ctx) {
    let number = item! { "pk" => "number", "gpk" => 1 };
    let long = item! { "pk" => "long", "gpk" => "x".repeat(2049) };
    let table = ctx.table_with(TableSpec::s(), [number.clone(), long.clone()]).await;
    let index = SecondaryIndex::new("gsi").partition_key("gpk");
    let request = UpdateTable::new(&table).attribute("gpk", KeyType::S).create_index(index);
    ctx.ok(ctx.store().update_table(request).await);
    for item in [&number, &long] {
        let set = Update::new().set("n", 1);
        ctx.update(UpdateItem::new(&table, table.key_of(item)).update(set)).await;
    }
    ctx.expect_table(&table, &[number.with("n", 1), long.with("n", 1)]).await;
}

pub(super) async fn item_without_index_keys_is_accepted(ctx: Ctx) {
    let table = ctx.table(indexed()).await;
    let half = item! { "pk" => "b", "gpk" => "g" };
    let other = item! { "pk" => "c", "gsk" => "h", "gn" => 0 };
    ctx.put_all(&table, [key(), half.clone(), other.clone(), sample()]).await;
    let items = [half, other.clone(), sample()];
    ctx.expect_table(&table, &items).await;
    ctx.expect_index(&table, "gsi", &[sample()]).await;
    ctx.expect_index(&table, "num", &[other, sample()]).await;
}
