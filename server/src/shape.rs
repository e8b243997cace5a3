//! The shapes of the inputs of all operations that the server offers, and what is wrong with a
//! request that has not the shape of its operation.
//!
//! Members, lengths, ranges and sets of values are those of the service's API model (API reference).
//! Where what AWS answers is known to differ from the model, a comment says so.

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

/// What a place in a request holds.
#[derive(Debug)]
pub(crate) enum Shape {
    /// A text of so many bytes.
    Text { min: usize, max: usize },
    /// A text that names a table or an index.
    Name { min: usize, max: usize },
    /// One of these texts, which are in the order in which the service lists them.
    Choice(&'static [&'static str]),
    /// A number of 32 bits.
    Integer { min: i64, max: i64 },
    /// A number of 64 bits.
    Long { min: i64, max: i64 },
    /// A point in time.
    Time,
    /// A truth value.
    Boolean,
    /// Bytes, as base64.
    Binary,
    /// An attribute's value, whose meaning is not looked at.
    Value,
    /// An array of so many elements.
    List { of: &'static Shape, min: usize, max: usize },
    /// An object of so many names of the caller's, which have lengths of their own.
    Map { of: &'static Shape, min: usize, max: usize, names: Option<(usize, usize)> },
    /// An object of known names.
    Structure(&'static Structure),
}

/// An object of known names. Others may be there, and are not looked at.
#[derive(Debug)]
pub(crate) struct Structure {
    /// Its name in the API's model.
    pub(crate) class: &'static str,
    /// What it has, in the order in which the service looks at them: that of a hash table of their
    /// names.
    pub(crate) members: &'static [Member],
}

/// A member of a structure.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) need: Need,
    pub(crate) shape: &'static Shape,
}

/// Whether a member has to be there.
#[derive(Debug)]
pub(crate) enum Need {
    /// It need not.
    Optional,
    /// It has to, as one constraint among others.
    Required,
    /// It has to, or this is all that is answered.
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

/// The input of an operation; of one that is not offered, one without members.
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
