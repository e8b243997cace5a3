//! The wrapper.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tabla_core::env::{Clock, SystemClock};
use tabla_core::ops::*;
use tabla_core::{Capabilities, Error, Item, Result, Store};

use super::failure::{self, Failure, Failures, Operation, Progress};
use super::kinds::Fault;

/// A store with a [`Fault`], with [`Failures`], or with neither: then it is as the store inside.
#[derive(Debug)]
pub struct FaultStore<S> {
    pub(super) store: S,
    pub(super) clock: Arc<dyn Clock>,
    fault: Option<Fault>,
    failures: Progress,
    memory: Mutex<Memory>,
}

/// What faults remember.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Items of a table whose index entries should be gone.
    pub(super) stale: Vec<(String, Item)>,
    /// Keys that an index of a table does not show.
    pub(super) hidden: Vec<(String, String, Item)>,
    /// Client request tokens.
    pub(super) tokens: BTreeSet<String>,
}

impl<S: Store> FaultStore<S> {
    /// This store, as it is.
    pub fn new(store: S) -> Self {
        Self {
            store,
            clock: Arc::new(SystemClock),
            fault: None,
            failures: Progress::default(),
            memory: Mutex::default(),
        }
    }

    /// Breaks this rule.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Fails by this plan.
    #[must_use]
    pub fn failures(mut self, failures: Failures) -> Self {
        self.failures = Progress::new(failures);
        self
    }

    /// The clock of the store inside, for faults that look at it.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The store inside, to see what it holds.
    pub fn inner(&self) -> &S {
        &self.store
    }

    /// Whether no rule is broken, so that requests and answers pass as they are.
    pub(super) fn is_sound(&self) -> bool {
        self.fault.is_none()
    }

    pub(super) fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// The fault, if it is one in judging conditions.
    pub(super) fn judge(&self) -> Option<Fault> {
        self.fault.filter(|fault| fault.judges())
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call, or lets it fail as the plan says. `conflict` is the error of a call that
    /// meets a transaction, if it can.
    async fn call<T>(
        &self,
        operation: Operation,
        conflict: Option<Error>,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let failure = self.failures.next(operation);
        self.outcome(operation, failure, conflict, call).await
    }

    /// How many operations of a batch stay unprocessed, and how it fails as a whole.
    fn batch_failure(&self, operation: Operation) -> (usize, Option<Failure>) {
        match self.failures.next(operation) {
            Some(Failure::Unprocessed(count)) => (count, None),
            other => (0, other),
        }
    }

    async fn outcome<T>(
        &self,
        operation: Operation,
        failure: Option<Failure>,
        conflict: Option<Error>,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        match (failure, conflict) {
            (Some(Failure::Throttled), _) => Err(failure::throttled()),
            (Some(Failure::Unavailable), _) => Err(failure::unavailable()),
            (Some(Failure::Conflict), Some(conflict)) => Err(conflict),
            (Some(Failure::AnswerLost), _) => {
                call.await?;
                Err(failure::answer_lost(operation))
            }
            (Some(Failure::Conflict | Failure::Unprocessed(_)) | None, _) => call.await,
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for FaultStore<S> {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    async fn get(&self, request: GetItem) -> Result<GetItemOutput> {
        self.call(Operation::Get, None, self.faulty_get(request)).await
    }

    async fn put(&self, request: PutItem) -> Result<WriteOutput> {
        let conflict = Some(failure::conflict());
        self.call(Operation::Put, conflict, self.faulty_put(request)).await
    }

    async fn update(&self, request: UpdateItem) -> Result<WriteOutput> {
        let conflict = Some(failure::conflict());
        self.call(Operation::Update, conflict, self.faulty_update(request)).await
    }

    async fn delete(&self, request: DeleteItem) -> Result<WriteOutput> {
        let conflict = Some(failure::conflict());
        self.call(Operation::Delete, conflict, self.faulty_delete(request)).await
    }

    async fn query(&self, request: Query) -> Result<Page> {
        self.call(Operation::Query, None, self.faulty_query(request)).await
    }

    async fn scan(&self, request: Scan) -> Result<Page> {
        self.call(Operation::Scan, None, self.faulty_scan(request)).await
    }

    async fn batch_get(&self, request: BatchGetItem) -> Result<BatchGetItemOutput> {
        let (left, failure) = self.batch_failure(Operation::BatchGet);
        let call = self.faulty_batch_get(request, left);
        self.outcome(Operation::BatchGet, failure, None, call).await
    }

    async fn batch_write(&self, request: BatchWriteItem) -> Result<BatchWriteItemOutput> {
        let (left, failure) = self.batch_failure(Operation::BatchWrite);
        let call = self.faulty_batch_write(request, left);
        self.outcome(Operation::BatchWrite, failure, None, call).await
    }

    async fn transact_get(&self, request: TransactGetItems) -> Result<TransactGetItemsOutput> {
        let conflict = Some(failure::cancelled(request.items.len()));
        self.call(Operation::TransactGet, conflict, self.store.transact_get(request)).await
    }

    async fn transact_write(
        &self,
        request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        let conflict = Some(failure::cancelled(request.items.len()));
        self.call(Operation::TransactWrite, conflict, self.faulty_transact_write(request)).await
    }

    async fn create_table(&self, request: CreateTable) -> Result<TableDescription> {
        self.call(Operation::CreateTable, None, self.store.create_table(request)).await
    }

    async fn describe_table(&self, request: DescribeTable) -> Result<TableDescription> {
        self.call(Operation::DescribeTable, None, self.store.describe_table(request)).await
    }

    async fn update_table(&self, request: UpdateTable) -> Result<TableDescription> {
        self.call(Operation::UpdateTable, None, self.faulty_update_table(request)).await
    }

    async fn delete_table(&self, request: DeleteTable) -> Result<TableDescription> {
        self.call(Operation::DeleteTable, None, self.faulty_delete_table(request)).await
    }

    async fn list_tables(&self, request: ListTables) -> Result<ListTablesOutput> {
        self.call(Operation::ListTables, None, self.faulty_list_tables(request)).await
    }

    async fn update_time_to_live(&self, request: UpdateTimeToLive) -> Result<UpdateTimeToLive> {
        let call = self.store.update_time_to_live(request);
        self.call(Operation::UpdateTimeToLive, None, call).await
    }

    async fn describe_time_to_live(
        &self,
        request: DescribeTimeToLive,
    ) -> Result<TimeToLiveDescription> {
        let call = self.store.describe_time_to_live(request);
        self.call(Operation::DescribeTimeToLive, None, call).await
    }

    async fn tag_table(&self, request: TagTable) -> Result<()> {
        self.call(Operation::TagTable, None, self.store.tag_table(request)).await
    }

    async fn untag_table(&self, request: UntagTable) -> Result<()> {
        self.call(Operation::UntagTable, None, self.store.untag_table(request)).await
    }

    async fn list_table_tags(&self, request: ListTableTags) -> Result<Tags> {
        self.call(Operation::ListTableTags, None, self.store.list_table_tags(request)).await
    }

    async fn list_streams(&self, request: ListStreams) -> Result<ListStreamsOutput> {
        self.call(Operation::ListStreams, None, self.store.list_streams(request)).await
    }

    async fn describe_stream(&self, request: DescribeStream) -> Result<StreamDescription> {
        self.call(Operation::DescribeStream, None, self.store.describe_stream(request)).await
    }

    async fn get_shard_iterator(&self, request: GetShardIterator) -> Result<ShardIterator> {
        let call = self.store.get_shard_iterator(request);
        self.call(Operation::GetShardIterator, None, call).await
    }

    async fn get_records(&self, request: GetRecords) -> Result<GetRecordsOutput> {
        self.call(Operation::GetRecords, None, self.store.get_records(request)).await
    }
}
