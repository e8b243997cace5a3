//! Clients that mean no good, or have none to mean it: others are served meanwhile, and what they
//! take of the server is bounded and given back.
//!
//! `TABLA_CONNECTIONS` says how many clients there are; the long form is 500, and wants a release
//! build. After how long the server leaves those that stay is its own tests' matter, which make it
//! short.

use std::time::Duration;

use serde_json::{Value, json};
use tabla::env::{Clock, SystemClock};
use tokio::time::timeout;

use crate::process::{PATIENCE, Served, connections};
use crate::wire::{Connection, head, request};

const MIB: u64 = 1 << 20;

/// What the server holds of requests and answers at most.
const HELD: u64 = 256 * MIB;
/// That, and what else it takes to make them and to hold them.
const WITH_ALL: u64 = 640 * MIB;

/// Others are served as if nothing was.
async fn assert_served(server: &Served) {
    let mut connection = server.connect().await;
    for number in 0..50 {
        let key = json!({ "pk": { "S": "honest" }, "sk": { "S": number.to_string() } });
        let put = json!({ "TableName": "things", "Item": key });
        let get = json!({ "TableName": "things", "Key": key });
        for (operation, body) in [("PutItem", put), ("GetItem", get)] {
            let answer = timeout(PATIENCE, connection.ask(operation, &body)).await;
            answer.expect("it answers in time").expect("it answers").expect();
        }
    }
}

/// Waits until the server has so many connections, beside the one by which it is asked.
async fn wait_for(server: &Served, connections: u64) {
    while server.metric("tabla_connections").await != connections + 1 {
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
}

/// The memory has not grown by more than that.
fn assert_bounded(server: &Served, before: Option<u64>, growth: u64) {
    if let (Some(before), Some(after)) = (before, server.memory()) {
        assert!(after < before + growth, "from {before} to {after} bytes");
    }
}

#[tokio::test]
async fn those_who_stop_in_the_middle_keep_nobody_waiting() {
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
            .expect("it reads");
        stopped.push(connection);
    }
    for _ in 0..100 {
        // As much as may be announced, of which little comes.
        let mut connection = server.connect().await;
        connection.send(head("PutItem", 16 << 20).as_bytes()).await.expect("it reads");
        for _ in 0..4 {
            connection.send(&[b' '; 32 << 10]).await.expect("it reads");
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
async fn those_who_vanish_leave_nothing() {
    let server = Served::start(&[]).await;
    server.create("things").await;
    let item = json!({ "pk": { "S": "vanished" }, "sk": { "S": "x" }, "text": { "S": "x".repeat(100_000) } });
    let whole = request("PutItem", &json!({ "TableName": "things", "Item": item }));
    for part in 1..=100 {
        let mut connection = server.connect().await;
        connection.send(&whole[..whole.len() * part / 101]).await.expect("it reads");
    }
    assert_served(&server).await;
    wait_for(&server, 0).await;
    let key = json!({ "pk": { "S": "vanished" }, "sk": { "S": "x" } });
    let found = server.ask("GetItem", &json!({ "TableName": "things", "Key": key })).await;
    assert_eq!(found.expect(), json!({}));
    // It is nothing to warn of, either.
    server.stop().await;
}

#[tokio::test]
async fn answers_that_nobody_reads_do_not_pile_up() {
    let server = Served::start(&[]).await;
    server.create("things").await;
    let key = |number: usize| json!({ "pk": { "S": "large" }, "sk": { "S": number.to_string() } });
    for number in 0..40 {
        let mut item = key(number);
        item["text"] = json!({ "S": "x".repeat(390_000) });
        server.ask("PutItem", &json!({ "TableName": "things", "Item": item })).await.expect();
    }
    // Answers of 15 MB, one of them an error.
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
    // With many clients, each of the two is more than the server may hold.
    let clients = connections() / 8;
    let is_too_much = clients * 15_000_000 > HELD;
    let before = server.memory();
    for (operation, body) in &asked {
        let whole = server.ask(operation, body).await;
        assert!(whole.body.len() > 15_000_000, "{operation}: {}", whole.code());
        let mut unread = Vec::new();
        for _ in 0..clients {
            let asked = Connection::unread(server.address, &request(operation, body)).await;
            unread.push(asked.expect("it listens"));
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
