//! Faults of updates.

use tabla_core::expr::{SetFallback, SetValue};
use tabla_core::ops::{
    PutItem, ReturnValues, ReturnValuesOnConditionCheckFailure, UpdateItem, WriteOutput,
};
use tabla_core::{Condition, Error, Item, Result, Store, Update, Value};

use super::expressions::lowered_update;
use super::{Fault, FaultStore};

impl<S: Store> FaultStore<S> {
    pub(super) async fn faulty_update(&self, request: UpdateItem) -> Result<WriteOutput> {
        if self.is_sound() {
            return self.store.update(request).await;
        }
        let Some((mut request, update)) = lowered_update(&request) else {
            return self.store.update(request).await;
        };
        let table = request.table.clone();
        let condition: Option<Condition> = match &request.condition {
            Some(tabla_core::Expr::Tree(condition)) => Some(condition.clone()),
            _ => None,
        };
        let on_failure = request.return_values_on_condition_check_failure;
        if self.evaluate_condition(&table, &request.key, condition.as_ref(), on_failure).await? {
            request.condition = None;
        }
        let old = self.current(&table, &request.key).await;
        self.check_added(&update, old.as_ref())?;
        if self.has(Fault::NoUpsert) && update.is_empty() && old.is_none() {
            return Ok(WriteOutput::default());
        }
        if self.has(Fault::FailureReturnsNothing) {
            request.return_values_on_condition_check_failure =
                ReturnValuesOnConditionCheckFailure::None;
        }
        request.return_values = self.returned(request.return_values);
        let mut answer = Err(Error::validation("the fault made no update"));
        for update in self.steps(update, old.as_ref()) {
            request.update = (!update.is_empty()).then(|| update.into());
            answer = self.store.update(request.clone()).await;
        }
        if let Err(error) = &answer
            && self.has(Fault::GhostItem)
            && error.is_condition_failed()
            && old.is_none()
        {
            self.store.put(PutItem::new(&table, request.key.clone())).await?;
        }
        let answer = answer?;
        self.remember_moved(&table, old).await;
        Ok(self.spoiled(answer))
    }

    fn returned(&self, wanted: ReturnValues) -> ReturnValues {
        match wanted {
            ReturnValues::AllNew if self.has(Fault::OldForNew) => ReturnValues::AllOld,
            ReturnValues::UpdatedNew if self.has(Fault::AllForUpdated) => ReturnValues::AllNew,
            other => other,
        }
    }

    fn check_added(&self, update: &Update, old: Option<&Item>) -> Result<()> {
        let there = |path: &tabla_core::Path| old.is_some_and(|item| path.resolve(item).is_some());
        let number = |value: &Value| matches!(value, Value::N(_));
        let missing = |(path, value): &(tabla_core::Path, Value)| number(value) && !there(path);
        if self.has(Fault::AddNeedsNumber) && update.adds().iter().any(missing) {
            return Err(Error::validation("ADD to a missing attribute (injected fault)"));
        }
        Ok(())
    }

    /// Updates that the fault executes one after another instead of this one.
    fn steps(&self, update: Update, old: Option<&Item>) -> Vec<Update> {
        if self.has(Fault::SetsInSequence) && update.sets().len() > 1 {
            let sets = update.sets().iter();
            return sets
                .map(|(path, value)| Update::new().set(path.clone(), value.clone()))
                .collect();
        }
        if self.has(Fault::RemovesInSequence) && update.removes().len() > 1 {
            let removes = update.removes().iter();
            return removes.map(|path| Update::new().remove(path.clone())).collect();
        }
        let mut step = Update::new();
        for (path, value) in update.sets() {
            step = step.set(path.clone(), self.set_value(value));
        }
        for path in update.removes() {
            step = step.remove(path.clone());
        }
        for (path, value) in update.adds() {
            step = step.add(path.clone(), value.clone());
        }
        for (path, members) in update.deletes() {
            let present = old.and_then(|item| path.resolve(item)).map(|value| value.to_value());
            if !(self.has(Fault::LastMemberStays) && present.as_ref() == Some(members)) {
                step = step.delete(path.clone(), members.clone());
            }
        }
        vec![step]
    }

    fn set_value(&self, value: &SetValue) -> SetValue {
        match value {
            SetValue::ListAppend(one, other)
                if self.has(Fault::AppendPrepends)
                    && matches!(other.last(), SetFallback::Value(_)) =>
            {
                SetValue::ListAppend(other.clone(), one.clone())
            }
            other => other.clone(),
        }
    }
}
