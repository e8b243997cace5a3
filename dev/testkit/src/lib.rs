//! Starts the real servers that the tests compare tabla with.
//!
//! A test calls one function and gets an address; this crate decides where the server comes from.
//! `cargo xtask test` starts one server for the whole run with the binary `dynamodb-local` of this
//! crate, and passes its address on, so that all test processes share it. A test that runs alone
//! starts a container and removes it again.
//!
//! ```no_run
//! # fn main() -> Result<(), tabla_testkit::Error> {
//! let server = tabla_testkit::dynamodb::endpoint()?;
//! println!("DynamoDB Local answers at {}", server.url());
//! # Ok(())
//! # }
//! ```

pub mod dynamodb;

mod error;

pub use error::Error;
