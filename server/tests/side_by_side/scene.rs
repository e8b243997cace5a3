//! The tables of the requests, equal on both servers, and their restoration after changes.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::wire::{Answer, Client};
use crate::operation::Operation;

/// Table of most requests. All its items have one partition key, so that a scan has a
/// defined order.
pub(crate) const THINGS: &str = "things";
/// Table that requests change and delete.
pub(crate) const PLAIN: &str = "plain";
/// Table whose stream requests read. No request writes to it.
pub(crate) const STREAMED: &str = "streamed";

/// One server, with the identifiers that it has assigned.
#[derive(Debug)]
pub(crate) struct Side {
    client: Client,
    /// Values of the placeholders for assigned identifiers.
    given: BTreeMap<&'static str, String>,
}

impl Side {
    /// Creates the tables on a server that has none.
    pub(crate) fn new(client: Client) -> Self {
        let mut side = Self { client, given: BTreeMap::new() };
        for table in [things_table(), plain_table(), streamed_table()] {
            side.must(Operation::CreateTable, &table);
        }
        side.put_back_items();
        for number in 1..=3 {
            let item = json!({ "k": { "S": "a" }, "n": { "N": number.to_string() } });
            side.must(Operation::PutItem, &json!({ "TableName": STREAMED, "Item": item }));
        }
        side.read_stream();
        side
    }

    /// Records the identifiers of the stream and its parts.
    fn read_stream(&mut self) {
        let streams = self.must(Operation::ListStreams, &json!({ "TableName": STREAMED }));
        let stream = &streams["Streams"][0]["StreamArn"];
        let described = self.must(Operation::DescribeStream, &json!({ "StreamArn": stream }));
        let shards =
            described["StreamDescription"]["Shards"].as_array().expect("a stream has shards");
        // All changes are of one item, and so in one shard.
        for shard in shards.iter().map(|shard| &shard["ShardId"]) {
            let request = json!({
                "StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON",
            });
            let iterator = &self.must(Operation::GetShardIterator, &request)["ShardIterator"];
            let records = self.must(Operation::GetRecords, &json!({ "ShardIterator": iterator }));
            let Some(record) = records["Records"].get(0) else { continue };
            for (name, value) in [
                ("$stream", stream),
                ("$shard", shard),
                ("$iterator", iterator),
                ("$sequence", &record["dynamodb"]["SequenceNumber"]),
            ] {
                self.given
                    .insert(name, value.as_str().expect("the identifier is a string").to_owned());
            }
            return;
        }
        panic!("the stream has no records: {described}");
    }

    /// Sends a request, with the placeholders replaced.
    pub(crate) fn ask(&mut self, operation: Operation, body: &str) -> Answer {
        let body = self.filled(body);
        self.client.ask(&operation.target(), &body)
    }

    /// Returns a request with the placeholders replaced.
    pub(crate) fn filled(&self, body: &str) -> String {
        self.given.iter().fold(body.to_owned(), |body, (name, value)| body.replace(name, value))
    }

    fn must(&mut self, operation: Operation, body: &Json) -> Json {
        let answer = self.ask(operation, &body.to_string());
        assert!(answer.is_success(), "{operation:?} {body} {answer:?}");
        answer.body
    }

    /// Restores what a request of this operation may have changed.
    pub(crate) fn put_back(&mut self, operation: Operation) {
        use Operation::*;

        match operation {
            PutItem | UpdateItem | DeleteItem | BatchWriteItem | TransactWriteItems => {
                self.put_back_items();
            }
            CreateTable | UpdateTable | DeleteTable | UpdateTimeToLive => {
                self.put_back_tables();
            }
            _ => {}
        }
    }

    fn put_back_items(&mut self) {
        let key = |item: &Json| json!({ "pk": item["pk"], "sk": item["sk"] });
        let found = self.must(Operation::Scan, &json!({ "TableName": THINGS }));
        let found = found["Items"].as_array().expect("a scan returns items");
        let wanted = items();
        let mut writes = Vec::new();
        for item in found.iter().filter(|item| !wanted.iter().any(|other| key(other) == key(item)))
        {
            writes.push(json!({ "DeleteRequest": { "Key": key(item) } }));
        }
        for item in wanted.iter().filter(|item| !found.contains(item)) {
            writes.push(json!({ "PutRequest": { "Item": item } }));
        }
        for writes in writes.chunks(25) {
            let body = json!({ "RequestItems": { THINGS: writes } });
            self.must(Operation::BatchWriteItem, &body);
        }
    }

    fn put_back_tables(&mut self) {
        let tables = self.must(Operation::ListTables, &json!({}));
        let tables = tables["TableNames"].as_array().expect("a list of tables has names").clone();
        for table in tables.iter().filter(|name| {
            ![THINGS, STREAMED].contains(&name.as_str().expect("a name is a string"))
        }) {
            let body = json!({ "TableName": table, "DeletionProtectionEnabled": false });
            self.ask(Operation::UpdateTable, &body.to_string());
            self.must(Operation::DeleteTable, &json!({ "TableName": table }));
        }
        self.must(Operation::CreateTable, &plain_table());
    }
}

fn things_table() -> Json {
    json!({
        "TableName": THINGS,
        "AttributeDefinitions": [
            { "AttributeName": "pk", "AttributeType": "S" },
            { "AttributeName": "sk", "AttributeType": "N" },
            { "AttributeName": "g", "AttributeType": "S" },
            { "AttributeName": "l", "AttributeType": "S" },
        ],
        "KeySchema": [
            { "AttributeName": "pk", "KeyType": "HASH" },
            { "AttributeName": "sk", "KeyType": "RANGE" },
        ],
        "GlobalSecondaryIndexes": [{
            "IndexName": "by-g",
            "KeySchema": [
                { "AttributeName": "g", "KeyType": "HASH" },
                { "AttributeName": "sk", "KeyType": "RANGE" },
            ],
            "Projection": { "ProjectionType": "ALL" },
        }],
        "LocalSecondaryIndexes": [{
            "IndexName": "by-l",
            "KeySchema": [
                { "AttributeName": "pk", "KeyType": "HASH" },
                { "AttributeName": "l", "KeyType": "RANGE" },
            ],
            "Projection": { "ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"] },
        }],
        "BillingMode": "PAY_PER_REQUEST",
    })
}

fn plain_table() -> Json {
    let units = json!({ "ReadCapacityUnits": 5, "WriteCapacityUnits": 5 });
    json!({
        "TableName": PLAIN,
        "AttributeDefinitions": [
            { "AttributeName": "k", "AttributeType": "S" },
            { "AttributeName": "h", "AttributeType": "S" },
        ],
        "KeySchema": [{ "AttributeName": "k", "KeyType": "HASH" }],
        "GlobalSecondaryIndexes": [{
            "IndexName": "by-h",
            "KeySchema": [{ "AttributeName": "h", "KeyType": "HASH" }],
            "Projection": { "ProjectionType": "KEYS_ONLY" },
            "ProvisionedThroughput": units,
        }],
        "ProvisionedThroughput": units,
    })
}

fn streamed_table() -> Json {
    json!({
        "TableName": STREAMED,
        "AttributeDefinitions": [{ "AttributeName": "k", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "k", "KeyType": "HASH" }],
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": {
            "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    })
}

fn items() -> Vec<Json> {
    (1..=5)
        .map(|number| {
            json!({
                "pk": { "S": "a" },
                "sk": { "N": number.to_string() },
                "g": { "S": "g" },
                "l": { "S": format!("l{number}") },
                "x": { "S": format!("x{number}") },
                "n": { "N": (number * 10).to_string() },
                "li": { "L": [{ "S": "e" }, { "N": "1" }] },
                "ma": { "M": { "k": { "BOOL": true } } },
            })
        })
        .collect()
}
