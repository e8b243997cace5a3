//! A store that remembers what it was asked, and what that cost.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::Operation;
use crate::error::Result;
use crate::ops::*;
use crate::{Capabilities, Store};

/// A store that remembers every operation on items: which, through which index, how many items it
/// gave, and how many capacity units it took.
#[derive(Clone, Debug)]
pub struct Traced {
    store: Arc<dyn Store>,
    traces: Arc<Mutex<Vec<Trace>>>,
}

/// One operation that was carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What was asked.
    pub operation: Operation,
    /// The index that was read.
    pub index: Option<String>,
    /// How many items were read, or written.
    pub items: usize,
    /// What it cost.
    pub units: f64,
}

impl Traced {
    /// This store, with a memory.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, traces: Arc::default() }
    }

    /// What was carried out since the last time that somebody asked.
    pub fn take(&self) -> Vec<Trace> {
        std::mem::take(&mut *self.traces.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, operation: Operation, items: usize, capacity: &[ConsumedCapacity]) {
        self.note_index(operation, None, items, capacity);
    }

    fn note_index(
        &self,
        operation: Operation,
        index: Option<String>,
        items: usize,
        capacity: &[ConsumedCapacity],
    ) {
        let units = capacity.iter().map(|capacity| capacity.capacity_units).sum();
        let trace = Trace { operation, index, items, units };
        self.traces.lock().unwrap_or_else(PoisonError::into_inner).push(trace);
    }
}

const WANTED: ReturnConsumedCapacity = ReturnConsumedCapacity::Total;

fn of(capacity: &Option<ConsumedCapacity>) -> &[ConsumedCapacity] {
    capacity.as_slice()
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for Traced {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    async fn get(&self, mut request: GetItem) -> Result<GetItemOutput> {
        request.return_consumed_capacity = WANTED;
        let output = self.store.get(request).await?;
        let items = usize::from(output.item.is_some());
        self.note(Operation::GetItem, items, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn put(&self, mut request: PutItem) -> Result<WriteOutput> {
        request.return_consumed_capacity = WANTED;
        let output = self.store.put(request).await?;
        self.note(Operation::PutItem, 1, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn update(&self, mut request: UpdateItem) -> Result<WriteOutput> {
        request.return_consumed_capacity = WANTED;
        let output = self.store.update(request).await?;
        self.note(Operation::UpdateItem, 1, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn delete(&self, mut request: DeleteItem) -> Result<WriteOutput> {
        request.return_consumed_capacity = WANTED;
        let output = self.store.delete(request).await?;
        self.note(Operation::DeleteItem, 1, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn query(&self, mut request: Query) -> Result<Page> {
        request.return_consumed_capacity = WANTED;
        let index = request.index.clone();
        let output = self.store.query(request).await?;
        let items = output.items.len();
        self.note_index(Operation::Query, index, items, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn scan(&self, mut request: Scan) -> Result<Page> {
        request.return_consumed_capacity = WANTED;
        let index = request.index.clone();
        let output = self.store.scan(request).await?;
        let items = output.items.len();
        self.note_index(Operation::Scan, index, items, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn batch_get(&self, mut request: BatchGetItem) -> Result<BatchGetItemOutput> {
        request.return_consumed_capacity = WANTED;
        let output = self.store.batch_get(request).await?;
        let items = output.responses.values().map(Vec::len).sum();
        self.note(Operation::BatchGetItem, items, &output.consumed_capacity);
        Ok(output)
    }

    async fn batch_write(&self, mut request: BatchWriteItem) -> Result<BatchWriteItemOutput> {
        request.return_consumed_capacity = WANTED;
        let items = request.requests.values().map(Vec::len).sum();
        let output = self.store.batch_write(request).await?;
        self.note(Operation::BatchWriteItem, items, &output.consumed_capacity);
        Ok(output)
    }

    async fn transact_get(&self, mut request: TransactGetItems) -> Result<TransactGetItemsOutput> {
        request.return_consumed_capacity = WANTED;
        let output = self.store.transact_get(request).await?;
        let items = output.responses.iter().flatten().count();
        self.note(Operation::TransactGetItems, items, &output.consumed_capacity);
        Ok(output)
    }

    async fn transact_write(
        &self,
        mut request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        request.return_consumed_capacity = WANTED;
        let items = request.items.len();
        let output = self.store.transact_write(request).await?;
        self.note(Operation::TransactWriteItems, items, &output.consumed_capacity);
        Ok(output)
    }

    async fn create_table(&self, request: CreateTable) -> Result<TableDescription> {
        self.store.create_table(request).await
    }

    async fn describe_table(&self, request: DescribeTable) -> Result<TableDescription> {
        self.store.describe_table(request).await
    }

    async fn update_table(&self, request: UpdateTable) -> Result<TableDescription> {
        self.store.update_table(request).await
    }

    async fn delete_table(&self, request: DeleteTable) -> Result<TableDescription> {
        self.store.delete_table(request).await
    }

    async fn list_tables(&self, request: ListTables) -> Result<ListTablesOutput> {
        self.store.list_tables(request).await
    }

    async fn update_time_to_live(&self, request: UpdateTimeToLive) -> Result<UpdateTimeToLive> {
        self.store.update_time_to_live(request).await
    }

    async fn describe_time_to_live(
        &self,
        request: DescribeTimeToLive,
    ) -> Result<TimeToLiveDescription> {
        self.store.describe_time_to_live(request).await
    }

    async fn tag_table(&self, request: TagTable) -> Result<()> {
        self.store.tag_table(request).await
    }

    async fn untag_table(&self, request: UntagTable) -> Result<()> {
        self.store.untag_table(request).await
    }

    async fn list_table_tags(&self, request: ListTableTags) -> Result<Tags> {
        self.store.list_table_tags(request).await
    }

    async fn list_streams(&self, request: ListStreams) -> Result<ListStreamsOutput> {
        self.store.list_streams(request).await
    }

    async fn describe_stream(&self, request: DescribeStream) -> Result<StreamDescription> {
        self.store.describe_stream(request).await
    }

    async fn get_shard_iterator(&self, request: GetShardIterator) -> Result<ShardIterator> {
        self.store.get_shard_iterator(request).await
    }

    async fn get_records(&self, request: GetRecords) -> Result<GetRecordsOutput> {
        self.store.get_records(request).await
    }
}
