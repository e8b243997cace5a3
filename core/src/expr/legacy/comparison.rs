//! Comparison operators of legacy conditions.

use std::cmp::Ordering;
use std::fmt;

use super::{check_name, invalid};
use crate::expr::{Condition, attr};
use crate::{Error, Result, Value, ValueKind, limits};

/// Test of an attribute in a legacy condition: `ComparisonOperator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComparisonOperator {
    /// Equal to the value, `EQ`.
    Eq,
    /// Not equal to the value, `NE`. Holds if the attribute is missing.
    Ne,
    /// Equal to one of the values, `IN`.
    In,
    /// Less than or equal to the value, `LE`.
    Le,
    /// Less than the value, `LT`.
    Lt,
    /// Greater than or equal to the value, `GE`.
    Ge,
    /// Greater than the value, `GT`.
    Gt,
    /// Between the first and the second value, both included, `BETWEEN`.
    Between,
    /// Existence of the attribute, `NOT_NULL`. An attribute that is NULL exists.
    NotNull,
    /// Absence of the attribute, `NULL`.
    Null,
    /// Containment of the value: as substring, part of a binary, set member or list element,
    /// `CONTAINS`.
    Contains,
    /// Absence of the value from an attribute that exists, with any type, `NOT_CONTAINS`.
    NotContains,
    /// Prefix of a string or binary, `BEGINS_WITH`.
    BeginsWith,
}

/// Condition on one attribute in a filter or a key condition. The API calls it `Condition`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AttributeCondition {
    /// Comparison operator, which is required: `ComparisonOperator`.
    pub comparison: Option<ComparisonOperator>,
    /// Operands of the comparison: `AttributeValueList`.
    pub values: Option<Vec<Value>>,
}

impl AttributeCondition {
    /// Converts to a condition on this attribute.
    pub(super) fn condition(self, name: String) -> Result<Condition> {
        self.comparison()?.of(name, self.values.unwrap_or_default())
    }

    pub(super) fn comparison(&self) -> Result<ComparisonOperator> {
        self.comparison
            .ok_or_else(|| Error::validation("Comparison type does not exist in DynamoDB"))
    }
}

impl ComparisonOperator {
    /// All operators, in the order of the enum.
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

    /// Name of the operator in requests.
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

    /// Parses the name of an operator.
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

    /// Converts the operator and its values to a condition on an attribute.
    pub(super) fn of(self, name: String, values: Vec<Value>) -> Result<Condition> {
        self.check(&values)?;
        check_name(&name)?;
        Ok(self.condition(name, values))
    }

    /// Checks the number and types of the values, in DynamoDB's order.
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
        let mut next = || values.next().expect("`check` has counted the values");
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
            // Unlike `NE`, this does not hold for a missing attribute.
            Self::NotContains => path.clone().exists().and(!path.contains(next())),
            Self::BeginsWith => path.begins_with(next()),
            Self::In => {
                // The limit on operands of `IN` applies only to expressions.
                let mut lists = Vec::new();
                while values.len() > 0 {
                    let some = values.by_ref().take(limits::IN_OPERANDS);
                    lists.push(path.clone().is_in(some));
                }
                Condition::any(lists).expect("`check` has counted the values")
            }
        }
    }
}

impl fmt::Display for ComparisonOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
