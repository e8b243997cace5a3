//! Valid key conditions and the items that they select.

use super::{Keys, NOT_SUPPORTED, ONE_PER_KEY, TYPE, bad_operator, missed, scalars};
use crate::cases::prelude::*;
use crate::cases::texts;

pub(super) async fn table_without_sort_key_takes_equality_alone(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [item! { "pk" => "a", "x" => "x" }]).await;
    let mut keys = Keys::new(&ctx, table);
    keys.sort = "pk";
    keys.finds("pk = :a", ["a"]).await;
    keys.finds(":a = pk", ["a"]).await;
    keys.finds("pk = :b", Vec::<&str>::new()).await;
    keys.refuses("x = :x", &missed("pk")).await;
    keys.refuses("pk > :a", NOT_SUPPORTED).await;
    keys.refuses("pk = :a AND x = :x", NOT_SUPPORTED).await;
    keys.refuses("pk = :a AND begins_with(x, :x)", NOT_SUPPORTED).await;
    keys.refuses("pk = :a AND pk = :a", ONE_PER_KEY).await;
    keys.done();
}

pub(super) async fn sort_key_accepts_every_range(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    keys.finds("pk = :a", 1..=5).await;
    keys.finds("pk = :a AND sk = :three", [3]).await;
    keys.finds("pk = :a AND sk = :nine", Vec::<i32>::new()).await;
    keys.finds("pk = :a AND sk < :three", [1, 2]).await;
    keys.finds("pk = :a AND sk <= :three", [1, 2, 3]).await;
    keys.finds("pk = :a AND sk > :three", [4, 5]).await;
    keys.finds("pk = :a AND sk >= :three", [3, 4, 5]).await;
    keys.finds("pk = :a AND sk BETWEEN :two AND :four", [2, 3, 4]).await;
    keys.finds("pk = :a AND sk BETWEEN :three AND :three", [3]).await;
    keys.finds("pk = :a AND sk BETWEEN :zero AND :nine", 1..=5).await;
    keys.finds("pk = :a AND sk < :one", Vec::<i32>::new()).await;
    keys.finds("pk = :a AND sk > :five", Vec::<i32>::new()).await;
    keys.finds("sk > :three AND pk = :a", [4, 5]).await;
    keys.done();
    let words = vec!["a", "ab", "abc", "abd", "b"];
    let mut keys = Keys::with(&ctx, TableSpec::s_s(), words.clone()).await;
    keys.finds("pk = :a AND begins_with(sk, :ab)", ["ab", "abc", "abd"]).await;
    keys.finds("pk = :a AND begins_with(sk, :abc)", ["abc"]).await;
    keys.finds("pk = :a AND begins_with(sk, :a)", words[..4].to_vec()).await;
    keys.finds("pk = :a AND begins_with(sk, :x)", Vec::<&str>::new()).await;
    keys.done();
}

pub(super) async fn string_ranges_are_in_utf8_order(ctx: Ctx) {
    let words = vec!["A", "AB", "Z", "a", "ab", "abc", "b", "é", "\u{ffff}", "😀"];
    let mut keys = Keys::with(&ctx, TableSpec::s_s(), words.clone()).await;
    keys.finds("pk = :a", words.clone()).await;
    keys.finds("pk = :a AND sk < :a", words[..3].to_vec()).await;
    keys.finds("pk = :a AND sk <= :ab", words[..5].to_vec()).await;
    keys.finds("pk = :a AND sk > :b", words[7..].to_vec()).await;
    keys.finds("pk = :a AND sk >= :e_acute", words[7..].to_vec()).await;
    keys.finds("pk = :a AND sk BETWEEN :AB AND :ac", words[1..6].to_vec()).await;
    // The bounds are between existing keys.
    keys.finds("pk = :a AND sk BETWEEN :ac AND :x", ["b"]).await;
    keys.done();
}

pub(super) async fn binary_ranges_are_in_byte_order(ctx: Ctx) {
    let all: Vec<Vec<u8>> = [
        &b"\x00"[..],
        b"\x01",
        b"\x01\x02",
        b"\x01\x02\x03",
        b"\x01\x02\x03\x04",
        b"\x01\xff",
        b"\x02",
        b"\x7f",
        b"\x80",
        b"\xff",
        b"\xff\xff",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    let mut keys = Keys::with(&ctx, TableSpec::s_b(), all.clone()).await;
    keys.finds("pk = :a", all.clone()).await;
    keys.finds("pk = :a AND sk = :bin12", [b"\x01\x02"]).await;
    keys.finds("pk = :a AND sk < :bin12", all[..2].to_vec()).await;
    keys.finds("pk = :a AND sk <= :bin", all[..4].to_vec()).await;
    keys.finds("pk = :a AND sk > :bin1234", all[5..].to_vec()).await;
    keys.finds("pk = :a AND sk >= :bin255", all[9..].to_vec()).await;
    keys.finds("pk = :a AND sk BETWEEN :bin1 AND :bin", all[1..4].to_vec()).await;
    keys.finds("pk = :a AND begins_with(sk, :bin1)", all[1..6].to_vec()).await;
    keys.finds("pk = :a AND begins_with(sk, :bin12)", all[2..5].to_vec()).await;
    keys.finds("pk = :a AND begins_with(sk, :bin255)", all[9..].to_vec()).await;
    keys.done();
}

pub(super) async fn number_ranges_are_numeric(ctx: Ctx) {
    let texts = [
        "-1E125",
        "-10.5",
        "-10",
        "-1E-130",
        "0",
        "1E-130",
        "1",
        "1.0000000000000000000000000000000000001",
        "1.0000000000000000000000000000000000002",
        "2",
        "10",
        "1E125",
    ];
    let all: Vec<Value> = texts.iter().map(|text| texts::number(text)).collect();
    let mut keys = Keys::with(&ctx, TableSpec::s_n(), all.clone()).await;
    keys.finds("pk = :a", all.clone()).await;
    keys.finds("pk = :a AND sk < :zero", all[..4].to_vec()).await;
    keys.finds("pk = :a AND sk > :zero", all[5..].to_vec()).await;
    keys.finds("pk = :a AND sk = :one", [1]).await;
    keys.finds("pk = :a AND sk = :little_more", all[7..8].to_vec()).await;
    keys.finds("pk = :a AND sk <= :little_more", all[..8].to_vec()).await;
    keys.finds("pk = :a AND sk > :little_more", all[8..].to_vec()).await;
    keys.finds("pk = :a AND sk BETWEEN :one AND :two", all[6..10].to_vec()).await;
    keys.done();
    // All spellings of a number are equal.
    let table = ctx.table_with(TableSpec::s_n(), [item! { "pk" => "a", "sk" => 100 }]).await;
    for text in ["100", "100.0", "1e2", "+0100"] {
        let value = Value::from_json(&serde_json::json!({ "N": text })).expect("valid number");
        let query = Query::new(&table, "pk = :a AND sk = :v").value(":a", "a").value(":v", value);
        assert_eq!(ctx.query_all(query).await.len(), 1, "{text}");
    }
}

pub(super) async fn prefix_matches_exactly_its_keys(ctx: Ctx) {
    let words =
        vec!["a\u{7f}", "a\u{80}", "a\u{10ffff}", "a\u{10ffff}z", "b", "\u{10ffff}", "\u{10ffff}a"];
    let mut keys = Keys::with(&ctx, TableSpec::s_s(), words.clone()).await;
    keys.finds("pk = :a AND begins_with(sk, :a)", words[..4].to_vec()).await;
    for (prefix, found) in [
        ("a\u{7f}", &words[..1]),
        ("a\u{10ffff}", &words[2..4]),
        ("\u{10ffff}", &words[5..]),
        ("\u{10ffff}\u{10ffff}", &[]),
        ("aa", &[]),
    ] {
        let text = "pk = :a AND begins_with(sk, :p)";
        let query = Query::new(&keys.table, text).value(":a", "a").value(":p", prefix);
        keys.finds_by(&format!("{text} with {prefix:?}"), query, found.to_vec()).await;
    }
    keys.done();
    let all =
        vec![b"\xfe".to_vec(), b"\xff".to_vec(), b"\xff\x00".to_vec(), b"\xff\xff\x01".to_vec()];
    let mut keys = Keys::with(&ctx, TableSpec::s_b(), all.clone()).await;
    for (prefix, found) in
        [(&b"\xff"[..], &all[1..]), (b"\xff\xff", &all[3..]), (b"\xff\xff\xff", &[])]
    {
        let text = "pk = :a AND begins_with(sk, :p)";
        let query = Query::new(&keys.table, text).value(":a", "a").value(":p", prefix);
        keys.finds_by(&format!("{text} with {prefix:?}"), query, found.to_vec()).await;
    }
    keys.done();
}

pub(super) async fn ranges_can_be_read_backwards(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    for (text, expected) in [
        ("pk = :a", &[5, 4, 3, 2, 1][..]),
        ("pk = :a AND sk = :three", &[3]),
        ("pk = :a AND sk < :three", &[2, 1]),
        ("pk = :a AND sk <= :three", &[3, 2, 1]),
        ("pk = :a AND sk > :three", &[5, 4]),
        ("pk = :a AND sk >= :three", &[5, 4, 3]),
        ("pk = :a AND sk BETWEEN :two AND :four", &[4, 3, 2]),
    ] {
        keys.finds_by(text, keys.query(text).descending(), expected.to_vec()).await;
    }
    keys.done();
    let mut keys = Keys::with(&ctx, TableSpec::s_s(), vec!["a", "ab", "abc", "b"]).await;
    let text = "pk = :a AND begins_with(sk, :ab)";
    keys.finds_by(text, keys.query(text).descending(), ["abc", "ab"]).await;
    keys.done();
}

pub(super) async fn operands_can_be_swapped(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    keys.finds(":a = pk", 1..=5).await;
    keys.finds(":a = pk AND :three = sk", [3]).await;
    keys.finds("pk = :a AND :three < sk", [4, 5]).await;
    keys.finds("pk = :a AND :three <= sk", [3, 4, 5]).await;
    keys.finds("pk = :a AND :three > sk", [1, 2]).await;
    keys.finds("pk = :a AND :three >= sk", [1, 2, 3]).await;
    keys.finds(":three > sk AND :a = pk", [1, 2]).await;
    keys.done();
}

pub(super) async fn begins_with_is_case_sensitive(ctx: Ctx) {
    let words = vec!["AB", "ABC", "Abc", "ab", "abc", "É", "é"];
    let mut keys = Keys::with(&ctx, TableSpec::s_s(), words).await;
    keys.finds("pk = :a AND begins_with(sk, :ab)", ["ab", "abc"]).await;
    keys.finds("pk = :a AND begins_with(sk, :AB)", ["AB", "ABC"]).await;
    keys.finds("pk = :a AND begins_with(sk, :e_acute)", ["é"]).await;
    keys.finds("pk = :a AND sk = :ABC", ["ABC"]).await;
    // The partition key is case-sensitive too.
    keys.finds("pk = :ABC AND begins_with(sk, :a)", Vec::<&str>::new()).await;
    keys.done();
}

pub(super) async fn parentheses_and_order_are_free(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    for text in [
        "(pk = :a) AND (sk = :three)",
        "(pk = :a AND sk = :three)",
        "((pk = :a) AND (sk = :three))",
        "(pk) = (:a) and sk = (:three)",
        "sk = :three And pk = :a",
        "pk=:a aND sk BETWEEN :three and :three",
        " pk\t=\n:a\r\nAND sk=:three ",
    ] {
        keys.finds(text, [3]).await;
    }
    keys.finds("(pk = :a)", 1..=5).await;
    keys.done();
}

pub(super) async fn partition_keys_of_every_type_are_found(ctx: Ctx) {
    let strings = ["a", "A", "aa", "é", "😀"].map(Value::from).to_vec();
    let numbers = ["1", "-1", "0", "1.5", "1E125", "1E-130"].map(texts::number).to_vec();
    let binaries = [&b"\x00"[..], b"\x00\x00", b"\xff", b"a"].map(Value::from).to_vec();
    for (kind, partitions) in [(KeyType::S, strings), (KeyType::N, numbers), (KeyType::B, binaries)]
    {
        let items: Vec<Item> = partitions
            .iter()
            .flat_map(|pk| (1..=2).map(move |sk| item! { "pk" => pk, "sk" => sk }))
            .collect();
        let table = ctx.table_with(TableSpec::keys(kind, Some(KeyType::N)), items.clone()).await;
        for (partition, expected) in partitions.iter().zip(items.chunks(2)) {
            let query = Query::new(&table, "pk = :pk").value(":pk", partition);
            ctx.expect_query(query, expected).await;
        }
    }
}

pub(super) async fn global_index_query_uses_index_keys(ctx: Ctx) {
    let entry = |sk: &str, gsk: &str| item! { "pk" => "p", "sk" => sk, "gpk" => "a", "gsk" => gsk };
    let mut items: Vec<Item> = [("1", "a"), ("2", "ab"), ("3", "abc"), ("4", "b")]
        .map(|(sk, gsk)| entry(sk, gsk))
        .to_vec();
    items.push(item! { "pk" => "p", "sk" => "5", "gpk" => "b", "gsk" => "ab" });
    items.push(item! { "pk" => "a", "sk" => "6" });
    let mut keys = Keys::new(&ctx, ctx.table_with(TableSpec::s_s().gsi(), items).await);
    (keys.index, keys.sort) = (Some("gsi"), "gsk");
    keys.finds("gpk = :a", ["a", "ab", "abc", "b"]).await;
    keys.finds("gpk = :a AND begins_with(gsk, :ab)", ["ab", "abc"]).await;
    keys.finds("gpk = :a AND gsk BETWEEN :ab AND :b", ["ab", "abc", "b"]).await;
    keys.finds(":ab < gsk AND gpk = :a", ["abc", "b"]).await;
    keys.refuses("pk = :a", &missed("gpk")).await;
    keys.refuses("gsk = :a", &missed("gpk")).await;
    keys.refuses("gpk = :a AND sk = :a", &missed("gsk")).await;
    keys.refuses("gpk = :one", TYPE).await;
    keys.refuses("gpk = :a AND gsk = :one", TYPE).await;
    keys.refuses("gpk = :a AND contains(gsk, :a)", &bad_operator("contains")).await;
    // Paths into keys name the key's role, and keys of the table count too.
    let scalars_of_index = scalars("gsk").replace("Key: ", "IndexKey: ");
    keys.refuses("gpk = :a AND gsk.x = :a", &scalars_of_index).await;
    keys.refuses("gpk = :a AND pk.x = :a", &scalars("pk")).await;
    let empty = |key: &str| {
        format!(
            "One or more parameter values are not valid. A value specified for a secondary index \
             key is not supported. The AttributeValue for a key attribute cannot contain an \
             empty string value. IndexName: gsi, IndexKey: {key}"
        )
    };
    keys.refuses("gpk = :empty", &empty("gpk")).await;
    keys.refuses("gpk = :a AND gsk > :empty", &empty("gsk")).await;
    keys.refuses("gpk = :a AND begins_with(gsk, :empty)", &empty("gsk")).await;
    keys.done();
}

pub(super) async fn local_index_query_uses_its_sort_key(ctx: Ctx) {
    let items = [("1", "b"), ("2", "a"), ("3", "abc"), ("4", "ab")]
        .map(|(sk, lsk)| item! { "pk" => "a", "sk" => sk, "lsk" => lsk });
    let others =
        [item! { "pk" => "a", "sk" => "5" }, item! { "pk" => "b", "sk" => "1", "lsk" => "a" }];
    let table = ctx.table_with(TableSpec::s_s().lsi(), items.into_iter().chain(others)).await;
    let mut keys = Keys::new(&ctx, table);
    (keys.index, keys.sort) = (Some("lsi"), "lsk");
    keys.finds("pk = :a", ["a", "ab", "abc", "b"]).await;
    keys.finds("pk = :a AND begins_with(lsk, :ab)", ["ab", "abc"]).await;
    keys.finds("pk = :a AND lsk >= :abc", ["abc", "b"]).await;
    keys.refuses("lsk = :a", &missed("pk")).await;
    keys.refuses("pk = :a AND sk = :a", &missed("lsk")).await;
    keys.refuses("pk > :a", NOT_SUPPORTED).await;
    keys.done();
}

pub(super) async fn multi_attribute_keys_are_given_from_the_left(ctx: Ctx) {
    let shape = TableSpec::s().with(|request| {
        let index = SecondaryIndex::new("gsi")
            .partition_key("p1")
            .partition_key("p2")
            .sort_key("s1")
            .sort_key("s2")
            .projection(IndexProjection::all());
        request
            .attribute("p1", KeyType::S)
            .attribute("p2", KeyType::N)
            .attribute("s1", KeyType::S)
            .attribute("s2", KeyType::N)
            .global_index(index)
    });
    let entry = |pk: &str, s1: &str, s2: i32| {
        item! { "pk" => pk, "p1" => "a", "p2" => 1, "s1" => s1, "s2" => s2 }
    };
    let mut items =
        vec![entry("1", "a", 1), entry("2", "a", 10), entry("3", "ab", 2), entry("4", "b", 1)];
    items.push(item! { "pk" => "5", "p1" => "a", "p2" => 2, "s1" => "a", "s2" => 1 });
    items.push(item! { "pk" => "6", "p1" => "a", "p2" => 1, "s1" => "a" });
    let mut keys = Keys::new(&ctx, ctx.table_with(shape, items).await);
    (keys.index, keys.sort) = (Some("gsi"), "pk");
    let both = "p1 = :a AND p2 = :one";
    keys.finds(both, ["1", "2", "3", "4"]).await;
    keys.finds(&format!("{both} AND s1 = :a"), ["1", "2"]).await;
    keys.finds(&format!("s1 = :a AND {both}"), ["1", "2"]).await;
    keys.finds(&format!("{both} AND begins_with(s1, :a)"), ["1", "2", "3"]).await;
    keys.finds(&format!("{both} AND s1 > :a"), ["3", "4"]).await;
    keys.finds(&format!("{both} AND s1 = :a AND s2 > :one"), ["2"]).await;
    keys.finds(&format!("{both} AND s1 = :a AND s2 BETWEEN :one AND :nine"), ["1"]).await;
    keys.finds(&format!("{both} AND s1 = :ab AND s2 = :two"), ["3"]).await;
    keys.refuses("p1 = :a", &missed("p2")).await;
    keys.refuses("p2 = :one", &missed("p1")).await;
    keys.refuses("p1 = :a AND s1 = :a", &missed("p2")).await;
    keys.refuses("p1 = :a AND p2 > :one", NOT_SUPPORTED).await;
    keys.refuses(&format!("{both} AND s2 = :one"), &missed("s1")).await;
    keys.refuses(&format!("{both} AND s1 > :a AND s2 = :one"), NOT_SUPPORTED).await;
    keys.refuses(&format!("{both} AND s1 = :a AND s2 = :a"), TYPE).await;
    keys.done();
}
