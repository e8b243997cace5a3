//! Requests: options of reads and writes, and parts of batches and transactions.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types as sdk;
use tabla_core::expr::{Expr, ExpressionKind, Values};
use tabla_core::ops::{
    ConditionCheck, GetItem, KeysAndAttributes, ReturnConsumedCapacity,
    ReturnItemCollectionMetrics, ReturnValues, ReturnValuesOnConditionCheckFailure, Select,
    TransactWriteItem, WriteRequest,
};
use tabla_core::{Error, ErrorKind, Result, assign};

use super::{Expressions, item_from_sdk, item_to_sdk, items_from_sdk};
use crate::prefix::TablePrefix;

/// Returns `Some(true)` if the option is on, else `None`: the service's default is not sent.
pub(crate) fn true_or_absent(option: bool) -> Option<bool> {
    option.then_some(true)
}

pub(crate) fn return_values(values: ReturnValues) -> Option<sdk::ReturnValue> {
    match values {
        ReturnValues::None => None,
        ReturnValues::AllOld => Some(sdk::ReturnValue::AllOld),
        ReturnValues::UpdatedOld => Some(sdk::ReturnValue::UpdatedOld),
        ReturnValues::AllNew => Some(sdk::ReturnValue::AllNew),
        ReturnValues::UpdatedNew => Some(sdk::ReturnValue::UpdatedNew),
    }
}

pub(crate) fn on_failure(
    values: ReturnValuesOnConditionCheckFailure,
) -> Option<sdk::ReturnValuesOnConditionCheckFailure> {
    match values {
        ReturnValuesOnConditionCheckFailure::None => None,
        ReturnValuesOnConditionCheckFailure::AllOld => {
            Some(sdk::ReturnValuesOnConditionCheckFailure::AllOld)
        }
    }
}

pub(crate) fn return_capacity(
    capacity: ReturnConsumedCapacity,
) -> Option<sdk::ReturnConsumedCapacity> {
    match capacity {
        ReturnConsumedCapacity::None => None,
        ReturnConsumedCapacity::Total => Some(sdk::ReturnConsumedCapacity::Total),
        ReturnConsumedCapacity::Indexes => Some(sdk::ReturnConsumedCapacity::Indexes),
    }
}

pub(crate) fn return_metrics(
    metrics: ReturnItemCollectionMetrics,
) -> Option<sdk::ReturnItemCollectionMetrics> {
    match metrics {
        ReturnItemCollectionMetrics::None => None,
        ReturnItemCollectionMetrics::Size => Some(sdk::ReturnItemCollectionMetrics::Size),
    }
}

pub(crate) fn select(select: Select) -> sdk::Select {
    match select {
        Select::AllAttributes => sdk::Select::AllAttributes,
        Select::AllProjectedAttributes => sdk::Select::AllProjectedAttributes,
        Select::SpecificAttributes => sdk::Select::SpecificAttributes,
        Select::Count => sdk::Select::Count,
    }
}

/// Converts the SDK's error about a missing member.
///
/// The conversions set every required member, so it means that a newer SDK requires another one.
pub(crate) fn build_error(error: BuildError) -> Error {
    Error::new(ErrorKind::Unexpected, "the SDK cannot build the request").with_source(error)
}

/// Converts the reads of a batch, by table.
pub(crate) fn batch_reads_to_sdk(
    prefix: &TablePrefix,
    requests: BTreeMap<String, KeysAndAttributes>,
) -> Result<HashMap<String, sdk::KeysAndAttributes>> {
    requests
        .into_iter()
        .map(|(table, request)| Ok((prefix.add(table), keys_to_sdk(request)?)))
        .collect()
}

fn keys_to_sdk(request: KeysAndAttributes) -> Result<sdk::KeysAndAttributes> {
    let KeysAndAttributes { keys, projection, names, consistent_read, .. } = request;
    let mut expressions = Expressions::new(names, Values::new());
    let projection = expressions.projection(projection)?;
    let keys: Result<Vec<_>> = keys.into_iter().map(item_to_sdk).collect();
    sdk::KeysAndAttributes::builder()
        .set_keys(Some(keys?))
        .set_projection_expression(projection)
        .set_expression_attribute_names(expressions.finish()?.names)
        .set_consistent_read(true_or_absent(consistent_read))
        .build()
        .map_err(build_error)
}

/// Converts the unprocessed keys of a batch.
pub(crate) fn batch_reads_from_sdk(
    prefix: &TablePrefix,
    requests: Option<HashMap<String, sdk::KeysAndAttributes>>,
) -> Result<BTreeMap<String, KeysAndAttributes>> {
    requests
        .into_iter()
        .flatten()
        .map(|(table, request)| {
            let keys = assign!(KeysAndAttributes::new(items_from_sdk(request.keys)?), {
                projection: request.projection_expression.map(Expr::Text),
                names: request.expression_attribute_names.into_iter().flatten().collect(),
                consistent_read: request.consistent_read.unwrap_or_default(),
            });
            Ok((prefix.strip_own(table), keys))
        })
        .collect()
}

/// Converts the writes of a batch, by table.
pub(crate) fn batch_writes_to_sdk(
    prefix: &TablePrefix,
    requests: BTreeMap<String, Vec<WriteRequest>>,
) -> Result<HashMap<String, Vec<sdk::WriteRequest>>> {
    requests
        .into_iter()
        .map(|(table, writes)| {
            let writes: Result<Vec<_>> = writes.into_iter().map(write_to_sdk).collect();
            Ok((prefix.add(table), writes?))
        })
        .collect()
}

fn write_to_sdk(request: WriteRequest) -> Result<sdk::WriteRequest> {
    let builder = sdk::WriteRequest::builder();
    Ok(match request {
        WriteRequest::Put(item) => {
            let put = sdk::PutRequest::builder().set_item(Some(item_to_sdk(item)?));
            builder.put_request(put.build().map_err(build_error)?)
        }
        WriteRequest::Delete(key) => {
            let delete = sdk::DeleteRequest::builder().set_key(Some(item_to_sdk(key)?));
            builder.delete_request(delete.build().map_err(build_error)?)
        }
    }
    .build())
}

/// Converts the unprocessed items of a batch.
pub(crate) fn batch_writes_from_sdk(
    prefix: &TablePrefix,
    requests: Option<HashMap<String, Vec<sdk::WriteRequest>>>,
) -> Result<BTreeMap<String, Vec<WriteRequest>>> {
    requests
        .into_iter()
        .flatten()
        .map(|(table, writes)| {
            let writes: Result<Vec<_>> = writes.into_iter().map(write_from_sdk).collect();
            Ok((prefix.strip_own(table), writes?))
        })
        .collect()
}

fn write_from_sdk(request: sdk::WriteRequest) -> Result<WriteRequest> {
    match (request.put_request, request.delete_request) {
        (Some(put), None) => Ok(WriteRequest::Put(item_from_sdk(put.item)?)),
        (None, Some(delete)) => Ok(WriteRequest::Delete(item_from_sdk(delete.key)?)),
        _ => Err(Error::new(
            ErrorKind::Unexpected,
            "the service returned an unprocessed write that is neither a put nor a delete",
        )),
    }
}

/// Converts one read of a transaction.
pub(crate) fn transact_get_to_sdk(
    prefix: &TablePrefix,
    request: GetItem,
) -> Result<sdk::TransactGetItem> {
    // Reads in a transaction are consistent, and the transaction reports the capacity.
    let GetItem {
        table,
        key,
        projection,
        names,
        consistent_read: _,
        return_consumed_capacity: _,
        ..
    } = request;
    let mut expressions = Expressions::new(names, Values::new());
    let projection = expressions.projection(projection)?;
    let get = sdk::Get::builder()
        .table_name(prefix.add(table))
        .set_key(Some(item_to_sdk(key)?))
        .set_projection_expression(projection)
        .set_expression_attribute_names(expressions.finish()?.names)
        .build()
        .map_err(build_error)?;
    Ok(sdk::TransactGetItem::builder().get(get).build())
}

/// Converts one operation of a transaction; `number` is its position, from 1.
pub(crate) fn transact_write_to_sdk(
    prefix: &TablePrefix,
    number: usize,
    item: TransactWriteItem,
) -> Result<sdk::TransactWriteItem> {
    let builder = sdk::TransactWriteItem::builder();
    Ok(match item {
        TransactWriteItem::Put(put) => {
            let mut expressions = Expressions::new(put.names, put.values);
            let condition = expressions.condition(ExpressionKind::Condition, put.condition)?;
            let placeholders = expressions.finish()?;
            let put = sdk::Put::builder()
                .table_name(prefix.add(put.table))
                .set_item(Some(item_to_sdk(put.item)?))
                .set_condition_expression(condition)
                .set_expression_attribute_names(placeholders.names)
                .set_expression_attribute_values(placeholders.values)
                .set_return_values_on_condition_check_failure(on_failure(
                    put.return_values_on_condition_check_failure,
                ));
            builder.put(put.build().map_err(build_error)?)
        }
        TransactWriteItem::Update(update) => {
            let mut expressions = Expressions::new(update.names, update.values);
            let text = expressions.update(update.update)?;
            let condition = expressions.condition(ExpressionKind::Condition, update.condition)?;
            let placeholders = expressions.finish()?;
            let update = sdk::Update::builder()
                .table_name(prefix.add(update.table))
                .set_key(Some(item_to_sdk(update.key)?))
                // The SDK requires a text: an absent update is sent as an empty one.
                .update_expression(text.unwrap_or_default())
                .set_condition_expression(condition)
                .set_expression_attribute_names(placeholders.names)
                .set_expression_attribute_values(placeholders.values)
                .set_return_values_on_condition_check_failure(on_failure(
                    update.return_values_on_condition_check_failure,
                ));
            builder.update(update.build().map_err(build_error)?)
        }
        TransactWriteItem::Delete(delete) => {
            let mut expressions = Expressions::new(delete.names, delete.values);
            let condition = expressions.condition(ExpressionKind::Condition, delete.condition)?;
            let placeholders = expressions.finish()?;
            let delete = sdk::Delete::builder()
                .table_name(prefix.add(delete.table))
                .set_key(Some(item_to_sdk(delete.key)?))
                .set_condition_expression(condition)
                .set_expression_attribute_names(placeholders.names)
                .set_expression_attribute_values(placeholders.values)
                .set_return_values_on_condition_check_failure(on_failure(
                    delete.return_values_on_condition_check_failure,
                ));
            builder.delete(delete.build().map_err(build_error)?)
        }
        TransactWriteItem::ConditionCheck(check) => {
            builder.condition_check(condition_check_to_sdk(prefix, number, check)?)
        }
    }
    .build())
}

fn condition_check_to_sdk(
    prefix: &TablePrefix,
    number: usize,
    check: ConditionCheck,
) -> Result<sdk::ConditionCheck> {
    let mut expressions = Expressions::new(check.names, check.values);
    let condition = expressions.condition(ExpressionKind::Condition, check.condition)?;
    let Some(condition) = condition else {
        // The SDK would not build the request. This is the service's message.
        return Err(Error::validation(format!(
            "Value null at 'transactItems.{number}.member.conditionCheck.conditionExpression' \
             failed to satisfy constraint: Member must not be null"
        )));
    };
    let placeholders = expressions.finish()?;
    sdk::ConditionCheck::builder()
        .table_name(prefix.add(check.table))
        .set_key(Some(item_to_sdk(check.key)?))
        .condition_expression(condition)
        .set_expression_attribute_names(placeholders.names)
        .set_expression_attribute_values(placeholders.values)
        .set_return_values_on_condition_check_failure(on_failure(
            check.return_values_on_condition_check_failure,
        ))
        .build()
        .map_err(build_error)
}

#[cfg(test)]
mod tests {
    use tabla_core::{Item, attr};

    use super::*;

    #[test]
    fn unprocessed_reads_convert_back_to_requests() {
        let prefix = TablePrefix::new("dev-").unwrap();
        let request = KeysAndAttributes::new([Item::new().with("pk", "a")])
            .projection("#p")
            .name("#p", "pk")
            .consistent_read(true);
        let asked = BTreeMap::from([("orders".to_owned(), request)]);
        let there = batch_reads_to_sdk(&prefix, asked.clone()).unwrap();
        assert!(there.contains_key("dev-orders"));
        assert_eq!(batch_reads_from_sdk(&prefix, Some(there)).unwrap(), asked);
    }

    #[test]
    fn unprocessed_writes_convert_back_to_requests() {
        let prefix = TablePrefix::new("dev-").unwrap();
        let asked = BTreeMap::from([(
            "orders".to_owned(),
            vec![
                WriteRequest::Put(Item::new().with("pk", "a").with("n", 1)),
                WriteRequest::Delete(Item::new().with("pk", "b")),
            ],
        )]);
        let there = batch_writes_to_sdk(&prefix, asked.clone()).unwrap();
        assert_eq!(batch_writes_from_sdk(&prefix, Some(there)).unwrap(), asked);
    }

    #[test]
    fn condition_check_without_a_condition_is_rejected() {
        let check = assign!(ConditionCheck::default(), { table: "orders".into() });
        let error = transact_write_to_sdk(&TablePrefix::default(), 2, check.into()).unwrap_err();
        assert_eq!(
            error.message(),
            "Value null at 'transactItems.2.member.conditionCheck.conditionExpression' failed to \
             satisfy constraint: Member must not be null"
        );
        let check = ConditionCheck::new("orders", Item::new().with("pk", "a"), attr("pk").exists());
        let item = transact_write_to_sdk(&TablePrefix::default(), 1, check.into()).unwrap();
        let check = item.condition_check.unwrap();
        assert_eq!(check.condition_expression, "attribute_exists(#n0)");
        assert_eq!(check.table_name, "orders");
    }
}
