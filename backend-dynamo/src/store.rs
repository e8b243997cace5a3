//! The store and its implementation of [`Store`]. Each method calls the module of its family.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tabla_core::env::{Clock, Env};
use tabla_core::ops::*;
use tabla_core::{Capabilities, Requirement, Result, Store};

use crate::engine::require;
use crate::prefix::TablePrefix;
use crate::{DynamoConfig, Engine};

/// [`Store`] on DynamoDB, or on an engine that speaks its protocol.
///
/// The service evaluates expressions: they are sent as the caller's text, or rendered from the
/// caller's tree. A request for a missing capability of the engine is refused before it is sent.
///
/// Each call is sent once. The SDK's retries are off, because core's retry policy retries. The
/// error of a write whose response was lost has [`tabla_core::Applied::Maybe`].
///
/// Cloning is cheap, and clones share their connections.
#[derive(Clone, Debug)]
pub struct DynamoStore {
    pub(crate) client: aws_sdk_dynamodb::Client,
    pub(crate) streams: aws_sdk_dynamodbstreams::Client,
    pub(crate) prefix: TablePrefix,
    pub(crate) engine: Engine,
    pub(crate) table_timeout: Duration,
    clock: Arc<dyn Clock>,
}

impl DynamoStore {
    /// Returns a store on the caller's SDK clients.
    ///
    /// Endpoint, credentials, time-outs and retries are those of the clients. Of `config`, only the
    /// table prefix, the engine (default: [`Engine::DynamoDb`]) and the limit on waiting for tables
    /// are used. Turn off the clients' retries: otherwise the attempts of both policies multiply.
    ///
    /// # Errors
    /// The table prefix has a character that table names cannot have.
    pub fn from_client(
        client: aws_sdk_dynamodb::Client,
        streams: aws_sdk_dynamodbstreams::Client,
        config: &DynamoConfig,
    ) -> Result<Self> {
        Ok(Self {
            client,
            streams,
            prefix: TablePrefix::new(&config.table_prefix)?,
            engine: config.engine.unwrap_or(Engine::DynamoDb),
            table_timeout: config.table_timeout,
            clock: Env::system().clock,
        })
    }

    /// Sets the clock that measures waits for tables.
    #[must_use]
    pub fn with_env(mut self, env: &Env) -> Self {
        self.clock = Arc::clone(&env.clock);
        self
    }

    /// Returns the engine of the service, as configured or detected.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Returns the SDK's client, for operations that [`Store`] does not have.
    ///
    /// Its table names are those of [`DynamoStore::prefixed_table_name`].
    pub fn client(&self) -> &aws_sdk_dynamodb::Client {
        &self.client
    }

    /// Returns the SDK's client for streams.
    pub fn streams_client(&self) -> &aws_sdk_dynamodbstreams::Client {
        &self.streams
    }

    /// Returns the service's name of a table, with the prefix.
    pub fn prefixed_table_name(&self, table: &str) -> String {
        self.prefix.add(table.to_owned())
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Checks that the engine has a capability.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Unsupported`] with the operation and, if not empty, the argument.
    pub(crate) fn require(
        &self,
        requirement: Requirement,
        operation: &str,
        argument: &str,
    ) -> Result<()> {
        require(&self.engine.capabilities(), requirement, operation, argument)
    }

    /// Checks that the engine has item-collection metrics, if the request asks for them.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Unsupported`] if it has none.
    pub(crate) fn require_metrics(
        &self,
        metrics: ReturnItemCollectionMetrics,
        operation: &str,
    ) -> Result<()> {
        match metrics {
            ReturnItemCollectionMetrics::None => Ok(()),
            ReturnItemCollectionMetrics::Size => self.require(
                Requirement::ItemCollectionMetrics,
                operation,
                "return_item_collection_metrics",
            ),
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for DynamoStore {
    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    /// Returns `None`: this store has no extensions.
    fn extension_by_id(&self, _: std::any::TypeId) -> Option<tabla_core::Extension> {
        None
    }

    async fn get(&self, request: GetItem) -> Result<GetItemOutput> {
        self.get_item(request).await
    }

    async fn put(&self, request: PutItem) -> Result<WriteOutput> {
        self.put_item(request).await
    }

    async fn update(&self, request: UpdateItem) -> Result<WriteOutput> {
        self.update_item(request).await
    }

    async fn delete(&self, request: DeleteItem) -> Result<WriteOutput> {
        self.delete_item(request).await
    }

    async fn query(&self, request: Query) -> Result<Page> {
        self.query_page(request).await
    }

    async fn scan(&self, request: Scan) -> Result<Page> {
        self.scan_page(request).await
    }

    async fn batch_get(&self, request: BatchGetItem) -> Result<BatchGetItemOutput> {
        self.batch_get_item(request).await
    }

    async fn batch_write(&self, request: BatchWriteItem) -> Result<BatchWriteItemOutput> {
        self.batch_write_item(request).await
    }

    async fn transact_get(&self, request: TransactGetItems) -> Result<TransactGetItemsOutput> {
        self.transact_get_items(request).await
    }

    async fn transact_write(
        &self,
        request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        self.transact_write_items(request).await
    }

    async fn create_table(&self, request: CreateTable) -> Result<TableDescription> {
        self.create_table_and_wait(request).await
    }

    async fn describe_table(&self, request: DescribeTable) -> Result<TableDescription> {
        self.describe(request.table).await
    }

    async fn update_table(&self, request: UpdateTable) -> Result<TableDescription> {
        self.update_table_and_wait(request).await
    }

    async fn delete_table(&self, request: DeleteTable) -> Result<TableDescription> {
        self.delete_table_and_wait(request).await
    }

    async fn list_tables(&self, request: ListTables) -> Result<ListTablesOutput> {
        self.list_own_tables(request).await
    }

    async fn update_time_to_live(&self, request: UpdateTimeToLive) -> Result<UpdateTimeToLive> {
        self.set_time_to_live(request).await
    }

    async fn describe_time_to_live(
        &self,
        request: DescribeTimeToLive,
    ) -> Result<TimeToLiveDescription> {
        self.time_to_live(request).await
    }

    async fn tag_table(&self, request: TagTable) -> Result<()> {
        self.add_tags(request).await
    }

    async fn untag_table(&self, request: UntagTable) -> Result<()> {
        self.remove_tags(request).await
    }

    async fn list_table_tags(&self, request: ListTableTags) -> Result<Tags> {
        self.tags(request).await
    }

    async fn list_streams(&self, request: ListStreams) -> Result<ListStreamsOutput> {
        self.list_own_streams(request).await
    }

    async fn describe_stream(&self, request: DescribeStream) -> Result<StreamDescription> {
        self.stream(request).await
    }

    async fn get_shard_iterator(&self, request: GetShardIterator) -> Result<ShardIterator> {
        self.shard_iterator(request).await
    }

    async fn get_records(&self, request: GetRecords) -> Result<GetRecordsOutput> {
        self.records(request).await
    }
}
