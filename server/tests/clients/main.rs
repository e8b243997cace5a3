//! Real clients on the server, each doing what it is used for: tables, conditional writes,
//! transactions, pages, batches, streams, settings, and every type of value.
//!
//! The Rust SDK's tests are here. Those of the others are in their own languages, in the folders
//! beside this file: `cargo xtask test` installs what they need, or leaves them out with
//! `--without clients`. Most also run on DynamoDB Local, which shows that they ask for what
//! DynamoDB does and not for what this server does.

mod place;
mod rust_sdk;
mod script;

use place::Place;
use rust_sdk::Sdk;
use script::Script;

#[tokio::test(flavor = "multi_thread")]
async fn the_rust_sdk_is_served() {
    Sdk::at(&Place::tabla().await).run().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rust_sdk_is_served_without_a_socket() {
    Sdk::in_process(place::store().await).run().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rust_sdk_is_served_the_same_by_dynamodb_local() {
    if let Some(place) = Place::dynamodb_local() {
        Sdk::at(&place).run().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn boto3_is_served() {
    if let Some(script) = Script::boto3() {
        script.run(&Place::tabla().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn boto3_is_served_the_same_by_dynamodb_local() {
    if let (Some(script), Some(place)) = (Script::boto3(), Place::dynamodb_local()) {
        script.run(&place).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_sdk_is_served() {
    if let Some(script) = Script::javascript() {
        script.run(&Place::tabla().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_sdk_is_served_the_same_by_dynamodb_local() {
    if let (Some(script), Some(place)) = (Script::javascript(), Place::dynamodb_local()) {
        script.run(&place).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_aws_cli_is_served() {
    if let Some(script) = Script::cli() {
        script.run(&Place::tabla().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dynamodb_admin_is_served() {
    if let Some(script) = Script::admin() {
        script.run(&Place::tabla().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_pages_of_loopback_are_served_in_a_browser() {
    if let Some(script) = Script::browser() {
        script.run(&Place::tabla().await).await;
    }
}
