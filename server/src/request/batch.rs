//! Parsers of BatchGetItem and BatchWriteItem.

use serde_json::value::RawValue;
use tabla_core::ops::{BatchGetItem, BatchWriteItem, KeysAndAttributes, WriteRequest};
use tabla_core::{Error, Result, assign};

use super::{Members, elements, legacy, missing, read_item};

pub(crate) fn batch_get(members: &Members<'_>) -> Result<BatchGetItem> {
    let requests = members.object("RequestItems")?.ok_or_else(|| missing("RequestItems"))?;
    let requests = requests.entries(|table, shape, raw| match raw.get() {
        "null" => Err(Error::validation(format!("{NO_KEYS} is required: {table} has empty list"))),
        _ => Members::of_text(shape, raw),
    })?;
    // All tables of a request use the same kind of parameters.
    let given =
        |name: &'static str| requests.iter().any(|(_, members)| members.has(name)).then_some(name);
    if let (Some(old), Some(new)) = (given("AttributesToGet"), given("ProjectionExpression")) {
        tabla_core::backend::legacy::refuse_mixture(&[old], &[new])?;
    }
    let requests = requests
        .iter()
        .map(|(table, members)| Ok((table.clone(), keys_and_attributes(table, members)?)))
        .collect::<Result<_>>()?;
    let return_consumed_capacity = members.capacity()?;
    Ok(assign!(BatchGetItem::new(), { requests, return_consumed_capacity }))
}

const NO_KEYS: &str = "The list of keys in RequestItems for BatchGetItem";

fn keys_and_attributes(table: &str, members: &Members<'_>) -> Result<KeysAndAttributes> {
    legacy::refuse_mixture(members, &["AttributesToGet"], &["ProjectionExpression"])?;
    let keys = members.raws("Keys")?.ok_or_else(|| missing("Keys"))?;
    if keys.iter().any(|key| key.get() == "null") {
        return Err(Error::validation(format!(
            "{NO_KEYS} may not contain null or empty values: {table} has one or more empty keys"
        )));
    }
    Ok(assign!(KeysAndAttributes::default(), {
        keys: keys.into_iter().map(read_item).collect::<Result<_>>()?,
        projection: legacy::projection(members)?,
        names: members.names()?,
        consistent_read: members.flag("ConsistentRead")?,
    }))
}

pub(crate) fn batch_write(members: &Members<'_>) -> Result<BatchWriteItem> {
    let requests = members.object("RequestItems")?.ok_or_else(|| missing("RequestItems"))?;
    let writes = |table: &str, shape, raw: &'_ RawValue| {
        if raw.get() == "null" {
            return Err(Error::validation(format!(
                "The batch write request list for a table cannot be null or empty: {table}"
            )));
        }
        elements(shape, raw, |of, raw| write_request(&Members::of_text(of, raw)?))
    };
    Ok(assign!(BatchWriteItem::default(), {
        requests: requests.entries(writes)?.into_iter().collect(),
        return_consumed_capacity: members.capacity()?,
        return_item_collection_metrics: members.metrics()?,
    }))
}

fn write_request(members: &Members<'_>) -> Result<WriteRequest> {
    match (members.object("PutRequest")?, members.object("DeleteRequest")?) {
        (Some(put), None) => put.need_item("Item").map(WriteRequest::Put),
        (None, Some(delete)) => delete.need_item("Key").map(WriteRequest::Delete),
        // DynamoDB uses this message for a request without a put and a delete, too.
        _ => Err(Error::validation(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of \
             the supported datatypes",
        )),
    }
}
