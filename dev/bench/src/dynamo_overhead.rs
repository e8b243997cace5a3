//! Overhead of `DynamoStore` over the SDK's own call.
//!
//! Both use the same client and the same service, which sends fixed responses at once. A
//! real service takes far longer, so the relative overhead is highest here.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use tabla_core::ops::{GetItem, PutItem, Query};
use tabla_core::{Item, Store, Value, attr};
use tabla_dynamo::{DynamoConfig, DynamoStore, Engine};

use crate::median::Durations;
use crate::service::{self, Responses};

/// Limit on the overhead, in percent of the time of the SDK's call.
const GOAL_PERCENT: f64 = 3.0;
/// Number of items on a page of the query.
const PAGE: usize = 10;

type Attributes = HashMap<String, AttributeValue>;

/// Prints the medians of `calls` calls of each kind, and the overhead.
pub(crate) fn run(calls: usize) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let measured = runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(measure(calls)).map_err(|error| error.to_string()));
    match measured {
        Ok(rows) => print(calls, &rows),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

struct Row {
    operation: &'static str,
    sdk: Duration,
    store: Duration,
}

impl Row {
    fn overhead_percent(&self) -> f64 {
        (self.store.as_secs_f64() / self.sdk.as_secs_f64() - 1.0) * 100.0
    }
}

fn print(calls: usize, rows: &[Row]) -> ExitCode {
    println!("medians of {calls} calls each, in turns, HTTP service in this process");
    println!("{:<6} {:>12} {:>12} {:>9}", "", "SDK", "DynamoStore", "added");
    for row in rows {
        let micros = |duration: Duration| format!("{:.1} µs", duration.as_secs_f64() * 1e6);
        println!(
            "{:<6} {:>12} {:>12} {:>8.1}%",
            row.operation,
            micros(row.sdk),
            micros(row.store),
            row.overhead_percent()
        );
    }
    match rows.iter().all(|row| row.overhead_percent() < GOAL_PERCENT) {
        true => ExitCode::SUCCESS,
        false => {
            eprintln!("goal missed: the overhead must be below {GOAL_PERCENT} %");
            ExitCode::FAILURE
        }
    }
}

async fn measure(calls: usize) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let address = service::start(responses())?;
    let config =
        DynamoConfig::for_endpoint(format!("http://{address}")).with_engine(Engine::DynamoDb);
    let store = DynamoStore::open(&config).await?;
    let client = store.client().clone();
    // Behind a pointer, as in applications.
    let store: Box<dyn Store> = Box::new(store);

    let (key, sdk_key) = (key(), sdk_key());
    let get = side_by_side(
        "get",
        calls,
        async || {
            let get = client.get_item().table_name(TABLE).set_key(Some(sdk_key.clone()));
            let found = get.send().await?;
            assert_eq!(found.item.map(|item| item.len()), Some(ATTRIBUTES));
            Ok(())
        },
        async || {
            let found = store.get(GetItem::new(TABLE, key.clone())).await?;
            assert_eq!(found.item.map(|item| item.len()), Some(ATTRIBUTES));
            Ok(())
        },
    );
    let get = get.await?;

    let (item, sdk_item) = (item(0), sdk_item(0));
    let put = side_by_side(
        "put",
        calls,
        async || {
            let put = client.put_item().table_name(TABLE).set_item(Some(sdk_item.clone()));
            put.condition_expression(IF_NEW).send().await?;
            Ok(())
        },
        async || {
            store.put(PutItem::new(TABLE, item.clone()).condition(IF_NEW)).await?;
            Ok(())
        },
    );
    let put = put.await?;

    let query = side_by_side(
        "query",
        calls,
        async || {
            let query = client
                .query()
                .table_name(TABLE)
                .key_condition_expression("#pk = :pk AND begins_with(#sk, :sk)")
                .expression_attribute_names("#pk", "PK")
                .expression_attribute_names("#sk", "SK")
                .expression_attribute_values(":pk", AttributeValue::S("USER#1".to_owned()))
                .expression_attribute_values(":sk", AttributeValue::S("ORDER#".to_owned()));
            assert_eq!(query.send().await?.items().len(), PAGE);
            Ok(())
        },
        async || {
            let condition = attr("PK").eq("USER#1").and(attr("SK").begins_with("ORDER#"));
            let page = store.query(Query::new(TABLE, condition)).await?;
            assert_eq!(page.items.len(), PAGE);
            Ok(())
        },
    );
    Ok(vec![get, put, query.await?])
}

/// Makes both calls in turns, each from building the request to using the response.
async fn side_by_side(
    operation: &'static str,
    calls: usize,
    sdk_call: impl AsyncFn() -> Result<(), Box<dyn std::error::Error>>,
    store_call: impl AsyncFn() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<Row, Box<dyn std::error::Error>> {
    // The first calls open the connection and fill caches, so they are not counted.
    for _ in 0..calls / 10 {
        sdk_call().await?;
        store_call().await?;
    }
    let (mut sdk, mut store) = (Durations::default(), Durations::default());
    for call in 0..calls {
        // The second call finds warm processor caches, so the order alternates.
        if call.is_multiple_of(2) {
            sdk.time(sdk_call()).await?;
            store.time(store_call()).await?;
        } else {
            store.time(store_call()).await?;
            sdk.time(sdk_call()).await?;
        }
    }
    Ok(Row { operation, sdk: sdk.median(), store: store.median() })
}

const IF_NEW: &str = "attribute_not_exists(PK)";
const TABLE: &str = "orders";
/// Number of attributes of an item.
const ATTRIBUTES: usize = 8;

fn key() -> Item {
    Item::new().with("PK", "USER#1").with("SK", "ORDER#0")
}

fn sdk_key() -> Attributes {
    HashMap::from([
        ("PK".to_owned(), AttributeValue::S("USER#1".to_owned())),
        ("SK".to_owned(), AttributeValue::S("ORDER#0".to_owned())),
    ])
}

/// Order as an application would store it.
fn item(number: usize) -> Item {
    Item::new()
        .with("PK", "USER#1")
        .with("SK", format!("ORDER#{number}"))
        .with("status", "pending")
        .with("createdAt", "2026-01-15T10:30:00.000Z")
        .with("total", 12_950)
        .with("paid", false)
        .with("tags", Value::L(vec!["new".into(), "web".into()]))
        .with("address", Value::M([("city".to_owned(), "Lima".into())].into()))
}

fn sdk_item(number: usize) -> Attributes {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let attributes = [
        ("PK", text("USER#1")),
        ("SK", text(&format!("ORDER#{number}"))),
        ("status", text("pending")),
        ("createdAt", text("2026-01-15T10:30:00.000Z")),
        ("total", AttributeValue::N("12950".to_owned())),
        ("paid", AttributeValue::Bool(false)),
        ("tags", AttributeValue::L(vec![text("new"), text("web")])),
        ("address", AttributeValue::M(HashMap::from([("city".to_owned(), text("Lima"))]))),
    ];
    attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Response of the service to each operation.
fn responses() -> Responses {
    let items: Vec<_> = (0..PAGE).map(|number| item(number).to_json()).collect();
    let page = json!({ "Items": items, "Count": PAGE, "ScannedCount": PAGE });
    Responses::from([
        ("GetItem", json!({ "Item": item(0).to_json() }).to_string()),
        ("PutItem", "{}".to_owned()),
        ("Query", page.to_string()),
    ])
}
