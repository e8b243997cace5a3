//! How legacy conditions compare.

use std::cmp::Ordering;
use std::fmt;

use super::{check_name, invalid};
use crate::expr::{Condition, attr};
use crate::{Error, Result, Value, ValueKind, limits};

/// How a legacy condition tests an attribute: `ComparisonOperator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComparisonOperator {
    /// Equal to the value.
    Eq,
    /// Not equal to the value. Holds if the attribute is missing.
    Ne,
    /// Equal to one of the values.
    In,
    /// The value or less.
    Le,
    /// Less than the value.
    Lt,
    /// The value or greater.
    Ge,
    /// Greater than the value.
    Gt,
    /// From the first value to the second, both included.
    Between,
    /// There is an attribute, be it NULL.
    NotNull,
    /// There is no attribute.
    Null,
    /// The string or binary has this part, the set this member, or the list this element.
    Contains,
    /// There is an attribute, of whatever type, and it does not contain the value.
    NotContains,
    /// The string or binary begins with this one.
    BeginsWith,
}

/// What a filter or a key condition says about one attribute. The API calls it `Condition`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AttributeCondition {
    /// How to compare, which must be said: `ComparisonOperator`.
    pub comparison: Option<ComparisonOperator>,
    /// What to compare with; none if absent: `AttributeValueList`.
    pub values: Option<Vec<Value>>,
}

impl AttributeCondition {
    /// What the test says about this attribute.
    pub(super) fn condition(self, name: String) -> Result<Condition> {
        self.comparison()?.of(name, self.values.unwrap_or_default())
    }

    pub(super) fn comparison(&self) -> Result<ComparisonOperator> {
        self.comparison
            .ok_or_else(|| Error::validation("Comparison type does not exist in DynamoDB"))
    }
}

impl ComparisonOperator {
    /// Every comparison.
    pub const ALL: [Self; 13] = [
        Self::Eq,
        Self::Ne,
        Self::In,
        Self::Le,
        Self::Lt,
        Self::Ge,
        Self::Gt,
        Self::Between,
        Self::NotNull,
        Self::Null,
        Self::Contains,
        Self::NotContains,
        Self::BeginsWith,
    ];

    /// The comparison as requests write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "EQ",
            Self::Ne => "NE",
            Self::In => "IN",
            Self::Le => "LE",
            Self::Lt => "LT",
            Self::Ge => "GE",
            Self::Gt => "GT",
            Self::Between => "BETWEEN",
            Self::NotNull => "NOT_NULL",
            Self::Null => "NULL",
            Self::Contains => "CONTAINS",
            Self::NotContains => "NOT_CONTAINS",
            Self::BeginsWith => "BEGINS_WITH",
        }
    }

    /// The comparison with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|comparison| comparison.as_str() == name)
    }

    pub(super) fn takes_count(self, count: usize) -> bool {
        match self {
            Self::Null | Self::NotNull => count == 0,
            Self::Between => count == 2,
            Self::In => count > 0,
            _ => count == 1,
        }
    }

    fn takes_kind(self, kind: ValueKind) -> bool {
        use ValueKind::{B, Bool, N, Null, S};
        match self {
            Self::Eq | Self::Ne | Self::Null | Self::NotNull => true,
            Self::Le | Self::Lt | Self::Ge | Self::Gt | Self::Between | Self::In => {
                matches!(kind, S | N | B)
            }
            Self::Contains | Self::NotContains => matches!(kind, S | N | B | Bool | Null),
            Self::BeginsWith => matches!(kind, S | B),
        }
    }

    /// What this comparison with these values says about an attribute.
    pub(super) fn of(self, name: String, values: Vec<Value>) -> Result<Condition> {
        self.check(&values)?;
        check_name(&name)?;
        Ok(self.condition(name, values))
    }

    /// Refuses values that this comparison cannot have, in DynamoDB's order.
    fn check(self, values: &[Value]) -> Result<()> {
        if !self.takes_count(values.len()) {
            return Err(invalid(format_args!(
                "Invalid number of argument(s) for the {self} ComparisonOperator"
            )));
        }
        if let Some(other) = values.iter().find(|value| !self.takes_kind(value.kind())) {
            return Err(invalid(format_args!(
                "ComparisonOperator {self} is not valid for {} AttributeValue type",
                other.kind()
            )));
        }
        if values.windows(2).any(|pair| pair[0].kind() != pair[1].kind()) {
            return Err(invalid("AttributeValues inside AttributeValueList must be of same type"));
        }
        match (self, values) {
            (Self::Between, [low, high])
                if low.as_ref().compare(high.as_ref()) == Some(Ordering::Greater) =>
            {
                Err(Error::validation(
                    "The BETWEEN condition was provided a range where the lower bound is greater \
                     than the upper bound",
                ))
            }
            _ => Ok(()),
        }
    }

    fn condition(self, name: String, values: Vec<Value>) -> Condition {
        let path = attr(name);
        let mut values = values.into_iter();
        let mut next = || values.next().expect("the values have been counted");
        match self {
            Self::Eq => path.eq(next()),
            Self::Ne => path.ne(next()),
            Self::Le => path.le(next()),
            Self::Lt => path.lt(next()),
            Self::Ge => path.ge(next()),
            Self::Gt => path.gt(next()),
            Self::Between => {
                let low = next();
                path.between(low, next())
            }
            Self::NotNull => path.exists(),
            Self::Null => path.not_exists(),
            Self::Contains => path.contains(next()),
            // Unlike NE, it does not hold of nothing.
            Self::NotContains => path.clone().exists().and(!path.contains(next())),
            Self::BeginsWith => path.begins_with(next()),
            Self::In => {
                // Only in expressions does a list of alternatives have a limit.
                let mut lists = Vec::new();
                while values.len() > 0 {
                    let some = values.by_ref().take(limits::IN_OPERANDS);
                    lists.push(path.clone().is_in(some));
                }
                Condition::any(lists).expect("the values have been counted")
            }
        }
    }
}

impl fmt::Display for ComparisonOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
