//! States of tables during changes, as clients see them.

use std::sync::Arc;
use std::time::Duration;

use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::{MemoryStore, Store};
use tabla_server::{ServerConfig, spawn};
use tabla_sqlite::{SqliteConfig, SqliteStore};

use crate::client::{Client, THINGS};

const DESCRIBE: &str = r#"{"TableName":"things"}"#;

#[tokio::test]
async fn transition_is_reported_only_by_the_response_to_the_change() {
    let server = spawn(Arc::new(MemoryStore::new())).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let created = client.ask("CreateTable", THINGS).await.json();
    assert_eq!(created["TableDescription"]["TableStatus"], "CREATING");
    let described = client.ask("DescribeTable", DESCRIBE).await.json();
    assert_eq!(described["Table"]["TableStatus"], "ACTIVE");

    let add = r#"{"TableName":"things",
        "AttributeDefinitions":[{"AttributeName":"g","AttributeType":"S"}],
        "GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"by-g",
            "KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],
            "Projection":{"ProjectionType":"ALL"}}}]}"#;
    let updated = client.ask("UpdateTable", add).await.json();
    let table = &updated["TableDescription"];
    assert_eq!(table["TableStatus"], "UPDATING", "{updated}");
    assert_eq!(table["GlobalSecondaryIndexes"][0]["IndexStatus"], "CREATING");
    let described = client.ask("DescribeTable", DESCRIBE).await.json();
    assert_eq!(described["Table"]["GlobalSecondaryIndexes"][0]["IndexStatus"], "ACTIVE");

    let remove = r#"{"TableName":"things",
        "GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"by-g"}}]}"#;
    let updated = client.ask("UpdateTable", remove).await.json();
    let indexes = &updated["TableDescription"]["GlobalSecondaryIndexes"];
    assert_eq!(indexes[0]["IndexStatus"], "DELETING", "{updated}");
    let described = client.ask("DescribeTable", DESCRIBE).await.json();
    assert!(described["Table"].get("GlobalSecondaryIndexes").is_none(), "{described}");

    let deleted = client.ask("DeleteTable", DESCRIBE).await.json();
    assert_eq!(deleted["TableDescription"]["TableStatus"], "DELETING");
    let missing = client.ask("DescribeTable", DESCRIBE).await;
    assert_eq!(missing.exception(), "ResourceNotFoundException");
}

#[tokio::test]
async fn transition_lasts_for_the_configured_time() {
    let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
    let env = Env::test(clock.clone(), 1);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::with_env(env.clone()));
    let config = ServerConfig::new().with_env(env).with_table_delay(Duration::from_secs(5));
    let server = config.spawn(store).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.ask("CreateTable", THINGS).await;
    let described = client.ask("DescribeTable", DESCRIBE).await.json();
    assert_eq!(described["Table"]["TableStatus"], "CREATING");
    let put = r#"{"TableName":"things","Item":{"pk":{"S":"a"}}}"#;
    assert_eq!(client.ask("PutItem", put).await.exception(), "ResourceNotFoundException");
    clock.advance(Duration::from_secs(5));
    let described = client.ask("DescribeTable", DESCRIBE).await.json();
    assert_eq!(described["Table"]["TableStatus"], "ACTIVE");
    assert_eq!(client.ask("PutItem", put).await.status, 200);
}

#[tokio::test]
async fn large_index_is_back_filled_in_the_background() {
    let store = SqliteStore::open(&SqliteConfig::in_memory()).await.unwrap();
    let server = spawn(Arc::new(store)).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.ask("CreateTable", THINGS).await;
    for batch in 0..80 {
        let puts: Vec<String> = (0..25)
            .map(|number| {
                format!(
                    r#"{{"PutRequest":{{"Item":{{"pk":{{"S":"{batch}-{number}"}},"g":{{"S":"x"}}}}}}}}"#
                )
            })
            .collect();
        let body = format!(r#"{{"RequestItems":{{"things":[{}]}}}}"#, puts.join(","));
        assert_eq!(client.ask("BatchWriteItem", body).await.status, 200);
    }
    let add = r#"{"TableName":"things",
        "AttributeDefinitions":[{"AttributeName":"g","AttributeType":"S"}],
        "GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"by-g",
            "KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],
            "Projection":{"ProjectionType":"ALL"}}}]}"#;
    let updated = client.ask("UpdateTable", add).await;
    assert_eq!(updated.status, 200);
    // Clients wait for the index in this way.
    let filled = loop {
        let described = client.ask("DescribeTable", DESCRIBE).await.json();
        let index = described["Table"]["GlobalSecondaryIndexes"][0].clone();
        if index["IndexStatus"] == "ACTIVE" {
            break index;
        }
    };
    assert_eq!(filled["ItemCount"], 2000);
}
