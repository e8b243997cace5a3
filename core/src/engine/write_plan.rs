//! Plans of one write: a put, an update, a delete or a condition check.

use std::collections::BTreeSet;

use super::index_entry::{check_index_keys, check_updated_index_keys};
use super::key_paths::check_keys_are_scalars;
use super::{IndexChange, OperationError, RowKey, index_changes};
use crate::error::{Error, Result};
use crate::expr::legacy::refuse_placeholders;
use crate::expr::too_large;
use crate::expr::{Condition, Expr, ExpressionKind, Names, Path, Placeholders, Update, Values};
use crate::limits;
use crate::ops::{
    ConditionCheck, DeleteItem, ItemCollectionMetrics, PutItem, ReturnValues,
    ReturnValuesOnConditionCheckFailure, UpdateItem,
};
use crate::schema::TableSchema;
use crate::value::check_attribute;
use crate::{Item, Value};

/// Validated write, to be evaluated on the present item.
#[derive(Clone, Debug)]
pub(crate) struct WritePlan {
    row_key: RowKey,
    action: Action,
    condition: Option<Condition>,
    item_on_failure: bool,
    return_values: ReturnValues,
    /// Number of paths in the condition and the update.
    paths: usize,
    /// Effect that was computed outside of the writer, for its old item.
    pre_evaluated: Option<Effect>,
}

#[derive(Clone, Debug)]
enum Action {
    Put(Item),
    /// Update of the item with this key.
    Update(Item, Update),
    Delete(Item),
    Check(Item),
}

impl Action {
    /// Item with at least the key attributes.
    fn keyed(&self) -> &Item {
        match self {
            Self::Put(item) | Self::Update(item, _) | Self::Delete(item) | Self::Check(item) => {
                item
            }
        }
    }
}

/// Effect of a write: the item before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Item before the write; `None` if there was none.
    pub old: Option<Item>,
    /// Item after the write; `None` if there is none.
    pub new: Option<Item>,
}

impl Effect {
    /// Whether the item changes.
    pub fn is_change(&self) -> bool {
        self.old != self.new
    }

    /// Computes the changes of the table's indexes.
    pub fn index_changes(&self, schema: &TableSchema) -> Vec<IndexChange> {
        index_changes(schema, self.old.as_ref(), self.new.as_ref())
    }
}

impl WritePlan {
    /// Validates a put.
    pub(crate) fn put(request: &PutItem, schema: &TableSchema) -> Result<Self, OperationError> {
        let PutItem {
            table: _,
            item,
            condition,
            names,
            values,
            return_values,
            return_values_on_condition_check_failure: on_failure,
            // The operation that executes the plan uses these.
            return_consumed_capacity: _,
            return_item_collection_metrics: _,
        } = request;
        check_return_values(*return_values)?;
        let expression = given("ConditionExpression", condition.is_some());
        check_placeholders_have_use(names, values, false, &[expression])?;
        let plan = Self::put_item(item, schema)?;
        let (condition, paths) = condition_alone(names, values, condition.as_ref(), schema)?;
        Ok(Self {
            condition,
            paths,
            item_on_failure: wants_item(*on_failure),
            return_values: *return_values,
            ..plan
        })
    }

    /// Validates a put without a condition.
    pub(crate) fn put_item(item: &Item, schema: &TableSchema) -> Result<Self, OperationError> {
        item.validate()?;
        // Encoded by the caller's thread, because the writer executes writes one after another.
        let item = item.to_encoded();
        if item.size() > limits::ITEM_SIZE {
            return Err(Error::validation("Item size has exceeded the maximum allowed size").into());
        }
        let position = RowKey::of_item(schema, &item)?;
        check_index_keys(schema, &item)?;
        Ok(Self::new(position, Action::Put(item)))
    }

    /// Validates a delete without a condition.
    pub(crate) fn delete_key(key: &Item, schema: &TableSchema) -> Result<Self, OperationError> {
        let position = RowKey::of_key(schema, key)?;
        Ok(Self::new(position, Action::Delete(key.clone())))
    }

    fn new(position: RowKey, action: Action) -> Self {
        Self {
            row_key: position,
            action,
            condition: None,
            item_on_failure: false,
            return_values: ReturnValues::None,
            paths: 0,
            pre_evaluated: None,
        }
    }

    /// Validates an update.
    pub(crate) fn update(
        request: &UpdateItem,
        schema: &TableSchema,
    ) -> Result<Self, OperationError> {
        let UpdateItem {
            table: _,
            key,
            update,
            condition,
            names,
            values,
            return_values,
            return_values_on_condition_check_failure: on_failure,
            // The operation that executes the plan uses these.
            return_consumed_capacity: _,
            return_item_collection_metrics: _,
        } = request;
        let expressions = [
            given("UpdateExpression", update.is_some()),
            given("ConditionExpression", condition.is_some()),
        ];
        check_placeholders_have_use(names, values, false, &expressions)?;
        let position = RowKey::of_key(schema, key)?;
        let mut placeholders = Placeholders::new(names, values)?;
        let update = update.as_ref().map(|update| placeholders.update(update)).transpose()?;
        let condition = parse_condition(&mut placeholders, condition.as_ref())?;
        placeholders.finish()?;
        let condition_paths = check_condition_paths(schema, condition.as_ref())?;
        let update = update.unwrap_or_default();
        check_update_charge(&update)?;
        Ok(Self {
            condition,
            paths: condition_paths + update.touched().count() + update.read().count(),
            item_on_failure: wants_item(*on_failure),
            return_values: *return_values,
            ..Self::new(position, Action::Update(key.clone(), update))
        })
    }

    /// Validates a delete.
    pub(crate) fn delete(
        request: &DeleteItem,
        schema: &TableSchema,
    ) -> Result<Self, OperationError> {
        let DeleteItem {
            table: _,
            key,
            condition,
            names,
            values,
            return_values,
            return_values_on_condition_check_failure: on_failure,
            // The operation that executes the plan uses these.
            return_consumed_capacity: _,
            return_item_collection_metrics: _,
        } = request;
        check_return_values(*return_values)?;
        let expression = given("ConditionExpression", condition.is_some());
        check_placeholders_have_use(names, values, false, &[expression])?;
        let plan = Self::delete_key(key, schema)?;
        let (condition, paths) = condition_alone(names, values, condition.as_ref(), schema)?;
        Ok(Self {
            condition,
            paths,
            item_on_failure: wants_item(*on_failure),
            return_values: *return_values,
            ..plan
        })
    }

    /// Validates a condition check. [`transact::check_write`](super::transact::check_write) has
    /// checked that it has a condition.
    pub(crate) fn check(
        request: &ConditionCheck,
        schema: &TableSchema,
    ) -> Result<Self, OperationError> {
        let ConditionCheck {
            table: _,
            key,
            condition,
            names,
            values,
            return_values_on_condition_check_failure: on_failure,
        } = request;
        let position = RowKey::of_key(schema, key)?;
        let (condition, paths) = condition_alone(names, values, condition.as_ref(), schema)?;
        Ok(Self {
            condition,
            paths,
            item_on_failure: wants_item(*on_failure),
            ..Self::new(position, Action::Check(key.clone()))
        })
    }

    /// Validates the write again, against the current definition of the table.
    pub(crate) fn replan(self, schema: &TableSchema) -> Result<Self, OperationError> {
        let position = match &self.action {
            Action::Put(item) => {
                let position = RowKey::of_item(schema, item)?;
                check_index_keys(schema, item)?;
                position
            }
            Action::Update(key, _) | Action::Delete(key) | Action::Check(key) => {
                RowKey::of_key(schema, key)?
            }
        };
        check_condition_paths(schema, self.condition.as_ref())?;
        Ok(Self { row_key: position, pre_evaluated: None, ..self })
    }

    /// Upper bound of [`evaluation_cost`](Self::evaluation_cost) for any item.
    pub(super) fn max_evaluation_cost(&self) -> usize {
        self.paths.saturating_mul(limits::ITEM_SIZE)
    }

    /// Cost of evaluating condition and update on an item: the bytes that may be read, number of
    /// paths times size of the item. It is 0 if they were evaluated on the item before.
    pub(super) fn evaluation_cost(&self, item: Option<&Item>) -> usize {
        let is_known = |effect: &Effect| effect.old.as_ref() == item;
        match item {
            Some(_) if self.pre_evaluated.as_ref().is_some_and(is_known) => 0,
            Some(item) => self.paths.saturating_mul(item.size()),
            None => 0,
        }
    }

    /// Stores an effect, which is used if the item is still the same when the write is executed.
    pub(super) fn set_pre_evaluated(&mut self, effect: Effect) {
        self.pre_evaluated = Some(effect);
    }

    /// Row key of the item.
    pub(crate) fn row_key(&self) -> &RowKey {
        &self.row_key
    }

    /// Whether this is a condition check, which writes nothing.
    pub(crate) fn is_check(&self) -> bool {
        matches!(self.action, Action::Check(_))
    }

    /// Evaluates the condition on the present item, and computes the item after the write.
    pub(crate) fn evaluate(
        &self,
        schema: &TableSchema,
        old: Option<Item>,
    ) -> Result<Effect, OperationError> {
        if let Some(effect) = self.pre_evaluated.as_ref().filter(|effect| effect.old == old) {
            return Ok(effect.clone());
        }
        if let Some(condition) = &self.condition {
            let holds = match &old {
                Some(item) => condition.evaluate(item),
                None => condition.evaluate(&Item::new()),
            };
            if !holds {
                let item = if self.item_on_failure { old } else { None };
                return Err(OperationError::Item(Error::condition_failed(item)));
            }
        }
        let new = match &self.action {
            Action::Put(item) => Some(item.clone()),
            Action::Update(key, update) => updated(schema, update, key, old.as_ref())?,
            Action::Delete(_) => None,
            Action::Check(_) => old.clone(),
        };
        Ok(Effect { old, new })
    }

    /// Selects the attributes that the request returns.
    pub(crate) fn attributes(&self, effect: &Effect) -> Option<Item> {
        let touched = |item: &Option<Item>| {
            let Action::Update(_, update) = &self.action else { return None };
            let parts = update.touched_parts(item.as_ref()?);
            (!parts.is_empty()).then_some(parts)
        };
        match self.return_values {
            ReturnValues::None => None,
            ReturnValues::AllOld => effect.old.clone(),
            ReturnValues::AllNew => effect.new.clone(),
            ReturnValues::UpdatedOld => touched(&effect.old),
            ReturnValues::UpdatedNew => touched(&effect.new),
        }
    }

    /// Item-collection metrics of the write for a collection of `bytes` bytes; `None` if the table
    /// has no local index.
    pub(crate) fn item_collection_metrics(
        &self,
        schema: &TableSchema,
        bytes: u64,
    ) -> Option<ItemCollectionMetrics> {
        if !schema.has_local_indexes() {
            return None;
        }
        const GIGABYTE: u64 = 1 << 30;
        let lower = (bytes / GIGABYTE) as f64;
        let name = &schema.partition.name;
        let value = self.action.keyed().get(name)?.to_value();
        Some(ItemCollectionMetrics {
            item_collection_key: Item::new().with(name.clone(), value),
            size_estimate_range_gb: [lower, lower + 1.0],
        })
    }
}

/// Computes the item after an update; `None` if there is none.
fn updated(
    schema: &TableSchema,
    update: &Update,
    key: &Item,
    old: Option<&Item>,
) -> Result<Option<Item>, OperationError> {
    for path in update.touched() {
        if schema.is_key(path.root()) {
            return Err(OperationError::item(format!(
                "One or more parameter values were invalid: Cannot update attribute {}. \
                 This attribute is part of the key",
                path.root()
            )));
        }
    }
    check_keys_are_scalars(schema, update.touched().chain(update.read()))?;
    let new = update.apply(old.unwrap_or(key)).map_err(OperationError::Item)?;
    // Removing attributes from a missing item creates nothing (API reference,
    // AttributeValueUpdate, DELETE).
    if old.is_none() && !update.is_empty() && update.only_clears() {
        return Ok(None);
    }
    // Only written attributes need a check. Several paths may lead into one attribute.
    let touched: BTreeSet<&str> = update.touched().map(Path::root).collect();
    let written = touched.iter().filter_map(|name| Some((*name, new.get(name)?)));
    for (name, value) in written {
        if value.depth() > limits::ATTRIBUTE_DEPTH {
            return Err(OperationError::item("Nesting Levels have exceeded supported limits"));
        }
        check_attribute(name, value).map_err(OperationError::Item)?;
    }
    check_updated_index_keys(schema, &new, |name| touched.contains(name))?;
    if new.size() > limits::ITEM_SIZE {
        return Err(OperationError::Item(too_large()));
    }
    Ok(Some(new))
}

/// Checks the size limit of the update itself, besides that of the updated item: names, values and
/// an overhead per action, which AWS does not document.
fn check_update_charge(update: &Update) -> Result<(), OperationError> {
    const REQUEST: usize = 3;
    const WRITING: usize = 19;
    const CLEARING: usize = 2;
    let literals: usize = update.literals().map(Value::size).sum();
    let names: usize = update.touched().map(|path| path.root().len()).sum();
    let writing = update.sets().len() + update.adds().len() + update.deletes().len();
    let charge = REQUEST + WRITING * writing + CLEARING * update.removes().len() + names + literals;
    if charge > limits::ITEM_SIZE {
        return Err(OperationError::Item(too_large()));
    }
    Ok(())
}

/// Checks the return values of a put or a delete: the old item or nothing.
fn check_return_values(return_values: ReturnValues) -> Result<()> {
    match return_values {
        ReturnValues::None | ReturnValues::AllOld => Ok(()),
        _ => Err(Error::validation("ReturnValues can only be ALL_OLD or NONE")),
    }
}

fn wants_item(wanted: ReturnValuesOnConditionCheckFailure) -> bool {
    wanted == ReturnValuesOnConditionCheckFailure::AllOld
}

fn condition_alone(
    names: &Names,
    values: &Values,
    condition: Option<&Expr<Condition>>,
    schema: &TableSchema,
) -> Result<(Option<Condition>, usize)> {
    let mut placeholders = Placeholders::new(names, values)?;
    let condition = parse_condition(&mut placeholders, condition)?;
    placeholders.finish()?;
    let paths = check_condition_paths(schema, condition.as_ref())?;
    Ok((condition, paths))
}

/// Refuses document paths into key attributes, and returns the number of paths.
fn check_condition_paths(schema: &TableSchema, condition: Option<&Condition>) -> Result<usize> {
    let paths = condition.map(Condition::paths).unwrap_or_default();
    check_keys_are_scalars(schema, paths.iter().copied())?;
    Ok(paths.len())
}

fn parse_condition(
    placeholders: &mut Placeholders<'_>,
    condition: Option<&Expr<Condition>>,
) -> Result<Option<Condition>> {
    condition
        .map(|condition| placeholders.condition(ExpressionKind::Condition, condition))
        .transpose()
}

/// Pairs the name of an expression parameter that can use values with whether it is given.
pub(super) fn given(parameter: &'static str, is_given: bool) -> (&'static str, bool) {
    (parameter, is_given)
}

/// Refuses placeholders of a request without an expression that could use them.
///
/// `other` says whether an expression that uses only names is given.
pub(super) fn check_placeholders_have_use(
    names: &Names,
    values: &Values,
    other: bool,
    expressions: &[(&'static str, bool)],
) -> Result<()> {
    if expressions.iter().any(|(_, is_given)| *is_given) {
        return Ok(());
    }
    let parameters: Vec<&str> = expressions.iter().map(|(parameter, _)| *parameter).collect();
    refuse_placeholders(!names.is_empty() && !other, !values.is_empty(), &parameters)
}
