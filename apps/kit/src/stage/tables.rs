//! Tables of one test on a server that many tests share.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::thread;

use async_trait::async_trait;
use tabla::dynamodb::{DynamoConfig, DynamoStore};
use tabla::env::Env;
use tabla::ops::*;
use tabla::{Capabilities, Result, Store, StoreExt};
use tabla_testkit::dynamodb::Endpoint;

/// A store whose tables are deleted with it.
#[derive(Debug)]
pub(crate) struct Tables {
    store: DynamoStore,
    config: DynamoConfig,
    /// What was said of tables whose items expire.
    expiries: Mutex<BTreeMap<String, UpdateTimeToLive>>,
    /// Held so that the server goes on running.
    _server: Endpoint,
}

impl Tables {
    pub(crate) async fn open(server: Endpoint) -> Result<Self> {
        let prefix = format!("app-{}-", Env::system().token());
        let config = DynamoConfig::at(server.url()).with_table_prefix(prefix);
        let store = DynamoStore::open(&config).await?;
        Ok(Self { store, config, expiries: Mutex::default(), _server: server })
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        let config = self.config.clone();
        // The runtime of the test may be going down: what is asked of the server has another one.
        let cleared = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(clear(&config))
        });
        let cleared = cleared.join().unwrap_or(Ok(()));
        if let (Err(error), false) = (cleared, thread::panicking()) {
            panic!("the tables of a test stay on the server: {error}");
        }
    }
}

async fn clear(config: &DynamoConfig) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let store = DynamoStore::open(config).await?;
    for table in store.all_tables().await? {
        store.delete_table(DeleteTable::new(table)).await?;
    }
    Ok(())
}

/// Passes everything on, but for what these tests do not mean.
macro_rules! pass_on {
    ($($operation:ident($request:ty) -> $answer:ty;)+) => {
        #[async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl Store for Tables {
            fn capabilities(&self) -> Capabilities {
                self.store.capabilities()
            }

            /// Nothing expires by the clock of the server, which is not that of the test: it would
            /// delete what has yet to expire there.
            async fn update_time_to_live(
                &self,
                request: UpdateTimeToLive,
            ) -> Result<UpdateTimeToLive> {
                let mut expiries = self.expiries.lock().unwrap_or_else(PoisonError::into_inner);
                expiries.insert(request.table.clone(), request.clone());
                Ok(request)
            }

            async fn describe_time_to_live(
                &self,
                request: DescribeTimeToLive,
            ) -> Result<TimeToLiveDescription> {
                let expiries = self.expiries.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(match expiries.get(&request.table).filter(|said| said.enabled) {
                    Some(said) => TimeToLiveDescription {
                        status: TimeToLiveStatus::Enabled,
                        attribute: Some(said.attribute.clone()),
                    },
                    None => TimeToLiveDescription {
                        status: TimeToLiveStatus::Disabled,
                        attribute: None,
                    },
                })
            }

            $(
                async fn $operation(&self, request: $request) -> Result<$answer> {
                    self.store.$operation(request).await
                }
            )+
        }
    };
}

pass_on! {
    get(GetItem) -> GetItemOutput;
    put(PutItem) -> WriteOutput;
    update(UpdateItem) -> WriteOutput;
    delete(DeleteItem) -> WriteOutput;
    query(Query) -> Page;
    scan(Scan) -> Page;
    batch_get(BatchGetItem) -> BatchGetItemOutput;
    batch_write(BatchWriteItem) -> BatchWriteItemOutput;
    transact_get(TransactGetItems) -> TransactGetItemsOutput;
    transact_write(TransactWriteItems) -> TransactWriteItemsOutput;
    create_table(CreateTable) -> TableDescription;
    describe_table(DescribeTable) -> TableDescription;
    update_table(UpdateTable) -> TableDescription;
    delete_table(DeleteTable) -> TableDescription;
    list_tables(ListTables) -> ListTablesOutput;
    tag_table(TagTable) -> ();
    untag_table(UntagTable) -> ();
    list_table_tags(ListTableTags) -> Tags;
    list_streams(ListStreams) -> ListStreamsOutput;
    describe_stream(DescribeStream) -> StreamDescription;
    get_shard_iterator(GetShardIterator) -> ShardIterator;
    get_records(GetRecords) -> GetRecordsOutput;
}
