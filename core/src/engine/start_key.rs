//! Validation of `ExclusiveStartKey`, the position at which a page resumes.

use super::RowKey;
use super::key_range::Segment;
use super::row_key::{empty_key, empty_kind};
use crate::Item;
use crate::error::{Error, Result};
use crate::schema::{IndexSchema, KeyAttribute, TableSchema};

// The messages about start keys were observed on AWS (dynalite's tests of Query and Scan, which
// also run there).
const INVALID_START: &str = "The provided starting key is invalid";
const MISMATCH: &str = "The provided key element does not match the schema";

fn mismatch() -> Error {
    Error::validation(format!("{INVALID_START}: {MISMATCH}"))
}

/// Validates the start key of a query and computes its row key.
pub(super) fn of_query(
    schema: &TableSchema,
    index: Option<&IndexSchema>,
    start: &Item,
) -> Result<RowKey> {
    match index {
        Some(index) => in_index(schema, index, start),
        None => in_table(schema, start),
    }
}

/// Validates the start key of a scan and computes its row key.
pub(super) fn of_scan(
    schema: &TableSchema,
    index: Option<&IndexSchema>,
    start: &Item,
    segment: &Segment,
) -> Result<RowKey> {
    let position = match index {
        Some(index) => in_index(schema, index, start)?,
        None => {
            let attributes: Vec<&KeyAttribute> = schema.key_attributes().collect();
            check_start(start, attributes.len(), &attributes).map_err(|_| mismatch())?;
            in_table(schema, start)?
        }
    };
    segment.check_start(&position)?;
    Ok(position)
}

/// Computes the row key of a start key in the table.
fn in_table(schema: &TableSchema, start: &Item) -> Result<RowKey> {
    let attributes: Vec<&KeyAttribute> = schema.key_attributes().collect();
    check_start(start, attributes.len(), &attributes)?;
    check_start_not_empty(start, &attributes)?;
    Ok(RowKey::of_stored(schema, start))
}

/// Computes the row key of a start key in an index.
fn in_index(schema: &TableSchema, index: &IndexSchema, start: &Item) -> Result<RowKey> {
    let own: Vec<&KeyAttribute> = index.key_attributes().collect();
    let mut all = own.clone();
    all.extend(
        schema.key_attributes().filter(|key| !own.iter().any(|other| other.name == key.name)),
    );
    check_start(start, all.len(), &own)?;
    let fits = |key: &&KeyAttribute| start.get(&key.name).is_some_and(|value| key.accepts(value));
    if !all.iter().all(fits) {
        return Err(mismatch());
    }
    check_start_not_empty(start, &all)?;
    // DynamoDB does not check the length of the keys.
    RowKey::by_index_keys(schema, index, start).ok_or_else(mismatch)
}

/// Checks the number of attributes of a start key, and the types of `own`, the keys of the table or
/// index that is read.
fn check_start(start: &Item, count: usize, own: &[&KeyAttribute]) -> Result<()> {
    if start.len() != count {
        return Err(Error::validation(INVALID_START));
    }
    for attribute in own {
        match start.get(&attribute.name) {
            None => return Err(Error::validation(INVALID_START)),
            Some(value) if !attribute.accepts(value) => return Err(Error::validation(MISMATCH)),
            Some(_) => {}
        }
    }
    Ok(())
}

fn check_start_not_empty(start: &Item, attributes: &[&KeyAttribute]) -> Result<()> {
    for attribute in attributes {
        if let Some(kind) = start.get(&attribute.name).and_then(empty_kind) {
            return Err(Error::validation(format!(
                "{INVALID_START}: {}",
                empty_key(kind, &attribute.name).message()
            )));
        }
    }
    Ok(())
}
