//! Conformance suite: the tests that a [`Store`](tabla_core::Store) has DynamoDB's semantics.
//!
//! Each clause of DynamoDB's semantics ([`clauses()`]) is one case; further cases cover
//! combinations that once caused a defect. A backend provides a [`Harness`], which makes fresh
//! stores, and a test target `tests/conformance.rs` with `harness = false`. Each case then runs as
//! a separately named test:
//!
//! ```no_run
//! # struct MyHarness;
//! # #[async_trait::async_trait]
//! # impl tabla_conformance::Harness for MyHarness {
//! #     fn engine(&self) -> &'static str { "mine" }
//! #     async fn case_store(&self) -> tabla_conformance::CaseStore { unreachable!("not run") }
//! # }
//! fn main() -> std::process::ExitCode {
//!     tabla_conformance::main(MyHarness)
//! }
//! ```
//!
//! `cargo test --test conformance -- transactions::` runs one family, `-- 29a_` one case.
//!
//! A backend lists neither the cases it passes nor those it skips. Its
//! [`Capabilities`](tabla_core::Capabilities) declare which features it lacks, and the suite checks
//! that the store rejects requests for them. Known differences between an engine and AWS are data
//! ([`deviations`]); a recorded deviation that no longer shows fails the run.
//!
//! [`blobs`] is the suite for [`Blobs`](tabla_core::blobs::Blobs), with S3's semantics.

mod address;
mod harness;
mod memory;

mod case;
mod clauses;
mod family;

pub mod concurrency;
pub mod deviations;
#[cfg(feature = "differential")]
pub mod differential;
pub mod extension;
pub mod fault;
pub mod interleave;
pub mod wording;

mod catch_panic;
mod ctx;
mod refusal;
mod table_spec;

mod cases;

#[cfg(test)]
mod request_fields;

mod report;
mod run;
mod suite;

pub mod blobs;

#[cfg(test)]
mod fake;

pub use self::address::AddressHarness;
pub use self::case::{Case, CaseFuture, Need};
pub use self::cases::all as cases;
pub use self::clauses::{Clause, all as clauses, without_case};
pub use self::ctx::{Ctx, Snapshot};
pub use self::family::Family;
pub use self::harness::{CaseStore, Cleanup, Harness, Sweep, Wording};
pub use self::memory::MemoryHarness;
pub use self::report::{CaseResult, Column, Report, Status};
pub use self::run::{Filter, Progress, main, run};
pub use self::suite::SuiteCase;
pub use self::table_spec::{Table, TableSpec};

/// Compiles the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
