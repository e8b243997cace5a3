//! Conditions on items, straight from their views.

use std::cmp::Ordering;

use crate::expr::condition::{CompareOp, Condition, Operand};
use crate::{Item, MapRef, Number, ValueRef};

impl Condition {
    /// Whether the condition holds for an item; for a missing one, pass an empty item.
    ///
    /// A comparison with something that is missing or of another type does not hold, except
    /// `<>`, which then does. Nothing here fails: what can be wrong with a condition whatever the
    /// item is, [`Condition::validate`] finds.
    pub fn evaluate<'a>(&self, item: impl Into<MapRef<'a>>) -> bool {
        self.holds(item.into())
    }

    /// Apart from the leaves, so that the frames of this recursion stay small.
    fn holds(&self, item: MapRef<'_>) -> bool {
        match self {
            Self::And(branches) => branches.iter().all(|branch| branch.holds(item)),
            Self::Or(branches) => branches.iter().any(|branch| branch.holds(item)),
            Self::Not(branch) => !branch.holds(item),
            Self::TooDeep => false,
            leaf => leaf.leaf_holds(item),
        }
    }

    fn leaf_holds(&self, item: MapRef<'_>) -> bool {
        match self {
            Self::Compare { op, left, right } => compare(*op, left.of(item), right.of(item)),
            Self::Between { value, low, high } => {
                let value = value.of(item);
                compare(CompareOp::Ge, value, low.of(item))
                    && compare(CompareOp::Le, value, high.of(item))
            }
            Self::In { value, list } => {
                let value = value.of(item);
                list.iter().any(|other| compare(CompareOp::Eq, value, other.of(item)))
            }
            Self::AttributeExists(path) => path.resolve(item).is_some(),
            Self::AttributeNotExists(path) => path.resolve(item).is_none(),
            Self::AttributeType(operand, kind) => {
                operand.of(item).is_some_and(|value| value.kind() == *kind)
            }
            Self::BeginsWith(operand, prefix) => match (operand.of(item), prefix.of(item)) {
                (Some(ValueRef::S(text)), Some(ValueRef::S(prefix))) => text.starts_with(prefix),
                (Some(ValueRef::B(bytes)), Some(ValueRef::B(prefix))) => bytes.starts_with(prefix),
                _ => false,
            },
            Self::Contains(operand, part) => match (operand.of(item), part.of(item)) {
                (Some(value), Some(part)) => contains(value, part),
                _ => false,
            },
            Self::And(_) | Self::Or(_) | Self::Not(_) | Self::TooDeep => {
                unreachable!("these are not leaves")
            }
        }
    }
}

impl Operand {
    /// What the operand is for an item.
    fn of<'v>(&'v self, item: MapRef<'v>) -> Option<ValueRef<'v>> {
        match self {
            Self::Path(path) => path.resolve(item),
            Self::Value(value) => Some(value.as_ref()),
            Self::Size(path) => path.resolve(item).and_then(size_of).map(ValueRef::N),
        }
    }
}

fn compare(op: CompareOp, left: Option<ValueRef<'_>>, right: Option<ValueRef<'_>>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return op == CompareOp::Ne };
    let order = || left.compare(right);
    match op {
        CompareOp::Eq => left == right,
        CompareOp::Ne => left != right,
        CompareOp::Lt => order() == Some(Ordering::Less),
        CompareOp::Le => order().is_some_and(Ordering::is_le),
        CompareOp::Gt => order() == Some(Ordering::Greater),
        CompareOp::Ge => order().is_some_and(Ordering::is_ge),
    }
}

fn contains(value: ValueRef<'_>, part: ValueRef<'_>) -> bool {
    match (value, part) {
        (ValueRef::S(text), ValueRef::S(part)) => text.contains(part),
        (ValueRef::B(bytes), ValueRef::B(part)) => {
            part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
        }
        (ValueRef::Ss(set), ValueRef::S(member)) => set.contains(member),
        (ValueRef::Ns(set), ValueRef::N(member)) => set.contains(member),
        (ValueRef::Bs(set), ValueRef::B(member)) => set.contains(member),
        (ValueRef::L(list), element) => list.contains(element),
        _ => false,
    }
}

/// What `size` gives: UTF-16 code units, bytes or elements; nothing for the other types.
pub(crate) fn size_of(value: ValueRef<'_>) -> Option<Number> {
    let size = match value {
        ValueRef::S(text) => text.encode_utf16().count(),
        ValueRef::B(bytes) => bytes.len(),
        ValueRef::M(map) => map.len(),
        ValueRef::L(list) => list.len(),
        ValueRef::Ss(set) => set.len(),
        ValueRef::Ns(set) => set.len(),
        ValueRef::Bs(set) => set.len(),
        ValueRef::N(_) | ValueRef::Bool(_) | ValueRef::Null => return None,
    };
    Some(Number::from(size))
}

impl<'a> From<&'a Item> for MapRef<'a> {
    fn from(item: &'a Item) -> Self {
        item.view()
    }
}
