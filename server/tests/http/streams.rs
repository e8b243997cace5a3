//! Requests on streams over the wire.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tabla_core::MemoryStore;
use tabla_server::{Server, spawn};

use crate::client::{Answer, Client};

/// Returns a server with a table that has a stream, the ARN of the stream, and the ids of
/// its shards.
async fn streamed() -> (Server, Client, String, Vec<String>) {
    let server = spawn(Arc::new(MemoryStore::new())).await.expect("the server starts");
    let mut client = Client::connect(server.address()).await;
    let create = json!({
        "TableName": "things", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
        "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "KEYS_ONLY" },
    });
    let made = client.ask("CreateTable", create.to_string()).await.json();
    let arn = made["TableDescription"]["LatestStreamArn"]
        .as_str()
        .expect("the stream has an ARN")
        .to_owned();
    let described = ask(&mut client, "DescribeStream", json!({ "StreamArn": arn })).await;
    let shards = shards(&described);
    (server, client, arn, shards)
}

async fn ask(client: &mut Client, operation: &str, body: Json) -> Answer {
    let body = body.to_string();
    client
        .send(format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n\
             X-Amz-Target: DynamoDBStreams_20120810.{operation}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await;
    client.receive().await.expect("the server responds")
}

fn shards(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    let shards = json["StreamDescription"]["Shards"].as_array().expect("a stream has shards");
    shards
        .iter()
        .map(|shard| shard["ShardId"].as_str().expect("a shard has an id").to_owned())
        .collect()
}

#[tokio::test]
async fn shard_filter_returns_the_children_of_a_shard() {
    let (_server, mut client, arn, open) = streamed().await;
    assert_eq!(open.len(), 4);
    let filter = json!({ "Type": "CHILD_SHARDS", "ShardId": open[0] });
    let request = json!({ "StreamArn": arn, "ShardFilter": filter });
    let described = ask(&mut client, "DescribeStream", request).await;
    assert!(shards(&described).is_empty(), "an open shard has no children: {described:?}");
    let request = json!({ "StreamArn": arn, "ShardFilter": null });
    assert_eq!(shards(&ask(&mut client, "DescribeStream", request).await), open);
}

#[tokio::test]
async fn shard_filter_without_its_members_is_refused() {
    let (_server, mut client, arn, open) = streamed().await;
    let no_type = "Value null at 'shardFilter.type' failed to satisfy constraint: Member must not \
                   be null";
    let no_shard = "Value null at 'shardFilter.shardId' failed to satisfy constraint: Member must \
                    not be null";
    for (filter, parts) in [
        (json!({ "ShardId": open[0] }), &[no_type][..]),
        (json!({ "Type": null, "ShardId": open[0] }), &[no_type]),
        (json!({ "Type": "CHILD_SHARDS" }), &[no_shard]),
        (json!({}), &[no_type, no_shard]),
        (json!({ "Type": "PARENTS", "ShardId": open[0] }), &["[CHILD_SHARDS]"]),
        (json!({ "Type": "CHILD_SHARDS", "ShardId": "x".repeat(27) }), &["equal to 28"]),
    ] {
        let request = json!({ "StreamArn": arn, "ShardFilter": filter });
        let answer = ask(&mut client, "DescribeStream", request).await;
        assert_eq!(answer.status, 400, "{filter}");
        assert_eq!(answer.exception(), "ValidationException", "{filter}");
        let text = answer.json()["message"].as_str().expect("the error has a message").to_owned();
        for part in parts {
            assert!(text.contains(part), "{filter}: {text}");
        }
    }
}

#[tokio::test]
async fn listing_with_an_invalid_stream_arn_is_refused() {
    let (_server, mut client, arn, _) = streamed().await;
    for (operation, member) in
        [("ListStreams", "ExclusiveStartStreamArn"), ("DescribeStream", "StreamArn")]
    {
        let answer = ask(&mut client, operation, json!({ member: "x".repeat(50) })).await;
        assert_eq!((answer.status, answer.exception().as_str()), (400, "ValidationException"));
        assert_eq!(answer.json()["message"], "Invalid StreamArn");
    }
    let start = "shardId-00000000000000000000-00000000";
    let request = json!({ "StreamArn": arn, "ExclusiveStartShardId": start });
    assert!(shards(&ask(&mut client, "DescribeStream", request).await).is_empty());
}
