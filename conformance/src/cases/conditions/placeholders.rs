//! Placeholders of names and values (14).

use tabla_core::Result;
use tabla_core::expr::{Names, Values};

use crate::cases::prelude::*;
use crate::cases::texts::{Asked, Expected, values};

fn name(placeholder: &str, name: &str) -> Names {
    Names::from([(placeholder.to_owned(), name.to_owned())])
}

fn key() -> Item {
    item! { "pk" => "a" }
}

pub(super) async fn unused_names_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key()]).await;
    let before = ctx.snapshot(&table).await;
    let store = ctx.store();
    let message = "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}";
    let condition = "attribute_exists(pk)";
    let put = PutItem::new(&table, key().with("n", 1)).condition(condition).name("#u", "a");
    ctx.expect_validation(store.put(put).await, message);
    let update = UpdateItem::new(&table, key()).update("SET a = :one").value(":one", 1);
    ctx.expect_validation(store.update(update.name("#u", "a")).await, message);
    let delete = DeleteItem::new(&table, key()).condition(condition).name("#u", "a");
    ctx.expect_validation(store.delete(delete).await, message);
    let get = GetItem::new(&table, key()).projection("pk").name("#u", "a");
    ctx.expect_validation(store.get(get).await, message);
    let query = Query::new(&table, "pk = :pk").value(":pk", "a").name("#u", "a");
    ctx.expect_validation(store.query(query).await, message);
    let scan = Scan::new(&table).filter(condition).name("#u", "a");
    ctx.expect_validation(store.scan(scan).await, message);
    let request = KeysAndAttributes::new([key()]).projection("pk").name("#u", "a");
    let batch = BatchGetItem::new().request(&table, request);
    ctx.expect_validation(store.batch_get(batch).await, message);
    // The message names all unused placeholders, also one of an attribute that the filter uses.
    let scan = Scan::new(&table).filter(condition).name("#u", "pk").name("#t", "b");
    ctx.expect_validation(
        store.scan(scan).await,
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#t, #u}",
    );
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn unused_values_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key()]).await;
    let before = ctx.snapshot(&table).await;
    let store = ctx.store();
    let message = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}";
    let condition = "attribute_exists(pk)";
    let put = PutItem::new(&table, key().with("n", 1)).condition(condition).value(":u", 1);
    ctx.expect_validation(store.put(put).await, message);
    let update = UpdateItem::new(&table, key()).update("SET a = :one").value(":one", 1);
    ctx.expect_validation(store.update(update.value(":u", 1)).await, message);
    let delete = DeleteItem::new(&table, key()).condition(condition).value(":u", 1);
    ctx.expect_validation(store.delete(delete).await, message);
    let query = Query::new(&table, "pk = :pk").value(":pk", "a").value(":u", 1);
    ctx.expect_validation(store.query(query).await, message);
    let scan = Scan::new(&table).filter(condition).value(":u", 1);
    ctx.expect_validation(store.scan(scan).await, message);
    let scan = Scan::new(&table).filter(condition).value(":u", 1).value(":t", 1);
    ctx.expect_validation(
        store.scan(scan).await,
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:t, :u}",
    );
    // A placeholder is not used by a longer one that begins with its name.
    let scan = Scan::new(&table).filter("a = :used").value(":used", 1).value(":u", 1);
    ctx.expect_validation(store.scan(scan).await, message);
    // Names are reported before values.
    let scan = Scan::new(&table).filter(condition).value(":u", 1).name("#u", "b");
    ctx.expect_validation(
        store.scan(scan).await,
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
    );
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn placeholders_need_one_use_in_any_expression(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key().with("n", 1).with("o", 1)]).await;
    let update = UpdateItem::new(&table, key())
        .update("SET #n = :two")
        .condition("#n = :one AND #o = :one")
        .name("#n", "n")
        .name("#o", "o")
        .value(":one", 1)
        .value(":two", 2);
    ctx.update(update).await;
    let query = Query::new(&table, "#pk = :a")
        .filter("#n = :two")
        .projection("#pk, #o")
        .name("#pk", "pk")
        .name("#n", "n")
        .name("#o", "o")
        .value(":a", "a")
        .value(":two", 2);
    ctx.expect_query(query, &[key().with("o", 1)]).await;
}

pub(super) async fn placeholders_without_expression_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key()]).await;
    let before = ctx.snapshot(&table).await;
    let store = ctx.store();
    let names = "ExpressionAttributeNames can only be specified when using expressions";
    let values = |missing: &str| {
        format!("ExpressionAttributeValues can only be specified when using expressions: {missing}")
    };

    let put = PutItem::new(&table, key().with("n", 1));
    ctx.expect_validation(store.put(put.clone().name("#a", "a")).await, names);
    ctx.expect_validation(
        store.put(put.value(":a", 1)).await,
        &values("ConditionExpression is null"),
    );
    let update = UpdateItem::new(&table, key());
    ctx.expect_validation(store.update(update.clone().name("#a", "a")).await, names);
    ctx.expect_validation(
        store.update(update.clone().value(":a", 1)).await,
        &values("UpdateExpression and ConditionExpression are null"),
    );
    ctx.expect_validation(store.update(update.value(":a", 1).name("#a", "a")).await, names);
    let delete = DeleteItem::new(&table, key());
    ctx.expect_validation(store.delete(delete.clone().name("#a", "a")).await, names);
    ctx.expect_validation(
        store.delete(delete.value(":a", 1)).await,
        &values("ConditionExpression is null"),
    );
    let get = GetItem::new(&table, key()).name("#a", "a");
    ctx.expect_validation(store.get(get).await, names);
    let scan = Scan::new(&table);
    ctx.expect_validation(store.scan(scan.clone().name("#a", "a")).await, names);
    ctx.expect_validation(
        store.scan(scan.value(":a", 1)).await,
        &values("FilterExpression is null"),
    );
    let query = assign!(Query::default(), { table: String::from(&table) });
    ctx.expect_validation(
        store.query(query.value(":a", 1)).await,
        &values("FilterExpression and KeyConditionExpression are null"),
    );
    let request = KeysAndAttributes::new([key()]).name("#a", "a");
    let batch = BatchGetItem::new().request(&table, request);
    ctx.expect_validation(store.batch_get(batch).await, names);
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn placeholders_begin_with_their_marks(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key()]).await;
    let before = ctx.snapshot(&table).await;
    let mut wrong = Vec::new();
    let mut check = |placeholder: &str, message: String, result: Result<WriteOutput>| {
        let right =
            matches!(&result, Err(error) if crate::cases::texts::says(&ctx, error, &message));
        if !right {
            wrong.push(format!("{placeholder:?}: expected {message}\n    got {result:?}"));
        }
    };
    let problem = |placeholder: &str| match placeholder {
        "" => "The expression attribute map contains an empty key;".to_owned(),
        _ => format!("Syntax error; key: \"{placeholder}\""),
    };
    for placeholder in [
        "", "a", "#", ":a", "##", "#:", "#a#", "#a-b", "#a.b", "#a b", "#a$", "#é", "#日本", "#\t",
        "a#", "$a",
    ] {
        let message =
            format!("ExpressionAttributeNames contains invalid key: {}", problem(placeholder));
        let update =
            UpdateItem::new(&table, key()).condition("attribute_exists(pk)").name(placeholder, "a");
        check(placeholder, message, ctx.store().update(update).await);
    }
    for placeholder in
        ["", "a", ":", "#a", "::", ":#", ":a:", ":a-b", ":a.b", ":a b", ":é", ":日本", "a:", "@a"]
    {
        let message =
            format!("ExpressionAttributeValues contains invalid key: {}", problem(placeholder));
        let update =
            UpdateItem::new(&table, key()).condition("attribute_exists(pk)").value(placeholder, 1);
        check(placeholder, message, ctx.store().update(update).await);
    }
    assert!(wrong.is_empty(), "unexpected results:\n  {}", wrong.join("\n  "));
    // Malformed placeholders are reported before invalid expressions, names before values.
    let update = UpdateItem::new(&table, key()).condition("a =").name("a", "a").value("a", 1);
    ctx.expect_validation(
        ctx.store().update(update).await,
        "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"",
    );
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn placeholders_can_be_numbers(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for word in ["0", "1a", "a", "A", "_", "a_b", "_0_", "and", "AND", "size", "name", "007"] {
        let (name_key, value_key) = (format!("#{word}"), format!(":{word}"));
        let text = format!("{name_key} = {value_key}");
        let values = Values::from([(value_key, Value::from(1))]);
        asked.ask_with(&text, name(&name_key, "a"), values, Expected::Holds(true)).await;
    }
    // Placeholders are case-sensitive.
    asked
        .ask_with(
            "#a = :A",
            name("#a", "a"),
            Values::from([(":a".to_owned(), Value::from(1))]),
            Expected::Refused(
                "An expression attribute value used in expression is not defined; attribute \
                 value: :A",
            ),
        )
        .await;
    asked.done().await;
}

pub(super) async fn undefined_placeholders_are_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    let name = "An expression attribute name used in the document path is not defined; \
                attribute name: #unknown";
    asked
        .refuse_all(
            name,
            &[
                "#unknown = :one",
                "a = #unknown",
                "m.#unknown = :one",
                "#unknown.x = :one",
                "#unknown[0] = :one",
                "attribute_exists(#unknown)",
                "size(#unknown) = :one",
                // Undefined placeholders are reported from left to right.
                "#unknown = :unknown",
                "a = :one AND #unknown = :unknown",
            ],
        )
        .await;
    let value = "An expression attribute value used in expression is not defined; attribute \
                 value: :unknown";
    asked
        .refuse_all(
            value,
            &[
                "a = :unknown",
                ":unknown = a",
                "a BETWEEN :one AND :unknown",
                "a IN (:one, :unknown)",
                "begins_with(st, :unknown)",
                "contains(st, :unknown)",
                "attribute_type(st, :unknown)",
                "a = :one OR a = :unknown",
                "a = :unknown AND #unknown = :one",
                // Undefined placeholders are reported before wrong operands.
                "attribute_exists(:unknown)",
                "begins_with(:unknown)",
            ],
        )
        .await;
    asked.done().await;
}

pub(super) async fn name_placeholder_is_one_name(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    asked
        .hold(&[
            ("attribute_exists(#dotted)", true),
            ("contains(#dotted, :a)", false),
            ("attribute_exists(a.b)", false),
            ("#m.#x = :one", true),
            ("m.#x = :one", true),
            ("#m.x = :one", true),
            ("#l[0] = :zero", true),
            ("#m.#l[2] = :three", true),
            ("#a = :one AND #also_a = :one", true),
        ])
        .await;
    for attribute in ["l[0]", "m.x", "m.y.z", "#a", " a", "a "] {
        let text = "attribute_exists(#x)";
        asked.ask_with(text, name("#x", attribute), Values::new(), Expected::Holds(false)).await;
    }
    asked.done().await;
}

pub(super) async fn empty_name_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key()]).await;
    for text in ["#x = :one", "a = :one", "a ="] {
        let mut request = UpdateItem::new(&table, key()).condition(text).name("#x", "");
        request.values = values(&[text]);
        ctx.expect_validation(
            ctx.store().update(request).await,
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #x",
        );
    }
    ctx.expect_table(&table, &[key()]).await;
}
