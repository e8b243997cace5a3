//! Shapes of the requests of all supported operations, as in AWS's API model, and their validation.
//!
//! Members, lengths, ranges and value sets are those of the API reference. A comment marks each
//! shape for which the observed behavior of AWS differs from it.

mod batches;
mod common;
mod items;
mod node;
mod queries;
mod replicas;
mod streams;
mod tables;
#[cfg(test)]
mod tests;
mod validate;

pub(crate) use self::validate::validate;

use crate::operation::Operation;

/// Type of a value in a request, with its constraints.
#[derive(Debug)]
pub(crate) enum Shape {
    /// String, with the bounds of its length.
    Text { min: usize, max: usize },
    /// Name of a table or an index, with the bounds of its length.
    Name { min: usize, max: usize },
    /// One of these strings, in the order in which DynamoDB lists them in errors.
    Choice(&'static [&'static str]),
    /// Integer of 32 bits, with its range.
    Integer { min: i64, max: i64 },
    /// Integer of 64 bits, with its range.
    Long { min: i64, max: i64 },
    /// Point in time, as a number of seconds since the epoch.
    Time,
    /// Boolean, or a string that DynamoDB accepts as one.
    Boolean,
    /// Bytes, in base64.
    Binary,
    /// Attribute value. Its content is validated by core.
    Value,
    /// Array, with the bounds of its number of elements.
    List { of: &'static Shape, min: usize, max: usize },
    /// Object with any names, with the bounds of its number of entries and of the lengths of
    /// its names.
    Map { of: &'static Shape, min: usize, max: usize, names: Option<(usize, usize)> },
    /// Object with known names.
    Structure(&'static Structure),
}

/// Object with known names. Other names are ignored.
#[derive(Debug)]
pub(crate) struct Structure {
    /// Name of the class in AWS's API model.
    pub(crate) class: &'static str,
    /// Members, in the order in which DynamoDB validates them: that of a Java `HashMap` of
    /// their names.
    pub(crate) members: &'static [Member],
}

/// Member of a structure.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) need: Need,
    pub(crate) shape: &'static Shape,
}

/// Whether a member is required, and how DynamoDB reports it as missing.
#[derive(Debug)]
pub(crate) enum Need {
    /// The member is optional.
    Optional,
    /// The member is required; its absence is reported with the other violated constraints.
    Required,
    /// The member is required; its absence is the only reported error, with this message.
    First(&'static str),
}

impl Need {
    pub(crate) fn is_needed(&self) -> bool {
        !matches!(self, Self::Optional)
    }
}

const fn optional(name: &'static str, shape: &'static Shape) -> Member {
    Member { name, need: Need::Optional, shape }
}

const fn required(name: &'static str, shape: &'static Shape) -> Member {
    Member { name, need: Need::Required, shape }
}

const fn first(name: &'static str, shape: &'static Shape, missing: &'static str) -> Member {
    Member { name, need: Need::First(missing), shape }
}

/// Returns the structure of the request of an operation. It has no members if the operation is
/// not supported.
pub(crate) fn input(operation: Operation) -> &'static Structure {
    match operation {
        Operation::BatchGetItem => &batches::BATCH_GET_ITEM,
        Operation::BatchWriteItem => &batches::BATCH_WRITE_ITEM,
        Operation::CreateTable => &tables::CREATE_TABLE,
        Operation::DeleteItem => &items::DELETE_ITEM,
        Operation::DescribeStream => &streams::DESCRIBE_STREAM,
        Operation::GetItem => &items::GET_ITEM,
        Operation::GetRecords => &streams::GET_RECORDS,
        Operation::GetShardIterator => &streams::GET_SHARD_ITERATOR,
        Operation::ListStreams => &streams::LIST_STREAMS,
        Operation::ListTables => &tables::LIST_TABLES,
        Operation::ListTagsOfResource => &tables::LIST_TAGS_OF_RESOURCE,
        Operation::PutItem => &items::PUT_ITEM,
        Operation::Query => &queries::QUERY,
        Operation::Scan => &queries::SCAN,
        Operation::TagResource => &tables::TAG_RESOURCE,
        Operation::TransactGetItems => &batches::TRANSACT_GET_ITEMS,
        Operation::TransactWriteItems => &batches::TRANSACT_WRITE_ITEMS,
        Operation::UntagResource => &tables::UNTAG_RESOURCE,
        Operation::UpdateContinuousBackups => &tables::UPDATE_CONTINUOUS_BACKUPS,
        Operation::UpdateItem => &items::UPDATE_ITEM,
        Operation::UpdateTable => &tables::UPDATE_TABLE,
        Operation::UpdateTimeToLive => &tables::UPDATE_TIME_TO_LIVE,
        Operation::DeleteTable
        | Operation::DescribeContinuousBackups
        | Operation::DescribeTable
        | Operation::DescribeTimeToLive => &tables::TABLE_ONLY,
        _ => &common::NOTHING,
    }
}
