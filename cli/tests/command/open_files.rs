//! Server whose limit on open files is lower than the number of clients.

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::process::{PATIENCE, Served};
use crate::wire::Connection;

/// Number of clients: more than the server may open files.
const CLIENTS: usize = 100;

/// Number of connections that fit into 64 open files.
const LET_IN: usize = 10;

/// Number of items: a page of them is read on a blocking thread, with a connection of its own.
const ITEMS: usize = 200;

async fn ask(connection: &mut Connection, operation: &str, body: &Value) -> Value {
    let response = timeout(PATIENCE, connection.ask(operation, body)).await;
    response.expect("a response in time").expect("a response").expect()
}

async fn fill(server: &Served) {
    server.create("things").await;
    let mut connection = server.connect().await;
    for number in 0..ITEMS {
        let item = json!({ "pk": { "S": "many" }, "sk": { "S": number.to_string() } });
        ask(&mut connection, "PutItem", &json!({ "TableName": "things", "Item": item })).await;
    }
}

/// Writes and reads, and checks that all requests succeed.
async fn use_well(connection: &mut Connection, client: usize) {
    let key = json!({ "pk": { "S": "client" }, "sk": { "S": client.to_string() } });
    let query = json!({
        "TableName": "things",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": { ":pk": { "S": "many" } },
    });
    for _ in 0..5 {
        ask(connection, "PutItem", &json!({ "TableName": "things", "Item": key })).await;
        let found = ask(connection, "GetItem", &json!({ "TableName": "things", "Key": key })).await;
        assert_eq!(found["Item"], key);
        assert_eq!(ask(connection, "Query", &query).await["Count"], json!(ITEMS));
    }
}

/// Runs [`use_well`] for all clients concurrently, and returns their open connections.
async fn use_at_once(clients: Vec<Connection>) -> Vec<Connection> {
    let mut tasks = JoinSet::new();
    for (client, mut connection) in clients.into_iter().enumerate() {
        tasks.spawn(async move {
            use_well(&mut connection, client).await;
            connection
        });
    }
    tasks.join_all().await
}

async fn connect_all(server: &Served) -> Vec<Connection> {
    connect(server, CLIENTS).await
}

async fn connect(server: &Served, count: usize) -> Vec<Connection> {
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(server.connect().await);
    }
    clients
}

#[tokio::test]
async fn connections_leave_open_files_for_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = format!("sqlite:{}/dev.db", folder.path().display());
    let server = Served::limited("ulimit -n 64", &["--store", &store]).await;
    fill(&server).await;
    // Each connection above the limit closes the longest idle one, so the last ones stay open.
    let mut clients = connect_all(&server).await;
    let mut let_in = clients.split_off(CLIENTS - LET_IN);
    for _ in 0..3 {
        let_in = use_at_once(let_in).await;
    }
    drop(let_in);
    drop(use_at_once(connect(&server, LET_IN).await).await);
    server.signal("TERM").await;
    let ended = server.ended().await;
    assert_eq!((ended.code, &*ended.output), (Some(0), ""));
    for part in [
        format!("connections limited to {LET_IN} instead of 4096"),
        "the system allows 64; raise `ulimit -n`".to_owned(),
    ] {
        assert!(ended.errors.contains(&part), "{}", ended.errors);
    }
    assert_eq!(ended.errors.lines().count(), 1, "{}", ended.errors);
}

#[tokio::test]
async fn soft_limit_is_raised_up_to_the_hard_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = format!("sqlite:{}/dev.db", folder.path().display());
    let server = Served::limited("ulimit -S -n 64", &["--store", &store]).await;
    if let Some((soft, hard)) = server.open_files() {
        // Enough for all connections, or the hard limit.
        assert!(soft > 4096 || soft == hard, "{soft} of {hard}");
    }
    fill(&server).await;
    let clients = use_at_once(connect_all(&server).await).await;
    assert_eq!(server.metric("tabla_connections").await, CLIENTS as u64 + 1);
    drop(clients);
    server.signal("TERM").await;
    // Standard error is not checked: the server warns if the hard limit is too low.
    assert_eq!(server.ended().await.code, Some(0));
}
