//! The parameters that came before expressions: `Expected`, `QueryFilter`, `ScanFilter`,
//! `KeyConditions`, `AttributeUpdates` and `AttributesToGet`.
//!
//! They have rules and words of their own, and no meaning of their own: each becomes the tree that
//! an expression would, so that no store knows of them. Attributes are taken in the order of the
//! request, because DynamoDB reports the first one that is wrong.
//!
//! ```
//! use tabla::backend::legacy::{Comparison, Expected, expected};
//! use tabla::{assign, item};
//!
//! let at_most_3 = assign!(Expected::default(), {
//!     comparison: Some(Comparison::Le),
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

/// Whether all conditions of a list must hold, or one: `ConditionalOperator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionalOperator {
    /// All, as without the parameter.
    And,
    /// At least one.
    Or,
}

impl ConditionalOperator {
    /// The operator as requests write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
        }
    }

    /// The operator with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::And, Self::Or].into_iter().find(|operator| operator.as_str() == name)
    }
}

/// The condition of a `QueryFilter` or `ScanFilter`, `None` if it is empty: then every item passes.
///
/// Pass an empty one for a request that has none, so that its `ConditionalOperator` is judged.
///
/// # Errors
/// With DynamoDB's message, if a comparison is missing or has the wrong values, an attribute cannot
/// have the name, or there is an operator for fewer than two conditions.
pub fn filter(
    tests: impl IntoIterator<Item = (String, AttributeCondition)>,
    operator: Option<ConditionalOperator>,
) -> Result<Option<Condition>> {
    let conditions: Vec<Condition> =
        tests.into_iter().map(|(name, test)| test.condition(name)).collect::<Result<_>>()?;
    join(conditions, operator)
}

/// The projection of `AttributesToGet`.
///
/// # Errors
/// With DynamoDB's message, if there is no name, an empty one, or one twice.
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

/// Refuses a request that has both legacy parameters and expressions. Name those that it has, in
/// DynamoDB's order.
///
/// Only `KeyConditions` may stand beside expressions, unless `KeyConditionExpression` is one.
///
/// # Errors
/// With DynamoDB's message, which lists them.
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

/// Refuses the names or values of expressions in a request that has none. Name the parameters that
/// could have used values.
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

/// Joins the conditions of one parameter. They have been checked: an operator is looked at last.
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

/// Refuses what cannot be the name of an attribute, as an item refuses it.
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

/// A rule that was broken, with DynamoDB's usual beginning.
fn invalid(message: impl fmt::Display) -> Error {
    Error::validation(format!("One or more parameter values were invalid: {message}"))
}
