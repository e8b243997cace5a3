//! Injected failures, and the plan that determines when they occur.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tabla_core::env::{Random, SeededRandom};
use tabla_core::{Applied, CancellationReason, Error, ErrorKind};

macro_rules! all_operations {
    ($($method:ident => $variant:ident $(= $write:ident)?,)+) => {
        /// Operation of the [`Store`](tabla_core::Store) trait, as used in plans and hooks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Operation {
            $(
                #[doc = concat!("[`Store::", stringify!($method), "`](tabla_core::Store::", stringify!($method), ").")]
                $variant,
            )+
        }

        impl Operation {
            /// Whether the operation can change data, so that a lost response leaves its
            /// outcome unknown.
            pub fn is_write(self) -> bool {
                match self {
                    $(Operation::$variant => all_operations!(@ $($write)?),)+
                }
            }
        }

        /// [`Operation`] of a method of `Store`, by the name of the method.
        macro_rules! operation {
            $(($method) => { $crate::fault::Operation::$variant };)+
        }
    };
    (@ write) => { true };
    (@) => { false };
}

all_operations! {
    get => Get,
    put => Put = write,
    update => Update = write,
    delete => Delete = write,
    query => Query,
    scan => Scan,
    batch_get => BatchGet,
    batch_write => BatchWrite = write,
    transact_get => TransactGet,
    transact_write => TransactWrite = write,
    create_table => CreateTable = write,
    describe_table => DescribeTable,
    update_table => UpdateTable = write,
    delete_table => DeleteTable = write,
    list_tables => ListTables,
    update_time_to_live => UpdateTimeToLive = write,
    describe_time_to_live => DescribeTimeToLive,
    tag_table => TagTable = write,
    untag_table => UntagTable = write,
    list_table_tags => ListTableTags,
    list_streams => ListStreams,
    describe_stream => DescribeStream,
    get_shard_iterator => GetShardIterator,
    get_records => GetRecords,
}

pub(crate) use operation;

/// Failure of a valid call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The call is throttled and not executed.
    Throttled,
    /// The store cannot be reached; the call is not executed.
    Unavailable,
    /// The call is executed and its response lost: [`Applied::Maybe`] if it is a write.
    ResponseLost,
    /// Another transaction holds an item. Affects writes of single items and transactions; other
    /// calls are executed.
    Conflict,
    /// The last operations of a batch, at most this many, stay unprocessed. Other calls
    /// are executed.
    Unprocessed(usize),
}

/// Calls at which a failure occurs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum When {
    /// At the nth call, counted from 1.
    Call(usize),
    /// At each of the first n calls.
    First(usize),
    /// At every call.
    Always,
    /// At each call with this probability, from 0 to 1.
    Chance(f64),
}

/// Plan of failures: a list of rules. The first rule that applies to a call decides. Each rule
/// counts the calls of its operation, failed or not.
///
/// `O` is the operation of the rules and `F` the failure: those of a store by default, those of
/// blobs in [`BlobFailures`](crate::blobs::fault::BlobFailures).
#[derive(Clone)]
pub struct Failures<O = Operation, F = Failure> {
    rules: Vec<Rule<O, F>>,
    random: Arc<dyn Random>,
}

#[derive(Clone, Copy)]
struct Rule<O, F> {
    operation: Option<O>,
    when: When,
    failure: F,
}

/// Failure that [`Failures::transient`] can plan.
pub trait TransientFailure: Copy + 'static {
    /// Failures that pass by themselves.
    const TRANSIENT: &'static [Self];
}

impl TransientFailure for Failure {
    const TRANSIENT: &'static [Self] =
        &[Failure::ResponseLost, Failure::Throttled, Failure::Unavailable, Failure::Conflict];
}

impl<O, F> Failures<O, F> {
    /// Plan without failures.
    pub fn new() -> Self {
        Self { rules: Vec::new(), random: Arc::new(SeededRandom::new(1)) }
    }

    /// Adds a rule: calls of this operation fail with `failure` at `when`.
    #[must_use]
    pub fn on(mut self, operation: O, when: When, failure: F) -> Self {
        self.rules.push(Rule { operation: Some(operation), when, failure });
        self
    }

    /// Adds a rule for calls of every operation, which it counts together.
    #[must_use]
    pub fn on_any(mut self, when: When, failure: F) -> Self {
        self.rules.push(Rule { operation: None, when, failure });
        self
    }

    /// Plan of occasional transient failures: any call may be throttled, not reach the store,
    /// conflict with another write, or have its response lost. The probability of each is drawn
    /// from 0 to `most`. For testing callers that have to handle all of them.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use tabla_core::MemoryStore;
    /// use tabla_core::env::SeededRandom;
    /// use tabla_conformance::fault::{Failures, FaultStore};
    ///
    /// let failures = Failures::transient(Arc::new(SeededRandom::new(7)), 0.1);
    /// let store = FaultStore::new(MemoryStore::new()).failures(failures);
    /// ```
    pub fn transient(random: Arc<dyn Random>, most: f64) -> Self
    where
        F: TransientFailure,
    {
        let none = Self::new().random(Arc::clone(&random));
        F::TRANSIENT.iter().fold(none, |plan, failure| {
            plan.on_any(When::Chance(most * fraction(&*random)), *failure)
        })
    }

    /// Sets the random source of [`When::Chance`]. Default: a fixed sequence.
    #[must_use]
    pub fn random(mut self, random: Arc<dyn Random>) -> Self {
        self.random = random;
        self
    }
}

impl<O, F> Default for Failures<O, F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O, F> fmt::Debug for Failures<O, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failures").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

/// Plan with the calls counted so far.
#[derive(Debug)]
pub(crate) struct PlanProgress<O = Operation, F = Failure> {
    plan: Failures<O, F>,
    /// Number of calls that each rule has counted, by the index of the rule.
    seen: Mutex<BTreeMap<usize, usize>>,
}

impl<O, F> Default for PlanProgress<O, F> {
    fn default() -> Self {
        Self { plan: Failures::new(), seen: Mutex::default() }
    }
}

impl<O: PartialEq, F: Copy> PlanProgress<O, F> {
    pub(crate) fn new(plan: Failures<O, F>) -> Self {
        Self { plan, seen: Mutex::default() }
    }

    /// Failure of the next call of an operation, if the plan has one.
    pub(crate) fn next(&self, operation: O) -> Option<F> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut decided = None;
        for (number, rule) in self.plan.rules.iter().enumerate() {
            if rule.operation.as_ref().is_some_and(|about| *about != operation) {
                continue;
            }
            let calls = seen.entry(number).or_default();
            *calls += 1;
            let applies = match rule.when {
                When::Call(call) => *calls == call,
                When::First(first) => *calls <= first,
                When::Always => true,
                When::Chance(chance) => fraction(&*self.plan.random) < chance,
            };
            if applies && decided.is_none() {
                decided = Some(rule.failure);
            }
        }
        decided
    }
}

/// Draws a number from 0 up to, but not including, 1, from 53 random bits.
fn fraction(random: &dyn Random) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

pub(super) fn throttled() -> Error {
    Error::new(
        ErrorKind::Throttled,
        "The level of configured provisioned throughput for the table was exceeded. Consider \
         increasing your provisioning level with the UpdateTable API.",
    )
}

pub(super) fn unavailable() -> Error {
    Error::new(ErrorKind::Unavailable, "the store cannot be reached")
}

pub(super) fn response_lost(operation: Operation) -> Error {
    let applied = if operation.is_write() { Applied::Maybe } else { Applied::No };
    Error::new(ErrorKind::Unavailable, "the response was lost").with_applied(applied)
}

/// Conflict of a single write with a transaction.
pub(super) fn conflict() -> Error {
    Error::new(ErrorKind::TransactionConflict, "Transaction is ongoing for the item")
}

/// Cancellation of a transaction of this many operations, because the last of them conflicts.
pub(super) fn cancelled(operations: usize) -> Error {
    let mut reasons = vec![CancellationReason::none(); operations];
    if let Some(last) = reasons.last_mut() {
        *last = CancellationReason::conflict();
    }
    Error::transaction_canceled(reasons)
}
