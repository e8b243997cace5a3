//! Sizes, measured by the largest item that is accepted (6-8).

use super::super::prelude::*;
use super::LARGEST;

const PUT_TOO_LARGE: &str = "Item size has exceeded the maximum allowed size";
const UPDATE_TOO_LARGE: &str = "Item size to update has exceeded the maximum allowed size";

/// Size of `pk` and its value, which leaves the rest of the limit to other attributes.
const KEY_SIZE: usize = 3;

fn key() -> Item {
    item! { "pk" => "a" }
}

/// Returns an item of this size: its key, and a filler `f`.
fn sized(size: usize) -> Item {
    key().with("f", "x".repeat(size - KEY_SIZE - 1))
}

fn parse(text: &str) -> Number {
    Number::parse(text).expect("valid number")
}

/// Asserts the size of the attributes: beside them, the largest item has room for a filler of the
/// remaining bytes and not for one byte more.
async fn expect_size(ctx: &Ctx, table: &Table, attributes: Item, size: usize) {
    let room = LARGEST - KEY_SIZE - 1 - size;
    let filled = |filler: usize| {
        let mut item = key().with("f", "x".repeat(filler));
        item.extend(attributes.iter().map(|(name, value)| (name, value.to_value())));
        PutItem::new(table, item)
    };
    let accepted = ctx.store().put(filled(room)).await;
    assert!(accepted.is_ok(), "{attributes:?} has more than {size} bytes: {accepted:?}");
    let refused = ctx.store().put(filled(room + 1)).await;
    assert!(refused.is_err(), "{attributes:?} has less than {size} bytes");
    ctx.expect_validation(refused, PUT_TOO_LARGE);
}

/// Asserts the size of a value, without its name of one byte.
async fn expect_value_size(ctx: &Ctx, table: &Table, value: impl Into<Value>, size: usize) {
    expect_size(ctx, table, item! { "v" => value.into() }, size + 1).await;
}

async fn expect_number_sizes(ctx: &Ctx, sizes: &[(&str, usize)]) {
    let table = ctx.table(TableSpec::s()).await;
    for (text, size) in sizes {
        expect_value_size(ctx, &table, parse(text), *size).await;
    }
}

pub(super) async fn number_size_is_one_byte_per_two_digits(ctx: Ctx) {
    expect_number_sizes(
        &ctx,
        &[
            ("0", 1),
            ("1", 2),
            ("42", 2),
            ("123", 3),
            ("0.1", 2),
            ("0.15", 2),
            ("1.5", 3),
            ("10.5", 3),
            ("3.14159", 5),
            ("1000001", 5),
            ("11111111111111111111111111111111111111", 20),
        ],
    )
    .await;
}

pub(super) async fn negative_number_is_one_byte_larger(ctx: Ctx) {
    let sizes = [("-1", 3), ("-42", 3), ("-3.14159", 6), ("-1E125", 3)];
    expect_number_sizes(&ctx, &sizes).await;
}

pub(super) async fn outer_zeros_have_no_size(ctx: Ctx) {
    let sizes = [("100", 2), ("1E125", 2), ("1E-130", 2), ("0.001", 2), ("100000", 2)];
    expect_number_sizes(&ctx, &sizes).await;
}

pub(super) async fn item_size_is_that_of_names_and_values(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (attributes, size) in [
        (item! { "v" => "" }, 1),
        (item! { "name" => "value" }, 9),
        (item! { "é" => "ü" }, 4),
        (item! { "😀" => "€" }, 7),
        (item! { "v" => b"\0\xff\0" }, 4),
        (item! { "v" => b"" }, 1),
        (item! { "one" => "1", "two" => "22" }, 9),
    ] {
        expect_size(&ctx, &table, attributes, size).await;
    }
}

pub(super) async fn containers_add_3_bytes_and_1_per_element(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (value, size) in [
        (list![], 3),
        (Value::M(Map::new()), 3),
        (list![1], 6),
        (list!["", ""], 5),
        (Value::M(map! { "ab" => "" }), 6),
        (Value::M(map! { "a" => list![] }), 8),
        (list![list![list!["x"]]], 13),
    ] {
        expect_value_size(&ctx, &table, value, size).await;
    }
}

pub(super) async fn null_and_bool_have_1_byte(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for value in [Value::Null, Value::from(true), Value::from(false)] {
        expect_value_size(&ctx, &table, value, 1).await;
    }
}

pub(super) async fn set_size_is_that_of_its_members(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let strings = Set::new(["a", "bc"].map(str::to_owned)).expect("distinct members");
    let numbers = Set::new([parse("100"), parse("-42")]).expect("distinct members");
    expect_value_size(&ctx, &table, strings, 3).await;
    expect_value_size(&ctx, &table, numbers, 5).await;
}

pub(super) async fn put_is_limited_to_409_600_bytes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    ctx.put(&table, sized(LARGEST)).await;
    let refused = ctx.store().put(PutItem::new(&table, sized(LARGEST + 1))).await;
    ctx.expect_validation(refused, PUT_TOO_LARGE);
    ctx.expect_table(&table, &[sized(LARGEST)]).await;
}

pub(super) async fn batch_put_is_limited_to_409_600_bytes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = BatchWriteItem::new().put(&table, sized(LARGEST));
    let answer = ctx.ok(ctx.store().batch_write(request).await);
    assert!(
        answer.unprocessed_items.is_empty(),
        "{} tables have unprocessed items",
        answer.unprocessed_items.len()
    );
    let other = item! { "pk" => "b" };
    let request = BatchWriteItem::new().put(&table, other).put(&table, sized(LARGEST + 1));
    ctx.expect_validation(ctx.store().batch_write(request).await, PUT_TOO_LARGE);
    ctx.expect_table(&table, &[sized(LARGEST)]).await;
}

pub(super) async fn transactional_put_is_limited_to_409_600_bytes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = TransactWriteItems::new().item(PutItem::new(&table, sized(LARGEST)));
    ctx.ok(ctx.store().transact_write(request).await);
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, item! { "pk" => "b" }))
        .item(PutItem::new(&table, sized(LARGEST + 1)));
    ctx.expect_validation(ctx.store().transact_write(request).await, PUT_TOO_LARGE);
    ctx.expect_table(&table, &[sized(LARGEST)]).await;
}

pub(super) async fn size_limit_precedes_condition(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key()]).await;
    let put = PutItem::new(&table, sized(LARGEST + 1)).condition(attr("pk").not_exists());
    ctx.expect_validation(ctx.store().put(put).await, PUT_TOO_LARGE);
    ctx.expect_table(&table, &[key()]).await;
}

pub(super) async fn updated_item_is_limited_to_409_600_bytes(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sized(LARGEST - 10)]).await;
    // The name has one byte, which leaves nine for the value.
    let set = |length: usize| {
        let update = Update::new().set("v", "y".repeat(length));
        UpdateItem::new(&table, key()).update(update)
    };
    ctx.expect_validation(ctx.store().update(set(10)).await, UPDATE_TOO_LARGE);
    ctx.expect_table(&table, &[sized(LARGEST - 10)]).await;
    ctx.update(set(9)).await;
    let largest = sized(LARGEST - 10).with("v", "y".repeat(9));
    ctx.expect_table(&table, &[largest]).await;
}

pub(super) async fn update_request_is_limited_to_409_600_bytes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let value = |length: usize| "y".repeat(length);
    // The sum of request, action, name and value.
    let set = |length: usize| Update::new().set("v", value(length));
    let one = LARGEST - 3 - 19 - 1;
    // The second action writes a value of one byte under a name of one byte.
    let two = one - 19 - 1 - 1;
    // It is unknown whether the name of a cleared attribute counts, so the bound has one byte of
    // tolerance.
    let cleared = one - 2;
    for (accepted, refused) in [
        (set(one), set(one + 1)),
        (set(two).set("w", "z"), set(two + 1).set("w", "z")),
        (set(cleared - 1).remove("r"), set(cleared + 1).remove("r")),
    ] {
        let request = UpdateItem::new(&table, key()).update(refused);
        let refused = ctx.store().update(request).await;
        assert!(refused.is_err(), "an update over its limit was accepted");
        ctx.expect_validation(refused, UPDATE_TOO_LARGE);
        ctx.expect_table(&table, &[]).await;
        ctx.update(UpdateItem::new(&table, key()).update(accepted)).await;
        ctx.delete(&table, key()).await;
    }
}

pub(super) async fn update_can_shrink_a_large_item(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sized(LARGEST)]).await;
    let update = Update::new().remove("f").set("v", "y".repeat(1000));
    ctx.update(UpdateItem::new(&table, key()).update(update)).await;
    ctx.expect_table(&table, &[key().with("v", "y".repeat(1000))]).await;
}
