//! Updates: the tree behind update expressions.

use crate::Value;
use crate::expr::Path;

/// Changes to an item: what to set, remove, add to and delete from.
///
/// Every part reads the item as it was before the update, so their order does not matter. The
/// same path, or one inside the other, may not be changed twice.
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

/// What [`Update::set`] gives a path.
#[derive(Clone, Debug, PartialEq)]
pub enum SetValue {
    /// One operand as it is.
    Operand(SetOperand),
    /// The sum of two numbers.
    Plus(SetOperand, SetOperand),
    /// The difference of two numbers.
    Minus(SetOperand, SetOperand),
    /// The elements of two lists, one list after the other.
    ListAppend(SetOperand, SetOperand),
}

/// A value that an update reads: that at the first of some paths which exists, or a last resort.
///
/// `if_not_exists(a, if_not_exists(b, :v))` tries `a`, then `b`, then takes `:v`; a plain path or
/// value is a last resort with nothing tried before it.
#[derive(Clone, Debug, PartialEq)]
pub struct SetOperand {
    pub(crate) candidates: Vec<Path>,
    pub(crate) last: SetFallback,
}

/// The last resort of a [`SetOperand`].
#[derive(Clone, Debug, PartialEq)]
pub enum SetFallback {
    /// The value at a path, which must exist.
    Path(Path),
    /// A constant.
    Value(Value),
}

impl Update {
    /// An update that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a path a value: a constant, another path, or a sum, difference or concatenation.
    ///
    /// An index past the end of a list appends to it.
    #[must_use]
    pub fn set(mut self, path: impl Into<Path>, value: impl Into<SetValue>) -> Self {
        self.set.push((path.into(), value.into()));
        self
    }

    /// Removes the value at a path, if there is one. Elements after it in a list move up.
    #[must_use]
    pub fn remove(mut self, path: impl Into<Path>) -> Self {
        self.remove.push(path.into());
        self
    }

    /// Adds a number to a number, or members to a set. What is missing counts as 0, or as empty.
    #[must_use]
    pub fn add(mut self, path: impl Into<Path>, value: impl Into<Value>) -> Self {
        self.add.push((path.into(), value.into()));
        self
    }

    /// Deletes members from a set; a set left without members is removed.
    #[must_use]
    pub fn delete(mut self, path: impl Into<Path>, members: impl Into<Value>) -> Self {
        self.delete.push((path.into(), members.into()));
        self
    }

    /// Whether the update changes nothing.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
            && self.remove.is_empty()
            && self.add.is_empty()
            && self.delete.is_empty()
    }

    /// The paths that the update sets, removes, adds to or deletes from, in this order.
    pub fn touched(&self) -> impl Iterator<Item = &Path> {
        self.set
            .iter()
            .map(|(path, _)| path)
            .chain(&self.remove)
            .chain(self.add.iter().map(|(path, _)| path))
            .chain(self.delete.iter().map(|(path, _)| path))
    }

    /// The paths that are read.
    pub fn read(&self) -> impl Iterator<Item = &Path> {
        self.set.iter().flat_map(|(_, value)| value.operands()).flat_map(|operand| {
            let last = match &operand.last {
                SetFallback::Path(path) => Some(path),
                SetFallback::Value(_) => None,
            };
            operand.candidates.iter().chain(last)
        })
    }

    /// Whether the update only takes away: it removes attributes or members of sets.
    pub fn only_clears(&self) -> bool {
        self.set.is_empty() && self.add.is_empty()
    }

    /// The values that the update brings along.
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

    /// What is set, in order.
    pub fn sets(&self) -> &[(Path, SetValue)] {
        &self.set
    }

    /// What is removed, in order.
    pub fn removes(&self) -> &[Path] {
        &self.remove
    }

    /// What is added, in order.
    pub fn adds(&self) -> &[(Path, Value)] {
        &self.add
    }

    /// What is deleted from sets, in order.
    pub fn deletes(&self) -> &[(Path, Value)] {
        &self.delete
    }
}

impl SetValue {
    /// The operands that are read.
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
    /// The paths that are tried first, in order.
    pub fn candidates(&self) -> &[Path] {
        &self.candidates
    }

    /// What is taken if none of the candidates exists.
    pub fn last(&self) -> &SetFallback {
        &self.last
    }

    /// This number plus another.
    pub fn plus(self, other: impl Into<SetOperand>) -> SetValue {
        SetValue::Plus(self, other.into())
    }

    /// This number minus another.
    pub fn minus(self, other: impl Into<SetOperand>) -> SetValue {
        SetValue::Minus(self, other.into())
    }

    /// This list, followed by the elements of another.
    pub fn append(self, list: impl Into<SetOperand>) -> SetValue {
        SetValue::ListAppend(self, list.into())
    }

    /// The elements of another list, followed by this one.
    pub fn prepend(self, list: impl Into<SetOperand>) -> SetValue {
        SetValue::ListAppend(list.into(), self)
    }
}

/// Values for [`Update::set`].
impl Path {
    /// The value at this path, or another one if there is none.
    pub fn if_not_exists(self, other: impl Into<SetOperand>) -> SetOperand {
        let SetOperand { mut candidates, last } = other.into();
        candidates.insert(0, self);
        SetOperand { candidates, last }
    }

    /// The number at this path plus another.
    pub fn plus(self, other: impl Into<SetOperand>) -> SetValue {
        SetOperand::from(self).plus(other)
    }

    /// The number at this path minus another.
    pub fn minus(self, other: impl Into<SetOperand>) -> SetValue {
        SetOperand::from(self).minus(other)
    }

    /// The list at this path, followed by the elements of another.
    pub fn append(self, list: impl Into<SetOperand>) -> SetValue {
        SetOperand::from(self).append(list)
    }

    /// The elements of another list, followed by the list at this path.
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
