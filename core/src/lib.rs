//! DynamoDB-style tables on any backend.
//!
//! - [`Store`] is what a backend implements; [`StoreExt`] is what callers have besides.
//! - [`ops`] has a request and an answer for each operation, [`Item`] and [`Value`] what they
//!   carry, [`attr`] and [`Update`] the expressions.
//! - [`MemoryStore`] is the executable specification.
//! - [`backend`] has what the author of a backend needs: planned operations, table definitions,
//!   stream records, key encoding, limits.
//! - [`Registry`] opens stores by their addresses.

mod error;

pub mod backend;
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
    Address, Attempts, Capabilities, ConditionalOutcome, Cursor, Extension, OpenContext, Opener,
    Registry, Requirement, RetryMode, RetryPolicy, RetryingStore, Store, StoreExt,
};
pub use self::value::{Map, Value, ValueKind};
pub use self::view::{BinarySetRef, ListRef, MapRef, NumberSetRef, StringSetRef, ValueRef};

/// For the code that [`wrap_store!`] makes.
#[doc(hidden)]
pub use async_trait::async_trait as __async_trait;
