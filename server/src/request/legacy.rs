//! Parsers of expressions and of the legacy parameters that preceded them.
//!
//! Core makes the same tree of either. A request has one or the other.

use serde_json::value::RawValue;
use tabla_core::backend::legacy::{
    self, AttributeAction, AttributeCondition, AttributeUpdate, ComparisonOperator,
    ConditionalOperator, ExpectedAttribute, LegacyParameters,
};
use tabla_core::expr::{Condition, Expr, Projection, Update};
use tabla_core::{Error, Result, assign};

use super::{Members, elements, read_value};
use crate::shape::Shape;

/// Legacy parameters that `ConditionExpression` replaces.
pub(super) const CONDITION: [&str; 2] = ["Expected", "ConditionalOperator"];

/// Refuses a request with expressions and legacy parameters, or with placeholders and
/// no expression.
pub(super) fn refuse_mixture(
    members: &Members<'_>,
    old: &[&'static str],
    new: &[&'static str],
) -> Result<()> {
    let given = |names: &[&'static str]| -> Vec<&'static str> {
        names.iter().copied().filter(|name| members.has(name)).collect()
    };
    let expressions = given(new);
    if !expressions.is_empty() {
        let old = given(old);
        return if old.is_empty() { Ok(()) } else { legacy::refuse_mixture(&old, &expressions) };
    }
    let names = members.has("ExpressionAttributeNames");
    let values = members.has("ExpressionAttributeValues");
    if !names && !values {
        return Ok(());
    }
    let users: Vec<&str> =
        new.iter().copied().filter(|name| *name != "ProjectionExpression").collect();
    legacy::refuse_placeholders(names, values, &users)
}

/// Parses `ProjectionExpression` or `AttributesToGet`.
pub(super) fn projection(members: &Members<'_>) -> Result<Option<Expr<Projection>>> {
    if let Some(text) = members.text("ProjectionExpression")? {
        return Ok(Some(Expr::Text(text)));
    }
    // A null is reported as an empty name.
    let names: Option<Vec<Option<String>>> = members.read("AttributesToGet")?;
    let names = names.map(|names| names.into_iter().map(Option::unwrap_or_default));
    names.map(|names| legacy::attributes_to_get(names).map(Expr::Tree)).transpose()
}

/// Parses `ConditionExpression` or `Expected`.
pub(super) fn condition(members: &Members<'_>) -> Result<Option<Expr<Condition>>> {
    if let Some(text) = members.text("ConditionExpression")? {
        return Ok(Some(Expr::Text(text)));
    }
    let operator = operator(members)?;
    if operator.is_none() && !members.has("Expected") {
        return Ok(None);
    }
    let expected =
        members.object("Expected")?.map(|given| given.entries(expectation)).transpose()?;
    Ok(legacy::expected(expected.unwrap_or_default(), operator)?.map(Expr::Tree))
}

/// Parses `FilterExpression` or the legacy parameter `old`.
pub(super) fn filter(members: &Members<'_>, old: &str) -> Result<Option<Expr<Condition>>> {
    if let Some(text) = members.text("FilterExpression")? {
        return Ok(Some(Expr::Text(text)));
    }
    let operator = operator(members)?;
    if operator.is_none() && !members.has(old) {
        return Ok(None);
    }
    let tests = members.object(old)?.map(|given| given.entries(test)).transpose()?;
    Ok(legacy::filter(tests.unwrap_or_default(), operator)?.map(Expr::Tree))
}

/// Parses `KeyConditionExpression` or `KeyConditions`.
pub(super) fn key_condition(members: &Members<'_>) -> Result<Option<Expr<Condition>>> {
    if let Some(text) = members.text("KeyConditionExpression")? {
        return Ok(Some(Expr::Text(text)));
    }
    let Some(given) = members.object("KeyConditions")? else { return Ok(None) };
    legacy::key_conditions(given.entries(test)?).map(|keys| Some(Expr::Tree(keys.condition)))
}

/// Parses `UpdateExpression` or `AttributeUpdates`.
pub(super) fn update(members: &Members<'_>) -> Result<Option<Expr<Update>>> {
    if let Some(text) = members.text("UpdateExpression")? {
        return Ok(Some(Expr::Text(text)));
    }
    let Some(given) = members.object("AttributeUpdates")? else { return Ok(None) };
    Ok(legacy::attribute_updates(given.entries(attribute_update)?)?.map(Expr::Tree))
}

/// Returns an error of a store, which knows only expressions, in DynamoDB's wording for the legacy
/// parameters of the request.
pub(crate) fn reworded(members: &Members<'_>, error: Error) -> Error {
    let unindexable = || -> Option<bool> {
        let given = members.object("KeyConditions").ok()??;
        let keys = legacy::key_conditions(given.entries(test).ok()?).ok()?;
        Some(keys.unindexable)
    };
    let wording = assign!(LegacyParameters::default(), {
        attributes_to_get: members.has("AttributesToGet"),
        query_filter: members.has("QueryFilter"),
        attribute_updates: members.has("AttributeUpdates"),
        unindexable: unindexable().unwrap_or_default(),
    });
    wording.reword(error)
}

fn operator(members: &Members<'_>) -> Result<Option<ConditionalOperator>> {
    let operators = [("AND", ConditionalOperator::And), ("OR", ConditionalOperator::Or)];
    members.choice("ConditionalOperator", &operators)
}

fn expectation(name: &str, shape: &'static Shape, raw: &RawValue) -> Result<ExpectedAttribute> {
    if is_null(raw) {
        return Err(Error::validation(format!(
            "One or more parameter values were invalid: ExpectedAttributeValue must not be null \
             for Attribute: {name}"
        )));
    }
    let members = Members::of_text(shape, raw)?;
    Ok(assign!(ExpectedAttribute::default(), {
        value: members.find("Value").map(read_value).transpose()?,
        exists: members.boolean("Exists")?,
        comparison: comparison(&members)?,
        values: values(&members)?,
    }))
}

fn test(name: &str, shape: &'static Shape, raw: &RawValue) -> Result<AttributeCondition> {
    if is_null(raw) {
        return Err(Error::validation(format!(
            "The filter condition for an attribute cannot be null: {name}"
        )));
    }
    let members = Members::of_text(shape, raw)?;
    let comparison = comparison(&members)?;
    Ok(assign!(AttributeCondition::default(), { comparison, values: values(&members)? }))
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

fn attribute_update(_: &str, shape: &'static Shape, raw: &RawValue) -> Result<AttributeUpdate> {
    if is_null(raw) {
        return Ok(AttributeUpdate::default());
    }
    let actions = [
        ("PUT", AttributeAction::Put),
        ("ADD", AttributeAction::Add),
        ("DELETE", AttributeAction::Delete),
    ];
    let members = Members::of_text(shape, raw)?;
    Ok(assign!(AttributeUpdate::default(), {
        value: members.find("Value").map(read_value).transpose()?,
        action: members.choice("Action", &actions)?,
    }))
}

fn comparison(members: &Members<'_>) -> Result<Option<ComparisonOperator>> {
    let Some(name) = members.text("ComparisonOperator")? else { return Ok(None) };
    let known = ComparisonOperator::from_name(&name);
    known
        .map(Some)
        .ok_or_else(|| Error::validation(format!("'{name}' is not a valid ComparisonOperator")))
}

fn values(members: &Members<'_>) -> Result<Option<Vec<tabla_core::Value>>> {
    const NAME: &str = "AttributeValueList";
    let Some(raw) = members.find(NAME) else { return Ok(None) };
    elements(members.shape(NAME), raw, |_, raw| read_value(raw)).map(Some)
}
