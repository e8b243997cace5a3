//! Requests for a page of items.

use tabla::Result;
use tabla::ops::{Query, Scan, Select};

use super::{Members, legacy};

pub(crate) fn query(members: &Members<'_>) -> Result<Query> {
    legacy::refuse_mixture(
        members,
        &["AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"],
        &["ProjectionExpression", "FilterExpression", "KeyConditionExpression"],
    )?;
    Ok(Query {
        table: members.table()?,
        index: members.text("IndexName")?,
        // In the order in which the service finds fault.
        names: members.names()?,
        values: members.values()?,
        filter: legacy::filter(members, "QueryFilter")?,
        projection: legacy::projection(members)?,
        exclusive_start_key: members.item("ExclusiveStartKey")?,
        key_condition: legacy::key_condition(members)?,
        select: select(members)?,
        limit: members.integer("Limit")?,
        scan_index_forward: members.boolean("ScanIndexForward")?.unwrap_or(true),
        consistent_read: members.flag("ConsistentRead")?,
        return_consumed_capacity: members.capacity()?,
    })
}

pub(crate) fn scan(members: &Members<'_>) -> Result<Scan> {
    legacy::refuse_mixture(
        members,
        &["AttributesToGet", "ScanFilter", "ConditionalOperator"],
        &["ProjectionExpression", "FilterExpression"],
    )?;
    Ok(Scan {
        table: members.table()?,
        index: members.text("IndexName")?,
        projection: legacy::projection(members)?,
        filter: legacy::filter(members, "ScanFilter")?,
        names: members.names()?,
        values: members.values()?,
        select: select(members)?,
        limit: members.integer("Limit")?,
        segment: members.integer("Segment")?,
        total_segments: members.integer("TotalSegments")?,
        consistent_read: members.flag("ConsistentRead")?,
        exclusive_start_key: members.item("ExclusiveStartKey")?,
        return_consumed_capacity: members.capacity()?,
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
