//! Requests of web pages: CORS, and the accepted hosts of a server without credentials.

use std::sync::Arc;

use tabla_core::MemoryStore;
use tabla_server::{Credentials, Server, ServerConfig, spawn};

use crate::client::{Answer, Client, THINGS};

const FOREIGN: &str = "http://evil.example";

async fn server() -> Server {
    spawn(Arc::new(MemoryStore::new())).await.expect("the server starts")
}

async fn start(config: ServerConfig) -> Server {
    config.spawn(Arc::new(MemoryStore::new())).await.expect("the server starts")
}

/// Sends a request with exactly these headers and this body.
async fn send(server: &Server, first: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut client = Client::connect(server.address()).await;
    let mut head = format!("{first} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    client.send(format!("{head}\r\n{body}")).await;
    client.receive().await.expect("the server responds")
}

const OPERATION: [(&str, &str); 2] = [
    ("Content-Type", "application/x-amz-json-1.0"),
    ("X-Amz-Target", "DynamoDB_20120810.CreateTable"),
];

fn is_silent(answer: &Answer) -> bool {
    let names = ["allow-origin", "allow-methods", "allow-headers", "expose-headers", "max-age"];
    names.iter().all(|name| answer.header(&format!("access-control-{name}")).is_none())
}

async fn tables(server: &Server) -> String {
    let answer = Client::connect(server.address()).await.ask("ListTables", "{}").await;
    String::from_utf8(answer.body).expect("a response is text")
}

#[tokio::test]
async fn request_of_a_foreign_origin_is_refused_and_changes_nothing() {
    let server = server().await;
    for origin in [FOREIGN, "https://localhost.evil.example", "null", "http://192.0.2.1:8000"] {
        let headers = [&OPERATION[..], &[("Host", "localhost:8000"), ("Origin", origin)]].concat();
        let answer = send(&server, "POST /", &headers, THINGS).await;
        assert_eq!(answer.status, 403, "{origin}: {answer:?}");
        assert_eq!(answer.exception(), "AccessDeniedException");
        let text = answer.json().to_string();
        assert!(text.contains("--cors"), "{text}");
        assert!(is_silent(&answer), "{answer:?}");

        let preflight = [
            ("Host", "localhost:8000"),
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "content-type,x-amz-target"),
        ];
        let answer = send(&server, "OPTIONS /", &preflight, "").await;
        assert_eq!(answer.status, 403, "{origin}: {answer:?}");
        assert!(is_silent(&answer), "{answer:?}");

        for path in ["/", "/metrics"] {
            let headers = [("Host", "localhost"), ("Origin", origin)];
            let answer = send(&server, &format!("GET {path}"), &headers, "").await;
            assert_eq!(answer.status, 403, "{path}");
            assert!(is_silent(&answer), "{answer:?}");
        }
    }
    assert_eq!(tables(&server).await, r#"{"TableNames":[]}"#);
}

#[tokio::test]
async fn request_to_a_foreign_host_is_refused_and_changes_nothing() {
    let server = server().await;
    for host in ["evil.example", "evil.example:8000", "192.0.2.1", "localhost.evil.example"] {
        let answer =
            send(&server, "POST /", &[&OPERATION[..], &[("Host", host)]].concat(), THINGS).await;
        assert_eq!((answer.status, answer.exception().as_str()), (403, "AccessDeniedException"));
        let text = answer.json().to_string();
        assert!(text.contains("--host"), "{text}");
        for request in ["GET /", "GET /metrics", "GET /nothing", "OPTIONS /", "DELETE /"] {
            let answer = send(&server, request, &[("Host", host)], "").await;
            assert_eq!(answer.status, 403, "{request} of {host}");
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            assert!(text.contains("--host"), "{text}");
        }
    }
    // The host in the request line is checked, too.
    let headers = [&OPERATION[..], &[("Host", "localhost")]].concat();
    let answer = send(&server, "POST http://evil.example/", &headers, THINGS).await;
    assert_eq!(answer.status, 403);
    assert_eq!(tables(&server).await, r#"{"TableNames":[]}"#);
}

/// A browser sends these content types without a preflight.
#[tokio::test]
async fn content_type_that_needs_no_preflight_is_refused() {
    let server = server().await;
    for content_type in [
        "text/plain",
        "text/plain; charset=utf-8",
        "text/plain;application/json",
        "text/plain, application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=application/json",
        "",
    ] {
        let headers = [
            ("Host", "localhost"),
            ("Content-Type", content_type),
            ("X-Amz-Target", OPERATION[1].1),
        ];
        let answer = send(&server, "POST /", &headers, THINGS).await;
        assert_eq!(answer.status, 404, "{content_type}");
        assert_eq!(answer.exception(), "UnknownOperationException");
    }
    let headers = [("Host", "localhost"), ("X-Amz-Target", OPERATION[1].1)];
    assert_eq!(send(&server, "POST /", &headers, THINGS).await.status, 404, "no content type");
    // A body alone is not enough: the operation is in a header that needs a preflight.
    let headers = [("Host", "localhost"), ("Content-Type", "application/x-amz-json-1.0")];
    assert_eq!(send(&server, "POST /", &headers, THINGS).await.status, 400, "no operation");
    assert_eq!(tables(&server).await, r#"{"TableNames":[]}"#);
}

#[tokio::test]
async fn page_on_loopback_may_use_the_server() {
    let server = server().await;
    for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5173"] {
        let preflight = [
            ("Host", "127.0.0.1:8000"),
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "x-amz-target,authorization"),
        ];
        let answer = send(&server, "OPTIONS /", &preflight, "").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        assert_eq!(answer.header("access-control-allow-methods"), Some("POST"));
        let headers = answer.header("access-control-allow-headers");
        assert_eq!(headers, Some("x-amz-target,authorization"));
        assert_eq!(answer.header("access-control-max-age"), Some("172800"));

        let mut client = Client::connect(server.address()).await;
        let answer = client.ask_with("ListTables", &[("Origin", origin)], "{}").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        assert_eq!(answer.header("vary"), Some("Origin"));
        let exposed = answer.header("access-control-expose-headers");
        assert_eq!(exposed, Some("x-amzn-requestid, x-amz-crc32"));
        let answer = client.ask("ListTables", "{}").await;
        assert!(answer.status == 200 && is_silent(&answer), "not from a page: {answer:?}");
    }
    let answer = send(&server, "OPTIONS /", &[("Host", "localhost")], "").await;
    assert!(answer.status == 200 && is_silent(&answer), "not from a page: {answer:?}");
}

#[tokio::test]
async fn configured_origins_and_hosts_are_accepted() {
    let config = ServerConfig::new().with_origin("https://app.example").with_host("db.example");
    let server = start(config).await;
    let headers = [&OPERATION[..], &[("Host", "db.example"), ("Origin", "https://app.example")]];
    let answer = send(&server, "POST /", &headers.concat(), THINGS).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example"));
    let headers = [&OPERATION[..], &[("Host", "db.example"), ("Origin", "https://db.example")]];
    let answer = send(&server, "POST /", &headers.concat(), THINGS).await;
    assert_eq!(answer.status, 403, "a configured host is not an origin");

    for (config, message) in [
        (ServerConfig::new().with_origin("*"), "'*' is not an origin"),
        (ServerConfig::new().with_origin("null"), "'null' is not an origin"),
        (ServerConfig::new().with_origin("app.example"), "'app.example' is not an origin"),
        (ServerConfig::new().with_host("db.example:8000"), "'db.example:8000' is not a host"),
        (ServerConfig::new().with_host("http://db"), "'http://db' is not a host"),
        (ServerConfig::new().with_host("*"), "'*' is not a host"),
    ] {
        let error = config.spawn(Arc::new(MemoryStore::new())).await.unwrap_err();
        assert!(error.message().starts_with(message), "{error}");
    }
}

#[tokio::test]
async fn server_with_credentials_allows_every_origin_as_aws() {
    let keys = "[a]\naws_access_key_id=LOCALKEY\naws_secret_access_key=secret\n";
    let credentials = Credentials::parse(keys).expect("the keys are valid");
    let server = start(ServerConfig::new().with_credentials(credentials)).await;
    let preflight = [
        ("Host", "db.example"),
        ("Origin", FOREIGN),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "x-amz-target"),
    ];
    let answer = send(&server, "OPTIONS /", &preflight, "").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-allow-headers"), Some("x-amz-target"));
    let headers = [&OPERATION[..], &[("Host", "db.example"), ("Origin", FOREIGN)]].concat();
    let answer = send(&server, "POST /", &headers, THINGS).await;
    assert_eq!(answer.exception(), "MissingAuthenticationTokenException");
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
}
