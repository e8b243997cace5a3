//! Reading the changes of a table, in the order in which they happened to each item.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{KeySchemaElement, StreamViewType, setters};
use crate::Item;
use crate::env::Timestamp;

/// Names the stream of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StreamArn(pub String);

/// Names a shard of a stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(pub String);

/// A place in a shard. Opaque, and of no meaning in another shard.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceNumber(pub String);

/// Where [`crate::Store::get_records`] goes on. Opaque, and good for a few minutes only: keep a
/// [`SequenceNumber`] to go on later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShardIterator(pub String);

macro_rules! shown_as_is {
    ($($kind:ty),+) => {
        $(
            impl fmt::Display for $kind {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(&self.0)
                }
            }

            impl From<&str> for $kind {
                fn from(text: &str) -> Self {
                    Self(text.to_owned())
                }
            }
        )+
    };
}

shown_as_is!(StreamArn, ShardId, SequenceNumber, ShardIterator);

/// Lists the streams, also those disabled within the last day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListStreams {
    /// Only those of this table.
    pub table: Option<String>,
    /// Where to go on.
    pub exclusive_start_stream: Option<StreamArn>,
    /// How many a page has, at most 100.
    pub limit: Option<i32>,
}

impl ListStreams {
    /// Lists all streams.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lists the streams of this table.
    pub fn of_table(table: impl Into<String>) -> Self {
        Self { table: Some(table.into()), ..Self::default() }
    }

    /// Continues after this stream.
    #[must_use]
    pub fn exclusive_start_stream(mut self, stream: impl Into<Option<StreamArn>>) -> Self {
        self.exclusive_start_stream = stream.into();
        self
    }

    /// Returns at most this many streams.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<i32>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// The answer to [`ListStreams`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListStreamsOutput {
    /// The streams.
    pub streams: Vec<StreamSummary>,
    /// Where the next page begins.
    pub last_evaluated_stream: Option<StreamArn>,
}

impl ListStreamsOutput {
    /// A last page of these streams.
    pub fn new(streams: Vec<StreamSummary>) -> Self {
        Self { streams, last_evaluated_stream: None }
    }

    setters! {
        /// Where the next page begins.
        last_evaluated_stream: Option<StreamArn>,
    }
}

/// One stream of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamSummary {
    /// The stream.
    pub arn: StreamArn,
    /// Its table.
    pub table: String,
    /// When it was enabled; tells the streams of one table apart.
    pub label: String,
}

impl StreamSummary {
    /// The stream of this table with this label.
    pub fn new(arn: StreamArn, table: impl Into<String>, label: impl Into<String>) -> Self {
        Self { arn, table: table.into(), label: label.into() }
    }
}

/// Describes a stream and its shards.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribeStream {
    /// The stream.
    pub arn: StreamArn,
    /// Where to go on in the list of shards.
    pub exclusive_start_shard: Option<ShardId>,
    /// Which shards to list; not together with `exclusive_start_shard`.
    pub shard_filter: Option<ShardFilter>,
    /// How many shards a page has, at most 100.
    pub limit: Option<i32>,
}

impl DescribeStream {
    /// Describes this stream.
    pub fn new(arn: StreamArn) -> Self {
        Self { arn, exclusive_start_shard: None, shard_filter: None, limit: None }
    }

    /// Continues after this shard.
    #[must_use]
    pub fn exclusive_start_shard(mut self, shard: impl Into<Option<ShardId>>) -> Self {
        self.exclusive_start_shard = shard.into();
        self
    }

    /// Lists these shards only.
    #[must_use]
    pub fn shard_filter(mut self, filter: impl Into<Option<ShardFilter>>) -> Self {
        self.shard_filter = filter.into();
        self
    }

    /// Lists at most this many shards.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<i32>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// The shards that a description lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardFilter {
    /// `CHILD_SHARDS`: those whose parent is this shard. None if there is no such shard.
    ChildrenOf(ShardId),
}

/// What a stream is, and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamDescription {
    /// The stream.
    pub arn: StreamArn,
    /// When it was enabled; tells the streams of one table apart.
    pub label: String,
    /// Whether changes are recorded.
    pub status: StreamStatus,
    /// What a record carries.
    pub view_type: StreamViewType,
    /// Its table.
    pub table: String,
    /// The table's key.
    pub key_schema: Vec<KeySchemaElement>,
    /// Its shards, parents before children.
    pub shards: Vec<Shard>,
    /// Where the next page of shards begins.
    pub last_evaluated_shard: Option<ShardId>,
    /// When it was enabled.
    pub created_at: Timestamp,
}

impl StreamDescription {
    /// An enabled stream without shards. Whoever describes a real one sets `key_schema` and
    /// `shards` too.
    pub fn new(summary: StreamSummary, view_type: StreamViewType, created_at: Timestamp) -> Self {
        let StreamSummary { arn, table, label } = summary;
        Self {
            arn,
            label,
            status: StreamStatus::Enabled,
            view_type,
            table,
            key_schema: Vec::new(),
            shards: Vec::new(),
            last_evaluated_shard: None,
            created_at,
        }
    }

    setters! {
        /// Whether changes are recorded.
        status: StreamStatus,
        /// The table's key.
        key_schema: Vec<KeySchemaElement>,
        /// Its shards, parents before children.
        shards: Vec<Shard>,
        /// Where the next page of shards begins.
        last_evaluated_shard: Option<ShardId>,
    }
}

/// Whether a stream records changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamStatus {
    /// Soon.
    Enabling,
    /// Yes.
    Enabled,
    /// Soon no longer.
    Disabling,
    /// No; what it recorded can be read for a day.
    Disabled,
}

impl StreamStatus {
    /// DynamoDB's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enabling => "ENABLING",
            Self::Enabled => "ENABLED",
            Self::Disabling => "DISABLING",
            Self::Disabled => "DISABLED",
        }
    }
}

/// A part of a stream. All changes of one item stand in one lineage of shards.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shard {
    /// The shard.
    pub id: ShardId,
    /// The shard to be read before this one.
    pub parent: Option<ShardId>,
    /// Its first record's place.
    pub starting_sequence_number: SequenceNumber,
    /// Its last record's place, once it is closed.
    pub ending_sequence_number: Option<SequenceNumber>,
}

impl Shard {
    /// An open shard without a parent.
    pub fn new(id: ShardId, starting_sequence_number: SequenceNumber) -> Self {
        Self { id, parent: None, starting_sequence_number, ending_sequence_number: None }
    }

    setters! {
        /// The shard to be read before this one.
        parent: Option<ShardId>,
        /// Its last record's place, once it is closed.
        ending_sequence_number: Option<SequenceNumber>,
    }
}

/// Asks for an iterator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetShardIterator {
    /// The stream.
    pub arn: StreamArn,
    /// The shard.
    pub shard: ShardId,
    /// Where to begin.
    pub position: ShardPosition,
}

impl GetShardIterator {
    /// An iterator at this position of a shard.
    pub fn new(arn: StreamArn, shard: ShardId, position: ShardPosition) -> Self {
        Self { arn, shard, position }
    }
}

/// Where in a shard to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardPosition {
    /// At the oldest record that is kept.
    TrimHorizon,
    /// After the newest record.
    Latest,
    /// At this record.
    At(SequenceNumber),
    /// After this record.
    After(SequenceNumber),
}

/// Reads records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetRecords {
    /// Where to go on.
    pub iterator: ShardIterator,
    /// How many records at most, up to 1000.
    pub limit: Option<i32>,
}

impl GetRecords {
    /// Goes on here.
    pub fn new(iterator: ShardIterator) -> Self {
        Self { iterator, limit: None }
    }

    /// Reads at most this many records.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<i32>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// The answer to [`GetRecords`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetRecordsOutput {
    /// The records; there may be none although the shard goes on.
    pub records: Vec<Record>,
    /// Where to go on; absent once a closed shard is read to its end.
    pub next_iterator: Option<ShardIterator>,
}

impl GetRecordsOutput {
    /// These records, the last of a closed shard.
    pub fn new(records: Vec<Record>) -> Self {
        Self { records, next_iterator: None }
    }

    setters! {
        /// Where to go on; absent once a closed shard is read to its end.
        next_iterator: Option<ShardIterator>,
    }
}

/// One change of one item.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// Unique among all records of all streams, across restarts.
    pub event_id: String,
    /// What happened.
    pub event_name: EventName,
    /// Its place in the shard.
    pub sequence_number: SequenceNumber,
    /// When it happened, to about a second.
    pub created_at: Timestamp,
    /// The key of the item.
    pub keys: Item,
    /// The item before, if the view type has it and there was one.
    pub old_image: Option<Item>,
    /// The item after, if the view type has it and there is one.
    pub new_image: Option<Item>,
    /// What the record carries.
    pub view_type: StreamViewType,
    /// The record's size in bytes.
    pub size_bytes: u64,
    /// Who did it, if it was the service itself: an expired item.
    pub user_identity: Option<UserIdentity>,
}

impl Record {
    /// A record without images, of size 0. Whoever reports a real change sets `size_bytes` and the
    /// images of the view type too.
    pub fn new(
        event_id: impl Into<String>,
        event_name: EventName,
        sequence_number: SequenceNumber,
        created_at: Timestamp,
        keys: impl Into<Item>,
        view_type: StreamViewType,
    ) -> Self {
        Self {
            event_id: event_id.into(),
            event_name,
            sequence_number,
            created_at,
            keys: keys.into(),
            old_image: None,
            new_image: None,
            view_type,
            size_bytes: 0,
            user_identity: None,
        }
    }

    setters! {
        /// The item before.
        old_image: Option<Item>,
        /// The item after.
        new_image: Option<Item>,
        /// The record's size in bytes.
        size_bytes: u64,
        /// The service, if it made the change: an expired item.
        user_identity: Option<UserIdentity>,
    }
}

/// What happened to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EventName {
    /// It was created.
    Insert,
    /// It was changed.
    Modify,
    /// It was deleted.
    Remove,
}

impl EventName {
    /// DynamoDB's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Modify => "MODIFY",
            Self::Remove => "REMOVE",
        }
    }
}

/// Who made a change that no caller made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserIdentity {
    /// `Service`.
    pub kind: String,
    /// `dynamodb.amazonaws.com`.
    pub principal_id: String,
}

impl UserIdentity {
    /// The identity with these two members.
    pub fn new(kind: impl Into<String>, principal_id: impl Into<String>) -> Self {
        Self { kind: kind.into(), principal_id: principal_id.into() }
    }

    /// The identity that marks the deletion of an expired item.
    pub fn time_to_live() -> Self {
        Self { kind: "Service".to_owned(), principal_id: "dynamodb.amazonaws.com".to_owned() }
    }

    /// Whether this marks the deletion of an expired item.
    pub fn is_time_to_live(&self) -> bool {
        *self == Self::time_to_live()
    }
}
