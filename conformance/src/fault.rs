//! Stores with an injected fault or with injected failures.
//!
//! [`FaultStore`] wraps any store and changes it in one of two ways:
//!
//! - With a [`Fault`] it breaks one rule of DynamoDB's, by rewriting requests and responses. That
//!   tests the suite: each fault names a case that must fail on it ([`Fault::caught_by`]), and
//!   [`FaultHarness`] runs the cases on such stores.
//! - With [`Failures`] it keeps all rules, and fails as services do: throttling, an unreachable
//!   service, a response that is lost after the write, a conflict with another transaction,
//!   unprocessed items of a batch. That is for the tests of applications.
//!
//! ```
//! use tabla_core::ops::{CreateTable, PutItem};
//! use tabla_core::{KeyType, MemoryStore, Store, item};
//! use tabla_conformance::fault::{Failure, Failures, FaultStore, Operation, When};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let failures = Failures::new().on(Operation::Put, When::Call(2), Failure::Throttled);
//! let store = FaultStore::new(MemoryStore::new()).failures(failures);
//! store.create_table(CreateTable::new("notes").partition_key("pk", KeyType::S)).await?;
//! store.put(PutItem::new("notes", item! { "pk" => "a" })).await?;
//! let error = store.put(PutItem::new("notes", item! { "pk" => "b" })).await.unwrap_err();
//! assert_eq!(error.code(), "ProvisionedThroughputExceededException");
//! store.put(PutItem::new("notes", item! { "pk" => "b" })).await?;
//! # Ok::<(), tabla_core::Error>(())
//! # }).unwrap();
//! ```

mod failure;
mod kinds;

mod harness;
mod store;

mod expressions;
mod lookup;

mod batches;
mod entries;
mod pages;
mod reads;
mod tables;
mod transactions;
mod updates;
mod writes;

pub use self::failure::{Failure, Failures, Operation, TransientFailure, When};
pub(crate) use self::failure::{PlanProgress, operation};
pub use self::harness::FaultHarness;
pub use self::kinds::Fault;
pub(crate) use self::kinds::faults;
pub use self::store::FaultStore;
