//! Valid requests, at least one for each operation, which together have all relevant members.

use serde_json::{Value as Json, json};

use super::scene::{PLAIN, STREAMED, THINGS};
use crate::operation::Operation::{self, *};

/// Returns the valid requests from which the others are generated.
pub(crate) fn valid() -> Vec<(Operation, Json)> {
    // Streams outlive their tables, so they are listed before other tables are created and deleted.
    let mut requests = streams();
    requests.extend(items());
    requests.extend(pages());
    requests.extend(many());
    requests.extend(tables());
    requests
}

fn key(number: u32) -> Json {
    json!({ "pk": { "S": "a" }, "sk": { "N": number.to_string() } })
}

fn item(number: u32) -> Json {
    json!({
        "pk": { "S": "a" }, "sk": { "N": number.to_string() }, "x": { "S": "new" },
        "li": { "L": [{ "S": "e" }] }, "ma": { "M": { "k": { "N": "1" } } },
    })
}

fn items() -> Vec<(Operation, Json)> {
    vec![
        (
            GetItem,
            json!({
                "TableName": THINGS, "Key": key(1), "ConsistentRead": true,
                "ProjectionExpression": "#x, n, li[0]", "ExpressionAttributeNames": { "#x": "x" },
                "ReturnConsumedCapacity": "TOTAL",
            }),
        ),
        (GetItem, json!({ "TableName": THINGS, "Key": key(2), "AttributesToGet": ["x", "n"] })),
        (
            PutItem,
            json!({
                "TableName": THINGS, "Item": item(1),
                "ConditionExpression": "attribute_not_exists(#z) AND n < :n",
                "ExpressionAttributeNames": { "#z": "z" },
                "ExpressionAttributeValues": { ":n": { "N": "100" } },
                "ReturnValues": "ALL_OLD", "ReturnConsumedCapacity": "INDEXES",
                "ReturnItemCollectionMetrics": "SIZE",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }),
        ),
        (
            PutItem,
            json!({
                "TableName": THINGS, "Item": item(2), "ConditionalOperator": "AND",
                "Expected": {
                    "n": { "ComparisonOperator": "LT", "AttributeValueList": [{ "N": "100" }] },
                    "x": { "Value": { "S": "x2" }, "Exists": true },
                },
            }),
        ),
        (
            UpdateItem,
            json!({
                "TableName": THINGS, "Key": key(1), "UpdateExpression": "SET #x = :x ADD n :one",
                "ConditionExpression": "attribute_exists(pk)",
                "ExpressionAttributeNames": { "#x": "x" },
                "ExpressionAttributeValues": { ":x": { "S": "new" }, ":one": { "N": "1" } },
                "ReturnValues": "ALL_NEW", "ReturnConsumedCapacity": "TOTAL",
                "ReturnItemCollectionMetrics": "SIZE",
                "ReturnValuesOnConditionCheckFailure": "NONE",
            }),
        ),
        (
            UpdateItem,
            json!({
                "TableName": THINGS, "Key": key(2), "ConditionalOperator": "OR",
                "AttributeUpdates": {
                    "n": { "Action": "ADD", "Value": { "N": "1" } },
                    "x": { "Action": "PUT", "Value": { "S": "new" } },
                    "l": { "Action": "DELETE" },
                },
                "Expected": {
                    "n": { "ComparisonOperator": "NOT_NULL" },
                    "z": { "ComparisonOperator": "NULL" },
                },
                "ReturnValues": "UPDATED_NEW",
            }),
        ),
        (
            UpdateItem,
            json!({
                "TableName": THINGS, "Key": key(3),
                "AttributeUpdates": { "l": { "Action": "PUT", "Value": { "S": "new" } } },
            }),
        ),
        (
            DeleteItem,
            json!({
                "TableName": THINGS, "Key": key(1), "ConditionExpression": "#x = :x",
                "ExpressionAttributeNames": { "#x": "x" },
                "ExpressionAttributeValues": { ":x": { "S": "x1" } },
                "ReturnValues": "ALL_OLD", "ReturnConsumedCapacity": "TOTAL",
                "ReturnItemCollectionMetrics": "NONE",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }),
        ),
        (
            DeleteItem,
            json!({
                "TableName": THINGS, "Key": key(2), "ConditionalOperator": "AND",
                "Expected": { "x": { "Value": { "S": "x2" } }, "z": { "Exists": false } },
            }),
        ),
    ]
}

fn pages() -> Vec<(Operation, Json)> {
    vec![
        (
            Query,
            json!({
                "TableName": THINGS, "KeyConditionExpression": "pk = :p AND #s > :s",
                "FilterExpression": "n > :n", "ProjectionExpression": "pk, x",
                "ExpressionAttributeNames": { "#s": "sk" },
                "ExpressionAttributeValues": {
                    ":p": { "S": "a" }, ":s": { "N": "1" }, ":n": { "N": "20" },
                },
                "ScanIndexForward": false, "ConsistentRead": true, "Limit": 3,
                "Select": "SPECIFIC_ATTRIBUTES", "ReturnConsumedCapacity": "TOTAL",
            }),
        ),
        (
            Query,
            json!({
                "TableName": THINGS, "IndexName": "by-g", "KeyConditionExpression": "g = :g",
                "ExpressionAttributeValues": { ":g": { "S": "g" } },
                "ExclusiveStartKey": { "pk": { "S": "a" }, "sk": { "N": "2" }, "g": { "S": "g" } },
                "ReturnConsumedCapacity": "INDEXES",
            }),
        ),
        (
            Query,
            json!({
                "TableName": THINGS, "IndexName": "by-l", "ConditionalOperator": "OR",
                "KeyConditions": {
                    "pk": { "ComparisonOperator": "EQ", "AttributeValueList": [{ "S": "a" }] },
                    "l": {
                        "ComparisonOperator": "BETWEEN",
                        "AttributeValueList": [{ "S": "l2" }, { "S": "l4" }],
                    },
                },
                "QueryFilter": {
                    "x": { "ComparisonOperator": "CONTAINS", "AttributeValueList": [{ "S": "x" }] },
                    "sk": { "ComparisonOperator": "GT", "AttributeValueList": [{ "N": "0" }] },
                },
                "AttributesToGet": ["x"],
            }),
        ),
        (
            Scan,
            json!({
                "TableName": THINGS, "FilterExpression": "#n > :n",
                "ProjectionExpression": "sk, x", "ExpressionAttributeNames": { "#n": "n" },
                "ExpressionAttributeValues": { ":n": { "N": "20" } },
                "Segment": 0, "TotalSegments": 1, "Limit": 4, "ConsistentRead": true,
                "ReturnConsumedCapacity": "TOTAL", "ExclusiveStartKey": key(1),
            }),
        ),
        (
            Scan,
            json!({
                "TableName": THINGS, "IndexName": "by-g", "Select": "ALL_ATTRIBUTES",
                "ConditionalOperator": "AND",
                "ScanFilter": {
                    "n": { "ComparisonOperator": "GT", "AttributeValueList": [{ "N": "20" }] },
                    "x": { "ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [{ "S": "x" }] },
                },
            }),
        ),
        (Scan, json!({ "TableName": THINGS, "AttributesToGet": ["sk"] })),
    ]
}

fn many() -> Vec<(Operation, Json)> {
    vec![
        (
            BatchGetItem,
            json!({
                "RequestItems": { THINGS: {
                    "Keys": [key(1), key(9)], "ConsistentRead": true,
                    "ProjectionExpression": "#x", "ExpressionAttributeNames": { "#x": "x" },
                } },
                "ReturnConsumedCapacity": "TOTAL",
            }),
        ),
        (
            BatchGetItem,
            json!({
                "RequestItems": {
                    THINGS: { "Keys": [key(1)], "AttributesToGet": ["n"] },
                    PLAIN: { "Keys": [{ "k": { "S": "a" } }] },
                },
            }),
        ),
        (
            BatchWriteItem,
            json!({
                "RequestItems": { THINGS: [
                    { "PutRequest": { "Item": item(1) } },
                    { "DeleteRequest": { "Key": key(2) } },
                ] },
                "ReturnConsumedCapacity": "TOTAL", "ReturnItemCollectionMetrics": "SIZE",
            }),
        ),
        (
            TransactGetItems,
            json!({
                "TransactItems": [
                    { "Get": {
                        "TableName": THINGS, "Key": key(1), "ProjectionExpression": "#x",
                        "ExpressionAttributeNames": { "#x": "x" },
                    } },
                    { "Get": { "TableName": THINGS, "Key": key(9) } },
                ],
                "ReturnConsumedCapacity": "TOTAL",
            }),
        ),
        (
            TransactWriteItems,
            json!({
                "TransactItems": [
                    { "Put": {
                        "TableName": THINGS, "Item": item(1), "ConditionExpression": "#x = :x",
                        "ExpressionAttributeNames": { "#x": "x" },
                        "ExpressionAttributeValues": { ":x": { "S": "x1" } },
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    } },
                    { "Update": {
                        "TableName": THINGS, "Key": key(2), "UpdateExpression": "SET x = :x",
                        "ExpressionAttributeValues": { ":x": { "S": "new" } },
                    } },
                    { "Delete": {
                        "TableName": THINGS, "Key": key(3),
                        "ConditionExpression": "attribute_exists(x)",
                    } },
                    { "ConditionCheck": {
                        "TableName": THINGS, "Key": key(4),
                        "ConditionExpression": "attribute_exists(x)",
                    } },
                ],
                "ReturnConsumedCapacity": "TOTAL", "ReturnItemCollectionMetrics": "SIZE",
            }),
        ),
    ]
}

fn tables() -> Vec<(Operation, Json)> {
    let units = json!({ "ReadCapacityUnits": 2, "WriteCapacityUnits": 3 });
    vec![
        (
            CreateTable,
            json!({
                "TableName": "fresh",
                "AttributeDefinitions": [
                    { "AttributeName": "a", "AttributeType": "S" },
                    { "AttributeName": "b", "AttributeType": "N" },
                ],
                "KeySchema": [
                    { "AttributeName": "a", "KeyType": "HASH" },
                    { "AttributeName": "b", "KeyType": "RANGE" },
                ],
                "GlobalSecondaryIndexes": [{
                    "IndexName": "global",
                    "KeySchema": [{ "AttributeName": "b", "KeyType": "HASH" }],
                    "Projection": { "ProjectionType": "KEYS_ONLY" },
                    "ProvisionedThroughput": units,
                }],
                "LocalSecondaryIndexes": [{
                    "IndexName": "local",
                    "KeySchema": [
                        { "AttributeName": "a", "KeyType": "HASH" },
                        { "AttributeName": "b", "KeyType": "RANGE" },
                    ],
                    "Projection": { "ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"] },
                }],
                "ProvisionedThroughput": units,
                "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "KEYS_ONLY" },
            }),
        ),
        (
            CreateTable,
            json!({
                "TableName": "fresh", "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{ "AttributeName": "a", "AttributeType": "B" }],
                "KeySchema": [{ "AttributeName": "a", "KeyType": "HASH" }],
                "DeletionProtectionEnabled": true, "TableClass": "STANDARD",
            }),
        ),
        (UpdateTable, json!({ "TableName": PLAIN, "ProvisionedThroughput": units })),
        (UpdateTable, json!({ "TableName": PLAIN, "BillingMode": "PAY_PER_REQUEST" })),
        (UpdateTable, json!({ "TableName": PLAIN, "DeletionProtectionEnabled": true })),
        (
            UpdateTable,
            json!({
                "TableName": PLAIN,
                "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_IMAGE" },
            }),
        ),
        (
            UpdateTable,
            json!({
                "TableName": PLAIN,
                "AttributeDefinitions": [
                    { "AttributeName": "k", "AttributeType": "S" },
                    { "AttributeName": "new", "AttributeType": "N" },
                ],
                "GlobalSecondaryIndexUpdates": [{ "Create": {
                    "IndexName": "by-new",
                    "KeySchema": [{ "AttributeName": "new", "KeyType": "HASH" }],
                    "Projection": { "ProjectionType": "ALL" },
                    "ProvisionedThroughput": units,
                } }],
            }),
        ),
        (
            UpdateTable,
            json!({
                "TableName": PLAIN,
                "GlobalSecondaryIndexUpdates": [
                    { "Update": { "IndexName": "by-h", "ProvisionedThroughput": units } },
                ],
            }),
        ),
        (
            UpdateTable,
            json!({
                "TableName": PLAIN,
                "GlobalSecondaryIndexUpdates": [{ "Delete": { "IndexName": "by-h" } }],
            }),
        ),
        (DeleteTable, json!({ "TableName": PLAIN })),
        (DescribeTable, json!({ "TableName": PLAIN })),
        (DescribeTable, json!({ "TableName": THINGS })),
        (ListTables, json!({ "ExclusiveStartTableName": PLAIN, "Limit": 1 })),
        (
            UpdateTimeToLive,
            json!({
                "TableName": PLAIN,
                "TimeToLiveSpecification": { "AttributeName": "until", "Enabled": true },
            }),
        ),
        (DescribeTimeToLive, json!({ "TableName": PLAIN })),
        (DescribeLimits, json!({})),
    ]
}

fn streams() -> Vec<(Operation, Json)> {
    vec![
        (ListStreams, json!({ "TableName": STREAMED, "Limit": 10 })),
        (ListStreams, json!({ "ExclusiveStartStreamArn": "$stream" })),
        (DescribeStream, json!({ "StreamArn": "$stream", "Limit": 10 })),
        (DescribeStream, json!({ "StreamArn": "$stream", "ExclusiveStartShardId": "$shard" })),
        (
            GetShardIterator,
            json!({
                "StreamArn": "$stream", "ShardId": "$shard",
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": "$sequence",
            }),
        ),
        (
            GetShardIterator,
            json!({ "StreamArn": "$stream", "ShardId": "$shard", "ShardIteratorType": "LATEST" }),
        ),
        (GetRecords, json!({ "ShardIterator": "$iterator", "Limit": 2 })),
    ]
}

/// Returns bodies that are not a request of any operation.
pub(crate) fn raw() -> Vec<String> {
    let deep = format!(
        r#"{{"Item":{{"a":{}{{}}{}}},"TableName":"not-there"}}"#,
        r#"{"L":["#.repeat(40),
        "]}".repeat(40)
    );
    ["", "{", "[]", "null", "3", "\"a\"", "{} x", "{}", "{\"TableName\":}", "\u{1}"]
        .into_iter()
        .map(str::to_owned)
        .chain([deep])
        .collect()
}
