//! Shutdown by signals: in-flight requests are answered, and acknowledged writes are stored.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tabla::env::{Clock, SystemClock};
use tokio::task::JoinSet;

use crate::process::Served;
use crate::wire::{Connection, head, request};

/// Number of items that make a response of 15 MB.
const LARGE_ITEMS: usize = 40;

fn put(writer: usize, number: usize) -> Value {
    let item =
        json!({ "pk": { "S": format!("w{writer}") }, "sk": { "S": format!("{number:08}") } });
    json!({ "TableName": "things", "Item": item })
}

/// Puts items one after another until the server ends; returns the number of acknowledged puts.
async fn write(address: SocketAddr, writer: usize) -> usize {
    let mut connection = Connection::open(address).await.expect("the server listens");
    let mut count = 0;
    while let Ok(response) = connection.ask("PutItem", &put(writer, count)).await {
        response.expect();
        count += 1;
    }
    count
}

#[tokio::test]
async fn acknowledged_writes_are_in_the_file_after_shutdown() {
    for signal in ["TERM", "INT"] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("dev.db");
        let server = Served::on(&file).await;
        server.create("things").await;
        let mut writers = JoinSet::new();
        for writer in 0..32 {
            let written = write(server.address, writer);
            writers.spawn(async move { (writer, written.await) });
        }
        while server.metric("tabla_request_duration_seconds_count{operation=\"PutItem\"}").await
            < 500
        {
            SystemClock.sleep(Duration::from_millis(10)).await;
        }
        server.signal(signal).await;
        let acknowledged: BTreeMap<usize, usize> = writers.join_all().await.into_iter().collect();
        server.ended().await.check();

        let server = Served::on(&file).await;
        for (writer, count) in acknowledged {
            let query = json!({
                "TableName": "things",
                "KeyConditionExpression": "pk = :pk",
                "ExpressionAttributeValues": { ":pk": { "S": format!("w{writer}") } },
                "Select": "COUNT",
            });
            let found = server.ask("Query", &query).await.expect()["Count"].as_u64();
            let found = found.expect("a count") as usize;
            // The last put may be stored without an acknowledgement.
            assert!(
                found == count || found == count + 1,
                "{writer}: {found} found, {count} acknowledged"
            );
        }
        server.stop().await;
    }
}

/// Returns a connection whose response is in flight: it is not read, and is larger than the buffers
/// of the system.
async fn with_response_in_flight(server: &Served) -> Connection {
    server.create("large").await;
    let key = |number: usize| json!({ "pk": { "S": "large" }, "sk": { "S": number.to_string() } });
    let mut writer = server.connect().await;
    for number in 0..LARGE_ITEMS {
        let mut item = key(number);
        item["text"] = json!({ "S": "x".repeat(390_000) });
        let put = json!({ "TableName": "large", "Item": item });
        writer.ask("PutItem", &put).await.expect("a response").expect();
    }
    let keys: Vec<Value> = (0..LARGE_ITEMS).map(key).collect();
    let get = json!({ "RequestItems": { "large": { "Keys": keys } } });
    let asked = Connection::unread(server.address, &request("BatchGetItem", &get)).await;
    while server.metric("tabla_request_duration_seconds_count{operation=\"BatchGetItem\"}").await
        == 0
    {
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
    asked.expect("the server listens")
}

#[tokio::test]
async fn shutdown_answers_whole_requests_and_times_out_incomplete_ones() {
    let server = Served::start(&[]).await;
    let mut taken = with_response_in_flight(&server).await;
    let mut half = server.connect().await;
    let head = head("PutItem", 100).replacen("Host:", "Expect: 100-continue\r\nHost:", 1);
    half.send(head.as_bytes()).await.expect("the server reads");
    // The server waits for the body.
    assert_eq!(half.response().await.expect("a response").status, 100);
    half.send(&[b' '; 50]).await.expect("the server reads");
    server.signal("TERM").await;
    let response = half.response().await.expect("a response");
    assert_eq!(response.code(), "RequestTimeoutException");
    assert_eq!(response.header("connection"), Some("close"));
    assert!(half.response().await.is_err(), "the connection is closed");
    let response = taken.response().await.expect("a response").expect();
    assert_eq!(response["Responses"]["large"].as_array().map(Vec::len), Some(LARGE_ITEMS));
    // A warning about unanswered requests would fail this check.
    server.ended().await.check();
}

#[tokio::test]
async fn shutdown_does_not_wait_for_idle_connections() {
    let server = Served::start(&[]).await;
    let _silent = server.connect().await;
    let mut done = server.connect().await;
    done.ask("ListTables", &json!({})).await.expect("a response").expect();
    let half = b"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Tar";
    let mut first = server.connect().await;
    first.send(half).await.expect("the server reads");
    let mut second = server.connect().await;
    second.ask("ListTables", &json!({})).await.expect("a response").expect();
    second.send(half).await.expect("the server reads");
    while server.metric("tabla_connections").await != 5 {
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
    // A warning about unanswered requests would fail this check.
    server.stop().await;
}

#[tokio::test]
async fn second_signal_ends_the_server_at_once() {
    let server = Served::start(&[]).await;
    let _unread = with_response_in_flight(&server).await;
    server.signal("INT").await;
    while Connection::open(server.address).await.is_ok() {
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
    server.signal("INT").await;
    // No warning about unanswered requests: it is logged only at the end of the drain.
    server.ended().await.check();
}
