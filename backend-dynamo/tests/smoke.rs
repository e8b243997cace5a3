//! The store on DynamoDB Local, beyond the conformance suite: detection of the engine, a table
//! under a prefix from creation to deletion, and concurrent callers.

use std::sync::Arc;

use tabla_conformance::concurrency::{Options, bank_transfers, counters, run};
use tabla_core::env::{Env, SeededRandom};
use tabla_core::ops::*;
use tabla_core::{ErrorKind, Item, KeyType, Store, attr};
use tabla_dynamo::{DynamoConfig, DynamoStore};

#[tokio::test]
async fn table_under_a_prefix_works_from_creation_to_deletion() {
    if tabla_testkit::dynamodb::is_excluded() {
        println!("skipped (TABLA_WITHOUT): the walk through a table on DynamoDB Local");
        return;
    }
    let server = tabla_testkit::dynamodb::endpoint().expect("a server for the tests");
    let prefix = format!("smoke-{}-", Env::system().token());
    let open = async |prefix: &str| {
        let config = DynamoConfig::for_endpoint(server.url()).with_table_prefix(prefix);
        DynamoStore::open(&config).await.expect("the server responds")
    };
    let store = open(&prefix).await;
    assert_eq!(store.capabilities().engine, "dynamodb-local");

    let create = CreateTable::new("orders")
        .partition_key("pk", KeyType::S)
        .stream(StreamViewType::NewAndOldImages);
    let table = store.create_table(create.clone()).await.unwrap();
    assert_eq!((table.table.as_str(), table.status), ("orders", TableStatus::Active));
    let again = store.create_table(create).await.unwrap_err();
    assert_eq!(again.kind(), &ErrorKind::InUse);

    let item = Item::new().with("pk", "a").with("n", 1);
    store.put(PutItem::new("orders", item.clone())).await.unwrap();
    let put = PutItem::new("orders", item.clone())
        .condition(attr("pk").not_exists())
        .return_item_on_failure();
    let error = store.put(put).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::ConditionFailed { item: Some(item.clone()) });
    assert!(error.request_id().is_some());

    let index = SecondaryIndex::new("by-n").partition_key("n");
    let update = UpdateTable::new("orders").attribute("n", KeyType::N).create_index(index);
    let table = store.update_table(update).await.unwrap();
    assert_eq!(table.global_secondary_indexes[0].status, TableStatus::Active);
    let query = Query::new("orders", attr("n").eq(1))
        .index("by-n")
        .return_consumed_capacity(ReturnConsumedCapacity::Indexes);
    let page = store.query(query).await.unwrap();
    assert_eq!(page.items, std::slice::from_ref(&item));
    let capacity = page.consumed_capacity.unwrap();
    assert_eq!(capacity.table_name, "orders");
    assert!(capacity.global_secondary_indexes.contains_key("by-n"));

    let streams = store.list_streams(ListStreams::of_table("orders")).await.unwrap();
    assert_eq!(streams.streams[0].table, "orders");
    let stream =
        store.describe_stream(DescribeStream::new(streams.streams[0].arn.clone())).await.unwrap();
    let iterator = store
        .get_shard_iterator(GetShardIterator::new(
            stream.arn,
            stream.shards[0].id.clone(),
            ShardPosition::TrimHorizon,
        ))
        .await
        .unwrap();
    let records = store.get_records(GetRecords::new(iterator)).await.unwrap().records;
    assert_eq!(records[0].event_name, EventName::Insert);
    assert_eq!(records[0].new_image, Some(item));

    let names = store.list_tables(ListTables::default()).await.unwrap();
    assert_eq!(names.table_names, ["orders"]);
    let other = open(&format!("{prefix}other-")).await;
    assert_eq!(other.list_tables(ListTables::default()).await.unwrap().table_names.len(), 0);

    let table = store.update_table(UpdateTable::new("orders").delete_index("by-n")).await.unwrap();
    assert!(table.global_secondary_indexes.is_empty());
    store.delete_table(DeleteTable::new("orders")).await.unwrap();
    let error = store.describe_table(DescribeTable::new("orders")).await.unwrap_err();
    assert!(error.is_not_found());
}

/// Checks the same property as for the embedded engine, through two clients of one server.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_callers_are_strictly_serializable() {
    if tabla_testkit::dynamodb::is_excluded() {
        println!("skipped (TABLA_WITHOUT): many callers on DynamoDB Local");
        return;
    }
    let server = tabla_testkit::dynamodb::endpoint().expect("a server for the tests");
    let prefix = format!("many-{}-", Env::system().token());
    let config = DynamoConfig::for_endpoint(server.url()).with_table_prefix(prefix);
    let mut stores: Vec<Arc<dyn Store>> = Vec::new();
    for _ in 0..2 {
        stores.push(Arc::new(DynamoStore::open(&config).await.expect("the server responds")));
    }
    let options = Options::new().with_rounds(4);
    let outcome = run(stores.clone(), options, &SeededRandom::new(1)).await;
    let report = outcome.unwrap_or_else(|violation| panic!("{violation}"));
    assert_eq!(report.rounds, 4);
    bank_transfers(&stores, 5, 6, 8).await.unwrap_or_else(|violation| panic!("{violation}"));
    counters(&stores, 3, 6, 8).await.unwrap_or_else(|violation| panic!("{violation}"));
}
