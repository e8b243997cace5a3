//! Values, expressions, the `Store` trait and the semantics of DynamoDB, without I/O.
//!
//! - [`Store`]: the trait of all backends, with the contract of each operation. [`StoreExt`]:
//!   convenience methods for callers.
//! - [`ops`]: request and output of each operation. [`Item`], [`Value`]: their data. [`attr`],
//!   [`Update`]: builders of expressions.
//! - [`Error`]: the one error type. [`RetryPolicy`]: retries.
//! - [`blobs`]: files in a bucket, with the semantics of S3.
//! - [`Registry`]: opens stores by address. [`Capabilities`]: features of a store.
//! - [`MemoryStore`]: a store in memory, the executable specification.
//! - [`env`](mod@env): clock and randomness, replaceable in tests.
//! - [`backend`]: parts for authors of backends: planned operations, table definitions, stream
//!   records, key encoding, limits.
//!
//! This crate knows no backend and depends on no SQL, AWS or HTTP crate.

mod error;

mod address;
pub mod backend;
pub mod blobs;
mod codec;
mod engine;
pub mod env;
pub mod expr;
mod item;
mod json;
mod key;
mod limits;
mod memory;
mod number;
pub mod ops;
mod schema;
mod set;
mod store;
mod structs;
mod value;
mod view;

pub use self::address::{Address, OpenContext};
pub use self::engine::ttl::not_expired;
pub use self::error::{
    Applied, CancellationCode, CancellationReason, Error, ErrorKind, Result, Retry,
};
pub use self::expr::{Condition, Expr, Path, Projection, Update, attr};
pub use self::item::Item;
pub use self::json::DynamoJson;
pub use self::key::KeyType;
pub use self::memory::MemoryStore;
pub use self::number::{MAX_DIGITS, MAX_EXPONENT, MIN_EXPONENT, Number, NumberError};
pub use self::set::{Set, SetError, SetMember};
pub use self::store::{
    Attempts, Capabilities, ConditionalOutcome, Cursor, Extension, Opener, Registry, Requirement,
    RetryMode, RetryPolicy, RetryingStore, Store, StoreExt,
};
pub use self::value::{Map, Value, ValueKind};
pub use self::view::{BinarySetRef, ListRef, MapRef, NumberSetRef, StringSetRef, ValueRef};

/// Re-export for the code that [`wrap_store!`] generates.
#[doc(hidden)]
pub use async_trait::async_trait as __async_trait;
