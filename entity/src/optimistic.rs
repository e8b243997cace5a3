//! Optimistic loops: read, decide, write on a condition, and again after a concurrent writer won.

use super::{Db, Transaction};
use tabla_core::{Attempts, CancellationReason, Item, Result, RetryMode};

/// Attempts of an optimistic loop, created by [`Db::optimistic`].
///
/// Each attempt is a [`Transaction`]: read with [`Transaction::get`], decide, write on the condition
/// that nothing has changed. If a condition failed, begin again.
///
/// - Waits grow, are drawn at random, and end after a bounded number of attempts: see
///   [`Db::with_retries`].
/// - Throttling, conflicts and lost responses do not use up an attempt: the commit sends the same
///   request again, under a request token where responses can be lost. What such a commit returns is
///   the outcome of the request, however often it was sent. A single step is sent without a token:
///   if its response is lost, the commit returns the error, with
///   [`Applied::Maybe`](tabla_core::Applied::Maybe).
/// - Reads are repeated after throttling.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
/// use tabla::entity::Commit::{Canceled, Committed};
///
/// /// Pays an order, and returns its total; `None` if it is not open.
/// async fn pay(db: &Db, customer: &Id, number: u32) -> tabla::Result<Option<u32>> {
///     let mut attempts = db.optimistic("pay an order");
///     loop {
///         let mut tx = attempts.begin().await?;
///         let Some(order) = tx.get(&Order::key(customer, number)).await? else { return Ok(None) };
///         if order.status != Status::Open {
///             return Ok(None);
///         }
///         tx.update(
///             order
///                 .change()
///                 .set(Order::STATUS, Status::Paid)
///                 .when(Order::STATUS.eq(Status::Open).and(Order::TOTAL.eq(order.total))),
///         );
///         match tx.commit().await? {
///             Committed => return Ok(Some(order.total)),
///             Canceled(_) => {}
///         }
///     }
/// }
/// # fn main() -> tabla::Result<()> {
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let db = shop().await?;
/// # db.create(order("ana", 1, Status::Open)).await?.done().unwrap();
/// # let ana = Id::new("ana")?;
/// # assert_eq!(pay(&db, &ana, 1).await?, Some(10));
/// # assert_eq!(pay(&db, &ana, 1).await?, None);
/// # Ok(()) })
/// # }
/// ```
#[derive(Debug)]
#[must_use = "an optimistic loop does nothing until it begins an attempt"]
pub struct Optimistic<'d> {
    db: &'d Db,
    attempts: Attempts<'d>,
    what: &'static str,
    attempt: Attempt,
    is_begun: bool,
}

/// What an attempt learns from the one before.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    /// Tables and items of the conditions that failed.
    found: Vec<(String, Item)>,
    /// Entities whose conditions failed.
    failed: Vec<&'static str>,
}

impl Attempt {
    /// Records the failed conditions of a commit.
    pub(super) fn lost<'r>(
        &mut self,
        steps: impl IntoIterator<Item = (&'r Target, &'r CancellationReason)>,
    ) {
        self.found.clear();
        self.failed.clear();
        for (target, reason) in steps {
            if reason.code != tabla_core::CancellationCode::ConditionalCheckFailed {
                continue;
            }
            if !self.failed.contains(&target.entity) {
                self.failed.push(target.entity);
            }
            self.found.extend(reason.item.clone().map(|item| (target.table.clone(), item)));
        }
    }

    /// Takes the item with this key, if the attempt before has met it.
    pub(super) fn take(&mut self, table: &str, key: &Item) -> Option<Item> {
        let is_it = |(own, item): &(String, Item)| {
            own == table && key.iter().all(|(name, value)| item.get(name) == Some(value))
        };
        let at = self.found.iter().position(is_it)?;
        Some(self.found.swap_remove(at).1)
    }
}

/// Item that a step writes or checks.
#[derive(Debug)]
pub(super) struct Target {
    /// Name of the entity; of a guard item, that of the entity with the unique value.
    pub(super) entity: &'static str,
    pub(super) table: String,
}

impl Db {
    /// Starts an optimistic loop; `what` completes the sentence "gave up to …" in the error after
    /// the last attempt.
    pub fn optimistic(&self, what: &'static str) -> Optimistic<'_> {
        Optimistic {
            db: self,
            attempts: self.retries().start_attempts(RetryMode::OnlyIfNotApplied, what),
            what,
            attempt: Attempt::default(),
            is_begun: false,
        }
    }
}

impl Optimistic<'_> {
    /// Begins the next attempt. Each but the first waits first.
    ///
    /// # Errors
    /// After the last attempt:
    /// [`TransactionConflict`](tabla_core::ErrorKind::TransactionConflict), with the number of
    /// attempts and the entities whose conditions failed in the last one. Nothing was written.
    pub async fn begin(&mut self) -> Result<Transaction<'_>> {
        if std::mem::replace(&mut self.is_begun, true) {
            self.attempts.next_attempt().await.map_err(|error| {
                let failed = match self.attempt.failed.is_empty() {
                    true => "no commit was tried in the last one".to_owned(),
                    false => format!(
                        "in the last one, the condition on {} failed",
                        self.attempt.failed.join(" and ")
                    ),
                };
                error.with_message(format!(
                    "gave up to {} after {} attempts: a concurrent writer won each; {failed}",
                    self.what,
                    self.db.retries().attempts,
                ))
            })?;
        }
        Ok(Transaction::of_attempt(self.db, &mut self.attempt))
    }
}
