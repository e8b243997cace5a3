use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::value::arbitrary::item;
use crate::{DynamoJson, Item, Value, item, list, map};

/// Code and message of the error.
fn refusal(json: &Json) -> (&'static str, String) {
    let error = Value::from_json(json).expect_err("the value must be rejected");
    (error.code(), error.message().to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn written_item_reads_back(item in item()) {
        let json = item.to_json();
        prop_assert_eq!(&Item::from_json(&json).unwrap(), &item);
        let mut text = Vec::new();
        item.write_json(&mut text);
        prop_assert_eq!(serde_json::from_slice::<Json>(&text).unwrap(), json);
        let read = Item::from_json_slice(&text).unwrap();
        prop_assert_eq!(&read, &item);
        // The path without a tree writes the same bytes as the encoder.
        prop_assert_eq!(read.encode(), Item::from(item.to_map()).encode());
        prop_assert_eq!(read.size(), Item::from(item.to_map()).size());
    }

    #[test]
    fn any_text_is_read_or_rejected(text in "\\{\"[SNBML]{1,2}\":[\\[{\"a-z0-9:,}\\]]{0,8}\\}") {
        if let Ok(item) = Item::from_json_slice(text.as_bytes()) {
            prop_assert_eq!(Item::from_json(&item.to_json()).unwrap(), item);
        }
    }
}

#[test]
fn each_type_has_its_json_form() {
    let item = item! {
        "s" => "a\"\n",
        "n" => Value::N("1.50e1".parse().unwrap()),
        "b" => b"a",
        "t" => true,
        "z" => Value::Null,
        "m" => map! { "k" => 1 },
        "l" => list![1, "x"],
    };
    let mut text = Vec::new();
    item.write_json(&mut text);
    assert_eq!(
        String::from_utf8(text).unwrap(),
        concat!(
            r#"{"b":{"B":"YQ=="},"l":{"L":[{"N":"1"},{"S":"x"}]},"m":{"M":{"k":{"N":"1"}}},"#,
            r#""n":{"N":"15"},"s":{"S":"a\"\n"},"t":{"BOOL":true},"z":{"NULL":true}}"#
        )
    );
    let sets = json!({
        "ss": { "SS": ["b", "a", ""] },
        "ns": { "NS": ["10", "9.0"] },
        "bs": { "BS": ["Yg==", ""] },
    });
    assert_eq!(
        Item::from_json(&sets).unwrap().to_json(),
        json!({
            "ss": { "SS": ["", "a", "b"] },
            "ns": { "NS": ["9", "10"] },
            "bs": { "BS": ["", "Yg=="] },
        })
    );
}

#[test]
fn unknown_and_null_members_count_as_absent() {
    for json in [json!({"S": "a", "X": 1}), json!({"S": "a", "N": null})] {
        assert_eq!(Value::from_json(&json).unwrap(), Value::from("a"));
    }
}

#[test]
fn booleans_are_read_from_words() {
    for (json, value) in [
        (json!({"BOOL": "yes"}), Value::from(true)),
        (json!({"BOOL": "FALSE"}), Value::from(false)),
        (json!({"NULL": "true"}), Value::Null),
    ] {
        assert_eq!(Value::from_json(&json).unwrap(), value, "{json}");
    }
}

#[test]
fn invalid_values_fail_with_the_texts_of_dynamodb() {
    const EMPTY: &str =
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
    const SEVERAL: &str = "Supplied AttributeValue has more than one datatypes set, must contain \
                           exactly one of the supported datatypes";
    const INVALID: &str = "One or more parameter values were invalid: ";
    const NULL: &str = "The supplied Item contains a null AttributeValue";
    const NO_NUMBER: &str = "The parameter cannot be converted to a numeric value";
    let cases = [
        (json!({}), EMPTY.to_owned()),
        (json!({"X": "a"}), EMPTY.to_owned()),
        (json!({"S": null}), EMPTY.to_owned()),
        (json!({"L": [{}]}), EMPTY.to_owned()),
        (json!({"M": {"a": {}}}), EMPTY.to_owned()),
        (json!(null), NULL.to_owned()),
        (json!({"L": [null]}), NULL.to_owned()),
        (json!({"BS": [null]}), NULL.to_owned()),
        (json!({"M": {"a": null}}), format!("{NULL}: a is null")),
        (json!({"S": "a", "N": "1"}), SEVERAL.to_owned()),
        (json!({"S": "a", "M": {}}), SEVERAL.to_owned()),
        (json!({"S": "a", "N": "b"}), format!("{NO_NUMBER}: b")),
        (json!({"N": ""}), NO_NUMBER.to_owned()),
        (json!({"NS": ["1", null]}), NO_NUMBER.to_owned()),
        (json!({"NS": ["1", "x"]}), format!("{NO_NUMBER}: x")),
        (
            json!({"NULL": "no"}),
            format!("{INVALID}Null attribute value types must have the value of true"),
        ),
        (
            json!({"NULL": false}),
            format!("{INVALID}Null attribute value types must have the value of true"),
        ),
        (json!({"SS": []}), format!("{INVALID}An string set  may not be empty")),
        (json!({"NS": []}), format!("{INVALID}An number set  may not be empty")),
        (json!({"BS": []}), format!("{INVALID}Binary sets should not be empty")),
        (
            json!({"SS": ["a", "a"]}),
            format!("{INVALID}Input collection [a, a] contains duplicates."),
        ),
        (json!({"NS": ["1", "1.0"]}), "Input collection contains duplicates".to_owned()),
        (
            json!({"SS": ["a", null]}),
            format!("{INVALID}An string set may not have a null string as a member"),
        ),
    ];
    for (json, text) in cases {
        assert_eq!(refusal(&json), ("ValidationException", text), "{json}");
    }
}

#[test]
fn json_of_the_wrong_type_fails_with_the_texts_of_dynamodb() {
    let structure = "Start of structure or map found where not expected";
    let base64 = "only base-64-encoded strings are convertible to bytes";
    let cases = [
        (json!("a"), "Unexpected value type in payload"),
        (json!(5), "Unexpected value type in payload"),
        (
            json!([]),
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
        ),
        (json!({"S": 1}), "NUMBER_VALUE cannot be converted to String"),
        (json!({"S": 1.5}), "DECIMAL_VALUE cannot be converted to String"),
        (json!({"N": 1}), "NUMBER_VALUE cannot be converted to String"),
        (json!({"S": true}), "TRUE_VALUE cannot be converted to String"),
        (json!({"S": []}), "Unrecognized collection type class java.lang.String"),
        (json!({"S": {}}), structure),
        (json!({"BOOL": 1}), "NUMBER_VALUE cannot be converted to Boolean"),
        (json!({"BOOL": "23"}), "Unexpected token received from parser"),
        (json!({"NULL": []}), "Unrecognized collection type class java.lang.Boolean"),
        (json!({"B": 5}), base64),
        (json!({"B": []}), "Unrecognized collection type class java.nio.ByteBuffer"),
        (json!({"B": {}}), structure),
        (
            json!({"B": "YQ"}),
            "Base64 encoded length is expected a multiple of 4 bytes but found: 2",
        ),
        (json!({"B": "-_-_"}), "Invalid Base64 character: '-'"),
        (json!({"B": "YR=="}), "Invalid last non-pad Base64 character dectected"),
        (json!({"B": "=+/="}), "Invalid last non-pad Base64 character dectected"),
        (json!({"L": {}}), structure),
        (json!({"L": "a"}), "Unexpected field type"),
        (json!({"SS": "a"}), "Unexpected field type"),
        (
            json!({"M": []}),
            "Unrecognized collection type java.util.Map<java.lang.String, \
             com.amazonaws.dynamodb.v20120810.AttributeValue>",
        ),
        (json!({"M": "a"}), "Unexpected field type"),
    ];
    for (json, text) in cases {
        assert_eq!(refusal(&json), ("SerializationException", text.to_owned()), "{json}");
    }
    let error = Item::from_json_slice(b"{").unwrap_err();
    assert_eq!(error.code(), "SerializationException");
}

#[test]
fn item_nested_over_31_levels_is_rejected() {
    let nested = |levels: usize| {
        let open = r#"{"L":["#.repeat(levels);
        let close = "]}".repeat(levels);
        format!(r#"{{"v":{open}{{"S":"a"}}{close}}}"#)
    };
    assert!(Item::from_json_slice(nested(31).as_bytes()).is_ok());
    for levels in [32, 33, 100, 100_000] {
        let error = Item::from_json_slice(nested(levels).as_bytes()).unwrap_err();
        assert_eq!(error.code(), "ValidationException", "{levels}");
        assert!(error.message().starts_with("Nesting Levels have exceeded supported limits"));
    }
}

#[test]
fn names_are_read_in_any_order() {
    let text = r#"{"b":{"M":{"z":{"S":"1"},"y":{"L":[]},"x":{"NULL":true}}},"":{"N":"2"},
        "a":{"SS":["q","p"]}}"#;
    let read = Item::from_json_slice(text.as_bytes()).unwrap();
    assert_eq!(Item::decode(read.encode()).unwrap(), read);
    let tree = Item::from_json(&serde_json::from_str(text).unwrap()).unwrap();
    assert_eq!(read.encode(), tree.encode());
    let DynamoJson(part) = serde_json::from_str(text).unwrap();
    assert_eq!(part, tree);
    let many: Vec<String> = (0..200).rev().map(|n| format!(r#""{n}":{{"N":"{n}"}}"#)).collect();
    let text = format!(r#"{{"m":{{"M":{{{}}}}}}}"#, many.join(","));
    let read = Item::from_json_slice(text.as_bytes()).unwrap();
    assert_eq!(Item::decode(read.encode()).unwrap().get("m").unwrap().as_map().unwrap().len(), 200);
}

#[test]
fn last_of_duplicate_members_counts() {
    let error = |text: &str| Item::from_json_slice(text.as_bytes()).unwrap_err();
    assert_eq!(error(r#"{"a":{"S":"x"}} ?"#).code(), "SerializationException");
    assert!(error(r#"{"a":{"S":"x","N":"1"}}"#).message().contains("more than one datatypes"));
    // Null and unknown members count as absent.
    let read = Item::from_json_slice(br#"{"a":{"S":"x","N":null,"Q":1}}"#).unwrap();
    assert_eq!(read, item! { "a" => "x" });
    // Of two members with the same name, the last one counts, as in other JSON parsers.
    let read = Item::from_json_slice(br#"{"a":{"S":"x"},"a":{"S":"y"}}"#).unwrap();
    assert_eq!(read, item! { "a" => "y" });
}
