//! Conditions: the tree of condition, filter and key condition expressions, and its builder.

use std::fmt;
use std::ops::{Deref, Not};

use crate::expr::Path;
use crate::limits;
use crate::{Value, ValueKind};

/// Condition on an item.
///
/// Build one from a path ([`crate::attr`]) or parse one with
/// [`Placeholders`](crate::backend::Placeholders). `AND` and `OR` of more than two conditions are
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
    /// Comparison of two operands: `left op right`.
    Compare {
        /// Comparison operator.
        op: CompareOp,
        /// Left operand.
        left: Operand,
        /// Right operand.
        right: Operand,
    },
    /// Range test: `value BETWEEN low AND high`, bounds included.
    Between {
        /// Operand that is tested.
        value: Operand,
        /// Lower bound, included.
        low: Operand,
        /// Upper bound, included.
        high: Operand,
    },
    /// Membership test: `value IN (…)`, equal to one of the operands.
    In {
        /// Operand that is tested.
        value: Operand,
        /// Operands that it may equal, at most [`limits::IN_OPERANDS`].
        list: Vec<Operand>,
    },
    /// Existence test: `attribute_exists(path)`.
    AttributeExists(Path),
    /// Absence test: `attribute_not_exists(path)`.
    AttributeNotExists(Path),
    /// Type test: `attribute_type(operand, type)`.
    AttributeType(Operand, ValueKind),
    /// Prefix test: `begins_with(operand, prefix)`, of strings or binaries.
    BeginsWith(Operand, Operand),
    /// Containment test: `contains(operand, part)`, of a substring, set member or list element.
    Contains(Operand, Operand),
    /// Conjunction: all of the conditions hold.
    And(Branches),
    /// Disjunction: at least one of the conditions holds.
    Or(Branches),
    /// Negation: the condition does not hold.
    Not(Branch),
    /// Replacement of a tree that is nested deeper than any valid one.
    ///
    /// The builder replaces such a tree, so that every tree can be cloned, walked and dropped with
    /// bounded stack. This condition never holds, and validation rejects it for its number
    /// of operators.
    TooDeep,
}

/// Operand of a comparison or argument of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// Value at a path.
    Path(Path),
    /// Constant value.
    Value(Value),
    /// Size of the value at a path, `size(path)`: UTF-16 code units, bytes or elements.
    Size(Path),
}

/// Comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// Equal, `=`.
    Eq,
    /// Not equal, `<>`. Holds also if an operand is missing.
    Ne,
    /// Less than, `<`.
    Lt,
    /// Less than or equal, `<=`.
    Le,
    /// Greater than, `>`.
    Gt,
    /// Greater than or equal, `>=`.
    Ge,
}

impl CompareOp {
    /// Text of the operator in an expression.
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

    /// Returns the operator for exchanged operands: `>` for `<`.
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

/// Condition under a [`Condition::Not`]. Read it through [`Deref`].
#[derive(Clone, PartialEq)]
pub struct Branch {
    inner: Box<Condition>,
    height: u16,
}

/// Conditions under a [`Condition::And`] or [`Condition::Or`], at least two. Read them through
/// [`Deref`].
#[derive(Clone)]
pub struct Branches {
    inner: Vec<Condition>,
    height: u16,
    /// Whether the limit on operators applies: see [`Condition::without_limit`].
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

/// Equality ignores `limited`, which is not part of the condition.
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

/// Height of the highest valid tree: each level costs at least one operator.
const MAX_HEIGHT: u16 = limits::EXPRESSION_OPERATORS as u16;

impl Condition {
    /// Joins conditions with `AND`; `None` if there are none.
    pub fn all(conditions: impl IntoIterator<Item = Condition>) -> Option<Self> {
        Self::chain(conditions, Chain::And)
    }

    /// Joins conditions with `OR`; `None` if there are none.
    pub fn any(conditions: impl IntoIterator<Item = Condition>) -> Option<Self> {
        Self::chain(conditions, Chain::Or)
    }

    /// Joins two conditions with `AND`.
    #[must_use]
    pub fn and(self, other: impl Into<Condition>) -> Self {
        Self::pair(self, other.into(), Chain::And)
    }

    /// Joins two conditions with `OR`.
    #[must_use]
    pub fn or(self, other: impl Into<Condition>) -> Self {
        Self::pair(self, other.into(), Chain::Or)
    }

    fn pair(self, other: Self, chain: Chain) -> Self {
        Self::chain([self, other], chain).expect("a chain of two conditions is not empty")
    }

    fn chain(conditions: impl IntoIterator<Item = Condition>, chain: Chain) -> Option<Self> {
        let mut inner: Vec<Condition> = Vec::new();
        let mut tallest = 0;
        for condition in conditions {
            match (condition, chain) {
                // An existing chain is extended in place, so that a loop of `and` takes linear
                // time.
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

    /// Exempts the condition from the limit on operators, which applies only to expressions.
    ///
    /// A larger condition that includes it has the limit again.
    pub(super) fn without_limit(mut self) -> Self {
        if let Self::And(branches) | Self::Or(branches) = &mut self {
            branches.limited = false;
        }
        self
    }

    /// Whether the limit on operators applies.
    pub(super) fn is_limited(&self) -> bool {
        match self {
            Self::And(branches) | Self::Or(branches) => branches.limited,
            _ => true,
        }
    }

    /// Height of the tree: number of inner nodes on the longest path to a leaf.
    fn height(&self) -> u16 {
        match self {
            Self::And(branches) | Self::Or(branches) => branches.height,
            Self::Not(branch) => branch.height,
            // A larger condition that includes this one is too deep as well.
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

/// Size of the value at a path, for comparisons: see [`Path::size`].
#[derive(Clone, Debug, PartialEq)]
pub struct Size(Path);

macro_rules! comparisons {
    ($of:ty) => {
        /// Builders of comparisons.
        impl $of {
            /// Tests for equality: same type and same value. Does not hold if an operand
            /// is missing.
            pub fn eq(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Eq, other)
            }

            /// Tests for inequality. Holds if an operand is missing.
            pub fn ne(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Ne, other)
            }

            /// Tests for less than, `<`, between two strings, numbers or binaries.
            pub fn lt(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Lt, other)
            }

            /// Tests for less than or equal, `<=`, between two strings, numbers or binaries.
            pub fn le(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Le, other)
            }

            /// Tests for greater than, `>`, between two strings, numbers or binaries.
            pub fn gt(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Gt, other)
            }

            /// Tests for greater than or equal, `>=`, between two strings, numbers or binaries.
            pub fn ge(self, other: impl Into<Operand>) -> Condition {
                self.compare(CompareOp::Ge, other)
            }

            /// Compares with an operator chosen at run time.
            pub fn compare(self, op: CompareOp, other: impl Into<Operand>) -> Condition {
                Condition::Compare { op, left: self.into(), right: other.into() }
            }

            /// Tests for a value between two bounds, both included.
            pub fn between(self, low: impl Into<Operand>, high: impl Into<Operand>) -> Condition {
                Condition::Between { value: self.into(), low: low.into(), high: high.into() }
            }

            /// Tests for equality with one of the operands, at most [`limits::IN_OPERANDS`].
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

/// Builders of tests on the value at the path.
impl Path {
    /// Tests that a value exists; NULL is a value.
    pub fn exists(self) -> Condition {
        Condition::AttributeExists(self)
    }

    /// Tests that no value exists.
    pub fn not_exists(self) -> Condition {
        Condition::AttributeNotExists(self)
    }

    /// Tests for the type of the value.
    pub fn has_type(self, kind: ValueKind) -> Condition {
        Condition::AttributeType(self.into(), kind)
    }

    /// Tests for a prefix of a string or binary.
    pub fn begins_with(self, prefix: impl Into<Operand>) -> Condition {
        Condition::BeginsWith(self.into(), prefix.into())
    }

    /// Tests whether a string or binary contains a part, a set a member, or a list an element.
    pub fn contains(self, part: impl Into<Operand>) -> Condition {
        Condition::Contains(self.into(), part.into())
    }

    /// Size of the value: UTF-16 code units of a string, bytes of a binary, elements of a set, list
    /// or map. Other types have no size, and no comparison with it holds except `<>`.
    pub fn size(self) -> Size {
        Size(self)
    }
}
