//! Evolution of requests and outputs: code outside of core cannot build them by a struct literal,
//! so that fields can be added, and can build each of them by a constructor. The same holds for the
//! outputs, descriptions and configurations of `entity` and `conformance`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tabla_core::env::Timestamp;
use tabla_core::ops::*;
use tabla_core::{Item, KeyType, item};

/// Public struct with named fields.
struct Found<'a> {
    name: &'a str,
    attributes: Vec<&'a str>,
    /// Whether all its fields are public, so that other crates could build it by a literal.
    is_open: bool,
}

/// Public structs with named fields in a source file.
fn structs(source: &str) -> Vec<Found<'_>> {
    let mut attributes = Vec::new();
    let mut found = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("pub struct ").and_then(|rest| rest.strip_suffix(" {")) {
            Some(name) => {
                let mut fields =
                    lines.by_ref().take_while(|line| *line != "}").map(str::trim_start);
                let is_open = fields
                    .all(|field| ["pub ", "//", "#["].iter().any(|start| field.starts_with(start)));
                found.push(Found { name, attributes: std::mem::take(&mut attributes), is_open });
            }
            None if line.starts_with("#[") => attributes.push(line),
            None => attributes.clear(),
        }
    }
    found
}

/// Source files under a folder of the workspace.
fn sources(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let (mut folders, mut files) = (vec![root], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry of a folder").path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files
}

/// Asserts that every open struct in a folder is non-exhaustive, except those of these names.
fn assert_non_exhaustive(folder: &str, exceptions: &[&str], at_least: usize) {
    let (mut count, mut left_out) = (0, Vec::new());
    for file in sources(folder) {
        let source = fs::read_to_string(&file).expect("a source file");
        for Found { name, attributes, .. } in structs(&source).into_iter().filter(|one| one.is_open)
        {
            if attributes.contains(&"#[non_exhaustive]") {
                count += 1;
            } else {
                let place = file.display();
                assert!(exceptions.contains(&name), "{place}: {name}: {attributes:?}");
                left_out.push(name.to_owned());
            }
        }
    }
    assert!(count >= at_least, "only {count} non-exhaustive structs found in {folder}");
    left_out.sort();
    assert_eq!(left_out, exceptions, "exceptions in {folder}");
}

#[test]
fn structs_of_operations_are_non_exhaustive() {
    assert_non_exhaustive("core/src/ops", &[], 50);
}

#[test]
fn structs_of_conformance_are_non_exhaustive() {
    assert_non_exhaustive("conformance/src", &[], 20);
}

#[test]
fn structs_of_entity_are_non_exhaustive_unless_other_crates_build_them() {
    // `NumberRange` is built by implementations of `Numeric`, the others by the derive macro.
    let built_elsewhere = [
        "EntityDesign",
        "FieldDesign",
        "IndexKeys",
        "NumberRange",
        "Part",
        "Template",
        "UniqueDesign",
    ];
    assert_non_exhaustive("entity/src", &built_elsewhere, 15);
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
