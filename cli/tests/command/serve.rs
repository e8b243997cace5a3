//! `tabla serve`: output, help, options, data across restarts, metrics, signatures and log.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tabla::dynamodb::{DynamoConfig, DynamoStore};
use tabla::env::{Clock, SystemClock};
use tabla::ops::{CreateTable, ListTables};
use tabla::{KeyType, Store};

use crate::process::Served;
use crate::{tabla, text};

#[tokio::test]
async fn ready_line_has_the_url_and_the_place_of_the_data() {
    let server = Served::start(&[]).await;
    let expected = format!(
        "tabla listens on http://{}; data in memory, lost on exit (keep it with --store \
         sqlite:dev.db)",
        server.address
    );
    assert_eq!(server.line, expected);
    server.create("things").await;
    server.stop().await;
}

#[tokio::test]
async fn file_keeps_the_data_across_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("dev.db");
    let server = Served::on(&file).await;
    assert!(
        server.line.ends_with(&format!("data in sqlite:{}", file.display())),
        "{}",
        server.line
    );
    server.create("things").await;
    let item = json!({ "pk": { "S": "a" }, "sk": { "S": "1" }, "n": { "N": "7" } });
    server.ask("PutItem", &json!({ "TableName": "things", "Item": item })).await.expect();
    server.stop().await;
    assert_eq!(names(folder.path()), ["dev.db"], "the WAL is checkpointed and deleted");

    let server = Served::on(&file).await;
    let key = json!({ "pk": { "S": "a" }, "sk": { "S": "1" } });
    let found = server.ask("GetItem", &json!({ "TableName": "things", "Key": key })).await;
    assert_eq!(found.expect(), json!({ "Item": item }));
    server.stop().await;
}

/// Returns the names of the entries of a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<_> = entries.map(|entry| name(entry.expect("an entry"))).collect();
    names.sort();
    names
}

#[tokio::test]
async fn insecure_server_listens_on_every_interface() {
    let server = Served::start(&["--listen", "0.0.0.0:0", "--insecure"]).await;
    assert!(server.address.ip().is_unspecified(), "{}", server.line);
    server.create("things").await;
    server.stop().await;
}

#[tokio::test]
async fn requests_of_unlisted_hosts_and_origins_get_403() {
    let options =
        ["--host", "db.example", "--host", "db2.example", "--cors", "https://app.example"];
    let server = Served::start(&options).await;
    let mut connection = server.connect().await;
    for (host, origin, status) in [
        ("db.example", "https://app.example", 200),
        ("db2.example:8000", "http://localhost:3000", 200),
        ("db3.example", "https://app.example", 403),
        ("db.example", "https://evil.example", 403),
    ] {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n\r\n");
        connection.send(request.as_bytes()).await.expect("the server reads");
        let response = connection.response().await.expect("a response");
        assert_eq!(response.status, status, "{host} {origin}: {}", response.text());
    }
    server.stop().await;
}

#[test]
fn help_has_examples_and_at_most_100_columns() {
    let output = tabla(&["serve", "--help"]);
    assert!(output.status.success());
    let shown = text(&output.stdout);
    for part in [
        "tabla serve --store sqlite:dev.db",
        "tabla serve --listen 127.0.0.1:4000",
        "tabla serve --listen 0.0.0.0:8000 --auth keys",
        "AWS_ENDPOINT_URL=http://127.0.0.1:8000",
        "aws dynamodb list-tables",
        "aws_access_key_id = ",
        "[default: 127.0.0.1:8000]",
        "--insecure",
        "--cors <ORIGIN>",
        "--host <NAME>",
        "tabla serve --cors https://app.example",
        "refused with status 403",
        "--table-delay <SECONDS>",
        "--log <LEVEL>",
    ] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    for line in shown.lines() {
        assert!(line.chars().count() <= 100, "too wide: {line}");
    }
}

#[tokio::test]
async fn health_and_metrics_are_served() {
    let server = Served::start(&[]).await;
    server.create("things").await;
    let nothing = json!({ "TableName": "nothing", "Key": { "pk": { "S": "a" } } });
    assert_eq!(server.ask("GetItem", &nothing).await.code(), "ResourceNotFoundException");

    let mut connection = server.connect().await;
    let health = connection.look("/").await.expect("a response");
    assert_eq!((health.status, &*health.text()), (200, "healthy: localhost\n"));
    let metrics = loop {
        let metrics = connection.look("/metrics").await.expect("a response");
        // Closed connections are counted for a moment.
        if metrics.text().contains("\ntabla_connections 1\n") {
            break metrics;
        }
    };
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = metrics.text();
    for line in [
        "tabla_requests_total{operation=\"CreateTable\",code=\"OK\"} 1",
        "tabla_requests_total{operation=\"GetItem\",code=\"ResourceNotFoundException\"} 1",
        "tabla_request_duration_seconds_count{operation=\"GetItem\"} 1",
        "tabla_connections_total 3",
        "tabla_requests 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
    // Prometheus's format: a line is a comment, or a name with labels and a number. Its family was
    // declared before.
    let mut family = "";
    for line in text.lines() {
        if let Some(declared) = line.strip_prefix("# TYPE ") {
            family = declared.split(' ').next().expect("a name");
        } else if !line.starts_with("# HELP ") {
            let (name, number) = line.rsplit_once(' ').expect("a name and a number");
            assert!(name.starts_with(family) && !family.is_empty(), "{line}");
            number.parse::<f64>().expect("a number");
        }
    }
    let other = connection.look("/elsewhere").await.expect("a response");
    assert_eq!(other.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn only_signed_requests_are_accepted_with_auth() {
    // The key id and secret with which `DynamoStore` signs for an endpoint by default.
    let key = |secret: &str| {
        format!("[default]\naws_access_key_id = tabla\naws_secret_access_key = {secret}\n")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("keys");
    for (secret, code) in [("tabla", None), ("another", Some("InvalidSignatureException"))] {
        fs::write(&file, key(secret)).expect("a file");
        let file = file.to_str().expect("the path is UTF-8");
        // With keys, the server may listen on every interface.
        let server = Served::start(&["--auth", file, "--listen", "0.0.0.0:0"]).await;
        let unsigned = server.ask("ListTables", &json!({})).await;
        assert_eq!(unsigned.status, 400);
        assert_eq!(unsigned.code(), "MissingAuthenticationTokenException");
        let health = server.connect().await.look("/").await.expect("a response");
        assert_eq!(health.status, 200, "health needs no signature");

        let endpoint = format!("http://127.0.0.1:{}", server.address.port());
        let store =
            DynamoStore::open(&DynamoConfig::for_endpoint(endpoint)).await.expect("a client");
        let songs = CreateTable::new("songs").partition_key("artist", KeyType::S);
        let created = store.create_table(songs).await;
        let listed =
            store.list_tables(ListTables::default()).await.map(|listed| listed.table_names);
        match code {
            None => {
                created.expect("a table");
                assert_eq!(listed.expect("tables"), ["songs"]);
            }
            Some(code) => {
                assert_eq!(created.expect_err("a wrong secret").code(), code);
                assert_eq!(listed.expect_err("a wrong secret").code(), code);
            }
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn log_line_of_a_request_has_its_id() {
    let server = Served::start(&["--log", "debug"]).await;
    let response = server.ask("ListTables", &json!({})).await;
    let id = response.header("x-amzn-requestid").expect("an id").to_uppercase();
    server.signal("TERM").await;
    let ended = server.ended().await;
    assert_eq!((ended.code, &*ended.output), (Some(0), ""));
    let line = ended.errors.lines().find(|line| line.contains(&id));
    let line = line.unwrap_or_else(|| panic!("{id} is not in {}", ended.errors));
    assert!(line.contains("ListTables") && line.contains("200"), "{line}");
    assert!(!line.contains('\u{1b}'), "colors in a log that is not a terminal: {line}");
}

#[tokio::test]
async fn table_delay_keeps_tables_in_creation() {
    let table = json!({ "TableName": "things" });
    let server = Served::start(&["--table-delay", "3600"]).await;
    server.create("things").await;
    let described = server.ask("DescribeTable", &table).await.expect();
    assert_eq!(described["Table"]["TableStatus"], "CREATING");
    let item = json!({ "pk": { "S": "a" }, "sk": { "S": "1" } });
    let early = server.ask("PutItem", &json!({ "TableName": "things", "Item": item })).await;
    assert_eq!(early.code(), "ResourceNotFoundException");
    server.stop().await;

    let server = Served::start(&["--table-delay", "0.2"]).await;
    server.create("things").await;
    let status = async || {
        let described = server.ask("DescribeTable", &table).await.expect();
        described["Table"]["TableStatus"].as_str().expect("a status").to_owned()
    };
    while status().await != "ACTIVE" {
        SystemClock.sleep(Duration::from_millis(20)).await;
    }
    server.stop().await;
}
