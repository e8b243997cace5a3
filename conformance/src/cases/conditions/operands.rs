//! Functions and operands that are rejected before an item is read (17, 20e, 20f).

use crate::cases::prelude::*;
use crate::cases::texts::{Asked, Expected, values};

fn wrong_type(operator: &str, kind: &str) -> String {
    format!(
        "Incorrect operand type for operator or function; operator or function: {operator}, \
         operand type: {kind}"
    )
}

fn wrong_count(function: &str, count: usize) -> String {
    format!(
        "Incorrect number of operands for operator or function; operator or function: {function}, \
         number of operands: {count}"
    )
}

fn not_distinct(operator: &str, path: &str) -> String {
    format!(
        "The first operand must be distinct from the remaining operands for this operator or \
         function; operator: {operator}, first operand: [{path}]"
    )
}

/// Asserts that the text is rejected on an empty table and creates no item.
async fn refused_without_items(ctx: &Ctx, text: &str, problem: &str) {
    let table = ctx.table(TableSpec::s()).await;
    let mut request = UpdateItem::new(&table, item! { "pk" => "a" }).condition(text);
    request.values = values(&[text]);
    let message = format!("Invalid ConditionExpression: {problem}");
    ctx.expect_validation(ctx.store().update(request).await, &message);
    let mut request = Scan::new(&table).filter(text);
    request.values = values(&[text]);
    let message = format!("Invalid FilterExpression: {problem}");
    ctx.expect_validation(ctx.store().scan(request).await, &message);
    ctx.expect_table(&table, &[]).await;
}

fn between(rule: &str, low: &str, high: &str) -> String {
    format!(
        "The BETWEEN operator requires {rule}; lower bound operand: AttributeValue: {{{low}}}, \
         upper bound operand: AttributeValue: {{{high}}}"
    )
}

const RISING: &str = "upper bound to be greater than or equal to lower bound";

pub(super) async fn between_with_reversed_bounds_is_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    asked
        .refuse(&[
            ("a BETWEEN :two AND :one", &between(RISING, "N:2", "N:1")),
            ("zz BETWEEN :two AND :one", &between(RISING, "N:2", "N:1")),
            ("st BETWEEN :b AND :a", &between(RISING, "S:b", "S:a")),
            ("st BETWEEN :a AND :empty", &between(RISING, "S:a", "S:")),
            // The order of strings is that of their UTF-8 bytes.
            ("st BETWEEN :e_acute AND :abc", &between(RISING, "S:é", "S:abc")),
            // The bounds are validated wherever they are in the condition.
            ("a = :one OR a BETWEEN :two AND :one", &between(RISING, "N:2", "N:1")),
            ("NOT a BETWEEN :two AND :one", &between(RISING, "N:2", "N:1")),
            ("size(st) BETWEEN :two AND :one", &between(RISING, "N:2", "N:1")),
        ])
        .await;
    // Bounds that are attributes are not validated.
    asked
        .hold(&[
            ("n BETWEEN :nine AND a", false),
            ("n BETWEEN n2 AND a", false),
            ("a BETWEEN :one AND :one", true),
        ])
        .await;
    asked.done().await;
    let problem = between(RISING, "N:2", "N:1");
    refused_without_items(&ctx, "a BETWEEN :two AND :one", &problem).await;
}

pub(super) async fn between_with_reversed_binaries_is_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    let shown =
        |length: usize| format!("B:java.nio.HeapByteBuffer[pos=0 lim={length} cap={length}]");
    let problem = between(RISING, &shown(1), &shown(3));
    asked.ask("b BETWEEN :bin255 AND :bin", Expected::Refused(&problem)).await;
    let problem = between(RISING, &shown(3), &shown(1));
    asked.ask("b BETWEEN :bin AND :bin1", Expected::Refused(&problem)).await;
    asked.ask("b BETWEEN :bin1 AND :bin255", Expected::Holds(true)).await;
    asked.done().await;
}

pub(super) async fn between_with_bounds_of_two_types_is_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    let rule = "same data type for lower and upper bounds";
    asked
        .refuse(&[
            ("a BETWEEN :two AND :a", &between(rule, "N:2", "S:a")),
            ("a BETWEEN :a AND :two", &between(rule, "S:a", "N:2")),
            ("zz BETWEEN :two AND :a", &between(rule, "N:2", "S:a")),
            ("size(zz) BETWEEN :two AND :a", &between(rule, "N:2", "S:a")),
        ])
        .await;
    asked.hold(&[("a BETWEEN :zero AND st", false), ("st BETWEEN :zero AND :nine", false)]).await;
    asked.done().await;
    refused_without_items(&ctx, "a BETWEEN :two AND :a", &between(rule, "N:2", "S:a")).await;
}

/// A constant of each type, with its placeholder.
const CONSTANTS: [(&str, &str); 10] = [
    ("abc", "S"),
    ("five", "N"),
    ("bin", "B"),
    ("true", "BOOL"),
    ("null", "NULL"),
    ("list", "L"),
    ("map", "M"),
    ("ss", "SS"),
    ("ns", "NS"),
    ("bs", "BS"),
];

pub(super) async fn begins_with_a_number_is_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for (constant, kind) in CONSTANTS.iter().filter(|(_, kind)| !["S", "B"].contains(kind)) {
        let problem = wrong_type("begins_with", kind);
        for text in ["begins_with(st, :v)", "begins_with(zz, :v)", "begins_with(:v, st)"] {
            let text = text.replace("v", constant);
            asked.ask(&text, Expected::Refused(&problem)).await;
        }
    }
    let problem = wrong_type("begins_with", "N");
    asked
        .refuse_all(
            &problem,
            &[
                "begins_with(size(st), :a)",
                "begins_with(st, size(st))",
                "a = :one OR begins_with(zz, :one)",
                "attribute_exists(zz) AND begins_with(zz, :one)",
                "NOT begins_with(st, :one)",
            ],
        )
        .await;
    asked.done().await;
    refused_without_items(&ctx, "begins_with(st, :one)", &problem).await;
}

pub(super) async fn comparison_of_a_path_with_itself_is_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for operator in ["=", "<>", "<", "<=", ">", ">="] {
        let problem = not_distinct(operator, "a");
        asked.ask(&format!("a {operator} a"), Expected::Refused(&problem)).await;
        asked.ask(&format!("#a {operator} #also_a"), Expected::Refused(&problem)).await;
    }
    asked
        .refuse(&[
            ("m.x = m.x", &not_distinct("=", "m, x")),
            ("l[0] = l[0]", &not_distinct("=", "l, [0]")),
            ("m.l[1] < m.#l[1]", &not_distinct("<", "m, l, [1]")),
            ("zz = zz", &not_distinct("=", "zz")),
            ("NOT a = a", &not_distinct("=", "a")),
            ("a = :one OR a = a", &not_distinct("=", "a")),
            ("a IN (a)", &not_distinct("IN", "a")),
            ("a IN (:one, a)", &not_distinct("IN", "a")),
            ("a BETWEEN a AND n", &not_distinct("BETWEEN", "a")),
            ("a BETWEEN n AND a", &not_distinct("BETWEEN", "a")),
            ("begins_with(st, st)", &not_distinct("begins_with", "st")),
            ("contains(ss, ss)", &not_distinct("contains", "ss")),
            ("contains(l[0], l[0])", &not_distinct("contains", "l, [0]")),
            ("attribute_type(a, a)", &not_distinct("attribute_type", "a")),
        ])
        .await;
    // Only the first operand counts, only paths, and only the same path.
    asked
        .hold(&[
            ("a IN (n, n)", false),
            ("a BETWEEN n AND n", false),
            (":one = :one", true),
            ("size(st) = size(st)", true),
            ("l[0] = l[1]", false),
            ("m.x = m.y", false),
            ("contains(l, l[0])", true),
        ])
        .await;
    asked.done().await;
    refused_without_items(&ctx, "a = a", &not_distinct("=", "a")).await;
}

pub(super) async fn order_of_unordered_constants_is_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for (constant, kind) in CONSTANTS {
        let ordered = ["S", "N", "B"].contains(&kind);
        for operator in ["<", "<=", ">", ">="] {
            let problem = wrong_type(operator, kind);
            // A constant with an order is accepted; the attribute is missing, so the condition is
            // false.
            let expected =
                if ordered { Expected::Holds(false) } else { Expected::Refused(&problem) };
            asked.ask(&format!("zz {operator} :{constant}"), expected).await;
            asked.ask(&format!(":{constant} {operator} zz"), expected).await;
            asked.ask(&format!("bo {operator} :{constant}"), expected).await;
        }
        let problem = wrong_type("BETWEEN", kind);
        let expected = if ordered { Expected::Holds(false) } else { Expected::Refused(&problem) };
        asked.ask(&format!("zz BETWEEN :{constant} AND :{constant}"), expected).await;
        asked.ask(&format!(":{constant} BETWEEN zz AND bo"), expected).await;
        asked.ask(&format!("zz BETWEEN :{constant} AND bo"), expected).await;
        // Equality needs no order.
        asked.ask(&format!("zz = :{constant}"), Expected::Holds(false)).await;
        asked.ask(&format!("zz IN (:{constant})"), Expected::Holds(false)).await;
    }
    asked.done().await;
    refused_without_items(&ctx, "a < :true", &wrong_type("<", "BOOL")).await;
}

pub(super) async fn wrong_operand_counts_are_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    asked
        .refuse(&[
            ("attribute_exists(a, n)", &wrong_count("attribute_exists", 2)),
            ("attribute_not_exists(a, n)", &wrong_count("attribute_not_exists", 2)),
            ("attribute_type(a)", &wrong_count("attribute_type", 1)),
            ("attribute_type(a, :N, :N)", &wrong_count("attribute_type", 3)),
            ("begins_with(st)", &wrong_count("begins_with", 1)),
            ("begins_with(st, :a, :a)", &wrong_count("begins_with", 3)),
            ("contains(st)", &wrong_count("contains", 1)),
            ("contains(st, :a, :a)", &wrong_count("contains", 3)),
            ("size(a, n) = :one", &wrong_count("size", 2)),
            // A wrong number of operands is reported before their types and equal paths.
            ("begins_with(a, :one, :one)", &wrong_count("begins_with", 3)),
            ("begins_with(a, a, a)", &wrong_count("begins_with", 3)),
        ])
        .await;
    let empty = r#"Syntax error; token: ")", near: "()""#;
    asked
        .refuse_all(
            empty,
            &[
                "attribute_exists()",
                "attribute_not_exists()",
                "begins_with()",
                "contains()",
                "size()",
                "foo()",
            ],
        )
        .await;
    asked.done().await;
}

pub(super) async fn existence_functions_need_paths(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for function in ["attribute_exists", "attribute_not_exists"] {
        let problem = format!(
            "Operator or function requires a document path; operator or function: {function}"
        );
        asked.ask(&format!("{function}(:one)"), Expected::Refused(&problem)).await;
        asked.ask(&format!("{function}(size(a))"), Expected::Refused(&problem)).await;
    }
    asked.done().await;
}

pub(super) async fn misplaced_functions_are_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for (function, texts) in [
        (
            "attribute_exists",
            &[
                "attribute_exists(a) = :one",
                "a = attribute_exists(a)",
                "begins_with(attribute_exists(a), :a)",
                "a IN (:one, attribute_exists(a))",
                "size(attribute_exists(a)) = :one",
            ][..],
        ),
        (
            "begins_with",
            &[
                "begins_with(st, :a) = :one",
                "a = begins_with(st, :a)",
                "attribute_exists(begins_with(st, :a))",
            ][..],
        ),
        ("contains", &["contains(st, :a) = :one", "a BETWEEN contains(st, :a) AND :one"][..]),
        ("size", &["size(a)", "NOT size(a)", "size(a) AND a = :one", "a = :one OR (size(a))"][..]),
    ] {
        let problem = format!(
            "The function is not allowed to be used this way in an expression; function: {function}"
        );
        asked.refuse_all(&problem, texts).await;
    }
    asked.done().await;
}

pub(super) async fn unknown_functions_are_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for (text, function) in [
        ("foo(a)", "foo"),
        ("foo(a) = :one", "foo"),
        ("FOO(a, :one)", "FOO"),
        ("attribute_exists(a) AND foo(b)", "foo"),
        ("a = :one OR exists(a)", "exists"),
        ("Attribute_Exists(a)", "Attribute_Exists"),
        ("ATTRIBUTE_EXISTS(a)", "ATTRIBUTE_EXISTS"),
        ("Begins_With(st, :a)", "Begins_With"),
        ("Contains(st, :a)", "Contains"),
        ("Size(a) = :one", "Size"),
        ("SIZE(a) = :one", "SIZE"),
        // An unknown function is reported before errors of its operands.
        ("foo(:unknown)", "foo"),
        ("foo(name)", "foo"),
    ] {
        let problem = format!("Invalid function name; function: {function}");
        asked.ask(text, Expected::Refused(&problem)).await;
    }
    asked.done().await;
}

pub(super) async fn update_functions_are_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for (function, texts) in [
        (
            "if_not_exists",
            &[
                "if_not_exists(a, :one)",
                "if_not_exists(a, :one) = :one",
                "a = if_not_exists(a, :one)",
            ],
        ),
        (
            "list_append",
            &["list_append(l, l)", "list_append(l, :list) = :list", "l = list_append(l, l)"],
        ),
    ] {
        let problem =
            format!("The function is not allowed in a condition expression; function: {function}");
        asked.refuse_all(&problem, texts).await;
    }
    asked.done().await;
}

pub(super) async fn size_needs_a_constant_with_a_size(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for (constant, kind) in CONSTANTS {
        let problem = wrong_type("size", kind);
        let (size, expected) = match kind {
            "S" | "B" | "NS" => ("three", Expected::Holds(true)),
            "L" | "M" => ("one", Expected::Holds(true)),
            "SS" | "BS" => ("two", Expected::Holds(true)),
            _ => ("one", Expected::Refused(problem.as_str())),
        };
        asked.ask(&format!("size(:{constant}) = :{size}"), expected).await;
    }
    asked.ask("size(size(st)) = :one", Expected::Refused(&wrong_type("size", "N"))).await;
    asked.done().await;
}

pub(super) async fn attribute_type_needs_a_placeholder(ctx: Ctx) {
    // An attribute can have any type, so the message lists all types, including internal ones.
    let any = "{DECIMAL,HDS,N,DOUBLESET,NULL,DOUBLE,INT,B,DICT,HD,L,INTSET,FLOAT,BOOL,FS,\
               DECIMALSET,S,SS,BS,M,NS}";
    let problem = wrong_type("attribute_type", any);
    let mut asked = Asked::new(&ctx).await;
    asked
        .refuse_all(
            &problem,
            &["attribute_type(a, st)", "attribute_type(a, N)", "attribute_type(a, zz)"],
        )
        .await;
    asked
        .refuse_all(
            &wrong_type("attribute_type", "N"),
            &["attribute_type(a, size(st))", "attribute_type(a, :one)"],
        )
        .await;
    asked.done().await;
}

pub(super) async fn attribute_type_needs_a_type_code(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for (placeholder, name) in [
        ("x", "x"),
        ("n", "n"),
        ("STRING", "STRING"),
        ("empty", ""),
        ("abc", "abc"),
        ("digit", "5"),
    ] {
        let problem = format!(
            "Invalid attribute type name found; type: {name}, valid types: \
             {{N,BS,L,B,NULL,M,S,SS,NS,BOOL}}"
        );
        asked.ask(&format!("attribute_type(a, :{placeholder})"), Expected::Refused(&problem)).await;
        asked
            .ask(&format!("attribute_type(zz, :{placeholder})"), Expected::Refused(&problem))
            .await;
    }
    for (constant, kind) in CONSTANTS.iter().filter(|(_, kind)| *kind != "S") {
        let problem = wrong_type("attribute_type", kind);
        asked.ask(&format!("attribute_type(a, :{constant})"), Expected::Refused(&problem)).await;
    }
    asked.done().await;
}

pub(super) async fn errors_are_reported_in_a_fixed_order(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    let end = r#"Syntax error; token: "<EOF>", near: "AND""#;
    let redundant = "The expression has redundant parentheses;";
    let reserved = "Attribute name is a reserved keyword; reserved keyword: name";
    let function = "Invalid function name; function: foo";
    let misplaced =
        "The function is not allowed to be used this way in an expression; function: size";
    let value = "An expression attribute value used in expression is not defined; attribute \
                 value: :unknown";
    let name = "An expression attribute name used in the document path is not defined; \
                attribute name: #unknown";
    asked
        .refuse(&[
            ("name = :unknown AND", end),
            ("((name = :unknown))", redundant),
            ("foo(a) AND ((a = :one))", redundant),
            ("a = :unknown AND name = :one", reserved),
            ("#unknown = :one AND name = :one", reserved),
            ("name = :one AND foo(a)", reserved),
            ("foo(a) AND name = :one", function),
            ("a = :unknown AND foo(a)", function),
            ("begins_with(a, :one) AND size(a)", misplaced),
            ("a = a AND size(a)", misplaced),
            ("begins_with(a, :one) AND a = :unknown", &wrong_type("begins_with", "N")),
            ("a = :unknown AND begins_with(a, :one)", value),
            ("a = #unknown AND begins_with(a, :one)", name),
            ("a = a AND b = :unknown", &not_distinct("=", "a")),
            ("a BETWEEN :two AND :one AND b = :unknown", &between(RISING, "N:2", "N:1")),
            ("attribute_exists(a, name)", reserved),
            ("attribute_exists(a, :unknown)", value),
            ("size(a, b) = :unknown", &wrong_count("size", 2)),
        ])
        .await;
    asked.done().await;
}
