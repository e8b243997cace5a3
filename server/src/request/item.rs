//! Parsers of requests on one item.

use tabla_core::ops::{
    DeleteItem, GetItem, PutItem, ReturnValues, ReturnValuesOnConditionCheckFailure, UpdateItem,
};
use tabla_core::{Result, assign};

use super::{Members, legacy};

pub(crate) fn get(members: &Members<'_>) -> Result<GetItem> {
    legacy::refuse_mixture(members, &["AttributesToGet"], &["ProjectionExpression"])?;
    Ok(assign!(GetItem::default(), {
        table: members.table()?,
        key: members.need_item("Key")?,
        projection: legacy::projection(members)?,
        names: members.names()?,
        consistent_read: members.flag("ConsistentRead")?,
        return_consumed_capacity: members.capacity()?,
    }))
}

pub(crate) fn put(members: &Members<'_>) -> Result<PutItem> {
    legacy::refuse_mixture(members, &legacy::CONDITION, &["ConditionExpression"])?;
    Ok(assign!(PutItem::default(), {
        table: members.table()?,
        item: members.need_item("Item")?,
        condition: legacy::condition(members)?,
        names: members.names()?,
        values: members.values()?,
        return_values: return_values(members)?,
        return_values_on_condition_check_failure: on_failure(members)?,
        return_consumed_capacity: members.capacity()?,
        return_item_collection_metrics: members.metrics()?,
    }))
}

pub(crate) fn update(members: &Members<'_>) -> Result<UpdateItem> {
    legacy::refuse_mixture(
        members,
        &["AttributeUpdates", "Expected", "ConditionalOperator"],
        &["UpdateExpression", "ConditionExpression"],
    )?;
    Ok(assign!(UpdateItem::default(), {
        table: members.table()?,
        key: members.need_item("Key")?,
        update: legacy::update(members)?,
        condition: legacy::condition(members)?,
        names: members.names()?,
        values: members.values()?,
        return_values: return_values(members)?,
        return_values_on_condition_check_failure: on_failure(members)?,
        return_consumed_capacity: members.capacity()?,
        return_item_collection_metrics: members.metrics()?,
    }))
}

pub(crate) fn delete(members: &Members<'_>) -> Result<DeleteItem> {
    legacy::refuse_mixture(members, &legacy::CONDITION, &["ConditionExpression"])?;
    Ok(assign!(DeleteItem::default(), {
        table: members.table()?,
        key: members.need_item("Key")?,
        condition: legacy::condition(members)?,
        names: members.names()?,
        values: members.values()?,
        return_values: return_values(members)?,
        return_values_on_condition_check_failure: on_failure(members)?,
        return_consumed_capacity: members.capacity()?,
        return_item_collection_metrics: members.metrics()?,
    }))
}

fn return_values(members: &Members<'_>) -> Result<ReturnValues> {
    let choices = [
        ("NONE", ReturnValues::None),
        ("ALL_OLD", ReturnValues::AllOld),
        ("UPDATED_OLD", ReturnValues::UpdatedOld),
        ("ALL_NEW", ReturnValues::AllNew),
        ("UPDATED_NEW", ReturnValues::UpdatedNew),
    ];
    Ok(members.choice("ReturnValues", &choices)?.unwrap_or_default())
}

pub(super) fn on_failure(members: &Members<'_>) -> Result<ReturnValuesOnConditionCheckFailure> {
    let choices = [
        ("NONE", ReturnValuesOnConditionCheckFailure::None),
        ("ALL_OLD", ReturnValuesOnConditionCheckFailure::AllOld),
    ];
    Ok(members.choice("ReturnValuesOnConditionCheckFailure", &choices)?.unwrap_or_default())
}
