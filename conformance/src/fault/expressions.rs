//! Expressions as trees, and conditions judged wrongly.

use tabla_core::backend::Placeholders;
use tabla_core::expr::{CompareOp, Expr, ExpressionKind, Names, Operand, Values};
use tabla_core::ops::{Query, Scan, UpdateItem};
use tabla_core::{Condition, Item, Update, Value, ValueRef, assign};

use super::Fault;

/// The condition of a write as a tree; `None` if there is none, or if it is wrong.
pub(super) fn condition_of(
    names: &Names,
    values: &Values,
    condition: Option<&Expr<Condition>>,
) -> Option<Condition> {
    let mut placeholders = Placeholders::new(names, values).ok()?;
    let condition = placeholders.condition(ExpressionKind::Condition, condition?).ok()?;
    placeholders.finish().ok()?;
    Some(condition)
}

/// The request with trees in place of its texts, so that parts can be changed one by one; `None`
/// if it is wrong, which the store inside is to tell.
pub(super) fn lowered_update(request: &UpdateItem) -> Option<(UpdateItem, Update)> {
    let mut placeholders = Placeholders::new(&request.names, &request.values).ok()?;
    let update = match &request.update {
        Some(update) => placeholders.update(update).ok()?,
        None => Update::new(),
    };
    let condition = match &request.condition {
        Some(condition) => {
            Some(placeholders.condition(ExpressionKind::Condition, condition).ok()?.into())
        }
        None => None,
    };
    placeholders.finish().ok()?;
    let lowered = assign!(request.clone(), {
        condition,
        names: Names::new(),
        values: Values::new(),
    });
    Some((lowered, update))
}

/// The same for a query, with its key condition and its filter apart.
pub(super) fn lowered_query(request: &Query) -> Option<(Query, Condition, Option<Condition>)> {
    let mut placeholders = Placeholders::new(&request.names, &request.values).ok()?;
    let key = request.key_condition.as_ref()?;
    let key = placeholders.condition(ExpressionKind::KeyCondition, key).ok()?;
    let filter = match &request.filter {
        Some(filter) => Some(placeholders.condition(ExpressionKind::Filter, filter).ok()?),
        None => None,
    };
    let projection = match &request.projection {
        Some(projection) => Some(placeholders.projection(projection).ok()?.into()),
        None => None,
    };
    placeholders.finish().ok()?;
    let lowered = assign!(request.clone(), {
        key_condition: Some(key.clone().into()),
        filter: filter.clone().map(Into::into),
        projection,
        names: Names::new(),
        values: Values::new(),
    });
    Some((lowered, key, filter))
}

/// The same for a scan.
pub(super) fn lowered_scan(request: &Scan) -> Option<(Scan, Option<Condition>)> {
    let mut placeholders = Placeholders::new(&request.names, &request.values).ok()?;
    let filter = match &request.filter {
        Some(filter) => Some(placeholders.condition(ExpressionKind::Filter, filter).ok()?),
        None => None,
    };
    let projection = match &request.projection {
        Some(projection) => Some(placeholders.projection(projection).ok()?.into()),
        None => None,
    };
    placeholders.finish().ok()?;
    let lowered = assign!(request.clone(), {
        filter: filter.clone().map(Into::into),
        projection,
        names: Names::new(),
        values: Values::new(),
    });
    Some((lowered, filter))
}

impl Fault {
    /// Whether this is a fault in judging conditions.
    pub(super) fn breaks_conditions(self) -> bool {
        matches!(
            self,
            Fault::ConditionSkipped
                | Fault::MissingItemFails
                | Fault::MissingNeverDiffers
                | Fault::SizeInBytes
                | Fault::ContainsIgnoresCase
        )
    }

    /// Whether the condition of a write holds, as this fault has it.
    pub(super) fn holds(self, condition: &Condition, item: Option<&Item>) -> bool {
        match (self, item) {
            (Fault::ConditionSkipped, _) => true,
            (Fault::MissingItemFails, None) => false,
            (_, None) => self.passes(condition, &Item::new()),
            (_, Some(item)) => self.passes(condition, item),
        }
    }

    /// Whether an item passes a filter, as this fault has it.
    pub(super) fn passes(self, condition: &Condition, item: &Item) -> bool {
        map(condition, &|leaf| self.leaf(leaf, item)).evaluate(item)
    }

    fn leaf(self, leaf: &Condition, item: &Item) -> Condition {
        match (self, leaf) {
            (
                Fault::MissingNeverDiffers,
                Condition::Compare { op: CompareOp::Ne, left: Operand::Path(path), .. },
            ) => path.clone().exists().and(leaf.clone()),
            (Fault::SizeInBytes, Condition::Compare { op, left, right }) => Condition::Compare {
                op: *op,
                left: in_bytes(left, item),
                right: in_bytes(right, item),
            },
            (
                Fault::ContainsIgnoresCase,
                Condition::Contains(Operand::Path(path), Operand::Value(Value::S(part))),
            ) => match path.resolve(item) {
                Some(ValueRef::S(text)) => Condition::Contains(
                    Operand::Value(text.to_lowercase().into()),
                    Operand::Value(part.to_lowercase().into()),
                ),
                _ => leaf.clone(),
            },
            _ => leaf.clone(),
        }
    }
}

/// The size of a string as the number of its bytes.
fn in_bytes(operand: &Operand, item: &Item) -> Operand {
    match operand {
        Operand::Size(path) => match path.resolve(item) {
            Some(ValueRef::S(text)) => Operand::Value(Value::from(text.len() as u64)),
            _ => operand.clone(),
        },
        _ => operand.clone(),
    }
}

/// The condition with each part that has no conditions in it replaced.
pub(super) fn map(condition: &Condition, leaf: &dyn Fn(&Condition) -> Condition) -> Condition {
    let inside = "a chain has conditions";
    match condition {
        Condition::And(parts) => {
            Condition::all(parts.iter().map(|part| map(part, leaf))).expect(inside)
        }
        Condition::Or(parts) => {
            Condition::any(parts.iter().map(|part| map(part, leaf))).expect(inside)
        }
        Condition::Not(part) => !map(part, leaf),
        other => leaf(other),
    }
}

/// The parts of a condition that are no chains.
pub(super) fn leaves(condition: &Condition) -> Vec<&Condition> {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.iter().flat_map(leaves).collect(),
        Condition::Not(part) => leaves(part),
        other => vec![other],
    }
}
