//! Code that the five apps share: the trait of an app, and the stores of its tests.
//!
//! None of it is API of the library: an app of a user needs `tabla` alone.

mod app;
mod documented;
#[cfg(feature = "stage")]
pub mod stage;

pub use self::app::{Answer, App, FailedPattern, Progress, Race, Ran, check, failed_patterns, run};
pub use self::documented::{AtLine, Documented};
