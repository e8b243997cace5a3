//! Several writes of any entities, all or none.

use super::change::{present, unchanged};
use super::db::{check_not_counted, check_not_unique};
use super::design::{EntityDesign, UniqueDesign};
use super::unique::{guard, is_owned, owned};
use super::{Change, Check, Db, Entity, EntityKey, Outcome};
use crate::error::{CancellationReason, Error, ErrorKind, Result};
use crate::expr::Condition;
use crate::limits::TRANSACT_ITEMS;
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
    guards: Vec<Guard>,
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

/// What happens to the item that stands for a unique value. A transaction has one operation on an
/// item, so that what one entity gives up and another takes is one operation.
struct Guard {
    of: &'static str,
    field: &'static str,
    table: String,
    key: Item,
    /// Holds if nobody has it.
    free: Condition,
    /// Whose it must be.
    before: Option<Item>,
    /// Whose it is then.
    after: Option<Item>,
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
        let mut names = Vec::new();
        for (Name::Given(name) | Name::Guard { of: name, .. }, _) in lost {
            // One may be lost by itself and by its unique values, which come after all others.
            if !names.contains(name) {
                names.push(*name);
            }
        }
        let place = |name: &&str| self.reasons.iter().position(|(own, _)| own.is(name));
        names.sort_by_key(place);
        names
    }
}

impl Name {
    fn is(&self, name: &str) -> bool {
        matches!(self, Self::Given(own) if *own == name)
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
        Self { db, operations: Vec::new(), guards: Vec::new(), token: None }
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

    pub(super) fn create_stamped<E: Entity>(
        mut self,
        name: &'static str,
        entity: &E,
    ) -> Result<Self> {
        let design = E::design();
        let put = PutItem::new(self.db.table_of::<E>()?, entity.to_item()?)
            .condition(!present(design))
            .return_item_on_failure();
        self.push(name, TransactWriteItem::Put(put))?;
        for unique in design.unique {
            if let Some(guard) = guard(design, unique, &|field| entity.field(field))? {
                self.claim::<E>(name, unique.field, guard, entity.key().to_item()?)?;
            }
        }
        Ok(self)
    }

    /// Takes a unique value, which nobody has or another operation gives up.
    fn claim<E: Entity>(
        &mut self,
        of: &'static str,
        field: &'static str,
        key: Item,
        owner: Item,
    ) -> Result<()> {
        let guard = self.guard_of::<E>(of, field, key)?;
        if guard.after.is_some() {
            return Err(Error::validation(format!(
                "{of:?} and {:?} of a transaction have the same `{field}`, which is unique",
                guard.of
            )));
        }
        // Whoever takes the value is told that it is not to be had.
        (guard.of, guard.field, guard.after) = (of, field, Some(owner));
        Ok(())
    }

    /// Gives up a unique value.
    fn release<E: Entity>(
        &mut self,
        of: &'static str,
        field: &'static str,
        key: Item,
        owner: Item,
    ) -> Result<()> {
        self.guard_of::<E>(of, field, key)?.before = Some(owner);
        Ok(())
    }

    /// What this transaction does to a guard so far.
    fn guard_of<E: Entity>(
        &mut self,
        of: &'static str,
        field: &'static str,
        key: Item,
    ) -> Result<&mut Guard> {
        let table = self.db.table_of::<E>()?;
        let known = self.guards.iter().position(|guard| guard.table == table && guard.key == key);
        let at = known.unwrap_or(self.guards.len());
        if known.is_none() {
            let free = !present(E::design());
            self.guards.push(Guard { of, field, table, key, free, before: None, after: None });
        }
        Ok(&mut self.guards[at])
    }

    /// Writes an entity whatever is there: only for entities without unique fields, and without a
    /// count of their writes.
    ///
    /// # Errors
    /// A field cannot stand in a key; the name is taken; it has unique fields or counts its writes.
    pub fn put<E: Entity>(mut self, name: &'static str, mut entity: E) -> Result<Self> {
        check_not_unique::<E>("put")?;
        check_not_counted::<E>("put")?;
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
            if !change.changed().any(|field| unique.fields().any(|own| own == field)) {
                continue;
            }
            if let Some(computed) = change.computes(unique.fields()) {
                return Err(Error::validation(format!(
                    "{}: `{computed}` stands in the key for a unique `{}`: set it to a value, so \
                     that the key can be written with it",
                    design.name, unique.field
                )));
            }
            let Some(read) = &change.read else {
                return Err(Error::validation(format!(
                    "{}: `{}` is unique, and its old value has to be given up: read the entity and \
                     use Change::of",
                    design.name, unique.field
                )));
            };
            let old = guard(design, unique, &|field| read.field(field))?;
            // A field that is cleared has no guard any more.
            let new = match unique.fields().any(|field| change.clears(field)) {
                true => None,
                false => guard(design, unique, &|field| change.after(field))?,
            };
            // Whether anything changes is told by what was read, which must still be there.
            pinned.extend(same(design, unique, &Item::from_struct(&**read)?));
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
                self.release::<E>(name, field, old, owner.clone())?;
            }
            if let Some(new) = new {
                self.claim::<E>(name, field, new, owner.clone())?;
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
            condition = condition.and(check.on_attributes()?);
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
        self.push(name, TransactWriteItem::Delete(delete))?;
        for (field, guard) in guards {
            self.release::<E>(name, field, guard, key.clone())?;
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
            condition = condition.and(check.on_attributes()?);
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
        let guards = self.guards.into_iter().map(Guard::operation);
        let (names, items): (Vec<Name>, Vec<TransactWriteItem>) =
            self.operations.into_iter().chain(guards).unzip();
        if items.len() > TRANSACT_ITEMS {
            return Err(Error::validation(format!(
                "a transaction has at most {TRANSACT_ITEMS} operations, and this one {}, of which \
                 {} are for unique values",
                items.len(),
                names.iter().filter(|name| matches!(name, Name::Guard { .. })).count(),
            )));
        }
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
            Transacted::Done => match db.get(&key).await? {
                Some(entity) => Ok(Outcome::Done(entity)),
                None => Ok(Outcome::Lost(None)),
            },
            Transacted::Lost(lost) => lost_alone(&lost),
        }
    }
}

impl Guard {
    fn operation(self) -> (Name, TransactWriteItem) {
        let Self { of, field, table, key, free, before, after } = self;
        let condition = before.as_ref().map_or(free, is_owned);
        let operation = match after {
            Some(owner) => {
                let put = PutItem::new(table, owned(key, &owner)).condition(condition);
                TransactWriteItem::Put(put)
            }
            None => TransactWriteItem::Delete(DeleteItem::new(table, key).condition(condition)),
        };
        (Name::Guard { of, field }, operation)
    }
}

/// Holds if the fields that the guard of a unique value is made of are what they were.
fn same(design: &EntityDesign, unique: &UniqueDesign, read: &Item) -> Vec<Condition> {
    let in_key = |name: &&str| {
        design.partition.has(name) || design.sort.as_ref().is_some_and(|sort| sort.has(name))
    };
    let fields = unique.fields().filter(|name| !in_key(name));
    fields.filter_map(|name| design.field(name)).map(|field| unchanged(field, read)).collect()
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
