//! Evaluation of conditions on an item (18-21).

use crate::cases::prelude::*;
use crate::cases::texts::{Asked, Expected};

/// Asserts that the texts in `hold` are true of the item and those in `fail` are false.
async fn truth(ctx: &Ctx, hold: &[&str], fail: &[&str]) {
    let mut asked = Asked::new(ctx).await;
    for text in hold {
        asked.ask(text, Expected::Holds(true)).await;
    }
    for text in fail {
        asked.ask(text, Expected::Holds(false)).await;
    }
    asked.done().await;
}

/// Paths without a value in the item.
const NOWHERE: [&str; 8] = ["zz", "zz.x", "m.zz", "l[99]", "st[0]", "st.x", "l.x", "m[0]"];

pub(super) async fn comparison_with_missing_attribute_is_false(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for path in NOWHERE {
        for form in [
            "P = :one",
            "P < :one",
            "P <= :one",
            "P > :one",
            "P >= :one",
            "P = :null",
            "P = :empty",
            "P = :false",
            ":one = P",
            ":one > P",
            "P = n",
            "n = P",
            "n > P",
            "P <= nu",
            "P = yy",
            "P < yy",
            "P BETWEEN :zero AND :nine",
            "P BETWEEN a AND n",
            "n BETWEEN P AND n2",
            "n BETWEEN a AND P",
            "P IN (:one, :null, n)",
            "n IN (P)",
            "begins_with(P, :empty)",
            "begins_with(st, P)",
            "contains(P, :a)",
            "contains(ss, P)",
            "attribute_exists(P)",
            "attribute_type(P, :S)",
            "attribute_type(P, :NULL)",
        ] {
            asked.ask(&form.replace('P', path), Expected::Holds(false)).await;
        }
        for form in ["attribute_not_exists(P)", "n IN (P, n2)"] {
            asked.ask(&form.replace('P', path), Expected::Holds(true)).await;
        }
    }
    asked.done().await;
}

pub(super) async fn inequality_with_missing_attribute_is_true(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for path in NOWHERE {
        for form in ["P <> :one", "P <> :null", ":one <> P", "P <> n", "n <> P", "P <> yy"] {
            asked.ask(&form.replace('P', path), Expected::Holds(true)).await;
        }
    }
    asked.done().await;
}

pub(super) async fn not_negates_conditions_on_missing_attributes(ctx: Ctx) {
    truth(
        &ctx,
        &[
            "NOT a = :two",
            "NOT zz = :one",
            "NOT zz < :one",
            "NOT zz >= :one",
            "NOT zz = yy",
            "NOT zz BETWEEN :zero AND :nine",
            "NOT n BETWEEN zz AND n2",
            "NOT zz IN (:one)",
            "NOT n IN (zz)",
            "NOT begins_with(zz, :a)",
            "NOT contains(zz, :a)",
            "NOT contains(n, :a)",
            "NOT attribute_type(zz, :S)",
            "NOT attribute_exists(zz)",
            "NOT size(zz) = :one",
            "NOT st < n",
            "NOT (zz = :one AND a = :one)",
            "NOT NOT a = :one",
        ],
        &[
            "NOT a = :one",
            "NOT zz <> :one",
            "NOT zz <> yy",
            "NOT attribute_not_exists(zz)",
            "NOT size(zz) <> :one",
            "NOT (zz = :one OR a = :one)",
            "NOT NOT zz = :one",
        ],
    )
    .await;
}

/// Asserts that comparisons with the size of this path are false.
async fn has_no_size(asked: &mut Asked, path: &str) {
    for form in [
        "size(P) = :zero",
        "size(P) = :one",
        "size(P) < :nine",
        "size(P) >= :zero",
        "size(P) BETWEEN :zero AND :nine",
        "size(P) IN (:zero, :one, :two)",
        "size(P) = size(yy)",
        "n > size(P)",
        "n BETWEEN size(P) AND :nine",
    ] {
        asked.ask(&form.replace('P', path), Expected::Holds(false)).await;
    }
    for form in ["size(P) <> :one", "NOT size(P) = :one"] {
        asked.ask(&form.replace('P', path), Expected::Holds(true)).await;
    }
}

pub(super) async fn size_of_missing_attribute_matches_nothing(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for path in NOWHERE {
        has_no_size(&mut asked, path).await;
    }
    asked.done().await;
}

pub(super) async fn size_of_types_without_size_matches_nothing(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for path in ["n", "m.x", "l[0]", "bo", "nu"] {
        has_no_size(&mut asked, path).await;
    }
    asked.done().await;
}

pub(super) async fn size_of_string_is_in_utf16_code_units(ctx: Ctx) {
    // a, two for the emoji, and é: 4 in UTF-16, 3 characters, 7 bytes.
    truth(
        &ctx,
        &[
            "size(st) = :three",
            "size(em) = :four",
            "size(es) = :zero",
            "size(l[1]) = :one",
            "size(pk) = :two",
            "size(em) > size(st)",
            "size(st) BETWEEN :two AND :three",
            "size(st) IN (:one, :three)",
        ],
        &["size(em) = :three", "size(em) > :four", "size(st) > :a", "size(st) = :abc"],
    )
    .await;
}

pub(super) async fn size_of_binary_is_in_bytes(ctx: Ctx) {
    truth(&ctx, &["size(b) = :three", "size(b) = size(st)"], &["size(b) <> :three"]).await;
}

pub(super) async fn size_of_collection_is_its_element_count(ctx: Ctx) {
    truth(
        &ctx,
        &[
            "size(ss) = :two",
            "size(ns) = :three",
            "size(bs) = :two",
            "size(l) = :four",
            "size(m) = :three",
            "size(l0) = :zero",
            "size(m0) = :zero",
            "size(m.l) = :three",
            "size(m.y) = :one",
            "size(l[2]) = :two",
            "size(l[3]) = :one",
            "n > size(l)",
            "contains(ns, size(ns))",
        ],
        &["size(l) > :four", "size(m0) > :zero"],
    )
    .await;
}

pub(super) async fn contains_finds_substrings(ctx: Ctx) {
    truth(
        &ctx,
        &[
            "contains(st, :a)",
            "contains(st, :bc)",
            "contains(st, :abc)",
            "contains(st, :empty)",
            "contains(es, :empty)",
            "contains(em, :e_acute)",
            "contains(:xabcx, st)",
            "contains(l[1], :x)",
        ],
        &[
            "contains(st, :ac)",
            "contains(st, :AB)",
            "contains(st, :abcd)",
            "contains(es, :a)",
            "contains(st, :one)",
            "contains(st, :ss_a)",
            "contains(:abc, zz)",
        ],
    )
    .await;
}

pub(super) async fn contains_finds_set_members(ctx: Ctx) {
    truth(
        &ctx,
        &[
            "contains(ss, :a)",
            "contains(ns, :one)",
            "contains(ns, m.x)",
            "contains(bs, :bin1)",
            "contains(:ss_abc, st)",
            "contains(:ns5, n)",
        ],
        &[
            "contains(ss, :ab)",
            "contains(ss, :empty)",
            "contains(ss, :ss_a)",
            "contains(ss, :ss)",
            "contains(ns, :nine)",
            "contains(ns, :digit)",
            "contains(bs, :bin12)",
            "contains(bs, :a)",
        ],
    )
    .await;
}

pub(super) async fn contains_compares_numbers_by_value(ctx: Ctx) {
    let item = serde_json::json!({
        "pk": { "S": "a" },
        "ns": { "NS": ["1.0", "2E1", "0.30"] },
        "l": { "L": [{ "N": "1.0" }, { "N": "00.5" }] },
    });
    let table = ctx.table(TableSpec::s()).await;
    ctx.ok(ctx.put_json(&table, item).await);
    for (text, value, found) in [
        ("contains(ns, :v)", "1", true),
        ("contains(ns, :v)", "1e0", true),
        ("contains(ns, :v)", "20.00", true),
        ("contains(ns, :v)", ".3", true),
        ("contains(ns, :v)", "2", false),
        ("contains(ns, :v)", "1.0000000000000000000000000000000000001", false),
        ("contains(l, :v)", "1", true),
        ("contains(l, :v)", "0.5", true),
    ] {
        let value = Value::from_json(&serde_json::json!({ "N": value })).expect("valid number");
        let scan = Scan::new(&table).filter(text).value(":v", &value);
        let page = ctx.ok(ctx.store().scan(scan).await);
        assert_eq!(page.count, usize::from(found), "{text} with {value:?}");
    }
}

pub(super) async fn contains_finds_list_elements(ctx: Ctx) {
    truth(
        &ctx,
        &[
            "contains(l, :zero)",
            "contains(l, :x)",
            "contains(l, :map78)",
            "contains(l, :list9)",
            "contains(l, l[1])",
            "contains(l[3], :nine)",
            "contains(m.l, :two)",
            "contains(:list_abc, st)",
        ],
        &[
            "contains(l, :nine)",
            "contains(l, :a)",
            "contains(l, :empty)",
            "contains(l, :map)",
            "contains(l0, :one)",
            "contains(l0, :empty_list)",
        ],
    )
    .await;
}

pub(super) async fn contains_finds_bytes_and_nothing_in_scalars(ctx: Ctx) {
    truth(
        &ctx,
        &["contains(b, :bin23)", "contains(b, :bin)"],
        &[
            "contains(b, :bin32)",
            "contains(b, :abc)",
            "contains(m, :x)",
            "contains(m, :one)",
            "contains(n, :five)",
            "contains(n, :digit)",
            "contains(bo, :true)",
            "contains(nu, :null)",
            "contains(:one, :one)",
            "contains(size(st), :three)",
        ],
    )
    .await;
}

/// An attribute of each type, with its type code.
const TYPES: [(&str, &str); 10] = [
    ("st", "S"),
    ("n", "N"),
    ("b", "B"),
    ("bo", "BOOL"),
    ("nu", "NULL"),
    ("l", "L"),
    ("m", "M"),
    ("ss", "SS"),
    ("ns", "NS"),
    ("bs", "BS"),
];

pub(super) async fn attribute_type_matches_the_type_alone(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for (attribute, kind) in TYPES {
        for (_, code) in TYPES {
            let text = format!("attribute_type({attribute}, :{code})");
            asked.ask(&text, Expected::Holds(code == kind)).await;
        }
    }
    asked
        .hold(&[
            ("attribute_type(l[2], :M)", true),
            ("attribute_type(m.l, :L)", true),
            ("attribute_type(es, :S)", true),
            ("attribute_type(m0, :M)", true),
            ("attribute_type(:abc, :S)", true),
            ("attribute_type(:S, :S)", true),
            ("attribute_type(:one, :S)", false),
        ])
        .await;
    asked.done().await;
}

pub(super) async fn begins_with_is_case_sensitive(ctx: Ctx) {
    truth(
        &ctx,
        &[
            "begins_with(st, :a)",
            "begins_with(st, :ab)",
            "begins_with(st, :abc)",
            "begins_with(st, :empty)",
            "begins_with(es, :empty)",
            "begins_with(em, :a)",
            "begins_with(l[1], :x)",
            "begins_with(b, :bin1)",
            "begins_with(b, :bin12)",
            "begins_with(b, :bin)",
            "begins_with(:abcd, st)",
            "begins_with(:ab, :a)",
        ],
        &[
            "begins_with(st, :AB)",
            "begins_with(st, :bc)",
            "begins_with(st, :abcd)",
            "begins_with(es, :a)",
            "begins_with(b, :bin23)",
            "begins_with(b, :bin1234)",
            "begins_with(b, :a)",
            "begins_with(st, :bin)",
            "begins_with(st, n)",
            "begins_with(n, :digit)",
            "begins_with(l, :x)",
            "begins_with(ss, :a)",
            "begins_with(bo, :a)",
        ],
    )
    .await;
}

pub(super) async fn comparison_of_two_types_is_false(ctx: Ctx) {
    truth(
        &ctx,
        &["n <> :digit", "st <> :one", "NOT n = :digit", "NOT st < :one", "nu <> :false"],
        &[
            "n = :digit",
            "n < :abc",
            "n > :abc",
            "n <= :digit",
            "n >= :digit",
            "st < :nine",
            "st > :nine",
            "st = :bin",
            "b < :abc",
            "n BETWEEN :a AND :b",
            "st BETWEEN :one AND :nine",
            "n IN (:digit, :true, :null, :ns)",
            "bo = :one",
            "bf = :zero",
            "nu = :empty",
            "ss = :a",
            "l = :ss",
            "m0 = :empty_list",
        ],
    )
    .await;
}

pub(super) async fn values_compare_within_their_type(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    // Each value is a copy of an attribute, so a pair is equal exactly if it has one type.
    let item = Asked::item();
    for (attribute, kind) in TYPES {
        for (other, other_kind) in TYPES {
            let same = kind == other_kind;
            let ordered = ["S", "N", "B"].contains(&other_kind);
            let value = item.get(other).expect("the item has the attribute").to_value();
            for (operator, holds) in
                [("=", same), ("<>", !same), ("<", false), ("<=", same), (">", false), (">=", same)]
            {
                if !ordered && !["=", "<>"].contains(&operator) {
                    continue;
                }
                let text = format!("{attribute} {operator} :v");
                let values = [(":v".to_owned(), value.clone())].into();
                asked.ask_with(&text, Default::default(), values, Expected::Holds(holds)).await;
            }
            // An order comparison of unordered attributes is false, and no error.
            if !same {
                asked.ask(&format!("{attribute} < {other}"), Expected::Holds(false)).await;
                asked.ask(&format!("{attribute} >= {other}"), Expected::Holds(false)).await;
                asked.ask(&format!("{attribute} <> {other}"), Expected::Holds(true)).await;
            }
        }
    }
    asked.done().await;
}

pub(super) async fn equality_is_by_value(ctx: Ctx) {
    truth(
        &ctx,
        &[
            "n = n2",
            "ss = ss2",
            "ns = ns2",
            "m = m2",
            "m.x = a",
            "l[2] = :map78",
            "l[3] = :list9",
            "ss = :ss",
            "ns = :ns",
            "bs = :bs",
            "l0 = :empty_list",
            "m0 = :empty_map",
            "es = :empty",
            "nu = :null",
            "bo = :true",
            "bf = :false",
            "b = :bin",
        ],
        &[
            "ss = :ss_a",
            "m = :map",
            "m.y = :map",
            "l = :list",
            "l0 = :list",
            "bo = bf",
            "bo = :false",
            "st = :ABC",
            "a = :little_more",
            "n <> n2",
            "ss <> ss2",
            "m <> m2",
        ],
    )
    .await;
}

pub(super) async fn order_is_numeric_or_by_bytes(ctx: Ctx) {
    truth(
        &ctx,
        &[
            "a < :two",
            "a < :little_more",
            "n > a",
            "n <= n2",
            "n >= n2",
            "st < :abcd",
            "st > :ab",
            "st > :ABC",
            "st < :e_acute",
            "es < st",
            // The order is by UTF-8 bytes; by UTF-16 code units it would be the reverse.
            "em > :a_ffff",
            "b < :bin255",
            "b > :bin1",
            "b > :bin12",
            "b < :bin1234",
            "b < :bin23",
        ],
        &[
            "a > :little_more",
            "n < n2",
            "n > n2",
            "st > :b",
            "b < :bin1",
            "b > :bin255",
            // Types without an order match no order comparison.
            "bf < bo",
            "bo >= bf",
            "ss <= ss2",
            "ns >= ns2",
            "m <= m2",
            "l > l0",
            "nu <= zz",
        ],
    )
    .await;
}

pub(super) async fn between_is_inclusive_and_in_matches_one(ctx: Ctx) {
    truth(
        &ctx,
        &[
            "n BETWEEN :five AND :five",
            "n BETWEEN :five AND :nine",
            "n BETWEEN :one AND :five",
            "n BETWEEN a AND n2",
            "st BETWEEN :a AND :b",
            "st BETWEEN :abc AND :abcd",
            "b BETWEEN :bin12 AND :bin1234",
            "size(st) BETWEEN :three AND :nine",
            ":three BETWEEN a AND n",
            "n IN (:five)",
            "n IN (:one, :a, :true, :five)",
            "n IN (a, n2)",
            "m IN (m2)",
            "ss IN (:ns, :ss)",
            "nu IN (:null)",
            ":five IN (a, n)",
            "size(st) IN (:three)",
            "n IN (size(st), :five)",
        ],
        &[
            "n BETWEEN :one AND :four",
            "n BETWEEN :nine AND n2",
            "st BETWEEN :abcd AND :b",
            "es BETWEEN :a AND :b",
            "b BETWEEN :bin1 AND :bin12",
            ":three BETWEEN n AND a",
            "n IN (:one, :four)",
            "st IN (:ab, :ABC)",
            "m IN (:map, :null)",
            "l0 IN (:empty_map)",
        ],
    )
    .await;
}

pub(super) async fn attributes_compare_with_attributes(ctx: Ctx) {
    let item = item! { "pk" => "a", "low" => 1, "high" => 9, "text" => "b", "more" => "bc" };
    let table = ctx.table_with(TableSpec::s(), [item]).await;
    let (low, high, text, more) = (attr("low"), attr("high"), attr("text"), attr("more"));
    for (condition, holds) in [
        (low.clone().lt(high.clone()), true),
        (low.clone().gt(high.clone()), false),
        (high.clone().between(low.clone(), high.clone().size()), false),
        (low.clone().eq(more.clone().size()), false),
        (text.clone().size().eq(low.clone()), true),
        (more.clone().begins_with(text.clone()), true),
        (text.clone().begins_with(more.clone()), false),
        (more.clone().contains(text.clone()), true),
        (text.clone().is_in([more.clone(), low.clone()]), false),
        (text.clone().lt(more), true),
        (text.ne(low), true),
        (high.eq(attr("pk")), false),
    ] {
        let page = ctx.ok(ctx.store().scan(Scan::new(&table).filter(condition.clone())).await);
        assert_eq!(page.count, usize::from(holds), "{condition:?}");
    }
}

pub(super) async fn constants_compare_with_constants(ctx: Ctx) {
    truth(
        &ctx,
        &[
            ":one = :one",
            ":one <> :two",
            ":one < :two",
            ":one <> :a",
            ":one IN (:two, :one)",
            ":one BETWEEN :zero AND :two",
            "begins_with(:ab, :a)",
            "contains(:abc, :b)",
            "contains(:ns, :two)",
            "size(:abc) = :three",
        ],
        &[":one = :two", ":one = :a", ":one < :a", ":two BETWEEN :zero AND :one"],
    )
    .await;
}

pub(super) async fn nested_paths_reach_into_documents(ctx: Ctx) {
    truth(
        &ctx,
        &[
            "m.x = :one",
            "m.y.z = :two",
            "m.l[0] = :one",
            "m.l[2] = :three",
            "l[1] = :x",
            "l[2].q > l[0]",
            "l[3][0] = :nine",
            "m.y = m2.y",
            "attribute_exists(m.y.z)",
            "attribute_exists(l[3][0])",
            "attribute_not_exists(l[4])",
            "attribute_not_exists(m.l[3])",
            "attribute_not_exists(l[3][1])",
            "attribute_not_exists(a.b)",
            "attribute_exists(nu)",
            "attribute_exists(es)",
            "attribute_exists(l0)",
            "attribute_not_exists(l0[0])",
            "attribute_not_exists(ss[0])",
        ],
        &["m.y.z = :one", "l[0] = :one", "l[2].q = l[2].r", "m.X = :one", "M.x = :one"],
    )
    .await;
}
