//! Numbers: range, normalization, keys and sums (1-5).

use serde_json::json;

use super::super::prelude::*;
use super::{expect_refused_json, expect_stored, number};

const OVERFLOW: &str =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
const UNDERFLOW: &str =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";
const TOO_MANY_DIGITS: &str = "Attempting to store more than 38 significant digits in a Number";
const NINES: &str = "99999999999999999999999999999999999999";

fn parse(text: &str) -> Number {
    Number::parse(text).expect("valid number")
}

pub(super) async fn number_keeps_38_digits(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for digits in [
        "12345678901234567890123456789012345678",
        "-1.2345678901234567890123456789012345678",
        "0.00012345678901234567890123456789012345678",
    ] {
        expect_stored(&ctx, &table, digits, digits).await;
    }
}

pub(super) async fn magnitudes_in_range_are_stored(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let small = format!("0.{}1", "0".repeat(129));
    let large = format!("1{}", "0".repeat(125));
    let largest = format!("{NINES}{}", "0".repeat(88));
    for (written, normal) in [
        ("1E-130", &small),
        ("10E-131", &small),
        ("0.1E-129", &small),
        ("1E125", &large),
        ("0.1E126", &large),
        ("9.9999999999999999999999999999999999999E+125", &largest),
    ] {
        expect_stored(&ctx, &table, written, normal).await;
        expect_stored(&ctx, &table, &format!("-{written}"), &format!("-{normal}")).await;
    }
}

pub(super) async fn number_with_39_digits_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for digits in [
        "123456789012345678901234567890123456789",
        "0.123456789012345678901234567890123456789",
        "-1.00000000000000000000000000000000000001",
        "100000000000000000000000000000000000001E-50",
    ] {
        expect_refused_json(&ctx, &table, number(digits), TOO_MANY_DIGITS).await;
    }
}

pub(super) async fn outer_zeros_are_not_significant(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let padded = format!("000{NINES}000");
    expect_stored(&ctx, &table, &padded, &format!("{NINES}000")).await;
    let fraction = format!("0.00{NINES}00");
    expect_stored(&ctx, &table, &fraction, &format!("0.00{NINES}")).await;
}

pub(super) async fn overflow_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let written_out = format!("1{}", "0".repeat(126));
    for text in
        ["1E126", "-1E126", "10E125", "9.9999999999999999999999999999999999999E126", "1E999999"]
    {
        expect_refused_json(&ctx, &table, number(text), OVERFLOW).await;
    }
    expect_refused_json(&ctx, &table, number(&written_out), OVERFLOW).await;
}

pub(super) async fn underflow_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let written_out = format!("0.{}1", "0".repeat(130));
    for text in ["1E-131", "-1E-131", "0.1E-130", "9.9E-131", "1E-999999"] {
        expect_refused_json(&ctx, &table, number(text), UNDERFLOW).await;
    }
    expect_refused_json(&ctx, &table, number(&written_out), UNDERFLOW).await;
}

pub(super) async fn exponent_of_zero_is_range_checked(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    expect_refused_json(&ctx, &table, number("0e126"), OVERFLOW).await;
    expect_refused_json(&ctx, &table, number("0e-131"), UNDERFLOW).await;
    for text in ["0e125", "0e-130", "0"] {
        expect_stored(&ctx, &table, text, "0").await;
    }
}

pub(super) async fn nested_numbers_are_validated(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for value in [
        json!({ "L": [{ "N": "1" }, { "N": "1E126" }] }),
        json!({ "M": { "a": { "L": [{ "N": "1E126" }] } } }),
        json!({ "NS": ["1", "1E126"] }),
    ] {
        let item = json!({ "pk": { "S": "a" }, "v": value });
        expect_refused_json(&ctx, &table, item, OVERFLOW).await;
    }
    let numbers = ctx.table(TableSpec::n()).await;
    expect_refused_json(&ctx, &numbers, json!({ "pk": { "N": "1E126" } }), OVERFLOW).await;
}

pub(super) async fn redundant_characters_are_removed(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (written, normal) in [
        ("00042", "42"),
        ("-00042", "-42"),
        ("+5", "5"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("+.5", "0.5"),
        ("1.", "1"),
        ("007.5", "7.5"),
    ] {
        expect_stored(&ctx, &table, written, normal).await;
    }
}

pub(super) async fn minus_zero_becomes_zero(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for written in ["-0", "-0.0", "+0", "0.000", "-0e5", "000"] {
        expect_stored(&ctx, &table, written, "0").await;
    }
}

pub(super) async fn exponent_is_written_out(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let large = format!("15{}", "0".repeat(99));
    for (written, normal) in [
        ("1.5E2", "150"),
        ("1e0", "1"),
        ("1.e5", "100000"),
        (".5e1", "5"),
        ("1E+5", "100000"),
        ("1e05", "100000"),
        ("12e-1", "1.2"),
        ("1E-5", "0.00001"),
        ("1.5e100", large.as_str()),
    ] {
        expect_stored(&ctx, &table, written, normal).await;
    }
}

pub(super) async fn trailing_zeros_are_removed(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (written, normal) in
        [("1.200", "1.2"), ("100.00", "100"), ("-3.0", "-3"), ("0.10e-2", "0.001")]
    {
        expect_stored(&ctx, &table, written, normal).await;
    }
}

pub(super) async fn malformed_numbers_are_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for text in [
        " ",
        " 1",
        "1 ",
        "1 2",
        "\t1",
        "1\n",
        "++5",
        "--5",
        "+-5",
        "0x5",
        "1_000",
        "1,000",
        "NaN",
        "nan",
        "Infinity",
        "-Infinity",
        "inf",
        "1e",
        "1e+",
        "e5",
        ".",
        "-",
        "-.",
        "1.2.3",
        "1e5.5",
        "1e1e1",
        "5f",
        "1L",
        "½",
        "abc",
        "true",
    ] {
        let message = format!("The parameter cannot be converted to a numeric value: {text}");
        expect_refused_json(&ctx, &table, number(text), &message).await;
    }
    let message = "The parameter cannot be converted to a numeric value";
    expect_refused_json(&ctx, &table, number(""), message).await;
}

pub(super) async fn nested_numbers_are_normalized(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let item = json!({
        "pk": { "S": "a" },
        "list": { "L": [{ "N": "+1.50" }, { "M": { "n": { "N": "2e1" } } }] },
        "set": { "NS": ["1e1", "-0.0", "7.70"] },
    });
    ctx.ok(ctx.put_json(&table, item).await);
    let set = Set::new([parse("0"), parse("7.7"), parse("10")]).expect("non-empty set");
    let stored = item! {
        "pk" => "a", "list" => list![parse("1.5"), map! { "n" => 20 }], "set" => set,
    };
    ctx.expect_table(&table, &[stored]).await;
}

pub(super) async fn equal_numbers_are_one_key(ctx: Ctx) {
    let table = ctx.table(TableSpec::n()).await;
    for (text, mark) in [("1", "first"), ("1.0", "second"), ("1e0", "third")] {
        let item = json!({ "pk": { "N": text }, "mark": { "S": mark } });
        ctx.ok(ctx.put_json(&table, item).await);
    }
    ctx.expect_table(&table, &[item! { "pk" => 1, "mark" => "third" }]).await;
}

/// Returns a number key in any spelling.
fn key(text: &str) -> Item {
    item! { "pk" => parse(text) }
}

pub(super) async fn equal_number_keys_in_a_batch_are_duplicates(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::n(), [key("1").with("mark", "before")]).await;
    let before = ctx.snapshot(&table).await;
    let puts =
        BatchWriteItem::new().put(&table, key("1").with("mark", "a")).put(&table, key("1.0"));
    let both = BatchWriteItem::new().put(&table, key("10")).delete(&table, key("1e1"));
    for request in [puts, both] {
        ctx.expect_validation(
            ctx.store().batch_write(request).await,
            "Provided list of item keys contains duplicates",
        );
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn equal_number_keys_in_a_transaction_are_one_item(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::n(), [key("1").with("mark", "before")]).await;
    let before = ctx.snapshot(&table).await;
    let request = TransactWriteItems::new()
        .item(PutItem::new(&table, key("2")))
        .item(PutItem::new(&table, key("1").with("mark", "after")))
        .item(DeleteItem::new(&table, key("1.0")));
    ctx.expect_validation(
        ctx.store().transact_write(request).await,
        "Transaction request cannot include multiple operations on one item",
    );
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn equal_number_keys_in_a_batch_get_return_one_item(ctx: Ctx) {
    let item = key("1").with("mark", "a");
    let table = ctx.table_with(TableSpec::n(), [item.clone()]).await;
    let request = BatchGetItem::new().keys(&table, [key("1"), key("1.0")]);
    match ctx.store().batch_get(request).await {
        Ok(answer) => {
            let found = answer.responses.get(table.name()).cloned().unwrap_or_default();
            ctx.expect_items(&found, &[item]);
        }
        refused => ctx.expect_validation(refused, "Provided list of item keys contains duplicates"),
    }
}

pub(super) async fn number_key_is_found_by_value(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n()).await;
    let key = |text: &str| item! { "pk" => "a", "sk" => parse(text) };
    ctx.put(&table, key("12.50").with("n", 1)).await;
    let update = Update::new().add("n", 1);
    ctx.update(UpdateItem::new(&table, key("1.25e1")).update(update)).await;
    let stored = key("12.5").with("n", 2);
    assert_eq!(ctx.get(&table, key("0012.5")).await, Some(stored.clone()));
    let query = attr("pk").eq("a").and(attr("sk").eq(parse("125e-1")));
    ctx.expect_query(Query::new(&table, query).consistent_read(true), &[stored]).await;
    ctx.delete(&table, key("12.5000")).await;
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn number_sort_keys_are_in_numeric_order(ctx: Ctx) {
    let texts = ["-1E125", "-10", "-9", "-0.5", "0", "1E-130", "0.5", "2", "10", "1E125"];
    let numbers = texts.map(parse);
    let table = ctx.table(TableSpec::s_n()).await;
    // The numbers are written in the order of their texts, which is not numeric.
    let mut written = numbers;
    written.sort_by_key(ToString::to_string);
    ctx.put_all(&table, written.map(|number| item! { "pk" => "a", "sk" => number })).await;
    let query = Query::new(&table, attr("pk").eq("a"));
    ctx.expect_column(&ctx.query_all(query.clone()).await, "sk", numbers);
    let descending = ctx.query_all(query.descending()).await;
    ctx.expect_column(&descending, "sk", numbers.into_iter().rev());
}

pub(super) async fn sort_keys_differ_in_the_38th_digit(ctx: Ctx) {
    let texts = [
        "-12345678901234567890123456789012345678",
        "-12345678901234567890123456789012345677",
        "0.12345678901234567890123456789012345677",
        "0.12345678901234567890123456789012345678",
        "12345678901234567890123456789012345677",
        "12345678901234567890123456789012345678",
    ];
    let table = ctx.table(TableSpec::s_n()).await;
    // Every second item is written first.
    for text in texts.iter().skip(1).step_by(2).chain(texts.iter().step_by(2)) {
        ctx.put(&table, item! { "pk" => "a", "sk" => parse(text), "text" => *text }).await;
    }
    let found = ctx.query_all(Query::new(&table, attr("pk").eq("a"))).await;
    ctx.expect_column(&found, "sk", texts.map(parse));
    ctx.expect_column(&found, "text", texts);
}

pub(super) async fn string_sort_keys_are_in_utf8_order(ctx: Ctx) {
    // The order of UTF-16 would swap the last two.
    let texts = [" ", "0", "10", "9", "A", "Z", "a", "aa", "b", "~", "é", "ａ", "\u{ffff}", "😀"];
    let table = ctx.table(TableSpec::s_s()).await;
    ctx.put_all(&table, texts.iter().rev().map(|text| item! { "pk" => "a", "sk" => *text })).await;
    let query = Query::new(&table, attr("pk").eq("a"));
    ctx.expect_column(&ctx.query_all(query.clone()).await, "sk", texts);
    let descending = ctx.query_all(query.descending()).await;
    ctx.expect_column(&descending, "sk", texts.into_iter().rev());
}

pub(super) async fn binary_sort_keys_are_in_byte_order(ctx: Ctx) {
    let keys: [&[u8]; 9] =
        [b"\0", b"\0\0", b"\x01", b"a", b"aa", b"\x7f", b"\x7f\xff", b"\x80", b"\xff\0"];
    let table = ctx.table(TableSpec::s_b()).await;
    ctx.put_all(&table, keys.iter().rev().map(|key| item! { "pk" => "a", "sk" => *key })).await;
    let query = Query::new(&table, attr("pk").eq("a"));
    ctx.expect_column(&ctx.query_all(query.clone()).await, "sk", keys);
    let descending = ctx.query_all(query.descending()).await;
    ctx.expect_column(&descending, "sk", keys.into_iter().rev());
}

pub(super) async fn number_ranges_are_numeric(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n()).await;
    let numbers = [-100, -20, -3, 0, 1, 2, 9, 10, 11, 100];
    ctx.put_all(&table, numbers.map(|number| item! { "pk" => "a", "sk" => number })).await;
    let sk = || attr("sk");
    for (range, expected) in [
        (sk().gt(9), vec![10, 11, 100]),
        (sk().ge(9), vec![9, 10, 11, 100]),
        (sk().lt(-3), vec![-100, -20]),
        (sk().le(-3), vec![-100, -20, -3]),
        (sk().between(-20, 2), vec![-20, -3, 0, 1, 2]),
        (sk().between(3, 8), vec![]),
        (sk().eq(0), vec![0]),
    ] {
        let query = Query::new(&table, attr("pk").eq("a").and(range));
        ctx.expect_column(&ctx.query_all(query).await, "sk", expected);
    }
}

pub(super) async fn index_sort_keys_have_the_same_order(ctx: Ctx) {
    let all = IndexProjection::all;
    let shape = TableSpec::s()
        .gsi_on("numbers", ("gpk", KeyType::S), Some(("number", KeyType::N)), all())
        .gsi_on("binaries", ("gpk", KeyType::S), Some(("binary", KeyType::B)), all())
        .gsi_on("strings", ("gpk", KeyType::S), Some(("string", KeyType::S)), all());
    let numbers = [-10, -9, 0, 2, 10];
    let binaries: [&[u8]; 5] = [b"\0", b"a", b"aa", b"\x80", b"\xff"];
    let strings = ["10", "9", "a", "\u{ffff}", "😀"];
    let mut items: Vec<Item> = numbers
        .iter()
        .zip(binaries)
        .zip(strings)
        .enumerate()
        .map(|(place, ((number, binary), string))| {
            item! {
                "pk" => format!("item-{}", (place * 3) % 5), "gpk" => "g",
                "number" => *number, "binary" => binary, "string" => string,
            }
        })
        .collect();
    let table = ctx.table(shape).await;
    ctx.put_all(&table, items.iter().rev().cloned()).await;
    for index in ["numbers", "binaries", "strings"] {
        let query = Query::new(&table, attr("gpk").eq("g")).index(index);
        ctx.expect_query(query, &items).await;
    }
    items.reverse();
    for index in ["numbers", "binaries", "strings"] {
        let query = Query::new(&table, attr("gpk").eq("g")).index(index).descending();
        ctx.expect_query(query, &items).await;
    }
}

/// Returns sums of the same numbers by `SET n = n + :x`, `SET n = n - :x` and `ADD n :x`.
fn sums(left: &str, right: &str) -> [(Number, Update); 3] {
    let (left, right) = (parse(left), parse(right));
    [
        (left, Update::new().set("n", attr("n").plus(right))),
        (left, Update::new().set("n", attr("n").minus(right.negated()))),
        (left, Update::new().add("n", right)),
    ]
}

pub(super) async fn sums_are_exact(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (left, right, sum) in [
        ("0.1", "0.2", "0.3"),
        ("1e37", "1", "10000000000000000000000000000000000001"),
        (NINES, "1", "1e38"),
        (NINES, "-1", "99999999999999999999999999999999999998"),
        ("1", "-1", "0"),
        ("0", "-7.25", "-7.25"),
        ("1e-130", "1e-129", "1.1e-129"),
        ("1.1e-129", "-1e-129", "1e-130"),
        ("9e125", "9e124", "9.9e125"),
        ("123456789.000000001", "0.999999999", "123456790"),
    ] {
        for (left, update) in sums(left, right) {
            ctx.put(&table, item! { "pk" => "a", "n" => left }).await;
            let request = UpdateItem::new(&table, item! { "pk" => "a" }).update(update);
            let answer = ctx.update(request.return_values(ReturnValues::UpdatedNew)).await;
            let expected = item! { "n" => parse(sum) };
            assert_eq!(answer.attributes, Some(expected.clone()), "{left} + {right}");
            ctx.expect_table(&table, &[expected.with("pk", "a")]).await;
        }
    }
}

/// Asserts that these sums are rejected and leave the item unchanged.
async fn expect_no_sum(ctx: &Ctx, table: &Table, left: &str, right: &str, message: &str) {
    for (left, update) in sums(left, right) {
        let item = item! { "pk" => "a", "n" => left };
        ctx.put(table, item.clone()).await;
        let request = UpdateItem::new(table, item! { "pk" => "a" }).update(update);
        ctx.expect_validation(ctx.store().update(request).await, message);
        ctx.expect_table(table, &[item]).await;
    }
}

pub(super) async fn sum_overflow_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    expect_no_sum(&ctx, &table, "9.9e125", "1e125", OVERFLOW).await;
    expect_no_sum(&ctx, &table, "-9.9e125", "-1e125", OVERFLOW).await;
}

pub(super) async fn sum_with_39_digits_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    expect_no_sum(&ctx, &table, "1E38", "1", TOO_MANY_DIGITS).await;
    expect_no_sum(&ctx, &table, NINES, "0.1", TOO_MANY_DIGITS).await;
    expect_no_sum(&ctx, &table, "-1E38", "-1", TOO_MANY_DIGITS).await;
}

pub(super) async fn sum_underflow_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    expect_no_sum(&ctx, &table, "1.1e-130", "-1e-130", UNDERFLOW).await;
    let item = item! { "pk" => "a", "n" => parse("1e-130") };
    ctx.put(&table, item).await;
    let update = Update::new().add("n", parse("-1e-130"));
    ctx.update(UpdateItem::new(&table, item! { "pk" => "a" }).update(update)).await;
    ctx.expect_table(&table, &[item! { "pk" => "a", "n" => 0 }]).await;
}

pub(super) async fn sum_of_far_magnitudes_is_not_rounded(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    expect_no_sum(&ctx, &table, "1e30", "1e-30", TOO_MANY_DIGITS).await;
    expect_no_sum(&ctx, &table, "1e125", "1e-130", TOO_MANY_DIGITS).await;
}
