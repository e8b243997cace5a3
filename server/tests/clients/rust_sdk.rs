//! Tests of the AWS SDK for Rust.

mod batches;
mod queries;
mod settings;
mod streams;
mod tables;
mod transactions;
mod values;
mod writes;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region};
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, GlobalSecondaryIndex, KeySchemaElement,
    KeyType, Projection, ProjectionType, ScalarAttributeType, TableDescription,
};
use tabla_core::Store;
use tabla_core::env::{Clock, SystemClock};

use crate::place::{self, Place};

/// Item in the SDK's type.
type Attributes = HashMap<String, AttributeValue>;

/// Time-out for asynchronous changes, longer than any of them takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The SDK's two clients for one server.
pub(crate) struct Sdk {
    client: aws_sdk_dynamodb::Client,
    streams: aws_sdk_dynamodbstreams::Client,
    /// Whether the server supports tags. DynamoDB Local does not.
    has_tags: bool,
}

impl Sdk {
    /// Runs all tests once.
    pub(crate) async fn run(&self) {
        tables::check(self).await;
        writes::check(self).await;
        transactions::check(self).await;
        queries::check(self).await;
        batches::check(self).await;
        streams::check(self).await;
        values::check(self).await;
        settings::check(self).await;
    }

    /// Creates clients with an endpoint, a region and credentials.
    pub(crate) fn at(place: &Place) -> Self {
        let credentials = Credentials::from_keys(&place.access_key, "secret", None);
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("eu-west-1"))
            .credentials_provider(credentials.clone())
            .endpoint_url(&place.url);
        let streams = aws_sdk_dynamodbstreams::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("eu-west-1"))
            .credentials_provider(credentials)
            .endpoint_url(&place.url);
        Self {
            client: aws_sdk_dynamodb::Client::from_conf(config.build()),
            streams: aws_sdk_dynamodbstreams::Client::from_conf(streams.build()),
            has_tags: place.name != place::DYNAMODB_LOCAL,
        }
    }

    /// Creates clients that need no socket.
    pub(crate) fn in_process(store: Arc<dyn Store>) -> Self {
        Self {
            client: tabla_server::sdk_client(Arc::clone(&store)),
            streams: tabla_server::sdk_streams_client(store),
            has_tags: true,
        }
    }

    /// Returns the request for a table of orders: by customer and number, and by status and day.
    fn orders(&self, name: &str) -> CreateTableFluentBuilder {
        let index = GlobalSecondaryIndex::builder()
            .index_name("by-status")
            .key_schema(key("status", KeyType::Hash))
            .key_schema(key("day", KeyType::Range))
            .projection(Projection::builder().projection_type(ProjectionType::All).build())
            .build();
        self.client
            .create_table()
            .table_name(name)
            .attribute_definitions(attribute("customer", ScalarAttributeType::S))
            .attribute_definitions(attribute("number", ScalarAttributeType::N))
            .attribute_definitions(attribute("status", ScalarAttributeType::S))
            .attribute_definitions(attribute("day", ScalarAttributeType::S))
            .key_schema(key("customer", KeyType::Hash))
            .key_schema(key("number", KeyType::Range))
            .global_secondary_indexes(index.expect("all fields are set"))
            .billing_mode(BillingMode::PayPerRequest)
    }

    /// Creates a table of orders, waits until it is active, and returns its name.
    async fn table(&self, name: &str) -> String {
        self.make(self.orders(name)).await;
        name.to_owned()
    }

    async fn make(&self, request: CreateTableFluentBuilder) {
        let made = request.send().await.expect("the table is created");
        let name = made.table_description().and_then(TableDescription::table_name);
        self.active(name.expect("the table has a name")).await;
    }

    /// Waits until a table is active.
    async fn active(&self, name: &str) {
        let waiter = self.client.wait_until_table_exists().table_name(name);
        waiter.wait(PATIENCE).await.expect("the table becomes active");
    }

    async fn describe(&self, name: &str) -> TableDescription {
        let answer = self.client.describe_table().table_name(name).send().await;
        answer.expect("the table is described").table.expect("the table exists")
    }

    async fn put(&self, table: &str, item: Attributes) {
        let put = self.client.put_item().table_name(table).set_item(Some(item));
        put.send().await.expect("the put succeeds");
    }

    async fn get(&self, table: &str, key: Attributes) -> Option<Attributes> {
        let get = self.client.get_item().table_name(table).set_key(Some(key));
        get.consistent_read(true).send().await.expect("the item is read").item
    }
}

fn key(name: &str, kind: KeyType) -> KeySchemaElement {
    let element = KeySchemaElement::builder().attribute_name(name).key_type(kind);
    element.build().expect("all fields are set")
}

fn attribute(name: &str, kind: ScalarAttributeType) -> AttributeDefinition {
    let definition = AttributeDefinition::builder().attribute_name(name).attribute_type(kind);
    definition.build().expect("all fields are set")
}

fn s(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

fn n(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// Returns the key of an order, which is also a minimal order.
fn order(customer: &str, number: u32) -> Attributes {
    [("customer".to_owned(), s(customer)), ("number".to_owned(), n(number))].into()
}

/// Returns an order with further attributes.
fn order_with<const N: usize>(
    customer: &str,
    number: u32,
    more: [(&str, AttributeValue); N],
) -> Attributes {
    let mut item = order(customer, number);
    item.extend(more.map(|(name, value)| (name.to_owned(), value)));
    item
}

/// Returns the numbers of orders, in their order.
fn numbers(items: &[Attributes]) -> Vec<u32> {
    let number = |item: &Attributes| {
        item["number"].as_n().expect("the attribute is a number").parse().expect("the number fits")
    };
    items.iter().map(number).collect()
}

/// Repeats a request until it returns a value, and returns that.
async fn eventually<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..300 {
        if let Some(found) = ask().await {
            return found;
        }
        SystemClock.sleep(Duration::from_millis(100)).await;
    }
    panic!("no result within {PATIENCE:?}");
}

/// Returns the message of a validation error, for which the SDK has no class.
fn invalid(error: &impl ProvideErrorMetadata) -> &str {
    assert_eq!(error.code(), Some("ValidationException"));
    error.message().expect("the error has a message")
}
