//! Parts for authors of backends and servers; applications do not need this module.
//!
//! An embedded engine implements [`ReadRows`] and [`WriteRows`], and executes planned operations on
//! them: [`SingleGet`], [`PageRead`], [`BatchGet`], [`TransactGet`], [`SingleWrite`],
//! [`BatchWrite`] and [`TransactWrite`]. A client of a service renders expressions with
//! [`Renderer`]. A server reads requests with [`Placeholders`], [`json`] and [`legacy`].
//!
//! Everything here is used by a backend, the server or a tool of the workspace.

pub use crate::codec::{EncodeValue, ValueEncoder};
pub use crate::engine::record;
pub use crate::engine::stream_state;
pub use crate::engine::transact::{
    TOKEN_LIFETIME, check_operations as check_transaction_operations,
};
pub use crate::engine::ttl;
pub use crate::engine::{
    BatchGet, BatchWrite, Effect, EntryChange, EvaluatedWrite, FoundItems, GatheredRows,
    IndexChange, IndexEntry, KeyRange, PageRead, ReadPlan, ReadRows, ReadSource, RowKey, SingleGet,
    SingleWrite, TableRef, TokenRecord, TransactGet, TransactWrite, Visit, WriteRows,
    read_batch_to_end, read_units, write_units,
};
pub use crate::expr::key::{KeyQuery, KeySpec, SortRange};
pub use crate::expr::render::Renderer;
pub use crate::expr::text::Placeholders;
pub use crate::key::encoding as key_encoding;

/// Type errors of DynamoDB JSON with DynamoDB's messages, and the JSON types that they name.
pub mod json {
    pub use crate::json::{
        ExpectedType, JsonKind, MODEL_PACKAGE, ValueContext, base64, boolean, is_too_deep,
        malformed, mismatch, too_deep,
    };
}

/// Translation of legacy request parameters (`Expected`, `AttributeUpdates`, `KeyConditions` and
/// others) to expressions.
pub mod legacy {
    pub use crate::expr::legacy::*;
}

/// Limits of DynamoDB as constants, each with its source.
pub mod limits {
    pub use crate::limits::*;
}

/// Validated table definitions, and the rules of the requests that change them.
pub mod schema {
    pub use crate::schema::*;
}

/// Iterators over the members of value views, as `IntoIterator` returns them.
pub mod iter {
    pub use crate::view::{BinarySetIter, ListIter, MapIter, NumberSetIter, StringSetIter};
}
