//! Expression texts with their results in DynamoDB Local 2.6.1, one case per line of
//! `data/expressions.jsonl`.
//!
//! Conditions, projections and updates are evaluated on the items below. Key conditions are those
//! of a table with the keys `p` (S) and `s` (N), or of an index with the keys `gp` (S) and `gs`
//! (S). Known differences between DynamoDB Local and DynamoDB have no case. One wording follows
//! DynamoDB: the error of a key condition names the missing attribute.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value as Json, json};
use tabla_core::backend::{KeySpec, Placeholders, Renderer};
use tabla_core::expr::{ExpressionKind, Names, Values};
use tabla_core::{Item, KeyType, Result, Value};

/// Item for conditions and projections.
fn read_item() -> Json {
    let map = json!({ "M": {
        "x": { "N": "1" },
        "y": { "M": { "z": { "N": "2" } } },
        "l": { "L": [{ "N": "1" }, { "N": "2" }, { "N": "3" }] },
    } });
    json!({
        "p": { "S": "it" }, "s": { "N": "1" },
        "a": { "N": "1" }, "n": { "N": "5" }, "n2": { "N": "5" },
        "st": { "S": "abc" }, "em": { "S": "a😀é" }, "es": { "S": "" }, "a.b": { "S": "dotted" },
        "b": { "B": "AQID" }, "bo": { "BOOL": true }, "bf": { "BOOL": false },
        "nu": { "NULL": true },
        "l": { "L": [
            { "N": "0" },
            { "S": "x" },
            { "M": { "q": { "N": "7" }, "r": { "N": "8" } } },
            { "L": [{ "N": "9" }] },
        ] },
        "m": map, "m2": map, "l0": { "L": [] }, "m0": { "M": {} },
        "ss": { "SS": ["a", "b"] }, "ss2": { "SS": ["b", "a"] },
        "ns": { "NS": ["1", "2", "3"] }, "ns2": { "NS": ["3", "2", "1"] },
        "bs": { "BS": ["AQ==", "Ag=="] },
    })
}

/// Item for updates.
fn updated_item() -> Json {
    json!({
        "p": { "S": "u" }, "s": { "N": "1" },
        "n": { "N": "5" }, "st": { "S": "abc" }, "b": { "B": "AQI=" },
        "l": { "L": [{ "N": "0" }, { "N": "1" }, { "N": "2" }] },
        "m": { "M": { "x": { "N": "1" }, "y": { "M": { "z": { "N": "2" } } } } },
        "ss": { "SS": ["a", "b"] }, "ns": { "NS": ["1", "2"] },
        "bo": { "BOOL": true }, "nu": { "NULL": true },
    })
}

#[test]
fn expression_results_match_dynamodb_local() {
    let read_item = Item::from_json(&read_item()).unwrap();
    let updated_item = Item::from_json(&updated_item()).unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for line in include_str!("data/expressions.jsonl").lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let item = match (&case["kind"], &case["missing"]) {
            (_, Json::Bool(true)) => {
                Item::from_json(&json!({ "p": { "S": "u" }, "s": { "N": "1" } })).unwrap()
            }
            (kind, _) if kind == "update" => updated_item.clone(),
            _ => read_item.clone(),
        };
        // Encoded items must have the same results as trees.
        for item in [item.clone(), item.into_encoded()] {
            let result = match result_fields(&case, &item) {
                Ok(result) => result,
                Err(error) => json!({ "error": error.message() }),
            };
            for (field, value) in result.as_object().unwrap() {
                if case[field] != *value {
                    failures.push(format!("{line}\n  got {result}"));
                }
            }
        }
        count += 1;
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 1400, "only {count} cases");
}

/// Fields of the result, as the case has them.
fn result_fields(case: &Json, item: &Item) -> Result<Json> {
    let text = case["text"].as_str().unwrap();
    let names: Names = object(&case["names"])
        .map(|(key, name)| (key.clone(), name.as_str().unwrap_or("5").to_owned()))
        .collect();
    let values: Values = object(&case["values"])
        .map(|(key, v)| (key.clone(), Value::from_json(v).unwrap()))
        .collect();
    let mut placeholders = Placeholders::new(&names, &values)?;
    match case["kind"].as_str().unwrap() {
        "condition" => {
            let condition = placeholders.parse_condition(ExpressionKind::Condition, text)?;
            placeholders.finish()?;
            condition.validate(ExpressionKind::Condition)?;
            let mut renderer = Renderer::new();
            let rendered = condition.render(&mut renderer);
            let parsed = Placeholders::new(renderer.names(), renderer.values())?
                .parse_condition(ExpressionKind::Condition, &rendered)?;
            assert_eq!(parsed, condition, "{text} as {rendered}");
            Ok(json!({ "holds": condition.evaluate(item) }))
        }
        "key" => {
            let condition = placeholders.parse_condition(ExpressionKind::KeyCondition, text)?;
            placeholders.finish()?;
            let name = |name: &str, kind| [(name.to_owned(), kind)];
            let (partition, sort) = match case["index"] {
                Json::Bool(true) => (name("gp", KeyType::S), name("gs", KeyType::S)),
                _ => (name("p", KeyType::S), name("s", KeyType::N)),
            };
            condition.to_key_query(&KeySpec { partition: &partition, sort: &sort })?;
            Ok(json!({ "legal": true }))
        }
        "projection" => {
            let projection = placeholders.parse_projection(text)?;
            placeholders.finish()?;
            projection.validate()?;
            Ok(json!({ "item": projection.project(item).to_json() }))
        }
        _ => {
            let update = placeholders.parse_update(text)?;
            placeholders.finish()?;
            update.validate()?;
            let updated = update.apply(item)?;
            let changed: Item = updated
                .iter()
                .filter(|(name, value)| item.get(name).as_ref() != Some(value))
                .collect();
            let removed: Vec<&str> =
                item.iter().map(|(name, _)| name).filter(|name| !updated.contains(name)).collect();
            Ok(match removed.is_empty() {
                true => json!({ "changed": changed.to_json(), "removed": null }),
                false => json!({ "changed": changed.to_json(), "removed": removed }),
            })
        }
    }
}

fn object(json: &Json) -> impl Iterator<Item = (&String, &Json)> {
    json.as_object().into_iter().flatten()
}
