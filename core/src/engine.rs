//! Semantics of the operations, without storage.
//!
//! An embedded engine stores ordered rows. For each request this module makes a *plan*: it
//! validates the request against the table and computes the row keys. The engine reads those rows;
//! the plan then evaluates the condition and computes the new item, the index changes and the
//! output. An engine adds no rule of its own, so engines cannot differ. Definitions of tables and
//! their rules are in `schema`.
//!
//! - [`ReadRows`], [`WriteRows`]: traits that an engine implements. [`SingleGet`], [`PageRead`],
//!   [`BatchGet`], [`TransactGet`], [`SingleWrite`], [`BatchWrite`], [`TransactWrite`]: operations
//!   on them, first planned and then executed.
//! - [`RowKey`]: place of an item in a table or index. [`KeyRange`]: range of row keys.
//! - [`WritePlan`]: a put, update, delete or condition check. [`Effect`]: the item before and
//!   after.
//! - [`GetPlan`]: a read of one item. [`ReadPlan`], [`GatheredRows`]: a read of a page.
//! - [`batch`], [`transact`]: rules on several operations together.
//! - [`CapacityMeter`]: capacity units.
//! - [`record`]: stream records. [`stream_state`]: shards of a stream. [`ttl`]: expiry.

mod batch;
mod capacity;
mod gathered_rows;
mod get_plan;
mod index_entry;
mod key_paths;
mod key_range;
mod read_operations;
mod read_plan;
pub mod record;
mod row_key;
mod start_key;
mod storage;
pub mod stream_state;
pub(crate) mod transact;
pub mod ttl;
mod write_operations;
mod write_plan;

pub(crate) use capacity::{CapacityMeter, CapacityTarget};
pub use capacity::{read_units, write_units};
pub use gathered_rows::GatheredRows;
pub(crate) use get_plan::GetPlan;
pub(crate) use index_entry::index_changes;
pub use index_entry::{EntryChange, IndexChange, IndexEntry};
pub use key_range::KeyRange;
pub use read_operations::{BatchGet, PageRead, SingleGet, TransactGet, read_batch_to_end};
pub use read_plan::{ReadPlan, ReadSource};
pub use row_key::RowKey;
pub use storage::{EvaluatedWrite, ReadRows, TableRef, TokenRecord, Visit, WriteRows};
pub use write_operations::{BatchWrite, FoundItems, SingleWrite, TransactWrite};
pub use write_plan::Effect;
pub(crate) use write_plan::WritePlan;

use crate::error::Error;

/// Error of one operation, before it is known whether it is part of a transaction.
///
/// In a transaction, an error of the request is returned as it is, and an error of the item is the
/// operation's cancellation reason (developer guide, TransactWriteItems, cancellation reasons).
/// Elsewhere the two are the same.
#[derive(Debug)]
pub enum OperationError {
    /// Error of the request, independent of the item.
    Request(Error),
    /// Error with this item: the operation does not fit it, or the condition failed.
    Item(Error),
}

impl From<Error> for OperationError {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

impl From<OperationError> for Error {
    fn from(fault: OperationError) -> Self {
        match fault {
            OperationError::Request(error) | OperationError::Item(error) => error,
        }
    }
}

impl OperationError {
    /// Validation error of an item that must not be written.
    fn item(message: impl Into<String>) -> Self {
        Self::Item(Error::validation(message))
    }
}
