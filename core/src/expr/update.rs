//! Updates: the tree of update expressions, and its builder.

use crate::Value;
use crate::expr::Path;

/// Changes to an item: attributes to set, remove, add to and delete from.
///
/// Every action reads the item as it was before the update, so the order of actions does not
/// matter. Two actions cannot change the same path, or a path and one inside it.
///
/// ```
/// use tabla::{Update, attr, item};
///
/// let update = Update::new()
///     .set("status", "published")
///     .set("version", attr("version").plus(1))
///     .remove("draft");
/// let item = item! { "status" => "draft", "version" => 1, "draft" => true };
/// let updated = update.apply(&item).unwrap();
/// assert_eq!(updated, item! { "status" => "published", "version" => 2 });
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Update {
    pub(crate) set: Vec<(Path, SetValue)>,
    pub(crate) remove: Vec<Path>,
    pub(crate) add: Vec<(Path, Value)>,
    pub(crate) delete: Vec<(Path, Value)>,
}

/// Right side of a `SET` action.
#[derive(Clone, Debug, PartialEq)]
pub enum SetValue {
    /// Value of one operand.
    Operand(SetOperand),
    /// Sum of two numbers.
    Plus(SetOperand, SetOperand),
    /// Difference of two numbers.
    Minus(SetOperand, SetOperand),
    /// Concatenation of two lists.
    ListAppend(SetOperand, SetOperand),
}

/// Operand of a `SET` action: the value at the first path that exists, or a fallback.
///
/// `if_not_exists(a, if_not_exists(b, :v))` has the candidates `a` and `b` and the fallback `:v`. A
/// plain path or value is a fallback without candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct SetOperand {
    pub(crate) candidates: Vec<Path>,
    pub(crate) last: SetFallback,
}

/// Fallback of a [`SetOperand`] if none of its candidates exists.
#[derive(Clone, Debug, PartialEq)]
pub enum SetFallback {
    /// Value at a path, which must exist.
    Path(Path),
    /// Constant value.
    Value(Value),
}

impl Update {
    /// Creates an update without actions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a path to a constant, the value at another path, a sum, a difference or
    /// a concatenation.
    ///
    /// An index past the end of a list appends to the list.
    #[must_use]
    pub fn set(mut self, path: impl Into<Path>, value: impl Into<SetValue>) -> Self {
        self.set.push((path.into(), value.into()));
        self
    }

    /// Removes the value at a path, if there is one. Later elements of a list move up.
    #[must_use]
    pub fn remove(mut self, path: impl Into<Path>) -> Self {
        self.remove.push(path.into());
        self
    }

    /// Adds a number to a number, or members to a set. A missing value counts as 0 or as empty.
    #[must_use]
    pub fn add(mut self, path: impl Into<Path>, value: impl Into<Value>) -> Self {
        self.add.push((path.into(), value.into()));
        self
    }

    /// Deletes members from a set; a set without members is removed.
    #[must_use]
    pub fn delete(mut self, path: impl Into<Path>, members: impl Into<Value>) -> Self {
        self.delete.push((path.into(), members.into()));
        self
    }

    /// Whether the update has no actions.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
            && self.remove.is_empty()
            && self.add.is_empty()
            && self.delete.is_empty()
    }

    /// Iterates over the paths that the update sets, removes, adds to or deletes from, in
    /// this order.
    pub fn touched(&self) -> impl Iterator<Item = &Path> {
        self.set
            .iter()
            .map(|(path, _)| path)
            .chain(&self.remove)
            .chain(self.add.iter().map(|(path, _)| path))
            .chain(self.delete.iter().map(|(path, _)| path))
    }

    /// Iterates over the paths that the update reads.
    pub fn read(&self) -> impl Iterator<Item = &Path> {
        self.set.iter().flat_map(|(_, value)| value.operands()).flat_map(|operand| {
            let last = match &operand.last {
                SetFallback::Path(path) => Some(path),
                SetFallback::Value(_) => None,
            };
            operand.candidates.iter().chain(last)
        })
    }

    /// Whether the update only removes attributes or deletes members of sets.
    pub fn only_clears(&self) -> bool {
        self.set.is_empty() && self.add.is_empty()
    }

    /// Iterates over the constants in the update.
    pub fn literals(&self) -> impl Iterator<Item = &Value> {
        let of_sets =
            self.set.iter().flat_map(|(_, value)| value.operands()).filter_map(|operand| {
                match operand.last() {
                    SetFallback::Value(value) => Some(value),
                    SetFallback::Path(_) => None,
                }
            });
        of_sets.chain(self.add.iter().chain(&self.delete).map(|(_, value)| value))
    }

    /// `SET` actions, in order.
    pub fn sets(&self) -> &[(Path, SetValue)] {
        &self.set
    }

    /// `REMOVE` paths, in order.
    pub fn removes(&self) -> &[Path] {
        &self.remove
    }

    /// `ADD` actions, in order.
    pub fn adds(&self) -> &[(Path, Value)] {
        &self.add
    }

    /// `DELETE` actions, in order.
    pub fn deletes(&self) -> &[(Path, Value)] {
        &self.delete
    }
}

impl SetValue {
    /// Iterates over the operands, one or two.
    pub fn operands(&self) -> impl Iterator<Item = &SetOperand> {
        let (first, second) = match self {
            Self::Operand(operand) => (operand, None),
            Self::Plus(left, right) | Self::Minus(left, right) | Self::ListAppend(left, right) => {
                (left, Some(right))
            }
        };
        std::iter::once(first).chain(second)
    }
}

impl SetOperand {
    /// Paths of the operand in order; its value is that of the first one that exists.
    pub fn candidates(&self) -> &[Path] {
        &self.candidates
    }

    /// Fallback for the case that no candidate exists.
    pub fn last(&self) -> &SetFallback {
        &self.last
    }

    /// Creates the sum of the operand and a number.
    pub fn plus(self, other: impl Into<SetOperand>) -> SetValue {
        SetValue::Plus(self, other.into())
    }

    /// Creates the difference of the operand and a number.
    pub fn minus(self, other: impl Into<SetOperand>) -> SetValue {
        SetValue::Minus(self, other.into())
    }

    /// Creates the concatenation of the operand's list and another list.
    pub fn append(self, list: impl Into<SetOperand>) -> SetValue {
        SetValue::ListAppend(self, list.into())
    }

    /// Creates the concatenation of another list and the operand's list.
    pub fn prepend(self, list: impl Into<SetOperand>) -> SetValue {
        SetValue::ListAppend(list.into(), self)
    }
}

/// Builders of values for [`Update::set`].
impl Path {
    /// Creates the operand `if_not_exists`: the value at this path, or else another operand.
    pub fn if_not_exists(self, other: impl Into<SetOperand>) -> SetOperand {
        let SetOperand { mut candidates, last } = other.into();
        candidates.insert(0, self);
        SetOperand { candidates, last }
    }

    /// Creates the sum of the number at this path and another number.
    pub fn plus(self, other: impl Into<SetOperand>) -> SetValue {
        SetOperand::from(self).plus(other)
    }

    /// Creates the difference of the number at this path and another number.
    pub fn minus(self, other: impl Into<SetOperand>) -> SetValue {
        SetOperand::from(self).minus(other)
    }

    /// Creates the concatenation of the list at this path and another list.
    pub fn append(self, list: impl Into<SetOperand>) -> SetValue {
        SetOperand::from(self).append(list)
    }

    /// Creates the concatenation of another list and the list at this path.
    pub fn prepend(self, list: impl Into<SetOperand>) -> SetValue {
        SetOperand::from(self).prepend(list)
    }
}

impl From<Path> for SetOperand {
    fn from(path: Path) -> Self {
        Self { candidates: Vec::new(), last: SetFallback::Path(path) }
    }
}

impl From<&Path> for SetOperand {
    fn from(path: &Path) -> Self {
        Self::from(path.clone())
    }
}

impl<T: Into<Value>> From<T> for SetOperand {
    fn from(value: T) -> Self {
        Self { candidates: Vec::new(), last: SetFallback::Value(value.into()) }
    }
}

impl<T: Into<SetOperand>> From<T> for SetValue {
    fn from(operand: T) -> Self {
        Self::Operand(operand.into())
    }
}
