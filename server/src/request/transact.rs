//! Parsers of TransactGetItems and TransactWriteItems.

use tabla_core::ops::{
    ConditionCheck, DeleteItem, GetItem, PutItem, TransactGetItems, TransactWriteItem,
    TransactWriteItems, UpdateItem,
};
use tabla_core::{Error, Result, assign};

use super::item::on_failure;
use super::{Members, missing};

pub(crate) fn transact_get(members: &Members<'_>) -> Result<TransactGetItems> {
    let items = members.objects("TransactItems", get)?;
    Ok(assign!(TransactGetItems::default(), {
        items: items.ok_or_else(|| missing("TransactItems"))?,
        return_consumed_capacity: members.capacity()?,
    }))
}

fn get(members: &Members<'_>) -> Result<GetItem> {
    let get = members.object("Get")?.ok_or_else(|| missing("Get"))?;
    Ok(assign!(GetItem::default(), {
        table: get.table()?,
        key: get.need_item("Key")?,
        projection: get.text("ProjectionExpression")?.map(Into::into),
        names: get.names()?,
    }))
}

pub(crate) fn transact_write(members: &Members<'_>) -> Result<TransactWriteItems> {
    let items = members.objects("TransactItems", write)?;
    Ok(assign!(TransactWriteItems::default(), {
        items: items.ok_or_else(|| missing("TransactItems"))?,
        client_request_token: members.text("ClientRequestToken")?,
        return_consumed_capacity: members.capacity()?,
        return_item_collection_metrics: members.metrics()?,
    }))
}

fn write(members: &Members<'_>) -> Result<TransactWriteItem> {
    let actions = ["ConditionCheck", "Put", "Update", "Delete"];
    let mut given = actions.into_iter().filter(|action| members.has(action));
    let action = given.next().ok_or_else(|| {
        Error::validation(
            "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request",
        )
    })?;
    if given.next().is_some() {
        return Err(Error::validation(
            "TransactItems can only contain one of Check, Put, Update or Delete",
        ));
    }
    let members = &members.object(action)?.ok_or_else(|| missing(action))?;
    let condition = members.text("ConditionExpression")?.map(Into::into);
    Ok(match action {
        "ConditionCheck" => TransactWriteItem::ConditionCheck(assign!(ConditionCheck::default(), {
            table: members.table()?,
            key: members.need_item("Key")?,
            condition: Some(condition.ok_or_else(|| missing("ConditionExpression"))?),
            names: members.names()?,
            values: members.values()?,
            return_values_on_condition_check_failure: on_failure(members)?,
        })),
        "Put" => TransactWriteItem::Put(assign!(PutItem::default(), {
            table: members.table()?,
            item: members.need_item("Item")?,
            condition,
            names: members.names()?,
            values: members.values()?,
            return_values_on_condition_check_failure: on_failure(members)?,
        })),
        "Update" => TransactWriteItem::Update(assign!(UpdateItem::default(), {
            table: members.table()?,
            key: members.need_item("Key")?,
            update: Some(members.need_text("UpdateExpression")?.into()),
            condition,
            names: members.names()?,
            values: members.values()?,
            return_values_on_condition_check_failure: on_failure(members)?,
        })),
        _ => TransactWriteItem::Delete(assign!(DeleteItem::default(), {
            table: members.table()?,
            key: members.need_item("Key")?,
            condition,
            names: members.names()?,
            values: members.values()?,
            return_values_on_condition_check_failure: on_failure(members)?,
        })),
    })
}
