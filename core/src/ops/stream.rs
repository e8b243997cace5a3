//! Requests and outputs of change streams: streams, shards, iterators and records.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{KeySchemaElement, StreamViewType, setters};
use crate::Item;
use crate::env::Timestamp;

/// ARN of a stream: identifies one stream of one table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StreamArn(pub String);

/// Id of a shard, unique in its stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(pub String);

/// Sequence number of a record: its position in its shard, 21 to 40 digits. Opaque; it has no
/// meaning in another shard. It can be stored, to resume after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceNumber(pub String);

/// Position at which [`Store::get_records`](crate::Store::get_records) reads. Opaque; expires after
/// 15 minutes. To resume later, store a [`SequenceNumber`].
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

/// Request of [`Store::list_streams`](crate::Store::list_streams): lists streams that can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListStreams {
    /// Name of the table whose streams are listed. Default: all tables.
    pub table: Option<String>,
    /// Position to resume after: `last_evaluated_stream` of the previous page.
    pub exclusive_start_stream: Option<StreamArn>,
    /// Largest number of streams in the page, 1 to 100. Default: 100.
    pub limit: Option<i32>,
}

impl ListStreams {
    /// Creates a request for the streams of all tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a request for the streams of one table.
    pub fn of_table(table: impl Into<String>) -> Self {
        Self { table: Some(table.into()), ..Self::default() }
    }

    /// Sets the position to resume after.
    #[must_use]
    pub fn exclusive_start_stream(mut self, stream: impl Into<Option<StreamArn>>) -> Self {
        self.exclusive_start_stream = stream.into();
        self
    }

    /// Sets the largest number of streams in the page, 1 to 100.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<i32>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// Output of [`Store::list_streams`](crate::Store::list_streams).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListStreamsOutput {
    /// Streams of the page.
    pub streams: Vec<StreamSummary>,
    /// Position after which the next page begins; `None` on the last page.
    pub last_evaluated_stream: Option<StreamArn>,
}

impl ListStreamsOutput {
    /// Creates a last page of these streams.
    pub fn new(streams: Vec<StreamSummary>) -> Self {
        Self { streams, last_evaluated_stream: None }
    }

    setters! {
        /// Sets the position after which the next page begins.
        last_evaluated_stream: Option<StreamArn>,
    }
}

/// Entry of a list of streams.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamSummary {
    /// ARN of the stream.
    pub arn: StreamArn,
    /// Name of the table.
    pub table: String,
    /// Time at which the stream was enabled, as text; unique among the streams of the table.
    pub label: String,
}

impl StreamSummary {
    /// Creates the entry of a stream.
    pub fn new(arn: StreamArn, table: impl Into<String>, label: impl Into<String>) -> Self {
        Self { arn, table: table.into(), label: label.into() }
    }
}

/// Request of [`Store::describe_stream`](crate::Store::describe_stream): describes a stream and a
/// page of its shards.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribeStream {
    /// ARN of the stream.
    pub arn: StreamArn,
    /// Position to resume after: `last_evaluated_shard` of the previous page.
    pub exclusive_start_shard: Option<ShardId>,
    /// Shards to list. Not allowed together with `exclusive_start_shard`. Default: all.
    pub shard_filter: Option<ShardFilter>,
    /// Largest number of shards in the page, 1 to 100. Default: 100.
    pub limit: Option<i32>,
}

impl DescribeStream {
    /// Creates a request for a stream and its first shards.
    pub fn new(arn: StreamArn) -> Self {
        Self { arn, exclusive_start_shard: None, shard_filter: None, limit: None }
    }

    /// Sets the position to resume after.
    #[must_use]
    pub fn exclusive_start_shard(mut self, shard: impl Into<Option<ShardId>>) -> Self {
        self.exclusive_start_shard = shard.into();
        self
    }

    /// Sets which shards to list.
    #[must_use]
    pub fn shard_filter(mut self, filter: impl Into<Option<ShardFilter>>) -> Self {
        self.shard_filter = filter.into();
        self
    }

    /// Sets the largest number of shards in the page, 1 to 100.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<i32>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// Restricts the shards that a description lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardFilter {
    /// Shards whose parent is this shard (`CHILD_SHARDS`); none if the shard does not exist.
    ChildrenOf(ShardId),
}

/// Description of a stream, with a page of its shards.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamDescription {
    /// ARN of the stream.
    pub arn: StreamArn,
    /// Time at which the stream was enabled, as text; unique among the streams of the table.
    pub label: String,
    /// Whether the stream records changes.
    pub status: StreamStatus,
    /// Images that a record contains.
    pub view_type: StreamViewType,
    /// Name of the table.
    pub table: String,
    /// Key schema of the table.
    pub key_schema: Vec<KeySchemaElement>,
    /// Shards of the page, parents before children.
    pub shards: Vec<Shard>,
    /// Position after which the next page of shards begins; `None` on the last page.
    pub last_evaluated_shard: Option<ShardId>,
    /// Time at which the stream was enabled.
    pub created_at: Timestamp,
}

impl StreamDescription {
    /// Creates the description of an enabled stream, without key schema and shards. A backend
    /// sets both.
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
        /// Sets the status.
        status: StreamStatus,
        /// Sets the key schema of the table.
        key_schema: Vec<KeySchemaElement>,
        /// Sets the shards, parents before children.
        shards: Vec<Shard>,
        /// Sets the position after which the next page of shards begins.
        last_evaluated_shard: Option<ShardId>,
    }
}

/// Whether a stream records changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamStatus {
    /// The stream is being enabled.
    Enabling,
    /// The stream records changes.
    Enabled,
    /// The stream is being disabled.
    Disabling,
    /// The stream records no changes. Its records can be read for 24 hours after that.
    Disabled,
}

impl StreamStatus {
    /// DynamoDB's name of the status, such as `ENABLED`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enabling => "ENABLING",
            Self::Enabled => "ENABLED",
            Self::Disabling => "DISABLING",
            Self::Disabled => "DISABLED",
        }
    }
}

/// Shard: an ordered part of a stream. All changes of one item are in one shard and
/// its descendants.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shard {
    /// Id of the shard.
    pub id: ShardId,
    /// Shard whose records precede those of this one; `None` if there is none.
    pub parent: Option<ShardId>,
    /// Lowest sequence number that a record of the shard can have.
    pub starting_sequence_number: SequenceNumber,
    /// Highest sequence number that a record of the shard can have; `None` while the shard is open.
    pub ending_sequence_number: Option<SequenceNumber>,
}

impl Shard {
    /// Creates an open shard without a parent.
    pub fn new(id: ShardId, starting_sequence_number: SequenceNumber) -> Self {
        Self { id, parent: None, starting_sequence_number, ending_sequence_number: None }
    }

    setters! {
        /// Sets the shard whose records precede those of this one.
        parent: Option<ShardId>,
        /// Sets the highest sequence number, which closes the shard.
        ending_sequence_number: Option<SequenceNumber>,
    }
}

/// Request of [`Store::get_shard_iterator`](crate::Store::get_shard_iterator): creates an iterator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetShardIterator {
    /// ARN of the stream.
    pub arn: StreamArn,
    /// Id of the shard.
    pub shard: ShardId,
    /// Position at which the iterator begins to read.
    pub position: ShardPosition,
}

impl GetShardIterator {
    /// Creates a request for an iterator at a position of a shard.
    pub fn new(arn: StreamArn, shard: ShardId, position: ShardPosition) -> Self {
        Self { arn, shard, position }
    }
}

/// Position in a shard at which an iterator begins to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardPosition {
    /// Oldest record of the shard within retention.
    TrimHorizon,
    /// After the newest record: only changes from now on.
    Latest,
    /// Record with this sequence number.
    At(SequenceNumber),
    /// First record after this sequence number.
    After(SequenceNumber),
}

/// Request of [`Store::get_records`](crate::Store::get_records): reads records of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetRecords {
    /// Position at which to read.
    pub iterator: ShardIterator,
    /// Largest number of records, 1 to 1000. Default: 1000.
    pub limit: Option<i32>,
}

impl GetRecords {
    /// Creates a request for up to 1000 records at this position.
    pub fn new(iterator: ShardIterator) -> Self {
        Self { iterator, limit: None }
    }

    /// Sets the largest number of records, 1 to 1000.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<i32>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// Output of [`Store::get_records`](crate::Store::get_records).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetRecordsOutput {
    /// Records in the order of the changes, at most 1 MB. It may be empty although more
    /// will follow.
    pub records: Vec<Record>,
    /// Position after these records; `None` if the shard is closed and was read to its end.
    pub next_iterator: Option<ShardIterator>,
}

impl GetRecordsOutput {
    /// Creates an output with the last records of a closed shard.
    pub fn new(records: Vec<Record>) -> Self {
        Self { records, next_iterator: None }
    }

    setters! {
        /// Sets the position after these records.
        next_iterator: Option<ShardIterator>,
    }
}

/// Change record: one change of one item.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// Event id, unique among all records of all streams, also across restarts.
    pub event_id: String,
    /// Kind of the change.
    pub event_name: EventName,
    /// Position of the record in its shard.
    pub sequence_number: SequenceNumber,
    /// Time of the change, to about a second.
    pub created_at: Timestamp,
    /// Key attributes of the item.
    pub keys: Item,
    /// Item before the change, if the view type includes it and there was one.
    pub old_image: Option<Item>,
    /// Item after the change, if the view type includes it and there is one.
    pub new_image: Option<Item>,
    /// Images that the record contains.
    pub view_type: StreamViewType,
    /// Size of keys and images, in bytes.
    pub size_bytes: u64,
    /// Identity of the service if it deleted an expired item; `None` for a change by a caller.
    pub user_identity: Option<UserIdentity>,
}

impl Record {
    /// Creates a record of size 0 without images. A backend sets `size_bytes` and the images of the
    /// view type.
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
        /// Sets the item before the change.
        old_image: Option<Item>,
        /// Sets the item after the change.
        new_image: Option<Item>,
        /// Sets the size of keys and images, in bytes.
        size_bytes: u64,
        /// Sets the identity of the service, for the deletion of an expired item.
        user_identity: Option<UserIdentity>,
    }
}

/// Kind of a change of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EventName {
    /// The item was created.
    Insert,
    /// An existing item was changed.
    Modify,
    /// The item was deleted.
    Remove,
}

impl EventName {
    /// DynamoDB's name of the event: `INSERT`, `MODIFY` or `REMOVE`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Modify => "MODIFY",
            Self::Remove => "REMOVE",
        }
    }
}

/// Identity of the service in a record of a change that no caller made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserIdentity {
    /// Type of the identity: `Service`.
    pub kind: String,
    /// Principal id: `dynamodb.amazonaws.com` for an expired item.
    pub principal_id: String,
}

impl UserIdentity {
    /// Creates an identity of this type and principal id.
    pub fn new(kind: impl Into<String>, principal_id: impl Into<String>) -> Self {
        Self { kind: kind.into(), principal_id: principal_id.into() }
    }

    /// Identity in the record of the deletion of an expired item.
    pub fn time_to_live() -> Self {
        Self { kind: "Service".to_owned(), principal_id: "dynamodb.amazonaws.com".to_owned() }
    }

    /// Whether this is the identity in records of deleted expired items.
    pub fn is_time_to_live(&self) -> bool {
        *self == Self::time_to_live()
    }
}
