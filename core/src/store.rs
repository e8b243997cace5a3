//! The contract between callers and backends.

mod capabilities;
mod create;
mod cursor;
mod ext;
mod extension;
mod registry;
mod retry;
mod wrap;

use std::any::TypeId;
use std::fmt::Debug;

use async_trait::async_trait;

pub use capabilities::{Capabilities, Requirement};
pub use cursor::Cursor;
pub use ext::{ConditionalOutcome, StoreExt};
pub use extension::Extension;
pub use registry::{Address, OpenContext, Opener, Registry};
pub use retry::{Attempts, RetryMode, RetryPolicy, RetryingStore};

use crate::error::Result;
use crate::ops::*;

/// A set of tables that behaves as DynamoDB does.
///
/// This is what a backend implements: one method per operation, each taking a request that says
/// everything. Callers use it together with [`crate::StoreExt`], and hold it as `Arc<dyn Store>`.
///
/// # Contract
/// - A single write is atomic and is seen by every consistent read that begins after its answer.
/// - A write that fails changes nothing, unless its error says [`crate::Applied::Maybe`].
/// - Index entries change with the item. A read of a global index may lag behind on backends
///   whose [`Capabilities::index_reads_lag`] says so.
/// - Dropping the future of a write leaves it undone or done, never half done.
/// - Requests are judged by core's rules: a backend that does not leave that to a service calls
///   [`crate::engine`], and writes no rule of its own.
#[async_trait]
pub trait Store: Debug + Send + Sync {
    /// What this store, with its wrappers, can do.
    fn capabilities(&self) -> Capabilities;

    /// The power of this id, if this store has it: [`Power::id`] of the power's trait. Callers use
    /// [`StoreExt::power`].
    ///
    /// A backend without powers leaves this out. A wrapper passes it on, which
    /// [`wrap_store!`](crate::wrap_store) does for it.
    fn extension_by_id(&self, _id: TypeId) -> Option<Extension> {
        None
    }

    /// Reads one item.
    async fn get(&self, request: GetItem) -> Result<GetItemOutput>;

    /// Writes a whole item.
    async fn put(&self, request: PutItem) -> Result<WriteOutput>;

    /// Changes attributes of an item, creating it if there is none.
    async fn update(&self, request: UpdateItem) -> Result<WriteOutput>;

    /// Deletes an item. Deleting nothing succeeds.
    async fn delete(&self, request: DeleteItem) -> Result<WriteOutput>;

    /// Reads a page of one partition, in sort-key order.
    async fn query(&self, request: Query) -> Result<Page>;

    /// Reads a page of a table or index, in no order that means anything.
    async fn scan(&self, request: Scan) -> Result<Page>;

    /// Reads up to 100 items, each on its own.
    async fn batch_get(&self, request: BatchGetItem) -> Result<BatchGetItemOutput>;

    /// Makes up to 25 unconditional writes, each on its own.
    async fn batch_write(&self, request: BatchWriteItem) -> Result<BatchWriteItemOutput>;

    /// Reads up to 100 items as they are at one moment.
    async fn transact_get(&self, request: TransactGetItems) -> Result<TransactGetItemsOutput>;

    /// Makes up to 100 writes together or not at all.
    async fn transact_write(&self, request: TransactWriteItems)
    -> Result<TransactWriteItemsOutput>;

    /// Creates a table and waits until it can be used.
    async fn create_table(&self, request: CreateTable) -> Result<TableDescription>;

    /// Describes a table.
    async fn describe_table(&self, request: DescribeTable) -> Result<TableDescription>;

    /// Changes a table and waits until the change is complete.
    async fn update_table(&self, request: UpdateTable) -> Result<TableDescription>;

    /// Deletes a table and waits until it is gone. The description is the table's last.
    async fn delete_table(&self, request: DeleteTable) -> Result<TableDescription>;

    /// Lists tables.
    async fn list_tables(&self, request: ListTables) -> Result<ListTablesOutput>;

    /// Turns the expiry of items on or off.
    async fn update_time_to_live(&self, request: UpdateTimeToLive) -> Result<UpdateTimeToLive>;

    /// Tells whether and by which attribute items expire.
    async fn describe_time_to_live(
        &self,
        request: DescribeTimeToLive,
    ) -> Result<TimeToLiveDescription>;

    /// Adds tags to a table.
    async fn tag_table(&self, request: TagTable) -> Result<()>;

    /// Takes tags from a table.
    async fn untag_table(&self, request: UntagTable) -> Result<()>;

    /// Lists a table's tags, sorted by name.
    async fn list_table_tags(&self, request: ListTableTags) -> Result<Tags>;

    /// Lists the streams of changes.
    async fn list_streams(&self, request: ListStreams) -> Result<ListStreamsOutput>;

    /// Describes a stream and its shards.
    async fn describe_stream(&self, request: DescribeStream) -> Result<StreamDescription>;

    /// Gives an iterator at a place in a shard.
    async fn get_shard_iterator(&self, request: GetShardIterator) -> Result<ShardIterator>;

    /// Reads changes.
    async fn get_records(&self, request: GetRecords) -> Result<GetRecordsOutput>;
}
