//! Properties of every response, and accepted forms of requests.

use std::io::{Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::{GzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use tabla_core::MemoryStore;
use tabla_server::{Server, spawn};

use crate::client::{Client, THINGS, request};

async fn server() -> Server {
    spawn(Arc::new(MemoryStore::new())).await.expect("the server starts")
}

#[tokio::test]
async fn response_has_an_id_a_checksum_and_a_content_type() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    let first = client.ask("ListTables", "{}").await;
    assert_eq!((first.status, first.body.as_slice()), (200, &br#"{"TableNames":[]}"#[..]));
    assert_eq!(first.header("content-type"), Some("application/x-amz-json-1.0"));
    assert_eq!(first.header("x-amz-crc32"), Some("1315925753"), "the checksum of DynamoDB Local");
    let second = client.ask("Nothing", "{}").await;
    assert_eq!(second.status, 400);
    let checksum = crc32fast::hash(&second.body).to_string();
    assert_eq!(second.header("x-amz-crc32"), Some(checksum.as_str()));
    assert_ne!(first.header("x-amzn-requestid"), second.header("x-amzn-requestid"));
    let types = [("Content-Type", "application/x-amz-json-1.1; charset=utf-8")];
    let third = client.ask_with("ListTables", &types, "{}").await;
    assert_eq!(third.header("content-type"), Some("application/x-amz-json-1.1"));
}

#[tokio::test]
async fn requests_and_responses_may_be_compressed() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    client.ask("CreateTable", THINGS).await;
    let text = "tea ".repeat(5000);
    let put =
        format!(r#"{{"TableName":"things","Item":{{"pk":{{"S":"a"}},"t":{{"S":"{text}"}}}}}}"#);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(put.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::fast());
    deflate.write_all(put.as_bytes()).unwrap();
    let deflate = deflate.finish().unwrap();
    for (encoding, body) in [("gzip", gzip), ("deflate", deflate)] {
        let answer = client.ask_with("PutItem", &[("Content-Encoding", encoding)], body).await;
        assert_eq!(answer.status, 200, "{encoding}");
    }
    let get = r#"{"TableName":"things","Key":{"pk":{"S":"a"}}}"#;
    let plain = client.ask("GetItem", get).await;
    assert_eq!(plain.header("content-encoding"), None);
    for encoding in ["gzip", "deflate"] {
        let answer = client.ask_with("GetItem", &[("Accept-Encoding", encoding)], get).await;
        assert_eq!(answer.header("content-encoding"), Some(encoding));
        let checksum = crc32fast::hash(&answer.body).to_string();
        assert_eq!(
            answer.header("x-amz-crc32"),
            Some(checksum.as_str()),
            "of the compressed bytes"
        );
        let mut unpacked = Vec::new();
        match encoding {
            "gzip" => GzDecoder::new(&*answer.body).read_to_end(&mut unpacked).unwrap(),
            _ => ZlibDecoder::new(&*answer.body).read_to_end(&mut unpacked).unwrap(),
        };
        assert_eq!(unpacked, plain.body);
    }
}

#[tokio::test]
async fn health_and_metrics_are_served() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    client.ask("ListTables", "{}").await;
    client.send("GET / HTTP/1.1\r\nHost: localhost:8000\r\n\r\n").await;
    let health = client.receive().await.unwrap();
    assert_eq!((health.status, health.body.as_slice()), (200, &b"healthy: localhost:8000\n"[..]));
    client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let metrics = client.receive().await.unwrap();
    assert!(metrics.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    let text = String::from_utf8(metrics.body).unwrap();
    assert!(
        text.contains("tabla_requests_total{operation=\"ListTables\",code=\"OK\"} 1\n"),
        "{text}"
    );
    assert!(text.contains("tabla_connections 1\n"), "{text}");
    client.send("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(client.receive().await.unwrap().status, 404);
    client.send("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(client.receive().await.unwrap().status, 405);
}

#[tokio::test]
async fn connection_stays_open_after_an_invalid_request() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    client.ask("CreateTable", THINGS).await;
    let deep = format!("{}{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
    let deep_value = format!(
        r#"{{"TableName":"things","Item":{{"pk":{{"S":"a"}},"l":{}{{"S":"x"}}{}}}}}"#,
        r#"{"L":["#.repeat(100_000),
        "]}".repeat(100_000)
    );
    let parentheses = format!(
        r#"{{"TableName":"things","Key":{{"pk":{{"S":"a"}}}},"ConditionExpression":"{}"}}"#,
        "(".repeat(4000)
    );
    let digits = format!(
        r#"{{"TableName":"things","Item":{{"pk":{{"S":"a"}},"n":{{"N":"{}"}}}}}}"#,
        "9".repeat(1_000_000)
    );
    for (operation, body, exception) in [
        ("Nothing", b"{}".to_vec(), "UnknownOperationException"),
        ("ExecuteStatement", b"{}".to_vec(), "UnknownOperationException"),
        ("GetItem", b"".to_vec(), "SerializationException"),
        ("GetItem", b"{\"TableName".to_vec(), "SerializationException"),
        ("GetItem", b"[]".to_vec(), "SerializationException"),
        ("GetItem", b"{\"TableName\":\"\xff\"}".to_vec(), "SerializationException"),
        ("GetItem", b"{\"TableName\":5,\"Key\":{}}".to_vec(), "SerializationException"),
        ("GetItem", b"{}".to_vec(), "ValidationException"),
        ("GetItem", deep.into_bytes(), "SerializationException"),
        ("PutItem", deep_value.into_bytes(), "ValidationException"),
        ("DeleteItem", parentheses.into_bytes(), "ValidationException"),
        ("PutItem", digits.into_bytes(), "ValidationException"),
    ] {
        let answer = client.ask(operation, &body).await;
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!(answer.status, 400, "{operation} {shown}: {answer:?}");
        assert_eq!(answer.exception(), exception, "{operation} {shown}: {answer:?}");
    }
    let types = [("Content-Type", "text/html")];
    let answer = client.ask_with("GetItem", &types, "{}").await;
    assert_eq!((answer.status, answer.exception().as_str()), (404, "UnknownOperationException"));
    assert_eq!(client.ask("ListTables", "{}").await.status, 200);
}

#[tokio::test]
async fn pipelined_requests_are_served_in_order() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    client.send([request("CreateTable", &[], THINGS.as_bytes())].concat()).await;
    let describe = br#"{"TableName":"things"}"#;
    client
        .send([request("DescribeTable", &[], describe), request("ListTables", &[], b"{}")].concat())
        .await;
    let answers = [
        client.receive().await.unwrap().json(),
        client.receive().await.unwrap().json(),
        client.receive().await.unwrap().json(),
    ];
    assert_eq!(answers[0]["TableDescription"]["TableStatus"], "CREATING");
    assert_eq!(answers[1]["Table"]["TableStatus"], "ACTIVE");
    assert_eq!(answers[2]["TableNames"][0], "things");
}
