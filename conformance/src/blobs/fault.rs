//! Blobs with an injected fault or with injected failures.
//!
//! [`FaultBlobs`] wraps any blobs and changes them in one of two ways:
//!
//! - With a [`BlobFault`] they break one rule of S3's. That tests the suite: each fault names a case
//!   that must fail on it ([`BlobFault::caught_by`]), and [`BlobFaultHarness`] runs the cases on
//!   such blobs.
//! - With [`BlobFailures`] they keep all rules, and fail as services do: throttling, an unreachable
//!   service, a response that is lost after the write or with the request, a conflict with a
//!   concurrent conditional write. That is for the tests of applications.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tabla_conformance::blobs::fault::{BlobFailure, BlobFailures, BlobOperation, FaultBlobs};
//! use tabla_conformance::fault::When;
//! use tabla_core::blobs::{Blobs, PutBlob};
//!
//! # async fn example(blobs: Arc<dyn Blobs>) -> tabla_core::Result<()> {
//! let failures =
//!     BlobFailures::new().on(BlobOperation::Put, When::Call(2), BlobFailure::Throttled);
//! let blobs = FaultBlobs::new(blobs).failures(failures);
//! blobs.put(PutBlob::new("a", "first")).await?;
//! let error = blobs.put(PutBlob::new("a", "second")).await.unwrap_err();
//! assert_eq!(error.code(), "SlowDown");
//! # Ok(())
//! # }
//! ```

mod failure;
mod kinds;

mod harness;
mod wrapper;

mod lists;
mod reads;
mod uploads;
mod versions;
mod writes;

pub use self::failure::{BlobFailure, BlobFailures, BlobOperation};
pub use self::harness::BlobFaultHarness;
pub use self::kinds::BlobFault;
pub use self::wrapper::FaultBlobs;
