//! Evolution of requests and outputs: code outside of core cannot build them by a struct literal,
//! so that fields can be added, and can build each of them by a constructor.

use std::collections::BTreeMap;
use std::path::Path;

use tabla_core::env::Timestamp;
use tabla_core::ops::*;
use tabla_core::{Item, KeyType, item};

/// Attributes and names of the public structs with named fields in a source file.
fn structs(source: &str) -> Vec<(Vec<&str>, &str)> {
    let mut attributes = Vec::new();
    let mut found = Vec::new();
    for line in source.lines() {
        match line.strip_prefix("pub struct ").and_then(|rest| rest.strip_suffix(" {")) {
            Some(name) => found.push((std::mem::take(&mut attributes), name)),
            None if line.starts_with("#[") => attributes.push(line),
            None => attributes.clear(),
        }
    }
    found
}

#[test]
fn structs_of_operations_are_non_exhaustive() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ops");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for (attributes, name) in structs(&source) {
            assert!(attributes.contains(&"#[non_exhaustive]"), "{name}: {attributes:?}");
            count += 1;
        }
    }
    assert!(count > 50, "only {count} structs found");
}

fn units() -> ConsumedCapacity {
    let part = Capacity::new(0.5).read_capacity_units(Some(0.5)).write_capacity_units(None);
    ConsumedCapacity::new("orders", 1.0)
        .read_capacity_units(Some(1.0))
        .write_capacity_units(None)
        .table(Some(part))
        .local_secondary_indexes(BTreeMap::new())
        .global_secondary_indexes([("gsi".to_owned(), part)].into())
}

fn metrics() -> ItemCollectionMetrics {
    ItemCollectionMetrics::new(item! { "pk" => "a" }, [0.0, 1.0])
}

fn key() -> Item {
    item! { "pk" => "a" }
}

#[test]
fn outputs_of_single_operations_have_constructors() {
    let get = GetItemOutput::new(Some(key())).consumed_capacity(Some(units()));
    assert_eq!((get.item, get.consumed_capacity), (Some(key()), Some(units())));
    let write = WriteOutput::new()
        .attributes(Some(key()))
        .consumed_capacity(Some(units()))
        .item_collection_metrics(Some(metrics()));
    assert_eq!((write.attributes, write.consumed_capacity), (Some(key()), Some(units())));
    assert_eq!(write.item_collection_metrics, Some(metrics()));
    let whole = Page::new(vec![key()]);
    assert_eq!((whole.count, whole.scanned_count, whole.last_evaluated_key), (1, 1, None));
    let page = Page::new(vec![key()])
        .count(2)
        .scanned_count(3)
        .last_evaluated_key(Some(key()))
        .consumed_capacity(Some(units()));
    assert_eq!((page.items, page.count, page.scanned_count), (vec![key()], 2, 3));
    assert_eq!((page.last_evaluated_key, page.consumed_capacity), (Some(key()), Some(units())));
}

#[test]
fn outputs_of_batches_and_transactions_have_constructors() {
    let left = BTreeMap::from([("orders".to_owned(), KeysAndAttributes::new([key()]))]);
    let found = BTreeMap::from([("orders".to_owned(), vec![key()])]);
    let read = BatchGetItemOutput::new()
        .responses(found.clone())
        .unprocessed_keys(left.clone())
        .consumed_capacity(vec![units()]);
    assert_eq!((read.responses, read.unprocessed_keys), (found, left));
    assert_eq!(read.consumed_capacity, [units()]);
    let left = BTreeMap::from([("orders".to_owned(), vec![WriteRequest::Delete(key())])]);
    let touched = BTreeMap::from([("orders".to_owned(), vec![metrics()])]);
    let written = BatchWriteItemOutput::new()
        .unprocessed_items(left.clone())
        .consumed_capacity(vec![units()])
        .item_collection_metrics(touched.clone());
    assert_eq!((written.unprocessed_items, written.consumed_capacity), (left, vec![units()]));
    assert_eq!(written.item_collection_metrics, touched);
    let read = TransactGetItemsOutput::new(vec![Some(key()), None]);
    let read = read.consumed_capacity(vec![units()]);
    assert_eq!((read.responses.len(), read.consumed_capacity), (2, vec![units()]));
    let written = TransactWriteItemsOutput::new()
        .consumed_capacity(vec![units()])
        .item_collection_metrics(touched.clone());
    assert_eq!(written.consumed_capacity, [units()]);
    assert_eq!(written.item_collection_metrics, touched);
}

#[test]
fn descriptions_of_tables_have_constructors() {
    let key_schema = vec![KeySchemaElement::new("pk", KeyRole::Partition)];
    let index = IndexDescription::new("gsi", key_schema.clone(), IndexProjection::all())
        .status(TableStatus::Creating)
        .backfilling(true)
        .provisioned_throughput(ProvisionedThroughput::new(1, 2))
        .item_count(1)
        .size_bytes(2)
        .arn("arn/index".to_owned());
    assert!(index.backfilling && index.status == TableStatus::Creating);
    let definitions = vec![AttributeDefinition::new("pk", KeyType::S)];
    let created_at = Timestamp::from_secs(1);
    let table = TableDescription::new("orders", definitions, key_schema, created_at)
        .status(TableStatus::Updating)
        .global_secondary_indexes(vec![index.clone()])
        .local_secondary_indexes(Vec::new())
        .billing_mode(BillingMode::Provisioned)
        .provisioned_throughput(ProvisionedThroughput::new(3, 4))
        .stream(Some(StreamSpecification::enabled(StreamViewType::KeysOnly)))
        .latest_stream_arn(Some("arn/stream".to_owned()))
        .latest_stream_label(Some("label".to_owned()))
        .sse(Some(SseSpecification::enabled()))
        .deletion_protection(true)
        .table_class(Some("STANDARD".to_owned()))
        .item_count(5)
        .size_bytes(6)
        .arn("arn/table".to_owned())
        .id(Some("id".to_owned()));
    assert_eq!(table.global_secondary_indexes, [index]);
    assert_eq!((table.item_count, table.size_bytes, table.created_at), (5, 6, created_at));
    let names = ListTablesOutput::new(vec!["orders".to_owned()]);
    let names = names.last_evaluated_table_name(Some("orders".to_owned()));
    assert_eq!(names.last_evaluated_table_name.as_ref(), names.table_names.last());
    assert_eq!(TimeToLiveDescription::disabled().attribute, None);
}

#[test]
fn outputs_of_stream_operations_have_constructors() {
    let summary = StreamSummary::new(StreamArn::from("arn"), "orders", "label");
    let list = ListStreamsOutput::new(vec![summary.clone()]);
    let list = list.last_evaluated_stream(Some(StreamArn::from("arn")));
    assert_eq!(list.streams, std::slice::from_ref(&summary));
    let shard = Shard::new(ShardId::from("2"), SequenceNumber::from("1"))
        .parent(Some(ShardId::from("1")))
        .ending_sequence_number(Some(SequenceNumber::from("9")));
    let created_at = Timestamp::from_secs(1);
    let stream = StreamDescription::new(summary, StreamViewType::KeysOnly, created_at)
        .status(StreamStatus::Disabled)
        .key_schema(vec![KeySchemaElement::new("pk", KeyRole::Partition)])
        .shards(vec![shard])
        .last_evaluated_shard(Some(ShardId::from("2")));
    assert_eq!((stream.label.as_str(), stream.shards.len()), ("label", 1));
    let record = Record::new(
        "event",
        EventName::Remove,
        SequenceNumber::from("3"),
        created_at,
        key(),
        StreamViewType::OldImage,
    )
    .old_image(Some(key()))
    .new_image(None)
    .size_bytes(3)
    .user_identity(Some(UserIdentity::time_to_live()));
    let records = GetRecordsOutput::new(vec![record]);
    let records = records.next_iterator(Some(ShardIterator::from("next")));
    assert_eq!((records.records.len(), records.records[0].size_bytes), (1, 3));
    assert_eq!(records.next_iterator, Some(ShardIterator::from("next")));
}
