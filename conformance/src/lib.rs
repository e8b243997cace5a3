//! The suite that proves a [`Store`](tabla_core::Store) right.
//!
//! Each clause of DynamoDB's semantics ([`clauses()`]) is a case of its own, and so is every
//! situation beyond them that somebody was bitten by. A backend provides a [`Harness`] that makes
//! fresh stores, and one line in `tests/conformance.rs` (declared with `harness = false`) runs
//! everything, each case as a separately named test:
//!
//! ```no_run
//! # struct MyHarness;
//! # #[async_trait::async_trait]
//! # impl tabla_conformance::Harness for MyHarness {
//! #     fn engine(&self) -> &'static str { "mine" }
//! #     async fn fresh(&self) -> tabla_conformance::Fresh { unreachable!("not run") }
//! # }
//! fn main() -> std::process::ExitCode {
//!     tabla_conformance::main(MyHarness)
//! }
//! ```
//!
//! `cargo test --test conformance -- transactions::` runs one family, `-- 29a_` one case.
//!
//! A backend lists neither the cases it passes nor those it skips. What it cannot do follows from
//! its [`Capabilities`](tabla_core::Capabilities), and the suite checks that it refuses. Where an
//! engine is known to differ from AWS, the difference is data ([`deviations`]), and a deviation
//! that stops deviating fails the run.

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
pub use self::table_spec::{Table, TableSpec};

/// The example in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
