//! Parsers of Query and Scan.

use tabla_core::ops::{Query, Scan, Select};
use tabla_core::{Error, Item, Result, assign};

use super::{Members, legacy};

pub(crate) fn query(members: &Members<'_>) -> Result<Query> {
    legacy::refuse_mixture(
        members,
        &["AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"],
        &["ProjectionExpression", "FilterExpression", "KeyConditionExpression"],
    )?;
    Ok(assign!(Query::default(), {
        table: members.table()?,
        index: members.text("IndexName")?,
        // The parameters are in the order in which DynamoDB reports errors.
        filter: legacy::filter(members, "QueryFilter")?,
        projection: legacy::projection(members)?,
        exclusive_start_key: start_key(members)?,
        names: members.names()?,
        values: members.values()?,
        key_condition: legacy::key_condition(members)?,
        select: select(members)?,
        limit: members.integer("Limit")?,
        scan_index_forward: members.boolean("ScanIndexForward")?.unwrap_or(true),
        consistent_read: members.flag("ConsistentRead")?,
        return_consumed_capacity: members.capacity()?,
    }))
}

pub(crate) fn scan(members: &Members<'_>) -> Result<Scan> {
    legacy::refuse_mixture(
        members,
        &["AttributesToGet", "ScanFilter", "ConditionalOperator"],
        &["ProjectionExpression", "FilterExpression"],
    )?;
    Ok(assign!(Scan::default(), {
        table: members.table()?,
        index: members.text("IndexName")?,
        projection: legacy::projection(members)?,
        filter: legacy::filter(members, "ScanFilter")?,
        exclusive_start_key: start_key(members)?,
        names: members.names()?,
        values: members.values()?,
        select: select(members)?,
        limit: members.integer("Limit")?,
        segment: members.integer("Segment")?,
        total_segments: members.integer("TotalSegments")?,
        consistent_read: members.flag("ConsistentRead")?,
        return_consumed_capacity: members.capacity()?,
    }))
}

/// Parses `ExclusiveStartKey`. For most invalid values AWS reports an invalid key, but not for all
/// (observed on AWS).
fn start_key(members: &Members<'_>) -> Result<Option<Item>> {
    members.item("ExclusiveStartKey").map_err(|error| {
        let said = [
            "Supplied AttributeValue ",
            "One or more parameter values were invalid: Null attribute value types ",
            "One or more parameter values were invalid: An string set  may not be empty",
            "One or more parameter values were invalid: Binary sets should not be empty",
        ];
        match said.iter().any(|beginning| error.message().starts_with(beginning)) {
            true => Error::validation(format!(
                "The provided starting key is invalid: {}",
                error.message()
            )),
            false => error,
        }
    })
}

fn select(members: &Members<'_>) -> Result<Option<Select>> {
    members.choice(
        "Select",
        &[
            ("ALL_ATTRIBUTES", Select::AllAttributes),
            ("ALL_PROJECTED_ATTRIBUTES", Select::AllProjectedAttributes),
            ("SPECIFIC_ATTRIBUTES", Select::SpecificAttributes),
            ("COUNT", Select::Count),
        ],
    )
}
