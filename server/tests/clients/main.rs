//! The server with real clients and their usual operations: tables, conditional writes,
//! transactions, pages, batches, streams, settings, and values of every type.
//!
//! The tests of the Rust SDK are here. Those of other clients are written in their languages, in
//! the folders beside this file. `cargo xtask test` installs their packages, or skips them with
//! `--without clients`. Most also run against DynamoDB Local, which proves that they expect
//! DynamoDB's behavior and not this server's.

mod place;
mod rust_sdk;
mod script;

use place::Place;
use rust_sdk::Sdk;
use script::Script;

#[tokio::test(flavor = "multi_thread")]
async fn rust_sdk_tests_pass() {
    Sdk::at(&Place::tabla().await).run().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_sdk_tests_pass_without_a_socket() {
    Sdk::in_process(place::store().await).run().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_sdk_tests_pass_on_dynamodb_local() {
    if let Some(place) = Place::dynamodb_local() {
        Sdk::at(&place).run().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn boto3_tests_pass() {
    if let Some(script) = Script::boto3() {
        script.run(&Place::tabla().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn boto3_tests_pass_on_dynamodb_local() {
    if let (Some(script), Some(place)) = (Script::boto3(), Place::dynamodb_local()) {
        script.run(&place).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript_sdk_tests_pass() {
    if let Some(script) = Script::javascript() {
        script.run(&Place::tabla().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript_sdk_tests_pass_on_dynamodb_local() {
    if let (Some(script), Some(place)) = (Script::javascript(), Place::dynamodb_local()) {
        script.run(&place).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn aws_cli_tests_pass() {
    if let Some(script) = Script::cli() {
        script.run(&Place::tabla().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dynamodb_admin_tests_pass() {
    if let Some(script) = Script::admin() {
        script.run(&Place::tabla().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_allows_only_pages_of_loopback() {
    if let Some(script) = Script::browser() {
        script.run(&Place::tabla().await).await;
    }
}
