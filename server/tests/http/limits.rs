//! Limits on sizes, numbers and times.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use tabla_core::{ErrorKind, MemoryStore, Store};
use tabla_server::{Server, ServerConfig};
use tokio::net::TcpStream;

use crate::client::{Client, THINGS, request};

async fn server(config: ServerConfig) -> Server {
    config.spawn(Arc::new(MemoryStore::new()) as Arc<dyn Store>).await.expect("the server starts")
}

#[tokio::test]
async fn body_over_the_limit_is_refused_before_it_arrives() {
    let server = server(ServerConfig::new().with_request_bytes(1000)).await;
    let mut client = Client::connect(server.address()).await;
    client
        .send(
            "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n\
             Content-Type: application/x-amz-json-1.0\r\nContent-Length: 1001\r\n\r\n{",
        )
        .await;
    let answer = client.receive().await.unwrap();
    assert_eq!(
        (answer.status, answer.exception().as_str()),
        (413, "RequestEntityTooLargeException")
    );
    assert!(client.receive().await.is_none(), "the rest of the body is not read as a request");

    let mut client = Client::connect(server.address()).await;
    client
        .send(
            "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n\
             Content-Type: application/x-amz-json-1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        )
        .await;
    client.send(format!("3e9\r\n{}\r\n0\r\n\r\n", " ".repeat(1001))).await;
    assert_eq!(client.receive().await.unwrap().status, 413);
}

#[tokio::test]
async fn client_that_sends_a_large_body_before_it_reads_gets_the_refusal() {
    const LENGTH: usize = 64 << 20;
    let server = server(ServerConfig::new()).await;
    let mut client = Client::connect(server.address()).await;
    client
        .send(format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n\
             Content-Type: application/x-amz-json-1.0\r\nContent-Length: {LENGTH}\r\n\r\n"
        ))
        .await;
    client.send(vec![b' '; LENGTH]).await;
    assert_eq!(client.receive().await.unwrap().status, 413);
    assert!(client.receive().await.is_none());
}

#[tokio::test]
async fn body_may_arrive_in_parts() {
    let server = server(ServerConfig::new()).await;
    let mut client = Client::connect(server.address()).await;
    client
        .send(
            "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.CreateTable\r\n\
             Content-Type: application/x-amz-json-1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        )
        .await;
    for part in THINGS.as_bytes().chunks(7) {
        client.send(format!("{:x}\r\n{}\r\n", part.len(), String::from_utf8_lossy(part))).await;
    }
    client.send("0\r\n\r\n").await;
    assert_eq!(client.receive().await.unwrap().status, 200);
}

#[tokio::test]
async fn bodies_over_16_mb_are_refused() {
    const LIMIT: usize = 16 << 20;
    let server = server(ServerConfig::new()).await;
    for (length, status) in [(LIMIT, 200), (LIMIT + 1, 413)] {
        let body = format!("{{{}}}", " ".repeat(length - 2));
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(body.as_bytes()).unwrap();
        let packed = gzip.finish().unwrap();
        let mut client = Client::connect(server.address()).await;
        let encoding = [("Content-Encoding", "gzip")];
        let answer = client.ask_with("ListTables", &encoding, packed).await;
        assert_eq!(answer.status, status, "{length} bytes");
    }
}

#[tokio::test]
async fn slow_client_is_disconnected() {
    let short = Duration::from_millis(100);
    let config = ServerConfig::new().with_head_timeout(short).with_body_timeout(short);
    let server = server(config).await;
    let mut half_a_head = Client::connect(server.address()).await;
    half_a_head.send("POST / HTTP/1.1\r\nHost: localhost\r\n").await;
    assert!(half_a_head.receive().await.is_none_or(|answer| answer.status == 408));

    let mut half_a_body = Client::connect(server.address()).await;
    let whole = request("ListTables", &[], b"{      }");
    half_a_body.send(&whole[..whole.len() - 4]).await;
    let answer = half_a_body.receive().await.unwrap();
    assert_eq!((answer.status, answer.exception().as_str()), (400, "RequestTimeoutException"));
    assert!(half_a_body.receive().await.is_none());
}

#[tokio::test]
async fn requests_over_the_limit_are_throttled() {
    let server = server(ServerConfig::new().with_max_requests(0)).await;
    let mut client = Client::connect(server.address()).await;
    let answer = client.ask("ListTables", "{}").await;
    assert_eq!((answer.status, answer.exception().as_str()), (400, "ThrottlingException"));
    let type_ = answer.json()["__type"].as_str().map(str::to_owned);
    assert_eq!(type_.as_deref(), Some("com.amazonaws.dynamodb.v20120810#ThrottlingException"));
}

#[tokio::test]
async fn bytes_over_the_limit_are_throttled() {
    let server = server(ServerConfig::new().with_memory_bytes(100)).await;
    let mut client = Client::connect(server.address()).await;
    let answer = client.ask("ListTables", format!("{{{}}}", " ".repeat(200))).await;
    assert_eq!(answer.exception(), "ThrottlingException");
    let mut client = Client::connect(server.address()).await;
    assert_eq!(client.ask("ListTables", "{}").await.status, 200, "its memory is released");
}

#[tokio::test]
async fn decompressed_bytes_count_towards_the_limit() {
    let server = server(ServerConfig::new().with_memory_bytes(5_000)).await;
    let mut client = Client::connect(server.address()).await;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(format!("{{{}}}", " ".repeat(10_000)).as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    assert!(packed.len() < 1_000);
    let encoding = [("Content-Encoding", "gzip")];
    let answer = client.ask_with("ListTables", &encoding, packed).await;
    assert_eq!(answer.exception(), "ThrottlingException");
    assert_eq!(client.ask("ListTables", "{}").await.status, 200);
}

#[tokio::test]
async fn new_connection_replaces_the_longest_idle_one() {
    let server = server(ServerConfig::new().with_max_connections(3)).await;
    let mut half_a_head = Client::connect(server.address()).await;
    half_a_head.send("POST / HTTP/1.1\r\nHost: x\r\n").await;
    let mut between = Client::connect(server.address()).await;
    assert_eq!(between.ask("ListTables", "{}").await.status, 200);
    let mut half_a_body = Client::connect(server.address()).await;
    let whole = request("ListTables", &[], b"{      }");
    half_a_body.send(&whole[..whole.len() - 4]).await;
    // All of these connections would stay open for a minute.
    let mut kept = Vec::new();
    for mut closed in [half_a_head, between, half_a_body] {
        let mut new = Client::connect(server.address()).await;
        assert_eq!(new.ask("ListTables", "{}").await.status, 200);
        assert!(closed.receive().await.is_none());
        // The new connection stays open, and is closed next after the others.
        kept.push(new);
    }
}

#[tokio::test]
async fn idle_connections_at_the_limit_do_not_block_new_ones() {
    let server = server(ServerConfig::new().with_max_connections(8)).await;
    let mut crowd = Vec::new();
    for _ in 0..40 {
        let mut client = Client::connect(server.address()).await;
        client.send("POST / HTTP/1.1\r\n").await;
        crowd.push(client);
        assert_eq!(
            Client::connect(server.address()).await.ask("ListTables", "{}").await.status,
            200
        );
    }
}

#[tokio::test]
async fn listening_beyond_loopback_needs_credentials_or_insecure() {
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let error = ServerConfig::new().with_listen(everywhere).spawn(store()).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Config);
    assert!(error.message().contains("anyone could read and write the data"), "{error}");
    ServerConfig::new().with_listen(everywhere).with_insecure().spawn(store()).await.unwrap();
}

#[tokio::test]
async fn error_names_an_address_in_use() {
    let server = server(ServerConfig::new()).await;
    let config = ServerConfig::new().with_listen(server.address());
    let error = config.spawn(Arc::new(MemoryStore::new())).await.unwrap_err();
    let beginning = format!("cannot listen on {}: ", server.address());
    assert!(error.message().starts_with(&beginning), "{error}");
}

#[tokio::test]
async fn dropped_server_stops_listening() {
    let server = server(ServerConfig::new()).await;
    let address = server.address();
    let mut client = Client::connect(address).await;
    client.ask("ListTables", "{}").await;
    drop(server);
    assert!(client.receive().await.is_none());
    assert!(TcpStream::connect(address).await.is_err());
}
