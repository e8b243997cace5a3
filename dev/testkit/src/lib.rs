//! Starts the real servers that the tests compare tabla with, and the real clients that call it.
//!
//! A test calls one function and gets an address; this crate decides where the server comes from.
//! `cargo xtask test` starts one server of each kind for the whole run with the binary
//! `test-server` of this crate, and passes the addresses on, so that all test processes share them.
//! A test that runs alone starts a container and removes it again.
//!
//! ```no_run
//! # fn main() -> Result<(), tabla_testkit::Error> {
//! let server = tabla_testkit::dynamodb::endpoint()?;
//! println!("DynamoDB Local answers at {}", server.url());
//! let server = tabla_testkit::versitygw::endpoint()?;
//! println!("S3 answers at {}", server.url());
//! # Ok(())
//! # }
//! ```
//!
//! [`clients`] runs tests in other languages on a server: boto3, the AWS CLI, the AWS SDK for
//! JavaScript, a browser.

pub mod clients;
pub mod dynamodb;
pub mod versitygw;

mod error;
mod server;

pub use error::Error;
pub use server::{Endpoint, Origin, WITHOUT_VARIABLE};
