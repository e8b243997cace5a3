//! What an operation means, apart from where the items are kept.
//!
//! An embedded engine keeps ordered rows and nothing else. For every request it asks this module
//! what to do: a *plan* checks the request against the table's schema and says which rows are
//! concerned; the engine fetches them; the plan then judges the condition, computes the new item,
//! the index entries and the answer. No engine has a rule of its own, so none can differ.
//!
//! - [`Rows`] and [`WriteRows`] are what an engine keeps. [`Get`], [`PageRead`], [`BatchGet`],
//!   [`TransactGet`], [`SingleWrite`], [`BatchWrite`] and [`TransactWrite`] are the operations on
//!   them, each planned first and then run.
//! - [`Position`] places an item in a table or index.
//! - [`WritePlan`] is a put, update, delete or condition check; [`Effect`] is what it changes.
//! - [`GetPlan`] reads one item; [`ReadPlan`] and [`GatheredRows`] read a page.
//! - [`batch`] and [`transact`] hold what concerns several operations at once.
//! - [`Meter`] counts capacity units.
//! - [`change`] makes stream records, [`log`] knows the stream they are in, [`ttl`] says which
//!   items have expired.

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

/// Why a planned operation cannot be carried out.
///
/// The difference matters in a transaction only: a wrong request fails as a whole, a wrong item
/// is the reason that cancels the transaction (developer guide, TransactWriteItems, cancellation
/// reasons).
#[derive(Debug)]
pub enum OperationError {
    /// The request itself is wrong.
    Request(Error),
    /// The operation would be wrong for this item, or its condition does not hold.
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
    /// An item that must not be written.
    fn item(message: impl Into<String>) -> Self {
        Self::Item(Error::validation(message))
    }
}
