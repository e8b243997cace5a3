//! Commit of a transaction, and its outcome.

use super::guards::GuardStep;
use super::{Step, Transaction};
use crate::db::committed;
use crate::optimistic::Target;
use crate::{Db, Entity, EntityKey, Outcome};
use tabla_core::backend::limits::TRANSACT_ITEMS;
use tabla_core::env::Env;
use tabla_core::ops::{TransactWriteItem, TransactWriteItems};
use tabla_core::{
    Applied, CancellationCode, CancellationReason, Error, ErrorKind, Result, RetryMode, Store,
    assign,
};

/// Outcome of [`Transaction::commit`].
#[derive(Debug)]
#[must_use = "a transaction may be canceled"]
pub enum Commit {
    /// Every step was applied.
    Committed,
    /// A condition failed, and nothing was written.
    Canceled(Cancellation),
}

/// Steps whose conditions failed, so that nothing of a transaction was written.
#[derive(Debug)]
pub struct Cancellation {
    transaction: u64,
    /// Reasons of the steps, and after them those of the guard items.
    reasons: Vec<CancellationReason>,
    guards: Vec<(usize, &'static str)>,
    may_be_applied: bool,
}

impl Commit {
    /// Whether every step was applied.
    pub fn is_committed(&self) -> bool {
        matches!(self, Self::Committed)
    }
}

impl Cancellation {
    fn reason<E>(&self, step: &Step<E>) -> Option<&CancellationReason> {
        assert!(
            step.transaction == self.transaction,
            "a step of another transaction was given to a Cancellation: keep the steps of an \
             attempt in that attempt"
        );
        self.reasons.get(step.at)
    }

    /// Whether the condition of this step failed.
    ///
    /// # Panics
    /// The step belongs to another transaction.
    pub fn failed<E>(&self, step: &Step<E>) -> bool {
        self.reason(step).is_some_and(is_failed)
    }

    /// Whether the condition of this step failed, and no other.
    ///
    /// # Panics
    /// The step belongs to another transaction.
    pub fn only<E>(&self, step: &Step<E>) -> bool {
        self.failed(step) && self.reasons.iter().filter(|reason| is_failed(reason)).count() == 1
    }

    /// The entity for which the condition of this step failed; `None` if it does not exist, or if
    /// the condition did not fail.
    ///
    /// # Errors
    /// The item cannot be read as the entity.
    ///
    /// # Panics
    /// The step belongs to another transaction.
    pub fn current<E: Entity>(&self, step: &Step<E>) -> Result<Option<E>> {
        let item = self.reason(step).and_then(|reason| reason.item.as_ref());
        item.map(E::from_item).transpose()
    }

    /// Whether the response to an earlier request of this commit was lost, so that the transaction may
    /// still be executed, once all conditions hold. It cannot be if a condition failed that never
    /// holds again, such as one on a revision.
    pub fn may_be_applied(&self) -> bool {
        self.may_be_applied
    }

    /// Name of the unique field of this step whose value another entity has: compare it with
    /// `User::EMAIL.name`.
    ///
    /// # Panics
    /// The step belongs to another transaction.
    pub fn taken<E>(&self, step: &Step<E>) -> Option<&'static str> {
        self.reason(step)?;
        let guards = &self.reasons[self.reasons.len() - self.guards.len()..];
        let taken = self.guards.iter().zip(guards);
        let mut taken = taken.filter(|((of, _), reason)| *of == step.at && is_failed(reason));
        taken.next().map(|((_, field), _)| *field)
    }
}

fn is_failed(reason: &CancellationReason) -> bool {
    reason.code == CancellationCode::ConditionalCheckFailed
}

impl Transaction<'_> {
    /// Writes all steps, or none.
    ///
    /// In an optimistic loop, throttling, conflicts and lost responses are retried with the same
    /// request: a transaction that was executed is not executed again. Outside of one, they are
    /// errors, after the retries of the store.
    ///
    /// # Errors
    /// - A step could not be built, or the transaction has no step or too many.
    /// - Those of the store. With [`Applied::Maybe`], the transaction may be committed: the response
    ///   was lost. A failed condition is no error.
    pub async fn commit(mut self) -> Result<Commit> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        match self.steps.len() {
            0 => Err(Error::validation(
                "a transaction without steps writes nothing: add one before the commit",
            )),
            1 if self.is_plain() => self.commit_alone().await,
            _ => self.commit_all().await,
        }
    }

    /// Whether the only step can be sent as a plain write.
    fn is_plain(&self) -> bool {
        self.guards.is_empty()
            && self.token.is_none()
            && !matches!(self.steps[0], TransactWriteItem::ConditionCheck(_))
    }

    async fn commit_alone(self) -> Result<Commit> {
        let Self { db, number, mut steps, entities, attempt, .. } = self;
        let step = steps.pop().expect("there is one step");
        let store = db.store();
        let target = attempt.as_ref().map(|_| target(entities[0], &step));
        let sent = match attempt {
            Some(_) => {
                let send = || send_plain(store, step.clone());
                db.retries().run(RetryMode::OnlyIfNotApplied, send).await
            }
            None => send_plain(store, step).await,
        };
        let Err(error) = sent else { return Ok(Commit::Committed) };
        if !error.is_condition_failed() {
            return Err(error);
        }
        let item = match error.into_kind() {
            ErrorKind::ConditionFailed { item } => item,
            kind => return Err(Error::new(kind, "unexpected kind of a failed condition")),
        };
        let reason = CancellationReason::condition_failed(item);
        if let (Some(attempt), Some(target)) = (attempt, &target) {
            attempt.lost([(target, &reason)]);
        }
        Ok(Commit::Canceled(Cancellation {
            transaction: number,
            reasons: vec![reason],
            guards: Vec::new(),
            may_be_applied: false,
        }))
    }

    async fn commit_all(self) -> Result<Commit> {
        let Self { db, number, steps, mut entities, guards, token, attempt, .. } = self;
        let (guards, operations): (Vec<GuardStep>, Vec<_>) = guards.operations().unzip();
        entities.extend(guards.iter().map(|guard| guard.entity));
        let items: Vec<TransactWriteItem> = steps.into_iter().chain(operations).collect();
        if items.len() > TRANSACT_ITEMS {
            return Err(Error::validation(format!(
                "a transaction has at most {TRANSACT_ITEMS} operations, and this one {}, of which \
                 {} are for unique values",
                items.len(),
                guards.len(),
            )));
        }
        let targets: Vec<Target> = match &attempt {
            Some(_) => {
                let steps = entities.iter().zip(&items);
                steps.map(|(entity, item)| target(entity, item)).collect()
            }
            None => Vec::new(),
        };
        let request =
            assign!(TransactWriteItems::default(), { items, client_request_token: token });
        let mut sender = Sender { db, is_attempt: attempt.is_some(), may_be_applied: false };
        // A guard that is released and may be another entity's makes a second request.
        let kept = guards.iter().any(|guard| guard.spared.is_some()).then(|| request.clone());
        let mut reasons = match sender.send(request).await? {
            None => return Ok(Commit::Committed),
            Some(reasons) => reasons,
        };
        if let Some(request) = kept.and_then(|request| sparing(request, &guards, &reasons)) {
            reasons = match sender.send(request).await? {
                None => return Ok(Commit::Committed),
                Some(reasons) => reasons,
            };
        }
        if let Some(attempt) = attempt {
            attempt.lost(targets.iter().zip(&reasons));
        }
        let guards = guards.into_iter().map(|guard| (guard.of, guard.field)).collect();
        let may_be_applied = sender.may_be_applied;
        Ok(Commit::Canceled(Cancellation { transaction: number, reasons, guards, may_be_applied }))
    }

    /// Outcome of a transaction that is one write and its guards.
    pub(crate) async fn alone<E: Entity>(self, step: Step<E>, entity: E) -> Result<Outcome<E>> {
        match self.commit().await? {
            Commit::Committed => Ok(Outcome::Done(entity)),
            Commit::Canceled(canceled) => canceled.outcome(&step),
        }
    }

    /// The same for a change, whose result has to be read.
    pub(crate) async fn alone_at<K: EntityKey>(
        self,
        step: Step<K::Entity>,
        key: K,
    ) -> Result<Outcome<K::Entity>> {
        let db = self.db;
        match self.commit().await? {
            // It is committed, whatever the read returns: no error may call it not applied.
            Commit::Committed => match db.get(&key).await {
                Ok(Some(entity)) => Ok(Outcome::Done(entity)),
                Ok(None) => Err(committed(Error::new(
                    ErrorKind::Unexpected,
                    "the entity was deleted before it could be read",
                ))),
                Err(error) => Err(committed(error)),
            },
            Commit::Canceled(canceled) => canceled.outcome(&step),
        }
    }
}

impl Cancellation {
    fn outcome<E: Entity>(&self, step: &Step<E>) -> Result<Outcome<E>> {
        if self.failed(step) {
            return Ok(Outcome::Lost(self.current(step)?));
        }
        match self.taken(step) {
            Some(field) => Ok(Outcome::Taken { field }),
            None => Ok(Outcome::Lost(None)),
        }
    }
}

/// Sends a step as a write of its own.
async fn send_plain(store: &dyn Store, step: TransactWriteItem) -> Result<()> {
    match step {
        TransactWriteItem::Put(put) => store.put(put).await.map(drop),
        TransactWriteItem::Update(update) => store.update(update).await.map(drop),
        TransactWriteItem::Delete(delete) => store.delete(delete).await.map(drop),
        TransactWriteItem::ConditionCheck(_) => unreachable!("a check is no plain write"),
    }
}

/// The item that a step writes or checks.
fn target(entity: &'static str, item: &TransactWriteItem) -> Target {
    let table = match item {
        TransactWriteItem::Put(put) => &put.table,
        TransactWriteItem::Update(update) => &update.table,
        TransactWriteItem::Delete(delete) => &delete.table,
        TransactWriteItem::ConditionCheck(check) => &check.table,
    };
    Target { entity, table: table.clone() }
}

/// Sends the requests of a commit.
struct Sender<'d> {
    db: &'d Db,
    is_attempt: bool,
    may_be_applied: bool,
}

impl Sender<'_> {
    /// Why the transaction was canceled, if failed conditions and nothing else are why; `None` if it
    /// was committed.
    async fn send(
        &mut self,
        mut request: TransactWriteItems,
    ) -> Result<Option<Vec<CancellationReason>>> {
        let store = self.db.store();
        let sent = match self.is_attempt {
            false => store.transact_write(request).await,
            true => {
                if store.capabilities().responses_can_be_lost {
                    // Of the machine, not of the database: two databases with one seed would send
                    // the same tokens to a service that they share.
                    let token = || Env::system().token();
                    request.client_request_token.get_or_insert_with(token);
                }
                let repeat = match request.client_request_token {
                    Some(_) => RetryMode::Idempotent,
                    None => RetryMode::OnlyIfNotApplied,
                };
                self.db.retries().run(repeat, || store.transact_write(request.clone())).await
            }
        };
        let Err(error) = sent else { return Ok(None) };
        match error.kind() {
            ErrorKind::TransactionCanceled { reasons } if is_canceled(reasons) => {
                self.may_be_applied |= error.applied() == Applied::Maybe;
                Ok(Some(reasons.clone()))
            }
            _ => Err(error),
        }
    }
}

/// Whether failed conditions, and nothing else, are why it was canceled.
fn is_canceled(reasons: &[CancellationReason]) -> bool {
    reasons.iter().any(is_failed)
        && reasons.iter().all(|reason| is_failed(reason) || reason.code == CancellationCode::None)
}

/// The same transaction without the deletion of guards that are other entities': the guard of an
/// expired entity may be deleted before the entity, and another entity may claim the value. `None`
/// if no guard is why the transaction was canceled.
fn sparing(
    mut request: TransactWriteItems,
    guards: &[GuardStep],
    reasons: &[CancellationReason],
) -> Option<TransactWriteItems> {
    let mut is_changed = false;
    let first = request.items.len() - guards.len();
    let operations = request.items[first..].iter_mut().zip(guards).zip(&reasons[first..]);
    for ((item, guard), reason) in operations {
        if let Some(check) = &guard.spared
            && is_failed(reason)
        {
            *item = TransactWriteItem::ConditionCheck((**check).clone());
            is_changed = true;
        }
    }
    // It is another transaction, under a token that is the same each time that it comes to this.
    request.client_request_token = request.client_request_token.map(|token| {
        format!("{:016x}-spared", tabla_core::backend::key_encoding::hash(token.as_bytes()))
    });
    is_changed.then_some(request)
}
