//! Guard items of unique values that a transaction claims and releases.

use crate::Entity;
use crate::change::present;
use crate::unique::is_owned;
use tabla_core::expr::Condition;
use tabla_core::ops::{ConditionCheck, DeleteItem, PutItem, TransactWriteItem};
use tabla_core::{Error, Item, Result};

/// Guard items of a transaction, in the order in which they were first named.
#[derive(Default)]
pub(super) struct Guards(Vec<Guard>);

/// What happens to a guard item. A transaction has one operation on an item, so that a value which
/// one entity releases and another claims is one operation.
struct Guard {
    /// Place of the step that claims it, or else of the one that releases it.
    of: usize,
    entity: &'static str,
    field: &'static str,
    table: String,
    key: Item,
    /// Holds if nobody has the value.
    free: Condition,
    /// Holds if the entity that releases the value has it.
    before: Option<Condition>,
    /// Guard item after the transaction.
    after: Option<Item>,
    /// Holds unless the entity that releases the value has it: for an entity that expires, whose
    /// guard may have been deleted first and be another entity's.
    foreign: Option<Condition>,
}

/// The operation on a guard item.
pub(super) struct GuardStep {
    /// Place of the step that it belongs to.
    pub(super) of: usize,
    /// Entity with the unique value.
    pub(super) entity: &'static str,
    /// The unique field.
    pub(super) field: &'static str,
    /// Replacement for the deletion of a guard that turns out to be another entity's: a check that
    /// it is.
    pub(super) spared: Option<Box<ConditionCheck>>,
}

impl Guards {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Claims a unique value, which must be free or released by another step.
    pub(super) fn claim<E: Entity>(
        &mut self,
        table: &str,
        of: usize,
        field: &'static str,
        item: Item,
    ) -> Result<()> {
        let key = (E::design().table)().key_of(&item);
        let guard = self.guard::<E>(table, of, field, key);
        if guard.after.is_some() {
            return Err(Error::validation(format!(
                "two steps of a transaction give {} the same `{field}`, which is unique",
                E::design().name
            )));
        }
        // The step that claims the value reports that it is taken.
        (guard.of, guard.field, guard.after) = (of, field, Some(item));
        Ok(())
    }

    /// Releases a unique value.
    pub(super) fn release<E: Entity>(
        &mut self,
        table: &str,
        of: usize,
        field: &'static str,
        key: Item,
        owner: &Item,
    ) -> Result<()> {
        let guard = self.guard::<E>(table, of, field, key);
        // A guard that has expired may be deleted before its entity is.
        guard.before = Some(match E::design().ttl {
            Some(_) => guard.free.clone().or(is_owned(owner)),
            None => is_owned(owner),
        });
        guard.foreign = E::design().ttl.map(|_| !is_owned(owner));
        Ok(())
    }

    fn guard<E: Entity>(
        &mut self,
        table: &str,
        of: usize,
        field: &'static str,
        key: Item,
    ) -> &mut Guard {
        let known = self.0.iter().position(|guard| guard.table == table && guard.key == key);
        let at = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push(Guard {
                of,
                entity: E::design().name,
                field,
                table: table.to_owned(),
                key,
                free: !present(E::design()),
                before: None,
                after: None,
                foreign: None,
            });
        }
        &mut self.0[at]
    }

    /// The operations on the guard items.
    pub(super) fn operations(self) -> impl Iterator<Item = (GuardStep, TransactWriteItem)> {
        self.0.into_iter().map(Guard::operation)
    }
}

impl Guard {
    fn operation(self) -> (GuardStep, TransactWriteItem) {
        let Self { of, entity, field, table, key, free, before, after, foreign } = self;
        let condition = before.unwrap_or(free);
        match after {
            Some(item) => {
                let put = PutItem::new(table, item).condition(condition);
                (GuardStep { of, entity, field, spared: None }, TransactWriteItem::Put(put))
            }
            None => {
                let check = |foreign| ConditionCheck::new(&table, key.clone(), foreign).into();
                let spared = foreign.map(check);
                let delete = DeleteItem::new(&table, key.clone()).condition(condition);
                (GuardStep { of, entity, field, spared }, TransactWriteItem::Delete(delete))
            }
        }
    }
}
