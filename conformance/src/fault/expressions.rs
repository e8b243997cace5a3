//! Lowering of expressions to trees, and faulty evaluation of conditions.

use tabla_core::backend::Placeholders;
use tabla_core::expr::{CompareOp, Expr, ExpressionKind, Names, Operand, Values};
use tabla_core::ops::{Query, Scan, UpdateItem};
use tabla_core::{Condition, Item, Update, Value, ValueRef, assign};

use super::Fault;

/// Condition of a write as a tree; `None` if there is none, or if it is invalid.
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

/// Update with its expressions as trees, so that a fault can change their parts. `None` if an
/// expression is invalid: then the wrapped store rejects the request.
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

/// Query with its expressions as trees, followed by its key condition and its filter.
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

/// Scan with its expressions as trees, followed by its filter.
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
    /// Whether this is a fault in evaluating conditions.
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

    /// Result of the condition of a write on an item, evaluated with this fault.
    pub(super) fn holds(self, condition: &Condition, item: Option<&Item>) -> bool {
        match (self, item) {
            (Fault::ConditionSkipped, _) => true,
            (Fault::MissingItemFails, None) => false,
            (_, None) => self.passes(condition, &Item::new()),
            (_, Some(item)) => self.passes(condition, item),
        }
    }

    /// Result of a filter on an item, evaluated with this fault.
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

/// Replaces the size of a string by the number of its bytes.
fn in_bytes(operand: &Operand, item: &Item) -> Operand {
    match operand {
        Operand::Size(path) => match path.resolve(item) {
            Some(ValueRef::S(text)) => Operand::Value(Value::from(text.len() as u64)),
            _ => operand.clone(),
        },
        _ => operand.clone(),
    }
}

/// Condition with each leaf replaced; a leaf contains no other condition.
pub(super) fn map(condition: &Condition, leaf: &dyn Fn(&Condition) -> Condition) -> Condition {
    let inside = "an AND or OR has conditions";
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

/// Leaves of a condition: its parts that are neither AND, OR nor NOT.
pub(super) fn leaves(condition: &Condition) -> Vec<&Condition> {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.iter().flat_map(leaves).collect(),
        Condition::Not(part) => leaves(part),
        other => vec![other],
    }
}
