//! Sets, empty values, nesting, and round trips of all types (9-11).

use serde_json::json;

use super::super::prelude::*;
use super::expect_refused_json;

/// Returns the value at the top of an item, in a list, and in a map in a list.
fn at_depths(value: &serde_json::Value) -> [serde_json::Value; 3] {
    [
        json!({ "pk": { "S": "a" }, "v": value }),
        json!({ "pk": { "S": "a" }, "v": { "L": [{ "S": "x" }, value] } }),
        json!({ "pk": { "S": "a" }, "v": { "L": [{ "M": { "deep": value } }] } }),
    ]
}

fn strings(members: &[&str]) -> Set<String> {
    Set::new(members.iter().map(|member| (*member).to_owned())).expect("distinct members")
}

fn numbers(members: &[&str]) -> Set<Number> {
    let parse = |member: &&str| Number::parse(member).expect("valid number");
    Set::new(members.iter().map(parse)).expect("distinct members")
}

fn binaries(members: &[&'static [u8]]) -> Set<bytes::Bytes> {
    Set::new(members.iter().map(|member| bytes::Bytes::from_static(member)))
        .expect("distinct members")
}

pub(super) async fn empty_values_are_stored_outside_keys(ctx: Ctx) {
    let item = item! {
        "pk" => "a", "string" => "", "binary" => b"",
        "list" => list!["", b""], "map" => map! { "string" => "", "binary" => b"" },
        "no-list" => list![], "no-map" => Map::new(),
    };
    let table = ctx.table_with(TableSpec::s().gsi(), [item.clone()]).await;
    ctx.expect_table(&table, std::slice::from_ref(&item)).await;
    let update = Update::new().set("string", b"").set("binary", "").set("new", "");
    ctx.update(UpdateItem::new(&table, item! { "pk" => "a" }).update(update)).await;
    let updated = item.with("string", b"").with("binary", "").with("new", "");
    ctx.expect_table(&table, &[updated]).await;
}

pub(super) async fn empty_sets_are_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (code, message) in [
        ("SS", "One or more parameter values were invalid: An string set  may not be empty"),
        ("NS", "One or more parameter values were invalid: An number set  may not be empty"),
        ("BS", "One or more parameter values were invalid: Binary sets should not be empty"),
    ] {
        for item in at_depths(&json!({ code: [] })) {
            expect_refused_json(&ctx, &table, item, message).await;
        }
    }
}

pub(super) async fn sets_can_hold_an_empty_member(ctx: Ctx) {
    let item = item! {
        "pk" => "a", "string" => strings(&[""]), "strings" => strings(&["", "x"]),
        "binary" => binaries(&[b""]), "binaries" => binaries(&[b"", b"x"]),
    };
    let table = ctx.table_with(TableSpec::s(), [item.clone()]).await;
    ctx.expect_table(&table, &[item]).await;
}

pub(super) async fn duplicate_set_members_are_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (set, shown) in [
        (json!({ "SS": ["a", "a"] }), "Input collection [a, a] contains duplicates."),
        (
            json!({ "SS": ["b", "a", "c", "a", "b"] }),
            "Input collection [b, a, c, a, b] contains duplicates.",
        ),
        (json!({ "SS": ["", ""] }), "Input collection [, ] contains duplicates."),
        (
            json!({ "BS": ["YQ==", "Yg==", "YQ=="] }),
            "Input collection [YQ==, Yg==, YQ==]of type BS contains duplicates.",
        ),
    ] {
        let message = format!("One or more parameter values were invalid: {shown}");
        for item in at_depths(&set) {
            expect_refused_json(&ctx, &table, item, &message).await;
        }
    }
}

pub(super) async fn duplicate_numbers_are_detected_by_value(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for members in [["1", "1"], ["1", "1.0"], ["0", "-0"], ["150", "1.5e2"]] {
        for item in at_depths(&json!({ "NS": members })) {
            let message = "Input collection contains duplicates";
            expect_refused_json(&ctx, &table, item, message).await;
        }
    }
}

pub(super) async fn false_null_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let message = "One or more parameter values were invalid: Null attribute value types must \
                   have the value of true";
    for item in at_depths(&json!({ "NULL": false })) {
        expect_refused_json(&ctx, &table, item, message).await;
    }
    let [item, ..] = at_depths(&json!({ "NULL": true }));
    ctx.ok(ctx.put_json(&table, item).await);
    ctx.expect_table(&table, &[item! { "pk" => "a", "v" => Value::Null }]).await;
}

fn lists(count: usize, inner: Value) -> Value {
    (0..count).fold(inner, |inner, _| list![inner])
}

fn maps(count: usize, inner: Value) -> Value {
    (0..count).fold(inner, |inner, _| Value::M(map! { "a" => inner }))
}

/// Returns values of `levels` nested lists and maps.
fn nested(levels: usize) -> [Value; 6] {
    [
        lists(levels, "x".into()),
        maps(levels, "x".into()),
        lists(levels, strings(&["x"]).into()),
        lists(levels - 1, list![]),
        maps(levels - 1, Value::M(Map::new())),
        maps(levels - 3, lists(3, 1.into())),
    ]
}

const TOO_DEEP: &str = "Nesting Levels have exceeded supported limits: Attributes in the item have \
                        nested levels beyond supported limit";

pub(super) async fn nesting_of_31_levels_is_accepted(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for value in nested(31) {
        let item = item! { "pk" => "a", "v" => value };
        ctx.put(&table, item.clone()).await;
        ctx.expect_table(&table, &[item]).await;
    }
}

pub(super) async fn nesting_of_32_levels_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for value in nested(32) {
        let put = PutItem::new(&table, item! { "pk" => "a", "v" => value });
        ctx.expect_validation(ctx.store().put(put).await, TOO_DEEP);
        ctx.expect_table(&table, &[]).await;
    }
}

pub(super) async fn update_to_32_levels_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [item! { "pk" => "a", "v" => Map::new() }]).await;
    let before = ctx.snapshot(&table).await;
    let set = |value: Value| {
        let update = Update::new().set(attr("v").field("a"), value);
        UpdateItem::new(&table, item! { "pk" => "a" }).update(update)
    };
    let refused = ctx.store().update(set(lists(31, "x".into()))).await;
    ctx.expect_validation_with(refused, "Nesting Levels have exceeded supported limits");
    ctx.expect_unchanged(&before).await;
    let allowed = lists(30, "x".into());
    ctx.update(set(allowed.clone())).await;
    ctx.expect_table(&table, &[item! { "pk" => "a", "v" => map! { "a" => allowed } }]).await;
}

pub(super) async fn sets_are_unordered(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let item = json!({
        "pk": { "S": "a" }, "ss": { "SS": ["b", "c", "a"] }, "ns": { "NS": ["3", "1", "20"] },
        "bs": { "BS": ["Yg==", "YQ=="] },
    });
    ctx.ok(ctx.put_json(&table, item).await);
    let stored = item! {
        "pk" => "a", "ss" => strings(&["a", "b", "c"]), "ns" => numbers(&["20", "3", "1.0"]),
        "bs" => binaries(&[b"a", b"b"]),
    };
    ctx.expect_table(&table, std::slice::from_ref(&stored)).await;
    let same = attr("ss")
        .eq(strings(&["c", "a", "b"]))
        .and(attr("ns").eq(numbers(&["1", "20", "3"])))
        .and(attr("bs").eq(binaries(&[b"b", b"a"])));
    let put = PutItem::new(&table, stored.clone().with("mark", 1)).condition(same);
    ctx.ok(ctx.store().put(put).await);
    for other in [strings(&["a", "b"]), strings(&["a", "b", "d"]), strings(&["a", "b", "c", "d"])] {
        let put = PutItem::new(&table, item! { "pk" => "a" }).condition(attr("ss").eq(other));
        ctx.expect_condition_failed(ctx.store().put(put).await);
    }
    ctx.expect_table(&table, &[stored.with("mark", 1)]).await;
}

pub(super) async fn sets_are_returned_sorted(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let item = json!({
        "pk": { "S": "a" }, "ss": { "SS": ["z", "é", "C", "b", "10", "9"] },
        "ns": { "NS": ["10", "-1", "2", "0.5", "1e3", "0"] },
        "bs": { "BS": ["/w==", "Yg==", "YWE=", "AA==", "YQ=="] },
    });
    ctx.ok(ctx.put_json(&table, item).await);
    let item = ctx.get(&table, item! { "pk" => "a" }).await.expect("the item was written").to_map();
    let Some(Value::Ss(set)) = item.get("ss") else { panic!("no string set in {item:?}") };
    assert_eq!(set.iter().collect::<Vec<_>>(), ["10", "9", "C", "b", "z", "é"]);
    let Some(Value::Ns(set)) = item.get("ns") else { panic!("no number set in {item:?}") };
    let sorted: Vec<String> = set.iter().map(ToString::to_string).collect();
    assert_eq!(sorted, ["-1", "0", "0.5", "2", "10", "1000"]);
    let Some(Value::Bs(set)) = item.get("bs") else { panic!("no binary set in {item:?}") };
    let sorted: [&[u8]; 5] = [b"\0", b"a", b"aa", b"b", b"\xff"];
    assert_eq!(set.iter().collect::<Vec<_>>(), sorted);
}

pub(super) async fn values_of_every_type_are_returned_unchanged(ctx: Ctx) {
    let values = || {
        map! {
            "s" => "text", "n" => -42, "b" => b"\0\xff", "true" => true, "false" => false,
            "null" => Value::Null, "ss" => strings(&["a", "b"]), "ns" => numbers(&["1", "2.5"]),
            "bs" => binaries(&[b"a", b"\0"]), "l" => list![], "m" => Map::new(),
        }
    };
    let mut item = Item::from(values()).with("pk", "a").with("sk", "b").with("gpk", "g");
    item.insert("gsk", "h");
    item.insert("nested", list![values(), list![values()], "end"]);
    let table = ctx.table_with(TableSpec::s_s().gsi(), [item.clone()]).await;
    let key = item! { "pk" => "a", "sk" => "b" };
    let expected = std::slice::from_ref(&item);
    assert_eq!(ctx.get(&table, key.clone()).await.as_ref(), Some(&item));
    ctx.expect_table(&table, expected).await;
    ctx.expect_query(Query::new(&table, attr("pk").eq("a")).consistent_read(true), expected).await;
    ctx.expect_query(Query::new(&table, attr("gpk").eq("g")).index("gsi"), expected).await;
    ctx.expect_index(&table, "gsi", expected).await;
    let request = BatchGetItem::new().keys(&table, [key.clone()]);
    let answer = ctx.ok(ctx.store().batch_get(request).await);
    assert_eq!(answer.responses.get(table.name()).map(Vec::as_slice), Some(expected));
    let old = DeleteItem::new(&table, key).return_values(ReturnValues::AllOld);
    assert_eq!(ctx.ok(ctx.store().delete(old).await).attributes, Some(item));
}

pub(super) async fn every_character_and_byte_is_returned_unchanged(ctx: Ctx) {
    let texts = [
        "\0",
        "a\0b",
        "\u{1}\u{7f}\u{85}",
        "\r\n\t\"\\/",
        "é",
        "e\u{301}",
        "\u{ffff}",
        "😀",
        "\u{10ffff}",
        "\u{feff}x",
        " spaces ",
        "#name",
        ":value",
        "a.b[0]",
        "{\"S\":\"x\"}",
    ];
    let mut item = item! { "pk" => "a", "all" => texts.concat() };
    for text in texts {
        item.insert(text, text);
        item.insert(format!("map {text}"), map! { text => list![text] });
    }
    item.insert("bytes", (0..=255_u8).collect::<Vec<u8>>());
    let table = ctx.table_with(TableSpec::s(), [item.clone()]).await;
    ctx.expect_table(&table, &[item]).await;
    let keys =
        ctx.table_with(TableSpec::s_s(), texts.map(|t| item! { "pk" => t, "sk" => t })).await;
    for text in texts {
        let key = item! { "pk" => text, "sk" => text };
        assert_eq!(ctx.get(&keys, key.clone()).await, Some(key), "{text:?}");
    }
}
