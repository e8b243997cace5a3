//! Retries: the policy, attempts with optimistic retries, and the wrapper [`RetryingStore`].

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use super::Store;
use crate::env::{Env, Monotonic};
use crate::error::{Applied, Error, ErrorKind, Result, Retry};
use crate::ops::*;

/// Number of attempts, and the back-off between them.
///
/// The bound of the wait doubles with each attempt, up to a cap. Each wait is drawn at random
/// between zero and its bound ("full jitter"), so that callers in conflict do not retry in step.
///
/// Default: 10 attempts, first bound 25 ms, cap 5 s.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// Largest number of calls, the first included. 1 means no retries.
    pub attempts: u32,
    /// Bound of the first wait.
    pub base: Duration,
    /// Bound of every wait.
    pub cap: Duration,
    /// Clock for the waits, and randomness for the jitter.
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

/// Whether a call may be repeated after an attempt that may have been executed
/// ([`Applied::Maybe`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryMode {
    /// Repeat also after [`Applied::Maybe`]: two executions have the effect of one.
    Idempotent,
    /// Repeat only after an error with [`Applied::No`].
    OnlyIfNotApplied,
}

impl RetryPolicy {
    /// Policy with one attempt: no retries.
    pub fn none() -> Self {
        Self { attempts: 1, ..Self::default() }
    }

    /// Policy for optimistic retries on a contended item: 100 attempts, first bound 2 ms, cap 1 s.
    pub fn contended(env: Env) -> Self {
        Self { attempts: 100, base: Duration::from_millis(2), cap: Duration::from_secs(1), env }
    }

    /// Sets the largest number of calls, the first included.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the bound of the first wait.
    #[must_use]
    pub fn with_base(mut self, base: Duration) -> Self {
        self.base = base;
        self
    }

    /// Sets the bound of every wait.
    #[must_use]
    pub fn with_cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// Sets clock and randomness.
    #[must_use]
    pub fn with_env(mut self, env: Env) -> Self {
        self.env = env;
        self
    }

    /// Calls until success, an error that a retry does not help, or the last attempt.
    ///
    /// # Errors
    /// The last error; with [`Retry::Exhausted`] if the attempts ran out, and with
    /// [`Applied::Maybe`] if any of the calls may have been executed.
    pub async fn run<T, F>(&self, repeat: RetryMode, mut call: impl FnMut() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        // A call that succeeds at once reads no clock and draws no random number.
        let first = match call().await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let mut attempts = self.start_attempts(repeat, "the call");
        let mut result = Err(first);
        loop {
            if let Some(value) = attempts.check(result)? {
                return Ok(value);
            }
            attempts.next_attempt().await?;
            result = call().await;
        }
    }

    /// Starts the attempts of an operation that is repeated by hand; `what` names it in the error
    /// after the last attempt.
    pub fn start_attempts(&self, repeat: RetryMode, what: &'static str) -> Attempts<'_> {
        let begun = self.env.clock.monotonic();
        Attempts {
            policy: self,
            repeat,
            what,
            attempt: 1,
            begun,
            may_be_applied: false,
            last: None,
        }
    }

    /// Waits after attempt number `attempt`, at most as long as the cap.
    async fn wait(&self, attempt: u32, cap: Duration) {
        let delay = self.delay(attempt, cap);
        if !delay.is_zero() {
            self.env.clock.sleep(delay).await;
        }
    }

    fn delay(&self, attempt: u32, cap: Duration) -> Duration {
        let factor = 1_u32.checked_shl(attempt - 1).unwrap_or(u32::MAX);
        let bound = self.base.saturating_mul(factor).min(cap);
        let nanos = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        // The high half of the product scales a random 64-bit number to the bound.
        let drawn = (u128::from(self.env.random.next_u64()) * (u128::from(nanos) + 1)) >> 64;
        Duration::from_nanos(drawn as u64)
    }
}

/// Attempts of one operation under a policy, for optimistic retries.
///
/// [`RetryPolicy::run`] repeats one call. This type serves operations whose attempts differ: read,
/// decide, write on the condition that nothing has changed, and read again after the
/// condition failed.
///
/// ```
/// # use tabla::{Result, RetryMode, RetryPolicy};
/// # async fn read() -> Result<u32> { Ok(1) }
/// # async fn write_if(seen: u32, next: u32) -> Result<bool> { Ok(true) }
/// # async fn count(policy: &RetryPolicy) -> Result<u32> {
/// let mut attempts = policy.start_attempts(RetryMode::OnlyIfNotApplied, "to count");
/// loop {
///     let seen = read().await?;
///     if let Some(true) = attempts.check(write_if(seen, seen + 1).await)? {
///         return Ok(seen + 1);
///     }
///     attempts.next_attempt().await?;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Attempts<'p> {
    policy: &'p RetryPolicy,
    repeat: RetryMode,
    what: &'static str,
    attempt: u32,
    /// Start of the current attempt.
    begun: Monotonic,
    may_be_applied: bool,
    last: Option<Error>,
}

/// Bound of the wait after a conflict, as a multiple of the duration of the attempt. It gives as
/// many other writers their turn, and a fast store gets shorter waits than a slow one.
const MAX_DELAY_FACTOR: u32 = 256;

impl Attempts<'_> {
    /// Returns the value of a call; `None` if it failed and another attempt may help.
    ///
    /// # Errors
    /// The error of the call, if another attempt does not help or is not allowed; with
    /// [`Applied::Maybe`] if this or an earlier attempt may have been executed.
    pub fn check<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        let error = match result {
            Ok(value) => {
                // The error of an earlier attempt is settled, unless that attempt may have been
                // executed.
                self.last.take_if(|_| !self.may_be_applied);
                return Ok(Some(value));
            }
            Err(error) => error,
        };
        self.may_be_applied |= error.applied() == Applied::Maybe;
        let error = match self.may_be_applied {
            true => error.with_applied(Applied::Maybe),
            false => error,
        };
        let is_settled = error.applied() == Applied::No || self.repeat == RetryMode::Idempotent;
        if error.retry() != Retry::Later || !is_settled {
            return Err(error);
        }
        self.last = Some(error);
        Ok(None)
    }

    /// Whether an attempt failed with [`Applied::Maybe`].
    pub fn may_be_applied(&self) -> bool {
        self.may_be_applied
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    /// After the last attempt: the error of the last failed call, or
    /// [`ErrorKind::TransactionConflict`] if every attempt lost to a concurrent writer. Its retry
    /// advice is [`Retry::Exhausted`].
    pub async fn next_attempt(&mut self) -> Result<()> {
        if self.attempt < self.policy.attempts {
            self.policy.wait(self.attempt, self.cap()).await;
            self.attempt += 1;
            self.begun = self.policy.env.clock.monotonic();
            return Ok(());
        }
        let overrun = || {
            Error::new(
                ErrorKind::TransactionConflict,
                format!("a concurrent writer won each of {} attempts: {}", self.attempt, self.what),
            )
        };
        match self.last.take() {
            // Without retries nothing is exhausted: the caller may retry.
            Some(error) if self.policy.attempts <= 1 => Err(error),
            last => Err(last.unwrap_or_else(overrun).with_retry(Retry::Exhausted)),
        }
    }

    /// Bound of the next wait: the policy's cap after an error of the store, and a multiple of the
    /// attempt's duration after a conflict, in which the store is healthy.
    fn cap(&self) -> Duration {
        let RetryPolicy { base, cap, env, .. } = self.policy;
        match &self.last {
            Some(_) => *cap,
            None => {
                (env.clock.monotonic().since(self.begun) * MAX_DELAY_FACTOR).max(*base).min(*cap)
            }
        }
    }
}

/// Store that retries under a policy. Created by [`crate::StoreExt::with_retries`].
///
/// - Throttling and unavailability: every operation, except a write that may have been executed.
/// - Transaction conflicts. A transaction without a request token gets one, so that it can be sent
///   again even if its response was lost.
/// - Unprocessed keys and items of batches are sent again until none is left, or until the attempts
///   run out without progress.
/// - Other errors are returned at once.
///
/// Each request is cloned. Cost of a request that succeeds at once: that clone.
#[derive(Clone, Debug)]
pub struct RetryingStore<S> {
    store: S,
    policy: RetryPolicy,
}

impl<S> RetryingStore<S> {
    pub(super) fn new(store: S, policy: RetryPolicy) -> Self {
        Self { store, policy }
    }
}

/// Error for a batch that still has unprocessed operations after the last attempt.
fn unprocessed(left: usize, applied: Applied) -> Error {
    Error::new(
        ErrorKind::Throttled,
        format!(
            "{left} operations of a batch were still unprocessed after the last attempt; send them \
             again later"
        ),
    )
    .with_retry(Retry::Exhausted)
    .with_applied(applied)
}

/// Body of an operation of [`RetryingStore`]: sends the unchanged request again, except for batches
/// and transactional writes, which have methods of their own.
macro_rules! retried {
    ($self:ident, batch_get, $request:ident) => {
        $self.retry_batch_get($request).await
    };
    ($self:ident, batch_write, $request:ident) => {
        $self.retry_batch_write($request).await
    };
    ($self:ident, transact_write, $request:ident) => {
        $self.retry_transact_write($request).await
    };
    ($self:ident, $method:ident, $request:ident) => {
        $self.policy.run(repeat!($method), || $self.store.$method($request.clone())).await
    };
}

/// Retry mode of an operation.
macro_rules! repeat {
    (put) => {
        RetryMode::OnlyIfNotApplied
    };
    (update) => {
        RetryMode::OnlyIfNotApplied
    };
    (delete) => {
        RetryMode::OnlyIfNotApplied
    };
    (create_table) => {
        RetryMode::OnlyIfNotApplied
    };
    (update_table) => {
        RetryMode::OnlyIfNotApplied
    };
    (delete_table) => {
        RetryMode::OnlyIfNotApplied
    };
    (update_time_to_live) => {
        RetryMode::OnlyIfNotApplied
    };
    // Reads, and writes that are idempotent.
    ($other:ident) => {
        RetryMode::Idempotent
    };
}

crate::wrap_store! {
    impl[S: Store] Store for RetryingStore<S>, inner: store, call: retried
}

impl<S: Store> RetryingStore<S> {
    /// Reads until no key is left. Progress resets the number of attempts: a response also ends at
    /// 16 MB, which is no throttling.
    async fn retry_batch_get(&self, mut request: BatchGetItem) -> Result<BatchGetItemOutput> {
        if self.policy.attempts <= 1 {
            return self.store.batch_get(request).await;
        }
        let mut all = BatchGetItemOutput::default();
        let mut attempt = 1;
        loop {
            let mut output = self
                .policy
                .run(RetryMode::Idempotent, || self.store.batch_get(request.clone()))
                .await?;
            let left = std::mem::take(&mut output.unprocessed_keys);
            all.merge(output);
            if left.is_empty() {
                return Ok(all);
            }
            let (before, after) = (count_keys(&request.requests), count_keys(&left));
            request.requests = left;
            attempt = if after < before { 1 } else { attempt + 1 };
            if attempt > self.policy.attempts {
                return Err(unprocessed(after, Applied::No));
            }
            // The bound is at least the first one: the service may be short of capacity.
            self.policy.wait(attempt, self.policy.cap).await;
        }
    }

    /// Writes until no item is left. A call whose response was lost is not repeated: it could
    /// overwrite what another caller has written since.
    async fn retry_batch_write(&self, mut request: BatchWriteItem) -> Result<BatchWriteItemOutput> {
        if self.policy.attempts <= 1 {
            return self.store.batch_write(request).await;
        }
        let mut all = BatchWriteItemOutput::default();
        let mut attempt = 1;
        // Whether an earlier call has made some of the writes.
        let mut is_partly_applied = false;
        loop {
            let call = || self.store.batch_write(request.clone());
            let outcome = self.policy.run(RetryMode::OnlyIfNotApplied, call).await;
            let mut output = outcome.map_err(|error| match is_partly_applied {
                true => error.with_applied(Applied::Maybe),
                false => error,
            })?;
            let left = std::mem::take(&mut output.unprocessed_items);
            all.merge(output);
            if left.is_empty() {
                return Ok(all);
            }
            let (before, after) = (count_writes(&request.requests), count_writes(&left));
            request.requests = left;
            is_partly_applied |= after < before;
            attempt = if after < before { 1 } else { attempt + 1 };
            if attempt > self.policy.attempts {
                let applied = if is_partly_applied { Applied::Maybe } else { Applied::No };
                return Err(unprocessed(after, applied));
            }
            self.policy.wait(attempt, self.policy.cap).await;
        }
    }

    async fn retry_transact_write(
        &self,
        mut request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        if self.policy.attempts <= 1 {
            return self.store.transact_write(request).await;
        }
        request.client_request_token.get_or_insert_with(|| self.policy.env.token());
        self.policy
            .run(RetryMode::Idempotent, || self.store.transact_write(request.clone()))
            .await
            // The service evaluates a transaction under its token: if an earlier call had been
            // committed, this one would have succeeded. That holds for conditions that failed; a
            // conflict can be with the earlier call itself.
            .map_err(|error| match error.kind() {
                ErrorKind::TransactionCanceled { .. } if error.retry() == Retry::Never => {
                    error.with_applied(Applied::No)
                }
                _ => error,
            })
    }
}

fn count_keys(requests: &BTreeMap<String, KeysAndAttributes>) -> usize {
    requests.values().map(|reads| reads.keys.len()).sum()
}

fn count_writes(requests: &BTreeMap<String, Vec<WriteRequest>>) -> usize {
    requests.values().map(Vec::len).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::env::{ManualClock, Timestamp};
    use crate::store::StoreExt;
    use crate::{
        CancellationCode, CancellationReason, ErrorKind, KeyType, MemoryStore, attr, item,
    };

    /// Store that returns the scripted errors first. It executes the request of an error with
    /// [`Applied::Maybe`].
    #[derive(Debug, Clone)]
    struct Scripted {
        store: Arc<MemoryStore>,
        errors: Arc<Mutex<Vec<Error>>>,
    }

    impl Scripted {
        async fn new(errors: impl IntoIterator<Item = Error>) -> Self {
            let store = Arc::new(MemoryStore::new());
            let table = CreateTable::new("things").partition_key("pk", KeyType::S);
            store.create_table(table).await.expect("the table is valid");
            let mut errors: Vec<Error> = errors.into_iter().collect();
            errors.reverse();
            Self { store, errors: Arc::new(Mutex::new(errors)) }
        }

        fn next_error(&self) -> Option<Error> {
            self.errors.lock().unwrap().pop()
        }

        async fn count(&self) -> Option<String> {
            let item = self.store.get_item("things", item! { "pk" => "a" }).await.unwrap()?;
            item.get("n").and_then(|n| n.as_number()).map(|n| n.to_string())
        }
    }

    macro_rules! scripted {
        ($self:ident, $method:ident, $request:ident) => {{
            let Some(error) = $self.next_error() else {
                return $self.store.$method($request).await;
            };
            if error.applied() == Applied::Maybe {
                $self.store.$method($request).await?;
            }
            Err(error)
        }};
    }

    crate::wrap_store! {
        impl[] Store for Scripted, inner: store, call: scripted
    }

    fn throttled() -> Error {
        Error::new(ErrorKind::Throttled, "slow down")
    }

    fn lost_response() -> Error {
        Error::new(ErrorKind::Unavailable, "the response was lost").with_applied(Applied::Maybe)
    }

    fn conflict() -> Error {
        Error::transaction_canceled(vec![CancellationReason {
            code: CancellationCode::TransactionConflict,
            message: None,
            item: None,
        }])
    }

    fn policy(clock: &ManualClock) -> RetryPolicy {
        RetryPolicy {
            attempts: 4,
            base: Duration::from_millis(100),
            cap: Duration::from_millis(250),
            env: Env::test(clock.clone(), 7),
        }
    }

    fn clock() -> ManualClock {
        ManualClock::new(Timestamp::from_secs(1))
    }

    fn add_one() -> UpdateItem {
        UpdateItem::new("things", item! { "pk" => "a" })
            .update(crate::Update::new().set("n", attr("n").if_not_exists(0).plus(1)))
    }

    #[tokio::test]
    async fn wait_bounds_double_up_to_the_cap() {
        let clock = clock();
        let store = Scripted::new([throttled(), throttled(), throttled()]).await;
        store.clone().with_retries(policy(&clock)).update(add_one()).await.unwrap();
        let sleeps = clock.sleeps();
        assert_eq!(sleeps.len(), 3);
        for (sleep, bound) in sleeps.iter().zip([100, 200, 250]) {
            assert!(*sleep <= Duration::from_millis(bound), "{sleep:?} of {bound} ms");
        }
        assert!(sleeps.iter().any(|sleep| *sleep > Duration::from_millis(10)), "{sleeps:?}");
        assert_eq!(store.count().await.as_deref(), Some("1"));
    }

    #[tokio::test]
    async fn wait_after_a_conflict_is_bound_by_the_duration_of_an_attempt() {
        let clock = clock();
        let policy = RetryPolicy::contended(Env::test(clock.clone(), 7));
        let mut attempts = policy.start_attempts(RetryMode::Idempotent, "to be first");
        for _ in 0..50 {
            clock.advance(Duration::from_micros(500));
            attempts.next_attempt().await.unwrap();
        }
        let longest = clock.sleeps().into_iter().max().unwrap();
        let bound = Duration::from_micros(500) * MAX_DELAY_FACTOR;
        assert!(longest > bound / 2 && longest <= bound, "{longest:?}");
        // A store that fails is given more time.
        for _ in 0..20 {
            assert_eq!(attempts.check(Err::<(), _>(throttled())).unwrap(), None);
            attempts.next_attempt().await.unwrap();
        }
        assert!(clock.sleeps().into_iter().max().unwrap() > bound);
    }

    #[tokio::test]
    async fn last_attempt_returns_retry_exhausted() {
        let clock = clock();
        let store = Scripted::new((0..9).map(|_| throttled())).await;
        let error = store.clone().with_retries(policy(&clock)).update(add_one()).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Throttled);
        assert_eq!(error.retry(), Retry::Exhausted);
        assert_eq!(clock.sleeps().len(), 3);
        assert_eq!(store.count().await, None);
        // An outer policy does not retry an exhausted error.
        let outer = policy(&clock);
        let again = outer.run(RetryMode::Idempotent, || async {
            Err::<(), _>(throttled().with_retry(Retry::Exhausted))
        });
        again.await.unwrap_err();
        assert_eq!(clock.sleeps().len(), 3);
    }

    #[tokio::test]
    async fn validation_error_is_not_retried() {
        let clock = clock();
        let store = Scripted::new([Error::validation("wrong")]).await;
        let error = store.with_retries(policy(&clock)).update(add_one()).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Validation);
        assert!(clock.sleeps().is_empty());
    }

    #[tokio::test]
    async fn write_with_a_lost_response_is_not_repeated() {
        let clock = clock();
        let store = Scripted::new([lost_response()]).await;
        let error = store.clone().with_retries(policy(&clock)).update(add_one()).await.unwrap_err();
        assert_eq!(error.applied(), Applied::Maybe);
        assert_eq!(store.count().await.as_deref(), Some("1"));
    }

    #[tokio::test]
    async fn transaction_retried_after_a_lost_response_is_executed_once() {
        let clock = clock();
        let store = Scripted::new([conflict(), lost_response(), throttled()]).await;
        let request = TransactWriteItems::new().item(add_one());
        store.clone().with_retries(policy(&clock)).transact_write(request).await.unwrap();
        assert_eq!(clock.sleeps().len(), 3);
        assert_eq!(store.count().await.as_deref(), Some("1"));
    }

    #[tokio::test]
    async fn lost_response_makes_the_last_error_applied_maybe() {
        let clock = clock();
        for last in [throttled(), Error::validation("wrong")] {
            let store = Scripted::new([lost_response(), throttled(), throttled(), last]).await;
            let request = TransactWriteItems::new().item(add_one());
            let retrying = store.clone().with_retries(policy(&clock));
            let error = retrying.transact_write(request).await.unwrap_err();
            assert_eq!(error.applied(), Applied::Maybe, "{error}");
            assert_eq!(store.count().await.as_deref(), Some("1"));
        }
    }

    #[tokio::test]
    async fn failed_condition_in_a_transaction_is_not_retried() {
        let clock = clock();
        let store = Scripted::new([]).await;
        let request = TransactWriteItems::new().item(add_one().condition(attr("pk").exists()));
        let error = store.with_retries(policy(&clock)).transact_write(request).await.unwrap_err();
        assert!(error.is_condition_failed());
        assert!(clock.sleeps().is_empty());
    }

    #[tokio::test]
    async fn failed_condition_beside_a_conflict_is_retried() {
        let clock = clock();
        let mixed = Error::transaction_canceled(vec![
            CancellationReason::condition_failed(None),
            conflict().cancellation_reasons()[0].clone(),
        ]);
        let store = Scripted::new([mixed]).await;
        let request = TransactWriteItems::new().item(add_one().condition(attr("pk").exists()));
        let error = store.with_retries(policy(&clock)).transact_write(request).await.unwrap_err();
        assert_eq!(clock.sleeps().len(), 1);
        // The second attempt has no conflict: the failed condition is final.
        let codes: Vec<_> = error.cancellation_reasons().iter().map(|one| one.code).collect();
        assert_eq!(codes, [CancellationCode::ConditionalCheckFailed]);
        assert_eq!(error.retry(), Retry::Never);
    }

    #[tokio::test]
    async fn attempts_that_always_lose_end_in_a_transaction_conflict() {
        let clock = clock();
        let policy = policy(&clock);
        let mut attempts = policy.start_attempts(RetryMode::OnlyIfNotApplied, "to be first");
        let mut made = 0;
        let error = loop {
            made += 1;
            assert_eq!(attempts.check(Ok(())).unwrap(), Some(()));
            if let Err(error) = attempts.next_attempt().await {
                break error;
            }
        };
        assert_eq!((made, clock.sleeps().len()), (4, 3));
        assert_eq!(error.kind(), &ErrorKind::TransactionConflict);
        assert_eq!((error.retry(), error.applied()), (Retry::Exhausted, Applied::No));
        assert!(error.to_string().ends_with("writer won each of 4 attempts: to be first"));
    }

    #[tokio::test]
    async fn attempts_remember_applied_maybe() {
        let clock = clock();
        let policy = policy(&clock);
        // Not idempotent: the first `Maybe` is final.
        let mut attempts = policy.start_attempts(RetryMode::OnlyIfNotApplied, "to add");
        assert!(attempts.check::<()>(Err(throttled())).unwrap().is_none());
        let error = attempts.check::<()>(Err(lost_response())).unwrap_err();
        assert_eq!(error.applied(), Applied::Maybe);
        // Idempotent: `Maybe` stays through conflicts and other errors.
        let mut attempts = policy.start_attempts(RetryMode::Idempotent, "to set");
        assert!(attempts.check::<()>(Err(lost_response())).unwrap().is_none());
        assert!(attempts.may_be_applied());
        attempts.check(Ok(())).unwrap();
        let error = attempts.check::<()>(Err(Error::validation("wrong"))).unwrap_err();
        assert_eq!(error.applied(), Applied::Maybe);
        for _ in 1..4 {
            attempts.next_attempt().await.unwrap();
        }
        let error = attempts.next_attempt().await.unwrap_err();
        assert_eq!((error.kind(), error.applied()), (&ErrorKind::Unavailable, Applied::Maybe));
        assert_eq!(error.retry(), Retry::Exhausted);
    }

    #[tokio::test]
    async fn batches_of_any_size_are_split_and_retried() {
        let clock = clock();
        let store = Scripted::new([throttled()]).await;
        let items: Vec<_> = (0..60).map(|n| item! { "pk" => format!("k{n}") }).collect();
        let writes = items.iter().cloned().map(WriteRequest::Put).collect();
        store.batch_write_all("things", writes, &policy(&clock)).await.unwrap();
        let keys: Vec<_> = (0..250).map(|n| item! { "pk" => format!("k{n}") }).collect();
        let found = store.batch_get_all("things", keys, &policy(&clock)).await.unwrap();
        assert_eq!(found.len(), 60);
        assert_eq!(clock.sleeps().len(), 1);
    }
}
