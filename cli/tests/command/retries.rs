//! Retries of the commands: `serve` and `conformance` open stores without retries by default.

use std::sync::Arc;

use serde_json::json;
use tabla::MemoryStore;
use tabla::server::Server;
use tabla_conformance::fault::{Failure, Failures, FaultStore, Operation, When};

use crate::process::Served;
use crate::{tabla, text};

/// Starts a server that throttles its first put.
async fn throttling() -> Server {
    let failures = Failures::new().on(Operation::Put, When::Call(1), Failure::Throttled);
    let store = FaultStore::new(Arc::new(MemoryStore::new())).failures(failures);
    tabla::server::spawn(Arc::new(store)).await.expect("a server")
}

fn address(server: &Server) -> String {
    server.url().replacen("http:", "dynamodb:", 1)
}

#[tokio::test]
async fn serve_returns_throttling_to_the_client_unless_retries_are_on() {
    for (option, first) in [("", "ProvisionedThroughputExceededException"), ("?retries=on", "OK")] {
        let behind = throttling().await;
        let served = Served::start(&["--store", &format!("{}{option}", address(&behind))]).await;
        served.create("things").await;
        let item = json!({ "pk": { "S": "a" }, "sk": { "S": "1" } });
        let put = json!({ "TableName": "things", "Item": item });
        assert_eq!(served.ask("PutItem", &put).await.code(), first, "{option}");
        assert_eq!(served.ask("PutItem", &put).await.code(), "OK", "{option}");
        served.stop().await;
        behind.shutdown().await;
    }
}

/// Without retries, a case that puts items fails on a server that throttles its first put.
#[tokio::test(flavor = "multi_thread")]
async fn conformance_reports_throttling_as_a_failed_case() {
    for (option, code, column) in [("", 1, "0 pass"), ("?retries=on", 0, "1 pass")] {
        let behind = throttling().await;
        let store = format!("{}{option}", address(&behind));
        let arguments = ["conformance", "--store", &store, "put_replaces_the_whole_item"];
        let arguments = arguments.map(str::to_owned);
        let run = tokio::task::spawn_blocking(move || tabla(&arguments.each_ref().map(|it| &**it)));
        let output = run.await.expect("the program has ended");
        let shown = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{option}: {shown}");
        assert!(shown.contains(column), "{option}: {shown}");
        let is_throttled = shown.contains("ProvisionedThroughputExceededException");
        assert_eq!(is_throttled, code == 1, "{option}: {shown}");
        behind.shutdown().await;
    }
}

#[test]
fn conformance_accepts_the_option_retries_in_every_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = format!("sqlite:{}", folder.path().join("a.db").display());
    for store in ["memory:", "sqlite::memory:", &file] {
        for option in ["off", "on"] {
            let store = format!("{store}?retries={option}");
            let case = "put_replaces_the_whole_item";
            let output = tabla(&["conformance", "--store", &store, case]);
            assert!(output.status.success(), "{store}: {}", text(&output.stderr));
        }
        let store = format!("{store}?retries=some");
        let output = tabla(&["conformance", "--store", &store]);
        assert_eq!(output.status.code(), Some(1), "{store}");
        let expected =
            format!("cannot open `{store}`: the option `retries` is `on` or `off`, not `some`");
        assert!(text(&output.stderr).contains(&expected), "{}", text(&output.stderr));
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}
