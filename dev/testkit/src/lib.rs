//! Starts the real servers that the tests compare tabla with.
//!
//! A test asks for a server and gets an address; where the server came from is
//! decided in one place, here. `cargo xtask test` starts one server for the
//! whole run with the binary `dynamodb-local` of this crate and hands its
//! address down, so that every test process shares it; a test that is run on
//! its own starts a container of its own and removes it again.
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
