//! Trying again: how often, how long to wait, and what for.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use super::Store;
use crate::env::{Env, Monotonic};
use crate::error::{Applied, Error, ErrorKind, Result, Retry};
use crate::ops::*;

/// How often to try, and how long to wait in between.
///
/// The waits grow by doubling up to a cap, and each is drawn at random between nothing and its
/// bound ("full jitter"), so that callers that collided once do not collide again in step.
#[derive(Clone, Debug)]
#[non_exhaustive]
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
pub enum RetryMode {
    /// Yes: a second time changes nothing more.
    Idempotent,
    /// No: only if nothing has happened for sure.
    OnlyIfNotApplied,
}

impl RetryPolicy {
    /// A policy that never tries again.
    pub fn none() -> Self {
        Self { attempts: 1, ..Self::default() }
    }

    /// For what others want at the same time: many tries, the first of them soon.
    pub fn contended(env: Env) -> Self {
        Self { attempts: 100, base: Duration::from_millis(2), cap: Duration::from_secs(1), env }
    }

    /// With at most this many calls, the first included.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// With this bound on the first wait.
    #[must_use]
    pub fn with_base(mut self, base: Duration) -> Self {
        self.base = base;
        self
    }

    /// With this bound on every wait.
    #[must_use]
    pub fn with_cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// With this clock and this randomness.
    #[must_use]
    pub fn with_env(mut self, env: Env) -> Self {
        self.env = env;
        self
    }

    /// Calls until it succeeds, fails for good, or the attempts run out.
    ///
    /// # Errors
    /// The last error; with [`Retry::Exhausted`] if trying again might still have helped, and with
    /// [`Applied::Maybe`] if any of the calls may have been carried out.
    pub async fn run<T, F>(&self, repeat: RetryMode, mut call: impl FnMut() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        // Nothing is measured or drawn for a call that succeeds at once.
        let first = match call().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let mut tries = self.start_attempts(repeat, "the call");
        let mut answer = Err(first);
        loop {
            if let Some(answer) = tries.check(answer)? {
                return Ok(answer);
            }
            tries.next_attempt().await?;
            answer = call().await;
        }
    }

    /// The tries of something that may be lost to others, and is made anew then.
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

    /// Waits before the call after the `attempt`th, at most as long as the cap.
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

/// The tries of something, under a policy.
///
/// For what [`RetryPolicy::run`] cannot do, since a try that was lost is not the same call again:
/// read, decide, write on the condition that nothing has changed; and all of it once more if
/// something has.
///
/// ```
/// # use tabla::{Repeat, Result, RetryPolicy};
/// # async fn read() -> Result<u32> { Ok(1) }
/// # async fn write_if(seen: u32, next: u32) -> Result<bool> { Ok(true) }
/// # async fn count(policy: &RetryPolicy) -> Result<u32> {
/// let mut tries = policy.tries(RetryMode::OnlyIfNotApplied, "to count");
/// loop {
///     let seen = read().await?;
///     if let Some(true) = tries.judge(write_if(seen, seen + 1).await)? {
///         return Ok(seen + 1);
///     }
///     tries.again().await?;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Attempts<'p> {
    policy: &'p RetryPolicy,
    repeat: RetryMode,
    what: &'static str,
    attempt: u32,
    /// When the present try began.
    begun: Monotonic,
    may_be_applied: bool,
    last: Option<Error>,
}

/// A try that was lost to others is made again within this many times what it took: enough for as
/// many others to have their turn. A store that answers within a fraction of a millisecond is not
/// waited for as one that takes twenty.
const MAX_DELAY_FACTOR: u32 = 256;

impl Attempts<'_> {
    /// The answer of a call; `None` if it failed and another try may help.
    ///
    /// # Errors
    /// The call's, if another try does not help or may not be made; with [`Applied::Maybe`] if
    /// this or an earlier try may have been carried out.
    pub fn check<T>(&mut self, answer: Result<T>) -> Result<Option<T>> {
        let error = match answer {
            Ok(answer) => {
                // What stood in the way of an earlier try does so no longer, unless that try may
                // have been carried out.
                self.last.take_if(|_| !self.may_be_applied);
                return Ok(Some(answer));
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

    /// Whether a try failed in a way that leaves open whether it was carried out.
    pub fn may_be_applied(&self) -> bool {
        self.may_be_applied
    }

    /// Waits before the next try.
    ///
    /// # Errors
    /// There is none left: what stood in the way of the last one, or that others were ahead.
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
                format!("others were ahead at each of {} tries: {}", self.attempt, self.what),
            )
        };
        match self.last.take() {
            // A policy without retries has exhausted nothing: the caller may retry.
            Some(error) if self.policy.attempts <= 1 => Err(error),
            last => Err(last.unwrap_or_else(overrun).with_retry(Retry::Exhausted)),
        }
    }

    /// The bound of the next wait: a store that refuses to answer is given all the time that the
    /// policy has; if others were ahead, the store is well.
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

/// A store that tries again, by a policy, whatever may succeed later.
///
/// - Throttling and unavailability: every operation, unless a write may have been carried out.
/// - Transaction conflicts. A transaction without a client request token is given one, so that it
///   can be sent again even if its answer was lost.
/// - Unprocessed keys and items of batches are sent again until none is left.
///
/// Made by [`crate::StoreExt::with_retries`].
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

/// The error of a batch that still has unprocessed operations after the last attempt.
fn unprocessed(left: usize, applied: Applied) -> Error {
    Error::new(
        ErrorKind::Throttled,
        format!("{left} operations of a batch were still unprocessed after the last attempt"),
    )
    .with_retry(Retry::Exhausted)
    .with_applied(applied)
}

/// Operations that are sent again as they are, unless they have a method of their own here.
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

/// Whether an operation whose answer was lost may be sent again.
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
    // Reads, and writes that change nothing more when they are made twice.
    ($other:ident) => {
        RetryMode::Idempotent
    };
}

crate::wrap_store! {
    impl[S: Store] Store for RetryingStore<S>, inner: store, call: retried
}

impl<S: Store> RetryingStore<S> {
    /// Reads until no key is left. The attempts are counted anew whenever a response has brought the
    /// batch forward: a response also ends at 16 MB, which is no throttling.
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
            // At least the first bound: a service that leaves keys out may be short of capacity.
            self.policy.wait(attempt, self.policy.cap).await;
        }
    }

    /// Writes until no item is left. A call whose answer was lost is not repeated: in the meantime
    /// another caller may have written one of the items, which a second call would overwrite.
    async fn retry_batch_write(&self, mut request: BatchWriteItem) -> Result<BatchWriteItemOutput> {
        if self.policy.attempts <= 1 {
            return self.store.batch_write(request).await;
        }
        let mut all = BatchWriteItemOutput::default();
        let mut attempt = 1;
        // Whether an earlier call has made a part of the writes.
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

    /// A store that fails with the scripted errors first. Where an error says that the write may
    /// have happened, it has.
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

    fn lost_answer() -> Error {
        Error::new(ErrorKind::Unavailable, "the answer was lost").with_applied(Applied::Maybe)
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
    async fn waits_double_up_to_the_cap_and_are_drawn_below_it() {
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
    async fn who_was_lost_to_others_waits_as_long_as_the_others_take() {
        let clock = clock();
        let policy = RetryPolicy::contended(Env::test(clock.clone(), 7));
        let mut tries = policy.start_attempts(RetryMode::Idempotent, "to be first");
        for _ in 0..50 {
            clock.advance(Duration::from_micros(500));
            tries.next_attempt().await.unwrap();
        }
        let longest = clock.sleeps().into_iter().max().unwrap();
        let bound = Duration::from_micros(500) * MAX_DELAY_FACTOR;
        assert!(longest > bound / 2 && longest <= bound, "{longest:?}");
        // A store that fails is given more time.
        for _ in 0..20 {
            assert_eq!(tries.check(Err::<(), _>(throttled())).unwrap(), None);
            tries.next_attempt().await.unwrap();
        }
        assert!(clock.sleeps().into_iter().max().unwrap() > bound);
    }

    #[tokio::test]
    async fn attempts_run_out_and_say_so() {
        let clock = clock();
        let store = Scripted::new((0..9).map(|_| throttled())).await;
        let error = store.clone().with_retries(policy(&clock)).update(add_one()).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Throttled);
        assert_eq!(error.retry(), Retry::Exhausted);
        assert_eq!(clock.sleeps().len(), 3);
        assert_eq!(store.count().await, None);
        // An outer policy leaves it at that.
        let outer = policy(&clock);
        let again = outer.run(RetryMode::Idempotent, || async {
            Err::<(), _>(throttled().with_retry(Retry::Exhausted))
        });
        again.await.unwrap_err();
        assert_eq!(clock.sleeps().len(), 3);
    }

    #[tokio::test]
    async fn what_stays_wrong_is_not_tried_again() {
        let clock = clock();
        let store = Scripted::new([Error::validation("wrong")]).await;
        let error = store.with_retries(policy(&clock)).update(add_one()).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Validation);
        assert!(clock.sleeps().is_empty());
    }

    #[tokio::test]
    async fn a_write_whose_answer_was_lost_is_not_made_twice() {
        let clock = clock();
        let store = Scripted::new([lost_answer()]).await;
        let error = store.clone().with_retries(policy(&clock)).update(add_one()).await.unwrap_err();
        assert_eq!(error.applied(), Applied::Maybe);
        assert_eq!(store.count().await.as_deref(), Some("1"));
    }

    #[tokio::test]
    async fn a_transaction_is_sent_again_after_a_conflict_or_a_lost_answer_and_happens_once() {
        let clock = clock();
        let store = Scripted::new([conflict(), lost_answer(), throttled()]).await;
        let request = TransactWriteItems::new().item(add_one());
        store.clone().with_retries(policy(&clock)).transact_write(request).await.unwrap();
        assert_eq!(clock.sleeps().len(), 3);
        assert_eq!(store.count().await.as_deref(), Some("1"));
    }

    #[tokio::test]
    async fn a_lost_answer_is_not_forgotten_when_the_attempts_run_out() {
        let clock = clock();
        for last in [throttled(), Error::validation("gone wrong since")] {
            let store = Scripted::new([lost_answer(), throttled(), throttled(), last]).await;
            let request = TransactWriteItems::new().item(add_one());
            let retrying = store.clone().with_retries(policy(&clock));
            let error = retrying.transact_write(request).await.unwrap_err();
            assert_eq!(error.applied(), Applied::Maybe, "{error}");
            assert_eq!(store.count().await.as_deref(), Some("1"));
        }
    }

    #[tokio::test]
    async fn a_failed_condition_in_a_transaction_is_final() {
        let clock = clock();
        let store = Scripted::new([]).await;
        let request = TransactWriteItems::new().item(add_one().condition(attr("pk").exists()));
        let error = store.with_retries(policy(&clock)).transact_write(request).await.unwrap_err();
        assert!(error.is_condition_failed());
        assert!(clock.sleeps().is_empty());
    }

    #[tokio::test]
    async fn a_condition_that_failed_beside_a_conflict_is_judged_again() {
        let clock = clock();
        let mixed = Error::transaction_canceled(vec![
            CancellationReason::condition_failed(None),
            conflict().cancellation_reasons()[0].clone(),
        ]);
        let store = Scripted::new([mixed]).await;
        let request = TransactWriteItems::new().item(add_one().condition(attr("pk").exists()));
        let error = store.with_retries(policy(&clock)).transact_write(request).await.unwrap_err();
        assert_eq!(clock.sleeps().len(), 1);
        // Without the conflict it is the last word.
        let codes: Vec<_> = error.cancellation_reasons().iter().map(|one| one.code).collect();
        assert_eq!(codes, [CancellationCode::ConditionalCheckFailed]);
        assert_eq!(error.retry(), Retry::Never);
    }

    #[tokio::test]
    async fn a_race_that_is_always_lost_ends_and_says_so() {
        let clock = clock();
        let policy = policy(&clock);
        let mut tries = policy.start_attempts(RetryMode::OnlyIfNotApplied, "to be first");
        let mut made = 0;
        let error = loop {
            made += 1;
            assert_eq!(tries.check(Ok(())).unwrap(), Some(()));
            if let Err(error) = tries.next_attempt().await {
                break error;
            }
        };
        assert_eq!((made, clock.sleeps().len()), (4, 3));
        assert_eq!(error.kind(), &ErrorKind::TransactionConflict);
        assert_eq!((error.retry(), error.applied()), (Retry::Exhausted, Applied::No));
        assert!(error.to_string().ends_with("others were ahead at each of 4 tries: to be first"));
    }

    #[tokio::test]
    async fn tries_remember_what_may_have_happened() {
        let clock = clock();
        let policy = policy(&clock);
        // Not to be repeated: the first doubt ends it.
        let mut tries = policy.start_attempts(RetryMode::OnlyIfNotApplied, "to add");
        assert!(tries.check::<()>(Err(throttled())).unwrap().is_none());
        let error = tries.check::<()>(Err(lost_answer())).unwrap_err();
        assert_eq!(error.applied(), Applied::Maybe);
        // To be repeated: the doubt stays, through lost races and other errors.
        let mut tries = policy.start_attempts(RetryMode::Idempotent, "to set");
        assert!(tries.check::<()>(Err(lost_answer())).unwrap().is_none());
        assert!(tries.may_be_applied());
        tries.check(Ok(())).unwrap();
        let error = tries.check::<()>(Err(Error::validation("wrong"))).unwrap_err();
        assert_eq!(error.applied(), Applied::Maybe);
        for _ in 1..4 {
            tries.next_attempt().await.unwrap();
        }
        let error = tries.next_attempt().await.unwrap_err();
        assert_eq!((error.kind(), error.applied()), (&ErrorKind::Unavailable, Applied::Maybe));
        assert_eq!(error.retry(), Retry::Exhausted);
    }

    #[tokio::test]
    async fn batches_of_any_size_are_cut_and_retried() {
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
