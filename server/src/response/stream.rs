//! Writers of responses on streams.

use tabla_core::ops::{
    GetRecordsOutput, ListStreamsOutput, Record, Shard, ShardIterator, StreamDescription,
};

use super::{Object, key_schema, object, object_with_items, seconds};

/// Region in stream records, as in the ARNs of tables and streams.
const REGION: &str = "local";

pub(crate) fn streams(output: &ListStreamsOutput) -> Vec<u8> {
    object(|answer| {
        answer.array("Streams", |array| {
            for stream in &output.streams {
                array.object(|object| {
                    object.text("StreamArn", &stream.arn.0);
                    object.text("TableName", &stream.table);
                    object.text("StreamLabel", &stream.label);
                });
            }
        });
        if let Some(last) = &output.last_evaluated_stream {
            answer.text("LastEvaluatedStreamArn", &last.0);
        }
    })
}

pub(crate) fn stream(stream: &StreamDescription) -> Vec<u8> {
    object(|answer| {
        answer.object("StreamDescription", |object| {
            object.text("StreamArn", &stream.arn.0);
            object.text("StreamLabel", &stream.label);
            object.text("StreamStatus", stream.status.as_str());
            object.text("StreamViewType", stream.view_type.as_str());
            object.decimal("CreationRequestDateTime", seconds(stream.created_at));
            object.text("TableName", &stream.table);
            key_schema(object, &stream.key_schema);
            object.array("Shards", |array| {
                for one in &stream.shards {
                    array.object(|object| shard(object, one));
                }
            });
            if let Some(last) = &stream.last_evaluated_shard {
                object.text("LastEvaluatedShardId", &last.0);
            }
        });
    })
}

fn shard(object: &mut Object<'_>, shard: &Shard) {
    object.text("ShardId", &shard.id.0);
    object.object("SequenceNumberRange", |object| {
        object.text("StartingSequenceNumber", &shard.starting_sequence_number.0);
        if let Some(end) = &shard.ending_sequence_number {
            object.text("EndingSequenceNumber", &end.0);
        }
    });
    if let Some(parent) = &shard.parent {
        object.text("ParentShardId", &parent.0);
    }
}

pub(crate) fn shard_iterator(iterator: &ShardIterator) -> Vec<u8> {
    object(|answer| answer.text("ShardIterator", &iterator.0))
}

pub(crate) fn records(output: &GetRecordsOutput) -> Vec<u8> {
    let images = output.records.iter().flat_map(|it| it.new_image.iter().chain(&it.old_image));
    object_with_items(images, |answer| {
        answer.array("Records", |array| {
            for one in &output.records {
                array.object(|object| record(object, one));
            }
        });
        if let Some(next) = &output.next_iterator {
            answer.text("NextShardIterator", &next.0);
        }
    })
}

fn record(object: &mut Object<'_>, record: &Record) {
    object.text("eventID", &record.event_id);
    object.text("eventName", record.event_name.as_str());
    object.text("eventVersion", "1.1");
    object.text("eventSource", "aws:dynamodb");
    object.text("awsRegion", REGION);
    object.object("dynamodb", |object| {
        object.decimal("ApproximateCreationDateTime", seconds(record.created_at));
        object.item("Keys", &record.keys);
        if let Some(image) = &record.new_image {
            object.item("NewImage", image);
        }
        if let Some(image) = &record.old_image {
            object.item("OldImage", image);
        }
        object.text("SequenceNumber", &record.sequence_number.0);
        object.number("SizeBytes", record.size_bytes);
        object.text("StreamViewType", record.view_type.as_str());
    });
    if let Some(identity) = &record.user_identity {
        object.object("userIdentity", |object| {
            object.text("PrincipalId", &identity.principal_id);
            object.text("Type", &identity.kind);
        });
    }
}
