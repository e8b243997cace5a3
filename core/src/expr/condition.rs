//! Conditions: the tree behind condition, filter and key condition expressions.

use std::fmt;
use std::ops::{Deref, Not};

use crate::expr::Path;
use crate::limits;
use crate::{Value, ValueKind};

/// A condition on an item.
///
/// Build one from a path ([`crate::attr`]) or parse one with
/// [`Placeholders`](crate::expr::Placeholders). `AND` and `OR` of more than two conditions are
/// one node, so that a long chain is not a deep tree.
///
/// ```
/// use tabla::{attr, item};
///
/// let condition = attr("status").eq("draft").and(attr("version").ge(3));
/// assert!(condition.evaluate(&item! { "status" => "draft", "version" => 3 }));
/// assert!(!condition.evaluate(&item! { "status" => "draft" }));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `left op right`.
    Compare {
        /// How the two sides are compared.
        op: CompareOp,
        /// The left side.
        left: Operand,
        /// The right side.
        right: Operand,
    },
    /// `value BETWEEN low AND high`, both ends included.
    Between {
        /// What is tested.
        value: Operand,
        /// The lower bound.
        low: Operand,
        /// The upper bound.
        high: Operand,
    },
    /// `value IN (…)`: equal to one of the operands.
    In {
        /// What is tested.
        value: Operand,
        /// What it may be equal to, at most [`limits::IN_OPERANDS`].
        list: Vec<Operand>,
    },
    /// `attribute_exists(path)`.
    AttributeExists(Path),
    /// `attribute_not_exists(path)`.
    AttributeNotExists(Path),
    /// `attribute_type(operand, type)`.
    AttributeType(Operand, ValueKind),
    /// `begins_with(operand, prefix)`, of strings or binaries.
    BeginsWith(Operand, Operand),
    /// `contains(operand, part)`: substring, set member or list element.
    Contains(Operand, Operand),
    /// All of these.
    And(Branches),
    /// At least one of these.
    Or(Branches),
    /// Not this.
    Not(Branch),
    /// What is left of a tree nested deeper than any legal one.
    ///
    /// The builder puts it in the place of such a tree, so that every tree can be cloned, walked
    /// and dropped in a bounded stack. It never holds, and validation refuses it for its number
    /// of operators.
    TooDeep,
}

/// The sides of a comparison, and the arguments of the functions.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// The value at a path.
    Path(Path),
    /// A constant.
    Value(Value),
    /// `size(path)`: the number of characters, bytes or elements of the value at a path.
    Size(Path),
}

/// The comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<>`, which also holds when a side is missing.
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CompareOp {
    /// The operator as expressions write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "<>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }

    /// The operator that says the same with the sides exchanged: `>` for `<`.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Eq => Self::Eq,
            Self::Ne => Self::Ne,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
        }
    }
}

impl fmt::Display for CompareOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The condition under a [`Condition::Not`]. Read it through [`Deref`].
#[derive(Clone, PartialEq)]
pub struct Branch {
    inner: Box<Condition>,
    height: u16,
}

/// The conditions under a [`Condition::And`] or [`Condition::Or`], two at least. Read them
/// through [`Deref`].
#[derive(Clone)]
pub struct Branches {
    inner: Vec<Condition>,
    height: u16,
    /// Whether they may have only so many operators: see [`Condition::without_limit`].
    limited: bool,
}

impl Deref for Branch {
    type Target = Condition;

    fn deref(&self) -> &Condition {
        &self.inner
    }
}

impl Deref for Branches {
    type Target = [Condition];

    fn deref(&self) -> &[Condition] {
        &self.inner
    }
}

/// A limit is no part of what conditions say.
impl PartialEq for Branches {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl<'a> IntoIterator for &'a Branches {
    type Item = &'a Condition;
    type IntoIter = std::slice::Iter<'a, Condition>;

    fn into_iter(self) -> Self::IntoIter {
        self.inner.iter()
    }
}

impl fmt::Debug for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl fmt::Debug for Branches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Every level of a tree costs at least one operator, so no legal tree is higher than this.
const MAX_HEIGHT: u16 = limits::EXPRESSION_OPERATORS as u16;

impl Condition {
    /// All of the conditions; `None` if there are none.
    pub fn all(conditions: impl IntoIterator<Item = Condition>) -> Option<Self> {
        Self::chain(conditions, Chain::And)
    }

    /// At least one of the conditions; `None` if there are none.
    pub fn any(conditions: impl IntoIterator<Item = Condition>) -> Option<Self> {
        Self::chain(conditions, Chain::Or)
    }

    /// This condition and the other one.
    #[must_use]
    pub fn and(self, other: impl Into<Condition>) -> Self {
        Self::pair(self, other.into(), Chain::And)
    }

    /// This condition or the other one.
    #[must_use]
    pub fn or(self, other: impl Into<Condition>) -> Self {
        Self::pair(self, other.into(), Chain::Or)
    }

    fn pair(self, other: Self, chain: Chain) -> Self {
        Self::chain([self, other], chain).expect("two conditions are not none")
    }

    fn chain(conditions: impl IntoIterator<Item = Condition>, chain: Chain) -> Option<Self> {
        let mut inner: Vec<Condition> = Vec::new();
        let mut tallest = 0;
        for condition in conditions {
            match (condition, chain) {
                // The first links of a chain are moved as they are: a loop of `and` is linear.
                (Self::And(branches), Chain::And) | (Self::Or(branches), Chain::Or) => {
                    tallest = tallest.max(branches.height - 1);
                    if inner.is_empty() {
                        inner = branches.inner;
                    } else {
                        inner.extend(branches.inner);
                    }
                }
                (other, _) => {
                    tallest = tallest.max(other.height());
                    inner.push(other);
                }
            }
        }
        if inner.len() < 2 {
            return inner.pop();
        }
        let height = 1 + tallest;
        if height > MAX_HEIGHT {
            return Some(Self::TooDeep);
        }
        let branches = Branches { inner, height, limited: true };
        Some(match chain {
            Chain::And => Self::And(branches),
            Chain::Or => Self::Or(branches),
        })
    }

    /// The same condition, which may have any number of operators: only expressions have a limit.
    ///
    /// What it becomes a part of has one again.
    pub(super) fn without_limit(mut self) -> Self {
        if let Self::And(branches) | Self::Or(branches) = &mut self {
            branches.limited = false;
        }
        self
    }

    /// Whether it may have only so many operators.
    pub(super) fn is_limited(&self) -> bool {
        match self {
            Self::And(branches) | Self::Or(branches) => branches.limited,
            _ => true,
        }
    }

    /// The number of nodes on the longest way down that have conditions below them.
    fn height(&self) -> u16 {
        match self {
            Self::And(branches) | Self::Or(branches) => branches.height,
            Self::Not(branch) => branch.height,
            // Whatever it becomes a part of is too deep as well.
            Self::TooDeep => MAX_HEIGHT,
            _ => 0,
        }
    }
}

#[derive(Clone, Copy)]
enum Chain {
    And,
    Or,
}

impl Not for Condition {
    type Output = Condition;

    fn not(self) -> Condition {
        let height = 1 + self.height();
        if height > MAX_HEIGHT {
            return Self::TooDeep;
        }
        Self::Not(Branch { inner: Box::new(self), height })
    }
}

impl From<Path> for Operand {
    fn from(path: Path) -> Self {
        Self::Path(path)
    }
}

impl From<&Path> for Operand {
    fn from(path: &Path) -> Self {
        Self::Path(path.clone())
    }
}

impl From<Size> for Operand {
    fn from(size: Size) -> Self {
        Self::Size(size.0)
    }
}

impl<T: Into<Value>> From<T> for Operand {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

/// The size of the value at a path, as the builder's comparisons take it: see [`Path::size`].
#[derive(Clone, Debug, PartialEq)]
pub struct Size(Path);

macro_rules! comparisons {
    ($of:ty) => {
        /// Comparisons, each giving a [`Condition`].
        impl $of {
            /// Equal: same type and same value. Does not hold if a side is missing.
            pub fn eq(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Eq, other)
            }

            /// Not equal. Holds if a side is missing.
            pub fn ne(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Ne, other)
            }

            /// Less than, among strings, numbers or binaries.
            pub fn lt(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Lt, other)
            }

            /// Less than or equal, among strings, numbers or binaries.
            pub fn le(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Le, other)
            }

            /// Greater than, among strings, numbers or binaries.
            pub fn gt(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Gt, other)
            }

            /// Greater than or equal, among strings, numbers or binaries.
            pub fn ge(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Ge, other)
            }

            /// Compared with an operator chosen at run time.
            pub fn compare(self, op: CompareOp, other: impl Into<Operand>) -> Condition {
                Condition::Compare { op, left: self.into(), right: other.into() }
            }

            /// Within two bounds, both included.
            pub fn between(self, low: impl Into<Operand>, high: impl Into<Operand>) -> Condition {
                Condition::Between { value: self.into(), low: low.into(), high: high.into() }
            }

            /// Equal to one of these, at most [`limits::IN_OPERANDS`].
            pub fn is_in<T: Into<Operand>>(self, list: impl IntoIterator<Item = T>) -> Condition {
                Condition::In {
                    value: self.into(),
                    list: list.into_iter().map(Into::into).collect(),
                }
            }
        }
    };
}

comparisons!(Path);
comparisons!(Size);

/// Tests of what is at the path, each giving a [`Condition`].
impl Path {
    /// There is a value, be it NULL.
    pub fn exists(self) -> Condition {
        Condition::AttributeExists(self)
    }

    /// There is no value.
    pub fn not_exists(self) -> Condition {
        Condition::AttributeNotExists(self)
    }

    /// The value has this type.
    pub fn has_type(self, kind: ValueKind) -> Condition {
        Condition::AttributeType(self.into(), kind)
    }

    /// The string or binary begins with this one.
    pub fn begins_with(self, prefix: impl Into<Operand>) -> Condition {
        Condition::BeginsWith(self.into(), prefix.into())
    }

    /// The string or binary has this part, the set this member, or the list this element.
    pub fn contains(self, part: impl Into<Operand>) -> Condition {
        Condition::Contains(self.into(), part.into())
    }

    /// The size of the value: UTF-16 code units of a string, bytes of a binary, elements of a
    /// set, list or map. Other types have none, and no comparison with it holds.
    pub fn size(self) -> Size {
        Size(self)
    }
}
