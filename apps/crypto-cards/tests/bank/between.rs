//! A store that lets something happen around its calls.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use futures::future::BoxFuture;
use tabla::ops::*;
use tabla::{Capabilities, Result, Store};

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Transaction,
    Other,
}

/// Happens before a call; an error is its answer, and the call is not made.
pub(crate) type Before = Arc<dyn Fn(Call) -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// Lets something happen before each call, and others have their turn after it.
pub(crate) struct Between {
    store: Arc<dyn Store>,
    before: Before,
}

impl Between {
    pub(crate) fn new(store: Arc<dyn Store>, before: Before) -> Self {
        Self { store, before }
    }

    /// Only lets others have their turn: before each call and after it.
    pub(crate) fn turns(store: Arc<dyn Store>) -> Self {
        let turn: Before = Arc::new(|_| {
            Box::pin(async {
                tokio::task::yield_now().await;
                Ok(())
            })
        });
        Self::new(store, turn)
    }
}

impl fmt::Debug for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

/// Lets something happen before the nth call of a kind, counted from 1.
pub(crate) fn at_call<F>(
    kind: Call,
    number: u32,
    what: impl Fn() -> F + Send + Sync + 'static,
) -> Before
where
    F: Future<Output = ()> + Send + 'static,
{
    let calls = AtomicU32::new(0);
    Arc::new(move |call| {
        let is_it = call == kind && calls.fetch_add(1, Ordering::Relaxed) + 1 == number;
        let what = is_it.then(&what);
        Box::pin(async move {
            if let Some(what) = what {
                what.await;
            }
            Ok(())
        })
    })
}

macro_rules! between {
    ($($method:ident($request:ty) -> $answer:ty, $call:ident;)+) => {
        #[async_trait]
        impl Store for Between {
            fn capabilities(&self) -> Capabilities {
                self.store.capabilities()
            }

            $(
                async fn $method(&self, request: $request) -> Result<$answer> {
                    (self.before)(Call::$call).await?;
                    let answer = self.store.$method(request).await;
                    tokio::task::yield_now().await;
                    answer
                }
            )+
        }
    };
}

between! {
    get(GetItem) -> GetItemOutput, Other;
    put(PutItem) -> WriteOutput, Other;
    update(UpdateItem) -> WriteOutput, Other;
    delete(DeleteItem) -> WriteOutput, Other;
    query(Query) -> Page, Other;
    scan(Scan) -> Page, Other;
    batch_get(BatchGetItem) -> BatchGetItemOutput, Other;
    batch_write(BatchWriteItem) -> BatchWriteItemOutput, Other;
    transact_get(TransactGetItems) -> TransactGetItemsOutput, Other;
    transact_write(TransactWriteItems) -> TransactWriteItemsOutput, Transaction;
    create_table(CreateTable) -> TableDescription, Other;
    describe_table(DescribeTable) -> TableDescription, Other;
    update_table(UpdateTable) -> TableDescription, Other;
    delete_table(DeleteTable) -> TableDescription, Other;
    list_tables(ListTables) -> ListTablesOutput, Other;
    update_time_to_live(UpdateTimeToLive) -> UpdateTimeToLive, Other;
    describe_time_to_live(DescribeTimeToLive) -> TimeToLiveDescription, Other;
    tag_table(TagTable) -> (), Other;
    untag_table(UntagTable) -> (), Other;
    list_table_tags(ListTableTags) -> Tags, Other;
    list_streams(ListStreams) -> ListStreamsOutput, Other;
    describe_stream(DescribeStream) -> StreamDescription, Other;
    get_shard_iterator(GetShardIterator) -> ShardIterator, Other;
    get_records(GetRecords) -> GetRecordsOutput, Other;
}
