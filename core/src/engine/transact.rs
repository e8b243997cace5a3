//! What concerns the operations of a transaction together.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Fault, Position, WritePlan};
use crate::Item;
use crate::error::{CancellationReason, Error, ErrorKind, Result};
use crate::limits;
use crate::ops::{
    ReturnConsumedCapacity, ReturnItemCollectionMetrics, ReturnValues, TransactGetItems,
    TransactWriteItem, TransactWriteItems,
};
use crate::schema::TableSchema;

/// How long a client request token protects its transaction (API reference, TransactWriteItems).
pub const TOKEN_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// Checks the shape of a transaction, before any table is looked up.
pub fn check_write(request: &TransactWriteItems) -> Result<()> {
    check_count(request.items.len())?;
    if let Some(token) = &request.client_request_token {
        check_token(token)?;
    }
    check_operations(&request.items)?;
    let size: usize = request.items.iter().map(payload_size).sum();
    if size > limits::TRANSACT_SIZE {
        return Err(Error::validation(format!(
            "Transaction payload size cannot exceed 4MB. Payload Size: {size}"
        )));
    }
    Ok(())
}

/// Checks the shape of a transactional read, before any table is looked up.
pub fn check_get(request: &TransactGetItems) -> Result<()> {
    check_count(request.items.len())
}

fn check_count(count: usize) -> Result<()> {
    let constraint = match count {
        0 => "Member must have length greater than or equal to 1",
        1..=limits::TRANSACT_ITEMS => return Ok(()),
        _ => "Member must have length less than or equal to 100",
    };
    Err(Error::validation(format!(
        "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: \
         {constraint}"
    )))
}

/// Checks what can be seen of each operation by itself: that it asks for nothing of its own to be
/// returned, and has the expression that the API requires of it.
pub fn check_operations(items: &[TransactWriteItem]) -> Result<()> {
    for (number, item) in items.iter().enumerate() {
        check_nothing_returned(item)?;
        check_expressions(number, item)?;
    }
    Ok(())
}

/// Refuses an operation without the expression that the API requires of it (API reference,
/// `Update` and `ConditionCheck`).
fn check_expressions(number: usize, item: &TransactWriteItem) -> Result<()> {
    let missing = match item {
        TransactWriteItem::Update(update) if update.update.is_none() => "update.updateExpression",
        TransactWriteItem::ConditionCheck(check) if check.condition.is_none() => {
            "conditionCheck.conditionExpression"
        }
        _ => return Ok(()),
    };
    Err(Error::validation(format!(
        "1 validation error detected: Value null at 'transactItems.{}.member.{missing}' failed to \
         satisfy constraint: Member must not be null",
        number + 1
    )))
}

fn check_token(token: &str) -> Result<()> {
    let constraint = match token.len() {
        0 => "greater than or equal to 1".to_owned(),
        1..=limits::CLIENT_REQUEST_TOKEN => return Ok(()),
        _ => format!("less than or equal to {}", limits::CLIENT_REQUEST_TOKEN),
    };
    Err(Error::validation(format!(
        "1 validation error detected: Value '{token}' at 'clientRequestToken' failed to satisfy \
         constraint: Member must have length {constraint}"
    )))
}

/// A transaction answers as a whole: what an operation asks to have returned would be lost.
fn check_nothing_returned(item: &TransactWriteItem) -> Result<()> {
    let (values, capacity, metrics) = match item {
        TransactWriteItem::Put(put) => {
            (put.return_values, put.return_consumed_capacity, put.return_item_collection_metrics)
        }
        TransactWriteItem::Update(update) => (
            update.return_values,
            update.return_consumed_capacity,
            update.return_item_collection_metrics,
        ),
        TransactWriteItem::Delete(delete) => (
            delete.return_values,
            delete.return_consumed_capacity,
            delete.return_item_collection_metrics,
        ),
        TransactWriteItem::ConditionCheck(_) => return Ok(()),
    };
    if values != ReturnValues::None
        || capacity != ReturnConsumedCapacity::None
        || metrics != ReturnItemCollectionMetrics::None
    {
        return Err(Error::validation(
            "an operation of a transaction returns nothing of its own; set what to return on the \
             transaction",
        ));
    }
    Ok(())
}

/// What an operation adds to the size of its transaction: what it sends.
fn payload_size(item: &TransactWriteItem) -> usize {
    let values =
        |values: &crate::expr::Values| -> usize { values.values().map(crate::Value::size).sum() };
    match item {
        TransactWriteItem::Put(put) => put.item.size() + values(&put.values),
        TransactWriteItem::Update(update) => {
            let literals = match &update.update {
                Some(crate::expr::Expr::Tree(tree)) => {
                    tree.literals().map(crate::Value::size).sum()
                }
                _ => 0,
            };
            update.key.size() + values(&update.values) + literals
        }
        TransactWriteItem::Delete(delete) => delete.key.size() + values(&delete.values),
        TransactWriteItem::ConditionCheck(check) => check.key.size() + values(&check.values),
    }
}

/// The table that an operation is on.
pub fn table_of(item: &TransactWriteItem) -> &str {
    match item {
        TransactWriteItem::Put(put) => &put.table,
        TransactWriteItem::Update(update) => &update.table,
        TransactWriteItem::Delete(delete) => &delete.table,
        TransactWriteItem::ConditionCheck(check) => &check.table,
    }
}

/// Plans one operation.
pub fn plan(item: &TransactWriteItem, schema: &TableSchema) -> Result<WritePlan, Fault> {
    match item {
        TransactWriteItem::Put(put) => WritePlan::put(put, schema),
        TransactWriteItem::Update(update) => WritePlan::update(update, schema),
        TransactWriteItem::Delete(delete) => WritePlan::delete(delete, schema),
        TransactWriteItem::ConditionCheck(check) => WritePlan::check(check, schema),
    }
}

/// Refuses two operations on one item.
pub fn check_distinct<'a>(items: impl IntoIterator<Item = (&'a str, &'a Position)>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for item in items {
        if !seen.insert(item) {
            return Err(Error::validation(
                "Transaction request cannot include multiple operations on one item",
            ));
        }
    }
    Ok(())
}

/// Gathers the outcome of every operation: all results, or the cancellation with every reason.
///
/// # Errors
/// A wrong request fails as itself, before any reason counts.
pub fn gather<T>(outcomes: Vec<Result<T, Fault>>) -> Result<Vec<T>> {
    if outcomes.iter().all(Result::is_ok) {
        return Ok(outcomes.into_iter().filter_map(Result::ok).collect());
    }
    let reasons = outcomes
        .into_iter()
        .map(|outcome| match outcome {
            Ok(_) => Ok(CancellationReason::none()),
            Err(Fault::Request(error)) => Err(error),
            Err(Fault::Item(error)) => Ok(reason(error)),
        })
        .collect::<Result<_>>()?;
    Err(Error::transaction_canceled(reasons))
}

fn reason(error: Error) -> CancellationReason {
    let message = error.message().to_owned();
    match error.into_kind() {
        ErrorKind::ConditionFailed { item } => CancellationReason::condition_failed(item),
        _ => CancellationReason::invalid(message),
    }
}

/// What a client request token stands for: everything in the request that has an effect.
///
/// Two requests with the same print are the same transaction.
pub fn fingerprint(request: &TransactWriteItems) -> u128 {
    xxhash_rust::xxh3::xxh3_128(format!("{:?}", request.items).as_bytes())
}

/// The error for a token that was used before with other content.
pub fn token_mismatch() -> Error {
    Error::new(
        ErrorKind::IdempotentParameterMismatch,
        "DynamoDB rejected the request because you retried a request with a different payload but \
         with an idempotent token that was already used.",
    )
}

/// Refuses an answer that is too large for one transaction.
pub fn check_answer_size<'a>(items: impl IntoIterator<Item = &'a Item>) -> Result<()> {
    let size: usize = items.into_iter().map(Item::size).sum();
    if size > limits::TRANSACT_SIZE {
        return Err(Error::validation(format!("Payload in response is too large.{size}")));
    }
    Ok(())
}
