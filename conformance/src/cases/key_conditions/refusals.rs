//! Key conditions that are rejected.

use super::{Keys, NOT_SUPPORTED, ONE_PER_KEY, TYPE, bad_operator, missed, scalars};
use crate::cases::prelude::*;
use crate::cases::texts::values;

pub(super) async fn value_of_another_type_is_rejected(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    keys.refuses_all(
        TYPE,
        &[
            "pk = :one",
            "pk = :true",
            "pk = :null",
            "pk = :bin",
            "pk = :list",
            "pk = :map",
            "pk = :ss",
            "pk = :one AND sk = :one",
            "pk = :a AND sk = :x",
            "pk = :a AND sk = :bin",
            "pk = :a AND sk = :true",
            "pk = :a AND sk = :ns",
            "pk = :a AND sk < :x",
            "pk = :a AND sk >= :bin",
            "pk = :a AND :x < sk",
            "pk = :a AND sk BETWEEN :a AND :x",
            // begins_with does not accept numbers.
            "pk = :a AND begins_with(sk, :x)",
            "pk = :a AND begins_with(sk, :bin)",
            // The type of the partition key value is validated first.
            "pk < :one",
            "pk = :one AND x = :one",
        ],
    )
    .await;
    keys.done();
    let mut keys = Keys::with(&ctx, TableSpec::s_b(), vec![b"\x01".to_vec()]).await;
    keys.refuses("pk = :a AND sk = :one", TYPE).await;
    keys.refuses("pk = :a AND begins_with(sk, :x)", TYPE).await;
    keys.done();
}

pub(super) async fn partition_key_needs_equality(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    let message = missed("pk");
    keys.refuses_all(
        &message,
        &[
            "sk = :three",
            "sk > :three",
            "sk BETWEEN :one AND :three",
            "begins_with(sk, :x)",
            "x = :x",
            "x = :x AND y = :x",
            "PK = :a",
            "sk = :three AND x = :x",
            // This is reported before a wrong type of the value.
            "sk = :x",
        ],
    )
    .await;
    keys.finds("pk = :a", 1..=5).await;
    keys.finds("pk = :x", Vec::<i32>::new()).await;
    keys.done();
}

pub(super) async fn two_conditions_on_one_attribute_are_rejected(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    keys.refuses_all(
        ONE_PER_KEY,
        &[
            "pk = :a AND pk = :a",
            "pk = :a AND pk = :b",
            "pk = :a AND pk > :a",
            "pk = :a AND sk = :three AND sk = :three",
            "pk = :a AND sk > :one AND sk < :five",
            "sk > :one AND pk = :a AND sk < :five",
            "pk = :a AND (sk > :one AND sk < :five)",
            "(pk = :a AND sk > :one) AND sk < :five",
            "pk = :a AND sk = :three AND pk = :a",
            "pk = :a AND #sk > :one AND sk < :five",
            "pk = :a AND sk = :three AND begins_with(sk, :x)",
            // Attributes that are no keys are counted too.
            "pk = :a AND x = :x AND x = :x",
        ],
    )
    .await;
    keys.done();
}

pub(super) async fn range_of_partition_keys_is_rejected(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    keys.refuses_all(
        NOT_SUPPORTED,
        &[
            "pk < :a",
            "pk <= :a",
            "pk > :a",
            "pk >= :a",
            ":a < pk",
            "pk BETWEEN :a AND :b",
            "pk > :a AND sk = :three",
            "sk = :three AND pk >= :a",
            "pk BETWEEN :a AND :a",
            "pk < :empty",
        ],
    )
    .await;
    keys.done();
}

pub(super) async fn prefix_of_partition_keys_is_rejected(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    keys.refuses_all(
        NOT_SUPPORTED,
        &[
            "begins_with(pk, :a)",
            "begins_with(pk, :empty)",
            "begins_with(pk, :a) AND sk = :three",
            "sk = :three AND begins_with(pk, :a)",
        ],
    )
    .await;
    keys.done();
}

pub(super) async fn prefix_of_index_partition_keys_is_rejected(ctx: Ctx) {
    let mut keys = Keys::new(&ctx, ctx.table(TableSpec::s_s().gsi()).await);
    keys.index = Some("gsi");
    keys.refuses("begins_with(gpk, :a)", NOT_SUPPORTED).await;
    keys.refuses("begins_with(gpk, :a) AND gsk = :b", NOT_SUPPORTED).await;
    keys.done();
}

pub(super) async fn other_attributes_are_rejected(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    let message = missed("sk");
    keys.refuses_all(
        &message,
        &[
            "pk = :a AND x = :x",
            "x = :x AND pk = :a",
            "pk = :a AND x > :one",
            "pk = :a AND begins_with(x, :x)",
            "pk = :a AND SK = :one",
        ],
    )
    .await;
    keys.refuses_all(
        "Conditions can be of length 1 or 2 only",
        &[
            "pk = :a AND sk = :one AND x = :x",
            "pk = :a AND x = :x AND y = :x",
            "pk = :a AND x = :x AND y = :x AND z = :x",
            "sk = :one AND x = :x AND y = :x",
        ],
    )
    .await;
    keys.done();
}

pub(super) async fn invalid_bounds_are_rejected(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    let rule = |rule: &str, low: &str, high: &str| {
        format!(
            "Invalid KeyConditionExpression: The BETWEEN operator requires {rule}; lower bound \
             operand: AttributeValue: {{{low}}}, upper bound operand: AttributeValue: {{{high}}}"
        )
    };
    keys.refuses(
        "pk = :a AND sk BETWEEN :four AND :three",
        &rule("upper bound to be greater than or equal to lower bound", "N:4", "N:3"),
    )
    .await;
    keys.refuses(
        "pk = :a AND sk BETWEEN :three AND :x",
        &rule("same data type for lower and upper bounds", "N:3", "S:x"),
    )
    .await;
    let wrong_type = |operator: &str, kind: &str| {
        format!(
            "Invalid KeyConditionExpression: Incorrect operand type for operator or function; \
             operator or function: {operator}, operand type: {kind}"
        )
    };
    for (text, operator, kind) in [
        ("pk = :a AND sk < :true", "<", "BOOL"),
        ("pk = :a AND sk >= :list", ">=", "L"),
        ("pk = :a AND sk BETWEEN :null AND :null", "BETWEEN", "NULL"),
        ("pk = :a AND begins_with(sk, :three)", "begins_with", "N"),
        ("pk = :a AND begins_with(sk, :true)", "begins_with", "BOOL"),
        ("begins_with(pk, :one)", "begins_with", "N"),
    ] {
        keys.refuses(text, &wrong_type(operator, kind)).await;
    }
    keys.done();
}

pub(super) async fn nested_paths_are_rejected(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    for (text, key) in [
        ("pk.x = :a", "pk"),
        ("pk[0] = :a", "pk"),
        ("pk.x <> :a", "pk"),
        ("pk = :a AND sk.x = :three", "sk"),
        ("pk = :a AND sk[0] = :three", "sk"),
        ("pk = :a AND begins_with(sk.x, :x)", "sk"),
        ("pk = :a AND pk.x = :a", "pk"),
        ("pk = :a AND x = :x AND sk.x = :a", "sk"),
    ] {
        keys.refuses(text, &scalars(key)).await;
    }
    keys.refuses_all(
        "KeyConditionExpressions cannot have conditions on nested attributes",
        &[
            "m.x = :one",
            "pk = :a AND m.x = :one",
            "pk = :a AND l[0] > :one",
            "pk = :one AND m.x = :a",
        ],
    )
    .await;
    keys.done();
}

pub(super) async fn other_operators_are_rejected(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    for (text, operator) in [
        ("pk <> :a", "<>"),
        ("pk = :a AND sk <> :three", "<>"),
        ("pk = :a AND pk <> :a", "<>"),
        ("x <> :x", "<>"),
        ("pk IN (:a)", "IN"),
        ("pk = :a AND sk IN (:three, :four)", "IN"),
        ("pk = :a AND :three IN (sk)", "IN"),
        ("NOT pk = :a", "NOT"),
        ("NOT NOT pk = :a", "NOT"),
        ("pk = :a AND NOT sk = :three", "NOT"),
        ("pk = :a OR pk = :a", "OR"),
        ("pk = :a OR sk = :three", "OR"),
        ("pk = :a AND (sk > :three OR sk < :two)", "OR"),
        ("contains(pk, :a)", "contains"),
        ("pk = :a AND contains(sk, :three)", "contains"),
        ("attribute_exists(pk)", "attribute_exists"),
        ("pk = :a AND attribute_exists(sk)", "attribute_exists"),
        ("pk = :a AND attribute_not_exists(sk)", "attribute_not_exists"),
        ("pk = :a AND attribute_type(sk, :N)", "attribute_type"),
        // This is reported before a wrong number of conditions.
        ("pk = :a AND sk = :one AND x <> :x", "<>"),
    ] {
        keys.refuses(text, &bad_operator(operator)).await;
    }
    keys.refuses_all(
        "KeyConditionExpressions cannot contain nested operations",
        &["size(pk) = :one", "pk = :a AND size(sk) = :one", "pk = :a AND sk = size(pk)"],
    )
    .await;
    keys.done();
}

pub(super) async fn operands_must_be_a_key_and_a_value(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    let bad = |problem: &str| format!("Invalid condition in KeyConditionExpression: {problem}");
    keys.refuses_all(
        &bad("Multiple attribute names used in one condition"),
        &["pk = sk", "pk = x", "pk = :a AND sk = x", "pk = :a AND sk < pk"],
    )
    .await;
    keys.refuses_all(
        &bad("No key attribute specified"),
        &[":a = :a", "pk = :a AND :one = :one", "pk = :a AND :one < :two"],
    )
    .await;
    let first = "operator must have the key attribute as its first operand";
    keys.refuses_all(
        &bad(&format!("BETWEEN {first}")),
        &["pk = :a AND :three BETWEEN sk AND :four", "pk = :a AND :three BETWEEN sk AND sk"],
    )
    .await;
    keys.refuses("pk = :a AND begins_with(:x, sk)", &bad(&format!("begins_with {first}"))).await;
    let distinct = |operator: &str, path: &str| {
        format!(
            "Invalid KeyConditionExpression: The first operand must be distinct from the \
             remaining operands for this operator or function; operator: {operator}, first \
             operand: [{path}]"
        )
    };
    keys.refuses("pk = pk", &distinct("=", "pk")).await;
    keys.refuses("pk = :a AND begins_with(sk, sk)", &distinct("begins_with", "sk")).await;
    keys.done();
}

pub(super) async fn syntax_errors_are_those_of_conditions(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    for (text, problem) in [
        ("", "The expression can not be empty;"),
        (" ", r#"Syntax error; token: "<EOF>", near: " ""#),
        ("pk", r#"Syntax error; token: "<EOF>", near: "pk""#),
        ("pk =", r#"Syntax error; token: "<EOF>", near: "=""#),
        ("pk = :a AND", r#"Syntax error; token: "<EOF>", near: "AND""#),
        ("pk = :a sk = :one", r#"Syntax error; token: "sk", near: ":a sk =""#),
        ("pk = :a, sk = :one", r#"Syntax error; token: ",", near: ":a, sk""#),
        ("pk = :a AND sk = :one + :one", r#"Syntax error; token: "+", near: ":one + :one""#),
        ("((pk = :a))", "The expression has redundant parentheses;"),
        ("pk = :a AND ((sk = :one))", "The expression has redundant parentheses;"),
        ("foo(pk)", "Invalid function name; function: foo"),
        ("pk = :a AND Begins_With(sk, :x)", "Invalid function name; function: Begins_With"),
        (
            "pk = :a AND if_not_exists(sk, :one)",
            "The function is not allowed in a condition expression; function: if_not_exists",
        ),
        (
            "pk = :a AND begins_with(sk)",
            "Incorrect number of operands for operator or function; operator or function: \
             begins_with, number of operands: 1",
        ),
        (
            "pk = :a AND attribute_type(sk, :x)",
            "Invalid attribute type name found; type: x, valid types: \
             {N,BS,L,B,NULL,M,S,SS,NS,BOOL}",
        ),
    ] {
        keys.refuses(text, &format!("Invalid KeyConditionExpression: {problem}")).await;
    }
    keys.done();
}

pub(super) async fn placeholders_follow_the_common_rules(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    keys.finds("#pk = :a AND #sk > :three", [4, 5]).await;
    let undefined = "Invalid KeyConditionExpression: An expression attribute";
    let value =
        format!("{undefined} value used in expression is not defined; attribute value: :unknown");
    let name = format!(
        "{undefined} name used in the document path is not defined; attribute name: #unknown"
    );
    keys.refuses("pk = :unknown", &value).await;
    keys.refuses("pk = :a AND sk = :unknown", &value).await;
    keys.refuses("#unknown = :a", &name).await;
    let text = "pk = :a";
    let unused = "unused in expressions: keys:";
    keys.refuses_by(
        "an unused value",
        keys.query(text).value(":u", 1),
        &format!("Value provided in ExpressionAttributeValues {unused} {{:u}}"),
    )
    .await;
    keys.refuses_by(
        "an unused name",
        keys.query(text).name("#u", "pk"),
        &format!("Value provided in ExpressionAttributeNames {unused} {{#u}}"),
    )
    .await;
    // Syntax errors are reported before errors of meaning.
    keys.refuses_by(
        "an unused value and no partition",
        keys.query("sk = :one").value(":u", 1),
        &format!("Value provided in ExpressionAttributeValues {unused} {{:u}}"),
    )
    .await;
    keys.done();
}

pub(super) async fn empty_values_are_rejected(ctx: Ctx) {
    let empty = |kind: &str, key: &str| {
        format!(
            "One or more parameter values are not valid. The AttributeValue for a key attribute \
             cannot contain an empty {kind} value. Key: {key}"
        )
    };
    let mut keys = Keys::with(&ctx, TableSpec::s_s(), vec!["a", "b"]).await;
    keys.refuses("pk = :empty", &empty("string", "pk")).await;
    keys.refuses("pk = :empty AND sk = :empty", &empty("string", "pk")).await;
    for text in [
        "pk = :a AND sk = :empty",
        "pk = :a AND sk > :empty",
        "pk = :a AND sk BETWEEN :empty AND :b",
        "pk = :a AND begins_with(sk, :empty)",
    ] {
        keys.refuses(text, &empty("string", "sk")).await;
    }
    keys.done();
    let mut keys = Keys::with(&ctx, TableSpec::s_b(), vec![b"\x01".to_vec()]).await;
    let text = "pk = :a AND sk >= :nothing";
    let query = Query::new(&keys.table, text).value(":a", "a").value(":nothing", b"");
    keys.refuses_by(text, query, &empty("binary", "sk")).await;
    keys.done();
}

pub(super) async fn missing_key_condition_is_reported_last(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [item! { "pk" => "a" }]).await;
    let query = assign!(Query::default(), { table: String::from(&table) });
    let message = "Either the KeyConditions or KeyConditionExpression parameter must be specified in the \
         request.";
    ctx.expect_validation(ctx.store().query(query.clone()).await, message);
    let filtered = query.clone().filter("attribute_exists(pk)");
    ctx.expect_validation(ctx.store().query(filtered.clone()).await, message);
    // Errors of the other expressions are reported first.
    let undefined = "Invalid FilterExpression: An expression attribute value used in expression is \
                     not defined; attribute value: :a";
    ctx.expect_validation(ctx.store().query(query.clone().filter("x = :a")).await, undefined);
    let unused = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:a}";
    ctx.expect_validation(ctx.store().query(filtered.clone().value(":a", 1)).await, unused);
    let unused = "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}";
    ctx.expect_validation(ctx.store().query(filtered.name("#a", "a")).await, unused);
    ctx.expect_validation(ctx.store().query(query.projection("pk.x")).await, &scalars("pk"));
}

pub(super) async fn errors_are_reported_in_a_fixed_order(ctx: Ctx) {
    let mut keys = Keys::numbers(&ctx).await;
    let end = r#"Syntax error; token: "<EOF>", near: "=""#;
    let overlap = "Invalid ProjectionExpression: Two document paths overlap with each other; must \
                   remove or rewrite one of these paths; path one: [x], path two: [x]";
    let query = |text: &str, filter: &str, projection: &str| {
        let mut query = Query::new(&keys.table, text);
        if !filter.is_empty() {
            query = query.filter(filter);
        }
        if !projection.is_empty() {
            query = query.projection(projection);
        }
        query.values = values(&[text, filter]);
        query
    };
    let filter = format!("Invalid FilterExpression: {end}");
    let rows = [
        (query("pk =", "x =", "x, x"), filter.clone()),
        (query("sk = :one", "x =", ""), filter),
        (query("pk =", "", "x, x"), overlap.to_owned()),
        (query("sk = :one", "", "x, x"), overlap.to_owned()),
        (query("sk = :one", "sk = :one", ""), missed("pk")),
        (query("pk <> :a", "sk.x = :one", "pk.x"), scalars("sk")),
        (query("pk > :a", "", "pk.x"), scalars("pk")),
        (query("pk = :a", "pk = :a", "sk[0]"), scalars("sk")),
        (query("pk = :one", "pk = :one", ""), TYPE.to_owned()),
        (query("pk <> :a", "pk = :a", ""), bad_operator("<>")),
        (
            query("pk = :a", "pk = :a", "pk"),
            "Filter Expression can only contain non-primary key attributes: Primary key \
             attribute: pk"
                .to_owned(),
        ),
    ];
    for (query, message) in rows {
        let what = format!("{:?} {:?} {:?}", query.key_condition, query.filter, query.projection);
        keys.refuses_by(&what, query, &message).await;
    }
    let query = Query::new(&keys.table, "pk =").index("nope");
    let message = "The table does not have the specified index: nope";
    keys.refuses_by("an index that is not there", query, message).await;
    keys.done();
}
