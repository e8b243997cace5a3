//! Rules on the operations of a batch together: their number, and no item twice.

use std::collections::HashSet;
use std::hash::Hash;

use super::{OperationError, WritePlan};
use crate::Item;
use crate::error::{Error, Result};
use crate::limits;
use crate::ops::{BatchGetItem, BatchWriteItem, WriteRequest};
use crate::schema::TableSchema;

const DUPLICATES: &str = "Provided list of item keys contains duplicates";

/// Checks the number of keys in a batch of reads, before a table is looked up.
pub(super) fn check_get(request: &BatchGetItem) -> Result<()> {
    if request.requests.is_empty() {
        return Err(constraint(
            "requestItems",
            "Member must have length greater than or equal to 1",
        ));
    }
    for (table, reads) in &request.requests {
        let member = format!("requestItems.{table}.member.keys");
        if reads.keys.is_empty() {
            return Err(constraint(&member, "Member must have length greater than or equal to 1"));
        }
        if reads.keys.len() > limits::BATCH_GET_KEYS {
            return Err(constraint(&member, "Member must have length less than or equal to 100"));
        }
    }
    let keys: usize = request.requests.values().map(|reads| reads.keys.len()).sum();
    if keys > limits::BATCH_GET_KEYS {
        return Err(Error::validation("Too many items requested for the BatchGetItem call"));
    }
    Ok(())
}

/// Refuses a batch of reads with the same key twice, without looking up its tables.
pub(super) fn check_distinct_keys(request: &BatchGetItem) -> Result<()> {
    for reads in request.requests.values() {
        check_distinct(reads.keys.iter().map(Item::encode))?;
    }
    Ok(())
}

/// Refuses duplicate keys.
pub(super) fn check_distinct<K: Eq + Hash>(keys: impl IntoIterator<Item = K>) -> Result<()> {
    let mut keys = keys.into_iter();
    let mut seen = HashSet::with_capacity(keys.size_hint().0);
    match keys.all(|key| seen.insert(key)) {
        true => Ok(()),
        false => Err(Error::validation(DUPLICATES)),
    }
}

/// Checks the number of writes in a batch, before a table is looked up.
pub(super) fn check_write(request: &BatchWriteItem) -> Result<()> {
    if request.requests.is_empty() {
        return Err(constraint(
            "requestItems",
            "Member must have length greater than or equal to 1",
        ));
    }
    let length = 1..=limits::BATCH_WRITE_ITEMS;
    if request.requests.values().any(|writes| !length.contains(&writes.len())) {
        return Err(constraint(
            "requestItems",
            "Map value must satisfy constraint: [Member must have length less than or equal to \
             25, Member must have length greater than or equal to 1]",
        ));
    }
    if request.requests.values().map(Vec::len).sum::<usize>() > limits::BATCH_WRITE_ITEMS {
        return Err(Error::validation("Too many items requested for the BatchWriteItem call"));
    }
    Ok(())
}

/// Error for a member that violates a constraint. AWS's older wording includes the member's value.
fn constraint(member: &str, constraint: &str) -> Error {
    Error::validation(format!(
        "1 validation error detected: Value at '{member}' failed to satisfy constraint: \
         {constraint}"
    ))
}

/// Plans the writes of a batch to one table.
pub(super) fn plan_writes(writes: &[WriteRequest], schema: &TableSchema) -> Result<Vec<WritePlan>> {
    writes
        .iter()
        .map(|write| match write {
            WriteRequest::Put(item) => WritePlan::put_item(item, schema),
            WriteRequest::Delete(key) => WritePlan::delete_key(key, schema),
        })
        .collect::<Result<_, OperationError>>()
        .map_err(Error::from)
}
