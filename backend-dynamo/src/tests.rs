//! Requests as sent, and responses as converted, against the fake service.

use serde_json::json;
use std::time::Duration;
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::ops::*;
use tabla_core::{Applied, ErrorKind, Item, KeyType, Store, assign, attr};

use crate::fake::{FakeResponse, FakeService};
use crate::{DynamoConfig, DynamoStore, Engine};

fn response(body: serde_json::Value) -> FakeResponse {
    FakeResponse::Body(200, body.to_string())
}

fn not_found() -> FakeResponse {
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",
        "message": "Requested resource not found",
    });
    FakeResponse::Body(400, body.to_string())
}

fn key() -> Item {
    Item::new().with("pk", "a")
}

fn dev() -> DynamoConfig {
    DynamoConfig::new().with_table_prefix("dev-")
}

fn description(status: &str, indexes: &[(&str, &str)]) -> serde_json::Value {
    let indexes: Vec<_> = indexes
        .iter()
        .map(|(name, status)| json!({ "IndexName": name, "IndexStatus": status }))
        .collect();
    json!({
        "TableName": "dev-orders",
        "TableStatus": status,
        "TableId": "1",
        "TableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/dev-orders",
        "GlobalSecondaryIndexes": indexes,
    })
}

fn orders() -> CreateTable {
    CreateTable::new("orders").partition_key("pk", KeyType::S)
}

#[tokio::test]
async fn put_sends_the_rendered_condition_and_options() {
    let fake = FakeService::new([response(json!({}))]);
    let put = PutItem::new("orders", key().with("n", 1))
        .condition(attr("status").eq("draft"))
        .return_values(ReturnValues::AllOld)
        .return_item_on_failure();
    fake.store(&dev()).put(put).await.unwrap();
    let request = &fake.requests()[0];
    assert_eq!(request.operation, "PutItem");
    assert_eq!(
        request.body,
        json!({
            "TableName": "dev-orders",
            "Item": { "pk": { "S": "a" }, "n": { "N": "1" } },
            "ConditionExpression": "#n0 = :v0",
            "ExpressionAttributeNames": { "#n0": "status" },
            "ExpressionAttributeValues": { ":v0": { "S": "draft" } },
            "ReturnValues": "ALL_OLD",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        })
    );
}

#[tokio::test]
async fn defaults_are_not_sent() {
    let fake =
        FakeService::new([response(json!({})), response(json!({ "Count": 0, "ScannedCount": 0 }))]);
    let store = fake.store(&DynamoConfig::new());
    let found = store.get(GetItem::new("orders", key())).await.unwrap();
    assert_eq!(found, GetItemOutput::default());
    store.query(Query::new("orders", "pk = :a").value(":a", "a")).await.unwrap();
    let requests = fake.requests();
    assert_eq!(requests[0].body, json!({ "TableName": "orders", "Key": { "pk": { "S": "a" } } }));
    assert_eq!(
        requests[1].body,
        json!({
            "TableName": "orders",
            "KeyConditionExpression": "pk = :a",
            "ExpressionAttributeValues": { ":a": { "S": "a" } },
        })
    );
}

#[tokio::test]
async fn page_has_its_last_key_and_capacity() {
    let fake = FakeService::new([response(json!({
        "Items": [{ "pk": { "S": "a" } }],
        "Count": 1,
        "ScannedCount": 2,
        "LastEvaluatedKey": { "pk": { "S": "a" } },
        "ConsumedCapacity": { "TableName": "dev-orders", "CapacityUnits": 0.5 },
    }))]);
    let query = Query::new("orders", attr("pk").eq("a"))
        .descending()
        .limit(2)
        .exclusive_start_key(key())
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let page = fake.store(&dev()).query(query).await.unwrap();
    assert_eq!(page.items, [key()]);
    assert_eq!((page.count, page.scanned_count), (1, 2));
    assert_eq!(page.last_evaluated_key, Some(key()));
    assert_eq!(page.consumed_capacity.unwrap().table_name, "orders");
    let body = &fake.requests()[0].body;
    assert_eq!(body["ScanIndexForward"], json!(false));
    assert_eq!(body["ExclusiveStartKey"], json!({ "pk": { "S": "a" } }));
    assert_eq!(body["Limit"], json!(2));
}

#[tokio::test]
async fn transaction_sends_the_callers_token_or_a_new_one() {
    let fake = FakeService::new([response(json!({})), response(json!({}))]);
    let store = fake.store(&dev());
    let transaction = || TransactWriteItems::new().item(PutItem::new("orders", key()));
    store.transact_write(transaction()).await.unwrap();
    store.transact_write(transaction().client_request_token("t")).await.unwrap();
    let requests = fake.requests();
    assert!(requests[0].body["ClientRequestToken"].is_string());
    assert_eq!(requests[1].body["ClientRequestToken"], "t");
    assert_eq!(requests[1].body["TransactItems"][0]["Put"]["TableName"], "dev-orders");
}

#[tokio::test]
async fn request_for_a_missing_capability_is_not_sent() {
    let fake = FakeService::new([]);
    let on = |engine| fake.store(&DynamoConfig::new().with_engine(engine));
    let local = on(Engine::Local);
    let alternator = on(Engine::Alternator);
    let index = || SecondaryIndex::new("by-date").partition_key("date");
    let refused = [
        local.create_table(orders().tags([("k".into(), "v".into())].into())).await.err(),
        local.create_table(orders().global_index(index().partition_key("b"))).await.err(),
        local
            .put(
                PutItem::new("orders", key())
                    .return_item_collection_metrics(ReturnItemCollectionMetrics::Size),
            )
            .await
            .err(),
        local.tag_table(TagTable::new("orders", Tags::new())).await.err(),
        local.list_table_tags(ListTableTags::new("orders")).await.err(),
        alternator.transact_get(TransactGetItems::new([])).await.err(),
        alternator.transact_write(TransactWriteItems::new()).await.err(),
        alternator
            .update_table(
                UpdateTable::new("orders")
                    .create_index(index().projection(IndexProjection::keys_only())),
            )
            .await
            .err(),
        alternator.create_table(orders().stream(StreamViewType::KeysOnly)).await.err(),
        alternator.list_streams(ListStreams::default()).await.err(),
    ];
    for error in refused {
        assert_eq!(error.expect("the engine lacks it").kind(), &ErrorKind::Unsupported);
    }
    assert!(fake.requests().is_empty());
}

#[tokio::test]
async fn operation_options_are_rejected_inside_a_transaction() {
    let fake = FakeService::new([]);
    let put = PutItem::new("orders", key()).return_values(ReturnValues::AllOld);
    let error = fake
        .store(&DynamoConfig::new())
        .transact_write(TransactWriteItems::new().item(put))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Validation);
}

fn clocked(fake: &FakeService, config: &DynamoConfig) -> (DynamoStore, ManualClock) {
    let clock = ManualClock::new(Timestamp::from_secs(1_000));
    (fake.store(config).with_env(&Env::test(clock.clone(), 1)), clock)
}

#[tokio::test]
async fn create_table_waits_for_the_table_and_its_indexes() {
    let seen = |status, index| response(json!({ "Table": description(status, &[("g", index)]) }));
    let fake = FakeService::new([
        response(json!({ "TableDescription": description("CREATING", &[("g", "CREATING")]) })),
        not_found(),
        seen("CREATING", "CREATING"),
        FakeResponse::Body(
            400,
            json!({ "__type": "ThrottlingException", "message": "m" }).to_string(),
        ),
        seen("ACTIVE", "CREATING"),
        seen("ACTIVE", "ACTIVE"),
    ]);
    let (store, clock) = clocked(&fake, &dev());
    let table = store.create_table(orders()).await.unwrap();
    assert_eq!((table.table.as_str(), table.status), ("orders", TableStatus::Active));
    assert_eq!(clock.sleeps().len(), 5);
}

#[tokio::test]
async fn dynamodb_local_is_retried_after_a_concurrent_deletion() {
    let fails = || {
        let body = json!({ "__type": "InternalFailure", "message": "m" });
        FakeResponse::Body(500, body.to_string())
    };
    let done = || response(json!({ "TableDescription": description("ACTIVE", &[]) }));
    let local = dev().with_engine(Engine::Local);
    let fake = FakeService::new([fails(), fails(), done()]);
    let (store, clock) = clocked(&fake, &local);
    store.create_table(orders()).await.unwrap();
    assert_eq!(clock.sleeps().len(), 2);
    assert_eq!(fake.requests().len(), 3);

    let protect = || UpdateTable::new("orders").deletion_protection(Some(true));
    let fake = FakeService::new((0..20).map(|_| fails()));
    let error = clocked(&fake, &local).0.update_table(protect()).await.unwrap_err();
    assert_eq!(error.code(), "InternalFailure");
    assert_eq!(fake.requests().len(), 10);
    // On AWS, the failure may have come after the change.
    let fake = FakeService::new([fails(), done()]);
    let error = clocked(&fake, &dev()).0.update_table(protect()).await.unwrap_err();
    assert_eq!(error.applied(), Applied::Maybe);
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn empty_table_name_has_the_message_of_the_service() {
    let fake = FakeService::new([]);
    let error = fake.store(&DynamoConfig::new()).get(GetItem::new("", key())).await.unwrap_err();
    assert_eq!(error.code(), "ValidationException");
    assert_eq!(
        error.message(),
        "1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: \
         Member must have length greater than or equal to 1"
    );
    assert!(fake.requests().is_empty());
}

#[tokio::test]
async fn update_table_waits_until_indexes_are_created_or_deleted() {
    let seen = |indexes: &[_]| response(json!({ "Table": description("ACTIVE", indexes) }));
    let fake = FakeService::new([
        response(json!({ "TableDescription": description("ACTIVE", &[]) })),
        seen(&[("g", "CREATING")]),
        seen(&[("g", "ACTIVE")]),
        response(json!({ "TableDescription": description("ACTIVE", &[("g", "ACTIVE")]) })),
        seen(&[("g", "DELETING")]),
        seen(&[]),
    ]);
    let (store, _clock) = clocked(&fake, &dev());
    let index = SecondaryIndex::new("g").partition_key("date");
    let table = store.update_table(UpdateTable::new("orders").create_index(index)).await.unwrap();
    assert_eq!(table.global_secondary_indexes.len(), 1);
    let table = store.update_table(UpdateTable::new("orders").delete_index("g")).await.unwrap();
    assert!(table.global_secondary_indexes.is_empty());
}

#[tokio::test]
async fn delete_table_waits_until_the_table_is_not_found() {
    let fake = FakeService::new([
        response(json!({ "TableDescription": description("DELETING", &[]) })),
        response(json!({ "Table": description("DELETING", &[]) })),
        not_found(),
    ]);
    let (store, clock) = clocked(&fake, &dev());
    let last = store.delete_table(DeleteTable::new("orders")).await.unwrap();
    assert_eq!(last.status, TableStatus::Deleting);
    assert_eq!(clock.sleeps().len(), 1);
}

#[tokio::test]
async fn wait_fails_at_its_limit_with_the_status() {
    let creating = || response(json!({ "Table": description("CREATING", &[("g", "CREATING")]) }));
    let first = response(json!({ "TableDescription": description("CREATING", &[]) }));
    let fake = FakeService::new(std::iter::once(first).chain((0..20).map(|_| creating())));
    let config = dev().with_table_timeout(Duration::from_secs(4));
    let (store, _clock) = clocked(&fake, &config);
    let error = store.create_table(orders()).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!(error.applied(), Applied::Maybe);
    assert_eq!(
        error.message(),
        "table `orders` is CREATING, its index `g` CREATING after 4 s of waiting; the \
         service continues the change, so check it with describe_table"
    );
}

#[tokio::test]
async fn list_tables_returns_only_tables_with_the_prefix() {
    let page = |names: &[&str], last: Option<&str>| {
        response(json!({ "TableNames": names, "LastEvaluatedTableName": last }))
    };
    let fake = FakeService::new([
        page(&["a-orders", "dev-a1x", "dev-b1x"], Some("dev-b1x")),
        page(&["dev-c1x", "prod-a1x"], None),
        page(&["dev-c1x", "prod-a1x"], None),
    ]);
    let store = fake.store(&dev());
    let first = store.list_tables(ListTables::new().limit(2)).await.unwrap();
    assert_eq!(first.table_names, ["a1x", "b1x"]);
    assert_eq!(first.last_evaluated_table_name.as_deref(), Some("b1x"));
    let second = store
        .list_tables(assign!(ListTables::new().limit(2), {
            exclusive_start_table_name: first.last_evaluated_table_name,
        }))
        .await
        .unwrap();
    assert_eq!(second.table_names, ["c1x"]);
    assert_eq!(second.last_evaluated_table_name, None);
    assert_eq!(fake.requests()[2].body["ExclusiveStartTableName"], "dev-b1x");
}

#[tokio::test]
async fn tags_are_requested_by_resource_name() {
    let fake = FakeService::new([
        response(json!({ "Table": description("ACTIVE", &[]) })),
        response(json!({ "Tags": [{ "Key": "b", "Value": "2" }], "NextToken": "n" })),
        response(json!({ "Tags": [{ "Key": "a", "Value": "1" }] })),
    ]);
    let tags = fake.store(&dev()).list_table_tags(ListTableTags::new("orders")).await.unwrap();
    assert_eq!(tags, Tags::from([("a".into(), "1".into()), ("b".into(), "2".into())]));
    let requests = fake.requests();
    assert!(requests[1].body["ResourceArn"].as_str().unwrap().ends_with("table/dev-orders"));
    assert_eq!(requests[2].body["NextToken"], "n");
}

/// Returns the engine that is detected from these responses.
async fn engine_behind(responses: Vec<FakeResponse>) -> tabla_core::Result<Engine> {
    let mut store = FakeService::new(responses).store(&dev());
    store.detect_engine(None).await?;
    Ok(store.engine())
}

#[tokio::test]
async fn engine_is_detected_from_the_server_header() {
    let missing = |server| {
        FakeResponse::From(
            server,
            400,
            json!({ "__type": "ResourceNotFoundException" }).to_string(),
        )
    };
    assert_eq!(engine_behind(vec![missing("Jetty(12.0.14)")]).await.unwrap(), Engine::Local);
    assert_eq!(engine_behind(vec![missing("tabla")]).await.unwrap(), Engine::Tabla);
    assert_eq!(engine_behind(vec![missing("Server")]).await.unwrap(), Engine::DynamoDb);
    assert_eq!(engine_behind(vec![not_found()]).await.unwrap(), Engine::DynamoDb);
}

fn setting(value: &str) -> FakeResponse {
    response(json!({
        "Items": [{ "name": { "S": "alternator_write_isolation" }, "value": { "S": value } }],
        "Count": 1,
        "ScannedCount": 1,
    }))
}

#[tokio::test]
async fn alternator_with_an_unsafe_table_is_refused() {
    let tables = || response(json!({ "TableNames": ["dev-orders", "prod-orders"] }));
    let table = || response(json!({ "Table": description("ACTIVE", &[]) }));
    let tags = |tags: serde_json::Value| response(json!({ "Tags": tags }));
    let isolation = |policy: &str| json!([{ "Key": "system:write_isolation", "Value": policy }]);

    for (default, tagged, opens) in [
        ("\"always_use_lwt\"", json!([]), true),
        ("\"only_rmw_uses_lwt\"", json!([]), false),
        ("\"only_rmw_uses_lwt\"", isolation("always"), true),
        ("\"always\"", isolation("unsafe_rmw"), false),
    ] {
        let opened =
            engine_behind(vec![setting(default), tables(), table(), tags(tagged.clone())]).await;
        match opened {
            Ok(engine) => assert!(opens && engine == Engine::Alternator, "{default} {tagged}"),
            Err(error) => {
                assert!(!opens, "{default} {tagged}");
                assert_eq!(error.kind(), &ErrorKind::Config);
            }
        }
    }
}

#[tokio::test]
async fn new_table_on_alternator_gets_the_isolation_tag() {
    let fake = FakeService::new([
        response(json!({ "TableDescription": description("ACTIVE", &[]) })),
        response(
            json!({ "Tags": [{ "Key": "system:write_isolation", "Value": "always_use_lwt" }] }),
        ),
    ]);
    let store = fake.store(&dev().with_engine(Engine::Alternator));
    store.create_table(orders()).await.unwrap();
    assert_eq!(
        fake.requests()[0].body["Tags"],
        json!([{ "Key": "system:write_isolation", "Value": "always_use_lwt" }])
    );
}
