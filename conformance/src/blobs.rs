//! Conformance suite for [`Blobs`](tabla_core::blobs::Blobs): the tests that a backend has the
//! semantics of S3.
//!
//! A backend provides a [`BlobHarness`], which makes empty buckets, and a test target with
//! `harness = false`. Each case then runs as a separately named test:
//!
//! ```no_run
//! # use tabla_conformance::blobs::{BlobHarness, BucketVersions, CaseBucket};
//! # struct MyHarness;
//! # #[async_trait::async_trait]
//! # impl BlobHarness for MyHarness {
//! #     fn engine(&self) -> &'static str { "mine" }
//! #     async fn case_bucket(&self, _: BucketVersions) -> CaseBucket { unreachable!("not run") }
//! # }
//! fn main() -> std::process::ExitCode {
//!     tabla_conformance::blobs::main(MyHarness)
//! }
//! ```
//!
//! `cargo test --test conformance -- blobs::listing` runs one family,
//! `-- put_replaces_content_and_headers` one case. A test target with several engines ([`main_on`])
//! runs one of them with `-- '[mine]'`.
//!
//! A backend lists neither the cases it passes nor those it skips. Its
//! [`BlobCapabilities`](tabla_core::blobs::BlobCapabilities) declare which features it lacks; the
//! cases that need one are unsupported, and the family `capabilities` tests that requests for it
//! are refused. Known differences between an engine and S3 are data ([`deviations`]); a recorded
//! deviation that no longer shows fails the run.
//!
//! [`fault`] has blobs with injected faults, which test the suite, and blobs with injected
//! failures, for the tests of applications.

mod case;
mod family;
mod harness;

pub mod deviations;
pub mod fault;

mod ctx;

mod cases;

mod run;

pub use self::case::{BlobCase, BlobNeed};
pub use self::cases::all as cases;
pub use self::ctx::{BlobCtx, BucketSnapshot};
pub use self::family::BlobFamily;
pub use self::harness::{BlobHarness, BucketVersions, CaseBucket, empty_bucket};
pub use self::run::{main, main_on, run};

/// Results of the suite on one or several engines.
pub type BlobReport = crate::Report<BlobCase>;

/// Progress of a run of the suite.
pub type BlobProgress<'a> = crate::Progress<'a, BlobCase>;
