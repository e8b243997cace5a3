//! Contract between callers and backends: the trait [`Store`], its extension [`StoreExt`], retries,
//! cursors, capabilities, and the registry of address schemes.
//!
//! The meaning of an operation is in [`crate::engine`]; requests and outputs are in [`crate::ops`].

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
pub use registry::{Opener, Registry};
pub use retry::{Attempts, RetryMode, RetryPolicy, RetryingStore};

use crate::error::Result;
use crate::ops::*;

/// Set of tables with the operations and the semantics of DynamoDB.
///
/// A backend implements this trait: one method per operation, each with one request struct.
/// Applications hold an `Arc<dyn Store>` and call it through [`StoreExt`] as well.
///
/// Each method lists its own behavior. The rules below hold for all of them.
///
/// # Writes
/// - A single write is atomic, with its index entries and its stream record. On a service these two
///   may become visible later than the item.
/// - A write that has returned `Ok` is seen by every consistent read that begins later.
/// - A write that returns an error has changed nothing, unless [`Error::applied`] is
///   [`Applied::Maybe`]: the response was lost, or the operation failed after its commit.
/// - Dropping the future of a write leaves the write undone or done as a whole. Which of the two is
///   undefined.
///
/// # Reads
/// - A consistent read sees every write that returned before the read began. Any other read may
///   miss recent writes on a service; an embedded store reads consistently in any case.
/// - A read of a global index may lag behind the table if [`Capabilities::index_reads_lag`] is set.
/// - An expired item is read and written like any other until the store deletes it.
///
/// # Errors
/// Every method can return these kinds besides its own:
/// - [`ErrorKind::Validation`]: the request breaks a rule of the API. Nothing was written.
/// - [`ErrorKind::NotFound`]: the table, or the stream, does not exist.
/// - [`ErrorKind::Unsupported`]: [`Capabilities`] lacks what the request needs. Nothing was sent.
/// - [`ErrorKind::Throttled`] and [`ErrorKind::Unavailable`]: retry, see [`Error::retry`]. A store
///   from [`Registry::open`] has done so, unless retries are off.
/// - [`ErrorKind::Corrupt`]: stored bytes are damaged.
///
/// # Implementing
/// Validation, expressions, capacity and limits are in [`crate::backend`]. A backend that does not
/// leave them to a service calls that module and adds no rule of its own. A wrapper is implemented
/// with [`wrap_store!`](crate::wrap_store), so that it cannot miss a method.
///
/// [`Applied::Maybe`]: crate::Applied::Maybe
/// [`Error::applied`]: crate::Error::applied
/// [`Error::retry`]: crate::Error::retry
/// [`ErrorKind::Corrupt`]: crate::ErrorKind::Corrupt
/// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
/// [`ErrorKind::Throttled`]: crate::ErrorKind::Throttled
/// [`ErrorKind::Unavailable`]: crate::ErrorKind::Unavailable
/// [`ErrorKind::Unsupported`]: crate::ErrorKind::Unsupported
/// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
#[async_trait]
pub trait Store: Debug + Send + Sync {
    /// Capabilities of this store together with its wrappers.
    fn capabilities(&self) -> Capabilities;

    /// Extension of the type with this id, which [`Extension::id`] computes; `None` if neither this
    /// store nor the one that it wraps has it.
    ///
    /// Callers use [`StoreExt::extension`]. A backend without extensions keeps this default. A
    /// wrapper returns the extension of the wrapped store, which
    /// [`wrap_store!`](crate::wrap_store) implements.
    fn extension_by_id(&self, _id: TypeId) -> Option<Extension> {
        None
    }

    /// Reads one item by its key.
    ///
    /// - A missing item is `item: None`, not an error. It costs as much as an item of up to 4 KB.
    /// - A projection that matches nothing in the item returns an empty item.
    /// - Eventually consistent unless `consistent_read` is set.
    /// - Never fails because of a transaction in flight.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: the table does not exist.
    /// - [`ErrorKind::Validation`]: the key is not a key of the table.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn get(&self, request: GetItem) -> Result<GetItemOutput>;

    /// Writes a whole item: creates it, or replaces the one with the same key.
    ///
    /// - Attributes that only the old item has are removed.
    /// - The condition is evaluated on the present item, in the same atomic step as the write. For
    ///   a missing item it is evaluated on an empty one: `attribute_not_exists` holds.
    /// - Item at most 409,600 bytes, attribute names included. Partition key 1 to 2048 bytes, sort
    ///   key 1 to 1024 bytes.
    /// - `return_values` is `None` or `AllOld`.
    /// - An item without all key attributes of an index is left out of that index. A key attribute
    ///   of the wrong type, or an empty one, fails with [`ErrorKind::Validation`].
    /// - A put that changes nothing leaves no stream record.
    ///
    /// # Errors
    /// - [`ErrorKind::ConditionFailed`]: the condition does not hold. Nothing was written.
    /// - [`ErrorKind::NotFound`]: the table does not exist.
    /// - [`ErrorKind::TransactionConflict`]: on a service, a transaction on the item is in flight.
    ///   The embedded stores wait for it instead.
    ///
    /// [`ErrorKind::ConditionFailed`]: crate::ErrorKind::ConditionFailed
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::TransactionConflict`]: crate::ErrorKind::TransactionConflict
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn put(&self, request: PutItem) -> Result<WriteOutput>;

    /// Changes attributes of one item, and creates the item if it is missing.
    ///
    /// - A missing item is created from its key and the update. An update that only removes
    ///   attributes, or elements of sets, creates nothing.
    /// - All clauses read the item as it was before the update, so `SET a = b, b = a` swaps.
    /// - Concurrent updates of an item are applied one after another: no `ADD` is lost.
    /// - Condition as for [`put`](Self::put). A failed condition creates nothing.
    /// - Key attributes cannot be changed.
    /// - Updated item at most 409,600 bytes. The update itself has the same limit: 3 bytes, 19 for
    ///   each action that writes a value, 2 for each that removes one, plus names and values.
    /// - An update that changes nothing leaves no stream record.
    ///
    /// # Errors
    /// Those of [`put`](Self::put); [`ErrorKind::Validation`] if the update does not fit the item,
    /// such as arithmetic on a missing attribute or a document path through a scalar.
    ///
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn update(&self, request: UpdateItem) -> Result<WriteOutput>;

    /// Deletes one item by its key.
    ///
    /// - Deleting a missing item succeeds and leaves no stream record.
    /// - Condition as for [`put`](Self::put): on a missing item, `attribute_exists` fails.
    /// - `return_values` is `None` or `AllOld`.
    ///
    /// # Errors
    /// Those of [`put`](Self::put).
    async fn delete(&self, request: DeleteItem) -> Result<WriteOutput>;

    /// Reads one page of the items with one partition key, in the order of their sort keys.
    ///
    /// - Strings order by UTF-8 bytes, numbers by value, binaries by unsigned bytes. Index entries
    ///   with the same key order by the key of the table.
    /// - A page ends at `limit` items or at 1 MB, both counted before filter and projection. It may
    ///   be empty and still have a `last_evaluated_key`; the last page may be empty, too.
    /// - No match is an empty page, not an error.
    /// - Two pages are two reads: a write between them may be in the second one. The item that
    ///   `exclusive_start_key` names may have been deleted since.
    /// - A global index returns only attributes that it projects. A local index reads others from
    ///   the table, at the cost of that read.
    /// - Eventually consistent unless `consistent_read` is set.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: the table does not exist.
    /// - [`ErrorKind::Validation`]: the index does not exist or is being backfilled; the key
    ///   condition has no equality on the partition key; `consistent_read` on a global index; a
    ///   start key outside of the key condition.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn query(&self, request: Query) -> Result<Page>;

    /// Reads one page of all items of a table or index.
    ///
    /// - Order is that of a hash of the partition key, then as in [`query`](Self::query). Do not
    ///   rely on it: it differs between engines.
    /// - Page limits as in [`query`](Self::query): `limit` items or 1 MB, before the filter.
    /// - Segments of a parallel scan, at most 1,000,000, are disjoint and together complete.
    /// - An item that exists unchanged during the whole scan is returned once. Whether an item that
    ///   is written or deleted meanwhile is returned is undefined.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: the table does not exist.
    /// - [`ErrorKind::Validation`]: the index does not exist or is being backfilled;
    ///   `consistent_read` on a global index; a start key of another segment.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn scan(&self, request: Scan) -> Result<Page>;

    /// Reads up to 100 items by their keys, from one or more tables.
    ///
    /// - Not atomic: each item is read by itself. Use [`transact_get`](Self::transact_get) for a
    ///   snapshot.
    /// - A missing item is left out. The items of a table are in no defined order.
    /// - Keys that were not read are in `unprocessed_keys`: what would exceed 16 MB, and on a
    ///   service what was throttled. [`StoreExt::batch_get_all`] sends them again, and so does a
    ///   store with retries.
    /// - Consistency is chosen per table.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: one of the tables does not exist. Nothing was read.
    /// - [`ErrorKind::Validation`]: a key is given twice; no key, or more than 100.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn batch_get(&self, request: BatchGetItem) -> Result<BatchGetItemOutput>;

    /// Executes up to 25 puts and deletes without conditions, in one or more tables.
    ///
    /// - Not atomic: each write is, the batch is not. Use [`transact_write`](Self::transact_write)
    ///   for all or nothing. (The embedded stores commit a batch as one transaction; do not rely
    ///   on it.)
    /// - Order of the writes is undefined.
    /// - Writes that were not made are in `unprocessed_items`. [`StoreExt::batch_write_all`] sends
    ///   them again, and so does a store with retries.
    /// - Deleting a missing item succeeds.
    /// - At most [`Capabilities::batch_write_max`] writes, and 16 MB on a service.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: one of the tables does not exist. Nothing was written.
    /// - [`ErrorKind::Validation`]: one write is invalid; two writes are on one item; no write, or
    ///   too many. Nothing was written.
    /// - Any error with [`Applied::Maybe`]: any part of the batch may have been written.
    ///
    /// [`Applied::Maybe`]: crate::Applied::Maybe
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn batch_write(&self, request: BatchWriteItem) -> Result<BatchWriteItemOutput>;

    /// Reads up to 100 items as of one moment, from one or more tables.
    ///
    /// - A snapshot: it shows all writes of a transaction or none.
    /// - `responses` is in the order of the request; a missing item is `None`.
    /// - At most 4 MB of items, and no item twice.
    /// - Costs twice as many capacity units as consistent reads of the same items.
    ///
    /// # Errors
    /// - [`ErrorKind::TransactionCanceled`], with one reason per read: a key of the wrong type or,
    ///   on a service, another write to the item in flight. The embedded stores have no conflicts.
    /// - [`ErrorKind::NotFound`]: one of the tables does not exist.
    /// - [`ErrorKind::Validation`]: an item is read twice, or the items exceed 4 MB.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::TransactionCanceled`]: crate::ErrorKind::TransactionCanceled
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn transact_get(&self, request: TransactGetItems) -> Result<TransactGetItemsOutput>;

    /// Executes up to 100 writes and condition checks on distinct items, all or none.
    ///
    /// - Atomic, with index entries, stream records and the request token. Serializable with single
    ///   writes, [`get`](Self::get) and other transactions. [`query`](Self::query),
    ///   [`scan`](Self::scan) and [`batch_get`](Self::batch_get) may see a part of it on a service.
    /// - Conditions are evaluated on the items as they were before the transaction.
    /// - All operations whose condition fails are reported, not only the first.
    /// - At most 4 MB in the request.
    /// - With a request token of 1 to 36 characters the transaction is executed once: a repeated
    ///   request succeeds, changes nothing, and reports the capacity of reads. Tokens are kept for
    ///   10 minutes after completion; later the same request is executed again.
    /// - Costs a table twice the capacity units of single writes; indexes cost the same.
    /// - Stream records of a transaction are ordinary records, not grouped.
    ///
    /// # Errors
    /// - [`ErrorKind::TransactionCanceled`], with one reason per operation: a failed condition, an
    ///   invalid item, a conflict with a concurrent write, or throttling. Nothing was written.
    ///   Conflicts are common on a service and rare on the embedded stores.
    /// - [`ErrorKind::IdempotentParameterMismatch`]: the token was used with other operations.
    /// - [`ErrorKind::TransactionInProgress`]: on a service, a request with the token is in flight.
    /// - [`ErrorKind::NotFound`]: one of the tables does not exist.
    /// - [`ErrorKind::Validation`]: two operations are on one item; an expression or a number is
    ///   invalid; the request exceeds 4 MB.
    ///
    /// [`ErrorKind::IdempotentParameterMismatch`]: crate::ErrorKind::IdempotentParameterMismatch
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::TransactionCanceled`]: crate::ErrorKind::TransactionCanceled
    /// [`ErrorKind::TransactionInProgress`]: crate::ErrorKind::TransactionInProgress
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn transact_write(&self, request: TransactWriteItems)
    -> Result<TransactWriteItemsOutput>;

    /// Creates a table, and waits until it is active.
    ///
    /// - Attribute definitions are those of key attributes of table and indexes, and no others.
    /// - At most 20 global and 5 local indexes, 100 attributes projected by name in all, 50 tags.
    /// - Name of 3 to 255 characters out of `a-z`, `A-Z`, `0-9`, `_`, `.` and `-`.
    /// - A table of a name that was deleted is a new one: empty, with another `id` and stream.
    ///
    /// # Errors
    /// - [`ErrorKind::InUse`]: a table of this name exists.
    /// - [`ErrorKind::Unavailable`]: a service has not activated the table in time. It may still do
    ///   so; see [`StoreExt::create_table_if_missing`].
    ///
    /// [`ErrorKind::InUse`]: crate::ErrorKind::InUse
    /// [`ErrorKind::Unavailable`]: crate::ErrorKind::Unavailable
    async fn create_table(&self, request: CreateTable) -> Result<TableDescription>;

    /// Describes a table: keys, indexes, status, settings, number and size of its items.
    ///
    /// - Counts and sizes are exact on the embedded stores and up to six hours old on DynamoDB.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: the table does not exist.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    async fn describe_table(&self, request: DescribeTable) -> Result<TableDescription>;

    /// Changes a table, and waits until the change is complete.
    ///
    /// - One global index is created or deleted per call. Local indexes and keys never change.
    /// - A new index is backfilled before this returns. Writes continue meanwhile; reads of the
    ///   index fail. Items whose attributes cannot be its keys are left out of it.
    /// - Stream, encryption, table class and deletion protection have rules on what may be changed
    ///   together; the error names them.
    /// - A request without a change is refused, and so is a throughput that the table has already.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: the table or the index does not exist.
    /// - [`ErrorKind::LimitExceeded`]: two indexes at a time, or a 21st global index.
    /// - [`ErrorKind::Unavailable`] with [`Applied::Maybe`]: a service has accepted the change and
    ///   not completed it in time.
    ///
    /// [`Applied::Maybe`]: crate::Applied::Maybe
    /// [`ErrorKind::LimitExceeded`]: crate::ErrorKind::LimitExceeded
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Unavailable`]: crate::ErrorKind::Unavailable
    async fn update_table(&self, request: UpdateTable) -> Result<TableDescription>;

    /// Deletes a table with its items and indexes, and waits until no request finds it.
    ///
    /// - Returns the last description of the table, with the status `Deleting`.
    /// - Its stream is disabled; the records can be read for 24 hours after that.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: the table does not exist.
    /// - [`ErrorKind::Validation`]: the table has deletion protection.
    /// - [`ErrorKind::InUse`]: an index is being backfilled.
    ///
    /// [`ErrorKind::InUse`]: crate::ErrorKind::InUse
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn delete_table(&self, request: DeleteTable) -> Result<TableDescription>;

    /// Lists the names of all tables in ascending order, at most 100 per page.
    ///
    /// - `exclusive_start_table_name` need not be the name of a table.
    /// - A store without tables returns an empty page.
    /// - A table that is created or deleted between two pages may be missing or present.
    async fn list_tables(&self, request: ListTables) -> Result<ListTablesOutput>;

    /// Enables or disables the expiry of a table's items.
    ///
    /// - An item expires at the epoch second in its attribute, a top-level number. Items without
    ///   it, with another type, or with a time more than five years ago never expire.
    /// - Expired items are deleted in the background: every 60 seconds on the embedded stores by
    ///   default, within days on DynamoDB. Until then they are read and written like others;
    ///   [`not_expired`](crate::not_expired) is the filter for callers.
    /// - A deletion costs no capacity units. Its stream record has the identity
    ///   [`UserIdentity::time_to_live`](crate::ops::UserIdentity::time_to_live).
    /// - To change the attribute, disable expiry first. The embedded stores refuse a second change
    ///   within an hour.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: the table does not exist.
    /// - [`ErrorKind::Validation`]: expiry is enabled or disabled already, uses another attribute,
    ///   or was changed too recently.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn update_time_to_live(&self, request: UpdateTimeToLive) -> Result<UpdateTimeToLive>;

    /// Describes the expiry settings of a table: whether its items expire, and by which attribute.
    ///
    /// - A table whose expiry was never enabled is described as disabled.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`](crate::ErrorKind::NotFound): the table does not exist.
    async fn describe_time_to_live(
        &self,
        request: DescribeTimeToLive,
    ) -> Result<TimeToLiveDescription>;

    /// Adds tags to a table, and replaces the values of tags that it has.
    ///
    /// - All tags of the request are set, or none.
    /// - At most 50 tags per table; keys of 1 to 128 characters without the prefix `aws:`, values
    ///   of up to 256.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: the table does not exist.
    /// - [`ErrorKind::Validation`]: there is no tag, one is invalid, or the table would have more
    ///   than 50.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn tag_table(&self, request: TagTable) -> Result<()>;

    /// Removes tags from a table by their keys.
    ///
    /// - All tags of the request are removed, or none. At most 50 keys.
    /// - A key that the table does not have is no error; a missing table is one, of kind
    ///   [`ErrorKind::NotFound`](crate::ErrorKind::NotFound).
    async fn untag_table(&self, request: UntagTable) -> Result<()>;

    /// Lists all tags of a table, sorted by key.
    ///
    /// - A table without tags has an empty list; a missing table is an error of kind
    ///   [`ErrorKind::NotFound`](crate::ErrorKind::NotFound).
    /// - On DynamoDB the list may lag behind a recent change.
    async fn list_table_tags(&self, request: ListTableTags) -> Result<Tags>;

    /// Lists the streams whose records can be read, at most 100 per page.
    ///
    /// - Includes streams that were disabled, or whose table was deleted, less than 24 hours ago.
    /// - A table that has no stream, or does not exist, gives an empty list.
    async fn list_streams(&self, request: ListStreams) -> Result<ListStreamsOutput>;

    /// Describes a stream and a page of its shards, at most 100, parents before children.
    ///
    /// - Records of one item are in one shard and its descendants, in order. Read a parent to its
    ///   end before its children.
    /// - A stream gets new shards over time: list them again while you read.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]: the stream does not exist, or was disabled more than 24 hours ago.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    async fn describe_stream(&self, request: DescribeStream) -> Result<StreamDescription>;

    /// Creates an iterator at a position of a shard. It can be used for 15 minutes.
    ///
    /// To resume later, store the sequence number of the last record and ask for
    /// [`ShardPosition::After`] it.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: the stream or the shard does not exist, or no longer.
    /// - [`ErrorKind::TrimmedData`]: the records at the sequence number were deleted.
    /// - [`ErrorKind::Validation`]: the sequence number is not one of the shard.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::TrimmedData`]: crate::ErrorKind::TrimmedData
    /// [`ErrorKind::Validation`]: crate::ErrorKind::Validation
    async fn get_shard_iterator(&self, request: GetShardIterator) -> Result<ShardIterator>;

    /// Reads change records of a shard, from an iterator on, in the order of the changes.
    ///
    /// - At most 1000 records and 1 MB; one record alone may be larger.
    /// - No record and a `next_iterator` means: none yet, ask again. No `next_iterator` means: the
    ///   shard is closed and was read to its end.
    /// - Every change of an item is one record. Records can be read for 24 hours.
    /// - Using an iterator again reads from the same position.
    ///
    /// # Errors
    /// - [`ErrorKind::ExpiredIterator`]: the iterator is older than 15 minutes.
    /// - [`ErrorKind::TrimmedData`]: the records at the iterator were deleted.
    ///
    /// [`ErrorKind::ExpiredIterator`]: crate::ErrorKind::ExpiredIterator
    /// [`ErrorKind::TrimmedData`]: crate::ErrorKind::TrimmedData
    async fn get_records(&self, request: GetRecords) -> Result<GetRecordsOutput>;
}
