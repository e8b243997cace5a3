//! What the author of a backend needs besides [`Store`](crate::Store).
//!
//! An embedded engine plans each request here and executes the plan on its own rows: see
//! [`ReadRows`](Rows) and [`WriteRows`] for the rows, [`SingleWrite`], [`PageRead`] and the other
//! operations for the plans. A client of a remote service uses [`Renderer`] for expressions; a
//! server uses [`Placeholders`], [`json`] and [`legacy`] to read requests.
//!
//! Every item has a user in a backend, the server or a tool. Applications need none of them.

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

/// Type errors of DynamoDB JSON, in DynamoDB's words, and the JSON types they name.
pub mod json {
    pub use crate::json::{
        ExpectedType, JsonKind, MODEL_PACKAGE, ValueContext, base64, boolean, is_too_deep,
        malformed, mismatch, too_deep,
    };
}

/// Request parameters that expressions have replaced (`Expected`, `AttributeUpdates`,
/// `KeyConditions` and others), translated to expressions.
pub mod legacy {
    pub use crate::expr::legacy::*;
}

/// DynamoDB's limits.
pub mod limits {
    pub use crate::limits::*;
}

/// Table definitions that were validated, and the requests that change them.
pub mod schema {
    pub use crate::schema::*;
}

/// Iterators over the members of value views, as `IntoIterator` returns them.
pub mod iter {
    pub use crate::view::{BinarySetIter, ListIter, MapIter, NumberSetIter, StringSetIter};
}
