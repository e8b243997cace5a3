//! A store that remembers what it was asked, and what that cost.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::Operation;
use crate::error::Result;
use crate::ops::*;
use crate::{Capabilities, Expr, Item, Store};

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
    /// The items that the request names by their keys; those of a batch are not told apart.
    pub touched: Vec<Touched>,
    /// What it cost.
    pub units: f64,
}

/// What a request does to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Touch {
    Get,
    Put,
    Update,
    Delete,
    Check,
}

/// An item that a request names.
#[derive(Clone, Debug, PartialEq)]
pub struct Touched {
    /// What is done to it.
    pub touch: Touch,
    /// Its table, as the store knows it.
    pub table: String,
    /// Its key; the whole item where it is put.
    pub item: Item,
    /// The attributes that an update changes.
    pub changed: Vec<String>,
}

impl Touched {
    fn new(touch: Touch, table: &str, item: &Item) -> Self {
        Self { touch, table: table.to_owned(), item: item.clone(), changed: Vec::new() }
    }

    fn update(request: &UpdateItem) -> Self {
        // An update in text, with its placeholders, is not one of the entity layer.
        let changed = match &request.update {
            Some(Expr::Tree(update)) => {
                update.touched().map(|path| path.root().to_owned()).collect()
            }
            Some(Expr::Text(_)) | None => Vec::new(),
        };
        Self { changed, ..Self::new(Touch::Update, &request.table, &request.key) }
    }

    fn of(item: &TransactWriteItem) -> Self {
        match item {
            TransactWriteItem::Put(put) => Self::new(Touch::Put, &put.table, &put.item),
            TransactWriteItem::Update(update) => Self::update(update),
            TransactWriteItem::Delete(delete) => {
                Self::new(Touch::Delete, &delete.table, &delete.key)
            }
            TransactWriteItem::ConditionCheck(check) => {
                Self::new(Touch::Check, &check.table, &check.key)
            }
        }
    }
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
        self.note_trace(operation, None, items, Vec::new(), capacity);
    }

    fn note_touched(
        &self,
        operation: Operation,
        items: usize,
        touched: Vec<Touched>,
        capacity: &[ConsumedCapacity],
    ) {
        self.note_trace(operation, None, items, touched, capacity);
    }

    fn note_trace(
        &self,
        operation: Operation,
        index: Option<String>,
        items: usize,
        touched: Vec<Touched>,
        capacity: &[ConsumedCapacity],
    ) {
        let units = capacity.iter().map(|capacity| capacity.capacity_units).sum();
        let trace = Trace { operation, index, items, touched, units };
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
        let touched = vec![Touched::new(Touch::Get, &request.table, &request.key)];
        let output = self.store.get(request).await?;
        let items = usize::from(output.item.is_some());
        self.note_touched(Operation::GetItem, items, touched, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn put(&self, mut request: PutItem) -> Result<WriteOutput> {
        request.return_consumed_capacity = WANTED;
        let touched = vec![Touched::new(Touch::Put, &request.table, &request.item)];
        let output = self.store.put(request).await?;
        self.note_touched(Operation::PutItem, 1, touched, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn update(&self, mut request: UpdateItem) -> Result<WriteOutput> {
        request.return_consumed_capacity = WANTED;
        let touched = vec![Touched::update(&request)];
        let output = self.store.update(request).await?;
        self.note_touched(Operation::UpdateItem, 1, touched, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn delete(&self, mut request: DeleteItem) -> Result<WriteOutput> {
        request.return_consumed_capacity = WANTED;
        let touched = vec![Touched::new(Touch::Delete, &request.table, &request.key)];
        let output = self.store.delete(request).await?;
        self.note_touched(Operation::DeleteItem, 1, touched, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn query(&self, mut request: Query) -> Result<Page> {
        request.return_consumed_capacity = WANTED;
        let index = request.index.clone();
        let output = self.store.query(request).await?;
        let items = output.items.len();
        self.note_trace(Operation::Query, index, items, Vec::new(), of(&output.consumed_capacity));
        Ok(output)
    }

    async fn scan(&self, mut request: Scan) -> Result<Page> {
        request.return_consumed_capacity = WANTED;
        let index = request.index.clone();
        let output = self.store.scan(request).await?;
        let items = output.items.len();
        self.note_trace(Operation::Scan, index, items, Vec::new(), of(&output.consumed_capacity));
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
        let touched: Vec<Touched> = request.items.iter().map(Touched::of).collect();
        let output = self.store.transact_write(request).await?;
        let items = touched.len();
        self.note_touched(Operation::TransactWriteItems, items, touched, &output.consumed_capacity);
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
