//! Transactions: several writes of any entities, all or none.

mod commit;
mod guards;

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use self::guards::Guards;
use super::change::present;
use super::db::{check_not_counted, check_not_unique, stamp};
use super::optimistic::Attempt;
use super::unique::{Moves, expiry, guard, moves, owned, same};
use super::{Change, Check, Db, Entity, EntityKey, Stamp, UtcMillis};
use tabla_core::Item;
use tabla_core::expr::Condition;
use tabla_core::ops::{ConditionCheck, DeleteItem, PutItem, TransactWriteItem, UpdateItem};
use tabla_core::{Error, Result};

pub use self::commit::{Cancellation, Commit};

/// Several writes of any entities, all or none, created by [`Db::transaction`] or
/// [`Optimistic::begin`](super::Optimistic::begin).
///
/// - Each step returns a handle, by which a [`Cancellation`] tells whose condition failed.
/// - An error in a step, such as a value that cannot stand in a key, surfaces at
///   [`commit`](Self::commit). Nothing is written then.
/// - Unique values are claimed and released in the same transaction.
/// - `created_at` and `updated_at` of all steps are the same moment, [`now`](Self::now).
/// - A single step without unique values is sent as a plain write, at half the price of a
///   transaction, unless the transaction has a [`token`](Self::token).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
/// use tabla::entity::Commit::{Canceled, Committed};
/// # fn main() -> tabla::Result<()> {
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let db = shop().await?;
/// # let cart = order("ana", 1, Status::Cart);
/// # db.create(cart.clone()).await?.done().unwrap();
/// let mut tx = db.transaction();
/// let ordered = tx.update(
///     cart.change().set(Order::STATUS, Status::Open).when(Order::STATUS.eq(Status::Cart)),
/// );
/// tx.create(order("ana", 2, Status::Cart));
/// match tx.commit().await? {
///     Committed => {}
///     Canceled(c) if c.failed(&ordered) => println!("it is {:?}", c.current(&ordered)?),
///     Canceled(_) => println!("there is a second order"),
/// }
/// # Ok(()) })
/// # }
/// ```
#[must_use = "a transaction writes nothing until it is committed"]
pub struct Transaction<'d> {
    db: &'d Db,
    /// Number of this transaction in the process, which its steps carry.
    number: u64,
    steps: Vec<TransactWriteItem>,
    /// Entity of each step.
    entities: Vec<&'static str>,
    guards: Guards,
    token: Option<String>,
    moment: Option<UtcMillis>,
    failure: Option<Error>,
    /// The attempt of an optimistic loop that this transaction is.
    attempt: Option<&'d mut Attempt>,
}

/// A step of a transaction: a handle for the [`Cancellation`].
pub struct Step<E> {
    transaction: u64,
    /// Place among the steps; `usize::MAX` for a step that could not be built.
    at: usize,
    entity: PhantomData<fn() -> E>,
}

impl<E> Clone for Step<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Step<E> {}

impl<E: Entity> std::fmt::Debug for Step<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "step {} ({})", self.at, E::design().name)
    }
}

/// Number of the next transaction.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl<'d> Transaction<'d> {
    pub(super) fn new(db: &'d Db) -> Self {
        Self {
            db,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            steps: Vec::new(),
            entities: Vec::new(),
            guards: Guards::default(),
            token: None,
            moment: None,
            failure: None,
            attempt: None,
        }
    }

    /// Transaction that is an attempt of an optimistic loop.
    pub(super) fn of_attempt(db: &'d Db, attempt: &'d mut Attempt) -> Self {
        Self { attempt: Some(attempt), ..Self::new(db) }
    }

    /// Moment of the transaction: the time at which it was first asked for.
    pub fn now(&mut self) -> UtcMillis {
        let db = self.db;
        *self.moment.get_or_insert_with(|| db.now())
    }

    /// Sets the [moment](Self::now), to build a transaction again that is sent under its token.
    pub fn at(mut self, moment: UtcMillis) -> Self {
        self.moment = Some(moment);
        self
    }

    /// Sets the request token. The store executes a transaction once per token, within ten minutes.
    ///
    /// Under one token, the transaction must be the same in everything, also in its moment: set that
    /// with [`at`](Self::at) if the transaction is built again.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Reads an entity, seeing every write that was acknowledged before.
    ///
    /// In an optimistic loop, the first read of an entity whose condition failed in the attempt
    /// before returns what that attempt met, and costs nothing.
    ///
    /// # Errors
    /// Those of the store; the item is of another kind.
    pub async fn get<K: EntityKey>(&mut self, key: &K) -> Result<Option<K::Entity>> {
        if let Some(attempt) = self.attempt.as_deref_mut()
            && let Some(item) = attempt.take(&self.db.table_of::<K::Entity>()?, &key.to_item()?)
        {
            return K::Entity::from_item(&item).map(Some);
        }
        match self.attempt {
            Some(_) => self.db.read_again(key).await,
            None => self.db.get(key).await,
        }
    }

    /// Adds a step, unless an earlier one could not be built.
    fn step<E: Entity>(
        &mut self,
        build: impl FnOnce(&mut Self) -> Result<TransactWriteItem>,
    ) -> Step<E> {
        let at = match build(self) {
            Ok(item) => {
                self.steps.push(item);
                self.entities.push(E::design().name);
                self.steps.len() - 1
            }
            Err(error) => {
                self.failure.get_or_insert(error);
                usize::MAX
            }
        };
        Step { transaction: self.number, at, entity: PhantomData }
    }

    /// Creates an entity, which must not exist.
    pub fn create<E: Entity>(&mut self, mut entity: E) -> Step<E> {
        let now = self.now();
        self.step(|tx| {
            stamp(&mut entity, &Stamp { now, is_new: true })?;
            tx.put_new(&entity)
        })
    }

    /// Creates an entity that has its times and its revision.
    pub(super) fn create_stamped<E: Entity>(&mut self, entity: &E) -> Step<E> {
        self.step(|tx| tx.put_new(entity))
    }

    fn put_new<E: Entity>(&mut self, entity: &E) -> Result<TransactWriteItem> {
        let design = E::design();
        let item = entity.to_item()?;
        let expiry = expiry(design, &item);
        let table = self.db.table_of::<E>()?;
        for unique in design.unique {
            if let Some(guard) = guard(design, unique, &|field| entity.field(field))? {
                let guard = owned(guard, &entity.to_key().to_item()?, expiry.clone());
                self.guards.claim::<E>(&table, self.steps.len(), unique.field, guard)?;
            }
        }
        let put = PutItem::new(table, item).condition(!present(design)).return_item_on_failure();
        Ok(TransactWriteItem::Put(put))
    }

    /// Writes an entity, whatever exists: only for entities without unique fields and without a
    /// revision.
    pub fn put<E: Entity>(&mut self, mut entity: E) -> Step<E> {
        let now = self.now();
        self.step(|tx| {
            check_not_unique::<E>("put")?;
            check_not_counted::<E>("put")?;
            stamp(&mut entity, &Stamp { now, is_new: true })?;
            let put = PutItem::new(tx.db.table_of::<E>()?, entity.to_item()?);
            Ok(TransactWriteItem::Put(put))
        })
    }

    /// Changes some fields of an entity, which must exist.
    pub fn update<E: Entity>(&mut self, change: Change<E>) -> Step<E> {
        let now = self.now();
        self.step(|tx| {
            let (table, owner) = (tx.db.table_of::<E>()?, change.key.to_item()?);
            let Moves { guards, pinned } = moves(&change)?;
            let mut built = change.build(now)?;
            for was in pinned {
                built.condition = built.condition.and(was);
            }
            let at = tx.steps.len();
            for (field, old, new) in guards {
                if let Some(old) = old {
                    tx.guards.release::<E>(&table, at, field, old, &owner)?;
                }
                if let Some(new) = new {
                    tx.guards.claim::<E>(&table, at, field, new)?;
                }
            }
            let update = UpdateItem::new(table, built.key)
                .update(built.update)
                .condition(built.condition)
                .return_item_on_failure();
            Ok(TransactWriteItem::Update(update))
        })
    }

    /// Deletes an entity, which must exist: only for entities without unique fields.
    pub fn delete<K: EntityKey>(&mut self, key: &K) -> Step<K::Entity> {
        self.step(|tx| tx.delete_item(key, None))
    }

    /// Deletes an entity, which must exist and for which the condition must hold: only for entities
    /// without unique fields.
    pub fn delete_if<K: EntityKey>(&mut self, key: &K, check: Check<K::Entity>) -> Step<K::Entity> {
        self.step(|tx| tx.delete_item(key, Some(check.on_attributes()?)))
    }

    fn delete_item<K: EntityKey>(
        &self,
        key: &K,
        condition: Option<Condition>,
    ) -> Result<TransactWriteItem> {
        let design = K::Entity::design();
        if !design.unique.is_empty() {
            return Err(Error::validation(format!(
                "{} has unique fields, whose values have to be released: read it and use \
                 delete_read",
                design.name
            )));
        }
        let present = present(design);
        let delete = DeleteItem::new(self.db.table_of::<K::Entity>()?, key.to_item()?)
            .condition(match condition {
                Some(condition) => present.and(condition),
                None => present,
            })
            .return_item_on_failure();
        Ok(TransactWriteItem::Delete(delete))
    }

    /// Deletes an entity that was read, and releases its unique values, which must not have changed.
    pub fn delete_read<E: Entity>(&mut self, entity: &E) -> Step<E> {
        self.step(|tx| tx.delete_owner(entity, None))
    }

    /// The same if a condition holds, too.
    pub fn delete_read_if<E: Entity>(&mut self, entity: &E, check: Check<E>) -> Step<E> {
        self.step(|tx| tx.delete_owner(entity, Some(check.on_attributes()?)))
    }

    /// The same with a condition on attributes.
    pub(super) fn delete_read_on<E: Entity>(
        &mut self,
        entity: &E,
        condition: Option<Condition>,
    ) -> Step<E> {
        self.step(|tx| tx.delete_owner(entity, condition))
    }

    fn delete_owner<E: Entity>(
        &mut self,
        entity: &E,
        condition: Option<Condition>,
    ) -> Result<TransactWriteItem> {
        let design = E::design();
        let (key, read) = (entity.to_key().to_item()?, Item::from_struct(entity)?);
        let table = self.db.table_of::<E>()?;
        let mut all = present(design);
        for unique in design.unique {
            for was in same(design, unique, &read) {
                all = all.and(was);
            }
            if let Some(guard) = guard(design, unique, &|field| entity.field(field))? {
                let at = self.steps.len();
                self.guards.release::<E>(&table, at, unique.field, guard, &key)?;
            }
        }
        if let Some(condition) = condition {
            all = all.and(condition);
        }
        let delete = DeleteItem::new(table, key).condition(all).return_item_on_failure();
        Ok(TransactWriteItem::Delete(delete))
    }

    /// Requires that an entity exists and that a condition holds for it, and writes nothing to it.
    pub fn check<K: EntityKey>(&mut self, key: &K, check: Check<K::Entity>) -> Step<K::Entity> {
        self.step(|tx| tx.check_item(key, Some(check.on_attributes()?)))
    }

    /// Requires that an entity exists, and writes nothing to it.
    pub fn check_exists<K: EntityKey>(&mut self, key: &K) -> Step<K::Entity> {
        self.step(|tx| tx.check_item(key, None))
    }

    fn check_item<K: EntityKey>(
        &self,
        key: &K,
        condition: Option<Condition>,
    ) -> Result<TransactWriteItem> {
        let present = present(K::Entity::design());
        let condition = match condition {
            Some(condition) => present.and(condition),
            None => present,
        };
        let table = self.db.table_of::<K::Entity>()?;
        let check = ConditionCheck::new(table, key.to_item()?, condition).return_item_on_failure();
        Ok(TransactWriteItem::ConditionCheck(check))
    }
}
