//! Limits of expressions, at the limit and one past it (15).

use tabla_core::expr::{Names, Values};

use crate::cases::prelude::*;
use crate::cases::texts::{Asked, Expected, values};

fn key() -> Item {
    item! { "pk" => "a" }
}

fn too_long(size: usize) -> String {
    format!("Expression size has exceeded the maximum allowed size; expression size: {size}")
}

/// Pads the text with trailing spaces to `bytes` bytes.
fn padded(text: &str, bytes: usize) -> String {
    format!("{text:bytes$}")
}

pub(super) async fn expressions_are_limited_to_4096_bytes(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for bytes in [4095, 4096] {
        asked.ask(&padded("a = :one", bytes), Expected::Holds(true)).await;
        asked.ask(&padded("#a = :two", bytes), Expected::Holds(false)).await;
    }
    for bytes in [4097, 5000, 20_000] {
        asked.ask(&padded("a = :one", bytes), Expected::Refused(&too_long(bytes))).await;
        // The length is reported before syntax errors.
        asked.ask(&padded("name = ((", bytes), Expected::Refused(&too_long(bytes))).await;
    }
    asked.done().await;

    let table = ctx.table_with(TableSpec::s(), [key()]).await;
    let before = ctx.snapshot(&table).await;
    let query = |bytes| {
        let mut request = Query::new(&table, padded("pk = :a", bytes));
        request.values = values(&["pk = :a"]);
        request
    };
    assert_eq!(ctx.query_all(query(4096)).await, [key()]);
    let message = format!("Invalid KeyConditionExpression: {}", too_long(4097));
    ctx.expect_validation(ctx.store().query(query(4097)).await, &message);
    // The messages for updates and projections omit the size.
    let message = |kind: &str| {
        format!("Invalid {kind}: Expression size has exceeded the maximum allowed size;")
    };
    let get = |bytes| GetItem::new(&table, key()).projection(padded("pk", bytes));
    assert_eq!(ctx.ok(ctx.store().get(get(4096)).await).item, Some(key()));
    let message_of_projection = message("ProjectionExpression");
    ctx.expect_validation(ctx.store().get(get(4097)).await, &message_of_projection);
    let update = |bytes| UpdateItem::new(&table, key()).update(padded("REMOVE zz", bytes));
    ctx.update(update(4096)).await;
    let message_of_update = message("UpdateExpression");
    ctx.expect_validation(ctx.store().update(update(4097)).await, &message_of_update);
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn expression_length_is_in_bytes(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    // The texts have 4096 bytes in 2048 characters, and one byte more.
    let text = "é".repeat(2048);
    let problem = r#"Syntax error; token: "é", near: "éé""#;
    asked.ask(&text, Expected::Refused(problem)).await;
    asked.ask(&format!("{text}x"), Expected::Refused(&too_long(4097))).await;
    asked.done().await;
}

pub(super) async fn expression_length_excludes_placeholder_values(ctx: Ctx) {
    let long = "n".repeat(5000);
    let table = ctx.table_with(TableSpec::s(), [key().with(long.clone(), "v".repeat(5000))]).await;
    let scan = |text: String| {
        Scan::new(&table).filter(text).name("#n", long.clone()).value(":v", "v".repeat(5000))
    };
    let page = ctx.ok(ctx.store().scan(scan("#n = :v".to_owned())).await);
    assert_eq!(page.count, 1);
    let page = ctx.ok(ctx.store().scan(scan(padded("#n = :v", 4096))).await);
    assert_eq!(page.count, 1);
    // A bare name counts with its full length.
    ctx.expect_validation(
        ctx.store().scan(Scan::new(&table).filter(format!("attribute_exists({long})"))).await,
        &format!("Invalid FilterExpression: {}", too_long(5018)),
    );
}

pub(super) async fn placeholders_are_limited_to_255_bytes(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key().with("n", 1)]).await;
    let scan = |name_bytes: usize, value_bytes: usize| {
        let (name, value) = (
            format!("#{}", "n".repeat(name_bytes - 1)),
            format!(":{}", "v".repeat(value_bytes - 1)),
        );
        Scan::new(&table).filter(format!("{name} = {value}")).name(name, "n").value(value, 1)
    };
    let page = ctx.ok(ctx.store().scan(scan(255, 255)).await);
    assert_eq!(page.count, 1);
    ctx.expect_validation(
        ctx.store().scan(scan(256, 255)).await,
        "ExpressionAttributeNames contains invalid key: The expression attribute map contains a \
         key that is too long; size of key: 256",
    );
    ctx.expect_validation(
        ctx.store().scan(scan(255, 256)).await,
        "ExpressionAttributeValues contains invalid key: The expression attribute map contains a \
         key that is too long;",
    );
}

pub(super) async fn in_is_limited_to_100_operands(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    let distinct = |count: i32| {
        let text: Vec<String> = (1..=count).map(|n| format!(":v{n}")).collect();
        let values: Values = (1..=count).map(|n| (format!(":v{n}"), Value::from(n))).collect();
        (format!("n IN ({})", text.join(", ")), values)
    };
    let (text, values) = distinct(100);
    asked.ask_with(&text, Names::new(), values, Expected::Holds(true)).await;
    let problem = "The IN operator is provided with too many operands; number of operands: 101";
    let (text, values) = distinct(101);
    asked.ask_with(&text, Names::new(), values, Expected::Refused(problem)).await;
    // Operands are counted, also equal ones.
    let same = |count: usize| format!("a IN ({})", vec![":one"; count].join(","));
    asked.ask(&same(1), Expected::Holds(true)).await;
    asked.ask(&same(100), Expected::Holds(true)).await;
    asked.ask(&same(101), Expected::Refused(problem)).await;
    asked.ask(&format!("{} OR {}", same(100), same(100)), Expected::Holds(true)).await;
    asked.done().await;
}

pub(super) async fn expressions_are_limited_to_300_operators(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    let problem = "The expression contains too many operators; operator count: 301";
    // Each row has a term and its maximum number when joined by OR. A comparison and its OR are two
    // operators.
    for (term, most, holds) in [
        ("a=:one", 150, true),
        ("(a=:one)", 150, true),
        ("m.x=:one", 150, true),
        ("a BETWEEN :one AND :one", 150, true),
        ("a IN (:one,:two)", 150, true),
        ("attribute_exists(a)", 150, true),
        ("NOT a=:one", 100, false),
        ("size(st)=:one", 100, false),
    ] {
        asked.ask(&vec![term; most].join(" OR "), Expected::Holds(holds)).await;
        asked.ask(&vec![term; most + 1].join(" OR "), Expected::Refused(problem)).await;
    }
    let not = |count: usize| format!("{}a = :one", "NOT ".repeat(count));
    asked.ask(&not(299), Expected::Holds(false)).await;
    asked.ask(&not(300), Expected::Refused(problem)).await;
    asked.ask(&not(1000), Expected::Refused(problem)).await;
    let nested = |count: usize| format!("{}a=:one{}", "NOT (".repeat(count), ")".repeat(count));
    asked.ask(&nested(299), Expected::Holds(false)).await;
    asked.ask(&nested(300), Expected::Refused(problem)).await;
    let right =
        |count: usize| format!("{}a=:one{}", "a=:two OR (".repeat(count), ")".repeat(count));
    asked.ask(&right(149), Expected::Holds(true)).await;
    asked.ask(&right(150), Expected::Refused(problem)).await;
    // Each expression has its own count; their sum is unlimited.
    asked.done().await;
    let table = ctx.table_with(TableSpec::s(), [key().with("a", 1)]).await;
    let many = vec!["a = :one"; 150].join(" AND ");
    let request = UpdateItem::new(&table, key())
        .update("SET a = a + :one, b = if_not_exists(b, :one)")
        .condition(many)
        .value(":one", 1);
    ctx.update(request).await;
    ctx.expect_table(&table, &[key().with("a", 2).with("b", 1)]).await;
}

pub(super) async fn paths_are_limited_to_32_elements(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    let dotted = |count: usize| vec!["m"; count].join(".");
    let indexed = |count: usize| format!("l{}", "[0]".repeat(count - 1));
    for path in [dotted(32), indexed(32)] {
        asked.ask(&format!("{path} <> :one"), Expected::Holds(true)).await;
        asked.ask(&format!("attribute_not_exists({path})"), Expected::Holds(true)).await;
    }
    let problem = "The document path has too many nesting levels; nesting levels: 33";
    for path in [dotted(33), indexed(33)] {
        asked.ask(&format!("{path} <> :one"), Expected::Refused(problem)).await;
        asked.ask(&format!("attribute_exists({path})"), Expected::Refused(problem)).await;
        asked.ask(&format!("size({path}) = :one"), Expected::Refused(problem)).await;
    }
    asked.done().await;
}

pub(super) async fn list_indexes_are_limited_to_31_bits(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    asked
        .hold(&[
            ("l[0] = :zero", true),
            ("attribute_not_exists(l[4])", true),
            ("attribute_not_exists(l[2147483647])", true),
            ("l[2147483647] = :one", false),
        ])
        .await;
    for index in ["2147483648", "4294967296", "9223372036854775808", "99999999999999999999999"] {
        let problem = format!("List index is not within the allowable range; index: [{index}]");
        asked.ask(&format!("l[{index}] = :one"), Expected::Refused(&problem)).await;
        asked.ask(&format!("size(m.l[{index}]) = :one"), Expected::Refused(&problem)).await;
    }
    asked.done().await;
}

pub(super) async fn names_are_limited_to_65535_bytes(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key().with("n".repeat(65_535), 1)]).await;
    let scan = |name: String| Scan::new(&table).filter("attribute_exists(#n)").name("#n", name);
    for (name, count) in [("n".repeat(65_535), 1), ("é".repeat(32_767), 0)] {
        let page = ctx.ok(ctx.store().scan(scan(name)).await);
        assert_eq!(page.count, count);
    }
    for name in ["n".repeat(65_536), "é".repeat(32_768)] {
        ctx.expect_validation(
            ctx.store().scan(scan(name)).await,
            "ExpressionAttributeNames contains invalid value: Attribute name is too large, must \
             be less than 65536 bytes for key #n",
        );
    }
}

pub(super) async fn values_are_limited_to_32_levels(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key()]).await;
    let lists = |depth: usize| (0..depth).fold(Value::from(1), |value, _| list![value]);
    let maps =
        |depth: usize| (0..depth).fold(Value::from(1), |value, _| map! { "m" => value }.into());
    for value in [lists(32), maps(32)] {
        let page =
            ctx.ok(ctx.store().scan(Scan::new(&table).filter("a <> :v").value(":v", value)).await);
        assert_eq!(page.count, 1);
    }
    for value in [lists(33), maps(33)] {
        let scan = Scan::new(&table).filter("a <> :v").value(":v", value);
        ctx.expect_validation(
            ctx.store().scan(scan).await,
            "ExpressionAttributeValues contains invalid value: Nesting Levels have exceeded \
             supported limits: Attributes in the item have nested levels beyond supported limit \
             for key :v",
        );
    }
}

/// Limit in bytes of the names, values and placeholders of a request together.
const MOST: usize = 2 * 1024 * 1024;

/// Returns a scan with one value that has `bytes` bytes together with its placeholder.
fn with_value(table: &Table, bytes: usize) -> Scan {
    Scan::new(table).filter("a <> :v").value(":v", "v".repeat(bytes - ":v".len()))
}

/// Returns a scan with a name and a value that have `bytes` bytes together with their placeholders.
fn with_both(table: &Table, bytes: usize) -> Scan {
    with_value(table, bytes - 100)
        .filter("a <> :v OR attribute_exists(#n)")
        .name("#n", "n".repeat(98))
}

/// Returns a scan with 40 names that have `bytes` bytes together with their placeholders.
fn with_names(table: &Table, bytes: usize) -> Scan {
    let mut scan = Scan::new(table);
    let mut terms = Vec::new();
    for i in 0..40 {
        let placeholder = format!("#n{i:02}");
        terms.push(format!("attribute_exists({placeholder})"));
        let rest = if i == 0 { bytes % 40 } else { 0 };
        let length = bytes / 40 + rest - placeholder.len();
        scan = scan.name(placeholder, format!("{i:0>length$}"));
    }
    scan.filter(terms.join(" OR "))
}

pub(super) async fn placeholders_over_2_mb_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key()]).await;
    for scan in [with_value(&table, MOST / 3), with_both(&table, MOST / 3)] {
        let page = ctx.ok(ctx.store().scan(scan).await);
        assert_eq!(page.count, 1);
    }
    let page = ctx.ok(ctx.store().scan(with_names(&table, MOST / 3)).await);
    assert_eq!(page.count, 0);
    for (scan, what) in [
        (with_value(&table, MOST + 1), "ExpressionAttributeValues"),
        (with_names(&table, MOST + 1), "ExpressionAttributeNames"),
        (
            with_both(&table, MOST + 1),
            "Combined size of ExpressionAttributeNames and ExpressionAttributeValues",
        ),
    ] {
        let message = format!("{what} exceeds max size");
        ctx.expect_validation(ctx.store().scan(scan).await, &message);
    }
}

pub(super) async fn placeholders_of_2_mb_are_accepted(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key()]).await;
    for (scan, count) in
        [(with_value(&table, MOST), 1), (with_both(&table, MOST), 1), (with_names(&table, MOST), 0)]
    {
        let page = ctx.ok(ctx.store().scan(scan).await);
        assert_eq!(page.count, count);
    }
}
