use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Shape, Structure, input, validate};
use crate::operation::Operation::{self, *};

/// Returns the code and the message of the error.
#[track_caller]
fn refusal(operation: Operation, body: &str) -> (&'static str, String) {
    let error = validate(operation, body.as_bytes()).expect_err("the request must be refused");
    (error.code(), error.message().to_owned())
}

#[track_caller]
fn malformed(operation: Operation, body: &Json) -> String {
    let (code, message) = refusal(operation, &body.to_string());
    assert_eq!(code, "SerializationException", "{message}");
    message
}

/// Returns the violated constraints.
#[track_caller]
fn broken(operation: Operation, body: &Json) -> Vec<String> {
    let (code, message) = refusal(operation, &body.to_string());
    assert_eq!(code, "ValidationException", "{message}");
    let (count, list) = message.split_once(" detected: ").expect("the error lists constraints");
    let list: Vec<String> = list.split("; ").map(str::to_owned).collect();
    let noun = if list.len() == 1 { "error" } else { "errors" };
    assert_eq!(count, format!("{} validation {noun}", list.len()));
    list
}

fn is_right(operation: Operation, body: &Json) {
    validate(operation, body.to_string().as_bytes()).unwrap();
}

fn null(member: &str) -> String {
    format!("Value null at '{member}' failed to satisfy constraint: Member must not be null")
}

fn set(value: &str, member: &str, choices: &str) -> String {
    format!(
        "Value '{value}' at '{member}' failed to satisfy constraint: Member must satisfy enum \
         value set: [{choices}]"
    )
}

fn rule(value: &str, member: &str, rule: &str) -> String {
    format!("Value{value} at '{member}' failed to satisfy constraint: {rule}")
}

const PATTERN: &str = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";
const CAPACITY: &str = "INDEXES, TOTAL, NONE";
const COMPARISON: &str = "IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, \
                          BEGINS_WITH, GE, CONTAINS";

#[test]
fn text_that_is_not_an_object_is_refused_without_a_message() {
    for body in [
        "",
        " ",
        "hi",
        "3",
        "null",
        "[]",
        "\"a\"",
        "{",
        "{\"TableName\"}",
        "{} {}",
        "{\"TableName\":\"a\",}",
        "\u{feff}{}",
    ] {
        assert_eq!(refusal(GetItem, body), ("SerializationException", String::new()), "{body}");
    }
    let error = validate(GetItem, b"{\"TableName\":\"\xff\"}").unwrap_err();
    assert_eq!((error.code(), error.message()), ("SerializationException", ""));
}

/// The messages of AWS for each type are those in dynalite's tests.
#[test]
fn wrong_types_are_reported_with_the_messages_of_aws() {
    const OBJECT: &str = "Start of structure or map found where not expected";
    const FIELD: &str = "Unexpected field type";
    const VALUE: &str = "Unexpected value type in payload";
    const CAST: &str = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to \
         class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and \
         java.lang.Class are in module java.base of loader 'bootstrap')";
    let collection = |name: &str| format!("Unrecognized collection type {name}");
    let class = |name: &str| collection(&format!("class com.amazonaws.dynamodb.v20120810.{name}"));
    let map = |values: &str| collection(&format!("java.util.Map<java.lang.String, {values}>"));
    let modelled = |name: &str| map(&format!("com.amazonaws.dynamodb.v20120810.{name}"));
    let any = [json!("23"), json!(true), json!(23), json!(-2147483648), json!(34.56)];
    let scalars = |text: &str| any.clone().map(|json| (json, text.to_owned())).to_vec();
    let with = |mut cases: Vec<(Json, String)>, json: Json, text: String| {
        cases.push((json, text));
        cases
    };

    let text = vec![
        (json!(true), "TRUE_VALUE cannot be converted to String".to_owned()),
        (json!(false), "FALSE_VALUE cannot be converted to String".to_owned()),
        (json!(2147483648_i64), "NUMBER_VALUE cannot be converted to String".to_owned()),
        (json!(34.56), "DECIMAL_VALUE cannot be converted to String".to_owned()),
        (json!([]), collection("class java.lang.String")),
        (json!({}), OBJECT.to_owned()),
    ];
    let boolean = vec![
        (json!("23"), "Unexpected token received from parser".to_owned()),
        (json!(23), "NUMBER_VALUE cannot be converted to Boolean".to_owned()),
        (json!(34.56), "DECIMAL_VALUE cannot be converted to Boolean".to_owned()),
        (json!([]), collection("class java.lang.Boolean")),
        (json!({}), OBJECT.to_owned()),
    ];
    let number = |kind: &str| {
        vec![
            (json!("23"), format!("STRING_VALUE cannot be converted to {kind}")),
            (json!(true), format!("TRUE_VALUE cannot be converted to {kind}")),
            (json!(false), format!("FALSE_VALUE cannot be converted to {kind}")),
            (json!([]), collection(&format!("class java.lang.{kind}"))),
            (json!({}), OBJECT.to_owned()),
        ]
    };
    let bytes = {
        let mut cases = scalars("only base-64-encoded strings are convertible to bytes");
        cases.remove(0);
        cases.extend([
            (json!([]), collection("class java.nio.ByteBuffer")),
            (json!({}), OBJECT.to_owned()),
            (
                json!("23456"),
                "Base64 encoded length is expected a multiple of 4 bytes but found: 5".to_owned(),
            ),
            (json!("=+/="), "Invalid last non-pad Base64 character dectected".to_owned()),
        ]);
        cases
    };
    let list = with(scalars(FIELD), json!({}), OBJECT.to_owned());
    let values = with(scalars(FIELD), json!([]), modelled("AttributeValue"));
    let value = with(scalars(VALUE), json!([]), class("AttributeValue"));
    let structure = |name: &str| with(scalars(FIELD), json!([]), class(name));
    let element = |name: &str| with(scalars(VALUE), json!([]), class(name));

    let mut cases = vec![
        (GetItem, "TableName", text.clone()),
        (GetItem, "ConsistentRead", boolean.clone()),
        (GetItem, "AttributesToGet", list.clone()),
        (GetItem, "AttributesToGet.0", text.clone()),
        (
            GetItem,
            "ExpressionAttributeNames",
            with(scalars(FIELD), json!([]), map("java.lang.String")),
        ),
        (GetItem, "ExpressionAttributeNames.a", text.clone()),
        (Query, "Limit", number("Integer")),
        (Query, "Select", text.clone()),
        (Query, "KeyConditions", with(scalars(FIELD), json!([]), modelled("Condition"))),
        (Query, "KeyConditions.a", element("Condition")),
        (Query, "KeyConditions.a.AttributeValueList", list.clone()),
        (Query, "KeyConditions.a.AttributeValueList.0", value.clone()),
        (PutItem, "Expected.a.Value", structure("AttributeValue")),
        (PutItem, "Expected.a.Exists", boolean.clone()),
        (
            UpdateItem,
            "AttributeUpdates",
            with(scalars(FIELD), json!([]), modelled("AttributeValueUpdate")),
        ),
        (
            BatchGetItem,
            "RequestItems",
            with(scalars(FIELD), json!([]), modelled("KeysAndAttributes")),
        ),
        (BatchGetItem, "RequestItems.a", element("KeysAndAttributes")),
        (BatchGetItem, "RequestItems.a.Keys", list.clone()),
        (
            BatchGetItem,
            "RequestItems.a.Keys.0",
            with(scalars(CAST), json!([]), modelled("AttributeValue")),
        ),
        (
            BatchWriteItem,
            "RequestItems",
            with(
                scalars(FIELD),
                json!([]),
                map("java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>"),
            ),
        ),
        (BatchWriteItem, "RequestItems.a", with(scalars(CAST), json!({}), OBJECT.to_owned())),
        (BatchWriteItem, "RequestItems.a.0", element("WriteRequest")),
        (BatchWriteItem, "RequestItems.a.0.DeleteRequest", structure("DeleteRequest")),
        (BatchWriteItem, "RequestItems.a.0.DeleteRequest.Key", values.clone()),
        (TransactWriteItems, "TransactItems", list.clone()),
        (TransactWriteItems, "TransactItems.0.Put", structure("Put")),
        (CreateTable, "KeySchema.0", element("KeySchemaElement")),
        (CreateTable, "ProvisionedThroughput", structure("ProvisionedThroughput")),
        (CreateTable, "ProvisionedThroughput.ReadCapacityUnits", number("Long")),
        (CreateTable, "GlobalSecondaryIndexes.0.Projection", structure("Projection")),
        (TagResource, "Tags.0", element("Tag")),
        (UpdateTimeToLive, "TimeToLiveSpecification.Enabled", boolean.clone()),
        (GetRecords, "Limit", number("Integer")),
    ];
    for (operation, place) in [
        (PutItem, "Item"),
        (UpdateItem, "Key"),
        (Query, "ExpressionAttributeValues"),
        (TransactWriteItems, "TransactItems.0.Delete.Key"),
    ] {
        cases.push((operation, place, values.clone()));
        for (part, part_cases) in [
            ("", &value),
            (".S", &text),
            (".N", &text),
            (".B", &bytes),
            (".BOOL", &boolean),
            (".NULL", &boolean),
            (".SS", &list),
            (".SS.0", &text),
            (".NS.0", &text),
            (".BS.0", &bytes),
            (".L", &list),
            (".L.0", &value),
            (".L.0.BS", &list),
            (".M", &values),
            (".M.b", &value),
            (".M.b.BS.0", &bytes),
        ] {
            let place: &'static str = format!("{place}.a{part}").leak();
            cases.push((operation, place, part_cases.clone()));
        }
    }
    for (operation, place, cases) in cases {
        for (json, text) in cases {
            let body = place.rsplit('.').fold(json.clone(), |inner, name| match name {
                "0" => json!([inner]),
                name => json!({ name: inner }),
            });
            assert_eq!(malformed(operation, &body), text, "{operation:?} {body}");
        }
    }
}

#[test]
fn first_wrong_type_is_reported_before_any_constraint() {
    let body = r#"{"Select":"X","Limit":"a","TableName":3}"#;
    assert_eq!(refusal(Query, body).1, "STRING_VALUE cannot be converted to Integer");
    let body = r#"{"TableName":3,"Limit":"a","Select":"X"}"#;
    assert_eq!(refusal(Query, body).1, "NUMBER_VALUE cannot be converted to String");
    // The wrong type is reported even if the rest of the text is not JSON.
    assert_eq!(
        refusal(Query, r#"{"TableName":3,"#).1,
        "NUMBER_VALUE cannot be converted to String"
    );
}

#[test]
fn nulls_and_unknown_members_count_as_absent() {
    is_right(ListTables, &json!({ "hi": "yo", "Limit": null, "ExclusiveStartTableName": null }));
    is_right(GetItem, &json!({ "TableName": "a", "Key": { "a": { "S": "x", "X": 1 } } }));
    is_right(GetItem, &json!({ "TableName": "a", "Key": { "a": null } }));
    is_right(BatchGetItem, &json!({ "RequestItems": { "a": null } }));
    is_right(BatchWriteItem, &json!({ "RequestItems": { "a": null } }));
    is_right(Query, &json!({ "TableName": "a", "KeyConditions": { "a": null } }));
    assert_eq!(
        broken(TransactWriteItems, &json!({ "TransactItems": [null] })),
        [null("transactItems.1.member")]
    );
    assert_eq!(
        broken(GetItem, &json!({ "TableName": null, "Key": null })),
        [null("key"), null("tableName")]
    );
}

#[test]
fn last_of_two_members_with_one_name_counts() {
    validate(ListTables, br#"{"Limit":0,"Limit":1}"#).unwrap();
    assert!(validate(ListTables, br#"{"Limit":1,"Limit":0}"#).is_err());
}

#[test]
fn fractions_are_truncated_and_some_words_are_booleans() {
    is_right(Query, &json!({ "TableName": "a", "Limit": 1.9, "ConsistentRead": "yes" }));
    is_right(Query, &json!({ "TableName": "a", "Limit": 1e300 }));
    assert_eq!(
        broken(Query, &json!({ "TableName": "a", "Limit": 0.9 })),
        [rule(" '0'", "limit", "Member must have value greater than or equal to 1")]
    );
}

/// The orders are those observed on AWS.
#[test]
fn all_violated_constraints_are_reported_in_the_order_of_aws() {
    let item = json!({ "a": { "S": "x" } });
    let values = "ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW";
    assert_eq!(
        broken(
            PutItem,
            &json!({
                "TableName": "abc", "Item": item, "ReturnConsumedCapacity": "INVALID",
                "ReturnItemCollectionMetrics": "INVALID", "ReturnValues": "INVALID",
            })
        ),
        [
            set("INVALID", "returnValues", values),
            set("INVALID", "returnConsumedCapacity", CAPACITY),
            set("INVALID", "returnItemCollectionMetrics", "SIZE, NONE"),
        ]
    );
    assert_eq!(
        broken(PutItem, &json!({ "TableName": "", "Item": {}, "ReturnValues": "INVALID" })),
        [
            set("INVALID", "returnValues", values),
            rule(" ''", "tableName", "Member must have length greater than or equal to 1"),
        ]
    );
    assert_eq!(
        broken(
            UpdateItem,
            &json!({
                "TableName": "abc", "Key": item, "ReturnValues": "INVALID",
                "ReturnConsumedCapacity": "INVALID",
            })
        ),
        [
            set("INVALID", "returnConsumedCapacity", CAPACITY),
            set("INVALID", "returnValues", values),
        ]
    );
    let select = "SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES";
    let conditions = json!({ "a": {}, "b": { "ComparisonOperator": "" } });
    assert_eq!(
        broken(
            Query,
            &json!({
                "ReturnConsumedCapacity": "hi", "AttributesToGet": [], "IndexName": "abc;",
                "Select": "hi", "Limit": -1, "KeyConditions": conditions, "QueryFilter": conditions,
                "ConditionalOperator": "AN",
            })
        ),
        [
            set("hi", "select", select),
            rule(" 'abc;'", "indexName", PATTERN),
            set("hi", "returnConsumedCapacity", CAPACITY),
            null("queryFilter.a.member.comparisonOperator"),
            set("", "queryFilter.b.member.comparisonOperator", COMPARISON),
            null("tableName"),
            set("AN", "conditionalOperator", "OR, AND"),
            rule(" '[]'", "attributesToGet", "Member must have length greater than or equal to 1"),
            rule(" '-1'", "limit", "Member must have value greater than or equal to 1"),
            null("keyConditions.a.member.comparisonOperator"),
        ],
        "at most ten violations are reported"
    );
    assert_eq!(
        broken(
            Scan,
            &json!({
                "TableName": "abc", "IndexName": "a;", "Segment": -1, "TotalSegments": 1_000_001,
                "Limit": 0, "ScanFilter": { "a": { "ComparisonOperator": "X" } },
            })
        ),
        [
            rule(" 'a;'", "indexName", PATTERN),
            rule(" 'a;'", "indexName", "Member must have length greater than or equal to 3"),
            rule(
                " '1000001'",
                "totalSegments",
                "Member must have value less than or equal to 1000000"
            ),
            set("X", "scanFilter.a.member.comparisonOperator", COMPARISON),
            rule(" '-1'", "segment", "Member must have value greater than or equal to 0"),
            rule(" '0'", "limit", "Member must have value greater than or equal to 1"),
        ]
    );
}

#[test]
fn batches_and_transactions_report_the_path_of_a_missing_member() {
    let at_least = "Member must have length greater than or equal to 1";
    assert_eq!(broken(BatchGetItem, &json!({})), [null("requestItems")]);
    assert_eq!(
        broken(BatchGetItem, &json!({ "RequestItems": {} })),
        [rule("", "requestItems", at_least)]
    );
    assert_eq!(
        broken(BatchGetItem, &json!({ "RequestItems": { "aa;": {}, "b": { "Keys": [] } } })),
        [null("requestItems.aa;.member.keys"), rule("", "requestItems.b.member.keys", at_least)]
    );
    let writes = "Map value must satisfy constraint: [Member must have length less than or equal \
                  to 25, Member must have length greater than or equal to 1]";
    let many = vec![json!({ "PutRequest": { "Item": {} } }); 26];
    for list in [json!([]), json!(many)] {
        assert_eq!(
            broken(BatchWriteItem, &json!({ "RequestItems": { "abc": list } })),
            [rule("", "requestItems", writes)]
        );
    }
    assert_eq!(
        broken(
            BatchWriteItem,
            &json!({ "RequestItems": {
                "": [{ "PutRequest": {}, "DeleteRequest": {} }],
                "abc": [{}, { "DeleteRequest": {} }],
            } })
        ),
        [
            rule(
                "",
                "requestItems",
                "Map keys must satisfy constraint: [Member must have length less than or equal to \
                 1024, Member must have length greater than or equal to 1]"
            ),
            null("requestItems..member.1.member.putRequest.item"),
            null("requestItems..member.1.member.deleteRequest.key"),
            null("requestItems.abc.member.2.member.deleteRequest.key"),
        ]
    );
    assert_eq!(
        broken(
            TransactWriteItems,
            &json!({
                "TransactItems": [{ "Put": {}, "Update": {} }, { "ConditionCheck": {} }],
                "ClientRequestToken": "",
            })
        ),
        [
            null("transactItems.1.member.update.updateExpression"),
            null("transactItems.1.member.update.key"),
            null("transactItems.1.member.update.tableName"),
            null("transactItems.1.member.put.item"),
            null("transactItems.1.member.put.tableName"),
            null("transactItems.2.member.conditionCheck.conditionExpression"),
            null("transactItems.2.member.conditionCheck.key"),
            null("transactItems.2.member.conditionCheck.tableName"),
            rule(" ''", "clientRequestToken", at_least),
        ]
    );
    for operation in [TransactGetItems, TransactWriteItems] {
        assert_eq!(
            broken(operation, &json!({ "TransactItems": [] })),
            [rule("", "transactItems", at_least)]
        );
    }
    assert_eq!(
        broken(TransactGetItems, &json!({ "TransactItems": [{}] })),
        [null("transactItems.1.member.get")]
    );
}

#[test]
fn missing_table_is_reported_before_other_errors() {
    let text = "The parameter 'TableName' is required but was not present in the request";
    for operation in [
        CreateTable,
        DeleteTable,
        DescribeContinuousBackups,
        DescribeTable,
        DescribeTimeToLive,
        UpdateContinuousBackups,
        UpdateTable,
        UpdateTimeToLive,
    ] {
        assert_eq!(refusal(operation, "{}").1, text, "{operation:?}");
        assert_eq!(refusal(operation, r#"{"TableName":null}"#).1, text, "{operation:?}");
    }
    for operation in [TagResource, UntagResource, ListTagsOfResource] {
        assert_eq!(refusal(operation, "{}").1, "Invalid TableArn", "{operation:?}");
    }
    for operation in [DescribeLimits, DescribeEndpoints, ListTables, ListStreams] {
        is_right(operation, &json!({}));
    }
}

#[test]
fn constraints_in_parts_of_tables_are_reported_with_their_path() {
    let at_least = "Member must have length greater than or equal to";
    assert_eq!(
        broken(CreateTable, &json!({ "TableName": "abc" })),
        [null("keySchema"), null("attributeDefinitions")]
    );
    let element = |name: &str, role: &str| json!({ "AttributeName": name, "KeyType": role });
    assert_eq!(
        broken(
            CreateTable,
            &json!({
                "TableName": "abc",
                "AttributeDefinitions": [{}, { "AttributeName": "", "AttributeType": "SS" }],
                "KeySchema": [element("a", "HASH"), element("b", "Woop"), { "KeyType": "RANGE" }],
                "ProvisionedThroughput": { "ReadCapacityUnits": -1 },
                "BillingMode": "INVALID",
            })
        ),
        [
            set("INVALID", "billingMode", "PROVISIONED, PAY_PER_REQUEST"),
            rule(
                " '[KeySchemaElement(attributeName=a, keyType=HASH), \
                 KeySchemaElement(attributeName=b, keyType=Woop), \
                 KeySchemaElement(attributeName=null, keyType=RANGE)]'",
                "keySchema",
                "Member must have length less than or equal to 2"
            ),
            set("Woop", "keySchema.2.member.keyType", "HASH, RANGE"),
            null("keySchema.3.member.attributeName"),
            null("provisionedThroughput.writeCapacityUnits"),
            rule(
                " '-1'",
                "provisionedThroughput.readCapacityUnits",
                "Member must have value greater than or equal to 1"
            ),
            null("attributeDefinitions.1.member.attributeType"),
            null("attributeDefinitions.1.member.attributeName"),
            set("SS", "attributeDefinitions.2.member.attributeType", "B, N, S"),
            rule(" ''", "attributeDefinitions.2.member.attributeName", &format!("{at_least} 1")),
        ]
    );
    assert_eq!(
        broken(
            UpdateTable,
            &json!({
                "TableName": "abc",
                "StreamSpecification": { "StreamViewType": "X" },
                "SSESpecification": { "SSEType": "X" },
                "GlobalSecondaryIndexUpdates": [
                    { "Update": {} },
                    { "Create": {
                        "IndexName": "h;", "KeySchema": [],
                        "Projection": { "ProjectionType": "abc", "NonKeyAttributes": [] },
                    } },
                ],
            })
        ),
        [
            set("X", "sSESpecification.sSEType", "AES256, KMS"),
            null("globalSecondaryIndexUpdates.1.member.update.indexName"),
            null("globalSecondaryIndexUpdates.1.member.update.provisionedThroughput"),
            rule(" 'h;'", "globalSecondaryIndexUpdates.2.member.create.indexName", PATTERN),
            rule(
                " 'h;'",
                "globalSecondaryIndexUpdates.2.member.create.indexName",
                &format!("{at_least} 3")
            ),
            rule(
                " '[]'",
                "globalSecondaryIndexUpdates.2.member.create.keySchema",
                &format!("{at_least} 1")
            ),
            rule(
                " '[]'",
                "globalSecondaryIndexUpdates.2.member.create.projection.nonKeyAttributes",
                &format!("{at_least} 1")
            ),
            set(
                "abc",
                "globalSecondaryIndexUpdates.2.member.create.projection.projectionType",
                "ALL, INCLUDE, KEYS_ONLY"
            ),
            set(
                "X",
                "streamSpecification.streamViewType",
                "NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY"
            ),
            null("streamSpecification.streamEnabled"),
        ]
    );
    assert_eq!(
        broken(UpdateTimeToLive, &json!({ "TableName": "abc", "TimeToLiveSpecification": {} })),
        [null("timeToLiveSpecification.attributeName"), null("timeToLiveSpecification.enabled")]
    );
    assert_eq!(
        broken(ListTables, &json!({ "ExclusiveStartTableName": "a;", "Limit": 500 })),
        [
            rule(" 'a;'", "exclusiveStartTableName", PATTERN),
            rule(" 'a;'", "exclusiveStartTableName", &format!("{at_least} 3")),
            rule(" '500'", "limit", "Member must have value less than or equal to 100"),
        ]
    );
    assert_eq!(
        broken(GetShardIterator, &json!({ "ShardId": "a", "ShardIteratorType": "X" })),
        [
            null("streamArn"),
            rule(" 'a'", "shardId", &format!("{at_least} 28")),
            set(
                "X",
                "shardIteratorType",
                "TRIM_HORIZON, LATEST, AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER, AT_TIMESTAMP"
            ),
        ]
    );
}

#[test]
fn validation_ignores_semantics() {
    for item in [
        json!({ "a": {} }),
        json!({ "a": { "S": "x", "N": "1" } }),
        json!({ "a": { "N": "x" } }),
        json!({ "a": { "SS": [] } }),
        json!({ "a": { "NULL": false } }),
        json!({ "a": { "L": [null] } }),
        json!({}),
    ] {
        is_right(PutItem, &json!({ "TableName": "ab", "Item": item, "ConditionExpression": "" }));
    }
}

#[test]
fn very_deep_and_long_requests_are_validated() {
    let open = r#"{"L":["#.repeat(100_000);
    for body in [
        format!(r#"{{"TableName":"a","Item":{{"a":{open}"#),
        format!(r#"{{"TableName":"a","Item":{{"a":{open}{}}}}}"#, "]}".repeat(100_000)),
    ] {
        let (code, message) = refusal(PutItem, &body);
        assert_eq!(code, "ValidationException");
        assert!(message.starts_with("Nesting Levels have exceeded supported limits"), "{message}");
    }
    // Skipped values may have any depth.
    let brackets = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    validate(DescribeLimits, format!(r#"{{"a":{brackets}}}"#).as_bytes()).unwrap();
    assert_eq!(
        refusal(GetItem, &format!(r#"{{"TableName":{brackets}}}"#)).1,
        "Unrecognized collection type class java.lang.String"
    );
    let many = vec!["{}"; 300_000].join(",");
    let body = format!(r#"{{"TableName":"abc","LocalSecondaryIndexes":[{many}]}}"#);
    assert!(refusal(CreateTable, &body).1.starts_with("10 validation errors detected: "));
}

/// DynamoDB iterates over the member names in the order of a Java `HashMap`: bucket by bucket. The
/// number of buckets depends on the number of names.
#[test]
fn members_are_in_the_order_of_dynamodbs_hash_table() {
    fn hash(name: &str) -> u32 {
        let letters = name.bytes().enumerate().map(|(number, letter)| match number {
            0 => letter.to_ascii_lowercase(),
            _ => letter,
        });
        let sum = |hash: u32, letter| hash.wrapping_mul(31).wrapping_add(u32::from(letter));
        let hash = letters.fold(0, sum);
        hash ^ (hash >> 16)
    }
    fn look(structure: &'static Structure, seen: &mut BTreeMap<&'static str, usize>) {
        let count = structure.members.len();
        if seen.insert(structure.class, count).is_some_and(|other| other == count) {
            return;
        }
        let mut places = 16;
        while count * 4 > places * 3 {
            places *= 2;
        }
        let order: Vec<usize> =
            structure.members.iter().map(|member| hash(member.name) as usize % places).collect();
        assert!(order.is_sorted(), "{}: {order:?}", structure.class);
        let mut shapes: Vec<&Shape> = structure.members.iter().map(|member| member.shape).collect();
        while let Some(shape) = shapes.pop() {
            match shape {
                Shape::List { of, .. } | Shape::Map { of, .. } => shapes.push(of),
                Shape::Structure(structure) => look(structure, seen),
                Shape::Value => look(&super::common::ATTRIBUTE_VALUE, seen),
                _ => {}
            }
        }
    }
    let mut seen = BTreeMap::new();
    for operation in Operation::ALL {
        look(input(*operation), &mut seen);
    }
    assert!(seen.len() > 60, "{seen:?}");
}
