//! Legacy parameters, which expressions have replaced: `Expected`, `QueryFilter`, `ScanFilter`,
//! `KeyConditions`, `AttributeUpdates` and `AttributesToGet`.
//!
//! They have their own rules and error texts, but no evaluation of their own. Each is converted to
//! the tree of the equivalent expression, so stores see only expressions. Attributes are checked in
//! the order of the request, because DynamoDB reports the first error.
//!
//! ```
//! use tabla::backend::legacy::{ComparisonOperator, ExpectedAttribute, expected};
//! use tabla::{assign, item};
//!
//! let at_most_3 = assign!(ExpectedAttribute::default(), {
//!     comparison: Some(ComparisonOperator::Le),
//!     values: Some(vec![3.into()]),
//! });
//! let condition = expected([("version".to_owned(), at_most_3)], None)?.unwrap();
//! assert!(condition.evaluate(&item! { "version" => 3 }));
//! assert!(!condition.evaluate(&item! {}));
//! # Ok::<(), tabla::Error>(())
//! ```

mod comparison;
mod expected;
mod keys;
mod parameters;
mod update;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

pub use self::comparison::{AttributeCondition, ComparisonOperator};
pub use self::expected::{ExpectedAttribute, expected};
pub use self::keys::{KeyConditions, key_conditions};
pub use self::parameters::LegacyParameters;
pub use self::update::{AttributeAction, AttributeUpdate, attribute_updates};

use crate::expr::{Condition, Projection};
use crate::limits::ATTRIBUTE_NAME_BYTES;
use crate::{Error, Result};

/// Value of `ConditionalOperator`: whether all conditions must hold, or at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionalOperator {
    /// All conditions must hold, as without the parameter.
    And,
    /// At least one condition must hold.
    Or,
}

impl ConditionalOperator {
    /// Name of the operator in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
        }
    }

    /// Parses the name of an operator.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::And, Self::Or].into_iter().find(|operator| operator.as_str() == name)
    }
}

/// Converts a `QueryFilter` or `ScanFilter` to a condition; `None` if it is empty, so that every
/// item passes.
///
/// Pass an empty filter for a request without one, so that its `ConditionalOperator` is validated.
///
/// # Errors
/// With DynamoDB's message, if a comparison is missing or has invalid values, an attribute name is
/// invalid, or there is an operator for fewer than two conditions.
pub fn filter(
    tests: impl IntoIterator<Item = (String, AttributeCondition)>,
    operator: Option<ConditionalOperator>,
) -> Result<Option<Condition>> {
    let conditions: Vec<Condition> =
        tests.into_iter().map(|(name, test)| test.condition(name)).collect::<Result<_>>()?;
    join(conditions, operator)
}

/// Converts `AttributesToGet` to a projection.
///
/// # Errors
/// With DynamoDB's message, if there is no name, an empty one, or a duplicate.
pub fn attributes_to_get(names: impl IntoIterator<Item = String>) -> Result<Projection> {
    let names: Vec<String> = names.into_iter().collect();
    if names.is_empty() {
        return Err(Error::validation(
            "1 validation error detected: Value '[]' at 'attributesToGet' failed to satisfy \
             constraint: Member must have length greater than or equal to 1",
        ));
    }
    let mut seen = BTreeSet::new();
    for name in &names {
        check_name(name)?;
        if !seen.insert(name) {
            return Err(invalid(format_args!("Duplicate value in attribute name: {name}")));
        }
    }
    Ok(Projection::new(names))
}

/// Rejects a request with both legacy parameters and expressions.
///
/// Both slices have the names of the parameters in the request, in DynamoDB's order.
///
/// Only `KeyConditions` can be combined with expressions, unless `KeyConditionExpression` is one.
///
/// # Errors
/// With DynamoDB's message, which lists the parameters.
pub fn refuse_mixture(non_expression: &[&str], expression: &[&str]) -> Result<()> {
    let stands_alone =
        |name: &str| name != "KeyConditions" || expression.contains(&"KeyConditionExpression");
    let legacy: Vec<&str> =
        non_expression.iter().copied().filter(|name| stands_alone(name)).collect();
    if legacy.is_empty() || expression.is_empty() {
        return Ok(());
    }
    Err(Error::validation(format!(
        "Can not use both expression and non-expression parameters in the same request: \
         Non-expression parameters: {{{}}} Expression parameters: {{{}}}",
        legacy.join(", "),
        expression.join(", ")
    )))
}

/// Rejects placeholders in a request without expressions.
///
/// `expressions` has the names of the parameters that could have used values.
///
/// # Errors
/// With DynamoDB's message.
pub fn refuse_placeholders(names: bool, values: bool, expressions: &[&str]) -> Result<()> {
    if names {
        return Err(Error::validation(
            "ExpressionAttributeNames can only be specified when using expressions",
        ));
    }
    if values {
        let verb = if expressions.len() == 1 { "is" } else { "are" };
        return Err(Error::validation(format!(
            "ExpressionAttributeValues can only be specified when using expressions: {} {verb} \
             null",
            expressions.join(" and ")
        )));
    }
    Ok(())
}

/// Joins the conditions of one parameter, which are already valid: DynamoDB checks the
/// operator last.
fn join(
    conditions: Vec<Condition>,
    operator: Option<ConditionalOperator>,
) -> Result<Option<Condition>> {
    if operator.is_some() && conditions.len() < 2 {
        return Err(Error::validation(match conditions.len() {
            0 => "ConditionalOperator cannot be used without Filter or Expected",
            _ => {
                "ConditionalOperator can only be used when Filter or Expected has two or more \
                 elements"
            }
        }));
    }
    let joined = match operator {
        Some(ConditionalOperator::Or) => Condition::any(conditions),
        Some(ConditionalOperator::And) | None => Condition::all(conditions),
    };
    Ok(joined.map(Condition::without_limit))
}

/// Checks an attribute name, with the errors of an item's attribute.
fn check_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::validation("Empty attribute name"));
    }
    if name.len() > ATTRIBUTE_NAME_BYTES {
        return Err(Error::validation(
            "Attribute name is too large, must be less than 65536 bytes",
        ));
    }
    Ok(())
}

/// Error of a violated rule, with DynamoDB's usual prefix.
fn invalid(message: impl fmt::Display) -> Error {
    Error::validation(format!("One or more parameter values were invalid: {message}"))
}
