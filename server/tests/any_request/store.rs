//! The store of the tests, with data for every valid request.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tabla_core::MemoryStore;
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_server::Operation::{self, *};
use tabla_server::{ServerConfig, Service};

use super::near::post;

/// Requests that create the tables: one with a sort key, an index of each kind, a stream and a time
/// to live, and one without.
const SETUP: &[(Operation, &str)] = &[
    (
        CreateTable,
        r#"{"TableName":"things","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},{"AttributeName":"size","AttributeType":"N"},{"AttributeName":"kind","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"LocalSecondaryIndexes":[{"IndexName":"by-size","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"size","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],"GlobalSecondaryIndexes":[{"IndexName":"by-kind","KeySchema":[{"AttributeName":"kind","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["size"]}}],"BillingMode":"PAY_PER_REQUEST","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},"Tags":[{"Key":"owner","Value":"nobody"}]}"#,
    ),
    (
        CreateTable,
        r#"{"TableName":"other","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"B"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}"#,
    ),
    (
        UpdateTimeToLive,
        r#"{"TableName":"things","TimeToLiveSpecification":{"AttributeName":"expires","Enabled":true}}"#,
    ),
    (
        BatchWriteItem,
        r#"{"RequestItems":{"things":[
            {"PutRequest":{"Item":{"pk":{"S":"a"},"sk":{"N":"1"},"size":{"N":"10"},"kind":{"S":"x"},"l":{"L":[{"N":"1"},{"M":{"q":{"S":"t"}}},{"S":"t"}]},"m":{"M":{"n":{"N":"5"}}},"ss":{"SS":["a","b"]},"ns":{"NS":["1","2"]},"bs":{"BS":["AQ=="]},"b":{"B":"AQID"},"f":{"BOOL":true},"z":{"NULL":true}}}},
            {"PutRequest":{"Item":{"pk":{"S":"a"},"sk":{"N":"2"},"size":{"N":"20"},"kind":{"S":"x"},"expires":{"N":"1"}}}},
            {"PutRequest":{"Item":{"pk":{"S":"a"},"sk":{"N":"3"},"kind":{"S":"y"},"m":{"M":{}}}}},
            {"PutRequest":{"Item":{"pk":{"S":"b"},"sk":{"N":"1"},"size":{"N":"1"},"kind":{"S":"x"}}}}
        ]}}"#,
    ),
];

/// Service on a new store, with the identifiers that the store has assigned.
///
/// The clock stands still and the randomness is seeded: equal requests have equal responses.
#[derive(Debug)]
pub(crate) struct Fresh {
    pub(crate) service: Service,
    pub(crate) names: Names,
}

/// Values of the placeholders such as `$STREAM`.
#[derive(Debug)]
pub(crate) struct Names([(&'static str, String); 4]);

impl Names {
    /// Returns the text with the placeholders replaced.
    pub(crate) fn fill(&self, mut text: String) -> String {
        for (name, meaning) in &self.0 {
            if text.contains(name) {
                text = text.replace(name, meaning);
            }
        }
        text
    }
}

impl Fresh {
    pub(crate) async fn new() -> Self {
        let env = Env::test(ManualClock::new(Timestamp::from_secs(1_767_225_600)), 7);
        let store = Arc::new(MemoryStore::with_env(env.clone()));
        let config = ServerConfig::new().with_env(env);
        let service = Service::with_config(store, config);
        for (operation, body) in SETUP {
            ask(&service, *operation, (*body).into()).await;
        }
        let names = names(&service).await;
        Self { service, names }
    }
}

async fn names(service: &Service) -> Names {
    let text = |answer: &Value, path: &str| -> String {
        answer
            .pointer(path)
            .and_then(Value::as_str)
            .expect("the response has the member")
            .to_owned()
    };
    let streams = ask(service, ListStreams, "{}".into()).await;
    let stream = text(&streams, "/Streams/0/StreamArn");
    let described = ask(service, DescribeStream, format!(r#"{{"StreamArn":"{stream}"}}"#)).await;
    let shards = described.pointer("/StreamDescription/Shards").and_then(Value::as_array);
    for shard in shards.expect("a stream has shards") {
        let shard = text(shard, "/ShardId");
        let place = format!(
            r#"{{"StreamArn":"{stream}","ShardId":"{shard}","ShardIteratorType":"TRIM_HORIZON"}}"#
        );
        let iterator = text(&ask(service, GetShardIterator, place).await, "/ShardIterator");
        let body = format!(r#"{{"ShardIterator":"{iterator}"}}"#);
        let records = ask(service, GetRecords, body).await;
        if records.pointer("/Records/0").is_some() {
            let number = text(&records, "/Records/0/dynamodb/SequenceNumber");
            return Names([
                ("$STREAM", stream),
                ("$SHARD", shard),
                ("$NUMBER", number),
                ("$ITERATOR", iterator),
            ]);
        }
    }
    panic!("the stream has no records, although items were written");
}

async fn ask(service: &Service, operation: Operation, body: String) -> Value {
    let response = service.call(post(&operation.target(), Bytes::from(body))).await;
    assert_eq!(response.status(), 200, "{operation:?}: {:?}", response.body());
    serde_json::from_slice(response.body()).expect("a response is JSON")
}
