//! Request shapes of operations on streams.

use super::Shape::{self, Choice, Text, Time};
use super::common::TABLE_NAME;
use super::queries::LIMIT;
use super::{Structure, optional, required};

pub(super) static LIST_STREAMS: Structure = Structure {
    class: "ListStreamsInput",
    members: &[
        optional("Limit", &LIMIT),
        optional("TableName", &TABLE_NAME),
        optional("ExclusiveStartStreamArn", &STREAM_ARN),
    ],
};

pub(super) static DESCRIBE_STREAM: Structure = Structure {
    class: "DescribeStreamInput",
    members: &[
        required("StreamArn", &STREAM_ARN),
        optional("ExclusiveStartShardId", &SHARD_ID),
        optional("ShardFilter", &Shape::Structure(&SHARD_FILTER)),
        optional("Limit", &LIMIT),
    ],
};

pub(super) static GET_SHARD_ITERATOR: Structure = Structure {
    class: "GetShardIteratorInput",
    members: &[
        optional("SequenceNumber", &Text { min: 21, max: 40 }),
        required("StreamArn", &STREAM_ARN),
        required("ShardId", &SHARD_ID),
        required("ShardIteratorType", &ITERATOR_TYPE),
        optional("Timestamp", &Time),
    ],
};

pub(super) static GET_RECORDS: Structure = Structure {
    class: "GetRecordsInput",
    members: &[required("ShardIterator", &Text { min: 1, max: 2048 }), optional("Limit", &LIMIT)],
};

static STREAM_ARN: Shape = Text { min: 37, max: 1024 };
static SHARD_ID: Shape = Text { min: 28, max: 65 };

static ITERATOR_TYPE: Shape = Choice(&[
    "TRIM_HORIZON",
    "LATEST",
    "AT_SEQUENCE_NUMBER",
    "AFTER_SEQUENCE_NUMBER",
    "AT_TIMESTAMP",
]);

static SHARD_FILTER: Structure = Structure {
    class: "ShardFilter",
    members: &[required("ShardId", &SHARD_ID), required("Type", &Choice(&["CHILD_SHARDS"]))],
};
