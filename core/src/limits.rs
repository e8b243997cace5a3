//! DynamoDB's limits on expressions.
//!
//! The numbers come from the developer guide's page "Quotas in Amazon DynamoDB" (ServiceQuotas),
//! section "Expression parameters", except where another source is named.

/// Bytes in the text of one expression, before placeholders are substituted.
pub const EXPRESSION_BYTES: usize = 4096;

/// Bytes in all names and values that the expressions of one request refer to.
pub const SUBSTITUTION_BYTES: usize = 2 * 1024 * 1024;

/// Operators and functions in one expression.
pub const EXPRESSION_OPERATORS: usize = 300;

/// Operands on the right of `IN`.
pub const IN_OPERANDS: usize = 100;

/// Bytes in one placeholder, its `#` or `:` included.
pub const PLACEHOLDER_BYTES: usize = 255;

/// Elements in one document path, the attribute itself included ("Nested attribute depth").
pub const PATH_ELEMENTS: usize = 32;

/// The greatest list index in a document path: an index is a 32-bit signed integer (observed on
/// DynamoDB Local; the developer guide gives no number).
pub const LIST_INDEX: u32 = i32::MAX as u32;

/// Bytes in an attribute name ("Attribute names").
pub const ATTRIBUTE_NAME_BYTES: usize = 65_535;

/// Levels of lists and maps in one value that an expression refers to.
pub const VALUE_DEPTH: usize = 32;

/// Bytes of an item (ServiceQuotas, item size).
pub const ITEM_SIZE: usize = 409_600;

/// Bytes of a partition key (ServiceQuotas, partition key length).
pub const PARTITION_KEY_SIZE: usize = 2048;

/// Bytes of a sort key (ServiceQuotas, sort key length).
pub const SORT_KEY_SIZE: usize = 1024;

/// Writes in a batch (API reference, BatchWriteItem).
pub const BATCH_WRITE_ITEMS: usize = 25;

/// Keys in a batch of reads (API reference, BatchGetItem).
pub const BATCH_GET_KEYS: usize = 100;

/// Bytes that a batch may read (API reference, BatchGetItem).
pub const BATCH_GET_SIZE: usize = 16 * 1024 * 1024;

/// Operations in a transaction (ServiceQuotas, transactions).
pub const TRANSACT_ITEMS: usize = 100;

/// Bytes of all items in a transaction (ServiceQuotas, transactions).
pub const TRANSACT_SIZE: usize = 4 * 1024 * 1024;

/// Characters of a client request token (API reference, TransactWriteItems).
pub const CLIENT_REQUEST_TOKEN: usize = 36;

/// Bytes that a page of a query or scan reads (API reference, Query and Scan).
pub const PAGE_SIZE: usize = 1024 * 1024;

/// Parts of a parallel scan (API reference, Scan).
pub const SCAN_SEGMENTS: i32 = 1_000_000;
