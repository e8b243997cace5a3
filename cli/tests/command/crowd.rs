//! Misbehaving clients: others are served meanwhile, and the memory and connections that they take
//! are bounded and released.
//!
//! `TABLA_CONNECTIONS` is the number of clients. The long form has 500, and needs a release build.
//! The time-outs of such connections are tested by the crate of the server, with shorter times.

use std::time::Duration;

use serde_json::{Value, json};
use tabla::env::{Clock, SystemClock};
use tokio::time::timeout;

use crate::process::{PATIENCE, Served, connections};
use crate::wire::{Connection, head, request};

const MIB: u64 = 1 << 20;

/// Limit of the server on bytes of requests and responses.
const HELD: u64 = 256 * MIB;
/// [`HELD`], and the memory to build the responses and to hold the connections.
const WITH_ALL: u64 = 640 * MIB;

/// Checks that another client is served as usual.
async fn assert_served(server: &Served) {
    let mut connection = server.connect().await;
    for number in 0..50 {
        let key = json!({ "pk": { "S": "honest" }, "sk": { "S": number.to_string() } });
        let put = json!({ "TableName": "things", "Item": key });
        let get = json!({ "TableName": "things", "Key": key });
        for (operation, body) in [("PutItem", put), ("GetItem", get)] {
            let response = timeout(PATIENCE, connection.ask(operation, &body)).await;
            response.expect("a response in time").expect("a response").expect();
        }
    }
}

/// Waits until the server has this number of connections, besides the one for its metrics.
async fn wait_for(server: &Served, connections: u64) {
    while server.metric("tabla_connections").await != connections + 1 {
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
}

/// Checks that the memory has grown by less than `growth` bytes.
fn assert_bounded(server: &Served, before: Option<u64>, growth: u64) {
    if let (Some(before), Some(after)) = (before, server.memory()) {
        assert!(after < before + growth, "from {before} to {after} bytes");
    }
}

#[tokio::test]
async fn stalled_requests_do_not_delay_other_clients() {
    let server = Served::start(&[]).await;
    server.create("things").await;
    assert_served(&server).await;
    let before = server.memory();
    let mut stopped = Vec::new();
    for _ in 0..200 {
        let mut connection = server.connect().await;
        connection
            .send(b"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Tar")
            .await
            .expect("the server reads");
        stopped.push(connection);
    }
    for _ in 0..100 {
        // The largest length that is accepted, and a small part of the body.
        let mut connection = server.connect().await;
        connection.send(head("PutItem", 16 << 20).as_bytes()).await.expect("the server reads");
        for _ in 0..4 {
            connection.send(&[b' '; 32 << 10]).await.expect("the server reads");
        }
        stopped.push(connection);
    }
    wait_for(&server, 300).await;
    assert_served(&server).await;
    assert_bounded(&server, before, 100 * MIB);
    drop(stopped);
    wait_for(&server, 0).await;
    server.stop().await;
}

#[tokio::test]
async fn aborted_requests_leave_no_item_and_no_connection() {
    let server = Served::start(&[]).await;
    server.create("things").await;
    let item = json!({ "pk": { "S": "vanished" }, "sk": { "S": "x" }, "text": { "S": "x".repeat(100_000) } });
    let whole = request("PutItem", &json!({ "TableName": "things", "Item": item }));
    for part in 1..=100 {
        let mut connection = server.connect().await;
        connection.send(&whole[..whole.len() * part / 101]).await.expect("the server reads");
    }
    assert_served(&server).await;
    wait_for(&server, 0).await;
    let key = json!({ "pk": { "S": "vanished" }, "sk": { "S": "x" } });
    let found = server.ask("GetItem", &json!({ "TableName": "things", "Key": key })).await;
    assert_eq!(found.expect(), json!({}));
    // Nor does the server log a warning.
    server.stop().await;
}

#[tokio::test]
async fn memory_of_unread_responses_is_bounded() {
    let server = Served::start(&[]).await;
    server.create("things").await;
    let key = |number: usize| json!({ "pk": { "S": "large" }, "sk": { "S": number.to_string() } });
    for number in 0..40 {
        let mut item = key(number);
        item["text"] = json!({ "S": "x".repeat(390_000) });
        server.ask("PutItem", &json!({ "TableName": "things", "Item": item })).await.expect();
    }
    // Responses of 15 MB, one of them an error.
    let keys: Vec<Value> = (0..40).map(key).collect();
    let get = json!({ "RequestItems": { "things": { "Keys": keys } } });
    let refused = |key: Value| {
        let check = json!({
            "TableName": "things",
            "Key": key,
            "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        });
        json!({ "ConditionCheck": check })
    };
    let refused: Vec<Value> = (0..40).map(|number| refused(key(number))).collect();
    let transact = json!({ "TransactItems": refused });
    let asked = [("BatchGetItem", get), ("TransactWriteItems", transact)];
    // With many clients, the responses to each of the two operations exceed the limit.
    let clients = connections() / 8;
    let is_too_much = clients * 15_000_000 > HELD;
    let before = server.memory();
    for (operation, body) in &asked {
        let whole = server.ask(operation, body).await;
        assert!(whole.body.len() > 15_000_000, "{operation}: {}", whole.code());
        let mut unread = Vec::new();
        for _ in 0..clients {
            let asked = Connection::unread(server.address, &request(operation, body)).await;
            unread.push(asked.expect("the server listens"));
        }
        let family = format!("tabla_request_duration_seconds_count{{operation=\"{operation}\"}}");
        while server.metric(&family).await < 1 + clients {
            SystemClock.sleep(Duration::from_millis(10)).await;
        }
        assert_bounded(&server, before, WITH_ALL);
        assert_served(&server).await;
        let code = "ThrottlingException";
        let throttled =
            format!("tabla_requests_total{{operation=\"{operation}\",code=\"{code}\"}}");
        assert_eq!(server.metric(&throttled).await > 0, is_too_much, "{operation}");
        drop(unread);
        wait_for(&server, 0).await;
        let again = server.ask(operation, body).await;
        assert_eq!(again.body.len(), whole.body.len(), "{operation}: {}", again.code());
    }
    server.stop().await;
}
