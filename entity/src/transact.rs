//! Several writes of any entities, all or none.

use std::borrow::Cow;

use super::change::present;
use super::db::{check_not_counted, check_not_unique, committed, stamp};
use super::lost::{Lost, Name, Part, Transacted};
use super::prepared::Prepared;
use super::unique::{Moves, expiry, guard, is_owned, moves, owned, same};
use super::{Change, Check, Db, Entity, EntityKey, Outcome, Stamp, UtcMillis};
use tabla_core::Item;
use tabla_core::expr::Condition;
use tabla_core::ops::{ConditionCheck, DeleteItem, PutItem, TransactWriteItem, UpdateItem};
use tabla_core::{Error, ErrorKind, Result};

/// Several writes of any entities, each with a name, all or none.
///
/// Values that must be unique are seen to in the same transaction. What the layer sets by itself,
/// such as when an entity was created, is of one moment in all of it.
#[must_use]
pub struct Transaction<'d> {
    db: &'d Db,
    operations: Vec<(Name, TransactWriteItem)>,
    guards: Vec<Guard>,
    token: Option<String>,
    moment: Option<UtcMillis>,
}

/// What happens to the item that stands for a unique value. A transaction has one operation on an
/// item, so that what one entity gives up and another takes is one operation.
struct Guard {
    of: Name,
    field: &'static str,
    table: String,
    key: Item,
    /// Holds if nobody has it.
    free: Condition,
    /// Holds if it is who gives it up that has it.
    before: Option<Condition>,
    /// What it is then.
    after: Option<Item>,
    /// Holds unless who gives it up has it: for an entity that expires, whose guard may have been
    /// swept first and be another's.
    foreign: Option<Condition>,
}

impl<'d> Transaction<'d> {
    pub(super) fn new(db: &'d Db) -> Self {
        Self { db, operations: Vec::new(), guards: Vec::new(), token: None, moment: None }
    }

    /// As if it were this moment.
    pub(super) fn at(db: &'d Db, moment: UtcMillis) -> Self {
        Self { moment: Some(moment), ..Self::new(db) }
    }

    /// Now, which is the first moment that was asked for.
    fn now(&mut self) -> UtcMillis {
        let db = self.db;
        *self.moment.get_or_insert_with(|| db.now())
    }

    /// Under a token of the caller's: the same transaction under the same token is carried out
    /// once, within ten minutes. Without one the store makes its own.
    ///
    /// It is the same only if everything in it is, also what the layer sets by itself: one that is
    /// built again at another moment sets other times, and the store refuses it. To send one again,
    /// [`prepare`](Self::prepare) it; to build one again, give it the moment of the first with
    /// [`Db::transaction_at`].
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    fn push(&mut self, name: &Name, item: TransactWriteItem) -> Result<()> {
        if self.operations.iter().any(|(other, _)| other == name) {
            return Err(Error::validation(format!(
                "two operations of a transaction are called {name:?}"
            )));
        }
        self.operations.push((name.clone(), item));
        Ok(())
    }

    /// Writes an entity that must not be there.
    ///
    /// # Errors
    /// A field cannot stand in a key; the name is taken.
    pub fn create<E: Entity>(
        mut self,
        name: impl Into<Cow<'static, str>>,
        mut entity: E,
    ) -> Result<Self> {
        stamp(&mut entity, &Stamp { now: self.now(), is_new: true })?;
        self.create_stamped(&name.into(), &entity)
    }

    pub(super) fn create_stamped<E: Entity>(mut self, name: &Name, entity: &E) -> Result<Self> {
        let design = E::design();
        let item = entity.to_item()?;
        let expiry = expiry(design, &item);
        let put = PutItem::new(self.db.table_of::<E>()?, item)
            .condition(!present(design))
            .return_item_on_failure();
        self.push(name, TransactWriteItem::Put(put))?;
        for unique in design.unique {
            if let Some(guard) = guard(design, unique, &|field| entity.field(field))? {
                let guard = owned(guard, &entity.key().to_item()?, expiry.clone());
                self.claim::<E>(name, unique.field, guard)?;
            }
        }
        Ok(self)
    }

    /// Takes a unique value, which nobody has or another operation gives up, with this guard.
    fn claim<E: Entity>(&mut self, of: &Name, field: &'static str, item: Item) -> Result<()> {
        let table = (E::design().table)();
        let guard = self.guard_of::<E>(of, field, table.key_of(&item))?;
        if guard.after.is_some() {
            return Err(Error::validation(format!(
                "{of:?} and {:?} of a transaction have the same `{field}`, which is unique",
                guard.of
            )));
        }
        // Whoever takes the value is told that it is not to be had.
        (guard.of, guard.field, guard.after) = (of.clone(), field, Some(item));
        Ok(())
    }

    /// Gives up a unique value.
    fn release<E: Entity>(
        &mut self,
        of: &Name,
        field: &'static str,
        key: Item,
        owner: Item,
    ) -> Result<()> {
        let guard = self.guard_of::<E>(of, field, key)?;
        // One that has expired may be gone before its entity is.
        guard.before = Some(match E::design().ttl {
            Some(_) => guard.free.clone().or(is_owned(&owner)),
            None => is_owned(&owner),
        });
        guard.foreign = E::design().ttl.map(|_| !is_owned(&owner));
        Ok(())
    }

    /// What this transaction does to a guard so far.
    fn guard_of<E: Entity>(
        &mut self,
        of: &Name,
        field: &'static str,
        key: Item,
    ) -> Result<&mut Guard> {
        let table = self.db.table_of::<E>()?;
        let known = self.guards.iter().position(|guard| guard.table == table && guard.key == key);
        let at = known.unwrap_or(self.guards.len());
        if known.is_none() {
            let free = !present(E::design());
            let of = of.clone();
            let (before, after, foreign) = (None, None, None);
            self.guards.push(Guard { of, field, table, key, free, before, after, foreign });
        }
        Ok(&mut self.guards[at])
    }

    /// Writes an entity whatever is there: only for entities without unique fields, and without a
    /// count of their writes.
    ///
    /// # Errors
    /// A field cannot stand in a key; the name is taken; it has unique fields or counts its writes.
    pub fn put<E: Entity>(
        mut self,
        name: impl Into<Cow<'static, str>>,
        mut entity: E,
    ) -> Result<Self> {
        check_not_unique::<E>("put")?;
        check_not_counted::<E>("put")?;
        stamp(&mut entity, &Stamp { now: self.now(), is_new: true })?;
        let put = PutItem::new(self.db.table_of::<E>()?, entity.to_item()?);
        self.push(&name.into(), TransactWriteItem::Put(put))?;
        Ok(self)
    }

    /// Changes some fields of an entity that must be there.
    ///
    /// # Errors
    /// The change would leave a key behind; the name is taken.
    pub fn update<E: Entity>(
        mut self,
        name: impl Into<Cow<'static, str>>,
        change: Change<E>,
    ) -> Result<Self> {
        let (name, owner) = (name.into(), change.key.to_item()?);
        let Moves { guards, pinned } = moves(&change)?;
        let mut built = change.build(self.now())?;
        for was in pinned {
            built.condition = built.condition.and(was);
        }
        let update = UpdateItem::new(self.db.table_of::<E>()?, built.key)
            .update(built.update)
            .condition(built.condition)
            .return_item_on_failure();
        self.push(&name, TransactWriteItem::Update(update))?;
        for (field, old, new) in guards {
            if let Some(old) = old {
                self.release::<E>(&name, field, old, owner.clone())?;
            }
            if let Some(new) = new {
                self.claim::<E>(&name, field, new)?;
            }
        }
        Ok(self)
    }

    /// Deletes an entity that must be there: only for entities without unique fields.
    ///
    /// # Errors
    /// A field cannot stand in a key; the name is taken.
    pub fn delete<K: EntityKey>(
        mut self,
        name: impl Into<Cow<'static, str>>,
        key: &K,
        check: Option<Check<K::Entity>>,
    ) -> Result<Self> {
        let design = K::Entity::design();
        if !design.unique.is_empty() {
            return Err(Error::validation(format!(
                "{} has unique fields, whose values have to be given up: use delete_read",
                design.name
            )));
        }
        let mut condition = present(design);
        if let Some(check) = check {
            condition = condition.and(check.on_attributes()?);
        }
        let delete = DeleteItem::new(self.db.table_of::<K::Entity>()?, key.to_item()?)
            .condition(condition)
            .return_item_on_failure();
        self.push(&name.into(), TransactWriteItem::Delete(delete))?;
        Ok(self)
    }

    /// Deletes an entity that was read, and gives up its unique values.
    ///
    /// # Errors
    /// A field cannot stand in a key; the name is taken.
    pub fn delete_read<E: Entity>(
        mut self,
        name: impl Into<Cow<'static, str>>,
        entity: &E,
        condition: Option<Condition>,
    ) -> Result<Self> {
        let (name, design) = (name.into(), E::design());
        let (key, read) = (entity.key().to_item()?, Item::from_struct(entity)?);
        let mut all = present(design);
        let fields = |field: &str| entity.field(field);
        let mut guards = Vec::new();
        for unique in design.unique {
            for was in same(design, unique, &read) {
                all = all.and(was);
            }
            guards.extend(guard(design, unique, &fields)?.map(|guard| (unique.field, guard)));
        }
        if let Some(condition) = condition {
            all = all.and(condition);
        }
        let delete = DeleteItem::new(self.db.table_of::<E>()?, key.clone())
            .condition(all)
            .return_item_on_failure();
        self.push(&name, TransactWriteItem::Delete(delete))?;
        for (field, guard) in guards {
            self.release::<E>(&name, field, guard, key.clone())?;
        }
        Ok(self)
    }

    /// Holds only if this does of an entity, which must be there.
    ///
    /// # Errors
    /// A field cannot stand in a key; the name is taken.
    pub fn check<K: EntityKey>(
        mut self,
        name: impl Into<Cow<'static, str>>,
        key: &K,
        check: Option<Check<K::Entity>>,
    ) -> Result<Self> {
        let mut condition = present(K::Entity::design());
        if let Some(check) = check {
            condition = condition.and(check.on_attributes()?);
        }
        let check =
            ConditionCheck::new(self.db.table_of::<K::Entity>()?, key.to_item()?, condition)
                .return_item_on_failure();
        self.push(&name.into(), TransactWriteItem::ConditionCheck(check))?;
        Ok(self)
    }

    /// Carries it out.
    ///
    /// # Errors
    /// Those of the store; it has too many operations. That a condition did not hold is none.
    pub async fn run(self) -> Result<Transacted> {
        self.finish()?.run_once().await
    }

    /// The transaction as it is, to be sent as often as it takes: under its token, or one that is
    /// made for it, it is carried out once.
    ///
    /// # Errors
    /// It has too many operations.
    pub fn prepare(mut self) -> Result<Prepared<'d>> {
        let db = self.db;
        self.token.get_or_insert_with(|| db.env().token());
        self.finish()
    }

    fn finish(self) -> Result<Prepared<'d>> {
        let Self { db, operations, guards, token, .. } = self;
        let operations = operations.into_iter().map(|(name, item)| (Part::Own(name), item));
        Prepared::new(db, operations.chain(guards.into_iter().map(Guard::operation)), token)
    }

    /// The outcome of a transaction that is one write and its guards.
    pub(super) async fn alone<E: Entity>(self, entity: E) -> Result<Outcome<E>> {
        match self.run().await? {
            Transacted::Done => Ok(Outcome::Done(entity)),
            Transacted::Lost(lost) => lost_alone(&lost),
        }
    }

    /// The same for a change, whose result has to be read.
    pub(super) async fn alone_at<K: EntityKey>(self, key: K) -> Result<Outcome<K::Entity>> {
        let db = self.db;
        match self.run().await? {
            // It is done, whatever becomes of looking at it: nothing may call it not applied.
            Transacted::Done => match db.get(&key).await {
                Ok(Some(entity)) => Ok(Outcome::Done(entity)),
                Ok(None) => Err(committed(Error::new(
                    ErrorKind::Unexpected,
                    "the entity was deleted before it could be read",
                ))),
                Err(error) => Err(committed(error)),
            },
            Transacted::Lost(lost) => lost_alone(&lost),
        }
    }
}

impl Guard {
    fn operation(self) -> (Part, TransactWriteItem) {
        let Self { of, field, table, key, free, before, after, foreign } = self;
        let condition = before.unwrap_or(free);
        let Some(item) = after else {
            let spared =
                foreign.map(|foreign| ConditionCheck::new(&table, key.clone(), foreign).into());
            let delete = DeleteItem::new(table, key).condition(condition);
            return (Part::Guard { of, field, spared }, TransactWriteItem::Delete(delete));
        };
        let put = PutItem::new(table, item).condition(condition);
        (Part::Guard { of, field, spared: None }, TransactWriteItem::Put(put))
    }
}

fn lost_alone<E: Entity>(lost: &Lost) -> Result<Outcome<E>> {
    if lost.is_lost("entity") {
        return Ok(Outcome::Lost(lost.current("entity")?));
    }
    match lost.taken("entity") {
        Some(field) => Ok(Outcome::Taken { field }),
        None => Ok(Outcome::Lost(None)),
    }
}
