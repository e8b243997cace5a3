//! What the five apps share: how an app is declared, filled, run and raced, and the stores that its
//! tests run on.
//!
//! None of this is for users of the framework: an app of theirs needs `tabla` alone.

mod app;
mod documented;
#[cfg(feature = "stage")]
pub mod stage;

pub use self::app::{Answer, App, Progress, Race, Ran, Untested, check, run, untested};
pub use self::documented::{AtLine, Documented};
