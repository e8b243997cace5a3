//! Trying again: how often, how long to wait, and what for.

use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;

use super::{Capabilities, Store};
use crate::env::Env;
use crate::error::{Applied, Error, Result, Retry};
use crate::ops::*;

/// How often to try, and how long to wait in between.
///
/// The waits grow by doubling up to a cap, and each is drawn at random between nothing and its
/// bound ("full jitter"), so that callers that collided once do not collide again in step.
#[derive(Clone, Debug)]
pub struct RetryPolicy {
    /// How many calls are made at most, the first included.
    pub attempts: u32,
    /// The bound of the first wait.
    pub base: Duration,
    /// The bound of every wait.
    pub cap: Duration,
    /// The clock to wait by, and the randomness to draw from.
    pub env: Env,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 10,
            base: Duration::from_millis(25),
            cap: Duration::from_secs(5),
            env: Env::system(),
        }
    }
}

/// Whether a call may be made again although an earlier one may have been carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Yes: a second time changes nothing more.
    Safe,
    /// No: only if nothing has happened for sure.
    OnlyIfNotApplied,
}

impl RetryPolicy {
    /// A policy that never tries again.
    pub fn none() -> Self {
        Self { attempts: 1, ..Self::default() }
    }

    /// Calls until it succeeds, fails for good, or the attempts run out.
    ///
    /// # Errors
    /// The last error; with [`Retry::Exhausted`] if trying again might still have helped.
    pub async fn run<T, F>(&self, repeat: Repeat, mut call: impl FnMut() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let mut attempt = 1;
        loop {
            let error = match call().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let is_settled = error.applied() == Applied::No || repeat == Repeat::Safe;
            if error.retry() != Retry::Later || !is_settled {
                return Err(error);
            }
            if attempt >= self.attempts {
                return Err(error.with_retry(Retry::Exhausted));
            }
            self.wait(attempt).await;
            attempt += 1;
        }
    }

    /// Waits before the call after the `attempt`th.
    pub async fn wait(&self, attempt: u32) {
        let delay = self.delay(attempt);
        if !delay.is_zero() {
            self.env.clock.sleep(delay).await;
        }
    }

    fn delay(&self, attempt: u32) -> Duration {
        let factor = 1_u32.checked_shl(attempt - 1).unwrap_or(u32::MAX);
        let bound = self.base.saturating_mul(factor).min(self.cap);
        let nanos = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        // The high half of the product scales a random 64-bit number to the bound.
        let drawn = (u128::from(self.env.random.next_u64()) * (u128::from(nanos) + 1)) >> 64;
        Duration::from_nanos(drawn as u64)
    }
}

/// A store that tries again, by a policy, whatever may succeed later.
///
/// - Throttling and unavailability: every operation, unless a write may have been carried out.
/// - Transaction conflicts. A transaction without a client request token is given one, so that it
///   can be sent again even if its answer was lost.
/// - Unprocessed keys and items of batches are sent again until none is left.
///
/// Made by [`crate::StoreExt::with_retries`].
#[derive(Clone, Debug)]
pub struct Retrying<S> {
    store: S,
    policy: RetryPolicy,
}

impl<S> Retrying<S> {
    pub(super) fn new(store: S, policy: RetryPolicy) -> Self {
        Self { store, policy }
    }
}

/// The error when a batch has something left after the last attempt.
fn unprocessed(left: usize) -> Error {
    Error::new(
        crate::ErrorKind::Throttled,
        format!("{left} operations of a batch were still unprocessed after the last attempt"),
    )
    .with_retry(Retry::Exhausted)
    .with_applied(Applied::Maybe)
}

/// Operations that are sent again as they are.
macro_rules! retried {
    ($($method:ident($request:ty) -> $answer:ty, $repeat:ident;)+) => {
        #[async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<S: Store> Store for Retrying<S> {
            fn capabilities(&self) -> Capabilities {
                self.store.capabilities()
            }

            $(
                async fn $method(&self, request: $request) -> Result<$answer> {
                    self.policy
                        .run(Repeat::$repeat, || self.store.$method(request.clone()))
                        .await
                }
            )+

            async fn batch_get(&self, mut request: BatchGetItem) -> Result<BatchGetItemOutput> {
                let mut all = BatchGetItemOutput::default();
                let mut attempt = 1;
                loop {
                    let output = self
                        .policy
                        .run(Repeat::Safe, || self.store.batch_get(request.clone()))
                        .await?;
                    for (table, items) in output.responses {
                        all.responses.entry(table).or_default().extend(items);
                    }
                    merge_capacity(&mut all.consumed_capacity, output.consumed_capacity);
                    if output.unprocessed_keys.is_empty() {
                        return Ok(all);
                    }
                    let left = |keys: &KeysAndAttributes| keys.keys.len();
                    let before: usize = request.requests.values().map(left).sum();
                    let after: usize = output.unprocessed_keys.values().map(left).sum();
                    request.requests = output.unprocessed_keys;
                    // A page of 16 MB is no throttling: as long as it goes on, it goes on.
                    attempt = if after < before { 1 } else { attempt + 1 };
                    if attempt > self.policy.attempts {
                        return Err(unprocessed(after));
                    }
                    if after == before {
                        self.policy.wait(attempt - 1).await;
                    }
                }
            }

            async fn batch_write(
                &self,
                mut request: BatchWriteItem,
            ) -> Result<BatchWriteItemOutput> {
                let mut all = BatchWriteItemOutput::default();
                let mut attempt = 1;
                loop {
                    // Puts and deletes without conditions can be repeated.
                    let output = self
                        .policy
                        .run(Repeat::Safe, || self.store.batch_write(request.clone()))
                        .await?;
                    merge_capacity(&mut all.consumed_capacity, output.consumed_capacity);
                    for (table, metrics) in output.item_collection_metrics {
                        all.item_collection_metrics.entry(table).or_default().extend(metrics);
                    }
                    if output.unprocessed_items.is_empty() {
                        return Ok(all);
                    }
                    if attempt >= self.policy.attempts {
                        let left = output.unprocessed_items.values().map(Vec::len).sum();
                        return Err(unprocessed(left));
                    }
                    request.requests = output.unprocessed_items;
                    self.policy.wait(attempt).await;
                    attempt += 1;
                }
            }

            async fn transact_write(
                &self,
                mut request: TransactWriteItems,
            ) -> Result<TransactWriteItemsOutput> {
                request.client_request_token.get_or_insert_with(|| self.policy.env.token());
                self.policy
                    .run(Repeat::Safe, || self.store.transact_write(request.clone()))
                    .await
            }
        }
    };
}

retried! {
    get(GetItem) -> GetItemOutput, Safe;
    put(PutItem) -> WriteOutput, OnlyIfNotApplied;
    update(UpdateItem) -> WriteOutput, OnlyIfNotApplied;
    delete(DeleteItem) -> WriteOutput, OnlyIfNotApplied;
    query(Query) -> Page, Safe;
    scan(Scan) -> Page, Safe;
    transact_get(TransactGetItems) -> TransactGetItemsOutput, Safe;
    create_table(CreateTable) -> TableDescription, OnlyIfNotApplied;
    describe_table(DescribeTable) -> TableDescription, Safe;
    update_table(UpdateTable) -> TableDescription, OnlyIfNotApplied;
    delete_table(DeleteTable) -> TableDescription, OnlyIfNotApplied;
    list_tables(ListTables) -> ListTablesOutput, Safe;
    update_time_to_live(UpdateTimeToLive) -> UpdateTimeToLive, OnlyIfNotApplied;
    describe_time_to_live(DescribeTimeToLive) -> TimeToLiveDescription, Safe;
    tag_table(TagTable) -> (), Safe;
    untag_table(UntagTable) -> (), Safe;
    list_table_tags(ListTableTags) -> Tags, Safe;
    list_streams(ListStreams) -> ListStreamsOutput, Safe;
    describe_stream(DescribeStream) -> StreamDescription, Safe;
    get_shard_iterator(GetShardIterator) -> ShardIterator, Safe;
    get_records(GetRecords) -> GetRecordsOutput, Safe;
}

/// Adds what a further call consumed to what the calls before did.
fn merge_capacity(all: &mut Vec<ConsumedCapacity>, more: Vec<ConsumedCapacity>) {
    for row in more {
        match all.iter_mut().find(|known| known.table_name == row.table_name) {
            Some(known) => known.add(&row),
            None => all.push(row),
        }
    }
}
