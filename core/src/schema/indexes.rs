//! The rules of secondary indexes.

use super::constraint::invalid;
use super::keys::Definitions;
use super::{IndexKind, IndexSchema, TableSchema};
use crate::error::{Error, Result};
use crate::limits;
use crate::ops::{CreateTable, IndexProjection, ProjectionType, SecondaryIndex};

/// The indexes of a new table: local ones first, each kind in the request's order.
pub(super) fn of_new_table(
    request: &CreateTable,
    table: &TableSchema,
    definitions: &Definitions<'_>,
) -> Result<Vec<IndexSchema>> {
    let mut indexes: Vec<IndexSchema> = Vec::new();
    let mut add = |index: IndexSchema| {
        if indexes.iter().any(|earlier| earlier.name == index.name) {
            return Err(invalid(format_args!("Duplicate index name: {}", index.name)));
        }
        indexes.push(index);
        Ok(())
    };
    if !request.local_secondary_indexes.is_empty() && table.sort.is_none() {
        return Err(invalid(
            "Table KeySchema does not have a range key, which is required when specifying a \
             LocalSecondaryIndex",
        ));
    }
    for index in &request.local_secondary_indexes {
        add(local(index, table, definitions)?)?;
    }
    if request.local_secondary_indexes.len() > limits::LOCAL_INDEXES {
        return Err(invalid(format_args!(
            "Number of LocalSecondaryIndexes exceeds per-table limit of {}",
            limits::LOCAL_INDEXES
        )));
    }
    for index in &request.global_secondary_indexes {
        add(global(index, definitions)?)?;
    }
    if request.global_secondary_indexes.len() > limits::GLOBAL_INDEXES {
        return Err(invalid(format_args!(
            "GlobalSecondaryIndex count exceeds the per-table limit of {}",
            limits::GLOBAL_INDEXES
        )));
    }
    check_projected(&indexes)?;
    Ok(indexes)
}

/// A local index, checked.
fn local(
    index: &SecondaryIndex,
    table: &TableSchema,
    definitions: &Definitions<'_>,
) -> Result<IndexSchema> {
    let (partition, sort) = definitions.simple_key(&index.key_schema)?;
    let Some(sort) = sort else {
        return Err(invalid(format_args!(
            "Index KeySchema does not have a range key for index: {}",
            index.name
        )));
    };
    if partition.name != table.partition.name {
        return Err(invalid(format_args!(
            "Index KeySchema does not have the same leading hash key as table KeySchema for \
             index: {}. index hash key: {}, table hash key: {}",
            index.name, partition.name, table.partition.name
        )));
    }
    Ok(IndexSchema {
        name: index.name.clone(),
        kind: IndexKind::Local,
        partition: vec![partition],
        sort: vec![sort],
        projection: projection(&index.projection)?,
    })
}

/// A global index, checked.
pub(super) fn global(index: &SecondaryIndex, definitions: &Definitions<'_>) -> Result<IndexSchema> {
    let (partition, sort) = definitions.global_key(&index.key_schema)?;
    Ok(IndexSchema {
        name: index.name.clone(),
        kind: IndexKind::Global,
        partition,
        sort,
        projection: projection(&index.projection)?,
    })
}

/// A projection, checked, its attributes in order: the service gives them back sorted.
fn projection(given: &IndexProjection) -> Result<IndexProjection> {
    let IndexProjection { kind, non_key_attributes } = given;
    match (kind, non_key_attributes.is_empty()) {
        (ProjectionType::Include, true) => {
            Err(invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified"))
        }
        (ProjectionType::Include, false) => {
            let mut sorted = non_key_attributes.clone();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(invalid(format_args!(
                    "Duplicate element in NonKeyAttributes: {}",
                    pair[0]
                )));
            }
            Ok(IndexProjection { kind: *kind, non_key_attributes: sorted })
        }
        (_, true) => Ok(given.clone()),
        (kind, false) => Err(invalid(format_args!(
            "ProjectionType is {}, but NonKeyAttributes is specified",
            kind.as_str()
        ))),
    }
}

/// Checks how many attributes all indexes of a table carry by name. One that is carried by two
/// indexes counts twice; keys do not count.
pub(super) fn check_projected(indexes: &[IndexSchema]) -> Result<()> {
    let projected: usize =
        indexes.iter().map(|index| index.projection.non_key_attributes.len()).sum();
    if projected > limits::PROJECTED_ATTRIBUTES {
        // DynamoDB Local's words, whose number is out of date. AWS's are not known.
        return Err(Error::validation(
            "No more than 20 attributes per table can be projected into Local Secondary Indices",
        ));
    }
    Ok(())
}
