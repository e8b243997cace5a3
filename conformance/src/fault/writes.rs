//! Faults of single writes and of their outputs.

use tabla_core::ops::{
    ConsumedCapacity, DeleteItem, PutItem, ReturnValuesOnConditionCheckFailure, WriteOutput,
};
use tabla_core::{Condition, Error, ErrorKind, Item, Result, Store};

use super::expressions::condition_of;
use super::{Fault, FaultStore};

impl<S: Store> FaultStore<S> {
    /// Evaluates a condition with the fault. Returns whether the fault concerns conditions, so that
    /// the wrapped store must not evaluate it.
    pub(super) async fn evaluate_condition(
        &self,
        table: &str,
        key: &Item,
        condition: Option<&Condition>,
        on_failure: ReturnValuesOnConditionCheckFailure,
    ) -> Result<bool> {
        let (Some(fault), Some(condition)) = (self.condition_fault(), condition) else {
            return Ok(false);
        };
        let item = self.current(table, key).await;
        if fault.holds(condition, item.as_ref()) {
            return Ok(true);
        }
        let wanted = on_failure == ReturnValuesOnConditionCheckFailure::AllOld;
        Err(Error::condition_failed(item.filter(|_| wanted)))
    }

    pub(super) async fn faulty_put(&self, mut request: PutItem) -> Result<WriteOutput> {
        if self.is_sound() {
            return self.store.put(request).await;
        }
        let table = request.table.clone();
        let key = self.key_of(&table, &request.item).await;
        let condition = condition_of(&request.names, &request.values, request.condition.as_ref());
        let on_failure = &mut request.return_values_on_condition_check_failure;
        if self.evaluate_condition(&table, &key, condition.as_ref(), *on_failure).await? {
            request.condition = None;
            request.names.clear();
            request.values.clear();
        }
        if self.has(Fault::FailureReturnsNothing) {
            request.return_values_on_condition_check_failure =
                ReturnValuesOnConditionCheckFailure::None;
        }
        let old = self.current(&table, &key).await;
        if let Some(old) = &old {
            if self.has(Fault::PutMerges) {
                request.item = merged(old, &request.item);
            }
            if self.has(Fault::NoOpRecorded) && *old == request.item {
                self.store.delete(DeleteItem::new(&table, key)).await?;
            }
        }
        let answer = self.store.put(request).await?;
        self.remember_moved(&table, old).await;
        Ok(self.spoiled(answer))
    }

    pub(super) async fn faulty_delete(&self, mut request: DeleteItem) -> Result<WriteOutput> {
        if self.is_sound() {
            return self.store.delete(request).await;
        }
        let table = request.table.clone();
        let condition = condition_of(&request.names, &request.values, request.condition.as_ref());
        let on_failure = request.return_values_on_condition_check_failure;
        if self.evaluate_condition(&table, &request.key, condition.as_ref(), on_failure).await? {
            request.condition = None;
            request.names.clear();
            request.values.clear();
        }
        let old = self.current(&table, &request.key).await;
        if self.has(Fault::DeleteMissingFails) && old.is_none() {
            return Err(Error::new(
                ErrorKind::NotFound,
                "delete of a missing item (injected fault)",
            ));
        }
        let answer = self.store.delete(request).await?;
        if self.has(Fault::DeletedEntryStays) {
            self.memory().stale.extend(old.map(|old| (table, old)));
        }
        Ok(self.spoiled(answer))
    }

    /// Response of a write, changed by the fault.
    pub(super) fn spoiled(&self, mut answer: WriteOutput) -> WriteOutput {
        if self.has(Fault::IndexesAreFree) {
            answer.consumed_capacity = answer.consumed_capacity.map(without_indexes);
        }
        answer
    }
}

fn without_indexes(mut consumed: ConsumedCapacity) -> ConsumedCapacity {
    let indexes = consumed.local_secondary_indexes.values();
    let indexes = indexes.chain(consumed.global_secondary_indexes.values());
    consumed.capacity_units -= indexes.map(|part| part.capacity_units).sum::<f64>();
    consumed.local_secondary_indexes.clear();
    consumed.global_secondary_indexes.clear();
    consumed
}

/// New item, with the attributes that only the old one has.
pub(super) fn merged(old: &Item, new: &Item) -> Item {
    new.iter().fold(old.clone(), |item, (name, value)| item.with(name, value.to_value()))
}
