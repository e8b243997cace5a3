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
pub mod change;
mod get;
mod index;
pub mod log;
mod page;
mod paths;
mod position;
mod read;
mod reads;
mod span;
mod start;
mod storage;
pub(crate) mod transact;
pub mod ttl;
mod write;
mod writes;

pub(crate) use capacity::{Arm, Meter};
pub use capacity::{read_units, write_units};
pub(crate) use get::GetPlan;
pub(crate) use index::index_changes;
pub use index::{EntryChange, IndexChange, IndexEntry};
pub use page::GatheredRows;
pub use position::Position;
pub use read::{ReadPlan, Source};
pub use reads::{BatchGet, Get, PageRead, TransactGet, read_batch_to_end};
pub use span::Span;
pub use storage::{Applicable, Flow, Rows, TableRef, Token, WriteRows};
pub use write::Effect;
pub(crate) use write::WritePlan;
pub use writes::{BatchWrite, FoundItems, SingleWrite, TransactWrite};

use crate::error::Error;

/// Why a planned operation cannot be carried out.
///
/// The difference matters in a transaction only: a wrong request fails as a whole, a wrong item
/// is the reason that cancels the transaction (developer guide, TransactWriteItems, cancellation
/// reasons).
#[derive(Debug)]
pub enum Fault {
    /// The request itself is wrong.
    Request(Error),
    /// The operation would be wrong for this item, or its condition does not hold.
    Item(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Request(error) | Fault::Item(error) => error,
        }
    }
}

impl Fault {
    /// An item that must not be written.
    fn item(message: impl Into<String>) -> Self {
        Self::Item(Error::validation(message))
    }
}
