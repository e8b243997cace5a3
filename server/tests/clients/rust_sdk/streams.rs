//! Streams: described, read from the start, and read on from a record.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{StreamSpecification, StreamViewType};
use aws_sdk_dynamodbstreams::types::{
    AttributeValue, OperationType, Record, ShardIteratorType, StreamStatus,
};

use super::{Sdk, eventually, order, order_with, s};

pub(super) async fn check(sdk: &Sdk) {
    records_are_in_the_order_of_changes(sdk).await;
    iterator_after_a_sequence_number_returns_later_records(sdk).await;
    missing_stream_is_not_found(sdk).await;
}

/// Creates a table with a stream. Returns its name and the stream's ARN.
async fn streamed(sdk: &Sdk, name: &str) -> (String, String) {
    let stream = StreamSpecification::builder()
        .stream_enabled(true)
        .stream_view_type(StreamViewType::NewAndOldImages)
        .build()
        .expect("all fields are set");
    sdk.make(sdk.orders(name).stream_specification(stream)).await;
    let stream = sdk.describe(name).await.latest_stream_arn.expect("the table has a stream");
    (name.to_owned(), stream)
}

/// Puts an order, changes it, overwrites it unchanged, and deletes it.
async fn change(sdk: &Sdk, table: &str) {
    for status in ["open", "sent", "sent"] {
        sdk.put(table, order_with("ana", 1, [("status", s(status))])).await;
    }
    let delete = sdk.client.delete_item().table_name(table).set_key(Some(order("ana", 1)));
    delete.send().await.expect("the delete succeeds");
}

/// Waits for the records of one item, and returns them with their shard.
async fn arrived(sdk: &Sdk, stream: &str, count: usize) -> (String, Vec<Record>) {
    eventually(async || {
        let described = sdk.streams.describe_stream().stream_arn(stream).send().await;
        let description = described.expect("the stream is described").stream_description;
        for shard in description.expect("the description exists").shards() {
            let shard = shard.shard_id().expect("the shard has an id");
            let records = read(sdk, stream, shard).await;
            if records.len() >= count {
                return Some((shard.to_owned(), records));
            }
        }
        None
    })
    .await
}

/// Returns the records of a shard, read in pages until one is empty.
async fn read(sdk: &Sdk, stream: &str, shard: &str) -> Vec<Record> {
    let request = sdk.streams.get_shard_iterator().stream_arn(stream).shard_id(shard);
    let request = request.shard_iterator_type(ShardIteratorType::TrimHorizon);
    let mut iterator = request.send().await.expect("the iterator is created").shard_iterator;
    let mut records = Vec::new();
    while let Some(next) = iterator {
        let page = sdk.streams.get_records().shard_iterator(next).limit(2).send().await;
        let page = page.expect("the page is read");
        let is_empty = page.records().is_empty();
        records.extend(page.records.unwrap_or_default());
        iterator = page.next_shard_iterator.filter(|_| !is_empty);
    }
    records
}

async fn records_are_in_the_order_of_changes(sdk: &Sdk) {
    let (table, stream) = streamed(sdk, "Streamed").await;
    let listed =
        sdk.streams.list_streams().table_name(&table).send().await.expect("the streams are listed");
    let listed: Vec<_> = listed.streams().iter().filter_map(|one| one.stream_arn()).collect();
    assert_eq!(listed, [stream.as_str()]);
    change(sdk, &table).await;
    let described = sdk.streams.describe_stream().stream_arn(&stream).send().await;
    let description = described
        .expect("the stream is described")
        .stream_description
        .expect("the description exists");
    assert_eq!(description.stream_status(), Some(&StreamStatus::Enabled));
    assert_eq!(description.table_name(), Some(table.as_str()));

    let (_, records) = arrived(sdk, &stream, 3).await;
    let status = |image: Option<&HashMap<String, AttributeValue>>| {
        image.map(|image| image["status"].as_s().expect("the status is a string").clone())
    };
    let (open, sent) = (Some("open".to_owned()), Some("sent".to_owned()));
    let changes: Vec<_> = records
        .iter()
        .map(|record| {
            let change = record.dynamodb().expect("the record has a change");
            let keys = change.keys().expect("the change has a key");
            assert_eq!(keys["customer"], AttributeValue::S("ana".to_owned()));
            assert_eq!(keys["number"], AttributeValue::N("1".to_owned()));
            assert!(change.size_bytes() > Some(0));
            assert!(change.approximate_creation_date_time().is_some());
            let name = record.event_name().expect("the event has a name").clone();
            (name, status(change.old_image()), status(change.new_image()))
        })
        .collect();
    assert_eq!(
        changes,
        [
            (OperationType::Insert, None, open.clone()),
            (OperationType::Modify, open, sent.clone()),
            (OperationType::Remove, sent, None),
        ]
    );
}

async fn iterator_after_a_sequence_number_returns_later_records(sdk: &Sdk) {
    let (table, stream) = streamed(sdk, "Streamed-on").await;
    change(sdk, &table).await;
    let (shard, records) = arrived(sdk, &stream, 3).await;
    let first = records[0].dynamodb().and_then(|change| change.sequence_number());
    let iterator = sdk
        .streams
        .get_shard_iterator()
        .stream_arn(&stream)
        .shard_id(shard)
        .shard_iterator_type(ShardIteratorType::AfterSequenceNumber)
        .sequence_number(first.expect("the record has a sequence number"))
        .send()
        .await
        .expect("the iterator is created");
    let mut next = iterator.shard_iterator;
    for expected in [OperationType::Modify, OperationType::Remove] {
        let iterator = next.expect("the shard is open");
        let page = sdk.streams.get_records().shard_iterator(iterator).limit(1).send().await;
        let page = page.expect("the page is read");
        let names: Vec<_> = page.records().iter().filter_map(Record::event_name).collect();
        assert_eq!(names, [&expected]);
        next = page.next_shard_iterator;
    }
}

async fn missing_stream_is_not_found(sdk: &Sdk) {
    let (_, stream) = streamed(sdk, "Streamed-not").await;
    let (table, _) = stream.rsplit_once('/').expect("the ARN ends with the label");
    let other = format!("{table}/2020-01-01T00:00:00.000");
    let error = sdk.streams.describe_stream().stream_arn(other).send().await;
    let error = error.expect_err("the stream does not exist").into_service_error();
    assert!(error.is_resource_not_found_exception(), "{error:?}");
}
