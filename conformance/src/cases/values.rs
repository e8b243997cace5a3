//! Numbers, sets, sizes, key values (1-12).
//!
//! Texts that are no values (39 digits, an empty set, a false NULL) cannot be held by core's
//! types, so these cases come in as DynamoDB JSON, as they would from a caller.

use serde_json::json;

use super::prelude::*;

cases! {
    Values;
    clause "1a", number_keeps_38_digits: "A number keeps 38 significant digits exactly.";
    clause "1c", digit_39_is_refused: "A number of 39 significant digits is refused.";
    clause "3a", one_number_is_one_key: "1, 1.0 and 1e0 address the same item.";
    clause "4a", numbers_sort_numerically: "Number sort keys are in numeric order.";
    clause "5c", sum_of_39_digits_is_refused: "A sum that needs 39 digits is an error.";
    clause "9b", empty_key_is_refused: "An empty string or binary in the table's key is refused.";
}

async fn number_keeps_38_digits(ctx: Ctx) {
    let table = ctx.table(Shape::s()).await;
    for digits in [
        "12345678901234567890123456789012345678",
        "-1.2345678901234567890123456789012345678",
        "0.00012345678901234567890123456789012345678",
    ] {
        ctx.ok(ctx.put_json(&table, json!({ "pk": { "S": "a" }, "n": { "N": digits } })).await);
        let item = ctx.get(&table, item! { "pk" => "a" }).await.expect("just written");
        let Some(ValueRef::N(number)) = item.get("n") else { panic!("no number in {item:?}") };
        assert_eq!(number.to_string(), digits);
    }
}

async fn digit_39_is_refused(ctx: Ctx) {
    let table = ctx.table(Shape::s()).await;
    for digits in
        ["123456789012345678901234567890123456789", "0.123456789012345678901234567890123456789"]
    {
        ctx.expect_validation(
            ctx.put_json(&table, json!({ "pk": { "S": "a" }, "n": { "N": digits } })).await,
            "Attempting to store more than 38 significant digits in a Number",
        );
    }
    ctx.expect_table(&table, &[]).await;
}

async fn one_number_is_one_key(ctx: Ctx) {
    let table = ctx.table(Shape::n()).await;
    for (text, mark) in [("1", "first"), ("1.0", "second"), ("1e0", "third")] {
        let item = json!({ "pk": { "N": text }, "mark": { "S": mark } });
        ctx.ok(ctx.put_json(&table, item).await);
    }
    ctx.expect_table(&table, &[item! { "pk" => 1, "mark" => "third" }]).await;
}

async fn numbers_sort_numerically(ctx: Ctx) {
    let texts = ["-1E125", "-10", "-9", "-0.5", "0", "1E-130", "0.5", "2", "10", "1E125"];
    let numbers = texts.map(|text| Number::parse(text).expect("a number"));
    let table = ctx.table(Shape::s_n()).await;
    // Written in the order of their texts, which is not theirs.
    let mut written = numbers;
    written.sort_by_key(ToString::to_string);
    ctx.put_all(&table, written.map(|number| item! { "pk" => "a", "sk" => number })).await;
    let query = Query::new(&table, attr("pk").eq("a"));
    ctx.expect_column(&ctx.query_all(query.clone()).await, "sk", numbers);
    let descending = ctx.query_all(query.descending()).await;
    ctx.expect_column(&descending, "sk", numbers.into_iter().rev());
}

async fn sum_of_39_digits_is_refused(ctx: Ctx) {
    let large = Number::parse("1E38").expect("a number");
    let table = ctx.table_with(Shape::s(), [item! { "pk" => "a", "n" => large }]).await;
    let before = ctx.snapshot(&table).await;
    let key = item! { "pk" => "a" };
    for update in [Update::new().set("n", attr("n").plus(1)), Update::new().add("n", 1)] {
        let request = UpdateItem::new(&table, key.clone()).update(update);
        ctx.expect_validation(
            ctx.store().update(request).await,
            "Attempting to store more than 38 significant digits in a Number",
        );
    }
    ctx.expect_unchanged(&before).await;
}

async fn empty_key_is_refused(ctx: Ctx) {
    let text = |attribute: &str, kind: &str| {
        format!(
            "One or more parameter values are not valid. The AttributeValue for a key attribute \
             cannot contain an empty {kind} value. Key: {attribute}"
        )
    };
    let strings = ctx.table(Shape::s_s()).await;
    for (attribute, item) in
        [("pk", item! { "pk" => "", "sk" => "b" }), ("sk", item! { "pk" => "a", "sk" => "" })]
    {
        let result = ctx.store().put(PutItem::new(&strings, item)).await;
        ctx.expect_validation(result, &text(attribute, "string"));
    }
    ctx.expect_table(&strings, &[]).await;
    let binaries = ctx.table(Shape::b()).await;
    let result = ctx.store().put(PutItem::new(&binaries, item! { "pk" => b"" })).await;
    ctx.expect_validation(result, &text("pk", "binary"));
    ctx.expect_table(&binaries, &[]).await;
}
