//! Reserved words (13).

use crate::cases::prelude::*;
use crate::cases::texts::{self, Asked, Expected, names, values};

/// Reserved words from the developer guide's page "Reserved words in DynamoDB".
const RESERVED: &str = include_str!("reserved.txt");

/// Reserved words that are keywords of the grammar, so that they can never be names.
const OF_THE_GRAMMAR: [&str; 8] = ["add", "and", "between", "delete", "in", "not", "or", "set"];

fn reserved(word: &str) -> String {
    format!("Attribute name is a reserved keyword; reserved keyword: {word}")
}

pub(super) async fn reserved_words_are_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    asked
        .refuse_all(
            &reserved("name"),
            &[
                "name = :one",
                "a = name",
                "name <> name",
                "name BETWEEN :one AND :two",
                "a IN (:one, name)",
                "attribute_exists(name)",
                "attribute_not_exists(name)",
                "size(name) = :one",
                "begins_with(name, :a)",
                "contains(l, name)",
                "NOT name = :one",
                // Reserved words are also rejected inside a path.
                "m.name = :one",
                "name.x = :one",
                "name[0] = :one",
                "attribute_exists(m.name)",
                "m.y.name[0].z = :one",
                // The message names the first of several reserved words.
                "m.x = :one AND name = :one AND status = :one",
            ],
        )
        .await;
    for word in ["status", "date", "key", "range", "hash", "ttl", "data", "type", "value", "true"] {
        asked.ask(&format!("a = {word}"), Expected::Refused(&reserved(word))).await;
    }
    asked.done().await;
}

pub(super) async fn all_573_reserved_words_are_rejected(ctx: Ctx) {
    let words: Vec<String> = RESERVED.split_whitespace().map(str::to_lowercase).collect();
    assert_eq!(words.len(), 573);
    let table = ctx.table(TableSpec::s()).await;
    let mut accepted = Vec::new();
    for word in &words {
        let text = format!("{word} = :one");
        let mut request = UpdateItem::new(&table, item! { "pk" => "a" }).condition(text.as_str());
        request.values = values(&[&text]);
        let message = match word.as_str() {
            "not" => "Syntax error; token: \"=\", near: \"not = :one\"".to_owned(),
            word if OF_THE_GRAMMAR.contains(&word) => {
                format!("Syntax error; token: \"{word}\", near: \"{word} =\"")
            }
            word => reserved(word),
        };
        let message = format!("Invalid ConditionExpression: {message}");
        match ctx.store().update(request).await {
            Err(error) if texts::says(&ctx, &error, &message) => {}
            _ => accepted.push(word.as_str()),
        }
    }
    assert!(accepted.is_empty(), "reserved words accepted as names: {accepted:?}");
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn unreserved_words_are_accepted(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    let words = [
        "attribute_exists",
        "attribute_not_exists",
        "attribute_type",
        "begins_with",
        "contains",
        "if_not_exists",
        "list_append",
        "andy",
        "inn",
        "status_code",
        "NOTa",
        "A",
        "x1",
    ];
    for word in words {
        asked.ask(&format!("{word} = :one"), Expected::Holds(false)).await;
        asked.ask(&format!("m.{word} <> :one"), Expected::Holds(true)).await;
    }
    asked.done().await;
}

pub(super) async fn grammar_words_are_syntax_errors(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for word in OF_THE_GRAMMAR.into_iter().chain(["remove", "AND", "Between"]) {
        let problem = format!("Syntax error; token: \"{word}\", near: \".{word} =\"");
        asked.ask(&format!("m.{word} = :one"), Expected::Refused(&problem)).await;
    }
    asked
        .refuse(&[
            ("and = :one", r#"Syntax error; token: "and", near: "and =""#),
            ("remove = :one", r#"Syntax error; token: "remove", near: "remove =""#),
            ("not = :one", r#"Syntax error; token: "=", near: "not = :one""#),
            ("SET a = :one", r#"Syntax error; token: "SET", near: "SET a""#),
            ("attribute_exists(or)", r#"Syntax error; token: "or", near: "(or)""#),
        ])
        .await;
    asked.done().await;
}

pub(super) async fn reserved_words_are_case_insensitive(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    for word in ["name", "NAME", "Name", "nAmE", "status", "STATUS", "Zone", "nULL"] {
        let problem = reserved(word);
        asked.ask(&format!("{word} = :one"), Expected::Refused(&problem)).await;
        asked.ask(&format!("attribute_exists(m.{word})"), Expected::Refused(&problem)).await;
    }
    asked.done().await;
}

pub(super) async fn reserved_words_are_rejected_in_every_expression(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s_s(), [item! { "pk" => "a", "sk" => "b" }]).await;
    let before = ctx.snapshot(&table).await;
    let key = item! { "pk" => "a", "sk" => "b" };
    let message = |kind: &str| format!("Invalid {kind}: {}", reserved("name"));
    for text in [
        "SET name = :one",
        "SET a = name",
        "SET m.name = :one",
        "SET a = if_not_exists(name, :one)",
        "REMOVE name",
        "ADD name :one",
        "DELETE name :ss",
    ] {
        let mut request = UpdateItem::new(&table, key.clone()).update(text);
        request.values = values(&[text]);
        ctx.expect_validation(ctx.store().update(request).await, &message("UpdateExpression"));
    }
    for text in ["name", "a, name", "m.name", "name[0]"] {
        let request = GetItem::new(&table, key.clone()).projection(text);
        ctx.expect_validation(ctx.store().get(request).await, &message("ProjectionExpression"));
    }
    for text in ["name = :one", "pk = :a AND name = :one", "begins_with(name, :a)"] {
        let mut request = Query::new(&table, text);
        request.values = values(&[text]);
        ctx.expect_validation(ctx.store().query(request).await, &message("KeyConditionExpression"));
    }
    let mut request = Query::new(&table, "pk = :a").filter("name = :one");
    request.values = values(&["pk = :a", "name = :one"]);
    ctx.expect_validation(ctx.store().query(request).await, &message("FilterExpression"));
    let request = Scan::new(&table).filter("attribute_exists(name)");
    ctx.expect_validation(ctx.store().scan(request).await, &message("FilterExpression"));
    let request = PutItem::new(&table, key.clone()).condition("attribute_exists(name)");
    ctx.expect_validation(ctx.store().put(request).await, &message("ConditionExpression"));
    let request = DeleteItem::new(&table, key).condition("attribute_exists(name)");
    ctx.expect_validation(ctx.store().delete(request).await, &message("ConditionExpression"));
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn reserved_words_are_accepted_behind_placeholders(ctx: Ctx) {
    let shape = TableSpec::s().with(|mut request| {
        request.attribute_definitions.clear();
        request.key_schema.clear();
        request
    });
    let shape = shape
        .with(|request| request.partition_key("hash", KeyType::S).sort_key("range", KeyType::S));
    let key = item! { "hash" => "a", "range" => "b" };
    let written = key.clone().with("name", 1).with("m", map! { "status" => 5 });
    let table = ctx.table_with(shape, [written]).await;

    let (update, condition) = ("SET #name = :two, #m.#status = :nine", "#name = :one");
    let mut request = UpdateItem::new(&table, key.clone()).update(update).condition(condition);
    request.names = names(&[update, condition]);
    request.values = values(&[update, condition]);
    ctx.update(request).await;
    let written = key.with("name", 2).with("m", map! { "status" => 9 });
    ctx.expect_table(&table, &[written]).await;

    let (condition, filter) = ("#hash = :a AND #range >= :a", "#m.#status > :five");
    let projection = "#name, #m.#status";
    let mut request = Query::new(&table, condition).filter(filter).projection(projection);
    request.names = names(&[condition, filter, projection]);
    request.values = values(&[condition, filter, projection]);
    let projected = item! { "name" => 2, "m" => map! { "status" => 9 } };
    ctx.expect_query(request, &[projected]).await;
}
