//! The command, as a person uses it.

use std::path::Path;
use std::process::{Command, Output};

fn tabla(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tabla")).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the program prints text")
}

#[test]
fn the_demo_succeeds_and_fits_the_screen() {
    let output = tabla(&["demo"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.contains("canceled: None, ConditionalCheckFailed"), "{shown}");
    for line in shown.lines() {
        assert!(line.chars().count() <= 100, "too wide: {line}");
    }
}

#[test]
fn without_a_command_it_says_what_there_is() {
    let output = tabla(&[]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("demo"), "{output:?}");
    assert!(text(&output.stderr).contains("conformance"), "{output:?}");
}

#[test]
fn a_wrong_address_gets_the_right_ones() {
    let output = tabla(&["conformance", "--store", "mongo:shop"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stderr);
    for part in ["no store opens `mongo:` addresses: mongo:shop", "memory:", "dynamodb://"] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn a_server_that_is_not_there_is_found_out_at_once() {
    let output = tabla(&["conformance", "--store", "dynamodb://127.0.0.1:1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "no case has run: {output:?}");
}

#[test]
fn chosen_cases_are_reported_as_json() {
    let output = tabla(&["conformance", "--store", "memory:", "--json", "transactions::"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let shown = report.to_string();
    assert!(shown.contains("transactions"), "{shown}");
    assert!(!shown.contains("\"fail\","), "{shown}");
}

/// `docs/conformance.md` says what the suite shows, on every engine that the tests run.
#[test]
fn the_conformance_table_is_current() {
    if tabla_testkit::dynamodb::is_excluded() {
        println!("not run, as asked: the table of docs/conformance.md needs DynamoDB Local");
        return;
    }
    let server = tabla_testkit::dynamodb::endpoint().expect("a server");
    let address = server.url().replacen("http:", "dynamodb:", 1);
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md");
    let table = table.to_str().expect("the folder's name is text");
    let stores = ["--store", "memory:", "--store", &address];
    let output = tabla(&[&["conformance", "--check", table][..], &stores[..]].concat());
    assert!(
        output.status.success(),
        "{}{}\nwrite it anew: cargo run --release -- conformance {} --markdown > docs/conformance.md",
        text(&output.stdout),
        text(&output.stderr),
        stores.join(" ")
    );
}
