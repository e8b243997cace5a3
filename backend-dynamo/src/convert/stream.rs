//! Streams: shard positions, shards and records.

use aws_sdk_dynamodbstreams::types as sdk;
use tabla_core::ops::{
    EventName, KeySchemaElement, Record, SequenceNumber, Shard, ShardFilter, ShardId,
    ShardPosition, StreamArn, StreamDescription, StreamStatus, StreamSummary, UserIdentity,
};
use tabla_core::{Error, ErrorKind, Result};

use super::{count, item_from_stream, key_element, timestamp, unknown, view_type};
use crate::prefix::TablePrefix;

/// Converts a position to an iterator type and its sequence number.
pub(crate) fn position_to_sdk(position: ShardPosition) -> (sdk::ShardIteratorType, Option<String>) {
    match position {
        ShardPosition::TrimHorizon => (sdk::ShardIteratorType::TrimHorizon, None),
        ShardPosition::Latest => (sdk::ShardIteratorType::Latest, None),
        ShardPosition::At(place) => (sdk::ShardIteratorType::AtSequenceNumber, Some(place.0)),
        ShardPosition::After(place) => (sdk::ShardIteratorType::AfterSequenceNumber, Some(place.0)),
    }
}

pub(crate) fn filter_to_sdk(filter: ShardFilter) -> sdk::ShardFilter {
    let ShardFilter::ChildrenOf(parent) = filter;
    sdk::ShardFilter::builder().r#type(sdk::ShardFilterType::ChildShards).shard_id(parent.0).build()
}

/// Converts a stream of a list; `None` if its table has another prefix.
pub(crate) fn summary_from_sdk(prefix: &TablePrefix, stream: sdk::Stream) -> Option<StreamSummary> {
    let table = stream.table_name.unwrap_or_default();
    Some(StreamSummary::new(
        StreamArn(stream.stream_arn.unwrap_or_default()),
        prefix.strip(&table)?.to_owned(),
        stream.stream_label.unwrap_or_default(),
    ))
}

pub(crate) fn stream_description_from_sdk(
    prefix: &TablePrefix,
    stream: sdk::StreamDescription,
) -> Result<StreamDescription> {
    let status = stream.stream_status.as_ref().map(sdk::StreamStatus::as_str).unwrap_or_default();
    let view = stream.stream_view_type.as_ref().map(sdk::StreamViewType::as_str);
    let key_schema: Result<Vec<KeySchemaElement>> = stream
        .key_schema
        .into_iter()
        .flatten()
        .map(|element| key_element(element.attribute_name, element.key_type.as_str()))
        .collect();
    let summary = StreamSummary::new(
        StreamArn(stream.stream_arn.unwrap_or_default()),
        prefix.strip_own(stream.table_name.unwrap_or_default()),
        stream.stream_label.unwrap_or_default(),
    );
    let created_at = timestamp(stream.creation_request_date_time.as_ref());
    Ok(StreamDescription::new(summary, view_type(view.unwrap_or_default())?, created_at)
        .status(status_from_name(status)?)
        .key_schema(key_schema?)
        .shards(stream.shards.into_iter().flatten().map(shard_from_sdk).collect())
        .last_evaluated_shard(stream.last_evaluated_shard_id.map(ShardId)))
}

fn status_from_name(name: &str) -> Result<StreamStatus> {
    [StreamStatus::Enabling, StreamStatus::Enabled, StreamStatus::Disabling, StreamStatus::Disabled]
        .into_iter()
        .find(|status| status.as_str() == name)
        .ok_or_else(|| unknown("stream status", name))
}

fn shard_from_sdk(shard: sdk::Shard) -> Shard {
    let (start, end) = match shard.sequence_number_range {
        Some(range) => (range.starting_sequence_number, range.ending_sequence_number),
        None => (None, None),
    };
    let id = ShardId(shard.shard_id.unwrap_or_default());
    Shard::new(id, SequenceNumber(start.unwrap_or_default()))
        .parent(shard.parent_shard_id.map(ShardId))
        .ending_sequence_number(end.map(SequenceNumber))
}

pub(crate) fn record_from_sdk(record: sdk::Record) -> Result<Record> {
    let change = record.dynamodb.ok_or_else(|| {
        Error::new(ErrorKind::Unexpected, "the service returned a stream record without a change")
    })?;
    let event = record.event_name.as_ref().map(sdk::OperationType::as_str).unwrap_or_default();
    let view = change.stream_view_type.as_ref().map(sdk::StreamViewType::as_str);
    let event_name = [EventName::Insert, EventName::Modify, EventName::Remove]
        .into_iter()
        .find(|known| known.as_str() == event)
        .ok_or_else(|| unknown("change", event))?;
    let user_identity = record.user_identity.map(|identity| {
        let kind = identity.r#type.unwrap_or_default();
        UserIdentity::new(kind, identity.principal_id.unwrap_or_default())
    });
    let record = Record::new(
        record.event_id.unwrap_or_default(),
        event_name,
        SequenceNumber(change.sequence_number.unwrap_or_default()),
        timestamp(change.approximate_creation_date_time.as_ref()),
        item_from_stream(change.keys.unwrap_or_default())?,
        view_type(view.unwrap_or_default())?,
    );
    Ok(record
        .old_image(change.old_image.map(item_from_stream).transpose()?)
        .new_image(change.new_image.map(item_from_stream).transpose()?)
        .size_bytes(count(change.size_bytes))
        .user_identity(user_identity))
}

#[cfg(test)]
mod tests {
    use tabla_core::Item;
    use tabla_core::ops::StreamViewType;

    use super::*;

    #[test]
    fn expired_item_has_the_identity_of_time_to_live() {
        let change = sdk::StreamRecord::builder()
            .keys("pk", sdk::AttributeValue::S("a".into()))
            .sequence_number("000000000000000000007")
            .stream_view_type(sdk::StreamViewType::KeysOnly)
            .size_bytes(3)
            .build();
        let record = sdk::Record::builder()
            .event_id("e")
            .event_name(sdk::OperationType::Remove)
            .dynamodb(change)
            .user_identity(
                sdk::Identity::builder()
                    .r#type("Service")
                    .principal_id("dynamodb.amazonaws.com")
                    .build(),
            )
            .build();
        let record = record_from_sdk(record).unwrap();
        assert!(record.user_identity.unwrap().is_time_to_live());
        assert_eq!(record.event_name, EventName::Remove);
        assert_eq!(record.keys, Item::new().with("pk", "a"));
        assert_eq!(record.sequence_number, "000000000000000000007".into());
        assert_eq!((record.old_image, record.new_image), (None, None));
        assert_eq!(record.view_type, StreamViewType::KeysOnly);
    }

    #[test]
    fn stream_of_another_prefix_is_not_listed() {
        let stream = |table: &str| {
            sdk::Stream::builder().table_name(table).stream_arn("arn").stream_label("l").build()
        };
        let dev = TablePrefix::new("dev-").unwrap();
        assert_eq!(summary_from_sdk(&dev, stream("dev-orders")).unwrap().table, "orders");
        assert!(summary_from_sdk(&dev, stream("prod-orders")).is_none());
    }

    #[test]
    fn filter_has_type_and_shard() {
        let filter = filter_to_sdk(ShardFilter::ChildrenOf("shardId-1".into()));
        assert_eq!(filter.r#type, Some(sdk::ShardFilterType::ChildShards));
        assert_eq!(filter.shard_id.as_deref(), Some("shardId-1"));
    }

    #[test]
    fn position_keeps_its_sequence_number() {
        let (kind, place) = position_to_sdk(ShardPosition::After("7".into()));
        assert_eq!(kind, sdk::ShardIteratorType::AfterSequenceNumber);
        assert_eq!(place.as_deref(), Some("7"));
        assert_eq!(position_to_sdk(ShardPosition::Latest).1, None);
    }
}
