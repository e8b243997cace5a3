//! Several writes of any entities, all or none.

use super::change::{present, unchanged};
use super::unique::{guard, is_owned, owned};
use super::{Change, Check, Db, Entity, EntityKey, Outcome};
use crate::error::{CancellationReason, Error, ErrorKind, Result};
use crate::expr::Condition;
use crate::ops::{
    ConditionCheck, DeleteItem, PutItem, TransactWriteItem, TransactWriteItems, UpdateItem,
};
use crate::{CancellationCode, Item};

/// Several writes of any entities, each with a name, all or none.
///
/// Values that must be unique are seen to in the same transaction.
#[must_use]
pub struct Transaction<'d> {
    db: &'d Db,
    operations: Vec<(Name, TransactWriteItem)>,
    token: Option<String>,
}

/// What an operation is called.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Given(&'static str),
    /// The guard of a unique field of an operation.
    Guard {
        of: &'static str,
        field: &'static str,
    },
}

/// What became of a transaction.
#[derive(Debug)]
#[must_use]
pub enum Transacted {
    /// All of it was done.
    Done,
    /// Nothing of it was done, because of these operations.
    Lost(Lost),
}

/// Why a transaction was lost.
#[derive(Debug)]
pub struct Lost {
    reasons: Vec<(Name, CancellationReason)>,
}

impl Lost {
    fn of(&self, name: &str) -> Option<&CancellationReason> {
        let named = |(other, _): &&(Name, CancellationReason)| {
            *other == Name::Given(name_of(name, &self.reasons))
        };
        self.reasons.iter().find(named).map(|(_, reason)| reason)
    }

    /// Whether the condition of this operation did not hold.
    pub fn is_lost(&self, name: &str) -> bool {
        self.of(name).is_some_and(|reason| reason.code == CancellationCode::ConditionalCheckFailed)
    }

    /// What stands where this operation lost; `None` if nothing does, or it did not lose.
    ///
    /// # Errors
    /// It is of another kind.
    pub fn current<E: Entity>(&self, name: &str) -> Result<Option<E>> {
        let item = self.of(name).and_then(|reason| reason.item.as_ref());
        item.map(E::from_item).transpose()
    }

    /// The unique field of this operation whose value is another's.
    pub fn taken(&self, name: &str) -> Option<&'static str> {
        self.reasons.iter().find_map(|(other, reason)| match other {
            Name::Guard { of, field }
                if *of == name && reason.code == CancellationCode::ConditionalCheckFailed =>
            {
                Some(*field)
            }
            _ => None,
        })
    }

    /// The names of the operations that were lost, in order.
    pub fn names(&self) -> Vec<&'static str> {
        let lost = self.reasons.iter().filter(|(_, reason)| reason.code != CancellationCode::None);
        lost.map(|(name, _)| match name {
            Name::Given(name) => *name,
            Name::Guard { of, .. } => *of,
        })
        .collect()
    }
}

fn name_of(name: &str, reasons: &[(Name, CancellationReason)]) -> &'static str {
    reasons
        .iter()
        .find_map(|(other, _)| match other {
            Name::Given(given) if *given == name => Some(*given),
            _ => None,
        })
        .unwrap_or("")
}

impl<'d> Transaction<'d> {
    pub(super) fn new(db: &'d Db) -> Self {
        Self { db, operations: Vec::new(), token: None }
    }

    /// Under a token of the caller's: the same transaction under the same token is carried out
    /// once, within ten minutes. Without one the store makes its own.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    fn push(&mut self, name: &'static str, item: TransactWriteItem) -> Result<()> {
        if self.operations.iter().any(|(other, _)| *other == Name::Given(name)) {
            return Err(Error::validation(format!(
                "two operations of a transaction are called {name:?}"
            )));
        }
        self.operations.push((Name::Given(name), item));
        Ok(())
    }

    /// Writes an entity that must not be there.
    ///
    /// # Errors
    /// A field cannot stand in a key; the name is taken.
    pub fn create<E: Entity>(self, name: &'static str, mut entity: E) -> Result<Self> {
        self.db.stamp(&mut entity, true);
        self.create_stamped(name, &entity)
    }

    fn create_stamped<E: Entity>(mut self, name: &'static str, entity: &E) -> Result<Self> {
        let design = E::design();
        let put = PutItem::new(self.db.table_of::<E>()?, entity.to_item()?)
            .condition(!present(design))
            .return_item_on_failure();
        self.push(name, TransactWriteItem::Put(put))?;
        for unique in design.unique {
            if let Some(guard) = guard(design, unique, &|field| entity.field(field))? {
                self.guard::<E>(name, unique.field, guard, &entity.key().to_item()?)?;
            }
        }
        Ok(self)
    }

    fn guard<E: Entity>(
        &mut self,
        of: &'static str,
        field: &'static str,
        guard: Item,
        owner: &Item,
    ) -> Result<()> {
        let put = PutItem::new(self.db.table_of::<E>()?, owned(guard, owner))
            .condition(!present(E::design()));
        self.operations.push((Name::Guard { of, field }, TransactWriteItem::Put(put)));
        Ok(())
    }

    fn release<E: Entity>(
        &mut self,
        of: &'static str,
        field: &'static str,
        guard: Item,
        owner: &Item,
    ) -> Result<()> {
        let delete = DeleteItem::new(self.db.table_of::<E>()?, guard).condition(is_owned(owner));
        self.operations.push((Name::Guard { of, field }, TransactWriteItem::Delete(delete)));
        Ok(())
    }

    /// Writes an entity whatever is there: only for entities without unique fields.
    ///
    /// # Errors
    /// A field cannot stand in a key; the name is taken.
    pub fn put<E: Entity>(mut self, name: &'static str, mut entity: E) -> Result<Self> {
        self.db.stamp(&mut entity, true);
        let put = PutItem::new(self.db.table_of::<E>()?, entity.to_item()?);
        self.push(name, TransactWriteItem::Put(put))?;
        Ok(self)
    }

    /// Changes some fields of an entity that must be there.
    ///
    /// # Errors
    /// The change would leave a key behind; the name is taken.
    pub fn update<E: Entity>(mut self, name: &'static str, change: Change<E>) -> Result<Self> {
        let design = E::design();
        let owner = change.key.to_item()?;
        let (mut guards, mut pinned) = (Vec::new(), Vec::new());
        for unique in design.unique {
            if !change.changed().any(|field| unique.partition.has(field)) {
                continue;
            }
            let Some(read) = &change.read else {
                return Err(Error::validation(format!(
                    "{}: `{}` is unique, and its old value has to be given up: read the entity and \
                     use Change::of",
                    design.name, unique.field
                )));
            };
            let old = guard(design, unique, &|field| read.field(field))?;
            let new = guard(design, unique, &|field| change.after(field));
            // A field that is cleared has no guard any more.
            let new = if change.clears(unique.field) { None } else { new? };
            // Also where the value is to stay what it was when it was read: it may be another by
            // now, and the guard that of somebody else.
            pinned.push(change.was(unique.field)?);
            if old != new {
                guards.push((unique.field, old, new));
            }
        }
        let mut built = change.build(self.db.now())?;
        for was in pinned {
            built.condition = built.condition.and(was);
        }
        let update = UpdateItem::new(self.db.table_of::<E>()?, built.key)
            .update(built.update)
            .condition(built.condition)
            .return_item_on_failure();
        self.push(name, TransactWriteItem::Update(update))?;
        for (field, old, new) in guards {
            if let Some(old) = old {
                self.release::<E>(name, field, old, &owner)?;
            }
            if let Some(new) = new {
                self.guard::<E>(name, field, new, &owner)?;
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
        name: &'static str,
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
            condition = condition.and(check.build()?);
        }
        let delete = DeleteItem::new(self.db.table_of::<K::Entity>()?, key.to_item()?)
            .condition(condition)
            .return_item_on_failure();
        self.push(name, TransactWriteItem::Delete(delete))?;
        Ok(self)
    }

    /// Deletes an entity that was read, and gives up its unique values.
    ///
    /// # Errors
    /// A field cannot stand in a key; the name is taken.
    pub fn delete_read<E: Entity>(
        mut self,
        name: &'static str,
        entity: &E,
        condition: Option<Condition>,
    ) -> Result<Self> {
        let design = E::design();
        let (key, read) = (entity.key().to_item()?, Item::from_struct(entity)?);
        let mut all = present(design);
        let fields = |field: &str| entity.field(field);
        let mut guards = Vec::new();
        for unique in design.unique {
            let attribute = design.attribute(unique.field);
            all = all.and(unchanged(attribute, &read));
            guards.extend(guard(design, unique, &fields)?.map(|guard| (unique.field, guard)));
        }
        if let Some(condition) = condition {
            all = all.and(condition);
        }
        let delete = DeleteItem::new(self.db.table_of::<E>()?, key.clone())
            .condition(all)
            .return_item_on_failure();
        self.push(name, TransactWriteItem::Delete(delete))?;
        for (field, guard) in guards {
            self.release::<E>(name, field, guard, &key)?;
        }
        Ok(self)
    }

    /// Holds only if this does of an entity, which must be there.
    ///
    /// # Errors
    /// A field cannot stand in a key; the name is taken.
    pub fn check<K: EntityKey>(
        mut self,
        name: &'static str,
        key: &K,
        check: Option<Check<K::Entity>>,
    ) -> Result<Self> {
        let mut condition = present(K::Entity::design());
        if let Some(check) = check {
            condition = condition.and(check.build()?);
        }
        let check =
            ConditionCheck::new(self.db.table_of::<K::Entity>()?, key.to_item()?, condition)
                .return_item_on_failure();
        self.push(name, TransactWriteItem::ConditionCheck(check))?;
        Ok(self)
    }

    /// Carries it out.
    ///
    /// # Errors
    /// Those of the store. That a condition did not hold is none.
    pub async fn run(self) -> Result<Transacted> {
        let (names, items): (Vec<Name>, Vec<TransactWriteItem>) =
            self.operations.into_iter().unzip();
        let request = TransactWriteItems {
            items,
            client_request_token: self.token,
            ..TransactWriteItems::default()
        };
        match self.db.store().transact_write(request).await {
            Ok(_) => Ok(Transacted::Done),
            Err(error) => {
                let is_lost = |reasons: &[CancellationReason]| {
                    reasons.iter().any(|r| r.code == CancellationCode::ConditionalCheckFailed)
                        && reasons.iter().all(|reason| {
                            matches!(
                                reason.code,
                                CancellationCode::None | CancellationCode::ConditionalCheckFailed
                            )
                        })
                };
                match error.kind() {
                    ErrorKind::TransactionCanceled { reasons } if is_lost(reasons) => {
                        let reasons = names.into_iter().zip(reasons.iter().cloned()).collect();
                        Ok(Transacted::Lost(Lost { reasons }))
                    }
                    _ => Err(error),
                }
            }
        }
    }

    /// The outcome of a transaction that is one write and its guards.
    pub(super) async fn alone<E: Entity>(self, mut entity: E, is_new: bool) -> Result<Outcome<E>> {
        let db = self.db;
        if is_new {
            db.stamp(&mut entity, true);
        }
        match self.run().await? {
            Transacted::Done => Ok(Outcome::Done(entity)),
            Transacted::Lost(lost) => lost_alone(&lost),
        }
    }

    /// The same for a change, whose result has to be read.
    pub(super) async fn alone_at<K: EntityKey>(self, key: K) -> Result<Outcome<K::Entity>> {
        let db = self.db;
        match self.run().await? {
            Transacted::Done => match db.get(&key).await? {
                Some(entity) => Ok(Outcome::Done(entity)),
                None => Ok(Outcome::Lost(None)),
            },
            Transacted::Lost(lost) => lost_alone(&lost),
        }
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
