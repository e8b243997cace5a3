//! Checks of concurrent operations on the same items.
//!
//! [`run`] starts tasks that read, write, count and transact on a few items, and records each
//! operation with its outcome. It then searches for one order of all operations that explains every
//! outcome: strict serializability, of single operations and transactions together. Pages and
//! batches are left out, because DynamoDB does not promise that they read one moment.
//!
//! ```
//! use std::sync::Arc;
//! use tabla_core::env::SeededRandom;
//! use tabla_core::{MemoryStore, Store};
//! use tabla_conformance::concurrency::{Options, run};
//!
//! # tokio::runtime::Builder::new_multi_thread().build().unwrap().block_on(async {
//! let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
//! let options = Options::new().with_rounds(2);
//! let report = run(vec![store], options, &SeededRandom::new(1)).await?;
//! assert_eq!(report.rounds, 2);
//! # Ok::<(), tabla_conformance::concurrency::Violation>(())
//! # }).unwrap();
//! ```
//!
//! Several stores that hold the same data are passed together, such as two clients of one server or
//! two handles of one file. [`bank_transfers`] and [`counters()`] check simpler invariants on more
//! operations. [`Checker`] checks a history that was recorded in another way, such as by several
//! processes with a [`Recorder`] each.

pub mod model;

mod history;
mod ticks;

mod bits;
mod check;
mod explain;
mod follow;
mod groups;
mod search;
mod show;

mod call_outcome;
mod calls;
mod generate;
mod recorder;
mod session;
mod tables;

mod bank;
mod counters;

#[cfg(test)]
mod tests;

pub use self::bank::{BankReport, bank_transfers};
pub use self::check::{Checker, ReasonTiming};
pub use self::counters::{CountersReport, counters};
pub use self::explain::{Disorder, Violation};
pub use self::history::Entry;
pub use self::recorder::{Invitation, Recorder};
pub use self::session::{Options, Report, Session, run};
pub use self::ticks::Ticks;
